"""The vertices that an edge list names, numbered as they come.

Both kinds number the ends of a piece of edges at a time, and make room before they do. A table has at least 4 / 3 slots
a vertex.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import OutOfMemoryError
from lagbc.io.edges import scan

# What SciPy's matrices have as row and column.
_MOST = np.iinfo(np.int32).max


class Vertices(Protocol):
    """The vertices met so far."""

    @property
    def most_bytes(self) -> int:
        """What they take, and the labels made of them."""

    def number(
        self, text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], int]:
        """Return the numbers of the vertices in some fields; also the first field that is none, or -1."""

    def labelled(self, ends: NDArray[np.int32]) -> np.ndarray:
        """Return what the file calls the vertices, in their final order, and number `ends` by it, in place."""


class Integers:
    """Vertices that are integers of 64 bits, in the end in ascending order."""

    def __init__(self) -> None:
        self._ids, self._count = np.empty(1024, np.int64), 0
        self._slots = np.full(2048, -1, np.int32)

    @property
    def most_bytes(self) -> int:
        """What they take, and the labels made of them."""
        return int(self._ids.nbytes + self._slots.nbytes + 20 * self._count)

    def number(
        self, text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], int]:
        """Return the numbers of the vertices in some fields; also the first field that is no integer, or -1."""
        keys = np.empty(len(starts), np.int64)
        wrong = scan.parse_integers(text, starts, stops, keys)
        if wrong >= 0:
            return np.empty(0, np.int32), wrong
        most = self._count + len(keys)
        self._ids = _grown(self._ids, most)
        if _is_crowded(self._slots, most):
            self._slots = _empty_slots(most, np.int32)
            scan.place_integers(self._ids, self._count, self._slots)
        numbers = np.empty(len(keys), np.int32)
        self._count = scan.number_integers(keys, self._slots, self._ids, self._count, numbers)
        return numbers, -1

    def labelled(self, ends: NDArray[np.int32]) -> np.ndarray:
        """Return the integers, ascending, and number `ends` by that order, in place."""
        self._slots = np.empty(0, np.int32)
        ids = self._ids[: self._count]
        order = np.argsort(ids)
        rank = np.empty(self._count, np.int32)
        rank[order] = np.arange(self._count, dtype=np.int32)
        for begin in range(0, len(ends), _PART):
            ends[begin : begin + _PART] = rank[ends[begin : begin + _PART]]
        return ids[order]


class Names:
    """Vertices that are names, in the order in which they first occur."""

    def __init__(self) -> None:
        self._names, self._offsets = np.empty(1 << 16, np.uint8), np.zeros(1025, np.int64)
        self._hashes, self._count = np.empty(1024, np.uint64), 0
        self._slots = np.full(2048, -1, np.int64)

    @property
    def most_bytes(self) -> int:
        """What they take, and the labels made of them."""
        held = self._names.nbytes + self._offsets.nbytes + self._hashes.nbytes + self._slots.nbytes
        return int(held + 16 * self._count + self._offsets[self._count])

    def number(
        self, text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], int]:
        """Return the numbers of the vertices in some fields; also the first field that is empty, or -1."""
        sizes = stops - starts
        if len(sizes) and not sizes.all():
            return np.empty(0, np.int32), int(np.argmin(sizes))
        most = self._count + len(sizes)
        self._names = _grown(self._names, int(self._offsets[self._count] + sizes.sum() + len(sizes)))
        self._hashes, self._offsets = _grown(self._hashes, most), _grown(self._offsets, most + 1)
        if _is_crowded(self._slots, most):
            self._slots = _empty_slots(most, np.int64)
            scan.place_names(self._hashes, self._count, self._slots)
        keys, numbers = np.empty(len(sizes), np.uint64), np.empty(len(sizes), np.int32)
        scan.hash_names(text, starts, stops, keys)
        table = self._slots, self._hashes, self._offsets, self._names
        self._count = scan.number_names(text, starts, stops, keys, *table, self._count, numbers)
        return numbers, -1

    def labelled(self, ends: NDArray[np.int32]) -> np.ndarray:
        """Return the names; UnicodeDecodeError if one is not UTF-8."""
        self._slots, self._hashes = np.empty(0, np.int64), np.empty(0, np.uint64)
        labels = np.empty(self._count, np.dtypes.StringDType())
        for begin in range(0, self._count, _PART):
            end = min(begin + _PART, self._count)
            text = self._names[self._offsets[begin] : self._offsets[end] - 1]
            labels[begin:end] = text.tobytes().decode("utf-8").split("\n")
        return labels


# How many are renumbered or decoded at a time.
_PART = 1 << 16


def _grown(array: np.ndarray, size: int) -> np.ndarray:
    """Return the array with room for so many: half as much again where it has to be copied."""
    if size <= len(array):
        return array
    grown = np.empty(size + size // 2, array.dtype)
    grown[: len(array)] = array
    return grown


def _is_crowded(slots: NDArray[Any], most: int) -> bool:
    return 4 * most > 3 * len(slots)


def _empty_slots(most: int, kind: type[np.signedinteger[Any]]) -> NDArray[Any]:
    if most > _MOST:
        raise OutOfMemoryError(f"there may be {most:,} vertices; an edge list has at most {_MOST:,}")
    return np.full(1 << (2 * most - 1).bit_length(), -1, kind)
