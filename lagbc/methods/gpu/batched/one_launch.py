"""Unweighted betweenness in one launch a sweep, for graphs of many levels."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.cuda.kernel import THREADS, Kernel, Macro, Variant, resident_blocks
from lagbc.methods.contract import BYTE, HALF_WORD, NARROW, Array, SweepPlan
from lagbc.methods.gpu.common import rows as device_rows
from lagbc.methods.gpu.common.arrays import read, scatter
from lagbc.methods.gpu.common.rows import BYTES, QUEUE_FULL, BatchArrays, RootRows, Rows, Size
from lagbc.methods.gpu.common.sums import Distances, Edges, PathScores, add_root_edges, distances_of_roots, path_arrays
from lagbc.methods.gpu.driver import Found, Search, Weights
from lagbc.methods.gpu.kernels import HOPS_IN_ONE_LAUNCH, HOPS_SUMS_IN_ONE_LAUNCH, sums_made, variant_of
from lagbc.methods.sums import PATH_SUMS

# Arrays that both sweeps write.
_ROWS = "bits", "visited", "stamps", "values"


def arrays(size: Size | Rows, dist: None = None) -> dict[str, Any]:
    """State the arrays of a batch: rows, queues in their first size, and notes of a launch."""
    groups, rows = size.groups, size.rows
    notes = {
        "barriers": Array((groups,), HALF_WORD, 0),
        "halts": Array((groups, 2), NARROW, 0),
        "status": Array((groups, 2), NARROW, 0),  # how it ended, last level
    }
    return {
        "rows": {
            **path_arrays(size),
            "visited": Array((groups, rows, BYTES), BYTE),
            "bits": Array((groups, 4, rows, BYTES), BYTE),
            "stamps": Array((groups, rows), NARROW),
            "starts": Array((groups, rows + 3), NARROW),
            "found": Array((groups, rows + 3), NARROW),
        },
        "queue": queue_arrays(groups, device_rows.first_entries(size, tuning.HOPS_FIRST_ENTRIES)),
        **device_rows.notes_arrays(notes, groups, 64),
    }


def queue_arrays(groups: int, capacity: int) -> dict[str, Array]:
    """State queues of `capacity` entries."""
    return {"queue": Array((groups, capacity), NARROW), "masks": Array((groups, capacity, BYTES), BYTE)}


def make(rows: Rows, lengths: None = None) -> BatchArrays:
    """Allocate the arrays of a batch."""
    return BatchArrays(rows=rows, **device_rows.together(arrays(rows)))


def begin_compile(plan: SweepPlan, dist: None = None) -> None:
    """Begin to compile the kernels in another thread."""
    asked = sums_made(plan)
    for sums in dict.fromkeys((asked & Macro.COUNTS, asked)):  # of the sweep forward, and of that backward
        HOPS_IN_ONE_LAUNCH.begin_compile(variant_of(plan, sums))
    if plan.sums - PATH_SUMS:
        HOPS_SUMS_IN_ONE_LAUNCH.begin_compile(Variant(plan.dtype))


def forward(arrays: BatchArrays, roots: NDArray[np.int64], root_rows: RootRows) -> Found:
    """Find the levels and count paths."""
    rows = arrays.rows
    kernel, groups = _kernel(rows, "forward", sums_made(rows.plan) & Macro.COUNTS), device_rows.count_groups(roots)
    while True:
        _start(arrays, root_rows)
        overflowed = cp.zeros((rows.groups, BYTES), cp.uint8)
        given = {"sigma_limit": rows.sigma_limit, "overflowed": overflowed, "class_sizes": rows.class_sizes}
        own = arrays.arguments(*_ROWS, "found")
        worst = _launch(arrays, kernel, groups, **rows.out_edges, **rows.in_edges, **own, **given)
        if worst != QUEUE_FULL:
            depth = int(read(arrays.status)[:, 1].max())
            return Found(depth, device_rows.bits_of(overflowed, len(roots)), arrays.visited)
        device_rows.grow_queue(arrays, queue_arrays, tuning.HOPS_FIRST_ENTRIES)


def backward(arrays: BatchArrays, search: Search, weights: Weights, edges: Edges) -> PathScores:
    """Sum over paths; `edges` are added to."""
    rows = arrays.rows
    scores = PathScores.zeros(rows)
    kernel = _kernel(rows, "backward", sums_made(rows.plan), by_column=weights.by_column)
    made = {**weights.arguments, **scores.arguments, **edges.arguments}
    _launch(arrays, kernel, search.groups, **rows.out_edges, **arrays.arguments(*_ROWS, "paths"), **made)
    add_root_edges(arrays, search.root_rows, weights.keep, weights.root_weights, edges)
    return scores


def distances(arrays: BatchArrays, search: Search, keep: Any, sums: Distances) -> None:
    """Sum over distances."""
    rows = arrays.rows
    rows.plan.stop.check()
    kernel = HOPS_SUMS_IN_ONE_LAUNCH.kernel("one_launch_distances", Variant(rows.plan.dtype))
    _launch(arrays, kernel, search.groups, **sums._asdict(), keep=keep)


def paths(arrays: BatchArrays, search: Search) -> tuple[Any, Any]:
    """Return distances, and path counts if they are counted, of shape (groups, rows, 256)."""
    rows, dist = arrays.rows, distances_of_roots(arrays.rows, search.root_rows)
    kernel = HOPS_SUMS_IN_ONE_LAUNCH.kernel("one_launch_write", Variant(rows.plan.dtype))
    _launch(arrays, kernel, search.groups, dist=dist)
    return dist, arrays.values


def _start(arrays: BatchArrays, root_rows: RootRows) -> None:
    """Queue the roots, each with one path to itself, as level 0."""
    arrays.bits.fill(0)
    device_rows.set_bits(arrays.bits[:, 0], root_rows)
    device_rows.set_bits(arrays.visited, root_rows)
    if arrays.values is not None:
        scatter(arrays.values, root_rows.places, 1)
    arrays.stamps.fill(0)
    scatter(arrays.stamps, (root_rows.group, root_rows.position), 1)
    sizes, place = device_rows.queue_places(arrays.rows, root_rows)
    scatter(arrays.queue, (root_rows.group, place), root_rows.position)
    groups = np.arange(len(sizes))
    scatter(arrays.starts, (groups, np.zeros_like(groups)), 0)
    scatter(arrays.starts, (groups, np.ones_like(groups)), sizes)
    arrays.found.fill(0)
    arrays.status.fill(0)


def _kernel(rows: Rows, sweep: str, sums: Macro, *, by_column: bool = False) -> Kernel:
    return HOPS_IN_ONE_LAUNCH.kernel(f"one_launch_{sweep}", variant_of(rows.plan, sums, by_column=by_column))


def _launch(arrays: BatchArrays, kernel: Kernel, groups: int, **arguments: Any) -> int:
    """Sweep all groups in one launch, whose blocks are all resident at once; return how the worst of them ended."""
    return device_rows.launch(arrays, kernel, groups, resident_blocks(THREADS, kernel), **arguments)
