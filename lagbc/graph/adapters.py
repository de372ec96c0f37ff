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
from lagbc.graph.csr import index_type
from lagbc.graph.given import (
    BY_NAME,
    NO_VALUES,
    Entries,
    Listed,
    Rows,
    Values,
    array_of,
    as_lengths,
    mirrored,
    no_attribute,
)


def is_networkx(A: Any) -> bool:
    """Whether `A` is a NetworkX graph."""
    return _library_of(type(A)) is _NETWORKX


def is_igraph(A: Any) -> bool:
    """Whether `A` is an igraph graph."""
    return _library_of(type(A)) is _IGRAPH


def names_of(A: Any) -> Any:
    """Return the names of the vertices of a graph, in its own order; None if they have none."""
    return _library_of(type(A)).names(A)


def is_adaptable(A: Any) -> bool:
    """Whether `A` is a graph or matrix of another library, the graph of a file, or arrays of a matrix."""
    return _library_of(type(A)) is not _OTHER


def is_directed(A: Any) -> bool:
    """Whether the edges of `A` have directions; True for a matrix, whose entries are one way each."""
    return bool(_library_of(type(A)).is_directed(A))


def has_attributes(A: Any) -> bool:
    """Whether edges of `A` may have attributes, which have names."""
    return _library_of(type(A)).has_attributes


def to_matrix(A: Any, values: Values = NO_VALUES) -> Listed | Rows | NDArray[Any]:
    """Read a graph or matrix for which `is_adaptable` holds; its vertices stay in their order.

    An undirected edge is stored both ways. The entries hold an edge attribute, or the values of a matrix, unchanged, or
    True if no values are taken. TypeError names a value that is no number; ValueError an attribute that no edge has, or
    arrays that make no square matrix. UserWarning counts the edges of a NetworkX graph that lack the attribute, and
    count as 1, as in NetworkX.
    """
    return _library_of(type(A)).read(A, values)


def keeps_arrays(A: Any) -> bool:
    """Whether `A` and the matrix of `to_matrix` share their arrays, which are new otherwise."""
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
    """Return an attribute of each edge, in the order of `networkx_entries`; 1 for an edge without it."""

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
    """Check an array of a matrix; return a copy that is contiguous, in native byte order, and signed if of indices."""
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
    """Functions that read a class of graphs: edges, direction and names of vertices."""

    read: Callable[[Any, Values], Listed | Rows | NDArray[Any]]
    is_directed: Callable[[Any], bool] = lambda A: True
    names: Callable[[Any], Any] = lambda A: None
    has_attributes: bool = False  # whether its edges have attributes


def _calls_itself_directed(A: Any) -> bool:
    return bool(A.is_directed())


# ---- Libraries that number vertices, and list each edge once

# Ends (m, 2) of the edges, and their lengths (m,), if they are taken.
_Edges = tuple[NDArray[np.int64], Any]


def _numbered_library(
    edges: Callable[[Any, Values], _Edges],
    vertices: Callable[[Any], NDArray[np.int64]],
    texts: Callable[[Any], Any],
    is_directed: Callable[[Any], bool],
) -> _Library:
    """Make the functions of a library by its edges, the ascending numbers of its vertices, and their names.

    Vertices that were removed or filtered out leave gaps among the numbers. The numbers are names then, so that one
    means the same vertex here and in the library.
    """

    def matrix(A: Any, values: Values) -> Listed:
        numbers, (ends, lengths), directed = vertices(A), edges(A, values), is_directed(A)
        if lengths is not None:
            lengths = as_lengths(lengths, lambda i: f"edge {i}, {tuple(ends[i].tolist())},")
        tails, heads = np.searchsorted(numbers, ends.T) if _has_gaps(numbers) else ends.T
        if not directed:
            tails, heads, lengths = mirrored(tails, heads, lengths)
        return Entries(len(numbers), tails, heads, directed).matrix(lengths, largest=values.are_strengths)

    def names(A: Any) -> Any:
        numbers = vertices(A)
        return numbers if _has_gaps(numbers) else texts(A)

    return _Library(matrix, is_directed, names, has_attributes=True)


def _has_gaps(vertices: NDArray[np.int64]) -> bool:
    return bool(len(vertices)) and int(vertices[-1]) >= len(vertices)


def _as_ends(ends: Any) -> NDArray[np.int64]:
    return np.array(ends, np.int64).reshape(-1, 2)


def _igraph_edges(graph: Any, values: Values) -> _Edges:
    ends = _as_ends(graph.get_edgelist())
    if not values.are_taken:
        return ends, None
    if len(ends) and values.name not in graph.es.attributes():
        raise no_attribute("igraph.Graph", values.name, graph.es.attributes())
    return ends, graph.es[values.name] if len(ends) else ()


def _rustworkx_edges(graph: Any, values: Values) -> _Edges:
    """Read a rustworkx.PyGraph or PyDiGraph; an edge holds its length, or a dict of attributes."""
    edges, lengths = graph.weighted_edge_list(), None
    if values.are_taken:
        attribute, held = values.name, [value for _, _, value in edges]
        bare = values.attribute is None
        lengths = [value.get(attribute) if isinstance(value, Mapping) else value if bare else None for value in held]
        if lengths and all(length is None for length in lengths):
            there = set[Any]().union(*(value for value in held if isinstance(value, Mapping)))
            raise no_attribute(f"rustworkx.{type(graph).__name__}", attribute, there)
    return _as_ends([edge[:2] for edge in edges]), lengths


def _rustworkx_texts(graph: Any) -> Any:
    held = graph.nodes()
    return held if held and all(isinstance(value, str) for value in held) else None


def _networkit_edges(graph: Any, values: Values) -> _Edges:
    """Read the weights of a networkit.Graph, or an edge attribute of numbers."""
    edges: list[tuple[int, int, float, int]] = []
    graph.forEdges(lambda *edge: edges.append(edge))
    lengths = None
    if values.attribute is not None:
        held = _networkit_attribute(graph, values.attribute) if edges else {}  # by the ids of edges
        lengths = [held.get(edge) for *_, edge in edges]
    elif values.are_taken:
        if edges and not graph.isWeighted():
            raise InvalidValueError(
                f"the networkit.Graph has no weights; {BY_NAME} takes an edge attribute by name, weighted=False counts "
                "hops"
            )
        lengths = [weight for *_, weight, _ in edges]
    return _as_ends([edge[:2] for edge in edges]), lengths


def _networkit_texts(graph: Any) -> Any:
    """Return the node attribute "name", if all vertices have it."""
    try:
        held = dict(graph.getNodeAttribute("name", str))
    except RuntimeError:  # none of this name, or of another type
        return None
    return list(map(held.get, range(len(held)))) if 0 < len(held) == graph.numberOfNodes() else None


def _networkit_attribute(graph: Any, name: str) -> dict[int, Any]:
    for kind in (float, int):
        try:
            return dict(graph.getEdgeAttribute(name, kind))
        except RuntimeError:  # none of this name, or of another type
            continue
    raise InvalidValueError(
        f"the edges of the networkit.Graph have no attribute {name!r} of numbers; weighted=True takes its weights, "
        "weighted=False counts hops"
    )


def _graph_tool_edges(graph: Any, values: Values) -> _Edges:
    """Read a graph_tool.Graph, as far as its filters show it; lengths are an edge property of numbers."""
    edges = np.asarray(graph.get_edges([graph.edge_index])).reshape(-1, 3).astype(np.int64)
    ends, attribute = edges[:, :2], values.name
    if not (values.are_taken and len(edges)):  # a graph without edges need not have the property
        return ends, () if values.are_taken else None
    if attribute not in graph.edge_properties:
        raise no_attribute("graph_tool.Graph", attribute, graph.edge_properties)
    held = graph.edge_properties[attribute]
    if held.a is None:
        raise InvalidValueError(
            f"the edge property {attribute!r} of the graph_tool.Graph is of type {held.value_type()}; lengths are "
            "floats or integers"
        )
    return ends, np.asarray(held.a)[edges[:, 2]]


def _graph_tool_texts(graph: Any) -> Any:
    held = graph.vertex_properties.get("name")
    return None if held is None else [held[v] for v in graph.vertices()]


# ---- The table of libraries

_NETWORKX = _Library(_read_networkx, _calls_itself_directed, list, has_attributes=True)
_IGRAPH = _numbered_library(
    _igraph_edges,
    lambda G: np.arange(G.vcount()),
    lambda G: G.vs["name"] if "name" in G.vs.attributes() else None,
    _calls_itself_directed,
)
_OF_RUSTWORKX = _rustworkx_edges, lambda G: np.array(G.node_indices(), np.int64), _rustworkx_texts
_NETWORKIT = _numbered_library(
    _networkit_edges,
    lambda G: np.fromiter(G.iterNodes(), np.int64, G.numberOfNodes()),
    _networkit_texts,
    lambda G: bool(G.isDirected()),
)
_GRAPH_TOOL = _numbered_library(
    _graph_tool_edges,
    lambda G: np.asarray(G.get_vertices()).astype(np.int64),
    _graph_tool_texts,
    _calls_itself_directed,
)
_GRAPHBLAS = _Library(_read_graphblas)
_OTHER = _Library(lambda A, values: A)  # matrices, and all that is no graph
_GRAPH_FILE = _Library(_read_graph_file, _calls_itself_directed, lambda file: file.labels)
_FRAMES = ("pandas.DataFrame", "pandas.core.frame.DataFrame")  # from version 3 on, and before
_LIBRARIES = {
    "networkx.classes.graph.Graph": _NETWORKX,
    "igraph.Graph": _IGRAPH,
    "rustworkx.PyGraph": _numbered_library(*_OF_RUSTWORKX, lambda G: False),
    "rustworkx.PyDiGraph": _numbered_library(*_OF_RUSTWORKX, lambda G: True),
    "networkit.graph.Graph": _NETWORKIT,
    "graph_tool.Graph": _GRAPH_TOOL,
    "graphblas.core.matrix.Matrix": _GRAPHBLAS,
    "graphblas.core.matrix.TransposedMatrix": _GRAPHBLAS,
    "lagbc.GraphFile": _GRAPH_FILE,
    "builtins.tuple": _Library(_read_arrays),
    **dict.fromkeys(_FRAMES, _Library(_read_frame, names=lambda frame: frame.index.tolist())),
}


def _find_library(kind: type) -> _Library:
    names = (f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__)
    return next((_LIBRARIES[name] for name in names if name in _LIBRARIES), _OTHER)


_library_of: Callable[[type], _Library] = cache(_find_library)
