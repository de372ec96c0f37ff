"""Sums over the distances that Delta-stepping has found."""

from __future__ import annotations

from typing import Any

import cupy as cp

from lagbc import tuning
from lagbc.cuda.compiler import THREADS
from lagbc.methods.gpu.common.kernels import Variant
from lagbc.methods.gpu.common.rows import row_blocks
from lagbc.methods.gpu.common.sums import Distances
from lagbc.methods.gpu.delta_stepping.kernels import SUMS
from lagbc.methods.gpu.driver import Search


def begin_compile(dist: str) -> None:
    """Begin to compile the kernels in another thread."""
    SUMS.begin_compile(Variant(dist=dist))


def distances(arrays: Any, search: Search, keep: Any, sums: Distances) -> None:
    """Sum over distances, as `lagbc.methods.gpu.driver.Sweeps` has it."""
    rows, found = arrays.rows, arrays.distances
    blocks = min(row_blocks(rows.rows, 0), tuning.STRIDING_BLOCKS * cp.cuda.Device().attributes["MultiProcessorCount"])
    kernel = SUMS.kernel("delta_distances", Variant(dist=found.dtype.name))
    given = {"distances": found, "keep": keep, "deepest": sums.depth}
    kernel((blocks, search.groups), THREADS, sums._asdict(), n=rows.rows, **given)
