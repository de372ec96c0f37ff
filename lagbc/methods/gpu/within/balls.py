"""Balls: the part of the graph within a radius of any of at most 32 roots, as the diagonal blocks of one matrix.

A path from a root that is no longer than the radius lies within the ball, and what else the ball holds is farther from
the root than the radius, in the ball, too: so nothing beyond it is needed. Rows of a ball are in the order in which a
search from all its roots at once meets them, roots first; shortest paths seldom turn against it. Neighbouring roots, as
blocks are made of, have a ball that is little larger than that of each.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.graph.graph import Graph

LANES = 32  # roots of a ball, at most; as in within.cu
BALLS = 8  # of a block of roots, at most
_MOST_ROWS = 2**31 - 1
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
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    lengths: NDArray[np.float64]


class Union(NamedTuple):
    """The vertices, or the edges, of the balls of each block, each of them once.

    Attributes
    ----------
    named : ndarray of int64
        Vertices in sweep order, or edges of the graph, block after block.
    starts : ndarray of int64, shape (blocks + 1,)
        First of each block.
    places : ndarray of int32
        Of each row, or each edge that leaves one, among those named.
    """

    named: NDArray[np.int64]
    starts: NDArray[np.int64]
    places: NDArray[np.int32]


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
    of_vertices, of_edges : Union
        The latter is of no edges where these are not asked for.
    """

    starts: NDArray[np.int32]
    roots: NDArray[np.int32]
    vertices: NDArray[np.int32]
    out: Edges
    into: Edges
    of_vertices: Union
    of_edges: Union

    @property
    def rows(self) -> int:
        """Of all balls."""
        return len(self.vertices)


class Lanes(NamedTuple):
    """Roots of blocks dealt to balls.

    Attributes
    ----------
    roots : ndarray of int64, shape (balls, LANES)
        -1 where a lane has none.
    firsts : ndarray of int64, shape (blocks + 1,)
        First ball of each block.
    places : list of ndarrays of int64
        For each root of each block its lane, among those of all balls.
    """

    roots: NDArray[np.int64]
    firsts: NDArray[np.int64]
    places: list[NDArray[np.int64]]


def deal(blocks: Sequence[NDArray[np.int64]]) -> Lanes:
    """Deal the roots of each block to at most `BALLS` balls, neighbours to the same."""
    widths = [max(1, -(-len(block) // BALLS)) for block in blocks]
    firsts = np.cumsum([0, *(-(-len(block) // width) for block, width in zip(blocks, widths, strict=True))])
    roots, places = np.full((firsts[-1], LANES), -1, np.int64), []
    for block, width, first in zip(blocks, widths, firsts, strict=False):
        number = np.arange(len(block))
        places.append((first + number // width) * LANES + number % width)
        roots.reshape(-1)[places[-1]] = block
    return Lanes(roots, firsts, places)


def find_balls(graph: Graph, lanes: Lanes, radius: float, *, edges: bool) -> Balls:
    """Find the balls of blocks of roots.

    Parameters
    ----------
    graph : Graph
        On the host, in sweep order.
    lanes : Lanes
        Of vertices in sweep order.
    radius : float
    edges : bool
        Whether the edges that each block touches are asked for.
    """
    into = graph.transpose
    entering = (None, None, None) if into is graph else (into.indptr, into.indices, into.weights)
    starts, rows, vertices, out, entered, *unions = _find(
        graph.indptr, graph.indices, graph.weights, *entering, lanes.roots, lanes.firsts, radius, edges
    )
    out = Edges(*out)
    return Balls(starts, rows, vertices, out, out if into is graph else Edges(*entered), *(Union(*u) for u in unions))


@njit
def merged(values, union):
    """Add up, in their order, the rows of values that are of the same vertex, or edge, of a block."""
    total = np.zeros((len(union.named), values.shape[1]))
    for i in range(len(values)):
        for j in range(values.shape[1]):
            total[union.places[i], j] += values[i, j]
    return total


@njit
def _find(indptr, indices, lengths, in_indptr, in_indices, in_lengths, roots, firsts, radius, with_edges):
    """Find balls: starts, roots as rows, vertices, edges that leave and that enter, if they are others, and unions."""
    n, nnz = len(indptr) - 1, len(indices) if with_edges else 0
    dist, row = np.full(n, np.inf), np.full(n, -1, np.int32)
    starts, of_roots = np.zeros(len(roots) + 1, np.int32), np.full(roots.shape, -1, np.int32)
    vertices, count = np.empty(_ROOM, np.int32), 0
    queue, is_queued = np.empty(n + 1, np.int32), np.zeros(n, np.bool_)
    out, out_places = _no_edges(), np.empty(_ROOM, np.int64)
    into = _no_edges()
    for ball in range(len(roots)):
        vertices, last = _reach(
            indptr, indices, lengths, roots[ball], radius, dist, row, queue, is_queued, vertices, count
        )
        for k in range(roots.shape[1]):
            if roots[ball, k] >= 0:
                of_roots[ball, k] = row[roots[ball, k]]
        out, out_places = _cut(indptr, indices, lengths, vertices, count, last, row, with_edges, out, out_places)
        if in_indptr is not None:
            into, _ = _cut(in_indptr, in_indices, in_lengths, vertices, count, last, row, False, into, out_places)
        for i in range(count, last):
            dist[vertices[i]], row[vertices[i]] = np.inf, -1
        if last >= _MOST_ROWS - n:  # the next ball may have a row for every vertex
            raise MemoryError("balls have more rows than 32 bits number")
        count = starts[ball + 1] = last
    of_blocks = starts[firsts]
    of_vertices = _unite(vertices, of_blocks, row)
    of_edges = _unite(out_places, out.indptr[of_blocks] if with_edges else 0 * of_blocks, np.full(nnz, -1, np.int32))
    return (
        starts,
        of_roots,
        vertices[:count].copy(),
        _shortened(out, count),
        _shortened(into, count),
        of_vertices,
        of_edges,
    )


@njit
def _no_edges():
    return Edges(np.zeros(_ROOM + 1, np.int64), np.empty(_ROOM, np.int32), np.empty(0))


@njit
def _unite(names, starts, place):
    """List what each block names, once; `place` is -1 for all that may be named."""
    named, places = np.empty(starts[-1], np.int64), np.empty(starts[-1], np.int32)
    ends = np.zeros(len(starts), np.int64)
    count = 0
    for block in range(len(starts) - 1):
        for i in range(starts[block], starts[block + 1]):
            name = names[i]
            if place[name] < 0:
                place[name], named[count] = count, name
                count += 1
            places[i] = place[name]
        for i in range(ends[block], count):
            place[named[i]] = -1
        ends[block + 1] = count
    return Union(named[:count].copy(), ends, places)


@njit
def _reach(indptr, indices, lengths, roots, radius, dist, row, queue, is_queued, vertices, count):
    """Give a row to what is within the radius of any of the roots, which are there before `count`; how many then.

    Distances from the nearest root fall until they are final; what comes nearer waits, first come first served. At
    first and at last all distances are infinite, none has a row and none waits.
    """
    n, first, waiting = len(is_queued), 0, 0
    for v in roots:
        if v >= 0 and dist[v] > 0.0:
            vertices = _longer(vertices, count + 1)
            dist[v], vertices[count], row[v] = 0.0, v, count
            queue[waiting], is_queued[v] = v, True
            waiting += 1
            count += 1
    while waiting > 0:
        v = queue[first]
        first = first + 1 if first < n else 0
        waiting -= 1
        is_queued[v] = False
        for e in range(indptr[v], indptr[v + 1]):
            w, through = indices[e], dist[v] + (1.0 if lengths is None else lengths[e])
            if through <= radius and through < dist[w]:
                if row[w] < 0:
                    vertices = _longer(vertices, count + 1)
                    vertices[count], row[w] = w, count
                    count += 1
                dist[w] = through
                if not is_queued[w]:
                    place = first + waiting
                    queue[place if place <= n else place - n - 1], is_queued[w] = w, True
                    waiting += 1
    return vertices, count


@njit
def _cut(indptr, indices, lengths, vertices, first, last, row, with_places, edges, places):
    """Add the edges between the rows first:last, those of a ball, and their places in the graph, if asked for."""
    ends, heads, of_edges = edges
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
    return Edges(ends, heads, of_edges), places


@njit
def _shortened(edges, rows):
    """Copy the edges of so many rows."""
    ends, heads, lengths = edges
    count = ends[rows] if rows < len(ends) else 0
    return Edges(ends[: rows + 1].copy(), heads[:count].copy(), lengths[:count].copy())


@njit
def _longer(array, needed):
    """Return the array, or a copy that is twice as long, with room for so many."""
    if needed <= len(array):
        return array
    longer = np.empty(max(2 * len(array), needed, _ROOM), array.dtype)
    longer[: len(array)] = array
    return longer
