"""Time, memory and check of runs of methods, and a prediction of the time of all roots."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc import reference, tuning
from lagbc.api.betweenness import bc
from lagbc.call import Call, plan_request, require_memory
from lagbc.calls import Phase, record
from lagbc.errors import InvalidValueError, quantity
from lagbc.graph.graph import Graph
from lagbc.graph.names import numbers_of
from lagbc.limits import Room, give_back
from lagbc.methods.contract import CountedLevels, SweepPlan
from lagbc.methods.sums import Sums
from lagbc.methods.table import Method, methods_of
from lagbc.options import Options, check_options, parse_count
from lagbc.planning.choose import ranked
from lagbc.planning.sweep import Sweep
from lagbc.reduce.pieces import Whole
from lagbc.request import Request, parse_generator, parse_vertices
from lagbc.run.run import sum_piece
from lagbc.types import Auto

# Vertices and edges that the reference visits from all its roots in two or three seconds.
_REFERENCE_VISITS = 10_000_000
# Seconds of all runs after which a measurement is not repeated, and its most runs; the shortest run counts.
_REPEAT_SECONDS, _MOST_RUNS = 1.0, 3
# More objects than Python itself keeps from the collector, 375 in 3.12.
OF_THE_INTERPRETER = 1000
# Roots in a run of neighbours, on graphs of high diameter: enough for a block of any method.
NEIGHBOURS = 256
# Growth of trials in roots.
STEP = 8
# Seconds of the longest run that is begun.
_MOST_SECONDS = 1.0
# The most times that a round of full batches takes the time of a root; the growth of runs in roots.
_ROUND, _GROWTH = 10, 4


class Task(NamedTuple):
    """The task of all methods: a graph, roots, options and a time limit."""

    graph: Graph
    places: Places
    roots: NDArray[np.int64]
    batch: int | Auto
    options: Options
    threads: int
    time_limit: float
    check_seconds: float = 0.0

    def plan(self, row: Method, count: int) -> tuple[Request, Sweep, Room]:
        """Plan a run from the first `count` roots; MemoryError if it exceeds the budget."""
        options: Any = {**self.options, "method": row.name, "device": row.device, "reduce": "none"}
        if row.device == "cpu":
            options["dtype"] = "float64"
        if not row.reads("bucket_width"):
            options["bucket_width"] = "auto"  # the given one is for other methods
        request = Request(frozenset({"dependency"}), self.roots[:count])
        call = plan_request(self.places[row.device].graph, request, check_options(self.batch, options))
        require_memory(call)
        (sweep,) = call.plan.sweeps
        return request, sweep._replace(roots=len(self.roots)), call.room


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


def draw_roots(graph: Graph, roots: int | ArrayLike, rng: int | np.random.Generator) -> NDArray[np.int64]:
    """Return the given roots that have out-edges, or draw some; on graphs of high diameter runs in sweep order."""
    if np.ndim(roots) > 0:
        given = parse_vertices("roots", graph.n, numbers_of("roots", graph.names, roots), graph.names)
        given = given[graph.out_degrees[given] > 0]
        if not len(given):
            raise InvalidValueError("no edge leaves any of the roots, so that there is nothing to compare")
        return given
    order: NDArray[np.int64] = graph.order[graph.out_degrees[graph.order] > 0]
    count = min(parse_count("roots", roots), len(order))
    generator = parse_generator(rng)
    if not graph.has_high_diameter:
        return generator.choice(order, count, replace=False)
    if count == len(order):
        return order
    length = NEIGHBOURS
    starts = np.arange(0, max(len(order) - length, 0) + 1, length)
    chosen = generator.choice(starts, min(-(-count // length), len(starts)), replace=False)
    return np.concatenate([order[start : start + length] for start in chosen])[:count]


def growing_sizes(count: int) -> list[int]:
    """Return 1, 8, 64, ..., and the count last."""
    sizes = [1]
    while sizes[-1] * STEP < count:
        sizes.append(sizes[-1] * STEP)
    return sizes if count == 1 else [*sizes, count]


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
    """A method would take longer than the time limit."""


def time_method(task: Task, row: Method) -> tuple[Run, dict[int, NDArray[np.float64]]]:
    """Return the shortest run from all roots, with the time of compiling, and scores by the number of roots tried."""
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
    """Sweep from the first `count` roots; once more, by the smaller plan, if memory ran out on the way."""
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
    """The functions of a method, which note their times, levels and overflows."""

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
        """Note the time; return the state, and whether it has the planned dtype, or another one after overflow."""
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
        """Note the depth of each batch and, with the planned dtype, how many roots overflowed."""
        for levels in self._module.forward(state[0], roots):
            if isinstance(levels, CountedLevels):
                self.levels.append(levels.depth)
            if state[1]:
                self.overflowed.append(int(np.count_nonzero(levels.overflowed)))
            yield levels

    def backward(self, state: tuple[Any, bool], levels: Any, sums: Sums, omega: Any = None) -> None:
        self._module.backward(state[0], levels, sums, omega)


def synchronize(device: str) -> None:
    """Wait until the device has finished its work."""
    if device == "cuda":
        import cupy

        cupy.cuda.get_current_stream().synchronize()


class PeakMemory:
    """The most memory that a block takes above that at its entry, in `bytes` after it."""

    bytes: int | None = None

    def __init__(self, device: str) -> None:
        self._device = device

    def __enter__(self) -> PeakMemory:
        gc.collect()  # objects of python-graphblas are in reference cycles
        if self._device == "cuda":
            self._pool.free_all_blocks()
            self._before: int | None = self._pool.total_bytes()
        else:
            self._before = resident("VmRSS") if _trim() else None
        return self

    def __exit__(self, *_: object) -> None:
        after = self._pool.total_bytes() if self._device == "cuda" else resident("VmHWM")
        if self._before is not None and after is not None:
            self.bytes = max(after - self._before, 0)

    @property
    def _pool(self) -> Any:
        import cupy

        return cupy.get_default_memory_pool()


@contextmanager
def old_objects_apart() -> Iterator[None]:
    """Keep present objects from the collector, unless a caller does: each `PeakMemory` saves a tenth of a second."""
    is_outermost = gc.get_freeze_count() <= OF_THE_INTERPRETER
    if is_outermost:
        gc.collect()
        gc.freeze()
    try:
        yield
    finally:
        if is_outermost:
            gc.unfreeze()


def _trim() -> bool:
    """Give free memory back, which a method would use unseen, and reset the peak; return whether both succeeded."""
    if sys.platform != "linux" or not give_back():
        return False
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return False
    return True


def resident(field: str) -> int | None:
    """Read ``VmRSS`` (resident now) or ``VmHWM`` (its peak) of this process, in bytes."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(field)), None)


class Check:
    """The right scores: by `lagbc.reference` from the roots of some seconds, and by a trusted method from all roots.

    The trusted method runs first if it is among the methods to be checked.
    """

    def __init__(self, task: Task, rows: list[Method]) -> None:
        self.trusted = ranked(task.graph, method="auto", device="cpu")[0].method
        self._every, visits = len(task.roots), task.graph.n + task.graph.nnz
        self._of_reference = max((k for k in growing_sizes(self._every) if k * visits <= _REFERENCE_VISITS), default=0)
        self._right = list[tuple[str, int, NDArray[np.float64]]]()  # names of checks, numbers of roots, and scores
        if self._of_reference and (scores := _by_reference(task, self._of_reference)) is not None:
            self._right.append(("lagbc.reference", self._of_reference, scores))
        if self.trusted not in rows and self._of_reference < self._every:
            with suppress(TooSlow, MemoryError):
                self._trust(time_method(task, self.trusted)[1])

    def _trust(self, scores: dict[int, NDArray[np.float64]]) -> None:
        if self._of_reference < self._every:
            name = f"{self.trusted.name} on {self.trusted.device}"
            self._right.append((name, self._every, scores[self._every]))

    def __call__(self, row: Method, scores: dict[int, NDArray[np.float64]]) -> tuple[float | None, str]:
        """Return the largest relative difference from the right scores, and the names of the checks."""
        differences = (_relative_difference(scores[count], right) for _, count, right in self._right)
        names = "; ".join(f"{name}, {quantity(count, 'root')}" for name, count, _ in self._right)
        found = max(differences, default=None), names
        if row is self.trusted:
            self._trust(scores)
        return found


def _by_reference(task: Task, count: int) -> NDArray[np.float64] | None:
    """Return scores from the first `count` roots; None if their path counts leave the range of float."""
    graph = task.graph.on_host
    indptr, indices, weights = graph.indptr, graph.indices, graph.weights
    lengths = None if weights is None else weights.tolist()
    try:
        scores = reference.brandes(indptr.tolist(), indices.tolist(), lengths, sources=task.roots[:count].tolist())
    except OverflowError:
        return None
    return np.array(scores)


def _relative_difference(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """Return the largest ``|x - y| / max(|x|, |y|)``; it is 0 for two zeros, and infinite for NaN and infinity."""
    size = np.maximum(np.abs(ours), np.abs(theirs))
    with np.errstate(invalid="ignore"):
        relative = np.abs(ours - theirs) / np.where(size == 0, 1, size)
    return float(np.where(np.isfinite(relative), relative, np.inf).max(initial=0.0))


class Prediction(NamedTuple):
    """Time of a run from all roots."""

    seconds: float  # of reductions and sweeps, without reading, ordering and compilation
    roots: int  # roots, idle: vertices with out-edges, and without: these add nothing
    idle: int
    swept: int = 0  # roots of the longest run
    swept_seconds: float = 0.0  # of that run
    is_bound: bool = False  # whether `seconds` is rather too much, as no run had a full round of batches
    share: float = 1.0  # the part of the work that reductions leave; the runs sweep the whole graph


def predict(graph: Graph, planned: Call, planning: float) -> Prediction:
    """Predict the time of `lagbc.bc` from all roots, as `planned` in some seconds of `planning`.

    One run compiles; the others take a second or two in all. They grow from one root to a round of batches, one a
    thread, and on, and the last two give the time of a root. If one root takes long, a second run has a whole batch. On
    graphs of high diameter the roots are runs of neighbours, as if all vertices were roots.
    """
    graph = graph.with_names(None)  # roots are drawn as numbers
    roots = int(np.count_nonzero(graph.out_degrees))
    idle = graph.n - roots
    if not roots:
        return Prediction(0.0, roots, idle)
    whole = planned
    if planned.reduced.tree is not None:
        whole = plan_request(graph, planned.request, planned.settings._replace(reduce="none"))
    (row,) = methods_of(weighted=graph.weighted, method=whole.plan.method, device=whole.plan.device)
    (sweep,), batching = whole.plan.sweeps, row.load().batching
    a_round, share = min(sweep.batch * sweep.threads, roots), planned.reduced.share

    def run(size: int) -> float:
        sources = draw_roots(graph, size, 0)
        begun = time.perf_counter()
        bc(graph, weighted=graph.weighted, sources=sources, method=row.name, device=row.device, reduce="none")
        return time.perf_counter() - begun

    run(1)  # compiles, loads and orders, outside the times
    sizes, seconds, factor = [1], [run(1)], _ROUND
    while sizes[-1] < roots and seconds[-1] * factor <= _MOST_SECONDS:
        sizes.append(min(max(a_round, _GROWTH * sizes[-1]), roots))
        seconds.append(run(sizes[-1]))
        factor = _GROWTH
    if len(sizes) == 1 and batching.widest:  # roots that are searched together take little longer than one
        sizes.append(min(batching.widest, roots))
        seconds.append(run(sizes[-1]))
    rate = seconds[-1] / sizes[-1]
    if len(sizes) > 2 and seconds[-1] > seconds[-2]:
        rate = (seconds[-1] - seconds[-2]) / (sizes[-1] - sizes[-2])
    return Prediction(
        seconds=planning + share * (seconds[-1] + rate * (roots - sizes[-1])),
        roots=roots,
        idle=idle,
        swept=sizes[-1],
        swept_seconds=seconds[-1],
        is_bound=sizes[-1] < a_round,
        share=share,
    )
