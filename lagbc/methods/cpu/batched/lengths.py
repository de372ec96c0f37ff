"""Betweenness with lengths by products on rows of 64 columns, described in lagbc/native/kernels/batched/lengths.h."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.contract import Batching, SweepPlan
from lagbc.methods.cpu.batched import sweep as sweeps
from lagbc.methods.cpu.batched.sweep import COLUMNS, Levels
from lagbc.methods.sums import PATH_SUMS
from lagbc.native import core

batching = Batching(block=COLUMNS, widest=COLUMNS, auto=COLUMNS, concurrent=True)
options = frozenset({"rtol", "bucket_width", "class_sizes"})
forward, backward = sweeps.forward, sweeps.backward
# Distances of 16 bits, and the number that stands for infinity among them.
_SHORT = np.dtype(np.uint16)
_MOST = np.iinfo(_SHORT).max


@dataclass(slots=True, eq=False)
class State:
    """One worker."""

    graph: Graph
    plan: SweepPlan
    sweep: core.LengthSweep32 | core.LengthSweep64

    @property
    def dist(self) -> NDArray[Any]:
        """The distances of the last search, of float64 or uint16, shape (n, 64), until counts take their place."""
        sweep = self.sweep
        return sweep.array("short_distances" if sweep.is_short else "values" if sweep.counts_in_place else "distances")


def arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """State the bytes of a worker."""
    room, is_short = sweeps.room_of_lengths(graph, plan), _are_short(graph, plan)
    return sweeps.state_bytes("LengthSweep", graph, plan, room, is_short=is_short)


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Reorder the graph (once a graph) and make one worker's rows."""
    mean, is_short = graph.mean_length, _are_short(graph, plan)  # an infinite width is one, too
    width = tuning.BATCHED_WIDTH * mean if plan.bucket_width is None else plan.bucket_width
    own = tuning.BATCHED_COUNT_WIDTH * mean, width, plan.rtol, graph.longest if is_short else 0.0
    room = sweeps.room_of_lengths(graph, plan)
    return State(graph, plan, sweeps.make("LengthSweep", graph, plan, room, *own, is_short=is_short))


def _are_short(graph: Graph, plan: SweepPlan) -> bool:
    """Whether to begin with distances of uint16: whole lengths, and a small diameter by a guess from its hops."""
    if not graph.weighted or not graph.nnz or plan.rtol or plan.sums - PATH_SUMS:
        return False
    return graph.longest + 2 * graph.mean_length * graph.depth < _MOST and graph.has_whole_lengths


def paths(state: State, levels: Levels) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return dist and sigma by `ReadsPaths`: distances under path counts anew, short ones as float32."""
    state.plan.require_path_counts()
    sweep, columns = state.sweep, len(levels.roots)
    dist, sigma = state.dist, sweep.array("values")
    if sweep.counts_in_place and not sweep.is_short:
        dist = np.empty_like(sigma)
        sweep.write_distances(levels.roots, dist)
        state.plan.stop.check()
    dist, sigma = dist[:, :columns], sigma[:, :columns]
    if dist.dtype == _SHORT:
        dist = np.where(dist == _MOST, np.float32(np.inf), dist.astype(np.float32))
    core.clear_unreached(dist, sigma)
    return dist, sigma
