"""The proximity order in the host's memory, to the bits of `lagbc.graph.order.proximity`: its sums are of integers."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,var-annotated"

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int32, int64
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.cpu.cores import SHARED_FROM, cores, share
from lagbc.graph import tuning
from lagbc.graph.host.csr import relabelled
from lagbc.graph.host.order import by_key
from lagbc.graph.host.search import search

# Pieces of vertices a core: there are more than cores, as some take longer than others.
_PIECES = 4
# Points whose coordinates are read at once, from a core's cache.
_BLOCK = 512
# So many keys or fewer are sorted by insertion.
_FEW = 16


def proximity_order(
    indptr: NDArray[np.int64], indices: NDArray[Any], components: NDArray[Any], leaf: int
) -> NDArray[np.int64]:
    """Order vertices as `lagbc.graph.order.proximity.proximity_order` says."""
    n = len(indptr) - 1
    sizes = np.bincount(components)
    by_size = by_key(-sizes, np.arange(len(sizes)))
    rank = np.empty_like(by_size)
    rank[by_size] = np.arange(len(sizes))
    piece = rank[components]
    order = by_key(piece, np.arange(n))
    ends = np.cumsum(sizes[by_size])
    starts = ends - sizes[by_size]
    # Numbered as a search finds them, vertices that are near each other are so in memory, too.
    distances, found = search(indptr, indices, order[starts])
    number = np.empty(n, np.int64)
    number[found] = np.arange(n)
    near, near_indices, _ = relabelled((indptr, indices, None), found, number.astype(indices.dtype))
    points = _landmark_distances(near, near_indices, piece[found], found, distances[found], len(sizes))
    order = number[order]
    pieces = [(int(start), int(end)) for start, end in zip(starts, ends, strict=True) if end - start > leaf]
    _bisect_all(points, order, pieces, leaf)
    return found[order].astype(np.int64)


def _landmark_distances(
    indptr: NDArray[np.int64],
    indices: NDArray[Any],
    piece: NDArray[np.int64],
    vertex: NDArray[np.int64],
    nearest: NDArray[np.int64],
    pieces: int,
) -> NDArray[np.int32]:
    """Hop distances to the landmarks, a row a vertex; `nearest` holds those to the first vertex of each component.

    Of vertices that are as far the last by `vertex`, their number in the graph, is the landmark.
    """
    points = np.empty((len(piece), tuning.LANDMARKS), np.int32)
    for i in range(tuning.LANDMARKS):
        farthest = np.full(pieces, -1)
        _find_farthest(nearest, piece, vertex, farthest)
        distances, _ = search(indptr, indices, farthest)
        points[:, i] = distances
        nearest = distances if i == 0 else np.minimum(nearest, distances)
    return points


def _bisect_all(points: NDArray[np.int32], order: NDArray[np.int64], pieces: list[tuple[int, int]], leaf: int) -> None:
    """Bisect pieces of `order`, in place: the large ones side by side, then what they are cut into."""
    n, steps = len(order), tuning.POWER_STEPS
    shift = max(0, int(points.max(initial=0)).bit_length() - 15)
    scratch = np.empty(n), np.empty(n), np.empty(n, np.int64), np.empty(n, np.int64)
    most = n // (_PIECES * cores()) if n >= SHARED_FROM else n
    while large := [piece for piece in pieces if piece[1] - piece[0] > max(most, leaf)]:
        pieces = [piece for piece in pieces if piece not in set(large)]
        middles = share(
            lambda first, last: _bisect(points, shift, order, first, last, leaf, True, steps, *scratch), large
        )
        for (first, last), middle in zip(large, middles, strict=True):
            pieces += [(first, int(middle)), (int(middle), last)]
    pieces.sort(key=lambda piece: piece[0] - piece[1])
    share(lambda first, last: _bisect(points, shift, order, first, last, leaf, False, steps, *scratch), pieces)


@njit
def _find_farthest(nearest, piece, vertex, farthest):
    for v in range(len(nearest)):
        best = farthest[piece[v]]
        if best < 0 or nearest[v] > nearest[best] or (nearest[v] == nearest[best] and vertex[v] > vertex[best]):
            farthest[piece[v]] = v


@njit
def _bisect(points, shift, order, first, last, leaf, once, steps, keys, spare_keys, spare_order, places):
    """Bisect a piece until none is larger than `leaf`, or once; return where it was cut last.

    A piece is sorted along its principal axis, and cut in the middle, at a multiple of `leaf` from its start.
    """
    axis = np.empty(points.shape[1])
    ends = np.empty(64, np.int64)  # of what is still to be bisected, the next last
    ends[0], waiting, middle = last, 1, first
    while waiting:
        last = ends[waiting - 1]
        if last - first <= leaf:
            first, waiting = last, waiting - 1
            continue
        _find_axis(points, shift, order, first, last, steps, axis)
        for i in range(first, last):
            keys[i] = axis[0] * points[order[i], 0]
            for a in range(1, len(axis)):
                keys[i] += axis[a] * points[order[i], a]
        _sort(keys, order, first, last, spare_keys, spare_order, places)
        middle = first + leaf * ((-(-(last - first) // leaf) + 1) // 2)
        if once:
            break
        ends[waiting] = middle
        waiting += 1
    return middle


@njit
def _find_axis(points, shift, order, first, last, steps, axis):
    """Direction in which the points of a piece differ most, by power iteration on their covariances.

    The sums are of integers: coordinates are coarsened to 15 bits, so that a product of two fits into 32.
    """
    dimensions = len(axis)
    sums, moments = np.zeros(dimensions, np.int64), np.zeros((dimensions, dimensions), np.int64)
    coarse, image = np.empty((dimensions, _BLOCK), np.int32), np.empty(dimensions)
    for begin in range(first, last, _BLOCK):
        size = min(_BLOCK, last - begin)
        for i in range(size):
            for a in range(dimensions):
                coarse[a, i] = points[order[begin + i], a] >> shift
        for a in range(dimensions):
            for i in range(size):
                sums[a] += coarse[a, i]
            for b in range(a, dimensions):
                moment = int64(0)
                for i in range(size):
                    moment += int32(coarse[a, i] * coarse[b, i])
                moments[a, b] += moment
    # An axis that no symmetric piece has for an eigenvector.
    for a in range(dimensions):
        axis[a] = 1 + a / (dimensions - 1)
    for _ in range(steps):
        longest = 0.0
        for a in range(dimensions):
            image[a] = 0.0
            for b in range(dimensions):
                moment = moments[min(a, b), max(a, b)]
                image[a] += (moment - float(sums[a]) * float(sums[b]) / (last - first)) * axis[b]
            longest += abs(image[a])
        for a in range(dimensions):
            axis[a] = image[a] / max(longest, 1e-30)


@njit
def _sort(keys, order, first, last, spare_keys, spare_order, places):
    """Sort `order` by `keys`, both from `first` to `last`; equal keys stay in order.

    The keys are put under as many equal intervals as there are keys, then those of each are sorted.
    """
    size = last - first
    low = high = keys[first]
    for i in range(first, last):
        low, high = min(low, keys[i]), max(high, keys[i])
    scale = size / (high - low)
    if not scale < 1e300:  # all are equal, or as good as
        _merge_sort(keys, order, first, last, spare_keys, spare_order)
        return
    for k in range(first, last):
        places[k] = 0
    for i in range(first, last):
        places[first + min(int((keys[i] - low) * scale), size - 1)] += 1
    total = first
    for k in range(first, last):
        total, places[k] = total + places[k], total
    for i in range(first, last):
        k = first + min(int((keys[i] - low) * scale), size - 1)
        spare_keys[places[k]], spare_order[places[k]] = keys[i], order[i]
        places[k] += 1
    begin = first
    for k in range(first, last):
        # An interval ends where the next begins.
        for i in range(begin, places[k]):
            keys[i], order[i] = spare_keys[i], spare_order[i]
        if places[k] - begin > 1:
            _merge_sort(keys, order, begin, places[k], spare_keys, spare_order)
        begin = places[k]


@njit
def _merge_sort(keys, order, first, last, spare_keys, spare_order):
    """Sort runs of a few by insertion, then merge neighbours."""
    for begin in range(first, last, _FEW):
        for i in range(begin + 1, min(begin + _FEW, last)):
            key, vertex, place = keys[i], order[i], i
            while place > begin and keys[place - 1] > key:
                keys[place], order[place] = keys[place - 1], order[place - 1]
                place -= 1
            keys[place], order[place] = key, vertex
    width = _FEW
    while width < last - first:
        for begin in range(first, last, 2 * width):
            a, a_end = begin, min(begin + width, last)
            b, b_end = a_end, min(begin + 2 * width, last)
            for place in range(begin, b_end):
                if b == b_end or (a < a_end and keys[a] <= keys[b]):
                    spare_keys[place], spare_order[place] = keys[a], order[a]
                    a += 1
                else:
                    spare_keys[place], spare_order[place] = keys[b], order[b]
                    b += 1
        for i in range(first, last):
            keys[i], order[i] = spare_keys[i], spare_order[i]
        width *= 2
