"""Unweighted betweenness on the CPU by Brandes' algorithm: breadth-first search from one root after the other.

Vertices are settled as the queue of the search is filled, so that their places in it tell their levels, and no distance
is compared: with `last` the end of the level that is searched from, an edge is tight if its head is new or at `last` or
past it. The head's place is written down for the sweep back, which `dependencies` makes.

A root costs O(n + m) of what it reaches: nothing of a length of n is cleared for it.

References
----------
U. Brandes, A faster algorithm for betweenness centrality, Journal of Mathematical Sociology 25 (2001) 163-177.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

import numpy as np

from lagbc.cpu.compile import njit
from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu.traversal import sweep
from lagbc.methods.cpu.traversal.dependencies import ONE, ZERO, add_root, omega_of, overflows
from lagbc.methods.cpu.traversal.near import add_near
from lagbc.methods.cpu.traversal.sweep import State, unsigned

batching, blocks = sweep.batching, sweep.blocks
options = frozenset({"members"})
forward, backward, paths, sum_within = sweep.forward, sweep.backward, sweep.paths, sweep.sum_within


def footprint(graph: Graph, plan: SweepPlan) -> int:
    """Return the bytes of a worker: its trail and its sums, and the places of the vertices."""
    return sweep.trail_bytes(graph, plan, sweep.one_way(graph)) + graph.n * graph.indices.dtype.itemsize


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Reorder the graph (once a graph) and allocate one worker's arrays."""
    indices = unsigned(graph.reordered.indices)
    places = np.full(graph.n, graph.n, indices.dtype)  # in the queue; n where a vertex is not in it
    search = unsigned(graph.reordered.indptr), indices, places
    return sweep.prepare(graph, plan, sweep_roots, search, sweep.one_way(graph))


@njit
def sweep_roots(
    indptr,
    indices,
    places,
    roots,
    omega,
    members,
    times,
    limit,
    endpoints,
    trail,
    totals,
    reached,
    depth,
    overflowed,
    stop,
    radius,
    near,
):
    """Search and sum roots; see `sweep.State`."""
    new = np.uint64(len(places))
    for k in range(len(roots)):
        if roots[k] < 0:
            continue
        count, tight = _search(indptr, indices, places, members, np.uint64(roots[k]), radius, trail, stop)
        if stop[0]:
            return False
        for i in range(ZERO, count):
            places[trail.order[i]] = new
        reached[k] = count
        if overflows(trail.sigma, count, limit):
            overflowed[k] = True
            continue
        depth[k] = trail.dist[count - ONE]
        if near is None:
            add_root(trail, count, tight, omega_of(omega, k), members, times[k], endpoints, totals)
        else:
            add_near(trail, count, tight, omega_of(omega, k), times[k], endpoints, near, k)
    return True


@njit
def _search(indptr, indices, places, members, root, radius, trail, stop):
    """Search from a root, all places being free; return how many vertices are reached, by how many tight edges.

    Nothing is reached that is farther than the radius.
    """
    order, dist, sigma, tails, heads = trail.order, trail.dist, trail.sigma, trail.tails, trail.heads
    numbers_edges, new = len(trail.edges) > 0, np.uint64(len(places))
    order[ZERO], places[root], sigma[ZERO] = root, ZERO, 1.0
    first, last, level, tight = ZERO, ONE, 0.0, ZERO
    while first < last and not stop[0]:
        end = last
        for i in range(first, last):
            v, paths_to_v = order[i], sigma[i]
            dist[i] = level
            if members is not None:
                trail.members[i] = members[v]
                if i > ZERO:
                    paths_to_v *= members[v]
                    sigma[i] = paths_to_v
            if level + 1.0 > radius:
                continue
            for e in range(indptr[v], indptr[v + ONE]):
                w = indices[e]
                place = np.uint64(places[w])
                if place >= last:  # new or of the next level; few edges of a dense graph are
                    if place == new:
                        place = end
                        end += ONE
                        places[w], order[place], sigma[place] = place, w, paths_to_v
                    else:
                        sigma[place] += paths_to_v
                    tails[tight], heads[tight] = i, place
                    if numbers_edges:
                        trail.edges[tight] = e
                    tight += ONE
        first, last, level = last, end, level + 1.0
    return last, tight
