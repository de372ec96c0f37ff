"""Sums within bounds of neighbouring roots: a block and its ball, in matrices with a row for each vertex of the ball.

A root has a lane of the rows. One edge is read for all roots of a block, and a processor does its work on the lanes of
a row many at a time. That is worth it where the ball is little larger than the part that each root reaches; else the
roots are searched one by one. Sums are in the columns of `traversal.near`. See lagbc/native/kernels/within/.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.arrays import BYTE, FLOAT, INTEGER, NARROW, Array
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu.traversal.near import Near
from lagbc.methods.sums import PATH_SUMS
from lagbc.native import Csr, core

# Roots of a block. On road networks 32 and 128 took 1.3 to 1.5 times as long. Another number is another order of the
# sums. Results: cutoff_part.md.
LANES = 64
# A larger ball has no room. Matrices of so many rows take 32 MiB a thread.
MOST_ROWS, MOST_EDGES = 1 << 14, 1 << 17

Ball: TypeAlias = core.Ball16 | core.BallFloat


def sums_in_blocks(graph: Graph, plan: SweepPlan) -> bool:
    """Whether roots of a run are summed in blocks, where these are worth it.

    No length may be absorbed: with l >= ulp(radius), d + l > d for all d up to the radius.
    """
    if plan.bounds is None or plan.rtol or plan.class_sizes is not None or plan.demand is not None or not graph.nnz:
        return False
    assert graph.weights is not None
    radius = plan.radius
    return bool(radius < np.inf and graph.n < 2**31 and graph.weights.min() >= np.spacing(radius))


def arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """State the arrays of a `Ball`; pages that no ball needs are never touched."""
    n, rows, edges = graph.n, min(graph.n, MOST_ROWS), min(graph.nnz, MOST_EDGES)
    number, _ = _number(graph, plan.radius)
    counts, places = bool(plan.sums & PATH_SUMS), Array((edges,), INTEGER) if "edges" in plan.sums else None
    is_symmetric = graph.transpose is graph
    return {
        "scratch": {
            "row": Array((n,), NARROW, 0),
            "nearest": Array((n,), FLOAT),
            "queue": Array((n + 1,), NARROW),
            "is_queued": Array((n,), BYTE, 0),
            "vertices": Array((rows + 1,), NARROW),
            "roots": Array((LANES,), INTEGER),
            "places": places,
            "place_rows": places,
            "waits": Array((rows,), BYTE),
            "plain": Array((rows,), BYTE),
            "tight": Array((edges,), BYTE),
            "totals": Array((rows,), FLOAT),
        },
        "out": _arrays_of_edges(rows, edges, number),
        "into": None if is_symmetric else _arrays_of_edges(rows, edges, number),
        "matrices": {
            "dist": Array((rows, LANES), number),
            "sigma": Array((rows, LANES), FLOAT) if counts else None,
            "own": Array((rows, LANES), FLOAT),
            "beyond": Array((rows, LANES), FLOAT) if counts else None,
        },
    }


def new_ball(graph: Graph, plan: SweepPlan, arrays: dict[str, Any]) -> Ball:
    """Make a ball of its arrays."""
    number, far = _number(graph, plan.radius)
    kind: Any = core.BallFloat if number == FLOAT else core.Ball16
    out = arrays["out"]
    into = out if arrays["into"] is None else arrays["into"]
    ball: Ball = kind(
        **arrays["scratch"],
        **{f"out_{name}": array for name, array in out.items()},
        **{f"into_{name}": array for name, array in into.items()},
        **arrays["matrices"],
        far=far,
    )
    return ball


class Together(NamedTuple):
    """The arrays in which blocks of roots are searched."""

    leaving: Csr  # leaving, entering: the edges in sweep order, and those of the transpose
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


def _arrays_of_edges(rows: int, edges: int, number: np.dtype[Any]) -> dict[str, Array]:
    return {
        "indptr": Array((rows + 1,), INTEGER),
        "indices": Array((edges,), NARROW),
        "lengths": Array((edges,), number),
    }


def _number(graph: Graph, radius: float) -> tuple[np.dtype[Any], Any]:
    """Return the type of distances, and the next number of it above the radius.

    Whole lengths have integers of 16 bits, if these hold a length more than that.
    """
    beyond = int(radius) + 1
    if graph.has_whole_lengths and beyond + graph.longest <= np.iinfo(np.uint16).max:
        return np.dtype(np.uint16), beyond
    return FLOAT, float(np.nextafter(radius, np.inf))
