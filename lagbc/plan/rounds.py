"""Rounds of roots drawn at random: from which vertices, of which graph, how many at a time, and by which method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from lagbc.errors import InvalidValueError
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.methods.sums import SQUARES
from lagbc.phases import in_phase
from lagbc.plan.options import Settings
from lagbc.plan.plan import Plan, make_plan
from lagbc.plan.reduce import Reduction, reduce_request
from lagbc.plan.request import Request
from lagbc.plan.step import NOTHING, Drawn, Resumed
from lagbc.reduce.piece import Piece

# Roots of the first round, and of the least one after it. Rounds grow with the roots before them, of which each is this
# part: the roots of larger ones lie nearer together, and more of them are swept in vain.
PILOT = {"cpu": 128, "cuda": 256}
_LEAST_ROUND = {"cpu": 256, "cuda": 1024}
_PART = 4
# Roots for which a reduction has to pay, before a pilot tells how many are drawn.
_FORESEEN = 4096
# The method is chosen by so many of the roots, which lie as far apart as those of a round.
_PROBED = 1024
# A root of a random round takes so many times as long as one of all roots: where the diameter is low, and high.
ALONE = {False: 2.0, True: 4.0}


@dataclass(frozen=True, eq=False)
class Population:
    """What roots are drawn from.

    Attributes
    ----------
    graph : Graph
        That is swept: the graph of the call, or the block that is left of it.
    request : Request
        For that graph.
    roots : ndarray of int64
        The root of the swept graph that each member is searched from. Others add nothing.
    work : float
        Roots times edges of all of them, by whatever reduces it.
    reduction : Reduction or None
    inside : ndarray of int64, shape (n,), or None
        The vertex of the swept graph that each vertex of the call is merged into, -1 for none; None is itself.
    """

    graph: Graph
    request: Request
    roots: NDArray[np.int64]
    work: float
    reduction: Reduction | None = None
    inside: NDArray[np.int64] | None = None

    @property
    def members(self) -> NDArray[np.float64] | None:
        """How many vertices each vertex of the swept graph stands for."""
        return self.request.members

    @property
    def size(self) -> int:
        """How many members there are."""
        return len(self.roots)

    def work_of(self, drawn: float) -> float:
        """Predict the work of so many members, as that of roots of which all are swept."""
        often = np.bincount(self.roots)
        distinct = float(-np.expm1(often[often > 0] * np.log1p(-min(drawn / self.size, 1 - 1e-9))).sum())
        return ALONE[self.graph.has_high_diameter] * distinct * self.graph.nnz


@in_phase("prepare")
def population_of(graph: Graph, request: Request, settings: Settings) -> Population:
    """Tell what roots are drawn from: a block where all others are small, of an undirected graph.

    Original vertices are drawn, also of a block: those beyond a vertex of it are searched from there.
    """
    reduction = None
    if request.sums == {"dependency", "dependency_squares"} and not graph.directed and settings.executor is None:
        plain = replace(request, sums=frozenset({"dependency"}), roots=np.arange(graph.n))
        reduction = reduce_request(graph, plain, settings._replace(method="auto"), swept=_FORESEEN)
    roots = np.flatnonzero(as_numpy(graph.out_degrees) > 0)
    work = float(len(roots)) * graph.nnz if reduction is None else reduction.work
    if reduction is None or len(reduction.rests) != 1:
        return Population(graph, request, roots, work)
    if reduction.rests[0].contracted is not None:  # single roots of chains add nothing that can be told apart
        reduction = reduction.uncontracted(0, settings)
    (rest,), (block,) = reduction.rests, reduction.blocks.pieces
    inside, entrance = _places_in(graph, block)
    if rest.twins is not None and (of_class := rest.twins.of_class) is not None:
        inside, entrance = (np.where(place < 0, -1, of_class[place]) for place in (inside, entrance))
    of_piece = replace(reduction.request_of(rest), sums=request.sums, multiplicity=None)
    return Population(rest.piece.graph, of_piece, entrance[entrance >= 0], work, reduction, inside)


def _places_in(graph: Graph, block: Piece) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which vertex of a block each vertex is, and which it is searched from: -1 for none."""
    if block.vertices is None:
        return np.arange(graph.n), np.arange(graph.n)
    host, inside = graph.on_host, np.full(graph.n, -1, np.int64)
    inside[block.vertices] = np.arange(len(block.vertices))
    beyond = (inside[host.rows] < 0) | (inside[host.indices] < 0)
    ends = host.rows[beyond], host.indices[beyond]
    parts = sparse.coo_array((np.ones(len(ends[0]), np.int8), ends), shape=(graph.n, graph.n))
    _, label = csgraph.connected_components(parts, directed=False)
    entrance = np.full(graph.n, -1, np.int64)
    entrance[label[block.vertices]] = inside[block.vertices]
    return inside, entrance[label]


def sizes_of_rounds(size: int, device: str, most: int | None = None) -> NDArray[np.int64]:
    """Tell how many roots each round has, the pilot first; together they are all, or the most that is asked for."""
    left, before, sizes = size if most is None else min(size, most), 0, list[int]()
    step = _LEAST_ROUND[device]
    while left > 0:
        next_size = max(step, before // _PART // step * step) if before else PILOT[device]
        sizes.append(min(next_size, left))
        before, left = before + sizes[-1], left - sizes[-1]
    return np.array(sizes, np.int64)


@in_phase("prepare")
def plan_rounds(
    population: Population,
    order: NDArray[np.int64],
    sizes: NDArray[np.int64],
    settings: Settings,
    *,
    first: int = 0,
    linear: bool = False,
    label: str = "",
    resumed: Resumed = NOTHING,
) -> Plan:
    """Plan rounds of roots.

    Parameters
    ----------
    population : Population
    order : ndarray of int64
        Members in the order in which they are drawn, at least as many as all rounds have.
    sizes : ndarray of int64
        Of the rounds.
    settings : Settings
    first : int
        How many members were drawn before these rounds.
    linear : bool
        Whether targets count linearly.
    label : str
        Of what the sums are made into.
    resumed : Resumed
    """
    drawn = population.roots[order[first : first + sizes.sum()]]
    request = replace(population.request, roots=np.unique(drawn[:_PROBED]))
    plan = make_plan(population.graph, request, settings._replace(reduce="none"), resumed)
    (step,) = plan.steps
    if request.sums & SQUARES - set(step.method.sums):
        raise InvalidValueError(f"{step.method.name} on {step.method.device} makes no sums of squares")
    block = step.method.load().batching.block
    items, ends, counts = _laid_out(drawn, sizes, block)
    sweep = replace(step.sweep, linear=linear, roots=len(items))
    if step.method.device == "cuda" and settings.batch is None:  # larger ones would be swept in vain at the end
        sweep = replace(sweep, batch=min(sweep.batch, _LEAST_ROUND["cuda"]))
    rounds = Drawn(ends, sizes, counts, label)
    step = replace(step, sweep=sweep, ordered=items, drawn=rounds)
    return replace(plan, steps=(step,), request=replace(request, roots=order), reduction=population.reduction)


def _laid_out(
    drawn: NDArray[np.int64], sizes: Sequence[int] | NDArray[np.int64], block: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64] | None]:
    """Return the distinct roots of each round, in whole blocks of them, where rounds end, and how often each counts."""
    items, counts, ends, place, end = list[NDArray[np.int64]](), list[NDArray[np.int64]](), list[int](), 0, 0
    for size in np.asarray(sizes).tolist():
        roots, often = np.unique(drawn[place : place + size], return_counts=True)
        place += size
        absent = -len(roots) % block
        end += len(roots) + absent
        items.append(np.r_[roots, np.full(absent, -1)])
        counts.append(np.r_[often, np.ones(absent, np.int64)])
        ends.append(end)
    every = np.concatenate(counts) if counts else np.ones(0, np.int64)
    laid_out = np.concatenate(items) if items else np.zeros(0, np.int64)
    return laid_out, np.array(ends, np.int64), None if (every == 1).all() else every.astype(np.float64)


def takes_linear(plan: Plan) -> bool:
    """Whether the method of a plan sums linearly at no more cost: by rows that wait it does not."""
    (step,) = plan.steps
    waits = step.method.name == "batched" and step.graph.has_high_diameter
    return not step.graph.directed and step.method.reads("linear") and not waits
