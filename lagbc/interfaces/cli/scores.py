"""A command for each centrality, made of its record: the highest scores printed, all of them written or drawn."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from lagbc import phases
from lagbc.centrality.registry import Centrality, registered
from lagbc.errors import InvalidValueError
from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.arguments import read_arguments, takes_arguments
from lagbc.interfaces.cli.document import arguments_of, columns_in_words, estimate_of, method_of, show_document
from lagbc.interfaces.cli.graphs import choose, degrees_of, introduction, open_source
from lagbc.interfaces.cli.maps import check_map, draw_map, find_coordinates
from lagbc.interfaces.cli.outputs import (
    check_outputs,
    columns_of,
    matrices_of,
    require_numbers,
    say_written,
    titles_of,
    write_edges,
    write_scores,
)
from lagbc.interfaces.cli.rows import Rows, rows_of_edges, rows_of_vertices
from lagbc.interfaces.cli.steps import Steps, shown_steps
from lagbc.interfaces.cli.text import left_behind, timing

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from lagbc.interfaces.cli.graphs import Source


# What betweenness is called in figures, which counts what `_unit` says; others are called as their records.
_NAMES = {"bc": "betweenness", "edge_bc": "edge betweenness"}


def scored() -> dict[str, Centrality]:
    """Return the centralities that have a command of this kind, by its name: those of vertices and edges."""
    return {one.name.replace("_", "-"): one for one in registered() if one.count is None}


def score_command(scored: Centrality) -> click.Command:
    """Make a command with the arguments of its centrality."""

    def run_command(
        source: options.GraphOptions,
        output: options.OutputOptions,
        run: dict[str, Any],
        map_options: options.MapOptions,
        sample: options.SampleOptions = options.NO_SAMPLE,
        error: bool = False,
        **given: Any,
    ) -> None:
        _check(scored, output, given, map_options)
        check_map(map_options)
        with shown_steps(run["progress"]) as steps:
            _score(scored, source, sample, error, given, output, run, map_options, steps)

    declared: Any = run_command
    for declare in (options.takes_run, options.takes_map, options.takes_output, takes_arguments(*scored.takes)):
        declared = declare(declared)
    if "k" in scored.takes:
        declared = options.takes_sample(declared if scored.of_edges else options.error_option(declared))
    summary = f"{scored.summary[0].upper()}{scored.summary[1:]}."
    name = scored.name.replace("_", "-")
    return click.command(name, epilog=options.GRAPH_HELP, help=summary)(options.takes_graph(declared))


def _check(
    scored: Centrality, output: options.OutputOptions, given: dict[str, Any], map_options: options.MapOptions
) -> None:
    if output.part is not None:
        if scored.needs:
            raise InvalidValueError(f"{scored.name} is not computed in parts; leave out --part")
        from lagbc.interfaces.cli.parts import check_part

        check_part(output, map_options.plot_map)
        return
    check_outputs(output.out, output.plot)
    if scored.of_edges and output.plot is not None:
        raise InvalidValueError("--plot draws scores of vertices; write those of edges with --out")
    if output.plot is not None and _has_columns(given):
        raise InvalidValueError("--plot draws scores for one cutoff and one decay; write several with --out")


def _score(
    scored: Centrality,
    source: options.GraphOptions,
    sample: options.SampleOptions,
    error: bool,
    typed: dict[str, Any],
    output: options.OutputOptions,
    run: dict[str, Any],
    map_options: options.MapOptions,
    steps: Steps,
) -> None:
    taken = open_source(source, steps)
    if scored.of_edges:
        require_numbers(output.out, taken.file.labels)
    with steps.step("reading the arguments"):
        given = read_arguments(typed, taken, sample)
        xy = find_coordinates(map_options, taken)
    if output.part is not None:
        from lagbc.interfaces.cli.parts import write_part

        write_part([scored.name], taken, sample, given, output, run)
        return
    how = run | {"directed": taken.directed, "weighted": taken.weighted}
    silent = how | {"checkpoint": None, "progress": False}
    start = time.perf_counter()
    with phases.record(watch=steps.phase) as recorder:
        graph = taken.graph
        choice = choose(taken, scored, given, sample, run)
        if not output.as_json:
            click.echo(introduction(taken, choice, sample, given))
        try:
            scores = _compute(scored.name, graph, sample.arguments | given | how)
        except KeyboardInterrupt as interrupt:
            raise type(interrupt)(left_behind(run["checkpoint"])) from None
    seconds = time.perf_counter() - start
    titles = titles_of("score", scored.takes, given)
    if output.out is not None:  # at once: what follows may be interrupted
        with steps.step(f"writing {output.out}"):
            (write_edges if scored.of_edges else write_scores)(output.out, scores, titles, taken.file.labels)
    errors, why = None, ""
    if output.shown(graph.n) and not scored.of_edges:
        with steps.step("computing the standard error", " estimates"):
            errors, why = _errors(scored, graph, sample, error, given | silent, steps)
    if output.as_json:
        columns = columns_in_words({scored.name: scored.takes}, given)
        show_document(
            scored.name,
            taken,
            method=method_of(choice),
            estimate=estimate_of(taken, sample),
            arguments=arguments_of(typed),
            columns=columns,
            scores=_rows(scored, list(columns), scores, errors, taken, output).as_json(),
            seconds={"total": seconds, **recorder.seconds},
        )
    else:
        if output.shown(graph.n):
            rows = _rows(scored, titles, scores, errors, taken, output)
            click.echo(f"\n{rows.as_text({} if scored.of_edges else dict(degrees_of(graph)))}")
        if why:
            click.echo(f"\nstandard error: {why}")
        click.echo(timing(seconds, recorder.seconds))
        say_written("scores", output.out)
    name = _NAMES.get(scored.name, scored.name.replace("_", " "))
    unit = _unit(given) if scored.name in _NAMES else ""
    if xy is not None:
        with steps.step(f"drawing {map_options.plot_map}"):
            draw_map(map_options, xy, taken, scores, f"{name} ({unit})" if unit else name, given)
    if output.plot is not None:
        with steps.step(f"drawing {output.plot}"):
            _draw(name, unit, scores, taken, output.plot)
    if not output.as_json:
        say_written("map", map_options.plot_map)
        say_written("plot", output.plot)


def _has_columns(given: dict[str, Any]) -> bool:
    """Whether scores have several columns."""
    return any(isinstance(given.get(name), list) for name in ("cutoff", "decay"))


def _unit(given: dict[str, Any]) -> str:
    """Say what betweenness counts."""
    if given["demand"] is not None:
        return "trips"
    return "fraction of vertex pairs" if given["normalized"] else "vertex pairs"


def _compute(name: str, graph: Any, arguments: dict[str, Any]) -> Any:
    """Call the public function of a centrality; a record that was added has none."""
    import lagbc
    from lagbc.centrality.declare import FUNCTIONS

    if name in FUNCTIONS:
        return getattr(lagbc, name)(graph, **arguments)
    which: Any = name
    return dict(lagbc.centralities(graph, which, **arguments))[name]


def _errors(
    scored: Centrality,
    graph: Any,
    sample: options.SampleOptions,
    wanted: bool,
    options_of_run: dict[str, Any],
    steps: Steps,
) -> tuple[np.ndarray | None, str]:
    """Return the standard errors of an estimate, and a sentence on them; none where there are no estimates."""
    if "k" not in scored.takes or any(options_of_run.get(name) is not None for name in ("demand", "sources")):
        return None, ""
    if sample.k is None or sample.k >= graph.n:
        return None, "none; all vertices are roots"
    if _has_columns(options_of_run):
        return None, "not computed for several cutoffs or decays"
    if not wanted:
        return None, "not computed (--error does)"
    if sample.k < 2:
        return None, "none; one root does not tell it"
    if options_of_run.get("log2"):
        return None, "none; logarithms of estimates have none"
    from lagbc.centrality.standard_error import GROUPS, roots_of_group, standard_errors

    def estimate(roots: int, rng: np.random.Generator) -> dict[str, Any]:
        return {scored.name: _compute(scored.name, graph, options_of_run | {"k": roots, "rng": rng})}

    errors = standard_errors(estimate, graph.n, sample.k, sample.seed, steps.progress)[scored.name]
    return errors, f"from {GROUPS} more estimates, of {roots_of_group(sample.k)} random roots each"


def _rows(
    scored: Centrality,
    titles: list[str],
    scores: Any,
    errors: np.ndarray | None,
    source: Source,
    output: options.OutputOptions,
) -> Rows:
    if scored.of_edges:
        return rows_of_edges(matrices_of(titles, scores), source, output)
    return rows_of_vertices(columns_of(titles, scores), source, output, errors)


def _draw(name: str, unit: str, scores: Any, source: Source, path: Path) -> None:
    from lagbc.plots import plot_scores

    plot_scores(
        source.file.matrix,
        scores,
        path,
        directed=source.directed,
        title=source.title,
        unit=unit,
        name=name,
        labels=source.file.labels,
    )
