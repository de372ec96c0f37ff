"""Compressed sparse rows as plain arrays: NumPy's on the host, CuPy's on a device, by the same functions.

A triple (indptr, indices, data) lists the columns of each row in ascending order; data is None for a mere pattern. The
work on the host's arrays is done in `lagbc.graph.host`, on a device's in `lagbc.graph.device`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from lagbc.graph.host import csr as host

Csr = tuple[Any, Any, Any]
_MOST_IN_32_BITS = np.iinfo(np.int32).max


def module_of(array: Any) -> Any:
    """Return the module whose array it is: numpy or cupy."""
    return np if isinstance(array, np.ndarray) else import_module("cupy")


def as_numpy(array: Any) -> Any:
    """Return a NumPy or CuPy array as a NumPy array."""
    return array if isinstance(array, np.ndarray) else array.get()


def rows_of(indptr: Any, indices: Any) -> Any:
    """Row of each entry, of the type of the columns."""
    if isinstance(indptr, np.ndarray):
        return host.rows_of(indptr, indices)
    from lagbc.graph.device import csr as device

    return device.rows_of(indptr, len(indices))


def transposed(n: int, indptr: Any, indices: Any, data: Any) -> Csr:
    """Reverse every edge."""
    if isinstance(indptr, np.ndarray):
        return host.transposed(n, indptr, indices, data)
    from lagbc.graph.device import csr as device

    return device.transpose(n, indptr, indices, data)


def both_ways(n: int, indptr: Any, indices: Any, lengths: Any, reverse: Csr | None = None) -> Csr:
    """Take every edge in both directions, with the smaller of the two lengths.

    `reverse` is the transpose, if there is one. On the host the arrays are those given where every edge has its equal.
    """
    if isinstance(indptr, np.ndarray):
        csr = indptr, indices, lengths
        reverse = reverse or host.transposed(n, *csr)
        return csr if are_equal(csr, reverse) else host.joined(n, csr, reverse)
    from lagbc.graph.device import csr as device

    return device.both_ways(n, indptr, indices, lengths)


def renumbered(csr: Csr, order: Any, position: Any, *, symmetric: bool) -> tuple[Csr, Csr | None]:
    """Take vertex ``order[i]``, a NumPy array, for vertex i; `position` is its inverse, and also one.

    Returns
    -------
    csr : Csr
    reverse : Csr or None
        Its transpose, if that is made on the way; the same tuple for a matrix that is `symmetric`.
    """
    if isinstance(csr[0], np.ndarray):
        return host.renumbered(csr, order, position, symmetric=symmetric)
    from lagbc.graph.device import csr as device

    placed = device.renumber(len(order), *csr, position)
    return placed, placed if symmetric else None


def renumbered_places(csr: Csr, order: Any, position: Any) -> Any:
    """Return the place of each edge of `renumbered` among those given."""
    if isinstance(csr[0], np.ndarray):
        # Values are only moved, so that they may as well be the places, taken for floats bit by bit.
        places = np.arange(len(csr[1]), dtype=np.int64).view(np.float64)
        (_, _, moved), _ = host.renumbered((*csr[:2], places), order, position, symmetric=False)
        return moved.view(np.int64)
    from lagbc.graph.device import csr as device

    return device.renumber(len(order), *csr[:2], None, position, places=True)[2]


def are_equal(ours: Csr, theirs: Csr) -> bool:
    """Whether two matrices in canonical form are equal."""
    if isinstance(ours[0], np.ndarray):
        pairs = zip(ours, theirs, strict=True)
        return all(a is None or a is b or (len(a) == len(b) and bool((a == b).all())) for a, b in pairs)
    from lagbc.graph.device import csr as device

    return all(a is None or a is b or device.are_equal(a, b) for a, b in zip(ours, theirs, strict=True))


def kept_edges(csr: Csr, kept: Any) -> tuple[Csr, Any]:
    """Leave out edges, a flag each that says whether it stays; also return the places of those that stay."""
    indptr, indices, data = csr
    if isinstance(indptr, np.ndarray):
        before = np.append(0, np.cumsum(kept, dtype=np.int64))
        return (before[indptr], indices[kept], None if data is None else data[kept]), np.flatnonzero(kept)
    from lagbc.graph.device import csr as device

    return device.keep(indptr, indices, data, kept)


def index_type(n: int) -> type[np.signedinteger[Any]]:
    """Type of the columns of an n x n matrix."""
    return np.int32 if n <= _MOST_IN_32_BITS else np.int64
