"""Orders by counting, in the host's memory: keys that are small integers, ties in the order they had."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.native import core


def by_key(keys: NDArray[Any], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort `order` by the keys of what it lists; what has the same key stays in order. O(entries + range of keys)."""
    return core.sort_by_key(keys, order)


def degree_order(indptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order vertices by falling degree, ties by number."""
    return by_key(indptr[:-1] - indptr[1:], np.arange(len(indptr) - 1))


def hub_order(distances: NDArray[Any], vertices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort vertices by their distances in the first row, then in the second, and so on."""
    for row in distances[::-1]:
        vertices = by_key(row, vertices)
    return vertices
