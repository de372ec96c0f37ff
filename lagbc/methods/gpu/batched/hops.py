"""Sums over unweighted shortest paths on the GPU by masked sparse matrix products on bit rows.

The method of `lagbc.methods.cpu.batched.hops` with 256 roots, the columns of a group, on a warp's 32 lanes; a batch
is any number of groups. Graphs of few levels are swept a launch a level, by pull over all rows, all groups at once.
Deep graphs are swept in one cooperative launch, in which each group of roots has blocks of its own, a queue of rows and
a barrier a level. Which of the two it is, `Graph.has_high_diameter` says; on the other graphs the groups whose roots
have too many levels for a launch each are swept again, by themselves, as deep ones.

The backward sweep is compiled for what is asked for: t, for stress, is gathered beside c, and the warp that gathers for
v sums sigma[v] * c[w] over its columns for each edge v -> w. Sums of distances are counted from the bit rows
afterwards; where no more is asked for, the sweep is of bits alone.

Rows are gathered in their own order by one warp (a hub's by eight, whose sums are joined in their order), an edge is
summed by one warp, and each group is swept and summed by itself: the bits depend on nothing but graph, roots, the sums
asked for and device type.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan, UnlikeBlocks
from lagbc.methods.gpu.batched import launch_per_level, one_launch
from lagbc.methods.gpu.batched.sums import add_root_edges
from lagbc.methods.gpu.common.rows import (
    COLUMNS,
    Found,
    Levels,
    Placed,
    Rows,
    TooDeep,
    add_ends,
    bit_rows,
    count_groups,
    multiplicities,
    place,
    upload,
)
from lagbc.methods.gpu.common.sums import Distances, Edges
from lagbc.methods.sums import PATH_SUMS, Sums


@dataclass(eq=False)
class State:
    """The graph on the device, and the arrays of the way that was taken last."""

    rows: Rows
    has_high_diameter: bool
    arrays: Any
    edge_order: Any  # of the graph, on the device; None if edges are not summed
    too_deep: NDArray[np.int64]  # the roots of the groups that were last found to be so, and not those beside them

    @property
    def plan(self) -> SweepPlan:
        """What the run asks for."""
        return self.rows.plan

    @property
    def way(self) -> Any:
        """The module that the arrays are for: `launch_per_level` or `one_launch`."""
        return one_launch if isinstance(self.arrays, one_launch.Arrays) else launch_per_level

    def sweep(self, way: Any, roots: NDArray[np.int64], placed: Placed) -> Found:
        """Sweep forward, with the arrays of a way in place of those of the other."""
        if way is not self.way:
            self.arrays = None
            self.arrays = way.allocate(self.rows)
        found: Found = way.forward(self.arrays, roots, placed)
        return found


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Upload the graph in sweep order (once a graph) and allocate rows for the batch."""
    rows = upload(graph, plan)
    way = one_launch if graph.has_high_diameter else launch_per_level
    edge_order = cp.asarray(graph.edge_order) if "edges" in plan.sums else None
    return State(rows, graph.has_high_diameter, way.allocate(rows), edge_order, np.zeros(0, np.int64))


def forward(state: State, roots: NDArray[np.int64]) -> Levels:
    """Find the levels of a batch of roots and count their shortest paths; a root of -1 is an absent one.

    Raises
    ------
    UnlikeBlocks
        Some groups of roots are too deep for a launch a level, and have to come by themselves; the others are swept.
    """
    placed = place(state.rows, roots)
    has_high_diameter = state.has_high_diameter or np.array_equal(roots, state.too_deep)
    try:
        found = state.sweep(one_launch if has_high_diameter else launch_per_level, roots, placed)
    except TooDeep as deeper:
        apart = deeper.groups[np.arange(len(roots)) // COLUMNS]
        if deeper.found is not None and not apart.all():
            state.too_deep = roots[apart]
            raise UnlikeBlocks(deeper.groups, _levels(roots, placed, deeper.found, apart)) from None
        found = state.sweep(one_launch, roots, placed)
    return _levels(roots, placed, found)


def _levels(roots: NDArray[np.int64], placed: Placed, found: Found, apart: NDArray[np.bool_] | bool = False) -> Levels:
    return Levels(roots, placed, found.depth, found.overflowed & ~np.asarray(apart), found.reached, apart)


def backward(state: State, levels: Levels, sums: Sums) -> None:
    """Add what the roots that did not overflow sum to, a row a group, in matrix order."""
    keep = cp.asarray(bit_rows(~(levels.overflowed | levels.apart), state.rows.groups))
    if state.plan.sums & PATH_SUMS:
        _add_path_sums(state, levels, keep, sums)
    if state.plan.sums - PATH_SUMS:
        distances = Distances.zeros(state.rows, state.plan.sums)
        state.way.distances(state.arrays, levels.roots, levels.depth, keep, distances)
        distances.add_to(sums, state.rows, count_groups(levels.roots), len(levels.roots))


def _add_path_sums(state: State, levels: Levels, keep: Any, sums: Sums) -> None:
    rows = state.rows
    multiplicity = multiplicities(rows, levels.roots)
    edges = Edges(state.edge_order, sums.edges)
    scores = state.way.backward(state.arrays, levels.roots, levels.depth, keep, multiplicity, edges)
    if state.plan.endpoints:
        add_ends(levels.placed, levels.reached, keep, scores.dependency)
    scores.add_to(sums, rows, count_groups(levels.roots))
    if sums.edges is not None:
        add_root_edges(rows, levels.placed, keep, multiplicity, state.arrays.values, edges)
