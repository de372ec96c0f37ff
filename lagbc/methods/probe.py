"""A probe of the work that the roots of a batch have in common, for the choice of a method."""

from __future__ import annotations

from math import inf
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.graph.graph import Graph
from lagbc.native import core, csr, share, until_stopped

# Roots that are searched from at once, a bit each.
COLUMNS = 64


class Probe(NamedTuple):
    """Counts of breadth-first searches, in hops, each from some roots at once."""

    lined_up: int  # roots of the run
    roots: int  # roots that were searched from
    searches: int
    visits: int  # a vertex counts once for each level at which some root finds it
    edges: int  # of these vertices
    pairs: int  # a vertex counts once for each root that finds it
    pair_edges: int  # of these vertices
    levels: int  # summed over the searches
    is_cut: bool = False  # whether searches ended early, by their most edges or by the time


def probe(graph: Graph, ordered: NDArray[np.int64], seconds: float = inf, at_once: int = 1) -> Probe:
    """Search from `COLUMNS` neighbouring roots of a run at one place or several.

    The places are the middles of equal stretches of `ordered`; its first and last roots often reach little. A search
    ends after the level at which it has looked at a small part of the run's edges. On the host `at_once` searches run
    at a time, each with 40 bytes a vertex, and all end after so many seconds; on a device a search is one launch.
    """
    searches = min(max(1, len(ordered) // tuning.PROBE_ROOTS), tuning.PROBE_SEARCHES)
    middles = (2 * np.arange(searches) + 1) * len(ordered) // (2 * searches) // COLUMNS * COLUMNS
    groups = [graph.position[ordered[first : first + COLUMNS]] for first in middles.tolist()]
    most, end = int(tuning.PROBE_SHARE * graph.nnz * len(ordered)), monotonic() + seconds
    counts = _count_searches(graph.reordered, groups, most, seconds, at_once)
    visits, edges, pairs, pair_edges, levels = (int(sum(of)) for of in zip(*counts, strict=True))
    is_cut = monotonic() > end or edges > searches * most
    return Probe(len(ordered), sum(map(len, groups)), searches, visits, edges, pairs, pair_edges, levels, is_cut)


def count_search(graph: Graph, roots: NDArray[np.int64], most: int) -> Any:
    """Return visits, edges, pairs, pair_edges and levels of one search, from at most `COLUMNS` vertices."""
    return _count_searches(graph, [roots], most, inf, 1)[0]


def _count_searches(
    graph: Graph, groups: list[NDArray[np.int64]], most: int, seconds: float, at_once: int
) -> list[Any]:
    if graph.is_on_device:
        return [_count_on_device(graph, roots, most) for roots in groups]
    rows = csr(graph.indptr, graph.indices)
    searches = [(roots,) for roots in groups]

    def search(flag: NDArray[np.uint8]) -> list[Any]:
        return share(core.probe_hops, searches, (rows,), (most, flag), threads=at_once)

    return until_stopped(search, graph.n + graph.nnz, seconds)


def _count_on_device(graph: Graph, roots: NDArray[np.int64], most: int) -> Any:
    import cupy as cp

    from lagbc.cuda.kernel import THREADS, resident_blocks
    from lagbc.methods.gpu.kernels import PROBE

    kernel = PROBE.kernel("probe")
    counts = cp.zeros(5, np.uint64)
    kernel(
        (resident_blocks(THREADS, kernel),),
        THREADS,
        n=graph.n,
        columns=len(roots),
        most=most,
        indptr=graph.indptr,
        indices=graph.indices,
        roots=cp.asarray(roots.astype(np.int32)),
        found=cp.zeros((2, graph.n), np.uint64),
        seen=cp.zeros(graph.n, np.uint64),
        queues=cp.empty((2, graph.n), np.int32),
        sizes=cp.zeros(3, np.int32),
        edges=cp.zeros(3, np.uint64),
        counts=counts,
        barrier=cp.zeros(1, np.uint32),
    )
    return counts.get()
