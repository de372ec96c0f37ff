"""Balls: the part of the graph within a radius of any root of a block, as the diagonal blocks of one matrix.

A path from a root that is no longer than the radius lies within the ball of the root's block, and what else the ball
holds is farther from the root than the radius in the ball, too: so nothing beyond the ball is needed. Rows of a ball
are in the order in which a search from all its roots at once settles them, roots first. Neighbouring roots, as blocks
are made of, have balls that are little larger than those of each root.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.graph.graph import Graph

LANES = 32  # roots of a block, at most; as in within.cu
# Rows and edges that a list has room for at least.
_ROOM = 4096


class Edges(NamedTuple):
    """Edges of balls, row after row.

    Attributes
    ----------
    indptr : ndarray of int64, shape (rows + 1,)
    indices : ndarray of int32
        Rows.
    lengths : ndarray of float64
        None of them where edges have no lengths.
    places : ndarray of int64
        Of the same edges in the graph; none of them where they are not asked for.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    lengths: NDArray[np.float64]
    places: NDArray[np.int64]

    @classmethod
    def none(cls) -> Edges:
        """Edges of no rows."""
        return cls(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty(0), np.empty(0, np.int64))


@dataclass(frozen=True, eq=False)
class Balls:
    """Balls of blocks of roots, one after the other.

    Attributes
    ----------
    starts : ndarray of int32, shape (balls + 1,)
        First row of each.
    roots : ndarray of int32, shape (balls, LANES)
        Row of the root that each lane has; -1 where it has none.
    vertices : ndarray of int32, shape (rows,)
        Vertex of each row, in sweep order.
    out, into : Edges
        That leave, and enter, each row; the same object where all lead both ways.
    """

    starts: NDArray[np.int32]
    roots: NDArray[np.int32]
    vertices: NDArray[np.int32]
    out: Edges
    into: Edges

    @property
    def rows(self) -> int:
        """Of all balls."""
        return len(self.vertices)


def find_balls(
    graph: Graph, blocks: Sequence[NDArray[np.int64]], radius: float, *, places: bool, threads: int
) -> Balls:
    """Find the balls of blocks of roots, which are rows in sweep order; -1 is an absent one.

    Parameters
    ----------
    graph : Graph
        On the host, in sweep order.
    places : bool
        Whether places of the edges that leave are asked for.
    """
    roots = np.full((len(blocks), LANES), -1, np.int64)
    for ball, block in zip(roots, blocks, strict=True):
        ball[: len(block)] = block
    into = graph.transpose
    entering = (None, None, None) if into is graph else (into.indptr, into.indices, into.weights)

    def find(share: NDArray[np.int64]) -> Balls:
        *found, out, entered = _find(
            graph.indptr, graph.indices, graph.weights, *entering, share, radius, places, Edges.none(), Edges.none()
        )
        return Balls(*found, Edges(*out), Edges(*entered))

    shares = [share for share in np.array_split(roots, max(1, threads)) if len(share)]
    with ThreadPoolExecutor(max(1, len(shares))) as pool:
        return _joined(list(pool.map(find, shares)), into is graph)


def _joined(parts: list[Balls], leads_both_ways: bool) -> Balls:
    """Put the balls of several parts behind each other."""
    firsts = np.cumsum([0, *(part.rows for part in parts)])
    if firsts[-1] >= 2**31:
        raise MemoryError(f"balls of {firsts[-1]} rows are past what 32 bits number")
    starts = [part.starts[:-1] + first for part, first in zip(parts, firsts, strict=False)]
    roots = [np.where(part.roots < 0, -1, part.roots + first) for part, first in zip(parts, firsts, strict=False)]
    out = _joined_edges([part.out for part in parts], firsts)
    return Balls(
        starts=np.concatenate([*starts, firsts[-1:]]).astype(np.int32),
        roots=np.concatenate([np.empty((0, LANES), np.int32), *roots]).astype(np.int32),
        vertices=np.concatenate([np.empty(0, np.int32), *(part.vertices for part in parts)]),
        out=out,
        into=out if leads_both_ways else _joined_edges([part.into for part in parts], firsts),
    )


def _joined_edges(parts: list[Edges], firsts: NDArray[np.int64]) -> Edges:
    counts = np.cumsum([0, *(len(part.indices) for part in parts)])
    indptr = [part.indptr[:-1] + count for part, count in zip(parts, counts, strict=False)]
    indices = [part.indices + np.int32(first) for part, first in zip(parts, firsts, strict=False)]
    none = Edges.none()
    return Edges(
        indptr=np.concatenate([*indptr, counts[-1:]]),
        indices=np.concatenate([none.indices, *indices]),
        lengths=np.concatenate([none.lengths, *(part.lengths for part in parts)]),
        places=np.concatenate([none.places, *(part.places for part in parts)]),
    )


@njit
def _find(indptr, indices, lengths, in_indptr, in_indices, in_lengths, roots, radius, with_places, out, into):
    """Find some balls: starts, roots as rows, vertices, and edges that leave, and that enter if these are others.

    `out` and `into` are edges of no rows.
    """
    n = len(indptr) - 1
    dist, row = np.full(n, np.inf), np.full(n, -1, np.int32)
    starts, of_roots = np.zeros(len(roots) + 1, np.int32), np.full(roots.shape, -1, np.int32)
    vertices, count = np.empty(_ROOM, np.int32), 0
    for ball in range(len(roots)):
        vertices, last = _reach(indptr, indices, lengths, roots[ball], radius, dist, row, vertices, count)
        for k in range(roots.shape[1]):
            if roots[ball, k] >= 0:
                of_roots[ball, k] = row[roots[ball, k]]
        out = _cut(indptr, indices, lengths, vertices, count, last, row, with_places, out)
        if in_indptr is not None:
            into = _cut(in_indptr, in_indices, in_lengths, vertices, count, last, row, False, into)
        for i in range(count, last):
            dist[vertices[i]], row[vertices[i]] = np.inf, -1
        count = starts[ball + 1] = last
    return starts, of_roots, vertices[:count].copy(), _shortened(out, count), _shortened(into, count)


@njit
def _reach(indptr, indices, lengths, roots, radius, dist, row, vertices, count):
    """Settle what is within the radius of any of the roots; `count` rows are there before, return how many then."""
    if lengths is None:
        return _reach_by_hops(indptr, indices, roots, radius, row, vertices, count)
    waiting = [(0.0, v) for v in roots if v >= 0]
    for _, v in waiting:
        dist[v] = 0.0
    while len(waiting) > 0:
        near, v = heappop(waiting)
        if row[v] >= 0:
            continue
        vertices = _longer(vertices, count + 1)
        vertices[count], row[v] = v, count
        count += 1
        for e in range(indptr[v], indptr[v + 1]):
            w, through = np.int64(indices[e]), near + lengths[e]
            if through <= radius and through < dist[w]:
                dist[w] = through
                heappush(waiting, (through, w))
    return vertices, count


@njit
def _reach_by_hops(indptr, indices, roots, radius, row, vertices, count):
    first = count
    for v in roots:
        if v >= 0 and row[v] < 0:
            vertices = _longer(vertices, count + 1)
            vertices[count], row[v] = v, count
            count += 1
    depth, last = 0, count
    while first < count and depth + 1 <= radius:
        for i in range(first, last):
            for e in range(indptr[vertices[i]], indptr[vertices[i] + 1]):
                w = indices[e]
                if row[w] < 0:
                    vertices = _longer(vertices, count + 1)
                    vertices[count], row[w] = w, count
                    count += 1
        first, last, depth = last, count, depth + 1
    return vertices, count


@njit
def _cut(indptr, indices, lengths, vertices, first, last, row, with_places, edges):
    """Add the edges between the rows first:last, those of a ball."""
    ends, heads, of_edges, places = edges
    ends = _longer(ends, last + 1)
    count = ends[first]
    for i in range(first, last):
        v = vertices[i]
        most = count + indptr[v + 1] - indptr[v]
        heads = _longer(heads, most)
        if lengths is not None:
            of_edges = _longer(of_edges, most)
        if with_places:
            places = _longer(places, most)
        for e in range(indptr[v], indptr[v + 1]):
            if row[indices[e]] >= 0:
                heads[count] = row[indices[e]]
                if lengths is not None:
                    of_edges[count] = lengths[e]
                if with_places:
                    places[count] = e
                count += 1
        ends[i + 1] = count
    return Edges(ends, heads, of_edges, places)


@njit
def _shortened(edges, rows):
    """Copy the edges of so many rows."""
    ends, heads, lengths, places = edges
    count = ends[min(rows, len(ends) - 1)]
    return Edges(ends[: rows + 1].copy(), heads[:count].copy(), lengths[:count].copy(), places[:count].copy())


@njit
def _longer(array, needed):
    """Return the array, or a copy that is twice as long, with room for so many."""
    if needed <= len(array):
        return array
    longer = np.empty(max(2 * len(array), needed, _ROOM), array.dtype)
    longer[: len(array)] = array
    return longer
