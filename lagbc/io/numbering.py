"""Vertices of an edge list, numbered as they come: the ends of one piece of edges after another."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import OutOfMemoryError
from lagbc.native import core

# The largest row or column of SciPy's matrices of 32-bit indices.
_MOST = np.iinfo(np.int32).max
# The numbers of tails and of heads, and the first row that is wrong, or -1.
Numbered = tuple[NDArray[np.int32], NDArray[np.int32], int]


class Texts(NamedTuple):
    """A column of texts in UTF-8: ``text[starts[i]:stops[i]]`` in row i; or, of a dictionary, in rows of code i.

    Then `numbers` has the vertex of each code, -1 until it occurs.
    """

    text: NDArray[np.uint8]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    codes: NDArray[np.int64] | None = None
    numbers: NDArray[np.int32] | None = None

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.starts if self.codes is None else self.codes)

    def text_in(self, row: int) -> str:
        """Return the text in a row."""
        value = row if self.codes is None else self.codes[row]
        return self.text[self.starts[value] : self.stops[value]].tobytes().decode("utf-8", "replace")


class Integers:
    """Vertices that are integers of 64 bits, in ascending order once all are known."""

    def __init__(self) -> None:
        self._known = core.Integers()

    @property
    def most_bytes(self) -> int:
        """Bytes of the vertices and of the labels made of them."""
        return self._known.bytes + 20 * self._known.count

    def number(self, tails: Texts, heads: Texts) -> Numbered:
        """Return the numbers of the vertices in some fields; a field is wrong that is text, as 7a or 007."""
        keys = np.empty((2, len(tails.starts)), np.int64)
        wrong = [core.parse_integers(*one[:3], True, into) for one, into in zip((tails, heads), keys, strict=True)]
        if max(wrong) >= 0:
            return _NONE, _NONE, min(row for row in wrong if row >= 0)
        return self.number_array(keys[0]), self.number_array(keys[1]), -1

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

    def number(self, tails: Texts, heads: Texts) -> Numbered:
        """Return the numbers of the ends of edges; one is wrong that is empty or has lines."""
        _require_numbers(self._known.count + 2 * tails.rows)
        return core.number_names(self._known, tails, heads)

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
_NONE = np.empty(0, np.int32)


def _require_numbers(most: int) -> None:
    if most > _MOST:
        raise OutOfMemoryError(f"there may be {most:,} vertices; an edge list has at most {_MOST:,}")
