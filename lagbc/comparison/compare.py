"""Every method on one graph, side by side: time, memory, levels, and the check of their scores."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc import reference
from lagbc.calls import record as record_phases
from lagbc.comparison.measure import Places, Task, TooSlow, draw_roots, growing_sizes, time_method
from lagbc.comparison.records import Comparison, Measurement
from lagbc.errors import InvalidValueError, MissingDependencyError, did_you_mean, quantity
from lagbc.graph.validate import as_graph
from lagbc.methods import table
from lagbc.methods.table import Method
from lagbc.options import Options, check_options, parse_real
from lagbc.planning.choose import ranked
from lagbc.request import require_flags
from lagbc.types import All, Auto, DeviceName, DTypeName, GraphLike

# The most vertices and edges that the reference visits, from all its roots: two or three seconds.
_REFERENCE_VISITS = 10_000_000


def compare(
    A: GraphLike,
    roots: int | ArrayLike = 256,
    *,
    methods: str | Iterable[str] = "all",
    device: DeviceName | All = "all",
    directed: bool | None = None,
    weighted: bool | str | None = None,
    strength: bool | str = False,
    batch: int | Auto = "auto",
    dtype: DTypeName | None = None,
    bucket_width: float | Auto | None = None,
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
        The number of roots to draw, among vertices with out-edges, or the roots themselves. The number of vertices
        takes all.
    methods : str or list of str
        "all", or names of rows of `lagbc.METHODS` for `device` and `weighted`, also with ways: "work-efficient:8".
    device : str
        "all", "cpu" or "cuda".
    directed, batch, threads : as for `lagbc.bc`
    weighted, strength : as for `lagbc.bc`
        As for `lagbc.bc`; methods for hops are skipped if edges have lengths, and methods for lengths if not.
    dtype : str, optional
        "float64" or "float32": type of path counts where a method has the choice; elsewhere it is float64.
    bucket_width : float or "auto", optional
        As for `lagbc.bc`; it goes to the methods that take it. `lagbc.config` gives defaults.
    rng : int or numpy.random.Generator
        Draws the roots.
    time_limit : float
        The most seconds of a run. A method is skipped if its next run would take longer, by an estimate from fewer
        roots.
    progress : bool
        Whether to draw a bar that names the method at work.
    report : callable, optional
        Called with each `Measurement` as soon as it is made.

    Returns
    -------
    Comparison

    Raises
    ------
    TypeError, ValueError
        An argument is wrong, or the graph has no edge; the message names a way out.
    MissingDependencyError
        A method named in `methods` needs a library that is not installed, or a GPU.
    KeyboardInterrupt
        Ctrl-C stops within one level of one batch.

    Notes
    -----
    A method is first run from one root, unmeasured, to compile and load its code. Trials from 1, 8, 64, ... roots
    follow, each an estimate of the next one's time, up to all roots. That run is measured; if it is shorter than a
    second it is repeated, up to three times in all, and the shortest run counts.

    On graphs of high diameter (meshes, roads) the roots are runs of neighbours in sweep order, as if all vertices were
    roots: `batched` is made for that, and makes no difference to others. On other graphs they are drawn one by one.

    Scores from as many of the first roots as `lagbc.reference` sweeps within seconds are compared with its scores.
    Scores from all roots are also compared with the first method for the CPU, `batched`, which runs first.
    `Measurement.checked` names these checks, and `Measurement.agreement` is the largest difference of all.

    A method that fails or does not fit in the memory budget is skipped, with the reason; of "all", so is a method that
    lacks a library or a GPU.
    """
    require_flags(progress=progress)
    if not parse_real("time_limit", time_limit) > 0:
        raise InvalidValueError(f"time_limit={time_limit!r}: it is a number of seconds, more than 0")
    with record_phases() as recorder:
        graph = as_graph(A, directed=directed, weighted=weighted, strength=strength)
    rows = _choose_rows(methods, device, graph.weighted)
    taking = [row for row in rows if row.reads("bucket_width") and row.weighted == graph.weighted]
    if bucket_width not in (None, "auto") and not taking:
        raise InvalidValueError(
            f"bucket_width={bucket_width!r} means nothing to {', '.join(sorted({row.name for row in rows}))}"
        )
    if not graph.nnz:
        raise InvalidValueError("A has no edge between two vertices, so that there is nothing to compare")
    places = Places(graph)
    home = places["cpu" if graph.on_host is graph else "cuda"]
    given = {"dtype": dtype, "bucket_width": bucket_width, "threads": threads}
    options = cast(Options, {name: value for name, value in given.items() if value is not None})
    task = Task(
        graph=graph,
        places=places,
        roots=draw_roots(home.graph, roots, rng),
        batch=batch,
        options=options,
        threads=check_options(batch, options).threads,
        time_limit=time_limit,
        check_seconds=recorder.seconds["check"],
    )
    check = Check(task, rows)
    rows.sort(key=lambda row: row is not check.trusted)
    records = []
    with _progress_bar(len(rows)) if progress else nullcontext() as bar:
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


def _choose_rows(methods: str | Iterable[str], device: str, weighted: bool) -> list[Method]:
    """Return the rows to measure: for "all", a row for other lengths only where no row of its name and device fits."""
    if device not in ("all", "cpu", "cuda"):
        raise InvalidValueError(f"device={device!r} is not 'all', 'cpu' or 'cuda'")
    on_device = [row for row in table.METHODS if device in ("all", row.device)]
    if isinstance(methods, str) and methods == "all":
        applying = {(row.name, row.device) for row in on_device if row.weighted == weighted}
        return [row for row in on_device if row.weighted == weighted or (row.name, row.device) not in applying]
    asked = list(dict.fromkeys([methods] if isinstance(methods, str) else methods))
    there = [row for row in on_device if row.weighted == weighted]
    names = dict.fromkeys(row.name for row in there)
    rows_of = {one: table.methods_of(weighted=weighted, method=str(one)) for one in asked if one != "auto"}
    unknown = [one for one in asked if not any(row in there for row in rows_of.get(one, []))]
    if unknown or not asked:
        where = f"{'' if device == 'all' else f' on {device}'}{' with lengths' if weighted else ' for hops'}"
        rows = ", ".join(f"{row.name} on {row.device}" for row in there)
        wrong = ", ".join(map(repr, unknown)) or "name"
        instead = did_you_mean(unknown[0] if unknown else None, [*names], f"there are 'all' and {rows}")
        raise InvalidValueError(f"methods: there is no {wrong}{where}; {instead}")
    for named in rows_of.values():
        if not any(row.available for row in named if row in there):
            next(row for row in named if row in there).load()  # raises the error that names the missing library
    # A row that is asked for without ways is the one of the table: the check looks for the trusted one.
    return [row if one == row.name else replace(row, name=one) for row in there for one in asked if row in rows_of[one]]


def _measure(task: Task, row: Method, check: Check) -> Measurement:
    record = Measurement(row.name, row.formulation, row.device)
    if reason := _reason_to_skip(row, task.graph.weighted):
        return replace(record, skipped=reason)
    try:
        run, scores = time_method(task, row)
    except (TooSlow, MemoryError) as error:
        return replace(record, skipped=str(error) or "out of memory")
    except Exception as error:  # any error of a method is a result: it is recorded, and the others go on
        return replace(record, skipped=f"failed: {type(error).__name__}: {error}")
    count, graph = len(task.roots), task.graph
    states = graph.n * run.sweep.batch * run.workers
    edges = graph.nnz if graph.directed else graph.nnz / 2
    agreement, checked = check(row, scores)
    return replace(
        record,
        dtype=run.sweep.dtype,
        batch=run.sweep.batch,
        workers=run.workers,
        seconds_per_root=run.seconds / count,
        gteps=edges * count / run.seconds / 1e9,
        check_seconds=task.check_seconds,
        order_seconds=task.places[row.device].order_seconds,
        prepare_seconds=run.prepare,
        compile_seconds=run.phases["compile"],
        sweep_seconds=run.phases["sweep"],
        finish_seconds=run.phases["finish"],
        peak_bytes=run.peak,
        bytes_per_state=None if run.peak is None else run.peak / states,
        levels=run.levels,
        recomputed=run.recomputed,
        agreement=agreement,
        checked=checked,
    )


def _reason_to_skip(row: Method, weighted: bool) -> str:
    if row.weighted != weighted:
        return "for hops only, lengths are not read" if weighted else "for lengths only, with weighted=True"
    return f"it needs {row.missing}" if row.missing else ""


def _progress_bar(total: int) -> Any:
    from tqdm.auto import tqdm

    return tqdm(total=total, unit="method", leave=False)


def _gpu_name() -> str:
    import cupy

    name: str = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
    return name if table.count_gpus() == 1 else f"{name} (one of {table.count_gpus()} GPUs)"


class Check:
    """The right scores, by the reference from as many roots as take it seconds, and by one method from all roots.

    Of the methods to be checked the trusted one comes first, if it is among them: its scores are the others' check.
    """

    def __init__(self, task: Task, rows: list[Method]) -> None:
        self.task = task
        self.trusted = _trusted_row(task)
        visits = task.graph.n + task.graph.nnz
        self._roots_of_reference = max(
            (k for k in growing_sizes(len(task.roots)) if k * visits <= _REFERENCE_VISITS), default=0
        )
        self._reference_scores = _by_reference(task, self._roots_of_reference) if self._roots_of_reference else None
        self._by_trusted = None
        if self.trusted is not None and self.trusted not in rows and self._roots_of_reference < len(task.roots):
            self._by_trusted = _scores_by(task, self.trusted)

    def __call__(self, row: Method, scores: dict[int, NDArray[np.float64]]) -> tuple[float | None, str]:
        """Return the largest relative difference of scores, and the names of the checks."""
        every, found = len(self.task.roots), []
        if self._reference_scores is not None:
            found.append(
                (
                    _relative_difference(scores[self._roots_of_reference], self._reference_scores),
                    f"lagbc.reference, {quantity(self._roots_of_reference, 'root')}",
                )
            )
        if row is self.trusted:
            self._by_trusted = scores[every]
        elif self._by_trusted is not None and self.trusted is not None and self._roots_of_reference < every:
            name = f"{self.trusted.name} on {self.trusted.device}, {quantity(every, 'root')}"
            found.append((_relative_difference(scores[every], self._by_trusted), name))
        if not found:
            return None, ""
        return max(difference for difference, _ in found), "; ".join(name for _, name in found)


def _trusted_row(task: Task) -> Method | None:
    """Return the row that "auto" takes on the CPU; None if there is none."""
    try:
        return ranked(task.graph, method="auto", device="cpu")[0].method
    except (ValueError, MissingDependencyError):
        return None


def _scores_by(task: Task, row: Method) -> NDArray[np.float64] | None:
    """Return raw scores from all roots by a method that is not measured; None if time or memory are too short."""
    try:
        return time_method(task, row)[1][len(task.roots)]
    except (TooSlow, MemoryError):
        return None


def _by_reference(task: Task, count: int) -> NDArray[np.float64] | None:
    """Return raw scores from the first `count` roots; None if their path counts leave the range of float."""
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
