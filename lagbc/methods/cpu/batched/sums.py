"""The sums of a batch in sweep order, before they are brought into matrix order, and the weights that go into them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu.batched.rows import COLUMNS
from lagbc.methods.cpu.in_order import add_in_order
from lagbc.methods.sums import PATH_SUMS, Sums
from lagbc.methods.targets import columns_into_range


@dataclass(frozen=True, eq=False)
class PathSums:
    """Sums over paths, shape (n,); stress is None if it is not asked for."""

    dependency: NDArray[np.float64]
    stress: NDArray[np.float64] | None

    @classmethod
    def zeros(cls, n: int, asked: Sums) -> PathSums:
        """Make those that are asked for; the sweep makes dependencies in any case."""
        return cls(np.zeros(n), None if asked.stress is None else np.zeros(n))

    def add_to(self, sums: Sums, order: NDArray[np.int64]) -> None:
        """Add them to a batch's, in matrix order."""
        _add(sums.dependency, order, self.dependency)
        _add(sums.stress, order, self.stress)


@dataclass(frozen=True, eq=False)
class DistanceSums:
    """Sums over distances, shape (n,), and the largest of each column, shape (1, 64)."""

    reached: NDArray[np.float64]
    distance: NDArray[np.float64]
    inverse: NDArray[np.float64]
    deepest: NDArray[np.float64]

    @classmethod
    def zeros(cls, n: int) -> DistanceSums:
        """Make them all."""
        return cls(*np.zeros((3, n)), np.zeros((1, COLUMNS)))

    def add_to(self, sums: Sums, order: NDArray[np.int64], roots: int) -> None:
        """Add those that are asked for to a batch's, in matrix order."""
        for name in ("reached", "distance", "inverse"):
            _add(getattr(sums, name), order, getattr(self, name))
        if sums.depth is not None:
            sums.depth += self.deepest[0, :roots]


def bytes_of_sums(graph: Graph, plan: SweepPlan) -> int:
    """Bytes of the sums of a batch in sweep order: of paths and of edges, or of distances, which are gone before."""
    words = 8 * graph.n
    paths = words * (1 + ("stress" in plan.sums)) + 8 * graph.nnz * ("edges" in plan.sums)
    distances = 3 * words + 8 * COLUMNS
    return max(paths if plan.sums & PATH_SUMS else 0, distances if plan.sums - PATH_SUMS else 0)


def rows_of_roots(graph: Graph, roots: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row of each root, its place in sweep order; -1 for absent ones."""
    rows = graph.position[roots]
    rows[roots < 0] = -1
    return rows


def multiplicity_row(plan: SweepPlan, roots: NDArray[np.int64]) -> NDArray[np.float64]:
    """How often each column counts, shape (1, 64)."""
    row = np.ones((1, COLUMNS))
    if plan.multiplicity is not None:
        row[0, : len(roots)] = plan.multiplicity[roots]
    return row


def weights_of_columns(
    plan: SweepPlan, roots: NDArray[np.int64], omega: NDArray[np.float64], of_columns: Any
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Target weights, and how often each column counts.

    Parameters
    ----------
    omega : ndarray of float64, shape (n,)
        The plan's, in sweep order.
    of_columns : ndarray of float64, shape (n, columns), or None
        What stands in for them; they are brought into range, as rows of 64.
    """
    times = multiplicity_row(plan, roots)
    if of_columns is None:
        return omega, times
    columns = of_columns.shape[1]
    scaled, times[0, :columns] = columns_into_range(of_columns, times[0, :columns], plan.dtype)
    if columns == COLUMNS:
        return np.ascontiguousarray(scaled), times
    rows = np.ones((len(of_columns), COLUMNS))
    rows[:, :columns] = scaled
    return rows, times


def _add(total: Any, order: NDArray[np.int64], part: Any) -> None:
    """Add a part in sweep order to the one row of a sum of a batch; None is a sum that is not asked for."""
    if total is not None:
        add_in_order(total[0], part, order)
