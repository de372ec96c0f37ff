"""Passes over matrices of a row a vertex and a column a root, each of which reads them once."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

import numpy as np

from lagbc.cpu.compile import njit


@njit
def extremes(weights, smallest, largest):
    """Lower `smallest` to the smallest number > 0 of each column, and raise `largest` to the largest."""
    for v in range(len(weights)):
        for k in range(len(smallest)):
            weight = weights[v, k]
            largest[k] = max(largest[k], weight)
            smallest[k] = min(smallest[k], weight if weight > 0.0 else np.inf)


@njit
def clear_unreached(dist, sigma):
    """Set sigma to 0 where dist is inf."""
    for v in range(len(dist)):
        for k in range(dist.shape[1]):
            if dist[v, k] == np.inf:
                sigma[v, k] = 0.0


@njit
def turn(columns, rows):
    """Write the transpose of a matrix of a row a root, a few rows of it at a time: both are met in whole lines."""
    for first in range(0, len(rows), 128):
        for k in range(len(columns)):
            for v in range(first, min(first + 128, len(rows))):
                rows[v, k] = columns[k, v]


@njit
def turn_back(rows, columns):
    """Write the transpose of a matrix of a row a vertex: 16 columns of 1024 rows after the other."""
    for first in range(0, len(rows), 1024):
        last = min(first + 1024, len(rows))
        for begin in range(0, len(columns), 16):
            end = min(begin + 16, len(columns))
            for v in range(first, last):
                for k in range(begin, end):
                    columns[k, v] = rows[v, k]
