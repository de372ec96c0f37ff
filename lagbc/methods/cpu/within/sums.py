"""The sums over the roots of a run within bounds, block after block, in the columns of `traversal.near`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.frozen import frozen
from lagbc.methods.cpu.traversal.near import Near
from lagbc.methods.cpu.within.block import LANES, MOST_ROWS, Ball
from lagbc.native import Csr, core


@frozen
class Together:
    """The arrays in which blocks of roots are searched."""

    leaving: Csr  # leaving, entering: as from `block.searched`
    entering: Csr
    ball: Ball
    vertices: float  # vertices that, searched root by root, cost as much as a row of a ball

    def find(self, roots: NDArray[np.int64], radius: float, most: float) -> int:
        """Find the ball of some roots, if it has at most `most` rows; return the count of its rows, or 0."""
        return core.find_ball(self.leaving, self.entering, roots, radius, int(min(most, MOST_ROWS)), self.ball)

    def reach_of(self, root: int, radius: float) -> int:
        """Count the vertices that a root reaches, at least 1."""
        return max(self.find(np.array([root]), radius, MOST_ROWS), 1)


def sum_blocks(
    together: Together,
    alone: tuple[Any, Any, Any],
    trail: Any,
    asked: core.Asked,
    roots: NDArray[np.int64],
    omega: NDArray[np.float64] | None,
    times: NDArray[np.float64],
    near: Near,
    found: core.Found,
) -> None:
    """Sum roots, blocks of `LANES` of them together, or one by one where their ball has too many rows.

    A row costs about as much as `together.vertices` vertices that a root reaches. The block before tells how many a
    root reaches, and at first a root amid the first block. `alone` has the arguments of `core.sweep_lengths` before its
    trail; the others are as for `sweep.State.kernel`.
    """
    stop, mean = asked.stop, 0.0
    for first in range(0, len(roots), LANES):
        some = roots[first : first + LANES]
        here = some[some >= 0]
        if not len(here) or stop[0]:
            continue
        mean = mean or together.reach_of(here[len(here) // 2], asked.radius)
        if together.find(some, asked.radius, together.vertices * mean * len(here) / LANES):
            core.sum_ball(together.ball, asked, first, len(some), omega, times, near, found)
        else:
            one_by_one = np.full(len(roots), -1)
            one_by_one[first : first + LANES] = some
            core.sweep_lengths(*alone, trail, asked, one_by_one, omega, times, near, found)
        mean = found.reached[first : first + LANES].sum() / len(here)
