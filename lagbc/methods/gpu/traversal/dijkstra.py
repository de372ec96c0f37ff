r"""Betweenness with lengths on the GPU by a search a root: Dijkstra's rule, applied to many vertices at once.

The traversal formulation, after Fan, Xu and Zhao: a block of threads searches from a root of its own, and settles in
each phase all vertices v with

    dist[v] < min over the reached, unsettled u of dist[u] + (the smallest length of an edge out of u),

Crauser's rule. They are a level: no tight edge joins two of them. The backward sweep goes through the levels again.

Differences from the paper: counts are pulled along tight in-edges where the paper pushes them under a lock a vertex,
and unsettled vertices are kept in a queue of their own where the paper looks at all vertices in each phase.
dijkstra.cu says why nothing is lost in a race.

Sums are trees of fixed shape, and the roots of a batch are added in their order: for a batch and a width of virtual
warps, the bits depend on the graph alone. A root takes O(n + nnz) steps and as many barriers as there are levels
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
from lagbc.graph.graph import Graph
from lagbc.methods.contract import Batching, Interrupted, SweepPlan
from lagbc.methods.gpu.common.rows import upload_bytes
from lagbc.methods.gpu.traversal.kernels import DIJKSTRA
from lagbc.methods.sums import Sums

batching = Batching(block=1, auto=2048)
options = frozenset({"variant", "virtual_warp"})

VARIANTS = ("work-efficient", "node-parallel")
VIRTUAL_WARPS = (1, 4, 8, 16, 32)

# How the search from a root ended, and the columns of `State.outcome`; as in dijkstra.cu.
_DONE, _STOPPED = 0, 3
_HOW, _DEPTH = 0, 1
_OUTCOME = 4


@dataclass(eq=False)
class State:
    """The device's arrays; rows are the vertices with edges, in sweep order, blocks the roots of a batch."""

    plan: SweepPlan
    width: int  # of a virtual warp
    rows: int
    order: Any  # (rows,) int64: the caller's vertex of each row
    position: NDArray[np.int64]  # (n,): row of each of the caller's vertices; rows or more if it has no edges
    edges: tuple[Any, Any, Any]  # indptr, indices, lengths
    in_edges: tuple[Any, Any, Any]
    shortest: Any  # (rows,): smallest length of an out-edge, inf if there is none
    omega: Any  # (rows,) or None
    dist: Any  # (batch, rows)
    sigma: Any  # (batch, rows): path counts, then c
    delta: Any  # (batch, rows)
    settled: Any  # (batch, rows) int32: S; None if node-parallel
    waiting: Any  # (batch, rows) int32, or None
    ends: Any  # (batch, rows + 1) int32, or None
    level_of: Any  # (batch, rows) int32; None if work-efficient
    outcome: Any  # (batch, 4) int32
    stop: NDArray[np.uint8]  # pinned: the host writes, kernels poll


@dataclass(frozen=True, eq=False)
class Levels:
    """What a forward sweep leaves in the state.

    Attributes
    ----------
    roots : ndarray of int64
        Those with edges, a block each; the others reach nothing.
    rows : device array of int32
        Theirs.
    depth : int
        Levels behind the root, at most.
    overflowed : ndarray of bool
        For each root of the batch, whether it has to be computed in another way: a count is out of range, or rounding
        absorbed a length.
    """

    roots: NDArray[np.int64]
    rows: Any
    depth: int
    overflowed: NDArray[np.bool_]

    @property
    def places(self) -> NDArray[np.int64]:
        """Of all roots of the batch."""
        return np.arange(len(self.overflowed))


def footprint(graph: Graph, plan: SweepPlan) -> int:
    """Bound the bytes of the graph on the device, and of `State`.

    Of a vertex, the shortest edge and a sum of deltas; of a vertex and root dist, sigma and delta, and settled, waiting
    and ends, or the level.
    """
    lengths = 2 * 8 * graph.nnz
    lists = 4 if plan.variant == "node-parallel" else 3 * 4
    entries = graph.n * plan.batch * (8 + np.dtype(plan.dtype).itemsize + 8 + lists)
    return upload_bytes(graph, plan) + lengths + 2 * 8 * graph.n + entries + 64 * plan.batch


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Upload the graph in sweep order and allocate the rows of a batch.

    Raises
    ------
    ValueError
        ``plan.variant`` or ``plan.virtual_warp`` is none of `VARIANTS` or `VIRTUAL_WARPS`.
    """
    variant = plan.variant or VARIANTS[0]
    if variant not in VARIANTS:
        raise ValueError(f"variant={variant!r}: dijkstra has the variants {', '.join(VARIANTS)}")
    width = plan.virtual_warp or choose_width(graph)
    if width not in VIRTUAL_WARPS:
        raise ValueError(f"virtual_warp={width!r}: dijkstra has virtual warps of {VIRTUAL_WARPS} threads")
    ordered, into = graph.reordered.on_device, graph.reordered.transpose.on_device
    rows = int(np.count_nonzero((graph.out_degrees > 0) | (graph.in_degrees > 0)))
    position = np.empty(graph.n, np.int64)
    position[graph.order] = np.arange(graph.n)
    edges = _edges(ordered, rows)
    queued = variant == "work-efficient"
    stop = pinned_flag()
    plan.stop.mirror(stop)
    shape = plan.batch, rows
    return State(
        plan=plan,
        width=width,
        rows=rows,
        order=cp.asarray(graph.order[:rows]),
        position=position,
        edges=edges,
        in_edges=edges if into is ordered else _edges(into, rows),
        shortest=_shortest(edges, rows),
        omega=None if plan.omega is None else cp.asarray(plan.omega[graph.order[:rows]]),
        dist=cp.full(shape, np.inf),
        sigma=cp.empty(shape, plan.dtype),
        delta=cp.zeros(shape),
        settled=cp.empty(shape, cp.int32) if queued else None,
        waiting=cp.empty(shape, cp.int32) if queued else None,
        ends=cp.empty((plan.batch, rows + 1), cp.int32) if queued else None,
        level_of=None if queued else cp.empty(shape, cp.int32),
        outcome=cp.zeros((plan.batch, _OUTCOME), cp.int32),
        stop=stop,
    )


def choose_width(graph: Graph) -> int:
    """Threads that share a vertex: the smallest virtual warp that takes the mean vertex's edges in one step."""
    mean = graph.nnz / max(1, int(np.count_nonzero(graph.out_degrees)))
    return next((width for width in VIRTUAL_WARPS if width >= mean), VIRTUAL_WARPS[-1])


def forward(state: State, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Find distances, levels and path counts of a batch of roots; a root of -1 is an absent one."""
    position = np.where(roots < 0, state.rows, state.position[roots])
    placed = position < state.rows
    rows = cp.asarray(position[placed].astype(np.int32))
    overflowed, depth = np.zeros(len(roots), np.bool_), 0
    if placed.any():
        in_indptr, in_indices, in_lengths = state.in_edges
        outcome = _launch(
            "dijkstra_forward",
            state,
            len(rows),
            roots=rows,
            in_indptr=in_indptr,
            in_indices=in_indices,
            in_lengths=in_lengths,
            shortest=state.shortest,
            waiting=state.waiting,
            sigma_limit=state.plan.sigma_limit,
        )
        overflowed[placed] = outcome[:, _HOW] != _DONE
        depth = int(outcome[:, _DEPTH].max())
    yield Levels(roots[placed], rows, depth, overflowed)


def backward(state: State, levels: Levels, sums: Sums, omega: Any = None) -> None:
    """Add the dependencies of the roots that did not overflow to `sums.dependency`, in matrix order."""
    if omega is not None:
        raise NotImplementedError("dijkstra takes no target weights by column")
    count = len(levels.roots)
    if not count:
        return
    times = None if state.plan.multiplicity is None else cp.asarray(state.plan.multiplicity[levels.roots])
    weights = {"omega": state.omega, "multiplicity": times, "endpoints": state.plan.endpoints}
    _launch("dijkstra_backward", state, count, roots=levels.rows, **weights)
    sums.dependency[:, state.order] += state.delta[:count].sum(axis=0)


def _launch(name: str, state: State, blocks: int, **given: Any) -> NDArray[np.int32]:
    """Run a kernel with a block a root, and return the outcome of each."""
    indptr, indices, lengths = state.edges
    DIJKSTRA.kernel(name, state.plan.dtype)(
        (blocks,),
        THREADS,
        n=state.rows,
        width=state.width,
        indptr=indptr,
        indices=indices,
        lengths=lengths,
        dist=state.dist,
        sigma=state.sigma,
        delta=state.delta,
        settled=state.settled,
        ends=state.ends,
        level_of=state.level_of,
        stop=state.stop,
        outcome=state.outcome,
        **given,
    )
    outcome: NDArray[np.int32] = state.outcome[:blocks].get()
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
        kernel = DIJKSTRA.load("float64").get_function("dijkstra_shortest")
        kernel((-(-rows * 32 // THREADS),), (THREADS,), (np.int32(rows), indptr, lengths, shortest))
    return shortest
