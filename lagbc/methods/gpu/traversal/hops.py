"""Unweighted betweenness on the GPU by the traversal kernels of the literature: a thread block searches from one root.

A row of `METHODS` is a way to share out the work of a level among threads:

- "node-parallel": a thread a vertex, at every level all vertices (Jia et al. 2011).
- "warp-centric": the same with a virtual warp of 4, 8, 16 or 32 threads a vertex, which share its edges (Hong et al.
  2011).
- "edge-parallel": a thread an edge, at every level all edges (Jia et al. 2011).
- "work-efficient": the vertices of the frontier alone, by a queue that the backward sweep replays, so that a root
  costs O(n + m) (McLaughlin and Bader 2014). Virtual warps share the edges.
- "active-edge": the edges of the frontier, evenly over the threads, found by binary search in the prefix sums of its
  degrees (Vella et al. 2018).
- "hybrid": work-efficient for the first roots, whose median depth then decides between that and edge-parallel
  (McLaughlin and Bader's sampling).

In the first three, ``variant="all-blocks"`` of `SweepPlan` puts all thread blocks on one root, one root after the other
(gpu-fan: Shi and Zhang 2011). Each thread block of the others has a root of a batch, and the device runs as many at a
time as it holds.

Forward, path counts are pushed by atomic additions, which are exact up to 2**53 and so come to the same bits in any
order. Past that "work-efficient" pulls them again, in the order of the edges; it has the same bits in every run. The
others promise 1e-12.

References
----------
Y. Jia, V. Lu, J. Hoberock, M. Garland and J. C. Hart, Edge v. node parallelism for graph centrality metrics, GPU
Computing Gems Jade Edition (2011) 15-28.

S. Hong, S. K. Kim, T. Oguntebi and K. Olukotun, Accelerating CUDA graph algorithms at maximum warp, PPoPP 2011.

Z. Shi and B. Zhang, Fast network centrality analysis using GPUs, BMC Bioinformatics 12 (2011) 149.

A. McLaughlin and D. A. Bader, Scalable and high performance betweenness centrality on the GPU, SC 2014.

F. Vella, M. Bernaschi and G. Carbone, Dynamic merging of frontiers for accelerating the evaluation of betweenness
centrality, ACM J. Exp. Algorithmics 23 (2018) 1.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.cuda.kernel import Kernel, Variant, resident_blocks
from lagbc.graph.graph import Graph
from lagbc.methods.contract import (
    BYTE,
    FLOAT,
    INTEGER,
    NARROW,
    Array,
    Batching,
    Counted,
    Interrupted,
    SweepPlan,
    allocate,
    bytes_of,
)
from lagbc.methods.gpu.common.arrays import read
from lagbc.methods.gpu.common.rows import BatchArrays, upload, uploaded_arrays
from lagbc.methods.gpu.common.sums import ROOTS_OF_BLOCK, add_roots
from lagbc.methods.gpu.driver import Levels, Searched, State, refuse_targets, weights_of_roots
from lagbc.methods.gpu.kernels import DEPTH_BYTES, ROOTS, TRAVERSALS
from lagbc.methods.sums import Sums

# About four times the roots that an H100 searches from at a time, so that it is seldom idle at the end.
batching = Batching(block=ROOTS_OF_BLOCK, auto=2048)

# Virtual warps.
WIDTHS = (1, 2, 4, 8, 16, 32)
_NODE, _EDGE = "node_parallel", "edge_parallel"
_QUEUE, _ACTIVE = "work_efficient", "active_edge"
_SOURCES = {
    "node-parallel": _NODE,
    "warp-centric": _NODE,
    "edge-parallel": _EDGE,
    "work-efficient": _QUEUE,
    "active-edge": _ACTIVE,
    "hybrid": _QUEUE,
}
_TOO_DEEP, _STOPPED = 1, 2
# Notes on the counts of a search; as in search.cuh.
_INEXACT, _OVERFLOWED = 1, 2


def arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """State the graph on the device, and the arrays of a batch, with depths in their first width."""
    has_tails = _EDGE in _sources(plan)
    return {
        "uploaded": Counted(uploaded_arrays(graph, plan)),
        "tails": Counted({"tails": Array((graph.nnz,), NARROW)}) if has_tails else None,
        "batch": Counted(_arrays_of_batch(graph.active, plan, _depth_bytes(graph))),
    }


def _arrays_of_batch(rows: int, plan: SweepPlan, depth_bytes: int) -> dict[str, Any]:
    """State the rows of a batch, and the largest other arrays of the method's kernels."""
    sources, stride = _sources(plan), rows + 32
    lists = [_own_arrays(source, plan, stride) for source in sorted(sources)]
    return {
        "rows": _row_arrays(plan, stride, depth_bytes),
        "lists": max(lists, key=bytes_of),
        "ends": _end_arrays(plan, _most_levels(depth_bytes, rows)) if sources & {_QUEUE, _ACTIVE} else None,
        "roots": Array((plan.batch, 64), BYTE),
    }


def _row_arrays(plan: SweepPlan, stride: int, depth_bytes: int) -> dict[str, Array]:
    """State a row of each root, with no vertex reached; see search.cuh."""
    shape = plan.batch, stride
    return {
        "depths": Array(shape, np.dtype(f"uint{8 * depth_bytes}"), 0),
        "values": Array(shape, np.dtype(plan.dtype), 0),  # sigma, then c
        "delta": Array(shape, FLOAT),
    }


def _own_arrays(source: str, plan: SweepPlan, stride: int) -> dict[str, Array]:
    """State the other rows of the kernels of a source."""
    shape = plan.batch, stride
    sums = Array(shape, np.dtype(plan.dtype), 0)
    of_queue = {"queues": Array(shape, NARROW)}
    return {
        _NODE: {},
        _EDGE: {"sums": sums},
        _QUEUE: of_queue,
        _ACTIVE: {**of_queue, "offsets": Array(shape, INTEGER), "sums": sums},
    }[source]


def _end_arrays(plan: SweepPlan, most: int) -> dict[str, Array]:
    """State where levels end in the queue of each root."""
    return {"ends": Array((plan.batch, most + 1), NARROW)}


def _sources(plan: SweepPlan) -> set[str]:
    """Name the kernels that a method may take."""
    return {_SOURCES[plan.method]} | ({_EDGE} if plan.method == "hybrid" else set())


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Upload the graph in sweep order and allocate a batch."""
    ROOTS.begin_compile()
    rows = upload(graph, plan)
    rows.indices, rows.in_indices = (cp.asarray(indices, np.int32) for indices in (rows.indices, rows.in_indices))
    made = BatchArrays(
        rows=rows,
        source=_SOURCES[plan.method],  # of the kernels: a key of TRAVERSALS
        graph=graph.reordered.on_device,
        stride=-(-rows.rows // 32) * 32,  # of a root's row
        width=_width(graph, plan),  # threads that share a vertex's edges
        depth_bytes=_depth_bytes(graph),
        counted=bytes_of({"batch": arrays(graph, plan)["batch"]}),
        sampled=[] if plan.method == "hybrid" else None,  # depths of the searches so far, until it has decided
    )
    _allocate(made)
    return State(rows, made)


def _most_levels(depth_bytes: int, rows: int) -> int:
    """Return the levels that depths of so many bytes tell apart; a path has at most n levels, and one is spare."""
    return min((1 << 8 * depth_bytes) - 1, rows + 1)


def _depth_bytes(graph: Graph) -> int:
    """Return the first bytes of a depth: a root has at most twice as many levels as the hub, if edges go both ways."""
    return next(size for size in DEPTH_BYTES if 2 * graph.depth + 3 < 1 << 8 * size)


def forward(state: State, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Find the levels of a batch of roots and count their shortest paths; a root of -1 is an absent one."""
    arrays, plan = state.arrays, state.plan
    plan.stop.check()
    if arrays.sampled is not None and sum(map(len, arrays.sampled)) >= tuning.SAMPLE:
        _decide(arrays)
    searched = Searched.of(state.rows, roots)
    searches, depth = len(searched.places), 0
    deepest, overflowed = cp.zeros(searches, np.int32), np.zeros(len(roots), np.bool_)
    if searches:
        noted = cp.zeros(searches, np.int32)
        noting = {"sigma_limit": state.rows.sigma_limit, "overflowed": noted, "deepest": deepest}
        while not _launch(arrays, "forward", searches, **state.rows.out_edges, roots=searched.rows, **noting):
            _widen(arrays)
        if arrays.source == _QUEUE and (read(noted) == _INEXACT).any():
            into = {"indptr": state.rows.in_indptr, "indices": state.rows.in_indices}
            _launch(arrays, "recount", searches, **into, **noting)
        overflowed[searched.places] = read(noted) == _OVERFLOWED
        depth = int(read(deepest).max())
        if arrays.sampled is not None:
            arrays.sampled.append(deepest.get())
    yield Levels(roots, np.arange(len(roots)), depth, overflowed, searched._replace(deepest=deepest))


def backward(state: State, levels: Levels, sums: Sums, omega: Any = None) -> None:
    """Add the dependencies of the roots that did not overflow to `sums.dependency`, in matrix order."""
    refuse_targets(omega, "a traversal")
    plan, arrays, searched = state.plan, state.arrays, levels.found
    plan.stop.check()
    searches = len(searched.places)
    if not searches:
        return
    times = cp.asarray(weights_of_roots(plan, levels)[searched.places])
    delta = arrays.delta[:searches]
    delta.fill(0)
    weights = {"times": times, "omega": state.rows.omega, "endpoints": plan.endpoints}
    given = {"deepest": searched.deepest, "delta": delta, **weights}
    _launch(arrays, "backward", searches, **state.rows.out_edges, **given)
    if plan.endpoints:
        reached = cp.count_nonzero(arrays.depths[:searches], axis=1) - 1
        delta[cp.arange(searches), searched.rows] = times * reached
    add_roots(delta, times, searched.places, state.rows.order, sums)


def _width(graph: Graph, plan: SweepPlan) -> int:
    """Return the threads that share a vertex's edges: the mean degree of an edge's tail, rounded down.

    So it is 2 or 4 on roads and meshes, and 32 where a few vertices have most edges, which would keep one thread long.
    """
    if plan.virtual_warp is not None:
        return plan.virtual_warp
    if plan.method == "node-parallel":
        return 1
    mean = int(graph.out_degrees @ graph.out_degrees) / max(1, graph.nnz)
    narrowest = 4 if plan.method == "warp-centric" else 1
    return max(size for size in WIDTHS if size <= max(mean, narrowest))


def _allocate(arrays: BatchArrays) -> None:
    """Make the rows of a batch anew, with no vertex reached; `own` are the other arguments of the source's kernels."""
    plan, source, stride = arrays.rows.plan, arrays.source, arrays.stride
    rows = _row_arrays(plan, stride, arrays.depth_bytes)
    arrays.take({**dict.fromkeys(rows), "own": {}})
    arrays.take(allocate(cp, rows))
    arrays.own = allocate(cp, _own_arrays(source, plan, stride))
    if source == _EDGE:
        arrays.own["tails"] = cp.asarray(arrays.graph.rows, np.int32)
    if source in (_NODE, _QUEUE):
        arrays.own["width"] = arrays.width
    if source in (_QUEUE, _ACTIVE):
        ends = _end_arrays(plan, _most_levels(arrays.depth_bytes, arrays.rows.rows))
        arrays.own |= {**allocate(cp, ends), "reached": cp.zeros(plan.batch, np.int32)}


def _widen(arrays: BatchArrays) -> None:
    """Take wider depths, if the run may take the additional bytes."""
    plan, wider = arrays.rows.plan, next(size for size in DEPTH_BYTES if size > arrays.depth_bytes)
    plan.require_growth(bytes_of(_arrays_of_batch(arrays.rows.rows, plan, wider)) - arrays.counted)
    arrays.depth_bytes = wider
    _allocate(arrays)


def _decide(arrays: BatchArrays) -> None:
    """Take edge-parallel from now on if the searches of the sample were shallow."""
    depth = np.median(np.concatenate(arrays.sampled))
    arrays.sampled = None
    if depth < tuning.GAMMA * np.log2(max(arrays.rows.rows, 2)):
        arrays.source = _EDGE
        _allocate(arrays)


def _launch(arrays: BatchArrays, sweep: str, searches: int, **given: Any) -> bool:
    """Sweep "forward", "backward" or "recount" from all roots of a batch; False if the arrays hold too few levels."""
    rows, status = arrays.rows, cp.zeros(1, np.int32)
    all_blocks = rows.plan.variant == "all-blocks"
    blocks = searches
    if all_blocks:
        blocks = resident_blocks(tuning.TRAVERSAL_THREADS, *(_kernel(arrays, one) for one in ("forward", "backward")))
    if arrays.source in (_NODE, _EDGE):
        if sweep == "forward":
            arrays.depths[:searches].fill(0)
            arrays.values[:searches].fill(0)
        blocks_per_group, groups = (blocks, 1) if all_blocks else (1, blocks)
        given |= {"searches": searches, "blocks_per_group": blocks_per_group}
        given |= {"barriers": cp.zeros(groups, np.uint32), "flags": cp.zeros((groups, 5), np.int32)}
    _kernel(arrays, sweep)(
        (blocks,),
        tuning.TRAVERSAL_THREADS,
        n=rows.rows,
        most=_most_levels(arrays.depth_bytes, rows.rows),
        **arrays.arguments("stride", "depths", "values"),
        **arrays.own,
        stop=rows.stop,
        status=status,
        **given,
    )
    ended = int(read(status)[0])
    if ended == _STOPPED:
        raise Interrupted
    return ended != _TOO_DEEP


def _kernel(arrays: BatchArrays, sweep: str) -> Kernel:
    source, plan = arrays.source, arrays.rows.plan
    kernels = TRAVERSALS[source]._replace(cooperative=plan.variant == "all-blocks")
    return kernels.kernel(f"traversal_{source}_{sweep}", Variant(plan.dtype, depth_bytes=arrays.depth_bytes))
