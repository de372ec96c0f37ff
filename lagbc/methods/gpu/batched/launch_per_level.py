"""Unweighted betweenness a launch a level, for graphs of few levels.

A level is pulled over all rows, a warp each. Where few edges leave a level, for the count of rows, only the rows that
they enter are visited: these are marked in a bitmap first, whose words a warp each takes.

Paths are counted in 32-bit integers, as exact as float64 and with half the reads of the forward sweep. Where a count
does not fit, the batch is counted again in float64, and so are later ones. Paths are counted in float64 from the start
where memory has no room for integers: these have rows of their own.
"""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.cuda.kernel import NARROW, THREADS, Macro, Variant
from lagbc.methods.contract import BYTE, HALF_WORD, Array, Counted, SweepPlan, allocate, repeated
from lagbc.methods.gpu.common import rows as device_rows
from lagbc.methods.gpu.common.arrays import read, scatter
from lagbc.methods.gpu.common.rows import BYTES, GROUP_COLUMNS, WARPS, BatchArrays, RootRows, Rows, Size
from lagbc.methods.gpu.common.sums import Distances, Edges, PathScores, add_root_edges, distances_of_roots, path_arrays
from lagbc.methods.gpu.driver import Found, Search, Weights
from lagbc.methods.gpu.kernels import BACKWARD, FORWARD, HOPS_SUMS, variant_of
from lagbc.methods.sums import DEPENDENCY


def arrays(size: Size | Rows, dist: None = None) -> dict[str, Any]:
    """State the arrays of a batch: rows, and the counted levels, which are added, and asked for, as they are found."""
    path_rows = path_arrays(size)
    values = path_rows["values"]
    narrow = NARROW.get(size.plan.dtype) if size.counts_are_small and values is not None else None
    return {
        "rows": {
            **path_rows,  # c, and t for stress
            # sigma, in integers; None where c takes its place in the same array
            "counts": None if values is None or narrow is None else Array(values.shape, np.dtype(narrow)),
            "visited": Array((size.groups, size.rows, BYTES), BYTE),
            # the rows that a small level's edges enter
            "touched": Array((size.groups, device_rows.bitmap_words(size.rows)), HALF_WORD),
        },
        "levels": Counted(repeated(_counted_levels(size.depth), device_rows.level_arrays(size))),
    }


def make(rows: Rows, lengths: None = None) -> BatchArrays:
    """Allocate the arrays of a batch; `bits` and `live` have an array a level, and there is none at first."""
    made = allocate(cp, arrays(rows))["rows"]
    if made["counts"] is None:
        made["counts"] = made["values"]
    return BatchArrays(rows=rows, **made, bits=[], live=[], are_small=[])  # the last: levels from 1 on


def begin_compile(plan: SweepPlan, dist: None = None) -> None:
    """Begin to compile the kernels in another thread."""
    count = plan.dtype if plan.in_place else NARROW.get(plan.dtype, plan.dtype)
    if plan.counts_paths:
        FORWARD.begin_compile(_forward_variant(plan, count))
        BACKWARD.begin_compile(variant_of(plan, sigma=count))
    else:
        FORWARD.begin_compile(_forward_variant(plan, None))
    if plan.sums - DEPENDENCY - {"stress", "dependency_squares"}:
        HOPS_SUMS.begin_compile(Variant(plan.dtype))


def _forward_variant(plan: SweepPlan, count: str | None) -> Variant:
    """Choose by the type of path counts; None if none is counted. Counts take the place of the values."""
    return variant_of(plan, Macro.NONE if count is None else Macro.COUNTS, dtype=count)


def _counted_levels(depth: int) -> int:
    """Count the levels from an end of a path with the hub as its middle: the most of a connected undirected graph."""
    return min(tuning.HOPS_MOST_LEVELS, 2 * depth + 1) + 1


def forward(arrays: BatchArrays, roots: NDArray[np.int64], root_rows: RootRows) -> Found:
    """Find the levels and count paths; groups with `tuning.HOPS_MOST_LEVELS` or more are not done."""
    rows, groups = arrays.rows, device_rows.count_groups(roots)
    overflowed = cp.zeros((rows.groups, BYTES), cp.uint8)
    kernels = _Forward(arrays, groups, len(roots), overflowed)
    sizes = cp.zeros((tuning.HOPS_MOST_LEVELS + 1, 2), cp.int64)  # of each level: rows, and edges that leave them
    _start(arrays, kernels, root_rows)
    for level in range(1, tuning.HOPS_MOST_LEVELS if len(root_rows.position) else 1):
        kernels.count(level, sizes[level])
        size, edges = read(sizes[level]).tolist()
        if not size:
            break
        rows.plan.stop.check()
        _clear_level(arrays, level + 1)
        is_small = tuning.SMALL_LEVEL * edges <= groups * rows.rows
        if is_small:
            kernels.touch(level)
        kernels.sweep(level, is_small)
        arrays.are_small.append(is_small)
    depth, deeper, out_of_range = len(arrays.are_small), None, device_rows.bits_of(overflowed, len(roots))
    if arrays.counts is not arrays.values and out_of_range.any():
        rows.counts_are_small, arrays.counts = False, arrays.values
        return forward(arrays, roots, root_rows)
    if depth == tuning.HOPS_MOST_LEVELS - 1:
        deeper = read(arrays.live[tuning.HOPS_MOST_LEVELS]).any(axis=1)[:groups]
    return Found(depth, out_of_range, arrays.visited, deeper)


def backward(arrays: BatchArrays, search: Search, weights: Weights, edges: Edges) -> PathScores:
    """Sum over paths; `edges` are added to."""
    rows = arrays.rows
    variant = variant_of(rows.plan, sigma=str(arrays.counts.dtype), by_column=weights.by_column)
    kernel = BACKWARD.kernel("launch_per_level_backward", variant)
    parts = _parts(BACKWARD.own_columns(variant))
    scores = PathScores.zeros(rows, parts)
    for level in range(search.depth, 0, -1):
        rows.plan.stop.check()
        is_last, is_small = level == search.depth, arrays.are_small[level - 1]
        kernel(
            _grid(rows, rows.hubs, search.groups, parts, is_small),
            THREADS,
            n=rows.rows,
            hubs=rows.hubs,
            **rows.out_edges,
            **weights.arguments,
            **scores.arguments,
            **edges.arguments,
            **arrays.arguments("values", "paths"),
            here_live=arrays.live[level],
            here=arrays.bits[level],
            beyond_live=None if is_last else arrays.live[level + 1],
            beyond=None if is_last else arrays.bits[level + 1],
            sigmas=arrays.counts,
            is_small=is_small,
        )
    add_root_edges(arrays, search.root_rows, weights.keep, weights.root_weights, edges)
    return scores.join_parts()


def distances(arrays: BatchArrays, search: Search, keep: Any, sums: Distances) -> None:
    """Sum over distances."""
    rows = arrays.rows
    kernel = HOPS_SUMS.kernel("launch_per_level_distances", Variant(rows.plan.dtype))
    grid = -(-rows.rows // THREADS), search.groups
    for level in range(search.depth, 0, -1):
        rows.plan.stop.check()
        of_level = {"level": level, "live": arrays.live[level], "bits": arrays.bits[level]}
        kernel(grid, THREADS, n=rows.rows, keep=keep, **of_level, **sums._asdict())


def paths(arrays: BatchArrays, search: Search) -> tuple[Any, Any]:
    """Return distances, and path counts if they are counted, of shape (groups, rows, 256)."""
    rows, dist = arrays.rows, distances_of_roots(arrays.rows, search.root_rows)
    kernel = HOPS_SUMS.kernel("launch_per_level_write", Variant(rows.plan.dtype))
    for level in range(1, search.depth + 1):
        # Bits are written where a row is live, or was visited.
        of_level = {"level": level, "live": arrays.live[level], "bits": arrays.bits[level]}
        kernel((device_rows.row_blocks(rows.rows, 0), search.groups), THREADS, n=rows.rows, dist=dist, **of_level)
    return dist, arrays.counts


class _Forward:
    """The kernels of the forward sweep, with the arguments common to all levels."""

    def __init__(self, arrays: BatchArrays, groups: int, roots: int, overflowed: Any) -> None:
        self._arrays, self._groups, self._roots = arrays, groups, roots
        plan, counts = arrays.rows.plan, arrays.counts
        variant = _forward_variant(plan, None if counts is None else str(counts.dtype))
        self._first, self._count, self._touch, self._sweep = (
            FORWARD.kernel(f"launch_per_level_{name}", variant) for name in ("first", "count", "touch", "forward")
        )
        self._parts = _parts(FORWARD.own_columns(variant))
        # The plan's limit is lower where targets have tiny weights.
        limit = arrays.rows.sigma_limit
        if variant.dtype == "uint32":
            limit = min(2**32 - 1, limit)
        # The rows that are reached, and their counts.
        self._reached = {
            "visited": arrays.visited,
            "counts": counts,
            "limit": limit,
            "overflowed": overflowed,
            "class_sizes": arrays.rows.class_sizes,
        }

    def first(self, root_rows: RootRows) -> None:
        """Put the roots' out-neighbours at level 1."""
        rows = self._arrays.rows
        self._first(
            (len(root_rows.position),),
            THREADS,
            n=rows.rows,
            **root_rows.arguments,
            **rows.out_edges,
            **self._reached,
            next=self._arrays.bits[1],
            next_live=self._arrays.live[1],
        )

    def count(self, level: int, size: Any) -> None:
        """Count the rows of a level, and the edges that leave them."""
        rows, live = self._arrays.rows, self._arrays.live[level]
        words = self._groups * device_rows.bitmap_words(rows.rows)
        grid = (-(-words // THREADS),)
        self._count(grid, THREADS, n=rows.rows, words=words, live=live, indptr=rows.indptr, size=size)

    def touch(self, level: int) -> None:
        """Mark the rows that edges from a level enter."""
        arrays, rows = self._arrays, self._arrays.rows
        arrays.touched.fill(0)
        grid = -(-device_rows.bitmap_words(rows.rows) // WARPS), self._groups
        self._touch(grid, THREADS, n=rows.rows, **rows.out_edges, live=arrays.live[level], touched=arrays.touched)

    def sweep(self, level: int, is_small: bool) -> None:
        """Find the next level, and count its paths."""
        arrays, rows = self._arrays, self._arrays.rows
        self._sweep(
            _grid(rows, rows.in_hubs, self._groups, self._parts, is_small),
            THREADS,
            n=rows.rows,
            hubs=rows.in_hubs,
            **rows.in_edges,
            **self._reached,
            roots=self._roots,
            live=arrays.live[level],
            frontier=arrays.bits[level],
            next_live=arrays.live[level + 1],
            next=arrays.bits[level + 1],
            totals=arrays.counts,
            touched=arrays.touched if is_small else None,
        )


def _start(arrays: BatchArrays, kernels: _Forward, root_rows: RootRows) -> None:
    """Put the roots, each with one path, at level 0, and their out-neighbours at level 1."""
    arrays.are_small.clear()
    device_rows.set_bits(arrays.visited, root_rows)
    if arrays.counts is not None:
        scatter(arrays.counts, root_rows.places, 1)
    for level in range(2):
        _clear_level(arrays, level)
    arrays.bits[1].fill(0)
    if len(root_rows.position):
        kernels.first(root_rows)


def _grid(rows: Rows, hubs: int, groups: int, parts: int, is_small: bool) -> tuple[int, int, int]:
    """Return the thread blocks of a launch over all rows, or over the words of a bitmap of them."""
    words = device_rows.bitmap_words(rows.rows)
    blocks = hubs + -(-words // WARPS) if is_small else device_rows.row_blocks(rows.rows, hubs)
    return blocks, groups, parts


def _clear_level(arrays: BatchArrays, level: int) -> None:
    rows = arrays.rows
    if level == len(arrays.bits):
        device_rows.require_levels(rows, level + 1, _counted_levels(rows.depth))
        for name, array in allocate(cp, device_rows.level_arrays(rows)).items():
            getattr(arrays, name).append(array)
    arrays.live[level].fill(0)


def _parts(own_columns: int) -> int:
    """Return how many warps share a row."""
    return GROUP_COLUMNS // (32 * own_columns)
