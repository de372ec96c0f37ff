"""Sums that both schedules of hops share."""

from __future__ import annotations

from typing import Any

from lagbc.cuda.compiler import THREADS
from lagbc.methods.gpu.batched.kernels import SUMS
from lagbc.methods.gpu.common.kernels import Variant
from lagbc.methods.gpu.common.rows import RootRows, Rows
from lagbc.methods.gpu.common.sums import Edges
from lagbc.methods.gpu.driver import Weights


def add_root_edges(rows: Rows, root_rows: RootRows, weights: Weights, values: Any, edges: Edges) -> None:
    """Add the sums of the edges that leave a root, if edges are asked for."""
    if edges.sums is None or not len(root_rows.position):
        return
    known = rows.arguments, root_rows.arguments, weights.arguments, edges.arguments
    SUMS.kernel("root_edges", Variant(rows.plan.dtype))((len(root_rows.position),), THREADS, *known, values=values)
