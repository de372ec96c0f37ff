"""The share of shortest paths that pass through groups of vertices, a root at a time, for many groups at once.

With sigma the numbers of shortest paths from a root, the share t of the paths to v that have passed through a group is

    t[v] = 1 where v is in the group, else the sum of sigma[u] / sigma[v] * t[u] over the tight predecessors u of v

and 0 at the root. It is the complement of a second count of paths, held at zero on the group, over the first; as a mean
of shares it needs no count of its own, leaves no range, and is exactly 0 where no path passes.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu import extended
from lagbc.native import core, csr


def sum_of_roots(
    graph: Graph,
    roots: Iterable[int],
    in_group: NDArray[np.bool_],
    rtol: float,
    *,
    endpoints: bool,
) -> NDArray[np.float64]:
    """Sum the shares of some roots over all targets, of ordered pairs, a number for each column of `in_group`."""
    into, plan = graph.transpose, SweepPlan(batch=1, rtol=rtol)
    edges = csr(*into.csr)
    shares, is_passed = np.zeros(in_group.shape), np.zeros(graph.n, np.bool_)
    totals = np.zeros(in_group.shape[1])
    for root in roots:
        dist, sigma = extended.count_paths(graph, plan, root, log2=False)
        is_log = not np.isfinite(sigma).all()
        if is_log:
            dist, sigma = extended.count_paths(graph, plan, root, log2=True)
        reached = np.argsort(dist, kind="stable")[: np.count_nonzero(np.isfinite(dist))]
        core.add_group_shares(edges, reached, dist, sigma, is_log, rtol, in_group, endpoints, shares, is_passed, totals)
    return totals
