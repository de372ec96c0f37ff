"""The share of shortest paths that pass through groups of vertices, for many groups at once.

With sigma the numbers of shortest paths from a root, the share t of the paths to v that have passed through a group is

    t[v] = 1 where v is in the group, else the sum of sigma[u] / sigma[v] * t[u] over the tight predecessors u of v

and 0 at the root. It is the complement of a second count of paths, held at zero on the group, over the first; as a mean
of shares it needs no count of its own, leaves no range, and is exactly 0 where no path passes.

Roots are searched by the batched method, 64 at a time, and those whose counts overflow by themselves. In both ways
terms are added in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.contract import StopFlag, SweepPlan, counted
from lagbc.methods.cpu import batched, extended
from lagbc.native import core, csr


def plan_of(rtol: float, stop: StopFlag) -> SweepPlan:
    """Return the request of a search: one that is summed over distances, too, keeps these when paths are counted."""
    return SweepPlan(batch=batched.COLUMNS, rtol=rtol, sums=frozenset({"dependency", "reached"}), stop=stop)


def _schedule(graph: Graph) -> batched.Schedule:
    """Return the schedule of the sweeps that `core.add_batch_shares` reads."""
    return batched.WITH_LENGTHS if graph.weighted else batched.READY_ORDER


def arrays(graph: Graph, groups: int) -> dict[str, Any]:
    """State a worker's arrays."""
    plan = plan_of(0.0, StopFlag())
    return {
        "search": batched.arrays(graph, plan, _schedule(graph)),
        "groups": counted(core.Groups.bytes(graph.n, groups, not graph.weighted)),
    }


@dataclass(slots=True, eq=False)
class State:
    """One worker."""

    graph: Graph
    plan: SweepPlan
    search: batched.State
    in_group: NDArray[np.bool_]  # (n, groups)
    endpoints: bool  # whether pairs with an end in a group count wholly, or else not at all
    groups: core.Groups


def prepare(graph: Graph, plan: SweepPlan, in_group: NDArray[np.bool_], *, endpoints: bool) -> State:
    """Make one worker's state for groups, a column each of `in_group`."""
    search = batched.prepare(graph, plan, _schedule(graph))
    is_member = np.logical_or.reduce(in_group, axis=1)[graph.order]
    groups = core.Groups(in_group, is_member, endpoints, not graph.weighted)
    return State(graph, plan, search, in_group, endpoints, groups)


def sum_batch(state: State, roots: NDArray[np.int64], panel: int) -> NDArray[np.float64]:
    """Sum the shares of a batch of roots over all targets, of ordered pairs: a row for each panel, a column a group."""
    (levels,) = batched.forward(state.search, roots)
    totals = np.zeros((-(-len(roots) // panel), state.in_group.shape[1]))
    first = 0
    for k in (*np.flatnonzero(levels.overflowed).tolist(), len(roots)):
        if first < k:
            core.add_batch_shares(state.search.sweep, state.groups, first, k, panel, totals)
        if k < len(roots):
            _add_root(state, int(roots[k]), totals[k // panel])
        first = k + 1
    state.plan.stop.check()
    return totals


def _add_root(state: State, root: int, totals: NDArray[np.float64]) -> None:
    """Add the shares of one root, whose path counts may be of any size."""
    graph, plan = state.graph, state.plan
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
