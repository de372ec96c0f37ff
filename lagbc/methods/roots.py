"""The order of the roots of a run, and their chunks: both fix the order in which sums are added."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import in_phase
from lagbc.graph.csr import as_numpy, module_of, ops_of
from lagbc.graph.graph import Graph
from lagbc.graph.host.order import length_order
from lagbc.methods import tuning
from lagbc.methods.contract import Batching
from lagbc.methods.table import Method
from lagbc.native import core


def chunk_length(method: Method, batching: Batching) -> int:
    """Return the roots of a chunk: `tuning.CHUNK_ROOTS`, or the next multiple of the method's block."""
    return -(-tuning.CHUNK_ROOTS[method.device] // batching.block) * batching.block


@in_phase("order")
def order_roots(graph: Graph, method: Method, roots: NDArray[np.int64], least: int | None = None) -> NDArray[np.int64]:
    """Put roots, each given once, into the order of their batches: near ones, of many equal levels, lie together.

    On graphs of high diameter it is the sweep order, where neighbours lie together. On others with at least `least`
    roots it is by distances to the hubs (on a GPU in hops, even where edges have lengths). A
    root without out-edges adds nothing and is left out.
    """
    least = tuning.GROUPED_ROOTS if least is None else least
    rank = core.line_up(graph.out_degrees, graph.position, roots)
    if len(rank) >= least and not graph.has_high_diameter:
        rank = _group(graph.reordered, method, rank)
    return graph.order[rank]


def _group(graph: Graph, method: Method, vertices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Group vertices of a graph in sweep order by their distances to its hubs."""
    if method.device == "cpu" and graph.weighted:
        grouped = length_order(graph.csr, graph.transpose.csr, vertices)
    elif method.device == "cuda":
        distances = graph.on_device.hub_distances
        grouped = ops_of(distances).hub_order(distances, method.arrays.asarray(vertices))
    else:
        distances = graph.hub_distances
        grouped = ops_of(distances).hub_order(distances, module_of(graph.indptr).asarray(vertices))
    in_order: NDArray[np.int64] = as_numpy(grouped)
    return in_order
