"""Textbook Brandes, one root at a time: the oracle of every test.

Brandes 2001, algorithm 1 (BFS) and its Dijkstra variant. Written to be read; see `lagbc.bc` for the fast methods.
`number` makes the numbers: float, or fractions.Fraction for exact arithmetic without overflow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from math import exp, hypot, inf
from typing import Any

Search = tuple[list[int], list[list[int]], list[Any], list[Any]]


def count_hops(indptr: Sequence[int], indices: Sequence[int], root: int) -> Search:
    """Search breadth first, and count shortest paths.

    Returns
    -------
    order : the reached vertices by rising distance
    predecessors : for each vertex, the vertices one hop before it on the shortest paths from the root
    sigma : number of shortest paths from the root, int
    depth : hops from the root, -1 unreached
    """
    n = len(indptr) - 1
    depth, sigma = [-1] * n, [0] * n
    predecessors: list[list[int]] = [[] for _ in range(n)]
    order: list[int] = []
    depth[root], sigma[root] = 0, 1
    queue = deque([root])
    while queue:
        v = queue.popleft()
        order.append(v)
        for w in indices[indptr[v] : indptr[v + 1]]:
            if depth[w] < 0:
                depth[w] = depth[v] + 1
                queue.append(w)
            if depth[w] == depth[v] + 1:
                sigma[w] += sigma[v]
                predecessors[w].append(v)
    return order, predecessors, sigma, depth


def count_lengths(
    indptr: Sequence[int], indices: Sequence[int], weights: Sequence[Any], root: int, rtol: Any = 0
) -> Search:
    """Search as Dijkstra, then count shortest paths over the tight edges.

    Returns as `count_hops`, with dist (inf unreached) for depth. An edge v -> w is tight if
    ``abs(dist[v] + length - dist[w]) <= rtol * dist[w]`` and ``dist[v] < dist[w]``.
    """
    n = len(indptr) - 1
    dist: list[Any] = [float("inf")] * n
    order: list[int] = []
    settled = [False] * n
    dist[root] = 0
    heap: list[tuple[Any, int]] = [(0, root)]
    while heap:
        d, v = heappop(heap)
        if settled[v]:
            continue
        settled[v] = True
        order.append(v)
        for e in range(indptr[v], indptr[v + 1]):
            w, length = indices[e], d + weights[e]
            if length < dist[w]:
                dist[w] = length
                heappush(heap, (length, w))
    sigma = [0] * n
    predecessors: list[list[int]] = [[] for _ in range(n)]
    sigma[root] = 1
    for v in order:
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if dist[v] < dist[w] and abs(dist[v] + weights[e] - dist[w]) <= rtol * dist[w]:
                sigma[w] += sigma[v]
                predecessors[w].append(v)
    return order, predecessors, sigma, dist


def brandes(
    indptr: Sequence[int],
    indices: Sequence[int],
    weights: Sequence[Any] | None = None,
    *,
    sources: Iterable[int] | None = None,
    target_weights: Sequence[Any] | None = None,
    source_weights: Sequence[Any] | None = None,
    endpoints: bool = False,
    rtol: Any = 0,
    cutoff: float = inf,
    decay: float = 0.0,
    number: Callable[[Any], Any] = float,
) -> list[Any]:
    """Raw betweenness: the sum over the roots s != v of delta_s(v).

    Parameters
    ----------
    indptr, indices : CSR arrays of the edges v -> w, without self loops and duplicates
    weights : positive edge lengths in the order of `indices`, or None for hops
    sources : the roots; None is all vertices
    target_weights, source_weights : targets a vertex stands for, and how often it counts as a root
    endpoints : count the two ends of a path as on it
    rtol : relative difference up to which two lengths of paths are equal
    cutoff, decay : a target at distance d counts exp(-decay d) if d is at most the cutoff
    number : makes the numbers of the sums: float, or Fraction for exact ones

    Returns
    -------
    scores : list of `number`, length n
    """
    n = len(indptr) - 1
    indptr, indices = [int(p) for p in indptr], [int(j) for j in indices]
    omega = [number(1)] * n if target_weights is None else [number(x) for x in target_weights]
    root_weights = [number(1)] * n if source_weights is None else [number(x) for x in source_weights]
    scores = [number(0)] * n
    for root in range(n) if sources is None else sources:
        order, predecessors, sigma, dist = _search(indptr, indices, weights, root, rtol)
        counted = _counted(omega, dist, cutoff, decay)
        delta = [number(0)] * n
        for w in reversed(order):
            for v in predecessors[w]:
                delta[v] += number(sigma[v]) / number(sigma[w]) * (counted[w] + delta[w])
            if w != root:
                scores[w] += root_weights[root] * (delta[w] + number(1 if endpoints and dist[w] <= cutoff else 0))
        if endpoints:
            scores[root] += root_weights[root] * number(sum(dist[w] <= cutoff for w in order) - 1)
    return scores


def stress(
    indptr: Sequence[int],
    indices: Sequence[int],
    weights: Sequence[Any] | None = None,
    *,
    sources: Iterable[int] | None = None,
    target_weights: Sequence[Any] | None = None,
    cutoff: float = inf,
) -> list[Any]:
    """Raw stress: over the roots s, the number of shortest paths from s that have v in their interior.

    Integers of any size, if `target_weights` are integers. Arguments as for `brandes`.
    """
    n = len(indptr) - 1
    omega = [1] * n if target_weights is None else target_weights
    scores = [0] * n
    for root in range(n) if sources is None else sources:
        order, predecessors, sigma, dist = _search(indptr, indices, weights, root)
        counted = _counted(omega, dist, cutoff)
        onward = [0] * n  # paths on from v to targets
        for w in reversed(order):
            for v in predecessors[w]:
                onward[v] += counted[w] + onward[w]
            if w != root:
                scores[w] += sigma[w] * onward[w]
    return scores


def edge_scores(
    indptr: Sequence[int],
    indices: Sequence[int],
    weights: Sequence[Any] | None = None,
    *,
    sources: Iterable[int] | None = None,
    target_weights: Sequence[Any] | None = None,
    cutoff: float = inf,
    decay: float = 0.0,
    number: Callable[[Any], Any] = float,
) -> list[Any]:
    """Raw edge betweenness, in the order of `indices`: over s and t, the share of the paths that use the edge.

    Arguments as for `brandes`.
    """
    n = len(indptr) - 1
    omega = [number(1)] * n if target_weights is None else [number(x) for x in target_weights]
    place = {(v, indices[e]): e for v in range(n) for e in range(indptr[v], indptr[v + 1])}
    scores = [number(0)] * len(indices)
    for root in range(n) if sources is None else sources:
        order, predecessors, sigma, dist = _search(indptr, indices, weights, root)
        counted = _counted(omega, dist, cutoff, decay)
        delta = [number(0)] * n
        for w in reversed(order):
            for v in predecessors[w]:
                share = number(sigma[v]) / number(sigma[w]) * (counted[w] + delta[w])
                scores[place[v, w]] += share
                delta[v] += share
    return scores


def distances_into(
    indptr: Sequence[int],
    indices: Sequence[int],
    weights: Sequence[Any] | None = None,
    *,
    sources: Iterable[int] | None = None,
    cutoff: float = inf,
) -> list[list[Any]]:
    """Return, for every vertex v, its distances from the roots s != v that reach it; arguments as for `brandes`."""
    n = len(indptr) - 1
    into: list[list[Any]] = [[] for _ in range(n)]
    for root in range(n) if sources is None else sources:
        order, _, _, dist = _search(indptr, indices, weights, root)
        for v in order[1:]:
            if dist[v] <= cutoff:
                into[v].append(dist[v])
    return into


def eccentricity(
    indptr: Sequence[int], indices: Sequence[int], weights: Sequence[Any] | None = None, *, cutoff: float = inf
) -> list[Any]:
    """Return the largest distance from each vertex to a vertex within the cutoff; 0 if it reaches none."""
    searches = [_search(indptr, indices, weights, root) for root in range(len(indptr) - 1)]
    return [max(dist[v] for v in order if dist[v] <= cutoff) for order, _, _, dist in searches]


def gravity(
    indptr: Sequence[int],
    indices: Sequence[int],
    weights: Sequence[Any] | None = None,
    *,
    target_weights: Sequence[Any] | None = None,
    cutoff: float = inf,
    decay: float = 0.0,
) -> list[Any]:
    """Return, for every vertex, the sum of its targets' weights at their distances; without a decay, its reach."""
    n = len(indptr) - 1
    omega = [1] * n if target_weights is None else target_weights
    scores = []
    for root in range(n):
        order, _, _, dist = _search(indptr, indices, weights, root)
        counted = _counted(omega, dist, cutoff, decay)
        scores.append(sum(counted[t] for t in order[1:]))
    return scores


def straightness(
    indptr: Sequence[int],
    indices: Sequence[int],
    weights: Sequence[Any] | None = None,
    *,
    coordinates: Sequence[tuple[float, float]],
    target_weights: Sequence[Any] | None = None,
    cutoff: float = inf,
) -> list[Any]:
    """Return, for every vertex, the mean of straight line over distance to its targets; 0 if it has none."""
    n = len(indptr) - 1
    omega = [1] * n if target_weights is None else target_weights
    scores = []
    for root in range(n):
        order, _, _, dist = _search(indptr, indices, weights, root)
        counted, (x, y) = _counted(omega, dist, cutoff), coordinates[root]
        lines = [hypot(to_x - x, to_y - y) for to_x, to_y in coordinates]
        total = sum(counted[t] for t in order[1:])
        scores.append(sum(counted[t] * (lines[t] / dist[t]) for t in order[1:]) / total if total else 0)
    return scores


def _counted(omega: Sequence[Any], dist: Sequence[Any], cutoff: float, decay: float = 0.0) -> list[Any]:
    """Return the weight of each vertex as a target at its distance; entries of unreached vertices are never read."""
    weights = [exp(-decay * d) if decay else 1 for d in dist]
    return [x * weight if d <= cutoff else 0 * x for x, d, weight in zip(omega, dist, weights, strict=True)]


def _search(
    indptr: Sequence[int], indices: Sequence[int], weights: Sequence[Any] | None, root: int, rtol: Any = 0
) -> Search:
    if weights is None:
        return count_hops(indptr, indices, root)
    return count_lengths(indptr, indices, weights, root, rtol)
