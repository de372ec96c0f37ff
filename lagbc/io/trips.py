"""Trips between pairs of vertices of a graph: a file with a matrix of them, or a table of a row a pair."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lagbc.errors import GraphFormatError, InvalidValueError
from lagbc.io.columns import Columns
from lagbc.io.formats import format_of
from lagbc.io.formats.edge_list import read_edges
from lagbc.io.layout import recognise
from lagbc.io.scan import quoted
from lagbc.io.source import Source, find_source, gzip_errors_named
from lagbc.io.tables import Vertices
from lagbc.io.titles import TITLES_OF_TRIPS, TRIPS
from lagbc.limits import host_budget

if TYPE_CHECKING:
    from scipy import sparse


def read_trips(path: Path, vertices: Vertices) -> sparse.sparray:
    """Read trips, with a row for each origin.

    A matrix (Matrix Market, ``.npz``) is in the order of the vertices, and lists each pair once. A table is read as an
    edge list is, of origins, destinations and trips; those of a pair that it repeats are added when it is summed.
    """
    with gzip_errors_named(str(path)):
        source = find_source(path, str(path), host_budget())
        form = format_of(source)
        if form.name == "edge list":
            return _of_table(source, vertices)
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


def _of_table(source: Source, vertices: Vertices) -> sparse.coo_array:
    """Read a table; entries of the matrix may be repeated."""
    from scipy import sparse

    layout = recognise(source, Columns(names=vertices.are_names or None), TRIPS)
    if not layout.directed:
        raise GraphFormatError(
            f"{source.name}: {layout.mark} says that lines go both ways; trips go one way, so list those back, too, "
            "without it"
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
