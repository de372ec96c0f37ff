"""The ball of some roots: the part of the graph within a radius of any of them, with rows of its own.

A path from a root that is no longer than the radius lies within the ball, and what else the ball holds is farther from
the root than the radius, in the ball, too: so nothing beyond it is needed. Neighbouring roots, as blocks are made of,
have a ball that is little larger than that of each. Rows are in the order in which they were met: neighbours are near.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


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
