"""Every method on one graph, side by side: the call, and its records of time, memory and agreement."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.calls import PHASES
from lagbc.calls import record as record_phases
from lagbc.comparison.measure import Check, Places, Task, TooSlow, draw_roots, time_method
from lagbc.errors import InvalidValueError, did_you_mean, needed, quantity
from lagbc.graph.names import size_in_words
from lagbc.graph.validate import as_graph
from lagbc.methods import table
from lagbc.methods.table import Method
from lagbc.options import Options, check_options, parse_real
from lagbc.request import require_flags
from lagbc.types import All, Auto, DeviceName, DTypeName, GraphLike

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# Rounding explains relative differences of two scores up to this.
TOLERANCE = {"float64": 1e-9, "float32": 1e-3}


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
        The most seconds of a run. A method is skipped if its run from fewer roots predicts more.
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

    `lagbc.reference` checks the scores from as many of the first roots as it sweeps within seconds. `batched` on the
    CPU, which runs first, checks the scores from all roots.
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
        threads=check_options(batch, options).usable_threads,
        time_limit=time_limit,
        check_seconds=recorder.seconds["check"],
    )
    check = Check(task, rows)
    rows.sort(key=lambda row: row is not check.trusted)
    records = []
    from tqdm.auto import tqdm

    with tqdm(total=len(rows), unit="method", leave=False, disable=not progress) as bar:
        for row in rows:
            bar.set_description_str(f"{row.name} on {row.device}")
            records.append(_measure(task, row, check))
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
    """Return the rows to measure; "all" has a row of another weighting only if no row of its name and device fits."""
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


def _gpu_name() -> str:
    import cupy

    name: str = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
    return name if table.count_gpus() == 1 else f"{name} (one of {table.count_gpus()} GPUs)"


@dataclass(frozen=True, slots=True)
class Measurement:
    """One method in a `Comparison`; if it was skipped, all figures are None.

    Attributes
    ----------
    method, formulation, device : str
        As in `lagbc.METHODS`.
    skipped : str
        The reason why it was not measured; empty if it was.
    dtype : str
        Type of path counts.
    batch, workers : int
        Roots that are searched together, and the number of such batches side by side.
    seconds_per_root : float
        Of sweeping and summing, without `prepare_seconds`.
    gteps : float
        Billions of edges traversed in a second: an edge counts once for every root, an undirected one as one edge.
    check_seconds : float
        Of reading and checking the graph, once for all methods. Nothing if `A` is a `Graph`.
    order_seconds : float
        Of ordering the vertices and copying the graph in that order, once for all methods on a device. Next to nothing
        if `A` is a `Graph` that was used before.
    prepare_seconds : float
        Of building a worker's state out of the ordered graph: copies, allocations.
    compile_seconds : float
        Of compiling and loading kernels, in the run from one root before the measurement. Next to nothing if this
        process has used the method before.
    sweep_seconds : float
        Of all batches, in the measured run.
    finish_seconds : float
        Of bringing the sums of that run to the host.
    peak_bytes : int
        The peak of memory without the ordered graph: on the GPU, of CuPy's pool; on the CPU, resident memory of
        the process (to about a megabyte; None off Linux).
    bytes_per_state : float
        `peak_bytes` over the states that are kept at a time: a state is a vertex seen from one root, and there are
        ``n * batch * workers``.
    levels : int
        Levels of the deepest batch: for hops, the largest distance from a root; with lengths, the rounds in which paths
        are counted.
    recomputed : int
        Roots whose path counts left the range of `dtype` and were computed again, in the time above.
    agreement : float
        Largest relative difference of a vertex's score from the scores of the checks; None without a check.
    checked : str
        The checks: names, and numbers of roots.
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
    check_seconds: float | None = None
    order_seconds: float | None = None
    prepare_seconds: float | None = None
    compile_seconds: float | None = None
    sweep_seconds: float | None = None
    finish_seconds: float | None = None
    peak_bytes: int | None = None
    bytes_per_state: float | None = None
    levels: int | None = None
    recomputed: int | None = None
    agreement: float | None = None
    checked: str = ""

    @property
    def title(self) -> str:
        """The method and its device."""
        return f"{self.method} on {self.device}"

    @property
    def agrees(self) -> bool | None:
        """Whether rounding explains `agreement`: up to 1e-9, with float32 1e-3. None without a check."""
        if self.agreement is None or self.dtype is None:
            return None
        return self.agreement <= TOLERANCE[self.dtype]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of `compare`; a notebook shows its table.

    Attributes
    ----------
    records : tuple of Measurement
        One a method, in the order of measurement; methods that were skipped are among them.
    n, nnz, depth : int
        Vertices, stored edges (an undirected one counts twice), and a lower bound of the diameter in hops.
    directed, weighted : bool
    roots : int
        The number of roots of every method, all with out-edges.
    threads : int
        CPU threads.
    gpu : str
        Name of the GPU that was used, and the number of GPUs if there are several; empty if none was used.
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
        lengths = ", with lengths" if self.weighted else ""
        return f"{size_in_words(self.n, self.nnz, directed=self.directed)}{lengths}; {self.conditions}"

    @property
    def conditions(self) -> str:
        """The roots and the hardware."""
        threads = quantity(self.threads, "CPU thread")
        return f"{quantity(self.roots, 'root')}; {threads}{self.gpu and ', ' + self.gpu}"

    def to_markdown(self) -> str:
        """Return a Markdown table of the measured methods, and a list of the others."""
        lines = [f"**{self.headline}**", ""]
        if self.measured:
            lines += [_markdown_row(title for title, _ in TABLE_COLUMNS), "|" + "---|" * len(TABLE_COLUMNS)]
            lines += [*(_markdown_row(cell(record) for _, cell in TABLE_COLUMNS) for record in self.measured), ""]
        lines += [f"- {note}" for note in (*self.remarks(), *self.reasons())]
        return "\n".join(lines) + "\n"

    _repr_markdown_ = __str__ = to_markdown

    def remarks(self) -> list[str]:
        """Return remarks on the figures: methods with wrong scores, and roots that were computed again."""
        wrong = [record for record in self.measured if record.agrees is False]
        recomputed = [record for record in self.measured if record.recomputed]
        return [
            *(f"{record.title} is WRONG: it differs from {record.checked}" for record in wrong),
            *(
                f"{record.title}: path counts of {quantity(record.recomputed or 0, 'root')} left the range of "
                f"{record.dtype}; computing them again is in the time"
                for record in recomputed
            ),
        ]

    def reasons(self) -> list[str]:
        """Return the reasons of skipped methods, a line a reason."""
        titles: dict[str, list[str]] = {}
        for record in self.skipped:
            titles.setdefault(record.skipped, []).append(record.title)
        return [f"{', '.join(methods)} not measured: {reason}" for reason, methods in titles.items()]

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        ax: Sequence[Axes] | NDArray[Any] | None = None,
    ) -> Figure:
        """Draw time per root and peak memory of the methods, see `lagbc.plots.plot_comparison`."""
        from lagbc.plots import plot_comparison

        return plot_comparison(self, path, title=title, ax=ax)

    def to_pandas(self) -> pandas.DataFrame:
        """Return the records as a table of pandas.

        Raises
        ------
        MissingDependencyError
            pandas is not installed.
        """
        with needed("to_pandas needs pandas", "pandas", "pandas"):
            import pandas
        return pandas.DataFrame([asdict(record) for record in self.records])


def _markdown_row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _format_number(value: float | None, form: str = ".3g", factor: float = 1) -> str:
    return "-" if value is None else format(value * factor, form)


# Titles of the columns of a table, and the text of a cell.
TABLE_COLUMNS: tuple[tuple[str, Callable[[Measurement], str]], ...] = (
    ("method", lambda record: record.method),
    ("formulation", lambda record: record.formulation),
    ("device", lambda record: record.device),
    ("ms per root", lambda record: _format_number(record.seconds_per_root, factor=1e3)),
    ("GTEPS", lambda record: _format_number(record.gteps)),
    *(
        (f"{phase} (ms)", lambda record, phase=phase: _format_number(getattr(record, f"{phase}_seconds"), factor=1e3))
        for phase in PHASES
    ),
    ("peak (MiB)", lambda record: _format_number(record.peak_bytes, factor=2.0**-20)),
    ("bytes a state", lambda record: _format_number(record.bytes_per_state)),
    ("levels", lambda record: _format_number(record.levels, "d")),
    (
        "difference",
        lambda record: _format_number(record.agreement, ".1e") + (" WRONG" if record.agrees is False else ""),
    ),
    ("from", lambda record: record.checked or "-"),
)
