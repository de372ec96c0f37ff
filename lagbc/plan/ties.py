"""Warnings of ties that rounding takes from paths: of strengths, and where a few short searches find some."""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import TieWarning, warn
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.graph.names import in_words

# Sums of up to some 50 lengths in two orders differ by at most this part; others hardly ever come so near.
_NEAR = 2.0**-48
# Edges that a search looks at, and searches: all look at a share of the edges of a run. An edge takes 1 to 1.5 us.
_EDGES, _SEARCHES, _SHARE = 400, 4, 1e-3
# Lengths that are looked at to tell that all are whole numbers, whose sums are exact.
_LENGTHS = 1000


def warn_of_ties(
    graph: Graph, rtol: float | None, roots: NDArray[np.int64], *, strengths: bool, everywhere: bool = True
) -> None:
    """Warn of ties of lengths that rounding breaks, unless a tolerance is given.

    Strengths tell of them; lengths are searched, if all paths from the roots count, `everywhere`.
    """
    if rtol is not None or graph.weights is None:
        return
    remedy = "rtol=1e-9 takes them for ties, rtol=0 leaves it at that"
    if strengths:
        if has_rounded_inverses(graph):
            of = (
                "lengths 1 / w are rounded, and paths that tie in exact numbers (1/3 + 1/6, 1/2) may not tie in float64"
            )
            warn(f"{of}; {remedy}", TieWarning)
    elif everywhere and (found := _find_near_tie(graph, roots)) is not None:
        root, v, *sums = found
        ends = f"from {in_words(graph.names, root)} to {in_words(graph.names, v)}"
        of = f"paths {ends} are {sums[0]!r} and {sums[1]!r} long: rounding keeps them, and maybe others, from a tie"
        warn(f"{of}; {remedy}, and whole numbers (metres for kilometres) tie exactly", TieWarning)


def has_rounded_inverses(graph: Graph) -> bool:
    """Whether lengths 1 / w are rounded: so are all but powers of two."""
    return bool((np.frexp(as_numpy(graph.weights))[0] != 0.5).any())


def _find_near_tie(graph: Graph, roots: NDArray[np.int64]) -> tuple[int, int, float, float] | None:
    """Return a root, a vertex near it, and two sums of lengths of paths between them that differ by rounding alone.

    Some of the roots are searched from, each along few edges, on the host; None if no such paths are there.
    """
    if graph.is_on_device or not len(roots) or graph.weights is None:
        return None
    first = graph.weights[:_LENGTHS]
    if np.array_equal(first, np.rint(first)):
        return None
    count = min(1 + int(_SHARE * graph.nnz * len(roots)) // _EDGES, _SEARCHES)
    some = roots[(2 * np.arange(count) + 1) * len(roots) // (2 * count)].tolist()
    found = (_near_tie_around(graph, root) for root in some)
    return next((one for one in found if one is not None), None)


def _near_tie_around(graph: Graph, root: int) -> tuple[int, int, float, float] | None:
    """Search from a root by Dijkstra's rule, along `_EDGES`.

    A difference of half of the shortest length, or more, may be one in exact numbers.
    """
    indptr, indices, weights = graph.indptr, graph.indices, graph.weights
    assert weights is not None
    dist, settled, near = {root: 0.0}, set[int](), dict[int, float]()
    queue, left, shortest = [(0.0, root)], _EDGES, inf
    while queue and left > 0:
        reach, u = heappop(queue)
        if u in settled:
            continue
        settled.add(u)
        if u in near and near[u] - reach <= min(_NEAR * reach, shortest / 2):
            return root, u, reach, near[u]
        first, last = int(indptr[u]), min(int(indptr[u + 1]), int(indptr[u]) + left)
        left -= last - first
        for v, length in zip(indices[first:last].tolist(), weights[first:last].tolist(), strict=True):
            known, new, shortest = dist.get(v, inf), reach + length, min(shortest, length)
            if known != new and abs(known - new) <= _NEAR * new:
                near[v] = max(known, new)
            if new < known:
                dist[v] = new
                heappush(queue, (new, v))
    return None
