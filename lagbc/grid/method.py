"""The method of a graph that is dealt over a grid, as its leading rank has it: it keeps to `lagbc.methods.contract`.

A state is a lane: each hand of the run has one, so that grids share the batches.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import OutOfMemoryError, OutOfRangeError, StoppedError
from lagbc.graph.graph import Graph
from lagbc.grid.deal import Deal, DealtGraph, Ints
from lagbc.grid.lanes import Lane
from lagbc.grid.sites import Site
from lagbc.grid.sweep import INTERRUPTED, OUT_OF_ROOM, STOPPED, SUMS, Ended, told
from lagbc.methods.arrays import Counted, bytes_of
from lagbc.methods.block import Asked
from lagbc.methods.contract import Batching, MethodModule, OfWholeBatch, StopFlag, SweepPlan
from lagbc.methods.sums import Sums
from lagbc.methods.table import Method


@dataclass(frozen=True)
class OnGrid(Method):
    """A row of no table: the method of one dealt graph. Sums come to the host, whatever device ranks sweep on."""

    of_graph: Any = None

    @property
    def available(self) -> bool:
        """Whether ranks have their device; they do."""
        return True

    @property
    def arrays(self) -> Any:
        """The module whose arrays are summed into."""
        return np

    @property
    def is_shared(self) -> bool:
        """Whether several devices may share its roots: ranks have theirs."""
        return False

    @property
    def groups_roots(self) -> bool:
        """Whether near roots are brought together: no rank has the graph."""
        return False

    def context(self) -> AbstractContextManager[Any]:
        """Return the context of a hand; lanes have contexts of their own."""
        return nullcontext()

    def load(self) -> MethodModule:
        """Return the method."""
        method: MethodModule = self.of_graph
        return method


@dataclass(slots=True, eq=False)
class Levels(OfWholeBatch):
    """A batch that was swept, and the sums of each rank."""

    found: list[NDArray[np.float64]]

    @property
    def overflowed(self) -> NDArray[np.bool_]:
        """None: a batch that has one is refused."""
        return np.zeros(len(self.roots), np.bool_)


@dataclass(slots=True, eq=False)
class State:
    """A lane, and the request to it."""

    lane: Lane
    plan: SweepPlan
    asked: Asked


class GridMethod:
    """Sweeps by lanes."""

    def __init__(self, deal: Deal, lanes: list[Lane], site: Site) -> None:
        self._deal, self._numbers, self.site = deal, deal.numbers, site
        in_flight = sum(lane.grid is not None for lane in lanes)  # on this rank, as on any other
        # One of each grid, and another one of each. Those that no state has are free; the next one is first.
        self._lanes = [lane for number in range(in_flight) for lane in lanes[number::in_flight]]
        self._free, self._choosing, self._stop = deque(self._lanes), Lock(), StopFlag()
        self._columns, self.options = site.columns, site.options
        self.batching = Batching(
            block=self._columns // site.groups,
            widest=self._columns,
            auto=self._columns,
            concurrent=True,
            apart=len(lanes) // in_flight,
        )

    @property
    def hands(self) -> int:
        """How many lanes there are."""
        return len(self._lanes)

    def row(self) -> OnGrid:
        """Return the row of the table by which a sweep names it."""
        return OnGrid("batched", "semiring", self.site.device, False, __name__, sums=(*SUMS, "depth"), of_graph=self)

    def arrays(self, graph: Graph, plan: SweepPlan) -> dict[str, Any]:
        """State the arrays of a rank in a lane."""
        return {name: Counted(group) for name, group in self.site.arrays(self._deal.size, plan.sums).items()}

    def prepare(self, graph: Graph, plan: SweepPlan) -> State:
        """Have the ranks of the next lane make room."""
        assert isinstance(graph, DealtGraph)
        omega = None
        if plan.omega is not None:
            omega = np.ones(self._deal.shape.size * self._deal.length)
            omega[self._numbers] = plan.omega
        levels = self.site.arrays(self._deal.size, plan.sums)["passing"]["levels"]
        room = bytes_of({"levels": levels}) + (plan.growth or 0)
        asked = Asked(plan.sums, plan.endpoints, plan.linear, plan.sigma_limit, omega, graph.way, room)
        lane = self._free_lane(plan.stop)
        try:
            lane.open(asked, plan.stop)
        except BaseException:
            self._free.appendleft(lane)
            raise
        return State(lane, plan, asked)

    def forward(self, state: State, roots: Ints) -> Iterator[Levels]:
        """Have a lane sweep from roots.

        OverflowError tells of path counts beyond float64; KeyboardInterrupt, StoppedError and MemoryError are those of
        some rank.
        """
        numbers, times, there = np.full(self._columns, -1), np.ones(self._columns), np.flatnonzero(roots >= 0)
        numbers[there] = self._numbers[roots[there]]
        if state.plan.root_weights is not None:
            times[there] = state.plan.root_weights[roots[there]]
        try:
            found = state.lane.sweep(numbers, times)
        except Ended as ended:
            self._free.appendleft(state.lane)  # a hand whose sweep has failed is not lent again
            if ended.why & INTERRUPTED:
                raise KeyboardInterrupt from None
            if ended.why & STOPPED:
                raise StoppedError("the run was stopped, as stop= of a rank asked for") from None
            if ended.why & OUT_OF_ROOM:
                raise OutOfMemoryError("the levels of a search take more bytes than a rank of the grid has") from None
            raise
        overflowed = np.flatnonzero(sum(self._of_columns(one)[2] for one in found))
        if len(overflowed):
            self._free.appendleft(state.lane)
            raise OutOfRangeError(
                f"{len(overflowed)} roots of a batch, vertex {roots[overflowed[0]]} among them, have more shortest "
                "paths than float64 holds; a graph that is dealt over a grid has no wider numbers: leave out grid="
            )
        yield Levels(roots, found)

    def backward(self, state: State, levels: Levels, sums: Sums, omega: Any = None) -> None:
        """Add the sums of the ranks."""
        if omega is not None:
            raise NotImplementedError
        roots, columns = levels.roots, [self._of_columns(one) for one in levels.found]
        groups = -(-len(roots) // self.batching.block)
        sums.require_rows(groups, len(roots))
        pieces = [one[: -3 * self._columns].reshape(-1, self.site.groups, self._deal.length) for one in levels.found]
        for number, name in enumerate(told(state.asked)):
            for group in range(groups):
                of_group = np.concatenate([one[number, group] for one in pieces])
                getattr(sums, name)[group] += of_group[self._numbers]
        if sums.depth is not None:
            sums.depth += np.max(columns, axis=0)[0, : len(roots)]
        if state.asked.endpoints:
            there = np.flatnonzero(roots >= 0)
            sums.dependency[there // self.batching.block, roots[there]] += sum(columns)[1, there]

    def _free_lane(self, stop: StopFlag) -> Lane:
        """Return the lane of the next state; another flag to stop is that of another run, which shuts all lanes."""
        with self._choosing:
            if stop is not self._stop:
                self._stop, self._free = stop, deque(self._lanes)
                for lane in self._lanes:
                    lane.shut()
            return self._free.popleft()

    def _of_columns(self, found: NDArray[np.float64]) -> Any:
        """Return the numbers of columns that a rank tells after its sums."""
        return found[-3 * self._columns :].reshape(3, self._columns)
