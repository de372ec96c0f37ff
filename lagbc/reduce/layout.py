"""Where the vertices and edges of blocks lie: one block after the other, each with a graph of its own.

A vertex has a *copy* in every block that it is in. The copies of a block lie together, in the order of the vertices,
and so do their rows, whose columns are copies, too: a block-diagonal matrix in canonical rows, and nothing is sorted to
make it.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lagbc.cpu.compile import njit


class Copies(NamedTuple):
    """The vertices of blocks.

    Attributes
    ----------
    ptr : ndarray of int64, shape (blocks + 1,)
        The copies of block b are ``ptr[b]`` to ``ptr[b + 1]``.
    vertices : ndarray of int, shape (copies,)
        Which vertex each copy is of, ascending in a block.
    home : ndarray of int, shape (n,)
        The block that a vertex is a member of, -1 for none; see lagbc/native/kernels/reduce/biconnected.h.
    at_home : ndarray of int, shape (n,)
        Its copy there, -1 if there is none.
    attach : ndarray of int, shape (blocks,)
        The vertex of each block that is no member of it.
    at_attach : ndarray of int, shape (blocks,)
        Its copy there.
    hung_ptr, hung : ndarrays, shapes (n + 1,) and (blocks,)
        The blocks that each vertex is the attachment of, ascending.
    """

    ptr: Any
    vertices: Any
    home: Any
    at_home: Any
    attach: Any
    at_attach: Any
    hung_ptr: Any
    hung: Any


class Rows(NamedTuple):
    """The graphs of blocks, and the weights of their vertices.

    Attributes
    ----------
    ptr : ndarray of int64, shape (blocks + 1,)
        As of `Copies`.
    indptr, indices : ndarrays, shapes (copies + 1,) and (nnz,)
        Rows of the copies, columns being copies of the same block.
    weights : ndarray of float64, shape (nnz,), or None
        Lengths of the edges.
    sources, targets : ndarrays of float64, shape (copies,)
    """

    ptr: Any
    indptr: Any
    indices: Any
    weights: Any
    sources: Any
    targets: Any

    @property
    def are_roots(self) -> Any:
        """Which copies have sources and edges; shape (copies,)."""
        return (self.sources > 0) & (self.indptr[1:] > self.indptr[:-1])

    def vertices(self, block: int) -> slice:
        """Return the copies of a block."""
        return slice(int(self.ptr[block]), int(self.ptr[block + 1]))

    def edges(self, block: int) -> slice:
        """Return the entries of a block."""
        return slice(int(self.indptr[self.ptr[block]]), int(self.indptr[self.ptr[block + 1]]))


@njit
def lay_out(home, attach):
    """Make the `Copies` of blocks, by `find_blocks`; O(n + blocks)."""
    n, blocks = len(home), len(attach)
    ptr, hung_ptr = np.zeros(blocks + 1, np.int64), np.zeros(n + 1, np.int64)
    for v in range(n):
        if home[v] >= 0:
            ptr[home[v] + 1] += 1
    for b in range(blocks):
        ptr[b + 1] += ptr[b] + 1
        hung_ptr[attach[b] + 1] += 1
    for v in range(n):
        hung_ptr[v + 1] += hung_ptr[v]
    hung, ends = np.empty(blocks, attach.dtype), hung_ptr[:-1].copy()
    for b in range(blocks):
        hung[ends[attach[b]]] = b
        ends[attach[b]] += 1
    vertices, at_home, at_attach = np.empty(ptr[-1], home.dtype), np.full(n, -1, np.int64), np.empty(blocks, np.int64)
    ends = ptr[:-1].copy()
    for v in range(n):
        b = home[v]
        if b >= 0:
            at_home[v], vertices[ends[b]] = ends[b], v
            ends[b] += 1
        for k in range(hung_ptr[v], hung_ptr[v + 1]):
            b = hung[k]
            at_attach[b], vertices[ends[b]] = ends[b], v
            ends[b] += 1
    return Copies(ptr, vertices, home, at_home, attach, at_attach, hung_ptr, hung)


@njit
def lay_rows(indptr, indices, copies, columns, places):
    """Make the rows of all blocks.

    An edge u -> v is in the block that both ends are members of; else one of them is the attachment of the other's.

    Parameters
    ----------
    indptr, indices : ndarrays
        The graph, in canonical rows; it may lack one direction of an edge of the pattern whose blocks these are.
    copies : Copies
    columns : ndarray of int, shape (nnz,)
        Written: the columns of the rows.
    places : ndarray of int64, shape (nnz,), or None
        Written: which edge of the graph each edge of the rows is.

    Returns
    -------
    indptr : ndarray of int64, shape (copies + 1,)
    """
    home, at_home, attach, at_attach = copies.home, copies.at_home, copies.attach, copies.at_attach
    ends = np.zeros(len(copies.vertices) + 1, np.int64)
    for u in range(len(home)):
        inside, here = indptr[u + 1] - indptr[u], home[u]
        if copies.hung_ptr[u] < copies.hung_ptr[u + 1]:  # else all edges are in the block that u is a member of
            for e in range(indptr[u], indptr[u + 1]):
                there = home[indices[e]]
                if there != here and there >= 0 and attach[there] == u:
                    ends[at_attach[there] + 1] += 1
                    inside -= 1
        if here >= 0:
            ends[at_home[u] + 1] = inside
    for x in range(len(copies.vertices)):
        ends[x + 1] += ends[x]
    rows = ends.copy()
    for u in range(len(home)):
        here = home[u]
        at = at_home[u] if here >= 0 else 0  # not read where there is no home
        for e in range(indptr[u], indptr[u + 1]):
            v = indices[e]
            there, x = home[v], at
            if there == here:
                y = at_home[v]
            elif there >= 0 and attach[there] == u:
                x, y = at_attach[there], at_home[v]
            else:
                y = at_attach[here]
            k = ends[x]
            ends[x] = k + 1
            columns[k] = y
            if places is not None:
                places[k] = e
    return rows
