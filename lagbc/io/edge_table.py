"""Edges of columns and of tables, as callers and files have them: numbered, a piece of their rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import GraphFormatError, InvalidTypeError, InvalidValueError, quantity
from lagbc.graph.given import reals_of
from lagbc.io.arrow import ArrowArray, ArrowStream, arrow_stream, holds_arrow
from lagbc.io.columns import Columns
from lagbc.io.held import PIECE, VERTICES, ArrowVertices, Ends, Held, held_column, in_step, no_vertex
from lagbc.io.numbering import Integers, Names, Texts
from lagbc.io.titles import EDGES, Content, choose_columns

# Ends of edges, tails and heads, and their lengths, None where there are none.
Piece = tuple[Ends, Ends, NDArray[Any] | None]


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
    for begin, end in in_step(tails, heads):
        yield tails.part(begin, end), heads.part(begin, end), None if lengths is None else lengths[begin:end]


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


def is_table(given: Any) -> bool:
    """Whether an object is a data frame of pandas, or hands over Arrow."""
    return is_frame(given) or holds_arrow(given)


def is_frame(given: Any) -> bool:
    """Whether an object is a data frame of pandas."""
    return hasattr(given, "iloc") and hasattr(given, "columns")


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


def edges_of_table(table: EdgeTable) -> Edges:
    """Return the edges of a table."""
    edges = Edges(table.titles)
    for piece in table.pieces():
        edges.add(*piece)
    return edges
