"""Breadth-first search and weakly connected components in the host's memory."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,var-annotated"

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.cpu.cores import parts_of_rows, share

# A level is pulled from when its vertices have more than this share of the edges; counting them pays from so many
# vertices on, as a share, too.
_PULL_EDGES, _COUNT_VERTICES = 1 / 16, 1 / 256


def components(indptr: NDArray[np.int64], indices: NDArray[Any]) -> NDArray[Any]:
    """Weakly connected component of each vertex, numbered from 0 in the order of their first vertices."""
    labels = np.arange(len(indptr) - 1, dtype=indices.dtype)
    _join_components(indptr, indices, labels)
    return labels


def search(indptr: NDArray[np.int64], indices: NDArray[Any], roots: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Search a symmetric pattern from some distinct roots.

    Returns
    -------
    distances : ndarray, shape (n,), of the type of the columns
        Hops from the nearest root; -1 where none is in reach.
    found : ndarray, of that type
        The vertices in reach, by their distances.
    """
    n = len(indptr) - 1
    distances, queue = np.empty(n, indices.dtype), np.empty(n, indices.dtype)
    return distances, queue[: _search(indptr, indices, roots, distances, queue)]


def hub_distances(indptr: NDArray[np.int64], indices: NDArray[Any], hubs: int, levels: int) -> NDArray[np.uint8]:
    """Hop distances from every vertex to each of the first `hubs`, at most 16; 0 where none of up to `levels` is."""
    n = len(indptr) - 1
    distances = np.zeros((hubs, n), np.uint8)  # levels are fewer than 256
    frontier, joined, seen = np.zeros((3, n), np.uint16)
    frontier[:hubs] = seen[:hubs] = 1 << np.arange(hubs)
    parts = parts_of_rows(indptr)
    for level in range(1, levels + 1):
        arrays = np.uint16((1 << hubs) - 1), frontier, seen, joined, distances

        def join(first: int, last: int, level: int = level, arrays: tuple[Any, ...] = arrays) -> bool:
            return bool(_join_searches(indptr, indices, first, last, level, *arrays))

        if not any(share(join, parts)):
            break
        frontier, joined = joined, frontier
    return distances


@njit
def _join_components(indptr, indices, labels):
    """Join trees at the smaller of their roots, which is the first vertex of a component in the end."""
    for v in range(len(labels)):
        a = _root_of(labels, v)
        for e in range(indptr[v], indptr[v + 1]):
            b = _root_of(labels, indices[e])
            if a < b:
                labels[b] = a
            elif b < a:
                labels[a] = b
                a = b
    count = 0
    for v in range(len(labels)):
        # What is hooked to a smaller vertex takes over its number.
        if labels[v] == v:
            labels[v] = count
            count += 1
        else:
            labels[v] = labels[labels[v]]


@njit
def _root_of(labels, v):
    while labels[v] != v:
        labels[v] = labels[labels[v]]
        v = labels[v]
    return v


@njit
def _search(indptr, indices, roots, distances, queue):
    n, found = len(distances), 0
    distances[:] = -1
    for root in roots:
        distances[root] = 0
        queue[found] = root
        found += 1
    first, level = 0, 0
    while first < found:
        level, last = level + 1, found
        edges = 0
        if last - first > n * _COUNT_VERTICES:
            for i in range(first, last):
                edges += indptr[queue[i] + 1] - indptr[queue[i]]
        if edges > len(indices) * _PULL_EDGES:
            for v in range(n):
                if distances[v] < 0:
                    for e in range(indptr[v], indptr[v + 1]):
                        if distances[indices[e]] == level - 1:
                            distances[v] = level
                            queue[found] = v
                            found += 1
                            break
        else:
            for i in range(first, last):
                for e in range(indptr[queue[i]], indptr[queue[i] + 1]):
                    v = indices[e]
                    if distances[v] < 0:
                        distances[v] = level
                        queue[found] = v
                        found += 1
        first = last
    return found


@njit
def _join_searches(indptr, indices, first, last, level, hubs, frontier, seen, joined, distances):
    """Let rows join the searches that the heads of their edges have just joined; return whether any does."""
    any_joined = False
    for v in range(first, last):
        wanted, met = hubs & ~seen[v], hubs & ~hubs
        if wanted:
            for e in range(indptr[v], indptr[v + 1]):
                met |= frontier[indices[e]] & wanted
                if met == wanted:
                    break
        joined[v] = met
        if met:
            any_joined = True
            seen[v] |= met
            for hub in range(len(distances)):
                if met >> hub & 1:
                    distances[hub, v] = level
    return any_joined
