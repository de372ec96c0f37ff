"""Unweighted betweenness in one launch a sweep, for graphs of many levels."""

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
from lagbc.methods.gpu.batched.kernels import IN_ONE_LAUNCH, SUMS
from lagbc.methods.gpu.batched.sums import add_root_edges
from lagbc.methods.gpu.common.arrays import scatter
from lagbc.methods.gpu.common.kernels import DISTANCES_ALONE
from lagbc.methods.gpu.common.queue import first_entries, grown
from lagbc.methods.gpu.common.rows import (
    BYTES,
    GROUP_COLUMNS,
    QUEUE_FULL,
    Placed,
    Rows,
    bits_of,
    count_groups,
    queue_places,
    set_bits,
    unpack,
    worst_end,
)
from lagbc.methods.gpu.common.sums import Distances, Edges, PathScores, path_bytes, path_rows
from lagbc.methods.gpu.common.sweep import Found, Levels, Weights
from lagbc.methods.sums import DEPENDENCY, PATH_SUMS

# Of a queue, whose columns are listed at a time.
_ENTRIES = 2**16
# Of an entry of the queue: its vertex and its bit row.
_ENTRY_BYTES = 4 + BYTES


@dataclass(eq=False)
class Arrays:
    """The device's arrays."""

    rows: Rows
    values: Any  # (groups, rows, 256): sigma, then c; None if paths are not counted
    paths: Any  # (groups, rows, 256): t, for stress; else None
    visited: Any  # (groups, rows, 32) uint8
    bits: Any  # (groups, 4, rows, 32) uint8
    stamps: Any  # (groups, rows)
    queue: Any  # (groups, capacity)
    masks: Any  # (groups, capacity, 32) uint8
    starts: Any  # (groups, rows + 3)
    found: Any  # (groups, rows + 3)
    barriers: Any
    halts: Any
    status: Any  # (groups, 2): how it ended, last level

    @property
    def capacity(self) -> int:
        """Entries of a group's queue."""
        return int(self.queue.shape[1])


def allocate(rows: Rows) -> Arrays:
    """Allocate rows and queues."""
    groups, shape = rows.groups, (rows.groups, rows.rows)
    values, paths = path_rows(rows)
    return Arrays(
        rows=rows,
        values=values,
        paths=paths,
        visited=cp.empty((*shape, BYTES), cp.uint8),
        bits=cp.empty((groups, 4, rows.rows, BYTES), cp.uint8),
        stamps=cp.empty(shape, cp.int32),
        **_queue(rows, _first_entries(rows.rows, rows.depth, rows.plan)),
        starts=cp.empty((groups, rows.rows + 3), cp.int32),
        found=cp.empty((groups, rows.rows + 3), cp.int32),
        barriers=cp.zeros(groups, cp.uint32),
        halts=cp.zeros((groups, 2), cp.int32),
        status=cp.zeros((groups, 2), cp.int32),
    )


def begin(plan: SweepPlan, dist: str | None = None) -> None:
    """Have the kernels compiled while something else is done."""
    counts = plan.sums & PATH_SUMS
    for sums in dict.fromkeys((DEPENDENCY, plan.sums) if counts else (DISTANCES_ALONE,)):
        IN_ONE_LAUNCH.begin(plan.dtype, sums=sums, members=plan.members is not None, cooperative=True)
    if plan.sums - PATH_SUMS:
        SUMS.begin(plan.dtype, cooperative=True)


def footprint(graph: Graph, plan: SweepPlan) -> int:
    """Bound the bytes of `Arrays`: values and paths; visited and four bit rows, stamps, starts and found; the queue."""
    rows, groups = graph.active, plan.batch // GROUP_COLUMNS
    queue = _ENTRY_BYTES * _first_entries(rows, graph.depth, plan)
    of_group = rows * (5 * BYTES + 4) + 2 * 4 * (rows + 3) + queue + 64
    return path_bytes(rows, plan) + groups * of_group


def forward(arrays: Arrays, roots: NDArray[np.int64], placed: Placed) -> Found:
    """Find the levels and count paths."""
    rows = arrays.rows
    kernel = _kernel(rows, "forward", DISTANCES_ALONE if arrays.values is None else DEPENDENCY)
    while True:
        _start(arrays, placed)
        overflowed = cp.zeros((rows.groups, BYTES), cp.uint8)
        given = {"found": arrays.found, "sigma_limit": rows.plan.sigma_limit, "overflowed": overflowed}
        edges = rows.outward | rows.inward
        worst = _launch(arrays, kernel, count_groups(roots), vertex_members=rows.members, **edges, **given)
        if worst != QUEUE_FULL:
            return Found(int(arrays.status.get()[:, 1].max()), bits_of(overflowed, len(roots)), arrays.visited)
        _grow_queue(arrays)


def backward(arrays: Arrays, levels: Levels, weights: Weights, edges: Edges) -> PathScores:
    """Sum over paths; `edges` are added to."""
    rows = arrays.rows
    scores = PathScores.zeros(rows)
    kernel = _kernel(rows, "backward", rows.plan.sums, by_column=weights.by_column)
    sums = scores.arguments | edges.arguments
    _launch(arrays, kernel, levels.groups, paths=arrays.paths, **rows.outward, **weights.arguments, **sums)
    add_root_edges(rows, levels.placed, weights, arrays.values, edges)
    return scores


def distances(arrays: Arrays, levels: Levels, keep: Any, sums: Distances) -> None:
    """Sum over distances."""
    rows, groups = arrays.rows, levels.groups
    rows.plan.stop.check()
    kernel = SUMS.kernel("one_launch_distances", rows.plan.dtype, cooperative=True)
    members = _members(kernel, groups)
    arrays.barriers.fill(0)
    kernel(
        (members * groups,),
        THREADS,
        n=rows.rows,
        members=members,
        queue=arrays.queue,
        masks=arrays.masks,
        capacity=arrays.capacity,
        starts=arrays.starts,
        keep=keep,
        known=sums.known,
        depth=sums.depth,
        barriers=arrays.barriers,
        status=arrays.status,
        **sums.arguments,
    )


def paths(arrays: Arrays, levels: Levels) -> tuple[Any, Any]:
    """Distances and path counts, of shape (groups, rows, 256)."""
    rows = arrays.rows
    dist = cp.full((rows.groups, rows.rows, GROUP_COLUMNS), np.inf)
    for group in range(levels.groups):
        ends = arrays.starts[group, : int(arrays.status[group, 1]) + 2]
        for first in range(0, int(ends[-1]), _ENTRIES):
            entries = cp.arange(first, min(first + _ENTRIES, int(ends[-1])))
            level = cp.searchsorted(ends, entries, side="right") - 1
            entry, column = cp.nonzero(unpack(arrays.masks[group, first : first + len(entries)]))
            dist[group, arrays.queue[group, first + entry], column] = level[entry]
    return dist, cp.where(cp.isfinite(dist), arrays.values.astype(np.float64), 0.0)


def _start(arrays: Arrays, placed: Placed) -> None:
    """Queue the roots, each with one path to itself, as level 0."""
    arrays.bits.fill(0)
    set_bits(arrays.bits[:, 0], placed)
    set_bits(arrays.visited, placed)
    if arrays.values is not None:
        scatter(arrays.values, placed.places, 1)
    arrays.stamps.fill(0)
    scatter(arrays.stamps, (placed.group, placed.position), 1)
    sizes, place = queue_places(arrays.rows, placed)
    scatter(arrays.queue, (placed.group, place), placed.position)
    groups = np.arange(len(sizes))
    scatter(arrays.starts, (groups, np.zeros_like(groups)), 0)
    scatter(arrays.starts, (groups, np.ones_like(groups)), sizes)
    arrays.found.fill(0)
    arrays.status.fill(0)


def _kernel(rows: Rows, sweep: str, sums: frozenset[str], *, by_column: bool = False) -> Kernel:
    of: dict[str, Any] = {"sums": sums, "by_column": by_column, "members": rows.members is not None}
    return IN_ONE_LAUNCH.kernel(f"one_launch_{sweep}", rows.plan.dtype, cooperative=True, **of)


def _members(kernel: Kernel, groups: int) -> int:
    """Blocks of each group, so that all are resident at once."""
    return max(1, resident_blocks(THREADS, kernel) // groups)


def _launch(arrays: Arrays, kernel: Kernel, groups: int, **given: Any) -> int:
    """Sweep all groups in one launch; return how the worst of them ended, or raise Interrupted."""
    rows = arrays.rows
    members = _members(kernel, groups)
    arrays.barriers.fill(0)
    kernel(
        (members * groups,),
        THREADS,
        n=rows.rows,
        members=members,
        bits=arrays.bits,
        visited=arrays.visited,
        stamps=arrays.stamps,
        values=arrays.values,
        queue=arrays.queue,
        masks=arrays.masks,
        capacity=arrays.capacity,
        starts=arrays.starts,
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
    arrays.queue = arrays.masks = None
    for name, array in _queue(rows, capacity).items():
        setattr(arrays, name, array)


def _first_entries(rows: int, depth: int, plan: SweepPlan) -> int:
    return first_entries(rows, depth, plan, tuning.HOPS_FIRST_ENTRIES)


def _queue(rows: Rows, capacity: int) -> dict[str, Any]:
    return {
        "queue": cp.empty((rows.groups, capacity), cp.int32),
        "masks": cp.empty((rows.groups, capacity, BYTES), cp.uint8),
    }
