"""Whether the structure of a graph is looked at before it is swept: the look is work of its own, and has to pay.

    look     n * vertex + nnz * edge, on one thread of the host
    sweeps   of a CPU, what `lagbc.plan.block_costs` predicts, shared by some threads
             of a GPU, roots * nnz * edge, an edge taking longer where the diameter is high or edges have lengths

It is done where it takes a small share of the sweeps; up to a larger one where it is too short to be felt, or where
counts of degrees and components, which are there at once, promise that less is left. The constants are those of
`lagbc.reduce.tuning`, in nanoseconds.
"""

from __future__ import annotations

import numpy as np

from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.plan import block_costs
from lagbc.reduce import tuning


def pays(graph: Graph, roots: int, device: str) -> bool:
    """Whether a run is long enough for a look at its graph."""
    look, sweeps = of_look(graph), of_sweeps(graph, roots, device)
    if look <= tuning.SHORT_LOOK:
        return look <= tuning.SHORT_SHARE * sweeps
    if look > tuning.LOOK_MOST * sweeps:
        return False
    return look <= tuning.LOOK_SHARE * sweeps or promised_left(graph, roots) <= tuning.MOST_LEFT


def of_look(graph: Graph) -> float:
    """Predict how long finding blocks, twins and chains takes; in a directed graph, components and arcs, too."""
    costs = tuning.LOOK_COSTS
    edge = costs["directed_edge"] if graph.directed else costs["edge"]
    return costs["run"] + costs["vertex"] * graph.n + edge * graph.nnz


def of_sweeps(graph: Graph, roots: int, device: str) -> float:
    """Predict how long the sweeps take, at least."""
    if device == "cpu":
        return block_costs.of_depth(graph, roots, device, 0) / tuning.LOOK_THREADS
    return tuning.GPU_EDGE[graph.weighted, graph.has_high_diameter] * roots * graph.nnz


def promised_left(graph: Graph, roots: int) -> float:
    """Tell which part of the work is left, as far as degrees and components say.

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
