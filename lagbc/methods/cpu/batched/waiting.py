"""Hops where the diameter is high: rows wait until they can be counted in most of their columns at once.

All levels are found first, in bits alone: an edge costs a word, however many columns are live.

    levels    F<!visited, replace> = A^T any.pair F
    tight     T[v, w] = the columns in which v is on the frontier of a level and w on that of the next

Along T paths are counted and dependencies summed as `lagbc.methods.cpu.batched.counting` says. Bits are pushed at all
levels, as frontiers are small. Where sums of distances are asked for, too, the levels are kept in a queue of their own.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,var-annotated"

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu.batched.counting import (
    Counting,
    add_path_sums,
    arrays_of_counting,
    bytes_of_counting,
    count_paths,
)
from lagbc.methods.cpu.batched.distances import add_level_sums
from lagbc.methods.cpu.batched.queue import Levels, require_wider, room_of_hops, widened
from lagbc.methods.cpu.batched.rows import COLUMNS
from lagbc.methods.cpu.batched.sums import bytes_of_sums, rows_of_roots, weights_of_columns
from lagbc.methods.cpu.batched.tight import TightEdges
from lagbc.methods.cpu.in_order import add_in_order
from lagbc.methods.sums import PATH_SUMS, Sums


@dataclass(eq=False)
class State(Counting):
    """One worker's arrays; rows are vertices in sweep order.

    Attributes
    ----------
    frontier : ndarray of uint64, shape (2, n)
        Bit rows of the frontiers of a level and of the next. Zeros, but while levels are found.
    level_queue, level_masks : ndarrays of int and of uint64, or None
        The entries of all levels, if distances are summed.
    level_starts : ndarray of int64, shape (n + 2,), or None
        Entries of level l are level_starts[l]:level_starts[l + 1].
    """

    frontier: NDArray[np.uint64]
    level_queue: NDArray[Any] | None
    level_masks: NDArray[np.uint64] | None
    level_starts: NDArray[np.int64] | None


def footprint(graph: Graph, plan: SweepPlan) -> int:
    """Return the bytes of a worker: the arrays of its `State`, the queues as they are at first, and a batch's sums."""
    n, index, room = graph.n, graph.indices.dtype.itemsize, room_of_hops(graph, plan)
    levels = (room * (index + 8) + 8 * (n + 2)) * bool(plan.sums - PATH_SUMS)
    words = graph.nnz + 2 * n  # masks of out, frontier
    return bytes_of_counting(graph, plan, room) + 8 * words + levels + bytes_of_sums(graph, plan)


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Reorder the graph (once a graph) and allocate one worker's rows."""
    n, ordered, keeps, room = graph.n, graph.reordered, bool(plan.sums - PATH_SUMS), room_of_hops(graph, plan)
    return State(
        **arrays_of_counting(graph, plan, room),
        count_width=tuning.BATCHED_COUNT_WIDTH,
        out=TightEdges(ordered.indptr, ordered.indices, np.empty(graph.nnz, np.uint64)),
        frontier=np.zeros((2, n), np.uint64),
        level_queue=np.empty(room, ordered.indices.dtype) if keeps else None,
        level_masks=np.empty(room, np.uint64) if keeps else None,
        level_starts=np.zeros(n + 2, np.int64) if keeps else None,
    )


def forward(state: State, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Find the levels of up to 64 roots, the tight edges, and an order to count shortest paths in; count them."""
    positions = rows_of_roots(state.graph, roots)
    depth = _find_levels(state, positions)
    _, entries, overflowed = count_paths(state, positions)
    yield Levels(roots=roots, entries=entries, depth=depth, beyond=overflowed)


def _find_levels(state: State, positions: NDArray[np.int64]) -> int:
    """Find all levels, widening their queue where it is full; return the deepest."""
    graph, stop = state.graph.reordered, state.plan.stop
    state.bits.fill(0)
    state.out.masks.fill(0)
    level: int = 0
    count = _begin(positions, state.bits[0], state.frontier[0], state.nearest, state.lists[0])
    while True:
        level, count, needed = _search(
            graph.indptr,
            graph.indices,
            state.bits[0],
            state.frontier,
            state.nearest,
            state.lists,
            state.out.masks,
            state.level_queue,
            state.level_masks,
            state.level_starts,
            level,
            count,
            stop.value,
        )
        stop.check()
        if not needed:
            return level
        assert state.level_queue is not None
        assert state.level_masks is not None
        require_wider(state.level_queue, needed, state.graph.n, state.plan, room_of_hops(state.graph, state.plan))
        state.level_queue = widened(state.level_queue, needed, state.graph.n)
        state.level_masks = widened(state.level_masks, needed, state.graph.n)


def paths(state: State, levels: Levels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return dist and sigma of the roots; see `lagbc.methods.cpu.batched.hops`."""
    dist = np.full((state.graph.n, COLUMNS), np.inf)
    out = state.out
    _measure(out.starts, out.ends, out.masks, levels.searched, levels.entries, state.queue, state.masks, dist)
    dist = dist[:, : len(levels.roots)]
    return dist, np.where(np.isfinite(dist), state.values[:, : len(levels.roots)], 0)


def backward(state: State, levels: Levels, sums: Sums, omega: NDArray[np.float64] | None = None) -> None:
    """Add what the roots that did not overflow sum to, to the one row of `sums`."""
    edges = add_path_sums(state, levels, sums, *weights_of_columns(state.plan, levels.roots, state.omega, omega))
    if edges is not None:  # the order is made on its first use
        add_in_order(sums.edges[0], edges, state.graph.edge_order)
    if state.level_queue is not None:
        assert state.level_masks is not None
        assert state.level_starts is not None
        add_level_sums(state.graph, state.level_queue, state.level_masks, state.level_starts, levels, sums)


@njit
def _begin(positions, visited, frontier, nearest, rows):
    """Put the roots on the frontier; those at -1 are absent. Return how many there are."""
    count = 0
    for k in range(len(positions)):
        v = positions[k]
        if v >= 0:
            visited[v] = frontier[v] = uint64(1) << uint64(k)
            nearest[v] = 0.0
            rows[count] = v
            count += 1
    return count


@njit
def _search(
    indptr,
    indices,
    visited,
    frontier,
    nearest,
    lists,
    tight,
    level_queue,
    level_masks,
    level_starts,
    level,
    count,
    stop,
):
    """Run levels until the frontier is empty, or the queue of levels may have no room for the next.

    Invariant at the top of the loop: lists[level % 2] holds the `count` rows of the frontier, and frontier[level % 2]
    their bits, which are visited; frontier[(level + 1) % 2] is zero. An edge is tight in the columns in which its tail
    is on the frontier and its head is not visited yet. Return the deepest level, `count`, and how many entries there
    has to be room for to go on from there; 0 where nothing is left to do.
    """
    while not stop[0]:
        rows, following = lists[level % 2], lists[(level + 1) % 2]
        here, after = frontier[level % 2], frontier[(level + 1) % 2]
        if level_queue is not None:
            first = level_starts[level]
            if first + count > len(level_queue):
                return level, count, first + count
            for i in range(count):
                level_queue[first + i], level_masks[first + i] = rows[i], here[rows[i]]
            level_starts[level + 1] = first + count
        found = 0
        for i in range(count):
            v = rows[i]
            mask = here[v]
            here[v] = uint64(0)
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                new = mask & ~visited[w]
                if new != uint64(0):
                    if after[w] == uint64(0):
                        following[found] = w
                        found += 1
                    after[w] |= new
                    tight[e] |= new
        for i in range(found):
            w = following[i]
            if visited[w] == uint64(0):
                nearest[w] = level + 1
            visited[w] |= after[w]
        if found == 0:
            break
        level, count = level + 1, found
    return level, count, 0


@njit
def _measure(starts, heads, edge_masks, roots, entries, queue, masks, dist):
    """Write the distances that the sets of tight edges tell: a head is one farther than a tail."""
    for i in range(entries):
        v = queue[i]
        for k in range(COLUMNS):
            if masks[i] >> uint64(k) & uint64(1) != uint64(0):
                if i < roots:
                    dist[v, k] = 0.0
                for e in range(starts[v], starts[v + 1]):
                    if edge_masks[e] >> uint64(k) & uint64(1) != uint64(0):
                        dist[heads[e], k] = dist[v, k] + 1.0
