"""Delta-stepping from 64 roots at once, and sums over distances, with lengths and by levels."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,var-annotated"

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.graph.graph import Graph
from lagbc.methods.cpu.batched.queue import Levels
from lagbc.methods.cpu.batched.rows import (
    COLUMNS,
    count_bits,
    finite_in_row,
    minimum_of_row,
    positive_in_row,
    raise_row,
    relax_row,
    store_row,
    sum_inverse_row,
    sum_row,
    zero_row,
)
from lagbc.methods.cpu.batched.sums import DistanceSums
from lagbc.methods.sums import Sums


@njit
def find_distances(indptr, indices, lengths, roots, width, dist, fresh, nearest, now, later, stop):
    """Relax edges until dist[w] <= dist[v] + length for every edge v -> w.

    Invariant: `now` and `later` together hold the rows with fresh columns, each once; edges out of the others hold.
    """
    count = 0
    for k in range(len(roots)):
        if roots[k] >= 0:
            dist[roots[k], k] = 0.0
            fresh[roots[k]] = uint64(1) << uint64(k)
            now[count] = roots[k]
            count += 1
    while count and not stop[0]:
        reach = np.inf
        for i in range(count):
            v = now[i]
            nearest[v] = minimum_of_row(dist, v, fresh[v])
            reach = min(reach, nearest[v] + width)
        kept = 0
        for i in range(count):
            v = now[i]
            if nearest[v] > reach:
                later[kept] = v
                kept += 1
                continue
            fresh[v] = uint64(0)
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                nearer = uint64(relax_row(dist, v, w, lengths[e]))
                if nearer != uint64(0):
                    if fresh[w] == uint64(0):
                        later[kept] = w
                        kept += 1
                    fresh[w] |= nearer
        now, later, count = later, now, kept


@njit
def find_farthest(dist):
    """Return the largest distance below infinity, 0 if there is none; distances are uint16."""
    farthest = np.uint16(0)
    for v in range(len(dist)):
        for k in range(dist.shape[1]):
            farthest = max(farthest, np.uint16(dist[v, k] + np.uint16(1)))  # infinity becomes 0
    return max(np.int64(farthest) - 1, 0)


@njit
def sum_distances(dist, keep, reached, distance, inverse, deepest):
    """Sum 1, d and 1 / d over the columns with 0 < d < infinity, and find the largest such d of each column."""
    largest = zero_row()
    for v in range(len(dist)):
        mask = positive_in_row(dist, v) & finite_in_row(dist, v) & keep
        reached[v] = count_bits(mask)
        distance[v] = sum_row(dist, v, mask)
        inverse[v] = sum_inverse_row(dist, v, mask)
        largest = raise_row(largest, dist, v, mask)
    store_row(deepest, 0, largest)


def add_level_sums(
    graph: Graph,
    queue: NDArray[Any],
    masks: NDArray[np.uint64],
    starts: NDArray[np.int64],
    levels: Levels,
    sums: Sums,
) -> None:
    """Add the sums over hop distances of what a queue has; entries of level d are starts[d]:starts[d + 1]."""
    parts = DistanceSums.zeros(graph.n)
    _sum_levels(
        queue,
        masks,
        starts,
        levels.depth,
        levels.kept,
        parts.reached,
        parts.distance,
        parts.inverse,
        parts.deepest,
    )
    parts.add_to(sums, graph.order, len(levels.roots))


@njit
def _sum_levels(queue, masks, starts, depth, keep, reached, distance, inverse, deepest):
    """Sum 1, d and 1 / d over the entries of all levels d, and find the deepest level of each column."""
    for level in range(1, depth + 1):
        live = uint64(0)
        for i in range(starts[level], starts[level + 1]):
            mask = masks[i] & keep
            live |= mask
            v = queue[i]
            columns: int = count_bits(mask)
            reached[v] += columns
            distance[v] += columns * level
            inverse[v] += columns / level
        for k in range(COLUMNS):
            if live >> uint64(k) & uint64(1) != uint64(0):
                deepest[0, k] = level
