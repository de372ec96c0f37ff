"""Bytes of a graph while it is read, and while it is taken apart."""

from __future__ import annotations

from lagbc.graph.graph import Graph

# Peak bytes per vertex, and per entry of the pattern taken both ways, while a graph is read, ordered and copied on a
# device. On twelve kinds of graphs these were 1.1 to 3 times the measured bytes.
_GRAPH_BYTES_PER_VERTEX, _GRAPH_BYTES_PER_ENTRY = 160, 32
# The same for lengths, held in a few copies while those of both directions are compared.
_LENGTH_BYTES_PER_ENTRY = 32
# While a graph is taken apart: per vertex, and per entry, of a pattern and where edges are summed or have lengths. On
# nine networks these were 1.0 to 3.6 times the measured bytes.
_DECOMPOSED_BYTES, _DECOMPOSED_ENTRY_BYTES = 112, (104, 124)


def reduction_bytes(graph: Graph, *, edges: bool) -> int:
    """Bound the bytes that a reduction of a graph takes on the host, with the graph."""
    a_entry = _DECOMPOSED_ENTRY_BYTES[edges or graph.weighted]
    return bytes_of_graph(graph) + graph.n * _DECOMPOSED_BYTES + graph.nnz * a_entry


def graph_bytes(n: int, entries: int, *, weighted: bool) -> int:
    """Bound the bytes of a graph with `entries` entries both ways, while it is read, ordered and copied."""
    return n * _GRAPH_BYTES_PER_VERTEX + entries * (_GRAPH_BYTES_PER_ENTRY + weighted * _LENGTH_BYTES_PER_ENTRY)


def bytes_of_graph(graph: Graph) -> int:
    """Bound the bytes of a graph, without making a directed one symmetric for that."""
    both_ways = graph.nnz * (2 if graph.directed and graph.transpose is not graph else 1)
    return graph_bytes(graph.n, both_ways, weighted=graph.weighted)
