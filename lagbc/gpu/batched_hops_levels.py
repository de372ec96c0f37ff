"""Unweighted betweenness a launch a level, for graphs of few levels; kernels/batched_hops_levels.cu.

A level is pulled over all rows, a warp each. Where its edges are few, for the rows there are, only the rows that they
touch are visited: those are marked in a bitmap first, of which a warp takes a word.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc.gpu import compiler
from lagbc.gpu.batched_hops_sums import SOURCE
from lagbc.gpu.host import null, pointer
from lagbc.gpu.rows import (
    BYTES,
    COLUMNS,
    THREADS,
    WARPS,
    Found,
    Placed,
    Rows,
    TooDeep,
    bitmap_words,
    bits_of,
    count_groups,
    row_blocks,
    set_bits,
    sigma_limit,
)
from lagbc.gpu.sums import Distances, Edges, PathScores, path_rows

# A sweep keeps a bit row a vertex and level; groups of more levels than this are swept as deep ones.
MOST_LEVELS = 64
# A level is small if so many times its edges, or in the backward sweep its rows, are no more than all rows.
SMALL = 8
_SOURCE = "batched_hops_levels"


@dataclass(eq=False)
class Arrays:
    """The device's arrays."""

    rows: Rows
    values: Any  # (groups, rows, 256): sigma, then c; None if paths are not counted
    paths: Any  # (groups, rows, 256): t, for stress; else None
    visited: Any  # (groups, rows, 32) uint8
    touched: Any  # (groups, rows / 32) uint32: which rows a small level's edges enter
    bits: list[Any] = field(default_factory=list)  # of each level: (groups, rows, 32) uint8
    live: list[Any] = field(default_factory=list)  # (groups, rows / 32) uint32: which rows have any bit
    sizes: list[int] = field(default_factory=list)  # rows of each level, of all groups

    def is_small(self, size: int, groups: int) -> bool:
        """Whether so many edges or rows are few for so many groups."""
        return SMALL * size <= groups * self.rows.rows


def allocate(rows: Rows) -> Arrays:
    """Allocate rows; levels are added as they are found."""
    bitmaps = cp.empty((rows.groups, bitmap_words(rows.rows)), cp.uint32)
    return Arrays(rows, *path_rows(rows), cp.empty((rows.groups, rows.rows, BYTES), cp.uint8), bitmaps)


def forward(arrays: Arrays, roots: NDArray[np.int64], placed: Placed) -> Found:
    """Find the levels and count paths.

    Raises
    ------
    TooDeep
        Groups have `MOST_LEVELS` levels or more; the others are done.
    """
    rows, groups = arrays.rows, count_groups(roots)
    outputs = compiler.DELTA if arrays.values is not None else compiler.NOTHING
    kernel = compiler.load(_SOURCE, rows.plan.dtype, outputs=outputs).get_function("batched_hops_forward")
    overflowed = cp.zeros((rows.groups, BYTES), cp.uint8)
    counts = cp.zeros((MOST_LEVELS + 1, 2), cp.int64)  # of each level: rows, and edges that leave them
    _start(arrays, outputs, placed)
    for level in range(1, MOST_LEVELS):
        _count(arrays, outputs, level, groups, counts)
        size, edges = counts[level].get().tolist()
        if not size:
            break
        arrays.sizes.append(size)
        rows.plan.stop.check()
        _clear_level(arrays, level + 1)
        is_small = arrays.is_small(edges, groups)
        if is_small:
            _touch(arrays, outputs, level, groups)
        arguments = (
            *(np.int32(rows.rows), np.int32(rows.in_hubs), np.int32(len(roots)), rows.in_indptr, rows.in_indices),
            *(arrays.live[level], arrays.bits[level], arrays.visited),
            *(arrays.live[level + 1], arrays.bits[level + 1], pointer(arrays.values)),
            *(sigma_limit(rows.plan), overflowed, arrays.touched if is_small else null()),
        )
        kernel(_grid(rows, rows.in_hubs, groups, outputs, is_small), (THREADS,), arguments)
    found = Found(len(arrays.sizes), bits_of(overflowed, len(roots)), arrays.visited)
    if found.depth == MOST_LEVELS - 1 and (deeper := arrays.live[MOST_LEVELS].any(axis=1).get()[:groups]).any():
        raise TooDeep(deeper, found)
    return found


def backward(
    arrays: Arrays, roots: NDArray[np.int64], depth: int, keep: Any, multiplicity: Any, edges: Edges
) -> PathScores:
    """Sum over paths; `edges` are added to."""
    rows, outputs = arrays.rows, arrays.rows.plan.outputs
    kernel = compiler.load(_SOURCE, rows.plan.dtype, outputs=outputs).get_function("batched_hops_backward")
    groups = count_groups(roots)
    scores = cp.zeros((rows.groups, _parts(rows, outputs), rows.rows))
    stress = None if arrays.paths is None else cp.zeros_like(scores)
    for level in range(depth, 0, -1):
        rows.plan.stop.check()
        beyond = (null(), null()) if level == depth else (arrays.live[level + 1], arrays.bits[level + 1])
        is_small = arrays.is_small(arrays.sizes[level - 1], groups)
        arguments = (
            *(np.int32(rows.rows), np.int32(rows.hubs), rows.indptr, rows.indices),
            *(arrays.live[level], arrays.bits[level], *beyond),
            *(keep, pointer(rows.omega), pointer(multiplicity), arrays.values, scores),
            *(pointer(arrays.paths), pointer(stress), *edges.arguments, np.int32(is_small)),
        )
        kernel(_grid(rows, rows.hubs, groups, outputs, is_small), (THREADS,), arguments)
    return PathScores(scores.sum(axis=1), None if stress is None else stress.sum(axis=1))


def distances(arrays: Arrays, roots: NDArray[np.int64], depth: int, keep: Any, sums: Distances) -> None:
    """Sum over distances."""
    rows = arrays.rows
    kernel = compiler.load(SOURCE, rows.plan.dtype).get_function("batched_hops_distances")
    for level in range(depth, 0, -1):
        rows.plan.stop.check()
        arguments = np.int32(rows.rows), np.int32(level), arrays.live[level], arrays.bits[level], keep, *sums.arguments
        kernel((-(-rows.rows // THREADS), count_groups(roots)), (THREADS,), arguments)


def _start(arrays: Arrays, outputs: compiler.Outputs, placed: Placed) -> None:
    """Put the roots at level 0, and their out-neighbours, each with one path, at level 1."""
    rows = arrays.rows
    arrays.sizes.clear()
    set_bits(arrays.visited, placed)
    if arrays.values is not None:
        arrays.values[placed.group, placed.position, placed.column] = 1
    for level in range(2):
        _clear_level(arrays, level)
    arrays.bits[1].fill(0)
    if len(placed.position):
        kernel = compiler.load(_SOURCE, rows.plan.dtype, outputs=outputs).get_function("batched_hops_first")
        roots_and_rows = (placed.position, placed.group * COLUMNS + placed.column, rows.indptr, rows.indices)
        reached = (arrays.visited, arrays.bits[1], arrays.live[1], pointer(arrays.values))
        kernel((len(placed.position),), (THREADS,), (np.int32(rows.rows), *roots_and_rows, *reached))


def _count(arrays: Arrays, outputs: compiler.Outputs, level: int, groups: int, counts: Any) -> None:
    """Count the rows of a level, and the edges that leave them."""
    rows, words = arrays.rows, groups * bitmap_words(arrays.rows.rows)
    kernel = compiler.load(_SOURCE, rows.plan.dtype, outputs=outputs).get_function("batched_hops_count")
    arguments = np.int32(rows.rows), np.int64(words), arrays.live[level], rows.indptr, counts[level]
    kernel((-(-words // THREADS),), (THREADS,), arguments)


def _touch(arrays: Arrays, outputs: compiler.Outputs, level: int, groups: int) -> None:
    """Mark the rows that edges from a level enter."""
    rows = arrays.rows
    arrays.touched.fill(0)
    kernel = compiler.load(_SOURCE, rows.plan.dtype, outputs=outputs).get_function("batched_hops_touch")
    grid = -(-bitmap_words(rows.rows) // WARPS), groups
    kernel(grid, (THREADS,), (np.int32(rows.rows), arrays.live[level], rows.indptr, rows.indices, arrays.touched))


def _grid(rows: Rows, hubs: int, groups: int, outputs: compiler.Outputs, is_small: bool) -> tuple[int, int, int]:
    """Blocks of a launch over all rows, or over the words of a bitmap of them."""
    blocks = hubs + -(-bitmap_words(rows.rows) // WARPS) if is_small else row_blocks(rows.rows, hubs)
    return blocks, groups, _parts(rows, outputs)


def _clear_level(arrays: Arrays, level: int) -> None:
    rows = arrays.rows
    if level == len(arrays.bits):
        arrays.bits.append(cp.empty((rows.groups, rows.rows, BYTES), cp.uint8))
        arrays.live.append(cp.empty((rows.groups, bitmap_words(rows.rows)), cp.uint32))
    arrays.live[level].fill(0)


def _parts(rows: Rows, outputs: compiler.Outputs) -> int:
    """Warps that share a row."""
    return COLUMNS // (32 * compiler.own_columns(_SOURCE, rows.plan.dtype, outputs=outputs))
