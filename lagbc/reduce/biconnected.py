"""Blocks, the biconnected components of a symmetric pattern, by one depth-first search.

A block is a largest set of edges of which any two lie on a simple cycle; a single edge that is on none is one, too, a
bridge. Two blocks have at most one vertex in common, and every such cut vertex is common to all paths between them.

References
----------
J. Hopcroft and R. Tarjan, Algorithm 447: Efficient algorithms for graph manipulation, Communications of the ACM 16
(1973) 372-378.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

import numpy as np

from lagbc.cpu.compile import njit


@njit
def find_blocks(indptr, indices):
    """Find the blocks of a symmetric pattern; O(n + nnz), without recursion.

    Parameters
    ----------
    indptr, indices : ndarrays
        Compressed rows without loops.

    Returns
    -------
    home : ndarray, shape (n,), of the type of the columns
        The block of the edge from each vertex to its parent in the search; -1 for those where a search begins.
    attach : ndarray, shape (blocks,), of that type
        The vertex of each block nearest to where its search began, the only one that has another home. A block comes
        before that of its attachment's home.
    """
    n, none = len(indptr) - 1, indices.dtype.type(-1)
    found = np.full(n, none, indices.dtype)  # when a vertex was discovered
    home, attach = np.full(n, none, indices.dtype), np.empty(n, indices.dtype)
    low = np.empty(n, indices.dtype)  # the earliest vertex next to what was discovered from it on
    path, waiting = np.empty(n, indices.dtype), np.empty(n, indices.dtype)
    place = np.empty(n, np.int64)  # of the entry at which a vertex of the path goes on
    time = blocks = top = 0
    for root in range(n):
        if found[root] >= 0 or indptr[root] == indptr[root + 1]:
            continue
        v, depth, e = root, 0, indptr[root]
        found[v] = lowest = time
        time += 1
        while True:
            end, down = indptr[v + 1], False
            while e < end:
                w = indices[e]
                e += 1
                seen = found[w]
                if seen < 0:
                    down = True
                    break
                lowest = min(lowest, seen)
            if down:
                path[depth], place[v], low[v] = v, e, lowest
                depth += 1
                v, e = w, indptr[w]
                found[v] = lowest = time
                time += 1
                waiting[top] = v
                top += 1
                continue
            if depth == 0:
                break
            # The parent's edge back to v has no part in this: it leads to v, no earlier than v itself.
            depth -= 1
            child, below = v, lowest
            v = path[depth]
            e, lowest = place[v], low[v]
            if below < found[v]:
                lowest = min(lowest, below)
                continue
            while True:
                top -= 1
                home[waiting[top]] = blocks
                if waiting[top] == child:
                    break
            attach[blocks] = v
            blocks += 1
    return home, attach[:blocks].copy()
