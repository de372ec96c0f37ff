"""A graph's arrays in the host's memory: compressed rows, orders of vertices, searches; names as in `graph.device.ops`.

A triple (indptr, indices, data) as in `lagbc.graph.csr`: int64, int32 (int64 where n needs it), float64 or None. Values
are only moved, summed or compared. Sorting is by counting, twice: entries put one after the other under their columns
are in the order of the rows there; put back under their rows, they are in the order of the columns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.native import classes_of, core, parts_of, parts_of_rows, share, threads_of, until_stopped
from lagbc.native import csr as as_native

Csr = tuple[NDArray[np.int64], NDArray[Any], Any]

# Orders and searches that are kernels.
degree_order = core.order_by_length  # by falling degree, ties by number
places_in = core.places_in  # the inverse of an order
search_from_hub = core.search_from_hub  # the hub is the first of the longest rows
weak_components = core.find_components  # numbers from 0, in the order of their first vertices
# Faults of rows that are not canonical, as bits.
_OUTSIDE, _UNSORTED, _UNMERGED, _FALLING = 1, 2, 4, 8
# Entries are put under ranges of 2**12 columns, or of more, so that there are at most 2**9 ranges. With R-MAT 20-16 all
# columns at once took up to twice as long; 2**10 to 2**13 differ by a tenth.
_SHIFT, _RANGES = 12, 9
# Pieces of vertices a thread: more than one, as some take longer than others. To bisect a vertex, again and again,
# takes as long as to read so many entries.
_PIECES, _ENTRIES = 2, 64
# An array of so many bytes or more is written by several threads. Its pages come from the system at the first write: of
# 250 MB one thread got them in 45 ms, 16 threads in 11.
_WRITTEN_BY_SEVERAL = 2**24
_ROOT_SWEEPS = classes_of("RootSweep")


def _write(array: NDArray[Any], write: Callable[[slice], object]) -> NDArray[Any]:
    """Have parts of an array written, along its first axis, by several threads if it is large; return it."""
    if array.nbytes < _WRITTEN_BY_SEVERAL:
        write(slice(None))
    else:
        share(lambda first, last: write(slice(first, last)), parts_of(len(array)))
    return array


def touched(shape: Any, dtype: Any) -> NDArray[Any]:
    """Return a new array; several threads have touched the pages of a large one."""
    array = np.empty(shape, dtype)
    if array.nbytes >= _WRITTEN_BY_SEVERAL and len(parts_of(array.size)) > 1:
        flat = array.reshape(-1)
        _write(flat, lambda part: flat[part].fill(0))
    return array


def copied(array: NDArray[Any]) -> NDArray[Any]:
    """Copy an array."""
    return copied_into(array, np.empty(array.shape, array.dtype))


def copied_into(array: NDArray[Any], copy: NDArray[Any]) -> NDArray[Any]:
    """Copy an array into another one, of any type; return that."""
    return _write(copy, lambda part: np.copyto(copy[part], array[part]))


def less(array: NDArray[Any], number: int, kind: Any) -> NDArray[Any]:
    """Subtract a number from integers; `kind` is a type that holds the differences."""
    found = np.empty(array.shape, kind)
    return _write(found, lambda part: np.subtract(array[part], number, out=found[part], casting="same_kind"))


def plus(a: NDArray[np.float64], b: NDArray[np.float64], sums: Any = None) -> NDArray[np.float64]:
    """Add two arrays of float64, in `sums` if it is given; infinite beyond float64."""
    sums = np.empty(a.shape) if sums is None else sums

    def add(part: slice) -> None:
        with np.errstate(over="ignore"):  # of each thread
            np.add(a[part], b[part], sums[part])

    return _write(sums, add)


def canonical(n: int, indptr: NDArray[np.int64], indices: NDArray[Any], data: Any, kind: Any) -> Csr:
    """Sort rows, drop loops and sum entries at the same place, from left to right as stored.

    Indices of int32 or int64 become those of the type `kind`. Canonical rows are returned as they are; the arrays given
    are never written. ValueError for pointers that do not rise; IndexError for a column that is not in 0..n - 1.
    """
    flags = reduce(or_, share(core.inspect, parts_of_rows(indptr), (indptr, indices)))
    if flags & _FALLING:
        raise ValueError("pointers of rows do not rise")
    if flags & _OUTSIDE:
        raise IndexError("a column is outside the matrix")
    indices = indices.astype(kind, copy=False)
    if flags & _UNSORTED:
        return merged(*transposed(n, *transposed(n, indptr, indices, data)))
    if flags:
        return merged(indptr.copy(), indices.copy(), None if data is None else data.copy())
    return indptr, indices, data


def merged(indptr: NDArray[np.int64], indices: NDArray[Any], data: Any) -> Csr:
    """Drop loops and sum entries at the same place of sorted rows; the arrays are overwritten."""
    kept = core.merge(indptr, indices, data)
    if kept == len(indices):
        return indptr, indices, data
    return indptr, indices[:kept].copy(), None if data is None else data[:kept].copy()


def in_rows(n: int, rows: NDArray[Any], columns: NDArray[Any], data: Any) -> Csr:
    """Compress entries in any order to sorted rows; entries at the same place stay, in the order listed."""
    return transposed(n, *_under_columns(n, rows, columns, data))


def transposed(n: int, indptr: NDArray[np.int64], indices: NDArray[Any], data: Any) -> Csr:
    """Put entries under their columns, in the order in which rows store them."""
    return _under_columns(n, rows_of(indptr, indices), indices, data)


def reverse_of(n: int, indptr: NDArray[np.int64], indices: NDArray[Any], data: Any) -> Csr | None:
    """Return the transpose of a matrix in canonical form; None if the matrix is symmetric."""
    within = indptr.nbytes + indices.nbytes + (0 if data is None else data.nbytes)
    mirrored = share(core.count_mirrored, parts_of_rows(indptr, within), (indptr, indices, data))
    is_symmetric = min(mirrored) >= 0 and 2 * sum(mirrored) == len(indices)
    return None if is_symmetric else transposed(n, indptr, indices, data)


def plus_mirrored(
    indptr: NDArray[np.int64], indices: NDArray[Any], values: NDArray[np.float64], factor: float
) -> NDArray[np.float64]:
    """Return, for each entry (i, j) of a symmetric pattern in canonical form, (value of (j, i) + its own) * factor."""
    sums, parts = np.empty_like(values), parts_of_rows(indptr, indptr.nbytes + indices.nbytes + values.nbytes)
    share(core.add_mirrored, parts, (indptr, indices, values, factor), (sums,))
    return sums


def loops_of(indptr: NDArray[np.int64], indices: NDArray[Any]) -> NDArray[np.int64]:
    """Return the vertices that have self loops, ascending. Canonical rows have none, which one pass tells."""
    if not any(share(core.inspect, parts_of_rows(indptr), (indptr, indices))):
        return np.empty(0, np.int64)
    rows = rows_of(indptr, indices)
    return np.unique(rows[rows == indices]).astype(np.int64)


def rows_of(indptr: NDArray[np.int64], indices: NDArray[Any]) -> NDArray[Any]:
    """Return the row of each entry, of the type of the columns."""
    rows = np.empty_like(indices)
    share(core.expand_rows, parts_of_rows(indptr), (indptr,), (rows,))
    return rows


def _under_columns(n: int, rows: NDArray[Any], columns: NDArray[Any], data: Any) -> Csr:
    """Put entries under their columns, in the order listed: under ranges of columns, which fit caches, then columns."""
    shift = max(_SHIFT, n.bit_length() - _RANGES)
    entries, ranges = (rows, columns, data), [(0, n, 0, len(rows))]
    if n >> shift:
        entries, ranges = _under_ranges(n, entries, shift)
    indptr, heads = np.zeros(n + 1, np.int64), np.empty_like(rows)
    values = None if data is None else np.empty_like(data)
    share(core.sort_range, ranges, (entries,), (indptr, heads, values), threads_of(len(rows)))
    return indptr, heads, values


def _under_ranges(n: int, entries: Csr, shift: int) -> tuple[Csr, list[tuple[int, int, int, int]]]:
    """Put entries under ranges of 2**shift columns; also return first and last column and entry of each range."""
    columns, ranges, parts = entries[1], (n >> shift) + 1, parts_of(len(entries[1]))
    places = np.zeros((len(parts), ranges), np.int64)
    share(core.count_ranges, [(*part, shift, places[k]) for k, part in enumerate(parts)], (columns,))
    starts = np.zeros(ranges * len(parts) + 1, np.int64)
    np.cumsum(places.T, out=starts[1:])
    places = starts[:-1].reshape(ranges, len(parts)).T.copy()
    rows, _, data = entries
    put = np.empty_like(rows), np.empty_like(rows), None if data is None else np.empty_like(data)
    share(core.put_under_ranges, [(*part, shift, places[k]) for k, part in enumerate(parts)], (entries,), (put,))
    bounds = starts[:: len(parts)].tolist()
    return put, [(k << shift, min(n, (k + 1) << shift), bounds[k], bounds[k + 1]) for k in range(ranges)]


def both_ways(n: int, indptr: NDArray[np.int64], indices: NDArray[Any], lengths: Any, reverse: Any = None) -> Csr:
    """Take every edge both ways, with the smaller of two lengths; return a symmetric matrix itself."""
    csr = indptr, indices, lengths
    if reverse is None:
        reverse = reverse_of(n, *csr)
    elif are_equal(csr, reverse):
        return csr
    return csr if reverse is None else joined(n, csr, reverse)


def are_equal(ours: Csr, theirs: Csr) -> bool:
    """Whether two matrices in canonical form are equal."""
    for a, b in zip(ours, theirs, strict=True):
        if a is not None and a is not b and (len(a) != len(b) or np.count_nonzero(a != b)):
            return False
    return True


def kept_edges(csr: Csr, kept: NDArray[np.bool_]) -> tuple[Csr, NDArray[np.int64]]:
    """Leave out edges without a flag; also return the places of the others."""
    indptr, indices, data = csr
    before = np.append(0, np.cumsum(kept, dtype=np.int64))
    return (before[indptr], indices[kept], None if data is None else data[kept]), np.flatnonzero(kept)


def joined(n: int, a: Csr, b: Csr) -> Csr:
    """Take the entries of two matrices in canonical form, the smaller value where both have one."""
    parts, ours, theirs = parts_of_rows(a[0]), as_native(*a), as_native(*b)
    indptr = np.zeros(n + 1, np.int64)
    share(core.count_joined, parts, (ours, theirs), (indptr,))
    np.cumsum(indptr, out=indptr)
    indices = np.empty(indptr[-1], a[1].dtype)
    data = None if a[2] is None else np.empty(indptr[-1])
    share(core.join, parts, (ours, theirs), (indptr, indices, data))
    return indptr, indices, data


def relabelled(csr: Csr, order: NDArray[np.int64], position: NDArray[Any], tails: NDArray[Any] | None = None) -> Csr:
    """Take row ``order[i]`` for row i, column ``position[j]`` for column j, unsorted; rows are written to `tails`."""
    indptr, indices, data = csr
    starts = core.begin_rows(indptr, order)
    heads, values = np.empty_like(indices), None if data is None else np.empty_like(data)
    share(core.relabel, parts_of_rows(starts), (as_native(*csr), order, position), (starts, tails, heads, values))
    return starts, heads, values


def renumbered(csr: Csr, order: NDArray[np.int64], position: NDArray[np.int64], *, symmetric: bool) -> tuple[Csr, Csr]:
    """Take vertex ``order[i]`` for vertex i: return the matrix and its transpose in canonical rows.

    To transpose sorts the rows of the transpose. So a `symmetric` matrix is transposed once, any other twice.
    """
    n, tails = len(order), np.empty_like(csr[1])
    _, heads, values = relabelled(csr, order, position.astype(tails.dtype), tails)
    reverse = _under_columns(n, tails, heads, values)
    if symmetric:
        return reverse, reverse
    del tails, heads, values  # to transpose takes as much again
    return transposed(n, *reverse), reverse


def renumbered_places(csr: Csr, order: NDArray[np.int64], position: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place, in `csr`, of each edge of `renumbered`."""
    # Values are only moved, so places travel as the bits of floats.
    places = np.arange(len(csr[1]), dtype=np.int64).view(np.float64)
    (_, _, moved), _ = renumbered((*csr[:2], places), order, position, symmetric=False)
    return moved.view(np.int64)  # type: ignore[no-any-return]


# ---- Searches


def distances_from(out: Csr, into: Csr, root: int) -> NDArray[np.float64]:
    """Return the distances from a root, inf if unreached; `into` is the transpose of `out`."""

    def search(stop: NDArray[np.uint8]) -> NDArray[np.float64]:
        sweep = _ROOT_SWEEPS[out[1].dtype](as_native(*out), as_native(*into), None, 0.0, np.inf, stop)
        dist: NDArray[np.float64] = core.search_root(sweep, root)[1]
        return dist

    return until_stopped(search, len(out[1]))


def hub_distances(indptr: NDArray[np.int64], indices: NDArray[Any]) -> NDArray[np.uint8]:
    """Return hop distances (hubs, n) from each vertex to the first `HUBS`; 0 where no path of `HUB_LEVELS` leads.

    A search has a bit, and all go on at once: a vertex joins a search after the head of one of its edges.
    """
    n = len(indptr) - 1
    hubs = min(tuning.HUBS, n)
    distances = np.zeros((hubs, n), np.uint8)  # levels are fewer than 256
    frontier, joined, seen = np.zeros((3, n), np.uint16)
    frontier[:hubs] = seen[:hubs] = 1 << np.arange(hubs)
    parts = parts_of_rows(indptr)
    for level in range(1, tuning.HUB_LEVELS + 1):
        arrays = (1 << hubs) - 1, frontier, seen, joined, distances
        if not any(share(core.join_searches, parts, (indptr, indices), (level, *arrays))):
            break
        frontier, joined = joined, frontier
    return distances


# ---- Orders: sorts by small integers, stable, by counting


def isolated_last(order: NDArray[np.int64], indptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put vertices without edges last, and keep the order of the others."""
    isolated = (np.diff(indptr) == 0)[order]
    return np.concatenate([order[~isolated], order[isolated]])


def hub_order(distances: NDArray[Any], vertices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort vertices by their distances to the first hub, then to the second, and so on; `distances` is (hubs, n).

    On a graph of few levels most shortest paths pass the hubs. Roots at the same distances from the hubs see most
    vertices at the same levels: in a batch of them a row is live at fewer levels, in more columns at each.
    """
    for row in distances[::-1]:
        vertices = core.sort_by_key(row, vertices)
    return vertices


def length_order(csr: Csr, reverse: Csr, vertices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort vertices by their distances to the first, the unreached first: few are equal, so one hub is enough."""
    distances = distances_from(reverse, csr, 0)[vertices]
    return vertices[np.argsort(np.where(np.isfinite(distances), distances, -1.0), kind="stable")]


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
    # Numbered as a search finds them, vertices near each other are also near in memory.
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
    """Bisect pieces of `order` in place, a thread each: large ones once at a time, small ones down to leaves."""
    n, steps, threads = len(order), tuning.POWER_STEPS, threads_of(len(order) * _ENTRIES)
    shift = max(0, int(points.max(initial=0)).bit_length() - 15)  # coordinates of 15 bits
    most = n if threads == 1 else n // (_PIECES * threads)
    while large := [piece for piece in pieces if piece[1] - piece[0] > max(most, leaf)]:
        pieces = [piece for piece in pieces if piece not in set(large)]
        middles = share(core.bisect, large, (points, shift, order), (leaf, True, steps), threads)
        for (first, last), middle in zip(large, middles, strict=True):
            pieces += [(first, middle), (middle, last)]
    pieces.sort(key=lambda piece: piece[0] - piece[1])
    share(core.bisect, pieces, (points, shift, order), (leaf, False, steps), threads)
