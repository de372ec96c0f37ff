"""Sums over unweighted shortest paths on the GPU by masked sparse matrix products on bit rows.

The method of `lagbc.methods.cpu.batched` with 256 roots, the columns of a group, on a warp's 32 lanes; a batch
is any number of groups. Graphs of few levels are swept a launch a level, by pull over all rows, all groups at once.
Graphs of high diameter are swept in one cooperative launch, in which each group of roots has thread blocks of its own,
a queue of rows and a barrier a level. `Graph.has_high_diameter` chooses between the two schedules; on the other graphs
the groups whose roots have too many levels for a launch each are swept again, by themselves, in one launch.

The backward sweep is compiled for the sums asked for: t, for stress, is gathered beside c, and the warp that gathers
for v sums sigma[v] * c[w] over its columns for each edge v -> w. Sums of distances are counted from the bit rows
afterwards; where no other sum is asked for, the sweep is of bits alone. Where vertices stand for several members, a
row is multiplied by their count when its gather is finished, by kernels that are compiled for that.

Rows are gathered in their own order by one warp (a hub's by eight, whose sums are joined in their order), an edge is
summed by one warp, and each group is swept and summed by itself: the bits depend on nothing but graph, roots, the sums
asked for and device type.
"""

from __future__ import annotations

from typing import Any

import cupy as cp

from lagbc.graph.graph import Graph
from lagbc.methods.contract import Batching, Counted, SweepPlan
from lagbc.methods.gpu import driver
from lagbc.methods.gpu.batched import launch_per_level, one_launch
from lagbc.methods.gpu.common.rows import GROUP_COLUMNS, Size, upload, uploaded_arrays
from lagbc.methods.gpu.common.sums import require_sums_made_here, sum_arrays
from lagbc.methods.gpu.driver import Schedule, State
from lagbc.methods.gpu.kernels import ARRAYS

batching = Batching(block=GROUP_COLUMNS, auto=4096)
forward, backward, paths = driver.forward, driver.backward, driver.paths

SCHEDULES = {
    "launch per level": Schedule(launch_per_level, "one launch"),
    "one launch": Schedule(one_launch),
}


def arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """State the uploaded arrays, a batch's sums, and the arrays of the first schedule."""
    of_schedule = SCHEDULES[_first_schedule(graph)].module.arrays(Size.of(graph, plan), None)
    stated = {"uploaded": uploaded_arrays(graph, plan), "sums": sum_arrays(graph, plan), "schedule": of_schedule}
    return {name: Counted(group) for name, group in stated.items()}


def _first_schedule(graph: Graph) -> str:
    return "one launch" if graph.has_high_diameter else "launch per level"


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Upload the graph in sweep order (once a graph) and make rows for the batch."""
    require_sums_made_here(plan)
    first = _first_schedule(graph)
    ARRAYS.begin_compile()
    SCHEDULES[first].module.begin_compile(plan, None)
    edge_order = cp.asarray(graph.edge_order) if "edges" in plan.sums else None
    return State(upload(graph, plan), schedules=SCHEDULES, first=first, edge_order=edge_order)
