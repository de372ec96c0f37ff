"""Records of a comparison: one a method, all together, and their tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lagbc.calls import PHASES
from lagbc.errors import MissingDependencyError, quantity
from lagbc.graph.names import size_in_words

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

# Largest relative difference of two scores that rounding explains.
TOLERANCE = {"float64": 1e-9, "float32": 1e-3}


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
        Of sweeping and summing; without `prepare_seconds`.
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
        try:
            import pandas
        except ImportError as error:
            raise MissingDependencyError("to_pandas needs pandas: pip install pandas") from error
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
