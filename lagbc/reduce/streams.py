"""Demand between vertices inside chains, streamed over all chains for each junction that it leaves by.

``core.leave_chains`` and ``core.enter_chains`` make M(a, v), the demand that a sweep from root a carries to v, and the
demand that leaves each vertex inside a chain by either end: lagbc/native/kernels/reduce/streams.h. Each pair of
vertices is met from both of its ends. M takes it once a direction; the other sums have both directions together, as
entering demand equals, by symmetry, leaving demand. Here are the records that they read and write.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Ways(NamedTuple):
    """The chains with vertices inside, as compiled code reads them: seen from either end.

    Arrays of two rows have the chains from their first ends on, and from their second. Vertices inside chain c are
    ``starts[c]:starts[c + 1]``, number i of a row being the i-th from that end; its sums of the first 0, 1, ... of them
    begin at ``starts[c] + c``. Half 2 c + side is chain c seen from an end.

    Attributes
    ----------
    ends : ndarray of int64, shape (2, chains)
        Rows of the contracted graph.
    lengths : ndarray of float64, shape (chains,)
    starts : ndarray of int64, shape (chains + 1,)
    in_hops : bool
        Whether all edges are of length 1.
    distances : ndarray of float64, shape (2, inside)
        From the end.
    sources, targets : ndarray of float64, shape (2, inside)
        S and T of the vertices inside.
    source_sums, target_sums : ndarray of float64, shape (2, inside + chains)
    row_sources, row_targets : ndarray of float64, shape (rows,)
        S and T of the junctions, 0 for midpoints.
    halves : ndarray of int64, shape (2 * chains,)
        Sorted by their first row, and then by their last.
    first_halves : ndarray of int64, shape (rows + 1,)
    """

    ends: Any
    lengths: Any
    starts: Any
    in_hops: bool
    distances: Any
    sources: Any
    targets: Any
    source_sums: Any
    target_sums: Any
    row_sources: Any
    row_targets: Any
    halves: Any
    first_halves: Any


class Flows(NamedTuple):
    """Demand, both directions together, at the vertices inside chains; zeros at first.

    Attributes
    ----------
    out : ndarray of float64, shape (2, inside)
        From each vertex by that end to other chains and to junctions; each row seen from its own end.
    around : ndarray of float64, shape (2, inside)
        From each vertex by that end to vertices of its own chain; both rows seen from the first end.
    within : ndarray of float64, shape (inside,)
        Within the chain, with the vertex in its interior.
    onward : ndarray of float64, shape (inside,)
        Within the chain, along the edge from the vertex to the next one.
    """

    out: Any
    around: Any
    within: Any
    onward: Any

    @classmethod
    def zeros(cls, inside: int) -> Flows:
        """Make room for `inside` vertices."""
        return cls(np.zeros((2, inside)), np.zeros((2, inside)), np.zeros(inside), np.zeros(inside))
