"""`lagbc centralities`: several centralities of a graph from one sweep."""

from __future__ import annotations

import time
from typing import Any

import click

from lagbc import phases
from lagbc.centrality.registry import OF_THE_SCORES, OF_THE_SUMS, Arguments, find, that_take
from lagbc.errors import InvalidValueError
from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.arguments import read_arguments, takes_arguments
from lagbc.interfaces.cli.document import arguments_of, columns_in_words, estimate_of, method_of, show_document
from lagbc.interfaces.cli.graphs import choose, introduction, open_source
from lagbc.interfaces.cli.outputs import check_outputs, columns_of, say_written, titles_of, write_table
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
    run: dict[str, Any],
    **given: Any,
) -> None:
    """Several centralities of the vertices of GRAPH from one sweep."""
    if output.part is None:
        check_outputs(output.out, output.plot)
    else:
        check_part(output)
    names = None if which is None else [name.strip().replace("-", "_") for name in which.split(",")]
    if any(find(name).of_edges for name in names or ()):
        raise InvalidValueError("--which names vertices' centralities; for edges: lagbc edge-bc")
    with shown_steps(run["progress"]) as steps:
        _compute(source, names, sample, output, run, given, steps)


def _compute(
    source: options.GraphOptions,
    names: list[str] | None,
    sample: options.SampleOptions,
    output: options.OutputOptions,
    run: dict[str, Any],
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
    how: dict[str, Any] = {"directed": taken.directed, "weighted": taken.weighted, **given, **run}
    start = time.perf_counter()
    with phases.record(watch=steps.phase) as recorder:
        graph: Any = taken.graph
        choice = choose(taken, names, given, sample, run)
        if not output.as_json:
            click.echo(introduction(taken, choice, sample, given))
        try:
            found: dict[str, Any] = dict(lagbc.centralities(graph, names, **sample.arguments, **how))  # type: ignore[arg-type]
        except KeyboardInterrupt as interrupt:
            raise type(interrupt)(left_behind(run["checkpoint"])) from None
    seconds = time.perf_counter() - start
    takes = {name: find(name).takes for name in names}
    titles = {name: titles_of(name, takes[name], given, f"{name}, ") for name in names}
    table = _columns(titles, found)
    if output.out is not None:
        with steps.step(f"writing {output.out}"):
            write_table(output.out, table, taken.file.labels)
    if output.as_json:
        columns = columns_in_words(takes, given)
        numbered = {name: [title for title, told in columns.items() if told["centrality"] == name] for name in names}
        show_document(
            "centralities",
            taken,
            method=method_of(choice),
            estimate=estimate_of(taken, sample),
            arguments=arguments_of(typed),
            columns=columns,
            scores=rows_of_vertices(_columns(numbered, found), taken, output).as_json(),
            seconds={"total": seconds, **recorder.seconds},
        )
    else:
        if output.shown(taken.graph.n):
            click.echo(f"\n{rows_of_vertices(table, taken, output).as_text({})}\n")
        click.echo(timing(seconds, recorder.seconds))
        say_written("scores", output.out)
    if output.plot is not None:
        from lagbc.plots import plot_centralities

        with steps.step(f"drawing {output.plot}"):
            plot_centralities(taken.file.matrix, table, output.plot, title=taken.title, labels=taken.file.labels)
        if not output.as_json:
            say_written("plot", output.plot)


def _columns(titles: dict[str, list[str]], found: dict[str, Any]) -> dict[str, Any]:
    """Call the columns of all centralities by their titles."""
    return {title: column for name in titles for title, column in columns_of(titles[name], found[name]).items()}
