"""The order of graphs of high diameter: pieces of vertices that are near each other."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from lagbc.graph import tuning
from lagbc.graph.csr import module_of
from lagbc.graph.order.search import hop_distances


def proximity_order(indptr: Any, indices: Any, components: Any, leaf: int = 64) -> Any:
    """Order vertices so that each run of `leaf` of them, aligned to `leaf`, is a compact piece of the graph.

    The hop distances from a few landmarks far from each other are taken as coordinates, in which the vertices are
    bisected again and again, at the median of each piece along its principal axis. The roots of one batch then see a
    vertex at nearly the same distance, so that its row is live at few levels.

    Parameters
    ----------
    indptr, indices : arrays
        Symmetric pattern, on the host or on a device.
    components : array, shape (n,)
        Connected component of each vertex.
    leaf : int
        Vertices in a piece; the cuts of a component are at multiples of it.

    Returns
    -------
    order : array of int64, shape (n,), where `indptr` is
        Larger components come first. The same bits on every device: sums are of integers.

    Notes
    -----
    O(n log(n) log(n / leaf) + nnz). On a Delaunay mesh a row is live at 5.6 levels for 64 roots, on a road network at
    14; bisection of the graph itself by breadth-first search from the ends of each piece gave 7.0 and 21.
    """
    xp = module_of(indptr)
    n = len(indptr) - 1
    points = _landmark_distances(indptr, indices, components)
    sizes = xp.bincount(components)
    rank = xp.empty(len(sizes), np.int64)
    rank[xp.argsort(-sizes, kind="stable")] = xp.arange(len(sizes))
    order = xp.argsort(rank[components], kind="stable")
    starts = xp.flatnonzero(_is_first(rank[components][order]))
    while True:
        sizes = xp.diff(xp.append(starts, n))
        to_cut = sizes > leaf
        if not to_cut.any():
            return order
        piece = _piece_of(starts, n)
        along = xp.where(to_cut[piece], _principal_coordinate(points[:, order], starts, sizes, piece), 0.0)
        # By piece, then along the axis, then as before: both sorts are stable.
        by_axis = xp.argsort(along, kind="stable")
        order = order[by_axis[xp.argsort(piece[by_axis], kind="stable")]]
        half = leaf * ((-(-sizes // leaf) + 1) // 2)
        starts = xp.sort(xp.concatenate([starts, (starts + half)[to_cut]]))


def _is_first(values: Any) -> Any:
    """Whether each of some sorted values differs from the one before."""
    xp = module_of(values)
    return xp.concatenate([xp.ones(min(len(values), 1), bool), values[1:] != values[:-1]])


def _piece_of(starts: Any, n: int) -> Any:
    """Return the number of the piece that each position is in."""
    xp = module_of(starts)
    marks = xp.zeros(n, np.int64)
    marks[starts] = 1
    return xp.cumsum(marks) - 1


def _landmark_distances(indptr: Any, indices: Any, components: Any) -> Any:
    """Hop distances to `LANDMARKS` landmarks of its component, for each vertex; each is the farthest from the others.

    The first landmark is the vertex farthest from the first of its component, and thus at an end of it. Shape
    (LANDMARKS, n).
    """
    xp = module_of(indptr)
    first = xp.unique(components, return_index=True)[1]
    last = xp.cumsum(xp.bincount(components)) - 1
    nearest = hop_distances(indptr, indices, first)
    distances = xp.empty((tuning.LANDMARKS, len(components)), np.int64)
    for i in range(tuning.LANDMARKS):
        # The last vertex of each component in the order of (component, distance) is its farthest.
        by_distance = xp.argsort(nearest, kind="stable")
        farthest = by_distance[xp.argsort(components[by_distance], kind="stable")][last]
        distances[i] = hop_distances(indptr, indices, farthest)
        nearest = distances[0] if i == 0 else xp.minimum(nearest, distances[i])
    return distances


def _principal_coordinate(points: Any, starts: Any, sizes: Any, piece: Any) -> Any:
    """Coordinate of each point along the principal axis of its piece, by power iteration on the pieces' covariances.

    The sums are of integers, so that they are exact in any order: coordinates are coarsened to 15 bits for them.
    """
    xp = module_of(points)
    coarse = points >> max(0, int(points.max()).bit_length() - 15)
    sums = [_sum_pieces(x, starts, sizes).astype(np.float64) for x in coarse]
    covariance = {}
    for a, b in combinations_with_replacement(range(len(coarse)), 2):
        moment = _sum_pieces(coarse[a] * coarse[b], starts, sizes)
        covariance[a, b] = covariance[b, a] = moment - sums[a] * sums[b] / sizes
    # An axis that no symmetric piece has for an eigenvector.
    axes = [xp.full(len(starts), 1 + a / (len(coarse) - 1)) for a in range(len(coarse))]
    for _ in range(tuning.POWER_STEPS):
        axes = [sum(covariance[a, b] * axis for b, axis in enumerate(axes)) for a in range(len(axes))]
        longest = xp.maximum(sum(abs(axis) for axis in axes), 1e-30)
        axes = [axis / longest for axis in axes]
    return sum(axis[piece] * x for axis, x in zip(axes, points, strict=True))


def _sum_pieces(values: Any, starts: Any, sizes: Any) -> Any:
    """Sum of the integers of each piece."""
    if isinstance(values, np.ndarray):
        return np.add.reduceat(values, starts)
    ends = module_of(values).cumsum(values)[starts + sizes - 1]
    return module_of(values).diff(ends, prepend=0)
