"""Twins: vertices with the same edges are merged into one that stands for all of them.

Twins have equal edges, lengths and directions, apart from each other: none between them (an open class), or all, both
ways and of one length (a closed class). To exchange two of them changes no distance. So a shortest path between two
vertices outside a class Z meets it at most once, and as well in any of its members; and one from or to a member meets
no other member. With the parts p of Z, which may be several vertices each already,

    m = sum of m_p,   S = sum of S_p,   T = sum of T_p,   F(p) = extra(p) + F(Z) m_p / m

What is left are pairs of different parts of Z, which the graph that is left has not: D = S T - sum of S_p T_p in all.
With o and i the smallest lengths of an edge from Z and to Z, and l that of the edges inside a closed class, they go

    inside              where l <= o + i, which is one way,
    by neighbours z     with both lengths the smallest, where it is open, or l >= o + i: m_z ways each,

so that extra(z) = D m_z / (number of ways). In hops a closed class has l = 1 < 2. A directed class may have no such z:
then these pairs go round by a longer cycle, of which nothing is known here, and it is left as it is; but not if there
is no way back at all, or D is 0.

One round is enough: classes of both kinds are merged at once, as no vertex is in two, and merging again, where what is
left has new twins, gained 2 % of the work at most.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,assignment"

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.graph.graph import Graph
from lagbc.phases import in_phase
from lagbc.reduce.alike import find_classes
from lagbc.reduce.piece import Piece, Reduced, Scores, check_range
from lagbc.reduce.strong import find_strong


@dataclass(frozen=True, eq=False)
class Twins(Reduced):
    """What merging twins leaves: one piece, the same if there are none.

    Scores of edges are not made where vertices are merged: they differ among the edges between two classes.

    Attributes
    ----------
    count : int
        How many classes of two or more are merged.
    """

    count: int = field(kw_only=True)


@in_phase("order")
def merge(piece: Piece) -> Twins:
    """Merge the twins of a piece; O(n + nnz), nothing is swept.

    Parameters
    ----------
    piece : Piece
        On the host. It may have members, and its twins any sources, targets and members.

    Returns
    -------
    Twins
        The vertices of its piece are the classes, in the order of the smallest of each; `vertices` and `edges` are
        None, if any are merged. In hops, and with lengths that are whole numbers, scores are those of the graph but for
        rounding; of other lengths, ties of paths between twins of one class may fall in another way.

    Raises
    ------
    OverflowError
        Weights, or their sum, are not within 2**-400 to 2**400: the graph can only be swept as it is.
    """
    check_range(piece)
    graph, reverse = piece.graph, piece.graph.transpose
    backward: Any = (None, None, None) if reverse is graph else reverse.csr
    first, closed = find_classes(*graph.csr, *backward)
    members = np.ones(graph.n) if piece.members is None else piece.members
    extra, unknown = _pairs_inside(*graph.csr, *backward, first, closed, piece.sources, piece.targets, members)
    if unknown.any():
        _part(first, unknown & _has_way_back(graph))
    kept = first == np.arange(graph.n)
    count = int(np.count_nonzero(np.bincount(first, minlength=graph.n) > 1))
    if not count:
        return Twins((piece,), _of_the_one, _of_the_one, count=0)
    of_class = (np.cumsum(kept) - 1)[first]

    def summed(values: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(of_class, values).astype(np.float64, copy=False)

    left = Piece(_induce(graph, kept), summed(piece.sources), summed(piece.targets), summed(members))
    share = members / summed(members)[of_class]

    def finish(found: Sequence[Scores]) -> Scores:
        (of_classes,) = found
        scores: Scores = extra + of_classes[of_class] * share
        return scores

    return Twins((left,), finish, count=count)


def _of_the_one(found: Sequence[Scores]) -> Scores:
    (scores,) = found
    return scores


def _has_way_back(graph: Graph) -> NDArray[np.bool_]:
    """Whether each vertex is on a cycle."""
    strong = find_strong(np.array([0, graph.n]), graph.indptr, graph.indices)
    on_cycle: NDArray[np.bool_] = np.diff(strong.member_ptr)[strong.component] > 1
    return on_cycle


def _part(first: NDArray[Any], classes: NDArray[np.bool_]) -> None:
    """Let the vertices of some classes, named by the first, be alone again."""
    apart = np.flatnonzero(classes[first])
    first[apart] = apart


def _induce(graph: Graph, kept: NDArray[np.bool_]) -> Graph:
    """Return the graph of the first vertex of each class, which has one edge for those between two classes."""
    position = (np.cumsum(kept) - 1).astype(graph.indices.dtype)
    indptr, indices, lengths = _take(*graph.csr, kept, position)
    return Graph(indptr, indices, graph.directed, lengths)


@njit
def _take(indptr, indices, lengths, kept, position):
    """Take the rows and columns that are kept, under their positions."""
    starts = np.zeros(1 if len(kept) == 0 else position[-1] + 2, np.int64)
    for v in range(len(kept)):
        if kept[v]:
            count = 0
            for e in range(indptr[v], indptr[v + 1]):
                count += kept[indices[e]]
            starts[position[v] + 1] = starts[position[v]] + count
    columns = np.empty(starts[-1], indices.dtype)
    values: Any = None if lengths is None else np.empty(starts[-1], np.float64)
    end = 0
    for v in range(len(kept)):
        if kept[v]:
            for e in range(indptr[v], indptr[v + 1]):
                if kept[indices[e]]:
                    columns[end] = position[indices[e]]
                    if lengths is not None:
                        values[end] = lengths[e]
                    end += 1
    return starts, columns, values


@njit
def _pairs_inside(
    indptr, indices, lengths, in_indptr, in_indices, in_lengths, first, closed, sources, targets, members
):
    """Return `extra` by vertex, and for the first vertex of each class whether its pairs go an unknown way."""
    demand = _demand_inside(first, sources, targets)
    extra, unknown = np.zeros(len(first)), np.zeros(len(first), np.bool_)
    for v in range(len(first)):
        if demand[v] == 0.0:
            continue
        inside, out = _shortest(indptr, indices, lengths, first, v)
        into = out
        if in_indptr is not None:
            _, into = _shortest(in_indptr, in_indices, in_lengths, first, v)
        around = out + into
        if around == np.inf or (closed[v] and inside < around):
            continue
        ways = 1.0 if closed[v] and inside == around else 0.0
        for adding in (False, True):
            at = 0 if in_indptr is None else in_indptr[v]
            for e in range(indptr[v], indptr[v + 1]):
                z = indices[e]
                if first[z] == v or (lengths is not None and lengths[e] != out):
                    continue
                if in_indptr is not None:
                    while at < in_indptr[v + 1] and in_indices[at] < z:
                        at += 1
                    if at == in_indptr[v + 1] or in_indices[at] != z:
                        continue
                    if lengths is not None and in_lengths[at] != into:
                        continue
                if adding:
                    extra[z] += demand[v] * members[z] / ways
                else:
                    ways += members[z]
            if ways == 0.0:
                unknown[v] = True
                break
    return extra, unknown


@njit
def _demand_inside(first, sources, targets):
    """Sum S_p T_q over the p != q of each class, at its first vertex; products alone are added, so nothing cancels."""
    demand, source, target = np.zeros(len(first)), np.zeros(len(first)), np.zeros(len(first))
    for v in range(len(first)):
        z = first[v]
        demand[z] += source[z] * targets[v] + sources[v] * target[z]
        source[z] += sources[v]
        target[z] += targets[v]
    return demand


@njit
def _shortest(indptr, indices, lengths, first, v):
    """Return the length of the edges inside the class of v, the first of it, and the smallest of those out of it."""
    inside = outside = np.inf
    for e in range(indptr[v], indptr[v + 1]):
        length = 1.0 if lengths is None else lengths[e]
        if first[indices[e]] == v:
            inside = length
        else:
            outside = min(outside, length)
    return inside, outside
