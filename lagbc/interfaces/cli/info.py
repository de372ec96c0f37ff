"""`lagbc info`: what a graph is like, and what lagbc would do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.graphs import degrees_of, form, has_weights, headline, open_source
from lagbc.interfaces.cli.text import counted, duration, size, table

if TYPE_CHECKING:
    import numpy as np

    from lagbc.comparison.predict import Prediction
    from lagbc.graph.graph import Graph
    from lagbc.interfaces.cli.graphs import Source


@click.command("info", epilog=options.GRAPH_HELP)
@options.takes_graph
def info_command(source: options.GraphOptions) -> None:
    """Size and shape of GRAPH, the memory and time it needs, and the methods there are."""
    import lagbc
    from lagbc.comparison.predict import predict
    from lagbc.limits import usable_cores
    from lagbc.methods.table import gpus_in_words
    from lagbc.run.options import with_defaults

    taken = open_source(source)
    graph = taken.graph
    click.echo(headline(taken, graph))
    for label, value in _facts(taken, graph):
        click.echo(f"  {label:<18} {value}")
    choice = lagbc.select_method(graph, directed=graph.directed, weighted=graph.weighted)
    memory = lagbc.estimate_memory(graph, directed=graph.directed, weighted=graph.weighted)
    click.echo(
        f"memory: {size(memory.total)} (graph {size(memory.graph)}, workspace {size(memory.workspace)}, "
        f"scores {size(memory.scores)}) with batch {memory.batch}, threads {memory.threads}"
    )
    click.echo(f"devices: {counted(usable_cores(), 'CPU core')}, {gpus_in_words()}")
    click.echo(f"method: {choice.reason}")
    click.echo(f"time: {_time(predict(graph))}")
    if (executor := with_defaults({}).get("executor")) is not None:
        click.echo(f"workers: {executor.size} ranks, threads {executor.threads} each")
    click.echo()
    click.echo(_methods_table())


def _time(found: Prediction) -> str:
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


def _facts(source: Source, graph: Graph) -> list[tuple[str, str]]:
    import numpy as np

    matrix = source.file.matrix
    entries = matrix.tocoo()
    members = np.bincount(graph.components)
    isolated = np.count_nonzero(graph.out_degrees + graph.in_degrees == 0)
    if source.weighted:
        weights = f"taken as {source.lengths}"
    else:
        weights = "ignored: paths are counted in hops" if has_weights(source) else "none"
    return [
        ("format", form(source)),
        ("weights", weights),
        ("stored entries", f"{matrix.nnz:,}"),
        ("self loops", f"{np.count_nonzero(entries.row == entries.col):,} (ignored)"),
        ("isolated vertices", f"{isolated:,}"),
        ("weak components", f"{members.size:,} (largest {members.max(initial=0):,} vertices)"),
        *((name, _spread(degrees)) for name, degrees in degrees_of(graph)),
    ]


def _spread(values: np.ndarray) -> str:
    return f"min {values.min()}, mean {values.mean():.3g}, max {values.max()}" if values.size else "no vertices"


def _methods_table() -> str:
    from lagbc.methods.table import METHODS

    rows: list[tuple[str, ...]] = [("method", "formulation", "device", "weighted", "available")]
    for row in METHODS:
        rows.append((row.name, row.formulation, row.device, _yes(row.weighted), _yes(row.available)))
    reasons: dict[str, list[str]] = {}
    for row in METHODS:
        if row.missing:
            reasons.setdefault(row.missing, []).append(f"{row.name} on {row.device}")
    # Rows for hops and for lengths may have one name.
    lines = [f"{', '.join(dict.fromkeys(titles))}: needs {missing}" for missing, titles in reasons.items()]
    return "\n\n".join(filter(None, (table(rows, right=False), "\n".join(lines))))


def _yes(value: bool) -> str:
    return "yes" if value else "no"
