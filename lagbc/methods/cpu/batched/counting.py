"""Arrays of sweeps whose rows wait until they can be counted; lagbc/native/kernels/batched/counting.h says how."""

from __future__ import annotations

from typing import Any

import numpy as np

from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu.batched.sweep import COLUMNS, arrays_of_sweep, bytes_of_queue


def bytes_of_counting(graph: Graph, plan: SweepPlan, room: int) -> int:
    """Bytes of `arrays_of_counting`, but for the masks of tight edges."""
    n, index = graph.n, graph.indices.dtype.itemsize
    rows = 1 + ("stress" in plan.sums)  # values and paths
    words = (4 + (plan.members is not None)) * n  # omega, waiting, pushed, nearest; members
    into = 8 * (n + 1) + graph.nnz * (index + 8)  # in_starts, in_ends, in_masks
    return 8 * (words + rows * COLUMNS * n) + 2 * n * index + into + bytes_of_queue(graph, room)


def arrays_of_counting(graph: Graph, plan: SweepPlan, room: int) -> dict[str, Any]:
    """Allocate what such sweeps have; see `CountingSweep` in sweep.h. Values are there in any case."""
    n, nnz, index_type = graph.n, graph.nnz, graph.reordered.indices.dtype
    arrays = arrays_of_sweep(graph, plan, room)
    if arrays["values"] is None:
        arrays["values"] = np.empty((n, COLUMNS))
    return arrays | {
        "waiting": np.zeros(n, np.uint64),
        "pushed": np.zeros(n, np.uint64),
        "nearest": np.empty(n),
        "lists": np.empty((2, n), index_type),
        "tight_masks": np.empty(nnz, np.uint64),
        "in_starts": np.zeros(n + 1, np.int64),
        "in_ends": np.empty(nnz, index_type),
        "in_masks": np.empty(nnz, np.uint64),
    }
