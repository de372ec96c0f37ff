"""A command for each centrality, made of its record: the highest scores printed, all of them written or drawn."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from lagbc import phases
from lagbc.centrality.registry import Centrality, registered
from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.graphs import degrees_of, introduce, open_source, read_demand
from lagbc.interfaces.cli.maps import check_map, draw_map, find_coordinates
from lagbc.interfaces.cli.outputs import (
    check_outputs,
    columns_of,
    matrices_of,
    require_numbers,
    write_edges,
    write_scores,
)
from lagbc.interfaces.cli.text import left_behind, table, timing

if TYPE_CHECKING:
    import numpy as np

    from lagbc.interfaces.cli.graphs import Source

# What betweenness is called in figures, which counts what `_unit` says; others are called as their records.
_NAMES = {"bc": "betweenness", "edge_bc": "edge betweenness"}


def score_commands() -> Iterator[click.Command]:
    """Make the command of each centrality there is, with the arguments that its record takes."""
    for record in registered():
        yield _command(record)


def _command(record: Centrality) -> click.Command:
    def run_command(
        source: options.GraphOptions,
        output: options.OutputOptions,
        run: options.RunOptions,
        map_options: options.MapOptions,
        sample: options.SampleOptions = options.NO_SAMPLE,
        error: bool = False,
        **given: Any,
    ) -> None:
        _score(record, source, sample, error, given, output, run, map_options)

    declared: Any = run_command
    for declare in (options.takes_run, options.takes_map, options.takes_output, *options.arguments_of(record.takes)):
        declared = declare(declared)
    if "k" in record.takes:
        declared = options.takes_sample(declared if record.of_edges else options.error_option(declared))
    summary = f"{record.summary[0].upper()}{record.summary[1:]}."
    name = record.name.replace("_", "-")
    return click.command(name, epilog=options.GRAPH_HELP, help=summary)(options.takes_graph(declared))


def _score(
    record: Centrality,
    source: options.GraphOptions,
    sample: options.SampleOptions,
    error: bool,
    given: dict[str, Any],
    output: options.OutputOptions,
    run: options.RunOptions,
    map_options: options.MapOptions,
) -> None:
    check_outputs(output.out, output.plot)
    check_map(map_options)
    if record.of_edges and output.plot is not None:
        raise ValueError("--plot draws scores of vertices; write those of edges with --out")
    if output.plot is not None and _has_columns(given):
        raise ValueError("--plot draws scores for one cutoff and one decay; write several with --out")
    taken, given = open_source(source), read_demand(given, sample)
    if record.of_edges:
        require_numbers(output.out, taken.file.labels)
    xy = find_coordinates(map_options, taken)
    how = asdict(run) | {"directed": taken.directed, "weighted": taken.weighted}
    silent = how | {"checkpoint": None, "progress": False}
    start = time.perf_counter()
    with phases.record() as recorder:
        graph = taken.graph
        introduce(taken, graph, record.name, sample, run, given)
        try:
            scores = _compute(record.name, graph, sample.arguments | given | how)
        except KeyboardInterrupt as interrupt:
            raise type(interrupt)(left_behind(run.checkpoint)) from None
    seconds = time.perf_counter() - start
    if output.out is not None:  # at once: what follows may be interrupted
        (write_edges if record.of_edges else write_scores)(output.out, scores, taken.file.labels)
    if output.top:
        click.echo()
        if record.of_edges:
            click.echo(_top_edges(matrices_of("score", scores), taken, output.top))
        else:
            errors, why = _errors(record, graph, sample, error, given | silent)
            click.echo(_top_vertices(columns_of("score", scores), errors, taken, output.top))
            if why:
                click.echo(f"\nstandard error: {why}")
    click.echo(timing(seconds, recorder.seconds))
    if output.out is not None:
        click.echo(f"scores: {output.out}")
    name = _NAMES.get(record.name, record.name.replace("_", " "))
    unit = _unit(given) if record.name in _NAMES else ""
    if xy is not None:
        draw_map(map_options, xy, taken, scores, f"{name} ({unit})" if unit else name, given)
    if output.plot is not None:
        from lagbc.plots import plot_scores

        plot_scores(
            taken.file.matrix,
            scores,
            output.plot,
            directed=taken.directed,
            title=taken.title,
            unit=unit,
            name=name,
            labels=taken.file.labels,
        )
        click.echo(f"plot: {output.plot}")


def _has_columns(given: dict[str, Any]) -> bool:
    """Whether scores have several columns."""
    return any(isinstance(given.get(name), list) for name in ("cutoff", "decay"))


def _unit(given: dict[str, Any]) -> str:
    """Say what betweenness counts."""
    if given["demand"] is not None:
        return "trips"
    return "fraction of vertex pairs" if given["normalized"] else "vertex pairs"


def _compute(name: str, graph: Any, arguments: dict[str, Any]) -> Any:
    """Call the public function of a centrality; one that was added has none of its own."""
    import lagbc

    if name in lagbc.__all__:
        return getattr(lagbc, name)(graph, **arguments)
    which: Any = name
    return dict(lagbc.centralities(graph, which, **arguments))[name]


def _errors(
    record: Centrality, graph: Any, sample: options.SampleOptions, wanted: bool, options_of_run: dict[str, Any]
) -> tuple[np.ndarray | None, str]:
    """Return the standard errors of an estimate, and a sentence on them; none where there are no estimates."""
    if "k" not in record.takes or options_of_run.get("demand") is not None:
        return None, ""
    if sample.k is None or sample.k >= graph.n:
        return None, "none; all vertices are roots"
    if _has_columns(options_of_run):
        return None, "not computed for several cutoffs or decays"
    if not wanted:
        return None, "not computed (--error does)"
    if sample.k < 2:
        return None, "none; one root does not tell it"
    from lagbc.centrality.standard_error import GROUPS, roots_of_group, standard_errors

    errors = standard_errors(graph, record.name, sample.k, rng=sample.seed, **options_of_run)
    return errors, f"from {GROUPS} more estimates, of {roots_of_group(sample.k)} random roots each"


def _top_vertices(scores: dict[str, np.ndarray], errors: np.ndarray | None, source: Source, top: int) -> str:
    import numpy as np

    labels = source.file.labels
    names, degrees = zip(*degrees_of(source.graph), strict=True)
    error = () if errors is None else ("error",)
    rows: list[tuple[str, ...]] = [("rank", "vertex", *scores, *error, *names)]
    first = next(iter(scores.values()))
    for rank, v in enumerate(np.argsort(-first, kind="stable")[:top], 1):
        vertex = v if labels is None else labels[v]
        error = () if errors is None else (f"± {errors[v]:.2g}",)
        values = (f"{column[v]:.8g}" for column in scores.values())
        rows.append((str(rank), str(vertex), *values, *error, *(str(degree[v]) for degree in degrees)))
    return table(rows, right=True)


def _top_edges(scores: dict[str, Any], source: Source, top: int) -> str:
    import numpy as np

    columns, labels = [matrix.tocoo() for matrix in scores.values()], source.file.labels
    edges = columns[0]
    once = np.flatnonzero(source.directed | (edges.row <= edges.col))
    rows: list[tuple[str, ...]] = [("rank", "source", "target", *scores)]
    for rank, e in enumerate(once[np.argsort(-edges.data[once], kind="stable")][:top], 1):
        ends = (v if labels is None else labels[v] for v in (edges.row[e], edges.col[e]))
        rows.append((str(rank), *map(str, ends), *(f"{column.data[e]:.8g}" for column in columns)))
    return table(rows, right=True)
