"""Balls of blocks of roots, as `lagbc.methods.balls` finds them, as the diagonal blocks of one matrix.

Rows and edges are numbered within their ball, so that balls that were found apart are put side by side by joining their
arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import OutOfMemoryError
from lagbc.graph.graph import Graph
from lagbc.methods.balls import Edges, Scratch
from lagbc.native import core

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
        if graph.n > _MOST_ROWS:
            raise OutOfMemoryError("a ball may have more rows than 32 bits number")
        self._graph, self._radius, self._edges = graph.native, radius, edges
        # Pages that no search meets are never touched.
        self._scratch = Scratch.of(graph.n)

    def find(self, lanes: Lanes) -> Balls:
        """Find the balls of blocks of roots, given by their places in sweep order."""
        out, into = self._graph
        sizes, rows = np.empty((len(lanes.firsts) - 1, 4), np.int64), np.empty(lanes.roots.shape, np.int32)
        vertices, ends, heads, lengths, in_ends, in_heads, in_lengths, places = core.find_balls(
            out, into, lanes.roots, lanes.firsts, self._radius, self._edges, self._scratch, sizes, rows
        )
        leaving = Edges(ends, heads, lengths)
        entering = leaving if into is out else Edges(in_ends, in_heads, in_lengths)
        return Balls(sizes, rows, vertices, leaving, entering, places)
