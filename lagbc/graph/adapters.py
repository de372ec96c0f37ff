"""Graphs of other libraries and of files, and arrays of a CSR matrix, read as edges and matrices.

No library is imported here: whoever passes an object of one has loaded it, and the name of its class tells which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidTypeError, InvalidValueError, warn
from lagbc.graph import numbered
from lagbc.graph.csr import index_type
from lagbc.graph.entries import Entries, as_lengths
from lagbc.graph.given import Listed, Rows, array_of
from lagbc.graph.values import NO_VALUES, Values, no_attribute


def is_networkx(A: Any) -> bool:
    """Whether `A` is a NetworkX graph."""
    return _library_of(type(A)) is _NETWORKX


def is_igraph(A: Any) -> bool:
    """Whether `A` is an igraph graph."""
    return _library_of(type(A)) is _IGRAPH


def names_of(A: Any) -> Any:
    """Return the names of the vertices of a graph, in its own order; None if they have none."""
    library = _library_of(type(A))
    return None if library is None else library.names(A)


def is_adaptable(A: Any) -> bool:
    """Whether `A` is a graph or matrix of another library, the graph of a file, or arrays of a matrix."""
    return _library_of(type(A)) is not None


def is_directed(A: Any) -> bool:
    """Whether the edges of `A` have directions; True for a matrix, whose entries are one way each."""
    library = _library_of(type(A))
    return library is None or bool(library.is_directed(A))


def has_attributes(A: Any) -> bool:
    """Whether edges of `A` may have attributes, which have names."""
    library = _library_of(type(A))
    return library is not None and library.has_attributes


def to_matrix(A: Any, values: Values = NO_VALUES) -> Listed | Rows | NDArray[Any]:
    """Read a graph or matrix for which `is_adaptable` holds; its vertices stay in their order.

    Vertices of a NetworkX graph are in the order of ``list(A)``; an undirected edge is stored both ways. The values are
    those of an edge attribute, or of a matrix, as they are; all are True if none are taken. TypeError tells of a value
    that is no number; ValueError of an attribute that no edge has, or arrays that make no square matrix. UserWarning
    says that some edges of a NetworkX graph lack the attribute and count as 1, as in NetworkX.
    """
    library = _library_of(type(A))
    assert library is not None
    return library.read(A, values)


def keeps_arrays(A: Any) -> bool:
    """Whether the matrix of `to_matrix` has arrays that `A` keeps; else they were made for it."""
    return _library_of(type(A)) is _GRAPH_FILE


def networkx_entries(G: Any) -> Entries:
    """List the edges of a NetworkX graph in the order of ``G.adjacency()``; vertices are numbered as in ``list(G)``."""
    number = {v: i for i, v in enumerate(G)}
    neighbours = [row for _, row in G.adjacency()]
    rows = np.fromiter(map(len, neighbours), np.int64, len(neighbours))
    tails = np.repeat(np.arange(len(number)), rows)
    heads = np.fromiter((number[v] for v in chain.from_iterable(neighbours)), np.int64, len(tails))
    if G.is_multigraph():
        parallel = np.fromiter((len(keys) for row in neighbours for keys in row.values()), np.int64, len(tails))
        tails, heads = np.repeat(tails, parallel), np.repeat(heads, parallel)
    return Entries(len(number), tails, heads, G.is_directed())


def networkx_edge_data(G: Any) -> Iterator[Mapping[Any, Any]]:
    """Yield the attributes of each edge, in the order of `networkx_entries`."""
    data = chain.from_iterable(row.values() for _, row in G.adjacency())
    return chain.from_iterable(keys.values() for keys in data) if G.is_multigraph() else data


def networkx_values(G: Any, entries: Entries, attribute: str) -> NDArray[Any]:
    """Return an attribute of each edge, in the order of `networkx_entries`; 1 where one lacks it."""

    def name_of(i: int) -> str:
        vertices = list(G)
        return f"edge ({vertices[entries.tails[i]]!r}, {vertices[entries.heads[i]]!r})"

    return as_lengths((data.get(attribute, 1) for data in networkx_edge_data(G)), name_of)


def _read_networkx(G: Any, values: Values) -> Listed:
    entries = networkx_entries(G)
    if not values.are_taken:
        return entries.matrix()
    _require_attribute(G, entries, values.name)
    return entries.matrix(networkx_values(G, entries, values.name), largest=values.are_strengths)


def _require_attribute(G: Any, entries: Entries, attribute: str) -> None:
    """Raise ValueError if no edge between two vertices has an attribute; warn if some lack it."""
    edges = entries.tails != entries.heads
    has = np.fromiter((attribute in data for data in networkx_edge_data(G)), np.bool_, len(edges))
    absent, all_edges = (np.count_nonzero(some) // (1 if entries.directed else 2) for some in (edges & ~has, edges))
    if not absent:
        return
    if absent == all_edges:
        raise no_attribute("networkx.Graph", attribute, set().union(*networkx_edge_data(G)))
    warn(
        f"{absent} of the {all_edges} edges have no attribute {attribute!r}; they count as 1, as in NetworkX",
        UserWarning,
    )


def _read_graphblas(A: Any, values: Values) -> Listed:
    rows, columns, stored = A.to_coo(values=values.are_taken)
    stored = stored if values.are_taken else np.ones(len(rows), np.bool_)
    # SciPy indexes with signed integers; dimensions of GraphBLAS are at most 2**60.
    return Listed(A.shape, rows.astype(np.int64), columns.astype(np.int64), stored)


def _read_graph_file(file: Any, values: Values) -> Rows:
    if values.are_strengths and file.repeats and file.has_values and not file.strengths:
        raise InvalidValueError(
            f"{file.name}: of repeated edges the smallest value was kept; pass read_graph(strengths=True)"
        )
    if values.are_taken:
        file.require_lengths(values.word, f"{values.argument}=False")
    rows: Rows = file.rows
    return rows


_ARRAYS_HELP = (
    "a tuple is (indptr, indices) or (data, indices, indptr), the arrays of a CSR matrix; of columns of edges make a "
    "graph by lagbc.graph_from_edges"
)


def _read_arrays(arrays: tuple[Any, ...], values: Values) -> Rows:
    titles = {2: ("indptr", "indices"), 3: ("data", "indices", "indptr")}.get(len(arrays))
    if titles is None:
        raise InvalidTypeError(f"A is a tuple of {len(arrays)}; {_ARRAYS_HELP}")
    given = {title: _checked_array(title, array) for title, array in zip(titles, arrays, strict=True)}
    indptr, indices = given["indptr"], given["indices"]
    data = given.get("data", np.ones(len(indices), np.bool_))
    if values.are_taken and "data" not in given:
        raise InvalidValueError(
            "A is (indptr, indices), which has no values; pass (data, indices, indptr), or weighted=False"
        )
    if not len(indptr) or indptr[0] or (np.diff(indptr) < 0).any() or indptr[-1] != len(indices):
        raise InvalidValueError(
            f"indptr of A does not rise from 0 to {len(indices)}, the number of indices; {_ARRAYS_HELP}"
        )
    if len(data) != len(indices):
        raise InvalidValueError(f"A has {len(data)} values for {len(indices)} indices; {_ARRAYS_HELP}")
    n = len(indptr) - 1
    if len(indices) and not 0 <= indices.min() <= indices.max() < n:
        raise InvalidValueError(
            f"indices of A lie in {indices.min()}..{indices.max()}, but the vertices are 0..{n - 1}, as indptr has {n} "
            f"rows; {_ARRAYS_HELP}"
        )
    return Rows(indptr.astype(np.int64, copy=False), indices.astype(index_type(n), copy=False), data)


def _checked_array(title: str, given: Any) -> NDArray[Any]:
    """Check one of the arrays of a matrix; return a copy in order, of the machine's bytes, which nobody else changes.

    Index arrays become signed.
    """
    array = array_of(f"{title} of A", given, "an array of one dimension")
    if array.ndim != 1 or not (title == "data" or array.dtype.kind in "iu" or not len(array)):
        expected = "an array of one dimension" if title == "data" else "integers, an array of one dimension"
        raise InvalidTypeError(f"{title} of A has shape {array.shape} and dtype {array.dtype}; it is {expected}")
    is_signed = title == "data" or array.dtype.kind == "i"
    return np.array(array, array.dtype.newbyteorder("=") if is_signed else np.int64, order="C")


def _read_frame(frame: Any, values: Values) -> NDArray[Any] | Listed:
    if not frame.index.equals(frame.columns):
        raise InvalidValueError(
            f"A is a data frame of shape {frame.shape}, and index and columns are not the same vertices in one order: "
            "pass A.loc[vertices, vertices]; of columns of edges make a graph by lagbc.graph_from_edges"
        )
    if type(frame.index) is type(frame.columns) and type(frame.index).__name__ == "RangeIndex":
        raise InvalidValueError(  # three edges of two ends and a length are as square
            f"A is a data frame of shape {frame.shape} without names: pass A.to_numpy() if it is an adjacency matrix; "
            "of columns of edges make a graph by lagbc.graph_from_edges"
        )
    if hasattr(frame, "sparse") and not any(kind.fill_value for kind in frame.dtypes):  # all columns are sparse
        entries = frame.sparse.to_coo()
        return Listed(frame.shape, entries.row, entries.col, entries.data)
    cells: NDArray[Any] = frame.to_numpy()
    return cells


class _Library(NamedTuple):
    """Functions that read a class of graphs: edges, direction and names."""

    read: Callable[[Any, Values], Listed | Rows | NDArray[Any]]
    is_directed: Callable[[Any], bool] = lambda A: True
    names: Callable[[Any], Any] = lambda A: None
    has_attributes: bool = False  # whether its edges have attributes


def _calls_itself_directed(A: Any) -> bool:
    return bool(A.is_directed())


def _numbered_library(
    read: Callable[[Any, Values], numbered.Numbered],
    names: Callable[[Any], Any],
    is_directed: Callable[[Any], bool],
) -> _Library:
    """Make the readers of a library whose vertices have numbers."""

    def matrix(A: Any, values: Values) -> Listed:
        return read(A, values).matrix(directed=is_directed(A), largest=values.are_strengths)

    return _Library(matrix, is_directed, names, has_attributes=True)


_NETWORKX = _Library(_read_networkx, _calls_itself_directed, list, has_attributes=True)
_IGRAPH = _numbered_library(numbered.read_igraph, numbered.igraph_names, _calls_itself_directed)
_GRAPHBLAS = _Library(_read_graphblas)
_GRAPH_FILE = _Library(_read_graph_file, _calls_itself_directed, lambda file: file.labels)
_FRAMES = ("pandas.DataFrame", "pandas.core.frame.DataFrame")  # from version 3 on, and before
_LIBRARIES = {
    "networkx.classes.graph.Graph": _NETWORKX,
    "igraph.Graph": _IGRAPH,
    "rustworkx.PyGraph": _numbered_library(numbered.read_rustworkx, numbered.rustworkx_names, lambda G: False),
    "rustworkx.PyDiGraph": _numbered_library(numbered.read_rustworkx, numbered.rustworkx_names, lambda G: True),
    "networkit.graph.Graph": _numbered_library(
        numbered.read_networkit, numbered.networkit_names, lambda G: bool(G.isDirected())
    ),
    "graph_tool.Graph": _numbered_library(numbered.read_graph_tool, numbered.graph_tool_names, _calls_itself_directed),
    "graphblas.core.matrix.Matrix": _GRAPHBLAS,
    "graphblas.core.matrix.TransposedMatrix": _GRAPHBLAS,
    "lagbc.GraphFile": _GRAPH_FILE,
    "builtins.tuple": _Library(_read_arrays),
    **dict.fromkeys(_FRAMES, _Library(_read_frame, names=lambda frame: frame.index.tolist())),
}


def _find_library(kind: type) -> _Library | None:
    """Return the library of a class of graphs."""
    names = (f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__)
    return next((_LIBRARIES[name] for name in names if name in _LIBRARIES), None)


_library_of: Callable[[type], _Library | None] = cache(_find_library)
