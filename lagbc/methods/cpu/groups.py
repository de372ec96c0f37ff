"""The share of shortest paths that pass through groups of vertices, a root at a time, for many groups at once.

With sigma the numbers of shortest paths from a root, the share t of those to v that have passed through a group is

    t[v] = 1 where v is in the group, else the sum of sigma[u] / sigma[v] * t[u] over the tight predecessors u of v

and 0 at the root. It is the complement of a second count of paths, held at zero on the group, over the first; as a mean
of shares it needs no count of its own, leaves no range, and is exactly 0 where no path passes.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu import extended


def sum_of_roots(
    graph: Graph,
    roots: Iterable[int],
    members: NDArray[np.bool_],
    rtol: float,
    *,
    endpoints: bool,
) -> NDArray[np.float64]:
    """Sum the shares of some roots over all targets.

    Parameters
    ----------
    graph : Graph
    roots : iterable of int
    members : ndarray of bool, shape (n, groups)
        Whether a vertex is in a group.
    rtol : float
    endpoints : bool
        Pairs that have an end in a group count, too.

    Returns
    -------
    totals : ndarray of float64, shape (groups,)
        Over ordered pairs.
    """
    into, plan = graph.transpose, SweepPlan(batch=1, rtol=rtol)
    lengths = np.broadcast_to(np.float64(1), into.nnz) if into.weights is None else into.weights
    shares, is_passed = np.zeros(members.shape), np.zeros(graph.n, np.bool_)
    totals = np.zeros(members.shape[1])
    for root in roots:
        dist, sigma = extended.count_paths(graph, plan, root, log2=False)
        is_log = not np.isfinite(sigma).all()
        if is_log:
            dist, sigma = extended.count_paths(graph, plan, root, log2=True)
        reached = np.argsort(dist, kind="stable")[: np.count_nonzero(np.isfinite(dist))]
        edges = into.indptr, into.indices, lengths
        _add_root(*edges, reached, dist, sigma, is_log, rtol, members, endpoints, shares, is_passed, totals)
    return totals


@njit
def _add_root(
    in_indptr, in_indices, in_lengths, reached, dist, sigma, is_log, rtol, members, endpoints, shares, is_passed, totals
):
    """Add the shares of the root ``reached[0]``; those of vertices it does not reach are not read."""
    root, groups = reached[0], range(len(totals))
    is_passed[root] = False
    for i in range(1, len(reached)):
        v = reached[i]
        share, passed = shares[v], False
        share[:] = 0.0
        for e in range(in_indptr[v], in_indptr[v + 1]):
            u = in_indices[e]
            is_tight = dist[u] < dist[v] and abs(dist[u] + in_lengths[e] - dist[v]) <= rtol * dist[v]
            if is_tight and is_passed[u]:
                passed = True
                part = 2.0 ** (sigma[u] - sigma[v]) if is_log else sigma[u] / sigma[v]
                before = shares[u]
                for g in groups:
                    share[g] += part * before[g]
        for g in groups:
            if members[v, g]:
                passed = True
                share[g] = 1.0
            if members[root, g] or members[v, g]:
                totals[g] += endpoints
            else:
                totals[g] += share[g]
        is_passed[v] = passed
