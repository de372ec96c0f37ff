"""The reduction of a request, before any plan: its graph falls into pieces, whose sums make the sums of the graph.

    graph -> bicomponents -> small ones, together; large ones, each without its twins or contracted to its junctions

A reduction pays by the work that it leaves, roots times edges; to contract a bicomponent, by predicted times. Nothing
is swept here. A `Reduced` is data: the pieces, and the way back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, singledispatch
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.calls import in_phase
from lagbc.errors import OutOfMemoryError
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.limits import Room, in_units, raised_by
from lagbc.methods import table
from lagbc.methods.probe import COLUMNS, count_search
from lagbc.methods.sums import Sums
from lagbc.methods.table import Method
from lagbc.options import Settings
from lagbc.reduce.blocks import SmallBlocks, Tree, reduction_bytes, split
from lagbc.reduce.chains import Contracted, JunctionWork, contract, expect_work, group_size
from lagbc.reduce.twins import Classes, merge
from lagbc.reduce.weighted import NotContractible, NotReducible, Scores, Weighted
from lagbc.request import Request

# The sums that can be made of the sums of pieces.
_REDUCIBLE = frozenset({"dependency", "edges"})


class Drawn(NamedTuple):
    """Rounds of roots drawn at random."""

    ends: NDArray[np.int64]  # of each round among the items; items of -1 fill rounds up to whole panels
    sizes: NDArray[np.int64]  # roots drawn in each round
    repeats: bool = False  # whether a root may be drawn m times in a round: its item is root + (m - 1) n
    label: str = ""  # the quantity that is estimated


@dataclass(slots=True, eq=False)
class Whole:
    """A graph that is swept from the roots of a request."""

    graph: Graph
    request: Request
    classes: Classes | None = None  # of merged twins
    lined_up: NDArray[np.int64] | None = None  # the roots in the order of their batches, once a method has asked
    drawn: Drawn | None = None  # rounds of these
    is_part: bool = False  # whether the graph is a part of that of the call
    own_row: ClassVar[Any] = None  # the one row that sweeps it, where that is in no table

    def placed(self, method: Method) -> Graph:
        """Return the graph that a method reads: on the host, or on the device if it is there or large."""
        graph = self.graph
        if not graph.is_on_device and (method.device == "cpu" or graph.nnz <= tuning.HOST_EDGES):
            return graph
        return graph.on_host if method.device == "cpu" else graph.on_device

    def ordered(self, method: Method) -> NDArray[np.int64]:
        """Return the roots in the order of their batches, which the first method that asks fixes."""
        if self.lined_up is None:
            self.lined_up = self.placed(method).line_up(self.request.roots, method.device)
        return self.lined_up

    @property
    def work(self) -> int:
        """Roots times edges."""
        return len(self.request.roots) * self.graph.nnz


@singledispatch
def whole(graph: Any, request: Request) -> Whole:
    """Return the piece of a graph that is not taken apart."""
    return Whole(graph, request)


@dataclass(slots=True, eq=False)
class Chains:
    """A bicomponent that is contracted to its junctions, which are its roots."""

    contracted: Contracted
    request: Request  # of the whole graph
    device: str  # where junctions are swept
    part: Weighted  # the bicomponent, to be swept whole if numbers leave the range of chains
    own_row: ClassVar[Any] = None

    @property
    def graph(self) -> Graph:
        """The graph of the junctions."""
        return self.contracted.graph

    def placed(self, method: Method) -> Graph:
        """Return the graph that a method reads: on the host, from which a state copies it."""
        return self.graph

    @property
    def work(self) -> int:
        """Roots times edges."""
        return len(self.contracted.roots) * self.graph.nnz


@dataclass(slots=True, eq=False)
class Small:
    """All small bicomponents."""

    blocks: SmallBlocks
    edges: bool  # whether edges are summed, beside vertices

    @property
    def work(self) -> int:
        """Roots times edges."""
        return int(self.blocks.work.sum())


Piece = Whole | Chains | Small


class Reduced(NamedTuple):
    """The pieces of a request, small bicomponents last; without a tree the one piece is the graph itself."""

    pieces: tuple[Piece, ...]
    tree: Tree | None = None
    work: float = 0.0  # roots times edges of all pieces, or an equal of that in time
    share: float = 1.0  # `work` over that of the whole graph
    ends: Scores | None = None  # (n,): how often each vertex is an end of a path, if ends count

    @property
    def in_short(self) -> str:
        """Say how much work remains."""
        return f"{100 * self.share:.2g} % of the work"

    def __str__(self) -> str:
        """Say how far the graph was reduced; nothing if it was not."""
        if self.tree is None:
            return ""
        sizes = [copies.stop - copies.start for copies, _ in self.tree.large]
        small = sum(len(one.blocks.work) for one in self.pieces if isinstance(one, Small))
        large = f"{len(sizes)} large block{'s' * (len(sizes) != 1)} (up to {max(sizes, default=0):,} vertices)"
        large = large if sizes else "no large block"
        said = [f"{len(self.tree.cut):,} vertices -> {large} and {small:,} small one{'s' * (small != 1)}"]
        if classes := sum(one.graph.n for one in self.large if isinstance(one, Whole) and one.classes is not None):
            said.append(f"{classes:,} classes of twins")
        if junctions := sum(len(one.contracted.roots) for one in self.large if isinstance(one, Chains)):
            said.append(f"{junctions:,} junctions")
        return f"{', '.join(said)}; {self.in_short}"

    @property
    def large(self) -> tuple[Whole | Chains, ...]:
        """The pieces but the small bicomponents."""
        return tuple(one for one in self.pieces if not isinstance(one, Small))


class _Form(NamedTuple):
    """A form in which a bicomponent may be summed, and its work: roots times edges, or an equal of that in time."""

    piece: Whole | Chains
    work: float


def reduce(
    graph: Any,
    request: Request,
    settings: Settings,
    room: Room,
    *,
    swept: int | None = None,
) -> Reduced:
    """Reduce the graph of a request, if the options ask for it, sums allow it, and, with "auto", it pays.

    It has to pay for `swept` roots, if fewer will be swept than the request has. The answer depends on the graph, the
    request, the device and the stated memory alone, so that it is the same in each run. With "all", MemoryError says
    that the reduction takes more than the budget.
    """
    if not isinstance(graph, Graph):  # it is dealt over ranks
        return Reduced((whole(graph, request),))
    as_it_is = Reduced((Whole(graph, request),))
    roots = len(request.roots) if swept is None else min(swept, len(request.roots))
    if settings.reduce == "none" or (settings.reduce == "auto" and roots * graph.nnz < tuning.LEAST_LOOKED_AT):
        return as_it_is
    if not _is_reducible(graph, request, settings, room):
        return as_it_is
    device, reach = _device_of(graph, roots, settings), partial(reached_share, graph, request.roots)
    if settings.reduce == "auto" and not is_look_worth(graph, roots, device, reach):
        return as_it_is
    host = graph.on_host
    try:
        parts, small, tree = split(_weighted(host, request), edges="edges" in request.sums)
    except (OverflowError, NotReducible):
        return as_it_is
    found = [_reduce_part(part, request, settings, chains=True) for part in parts]
    if len(found) == 1 and found[0].piece.graph is host:
        return as_it_is
    work = float(small.work.sum()) + sum(one.work for one in found)
    share = work / max(_work_of(host, request.roots), 1.0)
    if settings.reduce != "all" and share > tuning.MOST_LEFT:
        return as_it_is
    pieces: tuple[Piece, ...] = tuple(one.piece for one in found)
    if len(small.work):
        pieces = (*pieces, Small(small, "edges" in request.sums))
    ends = _ends(host, request) if request.endpoints and "dependency" in request.sums else None
    return Reduced(pieces, tree, work, share, ends)


def without_chains(reduced: Reduced, number: int, settings: Settings) -> Reduced:
    """Return the pieces with another form of the contracted bicomponent at place `number`, which has to be one.

    The new form is the whole bicomponent, or the bicomponent with its twins merged if that is much less work. The
    attributes `work` and `share` remain those with the contracted form.
    """
    chains = reduced.pieces[number]
    assert isinstance(chains, Chains)
    form = _reduce_part(chains.part, chains.request, settings, chains=False)
    return reduced._replace(pieces=(*reduced.pieces[:number], form.piece, *reduced.pieces[number + 1 :]))


@in_phase("finish")
def restore(reduced: Reduced, request: Request, found: list[Sums]) -> Sums:
    """Make the sums of a graph that was reduced from the sums of its pieces."""
    tree = reduced.tree
    assert tree is not None
    large, small = found[: len(tree.large)], found[len(tree.large) :]
    sums = Sums()
    if "dependency" in request.sums:
        of_large = [_of_vertices(piece, one) for piece, one in zip(reduced.large, large, strict=True)]
        sums.dependency = tree.scores(of_large, small[0].dependency if small else None)
        if reduced.ends is not None:
            sums.dependency += reduced.ends
    if "edges" in request.sums:
        sums.edges = tree.edge_scores([one.edges for one in large], small[0].edges if small else None)
    return sums


def _of_vertices(piece: Whole | Chains, sums: Sums) -> Scores:
    """Return F of a bicomponent."""
    scores: Scores = sums.dependency
    return scores if isinstance(piece, Chains) or piece.classes is None else piece.classes.scores(scores)


def _is_reducible(graph: Graph, request: Request, settings: Settings, room: Room) -> bool:
    """Whether the requested sums can be made of sums of pieces, and the graph taken apart within the memory.

    A tolerance and bounds are about the whole length of a path. Endpoints of directed paths need the reachability of
    each vertex. In float32 a run takes no weights of targets. With "auto" only a stated memory counts; MemoryError says
    that reduce="all" takes more than the budget.
    """
    if not (
        request.sums <= _REDUCIBLE
        and not request.rtol
        and request.demand is None
        and request.bounds is None
        and not (request.endpoints and graph.directed)
        and settings.dtype == "float64"
        and len(request.roots) > 0
    ):
        return False
    if settings.reduce == "auto" and room.host is None:
        return True
    needed = reduction_bytes(graph, edges="edges" in request.sums)
    budget = room.for_need(needed, "cpu")
    if settings.reduce == "auto":
        return needed <= budget
    if needed > budget:
        raise OutOfMemoryError(
            f"reduce='all' needs up to {in_units(needed)} to take the graph apart, but the budget is "
            f"{in_units(budget)}; {raised_by()}, or pass reduce='none'"
        )
    return True


def _device_of(graph: Graph, roots: int, settings: Settings) -> str:
    """Return the device on which a graph is swept."""
    if settings.device != "auto":
        return settings.device
    if not graph.is_on_device and roots * graph.nnz < tuning.GPU_WORK:
        return "cpu"
    return "cuda" if any(row.available for row in table.methods_of(weighted=graph.weighted, device="cuda")) else "cpu"


def _weighted(graph: Graph, request: Request) -> Weighted:
    sources = np.zeros(graph.n)
    sources[request.roots] = 1.0 if request.root_weights is None else request.root_weights[request.roots]
    if request.omega is not None:
        return Weighted(graph, sources, request.omega)
    # One array if both are alike, as weights of branches are then summed once.
    return Weighted(graph, sources, sources if (sources == 1).all() else np.ones(graph.n))


def _work_of(graph: Graph, roots: NDArray[np.int64]) -> float:
    return float(np.count_nonzero(graph.out_degrees[roots])) * graph.nnz


def _ends(graph: Graph, request: Request) -> Scores:
    """Count how often each vertex is an end of a path of an undirected graph.

    With S roots and T targets in a component, v has S(v) (T - T(v)) as a root and T(v) (S - S(v)) as a target.
    """
    piece, component = _weighted(graph, request), as_numpy(graph.components)
    sources, targets = (np.bincount(component, given)[component] for given in (piece.sources, piece.targets))
    return piece.sources * (targets - piece.targets) + piece.targets * (sources - piece.sources)


def _reduce_part(part: Weighted, request: Request, settings: Settings, *, chains: bool) -> _Form:
    """Return the form of a bicomponent with the least work; the whole one if no other has much less."""
    whole = best = _whole(part, request)
    takes_all, reduced = settings.reduce == "all", list[_Form]()
    device = _device_of(part.graph, int(np.count_nonzero(part.sources)), settings)
    if "edges" not in request.sums and _takes_class_sizes(part.graph, settings, device):
        merged, classes = merge(part, np.inf if takes_all else tuning.MOST_LEFT)
        reduced += [] if classes is None else [_whole(merged, request, classes)]
        best = min([whole, *reduced], key=attrgetter("work"))
    if chains and _is_contractible(part.graph) and _sweeps_junctions(settings.method, device):
        most = np.inf if takes_all else tuning.MOST_LEFT * best.work / whole.work
        reduced += _contracted(part, request, whole.work, device, most)
    best = min(reduced, key=attrgetter("work"), default=whole)
    return best if takes_all or best.work <= tuning.MOST_LEFT * whole.work else whole


def _whole(part: Weighted, request: Request, classes: Classes | None = None) -> _Form:
    """Return a bicomponent, or the merged piece of its twins, as it is."""
    roots = np.flatnonzero(part.sources)
    inner = Request(
        sums=request.sums,
        roots=roots,
        omega=None if (part.targets == 1).all() else part.targets,
        root_weights=None if (part.sources[roots] == 1).all() else part.sources,
        class_sizes=part.class_sizes,
        is_sample=request.is_sample,
    )
    return _Form(Whole(part.graph, inner, classes, is_part=True), _work_of(part.graph, roots))


def _contracted(part: Weighted, request: Request, whole: float, device: str, most: float) -> list[_Form]:
    """Contract a bicomponent, if its sums then take at most a share `most` of the predicted time of the whole one.

    All junctions are swept, however few roots there are. So with fewer roots than junctions it is not contracted.
    """
    weighted, roots = part.graph.weighted, int(np.count_nonzero(part.sources))
    foreseen = expect_work(part)
    if roots < foreseen.junctions:
        return []
    expected = predict_junctions(foreseen, device, weighted=weighted)
    if expected > most * predict_at_depth(part.graph, roots, device, part.graph.n):
        return []
    as_it_is = predict_block(part.graph, roots, device)
    if expected > most * as_it_is:
        return []
    try:
        contracted = contract(part)
    except NotContractible:
        return []
    work, few_levels = contracted.work(group_size(contracted, device)), not contracted.graph.has_high_diameter
    taken = predict_junctions(work, device, weighted=weighted, few_levels=few_levels)
    return [_Form(Chains(contracted, request, device, part), taken / as_it_is * whole)]


def _is_contractible(graph: Graph) -> bool:
    """Whether a bicomponent has chains, and exact sums of lengths, as rounded sums would move ties."""
    if graph.directed or not (graph.out_degrees == 2).any():
        return False
    return not graph.weighted or graph.has_whole_lengths


def _takes_class_sizes(graph: Graph, settings: Settings, device: str) -> bool:
    """Whether a method of this device takes vertices that stand for several, and the given options."""
    options = "class_sizes", *settings.of_some_methods
    rows = table.methods_of(weighted=graph.weighted, method=settings.method, device=device)
    return any(all(map(row.reads, options)) for row in rows)


def _sweeps_junctions(method: str, device: str) -> bool:
    """Whether a method of this device sweeps from junctions: with lengths, and target weights for each root."""
    return any(row.available and row.demand for row in table.methods_of(weighted=True, method=method, device=device))


# ---- Costs: whether a look at the structure of a graph pays, and predicted times of its pieces
#
# The times of a bicomponent, swept whole or contracted to its junctions, are taken to be
#
#     whole        roots * (vertices * pair + edges * pair_edge), where `pair` grows with the number of levels
#     contracted   the same for junctions, with lengths, and `evaluations`
#
# The look at the structure of a graph, and the sweeps that it may save, are taken to be
#
#     look     n * vertex + nnz * edge, on the host, most of it on one thread
#     sweeps   on a CPU: the time of the graph as one bicomponent, divided by some threads
#              on a GPU: roots * nnz * edge, where `edge` grows with a high diameter, and with lengths
#
# A run looks if the look takes a small share of the sweeps, or a larger share that is too short to be felt, or a share
# of the time that degrees and components, which are known at once, promise to save. On a CPU a search from some roots
# tells whether roots reach few vertices, and sweeps take less. `lagbc.tuning` has the constants: nanoseconds on a CPU,
# the time of a root and an edge on a GPU.


def predict_block(graph: Graph, roots: int, device: str) -> float:
    """Predict the time of the sweeps of a bicomponent; its depth is searched only if it matters."""
    least, most = (predict_at_depth(graph, roots, device, depth) for depth in (0, graph.n))
    return least if least == most else predict_at_depth(graph, roots, device, graph.depth)


def predict_at_depth(graph: Graph, roots: int, device: str, depth: int) -> float:
    """Predict the time of the sweeps of a bicomponent of this depth."""
    costs = tuning.BLOCK_COSTS[device, graph.weighted]
    pair = min(costs["pair"] + costs["level"] * depth, costs["most"])
    return roots * (pair * graph.n + costs["pair_edge"] * graph.nnz)


def predict_junctions(work: JunctionWork, device: str, *, weighted: bool, few_levels: bool = False) -> float:
    """Predict the time of the sums from junctions; a far column takes half of a sweep."""
    costs = tuning.JUNCTION_COSTS[device, weighted]
    pair_edge = costs["pair_edge"] * (tuning.FEW_LEVELS[device] if few_levels else 1.0)
    sweep = work.junctions * costs["pair"] + 2 * work.edges * pair_edge
    return (work.junctions + work.far_columns / 2) * sweep + costs["evaluation"] * work.evaluations


def is_look_worth(graph: Graph, roots: int, device: str, reach: Callable[[], float] = lambda: 1.0) -> bool:
    """Whether a run is long enough for a look at the structure of its graph: bicomponents, twins and chains.

    `reach` returns the share of all vertices that a root reaches.
    """
    costs = tuning.LOOK_COSTS
    edge = costs["directed_edge"] if graph.directed else costs["edge"]
    look = costs["run"] + costs["vertex"] * graph.n + edge * graph.nnz
    if device == "cpu":  # the least time of the sweeps
        sweeps = predict_at_depth(graph, roots, device, 0) / tuning.LOOK_THREADS
    else:
        sweeps = tuning.GPU_EDGE[graph.weighted, graph.has_high_diameter] * roots * graph.nnz
    if look <= tuning.SHORT_LOOK:
        return look <= tuning.SHORT_SHARE * sweeps
    if look > tuning.LOOK_MOST[device] * sweeps:
        return False
    if device == "cpu":
        sweeps = reach() * sweeps + tuning.LEAST_OF_ROOT * roots
        if look > tuning.LOOK_MOST[device] * sweeps:
            return False
    if look <= tuning.LOOK_SHARE * sweeps:
        return True
    return look <= tuning.LOOK_OF_SAVED * (1 - promised_left(graph, roots)) * sweeps


def reached_share(graph: Graph, roots: NDArray[np.int64]) -> float:
    """Return the share of all vertices that a root reaches, by a search from some; 1 if these reach many edges."""
    some = roots[:: -(-len(roots) // COLUMNS)].copy()
    _, edges, pairs, _, _ = count_search(graph.on_host, some, most := graph.nnz // tuning.REACH_SHARE)
    return 1.0 if edges > most else pairs / (len(some) * graph.n)


def promised_left(graph: Graph, roots: int) -> float:
    """Predict the share of the work that reductions leave, by degrees and components.

    A vertex of degree one goes, with its edge; as a root it goes if its neighbour is a root, too. Vertices of degree
    two lie inside chains, and from junctions an edge takes some four times as long. A root sweeps its component alone.
    """
    both = graph.symmetric
    if not both.nnz:
        return 1.0
    degrees, of_component = both.out_degrees, as_numpy(graph.components)
    ends, inside = (float(np.count_nonzero(degrees == degree)) for degree in (1, 2))
    there = float(np.count_nonzero(degrees))
    roots_left = 1 - ends / there * min(1.0, roots / there)
    left = roots_left * (1 - min(1.0, 2 * ends / both.nnz))
    if not graph.directed:
        left = min(left, tuning.FROM_JUNCTIONS * (1 - (ends + inside) / there) ** 2)
    shares = np.bincount(of_component, degrees) / both.nnz
    return float(left * (shares**2).sum())
