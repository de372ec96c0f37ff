"""Vertex orders that make sweeps fast: hubs first, or neighbours near each other.

Both return ``order``, the vertex that takes each position: row ``i`` of the reordered matrix is row ``order[i]``.
All work is SciPy and NumPy on whole arrays; there is no loop over vertices.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

Order = NDArray[np.int64]


def degree_order(degrees: NDArray[np.int64]) -> Order:
    """Order vertices by falling degree, ties by number; vertices without edges come last."""
    return np.argsort(-degrees, kind="stable")


def proximity_order(pattern: csr_array, leaf: int = 64) -> Order:
    """Order vertices so that each run of `leaf` of them is a compact piece of the graph.

    Nested bisection: every piece is cut across its longest extent, at the median of the BFS order from an end of it
    (a pseudo-peripheral vertex), down to `leaf` vertices. The roots of one batch then see a vertex at nearly the same
    distance, so that its row is live at few levels.

    Parameters
    ----------
    pattern : csr_array, shape (n, n)
        Symmetric pattern.
    leaf : int
        Vertices in a piece; the cuts are at multiples of it.

    Returns
    -------
    order : ndarray of int64, shape (n,)

    Notes
    -----
    O((n + nnz) log(n / leaf)): all pieces of one depth are searched by one call of SciPy's BFS, from an extra vertex
    joined to a seed in each piece.
    """
    n = pattern.shape[0]
    rows = np.repeat(np.arange(n, dtype=pattern.indices.dtype), np.diff(pattern.indptr))
    order = np.arange(n, dtype=np.int64)
    starts = np.zeros(1, np.int64)
    while True:
        sizes = np.diff(starts, append=n)
        to_cut = sizes > leaf
        if not to_cut.any():
            return order
        piece = np.empty(n, np.int64)
        piece[order] = np.repeat(np.arange(len(starts)), sizes)
        inside = piece[rows] == piece[pattern.indices]
        pieces = csr_array(
            (np.ones(np.count_nonzero(inside), np.bool_), (rows[inside], pattern.indices[inside])), shape=(n, n)
        )
        # From any vertex to a far end of its piece, then the order that counts: from that end to the other.
        order, reached = _bfs_order(pieces, piece, order, starts, starts[to_cut])
        order, _ = _bfs_order(pieces, piece, order, starts, (starts + reached - 1)[to_cut])
        half = leaf * ((-(-sizes // leaf) + 1) // 2)
        starts = np.sort(np.concatenate([starts, (starts + half)[to_cut]]))


def _bfs_order(
    pieces: csr_array, piece: NDArray[np.int64], order: Order, starts: NDArray[np.int64], seeds: NDArray[np.int64]
) -> tuple[Order, NDArray[np.int64]]:
    """Reorder each piece by BFS from the vertex at its seed position; return the order and how many were reached.

    Pieces without a seed keep their order, as do the vertices that no seed reaches, which come last in their piece.
    """
    n = len(order)
    indptr = np.append(pieces.indptr, pieces.indptr[-1] + len(seeds))
    indices = np.concatenate([pieces.indices, order[seeds]])
    joined = csr_array((np.ones(len(indices), np.bool_), indices, indptr), shape=(n + 1, n + 1))
    found = breadth_first_order(joined, n, directed=True, return_predecessors=False)[1:]
    rank = np.full(n, n, np.int64)
    rank[found] = np.arange(len(found))
    position = np.empty(n, np.int64)
    position[order] = np.arange(n)
    order = np.lexsort((position, rank, piece))
    return order, np.add.reduceat((rank[order] < n).astype(np.int64), starts)


def bfs_depth(pattern: csr_array, root: int) -> int:
    """Largest hop distance from `root`: a lower bound of the diameter of its component."""
    found, parent = breadth_first_order(pattern, root, directed=True)
    position = np.empty(pattern.shape[0], np.int64)
    position[found] = np.arange(len(found))
    # Pointer jumping over the BFS tree: depth[v] counts the steps to ancestor[v], the root being its own.
    ancestor = position[np.where(found == root, root, parent[found])]
    depth = (found != root).astype(np.int64)
    while ancestor.any():
        depth += depth[ancestor]
        ancestor = ancestor[ancestor]
    return int(depth.max())
