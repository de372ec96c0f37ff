"""`lagbc centralities`: several centralities of a graph from one sweep."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import click

from lagbc import phases
from lagbc.centrality.registry import OF_THE_SCORES, OF_THE_SUMS, Arguments, find, that_take
from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.arguments import read_arguments, takes_arguments
from lagbc.interfaces.cli.document import arguments_of, columns_in_words, estimate_of, method_of, show_document
from lagbc.interfaces.cli.graphs import choose, introduction, open_source
from lagbc.interfaces.cli.outputs import check_outputs, columns_of, say_written, write_table
from lagbc.interfaces.cli.parts import check_part, write_part
from lagbc.interfaces.cli.rows import rows_of_vertices
from lagbc.interfaces.cli.steps import Steps, shown_steps
from lagbc.interfaces.cli.text import left_behind, timing


@click.command("centralities", epilog=options.GRAPH_HELP)
@options.takes_graph
@click.option(
    "--which",
    help="Names of commands, separated by commas; the first one ranks.  [default: bc,closeness,harmonic,eccentricity,"
    "stress, as far as they take the arguments that are given]",
)
@options.takes_sample
@takes_arguments(*OF_THE_SUMS, *OF_THE_SCORES)
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
    if output.part is None:
        check_outputs(output.out, output.plot)
    else:
        check_part(output)
    names = None if which is None else [name.strip().replace("-", "_") for name in which.split(",")]
    if any(find(name).of_edges for name in names or ()):
        raise ValueError("--which names vertices' centralities; for edges: lagbc edge-bc")
    with shown_steps(run.progress) as steps:
        _compute(source, names, sample, output, run, given, steps)


def _compute(
    source: options.GraphOptions,
    names: list[str] | None,
    sample: options.SampleOptions,
    output: options.OutputOptions,
    run: options.RunOptions,
    typed: dict[str, Any],
    steps: Steps,
) -> None:
    import lagbc
    from lagbc.centrality.together import FIVE

    taken = open_source(source, steps)
    with steps.step("reading the arguments"):
        given = read_arguments(typed, taken, sample)
    names = names or list[str](that_take(FIVE, Arguments(**sample.arguments, **given)))
    if output.part is not None:
        write_part(names, taken, sample, given, output, run)
        return
    how: dict[str, Any] = {"directed": taken.directed, "weighted": taken.weighted, **given, **asdict(run)}
    start = time.perf_counter()
    with phases.record(watch=steps.phase) as recorder:
        graph: Any = taken.graph
        choice = choose(taken, names, sample, run, given)
        if not output.as_json:
            click.echo(introduction(taken, choice, sample))
        try:
            found: dict[str, Any] = dict(lagbc.centralities(graph, names, **sample.arguments, **how))  # type: ignore[arg-type]
        except KeyboardInterrupt as interrupt:
            raise type(interrupt)(left_behind(run.checkpoint)) from None
    seconds = time.perf_counter() - start
    found = {title: column for name in names for title, column in columns_of(name, found[name]).items()}
    if output.out is not None:
        with steps.step(f"writing {output.out}"):
            write_table(output.out, found, taken.file.labels)
    rows = rows_of_vertices(found, taken, output)
    if output.as_json:
        show_document(
            "centralities",
            taken,
            method=method_of(choice),
            estimate=estimate_of(taken, sample),
            arguments=arguments_of(typed),
            columns=columns_in_words({name: find(name).takes for name in names}, given),
            scores=rows.as_json(),
            seconds={"total": seconds, **recorder.seconds},
        )
    else:
        if output.shown(taken.graph.n):
            click.echo(f"\n{rows.as_text({})}\n")
        click.echo(timing(seconds, recorder.seconds))
        say_written("scores", output.out)
    if output.plot is not None:
        from lagbc.plots import plot_centralities

        with steps.step(f"drawing {output.plot}"):
            plot_centralities(taken.file.matrix, found, output.plot, title=taken.title, labels=taken.file.labels)
        if not output.as_json:
            say_written("plot", output.plot)
