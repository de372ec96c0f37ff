"""Demand between vertices inside chains, streamed over all chains for each junction that it leaves by.

A shortest path from a vertex x inside a chain (a, b) of length L, at a distance p from a, leaves by a if
2 p < L + d(b, t) - d(a, t), t being the junction that it leads to, and by b if 2 p is more. Where they are equal it
does both, in proportion to the path counts sigma_a(t) and sigma_b(t). So of the vertices inside, the first ones leave
by a, and at most one does both. This is a chain's *place*: twice the number of those that leave by a alone, plus 1 if
one more does both.

    to a junction t    by a: the first place(t) // 2 vertices, and the share of the one at the tie
    to a chain (u, v)  by a: those that leave by a for u and for v. They enter it alike, where a by itself does
                       by a or b: those between the two places, one by one

`leave` and `enter` make M(a, v), the demand that a sweep from root a carries to v, and the demand that leaves each
vertex inside a chain by either end. Each pair of vertices is met from both of its ends. M takes it once a direction;
the other sums have both directions together, as what enters is, by symmetry, what leaves.

Who writes what: sums of a chain's end belong to the junction there, sums within a chain to its first end. Nothing is
added by two roots, so that bits do not depend on who comes first.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lagbc.cpu.compile import njit


class Ways(NamedTuple):
    """The chains with vertices inside, as compiled code reads them: seen from either end.

    Arrays of two rows have the chains from their first ends on, and from their second. Vertices inside chain c are
    ``starts[c]:starts[c + 1]``, number i of a row being the i-th from that end; its sums of the first 0, 1, ... of them
    begin at ``starts[c] + c``. Half 2 c + side is chain c seen from an end.

    Attributes
    ----------
    ends : ndarray of int64, shape (chains, 2)
        Rows of the contracted graph.
    lengths : ndarray of float64, shape (chains,)
    starts : ndarray of int64, shape (chains + 1,)
    in_hops : bool
        Whether all edges are of length 1.
    distances : ndarray of float64, shape (2, inside)
        From the end.
    sources, targets : ndarray of float64, shape (2, inside)
        S and T of the vertices inside.
    source_sums, target_sums : ndarray of float64, shape (2, inside + chains)
    row_sources, row_targets : ndarray of float64, shape (rows,)
        S and T of the junctions, 0 for midpoints.
    halves : ndarray of int64, shape (2 * chains,)
        By the row that they begin at.
    first_halves : ndarray of int64, shape (rows + 1,)
    """

    ends: Any
    lengths: Any
    starts: Any
    in_hops: bool
    distances: Any
    sources: Any
    targets: Any
    source_sums: Any
    target_sums: Any
    row_sources: Any
    row_targets: Any
    halves: Any
    first_halves: Any


class Flows(NamedTuple):
    """Demand, both directions together, at the vertices inside chains; zeros at first.

    Attributes
    ----------
    out : ndarray of float64, shape (2, inside)
        What leaves each vertex by that end, to other chains and to junctions; each row seen from its own end.
    around : ndarray of float64, shape (2, inside)
        The same, to vertices of its own chain; both rows seen from the first end.
    within : ndarray of float64, shape (inside,)
        What goes within the chain and has the vertex in its interior.
    onward : ndarray of float64, shape (inside,)
        What goes within the chain along the edge from the vertex to the next one.
    """

    out: Any
    around: Any
    within: Any
    onward: Any

    @classmethod
    def zeros(cls, inside: int) -> Flows:
        """Make room for so many vertices."""
        return cls(np.zeros((2, inside)), np.zeros((2, inside)), np.zeros(inside), np.zeros(inside))


@njit
def leave(ways, flows, roots, dist, sigma, column, far_dist, far_sigma, demand, through, junction, stop):
    """Sum what leaves chains at the roots, of those chains whose far end has a column; return whether it finished.

    Parameters
    ----------
    ways : Ways
    flows : Flows
        Sums of these chains are written.
    roots : ndarray of int64
        Rows.
    dist, sigma : ndarray of float64, shape (roots, rows)
        Distances and path counts from them.
    column : ndarray of int64, shape (rows,)
        Where the distances of a far end are; -1 if they are not there.
    far_dist, far_sigma : ndarray of float64, shape (columns, rows)
    demand : ndarray of float64, shape (roots, rows)
        M(a, .) grows by what leaves by a, but for what enters other chains wholly as from a itself.
    through : ndarray of float64, shape (roots, chains)
        Source weight that enters each chain as from a itself, without that of a.
    junction : ndarray of float64, shape (roots,)
        Demand that passes each root as it leaves a chain.
    stop : ndarray of uint8
        Polled once a chain.
    """
    longest = 0
    for c in range(len(ways.ends)):
        longest = max(longest, ways.starts[c + 1] - ways.starts[c])
    places = np.empty(len(ways.row_sources), np.int64)
    # What leaves from the first i vertices alike, and from vertex i by itself; targets and sources reached.
    reached = np.empty((2, longest + 2))
    ties = np.empty((2, longest + 2))
    for k in range(len(roots)):
        a = roots[k]
        for at in range(ways.first_halves[a], ways.first_halves[a + 1]):
            c, side = ways.halves[at] >> 1, ways.halves[at] & 1
            b = ways.ends[c, 1 - side]
            if column[b] < 0:
                continue
            if stop[0]:
                return False
            here, there = (dist[k], sigma[k]), (far_dist[column[b]], far_sigma[column[b]])
            inside = ways.starts[c + 1] - ways.starts[c]
            reached[:, : inside + 1] = 0.0
            ties[:, : inside + 1] = 0.0
            for v in range(len(places)):
                places[v] = _place(ways, c, side, ways.lengths[c] + there[0][v] - here[0][v])
            _to_junctions(ways, c, side, a, here, there, places, reached, ties, demand[k])
            for first, last in ((0, c), (c + 1, len(ways.ends))):
                _to_chains(ways, c, side, first, last, here, there, places, reached, ties, demand[k], through[k])
            junction[k] += _sum_out(ways, c, side, a, here, there, places, reached, ties, flows)
            if side == 0:
                demand[k, b] += _within(ways, c, here[0][b], here[1][b], flows)
    return True


@njit
def enter(ways, roots, dist, sigma, demand, through, junction, stop):
    """Let the demand that leaves by each root, or starts at it, enter chains and junctions; finish M(a, .).

    Arguments are those of `leave`; return whether it finished.
    """
    for k in range(len(roots)):
        if stop[0]:
            return False
        a = roots[k]
        own = ways.row_sources[a]
        for c in range(len(ways.ends)):
            u, v = ways.ends[c, 0], ways.ends[c, 1]
            place = _place(ways, c, 0, ways.lengths[c] + dist[k, v] - dist[k, u])
            by_u, by_v = _entered(ways, ways.target_sums, ways.targets, c, place, sigma[k, u], sigma[k, v])
            demand[k, u] += (through[k, c] + (own if u != a else 0.0)) * by_u
            demand[k, v] += (through[k, c] + (own if v != a else 0.0)) * by_v
        # M(a, a), which has leaving and entering in one, was counted from both ends; it starts no path.
        junction[k] -= demand[k, a]
        demand[k] += own * ways.row_targets
        demand[k, a] = 0.0
    return True


@njit
def sum_inside(starts, weights, sums):
    """Sum weights of the vertices inside each chain, from its ends on: 0, that of the first, of the first two, ..."""
    for side in range(len(weights)):
        for c in range(len(starts) - 1):
            for i in range(starts[c], starts[c + 1]):
                sums[side, i + c + 1] = sums[side, i + c] + weights[side, i]


@njit
def spread(ways, flows, along, passed, edges):
    """Sum what passes the vertices inside chains, and what goes along their edges.

    Parameters
    ----------
    ways : Ways
    flows : Flows
    along : ndarray of float64, shape (chains,)
        What goes along each chain as a whole.
    passed : ndarray of float64, shape (inside,)
        Written: demand through each vertex.
    edges : ndarray of float64, shape (inside + chains,)
        Written: demand along the edge from vertex i of a chain to the next one, i from 0, its first end, on.
    """
    for c in range(len(ways.ends)):
        first, last = ways.starts[c], ways.starts[c + 1]
        flow = along[c]
        for i in range(first, last):
            flow += flows.out[0, i] + flows.around[0, i]
        edges[first + c] = flow
        # One sum from either end: differences would leave rounding where nothing goes.
        beyond = 0.0
        for i in range(last - 1, first - 1, -1):
            passed[i] = along[c] + beyond + flows.within[i]
            edges[i + c + 1] = along[c] + beyond + flows.onward[i]
            beyond += flows.out[0, i] + flows.around[0, i]
        beyond = 0.0
        for i in range(first, last):
            passed[i] += beyond
            beyond += flows.out[1, first + last - 1 - i] + flows.around[1, i]
            edges[i + c + 1] += beyond


@njit
def _place(ways, c, side, gap):
    """Return #{i: 2 p_i < gap} + #{i: 2 p_i <= gap}, p_i being the distances of the vertices inside from an end."""
    first, inside = ways.starts[c], ways.starts[c + 1] - ways.starts[c]
    if ways.in_hops:
        return min(max(int(gap) - 1, 0), 2 * inside)
    low, high = 0, inside
    while low < high:
        middle = (low + high) >> 1
        if 2.0 * ways.distances[side, first + middle] < gap:
            low = middle + 1
        else:
            high = middle
    if low < inside and 2.0 * ways.distances[side, first + low] == gap:
        return 2 * low + 1
    return 2 * low


@njit
def _share(own, other):
    """Return the part of a tie that falls to one of two ends, by path counts."""
    return own / (own + other)


@njit
def _entered(ways, sums, weights, c, place, by_first, by_second):
    """Return the weight inside a chain that is entered by its first and its second end, with path counts to them."""
    first, last = ways.starts[c], ways.starts[c + 1]
    count, tie = place >> 1, place & 1
    near = sums[0, first + c + count]
    far = sums[0, last + c] - sums[0, first + c + count + tie]
    if tie:
        weight = weights[0, first + count]
        near += weight * _share(by_first, by_second)
        far += weight * _share(by_second, by_first)
    return near, far


@njit
def _to_junctions(ways, c, side, a, here, there, places, reached, ties, demand):
    """Sum what leaves chain c for junctions other than its end a."""
    first = ways.starts[c]
    for v in range(len(places)):
        place = places[v]
        if place == 0 or v == a:
            continue
        count = place >> 1
        target, source = ways.row_targets[v], ways.row_sources[v]
        leaving = ways.source_sums[side, first + c + count]
        reached[0, count] += target
        reached[1, count] += source
        if place & 1:
            share = _share(here[1][v], there[1][v])
            leaving += ways.sources[side, first + count] * share
            ties[0, count + 1] += target * share
            ties[1, count + 1] += source * share
        demand[v] += target * leaving


@njit
def _to_chains(ways, c, side, begin, end, here, there, places, reached, ties, demand, through):
    """Sum what leaves chain c for the chains ``begin:end``."""
    sums = ways.starts[c] + c
    for other in range(begin, end):
        by_u, by_v = places[ways.ends[other, 0]], places[ways.ends[other, 1]]
        most = max(by_u, by_v)
        if most == 0:
            continue
        alike, most = min(by_u, by_v) >> 1, (most + 1) >> 1
        last = ways.starts[other + 1] + other
        through[other] += ways.source_sums[side, sums + alike]
        reached[0, alike] += ways.target_sums[0, last]
        reached[1, alike] += ways.source_sums[0, last]
        for i in range(alike + 1, most + 1):
            _one_by_one(ways, c, side, i, other, here, there, places, ties, demand)


@njit
def _one_by_one(ways, c, side, i, other, here, there, places, ties, demand):
    """Sum what leaves vertex i of chain c for another chain (u, v), if it may leave by another end for u than for v.

    The paths to u by a, by_u, are part of all shortest ones, to_u; the same for v.
    """
    u, v = ways.ends[other, 0], ways.ends[other, 1]
    p = ways.distances[side, ways.starts[c] + i - 1]
    rest = ways.lengths[c] - p
    is_by_a, is_by_b = i <= (places[u] + 1) >> 1, i > places[u] >> 1
    far_u = p + here[0][u] if is_by_a else rest + there[0][u]
    by_u = here[1][u] if is_by_a else 0.0
    to_u = by_u + (there[1][u] if is_by_b else 0.0)
    is_by_a, is_by_b = i <= (places[v] + 1) >> 1, i > places[v] >> 1
    far_v = p + here[0][v] if is_by_a else rest + there[0][v]
    by_v = here[1][v] if is_by_a else 0.0
    to_v = by_v + (there[1][v] if is_by_b else 0.0)
    place = _place(ways, other, 0, ways.lengths[other] + far_v - far_u)
    targets_u, targets_v = _entered(ways, ways.target_sums, ways.targets, other, place, to_u, to_v)
    sources_u, sources_v = _entered(ways, ways.source_sums, ways.sources, other, place, to_u, to_v)
    part_u, part_v = by_u / to_u, by_v / to_v
    source = ways.sources[side, ways.starts[c] + i - 1]
    demand[u] += source * targets_u * part_u
    demand[v] += source * targets_v * part_v
    ties[0, i] += targets_u * part_u + targets_v * part_v
    ties[1, i] += sources_u * part_u + sources_v * part_v


@njit
def _sum_out(ways, c, side, a, here, there, places, reached, ties, flows):
    """Write what leaves each vertex inside chain c by its end a; return their sum without what ends at a itself."""
    first, inside = ways.starts[c], ways.starts[c + 1] - ways.starts[c]
    total, targets, sources = 0.0, 0.0, 0.0
    to_end, tie = places[a] >> 1, places[a] & 1
    for i in range(inside, 0, -1):
        targets += reached[0, i]
        sources += reached[1, i]
        own_source, own_target = ways.sources[side, first + i - 1], ways.targets[side, first + i - 1]
        out = own_source * (targets + ties[0, i]) + own_target * (sources + ties[1, i])
        total += out
        if i <= to_end + tie:
            part = _share(here[1][a], there[1][a]) if i > to_end else 1.0
            out += part * (own_source * ways.row_targets[a] + own_target * ways.row_sources[a])
        flows.out[side, first + i - 1] = out
    return total


@njit
def _within(ways, c, dist, sigma, flows):
    """Sum the demand between vertices inside chain c; return what leaves it by one end and enters by the other.

    A path is straight inside the chain if that is shorter than around, by both ends and the `sigma` ways between them
    of length `dist`; where they are equal it is one of the 1 + sigma.
    """
    first, inside = ways.starts[c], ways.starts[c + 1] - ways.starts[c]
    round_trip = ways.lengths[c] + dist
    total = 0.0
    straight = _share(1.0, sigma)
    after = 1  # the first vertex that is not nearer straight from i
    begun = np.zeros(inside + 1)
    for i in range(1, inside + 1):
        after = max(after, i + 1)
        while after <= inside and 2.0 * _between(ways, c, i, after) < round_trip:
            after += 1
        tie = after <= inside and 2.0 * _between(ways, c, i, after) == round_trip
        begun[i] = _pairs(ways, c, i, i, after - 1)
        around = _pairs(ways, c, i, after - 1 + tie, inside)
        if tie:
            both = _pairs(ways, c, i, after - 1, after)
            begun[i] += both * straight
            around += both * (1.0 - straight)
        flows.around[0, first + i - 1] = around
        total += around
    before, inner = 0, 0.0  # the last vertex that is not nearer straight from j
    for j in range(1, inside + 1):
        while before + 1 < j and 2.0 * _between(ways, c, before + 1, j) >= round_trip:
            before += 1
        tie = before > 0 and 2.0 * _between(ways, c, before, j) == round_trip
        ended = _pairs(ways, c, j, before, j - 1)
        around = _pairs(ways, c, j, 0, before - tie)
        if tie:
            both = _pairs(ways, c, j, before - 1, before)
            ended += both * straight
            around += both * (1.0 - straight)
        flows.around[1, first + j - 1] = around
        # Paths that go on from j - 1 end at j or have it in their interior; rounding may leave a trifle below zero.
        inner = max(inner - ended, 0.0)
        flows.within[first + j - 1] = inner
        inner += begun[j]
        flows.onward[first + j - 1] = inner if j < inside else 0.0
    return total


@njit
def _between(ways, c, i, j):
    """Distance between two vertices inside a chain, i before j."""
    return ways.distances[0, ways.starts[c] + j - 1] - ways.distances[0, ways.starts[c] + i - 1]


@njit
def _pairs(ways, c, i, first, last):
    """Demand, both ways, between vertex i inside a chain and the vertices ``first + 1`` to ``last`` of it."""
    begin, own = ways.starts[c] + c, ways.starts[c] + i - 1
    targets = ways.target_sums[0, begin + last] - ways.target_sums[0, begin + first]
    sources = ways.source_sums[0, begin + last] - ways.source_sums[0, begin + first]
    return ways.sources[0, own] * targets + ways.targets[0, own] * sources
