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
from lagbc.reduce.within import sum_within


class Ways(NamedTuple):
    """The chains with vertices inside, as compiled code reads them: seen from either end.

    Arrays of two rows have the chains from their first ends on, and from their second. Vertices inside chain c are
    ``starts[c]:starts[c + 1]``, number i of a row being the i-th from that end; its sums of the first 0, 1, ... of them
    begin at ``starts[c] + c``. Half 2 c + side is chain c seen from an end.

    Attributes
    ----------
    ends : ndarray of int64, shape (2, chains)
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
        By the row that they begin at, those of a row by the one that they lead to.
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


class Leaving(NamedTuple):
    """A chain seen from one end: its vertices inside in order, `sums` being those of their sources from 0 on."""

    length: Any
    distances: Any
    sources: Any
    targets: Any
    sums: Any


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
def leave(ways, flows, roots, dist, sigma, column, demand, through, junction, stop):
    """Sum what leaves chains at the roots, of those chains whose far end has a column; return whether it finished.

    Parameters
    ----------
    ways : Ways
    flows : Flows
        Sums of these chains are written.
    roots : ndarray of int64
        Rows.
    dist, sigma : ndarray of float64, shape (columns, rows)
        Distances and path counts: from the roots, and behind them from far ends.
    column : ndarray of int64, shape (rows,)
        Which of these are those of a far end; -1 if they are not there.
    demand : ndarray of float64, shape (roots, rows)
        M(a, .), which has what goes from junction to junction, grows by what leaves by a, but for what enters other
        chains wholly as from a itself.
    through : ndarray of float64, shape (roots, chains)
        Source weight that enters each chain as from a itself, without that of a.
    junction : ndarray of float64, shape (roots,)
        Demand that passes each root as it leaves a chain.
    stop : ndarray of uint8
        Polled once a chain.
    """
    inside = ways.starts[1:] - ways.starts[:-1]
    places = np.empty(len(ways.row_sources), np.int32)
    # Targets and sources reached from the first i vertices alike, and from vertex i by itself.
    longest = 0
    for c in range(len(inside)):
        longest = max(longest, inside[c])
    reached, ties = np.empty((2, longest + 1)), np.empty((2, longest + 1))
    for k in range(len(roots)):
        a = roots[k]
        here = dist[k], sigma[k]
        for at in range(ways.first_halves[a], ways.first_halves[a + 1]):
            c, side = ways.halves[at] >> 1, ways.halves[at] & 1
            b = ways.ends[1 - side, c]
            if column[b] < 0:
                continue
            if stop[0]:
                return False
            there = dist[column[b]], sigma[column[b]]
            leaving = _seen_from(ways, c, side)
            reached[:, : inside[c] + 1] = 0.0
            ties[:, : inside[c] + 1] = 0.0
            _find_places(ways.in_hops, leaving.distances, leaving.length, here[0], there[0], places)
            _to_junctions(ways, leaving, a, places, here[1], there[1], reached, ties, demand[k])
            _to_chains(ways, leaving, 0, c, places, *here, *there, reached, ties, demand[k], through[k])
            _to_chains(ways, leaving, c + 1, len(inside), places, *here, *there, reached, ties, demand[k], through[k])
            junction[k] += _sum_out(ways, c, side, a, here, there, places, reached, ties, flows)
            if side == 0:
                demand[k, b] += sum_within(ways, c, here[0][b], here[1][b], flows)
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
        _enter_chains(ways, a, ways.row_sources[a], dist[k], sigma[k], through[k], demand[k])
        # M(a, a), which has leaving and entering in one, was counted from both ends; it starts no path.
        junction[k] -= demand[k, a]
        demand[k, a] = 0.0
    return True


@njit
def _seen_from(ways, c, side):
    """Return a chain as it is seen from one end."""
    first, last = ways.starts[c], ways.starts[c + 1]
    return Leaving(
        ways.lengths[c],
        ways.distances[side, first:last],
        ways.sources[side, first:last],
        ways.targets[side, first:last],
        ways.source_sums[side, first + c : last + c + 1],
    )


@njit
def _place(distances, first, last, gap):
    """Return #{i: 2 p_i < gap} + #{i: 2 p_i <= gap}, p_i being distances number ``first:last``, which ascend."""
    low, high = first, last
    while low < high:
        middle = (low + high) >> 1
        if 2.0 * distances[middle] < gap:
            low = middle + 1
        else:
            high = middle
    return 2 * (low - first) + (low < last and 2.0 * distances[low] == gap)


@njit
def _find_places(in_hops, distances, length, near, far, places):
    """Write the places of a chain for all junctions, which are that far from its near end and from its far one."""
    last = len(distances)
    if in_hops:
        most = 2.0 * last
        for v in range(len(places)):
            places[v] = np.int32(min(max(length + far[v] - near[v] - 1.0, 0.0), most))
    else:
        for v in range(len(places)):
            places[v] = _place(distances, 0, last, length + far[v] - near[v])


@njit
def _to_junctions(ways, leaving, a, places, by_near, by_far, reached, ties, demand):
    """Sum what leaves a chain for junctions other than its end a."""
    row_sources, row_targets = ways.row_sources, ways.row_targets
    sources, sums, inside = leaving.sources, leaving.sums, len(leaving.sources)
    all_sources, all_targets = 0.0, 0.0
    for v in range(len(places)):
        place = places[v]
        if place == 0 or v == a:
            continue
        if place == 2 * inside:
            all_targets += row_targets[v]
            all_sources += row_sources[v]
            demand[v] += row_targets[v] * sums[inside]
            continue
        count = place >> 1
        weight = sums[count]
        reached[0, count] += row_targets[v]
        reached[1, count] += row_sources[v]
        if place & 1:
            share = by_near[v] / (by_near[v] + by_far[v])
            weight += sources[count] * share
            ties[0, count + 1] += row_targets[v] * share
            ties[1, count + 1] += row_sources[v] * share
        demand[v] += row_targets[v] * weight
    reached[0, inside] += all_targets
    reached[1, inside] += all_sources


@njit
def _to_chains(ways, leaving, begin, end, places, near, by_near, far, by_far, reached, ties, demand, through):
    """Sum what leaves a chain for the chains ``begin:end``.

    The vertices between the places of a chain's two ends, u and v, may leave by another end for u than for v; they are
    summed one by one. The paths to u that leave by this end, by_u, are part of all shortest ones, to_u.
    """
    firsts, seconds, starts, lengths = ways.ends[0], ways.ends[1], ways.starts, ways.lengths
    sources, targets = ways.sources[0], ways.targets[0]
    source_sums, target_sums = ways.source_sums[0], ways.target_sums[0]
    distances, in_hops = ways.distances[0], ways.in_hops
    sums, inside = leaving.sums, len(leaving.sources)
    all_sources, all_targets = 0.0, 0.0
    for c in range(begin, end):
        u, v = firsts[c], seconds[c]
        place_u, place_v = places[u], places[v]
        alike, most = min(place_u, place_v) >> 1, (max(place_u, place_v) + 1) >> 1
        if most == 0:
            continue
        first, last = starts[c], starts[c + 1]
        if alike == inside:
            through[c] += sums[inside]
            all_targets += target_sums[last + c]
            all_sources += source_sums[last + c]
            continue
        through[c] += sums[alike]
        reached[0, alike] += target_sums[last + c]
        reached[1, alike] += source_sums[last + c]
        for i in range(alike + 1, most + 1):
            p = leaving.distances[i - 1]
            rest = leaving.length - p
            is_near, is_far = i <= (place_u + 1) >> 1, i > place_u >> 1
            far_u = p + near[u] if is_near else rest + far[u]
            by_u = by_near[u] if is_near else 0.0
            to_u = by_u + (by_far[u] if is_far else 0.0)
            is_near, is_far = i <= (place_v + 1) >> 1, i > place_v >> 1
            far_v = p + near[v] if is_near else rest + far[v]
            by_v = by_near[v] if is_near else 0.0
            to_v = by_v + (by_far[v] if is_far else 0.0)
            gap = lengths[c] + far_v - far_u
            place = min(max(int(gap) - 1, 0), 2 * (last - first)) if in_hops else _place(distances, first, last, gap)
            count, tie = first + (place >> 1), place & 1
            part_u, part_v = by_u / to_u, by_v / to_v
            reached_targets = target_sums[count + c] * part_u
            reached_sources = source_sums[count + c] * part_u
            by_second = (target_sums[last + c] - target_sums[count + c + tie]) * part_v
            reached_sources += (source_sums[last + c] - source_sums[count + c + tie]) * part_v
            if tie:
                share_u, share_v = by_u / (to_u + to_v), by_v / (to_u + to_v)
                reached_targets += targets[count] * share_u
                by_second += targets[count] * share_v
                reached_sources += sources[count] * (share_u + share_v)
            demand[u] += leaving.sources[i - 1] * reached_targets
            demand[v] += leaving.sources[i - 1] * by_second
            ties[0, i] += reached_targets + by_second
            ties[1, i] += reached_sources
    reached[0, inside] += all_targets
    reached[1, inside] += all_sources


@njit
def _enter_chains(ways, a, own, dist, sigma, through, demand):
    """Let what leaves by a root, and its own source weight, enter every chain by the end that is nearer."""
    firsts, seconds, starts, lengths = ways.ends[0], ways.ends[1], ways.starts, ways.lengths
    targets, sums, distances, in_hops = ways.targets[0], ways.target_sums[0], ways.distances[0], ways.in_hops
    for c in range(len(firsts)):
        u, v = firsts[c], seconds[c]
        first, last = starts[c], starts[c + 1]
        gap = lengths[c] + dist[v] - dist[u]
        place = min(max(int(gap) - 1, 0), 2 * (last - first)) if in_hops else _place(distances, first, last, gap)
        count, tie = first + (place >> 1), place & 1
        by_u = sums[count + c]
        by_v = sums[last + c] - sums[count + c + tie]
        if tie:
            share = sigma[u] / (sigma[u] + sigma[v])
            by_u += targets[count] * share
            by_v += targets[count] * (sigma[v] / (sigma[u] + sigma[v]))
        demand[u] += (through[c] + (own if u != a else 0.0)) * by_u
        demand[v] += (through[c] + (own if v != a else 0.0)) * by_v


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
            part = here[1][a] / (here[1][a] + there[1][a]) if i > to_end else 1.0
            out += part * (own_source * ways.row_targets[a] + own_target * ways.row_sources[a])
        flows.out[side, first + i - 1] = out
    return total
