"""Edges by the numbers of their ends, with lengths: the form into which graphs of other libraries are read."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidTypeError
from lagbc.graph.given import Listed


@dataclass(slots=True, eq=False)
class Entries:
    """The edges of a graph, vertices numbered from 0; an undirected edge is listed both ways, a loop once."""

    n: int
    tails: NDArray[np.int64]  # tails, heads: parallel edges are entries of their own
    heads: NDArray[np.int64]
    directed: bool

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        # Arrays that pickle loads are read-only, and SciPy does not index by such.
        for name, value in state[1].items():
            setattr(self, name, value.copy() if isinstance(value, np.ndarray) else value)

    def matrix(self, lengths: NDArray[Any] | None = None, *, largest: bool = False) -> Listed:
        """Return the adjacency matrix, of ones or of `lengths`; of parallel edges the smallest, or the `largest`."""
        if lengths is None:
            return self._coo(np.ones(len(self.tails), np.bool_), self.tails, self.heads)
        key = lengths
        if largest:  # flags and unsigned integers have no negatives
            key = -lengths if lengths.dtype.kind == "f" else ~lengths
        order = np.lexsort((key, self.heads, self.tails))
        tails, heads = self.tails[order], self.heads[order]
        first = first_of_parallel(tails, heads)
        return self._coo(lengths[order][first], tails[first], heads[first])

    def _coo(self, values: NDArray[Any], tails: NDArray[np.int64], heads: NDArray[np.int64]) -> Listed:
        return Listed((self.n, self.n), tails, heads, values)


def first_of_parallel(tails: NDArray[np.int64], heads: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark the first of each run of entries with the same ends."""
    first = np.ones(len(tails), np.bool_)
    first[1:] = (tails[1:] != tails[:-1]) | (heads[1:] != heads[:-1])
    return first


def shares_of_parallel(entries: Entries, lengths: NDArray[Any], *, largest: bool = False) -> NDArray[np.float64]:
    """Return each entry's share in the score of its pair; parallel edges are adjacent.

    Those of the smallest length, or the `largest`, share equally.
    """
    if not len(lengths):
        return np.ones(0)
    first = first_of_parallel(entries.tails, entries.heads)
    pair = np.cumsum(first) - 1
    extreme = np.maximum if largest else np.minimum
    counting = lengths == extreme.reduceat(lengths, np.flatnonzero(first))[pair]
    shares: NDArray[np.float64] = counting / np.bincount(pair, counting)[pair]
    return shares


def mirrored(tails: NDArray[Any], heads: NDArray[Any], values: Any) -> tuple[NDArray[Any], NDArray[Any], Any]:
    """Return edges both ways, a loop once, with their values, or None."""
    back = tails != heads
    values = None if values is None else np.concatenate([values, values[back]])
    return np.concatenate([tails, heads[back]]), np.concatenate([heads, tails[back]]), values


def as_lengths(values: Iterable[Any], name_of: Callable[[int], str]) -> NDArray[Any]:
    """Make an array of integers or floats; TypeError names the first value that is neither by ``name_of(position)``."""
    given = list(values)
    try:
        lengths = np.array(given or np.zeros(0))
    except ValueError:  # ragged
        lengths = np.array(None)
    if lengths.dtype.kind in "biuf" and lengths.ndim == 1:
        return lengths
    for position, value in enumerate(given):
        if np.ndim(value) or np.asarray(value).dtype.kind not in "biuf":
            raise InvalidTypeError(
                f"{name_of(position)} has length {value!r}; lengths are floats, or integers of 64 bits"
            )
    raise InvalidTypeError(f"the lengths have no common type of real numbers, but {lengths.dtype}")
