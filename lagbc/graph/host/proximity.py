"""The order of graphs of high diameter, by proximity: pieces of vertices near each other."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.graph.host.csr import relabelled
from lagbc.native import SHARED_FROM, core, cores, share, until_stopped

# Pieces of vertices a core: more than one, as some take longer than others.
_PIECES = 4


def proximity_order(
    indptr: NDArray[np.int64], indices: NDArray[Any], components: NDArray[Any], leaf: int = 64
) -> NDArray[np.int64]:
    """Order vertices so that each run of `leaf` of them, aligned to `leaf`, is a compact piece of the symmetric graph.

    The coordinates of a vertex are its hop distances from a few landmarks, far from each other. Pieces are bisected
    again and again, at the median along their principal axes. Roots of one batch then see a vertex at nearly the same
    distance, and its row is live at few levels. Larger `components` come first. Sums are of integers: a device has the
    same order.

    O(n log(n) log(n / leaf) + nnz). On a Delaunay mesh a row is live at 5.6 levels for 64 roots, on a road network at
    14; bisection of the graph itself by breadth-first search from the ends of each piece gave 7.0 and 21.
    """
    n = len(indptr) - 1
    sizes = np.bincount(components)
    by_size = core.sort_by_key(-sizes, np.arange(len(sizes)))
    rank = np.empty_like(by_size)
    rank[by_size] = np.arange(len(sizes))
    piece = rank[components]
    order = core.sort_by_key(piece, np.arange(n))
    ends = np.cumsum(sizes[by_size])
    starts = ends - sizes[by_size]
    # Vertices are numbered as a search finds them, so near ones are near in memory, too.
    distances, found = core.search_from(indptr, indices, order[starts])
    number = np.empty(n, np.int64)
    number[found] = np.arange(n)
    near, near_indices, _ = relabelled((indptr, indices, None), found.astype(np.int64), number.astype(indices.dtype))
    points = np.empty((n, tuning.LANDMARKS), np.int32)
    rows = near, near_indices, piece[found], found, distances[found], len(sizes), points
    until_stopped(partial(core.measure_landmarks, *rows), len(indices))
    order = number[order]
    pieces = [(int(start), int(end)) for start, end in zip(starts, ends, strict=True) if end - start > leaf]
    _bisect_all(points, order, pieces, leaf)
    in_order: NDArray[np.int64] = found[order].astype(np.int64)
    return in_order


def _bisect_all(points: NDArray[np.int32], order: NDArray[np.int64], pieces: list[tuple[int, int]], leaf: int) -> None:
    """Bisect pieces of `order`, in place, a core each: large ones once, again and again, small ones down to leaves."""
    n, steps = len(order), tuning.POWER_STEPS
    shift = max(0, int(points.max(initial=0)).bit_length() - 15)
    most = n // (_PIECES * cores()) if n >= SHARED_FROM else n
    while large := [piece for piece in pieces if piece[1] - piece[0] > max(most, leaf)]:
        pieces = [piece for piece in pieces if piece not in set(large)]
        middles = share(core.bisect, large, (points, shift, order), (leaf, True, steps))
        for (first, last), middle in zip(large, middles, strict=True):
            pieces += [(first, middle), (middle, last)]
    pieces.sort(key=lambda piece: piece[0] - piece[1])
    share(core.bisect, pieces, (points, shift, order), (leaf, False, steps))
