"""Commands of scores: one for each centrality, made of its record; one for several; one that merges parts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lagbc.arguments import OF_THE_SCORES, OF_THE_SUMS, Arguments
from lagbc.errors import InvalidValueError, quantity
from lagbc.files import require_writable
from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.arguments import find_coordinates, read_arguments, takes_arguments
from lagbc.interfaces.cli.graphs import Dealing, Source
from lagbc.interfaces.cli.outputs import check_outputs, has_columns, require_numbers
from lagbc.interfaces.cli.results import Part, Scores, Sweep
from lagbc.interfaces.cli.steps import Steps, shown_steps
from lagbc.interfaces.cli.task import carry_out, deliver
from lagbc.scores import registry
from lagbc.scores.records import Centrality

if TYPE_CHECKING:
    from lagbc.interfaces.cli.task import Task


def scored() -> dict[str, Centrality]:
    """Return the centralities of vertices and edges, by the names of their commands."""
    return {one.name.replace("_", "-"): one for one in registry.registered() if one.sums and not one.of_graph}


def score_command(record: Centrality) -> click.Command:
    """Make a command with the arguments of its centrality."""

    def run_command(
        output: options.OutputOptions, map_options: options.MapOptions, error: bool = False, **asked: Any
    ) -> None:
        if record.needs and output.part is not None:
            raise InvalidValueError(f"{record.name} is not computed in parts; leave out --part")
        _require_writable_result(output, map_options.plot_map)
        if record.of_edges and output.plot is not None:
            raise InvalidValueError("--plot draws scores of vertices; write those of edges with --out")
        if output.plot is not None and has_columns(asked):
            raise InvalidValueError("--plot draws scores for one cutoff and one decay; write several with --out")
        if map_options.coordinates is not None and map_options.plot_map is None:
            raise InvalidValueError(f"--coordinates {map_options.coordinates} goes with --plot-map, which draws a map")
        check_outputs(None, map_options.plot_map)
        _carry_out_records(
            lambda given: (record,), output, map_options=map_options, error=error, together=False, **asked
        )

    declared: Any = run_command
    for declare in (
        options.takes_run(grid=True),
        options.takes_map,
        options.takes_output(top=True, plot="scores of vertices", part=True),
        takes_arguments(*record.takes),
    ):
        declared = declare(declared)
    if "k" in record.takes:
        declared = options.takes_sample(declared if record.of_edges else options.error_option(declared))
    summary = f"{record.summary[0].upper()}{record.summary[1:]}."
    name = record.name.replace("_", "-")
    return click.command(name, epilog=options.GRAPH_HELP, help=summary)(options.takes_graph(declared))


@click.command("centralities", epilog=options.GRAPH_HELP)
@options.takes_graph
@click.option(
    "--which",
    help="Names of commands, separated by commas; the first one ranks.  [default: bc,closeness,harmonic,eccentricity,"
    "stress, as far as they take the arguments that are given]",
)
@options.takes_sample
@takes_arguments(*OF_THE_SUMS, *OF_THE_SCORES)
@options.takes_output(top=True, plot="scores of vertices", part=True)
@options.takes_run()
def centralities_command(which: str | None, output: options.OutputOptions, **asked: Any) -> None:
    """Several centralities of the vertices of GRAPH from one sweep."""
    _require_writable_result(output)
    names = [] if which is None else [name.strip().replace("-", "_") for name in which.split(",")]
    named = [registry.find(name, lambda one: not one.of_edges) for name in names]
    if len({*named}) < len(named):
        raise InvalidValueError(f"--which {which} names a centrality twice")
    if any(record.of_edges for record in named):
        raise InvalidValueError("--which names vertices' centralities; for edges: lagbc edge-bc")

    def records(given: dict[str, Any]) -> tuple[Centrality, ...]:
        return tuple(named) or registry.usual(Arguments(**given))

    _carry_out_records(records, output, together=True, **asked)


def _require_writable_result(output: options.OutputOptions, plot_map: Path | None = None) -> None:
    """Check outputs before the computation: files can be written, and a part has no other output."""
    if output.part is None:
        check_outputs(output.out, output.plot)
        return
    if output.out is None or output.out.suffix != ".npz":
        raise InvalidValueError(
            "--part writes sums to a file for lagbc merge: name it with --out, such as --out part1.npz"
        )
    for option, given in (("--plot", output.plot), ("--plot-map", plot_map), ("--json", output.as_json)):
        if given:
            raise InvalidValueError(f"{option} shows scores, and a part has none; leave it out")
    require_writable(output.out)


def _carry_out_records(
    records_of: Callable[[dict[str, Any]], tuple[Centrality, ...]],
    output: options.OutputOptions,
    source: options.GraphOptions,
    run: dict[str, Any],
    together: bool,
    error: bool = False,
    sample: options.SampleOptions = options.NO_SAMPLE,
    map_options: options.MapOptions = options.NO_MAP,
    **typed: Any,
) -> None:
    """Compute the centralities that `records_of` returns for the arguments read."""
    dealing = Dealing.of_run(run, lambda: registry.all_sums(records_of({})))
    if dealing is not None:
        if output.part is not None:
            raise InvalidValueError("--part computes part of a run in one process; leave out --grid")
        for option, path in (("--plot", output.plot), ("--plot-map", map_options.plot_map)):
            if path is not None:
                raise InvalidValueError(f"{option} draws a graph that one process has; leave it out, or --grid")
        folds = [record.name for record in records_of({})] == ["bc"] and not typed["endpoints"]
        dealing = dealing._replace(folds=folds and run["reduce"] != "none")

    def prepare(taken: Source, steps: Steps) -> Task:
        with steps.step("reading the arguments"):
            given = read_arguments(typed, taken, sample)
            xy = find_coordinates(map_options, taken)
        records = records_of(sample.arguments | given)
        if any(record.of_edges for record in records):
            require_numbers(output.out, taken.file.labels)
        return (Sweep if output.part is None else Part)(
            source=taken,
            output=output,
            steps=steps,
            records=records,
            together=together,
            given=given,
            typed=typed,
            sample=sample,
            run=run,
            error=error,
            plot_map=map_options.plot_map,
            xy=xy,
        )

    carry_out(source, run["progress"], prepare, dealing)


@click.command("merge")
@click.argument("parts", nargs=-1, required=True, type=click.Path(path_type=Path))
@options.takes_output(top=True, json=False)
def merge_command(parts: tuple[Path, ...], output: options.OutputOptions) -> None:
    """Scores of all PARTS, files written by --part of a command, with the bits of one run."""
    import numpy as np

    from lagbc.centrality.parts import merge_files
    from lagbc.graph.given import Rows
    from lagbc.io.graph_file import GraphFile

    check_outputs(output.out, None)
    start = time.perf_counter()
    graph, found, arguments = merge_files(parts)
    given: Mapping[str, Any] = {"cutoff": arguments.cutoff, "decay": arguments.decay}
    host = graph.on_host
    rows = Rows(host.indptr, host.indices, np.ones(host.nnz) if host.weights is None else host.weights)
    file = GraphFile(rows, graph.directed, "parts", graph.names)
    if not output.quiet:
        click.echo(f"{quantity(len(parts), 'part')}: {', '.join(found)} of {quantity(graph.n, 'vertex', 'vertices')}")
    with shown_steps(False) as steps:
        task = Scores(
            source=Source(file, graph.directed, None, "parts"),
            output=output,
            steps=steps,
            records=tuple(map(registry.find, found)),
            together=len(found) > 1,
            given={name: None if one is None else np.asarray(one).tolist() for name, one in given.items()},
            found=found,
        )
        if task.of_edges and task.together:
            raise InvalidValueError("scores of edges and others are in these parts; lagbc.merge_parts returns both")
        if task.of_edges:
            require_numbers(output.out, file.labels)
        deliver(task, time.perf_counter() - start, {})
