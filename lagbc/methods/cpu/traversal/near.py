"""Sums within bounds: kept for the touched vertices, as lagbc/native/kernels/traversal/near.h adds to them.

Sums lie in rows, one for each vertex (or edge) that a block of roots has touched, in the order of the first touch:
roots of a block are neighbours, and so are the rows that they add to. Roots that are summed together
(`lagbc.methods.cpu.within`) add to the same rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import OF_EDGES, OF_ROOTS, SparseSums, Sums

# The sums, in the order in which kernels take their columns.
_SUMS = "dependency", "stress", "reached", "distance", "inverse", "edges", "depth", "targets", "gravity"
# Arrays of sums: with a row for a vertex, an edge, and a root.
_VERTICES, _EDGES, _ROOTS = range(3)


def _array_of(name: str) -> int:
    return _EDGES if name in OF_EDGES else _ROOTS if name in OF_ROOTS else _VERTICES


def _lay_out(plan: SweepPlan) -> tuple[dict[str, int], list[int]]:
    """Return the first column of each sum in its array, and the width of each array."""
    first, widths = dict[str, int](), [0, 0, 0]
    for name in sorted(plan.sums):
        first[name] = widths[_array_of(name)]
        widths[_array_of(name)] += plan.columns(name)
    return first, widths


def widths(plan: SweepPlan) -> list[int]:
    """Return the columns of sums of vertices, of edges and of roots."""
    return _lay_out(plan)[1]


def set_bounds(sweep: Any, plan: SweepPlan) -> None:
    """Give a worker the bounds of a plan."""
    bounds, (first, _) = plan.bounds, _lay_out(plan)
    assert bounds is not None
    columns = tuple(first.get(name, -1) for name in _SUMS)
    sweep.set_bounds(bounds.radii, bounds.decays, bounds.cutoffs, columns)


def as_sums(
    plan: SweepPlan,
    vertices: NDArray[np.int64],
    edges: NDArray[np.int64],
    roots: NDArray[np.int64],
    *arrays: NDArray[np.float64],
) -> SparseSums:
    """Take the sums of a block out of the arrays that a worker gives, as views."""
    first, _ = _lay_out(plan)
    columns = {name: slice(first[name], first[name] + plan.columns(name)) for name in plan.sums}
    sums = Sums(**{name: arrays[_array_of(name)][:, of_sum] for name, of_sum in columns.items()})
    return SparseSums(vertices, edges, roots, sums)
