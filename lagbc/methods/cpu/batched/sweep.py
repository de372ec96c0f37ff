"""What a worker of the batched method hands to the kernels, and what these find of a batch.

A sweep is a record of lagbc/native/kernels/batched/sweep.h: arrays in sweep order that live as long as the worker. Its
queue of (vertex, bit row) entries has room for as many as graphs of a kind were seen to use, and grows on demand.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.contract import Interrupted, SweepPlan
from lagbc.methods.sums import OF_EDGES, PATH_SUMS, SQUARES, Sums
from lagbc.methods.targets import columns_into_range
from lagbc.native import by_index, core, csr

# Roots of a batch: the columns of a row.
COLUMNS = 64
# Entries of a vertex that there is room for: with lengths, and at least where the diameter is high.
_ENTRIES_WITH_LENGTHS, _ENTRIES_OF_MESHES = 10, 16
_EVERY_COLUMN = 2**COLUMNS - 1
# How often each column counts where nothing is said of it.
_ONCE = np.ones(COLUMNS)

Queue = core.Queue32 | core.Queue64


@dataclass(frozen=True, eq=False)
class Levels:
    """What a forward sweep leaves in its state.

    Attributes
    ----------
    roots : ndarray of int64, shape (columns,)
    entries : int
        In the queue, the roots' among them; 0 if nothing is queued.
    depth : int
        Levels, or phases.
    beyond : int
        The columns that left the range of float64, or are to be recomputed for another reason, a bit each.
    """

    roots: NDArray[np.int64]
    entries: int
    depth: int
    beyond: int

    @property
    def overflowed(self) -> NDArray[np.bool_]:
        """Whether each root is one of these columns."""
        return flags_of(self.beyond, len(self.roots))

    @property
    def places(self) -> NDArray[np.int64]:
        """All places of the batch."""
        return np.arange(len(self.roots))


def flags_of(word: int, roots: int) -> NDArray[np.bool_]:
    """Tell for each root whether its bit is set in a word of columns."""
    bits = np.frombuffer(int(word).to_bytes(8, "little"), np.uint8)
    return np.unpackbits(bits, count=roots, bitorder="little").view(np.bool_)


def levels_of(sweep: Any, roots: NDArray[np.int64]) -> Levels:
    """Take what a search from the roots has left in a sweep."""
    return Levels(roots, sweep.entries, sweep.depth, sweep.overflowed)


def room_of_hops(graph: Graph, plan: SweepPlan) -> int:
    """Tell how many entries to make room for, where a row has one for each level at which it is live.

    Where the diameter is low, most vertices are at a few distances from all roots: 3 to 9 on 30 networks of depth 5 to
    26. Where it is high, a batch's roots are in a piece of the graph, which is the smaller the more roots there are,
    and the distances of a vertex from them differ by its diameter at most. On 9 road networks and meshes rows had 27 to
    61 entries with 256 random roots, and 5 to 48 with all. Rows that wait have fewer: 7 to 18, and 1 to 2.
    """
    if not graph.has_high_diameter:
        return _room(graph, plan, 5 + graph.depth // 2)
    roots = max(1, graph.n if plan.roots is None else plan.roots)
    return _room(graph, plan, max(_ENTRIES_OF_MESHES, int(3 * graph.depth * (COLUMNS / roots) ** 0.5)))


def room_of_lengths(graph: Graph, plan: SweepPlan) -> int:
    """Tell how many entries to make room for, where a row waits until it can be counted in most of its columns.

    Rows had up to 8 entries on 39 networks of all kinds; roots at even distances along a path give each one of its own.
    """
    return _room(graph, plan, _ENTRIES_WITH_LENGTHS)


def _room(graph: Graph, plan: SweepPlan, a_vertex: int) -> int:
    roots = graph.n if plan.roots is None else plan.roots
    return graph.n * max(1, min(a_vertex, roots, COLUMNS))


def bytes_of_queue(graph: Graph, room: int) -> int:
    """Bytes of a queue that has so much room."""
    return room * (graph.indices.dtype.itemsize + 8)


def queue_of(graph: Graph, plan: SweepPlan, room: int) -> Queue:
    """Make a queue, which grows as far as the plan allows."""
    kind = by_index(graph.indices.dtype, core.Queue32, core.Queue64)
    return kind(room, graph.n, -1 if plan.growth is None else plan.growth)


def arrays_of_sweep(graph: Graph, plan: SweepPlan, room: int) -> dict[str, Any]:
    """Allocate what every sweep has; see `Sweep` in sweep.h."""
    n, counts = graph.n, bool(plan.sums & PATH_SUMS)
    return {
        "out": csr(*graph.reordered.csr),
        "queue": queue_of(graph, plan, room),
        "order": graph.order,
        "omega": np.ones(n) if plan.omega is None else plan.omega[graph.order],
        "members": None if plan.members is None else plan.members[graph.order],
        "values": np.empty((n, COLUMNS)) if counts else None,
        "paths": np.empty((n, COLUMNS)) if "stress" in plan.sums else None,
        "stop": plan.stop.value,
        "sigma_limit": plan.sigma_limit,
        "endpoints": plan.endpoints,
        "linear": plan.linear,
    }


def bytes_of_sums(graph: Graph, plan: SweepPlan) -> int:
    """Bytes of the sums of a batch in sweep order: of paths and of edges, or of distances, which are made later."""
    words = 8 * graph.n
    of_paths, of_distances = plan.sums & PATH_SUMS, plan.sums - PATH_SUMS
    edges = 8 * graph.nnz * bool(plan.sums & OF_EDGES)
    paths = words * (1 + ("stress" in plan.sums)) + edges + (words + edges) * bool(of_paths & SQUARES)
    distances = (5 if of_distances & SQUARES else 3) * words + 8 * COLUMNS
    return max(paths if of_paths else 0, distances if of_distances else 0)


def rows_of_roots(graph: Graph, roots: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row of each root, its place in sweep order; -1 for absent ones."""
    rows = graph.position[roots]
    rows[roots < 0] = -1
    return rows


def weights_of_columns(
    plan: SweepPlan, roots: NDArray[np.int64], of_columns: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64]]:
    """Target weights of single columns as rows of 64, None for the plan's, and how often each column counts.

    Weights of columns, shape (rows, columns), are brought into range.
    """
    if plan.multiplicity is None and of_columns is None:
        return None, _ONCE
    times = np.ones(COLUMNS)
    if plan.multiplicity is not None:
        times[: len(roots)] = plan.multiplicity[roots]
    if of_columns is None:
        return None, times
    columns = of_columns.shape[1]
    scaled, times[:columns] = columns_into_range(of_columns, times[:columns], plan.dtype)
    if columns == COLUMNS:
        return np.ascontiguousarray(scaled), times
    rows = np.ones((len(of_columns), COLUMNS))
    rows[:, :columns] = scaled
    return rows, times


def add_path_sums(
    kernel: Any,
    sweep: Any,
    graph: Graph,
    plan: SweepPlan,
    roots: NDArray[np.int64],
    sums: Sums,
    omega: NDArray[np.float64] | None,
) -> None:
    """Add what the roots that did not overflow sum to over paths, by a kernel that sweeps backward.

    Raises
    ------
    Interrupted
        The stop flag is set; nothing is added.
    """
    of_columns, times = weights_of_columns(plan, roots, omega)
    edge_order = graph.edge_order if plan.sums & OF_EDGES else None  # which is made on its first use
    squares = _row(sums.dependency_squares), _row(sums.edges_squares)
    totals = (_row(sums.dependency), _row(sums.stress), _row(sums.edges), *squares)
    if not kernel(sweep, of_columns, times, edge_order, *totals):
        raise Interrupted


def add_distance_sums(kernel: Any, sweep: Any, sums: Sums) -> None:
    """Add what the roots that did not overflow sum to over distances, and the largest distance of each."""
    squares = _row(sums.distance_squares), _row(sums.inverse_squares)
    kernel(sweep, _row(sums.reached), _row(sums.distance), _row(sums.inverse), sums.depth, *squares)


def _row(total: Any) -> Any:
    """Return the one row of a sum of a batch; None for a sum that is not asked for."""
    return None if total is None else total[0]
