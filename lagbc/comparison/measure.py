"""One method run and timed: the graph on its device, growing trials, and a watch over the method's functions."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.call import plan_request, require_memory
from lagbc.calls import Phase, record
from lagbc.comparison.peak import PeakMemory, old_objects_apart
from lagbc.comparison.roots import STEP, growing_sizes
from lagbc.errors import quantity
from lagbc.graph import tuning
from lagbc.graph.graph import Graph
from lagbc.limits import Room
from lagbc.methods.contract import CountedLevels, SweepPlan
from lagbc.methods.sums import Sums
from lagbc.methods.table import Method
from lagbc.options import OPTIONS, Options, check_options
from lagbc.planning.sweep import Sweep
from lagbc.reduce.pieces import Whole
from lagbc.request import Request
from lagbc.run.run import sum_piece
from lagbc.types import Auto

# A measurement is repeated while all runs together took less, up to so many runs; the shortest counts.
_REPEAT_SECONDS, _MOST_RUNS = 1.0, 3


class Placed(NamedTuple):
    """The graph on a device, and the seconds to order it there."""

    graph: Graph
    order_seconds: float


class Places(dict[str, Placed]):
    """The graph on the host ("cpu") and on the device ("cuda"; small ones stay on the host), ordered on demand."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self._graph = graph

    def __missing__(self, device: str) -> Placed:
        self[device] = self["cpu"] if device == "cuda" and self._graph.nnz <= tuning.HOST_EDGES else self._order(device)
        return self[device]

    def _order(self, device: str) -> Placed:
        graph = self._graph.on_host if device == "cpu" else self._graph.on_device
        if device == "cuda":
            _ = replace(graph).reordered.transpose  # compiles kernels, outside the time
            synchronize(device)
        begun = time.perf_counter()
        _ = graph.reordered.transpose
        synchronize(device)
        return Placed(graph, time.perf_counter() - begun)


class Task(NamedTuple):
    """The task of every method: a graph, roots, options and a time limit."""

    graph: Graph
    places: Places
    roots: NDArray[np.int64]
    batch: int | Auto
    options: Options
    threads: int
    time_limit: float
    check_seconds: float = 0.0

    def plan(self, row: Method, count: int) -> tuple[Request, Sweep, Room]:
        """Plan a run from the first `count` roots; MemoryError if it does not fit in the budget."""
        options: Any = {**self.options, "method": row.name, "device": row.device, "reduce": "none"}
        if row.device == "cpu":
            options["dtype"] = "float64"
        # Options that the method does not read are meant for others.
        options |= {
            option.name: option.default for option in OPTIONS if option.is_of_some and not row.reads(option.name)
        }
        request = Request(frozenset({"dependency"}), self.roots[:count])
        call = plan_request(self.places[row.device].graph, request, check_options(self.batch, options))
        require_memory(call)
        (sweep,) = call.plan.sweeps
        return request, sweep._replace(roots=len(self.roots)), call.room


class Run(NamedTuple):
    """One sweep: its scores, and its figures."""

    scores: NDArray[np.float64]
    sweep: Sweep
    wall: float
    prepare: float
    workers: int
    peak: int | None
    levels: int | None
    recomputed: int
    phases: dict[Phase, float]

    @property
    def seconds(self) -> float:
        """Seconds of sweeping and summing alone."""
        return max(self.wall - self.prepare, 1e-9)


class TooSlow(Exception):  # noqa: N818 (a reason, not an error)
    """The estimate for a method is over the time limit."""


def time_method(task: Task, row: Method) -> tuple[Run, dict[int, NDArray[np.float64]]]:
    """Return the shortest run from all roots, with the compilation of the first run, and the scores by size tried."""
    compiling = _run(task, row, 1).phases["compile"]  # kernels are compiled and loaded now
    every, scores = len(task.roots), {}
    with old_objects_apart():
        for size in growing_sizes(every):
            run = _run(task, row, size)
            scores[size] = run.scores
            if size < every and run.wall * min(STEP, every / size) > task.time_limit:
                following = min(STEP * size, every)
                raise TooSlow(
                    f"too slow: {quantity(size, 'root')} took {run.wall:.2g} s, so that {following:,} would take up to "
                    f"{run.wall * following / size:.2g} s, and the time limit is {task.time_limit:g} s"
                )
        runs = [run]
        while len(runs) < _MOST_RUNS and sum(run.wall for run in runs) < _REPEAT_SECONDS:
            runs.append(_run(task, row, every))
    shortest = min(runs, key=lambda run: run.seconds)
    return shortest._replace(phases=shortest.phases | {"compile": compiling}), scores


def _run(task: Task, row: Method, count: int) -> Run:
    """Sweep from the first `count` roots; again by a smaller plan if the first one ran out of memory."""
    request, sweep, room = task.plan(row, count)
    while True:
        watch: Any = _Watch(row, sweep)
        with PeakMemory(row.device) as peak, record(partial(synchronize, row.device)) as recorder:
            begun = time.perf_counter()
            sums = sum_piece(Whole(task.places[row.device].graph, request), sweep, room, watch)
            wall = time.perf_counter() - begun
        if (watch.plan.batch, watch.plan.threads) == (sweep.batch, sweep.threads):
            break
        sweep = sweep._replace(batch=watch.plan.batch, threads=watch.plan.threads)
    first, *others = watch.prepare_seconds
    return Run(
        scores=sums.dependency,
        sweep=sweep,
        wall=wall,
        # The first state is built before any batch runs, the others by the workers, side by side.
        prepare=first + sum(others) / watch.workers,
        workers=watch.workers,
        peak=peak.bytes,
        levels=max(watch.levels, default=None),
        recomputed=sum(watch.overflowed),
        phases=recorder.seconds,
    )


class _Watch:
    """A method's functions, with notes of their times, levels and overflows."""

    def __init__(self, row: Method, plan: Sweep) -> None:
        self._module, self._device = row.load(), row.device
        self.batching, self.arrays = self._module.batching, self._module.arrays
        touched: Any = getattr(self._module, "touched", None)
        self.touched = touched and (lambda state, levels: touched(state[0], levels))
        self.plan: Any = plan  # later the smaller plan, if memory was too short
        self.prepare_seconds: list[float] = []
        self.workers = 0
        self.levels: list[int] = []
        self.overflowed: list[int] = []

    def prepare(self, graph: Graph, plan: SweepPlan) -> tuple[Any, bool]:
        """Note the time; return the state, and whether it has the planned dtype: overflow calls for another one."""
        begun = time.perf_counter()
        state = self._module.prepare(graph, plan)
        synchronize(self._device)
        self.prepare_seconds.append(time.perf_counter() - begun)
        planned = plan.dtype == self.plan.dtype
        if planned:
            self.plan = plan
            self.workers += 1
        return state, planned

    def forward(self, state: tuple[Any, bool], roots: NDArray[np.int64]) -> Iterator[Any]:
        """Note the number of levels and, for the planned dtype, the number of roots that overflowed."""
        for levels in self._module.forward(state[0], roots):
            if isinstance(levels, CountedLevels):
                self.levels.append(levels.depth)
            if state[1]:
                self.overflowed.append(int(np.count_nonzero(levels.overflowed)))
            yield levels

    def backward(self, state: tuple[Any, bool], levels: Any, sums: Sums, omega: Any = None) -> None:
        """Call the method's function; there is nothing to note."""
        self._module.backward(state[0], levels, sums, omega)


def synchronize(device: str) -> None:
    """Wait until the device has finished its work."""
    if device == "cuda":
        import cupy

        cupy.cuda.get_current_stream().synchronize()
