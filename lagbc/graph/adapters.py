"""Graphs of NetworkX, igraph and python-graphblas, and of files, read as edges and SciPy matrices.

No library is imported here: whoever passes an object of one has it loaded, and it is told by the name of its class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lagbc.errors import InvalidTypeError, InvalidValueError, warn

# The edge attribute that holds the lengths, as NetworkX and igraph call it by default.
LENGTH = "weight"


@dataclass(frozen=True, eq=False)
class Entries:
    """The edges of a graph, vertices numbered from 0; an undirected edge is there both ways, a loop once.

    Attributes
    ----------
    n : int
    tails, heads : ndarray of int64
        Parallel edges are entries of their own.
    directed : bool
    """

    n: int
    tails: NDArray[np.int64]
    heads: NDArray[np.int64]
    directed: bool

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Arrays that pickle loads lie in immutable bytes, and SciPy does not index by such.
        vars(self).update(
            {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in state.items()}
        )

    def matrix(self, lengths: NDArray[Any] | None = None, *, largest: bool = False) -> sparse.coo_array:
        """Return the adjacency matrix, of ones or of `lengths`; of parallel edges the smallest, or the `largest`."""
        if lengths is None:
            return self._coo(np.ones(len(self.tails), np.bool_), self.tails, self.heads)
        ascending = np.lexsort((-lengths if largest else lengths, self.heads, self.tails))
        tails, heads = self.tails[ascending], self.heads[ascending]
        first = first_of_parallel(tails, heads)
        return self._coo(lengths[ascending][first], tails[first], heads[first])

    def _coo(self, values: NDArray[Any], tails: NDArray[np.int64], heads: NDArray[np.int64]) -> sparse.coo_array:
        return sparse.coo_array((values, (tails, heads)), shape=(self.n, self.n))


def first_of_parallel(tails: NDArray[np.int64], heads: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Mark the first of each run of entries with the same ends."""
    first = np.ones(len(tails), np.bool_)
    first[1:] = (tails[1:] != tails[:-1]) | (heads[1:] != heads[:-1])
    return first


def shares_of_parallel(entries: Entries, lengths: NDArray[Any]) -> NDArray[np.float64]:
    """Share of each entry in the score of its pair of vertices: the shortest share equally; parallel ones are a run."""
    if not len(lengths):
        return np.ones(0)
    first = first_of_parallel(entries.tails, entries.heads)
    pair = np.cumsum(first) - 1
    shortest = lengths == np.minimum.reduceat(lengths, np.flatnonzero(first))[pair]
    shares: NDArray[np.float64] = shortest / np.bincount(pair, shortest)[pair]
    return shares


def is_networkx(A: Any) -> bool:
    """Whether `A` is a NetworkX graph."""
    return _reader(A) is _read_networkx


def is_igraph(A: Any) -> bool:
    """Whether `A` is an igraph graph."""
    return _reader(A) is _read_igraph


def names_of(A: Any) -> Any:
    """Return what the vertices of a graph are called, in its own order; None if they have no names."""
    reader = _reader(A)
    if reader is _read_networkx:
        return list(A)
    if reader is _read_igraph:
        return A.vs["name"] if "name" in A.vs.attributes() else None
    return A.labels if reader is _read_graph_file else None


def is_adaptable(A: Any) -> bool:
    """Whether `A` is a graph or matrix of one of the three libraries."""
    return _reader(A) is not None


def is_directed(A: Any) -> bool:
    """Return what `A` says of its edges; True for a matrix, whose entries are one way each."""
    if not is_adaptable(A):
        return True
    told = getattr(A, "is_directed", None) or getattr(A, "directed", True)
    return bool(told() if callable(told) else told)


def to_matrix(A: Any, *, weighted: bool | str = False, strength: bool = False) -> sparse.sparray:
    """Read a graph or matrix of one of the three libraries, vertices in its own order.

    Parameters
    ----------
    A : networkx.Graph or a subclass of it, igraph.Graph, or graphblas.Matrix
        Vertices of a NetworkX graph are taken in the order of ``list(A)``. An undirected edge is stored both ways.
    weighted : bool or str
        Read lengths: an edge attribute, "weight" if True, or the values of a matrix. Of parallel edges the shortest
        counts. If False all stored values are True.
    strength : bool
        The values are strengths: of parallel edges the largest counts.

    Returns
    -------
    SciPy sparse array, shape (n, n)
        Of a file its own matrix, else a coo_array.

    Raises
    ------
    TypeError
        A length is not a number; the message names the edge. Or the name of an attribute is given for a matrix.
    ValueError
        No edge has the attribute, or, in igraph, the graph does not; the message names those that there are.

    Warns
    -----
    UserWarning
        Some edges of a NetworkX graph have not got the attribute; they count as 1, as in NetworkX.
    """
    read = _reader(A)
    assert read is not None
    return read(A, weighted, strength)


def refuse_attribute(A: Any, attribute: str, argument: str = "weighted") -> InvalidTypeError:
    """Say that what was given for `A` has no edge attributes."""
    kind = f"{type(A).__module__.partition('.')[0]}.{type(A).__name__}"
    return InvalidTypeError(
        f"{argument}={attribute!r} names an edge attribute of a NetworkX or igraph graph, but A is a {kind}; "
        f"pass {argument}=True to take its own values as {'lengths' if argument == 'weighted' else 'strengths'}"
    )


def networkx_entries(G: Any) -> Entries:
    """Edges of a NetworkX graph in the order of ``G.adjacency()``, numbered by the order of ``list(G)``."""
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
    """Attributes of each edge, in the order of `networkx_entries`."""
    data = chain.from_iterable(row.values() for _, row in G.adjacency())
    return chain.from_iterable(keys.values() for keys in data) if G.is_multigraph() else data


def as_lengths(values: Iterable[Any], name_of: Callable[[int], str]) -> NDArray[Any]:
    """Make an array of integers or floats; TypeError names the first value that is neither by ``name_of(position)``."""
    given = list(values)
    try:
        lengths = np.array(given or np.zeros(0))
    except ValueError:  # ragged
        lengths = np.array(None)
    if lengths.dtype.kind in "biuf" and lengths.ndim == 1:
        return lengths
    for position, value in enumerate(given):
        if np.ndim(value) or np.asarray(value).dtype.kind not in "biuf":
            raise InvalidTypeError(
                f"{name_of(position)} has length {value!r}; lengths are floats, or integers of 64 bits"
            )
    raise InvalidTypeError(f"the lengths have no common type of real numbers, but {lengths.dtype}")


def _read_networkx(G: Any, weighted: bool | str, strength: bool) -> sparse.coo_array:
    entries = networkx_entries(G)
    if weighted is False:
        return entries.matrix()
    attribute = _attribute_of(weighted)
    _require_attribute(G, entries, attribute)

    def name_of(i: int) -> str:
        vertices = list(G)
        return f"edge ({vertices[entries.tails[i]]!r}, {vertices[entries.heads[i]]!r})"

    lengths = as_lengths((data.get(attribute, 1) for data in networkx_edge_data(G)), name_of)
    return entries.matrix(lengths, largest=strength)


def _require_attribute(G: Any, entries: Entries, attribute: str) -> None:
    """Raise ValueError if no edge between two vertices has an attribute; warn if some have not."""
    edges = entries.tails != entries.heads
    has = np.fromiter((attribute in data for data in networkx_edge_data(G)), np.bool_, len(edges))
    absent, all_edges = (np.count_nonzero(some) // (1 if entries.directed else 2) for some in (edges & ~has, edges))
    if not absent:
        return
    if absent == all_edges:
        raise _no_attribute("networkx.Graph", attribute, set().union(*networkx_edge_data(G)))
    warn(
        f"{absent} of the {all_edges} edges have no attribute {attribute!r}; they count as 1, as in NetworkX",
        UserWarning,
    )


def _attribute_of(weighted: bool | str) -> str:
    return weighted if isinstance(weighted, str) else LENGTH


def _no_attribute(kind: str, attribute: str, there: Iterable[Any]) -> InvalidValueError:
    names = sorted(repr(name) for name in there if isinstance(name, str))
    others = (
        f"they have {', '.join(names)}, of which weighted= or strength= takes one by name"
        if names
        else "they have none"
    )
    return InvalidValueError(
        f"the edges of the {kind} have no attribute {attribute!r}; {others}; weighted=False counts hops"
    )


def _read_igraph(graph: Any, weighted: bool | str, strength: bool) -> sparse.coo_array:
    edges = np.array(graph.get_edgelist(), np.int64).reshape(-1, 2)
    tails, heads = edges.T
    lengths = None
    if weighted is not False:
        attribute = _attribute_of(weighted)
        if len(edges) and attribute not in graph.es.attributes():
            raise _no_attribute("igraph.Graph", attribute, graph.es.attributes())
        given = graph.es[attribute] if len(edges) else ()
        lengths = as_lengths(given, lambda i: f"edge {i}, {tuple(edges[i].tolist())},")
    directed = graph.is_directed()
    if not directed:
        back = tails != heads
        tails, heads = np.concatenate([tails, heads[back]]), np.concatenate([heads, tails[back]])
        lengths = lengths if lengths is None else np.concatenate([lengths, lengths[back]])
    return Entries(graph.vcount(), tails, heads, directed).matrix(lengths, largest=strength)


def _read_graphblas(A: Any, weighted: bool | str, strength: bool) -> sparse.coo_array:
    if isinstance(weighted, str):
        raise refuse_attribute(A, weighted)
    rows, columns, values = A.to_coo(values=weighted)
    values = values if weighted else np.ones(len(rows), np.bool_)
    # As signed integers, which SciPy indexes with; GraphBLAS allows dimensions up to 2**60.
    return sparse.coo_array((values, (rows.astype(np.int64), columns.astype(np.int64))), shape=A.shape)


def _read_graph_file(file: Any, weighted: bool | str, strength: bool) -> sparse.sparray:
    if isinstance(weighted, str):
        raise refuse_attribute(file, weighted, "strength" if strength else "weighted")
    if strength and file.notices and not file.strengths:
        raise InvalidValueError(
            f"{file.name}: of repeated edges the smallest value was kept; pass read_graph(strengths=True)"
        )
    if weighted:
        file.require_lengths("strength" if strength else "length")  # in its own words
    return file.matrix


_READERS: dict[str, Callable[[Any, bool | str, bool], sparse.sparray]] = {
    "networkx.classes.graph.Graph": _read_networkx,
    "igraph.Graph": _read_igraph,
    "graphblas.core.matrix.Matrix": _read_graphblas,
    "graphblas.core.matrix.TransposedMatrix": _read_graphblas,
    "lagbc.GraphFile": _read_graph_file,
}


def _reader(A: Any) -> Callable[[Any, bool | str, bool], sparse.sparray] | None:
    return _reader_of(type(A))  # type: ignore[arg-type]  # classes are hashable


@cache
def _reader_of(kind: type) -> Callable[[Any, bool | str, bool], sparse.sparray] | None:
    names = (f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__)
    return next((_READERS[name] for name in names if name in _READERS), None)
