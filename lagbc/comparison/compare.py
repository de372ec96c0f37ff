"""Every method on one graph, side by side: time, memory, levels, and whether their scores agree."""

from __future__ import annotations

import ctypes
import gc
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc import reference
from lagbc.errors import MissingDependencyError
from lagbc.graph.graph import Graph
from lagbc.graph.tuning import HOST_EDGES
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import Sums
from lagbc.methods.table import METHODS, Method, choose
from lagbc.run import memory
from lagbc.run.arguments import (
    check_dtype,
    parse_batch,
    parse_count,
    parse_real,
    parse_threads,
    parse_vertices,
    parse_width,
)
from lagbc.run.request import require_flags
from lagbc.run.sweep import sweep
from lagbc.types import GraphLike

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

# Vertices and edges that the reference visits at most, all its roots together: two or three seconds.
_REFERENCE_VISITS = 10_000_000
# Trials with so many times the roots of the one before lead up to the measurement.
_STEP = 8
# A measurement is repeated while all runs took less than this, but not more often than that; the shortest counts.
_REPEAT_SECONDS, _MOST_RUNS = 1.0, 3
# Largest relative difference of two scores that rounding explains.
TOLERANCE = {"float64": 1e-9, "float32": 1e-3}


@dataclass(frozen=True)
class Measurement:
    """One method in a `Comparison`; if it was skipped, all figures are None.

    Attributes
    ----------
    method, formulation, device : str
        As in `lagbc.METHODS`.
    skipped : str
        Why it was not measured; empty if it was.
    dtype : str
        Type of path counts.
    batch, workers : int
        Roots that are searched together, and how many such batches side by side.
    seconds_per_root : float
        Of sweeping and summing; without `prepare_seconds`.
    gteps : float
        Billions of edges traversed in a second: an edge counts once for every root, in the undirected case as one edge.
    order_seconds : float
        To order the vertices and copy the graph in that order, once for all methods on a device. Next to nothing if `A`
        is a `Graph` that was used before.
    prepare_seconds : float
        To build a worker's state out of the ordered graph: copies, allocations.
    peak_bytes : int
        Memory at its peak above what there was with the ordered graph in it: on the GPU, of CuPy's pool; on the CPU,
        resident memory of the process (to about a megabyte; None where that is not to be had, that is off Linux).
    bytes_per_state : float
        `peak_bytes` over the states that are kept at a time: a state is a vertex seen from one root, and there are
        ``n * batch * workers``.
    levels : int
        Levels of the deepest batch: for hops, the largest distance from a root; with lengths, the rounds in which paths
        are counted.
    recomputed : int
        Roots whose path counts left the range of `dtype` and were computed again, in the time above.
    agreement : float
        Largest relative difference of a vertex's score from what it was checked against; None if it was not.
    checked : str
        What it was checked against, on how many roots.
    """

    method: str
    formulation: str
    device: str
    skipped: str = ""
    dtype: str | None = None
    batch: int | None = None
    workers: int | None = None
    seconds_per_root: float | None = None
    gteps: float | None = None
    order_seconds: float | None = None
    prepare_seconds: float | None = None
    peak_bytes: int | None = None
    bytes_per_state: float | None = None
    levels: int | None = None
    recomputed: int | None = None
    agreement: float | None = None
    checked: str = ""

    @property
    def title(self) -> str:
        """The method and the device that it runs on."""
        return f"{self.method} on {self.device}"

    @property
    def agrees(self) -> bool | None:
        """Whether rounding explains `agreement`: up to 1e-9, with float32 1e-3. None if nothing was checked."""
        if self.agreement is None or self.dtype is None:
            return None
        return self.agreement <= TOLERANCE[self.dtype]


@dataclass(frozen=True)
class Comparison:
    """What `compare` returns; in a notebook it shows as its table.

    Attributes
    ----------
    records : tuple of Measurement
        One a method, in the order in which they were measured; methods that were skipped are among them.
    n, nnz, depth : int
        Vertices, stored edges (an undirected one counts twice), and a lower bound of the diameter in hops.
    directed, weighted : bool
    roots : int
        How many roots every method searched from: those with edges that leave them.
    threads : int
        CPU threads.
    gpu : str
        Name of the GPU that was used; empty if none was.
    """

    records: tuple[Measurement, ...]
    n: int
    nnz: int
    depth: int
    directed: bool
    weighted: bool
    roots: int
    threads: int
    gpu: str

    @property
    def measured(self) -> tuple[Measurement, ...]:
        """The records with figures."""
        return tuple(record for record in self.records if not record.skipped)

    @property
    def skipped(self) -> tuple[Measurement, ...]:
        """The records without figures."""
        return tuple(record for record in self.records if record.skipped)

    @property
    def headline(self) -> str:
        """The graph, the roots and the hardware in one line."""
        kind = "directed" if self.directed else "undirected"
        edges = self.nnz if self.directed else self.nnz // 2
        threads = f"{self.threads} CPU thread{'' if self.threads == 1 else 's'}"
        return (
            f"{self.n:,} vertices, {edges:,} {kind} edges{', with lengths' if self.weighted else ''}; "
            f"{self.roots:,} roots; {threads}{self.gpu and ', ' + self.gpu}"
        )

    def to_markdown(self) -> str:
        """Return a Markdown table of the methods that were measured, and a list of the others."""
        lines = [f"**{self.headline}**", ""]
        if self.measured:
            lines += [_markdown_row(title for title, _ in COLUMNS), "|" + "---|" * len(COLUMNS)]
            lines += [*(_markdown_row(cell(record) for _, cell in COLUMNS) for record in self.measured), ""]
        lines += [f"- {note}" for note in (*self.remarks(), *self.reasons())]
        return "\n".join(lines) + "\n"

    _repr_markdown_ = __str__ = to_markdown

    def remarks(self) -> list[str]:
        """Say what has to be known besides the figures, such as that some are wrong."""
        wrong = [record for record in self.measured if record.agrees is False]
        recomputed = [record for record in self.measured if record.recomputed]
        return [
            *(f"{record.title} is WRONG: it differs from {record.checked}" for record in wrong),
            *(
                f"{record.title}: path counts of {_roots(record.recomputed or 0)} left the range of {record.dtype}; "
                "computing them again is in the time"
                for record in recomputed
            ),
        ]

    def reasons(self) -> list[str]:
        """Say, a line a reason, which methods were skipped."""
        titles: dict[str, list[str]] = {}
        for record in self.skipped:
            titles.setdefault(record.skipped, []).append(record.title)
        return [f"{', '.join(methods)} not measured: {reason}" for reason, methods in titles.items()]

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str | None = None) -> Figure:
        """Draw time per root and peak memory of the methods, see `lagbc.plots.plot_comparison`."""
        from lagbc.plots import plot_comparison

        return plot_comparison(self, path, title=title)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the records as a table of pandas, which has to be installed.

        Raises
        ------
        MissingDependencyError
            pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError("to_pandas needs pandas: pip install pandas") from error
        return pandas.DataFrame([asdict(record) for record in self.records])


def compare(
    A: GraphLike,
    roots: int | ArrayLike = 256,
    *,
    methods: str | Iterable[str] = "all",
    device: str = "all",
    directed: bool | None = None,
    weighted: bool | str = False,
    batch: int | str = "auto",
    dtype: str = "float64",
    bucket_width: float | str = "auto",
    threads: int | None = None,
    rng: int | np.random.Generator = 0,
    time_limit: float = 60.0,
    progress: bool = False,
    report: Callable[[Measurement], object] | None = None,
) -> Comparison:
    """Measure every method on one graph, from the same roots, and check that their scores agree.

    Parameters
    ----------
    A : matrix or graph as for `lagbc.bc`
    roots : int or array of int
        How many roots to draw, from the vertices with edges that leave them, or the roots themselves. As many as there
        are vertices takes all.
    methods : str or list of str
        "all", or names of rows of `lagbc.METHODS`.
    device : str
        "all", "cpu" or "cuda".
    directed, batch, threads : as for `lagbc.bc`
    weighted : bool or str
        As for `lagbc.bc`; methods for hops are skipped if edges have lengths, and otherwise those for lengths.
    dtype : str
        "float64" or "float32": type of path counts where a method has the choice; elsewhere it is float64.
    bucket_width : float or "auto"
        As for `lagbc.bc`; it goes to the methods that take it.
    rng : int or numpy.random.Generator
        Draws the roots.
    time_limit : float
        Seconds that a run may take. A method whose next run would take longer, by an estimate from fewer roots, is
        skipped.
    progress : bool
        Whether to draw a bar that names the method at work.
    report : callable, optional
        Called with each `Measurement` as soon as it is there.

    Returns
    -------
    Comparison

    Raises
    ------
    TypeError, ValueError
        Something in the arguments is wrong, or the graph has no edge; the message says what to do.
    KeyboardInterrupt
        Ctrl-C stops within one level of one batch.

    Notes
    -----
    A method is first run from one root, unmeasured: what compiles or loads does so then. Trials from 1, 8, 64, ...
    roots follow, each `time_limit`'s estimate for the next one, up to all roots. That run is measured; if it is shorter
    than a second it is repeated, up to three times in all, and the shortest run counts.

    On deep graphs (meshes, roads) the roots are runs of neighbours in sweep order, as they are when all vertices are
    roots: `batched` is made for that, and the others do not mind. On other graphs they are drawn one by one.

    Where `lagbc.reference` takes no longer than seconds, the scores from all roots, or from as many of the first ones
    as it can, are compared with it. The scores from all roots are also compared with those of the method that
    `lagbc.select_method` takes on the CPU, which is measured first. `Measurement.checked` says what was done, and
    `Measurement.agreement` is the largest difference of all.

    A method that is not installed, has no GPU, does not fit in the memory budget, or fails is skipped and says so.
    """
    require_flags(progress=progress)
    if dtype not in TOLERANCE:
        raise ValueError(f"dtype={dtype!r} is not one of {', '.join(TOLERANCE)}")
    if not parse_real("time_limit", time_limit) > 0:
        raise ValueError(f"time_limit={time_limit!r}: it is a number of seconds, more than 0")
    graph = as_graph(A, directed=directed, weighted=weighted)
    rows = _rows(methods, device, graph.weighted)
    taking = [row for row in rows if "bucket_width" in row.takes and row.weighted == graph.weighted]
    if bucket_width != "auto" and not taking:
        raise ValueError(
            f"bucket_width={bucket_width!r} means nothing to {', '.join(sorted({row.name for row in rows}))}"
        )
    if not graph.nnz:
        raise ValueError("A has no edge between two vertices, so that there is nothing to compare")
    places = _Places(graph)
    home = places["cpu" if graph.on_host is graph else "cuda"]
    task = _Task(
        graph=graph,
        places=places,
        roots=_draw(home.graph, roots, rng),
        batch=parse_batch(batch),
        dtype=dtype,
        bucket_width=parse_width(bucket_width, taking[0]) if taking else None,
        threads=parse_threads(threads),
        time_limit=time_limit,
    )
    check = _Check(task, rows)
    rows.sort(key=lambda row: row is not check.trusted)
    records = []
    with _bar(len(rows)) if progress else nullcontext() as bar:
        for row in rows:
            if bar is not None:
                bar.set_description_str(f"{row.name} on {row.device}")
            records.append(_measure(task, row, check))
            if bar is not None:
                bar.update()
            if report is not None:
                report(records[-1])
    return Comparison(
        records=tuple(records),
        n=graph.n,
        nnz=graph.nnz,
        depth=graph.depth,
        directed=graph.directed,
        weighted=graph.weighted,
        roots=len(task.roots),
        threads=task.threads,
        gpu=_gpu_name() if any(record.device == "cuda" and not record.skipped for record in records) else "",
    )


@dataclass(frozen=True, eq=False)
class _Placed:
    """The graph in one place, and how long it took to order it there."""

    graph: Graph
    order_seconds: float


class _Places(dict[str, _Placed]):
    """The graph on the host ("cpu") and on the device ("cuda"; small ones stay on the host), ordered when asked for."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self._graph = graph

    def __missing__(self, device: str) -> _Placed:
        self[device] = self["cpu"] if device == "cuda" and self._graph.nnz <= HOST_EDGES else self._order(device)
        return self[device]

    def _order(self, device: str) -> _Placed:
        graph = self._graph.on_host if device == "cpu" else self._graph.on_device
        if device == "cuda":
            _ = replace(graph).reordered.transpose  # what compiles does so now
            _synchronize(device)
        begun = time.perf_counter()
        _ = graph.reordered.transpose
        _synchronize(device)
        return _Placed(graph, time.perf_counter() - begun)


@dataclass(frozen=True, eq=False)
class _Task:
    """What every method is asked to do."""

    graph: Graph
    places: _Places
    roots: NDArray[np.int64]
    batch: int | None
    dtype: str
    bucket_width: float | None
    threads: int
    time_limit: float

    def plan(self, row: Method, count: int) -> SweepPlan:
        """SweepPlan a run from the first `count` roots; MemoryError if it does not fit in the budget."""
        needed = memory.fit(self.places[row.device].graph, row, self.batch, self.threads, count)
        memory.require(needed)
        bucket_width = self.bucket_width if "bucket_width" in row.takes else None
        return SweepPlan(
            batch=needed.batch,
            threads=needed.threads,
            dtype=self.dtype_of(row),
            bucket_width=bucket_width,
            roots=len(self.roots),
            method=row.name,
        )

    def dtype_of(self, row: Method) -> str:
        """Return the dtype that was asked for, or float64 if the method has no other."""
        try:
            check_dtype(self.dtype, row)
        except ValueError:
            return "float64"
        return self.dtype


@dataclass(frozen=True, eq=False)
class _Run:
    """One sweep."""

    scores: NDArray[np.float64]
    plan: SweepPlan
    wall: float
    prepare: float
    workers: int
    peak: int | None
    levels: int | None
    recomputed: int

    @property
    def seconds(self) -> float:
        return max(self.wall - self.prepare, 1e-9)


class _TooSlow(Exception):  # noqa: N818 (a reason, not an error)
    """The estimate for a method is over the time limit."""


class _Watch:
    """A method's three functions, called through, with what they do noted."""

    def __init__(self, row: Method, plan: SweepPlan) -> None:
        self._module, self._device = row.load(), row.device
        self.batching, self.options = self._module.batching, self._module.options
        self.footprint = self._module.footprint
        self.plan = plan  # or the one that it was replaced by for lack of memory
        self.prepare_seconds: list[float] = []
        self.workers = 0
        self.levels: list[int] = []
        self.overflowed: list[int] = []

    def prepare(self, graph: Graph, plan: SweepPlan) -> tuple[Any, bool]:
        """Note the time, and with the state whether it is of the dtype planned: overflow calls for another one."""
        begun = time.perf_counter()
        state = self._module.prepare(graph, plan)
        _synchronize(self._device)
        self.prepare_seconds.append(time.perf_counter() - begun)
        planned = plan.dtype == self.plan.dtype
        if planned:
            self.plan = plan
            self.workers += 1
        return state, planned

    def forward(self, state: tuple[Any, bool], roots: NDArray[np.int64]) -> Iterator[Any]:
        """Note how many levels there were and, of the dtype planned, how many roots overflowed."""
        for levels in self._module.forward(state[0], roots):
            if (depth := getattr(levels, "depth", None)) is not None:
                self.levels.append(int(depth))
            if state[1]:
                self.overflowed.append(int(np.count_nonzero(levels.overflowed)))
            yield levels

    def backward(self, state: tuple[Any, bool], levels: Any, sums: Sums, omega: Any = None) -> None:
        """Note nothing."""
        self._module.backward(state[0], levels, sums, omega)


def _synchronize(device: str) -> None:
    """Wait until the device has done what it was asked to."""
    if device == "cuda":
        import cupy

        cupy.cuda.get_current_stream().synchronize()


class _PeakMemory:
    """Memory at its peak, above what there was at entry, in `bytes` after exit."""

    bytes: int | None = None

    def __init__(self, device: str) -> None:
        self._device = device

    def __enter__(self) -> _PeakMemory:
        gc.collect()  # python-graphblas objects lie in reference cycles
        if self._device == "cuda":
            self._pool.free_all_blocks()
            self._before: int | None = self._pool.total_bytes()
        else:
            self._before = _resident("VmRSS") if _trim() else None
        return self

    def __exit__(self, *_: object) -> None:
        after = self._pool.total_bytes() if self._device == "cuda" else _resident("VmHWM")
        if self._before is not None and after is not None:
            self.bytes = max(after - self._before, 0)

    @property
    def _pool(self) -> Any:
        import cupy

        return cupy.get_default_memory_pool()


def _trim() -> bool:
    """Give free memory back to the system and let the peak of resident memory start anew; False if it is not possible.

    Memory that the allocator keeps would otherwise serve the next method unseen.
    """
    try:
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except (OSError, AttributeError):
        return False
    return True


def _resident(field: str) -> int | None:
    """Read ``VmRSS`` (resident now) or ``VmHWM`` (its peak) of this process, in bytes."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(field)), None)


class _Check:
    """What the scores should be: by the reference, from as many roots as it can; by one method on the CPU, from all."""

    def __init__(self, task: _Task, rows: list[Method]) -> None:
        self.task = task
        self.trusted = _trusted_row(task)
        visits = task.graph.n + task.graph.nnz
        self._few = max((k for k in _sizes(len(task.roots)) if k * visits <= _REFERENCE_VISITS), default=0)
        self._by_reference = _by_reference(task, self._few) if self._few else None
        self._by_trusted = None
        if self.trusted is not None and self.trusted not in rows and self._few < len(task.roots):
            self._by_trusted = _scores(task, self.trusted)

    def __call__(self, row: Method, scores: dict[int, NDArray[np.float64]]) -> tuple[float | None, str]:
        """Return the largest relative difference, and what from."""
        every, found = len(self.task.roots), []
        if self._by_reference is not None:
            found.append((_difference(scores[self._few], self._by_reference), f"lagbc.reference, {_roots(self._few)}"))
        if row is self.trusted:
            self._by_trusted = scores[every]
        elif self._by_trusted is not None and self.trusted is not None and self._few < every:
            name = f"{self.trusted.name} on {self.trusted.device}, {_roots(every)}"
            found.append((_difference(scores[every], self._by_trusted), name))
        if not found:
            return None, ""
        return max(difference for difference, _ in found), "; ".join(name for _, name in found)


def _trusted_row(task: _Task) -> Method | None:
    """Return the row that is taken on the CPU if the user names none; None if there is none."""
    try:
        return choose(task.graph, method="auto", device="cpu").method
    except (ValueError, MissingDependencyError):
        return None


def _scores(task: _Task, row: Method) -> NDArray[np.float64] | None:
    """Raw scores from all roots by a method that is not measured; None if it cannot in time or memory."""
    try:
        return _time(task, row)[1][len(task.roots)]
    except (_TooSlow, MemoryError):
        return None


def _by_reference(task: _Task, count: int) -> NDArray[np.float64] | None:
    """Raw scores from the first `count` roots; None if their path counts leave the range of float."""
    graph = task.graph.on_host
    indptr, indices, weights = graph.indptr, graph.indices, graph.weights
    lengths = None if weights is None else weights.tolist()
    try:
        scores = reference.brandes(indptr.tolist(), indices.tolist(), lengths, sources=task.roots[:count].tolist())
    except OverflowError:
        return None
    return np.array(scores)


def _difference(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """Return the largest ``|x - y| / max(|x|, |y|)``; 0 where both are 0, infinite where one is no number."""
    size = np.maximum(np.abs(ours), np.abs(theirs))
    with np.errstate(invalid="ignore"):
        relative = np.abs(ours - theirs) / np.where(size == 0, 1, size)
    return float(np.where(np.isfinite(relative), relative, np.inf).max(initial=0.0))


def _measure(task: _Task, row: Method, check: _Check) -> Measurement:
    record = Measurement(row.name, row.formulation, row.device)
    if reason := _inapplicable(row, task.graph.weighted):
        return replace(record, skipped=reason)
    try:
        run, scores = _time(task, row)
    except (_TooSlow, MemoryError) as error:
        return replace(record, skipped=str(error) or "out of memory")
    except Exception as error:  # whatever a method raises is a result: it is recorded, and the others go on
        return replace(record, skipped=f"failed: {type(error).__name__}: {error}")
    count, graph = len(task.roots), task.graph
    states = graph.n * run.plan.batch * run.workers
    edges = graph.nnz if graph.directed else graph.nnz / 2
    agreement, checked = check(row, scores)
    return replace(
        record,
        dtype=run.plan.dtype,
        batch=run.plan.batch,
        workers=run.workers,
        seconds_per_root=run.seconds / count,
        gteps=edges * count / run.seconds / 1e9,
        order_seconds=task.places[row.device].order_seconds,
        prepare_seconds=run.prepare,
        peak_bytes=run.peak,
        bytes_per_state=None if run.peak is None else run.peak / states,
        levels=run.levels,
        recomputed=run.recomputed,
        agreement=agreement,
        checked=checked,
    )


def _inapplicable(row: Method, weighted: bool) -> str:
    if row.weighted != weighted:
        return "for hops only, lengths are not read" if weighted else "for lengths only, with weighted=True"
    if row.available:
        return ""
    if find_spec(row.requires) is None:
        return f"{row.requires} is not installed; pip install " + (
            f"'lagbc[{row.extra}]'" if row.extra else row.requires
        )
    return "there is no NVIDIA GPU that CuPy sees"


def _time(task: _Task, row: Method) -> tuple[_Run, dict[int, NDArray[np.float64]]]:
    """Return the shortest run from all roots, and the scores of each size tried."""
    _run(task, row, 1)  # what compiles or loads does so now
    every, scores = len(task.roots), {}
    for size in _sizes(every):
        run = _run(task, row, size)
        scores[size] = run.scores
        if size < every and run.wall * min(_STEP, every / size) > task.time_limit:
            following = min(_STEP * size, every)
            raise _TooSlow(
                f"too slow: {_roots(size)} took {run.wall:.2g} s, so that {following:,} would take up to "
                f"{run.wall * following / size:.2g} s, and the time limit is {task.time_limit:g} s"
            )
    runs = [run]
    while len(runs) < _MOST_RUNS and sum(run.wall for run in runs) < _REPEAT_SECONDS:
        runs.append(_run(task, row, every))
    return min(runs, key=lambda run: run.seconds), scores


def _run(task: _Task, row: Method, count: int) -> _Run:
    """Sweep from the first `count` roots; again with a smaller plan if this one ran out of memory on its way."""
    plan = task.plan(row, count)
    while True:
        watch: Any = _Watch(row, plan)
        with _PeakMemory(row.device) as peak:
            begun = time.perf_counter()
            sums = sweep(task.places[row.device].graph, row, plan, task.roots[:count], module=watch)
            wall = time.perf_counter() - begun
        if (watch.plan.batch, watch.plan.threads) == (plan.batch, plan.threads):
            break
        plan = replace(plan, batch=watch.plan.batch, threads=watch.plan.threads)
    first, *others = watch.prepare_seconds
    return _Run(
        scores=sums.dependency,
        plan=plan,
        wall=wall,
        # The first state is built before any batch is run, the others by the workers, side by side.
        prepare=first + sum(others) / watch.workers,
        workers=watch.workers,
        peak=peak.bytes,
        levels=max(watch.levels, default=None),
        recomputed=sum(watch.overflowed),
    )


def _rows(methods: str | Iterable[str], device: str, weighted: bool) -> list[Method]:
    """Return the rows to go through: those asked for, less those that another of the same name stands for."""
    names = sorted({row.name for row in METHODS})
    asked = names if methods == "all" else [methods] if isinstance(methods, str) else list(methods)
    for name in asked:
        if name not in names:
            raise ValueError(f"methods: there is no {name!r}; there are 'all' and {', '.join(names)}")
    if device not in ("all", "cpu", "cuda"):
        raise ValueError(f"device={device!r} is not 'all', 'cpu' or 'cuda'")
    rows = [row for row in METHODS if row.name in asked and device in ("all", row.device)]
    apply = {(row.name, row.device) for row in rows if row.weighted == weighted}
    rows = [row for row in rows if row.weighted == weighted or (row.name, row.device) not in apply]
    if not rows:
        raise ValueError(f"none of {', '.join(asked)} is there for device={device!r}")
    return rows


def _draw(graph: Graph, roots: int | ArrayLike, rng: int | np.random.Generator) -> NDArray[np.int64]:
    """Return distinct roots with out-edges: those given, or drawn ones, on deep graphs as runs in sweep order."""
    if np.ndim(roots) > 0:
        given = parse_vertices("sources", graph.n, roots)
        given = given[graph.out_degrees[given] > 0]
        if not len(given):
            raise ValueError("no edge leaves any of the roots, so that there is nothing to compare")
        return given
    order = graph.order[graph.out_degrees[graph.order] > 0]
    count = min(parse_count("roots", roots), len(order))
    generator = np.random.default_rng(rng)
    if not graph.has_high_diameter:
        return generator.choice(order, count, replace=False)
    if count == len(order):
        return order
    length = max(row.block for row in METHODS)
    starts = np.arange(0, max(len(order) - length, 0) + 1, length)
    chosen = generator.choice(starts, min(-(-count // length), len(starts)), replace=False)
    return np.concatenate([order[start : start + length] for start in chosen])[:count]


def _sizes(count: int) -> list[int]:
    """1, 8, 64, ... and the count itself."""
    sizes = [1]
    while sizes[-1] * _STEP < count:
        sizes.append(sizes[-1] * _STEP)
    return sizes if count == 1 else [*sizes, count]


def _bar(total: int) -> Any:
    from tqdm.auto import tqdm

    return tqdm(total=total, unit="method", leave=False)


def _gpu_name() -> str:
    import cupy

    name: str = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
    return name


def _roots(count: int) -> str:
    return f"{count:,} root{'' if count == 1 else 's'}"


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(value: float | None, form: str = ".3g") -> str:
    return "-" if value is None else format(value, form)


def _scaled(value: float | None, factor: float) -> str:
    return "-" if value is None else f"{value * factor:.3g}"


# What a table shows, with the text of each cell.
COLUMNS: tuple[tuple[str, Callable[[Measurement], str]], ...] = (
    ("method", lambda record: record.method),
    ("formulation", lambda record: record.formulation),
    ("device", lambda record: record.device),
    ("ms per root", lambda record: _scaled(record.seconds_per_root, 1e3)),
    ("GTEPS", lambda record: _number(record.gteps)),
    ("order (ms)", lambda record: _scaled(record.order_seconds, 1e3)),
    ("prepare (ms)", lambda record: _scaled(record.prepare_seconds, 1e3)),
    ("peak (MiB)", lambda record: _scaled(record.peak_bytes, 2.0**-20)),
    ("bytes a state", lambda record: _number(record.bytes_per_state)),
    ("levels", lambda record: _number(record.levels, "d")),
    ("difference", lambda record: _number(record.agreement, ".1e") + (" WRONG" if record.agrees is False else "")),
    ("from", lambda record: record.checked or "-"),
)
