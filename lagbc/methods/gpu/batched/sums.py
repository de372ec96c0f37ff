"""Sums that both ways of sweeping hops make alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from lagbc.cuda.compiler import THREADS
from lagbc.cuda.host import pointer
from lagbc.methods.gpu.batched.kernels import SUMS
from lagbc.methods.gpu.common.rows import GROUP_COLUMNS, Placed, Rows
from lagbc.methods.gpu.common.sums import Edges
from lagbc.methods.gpu.common.sweep import Weights


def add_root_edges(rows: Rows, placed: Placed, weights: Weights, values: Any, edges: Edges) -> None:
    """Add what the edges sum to that leave a root, if edges are asked for."""
    if edges.sums is None or not len(placed.position):
        return
    arguments = (
        *(
            np.int32(rows.rows),
            placed.position,
            placed.group * GROUP_COLUMNS + placed.column,
            rows.indptr,
            rows.indices,
        ),
        *(weights.keep, pointer(weights.multiplicity), values, *edges.arguments),
    )
    kernel = SUMS.load(rows.plan.dtype).get_function("root_edges")
    kernel((len(placed.position),), (THREADS,), arguments)
