"""Hops by levels: a row is counted as it is found; lagbc/native/kernels/batched/levels.h says how."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError
from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu.batched.sweep import (
    COLUMNS,
    Levels,
    add_distance_sums,
    add_path_sums,
    arrays_of_sweep,
    bytes_of_queue,
    bytes_of_sums,
    levels_of,
    room_of_hops,
    rows_of_roots,
)
from lagbc.methods.sums import PATH_SUMS, Sums
from lagbc.native import by_index, core, csr


@dataclass(eq=False)
class State:
    """One worker."""

    graph: Graph
    plan: SweepPlan
    sweep: core.LevelSweep32 | core.LevelSweep64


def footprint(graph: Graph, plan: SweepPlan) -> int:
    """Return the bytes of a worker: the arrays of its sweep, the queue as it is at first, and a batch's sums."""
    n = graph.n
    rows = bool(plan.sums & PATH_SUMS) + ("stress" in plan.sums)  # values and paths
    words = (6 + (plan.members is not None)) * n + 2  # omega, three of bits, visited, starts; members
    queue = bytes_of_queue(graph, room_of_hops(graph, plan))
    return 8 * (words + rows * COLUMNS * n) + queue + bytes_of_sums(graph, plan)


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Reorder the graph (once a graph) and allocate one worker's rows."""
    n, ordered = graph.n, graph.reordered
    kind: Any = by_index(ordered.indices.dtype, core.LevelSweep32, core.LevelSweep64)
    sweep = kind(
        **arrays_of_sweep(graph, plan, room_of_hops(graph, plan)),
        into=csr(*ordered.transpose.csr),
        bits=np.zeros((3, n), np.uint64),
        visited=np.zeros(n, np.uint64),
        starts=np.zeros(n + 2, np.int64),
        active=graph.active,
        pull_share=tuning.BATCHED_PULL_SHARE,
    )
    return State(graph, plan, sweep)


def forward(state: State, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Find the levels of up to 64 roots and count their shortest paths."""
    core.search_levels(state.sweep, rows_of_roots(state.graph, roots))
    state.plan.stop.check()
    yield levels_of(state.sweep, roots)


def paths(state: State, levels: Levels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return dist and sigma of the roots, shape (n, columns), rows being vertices in sweep order.

    dist is inf where a vertex is not reached, and sigma is 0. They are copies.

    Raises
    ------
    ValueError
        The plan asks for no sum over paths, so that they are not counted.
    """
    values = state.sweep.values
    if values is None:
        raise InvalidValueError("sigma is not there: no sum that the plan asks for needs path counts")
    dist = np.full((state.graph.n, len(levels.roots)), np.inf)
    core.level_distances(state.sweep, dist)
    return dist, np.where(np.isfinite(dist), values[:, : len(levels.roots)], 0)


def backward(state: State, levels: Levels, sums: Sums, omega: NDArray[np.float64] | None = None) -> None:
    """Add what the roots that did not overflow sum to, to the one row of `sums`."""
    if state.plan.sums & PATH_SUMS:
        add_path_sums(core.sum_levels, state.sweep, state.graph, state.plan, levels.roots, sums, omega)
    if state.plan.sums - PATH_SUMS:
        add_distance_sums(core.sum_level_distances, state.sweep, sums)
