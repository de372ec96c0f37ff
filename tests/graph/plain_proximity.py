"""The proximity order in whole arrays of NumPy, as a level of pieces at a time: slow, and the bits to reach."""

from itertools import combinations_with_replacement

import numpy as np
from scipy.sparse.csgraph import dijkstra


def proximity_order(pattern, components, leaf, landmarks, power_steps):
    n = len(components)
    points = landmark_distances(pattern, components, landmarks)
    sizes = np.bincount(components)
    rank = np.empty(len(sizes), np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
    order = np.argsort(rank[components], kind="stable")
    starts = np.unique(rank[components][order], return_index=True)[1]
    while True:
        sizes = np.diff(np.append(starts, n))
        to_cut = sizes > leaf
        if not to_cut.any():
            return order
        piece = np.repeat(np.arange(len(sizes)), sizes)
        along = np.where(to_cut[piece], along_axis(points[:, order], starts, sizes, piece, power_steps), 0.0)
        by_axis = np.argsort(along, kind="stable")
        order = order[by_axis[np.argsort(piece[by_axis], kind="stable")]]
        half = leaf * ((-(-sizes // leaf) + 1) // 2)
        starts = np.sort(np.concatenate([starts, (starts + half)[to_cut]]))


def landmark_distances(pattern, components, landmarks):
    """The first is the farthest from the first vertex of its component; each other, the farthest from those before."""
    last = np.cumsum(np.bincount(components)) - 1
    nearest, found = hops(pattern, np.unique(components, return_index=True)[1]), []
    for _ in range(landmarks):
        by_distance = np.argsort(nearest, kind="stable")
        farthest = by_distance[np.argsort(components[by_distance], kind="stable")][last]
        found.append(hops(pattern, farthest))
        nearest = np.min(found, axis=0)
    return np.array(found)


def hops(pattern, roots):
    return dijkstra(pattern, unweighted=True, indices=roots, min_only=True).astype(np.int64)


def along_axis(points, starts, sizes, piece, power_steps):
    coarse = points >> max(0, int(points.max()).bit_length() - 15)
    sums = [np.add.reduceat(x, starts).astype(np.float64) for x in coarse]
    covariance = {}
    for a, b in combinations_with_replacement(range(len(coarse)), 2):
        moment = np.add.reduceat(coarse[a] * coarse[b], starts)
        covariance[a, b] = covariance[b, a] = moment - sums[a] * sums[b] / sizes
    axes = [np.full(len(starts), 1 + a / (len(coarse) - 1)) for a in range(len(coarse))]
    for _ in range(power_steps):
        axes = [sum(covariance[a, b] * axis for b, axis in enumerate(axes)) for a in range(len(axes))]
        longest = np.maximum(sum(abs(axis) for axis in axes), 1e-30)
        axes = [axis / longest for axis in axes]
    return sum(axis[piece] * x for axis, x in zip(axes, points, strict=True))
