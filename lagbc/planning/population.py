"""Rounds of roots drawn at random: from which vertices, of which graph, how many at a time, and by which method."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph, csr_array

from lagbc.calls import in_phase
from lagbc.errors import InvalidValueError
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.limits import Room
from lagbc.methods.contract import FLOAT, Array, bytes_of
from lagbc.methods.sums import OF_EDGES, SQUARES
from lagbc.options import Settings
from lagbc.planning.plan import Plan, make_plan
from lagbc.planning.sweep import Sweep, fit_memory, require_order, row_of
from lagbc.reduce.pieces import Chains, Drawn, Reduced, Whole, reduce, whole, without_chains
from lagbc.request import Request

# Roots of the first round, the least of them in limited time, and of the least round after it.
PILOT = {"cpu": 128, "cuda": 256}
LEAST_PILOT = 4
_LEAST_ROUND = {"cpu": 256, "cuda": 1024}
# Rounds end at these parts of the roots that are foreseen: the roots of large ones lie nearer together, and of small
# ones fewer are swept in vain. Where none are foreseen, and after these, each is this part of all before it.
_ENDS = (0.4, 0.6, 0.8, 0.9, 1.0, 1.1)
_PART = 4
# Roots for which a reduction has to pay, before a pilot tells how many are drawn.
_FORESEEN = 4096
# The method is chosen by so many of the roots, which lie as far apart as those of a round.
PROBED = 1024
# A root of a random round takes so many times as long as one of all roots, after the pilot: where the diameter is low,
# and high. Of 16 networks 1.3 to 2.3, and 2.6 to 2.9.
ALONE = {False: 1.7, True: 2.8}


class Population(NamedTuple):
    """The vertices from which roots are drawn."""

    graph: Graph  # that is swept: the graph of the call, or the bicomponent that is left of it
    request: Request  # for that graph
    roots: NDArray[np.int64]  # The root of the swept graph that each member is searched from. Others add nothing.
    work: float  # roots times edges of all of them, by whatever reduces it
    reduced: Reduced
    # (n,): the vertex of the swept graph that each vertex of the call is merged into, -1 for none; None is itself
    inside: NDArray[np.int64] | None = None

    @property
    def size(self) -> int:
        """How many members there are."""
        return len(self.roots)

    @property
    def is_distinct(self) -> bool:
        """Whether each member has a root of its own."""
        return self.inside is None

    def work_of(self, drawn: float) -> float:
        """Predict the work of so many members, as that of roots of which all are swept."""
        of_times = np.bincount(np.bincount(self.roots))  # how many roots there are that so many members share
        missed = (1 - min(drawn / self.size, 1.0)) ** np.arange(len(of_times))
        distinct = float((of_times * (1 - missed)).sum())
        return ALONE[self.graph.has_high_diameter] * distinct * self.graph.nnz


@in_phase("prepare")
def population_of(graph: Graph, request: Request, settings: Settings, room: Room) -> Population:
    """Tell the vertices from which roots are drawn, and the graph that is swept.

    Of an undirected graph that is a bicomponent, where all others are small. Original vertices are drawn all the same:
    those beyond a vertex of the bicomponent are searched from there.
    """
    as_it_is = reduced = Reduced((whole(graph, request),))
    if request.sums == {"dependency", "dependency_squares"} and not graph.directed:
        plain = request._replace(sums=frozenset({"dependency"}), roots=np.arange(graph.n))
        reduced = reduce(graph, plain, settings._replace(method="auto"), room, swept=_FORESEEN)
    roots = np.flatnonzero(as_numpy(graph.out_degrees) > 0)
    if reduced.tree is None:
        return Population(graph, request, roots, float(len(roots)) * graph.nnz, as_it_is)
    if len(reduced.large) != 1:
        return Population(graph, request, roots, reduced.work, as_it_is)
    work = reduced.work
    if isinstance(reduced.pieces[0], Chains):  # single roots of chains add nothing that can be told apart
        reduced = without_chains(reduced, 0, settings)
    tree, piece = reduced.tree, reduced.pieces[0]
    assert tree is not None
    assert isinstance(piece, Whole)
    inside, entrance = _places_in(graph, tree.copies[tree.large[0][0]])
    if piece.classes is not None:
        of_class = piece.classes.of_class
        inside, entrance = (np.where(place < 0, -1, of_class[place]) for place in (inside, entrance))
    of_piece = piece.request._replace(sums=request.sums, root_weights=None)
    return Population(piece.graph, of_piece, entrance[entrance >= 0], work, reduced, inside)


def _places_in(graph: Graph, vertices: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which vertex of a bicomponent each vertex is, and which it is searched from: -1 for none."""
    host, inside = graph.on_host, np.full(graph.n, -1, np.int64)
    inside[vertices] = np.arange(len(vertices))
    outside = np.flatnonzero(inside < 0)
    there = csr_array((np.ones(host.nnz, np.int8), host.indices, host.indptr), shape=(graph.n, graph.n))
    beyond = there[outside].tocoo()
    ends = outside[beyond.row], beyond.col
    parts = sparse.coo_array((np.ones(len(ends[0]), np.int8), ends), shape=(graph.n, graph.n))
    _, label = csgraph.connected_components(parts, directed=False)
    entrance = np.full(graph.n, -1, np.int64)
    entrance[label[vertices]] = inside[vertices]
    return inside, entrance[label]


def sizes_of_rounds(
    size: int, device: str, most: int | None = None, foreseen: float | None = None, pilot: int | None = None
) -> NDArray[np.int64]:
    """Tell how many roots each round has, the pilot first; together they are all, or the most that is asked for.

    Of the rounds that are `foreseen` some are long; after a `pilot` that the time cut short some are as short.
    """
    last, whole = size if most is None else min(size, most), PILOT[device]
    ends = [min(pilot or whole, last)]
    step = _LEAST_ROUND[device] if ends[0] == min(whole, last) else ends[0]
    for part in _ENDS:
        end = ends[0] + step * ceil((part * min(foreseen or 0, last) - ends[0]) / step)
        if ends[-1] < end < last:
            ends.append(end)
    while ends[-1] < last:
        ends.append(min(ends[-1] + max(step, ends[-1] // _PART // step * step), last))
    return np.diff(ends, prepend=0)


def sizes_of_pilot(pilot: int, panel: int) -> NDArray[np.int64]:
    """Cut a pilot into rounds after which the time may end it: each but the first doubles all before it."""
    ends, least = [pilot], max(LEAST_PILOT, panel // _PART)
    while ends[0] > least:
        ends.insert(0, ends[0] // 2)
    return np.diff(ends, prepend=0)


@in_phase("prepare")
def plan_rounds(
    population: Population,
    order: NDArray[np.int64],
    settings: Settings,
    room: Room,
    labels: Sequence[str] = (),
    seconds: float = inf,
) -> Plan:
    """Plan how roots are swept that are drawn in an order; `draw` says in which rounds."""
    asked, graph = population.request, population.graph
    beside = bytes_of(arrays_of_sequence(graph.nnz if asked.sums & OF_EDGES else graph.n))
    request = asked._replace(roots=np.unique(population.roots[order[:PROBED]]))
    piece = whole(graph, request)
    require_order(graph, request, settings, room)
    plan = make_plan(graph, request, Reduced((piece,)), settings, room, labels, seconds, beside)
    (sweep,) = plan.sweeps
    row = row_of(piece, sweep)
    if request.sums & SQUARES - set(row.sums):
        raise InvalidValueError(f"{row.name} on {row.device} makes no sums of squares")
    if settings.batch is None:  # larger ones would be swept in vain at the end
        most = _LEAST_ROUND["cuda"] if row.device == "cuda" else row.load().batching.round(1)
        sweep = sweep._replace(batch=min(sweep.batch, most))
    sweep = fit_memory(piece, sweep, room)
    return plan._replace(sweeps=(sweep,), memory=sweep.memory)


def arrays_of_sequence(means: int) -> dict[str, Any]:
    """State the arrays that are there while a round is added to a sequence, where its sums are.

    Those of the sequence before it and after it, by their names; the sums of the round, and as parts of the most that
    each may be; what is in between; and the terms that scores are made by.
    """
    one = Array((means,), FLOAT)
    state = dict.fromkeys(("total", "squares", "weighed", "weight", "spread", "price"), one)
    return {
        "before": state,
        "after": state,
        "round": dict.fromkeys(("total", "squares", "part_of_total", "part_of_squares"), one),
        "between": dict.fromkeys(("rates", "mean", "about_mean", "product"), one),
        "terms": dict.fromkeys(("largest", "places", "fixed", "slope"), one),
    }


def draw(
    population: Population,
    order: NDArray[np.int64],
    sweep: Sweep,
    sizes: NDArray[np.int64],
    *,
    linear: bool = False,
    label: str = "",
) -> tuple[Whole, Sweep]:
    """Return a piece with rounds of these sizes, whose members come in this order, and its sweep.

    `linear` says whether targets count linearly, and `label` what the sums are made into.
    """
    piece = whole(population.graph, population.request)
    drawn, n = population.roots[order[: sizes.sum()]], population.graph.n
    panel = row_of(piece, sweep).load().batching.block
    items, ends = _laid_out(drawn, sizes, panel, None if population.is_distinct else n)
    piece.lined_up, piece.drawn = items, Drawn(ends, sizes, bool((items >= n).any()), label)
    return piece, sweep._replace(work="rounds", roots=len(items), linear=linear)


def _laid_out(
    drawn: NDArray[np.int64], sizes: NDArray[np.int64], panel: int, n: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the items of each round, in whole panels, and where rounds end; without n no root is drawn twice."""
    items, ends, place, end = [np.zeros(0, np.int64)], list[int](), 0, 0
    for size in sizes.tolist():
        roots = drawn[place : place + size]
        if n is not None:
            roots, often = np.unique(roots, return_counts=True)
            roots = roots + n * (often - 1)
        place += size
        absent = -len(roots) % panel
        end += len(roots) + absent
        items += [roots, np.full(absent, -1)]
        ends.append(end)
    return np.concatenate(items), np.array(ends, np.int64)


def takes_linear(population: Population, sweep: Sweep) -> bool:
    """Whether a method sums linearly at no more cost: by rows that wait it does not."""
    graph = population.graph
    waits = sweep.method == "batched" and graph.has_high_diameter
    return not graph.directed and row_of(whole(graph, population.request), sweep).reads("linear") and not waits
