"""Where the vertices and edges of blocks lie: one block after the other, each with a graph of its own.

A vertex has a *copy* in every block that it is in. The copies of a block lie together, in the order of the vertices,
and so do their rows, whose columns are copies, too: a block-diagonal matrix in canonical rows, and nothing is sorted to
make it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from lagbc.native import core


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


def lay_out(home: Any, attach: Any) -> Copies:
    """Make the `Copies` of blocks, by what ``core.find_blocks`` returns; O(n + blocks)."""
    ptr, vertices, at_home, at_attach, hung_ptr, hung = core.lay_out(home, attach)
    return Copies(ptr, vertices, home, at_home, attach, at_attach, hung_ptr, hung)
