"""Sums over the distances that Delta-stepping has found."""

from __future__ import annotations

from typing import Any

import cupy as cp

from lagbc.cuda.compiler import THREADS
from lagbc.methods import tuning
from lagbc.methods.gpu.common.kernels import Variant
from lagbc.methods.gpu.common.rows import Rows, row_blocks
from lagbc.methods.gpu.common.sums import Distances
from lagbc.methods.gpu.delta_stepping.kernels import SUMS


def begin_sums(dist: str) -> None:
    """Begin to compile the kernels in another thread."""
    SUMS.begin_compile(Variant(dist=dist))


def sum_distances(rows: Rows, groups: int, distances: Any, keep: Any, sums: Distances) -> None:
    """Sum over rows of distances, of shape (groups, rows, 256)."""
    blocks = min(row_blocks(rows.rows, 0), tuning.STRIDING_BLOCKS * cp.cuda.Device().attributes["MultiProcessorCount"])
    given = {"distances": distances, "keep": keep, "deepest": sums.depth, **sums.arguments}
    kernel = SUMS.kernel("delta_distances", Variant(dist=distances.dtype.name))
    kernel((blocks, groups), THREADS, n=rows.rows, **given)
