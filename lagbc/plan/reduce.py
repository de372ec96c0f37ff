"""The reduction of a request before any sweep, by the structure of its graph.

A request for sums over paths is a piece: its graph, with the roots as sources and a weight for each vertex as a target.
`lagbc.reduce` takes it apart into bicomponents, and each of these is left without its twins, or contracted to its
junctions. The rest is swept, and the sums come back the same way. Whether that pays is told by the work, roots times
edges; for junctions by predictions, before a bicomponent is contracted.

**Bicomponents** have costs by their size, swept whole or contracted to their junctions:

    whole        roots * (vertices * pair + edges * pair_edge), a pair taking longer the more levels there are
    contracted   the same for junctions, which are swept with lengths, and `evaluations` of streams

**The look** at the structure of a graph is work of its own, and has to pay:

    look     n * vertex + nnz * edge, on one thread of the host
    sweeps   on a CPU: those of a bicomponent, shared by some threads
             on a GPU: roots * nnz * edge, an edge taking longer where the diameter is high or edges have lengths

A run looks where the look takes a small share of the sweeps. It takes a larger share if the look is too short to be
felt, or if counts of degrees and components, known at once, promise less work. On a CPU roots that reach few vertices
take less, as a search from some of them tells. The constants of both are those of `lagbc.reduce.tuning`: nanoseconds on
a CPU, on a GPU the time of a root and an edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import phase
from lagbc.errors import OutOfMemoryError
from lagbc.frozen import frozen
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.limits import host_budget, in_units, raised_by
from lagbc.methods import table
from lagbc.methods import tuning as methods_tuning
from lagbc.methods.probe import COLUMNS, count_search
from lagbc.methods.sums import Sums
from lagbc.plan import memory
from lagbc.plan.options import Settings
from lagbc.plan.request import Request
from lagbc.reduce import tuning
from lagbc.reduce.piece import NotContractible, NotReducible, Piece, Scores

if TYPE_CHECKING:
    from lagbc.reduce.blocks import Blocks
    from lagbc.reduce.chains import Contracted
    from lagbc.reduce.twins import Twins
    from lagbc.reduce.work import Work

# The sums that reductions can give back.
_REDUCIBLE = frozenset({"dependency", "edges"})
_WORK = attrgetter("work")


@frozen
class Remainder:
    """The remainder of a bicomponent, and its reductions."""

    piece: Piece  # one vertex a class of twins, if there are twins
    twins: Twins | None = None
    contracted: Contracted | None = None  # to its junctions, which are the roots
    device: str = "cpu"  # of the sweeps from junctions
    part: float = 1.0  # predicted time, as a share of the time of the whole bicomponent

    @cached_property
    def work(self) -> float:
        """Return roots times edges, or an equal of it in time."""
        return self.part * _work_of(self.piece.graph, np.flatnonzero(self.piece.sources))

    def dependency(self, sums: Sums) -> Scores:
        """Make F of the bicomponent."""
        scores: Scores = sums.dependency
        return scores if self.twins is None else self.twins.scores([scores])


@frozen
class Reduction:
    """The pieces that a graph was reduced to, and the way back."""

    request: Request
    graph: Graph  # on the host
    blocks: Blocks
    remainders: tuple[Remainder, ...]  # one for each large bicomponent

    @property
    def work(self) -> float:
        """Return the remaining roots times edges."""
        return float(self.blocks.small.work.sum()) + sum(remainder.work for remainder in self.remainders)

    @property
    def share(self) -> float:
        """Return the remaining share of the work."""
        return self.work / max(_work_of(self.graph, self.request.roots), 1.0)

    def __str__(self) -> str:
        """Say how far the graph was reduced."""
        large = max((piece.graph.n for piece in self.blocks.pieces), default=0)
        pieces, small = len(self.blocks.pieces), len(self.blocks.small.work)
        left = f"{pieces} large block{'s' * (pieces != 1)} (up to {large:,} vertices)" if pieces else "no large block"
        said = [f"{self.graph.n:,} vertices -> {left} and {small:,} small one{'s' * (small != 1)}"]
        if classes := sum(remainder.piece.graph.n for remainder in self.remainders if remainder.twins is not None):
            said.append(f"{classes:,} classes of twins")
        if junctions := sum(
            len(remainder.contracted.roots) for remainder in self.remainders if remainder.contracted is not None
        ):
            said.append(f"{junctions:,} junctions")
        return f"{', '.join(said)}; {self.in_short}"

    @property
    def in_short(self) -> str:
        """Say how much work remains."""
        return f"{100 * self.share:.2g} % of the work"

    def uncontracted(self, number: int, settings: Settings) -> Reduction:
        """Return the reduction without contraction in one bicomponent."""
        remainders = list(self.remainders)
        remainders[number] = _remainder(self.blocks.pieces[number], self.request, settings, chains=False)
        return replace(self, remainders=tuple(remainders))

    def request_of(self, remainder: Remainder) -> Request:
        """Return the request for the remainder of a bicomponent that is swept whole."""
        piece, roots = remainder.piece, np.flatnonzero(remainder.piece.sources)
        return Request(
            sums=self.request.sums,
            roots=roots,
            omega=None if (piece.targets == 1).all() else piece.targets,
            root_weights=None if (piece.sources[roots] == 1).all() else piece.sources,
            class_sizes=piece.class_sizes,
            is_sample=self.request.is_sample,
        )

    def sums(self, swept: Sequence[Sums]) -> Sums:
        """Make the sums of the graph from those of its pieces."""
        with phase("finish"):
            sums = Sums()
            if "dependency" in self.request.sums:
                of_blocks = [remainder.dependency(part) for remainder, part in zip(self.remainders, swept, strict=True)]
                sums.dependency = self.blocks.scores(of_blocks)
                if self.request.endpoints:
                    sums.dependency += _ends(self.graph, self.request)
            if self.blocks.edge_scores is not None:
                sums.edges = self.blocks.edge_scores([part.edges for part in swept])
            return sums


def reduce_request(
    graph: Graph, request: Request, settings: Settings, *, chains: bool = True, swept: int | None = None
) -> Reduction | None:
    """Reduce the graph of a request, if the options ask for that, it can be done, and, with "auto", it pays.

    It has to pay for `swept` roots, where fewer are foreseen than the request has. It depends on graph, request, device
    and the stated memory, none of which changes from run to run. With "all", MemoryError says that the reduction takes
    more than the budget.
    """
    if settings.reduce == "none" or not _applies(graph, request, settings):
        return None
    if settings.reduce == "auto":
        roots = len(request.roots) if swept is None else min(swept, len(request.roots))
        device = _device_of(graph, roots, settings)
        reach = partial(reached_share, graph, request.roots)
        if not (_is_within(graph, request, settings) and is_look_worth(graph, roots, device, reach)):
            return None
    if settings.reduce == "all":
        _require_memory(graph, request, settings)
    from lagbc.reduce.blocks import split

    host = graph.on_host
    try:
        blocks = split(_piece(host, request), edges="edges" in request.sums)
    except (OverflowError, NotReducible):
        return None
    remainders = tuple(_remainder(piece, request, settings, chains=chains) for piece in blocks.pieces)
    reduction = Reduction(request, host, blocks, remainders)
    if len(remainders) == 1 and remainders[0].piece.graph is host and remainders[0].contracted is None:
        return None
    return reduction if settings.reduce == "all" or reduction.share <= tuning.MOST_LEFT else None


def _applies(graph: Graph, request: Request, settings: Settings) -> bool:
    """Whether sums over the pieces of a graph give the requested ones.

    A tolerance is relative to the whole length of a path, bounds are on it, and endpoints of directed paths need the
    reachability of each vertex. In float32 a run has no weights of targets.
    """
    return (
        graph.is_reducible
        and request.sums <= _REDUCIBLE
        and not request.rtol
        and request.demand is None
        and request.bounds is None
        and not (request.endpoints and graph.directed)
        and settings.dtype == "float64"
        and len(request.roots) > 0
    )


def _is_within(graph: Graph, request: Request, settings: Settings) -> bool:
    """Whether a graph can be reduced within the stated memory, if any; free memory decides nothing."""
    stated = settings.room_on("cpu")
    return stated is None or memory.reduction_bytes(graph, edges="edges" in request.sums) <= stated


def _require_memory(graph: Graph, request: Request, settings: Settings) -> None:
    needed = memory.reduction_bytes(graph, edges="edges" in request.sums)
    stated = settings.room_on("cpu")
    budget = host_budget() if stated is None else stated
    if needed > budget:
        raise OutOfMemoryError(
            f"reduce='all' needs up to {in_units(needed)} to take the graph apart, but the budget is "
            f"{in_units(budget)}; {raised_by()}, or pass reduce='none'"
        )


def _device_of(graph: Graph, roots: int, settings: Settings) -> str:
    """Return the device on which a graph is swept."""
    if settings.device != "auto":
        return settings.device
    if not graph.is_on_device and roots * graph.nnz < methods_tuning.GPU_WORK:
        return "cpu"
    return "cuda" if any(row.available for row in table.methods_of(weighted=graph.weighted, device="cuda")) else "cpu"


def _remainder(piece: Piece, request: Request, settings: Settings, *, chains: bool) -> Remainder:
    """Take the reduction of a bicomponent with the least work; the whole one, if none has much less."""
    block = best = Remainder(piece)
    takes_all, reduced = settings.reduce == "all", list[Remainder]()
    device = _device_of(piece.graph, int(np.count_nonzero(piece.sources)), settings)
    if "edges" not in request.sums and _takes_class_sizes(piece.graph, settings, device):
        reduced.extend(_without_twins(piece))
        best = min([block, *reduced], key=_WORK)
    if chains and _is_contractible(piece.graph) and _sweeps_junctions(settings.method, device):
        most = np.inf if takes_all else tuning.MOST_LEFT * best.work / block.work
        reduced.extend(_contracted(piece, device, most))
    best = min(reduced, key=_WORK, default=block)
    return best if takes_all or best.work <= tuning.MOST_LEFT * block.work else block


def _without_twins(piece: Piece) -> Iterable[Remainder]:
    from lagbc.reduce.twins import merge

    twins = merge(piece)
    (merged,) = twins.pieces
    if merged is not piece:
        yield Remainder(merged, twins=twins)


def _contracted(piece: Piece, device: str = "cpu", most: float = np.inf) -> Iterable[Remainder]:
    """Contract a bicomponent, if that is predicted to take at most a share `most` of its time when swept whole.

    All junctions are swept, however few roots there are: with fewer roots than junctions it is not contracted.
    """
    from lagbc.plan.junctions import group_size
    from lagbc.reduce.chains import contract
    from lagbc.reduce.work import expect_work

    weighted, roots = piece.graph.weighted, int(np.count_nonzero(piece.sources))
    foreseen = expect_work(piece)
    if roots < foreseen.junctions:
        return
    expected = predict_junctions(foreseen, device, weighted=weighted)
    if expected > most * predict_at_depth(piece.graph, roots, device, piece.graph.n):
        return
    as_it_is = predict_block(piece.graph, roots, device)
    if expected > most * as_it_is:
        return
    try:
        contracted = contract(piece)
    except NotContractible:
        return
    work, few_levels = contracted.work(group_size(contracted, device)), not contracted.graph.has_high_diameter
    taken = predict_junctions(work, device, weighted=weighted, few_levels=few_levels)
    yield Remainder(piece, contracted=contracted, device=device, part=taken / as_it_is)


def _is_contractible(graph: Graph) -> bool:
    """Whether a bicomponent has chains, and exact sums of lengths: rounded ones would move ties."""
    if graph.directed or not (graph.out_degrees == 2).any():
        return False
    return not graph.weighted or graph.has_whole_lengths


def _takes_class_sizes(graph: Graph, settings: Settings, device: str) -> bool:
    """Whether a method of that device, with the given options, takes vertices that stand for several."""
    options = "class_sizes", *settings.of_some_methods
    rows = table.methods_of(weighted=graph.weighted, method=settings.method, device=device)
    return any(all(map(row.reads, options)) for row in rows)


def _sweeps_junctions(method: str, device: str) -> bool:
    """Whether a method of that device sweeps from junctions: with lengths, and target weights of single roots."""
    return any(row.available and row.demand for row in table.methods_of(weighted=True, method=method, device=device))


def _piece(graph: Graph, request: Request) -> Piece:
    sources = np.zeros(graph.n)
    sources[request.roots] = 1.0 if request.root_weights is None else request.root_weights[request.roots]
    if request.omega is not None:
        return Piece(graph, sources, request.omega)
    # The same array where they are alike: weights of branches are summed once.
    return Piece(graph, sources, sources if (sources == 1).all() else np.ones(graph.n))


def _work_of(graph: Graph, roots: NDArray[np.int64]) -> float:
    return float(np.count_nonzero(graph.out_degrees[roots])) * graph.nnz


def _ends(graph: Graph, request: Request) -> Scores:
    """Count how often each vertex is an end of a path of an undirected graph.

    With S roots and T targets in a component, v has S(v) (T - T(v)) as a root and T(v) (S - S(v)) as a target.
    """
    piece, component = _piece(graph, request), as_numpy(graph.components)
    sources, targets = (np.bincount(component, given)[component] for given in (piece.sources, piece.targets))
    ends: Scores = piece.sources * (targets - piece.targets) + piece.targets * (sources - piece.sources)
    return ends


def predict_block(graph: Graph, roots: int, device: str) -> float:
    """Predict the sweeps of a bicomponent; its depth is searched for only where it matters."""
    least, most = (predict_at_depth(graph, roots, device, depth) for depth in (0, graph.n))
    return least if least == most else predict_at_depth(graph, roots, device, graph.depth)


def predict_at_depth(graph: Graph, roots: int, device: str, depth: int) -> float:
    """Predict the sweeps of a bicomponent with a given depth, from 0 to n."""
    costs = tuning.BLOCK_COSTS[device, graph.weighted]
    pair = min(costs["pair"] + costs["level"] * depth, costs["most"])
    return roots * (pair * graph.n + costs["pair_edge"] * graph.nnz)


def predict_junctions(work: Work, device: str, *, weighted: bool, few_levels: bool = False) -> float:
    """Predict the sums from junctions of a bicomponent with lengths or in hops; a far column is half a sweep."""
    costs = tuning.JUNCTION_COSTS[device, weighted]
    pair_edge = costs["pair_edge"] * (tuning.FEW_LEVELS[device] if few_levels else 1.0)
    sweep = work.junctions * costs["pair"] + 2 * work.edges * pair_edge
    return (work.junctions + work.far_columns / 2) * sweep + costs["evaluation"] * work.evaluations


def is_look_worth(graph: Graph, roots: int, device: str, reach: Callable[[], float] = lambda: 1.0) -> bool:
    """Whether a run is long enough for a look at the structure of its graph.

    The look searches for bicomponents, twins and chains; in a directed graph also for components and arcs. `reach`
    tells the share of all vertices that a root reaches.
    """
    costs = tuning.LOOK_COSTS
    edge = costs["directed_edge"] if graph.directed else costs["edge"]
    look, sweeps = costs["run"] + costs["vertex"] * graph.n + edge * graph.nnz, predict_sweeps(graph, roots, device)
    if look <= tuning.SHORT_LOOK:
        return look <= tuning.SHORT_SHARE * sweeps
    if look > tuning.LOOK_MOST * sweeps:
        return False
    if device == "cpu":
        sweeps = reach() * sweeps + tuning.LEAST_OF_ROOT * roots
        if look > tuning.LOOK_MOST * sweeps:
            return False
    return look <= tuning.LOOK_SHARE * sweeps or promised_left(graph, roots) <= tuning.MOST_LEFT


def reached_share(graph: Graph, roots: NDArray[np.int64]) -> float:
    """Return the share of all vertices that a root reaches, by a search from some; 1 where they reach many edges."""
    some = roots[:: -(-len(roots) // COLUMNS)].copy()
    _, edges, pairs, _, _ = count_search(graph.on_host, some, most := graph.nnz // tuning.REACH_SHARE)
    return 1.0 if edges > most else pairs / (len(some) * graph.n)


def predict_sweeps(graph: Graph, roots: int, device: str) -> float:
    """Predict the least time of the sweeps."""
    if device == "cpu":
        return predict_at_depth(graph, roots, device, 0) / tuning.LOOK_THREADS
    return tuning.GPU_EDGE[graph.weighted, graph.has_high_diameter] * roots * graph.nnz


def promised_left(graph: Graph, roots: int) -> float:
    """Return the share of the work that remains after reductions, as far as degrees and components tell.

    A vertex of degree one goes with its edge; as a root it is merged where its neighbour is a root, too. Vertices of
    degree two lie inside chains, and from junctions an edge takes some four times as long. A root sweeps its component.
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
