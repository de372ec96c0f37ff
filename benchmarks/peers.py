"""One adapter a competitor: the peers of lagbc, and lagbc's own methods, behind one signature and one convention.

Scores are lagbc's raw ones: the sum of dependencies over the roots, halved if the graph is undirected.
A library is imported only when its adapter runs, so that an absent one harms no other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, triu

from benchmarks import lagraph_library
from benchmarks.graphs import is_weighted
from benchmarks.machine import package_version

Scores = NDArray[np.float64]
Sources = NDArray[np.integer] | None


@dataclass(frozen=True)
class Competitor:
    """A library, or a method of lagbc, that computes betweenness.

    Attributes
    ----------
    name
        How the command line and the results call it.
    module
        The Python module that must be installed.
    convert
        ``convert(matrix, directed)`` makes the library's own graph, which is timed apart.
    score
        ``score(graph, sources, threads, directed)`` gives the raw scores, float64, in matrix order.
    threaded
        Whether it can use more than one thread.
    takes_sources
        Whether it computes exact partial sums over given roots.
    takes_lengths
        Whether edges may have lengths; they do if the matrix is not bool.
    tolerance
        The largest ``|x - y| / (1 + |y|)`` from the reference that counts as agreement.
    """

    name: str
    module: str
    convert: Callable[[csr_array, bool], Any]
    score: Callable[[Any, Sources, int, bool], Scores]
    threaded: bool = True
    takes_sources: bool = True
    takes_lengths: bool = True
    tolerance: float = 1e-9

    def __call__(self, matrix: csr_array, sources: Sources, threads: int, directed: bool) -> Scores:
        """Convert and score in one go."""
        return self.score(self.convert(matrix, directed), sources, threads, directed)

    def version(self) -> str:
        """Import the library and give its version."""
        module = import_module(self.module)
        return str(getattr(module, "__version__", None) or package_version(self.module) or "not packaged")


def competitor(name: str) -> Competitor:
    """Find the competitor called `name`: a row of `PEERS`, or ``lagbc-METHOD``."""
    if name in PEERS:
        return PEERS[name]
    if name.startswith("lagbc-"):
        return lagbc_method(name.removeprefix("lagbc-"))
    raise ValueError(f"no competitor {name!r}; there are {', '.join(PEERS)} and lagbc-METHOD")


def lagbc_method(method: str, device: str = "cpu") -> Competitor:
    """Make a competitor of a method of lagbc. It takes the SciPy matrix as it is: all its preparation is scoring."""
    return Competitor(f"lagbc-{method}", "lagbc", _as_it_is, partial(_lagbc_score, method, device))


def _as_it_is(matrix: csr_array, directed: bool) -> csr_array:
    return matrix


def _lagbc_score(method: str, device: str, matrix: csr_array, sources: Sources, threads: int, directed: bool) -> Scores:
    import lagbc

    scores: Scores = lagbc.bc(
        matrix,
        directed=directed,
        weighted=is_weighted(matrix),
        sources=sources,
        method=cast(Any, method),
        device=cast(Any, device),
        threads=threads,
    )
    return scores


def _edges(matrix: csr_array, directed: bool) -> tuple[NDArray[np.integer], NDArray[np.integer], NDArray[Any]]:
    """Tails, heads and values; of an undirected graph, each edge once."""
    entries = (matrix if directed else triu(matrix, k=1)).tocoo()
    return entries.row, entries.col, entries.data


def _igraph_convert(matrix: csr_array, directed: bool) -> Any:
    import igraph

    row, col, length = _edges(matrix, directed)
    graph = igraph.Graph(n=matrix.shape[0], edges=np.column_stack([row, col]), directed=directed)
    if is_weighted(matrix):
        graph.es["length"] = length.tolist()
    return graph


def _igraph_score(graph: Any, sources: Sources, threads: int, directed: bool) -> Scores:
    lengths = "length" if "length" in graph.es.attributes() else None
    roots = None if sources is None else sources.tolist()
    return np.array(graph.betweenness(directed=directed, sources=roots, weights=lengths))


def _networkx_convert(matrix: csr_array, directed: bool) -> Any:
    import networkx

    graph = networkx.from_scipy_sparse_array(
        matrix, create_using=networkx.DiGraph if directed else networkx.Graph, edge_attribute="length"
    )
    graph.graph["weight"] = "length" if is_weighted(matrix) else None
    return graph


def _networkx_score(graph: Any, sources: Sources, threads: int, directed: bool) -> Scores:
    import networkx

    options = {"normalized": False, "weight": graph.graph["weight"]}
    if sources is None:
        scores = networkx.betweenness_centrality(graph, **options)
    else:
        scores = networkx.betweenness_centrality_subset(graph, sources.tolist(), list(graph), **options)
    return np.array([scores[vertex] for vertex in range(len(graph))])


def _networkit_convert(matrix: csr_array, directed: bool) -> Any:
    import networkit

    row, col, length = _edges(matrix, directed)
    ends = row.astype(np.uint64), col.astype(np.uint64)
    weighted = is_weighted(matrix)
    return networkit.GraphFromCoo(
        (length, ends) if weighted else ends, n=matrix.shape[0], weighted=weighted, directed=directed
    )


def _networkit_score(graph: Any, sources: Sources, threads: int, directed: bool) -> Scores:
    import networkit

    if sources is not None:
        raise ValueError("NetworKit has no exact partial sums over given roots")
    networkit.setNumberOfThreads(threads)
    scores = np.array(networkit.centrality.Betweenness(graph).run().scores())
    return scores if directed else scores / 2  # NetworKit counts both directions of a pair


def _graph_tool_convert(matrix: csr_array, directed: bool) -> Any:
    import graph_tool

    row, col, length = _edges(matrix, directed)
    graph = graph_tool.Graph(directed=directed)
    graph.add_vertex(matrix.shape[0])
    graph.add_edge_list(np.column_stack([row, col]))
    if is_weighted(matrix):
        graph.edge_properties["length"] = graph.new_edge_property("double", vals=length)
    return graph


def _graph_tool_score(graph: Any, sources: Sources, threads: int, directed: bool) -> Scores:
    import graph_tool
    import graph_tool.centrality

    graph_tool.openmp_set_num_threads(threads)
    lengths = graph.edge_properties.get("length")
    scores, _ = graph_tool.centrality.betweenness(graph, pivots=sources, weight=lengths, norm=False)
    return np.array(scores.a, dtype=np.float64)


def _lagraph_score(graph: lagraph_library.Matrices, sources: Sources, threads: int, directed: bool) -> Scores:
    roots = np.arange(graph.n) if sources is None else sources
    scores = lagraph_library.betweenness(graph, roots.tolist(), threads)
    return scores if directed else scores / 2  # LAGraph sums over ordered pairs


# igraph stands first: the reference of agreement and of the ratios.
PEERS = {
    peer.name: peer
    for peer in (
        Competitor("igraph", "igraph", _igraph_convert, _igraph_score, threaded=False),
        Competitor("networkx", "networkx", _networkx_convert, _networkx_score, threaded=False),
        Competitor("networkit", "networkit", _networkit_convert, _networkit_score, takes_sources=False),
        Competitor("graph-tool", "graph_tool", _graph_tool_convert, _graph_tool_score),
        # float32 throughout, and each batch adds up from minus the number of its roots.
        Competitor("lagraph", "lagraph", lagraph_library.convert, _lagraph_score, takes_lengths=False, tolerance=1e-3),
    )
}
