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
from lagbc.methods.contract import Batching, SweepPlan
from lagbc.methods.cpu.batched import sweep as sweeps
from lagbc.methods.cpu.batched.sweep import COLUMNS, Levels
from lagbc.methods.sums import PATH_SUMS
from lagbc.native import core, csr

batching = Batching(block=COLUMNS, widest=COLUMNS, auto=COLUMNS, concurrent=True)
options = frozenset({"class_sizes", "linear"})
forward, backward = sweeps.forward, sweeps.backward


def _make_level_sweep(graph: Graph, plan: SweepPlan) -> Any:
    room, into = sweeps.room_of_hops(graph, plan), csr(*graph.reordered.transpose.csr)
    return sweeps.make("LevelSweep", graph, plan, room, into, graph.active, tuning.BATCHED_PULL_SHARE)


def _make_waiting_sweep(graph: Graph, plan: SweepPlan) -> Any:
    return sweeps.make("WaitingSweep", graph, plan, sweeps.room_of_hops(graph, plan), tuning.BATCHED_COUNT_WIDTH)


class Schedule(NamedTuple):
    """An order in which rows are counted: the class of its sweeps, and how one is made."""

    kind: str
    make: Callable[[Graph, SweepPlan], Any]

    def arrays(self, graph: Graph, plan: SweepPlan) -> dict[str, Any]:
        """State the bytes of a worker."""
        return sweeps.state_bytes(self.kind, graph, plan, sweeps.room_of_hops(graph, plan))


LEVEL_ORDER = Schedule("LevelSweep", _make_level_sweep)
READY_ORDER = Schedule("WaitingSweep", _make_waiting_sweep)


@dataclass(slots=True, eq=False)
class State:
    """One worker."""

    graph: Graph
    plan: SweepPlan
    sweep: core.LevelSweep32 | core.LevelSweep64 | core.WaitingSweep32 | core.WaitingSweep64


def schedule_of(graph: Graph, plan: SweepPlan) -> Schedule:
    """Choose the schedule of a graph; no row waits where paths are not counted, or sums are linear."""
    return READY_ORDER if graph.has_high_diameter and plan.sums & PATH_SUMS and not plan.linear else LEVEL_ORDER


def arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """State the bytes of a worker."""
    return schedule_of(graph, plan).arrays(graph, plan)


def prepare(graph: Graph, plan: SweepPlan, schedule: Schedule | None = None) -> State:
    """Reorder the graph (once a graph) and make one worker's rows."""
    return State(graph, plan, (schedule or schedule_of(graph, plan)).make(graph, plan))


def paths(state: State, levels: Levels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return copies of dist and sigma, by the contract of `ReadsPaths`."""
    state.plan.require_path_counts()
    dist = np.full((state.graph.n, len(levels.roots)), np.inf)
    state.sweep.write_levels(dist)
    return dist, np.where(np.isfinite(dist), state.sweep.array("values")[:, : len(levels.roots)], 0)
