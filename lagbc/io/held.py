"""Columns of vertices as callers hold them, in lists, NumPy, pandas or Arrow: read a piece of their rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidTypeError, InvalidValueError, quantity
from lagbc.graph.given import column_of, refuse_masked
from lagbc.io.arrow import ArrowArray, arrow_stream, holds_arrow
from lagbc.io.numbering import Texts

# Names of vertices, or their integers, in some rows.
Ends = Texts | NDArray[np.int64]

# Rows that are read at a time.
PIECE = 1 << 16
VERTICES = (
    "vertices are integers of 64 bits, or names of one line, all of one kind: leave out rows without one; astype(int) "
    "or astype(str) makes others so"
)


class Held(NamedTuple):
    """A column of vertices: how many rows it has, those at which its chunks begin, and the ends in rows begin:end."""

    rows: int
    cuts: list[int]
    part: Callable[[int, int], Ends]


def no_vertex(name: str, item: Any, row: int) -> InvalidTypeError:
    """Make the error of a row that holds no vertex."""
    return InvalidTypeError(f"{name} holds {item!r} in row {row}; {VERTICES}")


def held_column(name: str, given: Any) -> Held:
    """Return a column that a caller gives; errors call it `name`."""
    if isinstance(given, list | tuple) and given and isinstance(given[0], str):
        refuse_masked(name, given)
        return _of_texts(name, given)
    categorical = getattr(given, "array", given)
    if hasattr(categorical, "categories") and hasattr(categorical, "codes"):
        return _of_categories(name, categorical)
    if _hands_over_arrow(given):
        return _of_arrow(name, given)
    column = column_of(name, given)
    if column.dtype.kind in "UT" or (column.dtype == object and len(column) and isinstance(column[0], str)):
        return _of_texts(name, column)
    if column.dtype == object:
        column = _integers_of_objects(name, column)
    return Held(len(column), [], lambda begin, end: integers_in(name, column[begin:end], begin))


def _hands_over_arrow(given: Any) -> bool:
    """Whether an object holds Arrow's arrays: columns of pandas would be converted, by pyarrow, unless they do."""
    kind = getattr(given, "dtype", None)
    is_pandas = type(given).__module__.partition(".")[0] == "pandas"
    in_arrow = getattr(kind, "storage", None) == "pyarrow" or hasattr(kind, "pyarrow_dtype")
    return holds_arrow(given) and (in_arrow or not is_pandas)


def _of_texts(name: str, items: Any) -> Held:
    def part(begin: int, end: int) -> Texts:
        some = items[begin:end]
        return texts_of(name, some if isinstance(some, list | tuple) else some.tolist(), begin)

    return Held(len(items), [], part)


def texts_of(name: str, items: list[Any] | tuple[Any, ...], first: int) -> Texts:
    """Return items of a column, which begin in row `first`, as texts."""
    try:
        text = np.frombuffer("\n".join([*items, ""]).encode(), np.uint8)
    except UnicodeEncodeError as error:
        raise InvalidValueError(f"{name}: a name is no text that UTF-8 holds: {error}") from error
    except TypeError:
        row = next(row for row, item in enumerate(items) if not isinstance(item, str))
        raise no_vertex(name, items[row], first + row) from None
    stops = np.flatnonzero(text == ord("\n"))
    if len(stops) > len(items):  # some have several lines
        stops = np.cumsum([len(item.encode()) + 1 for item in items]) - 1
    return Texts(text, np.append(0, stops[:-1] + 1)[: len(items)], stops)


def _of_categories(name: str, categorical: Any) -> Held:
    """Return a column of pandas' categories, each of which is numbered once."""
    codes, values = categorical.codes, categorical.categories.tolist()
    if not all(isinstance(value, str) for value in values):
        return held_column(name, np.asarray(categorical))
    texts = texts_of(name, values, 0)._replace(numbers=np.full(len(values), -1, np.int32))

    def part(begin: int, end: int) -> Texts:
        some = codes[begin:end].astype(np.int64)
        if len(some) and some.min() < 0:
            raise no_vertex(name, np.nan, begin + int(some.argmin()))
        return texts._replace(codes=some)

    return Held(len(codes), [], part)


def _integers_of_objects(name: str, column: NDArray[Any]) -> NDArray[Any]:
    for row, item in enumerate(column.tolist()):
        if not isinstance(item, Integral) or isinstance(item, bool):
            raise no_vertex(name, item, row)
        if not -(2**63) <= int(item) < 2**63:
            raise _beyond(name, item, row)
    return column.astype(np.int64)


def integers_in(name: str, column: NDArray[Any], first: int) -> NDArray[np.int64]:
    """Return rows of a column, from row `first` on, as integers of 64 bits."""
    kind = column.dtype.kind
    if kind not in "iu" and len(column):
        row = int(np.argmax(np.isnan(column))) if kind == "f" else 0
        raise no_vertex(name, column[row].item(), first + row)
    if kind == "u" and len(column) and column.max() >= 2**63:
        row = int(np.argmax(column >= 2**63))
        raise _beyond(name, column[row].item(), first + row)
    return column.astype(np.int64)


def _beyond(name: str, item: Any, row: int) -> InvalidValueError:
    return InvalidValueError(str(no_vertex(name, item, row)))


class ArrowVertices:
    """Reads a column of vertices of Arrow, one part after the other: a dictionary is numbered once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._row = 0
        self._dictionary: tuple[ArrowArray, Texts] | None = None

    def ends(self, part: ArrowArray) -> Ends:
        """Return the ends of edges in the part that is next."""
        first, self._row = self._row, self._row + part.rows
        if (row := part.first_null()) >= 0:
            raise no_vertex(self._name, None, first + row)
        if part.is_text:
            return part.texts()
        if part.dictionary is not None and part.dictionary.is_text:
            return self._texts_of(part.dictionary)._replace(codes=part.codes())
        numbers = part.numbers()
        if numbers is None:
            raise InvalidTypeError(f"{self._name} holds {part.kind}; {VERTICES}")
        return integers_in(self._name, numbers, first)

    def _texts_of(self, dictionary: ArrowArray) -> Texts:
        """Return the values of a dictionary, with the numbers of those that the one before has, too."""
        # The former is kept until then, so that its buffers are no others at the same place.
        if self._dictionary is None or not dictionary.is_same(self._dictionary[0]):
            texts = dictionary.texts()._replace(numbers=np.full(dictionary.rows, -1, np.int32))
            if self._dictionary is not None:
                _take_over(self._dictionary[1], texts)
            self._dictionary = dictionary, texts
        return self._dictionary[1]


def _take_over(old: Texts, new: Texts) -> None:
    """Take over the numbers of an older dictionary whose values are the first ones of the new, or the reverse.

    Chunks of one column have the same dictionary, in buffers of their own, or one that has grown.
    """
    assert old.numbers is not None
    assert new.numbers is not None
    both = min(len(old.starts), len(new.starts))
    if not both or old.starts[0] != new.starts[0] or not np.array_equal(old.stops[:both], new.stops[:both]):
        return
    begin, end = old.starts[0], old.stops[both - 1]
    if np.array_equal(old.text[begin:end], new.text[begin:end]):
        new.numbers[:both] = old.numbers[:both]


def _of_arrow(name: str, given: Any) -> Held:
    with arrow_stream(name, given) as stream:
        if stream.titles is not None:
            raise InvalidTypeError(f"{name} is a table of {quantity(len(stream.titles), 'column')}; pass one of them")
        chunks = list(stream)
    starts = [0, *accumulate(chunk.rows for chunk in chunks)]
    reader = ArrowVertices(name)

    def part(begin: int, end: int) -> Ends:
        place = int(np.searchsorted(starts, begin, side="right")) - 1
        return reader.ends(chunks[place].part(begin - starts[place], end - starts[place]))

    return Held(starts[-1], starts, part)


def in_step(tails: Held, heads: Held) -> Iterator[tuple[int, int]]:
    """Yield the bounds of pieces, each in one chunk of either column."""
    yield from pairwise(sorted({*range(0, tails.rows, PIECE), *tails.cuts, *heads.cuts, tails.rows}))
