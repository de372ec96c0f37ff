"""Files that name vertices of a graph: one number for each, or groups of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.budget import host_budget
from lagbc.errors import GraphFormatError, InvalidValueError
from lagbc.graph.names import nearest_names
from lagbc.io.edges.fields import counted, is_float, shown, split_line
from lagbc.io.edges.layout import content_of, separator_of
from lagbc.io.integers import is_int64
from lagbc.io.source import Source, find_source, gzip_errors_named

_PAIR = "'vertex number', separated by a comma, semicolon, tab or blank"
_GROUP = "vertices, separated by commas, semicolons, tabs or blanks; names that hold one in quotes"


@dataclass(frozen=True)
class Vertices:
    """The vertices of a graph, by what text calls them.

    Attributes
    ----------
    n : int
    labels : ndarray of int64 or of StringDType, shape (n,), or None
        As of a `GraphFile`; without, vertices are numbers, counted from 0.
    """

    n: int
    labels: NDArray[Any] | None

    @property
    def are_names(self) -> bool:
        """Whether they are called by text; else by integers."""
        return self.labels is not None and self.labels.dtype.kind not in "iu"

    @property
    def in_words(self) -> str:
        """Say what they are called."""
        if self.labels is None:
            return f"the integers from 0 to {self.n - 1}"
        some = ", ".join(repr(name) for name in self.labels[:3].tolist())
        return f"called {some}{', ...' if self.n > 3 else ''}"

    def instead_of(self, text: str) -> str:
        """Say which may be meant by text that calls none: those spelt nearly so, or what all are called."""
        nearest = nearest_names(text, self._numbers) if self.are_names else ""
        return f"one of those of the graph, {f'such as {nearest}' if nearest else self.in_words}"

    def number(self, text: str) -> int | None:
        """Return the place of a vertex in the matrix; None if there is no such one."""
        if self.are_names:
            return self._numbers.get(text)
        if not is_int64(text.encode()):
            return None
        if self.labels is None:
            return int(text) if 0 <= int(text) < self.n else None
        return self._numbers.get(int(text))

    def names(self, numbers: list[int]) -> list[Any]:
        """Return what the functions of lagbc call vertices, given by their places in the matrix."""
        names: list[Any] = numbers if self.labels is None else self.labels[numbers].tolist()
        return names

    @cached_property
    def _numbers(self) -> dict[Any, int]:
        assert self.labels is not None
        return {name: i for i, name in enumerate(self.labels.tolist())}


def vertices_in(text: str, vertices: Vertices) -> list[Any]:
    """Return the vertices of a text such as ``a,b,"c,d"``, by what the functions of lagbc call them.

    Raises
    ------
    ValueError
        Quotes are wrong, there is no such vertex, or it stands there twice.
    """
    fields = split_line(text.encode(), b",", glued=False)
    if isinstance(fields, str):
        raise InvalidValueError(f"{text!r}: {fields}; expected vertices with commas between")
    numbers: dict[int, None] = {}
    for field in fields:
        number = vertices.number(field.decode())
        if number is None:
            instead = vertices.instead_of(field.decode())
            raise InvalidValueError(f"{text!r}: no vertex is called {shown(field)}; expected {instead}")
        if number in numbers:
            raise InvalidValueError(f"{text!r}: {shown(field)} stands there twice; name each vertex once")
        numbers[number] = None
    return vertices.names(list(numbers))


def read_numbers(path: Path, column: str | None, vertices: Vertices) -> tuple[NDArray[np.float64], int]:
    """Read a number for each vertex: a ``.npy`` array in the order of the matrix, or lines of vertex and number.

    Parameters
    ----------
    path : Path
        Text is read as edge lists are: any separator, quoted names, comments, gzip, and titles above if what stands in
        the place of the first number is none.
    column : str or None
        Which one of several columns of numbers: its title, or its place, counted from 1.
    vertices : Vertices

    Returns
    -------
    numbers : ndarray of float64, shape (n,)
        0 for those that are not in the file.
    named : int
        How many are.

    Raises
    ------
    GraphFormatError
        A line is none, names no vertex or one a second time, or has a number that is not finite and >= 0.
    ValueError
        An array is not of n numbers, or there is no such column.
    """
    if path.suffix == ".npy":
        return _array(path, column, vertices.n), vertices.n
    numbers, lines = np.zeros(vertices.n), np.zeros(vertices.n, np.int64)
    with opened(path) as source:
        for line, text, v, field in _pairs(source, column, vertices):
            value = float(field) if is_float(field) else math.nan
            if not 0 <= value < math.inf:
                source.fail(line, f"{shown(field)} is not a finite number >= 0", text, _PAIR)
            if lines[v]:
                source.fail(line, f"a vertex that line {lines[v]} names, too", text, "each vertex once")
            numbers[v], lines[v] = value, line
    return numbers, int(np.count_nonzero(lines))


def read_groups(path: Path, vertices: Vertices) -> list[list[Any]]:
    """Read groups of vertices, one a line, by what the functions of lagbc call them.

    Raises
    ------
    GraphFormatError
        A line names no vertex, or one twice; or there is no line.
    """
    groups = []
    with opened(path) as source:
        for line, text, fields in rows_of(source, vertices, _GROUP):
            members = [_vertex(source, line, text, field, vertices) for field in fields]
            if len(set(members)) < len(members):
                source.fail(line, "a vertex stands there twice", text, "each vertex of a group once")
            groups.append(vertices.names(members))
    if not groups:
        raise GraphFormatError(f"{path}: no line in the file; expected lines of {_GROUP}")
    return groups


def read_vertices(path: Path, vertices: Vertices) -> list[Any]:
    """Read vertices, one a line or several, by what the functions of lagbc call them.

    Raises
    ------
    GraphFormatError
        A line names no vertex, or one a second time; or there is no line.
    """
    lines: dict[int, int] = {}
    with opened(path) as source:
        for line, text, fields in rows_of(source, vertices, _GROUP):
            for field in fields:
                v = _vertex(source, line, text, field, vertices)
                if v in lines:
                    source.fail(line, f"{shown(field)}, which line {lines[v]} names, too", text, "each vertex once")
                lines[v] = line
    if not lines:
        raise GraphFormatError(f"{path}: no line in the file; expected {_GROUP}")
    return vertices.names(list(lines))


def _array(path: Path, column: str | None, n: int) -> NDArray[np.float64]:
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


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """Open a table, plain or gzip-compressed, within the memory of the host; errors name it."""
    with gzip_errors_named(str(path)):
        yield find_source(path, str(path), host_budget())


def _pairs(source: Source, column: str | None, vertices: Vertices) -> Iterator[tuple[int, bytes, int, bytes]]:
    """Yield the number and text of each line, its vertex and its field in a column; titles are left out."""
    rows = rows_of(source, vertices, _PAIR)
    first = next(rows, None)
    if first is None:
        raise GraphFormatError(f"{source.name}: no line in the file; expected lines {_PAIR}")
    *_, above = first
    place = _place(source, *first, column)
    by_title = column is not None and not column.isdecimal()
    has_titles = by_title or not (is_float(above[place]) or vertices.number(above[0].decode()) is not None)
    for line, text, fields in rows if has_titles else chain([first], rows):
        if len(fields) != len(above):
            source.fail(line, f"{counted(len(fields))} where the lines above have {len(above)}", text, _PAIR)
        yield line, text, _vertex(source, line, text, fields[0], vertices), fields[place]


def _place(source: Source, line: int, text: bytes, fields: list[bytes], column: str | None) -> int:
    """Return the column of numbers, counted from 0, of those that the first line has."""
    if column is None:
        if len(fields) != 2:
            source.fail(line, counted(len(fields)), text, f"{_PAIR}; of more columns, FILE:COLUMN says which is meant")
        return 1
    titles = [field.decode() for field in fields]
    if not column.isdecimal() and column in titles[1:]:
        return titles.index(column, 1)
    if not column.isdecimal() or not 2 <= int(column) <= len(fields):
        there = f"there are 2 to {len(fields)}, here {', '.join(map(repr, titles[1:]))}; the first one names vertices"
        raise GraphFormatError(f"{source.name}: there is no column {column!r} of numbers; {there}")
    return int(column) - 1


def rows_of(source: Source, vertices: Vertices, expected: str) -> Iterator[tuple[int, bytes, list[bytes]]]:
    """Yield the number, the text and the fields of each line that is no comment, by the first separator there is."""
    separators = (separator_of(source, line, text) for line, text in content_of(source, []))
    separator = next((found for found in separators if found != b" "), b" ")
    for line, text in content_of(source, []):
        try:
            text.decode()
        except UnicodeDecodeError:
            source.fail(line, "text that is not UTF-8", text, "names in UTF-8 (iconv -f latin1 -t utf-8 makes it)")
        fields = split_line(text, separator, glued=not vertices.are_names)
        if isinstance(fields, str):
            source.fail(line, fields, text, expected)
        yield line, text, fields


def _vertex(source: Source, line: int, text: bytes, name: bytes, vertices: Vertices) -> int:
    number = vertices.number(name.decode())
    if number is None:
        source.fail(line, f"no vertex is called {shown(name)}", text, vertices.instead_of(name.decode()))
    return number
