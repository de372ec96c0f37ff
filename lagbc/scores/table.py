"""Scores as a table of pandas, by the names of vertices and edges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from lagbc.errors import InvalidTypeError, InvalidValueError, needed
from lagbc.graph import adapters
from lagbc.graph.given import is_sparse, parse_values, refuse_masked, require_reals, shares_of_parallel
from lagbc.graph.graph import Graph
from lagbc.graph.names import listed_names
from lagbc.graph.validate import as_graph
from lagbc.scores.finish import Distances, Highest
from lagbc.scores.records import registered, titled
from lagbc.types import GraphLike

if TYPE_CHECKING:
    import pandas as pd


# The scores and bounds of an `Estimate`.
_OF_ESTIMATES = ("scores", "lower", "upper")


def table(
    graph: GraphLike,
    scores: Any,
    *,
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    cutoff: ArrayLike | None = None,
    decay: ArrayLike | None = None,
    names: Sequence[Any] | NDArray[Any] | None = None,
) -> pd.DataFrame:
    """Return scores as a pandas DataFrame, indexed by the names of vertices or edges.

    Parameters
    ----------
    graph : the graph of the scores, as for `lagbc.bc`
        It gives the names of vertices: of the graph of NetworkX or another library, of the file, or of the columns of
        edges; else their numbers.
    scores : ndarray, shape (n,) or (n, columns); sparse matrix, shape (n, n), or a list of such; or a mapping of names
        As `lagbc.bc`, `lagbc.edge_bc` and `lagbc.centralities` return them, with several cutoffs or decays, too, or an
        estimate by `lagbc.estimate` of all vertices, or of edges; or a `Highest` of `lagbc.closeness` with `top`.
        Scores of edges of a matrix are given by a name, ``{"score": scores}``: else it could be either argument.
    directed, weighted, strength : as for the call that made the scores
        They matter to scores of edges: whether an edge is one row or two, and which of parallel edges are shortest.
        By default the graph tells the direction. Scores of edges that the graph lacks are taken for undirected.
        Where parallel edges have numbers that differ, `weighted` or `strength` has to be given, ``weighted=False`` for
        hops.
    cutoff, decay : as for the call that made the scores
        If there are several, they are titles of columns.
    names : sequence, shape (n,), optional
        Names of the vertices, each another, such as of the rows of a matrix, in place of the graph's own.

    Returns
    -------
    pandas.DataFrame
        A column for each name, or one called "score"; with several cutoffs or decays one for each of these, called
        "cutoff 400", or in a mapping "bc, cutoff 400"; of an estimate also "lower" and "upper". Scores of vertices have
        the index "vertex", in the order of the graph, but of a `Highest` the highest first. Scores of edges have the
        levels "source" and "target", an undirected edge once, from the end that comes first in the graph: the page of
        conventions has a join of both orientations. With a NetworkX graph the levels are "u" and "v", as in the tables
        of edges of osmnx, which can be joined. Unless `directed` is other than its own, the rows are in the order of
        ``graph.edges``, with a level "key" if edges may be parallel: the shortest share the score equally, as in
        NetworkX, and longer ones have 0.

    Raises
    ------
    MissingDependencyError
        pandas is not installed.
    TypeError, ValueError
        The scores are of another graph, or of vertices and edges at once, or it is not told which of parallel edges
        they belong to, or which of two matrices is the graph.

    Examples
    --------
    >>> import networkx as nx
    >>> G = nx.path_graph(["a", "b", "c"])
    >>> lagbc.table(G, lagbc.bc(G))  # doctest: +SKIP
            score
    vertex
    a         0.0
    b         1.0
    c         0.0

    As a table of Arrow, and as Parquet, with the names in columns:

    >>> scores = pyarrow.table(lagbc.table(G, lagbc.bc(G)).reset_index())  # doctest: +SKIP
    >>> lagbc.table(G, lagbc.bc(G)).reset_index().to_parquet("scores.parquet")  # doctest: +SKIP

    Edges of a street network G of osmnx, beside their geometry:

    >>> loads = lagbc.table(G, lagbc.edge_bc(G, weighted="length"), weighted="length")  # doctest: +SKIP
    >>> osmnx.graph_to_gdfs(G, nodes=False).join(loads).plot("score")  # doctest: +SKIP
    """
    with needed("tables need pandas", "pandas", "pandas"):
        import pandas as pd
    if is_sparse(graph) and is_sparse(scores):  # earlier versions took them the other way round
        raise InvalidValueError(
            "graph and scores are two matrices, and either may be the scores of edges: give these a name, "
            "table(graph, {'score': scores})"
        )
    if isinstance(scores, Highest):
        called, last = _vertex_names(graph, names), scores.vertices.max(initial=-1)
        if last >= len(called):
            raise InvalidValueError(f"scores has vertex {last}, but the graph has {len(called)} vertices")
        return pd.DataFrame({"score": scores.scores}, index=_index(pd, called[scores.vertices]))
    given = dict(scores) if isinstance(scores, Mapping) else {None: scores}
    if not given:
        raise InvalidValueError("scores is empty; it holds the scores of one centrality or more")
    if isinstance(scores, Mapping) and any(isinstance(one, Real | Mapping) for one in given.values()):
        raise InvalidTypeError(
            "scores is a mapping of numbers, such as NetworkX returns; of these pandas.Series(scores) makes a table; "
            "here scores are arrays by the names of centralities, {'bc': lagbc.bc(graph)}"
        )
    columns: dict[Any, Any] = {}
    for name, values in given.items():
        columns |= _titled_columns(name, values, cutoff, decay)
    of_edges = {sparse.issparse(values) for values in columns.values()}
    if len(of_edges) > 1:
        raise InvalidValueError("scores of vertices and of edges have rows of their own; make a table of each")
    called = _vertex_names(graph, names)
    n = len(called)
    for name, values in columns.items():
        if values.shape != ((n, n) if of_edges == {True} else (n,)):
            raise InvalidValueError(f"{name} has shape {values.shape}, but the graph has {n} vertices")
    if of_edges == {False}:
        return pd.DataFrame(columns, index=_index(pd, called))
    if adapters.is_networkx(graph) and directed in (None, adapters.is_directed(graph)):
        rows, tails, heads, shares = _networkx_edges(graph, called, weighted, strength)
    else:
        rows, tails, heads, shares = _stored_edges([*columns.values()], graph, called, directed)
    titles = ["u", "v", "key"] if adapters.is_networkx(graph) else ["source", "target"]
    index = pd.MultiIndex.from_arrays(rows, names=titles[: len(rows)])
    values = {name: _values_at(matrix, tails, heads) * shares for name, matrix in columns.items()}
    return pd.DataFrame(values, index=index)


def _index(pd: Any, names: NDArray[Any]) -> Any:
    return pd.Index(names, name="vertex", tupleize_cols=False)


def _titled_columns(name: str | None, scores: Any, cutoff: Any, decay: Any) -> dict[str, Any]:
    called = name or "score"
    before = "" if name is None else f"{name}, "
    if all(hasattr(scores, one) for one in _OF_ESTIMATES):
        titles = called, *(before + one for one in _OF_ESTIMATES[1:])
        return {title: _on_host(title, getattr(scores, one)) for title, one in zip(titles, _OF_ESTIMATES, strict=True)}
    if isinstance(scores, Highest):
        raise InvalidTypeError(f"{called} has the highest scores alone; make a table of it by itself")
    if instead := _instead_of(scores):
        raise InvalidTypeError(f"{called} is a {type(scores).__qualname__}, which has no score of a vertex; {instead}")
    if isinstance(scores, tuple):
        raise InvalidTypeError(
            f"{called} is a pair, such as scores and their errors; pass a mapping of names, of (scores, errors) = pair "
            "{'score': scores, 'error': errors}, or make a table of each"
        )
    if isinstance(scores, list) and any(isinstance(one, Real | list) for one in scores):
        raise InvalidTypeError(f"{called} is a list of numbers; pass an array of them, numpy.array(scores)")
    if isinstance(scores, list):
        several = [_on_host(called, matrix) for matrix in scores]
    else:
        values = _on_host(called, scores)
        if sparse.issparse(values) or values.ndim != 2:
            return {called: values}
        several = [*values.T]
    takes = {record.name: record.takes for record in registered()}
    if "decay" not in takes.get(called, {"decay"}):
        decay = None
    return {before + title: column for title, column in titled(called, several, cutoff, decay).items()}


def _instead_of(found: Any) -> str:
    """Say how a table is made of a record that has no scores; nothing of anything else."""
    if isinstance(found, Distances):
        return "pandas.Series(found._asdict()) has its numbers"
    if callable(getattr(found, "labels", None)):
        return "found.labels() are the communities of the vertices, as scores or in {'community': found.labels()}"
    return "found.to_pandas() is its table" if callable(getattr(found, "to_pandas", None)) else ""


def _on_host(name: str, values: Any) -> Any:
    values = values.get() if hasattr(values, "get") and not isinstance(values, Mapping) else values
    refuse_masked(name, values)
    if not (isinstance(values, np.ndarray) or sparse.issparse(values)):
        raise InvalidTypeError(f"{name} is a {type(values).__qualname__}; scores are an array or a sparse matrix")
    require_reals(name, values)
    return values


def _vertex_names(graph: Any, given: Any) -> NDArray[Any]:
    """Return the given names of vertices, else the graph's own, else numbers."""
    if given is not None:
        return np.fromiter(listed_names(given, _count_vertices(graph)), object)  # in which tuples stay tuples
    names = graph.names if isinstance(graph, Graph) else adapters.names_of(graph)
    if names is None:
        return np.arange(_count_vertices(graph))
    return np.fromiter(names.tolist() if isinstance(names, np.ndarray) else names, object)


def _count_vertices(graph: Any) -> int:
    if isinstance(graph, Graph):
        return graph.n
    matrix = adapters.to_matrix(graph) if adapters.is_adaptable(graph) else graph
    shape: tuple[int, ...] = getattr(matrix, "shape", ())
    if len(shape) != 2:
        raise InvalidTypeError(f"graph is a {type(graph).__qualname__}; it is a graph or a matrix as lagbc.bc takes it")
    return int(shape[0])


def _values_at(matrix: Any, tails: NDArray[np.int64], heads: NDArray[np.int64]) -> NDArray[np.float64]:
    values = matrix.tocsr()[tails, heads]
    return np.asarray(values.toarray() if sparse.issparse(values) else values).ravel()


_Edges = tuple[list[NDArray[Any]], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


def _stored_edges(matrices: list[Any], graph: Any, names: NDArray[Any], directed: bool | None) -> _Edges:
    """Return index levels, tails, heads and shares of edges in matrices, undirected ones from their earlier end.

    The edges are those that the first matrix stores.
    """
    entries = matrices[0].tocoo()
    if directed is None:
        directed = graph.directed if isinstance(graph, Graph) else adapters.is_directed(graph)
        directed = directed and any(_has_edges(graph, matrix) for matrix in matrices)
    once = np.flatnonzero(directed | (entries.row <= entries.col))
    tails, heads = entries.row[once].astype(np.int64), entries.col[once].astype(np.int64)
    return [names[tails], names[heads]], tails, heads, np.ones(len(once))


def _has_edges(graph: Any, matrix: Any) -> bool:
    """Whether a graph has each edge of a matrix, in its direction; loops do not count."""
    own, (tails, heads) = as_graph(graph, directed=True).on_host, matrix.tocoo().coords
    pattern = sparse.csr_array((np.ones(own.nnz), own.indices, own.indptr), shape=(own.n, own.n))
    return bool(((tails == heads) | (_values_at(pattern, tails, heads) > 0)).all())


def _networkx_edges(G: Any, names: NDArray[Any], weighted: bool | str | None, strength: bool | str) -> _Edges:
    """Return the same of the edges of a NetworkX graph, in its own order."""
    entries, values = adapters.networkx_entries(G), parse_values(weighted, strength)
    if values.are_taken:
        held = adapters.networkx_values(G, entries, values.name)
    else:
        held = np.ones(len(entries.tails))
        if weighted is None and G.is_multigraph():
            _require_alike(G)
    shares = shares_of_parallel(entries, held, largest=values.are_strengths)
    # NetworkX lists an undirected edge from its earlier end.
    named = np.flatnonzero(G.is_directed() | (entries.heads >= entries.tails))
    tails, heads = entries.tails[named], entries.heads[named]
    keys = []
    if G.is_multigraph():
        every = (key for _, row in G.adjacency() for parallel in row.values() for key in parallel)
        keys = [np.fromiter(every, object)[named]]
    return [names[tails], names[heads], *keys], tails, heads, shares[named]


def _require_alike(G: Any) -> None:
    """Raise ValueError if parallel edges of a multigraph differ in an attribute that may be a length."""
    for _, row in G.adjacency():
        for parallel in row.values():
            for name in dict.fromkeys(chain.from_iterable(parallel.values())):
                lengths = [data.get(name, 1.0) for data in parallel.values()]
                if all(_may_be_length(name, length) for length in lengths) and len(set(lengths)) > 1:
                    raise InvalidValueError(
                        f"parallel edges differ in {name!r}, such as {lengths}: pass weighted= or strength= as for the "
                        "call that made the scores, to tell which of them are shortest; weighted=False for hops"
                    )


def _may_be_length(name: Any, value: Any) -> bool:
    """Whether an edge attribute may be a length; integers are ids or counts, except under the name "weight"."""
    is_number = isinstance(value, Real if name == "weight" else float) and not isinstance(value, bool)
    return bool(is_number and value == value)
