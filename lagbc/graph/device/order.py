"""Orders of vertices on the device, the same as on the host: by degree, by proximity, by distances to hubs."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.graph.device.kernels import ORDER, PROXIMITY
from lagbc.graph.device.search import depths, find_extent, sizes_of
from lagbc.graph.device.sort import sort

# Bits of a coordinate in products, so that sums of these fit into 64 bits.
_COARSE_BITS = 15


def degree_order(indptr: Any) -> Any:
    """Order vertices by falling degree, ties by number."""
    n = len(indptr) - 1
    nnz = int(indptr[n:].get()[0])
    keys, vertices = _empty_words(n), _empty_words(n)
    ORDER.launch("degree_keys", n, n=n, nnz=nnz, indptr=indptr, keys=keys, vertices=vertices)
    return sort(keys, vertices, nnz.bit_length())[1].view(np.int64)


def isolated_last(order: Any, indptr: Any) -> Any:
    """Put vertices without edges behind the others, which stay in their order."""
    n = len(order)
    keys, vertices = _empty_words(n), order.view(np.uint64)
    ORDER.launch("isolated_keys", n, n=n, indptr=indptr, vertices=vertices, keys=keys)
    return sort(keys, vertices, 1)[1].view(np.int64)


def places_in(order: Any) -> Any:
    """Return the place of each vertex in an order, its inverse."""
    order, places = cp.asarray(order), cp.empty(len(order), np.int64)
    ORDER.launch("find_places", len(order), n=len(order), order=order, places=places)
    return places


def hub_order(distances: Any, vertices: Any) -> Any:
    """Order vertices by their distances to the first hub, then to the second, and so on; `distances` is (hubs, n)."""
    (hubs, n), count = distances.shape, len(vertices)
    # `vertices.copy()` would compile a kernel of CuPy's.
    own = _empty_words(count)
    own.data.copy_from_device_async(vertices.data, own.nbytes)
    vertices = own
    for first in reversed(range(0, hubs, 8)):
        keys = _empty_words(count)
        of_hubs = {"first": first, "hubs": hubs, "distances": distances}
        ORDER.launch("hub_keys", count, count=count, n=n, vertices=vertices, keys=keys, **of_hubs)
        keys, vertices = sort(keys, vertices, 64)
    return vertices.view(np.int64)


def proximity_order(indptr: Any, indices: Any, components: Any, leaf: int = 64) -> Any:
    """Order vertices by proximity, as `lagbc.graph.host.proximity_order` does."""
    n = len(indptr) - 1
    members = sizes_of(components).get().astype(np.int64)
    points = _landmark_distances(indptr, indices, components, len(members))
    shift = max(0, find_extent(points)[0].bit_length() - _COARSE_BITS)
    by_size = np.argsort(-members, kind="stable")
    order = _component_order(components, by_size)
    # Cuts depend on the sizes of components alone.
    starts = np.append(0, np.cumsum(members[by_size]))
    while (cut := np.diff(starts) > leaf).any():
        order = _sort_along_axes(n, points, shift, starts, order, leaf)
        starts = _cut_starts(starts, cut, leaf)
    return order.view(np.int64)


def _empty_words(n: int) -> Any:
    return cp.empty(n, np.uint64)


def _landmark_distances(indptr: Any, indices: Any, components: Any, count: int) -> Any:
    """Find landmarks, each the farthest from those before; hop distances (LANDMARKS, n) in a vertex's component."""
    n = len(indptr) - 1
    farthest, nearest = cp.empty(count, np.uint64), cp.empty(n, np.int32)
    farthest.data.memset_async(0xFF, farthest.nbytes)
    PROXIMITY.launch("find_firsts", n, n=n, components=components, firsts=farthest)
    depth = depths(indptr, indices, farthest)
    points = cp.empty((tuning.LANDMARKS, n), np.int32)
    for i in range(tuning.LANDMARKS):
        farthest.fill(0)
        # The first landmark is farthest from the first vertex of a component, itself no landmark.
        of = {"components": components, "depth": depth, "nearest": nearest, "farthest": farthest}
        PROXIMITY.launch("find_farthest", n, n=n, is_first=i <= 1, **of)
        depth = depths(indptr, indices, farthest, points[i])
    return points


def _component_order(components: Any, by_size: NDArray[np.int64]) -> Any:
    n, rank = len(components), np.empty(len(by_size), np.int64)
    rank[by_size] = np.arange(len(by_size))
    keys, vertices = _empty_words(n), _empty_words(n)
    of = {"components": components, "rank": cp.asarray(rank)}
    PROXIMITY.launch("component_keys", n, n=n, keys=keys, vertices=vertices, **of)
    return sort(keys, vertices, len(by_size).bit_length())[1]


def _sort_along_axes(n: int, points: Any, shift: int, starts: NDArray[np.int64], order: Any, leaf: int) -> Any:
    """Sort the vertices of each piece longer than `leaf` along its principal axis."""
    pieces, starts_there = len(starts) - 1, cp.asarray(starts)
    piece, axes = cp.empty(n, np.int32), cp.empty((pieces, tuning.LANDMARKS))
    # Sums of the coordinates of a piece, and of the products of two.
    moments = cp.zeros((pieces, tuning.LANDMARKS * (tuning.LANDMARKS + 3) // 2), np.uint64)
    PROXIMITY.launch("find_pieces", n, n=n, pieces=pieces, starts=starts_there, piece=piece)
    along = {"n": n, "leaf": leaf, "starts": starts_there, "piece": piece, "order": order, "points": points}
    # A warp of 32 threads takes 256 positions.
    PROXIMITY.launch("sum_moments", -(-n // 256) * 32, shift=shift, moments=moments, **along)
    of_pieces = {"steps": tuning.POWER_STEPS, "starts": starts_there, "moments": moments, "axes": axes}
    PROXIMITY.launch("find_axes", pieces, pieces=pieces, **of_pieces)
    keys, positions = _empty_words(n), _empty_words(n)
    PROXIMITY.launch("axis_keys", n, axes=axes, keys=keys, positions=positions, **along)
    keys, positions = sort(keys, positions, 64)
    vertices = _empty_words(n)
    by_piece = {"piece": piece, "positions": positions, "order": order}
    PROXIMITY.launch("piece_keys", n, n=n, keys=keys, vertices=vertices, **by_piece)
    return sort(keys, vertices, pieces.bit_length())[1]


def _cut_starts(starts: NDArray[np.int64], cut: NDArray[np.bool_], leaf: int) -> NDArray[np.int64]:
    """Return the starts of pieces after the flagged ones are cut in two, at a multiple of `leaf`; the last is n."""
    half = leaf * ((-(-np.diff(starts) // leaf) + 1) // 2)
    cuts = np.flatnonzero(cut)
    return np.insert(starts, cuts + 1, starts[cuts] + half[cuts])
