"""Graphs of columns of edges: of pandas, polars, Arrow or NumPy."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.errors import GraphFileWarning, InvalidTypeError, InvalidValueError, unknown_argument, warn
from lagbc.graph.given import column_of, reals_of
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.io.graph_file import bad_lengths, compressed, repeat_notices
from lagbc.io.numbering import Integers, Names

_VERTICES = (
    "vertices are integers of 64 bits, or names of one line, all of one kind: leave out rows without one; astype(int) "
    "or astype(str) makes others so"
)


def graph_from_edges(
    source: ArrayLike, target: ArrayLike, length: ArrayLike | None = None, *, directed: bool, **others: Never
) -> Graph:
    """Make a graph of columns of edges.

    Vertices are numbered as in an edge list: integers in ascending order, names in the order in which they first occur,
    from the source of the first edge on. They are the names of the graph's vertices: `lagbc.table` shows scores by
    them, and ``sources=`` takes them.

    Parameters
    ----------
    source, target : columns of pandas, polars or Arrow, arrays of NumPy, or lists; shape (m,)
        Both ends of each edge: both columns of integers, or both of names.
    length : column, array or list of numbers, shape (m,), optional
        Lengths of the edges, finite and > 0; the smallest counts where an edge is repeated. For strengths w pass 1 / w.
        Without lengths, paths are counted in hops.
    directed : bool
        Whether edges go one way; False takes them both ways.

    Returns
    -------
    Graph
        As of `as_graph`, for every function of lagbc; it keeps direction and lengths.

    Raises
    ------
    TypeError, ValueError
        A column has another shape or is masked, or a row, such as one of a missing value, holds no vertex or length;
        the message names the column and the first row, counted from 0. Or columns are not equally long.

    Warns
    -----
    GraphFileWarning
        Edges with lengths were left out, as they repeat another; the message gives their number.

    Examples
    --------
    >>> graph = lagbc.graph_from_edges(["ann", "bob", "bob"], ["bob", "carl", "dora"], directed=False)
    >>> lagbc.bc(graph)
    array([0., 3., 0., 0.])
    >>> lagbc.bc(graph, sources=["ann"])
    array([0., 1., 0., 0.])

    Of a table ``roads`` of pandas or polars:

    >>> graph = lagbc.graph_from_edges(roads["from"], roads["to"], roads["km"], directed=True)  # doctest: +SKIP
    """
    for other in others:
        meant = "length" if other.startswith(("weight", "distance", "cost")) else None
        there = "there are source, target, length and directed"
        raise unknown_argument(other, ["source", "target", "length", "directed"], meant, there)
    if not isinstance(directed, bool | np.bool_):
        raise InvalidTypeError(f"directed={directed!r} is neither True nor False")
    tails, heads = _vertex_column("source", source), _vertex_column("target", target)
    lengths = None if length is None else reals_of("length", length)
    for name, column in (("target", heads), ("length", lengths)):
        if column is not None and len(column) != len(tails):
            raise InvalidValueError(f"source has {len(tails):,} rows, {name} {len(column):,}; each row is an edge")
    if tails.dtype != heads.dtype and len(tails):
        kinds = ("integers", "names") if heads.dtype == object else ("names", "integers")
        raise InvalidTypeError(f"source holds {kinds[0]} and target {kinds[1]}; {_VERTICES}")
    if lengths is not None:
        _require_lengths(tails, heads, lengths)
    labels, tails, heads = _number_ends(np.stack([tails, heads], axis=1).ravel())
    matrix, repeats = compressed(len(labels), tails, heads, lengths, directed=bool(directed), largest=False)
    for notice in repeat_notices(repeats, largest=False):
        warn(notice, GraphFileWarning)
    graph = as_graph(matrix, directed=bool(directed), weighted=lengths is not None, copy=False)
    return replace(graph, names=labels)


def _vertex_column(name: str, given: ArrayLike) -> NDArray[Any]:
    """Return a column of vertices as integers of 64 bits, or as objects of text."""
    column = column_of(name, given)
    if not len(column):
        return column.astype(np.int64)
    if column.dtype.kind == "f":
        raise InvalidTypeError(_no_vertex(name, column, np.isnan(column)))
    if column.dtype.kind not in "iu":
        column = column.astype(object)
        are_names = isinstance(column[0], str)
        are_vertices = list(map(_is_name if are_names else _is_integer, column.tolist()))
        if not all(are_vertices):
            raise InvalidTypeError(_no_vertex(name, column, np.logical_not(are_vertices)))
        if are_names:
            return column
    if not -(2**63) <= column.min() <= column.max() < 2**63:
        raise InvalidValueError(_no_vertex(name, column, (column < -(2**63)) | (column >= 2**63)))
    return column.astype(np.int64)


def _is_name(vertex: Any) -> bool:
    return isinstance(vertex, str) and vertex != "" and "\n" not in vertex


def _is_integer(vertex: Any) -> bool:
    return isinstance(vertex, Integral) and not isinstance(vertex, bool)


def _no_vertex(name: str, column: NDArray[Any], wrong: Any) -> str:
    """Make the message about the first row of a column that holds no vertex."""
    row = int(np.argmax(wrong))
    return f"{name} holds {column[row : row + 1].tolist()[0]!r} in row {row}; {_VERTICES}"


def _require_lengths(tails: NDArray[Any], heads: NDArray[Any], lengths: NDArray[Any]) -> None:
    """Raise ValueError, which names the first row, if the length of an edge is none."""
    if len(wrong := bad_lengths(tails, heads, lengths)):
        raise InvalidValueError(
            f"{len(wrong):,} of the {len(lengths):,} lengths are not finite and > 0, the first in row {wrong[0]}: "
            f"{lengths[wrong[0]]}. Leave out those rows or give them a length; without length= paths count hops"
        )


def _number_ends(ends: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.int32]]:
    """Return the names of the ends of edges, and the numbers of tails and heads in turn."""
    vertices = Names() if ends.dtype == object else Integers()
    try:
        numbers = vertices.number_array(ends)
    except UnicodeEncodeError as error:
        raise InvalidValueError(f"a name is no text that UTF-8 holds: {error}") from error
    labels = vertices.labelled(numbers)
    return labels, numbers[::2], numbers[1::2]
