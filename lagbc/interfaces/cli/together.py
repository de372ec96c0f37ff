"""`lagbc centralities`: several centralities of a graph from one sweep."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import click

from lagbc import phases
from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.graphs import introduce, open_source, read_demand
from lagbc.interfaces.cli.outputs import check_outputs, columns_of, write_table
from lagbc.interfaces.cli.parts import write_part
from lagbc.interfaces.cli.text import left_behind, table, timing


@click.command("centralities", epilog=options.GRAPH_HELP)
@options.takes_graph
@click.option(
    "--which",
    help="Names of commands, separated by commas; the first one ranks.  [default: bc,closeness,harmonic,eccentricity,"
    "stress; no eccentricity with --k]",
)
@options.takes_sample
@options.takes_all_arguments
@options.takes_output
@options.takes_run
def centralities_command(
    source: options.GraphOptions,
    which: str | None,
    sample: options.SampleOptions,
    output: options.OutputOptions,
    run: options.RunOptions,
    **given: Any,
) -> None:
    """Several centralities of the vertices of GRAPH from one sweep."""
    import numpy as np

    import lagbc
    from lagbc.centrality.registry import Arguments, find, that_take
    from lagbc.centrality.together import FIVE

    if output.part is None:
        check_outputs(output.out, output.plot)
    given = read_demand(given, sample)
    if which is None:
        names = list[str](
            that_take(FIVE, Arguments(**sample.arguments, demand=given["demand"], cutoff=given["cutoff"]))
        )
    else:
        names = [name.strip().replace("-", "_") for name in which.split(",")]
    if any(find(name).of_edges for name in names):
        raise ValueError("--which names vertices' centralities; for edges: lagbc edge-bc")
    if output.part is not None:
        write_part(names, source, sample, given, output, run)
        return
    taken = open_source(source)
    labels = taken.file.labels
    how: dict[str, Any] = {"directed": taken.directed, "weighted": taken.weighted, **given, **asdict(run)}
    start = time.perf_counter()
    with phases.record() as recorder:
        graph: Any = taken.graph
        introduce(taken, graph, names, sample, run, given)
        try:
            found: dict[str, Any] = dict(lagbc.centralities(graph, names, **sample.arguments, **how))  # type: ignore[arg-type]
        except KeyboardInterrupt as interrupt:
            raise type(interrupt)(left_behind(run.checkpoint)) from None
    seconds = time.perf_counter() - start
    found = {title: column for name in names for title, column in columns_of(name, found[name]).items()}
    if output.out is not None:
        write_table(output.out, found, labels)
    if output.top:
        rows: list[tuple[str, ...]] = [("rank", "vertex", *found)]
        first = next(iter(found.values()))
        for rank, v in enumerate(np.argsort(-first, kind="stable")[: output.top], 1):
            vertex = v if labels is None else labels[v]
            rows.append((str(rank), str(vertex), *(f"{column[v]:.8g}" for column in found.values())))
        click.echo(f"\n{table(rows, right=True)}\n")
    click.echo(timing(seconds, recorder.seconds))
    if output.out is not None:
        click.echo(f"scores: {output.out}")
    if output.plot is not None:
        from lagbc.plots import plot_centralities

        plot_centralities(taken.file.matrix, found, output.plot, title=taken.title, labels=labels)
        click.echo(f"plot: {output.plot}")
