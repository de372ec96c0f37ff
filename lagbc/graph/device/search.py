"""Breadth-first search, hubs and weakly connected components on the device."""

from __future__ import annotations

from typing import Any

import cupy as cp
import numpy as np

from lagbc import tuning
from lagbc.cuda.compiler import THREADS, resident_blocks
from lagbc.graph.device.csr import rows_of
from lagbc.graph.device.kernels import BREADTH_FIRST, ORDER
from lagbc.graph.device.sort import offsets


def weak_components(indptr: Any, indices: Any) -> Any:
    """Find the weakly connected components: a number (int32) a vertex, from 0 in the order of their first vertices.

    The ends of all edges are joined at once in trees, whose roots are their smallest vertices.
    """
    n, nnz = len(indptr) - 1, len(indices)
    labels, flags, components = cp.empty(n, np.int32), cp.empty(n, np.uint32), cp.empty(n, np.int32)
    ORDER.launch("label_vertices", n, n=n, labels=labels)
    ORDER.launch("join_ends", nnz, count=nnz, rows=rows_of(indptr, indices), indices=indices, labels=labels)
    ORDER.launch("flatten_trees", n, n=n, labels=labels, flags=flags)
    ORDER.launch("number_trees", n, n=n, labels=labels, before=offsets(flags), components=components)
    return components


def sizes_of(components: Any) -> Any:
    """Count the vertices (uint32) of each component."""
    n = len(components)
    sizes = cp.zeros(n, np.uint32)
    ORDER.launch("count_members", n, n=n, components=components, sizes=sizes)
    found = int(find_extent(components)[0]) + 1 if n else 0
    return sizes[:found]


def widest_row(indptr: Any, components: Any = None) -> tuple[int, int]:
    """Return the first of the longest rows, and the number of rows with entries, among all or the largest component."""
    if components is None:
        return _find_widest(indptr)
    # The largest component is the longest row where counts of vertices are taken for row lengths.
    return _find_widest(indptr, components, _find_widest(offsets(sizes_of(components)))[0])


def _find_widest(indptr: Any, components: Any = None, component: int = 0) -> tuple[int, int]:
    found = cp.zeros(2, np.uint64)
    n = len(indptr) - 1
    of = {"components": components, "component": component}
    ORDER.launch_striding("find_widest", n, n=n, indptr=indptr, found=found, **of)
    widest, filled = found.get().tolist()
    return 0xFFFFFFFF - (widest & 0xFFFFFFFF), filled


def find_extent(depth: Any) -> tuple[int, int]:
    """Return the largest of some depths, and the number of depths >= 0."""
    found = cp.zeros(2, np.uint64)
    ORDER.launch_striding("find_extent", depth.size, count=depth.size, depth=depth, found=found)
    deepest, reached = found.get().tolist()
    return deepest, reached


def depths(indptr: Any, indices: Any, roots: Any, depth: Any = None) -> Any:
    """Return the hop distance (int32) of each vertex from the nearest root, -1 beyond reach, in `depth` if it is given.

    The lower half of each 64-bit root is a vertex.
    """
    n = len(indptr) - 1
    depth = cp.empty(n, np.int32) if depth is None else depth
    depth.data.memset_async(0xFF, depth.nbytes)
    ORDER.launch("set_roots", len(roots), count=len(roots), roots=roots, depth=depth)
    search = BREADTH_FIRST.kernel("breadth_first")
    arrays = {"indptr": indptr, "indices": indices, "depth": depth}
    blocks = resident_blocks(THREADS, search)
    search((blocks,), THREADS, n=n, any=cp.zeros(3, np.int32), barrier=cp.zeros(1, np.uint32), **arrays)
    return depth


def search_from_hub(indptr: Any, indices: Any, components: Any) -> tuple[int, int, int]:
    """Search from the widest row: return the largest hop distance, the vertices in reach, and the rows with entries."""
    hub, connected = widest_row(indptr, components)
    depth, reached = find_extent(depths(indptr, indices, cp.asarray(np.array([hub], np.int64))))
    return depth, reached, connected


def hub_distances(indptr: Any, indices: Any) -> Any:
    """Return hop distances (hubs, n) from each vertex to the first `HUBS`; 0 where no path of `HUB_LEVELS` leads."""
    n = len(indptr) - 1
    hubs = min(tuning.HUBS, n)
    distances, frontiers, seen = cp.zeros((hubs, n), np.int32), cp.zeros((2, n), np.uint32), cp.zeros(n, np.uint32)
    own = np.uint32(1) << np.arange(hubs, dtype=np.uint32)
    for array in (frontiers[0], seen):
        array[:hubs].set(own)
    search = BREADTH_FIRST.kernel("hub_distances")
    search(
        (resident_blocks(THREADS, search),),
        THREADS,
        n=n,
        hubs=hubs,
        most=tuning.HUB_LEVELS,
        indptr=indptr,
        indices=indices,
        frontiers=frontiers,
        seen=seen,
        distances=distances,
        any=cp.zeros(3, np.int32),
        barrier=cp.zeros(1, np.uint32),
    )
    return distances
