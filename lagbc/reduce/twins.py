"""Twins: vertices with the same edges are merged into one that stands for all of them.

Twins have equal edges, of equal lengths and directions, to all other vertices. Among them are no edges (an open class),
or all, both ways and of one length (a closed class). To exchange two twins changes no distance. So a shortest path
between two vertices outside a class Z meets Z at most once, in any of its vertices; and a path from or to a vertex of Z
meets no other one. The vertices p of Z may have members from a merge before. With

    m = sum of m_p,   S = sum of S_p,   T = sum of T_p,   F(p) = extra(p) + F(Z) m_p / m

the pairs of different vertices of Z are not in the merged graph: D = S T - sum of S_p T_p in all. With o and i the
smallest lengths of an edge from Z and to Z, and l the length of the edges inside a closed class, these pairs go

    inside              where l <= o + i: one way,
    by neighbours z     with both lengths the smallest, where Z is open, or l >= o + i: m_z ways each,

so that extra(z) = D m_z / (number of ways). In hops a closed class has l = 1 < 2. A directed class may have no such z.
Its pairs then take a longer cycle, unknown here, and the class is not merged, unless there is no cycle or D is 0.

Classes of both kinds are merged at once, as no vertex is in two. A second merge, of the new twins in the merged graph,
gained 2 % of the work at most.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import in_phase
from lagbc.graph.graph import Graph
from lagbc.native import core, parts_of_rows, share
from lagbc.reduce.blocks import find_strong
from lagbc.reduce.weighted import Scores, Weighted, check_range


class Classes(NamedTuple):
    """The classes of twins of a piece: the way from the scores of the merged piece to the scores of the piece."""

    extra: Scores  # (n,): the demand through each vertex between twins
    of_class: NDArray[np.int64]  # (n,): the vertex of the merged piece into which each vertex is merged
    share: Scores  # (n,): m_p / m
    merged: int  # count of classes of two vertices or more

    def scores(self, merged: Scores) -> Scores:
        """Return F of the piece, from F of the merged piece."""
        return self.extra + merged[self.of_class] * self.share


@in_phase("order")
def merge(piece: Weighted, most: float = np.inf) -> tuple[Weighted, Classes | None]:
    """Merge the twins of a piece, on the host; O(n + nnz), nothing is swept.

    Return the piece itself if it has no twins, or if more than a share `most` of its work would remain. Work is edges
    times roots that have edges. Vertices of the merged piece are the classes, in the order of the smallest vertex of
    each. In hops, and with whole lengths, scores are exact but for rounding; with other lengths, ties of paths between
    twins of one class may fall otherwise. OverflowError tells of weights beyond `check_range`.
    """
    check_range(piece)
    graph = piece.graph
    out: Any
    into: Any  # of the same type
    out, into = graph.native
    first, closed = find_classes(graph)
    class_sizes = np.ones(graph.n) if piece.class_sizes is None else piece.class_sizes
    extra, unknown = core.pairs_inside(out, into, first, closed, piece.sources, piece.targets, class_sizes)
    if unknown.any():
        strong = find_strong(np.array([0, graph.n]), graph.indptr, graph.indices)
        has_way_back = np.diff(strong.member_ptr)[strong.component] > 1
        apart = np.flatnonzero((unknown & has_way_back)[first])
        first[apart] = apart
    kept = first == np.arange(graph.n)
    count = int(np.count_nonzero(np.bincount(first, minlength=graph.n) > 1))
    if not count:
        return piece, None
    position = np.cumsum(kept) - 1
    of_class = position[first]

    def summed(values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum over the vertices of each class."""
        return np.bincount(of_class, values).astype(np.float64, copy=False)

    sources, taken = summed(piece.sources), (out, kept, position.astype(graph.indices.dtype))
    indptr = count_kept(graph, *taken)
    if _work(sources, indptr) > most * _work(piece.sources, graph.indptr):
        return piece, None
    merged = Weighted(take_kept(graph, *taken, indptr), sources, summed(piece.targets), summed(class_sizes))
    return merged, Classes(extra, of_class, class_sizes / summed(class_sizes)[of_class], count)


def _work(sources: Scores, indptr: NDArray[np.int64]) -> float:
    """Return roots with edges, times edges."""
    return float(np.count_nonzero((sources > 0) & (indptr[1:] > indptr[:-1]))) * float(indptr[-1])


def find_classes(graph: Graph) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the smallest vertex of the class of each vertex, and whether each is in a closed class."""
    out: Any
    into: Any  # of the same type
    (out, into), parts = graph.native, parts_of_rows(graph.indptr)
    keys, closed = np.zeros(graph.n, np.uint64), np.zeros(graph.n, np.bool_)
    share(core.sum_keys, parts, (out, into), (keys,))
    first = core.join_open(out, into, keys)
    share(core.join_closed, parts, (out, into, keys), (first, closed))
    closed[first[closed]] = True
    return first, closed


def count_kept(graph: Graph, out: Any, kept: NDArray[np.bool_], position: NDArray[Any]) -> NDArray[np.int64]:
    """Return the row pointers of the kept vertices under their positions; `out` is the graph as kernels take it."""
    indptr = np.zeros(int(np.count_nonzero(kept)) + 1, np.int64)
    share(core.count_kept, parts_of_rows(graph.indptr), (out, kept, position), (indptr,))
    return np.cumsum(indptr, out=indptr)


def take_kept(graph: Graph, out: Any, kept: NDArray[np.bool_], position: NDArray[Any], indptr: Any) -> Graph:
    """Return the graph of the kept vertices, with the row pointers that `count_kept` returned."""
    indices = np.empty(indptr[-1], graph.indices.dtype)
    lengths = np.empty(len(indices)) if graph.weighted else None
    share(core.take_kept, parts_of_rows(graph.indptr), (out, kept, position), (indptr, indices, lengths))
    return Graph(indptr, indices, graph.directed, lengths)
