"""Betweenness with lengths by products on rows of 64 columns, described in lagbc/native/kernels/batched/lengths.h."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.arrays import FLOAT, INTEGER, Array, stated_once
from lagbc.methods.contract import Batching, SweepPlan
from lagbc.methods.cpu.batched import sweep as sweeps
from lagbc.methods.cpu.batched.sweep import COLUMNS, Levels
from lagbc.methods.sums import PATH_SUMS
from lagbc.native import core, record

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
        short = self.sweep.short_distances
        return short if short is not None and self.sweep.is_short else self.sweep.distances


@stated_once
def arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """State a worker's arrays, with the queue in its first size."""
    n, index = graph.n, graph.indices.dtype
    stated = sweeps.arrays_of_counting(graph, plan, sweeps.room_of_lengths(graph, plan))
    stated["sweep"] |= {
        # Of their own only where path counts do not take their place.
        "distances": Array((n, COLUMNS), FLOAT) if _needs_both(plan) else None,
        "short_distances": Array((n, COLUMNS), _SHORT) if _are_short(graph, plan) else None,
        "tight_starts": Array((n + 1,), INTEGER, 0),
        "tight_ends": Array((graph.nnz,), index),
    }
    return stated


def prepare(graph: Graph, plan: SweepPlan, arrays: dict[str, Any]) -> State:
    """Reorder the graph (once a graph) and make one worker's rows."""
    mean = graph.mean_length  # an infinite width is one, too
    is_short = _are_short(graph, plan)
    fields = sweeps.fields_of_sweep(graph, plan, arrays)
    if fields["distances"] is None:
        fields["distances"] = fields["values"]
    sweep = record(
        "LengthSweep",
        graph.indices.dtype,
        **fields,
        count_width=tuning.BATCHED_COUNT_WIDTH * mean,
        width=tuning.BATCHED_WIDTH * mean if plan.bucket_width is None else plan.bucket_width,
        rtol=plan.rtol,
        longest=graph.longest if is_short else 0.0,
        counts=bool(plan.sums & PATH_SUMS),
        is_short=is_short,
    )
    return State(graph, plan, sweep)


def _needs_both(plan: SweepPlan) -> bool:
    """Whether distances are still read when paths have been counted."""
    return bool(plan.sums & PATH_SUMS and plan.sums - PATH_SUMS)


def _are_short(graph: Graph, plan: SweepPlan) -> bool:
    """Whether to begin with distances of uint16: whole lengths, and a small diameter by a guess from its hops."""
    if not graph.weighted or not graph.nnz or plan.rtol or plan.sums - PATH_SUMS:
        return False
    return graph.longest + 2 * graph.mean_length * graph.depth < _MOST and graph.has_whole_lengths


def paths(state: State, levels: Levels) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return dist and sigma by `ReadsPaths`: distances under path counts anew, short ones as float32."""
    state.plan.require_path_counts()
    dist, sigma, columns = state.dist, state.sweep.values, len(levels.roots)
    assert sigma is not None
    if dist is sigma:
        dist = np.empty_like(sigma)
        core.length_distances(state.sweep, sweeps.rows_of_roots(state.graph, levels.roots), dist)
        state.plan.stop.check()
    dist, sigma = dist[:, :columns], sigma[:, :columns]
    if dist.dtype == _SHORT:
        dist = np.where(dist == _MOST, np.float32(np.inf), dist.astype(np.float32))
    core.clear_unreached(dist, sigma)
    return dist, sigma
