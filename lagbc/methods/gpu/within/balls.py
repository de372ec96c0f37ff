"""Balls of blocks of roots, as `lagbc.methods.balls` finds them, as the diagonal blocks of one matrix.

Rows and edges are numbered within their ball, so that balls that were found apart are put side by side by joining their
arrays.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.errors import OutOfMemoryError
from lagbc.graph.graph import Graph
from lagbc.methods.balls import ROOM, Edges, Scratch, cut, reach

LANES = 32  # roots of a warp, at most; as in within.cu
WARPS = 8  # of a block of roots, at most; as in within.cu
_MOST_ROWS = 2**31 - 1


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
            raise OutOfMemoryError("a ball may have more rows than 32 bits number")
        entering = (None, None, None) if into is graph else (into.indptr, into.indices, into.weights)
        self._graph: Any = (graph.indptr, graph.indices, graph.weights, *entering)
        self._radius, self._edges = radius, edges
        # Pages that no search meets are never touched.
        self._scratch = Scratch.of(n)

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
    vertices, count = np.empty(ROOM, np.int32), 0
    out, places, leaving = _no_edges(), np.empty(ROOM, np.int64), 0
    into, entering = _no_edges(), 0
    for ball in range(balls):
        warps = slice(firsts[ball], firsts[ball + 1])
        vertices, last = reach(indptr, indices, lengths, roots[warps], radius, len(row), scratch, vertices, count)
        for warp in range(warps.start, warps.stop):
            for k in range(roots.shape[1]):
                if roots[warp, k] >= 0:
                    of_roots[warp, k] = row[roots[warp, k]] - 1
        own = vertices[count:last]
        before = leaving, entering
        out, places, leaving = cut(indptr, indices, lengths, own, row, with_places, out, places, count + ball, leaving)
        if in_indptr is None:
            entering = leaving
        else:
            into, _, entering = cut(
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
    return Edges(np.empty(ROOM, np.int64), np.empty(ROOM, np.int32), np.empty(0))


@njit
def _shortened(edges, ends, count):
    """Copy so many ends and edges."""
    indptr, heads, lengths = edges
    return Edges(indptr[:ends].copy(), heads[:count].copy(), lengths[:count].copy())
