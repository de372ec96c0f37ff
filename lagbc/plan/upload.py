"""Whether a matrix of the host is read on a GPU: where it is large, and its sweeps are likely to run there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lagbc.graph import tuning as graph_tuning
from lagbc.graph.plain import is_sparse
from lagbc.methods import table, tuning
from lagbc.plan import memory
from lagbc.plan.options import Options, Settings, settle


def is_read_on_device(A: Any, roots: Callable[[], int], *, weighted: bool, options: Options) -> bool:
    """Whether to check a matrix, and put it in order, on the GPU.

    It changes nothing but the time: the graph is the same, and which device sweeps it is decided by the graph.

    Parameters
    ----------
    A : object
        What the caller gave; nothing is checked yet.
    roots : callable
        Tells about how many there are.
    weighted : bool
    options : Options
        Not checked yet: what is wrong in them is said later.
    """
    try:
        if not is_sparse(A) or A.nnz <= graph_tuning.HOST_EDGES:
            return False
    except IndexError:  # of compressed rows without a pointer, which are refused when they are read
        return False
    try:
        settings = settle("auto", options)
    except (TypeError, ValueError):
        return False
    if settings.device == "cpu" or (settings.device == "auto" and roots() * A.nnz < tuning.GPU_WORK):
        return False
    return _may_run_there(settings, weighted) and _fits(A, settings, weighted)


def _may_run_there(settings: Settings, weighted: bool) -> bool:
    rows = [row for row in table.METHODS if row.weighted == weighted and settings.method in ("auto", row.name)]
    return any(row.device == "cuda" and row.available for row in rows)


def _fits(A: Any, settings: Settings, weighted: bool) -> bool:
    limit = memory.budget("cuda") if settings.memory is None else settings.memory
    return memory.graph_bytes(A.shape[0], 2 * A.nnz, weighted=weighted) <= limit
