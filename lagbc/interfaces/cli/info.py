"""`lagbc info`: the size and shape of a graph, and the plan of lagbc for it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from lagbc.errors import quantity
from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.document import method_of
from lagbc.interfaces.cli.graphs import degrees_of, file_layout, has_weights, headline, method_and_reason
from lagbc.interfaces.cli.task import Task, carry_out
from lagbc.interfaces.cli.text import duration, table, wrapped
from lagbc.limits import in_units

if TYPE_CHECKING:
    import numpy as np

    from lagbc.call import Call
    from lagbc.calls import Phase
    from lagbc.comparison.predict import Prediction
    from lagbc.interfaces.cli.graphs import Source
    from lagbc.planning.memory import MemoryEstimate

# Edges up to which all is measured, in some 3 s of processor time.
_MEASURED = 1_000_000


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
    carry_out(source, run["progress"], lambda taken, steps: _Info(taken, output, steps, measure))


@dataclass(slots=True, eq=False)
class _Info(Task):
    """The task of describing a graph, and the plan for it."""

    measure: bool | None
    shape: dict[str, Any] = field(init=False)
    executor: Any = field(init=False)
    time: Prediction | None = field(init=False, default=None)
    call: Call = field(init=False)
    memory: MemoryEstimate = field(init=False)

    def introduction(self) -> str:
        """Describe the size of the graph."""
        return headline(self.source)

    def compute(self) -> None:
        """Count the graph, plan a run, and predict its time; of a large graph the plan is that by rule."""
        from lagbc.arguments import Arguments, Read
        from lagbc.centrality.compute import plan_call
        from lagbc.comparison.predict import predict
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
        """Return the parts of the document."""
        from lagbc.limits import usable_cores
        from lagbc.methods.table import gpu_names
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
            "methods": _list_methods(),
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
        yield f"instructions: level {level()}, of those built: {', '.join(levels())}"
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
        """Yield the facts: the time of a description is of no use."""
        yield from self.text()


def _shape_of(source: Source) -> dict[str, Any]:
    """Return the size and shape of a graph, as a part of the document."""
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
        *((name, _spread_in_words(spread)) for name, spread in shape["degrees"].items()),
    ]


def _spread(values: np.ndarray) -> dict[str, float]:
    return {"min": int(values.min()), "mean": float(values.mean()), "max": int(values.max())} if values.size else {}


def _spread_in_words(spread: dict[str, float]) -> str:
    return f"min {spread['min']}, mean {spread['mean']:.3g}, max {spread['max']}" if spread else "no vertices"


def _list_methods() -> list[dict[str, Any]]:
    from lagbc.methods.table import METHODS

    names = ("name", "formulation", "device", "weighted", "available", "missing")
    return [{name: getattr(row, name) for name in names} for row in METHODS]


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
