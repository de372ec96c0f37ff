"""Unweighted betweenness on the CPU by Brandes' algorithm; see lagbc/native/kernels/traversal/hops.h."""

from __future__ import annotations

from typing import Any

from lagbc.graph.graph import Graph
from lagbc.methods.arrays import counted
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu.traversal import sweep
from lagbc.methods.cpu.traversal.sweep import Size, State

batching, blocks = sweep.batching, sweep.blocks
options = frozenset({"class_sizes", "linear", "demand"})
forward, backward, touched = sweep.forward, sweep.backward, sweep.touched
paths, sum_within = sweep.paths, sweep.sum_within


def size_of(graph: Graph, plan: SweepPlan) -> Size:
    """Return the sizes of a worker."""
    return sweep.size_of(graph, plan, sweep.most_tight_edges(graph), -1)


def arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """State the bytes of a worker."""
    return {"sweep": counted(sweep.bytes_of_worker(graph, plan, size_of(graph, plan)))}


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Reorder the graph (once a graph) and make one worker."""
    return sweep.prepare(graph, plan, size_of(graph, plan))
