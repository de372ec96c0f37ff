"""The work of a run from the junctions of a bicomponent, counted before the run, and before the contraction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.reduce.piece import Piece


class Work(NamedTuple):
    """The work of summing a contracted bicomponent."""

    junctions: int  # roots that are swept forward and backward
    edges: int  # undirected edges of the contracted graph
    far_columns: int  # columns that are swept forward only
    # pairs of a chain's end and a junction or chain that it may lead to, and of a root and a chain: some nanoseconds
    # each
    evaluations: int


def find_junctions(piece: Piece) -> NDArray[np.bool_]:
    """Return a mask of the junctions: vertices of degree 3 or more, or with several members; of a cycle, any two."""
    are_junctions: NDArray[np.bool_] = piece.graph.out_degrees >= 3
    if piece.class_sizes is not None:
        are_junctions |= piece.class_sizes > 1
    are_junctions[np.flatnonzero(~are_junctions)[: max(0, 2 - np.count_nonzero(are_junctions))]] = True
    return are_junctions


def expect_work(piece: Piece) -> Work:
    """Predict the work of a bicomponent, in O(n), without contracting it.

    Parallel chains count as edges of their own, and far columns not at all.
    """
    graph, are_junctions = piece.graph, find_junctions(piece)
    inside = np.flatnonzero(~are_junctions)
    first = graph.indptr[inside]
    # A chain with k vertices inside has k - 1 edges between these, and 2 to its ends.
    between = sum(int(np.count_nonzero(~are_junctions[graph.indices[first + k]])) for k in (0, 1)) // 2
    junctions, chains = graph.n - len(inside), len(inside) - between
    return Work(junctions, graph.nnz // 2 - len(inside), 0, count_evaluations(junctions, junctions, chains))


def count_evaluations(junctions: int, rows: int, chains: int) -> int:
    """Count the evaluations of streams between chains with vertices inside, rows and roots."""
    return 2 * chains * (rows + chains) + junctions * chains
