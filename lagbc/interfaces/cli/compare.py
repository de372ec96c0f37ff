"""`lagbc compare`: every method on one graph."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import click

from lagbc.errors import InvalidValueError
from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.graphs import headline
from lagbc.interfaces.cli.outputs import check_outputs, write_rows
from lagbc.interfaces.cli.task import Drawing, Task, carry_out
from lagbc.interfaces.cli.text import wrapped

if TYPE_CHECKING:
    from lagbc.calls import Phase
    from lagbc.comparison.records import Measurement

# The exit status if scores of some method are wrong.
WRONG = 3
# Columns that stay longest where a terminal is narrow; the others go from the last on.
_KEPT = ("method", "device", "ms per root", "difference", "peak (MiB)", "GTEPS")
# The longest names of checks, in characters, and what stands between columns.
_LONGEST_CHECKS, _BETWEEN = 50, "  "


@click.command("compare", epilog=options.GRAPH_HELP)
@options.takes_graph
@click.option("--roots", type=click.IntRange(1), default=256, show_default=True, help="How many roots to draw.")
@options.seed_option
@click.option("--methods", metavar="NAME,...", default="all", show_default=True, help="Which of lagbc info's table.")
@click.option(
    "--device",
    type=click.Choice(["all", "cpu", "cuda"]),
    default="all",
    show_default=True,
    help="Where to compute.",
)
@click.option(
    "--time-limit", type=float, default=60.0, show_default=True, help="Seconds; a method that takes longer is skipped."
)
@options.takes_output(out="Write all figures of all methods: a .csv table.", plot="times and memory")
@options.takes_run("batch", "bucket_width", "dtype", "threads", "progress")
def compare_command(
    source: options.GraphOptions, output: options.OutputOptions, run: dict[str, Any], **typed: Any
) -> None:
    """Time, memory and agreement of every method on GRAPH.

    A row is printed as soon as its method is measured; why others were not follows the table. The exit status is 3 if
    the scores of some method are wrong.
    """
    if output.out is not None and output.out.suffix != ".csv":
        raise InvalidValueError(f"--out {output.out}: figures are written to a .csv file")
    check_outputs(output.out, output.plot)
    carry_out(source, run["progress"], lambda taken, steps: _Comparison(taken, output, steps, typed | run))


@dataclass(eq=False)
class _Comparison(Task):
    """The task of a comparison, with all options of its call."""

    given: dict[str, Any]
    _has_titles: bool = False

    def introduction(self) -> str:
        """Describe the graph."""
        return f"{headline(self.source)}{', with lengths' if self.source.weighted else ''}\n"

    def compute(self) -> None:
        """Measure all methods, each of which has a row at once."""
        import lagbc

        how, methods = dict(self.given), self.given["methods"]
        how |= {
            "rng": how.pop("seed"),
            "methods": methods if methods == "all" else [name.strip() for name in methods.split(",")],
            "directed": self.source.directed,
            "weighted": self.source.weighted,
            "report": self._show_row if self.output.is_shown and not self.output.as_json else None,
        }
        self.found = lagbc.compare(self.source.graph, **how)

    def write(self, path: Path) -> None:
        """Write a line a method, with all figures."""
        rows = [asdict(record) | {"agrees": record.agrees} for record in self.found.records]
        write_rows(path, rows[0], (row.values() for row in rows))

    def document(self) -> dict[str, Any]:
        """Return the parts of the document."""
        found = {name: getattr(self.found, name) for name in ("roots", "threads", "gpu", "depth")}
        methods = [{**asdict(record), "agrees": record.agrees} for record in self.found.records]
        return {"command": "compare", **found, "methods": methods}

    def seconds(self, total: float, phases: Mapping[Phase, float]) -> Mapping[Any, float]:
        """Return the whole time; that of phases stands beside each method."""
        return {"total": total}

    def text(self) -> Iterator[str]:
        """Yield nothing: a row is printed as soon as it is measured."""
        yield from ()

    def lines(self, seconds: float, phases: Mapping[Phase, float]) -> Iterator[str]:
        """Yield the conditions below the table, remarks, and the reasons of methods without a row."""
        found = self.found
        yield f"\n{found.conditions}" if found.measured else found.conditions
        yield from map(wrapped, (*found.remarks(), *found.reasons()))
        missing = [title for title in self._cells if title not in self._widths]
        if found.measured and missing:
            yield wrapped(f"columns that do not fit into the terminal: {', '.join(missing)} (--out FILE.csv has all)")

    def drawings(self) -> list[Drawing]:
        """Return the figure of times and memory."""
        draw = partial(self.found.plot, title=self.source.title)
        return [] if self.output.plot is None else [Drawing("plot", self.output.plot, draw)]

    @property
    def status(self) -> int:
        """3 if scores of some method are wrong."""
        return WRONG if any(record.agrees is False for record in self.found.records) else 0

    @cached_property
    def _cells(self) -> dict[str, Callable[[Measurement], str]]:
        """The cells of all columns, by their titles."""
        from lagbc.comparison.records import TABLE_COLUMNS

        return dict(TABLE_COLUMNS)

    @cached_property
    def _widths(self) -> dict[str, int]:
        """Widths of the columns that the terminal has room for, by their titles; all columns of a file or a pipe."""
        from lagbc.methods.table import METHODS

        # Columns are as wide as titles, names and figures need; names that are asked for may have ways behind them.
        names = [*(row.name for row in METHODS), *self.given["methods"].split(",")]
        longest = {"method": max(map(len, names)), "formulation": 11, "device": 6, "difference": 13}
        widths = {title: max(len(title), longest.get(title, 8)) for title in self._cells}
        widths["from"] = _LONGEST_CHECKS
        room = get_terminal_size().columns if sys.stdout.isatty() else sys.maxsize
        for title in [title for title in reversed(widths) if title not in _KEPT] + [*reversed(_KEPT)]:
            if sum(widths.values()) + len(_BETWEEN) * (len(widths) - 1) > room:
                del widths[title]
        return widths

    def _show_row(self, record: Measurement) -> None:
        """Print a measurement, above a progress bar if there is one, the first below titles."""
        from tqdm import tqdm

        if record.skipped:
            return
        rows = [{title: self._cells[title](record) for title in self._widths}]
        if not self._has_titles:
            rows.insert(0, {title: title for title in self._widths})
            self._has_titles = True
        for row in rows:
            text = _BETWEEN.join(f"{row[title]:<{width}}" for title, width in self._widths.items()).rstrip()
            tqdm.write(text, file=sys.stdout)
