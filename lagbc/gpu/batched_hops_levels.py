"""Unweighted betweenness a launch a level, for graphs of few levels; kernels/batched_hops_levels.cu."""

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
_SOURCE = "batched_hops_levels"


@dataclass(eq=False)
class Arrays:
    """The device's arrays."""

    rows: Rows
    values: Any  # (groups, rows, 256): sigma, then c; None if paths are not counted
    paths: Any  # (groups, rows, 256): t, for stress; else None
    visited: Any  # (groups, rows, 32) uint8
    bits: list[Any] = field(default_factory=list)  # of each level: (groups, rows, 32) uint8
    live: list[Any] = field(default_factory=list)  # (groups, rows / 32) uint32: which rows have any bit


def allocate(rows: Rows) -> Arrays:
    """Allocate rows; levels are added as they are found."""
    return Arrays(rows, *path_rows(rows), cp.empty((rows.groups, rows.rows, BYTES), cp.uint8))


def forward(arrays: Arrays, roots: NDArray[np.int64], placed: Placed) -> Found:
    """Find the levels and count paths.

    Raises
    ------
    TooDeep
        Groups have `MOST_LEVELS` levels or more.
    """
    rows = arrays.rows
    outputs = compiler.DELTA if arrays.values is not None else compiler.NOTHING
    module = compiler.load(_SOURCE, rows.plan.dtype, outputs=outputs)
    first, kernel = module.get_function("batched_hops_first"), module.get_function("batched_hops_forward")
    grid = (row_blocks(rows.rows, rows.in_hubs), count_groups(roots), _parts(rows, outputs))
    set_bits(arrays.visited, placed)
    if arrays.values is not None:
        arrays.values[placed.group, placed.position, placed.column] = 1
    for level in range(2):
        _clear_level(arrays, level)
    arrays.bits[1].fill(0)
    overflowed = cp.zeros((rows.groups, BYTES), cp.uint8)
    found = cp.zeros(MOST_LEVELS, cp.int32)
    if len(placed.position):
        roots_and_rows = (placed.position, placed.group * COLUMNS + placed.column, rows.indptr, rows.indices)
        reached = (arrays.visited, arrays.bits[1], arrays.live[1], pointer(arrays.values), found[1:])
        first((len(placed.position),), (THREADS,), (np.int32(rows.rows), *roots_and_rows, *reached))
    for level in range(1, MOST_LEVELS):
        if not int(found[level]):
            return Found(level - 1, bits_of(overflowed, len(roots)), arrays.visited)
        rows.plan.stop.check()
        _clear_level(arrays, level + 1)
        arguments = (
            *(np.int32(rows.rows), np.int32(rows.in_hubs), np.int32(len(roots)), rows.in_indptr, rows.in_indices),
            *(arrays.live[level], arrays.bits[level], arrays.visited),
            *(arrays.live[level + 1], arrays.bits[level + 1], pointer(arrays.values)),
            *(sigma_limit(rows.plan), overflowed, found[level + 1 :]),
        )
        kernel(grid, (THREADS,), arguments)
    raise TooDeep(arrays.live[MOST_LEVELS].any(axis=1).get()[: count_groups(roots)])


def backward(
    arrays: Arrays, roots: NDArray[np.int64], depth: int, keep: Any, multiplicity: Any, edges: Edges
) -> PathScores:
    """Sum over paths; `edges` are added to."""
    rows, outputs = arrays.rows, arrays.rows.plan.outputs
    kernel = compiler.load(_SOURCE, rows.plan.dtype, outputs=outputs).get_function("batched_hops_backward")
    parts = _parts(rows, outputs)
    grid = (row_blocks(rows.rows, rows.hubs), count_groups(roots), parts)
    scores = cp.zeros((rows.groups, parts, rows.rows))
    stress = None if arrays.paths is None else cp.zeros_like(scores)
    for level in range(depth, 0, -1):
        rows.plan.stop.check()
        beyond = (null(), null()) if level == depth else (arrays.live[level + 1], arrays.bits[level + 1])
        arguments = (
            *(np.int32(rows.rows), np.int32(rows.hubs), rows.indptr, rows.indices),
            *(arrays.live[level], arrays.bits[level], *beyond),
            *(keep, pointer(rows.omega), pointer(multiplicity), arrays.values, scores),
            *(pointer(arrays.paths), pointer(stress), *edges.arguments),
        )
        kernel(grid, (THREADS,), arguments)
    return PathScores(scores.sum(axis=1), None if stress is None else stress.sum(axis=1))


def distances(arrays: Arrays, roots: NDArray[np.int64], depth: int, keep: Any, sums: Distances) -> None:
    """Sum over distances."""
    rows = arrays.rows
    kernel = compiler.load(SOURCE, rows.plan.dtype).get_function("batched_hops_distances")
    for level in range(depth, 0, -1):
        rows.plan.stop.check()
        arguments = np.int32(rows.rows), np.int32(level), arrays.live[level], arrays.bits[level], keep, *sums.arguments
        kernel((-(-rows.rows // THREADS), count_groups(roots)), (THREADS,), arguments)


def _clear_level(arrays: Arrays, level: int) -> None:
    rows = arrays.rows
    if level == len(arrays.bits):
        arrays.bits.append(cp.empty((rows.groups, rows.rows, BYTES), cp.uint8))
        arrays.live.append(cp.empty((rows.groups, bitmap_words(rows.rows)), cp.uint32))
    arrays.live[level].fill(0)


def _parts(rows: Rows, outputs: compiler.Outputs) -> int:
    """Warps that share a row."""
    return COLUMNS // (32 * compiler.own_columns(_SOURCE, rows.plan.dtype, outputs=outputs))
