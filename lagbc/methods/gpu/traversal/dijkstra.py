r"""Betweenness with lengths on the GPU by a search a root: Dijkstra's rule, applied to many vertices at once.

The traversal formulation, after Fan, Xu and Zhao: a block of threads searches from a root of its own, and settles in
each phase all vertices v with

    dist[v] < min over the reached, unsettled u of dist[u] + (the smallest length of an edge out of u),

Crauser's rule. They are a level: no tight edge joins two of them. The backward sweep goes through the levels again.

Differences from the paper: counts are pulled along tight in-edges where the paper pushes them under a lock a vertex,
and what waits is kept in a queue of its own where the paper looks at all vertices in each phase. lengths.cuh says why
nothing is lost in a race.

Sums are trees of fixed shape, and the roots of a block are added in their order: for a width of virtual warps, the bits
depend on the graph and the roots alone. A root takes O(n + nnz) steps and as many barriers as there are levels
("work-efficient"), or O(n levels + nnz) ("node-parallel").

References
----------
R. Fan, K. Xu and J. Zhao, A GPU-based solution for fast calculation of the betweenness centrality in large weighted
networks, PeerJ Computer Science 3 (2017) e140.

A. Crauser, K. Mehlhorn, U. Meyer and P. Sanders, A parallelization of Dijkstra's shortest path algorithm, MFCS 1998.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc.cuda.compiler import THREADS
from lagbc.cuda.host import pinned_flag
from lagbc.errors import InvalidValueError
from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.arrays import BYTE, FLOAT, NARROW, Array, allocate
from lagbc.methods.contract import Batching, Interrupted, SweepPlan
from lagbc.methods.gpu.common.kernels import Variant
from lagbc.methods.gpu.common.rows import uploaded_arrays
from lagbc.methods.gpu.traversal.kernels import DIJKSTRA
from lagbc.methods.gpu.traversal.roots import ROOTS_OF_BLOCK, add_roots
from lagbc.methods.sums import Sums

batching = Batching(block=ROOTS_OF_BLOCK, auto=2048)
options = frozenset({"variant", "virtual_warp"})

VARIANTS = tuple(DIJKSTRA)
VIRTUAL_WARPS = (1, 4, 8, 16, 32)

# How the search from a root ended, and the columns of `State.outcome`; as in lengths.cuh.
_DONE, _STOPPED, _FULL = 0, 3, 4
_HOW, _DEPTH = 0, 1
_OUTCOME = 3


@dataclass(eq=False)
class State:
    """The device's arrays; rows are the vertices with edges, in sweep order, blocks the roots of a batch."""

    plan: SweepPlan
    variant: str
    width: int  # of a virtual warp
    threads: int  # of a block
    rows: int
    order: Any  # (rows,) int64: the caller's vertex of each row
    position: NDArray[np.int64]  # (n,): row of each of the caller's vertices; rows or more if it has no edges
    edges: tuple[Any, Any, Any]  # indptr, indices, lengths
    in_edges: tuple[Any, Any, Any]
    shortest: Any  # (rows,): smallest length of an out-edge, inf if there is none
    omega: Any  # (rows,) or None
    found: Any  # (batch, rows, 2) float64: dist, and sigma, then c, in the plan's dtype
    delta: Any  # (batch, rows)
    lists: dict[str, Any]  # what the kernels of the variant take besides
    outcome: Any  # (batch, 3) int32
    stop: NDArray[np.uint8]  # pinned: the host writes, kernels poll

    @property
    def dist(self) -> Any:
        """Distances, shape (batch, rows)."""
        return self.found[:, :, 0]

    @property
    def paths(self) -> Any:
        """Path counts sigma, then c: shape (batch, rows)."""
        values = self.found.view(self.plan.dtype)
        return values[:, :, values.shape[2] // 2]


@dataclass(frozen=True, eq=False)
class Levels:
    """What a forward sweep leaves in the state.

    Attributes
    ----------
    roots : ndarray of int64
        Of the whole batch.
    searched : ndarray of int64
        Places of those with edges, a block each; the others reach nothing.
    rows : device array of int32
        Rows of these.
    depth : int
        Levels behind the root, at most.
    overflowed : ndarray of bool
        For each root of the batch, whether it has to be computed in another way: a count is out of range, or rounding
        absorbed a length.
    """

    roots: NDArray[np.int64]
    searched: NDArray[np.int64]
    rows: Any
    depth: int
    overflowed: NDArray[np.bool_]

    @property
    def places(self) -> NDArray[np.int64]:
        """Of all roots of the batch."""
        return np.arange(len(self.roots))


def arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """State the graph on the device, and the arrays of `State`, with queues as they are at first."""
    rows, batch = graph.active, plan.batch
    shape, is_scan = (batch, rows), plan.variant == "node-parallel"
    return {
        "uploaded": uploaded_arrays(graph, plan),
        "shortest, and what it is made of": Array((2, graph.n), FLOAT),
        "rows": {
            "found": Array((*shape, 2), FLOAT),  # dist, and sigma, then c, in the plan's dtype
            "delta": Array(shape, FLOAT),
            "outcome": Array((batch, _OUTCOME), NARROW, 0),
        },
        "lists": (
            {"level_of": Array(shape, NARROW)}
            if is_scan
            else {"settled": Array(shape, NARROW), "ends": Array((batch, rows + 1), NARROW)}
        ),
        "waiting": None if is_scan else _waiting_arrays(batch, _first_entries(graph)),
        "roots": Array((batch, 52 - 4 * (not is_scan)), BYTE),
    }


def _waiting_arrays(batch: int, most: int) -> dict[str, Array]:
    """State so many entries that wait, of each root."""
    return {"bounds": Array((batch, most, 2), FLOAT), "vertices": Array((batch, most), NARROW)}


# Mean edges of a vertex from which vertices come nearer so often that some wait more than once: of 54 networks with
# lengths from 1 to 10, queues of one entry a vertex had to grow by half or twice from 20 on, of none below.
_MANY_EDGES = 16


def _first_entries(graph: Graph) -> int:
    """Tell how many vertices may wait at first, of each root."""
    rows = graph.active
    return (3 * rows // 2 if graph.nnz >= _MANY_EDGES * rows else rows) + 1


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Upload the graph in sweep order and allocate the rows of a batch.

    Raises
    ------
    ValueError
        ``plan.variant`` or ``plan.virtual_warp`` is none of `VARIANTS` or `VIRTUAL_WARPS`.
    """
    variant = plan.variant or VARIANTS[0]
    if variant not in VARIANTS:
        raise InvalidValueError(f"variant={variant!r}: dijkstra has the variants {', '.join(VARIANTS)}")
    width = plan.virtual_warp or choose_width(graph)
    if width not in VIRTUAL_WARPS:
        raise InvalidValueError(f"virtual_warp={width!r}: dijkstra has virtual warps of {VIRTUAL_WARPS} threads")
    ordered, into = graph.reordered.on_device, graph.reordered.transpose.on_device
    rows = graph.active
    edges = _edges(ordered, rows)
    stop = pinned_flag()
    plan.stop.mirror(stop)
    stated = arrays(graph, plan)
    state = State(
        plan=plan,
        variant=variant,
        width=width,
        threads=tuning.TRAVERSAL_THREADS,
        rows=rows,
        order=cp.asarray(graph.order[:rows]),
        position=graph.position,
        edges=edges,
        in_edges=edges if into is ordered else _edges(into, rows),
        shortest=_shortest(edges, rows),
        omega=None if plan.omega is None else cp.asarray(plan.omega[graph.order[:rows]]),
        lists=allocate(cp, stated["lists"]),
        stop=stop,
        **allocate(cp, stated["rows"]),
    )
    if variant != "node-parallel":
        _allocate_waiting(state, _first_entries(graph))
    return state


def choose_width(graph: Graph) -> int:
    """Threads that share a vertex: the smallest virtual warp that takes the mean vertex's edges in one step."""
    mean = graph.nnz / max(1, int(np.count_nonzero(graph.out_degrees)))
    return next((width for width in VIRTUAL_WARPS if width >= mean), VIRTUAL_WARPS[-1])


def forward(state: State, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Find distances, levels and path counts of a batch of roots; a root of -1 is an absent one."""
    position = np.where(roots < 0, state.rows, state.position[roots])
    searched = np.flatnonzero(position < state.rows)
    rows = cp.asarray(position[searched].astype(np.int32))
    overflowed, depth = np.zeros(len(roots), np.bool_), 0
    if len(searched):
        outcome = _search(state, rows)
        while (outcome[:, _HOW] == _FULL).any():
            # A vertex waits once for each time that it came nearer: at most once an edge that enters it.
            _allocate_waiting(state, 3 * state.lists["most"] // 2)
            outcome = _search(state, rows)
        overflowed[searched] = outcome[:, _HOW] != _DONE
        depth = int(outcome[:, _DEPTH].max())
    yield Levels(roots, searched, rows, depth, overflowed)


def backward(state: State, levels: Levels, sums: Sums, omega: Any = None) -> None:
    """Add the dependencies of the roots that did not overflow to `sums.dependency`, in matrix order."""
    if omega is not None:
        raise NotImplementedError("dijkstra takes no target weights by column")
    count = len(levels.searched)
    if not count:
        return
    multiplicity = state.plan.multiplicity
    _launch(
        state,
        "backward",
        levels.rows,
        omega=state.omega,
        multiplicity=None if multiplicity is None else cp.asarray(multiplicity[levels.roots[levels.searched]]),
        endpoints=state.plan.endpoints,
        delta=state.delta,
        **{name: array for name, array in state.lists.items() if name in ("settled", "ends", "level_of")},
    )
    add_roots(state.delta[:count], levels.searched, state.order, sums)


def _search(state: State, rows: Any) -> NDArray[np.int32]:
    """Sweep forward, and return the outcome of each root."""
    in_indptr, in_indices, in_lengths = state.in_edges
    return _launch(
        state,
        "forward",
        rows,
        in_indptr=in_indptr,
        in_indices=in_indices,
        in_lengths=in_lengths,
        shortest=state.shortest,
        sigma_limit=state.plan.sigma_limit,
        **state.lists,
    )


def _allocate_waiting(state: State, most: int) -> None:
    """Make room for so many entries that wait, of each root; what is there is lost."""
    waiting = _waiting_arrays(state.plan.batch, most)
    for name in waiting:
        state.lists.pop(name, None)
    state.lists |= {**allocate(cp, waiting), "most": most}


def _launch(state: State, sweep: str, rows: Any, **given: Any) -> NDArray[np.int32]:
    """Run a kernel with a block a root, and return the outcome of each."""
    indptr, indices, lengths = state.edges
    kernels = DIJKSTRA[state.variant]
    kernels.kernel(f"{kernels.source.name.split('/')[-1]}_{sweep}", Variant(state.plan.dtype))(
        (len(rows),),
        state.threads,
        n=state.rows,
        width=state.width,
        roots=rows,
        indptr=indptr,
        indices=indices,
        lengths=lengths,
        found=state.found,
        stop=state.stop,
        outcome=state.outcome,
        **given,
    )
    outcome: NDArray[np.int32] = state.outcome[: len(rows)].get()
    if (outcome[:, _HOW] == _STOPPED).any():
        raise Interrupted
    return outcome


def _edges(graph: Graph, rows: int) -> tuple[Any, Any, Any]:
    return graph.indptr[: rows + 1], graph.indices, graph.weights


def _shortest(edges: tuple[Any, Any, Any], rows: int) -> Any:
    """Find the smallest length of each row's edges, inf if it has none."""
    indptr, _, lengths = edges
    shortest = cp.empty(rows)
    if rows:
        kernel = DIJKSTRA[VARIANTS[0]].kernel("dijkstra_shortest")
        kernel((-(-rows * 32 // THREADS),), THREADS, n=rows, indptr=indptr, lengths=lengths, shortest=shortest)
    return shortest
