"""The distances from roots in sums by root: 64 searches at a time, by the batched method without path counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.arrays import Array
from lagbc.methods.contract import StopFlag, SweepPlan
from lagbc.methods.cpu.batched import hops, lengths, sweep

COLUMNS = sweep.COLUMNS
# Sums by root: over the vertices that it reaches 1, their distance, and 1 over it.
SUMS = 3


def plan_of(stop: StopFlag) -> SweepPlan:
    """Return the request of a search: of distances alone."""
    return SweepPlan(batch=COLUMNS, sums=frozenset({"reached"}), stop=stop)


def arrays(graph: Graph) -> dict[str, Any]:
    """State a worker's arrays: of the search, and its distances by vertex and by root."""
    module: Any = lengths if graph.weighted else hops
    dist = Array((graph.n, COLUMNS), np.dtype(np.float64), None)
    return {**module.arrays(graph, plan_of(StopFlag())), "by_vertex": dist, "by_root": dist}


@dataclass(slots=True, eq=False)
class State:
    """One worker."""

    graph: Graph
    plan: SweepPlan
    search: Any  # the state of the batched method


def prepare(graph: Graph, stop: StopFlag) -> State:
    """Make one worker's state."""
    plan, module = plan_of(stop), lengths if graph.weighted else hops
    search: Any = module.prepare(graph, plan)  # type: ignore[attr-defined]
    return State(graph, plan, search)


def sum_batch(
    state: State,
    roots: NDArray[np.int64],
    without: Sequence[NDArray[np.int64]],
    counted: NDArray[np.int64] | None,
    cutoffs: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the sums of up to 64 roots, shape (roots, cutoffs, `SUMS`).

    Vertices of `without`, some for each root, are not counted, nor any beside the `counted` ones, where these are
    given.
    """
    (levels,) = sweep.forward(state.search, roots)
    if state.graph.weighted:
        by_vertex = state.search.dist
    else:
        by_vertex = np.full((state.graph.n, len(roots)), np.inf)
        state.search.sweep.write_levels(by_vertex)
    position = state.graph.position
    sums = np.empty((len(roots), len(cutoffs), SUMS))
    for place, dist in enumerate(np.ascontiguousarray(by_vertex[:, : len(levels.roots)].T)):
        dist[position[without[place]]] = np.inf
        some = dist if counted is None else dist[position[counted]]
        reached = some[np.isfinite(some)]
        for column, cutoff in enumerate(cutoffs.tolist()):
            within = reached if cutoff == np.inf else reached[reached <= cutoff]
            with np.errstate(over="ignore", divide="ignore"):
                sums[place, column] = len(within), within.sum(), (1 / within).sum()
    state.plan.stop.check()
    return sums
