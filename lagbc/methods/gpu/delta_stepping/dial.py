"""Delta-stepping for lengths that are small multiples of a unit, a launch a distance.

R. B. Dial, Algorithm 360: shortest-path forest with topological ordering, Comm. ACM 12 (1969) 632-633.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc.cuda.compiler import THREADS
from lagbc.cuda.kernel import Kernel
from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.contract import SweepPlan
from lagbc.methods.gpu.common.arrays import copy_into, scatter
from lagbc.methods.gpu.common.rows import (
    BYTES,
    GROUP_COLUMNS,
    Lengths,
    Placed,
    Rows,
    bitmap_of,
    bitmap_words,
    bits_of,
    count_groups,
    lengths_bytes,
    most_held,
    require_levels,
    row_blocks,
    set_bits,
    unpack,
)
from lagbc.methods.gpu.common.sums import Distances, Edges, PathScores, path_bytes, path_rows
from lagbc.methods.gpu.common.sweep import Found, Levels, Weights
from lagbc.methods.gpu.delta_stepping.kernels import DIAL
from lagbc.methods.gpu.delta_stepping.sums import begin_sums, sum_levels
from lagbc.methods.sums import PATH_SUMS


@dataclass(eq=False)
class Arrays:
    """The device's arrays."""

    rows: Rows
    unit: float  # of length: a level
    longest: int
    counted: int  # levels that there is room for without asking
    lengths: Any  # (nnz,) uint8, in units
    in_lengths: Any
    values: Any  # (groups, rows, 256): sigma, then c; None if paths are not counted
    paths: Any  # (groups, rows, 256): t, for stress; else None
    visited: Any  # (groups, rows, 32) uint8
    bits: Any  # (groups, levels, rows, 32) uint8
    live: Any  # (groups, levels, rows / 32) uint32: which rows have any bit


def has_room(graph: Graph) -> bool:
    """Whether the kernels can number a group's bit rows, those of all levels, in 32 bits."""
    return graph.n <= 2**32 // tuning.DIAL_MOST_LEVELS


def allocate(rows: Rows, lengths: Lengths) -> Arrays:
    """Upload the lengths in units, and allocate rows."""
    out, into = lengths.as_type(np.uint8, lengths.unit)
    values, paths = path_rows(rows)
    return Arrays(
        rows=rows,
        unit=lengths.unit,
        longest=int(lengths.survey.longest / lengths.unit),
        counted=_counted_levels(rows.depth, lengths.survey.mean / lengths.unit),
        lengths=out,
        in_lengths=into,
        values=values,
        paths=paths,
        visited=cp.empty((rows.groups, rows.rows, BYTES), cp.uint8),
        **_allocate_levels(rows, tuning.DIAL_MOST_LEVELS // 4),
    )


def begin(plan: SweepPlan, dist: str | None) -> None:
    """Have the kernels compiled while something else is done."""
    DIAL.begin(plan.dtype, sums=plan.sums, members=plan.members is not None)
    if plan.sums - PATH_SUMS:
        begin_sums("float64")


def footprint(graph: Graph, plan: SweepPlan, units: float) -> int:
    """Estimate the bytes of `Arrays`: lengths both ways; values and paths; visited, and bits and live of all levels.

    Room for more levels than are counted is asked for as they are found.
    """
    rows, groups = graph.active, plan.batch // GROUP_COLUMNS
    levels = _counted_levels(graph.depth, units)
    of_group = rows * (1 + levels) * BYTES + levels * 4 * bitmap_words(rows)
    return lengths_bytes(graph, 1) + path_bytes(rows, plan) + groups * of_group


def _counted_levels(depth: int, units: float) -> int:
    """Count the levels held where paths are as long as those from the hub with lengths of `units` each, the mean."""
    return most_held(units * (depth + 1), tuning.DIAL_MOST_LEVELS // 4, tuning.DIAL_MOST_LEVELS)


def forward(arrays: Arrays, roots: NDArray[np.int64], placed: Placed) -> Found:
    """Find the levels, a distance each, and count paths; groups of more than `tuning.DIAL_MOST_LEVELS` are not done."""
    rows = arrays.rows
    kernel = _kernel(rows, "dial_forward")
    grid = (row_blocks(rows.rows, rows.in_hubs), count_groups(roots), _parts(arrays))
    arrays.live.fill(0)
    for group, bitmap in enumerate(bitmap_of(rows, placed)):
        arrays.live[group, 0].set(bitmap)
    set_bits(arrays.bits[:, 0], placed)
    set_bits(arrays.visited, placed)
    if arrays.values is not None:
        scatter(arrays.values, placed.places, 1)
    overflowed = cp.zeros((rows.groups, BYTES), cp.uint8)
    found, last = cp.zeros(tuning.DIAL_MOST_LEVELS, cp.int32), 0
    for level in range(1, tuning.DIAL_MOST_LEVELS):
        rows.plan.stop.check()
        if level == _capacity(arrays):
            _double_levels(arrays)
        kernel(
            grid,
            THREADS,
            n=rows.rows,
            hubs=rows.in_hubs,
            capacity=_capacity(arrays),
            roots=len(roots),
            level=level,
            in_lengths=arrays.in_lengths,
            live=arrays.live,
            bits=arrays.bits,
            visited=arrays.visited,
            values=arrays.values,
            sigma_limit=rows.plan.sigma_limit,
            overflowed=overflowed,
            any=found[level:],
            vertex_members=rows.members,
            **rows.inward,
        )
        if int(found[level]):
            last = level
        elif level == last + arrays.longest:
            return Found(last, bits_of(overflowed, len(roots)), arrays.visited)
    latest = arrays.live[: count_groups(roots), tuning.DIAL_MOST_LEVELS - arrays.longest :]
    still_live = np.array([of_group.get().any() for of_group in latest])
    return Found(last, bits_of(overflowed, len(roots)), arrays.visited, still_live)


def backward(arrays: Arrays, levels: Levels, weights: Weights, edges: Edges) -> PathScores:
    """Sum over paths; `edges` are added to."""
    rows, parts = arrays.rows, _parts(arrays)
    kernel = _kernel(rows, "dial_backward", by_column=weights.by_column)
    grid = (row_blocks(rows.rows, rows.hubs), levels.groups, parts)
    scores = PathScores.zeros(rows, parts)
    for level in range(levels.depth, 0 if edges.sums is None else -1, -1):
        rows.plan.stop.check()
        kernel(
            grid,
            THREADS,
            n=rows.rows,
            hubs=rows.hubs,
            capacity=_capacity(arrays),
            level=level,
            last=levels.depth,
            lengths=arrays.lengths,
            live=arrays.live,
            bits=arrays.bits,
            values=arrays.values,
            paths=arrays.paths,
            **rows.outward,
            **weights.arguments,
            **scores.arguments,
            **edges.arguments,
        )
    return scores.join_parts()


def distances(arrays: Arrays, levels: Levels, keep: Any, sums: Distances) -> None:
    """Sum over distances."""
    sum_levels(arrays.rows, levels.groups, levels.depth, arrays.unit, arrays.live, arrays.bits, keep, sums)


def paths(arrays: Arrays, levels: Levels) -> tuple[Any, Any]:
    """Distances and path counts, of shape (groups, rows, 256)."""
    rows, groups = arrays.rows, levels.groups
    dist = cp.full((rows.groups, rows.rows, GROUP_COLUMNS), np.inf)
    for level in range(levels.depth + 1):
        dist[:groups][unpack(arrays.bits[:groups, level]).astype(np.bool_)] = level * arrays.unit
    return dist, cp.where(cp.isfinite(dist), arrays.values.astype(np.float64), 0.0)


def _kernel(rows: Rows, name: str, *, by_column: bool = False) -> Kernel:
    members = rows.members is not None
    return DIAL.kernel(name, rows.plan.dtype, sums=rows.plan.sums, by_column=by_column, members=members)


def _allocate_levels(rows: Rows, capacity: int) -> dict[str, Any]:
    return {
        "bits": cp.empty((rows.groups, capacity, rows.rows, BYTES), cp.uint8),
        "live": cp.zeros((rows.groups, capacity, bitmap_words(rows.rows)), cp.uint32),
    }


def _double_levels(arrays: Arrays) -> None:
    require_levels(arrays.rows, 3 * _capacity(arrays), arrays.counted)
    for name, larger in _allocate_levels(arrays.rows, 2 * _capacity(arrays)).items():
        for longer, levels in zip(larger, getattr(arrays, name), strict=True):
            copy_into(longer, levels)
        setattr(arrays, name, larger)


def _capacity(arrays: Arrays) -> int:
    """Levels that are allocated."""
    return int(arrays.bits.shape[1])


def _parts(arrays: Arrays) -> int:
    """Warps that share a row."""
    plan = arrays.rows.plan
    return GROUP_COLUMNS // (32 * DIAL.own_columns(plan.dtype, sums=plan.sums))
