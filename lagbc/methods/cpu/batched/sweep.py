"""The sweeps of the batched method, which own their arrays, and the levels that they find.

A sweep is an object of a class of lagbc/native/kernels/batched/sweep.h, and lives as long as the worker. Its queue of
(vertex, bit row) entries has the room that graphs of a kind were seen to use, and grows on demand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.arrays import counted
from lagbc.methods.contract import Interrupted, OfWholeBatch, SweepPlan
from lagbc.methods.sums import OF_EDGES, Sums, bits_of
from lagbc.methods.targets import columns_into_range
from lagbc.native import class_of, csr

# Roots of a batch: the columns of a row.
COLUMNS = 64
# Entries of a vertex in a queue's first size: with lengths, and at least where the diameter is high.
_ENTRIES_WITH_LENGTHS, _ENTRIES_OF_MESHES = 10, 16


@dataclass(slots=True, eq=False)
class Levels(OfWholeBatch):
    """The levels of a batch, which its state holds."""

    entries: int  # in the queue, the roots' among them; 0 if nothing is queued
    depth: int  # levels, or phases
    beyond: int  # the columns that left the range of float64, or are to be recomputed for another reason, a bit each

    @property
    def overflowed(self) -> NDArray[np.bool_]:
        """Whether each root's column overflowed."""
        return flags_of(self.beyond, len(self.roots)) if self.beyond else np.zeros(len(self.roots), np.bool_)


def flags_of(word: int, roots: int) -> NDArray[np.bool_]:
    """Return for each root whether its bit is set in a word of columns."""
    bits = np.frombuffer(int(word).to_bytes(8, "little"), np.uint8)
    return np.unpackbits(bits, count=roots, bitorder="little").view(np.bool_)


def room_of_hops(graph: Graph, plan: SweepPlan) -> int:
    """Return the queue's first entries, where a row has one for each level at which it is live.

    Where the diameter is low, most vertices are at a few distances from all roots: 3 to 9 on 30 networks of depth 5 to
    26. Where it is high, a batch's roots lie in a piece of the graph, the smaller the more roots there are, and the
    distances of a vertex from them differ by its diameter at most. On 9 road networks and meshes rows had 27 to 61
    entries with 256 random roots, and 5 to 48 with all. Rows that wait have fewer: 7 to 18, and 1 to 2.
    """
    if not graph.has_high_diameter:
        return _room(graph, plan, 5 + graph.depth // 2)
    roots = max(1, graph.n if plan.roots is None else plan.roots)
    return _room(graph, plan, max(_ENTRIES_OF_MESHES, int(3 * graph.depth * (COLUMNS / roots) ** 0.5)))


def room_of_lengths(graph: Graph, plan: SweepPlan) -> int:
    """Return the queue's first entries, where a row waits until it can be counted in most of its columns.

    Rows had up to 8 entries on 39 networks of all kinds; roots at even distances along a path give each one of its own.
    """
    return _room(graph, plan, _ENTRIES_WITH_LENGTHS)


def _room(graph: Graph, plan: SweepPlan, a_vertex: int) -> int:
    roots = graph.n if plan.roots is None else plan.roots
    return graph.n * max(1, min(a_vertex, roots, COLUMNS))


def state_bytes(kind: str, graph: Graph, plan: SweepPlan, room: int, *, is_short: bool = False) -> dict[str, Any]:
    """State the bytes of a sweep of a kind, with its queues in their first size, and of a batch's sums."""
    has_class_sizes = plan.class_sizes is not None
    of = class_of(kind, graph.indices.dtype)
    return {"sweep": counted(of.bytes(graph.n, graph.nnz, bits_of(plan.sums), room, is_short, has_class_sizes))}


def make(kind: str, graph: Graph, plan: SweepPlan, room: int, *own: Any, is_short: bool = False) -> Any:
    """Make a sweep of a kind, with arguments of its own; it polls the flag of the plan."""
    sweep = class_of(kind, graph.indices.dtype)(
        csr(*graph.reordered.csr),
        graph.order,
        graph.position,
        bits_of(plan.sums),
        room,
        -1 if plan.growth is None else plan.growth,
        is_short,
        plan.omega,
        plan.class_sizes,
        plan.sigma_limit,
        plan.endpoints,
        plan.linear,
        *own,
    )
    sweep.poll(plan.stop.value)
    return sweep


def weights_of_columns(
    plan: SweepPlan, roots: NDArray[np.int64], of_columns: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64]]:
    """Return target weights of columns as rows of 64, None for the plan's, and how often each column counts.

    Weights of columns, shape (rows, columns), are brought into range.
    """
    times = np.ones(COLUMNS)
    if plan.root_weights is not None:
        times[: len(roots)] = plan.root_weights[roots]
    if of_columns is None:
        return None, times
    columns = of_columns.shape[1]
    scaled, times[:columns] = columns_into_range(of_columns, times[:columns], plan.dtype)
    if columns == COLUMNS:
        return np.ascontiguousarray(scaled), times
    rows = np.ones((len(of_columns), COLUMNS))
    rows[:, :columns] = scaled
    return rows, times


def forward(state: Any, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Find the levels of up to 64 roots, and count their shortest paths."""
    entries, depth, beyond = state.sweep.forward(roots)
    state.plan.stop.check()
    yield Levels(roots, entries, depth, beyond)


def backward(state: Any, levels: Levels, sums: Sums, omega: NDArray[np.float64] | None = None) -> None:
    """Add the sums of the roots in range to the one row of `sums`; Interrupted adds none over paths."""
    plan, of_columns, times = state.plan, None, None
    if plan.root_weights is not None or omega is not None:
        of_columns, times = weights_of_columns(plan, levels.roots, omega)
    edge_order = state.graph.edge_order if plan.sums & OF_EDGES else None  # made on its first use
    if not state.sweep.backward(sums.row(0), of_columns, times, edge_order):
        raise Interrupted
