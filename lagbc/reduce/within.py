"""Demand between vertices of the same chain, and what all demand adds up to at the vertices inside chains.

Arguments named `ways` and `flows` are `Ways` and `Flows` of `lagbc.reduce.streams`.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

import numpy as np

from lagbc.cpu.compile import njit


@njit
def sum_within(ways, c, dist, sigma, flows):
    """Sum the demand between vertices inside chain c; return what leaves it by one end and enters by the other.

    A path is straight inside the chain if that is shorter than around, by both ends and the `sigma` ways between them
    of length `dist`; where they are equal it is one of the 1 + sigma.
    """
    first, inside = ways.starts[c], ways.starts[c + 1] - ways.starts[c]
    round_trip = ways.lengths[c] + dist
    total = 0.0
    straight, bent = 1.0 / (1.0 + sigma), sigma / (1.0 + sigma)
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
            around += both * bent
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
            around += both * bent
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
    for c in range(len(ways.lengths)):
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
