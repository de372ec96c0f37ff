"""The edges of a graph on the device, with their lengths, as the searches with lengths read them."""

from __future__ import annotations

from typing import Any

import cupy as cp

from lagbc.cuda.compiler import THREADS
from lagbc.graph.graph import Graph
from lagbc.methods.gpu.traversal.kernels import DIJKSTRA

Edges = tuple[Any, Any, Any]


def edges_of(graph: Graph, rows: int) -> Edges:
    """Return indptr, indices and lengths of a graph whose first rows have all the edges."""
    return graph.indptr[: rows + 1], graph.indices, graph.weights


def shortest_of(edges: Edges, rows: int) -> Any:
    """Find the smallest length of each row's edges, inf if it has none."""
    indptr, _, lengths = edges
    shortest = cp.empty(rows)
    if rows:
        kernel = DIJKSTRA["work-efficient"].kernel("dijkstra_shortest", "float64")
        kernel((-(-rows * 32 // THREADS),), THREADS, n=rows, indptr=indptr, lengths=lengths, shortest=shortest)
    return shortest
