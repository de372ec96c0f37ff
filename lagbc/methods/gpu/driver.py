"""The driver of the GPU's methods: their state, the levels of a batch, and the sweeps of its groups.

Groups are swept by one schedule, and groups with too many levels for it by the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError
from lagbc.methods.contract import SweepPlan
from lagbc.methods.gpu.common import rows as device_rows
from lagbc.methods.gpu.common.arrays import read
from lagbc.methods.gpu.common.rows import GROUP_COLUMNS, BatchArrays, Lengths, RootRows, Rows, Size
from lagbc.methods.gpu.common.sums import Distances, Edges, PathScores, rows_of_batch
from lagbc.methods.sums import PATH_SUMS, Sums, columns_into_range


class Found(NamedTuple):
    """The results of a forward sweep for the host."""

    depth: int  # of the last level
    overflowed: NDArray[np.bool_]  # for each root
    reached: Any  # (groups, rows, 32) uint8; None if paths are not counted
    deeper: NDArray[np.bool_] | None = None  # for each group, whether its levels are too many; None if all are done


class Levels(NamedTuple):
    """The levels of some roots of a batch, which the state holds."""

    roots: NDArray[np.int64]
    places: NDArray[np.int64]  # of these roots in the batch
    depth: int  # of the last level
    overflowed: NDArray[np.bool_]  # for each root
    found: Any  # all that the method needs to sweep backward


class Searched(NamedTuple):
    """The roots of a batch with edges, which are searched from; the others reach nothing."""

    places: NDArray[np.int64]
    rows: Any  # (searches,) int32, on the device
    deepest: Any = None  # (searches,) int32: their last levels, where a method tells them apart

    @classmethod
    def of(cls, rows: Rows, roots: NDArray[np.int64]) -> Searched:
        """Find the rows of the roots; -1 is an absent one."""
        position = np.where(roots < 0, rows.rows, rows.position[roots])
        places = np.flatnonzero(position < rows.rows)
        return cls(places, cp.asarray(position[places], np.int32))


class Search(NamedTuple):
    """A forward sweep of some groups, and which of them are done."""

    roots: NDArray[np.int64]  # of all swept groups
    swept: NDArray[np.int64]  # their places in the batch
    root_rows: RootRows
    found: Found

    @property
    def groups(self) -> int:
        """Count of the swept groups."""
        return device_rows.count_groups(self.roots)

    @property
    def deeper(self) -> NDArray[np.bool_]:
        """For each swept root, whether its group is not done."""
        if self.found.deeper is None:
            return np.zeros(len(self.roots), np.bool_)
        return self.found.deeper[np.arange(len(self.roots)) // GROUP_COLUMNS]

    @property
    def places(self) -> NDArray[np.int64]:
        """Places in the batch of the finished roots."""
        return self.swept[~self.deeper]

    @property
    def depth(self) -> int:
        """The last level."""
        return self.found.depth

    def keep(self, rows: Rows) -> Any:
        """Return bit rows, on the device, of the roots that are summed."""
        return cp.asarray(device_rows.bit_rows(~(self.found.overflowed | self.deeper), rows.groups))


class Weights(NamedTuple):
    """The weights of columns and vertices in a backward sweep, on the device."""

    keep: Any  # (groups, 32) uint8: bit rows of the roots that are summed
    root_weights: Any  # (groups * 256,): how often each column counts; None is once
    omega: Any  # (rows,): targets of each vertex, None is one; or (groups, rows, 256), of each column of a vertex
    by_column: bool
    class_sizes: Any  # (rows,): equal vertices that each stands for; None is one

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of kernels by their names."""
        return {name: getattr(self, name) for name in ("keep", "root_weights", "omega", "class_sizes")}


class Sweeps(Protocol):
    """A module with one schedule of sweeps."""

    def arrays(self, size: Size | Rows, dist: Any) -> dict[str, Any]:
        """State the arrays of a batch; `dist` is the type of distances, None in hops."""

    def make(self, rows: Rows, lengths: Any) -> BatchArrays:
        """Allocate the arrays of a batch; `lengths` are None in hops."""

    def begin_compile(self, plan: SweepPlan, dist: Any) -> None:
        """Begin to compile its kernels in another thread."""

    def forward(self, arrays: BatchArrays, roots: NDArray[np.int64], root_rows: RootRows) -> Found:
        """Find the levels and count paths."""

    def backward(self, arrays: BatchArrays, search: Search, weights: Weights, edges: Edges) -> PathScores:
        """Sum over paths; `edges` are added to."""

    def distances(self, arrays: BatchArrays, search: Search, keep: Any, sums: Distances) -> None:
        """Sum over distances."""

    def paths(self, arrays: BatchArrays, search: Search) -> tuple[Any, Any]:
        """Return distances, and path counts if they are counted, of shape (groups, rows, 256).

        Distances are inf where a column does not reach a row; there counts are of no meaning. Both may be the batch's
        own arrays, which no sweep backward reads any more where they are changed.
        """


class Schedule(NamedTuple):
    """A schedule of sweeps, and the schedule of the groups with too many levels for it."""

    module: Sweeps
    then: str = ""


@dataclass(slots=True, eq=False)
class State:
    """The graph on the device, and the arrays of a batch, for the schedule that was taken last."""

    rows: Rows
    arrays: Any = None  # `BatchArrays`; None before a schedule is taken
    schedules: Mapping[str, Schedule] = field(default_factory=dict)
    first: str = ""  # the schedule that is tried first
    edge_order: Any = None  # of the graph, on the device; None if edges are not summed
    lengths: Lengths | None = None
    places: Any = None  # (rows,) int64: of each row among those of `Graph.reordered`; None if they are the same
    schedule: str = ""

    def __post_init__(self) -> None:
        if self.first:
            self.use_schedule(self.first)

    @property
    def plan(self) -> SweepPlan:
        """The request of the run."""
        return self.rows.plan

    @property
    def module(self) -> Sweeps:
        """The module of the schedule that was taken last."""
        return self.schedules[self.schedule].module

    def use_schedule(self, schedule: str) -> Sweeps:
        """Allocate the arrays of a schedule, in place of another's."""
        if schedule != self.schedule:
            self.arrays, module = None, self.schedules[schedule].module
            module.begin_compile(self.plan, self.lengths.dist if self.lengths else None)
            self.arrays = module.make(self.rows, self.lengths)
            self.schedule = schedule
        return self.module


def forward(state: State, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Find the levels of a batch of roots and count their shortest paths; a root of -1 is an absent one.

    Each group is swept by itself, whatever groups are swept with it, so that its bits depend on it alone. Groups with
    too many levels for a schedule are yielded apart, after the others.
    """
    schedule, swept = state.first, np.arange(len(roots))
    while True:
        root_rows = device_rows.place_roots(state.rows, roots[swept])
        if len(root_rows.position):
            found = state.use_schedule(schedule).forward(state.arrays, roots[swept], root_rows)
        else:
            found = Found(0, np.zeros(len(swept), np.bool_), None)
        search = Search(roots[swept], swept, root_rows, found)
        deeper = search.deeper
        if not deeper.all():
            yield Levels(search.roots[~deeper], search.places, found.depth, found.overflowed[~deeper], search)
        if not deeper.any():
            return
        schedule, swept = state.schedules[schedule].then, swept[deeper]


def backward(state: State, levels: Levels, sums: Sums, omega: Any = None) -> None:
    """Add the sums of the roots that did not overflow, a row a group, in matrix order; `omega` as in the contract.

    Target weights by column take another eight bytes an entry, and sixteen more while they are scaled.
    """
    state.plan.stop.check()
    search: Search = levels.found
    if not len(search.root_rows.position):
        return
    last = int(search.swept[-1])
    sums.require_rows(last // GROUP_COLUMNS + 1, last + 1)
    rows, asked = state.rows, state.plan.sums
    times, targets = device_rows.weights_of_columns(rows, search.roots), rows.omega
    if omega is not None:
        times, targets = _by_column(state, search, times, omega)
    weights = Weights(search.keep(rows), times, targets, omega is not None, rows.class_sizes)
    with rows_of_batch(sums, search.swept) as own:
        if state.plan.counts_paths:
            edges = Edges(state.edge_order, own.edges, own.edges_squares)
            scores = state.module.backward(state.arrays, search, weights, edges)
            if state.plan.endpoints:
                device_rows.add_ends(search.root_rows, search.found.reached, weights.keep, scores.dependency)
            scores.add_to(own, rows, search.groups)
        if asked - PATH_SUMS:
            distances = Distances.zeros(rows, asked)
            state.module.distances(state.arrays, search, weights.keep, distances)
            distances.add_to(own, rows, search.groups, len(search.roots))


def paths(state: State, levels: Levels) -> tuple[Any, Any]:
    """Return distances and path counts of the levels' roots, by the contract; ValueError if they are not counted."""
    rows = state.rows
    if not state.plan.counts_paths:
        raise InvalidValueError(f"{', '.join(sorted(state.plan.sums))}: no path is counted for these sums")
    search: Search = levels.found
    shape = rows.rows, len(search.places)
    if not len(search.root_rows.position):
        return cp.full(shape, np.inf), cp.zeros(shape)
    columns = cp.asarray(np.flatnonzero(~search.deeper))
    of_groups = (part.astype(np.float64) for part in state.module.paths(state.arrays, search))
    dist, sigma = (part.transpose(1, 0, 2).reshape(rows.rows, -1)[:, columns] for part in of_groups)
    sigma = cp.where(cp.isfinite(dist), sigma, 0.0)
    if state.places is None:
        return dist, sigma
    given = cp.argsort(state.places)
    return dist[given], sigma[given]


def _by_column(state: State, search: Search, times: Any, omega: Any) -> tuple[Any, Any]:
    """Spread target weights, (rows, columns) of the levels, over all groups, in range; and how often columns count."""
    rows = state.rows
    expected = rows.rows, len(search.places)
    if omega.shape != expected:
        raise InvalidValueError(
            f"omega has shape {omega.shape}; its rows and columns are those of the levels, {expected}"
        )
    omega = cp.asarray(omega, np.float64)
    omega = omega if state.places is None else omega[state.places]
    spread = cp.zeros((rows.groups, rows.rows, GROUP_COLUMNS))
    columns = cp.asarray(np.flatnonzero(~search.deeper))
    times = cp.ones(rows.groups * GROUP_COLUMNS) if times is None else times
    scaled, own = columns_into_range(omega, read(times[columns]), rows.plan.dtype)
    spread[columns // GROUP_COLUMNS, :, columns % GROUP_COLUMNS] = scaled.T
    times[columns] = cp.asarray(own)
    return times, spread


def weights_of_roots(plan: SweepPlan, levels: Levels) -> NDArray[np.float64]:
    """Return how often each root counts; overflowed ones count 0 times."""
    return np.where(levels.overflowed, 0.0, plan.times_of(levels.roots))


def refuse_targets(omega: Any, method: str) -> None:
    """Raise NotImplementedError if there are target weights by column."""
    if omega is not None:
        raise NotImplementedError(f"{method} takes no target weights by column")
