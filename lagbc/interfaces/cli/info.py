"""`lagbc info`: the size and shape of a graph, and the plan of lagbc for it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import click

from lagbc import phases
from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.document import method_of, show_document
from lagbc.interfaces.cli.graphs import degrees_of, file_layout, has_weights, headline, method_and_reason, open_source
from lagbc.interfaces.cli.steps import shown_steps
from lagbc.interfaces.cli.text import duration, quantity, size, table, wrapped

if TYPE_CHECKING:
    import numpy as np

    from lagbc.comparison.predict import Prediction
    from lagbc.interfaces.cli.graphs import Source


@click.command("info", epilog=options.GRAPH_HELP)
@options.takes_graph
@options.json_option
@options.takes("progress")
def info_command(source: options.GraphOptions, as_json: bool, progress: bool) -> None:
    """Size and shape of GRAPH, the memory and time it needs, and the methods there are."""
    import lagbc
    from lagbc.comparison.predict import predict
    from lagbc.limits import usable_cores
    from lagbc.methods.table import gpu_names, gpus_in_words
    from lagbc.native import level, levels
    from lagbc.plan.options import check_options

    with shown_steps(progress) as steps:
        taken = open_source(source, steps)
        with phases.record(watch=steps.phase):
            graph = taken.graph
            shape = _Shape.of(taken)
            choice = lagbc.select_method(graph, directed=graph.directed, weighted=graph.weighted)
            memory = lagbc.estimate_memory(graph, directed=graph.directed, weighted=graph.weighted)
        with steps.step("predicting the time"):
            found = predict(graph)
    executor = check_options("auto", {}).executor
    if as_json:
        show_document(
            "info",
            taken,
            shape=asdict(shape),
            memory={name: getattr(memory, name) for name in ("total", "graph", "workspace", "scores")},
            batch=memory.batch,
            threads=memory.threads,
            method=method_of(choice),
            time=asdict(found),
            devices={"cores": usable_cores(), "level": level(), "levels": levels(), "gpus": gpu_names()},
            workers=None if executor is None else {"ranks": executor.size, "threads": executor.threads},
            methods=_list_methods(),
        )
        return
    click.echo(headline(taken))
    for label, value in _facts(taken, shape):
        click.echo(f"  {label:<18} {value}")
    click.echo(
        f"memory: {size(memory.total)} (graph {size(memory.graph)}, workspace {size(memory.workspace)}, "
        f"scores {size(memory.scores)}) with batch {memory.batch}, threads {memory.threads}"
    )
    click.echo(f"devices: {quantity(usable_cores(), 'CPU core')}, {gpus_in_words()}")
    click.echo(f"instructions: level {level()}, of those built: {', '.join(levels())}")
    click.echo(method_and_reason(choice))
    click.echo(f"time: {_time_in_words(found)}")
    if executor is not None:
        click.echo(f"workers: {executor.size} ranks, threads {executor.threads} each")
    click.echo()
    click.echo(_methods_table())


@dataclass(frozen=True)
class _Shape:
    """The size and shape of a graph; degrees are the least, the mean and the largest."""

    stored_entries: int
    self_loops: int
    isolated_vertices: int
    weak_components: int
    largest_component: int
    degrees: dict[str, dict[str, float]]

    @classmethod
    def of(cls, source: Source) -> _Shape:
        import numpy as np

        graph, matrix = source.graph, source.file.rows
        entries = matrix.tocoo()
        members = np.bincount(graph.components)
        return cls(
            stored_entries=int(matrix.nnz),
            self_loops=int(np.count_nonzero(entries.row == entries.col)),
            isolated_vertices=int(np.count_nonzero(graph.out_degrees + graph.in_degrees == 0)),
            weak_components=int(members.size),
            largest_component=int(members.max(initial=0)),
            degrees={name: _spread(degrees) for name, degrees in degrees_of(graph)},
        )


def _time_in_words(found: Prediction) -> str:
    from lagbc.comparison.roots import roots_in_words

    if not found.roots:
        return "none: no vertex has edges that leave it"
    idle = f"; vertices without out-edges, which add nothing: {found.idle:,}" if found.idle else ""
    if found.swept == found.roots and found.share == 1:
        return f"{duration(found.seconds)} for all {found.roots:,} roots (all were swept){idle}"
    whole = "" if found.share == 1 else " of the whole graph"
    return (
        f"{'at most ' if found.is_bound else ''}about {duration(found.seconds)} for all {found.roots:,} roots "
        f"(from {roots_in_words(found.swept)} swept{whole} in {duration(found.swept_seconds)}){idle}"
    )


def _facts(source: Source, shape: _Shape) -> list[tuple[str, str]]:
    if source.weighted:
        weights = f"taken as {source.lengths}"
    else:
        weights = "ignored: paths are counted in hops" if has_weights(source) else "none"
    return [
        ("format", file_layout(source)),
        ("weights", weights),
        ("stored entries", f"{shape.stored_entries:,}"),
        ("self loops", f"{shape.self_loops:,} (ignored)"),
        ("isolated vertices", f"{shape.isolated_vertices:,}"),
        ("weak components", f"{shape.weak_components:,} (largest {shape.largest_component:,} vertices)"),
        *((name, _spread_in_words(spread)) for name, spread in shape.degrees.items()),
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
