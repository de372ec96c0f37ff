"""What is summed over the roots of a run, a block after the other; the columns are those of `traversal.near`."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from math import exp

import numpy as np

from lagbc.cpu.compile import njit
from lagbc.methods.cpu.traversal.dependencies import ONE, ZERO, omega_of
from lagbc.methods.cpu.traversal.dijkstra import sweep_roots
from lagbc.methods.cpu.traversal.near import Rows, find_rows
from lagbc.methods.cpu.within.block import find
from lagbc.methods.cpu.within.solve import LANES, count, search, sum_back, sum_of


@njit
def sum_blocks(
    together,
    alone,
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
    """Sum roots, blocks of `LANES` of them together, or one by one where their ball has too many rows.

    A row costs about as much as some vertices that a root reaches. How many it reaches is told by the block before, and
    at first by a root amid the first block.

    Parameters
    ----------
    together : tuple
        The graph that balls are found in, its transpose and `far`, as of `block.searched`; room for a block; and how
        many vertices cost as much as a row.
    alone : tuple
        What `dijkstra.sweep_roots` takes before its roots.
    others : those of `dijkstra.sweep_roots`
    """
    leaving, entering, far, block, vertices = together
    _, _, _, _, counts, _ = alone
    mean, width = 0.0, np.int64(LANES)
    for first in range(0, len(roots), width):
        some = roots[first : first + width]
        here = 0
        for root in some:
            here += root >= 0
        if here == 0:
            continue
        if mean == 0.0:
            mean = _reach_of(leaving, entering, block, some, here // 2, radius)
        rows, edges = find(leaving, entering, block, some, radius, np.int64(vertices * mean * here / width))
        if rows > 0:
            _add_block(
                block,
                np.uint64(rows),
                np.uint64(edges),
                far,
                counts,
                first,
                len(some),
                omega_of(omega, 0),
                times,
                limit,
                endpoints,
                near,
                reached,
                overflowed,
                stop,
            )
        else:
            one_by_one = np.full(len(roots), -1, np.int64)
            one_by_one[first : first + width] = some
            sweep_roots(
                *alone,
                one_by_one,
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
            )
        if stop[0]:
            return False
        mean = reached[first : first + width].sum() / here
    return True


@njit
def _reach_of(leaving, entering, block, roots, number, radius):
    """Count what one of the roots that are there reaches."""
    for root in roots:
        if root >= 0:
            if number == 0:
                alone = np.full(1, root, np.int64)
                rows, _ = find(leaving, entering, block, alone, radius, len(block.waits))
                return float(max(rows, 1))
            number -= 1
    return 1.0


@njit
def _add_block(
    block, rows, edges, far, counts, first, width, omega, times, limit, endpoints, near, reached, overflowed, stop
):
    """Search a block, whose roots are those from number `first` on, and add what it sums to, to all that has room."""
    search(block, rows, far, stop)
    found = _count_reached(block, rows, far)
    for j in range(width):
        reached[first + j] = found[j]
    if counts:
        largest = count(block, rows, far, stop)
        for j in range(width):
            overflowed[first + j] = largest[j] > limit
            if overflowed[first + j]:
                _forget(block, rows, far, np.uint64(j))
    lane_times = np.zeros(LANES)
    lane_times[:width] = times[first : first + width]
    columns, by_vertex = near.columns, near.by_vertex
    at, numbers = near.vertices.at, block.numbers
    if by_vertex.shape[1] > 0:
        find_rows(near.vertices, block.vertices, rows)
    if columns.edges >= 0:
        of_edges = near.edges
        find_rows(Rows(of_edges.of, of_edges.named, of_edges.count, numbers), block.places, edges)
    of_roots = near.by_root[first : first + width]
    if columns.dependency >= 0 or columns.edges >= 0 or columns.gravity >= 0:
        for c in range(near.bounds.shape[1]):
            of_lanes = _weigh(block, rows, near.bounds[0, c], near.bounds[1, c], omega)
            if columns.gravity >= 0:
                of_roots[:, columns.gravity + c] = of_lanes[:width]
            if columns.dependency >= 0 and endpoints:
                _add_ends(block, rows, of_lanes, lane_times, at, by_vertex, columns.dependency + c)
            if columns.dependency >= 0 or columns.edges >= 0:
                _per_path(block, rows)
                sum_back(block, rows, lane_times, stop)
            if columns.dependency >= 0:
                _add_totals(block.totals, rows, at, by_vertex, columns.dependency + c)
            if columns.edges >= 0:
                _add_to_edges(block, rows, lane_times, near.by_edge, columns.edges + c)
    if columns.stress >= 0 or columns.targets >= 0:
        for c in range(near.cutoffs):
            of_lanes = _weigh(block, rows, near.bounds[2, c], 0.0, omega)
            if columns.targets >= 0:
                of_roots[:, columns.targets + c] = of_lanes[:width]
            if columns.stress >= 0:
                sum_back(block, rows, lane_times, stop)
                _add_totals(block.totals, rows, at, by_vertex, columns.stress + c)
    if columns.depth >= 0 or columns.reached >= 0 or columns.distance >= 0 or columns.inverse >= 0:
        for c in range(near.cutoffs):
            farthest = _add_distances(block, rows, near.bounds[2, c], at, columns, by_vertex, c)
            if columns.depth >= 0:
                of_roots[:, columns.depth + c] = farthest[:width]


@njit
def _count_reached(block, rows, far):
    """Count what each root reaches."""
    dist, found = block.dist, np.zeros(LANES, np.int64)
    for i in range(ZERO, rows):
        for j in range(ZERO, LANES):
            found[j] += dist[i, j] < far
    return found


@njit
def _forget(block, rows, far, j):
    """Leave a lane as one without a root."""
    for i in range(ZERO, rows):
        block.dist[i, j], block.sigma[i, j] = far, 1.0


@njit
def _weigh(block, rows, radius, decay, omega):
    """Tell how much each target counts, in `own`, and how much all those of each lane do; a root is no target."""
    dist, own, of_lanes = block.dist, block.own, np.zeros(LANES)
    for i in range(ZERO, rows):
        targets = omega[block.vertices[i]] if len(omega) > 0 else 1.0
        for j in range(ZERO, LANES):
            own[i, j] = targets if (dist[i, j] > 0) & (dist[i, j] <= radius) else 0.0
        if decay > 0.0:
            for j in range(ZERO, LANES):
                own[i, j] *= exp(-decay * dist[i, j])
        for j in range(ZERO, LANES):
            of_lanes[j] += own[i, j]
    return of_lanes


@njit
def _per_path(block, rows):
    """Share what targets count among the paths to them."""
    for i in range(ZERO, rows):
        if not block.plain[i]:
            for j in range(ZERO, LANES):
                block.own[i, j] /= block.sigma[i, j]


@njit
def _add_totals(totals, rows, at, by_vertex, column):
    for i in range(ZERO, rows):
        by_vertex[at[i], column] += totals[i]


@njit
def _add_ends(block, rows, of_lanes, times, at, by_vertex, column):
    """Count both ends of every pair of a root and a target, as often as the target counts."""
    ends = np.empty(LANES)
    for i in range(ZERO, rows):
        for j in range(ZERO, LANES):
            ends[j] = block.own[i, j] * times[j]
        by_vertex[at[i], column] += sum_of(ends)
    for j in range(ZERO, LANES):
        if block.roots[j] >= 0:
            by_vertex[at[block.roots[j]], column] += of_lanes[j] * times[j]


@njit
def _add_to_edges(block, rows, times, by_edge, column):
    """Add the shares of the paths of tight edges, once `beyond` is made of `own`."""
    indptr, heads, lengths = block.out
    dist, sigma, c, shares = block.dist, block.sigma, block.beyond, np.empty(LANES)
    for i in range(ZERO, rows):
        for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):
            head, length = np.uint64(heads[e]), lengths[e]
            for j in range(ZERO, LANES):
                leads = dist.dtype.type(dist[i, j] + length) == dist[head, j]
                share = sigma[i, j] * c[head, j] * times[j]
                shares[j] = share if leads else 0.0
            by_edge[block.numbers[e], column] += sum_of(shares)


@njit
def _add_distances(block, rows, cutoff, at, columns, by_vertex, c):
    """Add what is made of distances alone, to one column; return the largest of them in each lane."""
    dist, farthest, shares = block.dist, np.zeros(LANES), np.empty(LANES)
    for i in range(ZERO, rows):
        here = 0
        for j in range(ZERO, LANES):
            is_target = (dist[i, j] > 0) & (dist[i, j] <= cutoff)
            here += is_target
            shares[j] = np.float64(dist[i, j]) if is_target else 0.0
            farthest[j] = max(farthest[j], shares[j])
        if columns.reached >= 0:
            by_vertex[at[i], columns.reached + c] += here
        if columns.distance >= 0:
            by_vertex[at[i], columns.distance + c] += sum_of(shares)
        if columns.inverse >= 0:
            for j in range(ZERO, LANES):
                is_target = (dist[i, j] > 0) & (dist[i, j] <= cutoff)
                shares[j] = 1.0 / dist[i, j] if is_target else 0.0
            by_vertex[at[i], columns.inverse + c] += sum_of(shares)
    return farthest
