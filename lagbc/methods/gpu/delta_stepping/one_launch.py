"""Delta-stepping for graphs of many levels, one launch a sweep."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.cuda.kernel import THREADS, Kernel, Variant, resident_blocks
from lagbc.methods.contract import BYTE, HALF_WORD, NARROW, Array, SweepPlan
from lagbc.methods.gpu.common import rows as device_rows
from lagbc.methods.gpu.common.arrays import fill, read, scatter
from lagbc.methods.gpu.common.rows import BYTES, GROUP_COLUMNS, QUEUE_FULL, BatchArrays, Lengths, RootRows, Rows, Size
from lagbc.methods.gpu.common.sums import Edges, PathScores, path_arrays, sum_lengths
from lagbc.methods.gpu.driver import Found, Search, Weights
from lagbc.methods.gpu.kernels import DELTA_IN_ONE_LAUNCH, DELTA_SUMS, variant_of
from lagbc.methods.sums import PATH_SUMS

# Counts of a group, as in the kernels.
_COUNTS = 4


def arrays(size: Size | Rows, dist: str) -> dict[str, Any]:
    """State the arrays of a batch: rows, queues in their first size, and notes of a launch."""
    groups, rows, of_dist = size.groups, size.rows, np.dtype(dist)
    entry = max(of_dist.itemsize, np.dtype(size.plan.dtype).itemsize)
    notes = {
        "lowest": Array((groups, 3), of_dist),
        "counts": Array((groups, _COUNTS), NARROW),
        "barriers": Array((groups,), HALF_WORD, 0),
        "halts": Array((groups, 2), NARROW, 0),
        "status": Array((groups, 2), NARROW, 0),  # how it ended, rounds
    }
    return {
        "rows": {
            "distances": Array((groups, rows, GROUP_COLUMNS), of_dist),
            # of a group: distances of near entries, then sigma, then c
            "buffer": Array((groups, rows * GROUP_COLUMNS * entry), BYTE),
            "paths": path_arrays(size)["paths"],
            "pending": Array((groups, rows, BYTES), BYTE),
            "reached": Array((groups, rows, BYTES), BYTE),
            "waiting": Array((groups, 2, rows), NARROW),
            "stamps": Array((groups, rows), NARROW),
            "latest": Array((groups, rows), NARROW),
        },
        "queue": queue_arrays(groups, device_rows.first_entries(size, tuning.DELTA_FIRST_ENTRIES)),
        **device_rows.notes_arrays(notes, groups, 124),
    }


def queue_arrays(groups: int, capacity: int) -> dict[str, Array]:
    """State queues of `capacity` entries; there are no more rounds than entries."""
    return {
        "queue": Array((groups, capacity), NARROW),
        "masks": Array((groups, capacity, BYTES), BYTE),
        "previous": Array((groups, capacity), NARROW),
        "starts": Array((groups, capacity + 1), NARROW),
    }


distances = sum_lengths


def make(rows: Rows, lengths: Lengths) -> BatchArrays:
    """Allocate the arrays of a batch, with lengths in the type of distances."""
    kernels = (_kernel(rows, lengths.dist, name) for name in ("settle", "count", "backward"))
    return BatchArrays(
        rows=rows,
        rtol=rows.plan.rtol,
        **lengths.converted,
        **device_rows.together(arrays(rows, lengths.dist)),
        # Blocks that the device holds at once, of all kernels but those of columns with targets of their own.
        resident=resident_blocks(THREADS, *kernels),
        used=rows.groups,  # by the roots of the batch
    )


def begin_compile(plan: SweepPlan, dist: str) -> None:
    """Begin to compile the kernels in another thread."""
    DELTA_IN_ONE_LAUNCH.begin_compile(variant_of(plan, dist=dist))
    if plan.sums - PATH_SUMS:
        DELTA_SUMS.begin_compile(Variant("float64", dist))


def forward(arrays: BatchArrays, roots: NDArray[np.int64], root_rows: RootRows) -> Found:
    """Settle distances, and find the levels and count paths, if a sum needs it."""
    rows = arrays.rows
    arrays.used = device_rows.count_groups(roots)
    while _settle(arrays, root_rows) == QUEUE_FULL:
        device_rows.grow_queue(arrays, queue_arrays, tuning.DELTA_FIRST_ENTRIES)
    if not rows.plan.counts_paths:
        return Found(0, np.zeros(len(roots), np.bool_), None)
    _leave_last(arrays)
    overflowed = cp.zeros((rows.groups, BYTES), cp.uint8)
    given = {"sigma_limit": rows.sigma_limit, "overflowed": overflowed, "class_sizes": rows.class_sizes}
    own = arrays.arguments("in_lengths", "distances", "buffer", "rtol")
    _launch(arrays, _kernel(rows, arrays.dist, "count"), **rows.in_edges, **own, **given)
    depth = int(read(arrays.status)[:, 1].max()) - 1
    return Found(depth, device_rows.bits_of(overflowed, len(roots)), arrays.reached)


def backward(arrays: BatchArrays, search: Search, weights: Weights, edges: Edges) -> PathScores:
    """Sum over paths; `edges` are added to."""
    rows = arrays.rows
    scores = PathScores.zeros(rows)
    kernel = _kernel(rows, arrays.dist, "backward", by_column=weights.by_column)
    own = arrays.arguments("lengths", "distances", "buffer", "paths", "rtol")
    _launch(arrays, kernel, **rows.out_edges, **own, **weights.arguments, **scores.arguments, **edges.arguments)
    return scores


def paths(arrays: BatchArrays, search: Search) -> tuple[Any, Any]:
    """Return distances, and path counts if they are counted, of shape (groups, rows, 256)."""
    dist = arrays.distances
    values = arrays.buffer.view(arrays.rows.plan.dtype)[:, : dist[0].size]  # a group's begin with its buffer
    return dist, values.reshape(dist.shape)


def _settle(arrays: BatchArrays, root_rows: RootRows) -> int:
    """Settle all distances, and queue the near entries of each round; return how that ended."""
    _start(arrays, root_rows)
    waiting = arrays.arguments("pending", "waiting", "stamps", "lowest", "counts", "width")
    own = arrays.arguments("lengths", "distances", "buffer", "previous", "latest", "rtol")
    kernel = _kernel(arrays.rows, arrays.dist, "settle")
    return _launch(arrays, kernel, **arrays.rows.out_edges, **own, **waiting)


def _start(arrays: BatchArrays, root_rows: RootRows) -> None:
    """Let the roots wait, at distance 0."""
    sizes, place = device_rows.queue_places(arrays.rows, root_rows)
    groups = np.arange(len(sizes))
    first = groups, np.zeros_like(groups)
    scatter(arrays.waiting, (root_rows.group, np.zeros_like(place), place), root_rows.position)
    arrays.counts.fill(0)
    scatter(arrays.counts, first, sizes)
    fill(arrays.lowest, np.nan)  # its bits are above those of all distances
    scatter(arrays.lowest, first, 0)
    fill(arrays.distances, np.inf)
    scatter(arrays.distances, root_rows.places, 0)
    device_rows.set_bits(arrays.pending, root_rows)
    arrays.stamps.fill(0)
    fill(arrays.latest, -1)
    scatter(arrays.starts, first, 0)
    arrays.status.fill(0)


def _leave_last(arrays: BatchArrays) -> None:
    """Leave each column of a vertex in the last of its entries, its level."""
    arrays.reached.fill(0)
    kernel = _kernel(arrays.rows, arrays.dist, "last")
    _launch(arrays, kernel, **arrays.arguments("latest", "previous", "reached"))


def _launch(arrays: BatchArrays, kernel: Kernel, **arguments: Any) -> int:
    """Run a kernel of all groups; return how the worst of them ended, or raise Interrupted."""
    blocks = min(arrays.resident, resident_blocks(THREADS, kernel))
    return device_rows.launch(arrays, kernel, arrays.used, blocks, **arguments)


def _kernel(rows: Rows, dist: str, name: str, *, by_column: bool = False) -> Kernel:
    return DELTA_IN_ONE_LAUNCH.kernel(f"one_launch_{name}", variant_of(rows.plan, dist=dist, by_column=by_column))
