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
    """

    ends: Any  # int64 (2, chains): rows of the contracted graph
    lengths: Any  # float64 (chains,)
    starts: Any  # int64 (chains + 1,)
    in_hops: bool  # whether all edges are of length 1
    distances: Any  # float64 (2, inside): from the end
    sources: Any  # sources, targets: float64 (2, inside): S and T of the vertices inside
    targets: Any
    source_sums: Any  # source_sums, target_sums: float64 (2, inside + chains)
    target_sums: Any
    row_sources: Any  # row_sources, row_targets: float64 (rows,): S and T of the junctions, 0 for midpoints
    row_targets: Any
    halves: Any  # int64 (2 * chains,): sorted by their first row, and then by their last
    first_halves: Any  # int64 (rows + 1,)


class Flows(NamedTuple):
    """Demand, both directions together, at the vertices inside chains; zeros at first."""

    # float64 (2, inside): from each vertex by that end to other chains and to junctions; each row seen from its own end
    out: Any
    # float64 (2, inside): from each vertex by that end to vertices of its own chain; both rows seen from the first end
    around: Any
    within: Any  # float64 (inside,): within the chain, with the vertex in its interior
    onward: Any  # float64 (inside,): within the chain, along the edge from the vertex to the next one

    @classmethod
    def zeros(cls, inside: int) -> Flows:
        """Make room for `inside` vertices."""
        return cls(np.zeros((2, inside)), np.zeros((2, inside)), np.zeros(inside), np.zeros(inside))
