"""Compressed sparse rows in the host's memory: checked, sorted by counting, transposed, joined and permuted.

A triple (indptr, indices, data) as in `lagbc.graph.csr`: int64, int32 (int64 where n needs it), float64 or None. Values
are only moved, summed or compared. Sorting is by counting, twice: entries that are put one after the other under their
columns are in the order of the rows there, and put back under their rows in the order of the columns.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,var-annotated"

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.cpu.cores import parts_of, parts_of_rows, share

Csr = tuple[NDArray[np.int64], NDArray[Any], Any]

# What rows may be besides canonical.
_OUTSIDE, _UNSORTED, _UNMERGED = 1, 2, 4
# Entries are put under ranges of 2**12 columns, or of more, so that there are at most 2**9 ranges. With R-MAT 20-16 all
# columns at once took up to twice as long; 2**10 to 2**13 differ by a tenth.
_SHIFT, _RANGES = 12, 9


def canonical(n: int, indptr: NDArray[np.int64], indices: NDArray[Any], data: Any) -> Csr:
    """Sort rows, drop loops and sum entries at the same place, from left to right as stored.

    The arrays given are returned where nothing is to be done; they are never written.

    Raises
    ------
    IndexError
        A column is not in 0..n - 1.
    """
    found = share(lambda first, last: _inspect(n, indptr, indices, first, last), parts_of_rows(indptr))
    flags = reduce(or_, found)
    if flags & _OUTSIDE:
        raise IndexError("a column is outside the matrix")
    if flags & _UNSORTED:
        return merged(*transposed(n, *transposed(n, indptr, indices, data)))
    if flags:
        return merged(indptr.copy(), indices.copy(), None if data is None else data.copy())
    return indptr, indices, data


def merged(indptr: NDArray[np.int64], indices: NDArray[Any], data: Any) -> Csr:
    """Drop loops and sum entries at the same place, in place; rows are sorted."""
    kept = _merge(indptr, indices, data)
    if kept == len(indices):
        return indptr, indices, data
    return indptr, indices[:kept].copy(), None if data is None else data[:kept].copy()


def from_entries(n: int, rows: NDArray[Any], columns: NDArray[Any], data: Any) -> Csr:
    """Compress entries in any order to canonical rows; their ends are of the type of `indices`."""
    return merged(*transposed(n, *_under_columns(n, rows, columns, data)))


def transposed(n: int, indptr: NDArray[np.int64], indices: NDArray[Any], data: Any) -> Csr:
    """Put entries under their columns, in the order of rows, and as stored in each."""
    return _under_columns(n, rows_of(indptr, indices), indices, data)


def rows_of(indptr: NDArray[np.int64], indices: NDArray[Any]) -> NDArray[Any]:
    """Row of each entry, of the type of the columns."""
    rows = np.empty_like(indices)
    share(lambda first, last: _expand(indptr, first, last, rows), parts_of_rows(indptr))
    return rows


def _under_columns(n: int, rows: NDArray[Any], columns: NDArray[Any], data: Any) -> Csr:
    """Put entries under their columns, as stored in each: first under ranges of columns, then in each range.

    The places of a range of columns fit into a core's cache, and the ends of all ranges, too.
    """
    shift = max(_SHIFT, n.bit_length() - _RANGES)
    ranges = (n >> shift) + 1
    bounds, between = [0, len(rows)], (rows, columns, data)
    if ranges > 1:
        parts = parts_of(len(rows))
        places = np.zeros((len(parts), ranges), np.int64)
        share(lambda k: _count(columns, *parts[k], shift, places[k]), _numbers(parts))
        starts = np.zeros(ranges * len(parts) + 1, np.int64)
        np.cumsum(places.T, out=starts[1:])
        places = starts[:-1].reshape(ranges, len(parts)).T.copy()
        bounds = starts[:: len(parts)].tolist()
        between = np.empty_like(rows), np.empty_like(rows), None if data is None else np.empty_like(data)
        share(lambda k: _put(rows, columns, data, *parts[k], shift, places[k], *between), _numbers(parts))
    indptr, heads = np.zeros(n + 1, np.int64), np.empty_like(rows)
    values = None if data is None else np.empty_like(data)
    work = [(k << shift, min(n, (k + 1) << shift), bounds[k], bounds[k + 1]) for k in range(ranges)]
    share(lambda *of_range: _sort(*between, *of_range, indptr, heads, values), work)
    return indptr, heads, values


def _numbers(parts: list[Any]) -> list[tuple[int]]:
    return [(k,) for k in range(len(parts))]


def joined(n: int, a: Csr, b: Csr) -> Csr:
    """Take the entries of either of two matrices of canonical rows, with the smaller value of the two."""
    parts = parts_of_rows(a[0])
    indptr = np.zeros(n + 1, np.int64)
    share(lambda first, last: _count_joined(*a[:2], *b[:2], first, last, indptr), parts)
    np.cumsum(indptr, out=indptr)
    indices = np.empty(indptr[-1], a[1].dtype)
    data = None if a[2] is None else np.empty(indptr[-1])
    share(lambda first, last: _join(*a, *b, first, last, indptr, indices, data), parts)
    return indptr, indices, data


def relabelled(csr: Csr, order: NDArray[np.int64], position: NDArray[Any], tails: NDArray[Any] | None = None) -> Csr:
    """Take row ``order[i]`` for row i, and column ``position[j]`` for column j; rows are not sorted.

    `position` is of the type of the columns, and so is `tails`, where the row of each entry is written.
    """
    indptr, indices, data = csr
    starts = np.zeros(len(indptr), np.int64)
    (indptr[1:] - indptr[:-1])[order].cumsum(out=starts[1:])
    heads, values = np.empty_like(indices), None if data is None else np.empty_like(data)
    share(
        lambda first, last: _relabel(*csr, order, position, first, last, starts, tails, heads, values),
        parts_of_rows(starts),
    )
    return starts, heads, values


def renumbered(csr: Csr, order: NDArray[np.int64], position: NDArray[np.int64], *, symmetric: bool) -> tuple[Csr, Csr]:
    """Take vertex ``order[i]`` for vertex i, in canonical rows: the matrix and its transpose, one and the same if so.

    The transpose of rows in any order has its own sorted. So a symmetric matrix is put in order once, others twice.
    """
    n, tails = len(order), np.empty_like(csr[1])
    _, heads, values = relabelled(csr, order, position.astype(tails.dtype), tails)
    reverse = _under_columns(n, tails, heads, values)
    return (reverse, reverse) if symmetric else (transposed(n, *reverse), reverse)


@njit
def _inspect(n, indptr, indices, first, last):
    """Return the flags of rows `first` to `last`."""
    outside, unsorted, unmerged = False, False, False
    for i in range(first, last):
        before = -1
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            outside |= (j < 0) | (j >= n)
            unsorted |= j < before
            unmerged |= (j == before) | (j == i)
            before = j
    return outside * _OUTSIDE + unsorted * _UNSORTED + unmerged * _UNMERGED


@njit
def _merge(indptr, indices, data):
    """Merge in place; return how many entries are left."""
    kept, begin = 0, indptr[0]
    for i in range(len(indptr) - 1):
        end, start = indptr[i + 1], kept
        for e in range(begin, end):
            j = indices[e]
            if j == i:
                continue
            if kept > start and indices[kept - 1] == j:
                if data is not None:
                    data[kept - 1] += data[e]
                continue
            indices[kept] = j
            if data is not None:
                data[kept] = data[e]
            kept += 1
        begin = end
        indptr[i + 1] = kept
    return kept


@njit
def _expand(indptr, first, last, rows):
    for i in range(first, last):
        for e in range(indptr[i], indptr[i + 1]):
            rows[e] = i


@njit
def _count(columns, first, last, shift, counts):
    for e in range(first, last):
        counts[columns[e] >> shift] += 1


@njit
def _put(rows, columns, data, first, last, shift, places, rows_out, columns_out, data_out):
    """Put entries `first` to `last` under their ranges of columns."""
    for e in range(first, last):
        j = columns[e]
        place = places[j >> shift]
        places[j >> shift] = place + 1
        rows_out[place] = rows[e]
        columns_out[place] = j
        if data is not None:
            data_out[place] = data[e]


@njit
def _sort(rows, columns, data, first, last, begin, end, indptr, heads, values):
    """Put entries `begin` to `end`, all those of columns `first` to `last`, under their columns."""
    places = np.zeros(last - first + 1, np.int64)
    for e in range(begin, end):
        places[columns[e] - first + 1] += 1
    places[0] = begin
    for j in range(first, last):
        places[j - first + 1] += places[j - first]
        indptr[j + 1] = places[j - first + 1]
    for e in range(begin, end):
        j = columns[e] - first
        place = places[j]
        places[j] = place + 1
        heads[place] = rows[e]
        if data is not None:
            values[place] = data[e]


@njit
def _count_joined(a_indptr, a_indices, b_indptr, b_indices, first, last, counts):
    """Count the columns of either row, for rows `first` to `last`, at the place after the row's."""
    for i in range(first, last):
        a, a_end, b, b_end = a_indptr[i], a_indptr[i + 1], b_indptr[i], b_indptr[i + 1]
        both = 0
        while a < a_end and b < b_end:
            x, y = a_indices[a], b_indices[b]
            both += x == y
            a += x <= y
            b += y <= x
        counts[i + 1] = a_end - a_indptr[i] + b_end - b_indptr[i] - both


@njit
def _join(a_indptr, a_indices, a_data, b_indptr, b_indices, b_data, first, last, indptr, indices, data):
    for i in range(first, last):
        a, a_end, b, b_end = a_indptr[i], a_indptr[i + 1], b_indptr[i], b_indptr[i + 1]
        for place in range(indptr[i], indptr[i + 1]):
            in_a = a < a_end and (b == b_end or a_indices[a] <= b_indices[b])
            in_b = b < b_end and (a == a_end or b_indices[b] <= a_indices[a])
            indices[place] = a_indices[a] if in_a else b_indices[b]
            if data is not None:
                if in_a and in_b:
                    data[place] = min(a_data[a], b_data[b])
                else:
                    data[place] = a_data[a] if in_a else b_data[b]
            a += in_a
            b += in_b


@njit
def _relabel(indptr, indices, data, order, position, first, last, starts, tails, heads, values):
    for i in range(first, last):
        shift = starts[i] - indptr[order[i]]
        for e in range(indptr[order[i]], indptr[order[i] + 1]):
            heads[e + shift] = position[indices[e]]
            if tails is not None:
                tails[e + shift] = i
            if data is not None:
                values[e + shift] = data[e]
