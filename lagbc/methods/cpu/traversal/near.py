"""What is summed over one root within bounds: columns of cutoffs and decays, kept for the vertices that are touched.

A search that ended at the largest radius left a `Trail`. Its places are nearly in the order of distances: a column
whose radius is r has all its targets in the first places, the last of which is the last with dist <= r. So a column
costs a sweep over its own vertices and tight edges alone,

    weight[i] = exp(-decay dist[i]) where dist[i] <= r, else 0;     own[i] = weight[i] * omega / sigma[i]

and goes on as `dependencies` does. Sums lie in rows, one for each vertex (or edge) that a block of roots has touched,
in the order in which it was: roots of a block are neighbours, and so are the rows that they add to.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from math import exp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu.traversal.dependencies import ONE, ZERO, sum_onward
from lagbc.methods.sums import OF_ROOTS, SparseSums, Sums


class Rows(NamedTuple):
    """Which vertices, or edges, have a row.

    Attributes
    ----------
    of : ndarray of unsigned int, shape (n,)
        The row of each; the largest number where it has none.
    named : ndarray of unsigned int, shape (n,)
        What each row is of.
    count : ndarray of uint64, shape (1,)
        How many rows there are.
    at : ndarray of unsigned int
        Rows of what the trail holds, in its order.
    """

    of: Any
    named: Any
    count: Any
    at: Any


class Near(NamedTuple):
    """Room for the sums of a block of roots; arrays of sums are of length 0 where they are not asked for.

    Attributes
    ----------
    cutoffs : ndarray of float64, shape (C,)
    radii, decays : ndarrays of float64, shape (C * D,)
        Of the columns that decay.
    weights : ndarray of float64, shape (n,)
        Room for how much the target at each place counts.
    vertices, edges : Rows
    dependency, stress, reached, distance, inverse : ndarrays of float64, shape (n, columns)
        Zero but in the rows of `vertices`.
    by_edge : ndarray of float64, shape (nnz, columns)
        Zero but in the rows of `edges`.
    depth, targets, gravity : ndarrays of float64, shape (roots, columns)
    """

    cutoffs: Any
    radii: Any
    decays: Any
    weights: Any
    vertices: Rows
    edges: Rows
    dependency: Any
    stress: Any
    reached: Any
    distance: Any
    inverse: Any
    by_edge: Any
    depth: Any
    targets: Any
    gravity: Any


def room(graph: Graph, plan: SweepPlan, roots: int, tight: int) -> Near:
    """Allocate it for blocks of so many roots, each with at most so many tight edges."""
    bounds, n = plan.bounds, graph.n
    assert bounds is not None
    nnz, tight = (graph.nnz, tight) if "edges" in plan.sums else (0, 0)

    def sums(name: str, rows: int) -> NDArray[np.float64]:
        return np.zeros((rows if name in plan.sums else 0, bounds.columns(name)))

    return Near(
        cutoffs=bounds.cutoffs,
        radii=bounds.radii,
        decays=np.tile(bounds.decays, len(bounds.cutoffs)),
        weights=np.empty(n),
        vertices=_rows(n, n, graph.indices.dtype.itemsize),
        edges=_rows(nnz, tight, graph.indptr.dtype.itemsize),
        **{name: sums(name, n) for name in ("dependency", "stress", "reached", "distance", "inverse")},
        by_edge=sums("edges", nnz),
        **{name: sums(name, roots) for name in OF_ROOTS},
    )


def room_bytes(graph: Graph, plan: SweepPlan, tight: int) -> int:
    """Bound the bytes of it, and of what `take` takes."""
    n, (vertex, edge) = graph.n, (array.dtype.itemsize for array in (graph.indices, graph.indptr))
    rows = n * (8 + 3 * vertex) + (2 * graph.nnz + tight) * edge * ("edges" in plan.sums)
    sums = sum(plan.columns(name) * (graph.nnz if name == "edges" else n) for name in plan.sums)
    return rows + 2 * 8 * sums


def _rows(count: int, at: int, bytes_per_number: int) -> Rows:
    number = np.dtype(f"u{bytes_per_number}")
    of = np.full(count, np.iinfo(number).max, number)
    return Rows(of, np.empty(count, number), np.zeros(1, np.uint64), np.empty(at, number))


def take(near: Near, graph: Graph, plan: SweepPlan, roots: NDArray[np.int64]) -> SparseSums:
    """Take what a block of roots has summed to, but those that are absent, and leave the room empty."""
    here = np.flatnonzero(roots >= 0)
    taken = {}
    for name in sorted(plan.sums):
        array = near.by_edge if name == "edges" else getattr(near, name)
        rows = near.edges if name == "edges" else near.vertices
        part = array[: len(roots) if name in OF_ROOTS else int(rows.count[0])]
        taken[name] = part[here] if name in OF_ROOTS else part.copy()
        part.fill(0)
    vertices, edges = _empty(near.vertices), _empty(near.edges)
    return SparseSums(
        vertices=graph.order[vertices],
        edges=graph.edge_order[edges] if len(edges) else edges.astype(np.int64),
        roots=roots[here],
        sums=Sums(**taken),
    )


def _empty(rows: Rows) -> NDArray[Any]:
    """Say what the rows are of, and have none."""
    named: NDArray[Any] = rows.named[: int(rows.count[0])].copy()
    rows.of[named] = np.iinfo(rows.of.dtype).max
    rows.count[0] = 0
    return named


@njit
def add_near(trail, count, tight, omega, times, endpoints, near, k):
    """Add what root number k of a block sums to, to all sums that there is room for.

    Parameters
    ----------
    trail, count, tight, omega, times, endpoints : as for `dependencies.add_root`
    near : Near
    k : int
    """
    _find_rows(near.vertices, trail.order, count)
    if len(near.by_edge) > 0:
        _find_rows(near.edges, trail.edges, tight)
    if len(near.dependency) + len(near.by_edge) + len(near.gravity) > 0:
        for j in range(len(near.radii)):
            here = _weigh(trail, count, near.radii[j], near.decays[j], omega, near.weights)
            if len(near.gravity) > 0:
                near.gravity[k, j] = _total(near.weights, here)
            if len(near.dependency) + len(near.by_edge) > 0:
                for i in range(ZERO, count):
                    trail.own[i] = near.weights[i] / trail.sigma[i]
                inside = _edges_from(trail, here, tight)
                sum_onward(trail, count, inside, None)
                _add_shares(trail, here, inside, times, near, j)
            if len(near.dependency) > 0 and endpoints:
                _add_ends(here, times, near, j)
    for j in range(len(near.cutoffs)):
        here = _weigh(trail, count, near.cutoffs[j], 0.0, omega, near.weights)
        if len(near.targets) > 0:
            near.targets[k, j] = _total(near.weights, here)
        if len(near.stress) > 0:
            for i in range(ZERO, count):
                trail.own[i] = near.weights[i]
            sum_onward(trail, count, _edges_from(trail, here, tight), None)
            for i in range(ONE, here):
                near.stress[near.vertices.at[i], j] += trail.sigma[i] * trail.onward[i] * times
        _add_distances(trail, here, near, j, k)


@njit
def _find_rows(rows, names, count):
    """Find the rows of the first names of a list; those that have none get the next ones."""
    end = rows.count[0]
    for i in range(ZERO, count):
        name = names[i]
        row = np.uint64(rows.of[name])
        if row >= end:
            row = end
            end += ONE
            rows.of[name], rows.named[row] = row, name
        rows.at[i] = row
    rows.count[0] = end


@njit
def _weigh(trail, count, radius, decay, omega, weights):
    """Tell how much the target at each place counts, and how many places there are up to the last that does."""
    dist = trail.dist
    if decay > 0.0:
        for i in range(ZERO, count):
            weights[i] = exp(-decay * dist[i]) if dist[i] <= radius else 0.0
    else:
        for i in range(ZERO, count):
            weights[i] = 1.0 if dist[i] <= radius else 0.0
    if len(omega) > 0:
        for i in range(ZERO, count):
            weights[i] *= omega[trail.order[i]]
    while dist[count - ONE] > radius:
        count -= ONE
    return count


@njit
def _edges_from(trail, here, tight):
    """Count the tight edges from the first places; tails never fall."""
    while tight > ZERO and trail.tails[tight - ONE] >= here:
        tight -= ONE
    return tight


@njit
def _total(weights, here):
    """Sum the weights of all targets, of which the root is none."""
    total = 0.0
    for i in range(ONE, here):
        total += weights[i]
    return total


@njit
def _add_shares(trail, here, tight, times, near, j):
    """Add the shares of paths, once `onward` is made of `own`, to one column of vertices and edges."""
    sigma, own, onward = trail.sigma, trail.own, trail.onward
    if len(near.dependency) > 0:
        for i in range(ONE, here):
            near.dependency[near.vertices.at[i], j] += sigma[i] * onward[i] * times
    if len(near.by_edge) > 0:
        for e in range(ZERO, tight):
            head = trail.heads[e]
            near.by_edge[near.edges.at[e], j] += sigma[trail.tails[e]] * (own[head] + onward[head]) * times


@njit
def _add_ends(here, times, near, j):
    """Count both ends of every pair of the root and a target, as often as the target counts."""
    at, dependency = near.vertices.at, near.dependency
    for i in range(ONE, here):
        dependency[at[i], j] += near.weights[i] * times
    dependency[at[ZERO], j] += _total(near.weights, here) * times


@njit
def _add_distances(trail, here, near, j, k):
    """Add what is made of distances alone, to one column."""
    at, dist, cutoff = near.vertices.at, trail.dist, near.cutoffs[j]
    if len(near.depth) > 0:
        for i in range(ONE, here):
            near.depth[k, j] = max(near.depth[k, j], dist[i] if dist[i] <= cutoff else 0.0)
    if len(near.reached) > 0:
        for i in range(ONE, here):
            near.reached[at[i], j] += 1.0 if dist[i] <= cutoff else 0.0
    if len(near.distance) > 0:
        for i in range(ONE, here):
            near.distance[at[i], j] += dist[i] if dist[i] <= cutoff else 0.0
    if len(near.inverse) > 0:
        for i in range(ONE, here):
            near.inverse[at[i], j] += 1.0 / dist[i] if dist[i] <= cutoff else 0.0
