"""Unweighted betweenness on the CPU by Brandes' algorithm; see lagbc/native/kernels/traversal/hops.h."""

from __future__ import annotations

from typing import Any

from lagbc.graph.graph import Graph
from lagbc.methods.arrays import Array
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu.traversal import sweep
from lagbc.methods.cpu.traversal.sweep import State
from lagbc.native import core, csr

batching, blocks = sweep.batching, sweep.blocks
options = frozenset({"class_sizes", "linear", "demand"})
forward, backward, touched = sweep.forward, sweep.backward, sweep.touched
paths, sum_within = sweep.paths, sweep.sum_within


def arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """State a worker's arrays: of its search, of the trail, and of the sums."""
    search = {"places": Array((graph.n,), graph.indices.dtype, graph.n)}  # in the queue; n for a vertex outside it
    return {"search": search} | sweep.arrays_of_state(graph, plan, sweep.most_tight_edges(graph))


def prepare(graph: Graph, plan: SweepPlan, arrays: dict[str, Any]) -> State:
    """Reorder the graph (once a graph) and make one worker's state."""
    search = csr(*graph.reordered.csr), arrays["search"]["places"]
    return sweep.prepare(graph, plan, core.sweep_hops, search, arrays)
