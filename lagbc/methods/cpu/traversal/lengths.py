"""Betweenness with lengths on the CPU by Brandes' algorithm; see lagbc/native/kernels/traversal/dijkstra.h.

Within bounds neighbouring roots go together, where that is worth it; see `lagbc.methods.cpu.within`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError
from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu.traversal import sweep
from lagbc.methods.cpu.traversal.sweep import Levels, State
from lagbc.methods.cpu.within import block
from lagbc.methods.cpu.within.sums import Together, sum_blocks
from lagbc.methods.sums import PATH_SUMS
from lagbc.native import core, csr

Search = core.Search32 | core.Search64
Queue = core.Buckets32 | core.Buckets64 | core.Heap32 | core.Heap64

batching, blocks = sweep.batching, sweep.blocks
options = frozenset({"rtol", "members", "linear"})
forward, backward, sum_within = sweep.forward, sweep.backward, sweep.sum_within


def footprint(graph: Graph, plan: SweepPlan) -> int:
    """Bound the bytes of a worker: its trail and its sums, and the arrays of its search."""
    n, index = graph.n, graph.indices.dtype.itemsize
    buckets, _ = _choose_buckets(graph, plan)
    notes, number = _most_notes(graph, buckets), _note_type(graph.nnz).itemsize
    queue = number * (buckets + notes) if buckets else n * (8 + index)
    together = block.footprint(graph, plan) if block.takes(graph, plan) else 0
    return sweep.trail_bytes(graph, plan, notes) + n * (8 + index) + 8 * notes + queue + together


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Reorder the graph (once a graph) and allocate one worker's arrays."""
    ordered = graph.reordered
    buckets, per_length = _choose_buckets(graph, plan)
    notes = _most_notes(graph, buckets)
    search = new_search(ordered.indices.dtype, graph.n, notes)
    queue: Queue
    if buckets:
        queue = _new_buckets(_note_type(graph.nnz), buckets, notes, per_length)
    else:
        queue = new_heap(ordered.indices.dtype, graph.n)
    searched = csr(*ordered.csr), search, queue
    if block.takes(graph, plan):
        together = Together(*block.searched(graph), block.room(graph, plan), tuning.WITHIN_TOGETHER)
        return sweep.prepare(graph, plan, partial(sum_blocks, together, searched), (), notes)
    return sweep.prepare(graph, plan, core.sweep_lengths, searched, notes)


def new_search(
    index: np.dtype[Any],
    n: int,
    notes: int,
    dist: NDArray[np.float64] | None = None,
    places: NDArray[Any] | None = None,
) -> Search:
    """Allocate what a search of n vertices with at most so many notes knows, but what is given."""
    of_index = core.Search32 if index == np.int32 else core.Search64
    return of_index(
        dist=np.full(n, np.inf) if dist is None else dist,
        places=np.full(n, n, index) if places is None else places,
        through=np.empty(notes),
    )


def new_heap(index: np.dtype[Any], n: int) -> core.Heap32 | core.Heap64:
    """Allocate a heap for n vertices."""
    heap = core.Heap32 if index == np.int32 else core.Heap64
    return heap(keys=np.empty(n), vertices=np.empty(n, index))


def _new_buckets(number: np.dtype[Any], buckets: int, notes: int, per_length: float) -> core.Buckets32 | core.Buckets64:
    of_number = core.Buckets32 if number == np.uint32 else core.Buckets64
    last = np.full(buckets, np.iinfo(number).max, number)
    return of_number(last=last, before=np.empty(notes, number), per_length=per_length)


def paths(state: State, levels: Levels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return dist and sigma of the roots, as `sweep.paths`.

    Raises
    ------
    ValueError
        The plan asks for no sum over paths, so that they are not counted.
    """
    if not state.plan.sums & PATH_SUMS:
        raise InvalidValueError("sigma is not there: no sum that the plan asks for needs path counts")
    return sweep.paths(state, levels)


def _choose_buckets(graph: Graph, plan: SweepPlan) -> tuple[int, float]:
    """Return how many buckets there are, and one over their width; no bucket if the heap is taken.

    They are narrower than the shortest edge by more than rounding can move a distance from one to another.
    """
    if plan.rtol or not graph.nnz:
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

    With buckets, of an edge in both directions only the one from the nearer end can be: when the farther end is
    settled, the nearer one has its distance, or is in the same bucket, which no edge is as short as. By the heap, a
    length that rounding absorbs, or a tolerance, can make it both.
    """
    return sweep.one_way(graph) if buckets else graph.nnz


def _note_type(notes: int) -> np.dtype[Any]:
    """Type of the number of a note; its largest value is none."""
    return np.dtype(np.uint32 if notes < np.iinfo(np.uint32).max else np.uint64)
