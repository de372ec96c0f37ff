"""The choice of a reduction: whether a look at the structure of a graph pays, predicted costs of its pieces, and bytes.

**Bicomponents** have costs by their size, swept whole or contracted to their junctions:

    whole        roots * (vertices * pair + edges * pair_edge), a pair taking longer the more levels there are
    contracted   the same for junctions, which are swept with lengths, and `evaluations` of streams

**The look** at the structure of a graph is work of its own, and has to pay:

    look     n * vertex + nnz * edge, on one thread of the host
    sweeps   on a CPU: those of a bicomponent, shared by some threads
             on a GPU: roots * nnz * edge, an edge taking longer where the diameter is high or edges have lengths

A run looks where the look takes a small share of the sweeps. It takes a larger share if the look is too short to be
felt, or a small one of the sweeps that counts of degrees and components, known at once, promise to save. On a CPU roots
that reach few vertices take less, as a search from some of them tells. The constants of both are those of
`lagbc.tuning`: nanoseconds on a CPU, on a GPU the time of a root and an edge.
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
    """Predict the sweeps of a bicomponent; its depth is searched for only where it matters."""
    least, most = (predict_at_depth(graph, roots, device, depth) for depth in (0, graph.n))
    return least if least == most else predict_at_depth(graph, roots, device, graph.depth)


def predict_at_depth(graph: Graph, roots: int, device: str, depth: int) -> float:
    """Predict the sweeps of a bicomponent with a given depth, from 0 to n."""
    costs = tuning.BLOCK_COSTS[device, graph.weighted]
    pair = min(costs["pair"] + costs["level"] * depth, costs["most"])
    return roots * (pair * graph.n + costs["pair_edge"] * graph.nnz)


def predict_junctions(work: JunctionWork, device: str, *, weighted: bool, few_levels: bool = False) -> float:
    """Predict the sums from junctions of a bicomponent with lengths or in hops; a far column is half a sweep."""
    costs = tuning.JUNCTION_COSTS[device, weighted]
    pair_edge = costs["pair_edge"] * (tuning.FEW_LEVELS[device] if few_levels else 1.0)
    sweep = work.junctions * costs["pair"] + 2 * work.edges * pair_edge
    return (work.junctions + work.far_columns / 2) * sweep + costs["evaluation"] * work.evaluations


def is_short(graph: Graph, roots: int, device: str) -> bool:
    """Whether a run on a CPU is too short for a look at any graph, which `is_look_worth` tells, too."""
    return device == "cpu" and tuning.LOOK_COSTS["run"] > tuning.SHORT_SHARE * predict_sweeps(graph, roots, device)


def is_look_worth(graph: Graph, roots: int, device: str, reach: Callable[[], float] = lambda: 1.0) -> bool:
    """Whether a run is long enough for a look at the structure of its graph.

    The look searches for bicomponents, twins and chains; in a directed graph also for components and arcs. `reach`
    tells the share of all vertices that a root reaches.
    """
    costs = tuning.LOOK_COSTS
    edge = costs["directed_edge"] if graph.directed else costs["edge"]
    look, sweeps = costs["run"] + costs["vertex"] * graph.n + edge * graph.nnz, predict_sweeps(graph, roots, device)
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
    """Return the share of all vertices that a root reaches, by a search from some; 1 where they reach many edges."""
    some = roots[:: -(-len(roots) // COLUMNS)].copy()
    _, edges, pairs, _, _ = count_search(graph.on_host, some, most := graph.nnz // tuning.REACH_SHARE)
    return 1.0 if edges > most else pairs / (len(some) * graph.n)


def predict_sweeps(graph: Graph, roots: int, device: str) -> float:
    """Predict the least time of the sweeps."""
    if device == "cpu":
        return predict_at_depth(graph, roots, device, 0) / tuning.LOOK_THREADS
    return tuning.GPU_EDGE[graph.weighted, graph.has_high_diameter] * roots * graph.nnz


def promised_left(graph: Graph, roots: int) -> float:
    """Return the share of the work that remains after reductions, as far as degrees and components tell.

    A vertex of degree one goes with its edge; as a root it is merged where its neighbour is a root, too. Vertices of
    degree two lie inside chains, and from junctions an edge takes some four times as long. A root sweeps its component.
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
