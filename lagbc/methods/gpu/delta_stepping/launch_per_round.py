"""Delta-stepping for graphs of few levels, a launch a round: distances in rounds, then counts level by level.

U. Meyer and P. Sanders, Delta-stepping: a parallelizable shortest path algorithm, J. Algorithms 49 (2003) 114-152.
"""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.cuda.kernel import THREADS, Kernel, Variant
from lagbc.methods.contract import HALF_WORD, Array, Counted, SweepPlan, allocate, repeated
from lagbc.methods.gpu.common import rows as device_rows
from lagbc.methods.gpu.common.arrays import fill, read, scatter
from lagbc.methods.gpu.common.rows import BYTES, GROUP_COLUMNS, WORDS, BatchArrays, Lengths, RootRows, Rows, Size
from lagbc.methods.gpu.common.sums import Edges, PathScores, path_arrays, sum_lengths
from lagbc.methods.gpu.driver import Found, Search, Weights
from lagbc.methods.gpu.kernels import DELTA_PER_ROUND, DELTA_SUMS, variant_of
from lagbc.methods.sums import PATH_SUMS

# Rounds of a sweep, as a multiple of the levels from the hub: 1.3 to 7 on 40 networks, with lengths in (0, 1).
_ROUNDS = 4
# Most warps that share a row.
_MOST_PARTS = 2
# Rounding errors that `margin` covers, relative: a few of 2**-53.
_ROUNDING = 2.0**-48


def arrays(size: Size | Rows, dist: str) -> dict[str, Any]:
    """State the arrays of a batch: rows, and the counted rounds, which are added, and asked for, as they are found."""
    groups, rows, words, of_dist = size.groups, size.rows, device_rows.bitmap_words(size.rows), np.dtype(dist)
    shape, path_rows = (groups, rows, GROUP_COLUMNS), path_arrays(size)
    values = path_rows["values"]
    shares = values is not None and values.dtype == of_dist
    bits = device_rows.level_arrays(size)["bits"]
    return {
        "rows": {
            **path_rows,
            "distances": Array(shape, of_dist),
            # distances of near entries; None where they are in `values`
            "snapshot": None if shares else Array(shape, of_dist),
            "pending": bits,  # later the entries of the levels before or behind
            "seen": Array((groups, words), HALF_WORD),  # the rows of these
            "reached": bits,
            "open": Array((groups * _MOST_PARTS, words), HALF_WORD),  # a row a group and part
            "live": Array((tuning.MOST_ROUNDS, groups, words), HALF_WORD),  # the rows with any bit
            "lowest": Array((tuning.MOST_ROUNDS, groups, GROUP_COLUMNS), of_dist),
        },
        "rounds": Counted(repeated(_counted_rounds(size.depth), {"near": bits})),
    }


distances = sum_lengths


def make(rows: Rows, lengths: Lengths) -> BatchArrays:
    """Allocate the arrays of a batch, with lengths in the type of distances; `near` has an array a round, none yet."""
    made = allocate(cp, arrays(rows, lengths.dist))["rows"]
    if made["snapshot"] is None:
        made["snapshot"] = made["values"]
    # How far above a distance a path may be and still count, relative, with room for rounding.
    margin = _ROUNDING + (1 + _ROUNDING) * rows.plan.rtol
    return BatchArrays(rows=rows, rtol=rows.plan.rtol, margin=margin, **lengths.converted, **made, near=[])


def begin_compile(plan: SweepPlan, dist: str) -> None:
    """Begin to compile the kernels in another thread."""
    DELTA_PER_ROUND.begin_compile(variant_of(plan, dist=dist))
    if plan.sums - PATH_SUMS:
        DELTA_SUMS.begin_compile(Variant("float64", dist))


def _counted_rounds(depth: int) -> int:
    return min(_ROUNDS * depth, tuning.MOST_ROUNDS)


def forward(arrays: BatchArrays, roots: NDArray[np.int64], root_rows: RootRows) -> Found:
    """Settle distances and count paths, if a sum needs it; groups of more than `tuning.MOST_ROUNDS` are not done."""
    rounds, deeper = _settle(arrays, roots, root_rows)
    if not arrays.rows.plan.counts_paths or deeper.all():
        return Found(rounds - 1, np.zeros(len(roots), np.bool_), None, deeper)
    _leave_last(arrays, roots, rounds)
    overflowed = _count(arrays, roots, root_rows, rounds)
    return Found(rounds - 1, overflowed, arrays.reached, deeper)


def backward(arrays: BatchArrays, search: Search, weights: Weights, edges: Edges) -> PathScores:
    """Sum over paths; `edges` are added to."""
    rows = arrays.rows
    parts = _parts(rows, arrays.dist)
    kernel = _kernel(arrays, "delta_backward", by_column=weights.by_column)
    grid = device_rows.row_blocks(rows.rows, rows.hubs), search.groups, parts
    scores = PathScores.zeros(rows, parts)
    arrays.pending.fill(0)
    arrays.seen.fill(0)
    for level in range(search.depth, 0 if edges.sums is None else -1, -1):
        rows.plan.stop.check()
        kernel(
            grid,
            THREADS,
            n=rows.rows,
            hubs=rows.hubs,
            level=level,
            **rows.out_edges,
            **arrays.arguments("lengths", "distances", "values", "paths", "rtol"),
            **weights.arguments,
            **scores.arguments,
            **edges.arguments,
            here_live=arrays.live[level],
            here=arrays.near[level],
            later_live=arrays.seen,
            later=arrays.pending,
        )
    return scores.join_parts()


def paths(arrays: BatchArrays, search: Search) -> tuple[Any, Any]:
    """Return distances, and path counts if they are counted, of shape (groups, rows, 256)."""
    return arrays.distances, arrays.values


def _settle(arrays: BatchArrays, roots: NDArray[np.int64], root_rows: RootRows) -> tuple[int, NDArray[np.bool_]]:
    """Settle all distances; return the number of rounds, and a mask of the unfinished groups."""
    rows = arrays.rows
    _start(arrays, root_rows)
    find, take = _kernel(arrays, "delta_lowest"), _kernel(arrays, "delta_near")
    groups, parts = device_rows.count_groups(roots), _parts(rows, arrays.dist)
    blocks = device_rows.row_blocks(rows.rows, 0)
    few = min(blocks, tuning.STRIDING_BLOCKS * cp.cuda.Device().attributes["MultiProcessorCount"])
    found = cp.zeros(tuning.MOST_ROUNDS, cp.int32)  # whether an entry is pending; the nearest is near
    for turn in range(tuning.MOST_ROUNDS):
        if turn == len(arrays.near):
            device_rows.require_levels(rows, turn + 1, _counted_rounds(rows.depth))
            arrays.near.append(allocate(cp, {"near": device_rows.level_arrays(rows)["bits"]})["near"])
        known = {"n": rows.rows, **arrays.arguments("distances", "pending"), "lowest": arrays.lowest[turn]}
        find((few, groups, parts), THREADS, **known, any=found[turn])
        here = {"near": arrays.near[turn], "live": arrays.live[turn], **arrays.arguments("snapshot", "width")}
        take((blocks, groups, parts), THREADS, **known, **here)
        if not read(found[turn]):
            return turn, np.zeros(groups, np.bool_)
        rows.plan.stop.check()
        _relax(arrays, (device_rows.row_blocks(rows.rows, rows.in_hubs), groups, parts), turn)
    return tuning.MOST_ROUNDS, read(arrays.live[-1, :groups]).any(axis=1)  # a finished group has no near entry


def _start(arrays: BatchArrays, root_rows: RootRows) -> None:
    """Set the roots' entries pending, at distance 0."""
    fill(arrays.distances, np.inf)
    scatter(arrays.distances, root_rows.places, 0)
    device_rows.set_bits(arrays.pending, root_rows)
    fill(arrays.open, 0xFFFFFFFF)
    arrays.live.fill(0)
    fill(arrays.lowest, np.inf)


def _relax(arrays: BatchArrays, grid: tuple[int, int, int], turn: int) -> None:
    rows = arrays.rows
    _kernel(arrays, "delta_relax")(
        grid,
        THREADS,
        n=rows.rows,
        hubs=rows.in_hubs,
        **rows.in_edges,
        **arrays.arguments("in_lengths", "distances", "pending", "snapshot", "open", "rtol", "margin"),
        live=arrays.live[turn],
        near=arrays.near[turn],
        lowest=arrays.lowest[turn],
    )


def _leave_last(arrays: BatchArrays, roots: NDArray[np.int64], rounds: int) -> None:
    """Leave each entry in its last round, its level."""
    rows = arrays.rows
    arrays.live.fill(0)
    arrays.reached.fill(0)
    _kernel(arrays, "delta_last")(
        (-(-rows.rows * WORDS // THREADS), device_rows.count_groups(roots)),
        THREADS,
        n=rows.rows,
        rounds=rounds,
        near=cp.asarray(np.array([near.data.ptr for near in arrays.near[:rounds]], np.uint64)),
        live_stride=arrays.live[0].size,
        **arrays.arguments("live", "reached"),
    )


def _count(arrays: BatchArrays, roots: NDArray[np.int64], root_rows: RootRows, rounds: int) -> NDArray[np.bool_]:
    """Count paths, level after level; return a mask of the roots that overflowed."""
    rows = arrays.rows
    overflowed = cp.zeros((rows.groups, BYTES), cp.uint8)
    device_rows.set_bits(arrays.pending, root_rows)
    arrays.seen.set(device_rows.bitmap_of(rows, root_rows))
    scatter(arrays.values, root_rows.places, 1)
    kernel = _kernel(arrays, "delta_count")
    grid = (device_rows.row_blocks(rows.rows, rows.in_hubs), device_rows.count_groups(roots), _parts(rows, arrays.dist))
    for level in range(1, rounds):
        rows.plan.stop.check()
        kernel(
            grid,
            THREADS,
            n=rows.rows,
            hubs=rows.in_hubs,
            **rows.in_edges,
            **arrays.arguments("in_lengths", "distances", "values", "rtol", "margin"),
            here_live=arrays.live[level],
            here=arrays.near[level],
            before_live=arrays.seen,
            before=arrays.pending,
            sigma_limit=rows.sigma_limit,
            overflowed=overflowed,
            class_sizes=rows.class_sizes,
        )
    return device_rows.bits_of(overflowed, len(roots))


def _kernel(arrays: BatchArrays, name: str, *, by_column: bool = False) -> Kernel:
    return DELTA_PER_ROUND.kernel(name, variant_of(arrays.rows.plan, dist=arrays.dist, by_column=by_column))


def _parts(rows: Rows, dist: str) -> int:
    """Return how many warps share a row."""
    return GROUP_COLUMNS // (32 * DELTA_PER_ROUND.own_columns(variant_of(rows.plan, dist=dist)))
