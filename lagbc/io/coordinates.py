"""Coordinates of vertices, as tables hold them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lagbc.errors import GraphFormatError
from lagbc.graph.coordinates import Coordinates
from lagbc.io.vertices import Vertices, opened, rows_of

_ROW = "a row of vertex, x and y, or of x and y"
_TITLES_OF_X = ("x", "lon", "lng", "long", "longitude", "easting")
_TITLES_OF_Y = ("y", "lat", "latitude", "northing")
_OF_DEGREES = ("lon", "lng", "long", "longitude")
_TITLES_OF_VERTEX = ("vertex", "id", "name", "node", "osmid", "label")


class _Columns(NamedTuple):
    """Where a table has what; no column of vertices where the rows are those of the matrix."""

    vertex: int | None
    x: int
    y: int
    degrees: bool


def read_coordinates(path: str | os.PathLike[str], n: int, labels: np.ndarray | None) -> Coordinates:
    """Read where the vertices of a graph are.

    Parameters
    ----------
    path : path-like
        A table, in UTF-8, separated by commas, semicolons, tabs or blanks; ``#`` or ``%`` begins a comment. Its first
        line may hold titles: x and y, or lon and lat (or longitude and latitude), and vertex, id, name, node, osmid or
        label; further columns are left out. Without titles, they are vertex, x and y; or x and y alone, a row a vertex.
    n : int
    labels : ndarray, shape (n,), or None
        What the vertices are called; None if they are rows 0 to n - 1.

    Returns
    -------
    Coordinates
        Rows of further vertices are left out.

    Raises
    ------
    GraphFormatError
        A line is malformed, or names a vertex again; the message names the line. Or vertices are missing, or the number
        of rows is not `n` where they name no vertices.
    """
    vertices = Vertices(n, labels)
    rows = _rows(Path(path), vertices)
    first = next(rows, None)
    if first is None:
        raise GraphFormatError(f"{path}: the file is empty; expected a line `vertex x y` for each vertex")
    columns, has_titles = _columns(path, *first)
    xy, seen = np.full((n, 2), np.nan), np.zeros(n, bool)
    count = 0
    for line, cells in rows if has_titles else chain([first], rows):
        if len(cells) <= max(columns.x, columns.y, columns.vertex or 0):
            raise GraphFormatError(f"{path}, line {line}: {' '.join(cells)!r} has {len(cells)} columns; expected more")
        v = count if columns.vertex is None else vertices.number(cells[columns.vertex])
        count += 1
        if v is None or v >= n:  # rows without names may be too many
            continue
        if seen[v]:
            raise GraphFormatError(f"{path}, line {line}: vertex {cells[columns.vertex or 0]!r} is there a second time")
        seen[v] = True
        try:
            xy[v] = float(cells[columns.x]), float(cells[columns.y])
        except ValueError:
            wrong = f"{cells[columns.x]!r}, {cells[columns.y]!r}"
            raise GraphFormatError(f"{path}, line {line}: {wrong} are no numbers; expected x and y") from None
    if columns.vertex is None and count != n:
        raise GraphFormatError(f"{path}: there are {count} rows x y; expected one a vertex, {n}")
    missing = np.flatnonzero(~seen)
    if len(missing):
        name = missing[0] if labels is None else repr(str(labels[missing[0]]))
        raise GraphFormatError(f"{path}: {len(missing)} of the {n} vertices are missing, the first is {name}")
    return Coordinates(xy, columns.degrees)


def _rows(path: Path, vertices: Vertices) -> Iterator[tuple[int, list[str]]]:
    """Yield the numbers of lines and their cells."""
    with opened(path) as source:
        for line, _, cells in rows_of(source, vertices, _ROW):
            yield line, [cell.decode() for cell in cells]


def _columns(path: str | os.PathLike[str], line: int, cells: list[str]) -> tuple[_Columns, bool]:
    """Tell the columns by the first line, and whether it holds titles."""
    titles = [cell.lower() for cell in cells]
    x, y, vertex = (
        next((i for i, title in enumerate(titles) if title in usual), None)
        for usual in (_TITLES_OF_X, _TITLES_OF_Y, _TITLES_OF_VERTEX)
    )
    if x is not None and y is not None:
        return _Columns(vertex, x, y, titles[x] in _OF_DEGREES), True
    if len(cells) not in (2, 3) or not all(map(_is_number, cells[-2:])):
        raise GraphFormatError(
            f"{path}, line {line}: {' '.join(cells)!r} are neither titles such as vertex, x and y, nor a vertex with x "
            "and y; expected one of them in the first line"
        )
    return _Columns(0 if len(cells) == 3 else None, len(cells) - 2, len(cells) - 1, degrees=False), False


def _is_number(cell: str) -> bool:
    return re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", cell) is not None
