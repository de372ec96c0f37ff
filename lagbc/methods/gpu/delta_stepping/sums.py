"""Sums over the distances that Delta-stepping has found."""

from __future__ import annotations

from typing import Any

import cupy as cp

from lagbc.cuda.compiler import THREADS
from lagbc.methods import tuning
from lagbc.methods.gpu.common.rows import Rows, row_blocks
from lagbc.methods.gpu.common.sums import Distances
from lagbc.methods.gpu.delta_stepping.kernels import SUMS


def begin_sums(dist: str) -> None:
    """Have the kernels compiled while something else is done."""
    SUMS.begin("float64", dist=dist)


def sum_distances(rows: Rows, groups: int, distances: Any, keep: Any, sums: Distances) -> None:
    """Sum over rows of distances, of shape (groups, rows, 256)."""
    _launch("delta_distances", distances.dtype.name, rows, groups, sums, distances=distances, keep=keep)


def sum_levels(
    rows: Rows, groups: int, last: int, unit: float, live: Any, bits: Any, keep: Any, sums: Distances
) -> None:
    """Sum over the levels up to `last`, which are a unit apart; of the levels that `dial` leaves."""
    of_levels = {"capacity": bits.shape[1], "last": last, "unit": unit, "live": live, "bits": bits}
    _launch("dial_distances", "float64", rows, groups, sums, keep=keep, **of_levels)


def _launch(name: str, dist: str, rows: Rows, groups: int, sums: Distances, **given: Any) -> None:
    blocks = min(row_blocks(rows.rows, 0), tuning.STRIDING_BLOCKS * cp.cuda.Device().attributes["MultiProcessorCount"])
    kernel = SUMS.kernel(name, "float64", dist=dist)
    kernel((blocks, groups), THREADS, n=rows.rows, deepest=sums.depth, **sums.arguments, **given)
