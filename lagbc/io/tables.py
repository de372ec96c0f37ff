"""Tables about the vertices of a graph: numbers, coordinates, groups, lists of vertices, and trips between them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import GraphFormatError, InvalidValueError, did_you_mean, nearest_names, quantity
from lagbc.graph.coordinates import Coordinates
from lagbc.io.formats import format_of
from lagbc.io.formats.edge_lists import read_edges
from lagbc.io.layout import TITLES_OF_TRIPS, TRIPS, Columns, content_of, recognise, separator_of
from lagbc.io.scan import integer_of, is_float, quoted, split_line
from lagbc.io.source import Source, find_source, gzip_errors_named
from lagbc.limits import budget

if TYPE_CHECKING:
    from scipy import sparse


_PAIR = "'vertex number', separated by a comma, semicolon, tab or blank"
_GROUP = "vertices, separated by commas, semicolons, tabs or blanks; names that hold one in quotes"
_PLACE = "a row of vertex, x and y, or of x and y"
_TITLES_OF_X = ("x", "lon", "lng", "long", "longitude", "easting")
_TITLES_OF_Y = ("y", "lat", "latitude", "northing")
_OF_DEGREES = ("lon", "lng", "long", "longitude")
_TITLES_OF_VERTEX = ("vertex", "id", "name", "node", "osmid", "label")


@dataclass(eq=False)
class Vertices:
    """The vertices of a graph by their names, the `labels` of a `GraphFile`; without labels by numbers from 0 on."""

    n: int
    labels: NDArray[Any] | None

    @property
    def are_names(self) -> bool:
        """Whether names are text; else they are integers."""
        return self.labels is not None and self.labels.dtype.kind not in "iu"

    @property
    def in_words(self) -> str:
        """The names, for messages."""
        if self.labels is None:
            return f"the integers from 0 to {self.n - 1}"
        some = ", ".join(repr(name) for name in self.labels[:3].tolist())
        return f"called {some}{', ...' if self.n > 3 else ''}"

    def instead_of(self, text: str) -> str:
        """Return the vertices that a wrong name may mean, for messages: similar names, or some names."""
        nearest = " or ".join(map(repr, nearest_names(text, self._numbers))) if self.are_names else ""
        return f"a vertex of the graph, {f'such as {nearest}' if nearest else self.in_words}"

    def number(self, text: str) -> int | None:
        """Return the place in the matrix of the vertex with a name; None if no vertex has it."""
        if self.are_names:
            return self._numbers.get(text)
        number = integer_of(text.encode())
        if self.labels is None:
            return number if number is not None and 0 <= number < self.n else None
        return self._numbers.get(number)

    def names(self, numbers: list[int]) -> list[Any]:
        """Return the names of vertices, as calls of lagbc take them, by their places in the matrix."""
        names: list[Any] = numbers if self.labels is None else self.labels[numbers].tolist()
        return names

    @cached_property
    def _numbers(self) -> dict[Any, int]:
        assert self.labels is not None
        return {name: i for i, name in enumerate(self.labels.tolist())}


def vertices_in(text: str, vertices: Vertices) -> list[Any]:
    """Return the vertices in a text such as ``a,b,"c,d"``, as calls of lagbc take them."""
    fields = "a line break" if "\n" in text else split_line(text.encode(), b",", glued=False)
    if isinstance(fields, str):
        raise InvalidValueError(f"{text!r}: {fields}; expected vertices with commas between")
    numbers: dict[int, None] = {}
    for field in fields:
        number = vertices.number(field.decode())
        if number is None:
            instead = vertices.instead_of(field.decode())
            if vertices.number(text) is not None:
                instead = f"a name that holds commas in quotes, '\"{text}\"'"
            raise InvalidValueError(f"{text!r}: no vertex is called {quoted(field)}; expected {instead}")
        if number in numbers:
            raise InvalidValueError(f"{text!r}: {quoted(field)} stands there twice; name each vertex once")
        numbers[number] = None
    return vertices.names(list(numbers))


def read_numbers(path: Path, column: str | None, vertices: Vertices) -> tuple[NDArray[np.float64], int]:
    """Read a number a vertex from a ``.npy`` array in the order of the matrix, or from lines of vertex and number.

    Text is read like an edge list; without a number in its first line, that holds titles. `column` is the title of one
    of several columns of numbers, or its place, counted from 1. Vertices that the file leaves out get 0; also return
    how many vertices it names.
    """
    if path.suffix == ".npy":
        return _read_array(path, column, vertices.n), vertices.n
    numbers, lines = np.zeros(vertices.n), dict[int, int]()
    with _open_table(path, vertices, _PAIR) as table:
        above = table.first()
        place = _number_column(above, column)
        by_title = column is not None and not column.isdecimal()
        has_titles = by_title or not (is_float(above.fields[place]) or vertices.number(above.text(0)) is not None)
        for row in table.rows(skipped=has_titles):
            if len(row.fields) != len(above.fields):
                row.fail(f"{quantity(len(row.fields), 'column')} where the lines above have {len(above.fields)}", _PAIR)
            v = row.vertex(0, vertices, lines)
            value = float(row.fields[place]) if is_float(row.fields[place]) else math.nan
            if not 0 <= value < math.inf:
                row.fail(f"{quoted(row.fields[place])} is not a finite number >= 0", _PAIR)
            numbers[v] = value
    return numbers, len(lines)


def _read_array(path: Path, column: str | None, n: int) -> NDArray[np.float64]:
    if column is not None:
        raise InvalidValueError(f"{path}: an array has no column {column!r}; leave it out")
    try:
        found = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise GraphFormatError(f"{path}: {error}; expected an array written by numpy.save") from error
    if found.shape != (n,) or found.dtype.kind not in "biuf":
        of = f"has shape {found.shape} and dtype {found.dtype}"
        raise InvalidValueError(f"{path}: the array {of}; it is one number a vertex, shape ({n},)")
    return np.asarray(found, np.float64)


def _number_column(first: _Row, column: str | None) -> int:
    """Return the place, counted from 0, of the column of numbers that a caller names."""
    count = len(first.fields)
    if column is None:
        if count != 2:
            first.fail(quantity(count, "column"), f"{_PAIR}; of more columns, FILE:COLUMN says which is meant")
        return 1
    titles = [field.decode() for field in first.fields]
    if not column.isdecimal() and column in titles[1:]:
        return titles.index(column, 1)
    if not column.isdecimal() or not 2 <= int(column) <= count:
        there = f"there are 2 to {count}, here {', '.join(map(repr, titles[1:]))}; the first one names vertices"
        there = did_you_mean(column, titles[1:], there)
        raise GraphFormatError(f"{first.source.name}: there is no column {column!r} of numbers; {there}")
    return int(column) - 1


def read_coordinates(path: str | os.PathLike[str], n: int, labels: NDArray[Any] | None) -> Coordinates:
    """Read the coordinates of the vertices of a graph, by name, or a row a vertex in their order.

    Titles are x and y, or lon and lat, and vertex, id, name, node, osmid or label. Without titles, columns are vertex,
    x and y; or x and y alone. Other columns, and vertices that are not in the graph, are left out.
    """
    vertices = Vertices(n, labels)
    xy, lines, count = np.full((n, 2), np.nan), dict[int, int](), 0
    with _open_table(Path(path), vertices, _PLACE) as table:
        first = table.first("the file is empty; expected a line `vertex x y` for each vertex")
        vertex, x, y, are_degrees, has_titles = _columns_of_places(first)
        for row in table.rows(skipped=has_titles):
            if len(row.fields) <= max(x, y, vertex or 0):
                row.fail(quantity(len(row.fields), "column"), _PLACE)
            v = count if vertex is None else vertices.number(row.text(vertex))
            count += 1
            if v is None or v >= n:  # rows without names may be more than n
                continue
            row.require_first(vertex or 0, v, lines)
            place = row.fields[x], row.fields[y]
            if not all(map(is_float, place)):
                row.fail(f"{' and '.join(map(quoted, place))} are not x and y", _PLACE)
            xy[v] = (*map(float, place),)
    if vertex is None and count != n:
        raise GraphFormatError(f"{path}: there are {count} rows x y; expected one a vertex, {n}")
    if len(missing := np.setdiff1d(np.arange(n), [*lines])):
        name = missing[0] if labels is None else repr(str(labels[missing[0]]))
        raise GraphFormatError(f"{path}: {len(missing)} of the {n} vertices are missing, the first is {name}")
    return Coordinates(xy, are_degrees)


def _columns_of_places(first: _Row) -> tuple[int | None, int, int, bool, bool]:
    """Return the columns of vertices, or None, of x and of y; and whether they are degrees, and have titles."""
    titles = [field.decode().lower() for field in first.fields]
    x, y, vertex = (
        next((i for i, title in enumerate(titles) if title in usual), None)
        for usual in (_TITLES_OF_X, _TITLES_OF_Y, _TITLES_OF_VERTEX)
    )
    if x is not None and y is not None:
        return vertex, x, y, titles[x] in _OF_DEGREES, True
    count = len(titles)
    are_decimal = all(is_float(field) and b"n" not in field.lower() for field in first.fields[-2:])  # nor nan nor inf
    if count not in (2, 3) or not are_decimal:
        first.fail(f"neither titles such as vertex, x and y, nor {_PLACE}", "one of them in the first line")
    return 0 if count == 3 else None, count - 2, count - 1, False, False


def read_groups(path: Path, vertices: Vertices) -> list[list[Any]]:
    """Read groups of vertices, a group a line, as calls of lagbc take them."""
    groups = []
    with _open_table(path, vertices, _GROUP) as table:
        table.first(f"no line in the file; expected lines of {_GROUP}")
        for row in table.rows():
            members = [row.vertex(column, vertices) for column in range(len(row.fields))]
            if len(set(members)) < len(members):
                row.fail("a vertex stands there twice", "each vertex of a group once")
            groups.append(vertices.names(members))
    return groups


def read_vertices(path: Path, vertices: Vertices) -> list[Any]:
    """Read vertices, one or several a line, as calls of lagbc take them."""
    lines: dict[int, int] = {}
    with _open_table(path, vertices, _GROUP) as table:
        table.first(f"no line in the file; expected {_GROUP}")
        for row in table.rows():
            for column in range(len(row.fields)):
                row.vertex(column, vertices, lines)
    return vertices.names(list(lines))


def read_trips(path: Path, vertices: Vertices) -> sparse.sparray:
    """Read a matrix of trips, with a row for each origin.

    A matrix (Matrix Market, ``.npz``) is in the order of the vertices, and lists each pair once. A table of origins,
    destinations and trips is read like an edge list, and may repeat a pair: its trips are entries of their own.
    """
    with gzip_errors_named(str(path)):
        source = find_source(path, str(path), budget("cpu"))
        form = format_of(source)
        if form.name == "edge list":
            return _trips_of_table(source, vertices)
        if form.name not in ("Matrix Market", "SciPy npz"):
            raise InvalidValueError(
                f"{path}: demand is a matrix, .npz or .mtx, whose rows are those of the graph, or a table {TRIPS.form}"
            )
        file = form.read(source, False, Columns())
    if file.repeats:
        raise InvalidValueError(
            f"{path}: the trips of a pair of vertices are listed more than once; list each pair once"
        )
    return file.matrix


def _trips_of_table(source: Source, vertices: Vertices) -> sparse.coo_array:
    from scipy import sparse

    layout = recognise(source, Columns(names=vertices.are_names or None), TRIPS)
    if not layout.directed:
        raise GraphFormatError(
            f"{source.name}: {layout.mark} says that lines go both ways, but trips go one way; list trips back in "
            "lines of their own, without it"
        )
    if layout.length is None:
        there = f" among the titles {', '.join(map(quoted, layout.titles))}" if layout.titles else ""
        raise GraphFormatError(
            f"{source.name}: no column of trips{there}; expected lines {TRIPS.form}, or {TITLES_OF_TRIPS}"
        )
    edges = read_edges(layout)
    labels, tails, heads, trips = edges.numbered()
    assert trips is not None
    found = (vertices.number(str(label)) for label in labels.tolist())
    places = np.array([-1 if place is None else place for place in found], np.int64)
    rows, columns = places[tails], places[heads]
    wrong = (rows < 0) | (columns < 0) | ~((trips >= 0) & (trips < np.inf))
    if wrong.any():
        first = int(wrong.argmax())
        line, text = edges.line_of(first)
        for end in (tails[first], heads[first]):
            if places[end] < 0:
                name = str(labels[end])
                source.fail(line, f"no vertex is called {quoted(name.encode())}", text, vertices.instead_of(name))
        source.fail(line, f"{trips[first]} is not a finite number >= 0", text, TRIPS.form)
    return sparse.coo_array((trips, (rows, columns)), shape=(vertices.n, vertices.n))


@contextmanager
def _open_table(path: Path, vertices: Vertices, expected: str) -> Iterator[_Table]:
    """Open a table within the memory budget; the first separator other than a blank holds for all rows."""
    with gzip_errors_named(str(path)):
        source = find_source(path, str(path), budget("cpu"))
        separators = (separator_of(source, line, text) for line, text in content_of(source))
        separator = next((found for found in separators if found != b" "), b" ")
        yield _Table(source, separator, not vertices.are_names, expected)


class _Table(NamedTuple):
    """A file of rows that name vertices; `expected` is the form of a row, for errors."""

    source: Source
    separator: bytes
    glued: bool
    expected: str

    def rows(self, *, skipped: bool = False) -> Iterator[_Row]:
        """Yield the rows; the first is left out if it is `skipped`."""
        for number, (line, text) in enumerate(content_of(self.source)):
            self.source.require_utf8(line, text)
            fields = split_line(text, self.separator, glued=self.glued)
            if isinstance(fields, str):
                self.source.fail(line, fields, text, self.expected)
            if number >= skipped:
                yield _Row(self.source, line, text, fields)

    def first(self, otherwise: str | None = None) -> _Row:
        """Return the first row; GraphFormatError with the text `otherwise` if there is none."""
        row = next(self.rows(), None)
        if row is None:
            otherwise = otherwise or f"no line in the file; expected lines {self.expected}"
            raise GraphFormatError(f"{self.source.name}: {otherwise}")
        return row


class _Row(NamedTuple):
    source: Source
    line: int
    whole: bytes
    fields: list[bytes]

    def text(self, column: int) -> str:
        return self.fields[column].decode()

    def vertex(self, column: int, vertices: Vertices, lines: dict[int, int] | None = None) -> int:
        """Return the place in the matrix of the vertex in a field; `lines`, if given, refuse one that had a line."""
        number = vertices.number(self.text(column))
        if number is None:
            self.fail(f"no vertex is called {quoted(self.fields[column])}", vertices.instead_of(self.text(column)))
        if lines is not None:
            self.require_first(column, number, lines)
        return number

    def require_first(self, column: int, number: int, lines: dict[int, int]) -> None:
        """Enter the line of a vertex into `lines`; GraphFormatError if they have one already."""
        if number in lines:
            self.fail(f"{quoted(self.fields[column])}, which line {lines[number]} names, too", "each vertex once")
        lines[number] = self.line

    def fail(self, found: str, expected: str) -> NoReturn:
        self.source.fail(self.line, found, self.whole, expected)
