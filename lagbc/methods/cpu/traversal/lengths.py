"""Betweenness with lengths on the CPU by Brandes' algorithm; see lagbc/native/kernels/traversal/dijkstra.h.

Within bounds neighbouring roots go together, where that is worth it; see `lagbc.methods.cpu.within`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.arrays import FLOAT, HALF_WORD, Array
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu import within
from lagbc.methods.cpu.traversal import sweep
from lagbc.methods.cpu.traversal.sweep import Levels, State
from lagbc.native import core, csr, record

Search = core.Search32 | core.Search64
Queue = core.Buckets | core.Heap32 | core.Heap64

batching, blocks = sweep.batching, sweep.blocks
options = frozenset({"rtol", "class_sizes", "linear", "demand"})
_NO_NOTE = np.iinfo(HALF_WORD).max
forward, backward, touched, sum_within = sweep.forward, sweep.backward, sweep.touched, sweep.sum_within


def arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """State a worker's arrays: of its search and queue, of the trail, and of the sums."""
    index = graph.indices.dtype
    buckets, _ = _choose_buckets(graph, plan)
    notes = _most_notes(graph, buckets)
    return {
        "search": search_arrays(index, graph.n, notes),
        "queue": _bucket_arrays(buckets, notes) if buckets else heap_arrays(index, graph.n),
        "ball": within.arrays(graph, plan) if within.sums_in_blocks(graph, plan) else None,
        **sweep.arrays_of_state(graph, plan, notes),
    }


def prepare(graph: Graph, plan: SweepPlan, arrays: dict[str, Any]) -> State:
    """Reorder the graph (once a graph) and make one worker's state."""
    index, ball = graph.indices.dtype, arrays["ball"]
    buckets, per_length = _choose_buckets(graph, plan)
    of_queue = arrays["queue"]
    queue: Queue = core.Buckets(**of_queue, per_length=per_length) if buckets else record("Heap", index, **of_queue)
    out = csr(*graph.reordered.csr)
    searched = out, record("Search", index, **arrays["search"]), queue
    if ball is None:
        return sweep.prepare(graph, plan, core.sweep_lengths, searched, arrays)
    into = csr(*graph.reordered.transpose.csr)
    together = within.Together(out, into, within.new_ball(graph, plan, ball), tuning.WITHIN_TOGETHER)
    return sweep.prepare(graph, plan, partial(within.sum_blocks, together, searched), (), arrays)


def search_arrays(index: np.dtype[Any], n: int, notes: int) -> dict[str, Array]:
    """State the arrays of a search of n vertices with up to `notes` notes."""
    return {
        "dist": Array((n,), FLOAT, np.inf),
        "places": Array((n,), index, n),
        "through": Array((notes,), FLOAT),
    }


def heap_arrays(index: np.dtype[Any], n: int) -> dict[str, Array]:
    """State the arrays of a heap for n vertices."""
    return {"keys": Array((n,), FLOAT), "vertices": Array((n,), index)}


def _bucket_arrays(buckets: int, notes: int) -> dict[str, Array]:
    """State buckets of notes; the largest number stands for none."""
    return {"last": Array((buckets,), HALF_WORD, _NO_NOTE), "before": Array((notes,), HALF_WORD)}


def paths(state: State, levels: Levels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return copies of dist and sigma, as `sweep.paths`; ValueError if the plan needs no path counts."""
    state.plan.require_path_counts()
    return sweep.paths(state, levels)


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


def _most_notes(graph: Graph, buckets: int) -> int:
    """Bound the notes of a root.

    With buckets, an edge in both directions can be noted only from its nearer end: when the farther end is settled, the
    nearer one has its distance, or is in the same bucket, narrower than any edge. With the heap, a length that rounding
    absorbs, or a tolerance, can note both.
    """
    return sweep.most_tight_edges(graph) if buckets else graph.nnz
