"""Text as compiled loops read it: lines into fields, fields into numbers, and vertices into their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import OutOfMemoryError
from lagbc.io.source import Source
from lagbc.native import core

_REAL = re.compile(rb"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|nan|inf(inity)?)", re.IGNORECASE)
_FIRST = np.zeros(1, np.int64)
_WRONG = {-1: "a quote that is not closed", -2: "text after a closing quote"}
# The largest row or column of SciPy's matrices of 32-bit indices.
_MOST = np.iinfo(np.int32).max
# The numbers of tails and of heads; and the first row with a wrong end, or -1.
Numbered = tuple[NDArray[np.int32], NDArray[np.int32], int]
# Vertices that are renumbered or decoded at a time.
_PART = 1 << 16
_NONE = np.empty(0, np.int32)


class Lines:
    """The lines of a piece of a file, without comments, split into `columns` fields; the `wanted` ones are kept.

    A blank as `separator` is any run of blanks. A comment begins anywhere if `glued`; else at the start of a line or,
    between blanks, of a field. `numbers` holds the number of each line, counted from 0, the first of the piece. `wrong`
    is the first line with more or fewer fields, or with no number where a column is read as numbers; or -1.
    """

    def __init__(self, piece: bytes, separator: bytes, columns: int, wanted: list[int], *, glued: bool) -> None:
        self.text = np.frombuffer(bytearray(piece), np.uint8)
        sought, which = np.unique(np.array(wanted, np.int64), return_inverse=True)
        room = piece.count(b"\n")
        starts, stops = np.empty((2, len(sought), room), np.int64)
        numbers = np.empty(room, np.int64)
        count, self.comments, self.wrong = core.split_lines(
            self.text, separator[0], columns, sought, glued, starts, stops, numbers
        )
        self.fields = [Texts(self.text, starts[column, :count], stops[column, :count]) for column in which]
        self.numbers = numbers[:count]

    def integers(self, column: int) -> NDArray[np.int64]:
        """Read a column as integers of 64 bits."""
        values = np.empty(len(self.numbers), np.int64)
        self.refuse(core.parse_integers(*self.fields[column], False, values))
        return values

    def floats(self, column: int) -> NDArray[np.float64]:
        """Read a column as floats; an empty field is NaN."""
        values, hard = core.parse_floats(*self.fields[column])
        for i in hard.tolist():
            number = self.fields[column].bytes_in(i)
            if number and not is_float(number):
                self.refuse(i)
                break
            values[i] = float(number or "nan")
        return values

    def refuse(self, place: int) -> None:
        """Note a wrong line by its place among `numbers`; a negative place is none."""
        if place >= 0:
            self.refuse_line(int(self.numbers[place]))

    def refuse_line(self, number: int) -> None:
        """Note a wrong line by its number; the first line counts."""
        self.wrong = number if self.wrong < 0 else min(number, self.wrong)


def lines_beside_comments(source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield number and text of each line; skip pieces of comments and blanks at once: an archive may hold gigabytes."""
    for first, piece in source.pieces():
        if not is_without_content(piece):
            yield from enumerate(piece.splitlines(), first)


def is_without_content(piece: bytes) -> bool:
    """Whether a piece has nothing but comments and blank lines."""
    text, nothing = np.frombuffer(bytearray(piece), np.uint8), np.empty(0, np.int64)
    none = nothing.reshape(0, 0)
    *_, content = core.split_lines(text, ord(" "), 0, nothing, False, none, none, nothing)  # no line has 0 fields
    return content < 0


def split_line(text: bytes, separator: bytes, *, glued: bool) -> list[bytes] | str:
    """Return the fields of one line as `Lines` splits it, or the fault of its quotes."""
    line = np.frombuffer(bytearray(text + b"\n"), np.uint8)
    bounds, count = core.split_line(line, separator[0], glued)
    if count < 0:
        return _WRONG[count]
    return [line[begin:end].tobytes() for begin, end in bounds.reshape(-1, 2).tolist()]


def is_float(field: bytes) -> bool:
    """Whether a field is a number: decimal, nan or inf."""
    return _REAL.fullmatch(field) is not None


def integer_of(field: bytes) -> int | None:
    """Return the integer of 64 bits in a field: 7, but None for 007, +7 and -0, which are names."""
    value = np.empty(1, np.int64)
    wrong = core.parse_integers(np.frombuffer(field, np.uint8), _FIRST, np.array([len(field)]), True, value)
    return int(value[0]) if wrong < 0 else None


def quoted(field: bytes, most: int = 20) -> str:
    """Return the first characters of a field for a message, in quotes."""
    return repr(field.decode("utf-8", "replace")[:most])


class Texts(NamedTuple):
    """A column of texts in UTF-8: ``text[starts[i]:stops[i]]`` in row i."""

    text: NDArray[np.uint8]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]

    def text_in(self, row: int) -> str:
        """Return the text in a row."""
        return self.bytes_in(row).decode("utf-8", "replace")

    def bytes_in(self, row: int) -> bytes:
        """Return the bytes of the text in a row."""
        return self.text[self.starts[row] : self.stops[row]].tobytes()


# Names of vertices, or their integers, in some rows.
Ends = Texts | NDArray[np.int64]


class Integers:
    """Vertices that are integers of 64 bits, in ascending order once all are known."""

    def __init__(self) -> None:
        self._known = core.Integers()

    @property
    def most_bytes(self) -> int:
        """Bytes of the vertices and of the labels made of them."""
        return self._known.bytes + 20 * self._known.count

    def number(self, tails: Ends, heads: Ends) -> Numbered:
        """Return the numbers of the ends of edges; a text is wrong that is no plain integer, as 7a or 007."""
        keys, wrong = list[NDArray[np.int64]](), list[int]()
        for ends in (tails, heads):
            keys.append(np.empty(len(ends.starts), np.int64) if isinstance(ends, Texts) else ends)
            if isinstance(ends, Texts):
                wrong.append(core.parse_integers(*ends, True, keys[-1]))
        if max(wrong, default=-1) >= 0:
            return _NONE, _NONE, min(row for row in wrong if row >= 0)
        _require_numbers(self._known.count + sum(map(len, keys)))
        return core.number_integers(self._known, keys[0]), core.number_integers(self._known, keys[1]), -1

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

    def number(self, tails: Any, heads: Any) -> Numbered:
        """Return the numbers of the ends of edges, which are texts; one is wrong that is empty or has lines."""
        _require_numbers(self._known.count + 2 * len(tails.starts))
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


def _require_numbers(most: int) -> None:
    if most > _MOST:
        raise OutOfMemoryError(f"there may be {most:,} vertices; an edge list has at most {_MOST:,}")
