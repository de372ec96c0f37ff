"""Costs of reductions: whether a look at the structure of a graph pays, predicted times of its pieces, and bytes.

The times of a **bicomponent**, swept whole or contracted to its junctions, are taken to be

    whole        roots * (vertices * pair + edges * pair_edge), where `pair` grows with the number of levels
    contracted   the same for junctions, with lengths, and `evaluations`

The **look** at the structure of a graph, and the sweeps that it may save, are taken to be

    look     n * vertex + nnz * edge, on the host, most of it on one thread
    sweeps   on a CPU: the time of the graph as one bicomponent, divided by some threads
             on a GPU: roots * nnz * edge, where `edge` grows with a high diameter, and with lengths

A run looks if the look takes a small share of the sweeps, or a larger share that is too short to be felt, or a share
of the time that degrees and components, which are known at once, promise to save. On a CPU a search from some roots
tells whether roots reach few vertices, and sweeps take less. `lagbc.tuning` has the constants: nanoseconds on a CPU,
the time of a root and an edge on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.methods.roots import COLUMNS, count_search
from lagbc.reduce.chains import JunctionWork


def predict_block(graph: Graph, roots: int, device: str) -> float:
    """Predict the time of the sweeps of a bicomponent; its depth is searched only if it matters."""
    least, most = (predict_at_depth(graph, roots, device, depth) for depth in (0, graph.n))
    return least if least == most else predict_at_depth(graph, roots, device, graph.depth)


def predict_at_depth(graph: Graph, roots: int, device: str, depth: int) -> float:
    """Predict the time of the sweeps of a bicomponent of this depth."""
    costs = tuning.BLOCK_COSTS[device, graph.weighted]
    pair = min(costs["pair"] + costs["level"] * depth, costs["most"])
    return roots * (pair * graph.n + costs["pair_edge"] * graph.nnz)


def predict_junctions(work: JunctionWork, device: str, *, weighted: bool, few_levels: bool = False) -> float:
    """Predict the time of the sums from junctions; a far column takes half of a sweep."""
    costs = tuning.JUNCTION_COSTS[device, weighted]
    pair_edge = costs["pair_edge"] * (tuning.FEW_LEVELS[device] if few_levels else 1.0)
    sweep = work.junctions * costs["pair"] + 2 * work.edges * pair_edge
    return (work.junctions + work.far_columns / 2) * sweep + costs["evaluation"] * work.evaluations


def is_look_worth(graph: Graph, roots: int, device: str, reach: Callable[[], float] = lambda: 1.0) -> bool:
    """Whether a run is long enough for a look at the structure of its graph: bicomponents, twins and chains.

    `reach` returns the share of all vertices that a root reaches.
    """
    costs = tuning.LOOK_COSTS
    edge = costs["directed_edge"] if graph.directed else costs["edge"]
    look = costs["run"] + costs["vertex"] * graph.n + edge * graph.nnz
    if device == "cpu":  # the least time of the sweeps
        sweeps = predict_at_depth(graph, roots, device, 0) / tuning.LOOK_THREADS
    else:
        sweeps = tuning.GPU_EDGE[graph.weighted, graph.has_high_diameter] * roots * graph.nnz
    if look <= tuning.SHORT_LOOK:
        return look <= tuning.SHORT_SHARE * sweeps
    if look > tuning.LOOK_MOST[device] * sweeps:
        return False
    if device == "cpu":
        sweeps = reach() * sweeps + tuning.LEAST_OF_ROOT * roots
        if look > tuning.LOOK_MOST[device] * sweeps:
            return False
    if look <= tuning.LOOK_SHARE * sweeps:
        return True
    return look <= tuning.LOOK_OF_SAVED * (1 - promised_left(graph, roots)) * sweeps


def reached_share(graph: Graph, roots: NDArray[np.int64]) -> float:
    """Return the share of all vertices that a root reaches, by a search from some; 1 if these reach many edges."""
    some = roots[:: -(-len(roots) // COLUMNS)].copy()
    _, edges, pairs, _, _ = count_search(graph.on_host, some, most := graph.nnz // tuning.REACH_SHARE)
    return 1.0 if edges > most else pairs / (len(some) * graph.n)


def promised_left(graph: Graph, roots: int) -> float:
    """Predict the share of the work that reductions leave, by degrees and components.

    A vertex of degree one goes, with its edge; as a root it goes if its neighbour is a root, too. Vertices of degree
    two lie inside chains, and from junctions an edge takes some four times as long. A root sweeps its component alone.
    """
    both = graph.symmetric
    if not both.nnz:
        return 1.0
    degrees, of_component = both.out_degrees, as_numpy(graph.components)
    ends, inside = (float(np.count_nonzero(degrees == degree)) for degree in (1, 2))
    there = float(np.count_nonzero(degrees))
    roots_left = 1 - ends / there * min(1.0, roots / there)
    left = roots_left * (1 - min(1.0, 2 * ends / both.nnz))
    if not graph.directed:
        left = min(left, tuning.FROM_JUNCTIONS * (1 - (ends + inside) / there) ** 2)
    shares = np.bincount(of_component, degrees) / both.nnz
    return float(left * (shares**2).sum())


# ---- Bytes

# Peak bytes per vertex, and per entry of the pattern taken both ways, while a graph is read, ordered and copied on a
# device: 1.1 to 3 times the measured bytes on twelve kinds of graphs.
_GRAPH_BYTES_PER_VERTEX, _GRAPH_BYTES_PER_ENTRY = 160, 32
# Peak bytes of lengths: some copies are held while the lengths of both directions are compared.
_LENGTH_BYTES_PER_ENTRY = 32
# Bytes while a graph is taken apart: per vertex; per entry, without lengths and sums of edges, and with them. They are
# 1.0 to 3.6 times the measured bytes on nine networks.
_DECOMPOSED_BYTES, _DECOMPOSED_ENTRY_BYTES = 112, (104, 124)


def reduction_bytes(graph: Graph, *, edges: bool) -> int:
    """Bound the bytes of a graph and its reduction on the host."""
    a_entry = _DECOMPOSED_ENTRY_BYTES[edges or graph.weighted]
    return bytes_of_graph(graph) + graph.n * _DECOMPOSED_BYTES + graph.nnz * a_entry


def graph_bytes(n: int, entries: int, *, weighted: bool) -> int:
    """Bound the bytes of a graph, with so many entries both ways, while it is read, ordered and copied."""
    return n * _GRAPH_BYTES_PER_VERTEX + entries * (_GRAPH_BYTES_PER_ENTRY + weighted * _LENGTH_BYTES_PER_ENTRY)


def bytes_of_graph(graph: Graph) -> int:
    """Bound the bytes of a graph; a directed graph is not made symmetric for that."""
    both_ways = graph.nnz * (2 if graph.directed and graph.transpose is not graph else 1)
    return graph_bytes(graph.n, both_ways, weighted=graph.weighted)
