"""A part of a plan: a graph with roots that one method sweeps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.table import Method


@dataclass(frozen=True, eq=False)
class Part:
    """A graph with roots that one method sweeps; a chunk of roots belongs to one part.

    Attributes
    ----------
    graph : Graph
        On the host or on a device, as the method takes it.
    roots : ndarray of int64
    method : Method
    sweep : SweepPlan
    ordered : ndarray of int64, or None
        The roots as `lagbc.run.sweep.order_roots` lines them up, where the choice of the method needed that.
    """

    graph: Graph
    roots: NDArray[np.int64]
    method: Method
    sweep: SweepPlan
    ordered: NDArray[np.int64] | None = None

    @cached_property
    def swept(self) -> int:
        """How many roots are swept; one without out-edges is not."""
        return int(np.count_nonzero(self.graph.out_degrees[self.roots]))

    @property
    def work(self) -> int:
        """Roots times edges: what the parts of a plan share its time by."""
        return self.swept * self.graph.nnz
