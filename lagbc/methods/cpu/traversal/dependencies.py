"""What is summed over one root, once it is searched: a sweep over its trail, which reads no graph.

A search leaves a `Trail`: the vertices in the order in which they were settled, and the tight edges in the order of
their tails. All numbers of a vertex, but its name in `order`, stand at its place in that order, and an edge names the
places of its ends. So what a sweep reads and writes lies together, whatever the graph's own order.

    dependency   onward[i] = sum over the heads j of i of omega / sigma[j] + onward[j];   delta = sigma[i] * onward[i]
    stress       onward[i] = sum over the heads j of i of omega + onward[j];              stress = sigma[i] * onward[i]
    edges        of a tight edge from i to j: sigma[i] * (omega / sigma[j] + onward[j])
    members      omega / sigma[j] + onward[j] is multiplied by how many vertices j stands for

One loop over the edges, from the last, makes `onward` of all vertices: no loop over the few edges of a vertex is left,
whose end a processor cannot foresee. It is by one thread, so that a sum has the same bits in every run.

Integers are unsigned: numba then knows that no index is negative, which made the searches 1.1 to 1.6 times as fast.
Unsigned and signed integers do not mix (their sum is a float64), hence the constants.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lagbc.cpu.compile import njit

ZERO, ONE = np.uint64(0), np.uint64(1)


class Trail(NamedTuple):
    """What the search of one root leaves, and room for what is summed over it.

    `count` vertices are settled, the root first. Entries past these, and past those of the tight edges, are not read.
    There is room for the `most` edges that a search can write down.

    Attributes
    ----------
    order : ndarray of unsigned int, shape (n,)
        Vertices in the order in which they were settled: every one after those that precede it on shortest paths.
    dist : ndarray of float64, shape (n,)
        Distance from the root of ``order[i]``.
    sigma : ndarray of float64, shape (n,)
        Number of its shortest paths.
    tails, heads : ndarrays of unsigned int, shape (most,)
        Where in `order` the ends of each of the `tight` tight edges stand; tails never fall.
    edges : ndarray of uint64, shape (most,)
        Which edge of the searched graph it is; of length 0 where edges are not summed.
    own, onward : ndarrays of float64, shape (n,)
        Room for what a vertex and what lies beyond it counts.
    members : ndarray of float64, shape (n,)
        How many vertices ``order[i]`` stands for; of length 0 where each is one.
    """

    order: Any
    dist: Any
    sigma: Any
    tails: Any
    heads: Any
    edges: Any
    own: Any
    onward: Any
    members: Any


class Totals(NamedTuple):
    """Sums of a block of roots, as `lagbc.methods.sums.Sums` has them, by vertices and edges of the searched graph.

    All are float64, of shape (n,) or (nnz,), or of length 0 if they are not asked for; but `dependency` is there
    wherever a sum over paths is.
    """

    dependency: Any
    stress: Any
    edges: Any
    reached: Any
    distance: Any
    inverse: Any


@njit
def omega_of(rows, root):
    """Return the target weights of a root, by its number: rows has one for each, one for all, or none."""
    return rows[min(root, len(rows) - 1)] if len(rows) > 0 else np.empty(0)


@njit
def overflows(sigma, count, limit):
    """Return whether a path count is above the limit."""
    largest = 0.0
    for i in range(ZERO, count):
        largest = max(largest, sigma[i])
    return largest > limit


@njit
def add_root(trail, count, tight, omega, members, times, endpoints, totals):
    """Add what one root sums to, to all totals that have room.

    Parameters
    ----------
    trail : Trail
    count, tight : uint64
        Vertices that are settled, the root among them, and tight edges.
    omega : ndarray of float64, shape (n,) or (0,)
        How many targets each vertex stands for; one, where there is no entry.
    members : ndarray of float64, shape (n,), or None
        How many vertices each stands for on a path; the search has put them into the trail. None is one each.
    times : float64
        How often the root counts in sums over paths.
    endpoints : bool
    totals : Totals
    """
    if len(totals.dependency) > 0:
        for i in range(ZERO, count):
            trail.own[i] = 1.0 / trail.sigma[i]
        if len(omega) > 0:
            for i in range(ZERO, count):
                trail.own[i] = omega[trail.order[i]] / trail.sigma[i]
        if members is not None:
            for i in range(ZERO, count):
                trail.own[i] *= trail.members[i]
        _add_onward(trail, count, tight, members, times, totals.dependency)
        if endpoints:
            _add_ends(trail, count, times, totals.dependency)
    if len(totals.edges) > 0:
        for j in range(ZERO, tight):
            head = trail.heads[j]
            per_path = trail.own[head] + _of_members(trail, members, head)
            totals.edges[trail.edges[j]] += trail.sigma[trail.tails[j]] * per_path * times
    if len(totals.stress) > 0:
        for i in range(ZERO, count):
            trail.own[i] = 1.0
        if len(omega) > 0:
            for i in range(ZERO, count):
                trail.own[i] = omega[trail.order[i]]
        _add_onward(trail, count, tight, None, times, totals.stress)
    if len(totals.reached) > 0:
        for i in range(ONE, count):
            totals.reached[trail.order[i]] += 1.0
    if len(totals.distance) > 0:
        for i in range(ONE, count):
            totals.distance[trail.order[i]] += trail.dist[i]
    if len(totals.inverse) > 0:
        for i in range(ONE, count):
            totals.inverse[trail.order[i]] += 1.0 / trail.dist[i]


@njit
def _of_members(trail, members, i):
    """Return what lies beyond a place, as often as its vertex stands for one: what is on the way by any of them."""
    if members is None:
        return trail.onward[i]
    return trail.members[i] * trail.onward[i]


@njit
def _add_onward(trail, count, tight, members, times, total):
    """Make `onward` of `own`, and add sigma * onward to the total of every vertex but the root."""
    order, sigma, onward = trail.order, trail.sigma, trail.onward
    if members is None:
        sum_onward(trail.tails, trail.heads, trail.own, onward, None, count, tight)
    else:
        sum_onward(trail.tails, trail.heads, trail.own, onward, trail.members, count, tight)
    for i in range(ONE, count):
        total[order[i]] += sigma[i] * onward[i] * times


@njit
def sum_onward(tails, heads, own, onward, members, count, tight):
    """Make `onward` of `own`, from the last of the tight edges to the first; members are None, or by place."""
    for i in range(ZERO, count):
        onward[i] = 0.0
    j = tight
    while j > ZERO:
        j -= ONE
        head = heads[j]
        if members is None:
            onward[tails[j]] += own[head] + onward[head]
        else:
            onward[tails[j]] += own[head] + members[head] * onward[head]


@njit
def _add_ends(trail, count, times, dependency):
    """Count both ends of every pair of the root and a vertex that it reaches."""
    for i in range(ONE, count):
        dependency[trail.order[i]] += times
    dependency[trail.order[ZERO]] += times * (count - ONE)
