"""The distances from roots in sums by root: 64 searches at a time, by the batched method without path counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.contract import FLOAT, Array, StopFlag, SweepPlan
from lagbc.methods.cpu import batched

# Sums by root: over the vertices that it reaches 1, their distance, and 1 over it.
SUMS = 3


def plan_of(stop: StopFlag) -> SweepPlan:
    """Return the request of a search: of distances alone."""
    return SweepPlan(batch=batched.COLUMNS, sums=frozenset({"reached"}), stop=stop)


def arrays(graph: Graph) -> dict[str, Any]:
    """State a worker's arrays: of the search, and its distances by vertex and by root."""
    dist = Array((graph.n, batched.COLUMNS), FLOAT)
    return {**batched.arrays(graph, plan_of(StopFlag())), "by_vertex": dist, "by_root": dist}


@dataclass(slots=True, eq=False)
class State:
    """One worker."""

    graph: Graph
    plan: SweepPlan
    search: batched.State


def prepare(graph: Graph, stop: StopFlag) -> State:
    """Make one worker's state."""
    plan = plan_of(stop)
    return State(graph, plan, batched.prepare(graph, plan))


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
    (levels,) = batched.forward(state.search, roots)
    by_vertex = batched.distances(state.search, levels)
    position = state.graph.position
    sums = np.empty((len(roots), len(cutoffs), SUMS))
    for place, dist in enumerate(np.ascontiguousarray(by_vertex.T)):
        dist[position[without[place]]] = np.inf
        some = dist if counted is None else dist[position[counted]]
        reached = some[np.isfinite(some)]
        for column, cutoff in enumerate(cutoffs.tolist()):
            within = reached if cutoff == np.inf else reached[reached <= cutoff]
            with np.errstate(over="ignore", divide="ignore"):
                sums[place, column] = len(within), within.sum(), (1 / within).sum()
    state.plan.stop.check()
    return sums
