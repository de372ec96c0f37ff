"""Sums over searches from single roots, 64 at a time by the batched method: of distances, and of paths through groups.

With sigma the numbers of shortest paths from a root, the share t of the paths to v that have passed through a group is

    t[v] = 1 where v is in the group, else the sum of sigma[u] / sigma[v] * t[u] over the tight predecessors u of v

and 0 at the root. Another count of paths, held at zero on the group, would give t as a difference; a mean of shares
leaves no range, and is exactly 0 where no path passes. Roots whose counts overflow are searched by themselves: terms
are added in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.contract import FLOAT, Array, StopFlag, SweepPlan
from lagbc.methods.cpu import batched, extended
from lagbc.native import core, csr

# Sums of a root over the vertices in its reach: of 1, of their distances d, and of 1 / d.
SUMS = 3
COLUMNS = batched.COLUMNS
EVERYWHERE = np.array([np.inf])


# ---- Distances


def plan_of_distances(stop: StopFlag) -> SweepPlan:
    """Return the request of a search for distances alone."""
    return SweepPlan(batch=COLUMNS, sums=frozenset({"reached"}), stop=stop)


def arrays_of_distances(graph: Graph) -> dict[str, Any]:
    """State a worker's arrays: of the search, and its distances by vertex and by root."""
    dist = Array((graph.n, COLUMNS), FLOAT)
    return {**batched.arrays(graph, plan_of_distances(StopFlag())), "by_vertex": dist, "by_root": dist}


def prepare_distances(graph: Graph, stop: StopFlag) -> batched.State:
    """Make a worker."""
    return batched.prepare(graph, plan_of_distances(stop))


def sum_distances(
    state: batched.State,
    roots: NDArray[np.int64],
    without: Sequence[NDArray[np.int64]],
    among: NDArray[np.int64] | None = None,
    cutoffs: NDArray[np.float64] = EVERYWHERE,
) -> NDArray[np.float64]:
    """Sum over the vertices within each cutoff of up to 64 roots; return shape (roots, cutoffs, `SUMS`).

    Root i does not count the vertices ``without[i]``. If `among` is given, other vertices are not counted.
    """
    (levels,) = batched.forward(state, roots)
    by_vertex = batched.distances(state, levels)
    position = state.graph.position
    sums = np.empty((len(roots), len(cutoffs), SUMS))
    for place, dist in enumerate(np.ascontiguousarray(by_vertex.T)):
        dist[position[without[place]]] = np.inf
        some = dist if among is None else dist[position[among]]
        reached = some[np.isfinite(some)]
        for column, cutoff in enumerate(cutoffs.tolist()):
            within = reached if cutoff == np.inf else reached[reached <= cutoff]
            with np.errstate(over="ignore", divide="ignore"):
                sums[place, column] = len(within), within.sum(), (1 / within).sum()
    state.plan.stop.check()
    return sums


# ---- Groups


def plan_of_groups(rtol: float, stop: StopFlag) -> SweepPlan:
    """Return the request of a search that counts paths; the sum "reached" has it keep distances, too."""
    return SweepPlan(batch=batched.COLUMNS, rtol=rtol, sums=frozenset({"dependency", "reached"}), stop=stop)


def _schedule(graph: Graph) -> str:
    """Return the schedule whose sweeps `core.add_batch_shares` reads."""
    return batched.WITH_LENGTHS if graph.weighted else batched.READY_ORDER


def arrays_of_groups(graph: Graph, groups: int) -> dict[str, Any]:
    """State a worker's arrays."""
    plan = plan_of_groups(0.0, StopFlag())
    return {
        "search": batched.arrays(graph, plan, _schedule(graph)),
        "groups": core.Groups.bytes(graph.n, groups, not graph.weighted),
    }


@dataclass(slots=True, eq=False)
class GroupState:
    """A worker that sums for groups."""

    search: batched.State
    in_group: NDArray[np.bool_]  # (n, groups)
    endpoints: bool  # whether a pair with an end in a group counts wholly, or else not at all
    groups: core.Groups


def prepare_groups(graph: Graph, plan: SweepPlan, in_group: NDArray[np.bool_], *, endpoints: bool) -> GroupState:
    """Make a worker for groups, a column each of `in_group`."""
    search = batched.prepare(graph, plan, _schedule(graph))
    is_member = np.logical_or.reduce(in_group, axis=1)[graph.order]
    return GroupState(search, in_group, endpoints, core.Groups(in_group, is_member, endpoints, not graph.weighted))


def sum_groups(state: GroupState, roots: NDArray[np.int64], panel: int) -> NDArray[np.float64]:
    """Sum the shares of the ordered pairs from up to 64 roots: a row a panel of roots, a column a group."""
    (levels,) = batched.forward(state.search, roots)
    totals = np.zeros((-(-len(roots) // panel), state.in_group.shape[1]))
    first = 0
    for k in (*np.flatnonzero(levels.overflowed).tolist(), len(roots)):
        if first < k:
            core.add_batch_shares(state.search.sweep, state.groups, first, k, panel, totals)
        if k < len(roots):
            _add_root(state, int(roots[k]), totals[k // panel])
        first = k + 1
    state.search.plan.stop.check()
    return totals


def _add_root(state: GroupState, root: int, totals: NDArray[np.float64]) -> None:
    """Add the shares of one root, whose path counts may be of any size."""
    graph, plan = state.search.graph, state.search.plan
    dist, sigma = extended.count_paths(graph, plan, root, log2=False)
    is_log = not np.isfinite(sigma).all()
    if is_log:
        dist, sigma = extended.count_paths(graph, plan, root, log2=True)
    reached = np.argsort(dist, kind="stable")[: np.count_nonzero(np.isfinite(dist))]
    core.add_group_shares(
        csr(*graph.transpose.csr),
        reached,
        dist,
        sigma,
        is_log,
        plan.rtol,
        state.in_group,
        state.endpoints,
        state.groups.array("shares"),
        np.zeros(graph.n, np.bool_),
        totals,
    )
