"""Breadth-first search and weakly connected components."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from lagbc.cuda import compiler
from lagbc.graph.csr import module_of, rows_of

# Searches on a device.
BREADTH_FIRST = compiler.Source("graph/order/breadth_first.cu", ("cuda/common.cuh", "cuda/group.cuh"))


def weak_components(indptr: Any, indices: Any) -> Any:
    """Weakly connected component of each vertex, numbered from 0 in the order of their first vertices.

    On a device each component's labels are hooked to smaller neighbouring ones, then shortened, until none is left to
    hook: Shiloach and Vishkin (1982).
    """
    n, nnz = len(indptr) - 1, len(indices)
    if isinstance(indptr, np.ndarray):
        pattern = csr_array((np.ones(nnz, np.bool_), indices, indptr), shape=(n, n))
        return connected_components(pattern, directed=True, connection="weak")[1]
    xp = module_of(indptr)
    rows = rows_of(indptr, indices)
    labels = xp.arange(n, dtype=np.int32)
    while True:
        a, b = labels[rows], labels[indices]
        if not (a != b).any():
            return xp.unique(labels, return_inverse=True)[1]
        xp.minimum.at(labels, xp.maximum(a, b), xp.minimum(a, b))
        while (labels[labels] != labels).any():
            labels = labels[labels]


def bfs_extent(indptr: Any, indices: Any, root: int) -> tuple[int, int]:
    """Return the largest hop distance from `root`, a lower bound of the diameter, and how many vertices it reaches."""
    distances = hop_distances(indptr, indices, module_of(indptr).array([root]))
    return int(distances.max()), int((distances > 0).sum()) + 1


def hop_distances(indptr: Any, indices: Any, roots: Any) -> Any:
    """Hop distance of each vertex from the nearest of some roots; 0 where no root is in reach."""
    if not isinstance(indptr, np.ndarray):
        return _hop_distances_on_device(indptr, indices, roots)
    n = len(indptr) - 1
    # SciPy searches from one vertex: an extra one, n, joined to all roots.
    indptr = np.append(indptr, indptr[-1] + len(roots)).astype(indices.dtype if len(indices) < 2**31 else np.int64)
    indices = np.concatenate([indices, roots.astype(indices.dtype)])
    joined = csr_array((np.ones(len(indices), np.bool_), indices, indptr), shape=(n + 1, n + 1))
    found, parent = breadth_first_order(joined, n, directed=True)
    position = np.empty(n + 1, np.int64)
    position[found] = np.arange(len(found))
    # Pointer jumping over the BFS tree, in BFS order: depth[i] counts the steps to ancestor[i]; n's is itself.
    ancestor = np.zeros(len(found), np.int64)
    ancestor[1:] = position[parent[found[1:]]]
    depth = np.ones(len(found), np.int64)
    depth[0] = 0
    while ancestor.any():
        depth += depth[ancestor]
        ancestor = ancestor[ancestor]
    distances = np.zeros(n, np.int64)
    distances[found[1:]] = depth[1:] - 1
    return distances


def _hop_distances_on_device(indptr: Any, indices: Any, roots: Any) -> Any:
    xp = module_of(indptr)
    depth = xp.full(len(indptr) - 1, -1, np.int32)
    depth[roots] = 0
    kernel = compiler.load(BREADTH_FIRST, compiler.options({}), cooperative=True).get_function("breadth_first")
    blocks = compiler.resident_blocks(compiler.THREADS, kernel)
    arguments = (np.int32(len(depth)), indptr, indices, depth, xp.zeros(3, np.int32), xp.zeros(1, np.uint32))
    kernel((blocks,), (compiler.THREADS,), arguments)
    return xp.maximum(depth, 0).astype(np.int64)
