"""Compressed sparse rows as plain arrays: NumPy's on the host, CuPy's on a device, by the same functions.

A triple (indptr, indices, data) lists the columns of each row in ascending order; data is None for a mere pattern.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

Csr = tuple[Any, Any, Any]


def module_of(array: Any) -> Any:
    """Return the module whose array it is: numpy or cupy."""
    return np if isinstance(array, np.ndarray) else import_module("cupy")


def as_numpy(array: Any) -> Any:
    """Return a NumPy or CuPy array as a NumPy array."""
    return array if isinstance(array, np.ndarray) else array.get()


def rows_of(indptr: Any, indices: Any) -> Any:
    """Row of each entry, of the type of the columns."""
    if isinstance(indptr, np.ndarray):
        return np.repeat(np.arange(len(indptr) - 1, dtype=indices.dtype), np.diff(indptr))
    xp = module_of(indptr)
    return (xp.searchsorted(indptr, xp.arange(len(indices)), side="right") - 1).astype(indices.dtype)


def from_entries(n: int, rows: Any, columns: Any, data: Any = None, *, smallest: bool = False) -> Csr:
    """Compress the entries of an n x n matrix, given in any order.

    Parameters
    ----------
    n : int
    rows, columns : integer arrays, shape (entries,)
    data : array, shape (entries,), or None
        Values; None for a pattern.
    smallest : bool
        Of entries at the same place, keep the smallest instead of their sum.

    Returns
    -------
    indptr : int64 array, shape (n + 1,)
    indices : int32 array (int64 where n needs it)
    data : array or None
    """
    wide = np.int32 if n <= np.iinfo(np.int32).max else np.int64
    if isinstance(rows, np.ndarray) and not smallest:
        ones = np.ones(len(rows), np.bool_) if data is None else data
        matrix = sparse.coo_array((ones, (rows, columns)), shape=(n, n)).tocsr()
        matrix.sort_indices()
        values = None if data is None else matrix.data
        return matrix.indptr.astype(np.int64), matrix.indices.astype(wide), values
    xp = module_of(rows)
    key = rows.astype(np.int64) * n + columns
    if data is None:
        key = xp.unique(key)
    else:
        # By place, then by value if the smallest is wanted, else as they were given; both sorts are stable.
        order = xp.argsort(data, kind="stable") if smallest else xp.arange(len(key))
        order = order[xp.argsort(key[order], kind="stable")]
        key, data = key[order], data[order]
        first = xp.append(xp.ones(min(len(key), 1), bool), key[1:] != key[:-1])
        data = data[first] if smallest else _sum_runs(data, first)
        key = key[first]
    indptr = xp.searchsorted(key, n * xp.arange(n + 1, dtype=np.int64))
    return indptr.astype(np.int64), (key % max(n, 1)).astype(wide), data


def both_ways(n: int, indptr: Any, indices: Any, lengths: Any) -> Csr:
    """Take every edge in both directions, with the smaller of the two lengths."""
    join, rows = module_of(indices).concatenate, rows_of(indptr, indices)
    both = None if lengths is None else join([lengths, lengths])
    return from_entries(n, join([rows, indices]), join([indices, rows]), both, smallest=lengths is not None)


def _sum_runs(data: Any, first: Any) -> Any:
    """Sum of each run that begins where `first` is set, from left to right, one rank in the runs after the other."""
    xp = module_of(data)
    run = xp.cumsum(first) - 1
    rank = xp.arange(len(data)) - xp.flatnonzero(first)[run]
    sums = data[first]
    for k in range(1, int(rank.max()) + 1 if len(rank) else 0):
        at_rank = rank == k
        sums[run[at_rank]] += data[at_rank]
    return sums
