"""Sums that both ways of sweeping hops make alike; kernels/batched_hops_sums.cu."""

from __future__ import annotations

from typing import Any

import numpy as np

from lagbc.cuda import compiler
from lagbc.cuda.host import pointer
from lagbc.methods.gpu.common.rows import COLUMNS, THREADS, Placed, Rows
from lagbc.methods.gpu.common.sums import Edges

SOURCE = "batched_hops_sums"


def add_root_edges(rows: Rows, placed: Placed, keep: Any, multiplicity: Any, values: Any, edges: Edges) -> None:
    """Add what the edges sum to that leave a root."""
    if not len(placed.position):
        return
    arguments = (
        *(np.int32(rows.rows), placed.position, placed.group * COLUMNS + placed.column, rows.indptr, rows.indices),
        *(keep, pointer(multiplicity), values, *edges.arguments),
    )
    kernel = compiler.load(SOURCE, rows.plan.dtype).get_function("batched_hops_root_edges")
    kernel((len(placed.position),), (THREADS,), arguments)
