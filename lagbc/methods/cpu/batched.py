"""Betweenness on the CPU by masked sparse matrix products on bit rows, 64 roots at a time, in hops and with lengths.

64 roots are the 64 columns of one batch. Every vertex has a row of 64 numbers (its path counts sigma, later its path
dependencies c, in the same place) and words of 64 bits, a bit for each column where it is on the frontier, or visited.
One edge costs a word to inspect; a row of numbers is read only where bits meet. That is a masked product whose mask is
tested before any number is loaded.

A schedule is the order in which rows are counted. In level order a row is counted as it is found, once for each level
at which it is live in some column: 2 to 5 times on graphs of low diameter. In ready order all levels are found in bits
first, and a row waits until it can be counted in most of its columns at once: where the diameter is high, and the roots
of a batch are neighbours, 1 to 2 times in place of 6 to 35. `Graph.has_high_diameter` chooses. With lengths distances
are found first, and rows wait, too.

A worker is one thread and has a sweep: an object of a class of lagbc/native/kernels/batched/sweep.h, which owns its
arrays; levels.h, waiting.h and lengths.h there describe the kernels of the schedules. Its queue of (vertex, bit row)
entries has the room that graphs of a kind were seen to use, and grows on demand.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.graph.graph import Graph
from lagbc.methods.contract import Batching, Interrupted, OfWholeBatch, SweepPlan
from lagbc.methods.sums import OF_EDGES, PATH_SUMS, Sums, bits_of, columns_into_range
from lagbc.native import classes_of, core, csr

# Roots of a batch: the columns of a row.
COLUMNS = 64
batching = Batching(block=COLUMNS, widest=COLUMNS, auto=COLUMNS, concurrent=True)
# Entries of a vertex in a queue's first size: with lengths, and at least where the diameter is high.
_ENTRIES_WITH_LENGTHS, _ENTRIES_OF_MESHES = 10, 16
# Distances of 16 bits, and the number that stands for infinity among them.
_SHORT = np.dtype(np.uint16)
_MOST = np.iinfo(_SHORT).max


# The schedules, by the classes of their sweeps.
LEVEL_ORDER, READY_ORDER, WITH_LENGTHS = "LevelSweep", "WaitingSweep", "LengthSweep"
_CLASSES = {schedule: classes_of(schedule) for schedule in (LEVEL_ORDER, READY_ORDER, WITH_LENGTHS)}


def schedule_of(graph: Graph, plan: SweepPlan) -> str:
    """Choose the schedule; in hops no row waits where paths are not counted, or sums are linear."""
    if graph.weighted:
        return WITH_LENGTHS
    return READY_ORDER if graph.has_high_diameter and plan.counts_paths and not plan.linear else LEVEL_ORDER


def begins_short(graph: Graph, plan: SweepPlan) -> bool:
    """Whether distances of lengths begin as uint16: whole ones, and a small diameter by a guess from its hops."""
    if not graph.nnz or plan.rtol or plan.sums - PATH_SUMS:
        return False
    return graph.longest + 2 * graph.mean_length * graph.depth < _MOST and graph.has_whole_lengths


def first_entries(graph: Graph, plan: SweepPlan) -> int:
    """Return the queue's first entries, where a row has one for each time that it is counted.

    In hops, where the diameter is low, most vertices are at a few distances from all roots: 3 to 9 on 30 networks of
    depth 5 to 26. Where it is high, a batch's roots lie in a piece of the graph, the smaller the more roots there are,
    and the distances of a vertex from them differ by its diameter at most. On 9 road networks and meshes rows had 27 to
    61 entries with 256 random roots, and 5 to 48 with all. Rows that wait have fewer: 7 to 18, and 1 to 2. With lengths
    rows had up to 8 on 39 networks of all kinds; roots at even distances along a path give each one of its own.
    """
    roots = graph.n if plan.roots is None else plan.roots
    if graph.weighted:
        a_vertex = _ENTRIES_WITH_LENGTHS
    elif not graph.has_high_diameter:
        a_vertex = 5 + graph.depth // 2
    else:
        a_vertex = max(_ENTRIES_OF_MESHES, int(3 * graph.depth * (COLUMNS / max(1, roots)) ** 0.5))
    return graph.n * max(1, min(a_vertex, roots, COLUMNS))


@dataclass(slots=True, eq=False)
class State:
    """One worker."""

    graph: Graph
    plan: SweepPlan
    sweep: Any  # of the schedule's class, for the type of the graph's indices

    @property
    def dist(self) -> NDArray[Any]:
        """With lengths the last search's distances, float64 or uint16, shape (n, 64), until counts take their place."""
        sweep = self.sweep
        name = "short_distances" if sweep.is_short else "values" if sweep.counts_in_place else "distances"
        return sweep.array(name)


class BatchRequest(NamedTuple):
    """The request to a sweep, as in lagbc/native/kernels/batched/sweep.h; each reads the numbers of its schedule."""

    sigma_limit: float
    endpoints: bool
    linear: bool
    active: int = 0
    pull_share: float = 0.0
    count_width: float = 0.0
    width: float = 0.0
    rtol: float = 0.0
    longest: float = 0.0


def arrays(graph: Graph, plan: SweepPlan, schedule: str | None = None) -> dict[str, Any]:
    """State the bytes of a sweep, with its queues in their first size."""
    schedule = schedule or schedule_of(graph, plan)
    of, is_short = _CLASSES[schedule][graph.indices.dtype], schedule == WITH_LENGTHS and begins_short(graph, plan)
    size = graph.n, graph.nnz, bits_of(plan.sums), first_entries(graph, plan)
    return {"sweep": of.bytes(*size, is_short, plan.class_sizes is not None)}


def prepare(graph: Graph, plan: SweepPlan, schedule: str | None = None) -> State:
    """Reorder the graph (once a graph) and make a worker's sweep."""
    schedule = schedule or schedule_of(graph, plan)
    is_short = schedule == WITH_LENGTHS and begins_short(graph, plan)
    reordered, mean = graph.reordered, graph.mean_length if graph.weighted else 1.0
    out = into = csr(*reordered.csr)
    by_levels = schedule == LEVEL_ORDER  # others read neither the transpose nor the count of vertices with edges
    if by_levels and (transpose := reordered.transpose) is not reordered:
        into = csr(*transpose.csr)
    asked = BatchRequest(
        *(plan.sigma_limit, plan.endpoints, plan.linear, graph.active if by_levels else 0, tuning.BATCHED_PULL_SHARE),
        count_width=tuning.BATCHED_COUNT_WIDTH * mean,
        width=tuning.BATCHED_WIDTH * mean if plan.bucket_width is None else plan.bucket_width,  # infinity is one, too
        rtol=plan.rtol,
        longest=graph.longest if is_short else 0.0,
    )
    sweep = _CLASSES[schedule][graph.indices.dtype](
        out,
        into,
        graph.order,
        graph.position,
        bits_of(plan.sums),
        first_entries(graph, plan),
        -1 if plan.growth is None else plan.growth,
        is_short,
        plan.omega,
        plan.class_sizes,
        asked,
    )
    sweep.poll(plan.stop.value)
    return State(graph, plan, sweep)


@dataclass(slots=True, eq=False)
class Levels(OfWholeBatch):
    """The levels of a batch, which its state holds."""

    entries: int  # in the queue, the roots' among them; 0 if nothing is queued
    depth: int  # levels, or phases
    beyond: int  # the columns that left the range of float64, or are to be recomputed for another reason, a bit each

    @property
    def overflowed(self) -> NDArray[np.bool_]:
        """Whether each root's column overflowed."""
        if not self.beyond:
            return np.zeros(len(self.roots), np.bool_)
        bits = np.frombuffer(int(self.beyond).to_bytes(8, "little"), np.uint8)
        return np.unpackbits(bits, count=len(self.roots), bitorder="little").view(np.bool_)


def forward(state: State, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Find the levels of up to 64 roots, and count their shortest paths."""
    entries, depth, beyond = state.sweep.forward(roots)
    state.plan.stop.check()
    yield Levels(roots, entries, depth, beyond)


def backward(state: State, levels: Levels, sums: Sums, omega: NDArray[np.float64] | None = None) -> None:
    """Add the sums of the roots in range to the one row of `sums`; Interrupted adds none over paths."""
    plan, of_columns, times = state.plan, None, None
    if plan.root_weights is not None or omega is not None:
        of_columns, times = _rows_of_weights(plan, levels.roots, omega)
    edge_order = state.graph.edge_order if plan.sums & OF_EDGES else None  # made on its first use
    if not state.sweep.backward(sums.row(0), of_columns, times, edge_order):
        raise Interrupted


def _rows_of_weights(
    plan: SweepPlan, roots: NDArray[np.int64], of_columns: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64]]:
    """Return target weights of columns, in range, as rows of 64, None for the plan's; and how often columns count."""
    times = np.ones(COLUMNS)
    times[: len(roots)] = plan.times_of(roots)
    if of_columns is None:
        return None, times
    columns = of_columns.shape[1]
    scaled, times[:columns] = columns_into_range(of_columns, times[:columns], plan.dtype)
    if columns == COLUMNS:
        return np.ascontiguousarray(scaled), times
    rows = np.ones((len(of_columns), COLUMNS))
    rows[:, :columns] = scaled
    return rows, times


def distances(state: State, levels: Levels) -> NDArray[Any]:
    """Return distances from the roots of a search that counted no paths, shape (n, roots), inf where unreached."""
    if state.graph.weighted:
        return state.dist[:, : len(levels.roots)]
    dist = np.full((state.graph.n, len(levels.roots)), np.inf)
    state.sweep.write_levels(dist)
    return dist


def paths(state: State, levels: Levels) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return dist and sigma by `ReadsPaths`: distances under path counts anew, short ones as float32."""
    state.plan.require_path_counts()
    sweep, columns = state.sweep, len(levels.roots)
    sigma = sweep.array("values")
    if not state.graph.weighted:
        dist = distances(state, levels)
        return dist, np.where(np.isfinite(dist), sigma[:, :columns], 0)
    dist = state.dist
    if sweep.counts_in_place and not sweep.is_short:
        dist = np.empty_like(sigma)
        sweep.write_distances(levels.roots, dist)
        state.plan.stop.check()
    dist, sigma = dist[:, :columns], sigma[:, :columns]
    if dist.dtype == _SHORT:
        dist = np.where(dist == _MOST, np.float32(np.inf), dist.astype(np.float32))
    core.clear_unreached(dist, sigma)
    return dist, sigma
