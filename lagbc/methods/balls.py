"""The ball of some roots: the part of the graph within a radius of any of them, with rows of its own.

A path from a root that is no longer than the radius lies within the ball, and what else the ball holds is farther from
the root than the radius, in the ball, too: so nothing beyond it is needed. Neighbouring roots, as blocks are made of,
have a ball that is little larger than that of each. Rows are in the order in which they were met: neighbours are near.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.cpu.compile import njit

# Rows and edges that a list that grows has room for at least.
ROOM = 4096


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

    @classmethod
    def of(cls, n: int) -> Scratch:
        """Allocate it for so many vertices; pages that no search meets are never touched."""
        return cls(np.zeros(n, np.int32), np.empty(n), np.empty(n + 1, np.int32), np.zeros(n, np.bool_))


@njit
def reach(indptr, indices, lengths, roots, radius, most, scratch, vertices, count):
    """Give a row to what is within the radius of any of the roots, which are there before `count`; how many then.

    Distances from the nearest root fall until they are final; what comes nearer waits, first come first served. Once
    there is one more than the `most` rows it ends.
    """
    row, dist, queue, waits = scratch
    n, begun, first, waiting = len(row), count, 0, 0
    for v in roots.flat:
        if v >= 0 and row[v] == 0:
            if count == len(vertices):
                vertices = longer(vertices, count + 1)
            vertices[count], dist[v], queue[waiting], waits[v] = v, 0.0, v, True
            waiting += 1
            count += 1
            row[v] = count - begun
    while waiting > 0 and count - begun <= most:
        v = queue[first]
        first = first + 1 if first < n else 0
        waiting -= 1
        waits[v] = False
        for e in range(indptr[v], indptr[v + 1]):
            w, through = indices[e], dist[v] + (1.0 if lengths is None else lengths[e])
            if through <= radius and (row[w] == 0 or through < dist[w]):
                if row[w] == 0:
                    if count - begun > most:
                        break
                    if count == len(vertices):
                        vertices = longer(vertices, count + 1)
                    vertices[count] = w
                    count += 1
                    row[w] = count - begun
                dist[w] = through
                if not waits[w]:
                    place = first + waiting
                    queue[place if place <= n else place - n - 1], waits[w] = w, True
                    waiting += 1
    for i in range(begun, count if waiting > 0 else begun):
        waits[vertices[i]] = False
    return vertices, count


@njit
def cut(indptr, indices, lengths, vertices, row, with_places, edges, places, end, count):
    """Add the edges between the vertices of a ball, the ends of its rows from `end` on, and their places, if asked for.

    There are `count` edges of other balls before them; how many then is returned, too.
    """
    ends, heads, of_edges = edges
    most = count + degrees(indptr, vertices)
    ends, heads = longer(ends, end + len(vertices) + 1), longer(heads, most)
    if lengths is not None:
        of_edges = longer(of_edges, most)
    if with_places:
        places = longer(places, most)
    first, ends[end] = count, 0
    for i in range(len(vertices)):
        v = vertices[i]
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
def degrees(indptr, vertices):
    """Count the edges of some vertices."""
    total = 0
    for v in vertices:
        total += indptr[v + 1] - indptr[v]
    return total


@njit
def longer(array, needed):
    """Return the array, or a copy that is twice as long, with room for so many."""
    if needed <= len(array):
        return array
    copy = np.empty(max(2 * len(array), needed, ROOM), array.dtype)
    copy[: len(array)] = array
    return copy
