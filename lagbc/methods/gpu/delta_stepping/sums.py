"""Sums over the distances that Delta-stepping has found."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from lagbc.cuda.compiler import THREADS
from lagbc.cuda.host import pointer
from lagbc.methods import tuning
from lagbc.methods.gpu.common.rows import Rows, row_blocks
from lagbc.methods.gpu.common.sums import Distances
from lagbc.methods.gpu.delta_stepping.kernels import SUMS


def sum_distances(rows: Rows, groups: int, distances: Any, keep: Any, sums: Distances) -> None:
    """Sum over rows of distances, of shape (groups, rows, 256)."""
    _launch("delta_distances", distances.dtype.name, rows, groups, (distances, keep), sums)


def sum_levels(
    rows: Rows, groups: int, last: int, unit: float, live: Any, bits: Any, keep: Any, sums: Distances
) -> None:
    """Sum over the levels up to `last`, which are a unit apart; of the levels that `dial` leaves."""
    levels = np.int32(bits.shape[1]), np.int32(last), np.float64(unit), live, bits, keep
    _launch("dial_distances", "float64", rows, groups, levels, sums)


def _launch(name: str, dist: str, rows: Rows, groups: int, of: tuple[Any, ...], sums: Distances) -> None:
    kernel = SUMS.load("float64", dist=dist).get_function(name)
    blocks = min(row_blocks(rows.rows, 0), tuning.STRIDING_BLOCKS * cp.cuda.Device().attributes["MultiProcessorCount"])
    parts = (pointer(part) for part in (sums.reached, sums.distance, sums.inverse, sums.depth))
    kernel((blocks, groups), (THREADS,), (np.int32(rows.rows), *of, *parts))
