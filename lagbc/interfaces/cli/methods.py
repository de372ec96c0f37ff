"""Commands about methods on a graph: `lagbc info` plans a run, and `lagbc compare` measures all methods."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lagbc.errors import InvalidValueError, quantity
from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.inputs import degrees_of, file_layout, has_weights, headline, method_and_reason
from lagbc.interfaces.cli.outputs import check_outputs, method_of, write_rows
from lagbc.interfaces.cli.task import Drawing, Task, carry_out
from lagbc.interfaces.cli.terminal import duration, table, wrapped
from lagbc.limits import in_units

if TYPE_CHECKING:
    import numpy as np

    from lagbc.call import Call
    from lagbc.calls import Phase
    from lagbc.comparison.compare import Comparison, Measurement
    from lagbc.comparison.measure import Prediction
    from lagbc.interfaces.cli.inputs import Source
    from lagbc.planning.sweep import MemoryEstimate


# Edges up to which all is measured, in some 3 s of processor time.
_MEASURED = 1_000_000
# Fields of a method in the document.
_OF_METHOD = ("name", "formulation", "device", "weighted", "available", "missing")


@click.command("info", epilog=options.GRAPH_HELP)
@options.takes_graph
@click.option(
    "--measure/--no-measure",
    default=None,
    help="Probe roots for the choice of the method, and sweep from some of them to predict the time.  [default: for "
    f"graphs of up to {_MEASURED:,} edges]",
)
@options.json_option
@options.quiet_option
@options.takes_run("progress")
def info_command(
    source: options.GraphOptions, as_json: bool, quiet: bool, measure: bool | None, run: dict[str, Any]
) -> None:
    """Size and shape of GRAPH, the memory and time it needs, and the methods there are."""
    output = options.OutputOptions(as_json=as_json, quiet=quiet)
    carry_out(source, run["progress"], lambda taken, steps: _Info(taken, output, steps, run, measure))


@dataclass(slots=True, eq=False)
class _Info(Task):
    measure: bool | None
    shape: dict[str, Any] = field(init=False)
    executor: Any = field(init=False)
    time: Prediction | None = field(init=False, default=None)
    call: Call = field(init=False)
    memory: MemoryEstimate = field(init=False)

    def introduction(self) -> str:
        return headline(self.source)

    def compute(self) -> None:
        """Count the graph, plan a run, and predict its time; a large graph is planned by rules, without probes."""
        from lagbc.arguments import Arguments, Read
        from lagbc.centrality.compute import plan_call
        from lagbc.comparison.measure import predict
        from lagbc.options import Options, check_options
        from lagbc.planning.choose import ranked

        graph, settings = self.source.graph, check_options("auto", {})
        self.shape, self.executor = _shape_of(self.source), settings.executor
        if graph.nnz <= _MEASURED if self.measure is None else self.measure:
            begun = time.perf_counter()
            self.call = plan_call(graph, "bc", "auto", Read(), {}, Arguments())
            planning = time.perf_counter() - begun
            with self.steps.step("predicting the time"):
                self.time = predict(graph, self.call, planning)
        else:
            row, reason, _ = ranked(graph, method=settings.method, device=settings.device)[0]
            by_rule: Options = {"method": row.name, "device": row.device, "reduce": "none"}
            call = plan_call(graph, "bc", "auto", Read(), by_rule, Arguments())
            self.call = call._replace(plan=call.plan._replace(reason=reason))
        self.memory = self.call.plan.estimate(self.call.room)

    def document(self) -> dict[str, Any]:
        from lagbc.limits import usable_cores
        from lagbc.methods.table import METHODS, gpu_names
        from lagbc.native import level, levels

        memory, executor = self.memory, self.executor
        return {
            "command": "info",
            "shape": self.shape,
            "memory": {name: getattr(memory, name) for name in ("total", "graph", "workspace", "scores")},
            "batch": memory.batch,
            "threads": memory.threads,
            "method": method_of(self.call),
            "time": None if self.time is None else self.time._asdict(),
            "devices": {"cores": usable_cores(), "level": level(), "levels": levels(), "gpus": gpu_names()},
            "workers": None if executor is None else {"ranks": executor.size, "threads": executor.threads},
            "methods": [{name: getattr(row, name) for name in _OF_METHOD} for row in METHODS],
        }

    def text(self) -> Iterator[str]:
        """Yield all facts, with the size where no introduction has it."""
        from lagbc.limits import usable_cores
        from lagbc.methods.table import gpus_in_words
        from lagbc.native import level, levels

        memory, executor = self.memory, self.executor
        if self.output.quiet:
            yield self.introduction()
        for label, value in _facts(self.source, self.shape):
            yield f"  {label:<18} {value}"
        parts = ", ".join(f"{name} {in_units(getattr(memory, name))}" for name in ("graph", "workspace", "scores"))
        with_these = f"with batch {memory.batch}, threads {memory.threads}"
        yield f"memory: {in_units(memory.total)} for a run ({parts}), {with_these}"
        yield f"devices: {quantity(usable_cores(), 'CPU core')}, {gpus_in_words()}"
        yield f"instructions: level {level()}; built are {', '.join(levels())}"
        yield method_and_reason(self.call)
        if self.time is None:
            yield "time: not predicted; --measure does, probes the roots for the method, and looks for reductions"
        else:
            compared = "; the predictions above compare methods alone" if "predicted" in self.call.reason else ""
            yield f"time: {_time_in_words(self.time)}{compared}"
        if executor is not None:
            yield f"workers: {executor.size} ranks, threads {executor.threads} each"
        yield f"\n{_methods_table()}"

    def lines(self, seconds: float, phases: Mapping[Phase, float]) -> Iterator[str]:
        yield from self.text()


def _shape_of(source: Source) -> dict[str, Any]:
    import numpy as np

    graph, matrix = source.graph, source.file.rows
    entries, members = matrix.tocoo(), np.bincount(graph.components)
    return {
        "stored_entries": int(matrix.nnz),
        "self_loops": int(np.count_nonzero(entries.row == entries.col)),
        "isolated_vertices": int(np.count_nonzero(graph.out_degrees + graph.in_degrees == 0)),
        "weak_components": int(members.size),
        "largest_component": int(members.max(initial=0)),
        "degrees": {name: _spread(degrees) for name, degrees in degrees_of(graph)},
    }


def _time_in_words(found: Prediction) -> str:
    if not found.roots:
        return "none: no vertex has edges that leave it"
    idle = f"; vertices without out-edges, which add nothing: {found.idle:,}" if found.idle else ""
    if found.swept == found.roots and found.share == 1:
        return f"{duration(found.seconds)} for all {found.roots:,} roots (all were swept){idle}"
    whole = "" if found.share == 1 else " of the whole graph"
    return (
        f"{'at most ' if found.is_bound else ''}about {duration(found.seconds)} for all {found.roots:,} roots "
        f"(from {quantity(found.swept, 'root')} swept{whole} in {duration(found.swept_seconds)}){idle}"
    )


def _facts(source: Source, shape: dict[str, Any]) -> list[tuple[str, str]]:
    if source.weighted:
        weights = f"taken as {source.lengths}"
    else:
        weights = "ignored: paths are counted in hops" if has_weights(source) else "none"
    return [
        ("format", file_layout(source)),
        ("weights", weights),
        ("stored entries", f"{shape['stored_entries']:,}"),
        ("self loops", f"{shape['self_loops']:,} (ignored)"),
        ("isolated vertices", f"{shape['isolated_vertices']:,}"),
        ("weak components", f"{shape['weak_components']:,} (largest {shape['largest_component']:,} vertices)"),
        *(
            (name, "min {min}, mean {mean:.3g}, max {max}".format(**spread) if spread else "no vertices")
            for name, spread in shape["degrees"].items()
        ),
    ]


def _spread(values: np.ndarray) -> dict[str, float]:
    return {"min": int(values.min()), "mean": float(values.mean()), "max": int(values.max())} if values.size else {}


def _methods_table() -> str:
    from lagbc.methods.table import METHODS

    rows: list[tuple[str, ...]] = [("method", "formulation", "device", "weighted", "available")]
    for row in METHODS:
        rows.append((row.name, row.formulation, row.device, _yes_or_no(row.weighted), _yes_or_no(row.available)))
    reasons: dict[str, list[str]] = {}
    for row in METHODS:
        if row.missing:
            reasons.setdefault(row.missing, []).append(f"{row.name} on {row.device}")
    # Rows for hops and for lengths may share a name.
    lines = [wrapped(f"{', '.join(dict.fromkeys(titles))}: needs {missing}") for missing, titles in reasons.items()]
    return "\n\n".join(filter(None, (table(rows, right=False), "\n".join(lines))))


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"


# The exit status if scores of some method are wrong.
WRONG = 3
# Titles and widths of the columns that are shown behind the name of a method; files have all columns.
_SHOWN = {"device": 6, "ms per root": 11, "GTEPS": 8, "peak (MiB)": 10, "difference": 13}


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
    carry_out(source, run["progress"], lambda taken, steps: _Comparison(taken, output, steps, run, typed | run))


@dataclass(slots=True, eq=False)
class _Comparison(Task):
    """The task of a comparison; `given` are the options of `lagbc.compare`."""

    given: dict[str, Any]
    found: Comparison = field(init=False)
    has_titles: bool = False

    def introduction(self) -> str:
        return f"{headline(self.source)}{', with lengths' if self.source.weighted else ''}\n"

    def compute(self) -> None:
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
        rows = [asdict(record) | {"agrees": record.agrees} for record in self.found.records]
        write_rows(path, rows[0], (row.values() for row in rows))

    def document(self) -> dict[str, Any]:
        found = {name: getattr(self.found, name) for name in ("roots", "threads", "gpu", "depth")}
        methods = [{**asdict(record), "agrees": record.agrees} for record in self.found.records]
        return {"command": "compare", **found, "methods": methods}

    def seconds(self, total: float, phases: Mapping[Phase, float]) -> Mapping[Any, float]:
        """Return the whole time; each method has its own times of phases."""
        return {"total": total}

    def lines(self, seconds: float, phases: Mapping[Phase, float]) -> Iterator[str]:
        """Yield the conditions below the table of rows, remarks, and the reasons of methods without a row."""
        found = self.found
        yield f"\n{found.conditions}" if found.measured else found.conditions
        yield from map(wrapped, (*found.remarks(), *found.reasons()))
        if found.measured and self.output.out is None:
            yield "--out FILE.csv has all figures"

    def drawings(self) -> list[Drawing]:
        draw = partial(self.found.plot, title=self.source.title)
        return [] if self.output.plot is None else [Drawing("plot", self.output.plot, draw)]

    @property
    def status(self) -> int:
        return WRONG if any(record.agrees is False for record in self.found.records) else 0

    def _show_row(self, record: Measurement) -> None:
        """Print a measurement, above a progress bar if there is one, the first below titles."""
        from tqdm import tqdm

        from lagbc.comparison.compare import TABLE_COLUMNS
        from lagbc.methods.table import METHODS

        if record.skipped:
            return
        # A name that is asked for may have ways, as in x:8.
        names = [*(row.name for row in METHODS), *self.given["methods"].split(",")]
        widths = {"method": max(map(len, names)), **_SHOWN}
        rows = [{title: cell(record) for title, cell in TABLE_COLUMNS}]
        if not self.has_titles:
            rows.insert(0, {title: title for title in widths})
            self.has_titles = True
        for row in rows:
            tqdm.write("  ".join(f"{row[title]:<{width}}" for title, width in widths.items()).rstrip(), file=sys.stdout)
