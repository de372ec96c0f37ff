"""Orders by counting, in the host's memory: keys that are small integers, ties in the order they had."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,var-annotated"

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.cpu.compile import njit


def by_key(keys: NDArray[np.integer[Any]], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort `order` by the keys of what it lists; what has the same key stays in order. O(entries + range of keys)."""
    ordered = np.empty_like(order)
    _by_key(keys, order, ordered)
    return ordered


def degree_order(indptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order vertices by falling degree, ties by number."""
    return by_key(indptr[:-1] - indptr[1:], np.arange(len(indptr) - 1))


def hub_order(distances: NDArray[np.integer[Any]], vertices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort vertices by their distances in the first row, then in the second, and so on."""
    for row in distances[::-1]:
        vertices = by_key(row, vertices)
    return vertices


@njit
def _by_key(keys, order, ordered):
    least, most = 0, 0
    for key in keys:
        least, most = min(least, key), max(most, key)
    places = np.zeros(most - least + 2, np.int64)
    for i in order:
        places[keys[i] - least + 1] += 1
    for key in range(most - least):
        places[key + 1] += places[key]
    for i in order:
        ordered[places[keys[i] - least]] = i
        places[keys[i] - least] += 1
