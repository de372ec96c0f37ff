"""Groups of roots that are at the same distances from the hubs of a graph of low diameter."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from lagbc.cuda import compiler
from lagbc.graph import tuning
from lagbc.graph.csr import module_of
from lagbc.graph.order.search import BREADTH_FIRST


def group_by_hubs(indptr: Any, indices: Any, vertices: Any) -> Any:
    """Group vertices that see the hubs of a graph, its first `HUBS` vertices, at the same distances.

    On a graph of few levels most shortest paths lead by the hubs, so that such vertices, as roots of one batch, see
    most others at the same levels, too: a row is live at fewer levels, in more columns at each.

    Parameters
    ----------
    indptr, indices : arrays
        Pattern, on the host or on a device.
    vertices : array of int64
        Where `indptr` is.

    Returns
    -------
    vertices : array of int64
        By their hop distances to the first hub, then to the second, and so on; in the order given where all agree.
    """
    distances = hub_distances(indptr, indices)[:, vertices]
    return vertices[module_of(indptr).lexsort(distances[::-1])]


def group_by_length(reverse: csr_array, vertices: Any) -> Any:
    """Group vertices as `group_by_hubs` does, where edges have lengths: by their distances to the first vertex.

    Parameters
    ----------
    reverse : csr_array
        Lengths of the reversed edges.
    vertices : array of int64

    Returns
    -------
    vertices : array of int64
        Those that do not reach the hub, then the nearest first. Few distances are alike, so that one hub is enough.
    """
    distances = dijkstra(reverse, indices=0)[vertices]
    return vertices[np.argsort(np.where(np.isfinite(distances), distances, -1.0), kind="stable")]


def hub_distances(indptr: Any, indices: Any) -> Any:
    """Hop distances from every vertex to each of the first `HUBS`; 0 where no path, of up to `HUB_LEVELS`, leads there.

    All are searched for at once, a bit each: a vertex joins a search when the head of one of its edges has. Shape
    (HUBS, n), or (n, n) if there are fewer vertices.
    """
    n = len(indptr) - 1
    hubs = min(tuning.HUBS, n)
    if not isinstance(indptr, np.ndarray):
        return _hub_distances_on_device(indptr, indices, hubs)
    distances = np.zeros((hubs, n), np.int32)
    frontier = np.zeros(n, np.uint16)
    frontier[:hubs] = 1 << np.arange(hubs)
    seen = frontier.copy()
    rows = np.flatnonzero(np.diff(indptr))
    for level in range(1, tuning.HUB_LEVELS + 1):
        joined = np.bitwise_or.reduceat(frontier[indices], indptr[rows]) & ~seen[rows]
        frontier[:] = 0
        frontier[rows] = joined
        seen |= frontier
        found = np.flatnonzero(frontier)
        if not len(found):
            break
        here = frontier[found] >> np.arange(hubs, dtype=np.uint16)[:, None] & 1
        distances[:, found] += level * here.astype(np.int32)
    return distances


def _hub_distances_on_device(indptr: Any, indices: Any, hubs: int) -> Any:
    xp = module_of(indptr)
    n = len(indptr) - 1
    distances = xp.zeros((hubs, n), np.int32)
    frontiers = xp.zeros((2, n), np.uint32)
    frontiers[0, :hubs] = xp.left_shift(xp.uint32(1), xp.arange(hubs, dtype=np.uint32))
    kernel = compiler.load(BREADTH_FIRST, compiler.options({}), cooperative=True).get_function("hub_distances")
    blocks = compiler.resident_blocks(compiler.THREADS, kernel)
    searches = frontiers, frontiers[0].copy(), distances
    sizes = np.int32(n), np.int32(hubs), np.int32(tuning.HUB_LEVELS)
    arguments = (*sizes, indptr, indices, *searches, xp.zeros(3, np.int32), xp.zeros(1, np.uint32))
    kernel((blocks,), (compiler.THREADS,), arguments)
    return distances
