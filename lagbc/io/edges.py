"""Graphs of columns and tables of edges, as callers hold them: in lists, NumPy, pandas or Arrow.

A column is read a piece of its rows at a time, and vertices are numbered as they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import accumulate, pairwise
from numbers import Integral
from typing import Any, NamedTuple, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.errors import (
    GraphFileWarning,
    GraphFormatError,
    InvalidTypeError,
    InvalidValueError,
    quantity,
    unknown_argument,
    warn,
)
from lagbc.graph.given import LENGTHS, STRENGTHS, Values, column_of, reals_of, refuse_masked
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.io.arrow import ArrowArray, ArrowStream, arrow_stream, holds_arrow
from lagbc.io.columns import EDGES, Columns, Content, choose_columns
from lagbc.io.graph_file import bad_lengths, compressed, repeat_notices
from lagbc.io.scan import Integers, Names, Texts
from lagbc.types import ArrowData

# Names of vertices, or their integers, in some rows.
Ends = Texts | NDArray[np.int64]
# Ends of edges, tails and heads, and their lengths, None where there are none.
Piece = tuple[Ends, Ends, NDArray[Any] | None]
# Rows that are read at a time.
PIECE = 1 << 16
VERTICES = (
    "vertices are integers of 64 bits, or names of one line, all of one kind: leave out rows without one; astype(int) "
    "or astype(str) makes others so"
)


def graph_from_edges(
    source: ArrayLike | ArrowData,
    target: ArrayLike | ArrowData | None = None,
    length: ArrayLike | ArrowData | None = None,
    *,
    directed: bool,
    strength: ArrayLike | ArrowData | None = None,
    ends: tuple[int | str, int | str] | None = None,
    **others: Never,
) -> Graph:
    """Make a graph of columns of edges, or of a table of them.

    Vertices are numbered as in an edge list: integers in ascending order, names in the order in which they first occur,
    from the source of the first edge on. They are the names of the graph's vertices: `lagbc.table` shows scores by
    them, and ``sources=`` takes them.

    Parameters
    ----------
    source, target : columns of pandas, polars or Arrow, arrays of NumPy, or lists; shape (m,)
        Both ends of each edge: both columns of integers, or both of names. `source` alone is a table: a data frame of
        pandas, or an object that hands over Arrow (``__arrow_c_stream__``), as tables of pyarrow, polars and DuckDB do.
        Titles such as source and target, or from and to, choose the columns, or there are two or three of them.
    length : column, array or list of numbers, shape (m,), optional
        Lengths of the edges, finite and > 0; the smallest counts where an edge is repeated. Of a table, the title of
        their column, or its number from 1 on. Without lengths and strengths, paths are counted in hops.
    directed : bool
        Whether edges go one way; False takes them both ways.
    strength : as `length`, optional
        In place of lengths: strengths w of the edges, finite and > 0, that is, lengths 1 / w; the largest counts where
        an edge is repeated. Functions that count paths then warn of ties that rounding takes (`TieWarning`).
    ends : pair of int or str, optional
        The columns of source and target in a table, by their titles, or counted from 1.

    Returns
    -------
    Graph
        As of `as_graph`, for every function of lagbc; it keeps direction and lengths.

    Raises
    ------
    TypeError, ValueError
        A column has another shape or is masked, or a row, such as one of a missing value, holds no vertex, length or
        strength; the message names the column and the first row, counted from 0. Or columns are not equally long, or
        both lengths and strengths are given.

    Warns
    -----
    GraphFileWarning
        Edges with lengths or strengths were left out, as they repeat another; the message gives their number.

    Examples
    --------
    >>> graph = lagbc.graph_from_edges(["ann", "bob", "bob"], ["bob", "carl", "dora"], directed=False)
    >>> lagbc.bc(graph)
    array([0., 3., 0., 0.])
    >>> lagbc.bc(graph, sources=["ann"])
    array([0., 1., 0., 0.])

    Of a table ``roads`` of pandas, polars, pyarrow or DuckDB, and of its columns:

    >>> graph = lagbc.graph_from_edges(roads, ends=("from", "to"), length="km", directed=True)  # doctest: +SKIP
    >>> graph = lagbc.graph_from_edges(roads["from"], roads["to"], roads["km"], directed=True)  # doctest: +SKIP

    Cost: time and memory are those of reading a file of the edges, or less. A column of Arrow, as polars has, is read
    without objects of Python; of a dictionary (categories of pandas and polars) each value is looked up once.
    """
    for other in others:
        meant = "length" if other.startswith(("weight", "distance", "cost")) else None
        taken = ["source", "target", "length", "directed", "strength", "ends"]
        raise unknown_argument(other, taken, meant, f"there are {', '.join(taken[:-1])} and {taken[-1]}")
    if length is not None and strength is not None:
        raise InvalidValueError("length= and strength= are both given; an edge has one or the other")
    values, column = (LENGTHS, length) if strength is None else (STRENGTHS, strength)
    if not isinstance(directed, bool | np.bool_):
        raise InvalidTypeError(f"directed={directed!r} is neither True nor False")
    if target is None:
        edges = _edges_of_table(source, ends, column)
    elif ends is not None:
        raise InvalidValueError("ends= tells the columns of a table, which is given without target")
    else:
        edges = edges_of_columns(source, target, column, values.word)
    labels, tails, heads, given = edges.numbered()
    if given is not None:
        _require_lengths(tails, heads, given, values)
    directed, largest = bool(directed), values.are_strengths
    matrix, repeats = compressed(len(labels), tails, heads, given, directed=directed, largest=largest)
    for notice in repeat_notices(repeats, largest=largest):
        warn(notice, GraphFileWarning)
    graph = as_graph(matrix, directed=directed, weighted=given is not None, strength=values.are_strengths, copy=False)
    return graph.with_names(labels)


def _edges_of_table(given: Any, ends: Any, length: Any) -> Edges:
    if not is_table(given):
        raise InvalidTypeError(
            f"target is missing, and source, a {type(given).__qualname__}, is no table; columns are source, target = "
            "zip(*pairs) of a list of pairs"
        )
    with edge_table("the table", given, Columns(ends, length), with_lengths=length is not None) as table:
        return edges_of_table(table)


def _require_lengths(tails: NDArray[Any], heads: NDArray[Any], given: NDArray[Any], values: Values) -> None:
    """Raise ValueError, which names the first row, if a value of an edge is none to take as such."""
    if len(wrong := bad_lengths(tails, heads, given)):
        word = values.word
        instead = values.advice(given[wrong], f"Leave out those rows or give them a {word}")
        raise InvalidValueError(
            f"{len(wrong):,} of the {len(given):,} {word}s are not finite and > 0, the first in row {wrong[0]}: "
            f"{given[wrong[0]]}. {instead}; without {word}= paths count hops"
        )


def is_table(given: Any) -> bool:
    """Whether an object is a data frame of pandas, or hands over Arrow."""
    return is_frame(given) or holds_arrow(given)


def is_frame(given: Any) -> bool:
    """Whether an object is a data frame of pandas."""
    return hasattr(given, "iloc") and hasattr(given, "columns")


def edges_of_columns(source: Any, target: Any, length: Any, title: str) -> Edges:
    """Return the edges of columns; `length`, which errors call by the `title`, may be None."""
    tails, heads = held_column("source", source), held_column("target", target)
    lengths = None if length is None else reals_of(title, length)
    for name, rows in (("target", heads.rows), (title, tails.rows if lengths is None else len(lengths))):
        if rows != tails.rows:
            raise InvalidValueError(f"source has {tails.rows:,} rows, {name} {rows:,}; each row is an edge")
    edges = Edges(Titles("source", "target", None if lengths is None else title))
    for piece in _pieces(tails, heads, lengths):
        edges.add(*piece)
    return edges


def _pieces(tails: Held, heads: Held, lengths: NDArray[Any] | None) -> Iterator[Piece]:
    # Each piece is in one chunk of either column.
    for begin, end in pairwise(sorted({*range(0, tails.rows, PIECE), *tails.cuts, *heads.cuts, tails.rows})):
        yield tails.part(begin, end), heads.part(begin, end), None if lengths is None else lengths[begin:end]


@contextmanager
def edge_table(
    name: str, given: Any, named: Columns, content: Content = EDGES, *, with_lengths: bool = True
) -> Iterator[EdgeTable]:
    """Open a table of edges, which is read once."""
    if is_frame(given):
        yield EdgeTable(name, given, named, content, with_lengths=with_lengths)
        return
    with arrow_stream(name, given) as stream:
        yield EdgeTable(name, stream, named, content, with_lengths=with_lengths)


class EdgeTable:
    """A table of edges, a data frame of pandas or a stream of Arrow."""

    def __init__(self, name: str, given: Any, named: Columns, content: Content, *, with_lengths: bool) -> None:
        """Choose the columns by their titles, or as `named`; errors call the table `name`."""
        self._given = given
        if isinstance(self._given, ArrowStream):
            titles, are_numbers = self._given.titles, self._given.are_numbers
        else:
            titles = [*map(str, given.columns)]
            are_numbers = [getattr(kind, "kind", "O") in "iuf" for kind in given.dtypes]
        if titles is None or are_numbers is None:
            raise InvalidTypeError(f"{name} is one column; pass source and target, or a table of columns with titles")
        (source, target), length = chosen_columns(name, titles, are_numbers, named, content)
        self.places = source, target, length if with_lengths else None
        called = "column {!r}" if content.named else f"{name}[{{!r}}]"
        tail, head, third = (None if place is None else called.format(titles[place]) for place in self.places)
        self.titles = Titles(str(tail), str(head), third)

    def pieces(self) -> Iterator[Piece]:
        """Yield the edges, a piece at a time."""
        source, target, length = self.places
        titles = self.titles
        if not isinstance(self._given, ArrowStream):
            columns = self._given.iloc
            tails = held_column(titles.source, columns[:, source])
            heads = held_column(titles.target, columns[:, target])
            lengths = None if titles.length is None else reals_of(titles.length, columns[:, length])
            yield from _pieces(tails, heads, lengths)
            return
        tail_reader, head_reader = ArrowVertices(titles.source), ArrowVertices(titles.target)
        row = 0
        for chunk in self._given:
            for begin in range(0, chunk.rows, PIECE):
                columns = chunk.part(begin, min(begin + PIECE, chunk.rows)).children()
                lengths = None if length is None else self._reals(columns[length], row + begin)
                yield tail_reader.ends(columns[source]), head_reader.ends(columns[target]), lengths
            row += chunk.rows

    def _reals(self, column: ArrowArray, first: int) -> NDArray[Any]:
        numbers = column.numbers()
        if numbers is None:
            some = f", {column.texts().text_in(0)!r} in row {first}" if column.is_text else ""
            raise InvalidTypeError(f"{self.titles.length} holds {column.kind}{some}; it holds integers or floats")
        return numbers


def edges_of_table(table: EdgeTable) -> Edges:
    """Return the edges of a table."""
    edges = Edges(table.titles)
    for piece in table.pieces():
        edges.add(*piece)
    return edges


def chosen_columns(
    name: str, titles: list[str], are_numbers: list[bool], named: Columns, content: Content = EDGES
) -> tuple[tuple[int, int], int | None]:
    """Return the columns of ends and lengths of a table, counted from 0; GraphFormatError if nothing tells them.

    Trips have all three.
    """
    there = f"{quantity(len(titles), 'column')}, {', '.join(map(repr, titles))}"
    found = choose_columns(name, [title.encode() for title in titles], are_numbers, named, content=content)
    if found is None or (found[1] is None and not content.named):
        instead = "ends= says which two hold the ends of edges" if content.named else content.columns
        raise GraphFormatError(f"{name} has {there}; {instead}")
    if (last := max(*found[0], found[1] or 0)) >= len(titles):
        raise GraphFormatError(f"{name} has {there}; there is no column {last + 1}")
    return found


class Titles(NamedTuple):
    """The titles of columns of edges, for errors; `length` is None where none is read."""

    source: str
    target: str
    length: str | None


class Edges:
    """Edges whose ends are numbered as they come; they are counted."""

    def __init__(self, titles: Titles) -> None:
        self._titles = titles
        self._vertices: Names | Integers = Integers()
        self._ends: tuple[list[NDArray[np.int32]], list[NDArray[np.int32]]] = [], []
        self._lengths: list[NDArray[Any]] = []
        self.count = 0

    @property
    def most_bytes(self) -> int:
        """Bytes of the vertices and of the labels made of them."""
        return self._vertices.most_bytes

    def add(self, tails: Ends, heads: Ends, lengths: NDArray[Any] | None) -> None:
        """Add one edge or more: ends are all integers, or all names."""
        if isinstance(tails, Texts) and isinstance(heads, Texts):
            self._vertices = self._vertices if isinstance(self._vertices, Names) else Names()
            *numbers, wrong = self._vertices.number(tails, heads)
            if wrong >= 0:
                self._refuse(tails, heads, wrong)
        elif isinstance(tails, Texts) or isinstance(heads, Texts):
            one, other = ("names", "integers") if isinstance(tails, Texts) else ("integers", "names")
            titles = self._titles
            raise InvalidTypeError(f"{titles.source} holds {one} and {titles.target} {other}; {VERTICES}")
        else:
            assert isinstance(self._vertices, Integers)
            numbers = [self._vertices.number_array(tails), self._vertices.number_array(heads)]
        for ends, some in zip(self._ends, numbers, strict=True):
            ends.append(some)
        if lengths is not None:
            self._lengths.append(lengths)
        self.count += len(numbers[0])

    def _refuse(self, tails: Texts, heads: Texts, row: int) -> None:
        """Raise TypeError for a name in a row that is empty or has lines."""
        for title, ends in zip((self._titles.source, self._titles.target), (tails, heads), strict=True):
            name = ends.text_in(row)
            if not name or "\n" in name:
                raise no_vertex(title, name, self.count + row)

    def numbered(self) -> tuple[Any, NDArray[np.int32], NDArray[np.int32], NDArray[Any] | None]:
        """Return the names of the vertices, the numbers of tails and heads, and the lengths; the edges are freed."""
        tails, heads = self._ends
        ends = np.concatenate([np.empty(0, np.int32), *tails, *heads])
        tails.clear()
        heads.clear()
        labels = self._vertices.labelled(ends)
        lengths = None if self._titles.length is None else np.concatenate(self._lengths or [np.empty(0)])
        self._lengths.clear()
        return labels, ends[: self.count], ends[self.count :], lengths


class Held(NamedTuple):
    """A column of vertices: its number of rows, the first row of each chunk, and `part`, the ends in rows begin:end."""

    rows: int
    cuts: list[int]
    part: Callable[[int, int], Ends]


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
    """Return a column of pandas' categories; each category is numbered once."""
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
        """Return the values of a dictionary; those of the dictionary before keep their numbers."""
        # The dictionary before is kept until here: so no new buffer has taken its place in memory.
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


def no_vertex(name: str, item: Any, row: int) -> InvalidTypeError:
    """Make the error of a row that holds no vertex."""
    return InvalidTypeError(f"{name} holds {item!r} in row {row}; {VERTICES}")


def _beyond(name: str, item: Any, row: int) -> InvalidValueError:
    return InvalidValueError(str(no_vertex(name, item, row)))
