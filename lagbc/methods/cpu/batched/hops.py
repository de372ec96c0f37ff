"""Unweighted betweenness on the CPU by masked sparse matrix products on bit rows.

64 roots are the 64 columns of one batch. Every vertex has a row of 64 numbers (its path counts sigma, later its path
dependencies c, in the same place) and words of 64 bits, a bit for each column where it is on the frontier, or visited.
One edge costs a word to inspect; a row of numbers is read only where bits meet. That is a masked product whose mask is
tested before any number is loaded.

There are two schedules. In level order a row is counted as it is found, once for each level at which it is live in
some column: 2 to 5 times on graphs of low diameter. In ready order all levels are found in bits first, and a row waits
until it can be counted in most of its columns at once: where the diameter is high, and the roots of a batch are
neighbours, 1 to 2 times in place of 6 to 35. `Graph.has_high_diameter` chooses. lagbc/native/kernels/batched/levels.h
and waiting.h describe the kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.arrays import INTEGER, WORD, Array, stated_once
from lagbc.methods.contract import Batching, SweepPlan
from lagbc.methods.cpu.batched import sweep as sweeps
from lagbc.methods.cpu.batched.sweep import COLUMNS, Levels
from lagbc.methods.sums import PATH_SUMS
from lagbc.native import core, csr, record

batching = Batching(block=COLUMNS, widest=COLUMNS, auto=COLUMNS, concurrent=True)
options = frozenset({"class_sizes", "linear"})
forward, backward = sweeps.forward, sweeps.backward


def _arrays_in_level_order(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    n, arrays = graph.n, sweeps.arrays_of_sweep(graph, plan, sweeps.room_of_hops(graph, plan))
    arrays["sweep"] |= {
        "bits": Array((3, n), WORD, 0),
        "visited": Array((n,), WORD, 0),
        "starts": Array((n + 2,), INTEGER, 0),
    }
    return arrays


def _sweep_in_level_order(graph: Graph, plan: SweepPlan, arrays: dict[str, Any]) -> Any:
    fields, reverse = sweeps.fields_of_sweep(graph, plan, arrays), graph.reordered.transpose
    return record(
        "LevelSweep",
        graph.indices.dtype,
        **fields,
        into=fields["out"] if reverse is graph.reordered else csr(*reverse.csr),
        active=graph.active,
        pull_share=tuning.BATCHED_PULL_SHARE,
    )


def _arrays_in_ready_order(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    n, room = graph.n, sweeps.room_of_hops(graph, plan)
    arrays = sweeps.arrays_of_counting(graph, plan, room)
    arrays["sweep"]["frontier"] = Array((2, n), WORD, 0)
    if plan.sums - PATH_SUMS:
        arrays["sweep"]["level_starts"] = Array((n + 2,), INTEGER, 0)
    return arrays | {"levels": sweeps.queue_arrays(graph, room) if plan.sums - PATH_SUMS else None}


def _sweep_in_ready_order(graph: Graph, plan: SweepPlan, arrays: dict[str, Any]) -> Any:
    levels = arrays["levels"]
    return record(
        "WaitingSweep",
        graph.indices.dtype,
        **sweeps.fields_of_sweep(graph, plan, arrays),
        count_width=tuning.BATCHED_COUNT_WIDTH,
        levels=None if levels is None else sweeps.queue_of(graph, plan, levels),
    )


class Schedule(NamedTuple):
    """An order in which rows are counted: the arrays and the record of a sweep, by which kernels know it."""

    arrays: Callable[[Graph, SweepPlan], dict[str, Any]]
    sweep: Callable[[Graph, SweepPlan, dict[str, Any]], Any]


LEVEL_ORDER = Schedule(_arrays_in_level_order, _sweep_in_level_order)
READY_ORDER = Schedule(_arrays_in_ready_order, _sweep_in_ready_order)


@dataclass(slots=True, eq=False)
class State:
    """One worker."""

    graph: Graph
    plan: SweepPlan
    sweep: Any  # the kernels' record


def schedule_of(graph: Graph, plan: SweepPlan) -> Schedule:
    """Choose the schedule of a graph; no row waits where paths are not counted, or sums are linear."""
    return READY_ORDER if graph.has_high_diameter and plan.sums & PATH_SUMS and not plan.linear else LEVEL_ORDER


@stated_once
def arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """State a worker's arrays, with the queues in their first size."""
    return schedule_of(graph, plan).arrays(graph, plan)


def prepare(graph: Graph, plan: SweepPlan, arrays: dict[str, Any], schedule: Schedule | None = None) -> State:
    """Reorder the graph (once a graph) and make one worker's rows."""
    return State(graph, plan, (schedule or schedule_of(graph, plan)).sweep(graph, plan, arrays))


def paths(state: State, levels: Levels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return copies of dist and sigma, by the contract of `ReadsPaths`."""
    state.plan.require_path_counts()
    dist = np.full((state.graph.n, len(levels.roots)), np.inf)
    core.write_levels(state.sweep, dist)
    return dist, np.where(np.isfinite(dist), state.sweep.values[:, : len(levels.roots)], 0)
