"""What a block costs, swept as it is and contracted to its junctions, told by its size before either is done.

    as it is     roots * (vertices * pair + edges * pair_edge), a pair taking longer the more levels there are
    contracted   the same of junctions, which are swept with lengths, and `evaluations` of streams

The constants are those of `lagbc.reduce.tuning`: nanoseconds on a CPU, on a GPU what takes as long as a root and an
edge. Only which of two costs is less depends on them, and no score but for rounding.
"""

from __future__ import annotations

from lagbc.graph.graph import Graph
from lagbc.reduce import tuning
from lagbc.reduce.work import Work


def of_block(graph: Graph, roots: int, device: str) -> float:
    """Predict what sweeps of a block take; its depth is searched for where that counts."""
    least = of_depth(graph, roots, device, 0)
    return least if least == of_depth(graph, roots, device, graph.n) else of_depth(graph, roots, device, graph.depth)


def of_depth(graph: Graph, roots: int, device: str, depth: int) -> float:
    """Predict the sweeps of a block of a given depth, from 0 to n."""
    return of_size(graph.n, graph.nnz, roots, device, weighted=graph.weighted, depth=depth)


def of_size(n: int, nnz: int, roots: int, device: str, *, weighted: bool, depth: int) -> float:
    """Predict what sweeps of a graph of some size and depth take."""
    costs = tuning.BLOCK_COSTS[device, weighted]
    pair = min(costs["pair"] + costs["level"] * depth, costs["most"])
    return roots * (pair * n + costs["pair_edge"] * nnz)


def of_junctions(work: Work, device: str, *, weighted: bool, few_levels: bool = False) -> float:
    """Predict what sums from junctions take, of a block with lengths or in hops; far columns are half a sweep."""
    costs = tuning.JUNCTION_COSTS[device, weighted]
    pair_edge = costs["pair_edge"] * (tuning.FEW_LEVELS[device] if few_levels else 1.0)
    sweep = work.junctions * costs["pair"] + 2 * work.edges * pair_edge
    return (work.junctions + work.far_columns / 2) * sweep + costs["evaluation"] * work.evaluations
