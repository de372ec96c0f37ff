"""Sums within bounds of neighbouring roots: a block and its ball, in matrices with a row for each vertex of the ball.

A root has a lane of the rows. One edge is read for all roots of a block, and a processor does its work on the lanes of
a row many at a time. That is worth it where the ball is little larger than the part that each root reaches; else the
roots are searched one by one. Sums are in the columns of `traversal.near`. See lagbc/native/kernels/within/.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import PATH_SUMS
from lagbc.native import class_of, core, csr

# A larger ball has no room. Matrices of so many rows take 32 MiB a thread.
MOST_ROWS, MOST_EDGES = 1 << 14, 1 << 17

Ball: TypeAlias = core.ShortBall32 | core.ShortBall64 | core.Ball32 | core.Ball64


def sums_in_blocks(graph: Graph, plan: SweepPlan) -> bool:
    """Whether roots of a run are summed in blocks, where these are worth it.

    No length may be absorbed: with l >= ulp(radius), d + l > d for all d up to the radius.
    """
    if plan.bounds is None or plan.rtol or plan.class_sizes is not None or plan.demand is not None or not graph.nnz:
        return False
    assert graph.weights is not None
    radius = plan.radius
    return bool(radius < np.inf and graph.n < 2**31 and graph.weights.min() >= np.spacing(radius))


def bytes_of_ball(graph: Graph, plan: SweepPlan) -> int:
    """Count the bytes of a ball; pages that no ball needs are never touched."""
    kind, _ = _number(graph, plan.radius)
    count: int = class_of(kind, graph.indices.dtype).bytes(_size(graph, plan))
    return count


def new_ball(graph: Graph, plan: SweepPlan, worker: Any, worth: float) -> Ball:
    """Make a ball whose sums a worker keeps; a row of it costs as much as `worth` vertices searched root by root."""
    kind, far = _number(graph, plan.radius)
    into = csr(*graph.reordered.transpose.csr)
    ball: Ball = class_of(kind, graph.indices.dtype)(_size(graph, plan), worker, into, far, worth)
    return ball


def _size(graph: Graph, plan: SweepPlan) -> tuple[int, int, int, bool, bool, bool]:
    """Return the sizes that tell all arrays, as lagbc/native/kernels/within/state.h has them."""
    most, is_symmetric = (min(graph.n, MOST_ROWS), min(graph.nnz, MOST_EDGES)), graph.transpose is graph
    return graph.n, *most, is_symmetric, bool(plan.sums & PATH_SUMS), "edges" in plan.sums


def _number(graph: Graph, radius: float) -> tuple[str, float]:
    """Return the class of a ball, by the type of its distances, and the next number of that type above the radius.

    Whole lengths have integers of 16 bits, if these hold a length more than that.
    """
    beyond = int(radius) + 1
    if graph.has_whole_lengths and beyond + graph.longest <= np.iinfo(np.uint16).max:
        return "ShortBall", float(beyond)
    return "Ball", float(np.nextafter(radius, np.inf))
