"""Graphs of columns and tables of edges in lists, NumPy, pandas or Arrow, whose vertices are numbered as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any, NamedTuple, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.errors import (
    GraphFileWarning,
    GraphFormatError,
    InvalidTypeError,
    InvalidValueError,
    MissingDependencyError,
    quantity,
    unknown_argument,
    warn,
)
from lagbc.graph.given import LENGTHS, STRENGTHS, Values, as_reals, column_of, reals_of, refuse_masked
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.io.graph_file import bad_lengths, compressed, repeat_notices
from lagbc.io.layout import EDGES, Columns, Content, choose_columns
from lagbc.io.scan import Ends, Integers, Names, Numbered, Texts
from lagbc.io.source import Source
from lagbc.types import ArrowData

# Tails, heads and lengths of some edges; None without lengths.
Piece = tuple[Ends, Ends, NDArray[Any] | None]
# Edges whose ends are numbered at a time.
_PIECE = 1 << 16
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
        pyarrow reads these. Titles such as source and target, or from and to, choose the columns, or there are two or
        three of them.
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
    MissingDependencyError
        A column or table hands over Arrow, and pyarrow is not installed.

    Warns
    -----
    GraphFileWarning
        Edges with lengths or strengths were left out, as they repeat another; the message gives their number. Or a
        column of a table may hold lengths or strengths, and neither `length` nor `strength` nor `ends` is given.

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

    Time and memory are at most as for a file of the edges. Columns of Arrow, as of polars, are read by pyarrow, without
    objects of Python.
    """
    for other in others:
        meant = "length" if other.startswith(("weight", "distance", "cost")) else None
        taken = ["source", "target", "length", "directed", "strength", "ends"]
        raise unknown_argument(other, taken, meant, f"there are {', '.join(taken[:-1])} and {taken[-1]}")
    if length is not None and strength is not None:
        raise InvalidValueError("length= and strength= are both given; an edge has one or the other")
    column: Any  # or its title
    values, column = (LENGTHS, length) if strength is None else (STRENGTHS, strength)
    if not isinstance(directed, bool | np.bool_):
        raise InvalidTypeError(f"directed={directed!r} is neither True nor False")
    if isinstance(target, str) and not isinstance(source, str):
        raise InvalidTypeError(f"target={target!r} is no column; ends=('from', 'to') names the columns of a table")
    if target is None:
        if not is_table(source):
            raise InvalidTypeError(
                f"target is missing, and source, a {type(source).__qualname__}, is no table; columns are source, "
                "target = zip(*pairs) of a list of pairs"
            )
        edges = EdgeTable("the table", source, Columns(ends, column), with_lengths=column is not None).edges()
    elif ends is not None:
        raise InvalidValueError("ends= tells the columns of a table, which is given without target")
    else:
        edges = _edges_of_columns(source, target, column, values.word)
    labels, tails, heads, given = edges.numbered()
    if given is not None:
        _require_lengths(tails, heads, given, values)
    directed, largest = bool(directed), values.are_strengths
    matrix, repeats = compressed(len(labels), tails, heads, given, directed=directed, largest=largest)
    for notice in repeat_notices(repeats, largest=largest):
        warn(notice, GraphFileWarning)
    graph = as_graph(matrix, directed=directed, weighted=given is not None, strength=largest, copy=False)
    return graph.with_names(labels)


def _require_lengths(tails: NDArray[Any], heads: NDArray[Any], given: NDArray[Any], values: Values) -> None:
    """Raise ValueError, which names the first wrong row, if a length or strength is not finite and > 0."""
    if len(wrong := bad_lengths(tails, heads, given)):
        word = values.word
        instead = values.advice(given[wrong], f"Leave out those rows or give them a {word}")
        raise InvalidValueError(
            f"{len(wrong):,} of the {len(given):,} {word}s are not finite and > 0, the first in row {wrong[0]}: "
            f"{given[wrong[0]]}. {instead}; without {word}= paths count hops"
        )


def is_table(given: Any) -> bool:
    """Whether an object is a data frame of pandas, or hands over Arrow in a stream."""
    return is_frame(given) or hasattr(given, "__arrow_c_stream__")


def is_frame(given: Any) -> bool:
    """Whether an object is a data frame of pandas."""
    return hasattr(given, "iloc") and hasattr(given, "columns")


def _edges_of_columns(source: Any, target: Any, length: Any, title: str) -> Edges:
    """Return the edges in columns; errors call the column of lengths, if there is one, by the `title`."""
    tails, heads = _ends_in("source", source), _ends_in("target", target)
    lengths = None if length is None else reals_of(title, length)
    count = _count_of(tails)
    for name, rows in (("target", _count_of(heads)), (title, count if lengths is None else len(lengths))):
        if rows != count:
            raise InvalidValueError(f"source has {count:,} rows, {name} {rows:,}; each row is an edge")
    edges = Edges(Titles("source", "target", None if lengths is None else title))
    edges.add(tails, heads, lengths)
    return edges


class EdgeTable:
    """A table of edges, which is read once: a data frame of pandas, or batches of Arrow."""

    def __init__(
        self, name: str, given: Any, named: Columns, content: Content = EDGES, *, with_lengths: bool = True
    ) -> None:
        """Choose the columns by their titles, or as `named`; errors call the table `name`."""
        self._name = name
        if is_frame(given):
            self._given, titles = given, [*map(str, given.columns)]
            are_numbers = [getattr(kind, "kind", "O") in "iuf" for kind in given.dtypes]
        else:
            with _pyarrow(name) as pyarrow:
                self._given = pyarrow.RecordBatchReader.from_stream(given)
            titles, are_numbers = self._given.schema.names, numeric_columns(self._given.schema)
        (source, target), length = chosen_columns(name, titles, are_numbers, named, content)
        if length is not None and not with_lengths:
            warn(
                f"{name} has the column {titles[length]!r}, which is not read, so that paths count hops; "
                f"length={titles[length]!r} or strength= reads it, and a table of both ends alone leaves it out",
                GraphFileWarning,
            )
        self.places = source, target, length if with_lengths else None
        called = "column {!r}" if content.named else f"{name}[{{!r}}]"
        tail, head, third = (None if place is None else called.format(titles[place]) for place in self.places)
        self.titles = Titles(str(tail), str(head), third)

    def pieces(self) -> Iterator[Piece]:
        """Yield the edges, a piece at a time."""
        tail, head, length = self.titles
        source, target, third = self.places
        if is_frame(self._given):
            columns = self._given.iloc
            lengths = None if length is None else reals_of(length, columns[:, third])
            yield _ends_in(tail, columns[:, source]), _ends_in(head, columns[:, target]), lengths
            return
        row = 0
        while (batch := self._next_batch()) is not None:
            lengths = None if length is None else _reals_of_arrow(length, batch.column(third), row)
            tails, heads = (_of_arrow(title, [batch.column(at)], row) for title, at in ((tail, source), (head, target)))
            yield tails, heads, lengths
            row += len(batch)

    def _next_batch(self) -> Any:
        with _pyarrow(self._name):
            return next(self._given, None)

    def edges(self, check: Callable[[Edges], object] = lambda edges: None) -> Edges:
        """Return the edges; `check` is called with those of each piece and all before."""
        edges = Edges(self.titles)
        for piece in self.pieces():
            edges.add(*piece)
            check(edges)
        return edges


def chosen_columns(
    name: str, titles: list[str], are_numbers: list[bool], named: Columns, content: Content = EDGES
) -> tuple[tuple[int, int], int | None]:
    """Return the columns of ends and lengths of a table, from 0 on; GraphFormatError if nothing tells them."""
    there = f"{quantity(len(titles), 'column')}, {', '.join(map(repr, titles))}"
    found = choose_columns(name, [title.encode() for title in titles], are_numbers, named, content=content)
    if found is None or (found[1] is None and not content.named):
        instead = "ends= says which two hold the ends of edges" if content.named else content.columns
        raise GraphFormatError(f"{name} has {there}; {instead}")
    if (last := max(*found[0], found[1] or 0)) >= len(titles):
        raise GraphFormatError(f"{name} has {there}; there is no column {last + 1}")
    return found


class Titles(NamedTuple):
    """The titles of columns of edges, for errors; `length` is None if no lengths are read."""

    source: str
    target: str
    length: str | None


class Edges:
    """Edges whose ends are numbered as they come."""

    def __init__(self, titles: Titles, vertices: Names | Integers | None = None) -> None:
        self.titles = titles
        self.vertices = vertices  # None until the first edges come
        self._ends: tuple[list[NDArray[np.int32]], list[NDArray[np.int32]]] = [], []
        self._lengths: list[NDArray[Any]] = []
        self.count = 0

    def add(self, tails: Ends, heads: Ends, lengths: NDArray[Any] | None) -> None:
        """Add edges; TypeError unless all ends are integers, or all are names, none of them empty or with lines."""
        if not (count := _count_of(tails)):
            return
        if isinstance(tails, Texts) != isinstance(heads, Texts):
            one, other = ("names", "integers") if isinstance(tails, Texts) else ("integers", "names")
            raise InvalidTypeError(f"{self.titles.source} holds {one} and {self.titles.target} {other}; {VERTICES}")
        if self.vertices is None:
            self.vertices = Names() if isinstance(tails, Texts) else Integers()
        before = self.count
        for begin in range(0, count, _PIECE):
            some = slice(begin, begin + _PIECE)
            lengths_of_some = None if lengths is None else lengths[some]
            *_, wrong = self.number(_some_of(tails, some), _some_of(heads, some), lengths_of_some)
            if wrong >= 0:
                self._refuse(tails, heads, begin + wrong, before)

    def _refuse(self, tails: Any, heads: Any, place: int, before: int) -> None:
        """Raise TypeError for a name that is empty or has lines; `before` edges were added earlier."""
        for title, ends in zip(self.titles[:2], (tails, heads), strict=True):
            if not (name := ends.text_in(place)) or "\n" in name:
                raise _no_vertex(str(title), name, before + place)

    def number(self, tails: Ends, heads: Ends, lengths: NDArray[Any] | None) -> Numbered:
        """Give numbers to the ends of edges, and keep them with the lengths."""
        assert self.vertices is not None
        numbered = self.vertices.number(tails, heads)
        for ends, some in zip(self._ends, numbered[:2], strict=True):
            ends.append(some)
        if lengths is not None:
            self._lengths.append(lengths)
        self.count += len(numbered[0])
        return numbered

    def require_room(self, source: Source, per_edge: int, listed: str) -> None:
        """Raise MemoryError if the edges so far, `per_edge` bytes each, and their vertices exceed the budget."""
        if self.vertices is not None:
            needed = per_edge * self.count + self.vertices.most_bytes
            source.require(needed, f"a {listed.format(self.count)} or more")

    def numbered(self) -> tuple[Any, NDArray[np.int32], NDArray[np.int32], NDArray[Any] | None]:
        """Return the names of the vertices, the numbers of tails and heads, and the lengths; the edges are freed."""
        tails, heads = self._ends
        ends = np.concatenate([np.empty(0, np.int32), *tails, *heads])
        tails.clear()
        heads.clear()
        labels = (self.vertices or Integers()).labelled(ends)
        lengths = None if self.titles.length is None else np.concatenate(self._lengths or [np.empty(0)])
        self._lengths.clear()
        return labels, ends[: self.count], ends[self.count :], lengths


def _count_of(ends: Ends) -> int:
    return len(ends.starts if isinstance(ends, Texts) else ends)


def _some_of(ends: Ends, rows: slice) -> Ends:
    return Texts(ends.text, ends.starts[rows], ends.stops[rows]) if isinstance(ends, Texts) else ends[rows]


def _ends_in(name: str, given: Any) -> Ends:
    """Return the vertices in a column that a caller gives; errors call it `name`."""
    if isinstance(given, list | tuple) and given and isinstance(given[0], str):
        refuse_masked(name, given)
        return _texts_of(name, given)
    if _hands_over_arrow(given):
        with _pyarrow(name) as pyarrow:
            chunks = pyarrow.chunked_array(given).chunks
        return _of_arrow(name, chunks)
    column = column_of(name, given)
    if column.dtype.kind in "UT" or (column.dtype == object and len(column) and isinstance(column[0], str)):
        return _texts_of(name, column.tolist())
    return _integers_of(name, _integers_of_objects(name, column) if column.dtype == object else column)


def _texts_of(name: str, items: list[Any] | tuple[Any, ...]) -> Texts:
    try:
        text = np.frombuffer("\n".join([*items, ""]).encode(), np.uint8)
    except UnicodeEncodeError as error:
        raise InvalidValueError(f"{name}: a name is no text that UTF-8 holds: {error}") from error
    except TypeError:
        row = next(row for row, item in enumerate(items) if not isinstance(item, str))
        raise _no_vertex(name, items[row], row) from None
    stops = np.flatnonzero(text == ord("\n"))
    if len(stops) > len(items):  # some have several lines
        stops = np.cumsum([len(item.encode()) + 1 for item in items]) - 1
    return Texts(text, np.append(0, stops[:-1] + 1)[: len(items)], stops)


def _integers_of_objects(name: str, column: NDArray[Any]) -> NDArray[Any]:
    for row, item in enumerate(column.tolist()):
        if not isinstance(item, Integral) or isinstance(item, bool):
            raise _no_vertex(name, item, row)
        if not -(2**63) <= int(item) < 2**63:
            raise _beyond(name, item, row)
    return column.astype(np.int64)


def _integers_of(name: str, column: NDArray[Any], first: int = 0) -> NDArray[np.int64]:
    """Return a column, which begins in row `first`, as integers of 64 bits."""
    kind = column.dtype.kind
    if kind not in "iu" and len(column):
        row = int(np.argmax(np.isnan(column))) if kind == "f" else 0
        raise _no_vertex(name, column[row].item(), first + row)
    if kind == "u" and len(column) and column.max() >= 2**63:
        row = int(np.argmax(column >= 2**63))
        raise _beyond(name, column[row].item(), first + row)
    return column.astype(np.int64)


def _no_vertex(name: str, item: Any, row: int) -> InvalidTypeError:
    return InvalidTypeError(f"{name} holds {item!r} in row {row}; {VERTICES}")


def _beyond(name: str, item: Any, row: int) -> InvalidValueError:
    return InvalidValueError(str(_no_vertex(name, item, row)))


# ---- Columns and tables that hand over Arrow


def _hands_over_arrow(given: Any) -> bool:
    """Whether an object holds Arrow's arrays; pandas would convert the columns that it holds otherwise."""
    kind = getattr(given, "dtype", None)
    is_pandas = type(given).__module__.partition(".")[0] == "pandas"
    in_arrow = getattr(kind, "storage", None) == "pyarrow" or hasattr(kind, "pyarrow_dtype")
    hands_over = hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")
    return hands_over and (in_arrow or not is_pandas)


@contextmanager
def _pyarrow(name: str) -> Iterator[Any]:
    """Import pyarrow, whose errors in the block are raised as errors about the column or table `name`."""
    try:
        import pyarrow
    except ImportError as error:
        raise MissingDependencyError(
            f"{name} hands over Arrow, which pyarrow reads: pip install pyarrow; or pass arrays of NumPy"
        ) from error
    try:
        yield pyarrow
    except (pyarrow.ArrowException, ValueError, OSError) as error:
        if "non-struct type" in str(error):
            raise InvalidTypeError(
                f"{name} is one column; pass source and target, or a table of columns with titles"
            ) from error
        raise InvalidValueError(f"{name}: Arrow cannot be read: {error}") from error


def numeric_columns(schema: Any) -> list[bool]:
    """Return whether each column of a schema of pyarrow holds numbers."""
    from pyarrow import types

    return [types.is_integer(kind) or types.is_floating(kind) for kind in schema.types]


def _plain(chunk: Any) -> Any:
    """Check an array, and return it without a dictionary, and texts with offsets of 64 bits."""
    from pyarrow import DictionaryArray, large_string, types

    chunk.validate(full=True)
    is_coded = types.is_dictionary(chunk.type)
    kind = chunk.type.value_type if is_coded else chunk.type
    if not (types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)):
        return chunk.dictionary_decode() if is_coded else chunk
    if is_coded:  # views are not decoded
        chunk = DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(large_string())).dictionary_decode()
    return chunk.cast(large_string())


def _of_arrow(name: str, chunks: list[Any], first: int = 0) -> Ends:
    """Return the vertices in a column of some chunks, which begins in row `first`."""
    from pyarrow import types

    if not (chunks := [chunk for chunk in chunks if len(chunk)]):
        return np.empty(0, np.int64)
    with _pyarrow(name) as pyarrow:
        rows = pyarrow.concat_arrays([*map(_plain, chunks)])
    if types.is_integer(rows.type) and not rows.null_count:
        return _integers_of(name, rows.to_numpy(), first)
    if not types.is_large_string(rows.type) or rows.null_count:
        items = rows.to_pylist()
        row = next((row for row, item in enumerate(items) if item is None), 0)
        raise _no_vertex(name, items[row], first + row)
    _, offsets, data = rows.buffers()
    bounds = np.frombuffer(offsets, np.int64)[rows.offset : rows.offset + len(rows) + 1]
    return Texts(np.frombuffer(data or b"", np.uint8), bounds[:-1], bounds[1:])


def _reals_of_arrow(name: str, column: Any, first: int) -> NDArray[Any]:
    """Return a column of numbers, which begins in row `first`; NaN for a missing value."""
    with _pyarrow(name):
        column = _plain(column)
    return as_reals(name, column.to_numpy(zero_copy_only=False), lambda row: f"in row {first + row}")
