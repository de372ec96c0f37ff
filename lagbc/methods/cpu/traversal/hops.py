"""Unweighted betweenness on the CPU by Brandes' algorithm; see lagbc/native/kernels/traversal/hops.h."""

from __future__ import annotations

import numpy as np

from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu.traversal import sweep
from lagbc.methods.cpu.traversal.sweep import State
from lagbc.native import core, csr

batching, blocks = sweep.batching, sweep.blocks
options = frozenset({"members", "linear"})
forward, backward, paths, sum_within = sweep.forward, sweep.backward, sweep.paths, sweep.sum_within


def footprint(graph: Graph, plan: SweepPlan) -> int:
    """Return the bytes of a worker: its trail and its sums, and the places of the vertices."""
    return sweep.trail_bytes(graph, plan, sweep.one_way(graph)) + graph.n * graph.indices.dtype.itemsize


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Reorder the graph (once a graph) and allocate one worker's arrays."""
    ordered = graph.reordered
    places = np.full(graph.n, graph.n, ordered.indices.dtype)  # in the queue; n where a vertex is not in it
    search = csr(*ordered.csr), places
    return sweep.prepare(graph, plan, core.sweep_hops, search, sweep.one_way(graph))
