"""Sums over the distances of searches from single roots, 256 at a time: `lagbc.methods.cpu.searches` on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.contract import StopFlag, SweepPlan
from lagbc.methods.cpu.searches import SUMS
from lagbc.methods.gpu.batched import hops
from lagbc.methods.gpu.common.arrays import scatter
from lagbc.methods.gpu.common.rows import GROUP_COLUMNS
from lagbc.methods.gpu.common.sums import column_arrays, sum_columns
from lagbc.methods.gpu.delta_stepping import lengths
from lagbc.methods.gpu.driver import State, forward

COLUMNS = GROUP_COLUMNS


def plan_of_distances(stop: StopFlag) -> SweepPlan:
    """Return the request of a search for distances alone."""
    return SweepPlan(batch=COLUMNS, sums=frozenset({"reached"}), stop=stop)


def arrays_of_distances(graph: Graph) -> dict[str, Any]:
    """State the arrays: of the search, and of the sums over its columns."""
    return {**_method_of(graph).arrays(graph, plan_of_distances(StopFlag())), "columns": column_arrays(graph, 1)}


def prepare_distances(graph: Graph, stop: StopFlag) -> State:
    """Upload the graph, and make the rows of a batch."""
    return _method_of(graph).prepare(graph, plan_of_distances(stop))


def sum_distances(state: State, roots: NDArray[np.int64], without: Sequence[NDArray[np.int64]]) -> NDArray[np.float64]:
    """Sum over the vertices in reach of up to 256 roots, as one cutoff of infinity does: shape (roots, 1, `SUMS`).

    Root i does not count the vertices ``without[i]``.
    """
    sums = np.zeros((len(roots), 1, SUMS))
    column = np.repeat(np.arange(len(roots)), [len(one) for one in without])
    row = state.rows.position[np.concatenate(without)]
    has_edges = row < state.rows.rows
    for levels in forward(state, roots):
        if len(levels.found.root_rows.position):
            dist, _ = state.module.paths(state.arrays, levels.found)
            scatter(dist, (np.zeros_like(row[has_edges]), row[has_edges], column[has_edges]), np.inf)
            sums[:, 0] = sum_columns(dist)[: len(roots)]
    state.plan.stop.check()
    return sums


def _method_of(graph: Graph) -> ModuleType:
    return lengths if graph.weighted else hops
