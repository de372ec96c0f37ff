"""What is summed over one root within bounds: columns of cutoffs and decays, kept for the vertices that are touched.

A search that ended at the largest radius left a `Trail`. Its places are nearly in the order of distances: a column
whose radius is r has all its targets in the first places, the last of which is the last with dist <= r. So a column
costs a sweep over its own vertices and tight edges alone,

    weight[i] = exp(-decay dist[i]) where dist[i] <= r, else 0;     own[i] = weight[i] * omega / sigma[i]

and goes on as `dependencies` does. Sums lie in rows, one for each vertex (or edge) that a block of roots has touched,
in the order in which it was: roots of a block are neighbours, and so are the rows that they add to. Roots that are
summed together (`lagbc.methods.cpu.within`) add to the same rows.
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
from lagbc.methods.sums import SparseSums
from lagbc.methods.within import EDGES, ROOTS, VERTICES, Columns, as_sums, lay_out


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
    """Room for the sums of a block of roots.

    Attributes
    ----------
    bounds : ndarray of float64, shape (3, C * D)
        Of the columns that decay their radii and decays; and the C cutoffs of the others.
    cutoffs : int
        C.
    weights : ndarray of float64, shape (n,)
        Room for how much the target at each place counts.
    vertices, edges : Rows
    columns : Columns
        Of the arrays that follow.
    by_vertex, by_edge : ndarrays of float64, shape (n or nnz, columns)
        Zero but in the rows of `vertices` and `edges`.
    by_root : ndarray of float64, shape (roots, columns)
    """

    bounds: Any
    cutoffs: int
    weights: Any
    vertices: Rows
    edges: Rows
    columns: Columns
    by_vertex: Any
    by_edge: Any
    by_root: Any


def room(graph: Graph, plan: SweepPlan, roots: int, tight: int) -> Near:
    """Allocate it for blocks of so many roots, each with at most so many tight edges."""
    bounds, n = plan.bounds, graph.n
    assert bounds is not None
    nnz, tight = (graph.nnz, tight) if "edges" in plan.sums else (0, 0)
    cutoffs, decays = len(bounds.cutoffs), len(bounds.decays)
    columns, widths = lay_out(plan)
    return Near(
        bounds=np.stack([bounds.radii, np.tile(bounds.decays, cutoffs), np.tile(bounds.cutoffs, decays)]),
        cutoffs=cutoffs,
        weights=np.empty(n),
        vertices=_rows(n, n, graph.indices.dtype.itemsize),
        edges=_rows(nnz, tight, graph.indptr.dtype.itemsize),
        columns=columns,
        by_vertex=np.zeros((n, widths[VERTICES])),
        by_edge=np.zeros((nnz, widths[EDGES])),
        by_root=np.zeros((roots, widths[ROOTS])),
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
    vertices, edges = _empty(near.vertices), _empty(near.edges)
    taken = {
        VERTICES: _taken(near.by_vertex, np.arange(len(vertices))),
        EDGES: _taken(near.by_edge, np.arange(len(edges))),
        ROOTS: _taken(near.by_root, here),
    }
    return SparseSums(
        vertices=graph.order[vertices],
        edges=graph.edge_order[edges] if len(edges) else edges.astype(np.int64),
        roots=roots[here],
        sums=as_sums(plan, near.columns, taken),
    )


def _taken(array: NDArray[np.float64], rows: NDArray[Any]) -> NDArray[np.float64]:
    taken: NDArray[np.float64] = array[rows]
    array[rows] = 0
    return taken


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
    columns, weights, sigma, own, onward = near.columns, near.weights, trail.sigma, trail.own, trail.onward
    at, by_vertex = near.vertices.at, near.by_vertex
    if by_vertex.shape[1] > 0:
        find_rows(near.vertices, trail.order, count)
    if columns.edges >= 0:
        find_rows(near.edges, trail.edges, tight)
    if columns.dependency >= 0 or columns.edges >= 0 or columns.gravity >= 0:
        for j in range(near.bounds.shape[1]):
            here = _weigh(trail.dist, count, near.bounds[0, j], near.bounds[1, j], trail.order, omega, weights)
            if columns.gravity >= 0:
                near.by_root[k, columns.gravity + j] = _total(weights, here)
            if columns.dependency >= 0 or columns.edges >= 0:
                inside = _edges_from(trail.tails, here, tight)
                for i in range(ZERO, count):
                    own[i] = weights[i] / sigma[i]
                sum_onward(trail.tails, trail.heads, own, onward, None, count, inside)
            if columns.dependency >= 0:
                for i in range(ONE, here):
                    by_vertex[at[i], columns.dependency + j] += sigma[i] * onward[i] * times
                if endpoints:
                    _add_ends(at, weights, here, times, by_vertex, columns.dependency + j)
            if columns.edges >= 0:
                _add_to_edges(trail, near.edges.at, inside, times, near.by_edge, columns.edges + j)
    if columns.stress >= 0 or columns.targets >= 0:
        for j in range(near.cutoffs):
            here = _weigh(trail.dist, count, near.bounds[2, j], 0.0, trail.order, omega, weights)
            if columns.targets >= 0:
                near.by_root[k, columns.targets + j] = _total(weights, here)
            if columns.stress >= 0:
                inside = _edges_from(trail.tails, here, tight)
                sum_onward(trail.tails, trail.heads, weights, onward, None, count, inside)
                for i in range(ONE, here):
                    by_vertex[at[i], columns.stress + j] += sigma[i] * onward[i] * times
    if columns.depth >= 0 or columns.reached >= 0 or columns.distance >= 0 or columns.inverse >= 0:
        for j in range(near.cutoffs):
            farthest = _add_distances(trail.dist, count, near.bounds[2, j], at, columns, by_vertex, j)
            if columns.depth >= 0:
                near.by_root[k, columns.depth + j] = farthest


@njit
def find_rows(rows, names, count):
    """Find the rows of the first names of a list; those that have none get the next ones."""
    of, named, at, end = rows.of, rows.named, rows.at, rows.count[0]
    for i in range(ZERO, count):
        name = names[i]
        row = np.uint64(of[name])
        if row >= end:
            row = end
            end += ONE
            of[name], named[row] = row, name
        at[i] = row
    rows.count[0] = end


@njit
def _weigh(dist, count, radius, decay, order, omega, weights):
    """Tell how much the target at each place counts, and how many places there are up to the last that does."""
    if decay > 0.0:
        for i in range(ZERO, count):
            weights[i] = exp(-decay * dist[i]) if dist[i] <= radius else 0.0
    else:
        for i in range(ZERO, count):
            weights[i] = 1.0 if dist[i] <= radius else 0.0
    if len(omega) > 0:
        for i in range(ZERO, count):
            weights[i] *= omega[order[i]]
    while dist[count - ONE] > radius:
        count -= ONE
    return count


@njit
def _edges_from(tails, here, tight):
    """Count the tight edges from the first places; tails never fall."""
    while tight > ZERO and tails[tight - ONE] >= here:
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
def _add_to_edges(trail, at, tight, times, by_edge, column):
    """Add the shares of the paths of tight edges, once `onward` is made of `own`."""
    sigma, tails, heads, own, onward = trail.sigma, trail.tails, trail.heads, trail.own, trail.onward
    for e in range(ZERO, tight):
        by_edge[at[e], column] += sigma[tails[e]] * (own[heads[e]] + onward[heads[e]]) * times


@njit
def _add_ends(at, weights, here, times, by_vertex, column):
    """Count both ends of every pair of the root and a target, as often as the target counts."""
    for i in range(ONE, here):
        by_vertex[at[i], column] += weights[i] * times
    by_vertex[at[ZERO], column] += _total(weights, here) * times


@njit
def _add_distances(dist, count, cutoff, at, columns, by_vertex, j):
    """Add what is made of distances alone, to one column; return the largest of them."""
    farthest = 0.0
    for i in range(ONE, count):
        if dist[i] <= cutoff:
            farthest = max(farthest, dist[i])
            if columns.reached >= 0:
                by_vertex[at[i], columns.reached + j] += 1.0
            if columns.distance >= 0:
                by_vertex[at[i], columns.distance + j] += dist[i]
            if columns.inverse >= 0:
                by_vertex[at[i], columns.inverse + j] += 1.0 / dist[i]
    return farthest
