"""Graphs of columns of edges: of pandas, polars, Arrow or NumPy."""

from __future__ import annotations

from typing import Any, Never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.errors import GraphFileWarning, InvalidTypeError, InvalidValueError, unknown_argument, warn
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.graph.values import LENGTHS, STRENGTHS, Values
from lagbc.io.columns import Columns
from lagbc.io.edge_table import Edges, edge_table, edges_of_columns, edges_of_table, is_table
from lagbc.io.graph_file import bad_lengths, compressed, repeat_notices
from lagbc.types import ArrowData


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
