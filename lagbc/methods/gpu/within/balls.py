"""Balls: the part of the graph within a radius of any root of a block, as the diagonal blocks of one matrix.

A path from a root that is no longer than the radius lies within the ball, and what else the ball holds is farther from
the root than the radius, in the ball, too: so nothing beyond it is needed. Neighbouring roots, as blocks are made of,
have a ball that is little larger than that of each. Rows and edges are numbered within their ball, so that balls that
were found apart are put side by side by joining their arrays.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.graph.graph import Graph

LANES = 32  # roots of a warp, at most; as in within.cu
WARPS = 8  # of a block of roots, at most; as in within.cu
_MOST_ROWS = 2**31 - 1
# Rows and edges that a list has room for at least.
_ROOM = 4096


class Edges(NamedTuple):
    """Edges of balls, row after row.

    Attributes
    ----------
    indptr : ndarray of int64, shape (rows + balls,)
        Of each ball by itself, from 0 on.
    indices : ndarray of int32
        Rows of the ball.
    lengths : ndarray of float64
        None of them where edges have no lengths.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    lengths: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Balls:
    """Balls of blocks of roots, one after the other.

    Attributes
    ----------
    sizes : ndarray of int64, shape (balls, 4)
        Rows, edges that leave one, edges that enter one, and warps of each.
    roots : ndarray of int32, shape (warps, LANES)
        Row of the root that each lane has; -1 where it has none.
    vertices : ndarray of int32, shape (rows,)
        Vertex of each row, in sweep order.
    out, into : Edges
        That leave, and enter, each row; the same object where all lead both ways.
    places : ndarray of int64
        Of the edges that leave, in the graph; none of them where these are not asked for.
    """

    sizes: NDArray[np.int64]
    roots: NDArray[np.int32]
    vertices: NDArray[np.int32]
    out: Edges
    into: Edges
    places: NDArray[np.int64]

    @property
    def entries(self) -> int:
        """Rows times warps, of all balls."""
        return int(self.sizes[:, 0] @ self.sizes[:, 3])


class Lanes(NamedTuple):
    """Roots of blocks dealt to warps.

    Attributes
    ----------
    roots : ndarray of int64, shape (warps, LANES)
        -1 where a lane has none.
    firsts : ndarray of int64, shape (blocks + 1,)
        First warp of each block.
    places : list of ndarrays of int64
        For each root of each block its lane, among those of the block.
    """

    roots: NDArray[np.int64]
    firsts: NDArray[np.int64]
    places: list[NDArray[np.int64]]


def deal(blocks: Sequence[NDArray[np.int64]]) -> Lanes:
    """Deal the roots of each block to at most `WARPS` warps, neighbours to the same."""
    widths = [max(1, -(-len(block) // WARPS)) for block in blocks]
    firsts = np.cumsum([0, *(-(-len(block) // width) for block, width in zip(blocks, widths, strict=True))])
    roots, places = np.full((firsts[-1], LANES), -1, np.int64), []
    for block, width, first in zip(blocks, widths, firsts, strict=False):
        number = np.arange(len(block))
        places.append(number // width * LANES + number % width)
        roots[first:].reshape(-1)[places[-1]] = block
    return Lanes(roots, firsts, places)


class Scratch(NamedTuple):
    """What a search needs of each vertex; between two of them, no vertex has a row, and none waits.

    Attributes
    ----------
    row : ndarray of int32, shape (n,)
        In the ball, from 1 on; 0 is none.
    dist : ndarray of float64, shape (n,)
        From the nearest root, of what has a row.
    queue : ndarray of int32, shape (n + 1,)
    waits : ndarray of bool, shape (n,)
    """

    row: NDArray[np.int32]
    dist: NDArray[np.float64]
    queue: NDArray[np.int32]
    waits: NDArray[np.bool_]


class Finder:
    """Finds balls in a graph, in one thread at a time.

    Parameters
    ----------
    graph : Graph
        On the host, in sweep order.
    radius : float
    edges : bool
        Whether the places of edges are asked for.
    """

    def __init__(self, graph: Graph, radius: float, *, edges: bool) -> None:
        n, into = graph.n, graph.transpose
        if n > _MOST_ROWS:
            raise MemoryError("a ball may have more rows than 32 bits number")
        entering = (None, None, None) if into is graph else (into.indptr, into.indices, into.weights)
        self._graph: Any = (graph.indptr, graph.indices, graph.weights, *entering)
        self._radius, self._edges = radius, edges
        # Pages that no search meets are never touched.
        self._scratch = Scratch(np.zeros(n, np.int32), np.empty(n), np.empty(n + 1, np.int32), np.zeros(n, np.bool_))

    def find(self, lanes: Lanes) -> Balls:
        """Find the balls of blocks of roots, given by their places in sweep order."""
        sizes, rows, vertices, out, into, places = _find(
            *self._graph, lanes.roots, lanes.firsts, self._radius, self._edges, self._scratch
        )
        out = Edges(*out)
        return Balls(sizes, rows, vertices, out, out if self._graph[3] is None else Edges(*into), places)


@njit
def _find(indptr, indices, lengths, in_indptr, in_indices, in_lengths, roots, firsts, radius, with_places, scratch):
    """Find balls: sizes, roots as rows, vertices, edges that leave and that enter, if they are others, and places."""
    balls, row = len(firsts) - 1, scratch.row
    sizes, of_roots = np.zeros((balls, 4), np.int64), np.full(roots.shape, -1, np.int32)
    vertices, count = np.empty(_ROOM, np.int32), 0
    out, places, leaving = _no_edges(), np.empty(_ROOM, np.int64), 0
    into, entering = _no_edges(), 0
    for ball in range(balls):
        warps = slice(firsts[ball], firsts[ball + 1])
        vertices, last = _reach(indptr, indices, lengths, roots[warps], radius, scratch, vertices, count)
        for warp in range(warps.start, warps.stop):
            for k in range(roots.shape[1]):
                if roots[warp, k] >= 0:
                    of_roots[warp, k] = row[roots[warp, k]] - 1
        own = vertices[count:last]
        before = leaving, entering
        out, places, leaving = _cut(indptr, indices, lengths, own, row, with_places, out, places, count + ball, leaving)
        if in_indptr is None:
            entering = leaving
        else:
            into, _, entering = _cut(
                in_indptr, in_indices, in_lengths, own, row, False, into, places, count + ball, entering
            )
        row[own] = 0
        sizes[ball] = last - count, leaving - before[0], entering - before[1], warps.stop - warps.start
        count = last
    ends = count + balls
    return (
        sizes,
        of_roots,
        vertices[:count].copy(),
        _shortened(out, ends, leaving),
        _shortened(into, ends, entering),
        places[: leaving if with_places else 0].copy(),
    )


@njit
def _no_edges():
    return Edges(np.empty(_ROOM, np.int64), np.empty(_ROOM, np.int32), np.empty(0))


@njit
def _reach(indptr, indices, lengths, roots, radius, scratch, vertices, count):
    """Give a row to what is within the radius of any of the roots, which are there before `count`; how many then.

    Distances from the nearest root fall until they are final; what comes nearer waits, first come first served.
    """
    row, dist, queue, waits = scratch
    n, begun, first, waiting = len(row), count, 0, 0
    for v in roots.flat:
        if v >= 0 and row[v] == 0:
            vertices = _longer(vertices, count + 1)
            vertices[count], dist[v], queue[waiting], waits[v] = v, 0.0, v, True
            waiting += 1
            count += 1
            row[v] = count - begun
    while waiting > 0:
        v = queue[first]
        first = first + 1 if first < n else 0
        waiting -= 1
        waits[v] = False
        for e in range(indptr[v], indptr[v + 1]):
            w, through = indices[e], dist[v] + (1.0 if lengths is None else lengths[e])
            if through <= radius and (row[w] == 0 or through < dist[w]):
                if row[w] == 0:
                    vertices = _longer(vertices, count + 1)
                    vertices[count] = w
                    count += 1
                    row[w] = count - begun
                dist[w] = through
                if not waits[w]:
                    place = first + waiting
                    queue[place if place <= n else place - n - 1], waits[w] = w, True
                    waiting += 1
    return vertices, count


@njit
def _cut(indptr, indices, lengths, vertices, row, with_places, edges, places, end, count):
    """Add the edges between the vertices of a ball, the ends of its rows from `end` on, and their places, if asked for.

    There are `count` edges of other balls before them; how many then is returned, too.
    """
    ends, heads, of_edges = edges
    ends = _longer(ends, end + len(vertices) + 1)
    first, ends[end] = count, 0
    for i in range(len(vertices)):
        v = vertices[i]
        most = count + indptr[v + 1] - indptr[v]
        heads = _longer(heads, most)
        if lengths is not None:
            of_edges = _longer(of_edges, most)
        if with_places:
            places = _longer(places, most)
        for e in range(indptr[v], indptr[v + 1]):
            head = row[indices[e]]
            if head > 0:
                heads[count] = head - 1
                if lengths is not None:
                    of_edges[count] = lengths[e]
                if with_places:
                    places[count] = e
                count += 1
        ends[end + i + 1] = count - first
    return Edges(ends, heads, of_edges), places, count


@njit
def _shortened(edges, ends, count):
    """Copy so many ends and edges."""
    indptr, heads, lengths = edges
    return Edges(indptr[:ends].copy(), heads[:count].copy(), lengths[:count].copy())


@njit
def _longer(array, needed):
    """Return the array, or a copy that is twice as long, with room for so many."""
    if needed <= len(array):
        return array
    longer = np.empty(max(2 * len(array), needed, _ROOM), array.dtype)
    longer[: len(array)] = array
    return longer
