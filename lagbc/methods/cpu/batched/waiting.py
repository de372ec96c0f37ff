"""Hops where the diameter is high: rows wait; lagbc/native/kernels/batched/waiting.h says how."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu.batched.counting import arrays_of_counting, bytes_of_counting
from lagbc.methods.cpu.batched.sweep import (
    Levels,
    add_distance_sums,
    add_path_sums,
    bytes_of_queue,
    bytes_of_sums,
    levels_of,
    queue_of,
    room_of_hops,
    rows_of_roots,
)
from lagbc.methods.sums import PATH_SUMS, Sums
from lagbc.native import by_index, core


@dataclass(eq=False)
class State:
    """One worker."""

    graph: Graph
    plan: SweepPlan
    sweep: core.WaitingSweep32 | core.WaitingSweep64


def footprint(graph: Graph, plan: SweepPlan) -> int:
    """Return the bytes of a worker: the arrays of its sweep, the queues as they are at first, and a batch's sums."""
    room = room_of_hops(graph, plan)
    levels = (bytes_of_queue(graph, room) + 8 * (graph.n + 2)) * bool(plan.sums - PATH_SUMS)
    words = graph.nnz + 2 * graph.n  # tight_masks, frontier
    return bytes_of_counting(graph, plan, room) + 8 * words + levels + bytes_of_sums(graph, plan)


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Reorder the graph (once a graph) and allocate one worker's rows."""
    n, keeps, room = graph.n, bool(plan.sums - PATH_SUMS), room_of_hops(graph, plan)
    kind: Any = by_index(graph.reordered.indices.dtype, core.WaitingSweep32, core.WaitingSweep64)
    sweep = kind(
        **arrays_of_counting(graph, plan, room),
        count_width=tuning.BATCHED_COUNT_WIDTH,
        frontier=np.zeros((2, n), np.uint64),
        levels=queue_of(graph, plan, room) if keeps else None,
        level_starts=np.zeros(n + 2, np.int64) if keeps else None,
    )
    return State(graph, plan, sweep)


def forward(state: State, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Find the levels of up to 64 roots, the tight edges, and an order to count shortest paths in; count them."""
    core.search_waiting(state.sweep, rows_of_roots(state.graph, roots))
    state.plan.stop.check()
    yield levels_of(state.sweep, roots)


def paths(state: State, levels: Levels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return dist and sigma of the roots; see `lagbc.methods.cpu.batched.hops`."""
    dist = np.full((state.graph.n, len(levels.roots)), np.inf)
    core.waiting_distances(state.sweep, dist)
    values: Any = state.sweep.values
    return dist, np.where(np.isfinite(dist), values[:, : len(levels.roots)], 0)


def backward(state: State, levels: Levels, sums: Sums, omega: NDArray[np.float64] | None = None) -> None:
    """Add what the roots that did not overflow sum to, to the one row of `sums`."""
    add_path_sums(core.sum_waiting, state.sweep, state.graph, state.plan, levels.roots, sums, omega)
    if state.plan.sums - PATH_SUMS:
        add_distance_sums(core.sum_waiting_distances, state.sweep, sums)
