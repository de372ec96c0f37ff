r"""Betweenness with lengths on the GPU by a search a root: Dijkstra's rule, applied to many vertices at once.

The traversal formulation, after Fan, Xu and Zhao: a thread block searches from a root of its own, and settles in each
phase all vertices v with

    dist[v] < min over the reached, unsettled u of dist[u] + (the smallest length of an edge out of u),

Crauser's rule. They are a level: no tight edge joins two of them. The backward sweep goes through the levels again.

Differences from the paper: counts are pulled along tight in-edges where the paper pushes them under a lock a vertex,
and waiting vertices are kept in a queue of their own where the paper looks at all vertices in each phase. lengths.cuh
says why nothing is lost in a race.

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
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.cuda.kernel import THREADS, Variant
from lagbc.graph.graph import Graph
from lagbc.methods.contract import BYTE, FLOAT, NARROW, Array, Batching, Counted, Interrupted, SweepPlan, allocate
from lagbc.methods.gpu.common.arrays import read
from lagbc.methods.gpu.common.rows import BatchArrays, Rows, upload, uploaded_arrays
from lagbc.methods.gpu.common.sums import ROOTS_OF_BLOCK, add_roots
from lagbc.methods.gpu.driver import Levels, Searched, State, refuse_targets
from lagbc.methods.gpu.kernels import DIJKSTRA
from lagbc.methods.sums import Sums

batching = Batching(block=ROOTS_OF_BLOCK, auto=2048)

VARIANTS = tuple(DIJKSTRA)
VIRTUAL_WARPS = (1, 4, 8, 16, 32)

# How the search from a root ended, and the columns of `outcome`; as in lengths.cuh.
_DONE, _STOPPED, _FULL = 0, 3, 4
_HOW, _DEPTH = 0, 1
_OUTCOME = 3


def arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """State the graph on the device, and the arrays of `State`, with queues in their first size."""
    rows, batch = graph.active, plan.batch
    shape, is_scan = (batch, rows), plan.variant == "node-parallel"
    return {
        "uploaded": Counted(uploaded_arrays(graph, plan)),
        "shortest": Counted({"and what it is made of": Array((2, graph.n), FLOAT)}),
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
        "roots": Counted({"lists": Array((batch, 52 - 4 * (not is_scan)), BYTE)}),
    }


def _waiting_arrays(batch: int, most: int) -> dict[str, Array]:
    """State `most` waiting entries of each root."""
    return {"bounds": Array((batch, most, 2), FLOAT), "vertices": Array((batch, most), NARROW)}


# Mean edges of a vertex from which vertices come nearer so often that some wait more than once. Of 54 networks with
# lengths from 1 to 10, queues of one entry a vertex had to grow by half or twice from 20 on, and never below.
_MANY_EDGES = 16


def _first_entries(graph: Graph) -> int:
    """Return how many vertices may wait at first, for each root."""
    rows = graph.active
    return (3 * rows // 2 if graph.nnz >= _MANY_EDGES * rows else rows) + 1


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Upload the graph in sweep order and make a batch."""
    ordered, into = graph.reordered.on_device, graph.reordered.transpose.on_device
    rows = upload(graph, plan)
    held = allocate(cp, arrays(graph, plan))
    made = BatchArrays(
        rows=rows,
        variant=plan.variant or VARIANTS[0],
        width=plan.virtual_warp or choose_width(graph),  # of a virtual warp
        lengths=ordered.weights,
        in_lengths=into.weights,
        shortest=_shortest(rows, ordered.weights),
        **held["rows"],
        # Of the kernels of the variant: of both sweeps, and of that forward.
        lists=held["lists"],
        waiting={} if held["waiting"] is None else _waiting(held["waiting"]),
    )
    return State(rows, made)


def choose_width(graph: Graph) -> int:
    """Return the smallest virtual warp, threads that share a vertex, for the mean vertex's edges in one step."""
    mean = graph.nnz / max(1, int(np.count_nonzero(graph.out_degrees)))
    return next((width for width in VIRTUAL_WARPS if width >= mean), VIRTUAL_WARPS[-1])


def forward(state: State, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Find distances, levels and path counts of a batch; -1 is an absent root, an absorbed length overflows."""
    searched = Searched.of(state.rows, roots)
    overflowed, depth = np.zeros(len(roots), np.bool_), 0
    if len(searched.places):
        rows, arrays = state.rows, state.arrays
        own = {**rows.in_edges, **arrays.arguments("in_lengths", "shortest"), "sigma_limit": rows.sigma_limit}
        outcome = _launch(arrays, "forward", searched.rows, **own, **arrays.waiting)
        while (outcome[:, _HOW] == _FULL).any():
            # A vertex waits once for each time that it came nearer: at most once an edge that enters it.
            _grow_waiting(arrays)
            outcome = _launch(arrays, "forward", searched.rows, **own, **arrays.waiting)
        overflowed[searched.places] = outcome[:, _HOW] != _DONE
        depth = int(outcome[:, _DEPTH].max())
    yield Levels(roots, np.arange(len(roots)), depth, overflowed, searched)


def backward(state: State, levels: Levels, sums: Sums, omega: Any = None) -> None:
    """Add the dependencies of the roots that did not overflow to `sums.dependency`, in matrix order."""
    refuse_targets(omega, "dijkstra")
    searched: Searched = levels.found
    count = len(searched.places)
    if not count:
        return
    arrays, root_weights = state.arrays, state.plan.root_weights
    times = None if root_weights is None else cp.asarray(root_weights[levels.roots[searched.places]])
    weights = {"omega": state.rows.omega, "root_weights": times, "endpoints": state.plan.endpoints}
    _launch(arrays, "backward", searched.rows, **weights, delta=arrays.delta)
    add_roots(arrays.delta[:count], times, searched.places, state.rows.order, sums)


def _grow_waiting(arrays: BatchArrays) -> None:
    """Make room for half as many waiting entries again of each root; earlier entries are lost."""
    most, arrays.waiting = 3 * arrays.waiting["most"] // 2, None
    arrays.waiting = _waiting(allocate(cp, _waiting_arrays(arrays.rows.plan.batch, most)))


def _waiting(arrays: dict[str, Any]) -> dict[str, Any]:
    """Return arrays of waiting entries, and how many each root may have."""
    return {**arrays, "most": arrays["vertices"].shape[1]}


def _launch(arrays: BatchArrays, sweep: str, roots: Any, **given: Any) -> NDArray[np.int32]:
    """Run a kernel with a thread block a root, and return the outcome of each."""
    rows, kernels = arrays.rows, DIJKSTRA[arrays.variant]
    kernels.kernel(f"{kernels.source.name.split('/')[-1]}_{sweep}", Variant(rows.plan.dtype))(
        (len(roots),),
        tuning.TRAVERSAL_THREADS,
        n=rows.rows,
        roots=roots,
        **rows.out_edges,
        **arrays.arguments("lengths", "width", "found", "outcome"),
        **arrays.lists,
        stop=rows.stop,
        **given,
    )
    outcome: NDArray[np.int32] = read(arrays.outcome[: len(roots)])
    if (outcome[:, _HOW] == _STOPPED).any():
        raise Interrupted
    return outcome


def _shortest(rows: Rows, lengths: Any) -> Any:
    """Find the smallest length of each row's edges, inf if it has none."""
    shortest, n = cp.empty(rows.rows), rows.rows
    if n:
        kernel = DIJKSTRA[VARIANTS[0]].kernel("dijkstra_shortest", Variant(rows.plan.dtype))
        kernel((-(-n * 32 // THREADS),), THREADS, n=n, indptr=rows.indptr, lengths=lengths, shortest=shortest)
    return shortest
