"""Delta-stepping for graphs of many levels, one launch a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc.cuda.compiler import THREADS, resident_blocks
from lagbc.cuda.kernel import Kernel
from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.contract import SweepPlan
from lagbc.methods.gpu.common.arrays import fill, scatter
from lagbc.methods.gpu.common.queue import first_entries, grown
from lagbc.methods.gpu.common.rows import (
    BYTES,
    GROUP_COLUMNS,
    QUEUE_FULL,
    Lengths,
    Placed,
    Rows,
    bits_of,
    count_groups,
    lengths_bytes,
    queue_places,
    set_bits,
    worst_end,
)
from lagbc.methods.gpu.common.sums import Distances, Edges, PathScores, stress_rows
from lagbc.methods.gpu.common.sweep import Found, Levels, Weights
from lagbc.methods.gpu.delta_stepping.kernels import IN_ONE_LAUNCH
from lagbc.methods.gpu.delta_stepping.sums import begin_sums, sum_distances
from lagbc.methods.sums import PATH_SUMS

# Counts of a group, as in the kernels.
_COUNTS = 4
# Of an entry of the queue: its vertex and its bit row, the entry before, and, as there are no more rounds, a start.
_ENTRY_BYTES = 3 * 4 + BYTES


@dataclass(eq=False)
class Arrays:
    """The device's arrays."""

    rows: Rows
    dist: str
    width: float
    resident: int  # blocks that the device holds at once, of all kernels but those of columns with targets of their own
    used: int  # groups of the batch
    lengths: Any  # (nnz,)
    in_lengths: Any
    distances: Any  # (groups, rows, 256)
    buffer: Any  # (groups, bytes): distances of near entries, then sigma, then c
    paths: Any  # (groups, rows, 256): t, for stress; else None
    pending: Any  # (groups, rows, 32) uint8
    reached: Any  # (groups, rows, 32) uint8
    waiting: Any  # (groups, 2, rows)
    stamps: Any  # (groups, rows)
    latest: Any  # (groups, rows)
    queue: Any  # (groups, capacity)
    masks: Any  # (groups, capacity, 32) uint8
    previous: Any  # (groups, capacity)
    starts: Any  # (groups, capacity + 1)
    lowest: Any  # (groups, 3)
    counts: Any  # (groups, 4)
    barriers: Any
    halts: Any
    status: Any  # (groups, 2): how it ended, rounds

    def members(self, kernel: Kernel) -> int:
        """Blocks of each group in a launch, all of which are resident."""
        return max(1, min(self.resident, resident_blocks(THREADS, kernel)) // self.used)

    @property
    def capacity(self) -> int:
        """Entries of a group's queue."""
        return int(self.queue.shape[1])


def allocate(rows: Rows, lengths: Lengths) -> Arrays:
    """Upload the lengths, and allocate rows and queues."""
    out, into = lengths.as_type(lengths.dist)
    shape = rows.groups, rows.rows
    entry = max(np.dtype(kind).itemsize for kind in (lengths.dist, rows.plan.dtype))
    names = ("one_launch_settle", "one_launch_count", "one_launch_backward")
    kernels = (_kernel(rows, lengths.dist, name) for name in names)
    return Arrays(
        rows=rows,
        dist=lengths.dist,
        width=lengths.width,
        resident=resident_blocks(THREADS, *kernels),
        used=rows.groups,
        lengths=out,
        in_lengths=into,
        distances=cp.empty((*shape, GROUP_COLUMNS), lengths.dist),
        buffer=cp.empty((rows.groups, rows.rows * GROUP_COLUMNS * entry), cp.uint8),
        paths=stress_rows(rows),
        pending=cp.empty((*shape, BYTES), cp.uint8),
        reached=cp.empty((*shape, BYTES), cp.uint8),
        waiting=cp.empty((rows.groups, 2, rows.rows), cp.int32),
        stamps=cp.empty(shape, cp.int32),
        latest=cp.empty(shape, cp.int32),
        **_queue(rows, _first_entries(rows.rows, rows.depth, rows.plan)),
        lowest=cp.empty((rows.groups, 3), lengths.dist),
        counts=cp.empty((rows.groups, _COUNTS), cp.int32),
        barriers=cp.zeros(rows.groups, cp.uint32),
        halts=cp.zeros((rows.groups, 2), cp.int32),
        status=cp.zeros((rows.groups, 2), cp.int32),
    )


def begin(plan: SweepPlan, dist: str | None) -> None:
    """Have the kernels compiled while something else is done."""
    members = plan.members is not None
    IN_ONE_LAUNCH.begin(plan.dtype, dist=dist, sums=plan.sums, members=members, cooperative=True)
    if plan.sums - PATH_SUMS:
        begin_sums(dist or "float64")


def footprint(graph: Graph, plan: SweepPlan, dist: str) -> int:
    """Bound the bytes of `Arrays`: lengths both ways; distances, buffer and paths; bits, lists and the queue.

    The bits are those of pending and reached, the lists waiting, stamps and latest.
    """
    rows, groups = graph.active, plan.batch // GROUP_COLUMNS
    far = np.dtype(dist).itemsize
    columns = far + max(far, np.dtype(plan.dtype).itemsize) + 8 * ("stress" in plan.sums)
    queue = _ENTRY_BYTES * _first_entries(rows, graph.depth, plan)
    of_group = rows * (columns * GROUP_COLUMNS + 2 * BYTES + 4 * 4) + queue + 128
    return lengths_bytes(graph, far) + groups * of_group


def forward(arrays: Arrays, roots: NDArray[np.int64], placed: Placed) -> Found:
    """Settle distances, and find the levels and count paths, if a sum needs it."""
    rows = arrays.rows
    arrays.used = count_groups(roots)
    while _settle(arrays, placed) == QUEUE_FULL:
        _grow_queue(arrays)
    if not rows.plan.sums & PATH_SUMS:
        return Found(0, np.zeros(len(roots), np.bool_), None)
    _leave_last(arrays)
    overflowed = cp.zeros((rows.groups, BYTES), cp.uint8)
    limits = {"sigma_limit": rows.plan.sigma_limit, "overflowed": overflowed, "vertex_members": rows.members}
    kernel = _kernel(rows, arrays.dist, "one_launch_count")
    _sweep(arrays, kernel, in_lengths=arrays.in_lengths, **rows.inward, **limits)
    depth = int(arrays.status.get()[:, 1].max()) - 1
    return Found(depth, bits_of(overflowed, len(roots)), arrays.reached)


def backward(arrays: Arrays, levels: Levels, weights: Weights, edges: Edges) -> PathScores:
    """Sum over paths; `edges` are added to."""
    rows = arrays.rows
    scores = PathScores.zeros(rows)
    sums = scores.arguments | edges.arguments
    given = {"lengths": arrays.lengths, "paths": arrays.paths}
    kernel = _kernel(rows, arrays.dist, "one_launch_backward", by_column=weights.by_column)
    _sweep(arrays, kernel, **rows.outward, **given, **weights.arguments, **sums)
    return scores


def distances(arrays: Arrays, levels: Levels, keep: Any, sums: Distances) -> None:
    """Sum over distances."""
    sum_distances(arrays.rows, levels.groups, arrays.distances, keep, sums)


def paths(arrays: Arrays, levels: Levels) -> tuple[Any, Any]:
    """Distances and path counts, of shape (groups, rows, 256)."""
    dist = arrays.distances.astype(np.float64)
    values = arrays.buffer.view(arrays.rows.plan.dtype)[:, : dist[0].size]  # a group's begin where its buffer does
    return dist, cp.where(cp.isfinite(dist), values.reshape(dist.shape).astype(np.float64), 0.0)


def _settle(arrays: Arrays, placed: Placed) -> int:
    """Settle all distances, and queue the near entries of each round; return how that ended."""
    rows = arrays.rows
    _start(arrays, placed)
    return _launch(
        arrays,
        _kernel(rows, arrays.dist, "one_launch_settle"),
        lengths=arrays.lengths,
        distances=arrays.distances,
        buffer=arrays.buffer,
        pending=arrays.pending,
        waiting=arrays.waiting,
        stamps=arrays.stamps,
        vertices=arrays.queue,
        masks=arrays.masks,
        previous=arrays.previous,
        latest=arrays.latest,
        capacity=arrays.capacity,
        starts=arrays.starts,
        lowest=arrays.lowest,
        counts=arrays.counts,
        width=arrays.width,
        rtol=rows.plan.rtol,
        **rows.outward,
    )


def _start(arrays: Arrays, placed: Placed) -> None:
    """Let the roots wait, at distance 0."""
    sizes, place = queue_places(arrays.rows, placed)
    groups = np.arange(len(sizes))
    first = groups, np.zeros_like(groups)
    scatter(arrays.waiting, (placed.group, np.zeros_like(place), place), placed.position)
    arrays.counts.fill(0)
    scatter(arrays.counts, first, sizes)
    fill(arrays.lowest, np.nan)  # its bits are above those of all distances
    scatter(arrays.lowest, first, 0)
    fill(arrays.distances, np.inf)
    scatter(arrays.distances, placed.places, 0)
    set_bits(arrays.pending, placed)
    arrays.stamps.fill(0)
    fill(arrays.latest, -1)
    scatter(arrays.starts, first, 0)
    arrays.status.fill(0)


def _leave_last(arrays: Arrays) -> None:
    """Leave each column of a vertex in the last of its entries, its level."""
    rows = arrays.rows
    arrays.reached.fill(0)
    kernel = _kernel(rows, arrays.dist, "one_launch_last")
    members = arrays.members(kernel)
    kernel(
        (members * arrays.used,),
        THREADS,
        n=rows.rows,
        members=members,
        latest=arrays.latest,
        previous=arrays.previous,
        masks=arrays.masks,
        capacity=arrays.capacity,
        reached=arrays.reached,
        barriers=arrays.barriers,
    )


def _sweep(arrays: Arrays, kernel: Kernel, **given: Any) -> None:
    """Visit all entries by final distances."""
    _launch(
        arrays,
        kernel,
        distances=arrays.distances,
        buffer=arrays.buffer,
        vertices=arrays.queue,
        masks=arrays.masks,
        capacity=arrays.capacity,
        starts=arrays.starts,
        rtol=arrays.rows.plan.rtol,
        **given,
    )


def _launch(arrays: Arrays, kernel: Kernel, **given: Any) -> int:
    """Run a kernel of all groups; return how the worst of them ended, or raise Interrupted."""
    rows, members = arrays.rows, arrays.members(kernel)
    arrays.barriers.fill(0)
    kernel(
        (members * arrays.used,),
        THREADS,
        n=rows.rows,
        members=members,
        barriers=arrays.barriers,
        halts=arrays.halts,
        stop=rows.stop,
        status=arrays.status,
        **given,
    )
    return worst_end(arrays.status)


def _grow_queue(arrays: Arrays) -> None:
    """Make the queue half as long again; its entries are found anew by the sweep that follows."""
    rows = arrays.rows
    first = _first_entries(rows.rows, rows.depth, rows.plan)
    capacity = grown(arrays.capacity, first, _ENTRY_BYTES, rows.rows, rows.plan)
    arrays.queue = arrays.masks = arrays.previous = arrays.starts = None
    for name, array in _queue(rows, capacity).items():
        setattr(arrays, name, array)


def _first_entries(rows: int, depth: int, plan: SweepPlan) -> int:
    return first_entries(rows, depth, plan, tuning.DELTA_FIRST_ENTRIES)


def _queue(rows: Rows, capacity: int) -> dict[str, Any]:
    groups = rows.groups
    return {
        "queue": cp.empty((groups, capacity), cp.int32),
        "masks": cp.empty((groups, capacity, BYTES), cp.uint8),
        "previous": cp.empty((groups, capacity), cp.int32),
        "starts": cp.empty((groups, capacity + 1), cp.int32),
    }


def _kernel(rows: Rows, dist: str, name: str, *, by_column: bool = False) -> Kernel:
    of: dict[str, Any] = {"sums": rows.plan.sums, "by_column": by_column, "members": rows.members is not None}
    return IN_ONE_LAUNCH.kernel(name, rows.plan.dtype, dist=dist, cooperative=True, **of)
