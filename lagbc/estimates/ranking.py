"""The highest of some scores, and their gap to the others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.csr import module_of
from lagbc.graph.names import Names

Values = NDArray[np.float64]


class Ranked(NamedTuple):
    """A row of the table of an estimate."""

    vertex: Any  # its name, or its number
    score: float
    lower: float
    upper: float
    tied: bool  # whether a vertex outside the k highest may be as high, by the intervals


def highest(scores: Values, k: int) -> Any:
    """Mark the k highest scores; of equal ones the first."""
    arrays, n = module_of(scores), len(scores)
    if k >= n:
        return arrays.ones(n, np.bool_)
    least = arrays.partition(scores, n - k)[n - k]
    chosen = scores > least
    equal = arrays.flatnonzero(scores == least)
    chosen[equal[: k - int(chosen.sum())]] = True
    return chosen


def gap(scores: Values, lower: Values, upper: Values, k: int) -> float:
    """Return the most by which another score may exceed the k highest; 0 or less if these are certain."""
    if k >= len(scores):
        return 0.0
    chosen = highest(scores, k)
    return float(upper[~chosen].max() - lower[chosen].min())


def ranked(
    found: tuple[Values, Values, Values], k: int, vertices: NDArray[np.int64] | None, names: Names | None
) -> tuple[Ranked, ...]:
    """Return rows of the k highest, marked as tied if another vertex may be as high."""
    scores, lower, upper = found
    chosen = highest(scores, k)
    highest_of_rest = upper[~chosen].max(initial=-np.inf)
    places = np.flatnonzero(chosen)
    rows = list[Ranked]()
    for place in places[np.argsort(-scores[places], kind="stable")].tolist():
        number = place if vertices is None else int(vertices[place])
        vertex = number if names is None else names[number]
        bounds = float(scores[place]), float(lower[place]), float(upper[place])
        rows.append(Ranked(vertex, *bounds, tied=bool(lower[place] < highest_of_rest)))
    return tuple(rows)
