"""Twins: vertices with the same edges are merged into one that stands for all of them.

Twins have equal edges, lengths and directions, apart from each other: none between them (an open class), or all, both
ways and of one length (a closed class). To exchange two of them changes no distance. So a shortest path between two
vertices outside a class Z meets it at most once, and as well in any of its members; and a path from or to a member
meets no other member. With the parts p of Z, each of which may already be several vertices,

    m = sum of m_p,   S = sum of S_p,   T = sum of T_p,   F(p) = extra(p) + F(Z) m_p / m

Pairs of different parts of Z are not in the merged graph: D = S T - sum of S_p T_p in all. With o and i the smallest
lengths of an edge from Z and to Z, and l the length of the edges inside a closed class, they go

    inside              where l <= o + i: one way,
    by neighbours z     with both lengths the smallest, where Z is open, or l >= o + i: m_z ways each,

so that extra(z) = D m_z / (number of ways). In hops a closed class has l = 1 < 2. A directed class may have no such z:
its pairs then go round by a longer cycle, unknown here, and the class is left as it is; but not if there is no way
back at all, or D is 0.

One round is enough: classes of both kinds are merged at once, as no vertex is in two. Merging the new twins of the
merged graph again gained 2 % of the work at most.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import in_phase
from lagbc.graph.graph import Graph
from lagbc.native import core, csr
from lagbc.reduce.blocks import find_strong
from lagbc.reduce.piece import Piece, Scores, check_range


class Classes(NamedTuple):
    """The classes of twins of a piece: the way from the sums of the merged piece to those of the piece."""

    extra: Scores  # (n,): the demand through each vertex between twins
    of_class: NDArray[np.int64]  # (n,): the vertex that each vertex is merged into
    share: Scores  # (n,): m_p / m
    merged: int  # count of classes of two vertices or more

    def scores(self, merged: Scores) -> Scores:
        """Return F of the piece, from F of the merged piece."""
        return self.extra + merged[self.of_class] * self.share


@in_phase("order")
def merge(piece: Piece) -> tuple[Piece, Classes | None]:
    """Merge the twins of a piece, on the host; O(n + nnz), nothing is swept. Without twins it is the piece itself.

    The piece may have members, and its twins any sources and targets. Vertices of the merged piece are the classes, in
    the order of the smallest of each; it has no `vertices` and `edges`, as sums of edges differ among the edges between
    two classes. In hops, and with whole lengths, scores are exact but for rounding; with other lengths, ties of paths
    between twins of one class may fall otherwise. OverflowError tells of weights beyond `check_range`.
    """
    check_range(piece)
    graph = piece.graph
    out: Any
    into: Any  # of the same type
    out, into = graph.native
    first, closed = _find_classes(out, into)
    class_sizes = np.ones(graph.n) if piece.class_sizes is None else piece.class_sizes
    extra, unknown = core.pairs_inside(out, into, first, closed, piece.sources, piece.targets, class_sizes)
    if unknown.any():
        _split_classes(first, unknown & _has_way_back(graph))
    kept = first == np.arange(graph.n)
    count = int(np.count_nonzero(np.bincount(first, minlength=graph.n) > 1))
    if not count:
        return piece, None
    of_class = (np.cumsum(kept) - 1)[first]

    def summed(values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum over the vertices of each class."""
        return np.bincount(of_class, values).astype(np.float64, copy=False)

    merged = Piece(_induce(graph, kept), summed(piece.sources), summed(piece.targets), summed(class_sizes))
    return merged, Classes(extra, of_class, class_sizes / summed(class_sizes)[of_class], count)


def _has_way_back(graph: Graph) -> NDArray[np.bool_]:
    """Whether each vertex is on a cycle."""
    strong = find_strong(np.array([0, graph.n]), graph.indptr, graph.indices)
    on_cycle: NDArray[np.bool_] = np.diff(strong.member_ptr)[strong.component] > 1
    return on_cycle


def _split_classes(first: NDArray[Any], classes: NDArray[np.bool_]) -> None:
    """Split some classes, named by their first vertex, into single vertices."""
    apart = np.flatnonzero(classes[first])
    first[apart] = apart


def _find_classes(out: Any, into: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Find the smallest vertex of each one's class, itself where it is alone, and whether that is closed; O(n + nnz).

    An *open* class has no edge between two of its vertices; a *closed* one has all, both ways and of one length. No
    vertex is in two classes.
    """
    keys = core.sum_keys(out, into)
    first = core.join_open(out, into, keys)
    return first, core.join_closed(out, into, keys, first)


def _induce(graph: Graph, kept: NDArray[np.bool_]) -> Graph:
    """Return the subgraph of the first vertex of each class: the graph of classes, as twins have equal edges."""
    position = (np.cumsum(kept) - 1).astype(graph.indices.dtype)
    indptr, indices, lengths = core.take_kept(csr(*graph.csr), kept, position)
    return Graph(indptr, indices, graph.directed, lengths if graph.weighted else None)
