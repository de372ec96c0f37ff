"""The sweeps of the batched method: records for the kernels, and the levels that these find.

A sweep is a record of lagbc/native/kernels/batched/sweep.h: arrays in sweep order that live as long as the worker. Its
queue of (vertex, bit row) entries has the room that graphs of a kind were seen to use, and grows on demand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError
from lagbc.graph.graph import Graph
from lagbc.methods.arrays import FLOAT, INTEGER, WORD, Array, Counted, bytes_of
from lagbc.methods.contract import Interrupted, OfWholeBatch, SweepPlan, places_of_roots, put_weights
from lagbc.methods.sums import OF_EDGES, PATH_SUMS, SQUARES, Sums
from lagbc.methods.targets import columns_into_range
from lagbc.native import core, csr, record

# Roots of a batch: the columns of a row.
COLUMNS = 64
# Entries of a vertex in a queue's first size: with lengths, and at least where the diameter is high.
_ENTRIES_WITH_LENGTHS, _ENTRIES_OF_MESHES = 10, 16
# How often each column counts where the plan has no weights of roots.
_ONCE = np.ones(COLUMNS)

Queue = core.Queue32 | core.Queue64


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


def arrays_of_sweep(graph: Graph, plan: SweepPlan, room: int) -> dict[str, Any]:
    """State the arrays of every sweep, by the names of the kernels' records, and of a batch's sums."""
    n, counts = graph.n, bool(plan.sums & PATH_SUMS)
    return {
        "given": {
            "omega": Array((n,), FLOAT, 1),
            "class_sizes": None if plan.class_sizes is None else Array((n,), FLOAT),
        },
        "queue": queue_arrays(graph, room),
        "sweep": {
            "values": Array((n, COLUMNS), FLOAT) if counts else None,
            "paths": Array((n, COLUMNS), FLOAT) if "stress" in plan.sums else None,
        },
        "sums": Counted(_sums_of_batch(graph, plan)),
    }


def arrays_of_counting(graph: Graph, plan: SweepPlan, room: int) -> dict[str, Any]:
    """State the arrays of sweeps whose rows wait until they can be counted; values are there in any case."""
    n, nnz, index = graph.n, graph.nnz, graph.indices.dtype
    arrays = arrays_of_sweep(graph, plan, room)
    arrays["sweep"] |= {
        "values": Array((n, COLUMNS), FLOAT),
        "waiting": Array((n,), WORD, 0),
        "pushed": Array((n,), WORD, 0),
        "nearest": Array((n,), FLOAT, 0),
        "lists": Array((2, n), index),
        "tight_masks": Array((nnz,), WORD),
        "in_starts": Array((n + 1,), INTEGER, 0),
        "in_ends": Array((nnz,), index),
        "in_masks": Array((nnz,), WORD),
    }
    return arrays


def queue_arrays(graph: Graph, room: int) -> Counted:
    """State the arrays of a queue in its first size; it allocates and resizes them."""
    return Counted({"vertices": Array((room,), graph.indices.dtype), "masks": Array((room,), WORD)})


def queue_of(graph: Graph, plan: SweepPlan, arrays: dict[str, Array]) -> Queue:
    """Make a queue, which grows as far as the plan allows."""
    (room,), growth = arrays["vertices"].shape, -1 if plan.growth is None else plan.growth
    queue: Queue = record("Queue", graph.indices.dtype, room=room, rows=graph.n, growth=growth)
    return queue


def fields_of_sweep(graph: Graph, plan: SweepPlan, arrays: dict[str, Any]) -> dict[str, Any]:
    """Put the arrays beside all else that every record of a sweep has."""
    return {
        **arrays["sweep"],
        **put_weights(arrays["given"], graph, plan),
        "out": csr(*graph.reordered.csr),
        "queue": queue_of(graph, plan, arrays["queue"]),
        "order": graph.order,
        "stop": plan.stop.value,
        "sigma_limit": plan.sigma_limit,
        "endpoints": plan.endpoints,
        "linear": plan.linear,
    }


def _sums_of_batch(graph: Graph, plan: SweepPlan) -> dict[str, Array]:
    """State the sums in sweep order: over paths and of edges, or over distances, whichever take more bytes."""
    n, of_paths, of_distances = graph.n, plan.sums & PATH_SUMS, plan.sums - PATH_SUMS
    kinds = 1 + bool(of_paths & SQUARES)
    paths = {"vertices": Array((kinds + ("stress" in of_paths), n), FLOAT)}
    if of_paths & OF_EDGES:
        paths["edges"] = Array((kinds, graph.nnz), FLOAT)
    if not of_distances:
        return paths
    distances = {
        "vertices": Array((5 if of_distances & SQUARES else 3, n), FLOAT),
        "depth": Array((COLUMNS,), FLOAT),
    }
    return max(paths, distances, key=bytes_of) if of_paths else distances


def rows_of_roots(graph: Graph, roots: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the row of each root, its place in sweep order; -1 for absent ones."""
    if len(roots) > COLUMNS:
        raise InvalidValueError(f"a batch has {len(roots)} roots; a state has {COLUMNS} columns")
    return places_of_roots(graph, roots)


def weights_of_columns(
    plan: SweepPlan, roots: NDArray[np.int64], of_columns: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64]]:
    """Return target weights of columns as rows of 64, None for the plan's, and how often each column counts.

    Weights of columns, shape (rows, columns), are brought into range.
    """
    if plan.root_weights is None and of_columns is None:
        return None, _ONCE
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
    sweep = state.sweep
    core.search_batch(sweep, rows_of_roots(state.graph, roots))
    state.plan.stop.check()
    yield Levels(roots, sweep.entries, sweep.depth, sweep.overflowed)


def backward(state: Any, levels: Levels, sums: Sums, omega: NDArray[np.float64] | None = None) -> None:
    """Add the sums of the roots in range to the one row of `sums`; Interrupted adds none over paths.

    Those over distances come first: counts may take the place of distances.
    """
    plan, sweep, totals = state.plan, state.sweep, sums.row(0)
    if plan.sums - PATH_SUMS:
        core.sum_distances(sweep, totals)
    if plan.sums & PATH_SUMS:
        of_columns, times = weights_of_columns(plan, levels.roots, omega)
        edge_order = state.graph.edge_order if plan.sums & OF_EDGES else None  # made on its first use
        if not core.sum_paths(sweep, of_columns, times, edge_order, totals):
            raise Interrupted
