"""Weights of targets, scaled by powers of two so that a backward sweep can divide them by path counts.

A root adds its weight * sigma * sum of (omega / sigma) to a score. With omega at either end of the range of a dtype a
factor leaves it, though the product may not. A sweep gets 2**-shift omega and 2**shift root weights instead: powers of
two change no bit of the product.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import OutOfRangeError
from lagbc.graph.csr import as_numpy, module_of

# omega stays below two to this exponent, so that sums over all vertices are finite.
_LARGEST_EXPONENTS = {"float64": 900, "float32": 90}


def shift_into_range(smallest: Any, largest: Any, dtype: str = "float64") -> Any:
    """Return the exponent to take from positive weights: the largest shall be in range, and then the smallest >= 1."""
    lowest, highest = np.frexp(smallest)[1], np.frexp(largest)[1]
    return np.maximum(np.minimum(lowest - 1, 0), highest - _LARGEST_EXPONENTS[dtype])


def scales_of(
    smallest: NDArray[np.float64], largest: NDArray[np.float64], times: NDArray[np.float64], dtype: str
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return the shift of columns by their positive weights, the scaled `times`, and a mask of columns without one."""
    shift = shift_into_range(smallest, largest, dtype)
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(times, shift)
        beyond = (np.ldexp(smallest, -shift) < 1) | (np.ldexp(scaled, -shift) != times)
    return shift, scaled, beyond


def shifts_of_rows(indptr: NDArray[Any], data: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the shift of each row of a demand, by positive weights, and a mask of those without one; shape (rows,)."""
    shifts, beyond = np.zeros(len(indptr) - 1, np.int64), np.zeros(len(indptr) - 1, np.bool_)
    rows = np.flatnonzero(np.diff(indptr))
    if len(rows):
        first = indptr[rows]
        smallest, largest = np.minimum.reduceat(data, first), np.maximum.reduceat(data, first)
        shifts[rows], _, beyond[rows] = scales_of(smallest, largest, np.ones(len(rows)), "float64")
    return shifts, beyond


def columns_into_range(omega: Any, times: NDArray[np.float64], dtype: str) -> tuple[Any, NDArray[np.float64]]:
    """Scale each column of target weights (rows, columns), and `times` inversely; OverflowError if no scale does."""
    xp = module_of(omega)
    smallest, largest = _extremes(omega)
    smallest, largest = (np.where(largest > 0, end, 1.0) for end in (smallest, largest))
    shift, scaled, beyond = scales_of(smallest, largest, times, dtype)
    if not shift.any():
        return omega, times
    if beyond.any():
        column = int(np.argmax(beyond))
        raise OutOfRangeError(
            f"target weights of column {column} are from {smallest[column]} to {largest[column]}, and it counts "
            f"{times[column]} times: {dtype} does not hold what they sum to; scale them, or sweep its root by itself"
        )
    return xp.ldexp(omega, xp.asarray(-shift)), scaled


def _extremes(omega: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smallest weight > 0 and the largest of each column."""
    if isinstance(omega, np.ndarray):
        from lagbc.native import core

        smallest, largest = np.full((2, omega.shape[1]), np.inf)
        largest.fill(0.0)
        core.find_extremes(omega, smallest, largest)
        return smallest, largest
    xp = module_of(omega)
    return as_numpy(xp.where(omega > 0, omega, np.inf).min(axis=0)), as_numpy(omega.max(axis=0))
