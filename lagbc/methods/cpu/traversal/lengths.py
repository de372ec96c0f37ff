"""Betweenness with lengths on the CPU by Brandes' algorithm; see lagbc/native/kernels/traversal/dijkstra.h.

Within bounds neighbouring roots go together, where that is worth it; see `lagbc.methods.cpu.within`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.arrays import HALF_WORD, counted
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu import within
from lagbc.methods.cpu.traversal import sweep
from lagbc.methods.cpu.traversal.sweep import Levels, Size, State

batching, blocks = sweep.batching, sweep.blocks
options = frozenset({"rtol", "class_sizes", "linear", "demand"})
_NO_NOTE = np.iinfo(HALF_WORD).max
forward, backward, touched, sum_within = sweep.forward, sweep.backward, sweep.touched, sweep.sum_within


def arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """State the bytes of a worker, and of its room for neighbouring roots."""
    size, _ = size_of(graph, plan)
    ball = within.bytes_of_ball(graph, plan) if within.sums_in_blocks(graph, plan) else 0
    return {"sweep": counted(sweep.bytes_of_worker(graph, plan, size)), "ball": counted(ball)}


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Reorder the graph (once a graph) and make one worker."""
    state = sweep.prepare(graph, plan, *size_of(graph, plan))
    if within.sums_in_blocks(graph, plan):
        state.ball = within.new_ball(graph, plan, state.sweep, tuning.WITHIN_TOGETHER)
    return state


def paths(state: State, levels: Levels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return copies of dist and sigma, as `sweep.paths`; ValueError if the plan needs no path counts."""
    state.plan.require_path_counts()
    return sweep.paths(state, levels)


def size_of(graph: Graph, plan: SweepPlan) -> tuple[Size, float]:
    """Return the sizes of a worker, and one over the width of its buckets.

    With buckets, an edge in both directions can be noted only from its nearer end: when the farther end is settled, the
    nearer one has its distance, or is in the same bucket, narrower than any edge. With the heap, a length that rounding
    absorbs, or a tolerance, can note both.
    """
    buckets, per_length = _choose_buckets(graph, plan)
    notes = sweep.most_tight_edges(graph) if buckets else graph.nnz
    return sweep.size_of(graph, plan, notes, buckets), per_length


def _choose_buckets(graph: Graph, plan: SweepPlan) -> tuple[int, float]:
    """Return the count of buckets, and one over their width; no bucket if the heap is taken.

    They are narrower than the shortest edge by more than rounding can move a distance from one to another. Notes have
    32-bit numbers there.
    """
    if plan.rtol or not 0 < graph.nnz < _NO_NOTE:
        return 0, 0.0
    assert graph.weights is not None
    with np.errstate(over="ignore", invalid="ignore"):
        per_length = (1 + 1 / 256) / graph.weights.min()
        ahead = graph.longest * per_length
    if not ahead <= tuning.TRAVERSAL_BUCKETS:
        return 0, 0.0
    return 1 << int(ahead + 2).bit_length(), float(per_length)
