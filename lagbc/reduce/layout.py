"""The places of vertices and edges of bicomponents: one after the other, each with a graph of its own.

A vertex has a *copy* in every bicomponent that it is in. The copies of a bicomponent lie together, in the order of the
vertices, and so do their rows, whose columns are copies, too: a block-diagonal matrix in canonical rows, made without
sorting. No arc leaves a bicomponent, so that its strong components are numbered one after the other.

References
----------
R. Tarjan, Depth-first search and linear graph algorithms, SIAM Journal on Computing 1 (1972) 146-160.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from lagbc.native import core, until_stopped


class Copies(NamedTuple):
    """The vertices of bicomponents."""

    ptr: Any  # int64 (blocks + 1,): the copies of bicomponent b are ``ptr[b]`` to ``ptr[b + 1]``
    vertices: Any  # (copies,): the vertex of each copy, ascending in a bicomponent
    # (n,): the bicomponent of which a vertex is a member, -1 for none; see lagbc/native/kernels/reduce/biconnected.h
    home: Any
    at_home: Any  # (n,): its copy there, -1 if there is none
    attach: Any  # (blocks,): the attachment of each bicomponent: its vertex that is no member of it
    at_attach: Any  # (blocks,): the copy of the attachment there
    # hung_ptr, hung: (n + 1,) and (blocks,): the bicomponents that each vertex is the attachment of, ascending
    hung_ptr: Any
    hung: Any


class Rows(NamedTuple):
    """The graphs of bicomponents, and the weights of their vertices."""

    ptr: Any  # int64 (blocks + 1,): as in `Copies`
    # indptr, indices: (copies + 1,) and (nnz,): rows of the copies, columns being copies of the same bicomponent
    indptr: Any
    indices: Any
    weights: Any  # float64 (nnz,): lengths of the edges
    sources: Any  # sources, targets: float64 (copies,)
    targets: Any

    @property
    def are_roots(self) -> Any:
        """A mask of the copies with sources and edges; shape (copies,)."""
        return (self.sources > 0) & (self.indptr[1:] > self.indptr[:-1])

    def vertices(self, block: int) -> slice:
        """Return the copies of a bicomponent."""
        return slice(int(self.ptr[block]), int(self.ptr[block + 1]))

    def edges(self, block: int) -> slice:
        """Return the entries of a bicomponent."""
        return slice(int(self.indptr[self.ptr[block]]), int(self.indptr[self.ptr[block + 1]]))


class Strong(NamedTuple):
    """The strong components of all bicomponents."""

    # int32 or int64 (copies,): The component of each copy. An arc leads to the same component or to one with a smaller
    # number.
    component: Any
    component_ptr: Any  # int64 (blocks + 1,): the first component of each bicomponent
    member_ptr: Any  # member_ptr, members: (components + 1,) and (copies,): the copies of each component, ascending
    members: Any


def lay_out(home: Any, attach: Any) -> Copies:
    """Make the `Copies` of bicomponents from the result of ``core.find_blocks``; O(n + blocks)."""
    ptr, vertices, at_home, at_attach, hung_ptr, hung = core.lay_out(home, attach)
    return Copies(ptr, vertices, home, at_home, attach, at_attach, hung_ptr, hung)


def find_strong(ptr: Any, indptr: Any, indices: Any) -> Strong:
    """Find the strong components of the bicomponents with these arrays of `Rows`; O(copies + nnz)."""
    return Strong(*until_stopped(partial(core.find_strong, ptr, indptr, indices), len(indices)))


def each_connected(copies: Copies) -> Strong:
    """Make the strong components of an undirected graph: each bicomponent is one."""
    blocks, members = len(copies.attach), np.arange(len(copies.vertices), dtype=copies.vertices.dtype)
    component = np.repeat(members[:blocks], np.diff(copies.ptr))
    return Strong(component, np.arange(blocks + 1), copies.ptr, members)
