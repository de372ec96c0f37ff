"""Compressed sparse rows as plain arrays: NumPy's on the host, CuPy's on a device, by the same functions.

A triple (indptr, indices, data) lists the columns of each row in ascending order; data is None for a mere pattern.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from lagbc.graph import host

Csr = tuple[Any, Any, Any]
_MOST_IN_32_BITS = np.iinfo(np.int32).max


def ops_of(array: Any) -> Any:
    """Return the module with the operations on an array: `lagbc.graph.host` or `lagbc.graph.device.ops`."""
    return host if isinstance(array, np.ndarray) else import_module("lagbc.graph.device.ops")


def module_of(array: Any) -> Any:
    """Return the library of an array: numpy or cupy."""
    return np if isinstance(array, np.ndarray) else import_module("cupy")


def as_numpy(array: Any) -> Any:
    """Return a NumPy or CuPy array as a NumPy array."""
    return array if isinstance(array, np.ndarray) else array.get(out=host.touched(array.shape, array.dtype))


def read_only(array: Any) -> Any:
    """Make an array of NumPy read-only, and return it; an array of CuPy, or None, stays as it is."""
    if isinstance(array, np.ndarray):
        array.setflags(write=False)
    return array


def index_type(n: int) -> type[np.signedinteger[Any]]:
    """Return the type of the columns of an n x n matrix."""
    return np.int32 if n <= _MOST_IN_32_BITS else np.int64
