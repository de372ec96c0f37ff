"""Sums of single roots with path counts of any size, by lagbc/native/kernels/extended.

A number is a pair (mantissa, exponent). Every method leaves the roots whose counts overflow to this routine, and with
lengths the roots with a reached vertex that has no tight in-edge: this routine names the edge whose length is lost.
"""

from __future__ import annotations

from math import frexp, ldexp
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError
from lagbc.graph.graph import Graph
from lagbc.graph.names import edge_in_words, in_words
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import OF_EDGES, SQUARES, Sums
from lagbc.native import classes_of, core

# A target adds its distance to this power to each sum over distances.
_OF_DISTANCES = {"reached": 0, "distance": 1, "inverse": -1, "distance_squares": 2, "inverse_squares": -2}
_ROOT_SWEEPS = classes_of("RootSweep")


def add_root(graph: Graph, plan: SweepPlan, root: int, sums: Sums, block: int, place: int) -> None:
    """Add the sums of one root to row `block` and place `place` of a batch's `sums` on the host.

    Bounds have one cutoff and one decay. Interrupted leaves the sums unchanged. ValueError names an edge whose length
    is lost to rounding, so that a reached vertex has no tight in-edge.
    """
    times, power = frexp(1.0 if plan.root_weights is None else plan.root_weights[root])
    power += plan.exponent
    search = _search(graph, plan, root)
    reached, dist = search.reached, search.dist
    omega = np.ones(graph.n) if plan.omega is None else plan.omega
    weighed = omega if plan.bounds is None else omega * plan.bounds.weights(dist)
    stress = None if sums.stress is None else _count_through(plan, search, omega)
    edges = np.zeros(graph.nnz) if sums.edges is not None or sums.edges_squares is not None else None
    if plan.linear:  # the root, at distance 0, is no target
        weighed = np.divide(weighed, dist, out=np.zeros(graph.n), where=dist > 0)
    delta = core.sum_root(*search, weighed, times, power, edges)
    plan.stop.check()
    if plan.linear:
        delta[reached] *= 2 * dist[reached]
    if stress is not None:
        through, powers = stress
        sums.stress[block] += _as_floats(times * through, power + powers)
    others, often = reached[1:], ldexp(times, power)
    made: dict[str, Any] = {"dependency": delta, "edges": edges}
    for name, found in made.items():
        total, squares = getattr(sums, name), getattr(sums, f"{name}_squares")
        if total is not None:
            total[block] += found
        if squares is not None and often:
            squares[block] += found / often * found
    if sums.dependency is not None and plan.endpoints:
        sums.dependency[block, others] += often
        sums.dependency[block, root] += ldexp(times * len(others), power)
    for name, exponent in _OF_DISTANCES.items():
        total = getattr(sums, name)
        if total is not None:
            total[block, others] += dist[others] ** exponent
    if sums.depth is not None:
        sums.depth[place] = dist[reached[-1]]
    if sums.targets is not None:
        sums.targets[place] = omega[others].sum()
    if sums.gravity is not None:
        sums.gravity[place] = weighed[others].sum()
    if sums.straight is not None:
        assert plan.xy is not None
        lines = np.hypot(*(plan.xy[:, others] - plan.xy[:, [root]]))
        sums.straight[place] = (omega[others] * (lines / dist[others])).sum()


def bytes_of_root(graph: Graph, plan: SweepPlan) -> int:
    """Bound the bytes that `add_root` takes beside the sums."""
    # 7: order, distances, path counts (2), targets, weighed targets, delta; 6: stress as numbers and as floats; 5:
    # coordinates, differences and lines.
    by_vertex = 7 + 6 * ("stress" in plan.sums) + 2 * bool(plan.sums & SQUARES) + 2 * plan.linear
    by_vertex += 5 * ("straight" in plan.sums)
    by_edge = bool(plan.sums & OF_EDGES) + 2 * ("edges_squares" in plan.sums)
    return 8 * (by_vertex * graph.n + by_edge * graph.nnz)


def log2_stress(graph: Graph, plan: SweepPlan, roots: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return log2 of the stress summed over some roots, -inf for zero; errors as in `add_root`."""
    omega = np.ones(graph.n) if plan.omega is None else plan.omega
    mantissas, powers = np.zeros(graph.n), np.zeros(graph.n, np.int64)
    for root in roots.tolist():
        core.add_numbers(mantissas, powers, *_count_through(plan, _search(graph, plan, root), omega))
    return _log2(mantissas, powers) + plan.exponent


def count_paths(
    graph: Graph, plan: SweepPlan, root: int, *, log2: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return distances from a root (inf unreached), and path counts (inf beyond float64) or their base-2 logarithms."""
    search = _search(graph, plan, root)
    as_counts = _log2 if log2 else _as_floats
    return search.dist, as_counts(search.mantissas, search.powers)


class _Search(NamedTuple):
    """A search, as the kernels take it."""

    sweep: Any  # of `_ROOT_SWEEPS`
    reached: NDArray[np.int64]  # by rising distance
    dist: NDArray[np.float64]
    mantissas: NDArray[np.float64]  # of the path counts
    powers: NDArray[np.int64]


def _search(graph: Graph, plan: SweepPlan, root: int) -> _Search:
    kind = _ROOT_SWEEPS[graph.indices.dtype]
    sweep = kind(*graph.native, plan.class_sizes, plan.rtol, plan.radius, plan.stop.value)
    reached, dist, mantissas, powers, pathless = core.search_root(sweep, root)
    search = _Search(sweep, reached, dist, mantissas, powers)
    plan.stop.check()
    if pathless >= 0:
        _raise_absorbed(graph, search.dist, root, pathless)
    return search


def _count_through(
    plan: SweepPlan, search: _Search, omega: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the numbers of shortest paths from the root with each vertex in their interior, as two arrays."""
    through = core.count_through(*search, omega)
    plan.stop.check()
    return through


def _as_floats(mantissas: NDArray[np.float64], powers: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return floats, infinite beyond float64."""
    with np.errstate(over="ignore"):
        floats: NDArray[np.float64] = np.ldexp(mantissas, np.clip(powers, -5000, 5000).astype(np.intc))
    return floats


def _log2(mantissas: NDArray[np.float64], powers: NDArray[np.int64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        logarithms: NDArray[np.float64] = np.log2(mantissas) + powers
    return logarithms


def _raise_absorbed(graph: Graph, dist: NDArray[np.float64], root: int, v: int) -> NoReturn:
    into, names = graph.transpose, graph.names
    edges = slice(into.indptr[v], into.indptr[v + 1])
    in_lengths = np.ones(into.nnz) if into.weights is None else into.weights
    e = int(np.argmin(dist[into.indices[edges]] + in_lengths[edges]))
    u, length = int(into.indices[edges][e]), in_lengths[edges][e]
    start, tail = in_words(names, root), in_words(names, u)
    raise InvalidValueError(
        f"the length {length!s} of the edge {edge_in_words(names, u, v)} is lost to rounding beside the distance "
        f"{dist[u]!s} from {start} to {tail}: in float64 their sum is that distance; use lengths of more similar size"
    )
