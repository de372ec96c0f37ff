"""The search of a probe on the host."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.graph.graph import Graph
from lagbc.methods.cpu.batched.rows import count_bits


def count(graph: Graph, roots: NDArray[np.int64], most: int) -> Any:
    """Return visits, edges, pairs, pair_edges and levels of `lagbc.methods.probe.Probe`."""
    return _search(graph.indptr, graph.indices, roots, most)


@njit
def _search(indptr, indices, roots, most):
    """Search level by level: `here[v]` has the columns that found v at this level, `seen[v]` those of all so far."""
    n = len(indptr) - 1
    here, following, seen = np.zeros(n, np.uint64), np.zeros(n, np.uint64), np.zeros(n, np.uint64)
    rows, next_rows = np.empty(n, np.int64), np.empty(n, np.int64)
    size = len(roots)
    for column in range(size):
        rows[column] = roots[column]
        here[roots[column]] = seen[roots[column]] = uint64(1) << uint64(column)
    visits = edges = pairs = pair_edges = levels = 0
    while size and edges <= most:
        levels += 1
        found = 0
        for v in rows[:size]:
            degree = indptr[v + 1] - indptr[v]
            columns: Any = count_bits(here[v])
            visits += 1
            edges += degree
            pairs += columns
            pair_edges += columns * degree
            for w in indices[indptr[v] : indptr[v + 1]]:
                new = here[v] & ~seen[w]
                if new:
                    if not following[w]:
                        next_rows[found] = w
                        found += 1
                    following[w] |= new
        for v in rows[:size]:
            here[v] = 0
        for w in next_rows[:found]:
            seen[w] |= following[w]
        here, following = following, here
        rows, next_rows = next_rows, rows
        size = found
    return visits, edges, pairs, pair_edges, levels
