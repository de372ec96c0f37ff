"""Vertices of an edge list, numbered as they come: the ends of one piece of edges after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import OutOfMemoryError
from lagbc.native import core

# The largest row or column of SciPy's matrices of 32-bit indices.
_MOST = np.iinfo(np.int32).max


class Integers:
    """Vertices that are integers of 64 bits, in ascending order once all are known."""

    def __init__(self) -> None:
        self._known = core.Integers()

    @property
    def most_bytes(self) -> int:
        """Bytes of the vertices and of the labels made of them."""
        return self._known.bytes + 20 * self._known.count

    def number(
        self, text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], int]:
        """Return the numbers of the vertices in some fields; also the first field that is text, as 7a or 007, or -1."""
        keys = np.empty(len(starts), np.int64)
        wrong = core.parse_integers(text, starts, stops, True, keys)
        return (np.empty(0, np.int32), wrong) if wrong >= 0 else (self.number_array(keys), -1)

    def number_array(self, vertices: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the numbers of some vertices."""
        _require_numbers(self._known.count + len(vertices))
        return core.number_integers(self._known, vertices)

    def labelled(self, ends: NDArray[np.int32]) -> np.ndarray:
        """Return the integers, ascending, and number `ends` by that order, in place."""
        self._known.free_slots()
        ids = self._known.ids
        order = np.argsort(ids)
        rank = np.empty(len(ids), np.int32)
        rank[order] = np.arange(len(ids), dtype=np.int32)
        for begin in range(0, len(ends), _PART):
            ends[begin : begin + _PART] = rank[ends[begin : begin + _PART]]
        return ids[order]


class Names:
    """Vertices that are names, in the order in which they first occur."""

    def __init__(self) -> None:
        self._known = core.Names()

    @property
    def most_bytes(self) -> int:
        """Bytes of the vertices and of the labels made of them."""
        return self._known.bytes + 16 * self._known.count + len(self._known.text)

    def number(
        self, text: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64]
    ) -> tuple[NDArray[np.int32], int]:
        """Return the numbers of the vertices in some fields; also the first field that is empty, or -1."""
        sizes = stops - starts
        if len(sizes) and not sizes.all():
            return np.empty(0, np.int32), int(np.argmin(sizes))
        _require_numbers(self._known.count + len(sizes))
        return core.number_names(self._known, text, starts, stops), -1

    def number_array(self, vertices: NDArray[Any]) -> NDArray[np.int32]:
        """Return the numbers of some vertices: text of one line, not empty."""
        numbers = [np.empty(0, np.int32)]
        for begin in range(0, len(vertices), _PART):
            text = np.frombuffer(bytearray("\n".join([*vertices[begin : begin + _PART], ""]).encode()), np.uint8)
            stops = np.flatnonzero(text == ord("\n"))
            numbers.append(self.number(text, np.append(0, stops[:-1] + 1), stops)[0])
        return np.concatenate(numbers)

    def labelled(self, ends: NDArray[np.int32]) -> np.ndarray:
        """Return the names; UnicodeDecodeError if one is not UTF-8."""
        self._known.free_slots()
        text, offsets, count = self._known.text, self._known.offsets, self._known.count
        labels = np.empty(count, np.dtypes.StringDType())
        for begin in range(0, count, _PART):
            end = min(begin + _PART, count)
            part = text[offsets[begin] : offsets[end] - 1]
            labels[begin:end] = part.tobytes().decode("utf-8").split("\n")
        return labels


# Vertices that are renumbered or decoded at a time.
_PART = 1 << 16


def _require_numbers(most: int) -> None:
    if most > _MOST:
        raise OutOfMemoryError(f"there may be {most:,} vertices; an edge list has at most {_MOST:,}")
