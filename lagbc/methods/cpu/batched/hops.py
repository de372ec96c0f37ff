"""Unweighted betweenness on the CPU by masked sparse matrix products on bit rows.

64 roots are the 64 columns of one batch. Every vertex has a row of 64 numbers (its path counts sigma, later its path
dependencies c, in the same place) and words of 64 bits that say in which columns it is on the frontier or visited. One
edge costs a word to inspect; a row of numbers is read only where bits meet. That is a masked product whose mask is
tested before any number is loaded.

There are two ways. Either a row is counted level by level (`levels`), as it is found, once for each level at which it
is live in some column: 2 to 5 times on graphs of low diameter. Or all levels are found in bits first, and a row waits
until it can be counted in most of its columns at once (`waiting`): where the diameter is high, and the roots of a batch
are neighbours, 1 to 2 times in place of 6 to 35. Which of the two it is, `Graph.has_high_diameter` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.contract import Batching, SweepPlan
from lagbc.methods.cpu.batched import levels as by_levels
from lagbc.methods.cpu.batched import waiting
from lagbc.methods.cpu.batched.sweep import COLUMNS, Levels
from lagbc.methods.sums import PATH_SUMS, Sums

batching = Batching(block=COLUMNS, widest=COLUMNS, auto=COLUMNS, concurrent=True)
options = frozenset({"members", "linear"})


def _way(graph: Graph, plan: SweepPlan) -> ModuleType:
    """Return the module that sweeps a graph; where no paths are counted, or levels are read, no row waits."""
    return waiting if graph.has_high_diameter and plan.sums & PATH_SUMS and not plan.linear else by_levels


def footprint(graph: Graph, plan: SweepPlan) -> int:
    """Return the bytes of a worker: the arrays of its state, the queues as they are at first, and a batch's sums."""
    found: int = _way(graph, plan).footprint(graph, plan)
    return found


def prepare(graph: Graph, plan: SweepPlan) -> by_levels.State | waiting.State:
    """Reorder the graph (once a graph) and allocate one worker's rows."""
    state: by_levels.State | waiting.State = _way(graph, plan).prepare(graph, plan)
    return state


def forward(state: Any, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Find the levels of up to 64 roots and count their shortest paths."""
    found: Iterator[Levels] = _way(state.graph, state.plan).forward(state, roots)
    return found


def paths(state: Any, levels: Levels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return dist and sigma of the roots, shape (n, columns), rows being vertices in sweep order.

    dist is inf where a vertex is not reached, and sigma is 0. They are copies.

    Raises
    ------
    ValueError
        The plan asks for no sum over paths, so that they are not counted.
    """
    dist, sigma = _way(state.graph, state.plan).paths(state, levels)
    return dist, sigma


def backward(state: Any, levels: Levels, sums: Sums, omega: NDArray[np.float64] | None = None) -> None:
    """Add what the roots that did not overflow sum to, to the one row of `sums`."""
    _way(state.graph, state.plan).backward(state, levels, sums, omega)
