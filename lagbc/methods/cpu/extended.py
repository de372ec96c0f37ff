"""Sums of single roots with path counts of any size.

A number is a pair (mantissa, exponent) that stands for mantissa * 2**exponent, with the mantissa in [0.5, 1) or zero
and the exponent an int64, which no number of paths in a graph that fits in memory can overflow.
The sweep is Brandes' (2001) in the one-division form, on vertices in the order of their distance, which a breadth-first
search or Dijkstra's finds. Every method hands the roots whose counts leave its range to this one. With weights, so it
does those where a reached vertex has no tight in-edge; this one then names the edge.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from dataclasses import dataclass
from heapq import heappop, heappush
from math import frexp, ldexp
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.errors import InvalidValueError
from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import Sums

# A term this many powers of two below another does not change their float64 sum.
_NEGLIGIBLE = 64


def add_root(graph: Graph, plan: SweepPlan, root: int, sums: Sums, block: int, place: int) -> None:
    """Add what one root sums to, in matrix order.

    Parameters
    ----------
    graph : Graph
    plan : SweepPlan
        Its omega, multiplicity, members, exponent, endpoints, rtol, stop flag and bounds, of one column, are used.
    root : int
    sums : Sums
        Of a batch, on the host.
    block, place : int
        Row of the sums, and place of the root in the batch.

    Raises
    ------
    Interrupted
        The stop flag was set; `sums` is unchanged.
    ValueError
        Rounding absorbed a length: a reached vertex has no tight in-edge.
    """
    times, power = frexp(1.0 if plan.multiplicity is None else plan.multiplicity[root])
    power += plan.exponent
    search = _search(graph, plan, root)
    reached, dist = search.reached, search.dist
    omega, weighed = _targets(graph, plan, dist)
    stress = None if sums.stress is None else _count_through(graph, plan, search, omega)
    edges = None if sums.edges is None else np.zeros(graph.nnz)
    delta = _accumulate(
        *_edges_of(graph),
        reached,
        dist,
        plan.rtol,
        weighed,
        plan.members,
        times,
        power,
        search.mantissas,
        search.powers,
        edges,
        plan.stop.value,
    )
    plan.stop.check()
    if stress is not None:
        through, powers = stress
        sums.stress[block] += _as_floats(times * through, power + powers)
    if edges is not None:
        sums.edges[block] += edges
    if sums.dependency is not None:
        sums.dependency[block] += delta
        if plan.endpoints:
            sums.dependency[block, reached[1:]] += ldexp(times, power)
            sums.dependency[block, root] += ldexp(times * (len(reached) - 1), power)
    others = reached[1:]
    if sums.reached is not None:
        sums.reached[block, others] += 1
    if sums.distance is not None:
        sums.distance[block, others] += dist[others]
    if sums.inverse is not None:
        sums.inverse[block, others] += 1 / dist[others]
    if sums.depth is not None:
        sums.depth[place] = dist[reached[-1]]
    if sums.targets is not None:
        sums.targets[place] = omega[others].sum()
    if sums.gravity is not None:
        sums.gravity[place] = weighed[others].sum()


def log2_stress(graph: Graph, plan: SweepPlan, roots: NDArray[np.int64]) -> NDArray[np.float64]:
    """Base-2 logarithm of the sum of stress over some roots, each once; -inf where the sum is zero.

    Of the plan, omega, exponent, rtol, stop flag and bounds, of one column, are used.

    Raises
    ------
    ValueError
        As `add_root`.
    """
    omega = np.ones(graph.n) if plan.omega is None else plan.omega
    mantissas, powers = np.zeros(graph.n), np.zeros(graph.n, np.int64)
    for root in roots.tolist():
        _add_each(mantissas, powers, *_count_through(graph, plan, _search(graph, plan, root), omega))
    return _log2(mantissas, powers) + plan.exponent


def count_paths(
    graph: Graph, plan: SweepPlan, root: int, *, log2: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Distances from a root (inf unreached), and the numbers of shortest paths or their base-2 logarithms.

    Numbers are infinite where float64 does not hold them.
    """
    search = _search(graph, plan, root)
    as_counts = _log2 if log2 else _as_floats
    return search.dist, as_counts(search.mantissas, search.powers)


@dataclass(frozen=True, eq=False)
class _Search:
    reached: NDArray[np.int64]  # by rising distance
    dist: NDArray[np.float64]
    mantissas: NDArray[np.float64]  # of the path counts
    powers: NDArray[np.int64]


def _search(graph: Graph, plan: SweepPlan, root: int) -> _Search:
    into, stop = graph.transpose, plan.stop.value
    if graph.weights is None:
        reached, dist = _search_hops(graph.indptr, graph.indices, root, plan.radius, stop)
    else:
        reached, dist = _search_lengths(*_edges_of(graph), root, plan.radius, stop)
    mantissas, powers, pathless = _count(*_edges_of(into), reached, dist, plan.rtol, plan.members, stop)
    plan.stop.check()
    if pathless >= 0:
        _raise_absorbed(into, _edges_of(into)[2], dist, root, pathless)
    return _Search(reached, dist, mantissas, powers)


def _targets(
    graph: Graph, plan: SweepPlan, dist: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """How many targets each vertex stands for, and as much as they count at their distances."""
    omega = np.ones(graph.n) if plan.omega is None else plan.omega
    return omega, omega if plan.bounds is None else omega * plan.bounds.weights(dist)


def _edges_of(graph: Graph) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[np.float64]]:
    lengths = np.broadcast_to(np.float64(1), graph.nnz) if graph.weights is None else graph.weights
    return graph.indptr, graph.indices, lengths


def _count_through(
    graph: Graph, plan: SweepPlan, search: _Search, omega: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Numbers of shortest paths from the root that have each vertex in their interior."""
    dist, sigma = search.dist, (search.mantissas, search.powers)
    through: tuple[NDArray[np.float64], NDArray[np.int64]] = _stress(
        *_edges_of(graph), search.reached, dist, plan.rtol, omega, *sigma, plan.stop.value
    )
    plan.stop.check()
    return through


def _as_floats(mantissas: NDArray[np.float64], powers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Infinite where float64 does not hold a number."""
    with np.errstate(over="ignore"):
        floats: NDArray[np.float64] = np.ldexp(mantissas, np.clip(powers, -5000, 5000).astype(np.intc))
    return floats


def _log2(mantissas: NDArray[np.float64], powers: NDArray[np.int64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        logarithms: NDArray[np.float64] = np.log2(mantissas) + powers
    return logarithms


def _raise_absorbed(
    into: Graph, in_lengths: NDArray[np.float64], dist: NDArray[np.float64], root: int, v: int
) -> NoReturn:
    edges = slice(into.indptr[v], into.indptr[v + 1])
    e = int(np.argmin(dist[into.indices[edges]] + in_lengths[edges]))
    u, length = into.indices[edges][e], in_lengths[edges][e]
    raise InvalidValueError(
        f"the length {length!s} of the edge ({u}, {v}) is lost to rounding beside the distance {dist[u]!s} from "
        f"vertex {root} to {u}: in float64 their sum is that distance; use lengths of more similar size"
    )


@njit
def _add(a, a_power, b, b_power):
    """Add a * 2**a_power + b * 2**b_power, as (mantissa, exponent); the exponent of a zero means nothing."""
    if b == 0.0 or (a != 0.0 and a_power - b_power > _NEGLIGIBLE):
        return a, a_power
    if a == 0.0 or b_power - a_power > _NEGLIGIBLE:
        return b, b_power
    mantissa, shift = frexp(a + ldexp(b, b_power - a_power))
    return mantissa, a_power + shift


@njit
def _times_members(a, power, members, v):
    """Multiply a * 2**power by the number of members of v."""
    if members is None:
        return a, power
    mantissa, shift = frexp(a * members[v])
    return mantissa, power + shift


@njit
def _is_tight(near, length, far, rtol):
    """Whether an edge leads on a shortest path from distance `near` to distance `far`."""
    return near < far < np.inf and abs(near + length - far) <= rtol * far


@njit
def _search_hops(indptr, indices, root, radius, stop):
    """Vertices that the root reaches within the radius, by rising distance, and all distances in hops."""
    n = len(indptr) - 1
    dist = np.full(n, np.inf)
    queue = np.empty(n, np.int64)
    dist[root], queue[0] = 0.0, root
    head, end = 0, 1
    while head < end and not stop[0]:
        v = queue[head]
        head += 1
        if dist[v] + 1.0 > radius:
            break
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if dist[w] == np.inf:
                dist[w] = dist[v] + 1.0
                queue[end] = w
                end += 1
    return queue[:end], dist


@njit
def _search_lengths(indptr, indices, lengths, root, radius, stop):
    """Vertices that the root reaches within the radius, by rising distance, and all distances."""
    n = len(indptr) - 1
    dist = np.full(n, np.inf)
    settled = np.zeros(n, np.bool_)
    order = np.empty(n, np.int64)
    dist[root], end = 0.0, 0
    heap = [(0.0, root)]
    while len(heap) and not stop[0]:
        _, v = heappop(heap)
        if settled[v]:
            continue
        settled[v], order[end] = True, v
        end += 1
        for e in range(indptr[v], indptr[v + 1]):
            w, through = indices[e], dist[v] + lengths[e]
            if through < dist[w] and through <= radius:
                dist[w] = through
                heappush(heap, (through, np.int64(w)))
    return order[:end], dist


@njit
def _count(in_indptr, in_indices, in_lengths, reached, dist, rtol, members, stop):
    """Path counts, to all members of a vertex, and a reached vertex without a tight in-edge, or -1."""
    n = len(in_indptr) - 1
    mantissas, powers = np.zeros(n), np.zeros(n, np.int64)
    mantissas[reached[0]], powers[reached[0]] = 0.5, 1
    for i in range(1, len(reached)):
        if stop[0]:
            break
        v = reached[i]
        total, power = 0.0, 0
        for e in range(in_indptr[v], in_indptr[v + 1]):
            u = in_indices[e]
            if _is_tight(dist[u], in_lengths[e], dist[v], rtol):
                total, power = _add(total, power, mantissas[u], powers[u])
        if total == 0.0:
            return mantissas, powers, v
        mantissas[v], powers[v] = _times_members(total, power, members, v)
    return mantissas, powers, -1


@njit
def _accumulate(
    indptr, indices, lengths, reached, dist, rtol, omega, members, times, times_power, mantissas, powers, edges, stop
):
    """Delta of every vertex, `times` as much as one root's.

    c[v] = omega[v] / sigma[v] + sum of c[w] over tight successors w, times its members, is written over sigma. Unless
    `edges` is None, times sigma[v] c[w] is written there for every tight edge. Only these and delta leave their
    exponent, at the end.
    """
    delta = np.zeros(len(indptr) - 1)
    for i in range(len(reached) - 1, -1, -1):
        if stop[0]:
            break
        v = reached[i]
        sigma, power = mantissas[v], powers[v]
        total, total_power = 0.0, 0
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if _is_tight(dist[v], lengths[e], dist[w], rtol):
                total, total_power = _add(total, total_power, mantissas[w], powers[w])
                if edges is not None:
                    edges[e] = ldexp(sigma * mantissas[w] * times, power + powers[w] + times_power)
        if i == 0:
            break
        delta[v] = ldexp(sigma * total * times, power + total_power + times_power)
        target, target_power = frexp(omega[v])
        own, shift = frexp(target / sigma)
        own, power = _add(own, target_power + shift - power, total, total_power)
        mantissas[v], powers[v] = _times_members(own, power, members, v)
    return delta


@njit
def _stress(indptr, indices, lengths, reached, dist, rtol, omega, mantissas, powers, stop):
    """Paths through every vertex, sigma[v] t[v] with t[v] = sum of omega[w] + t[w] over tight successors w."""
    n = len(indptr) - 1
    through, through_powers = np.zeros(n), np.zeros(n, np.int64)
    onward, onward_powers = np.zeros(n), np.zeros(n, np.int64)  # omega + t
    for i in range(len(reached) - 1, 0, -1):
        if stop[0]:
            break
        v = reached[i]
        total, power = 0.0, 0
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if _is_tight(dist[v], lengths[e], dist[w], rtol):
                total, power = _add(total, power, onward[w], onward_powers[w])
        product, shift = frexp(mantissas[v] * total)
        through[v], through_powers[v] = product, shift + powers[v] + power
        own, own_power = frexp(omega[v])
        onward[v], onward_powers[v] = _add(own, own_power, total, power)
    return through, through_powers


@njit
def _add_each(mantissas, powers, more, more_powers):
    """Add numbers in place, one by one."""
    for v in range(len(mantissas)):
        mantissas[v], powers[v] = _add(mantissas[v], powers[v], more[v], more_powers[v])
