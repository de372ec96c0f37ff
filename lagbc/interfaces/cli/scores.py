"""`lagbc bc`: the scores of a graph, the highest printed, all of them written or drawn."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.graphs import degrees_of, headline, open_source, weight_lines
from lagbc.interfaces.cli.outputs import check_outputs, write_scores
from lagbc.interfaces.cli.text import table

if TYPE_CHECKING:
    import numpy as np

    from lagbc.graph.graph import Graph


@click.command("bc", epilog=options.GRAPH_HELP)
@options.takes_graph
@options.takes_sample
@click.option("--normalized", is_flag=True, help="Divide by the number of vertex pairs, as NetworkX does.")
@click.option("--endpoints", is_flag=True, help="Count the two ends of a path too.")
@options.takes_output
@options.takes_run
def bc_command(
    source: options.GraphOptions,
    sample: options.SampleOptions,
    normalized: bool,
    endpoints: bool,
    output: options.OutputOptions,
    run: options.RunOptions,
) -> None:
    """Betweenness centrality of every vertex of GRAPH."""
    import lagbc

    check_outputs(output.out, output.plot)
    taken = open_source(source)
    graph = taken.graph
    choice = lagbc.select_method(
        graph,
        directed=taken.directed,
        weighted=taken.weighted,
        roots=sample.k,
        method=run.method,
        device=run.device,
    )
    click.echo(headline(taken, graph))
    click.echo(f"method: {choice.reason}")
    for line in weight_lines(taken):
        click.echo(line)
    if sample.k is not None:
        click.echo(f"estimate from {sample.k:,} random roots of {graph.n:,} (seed {sample.seed})")
    start = time.perf_counter()
    try:
        scores = lagbc.bc(
            graph,
            directed=taken.directed,
            weighted=taken.weighted,
            k=sample.k,
            rng=None if sample.k is None else sample.seed,
            normalized=normalized,
            endpoints=endpoints,
            **asdict(run),
        )
    except KeyboardInterrupt as interrupt:
        raise type(interrupt)(_left_behind(run.checkpoint)) from None
    seconds = time.perf_counter() - start
    if output.out is not None:
        write_scores(output.out, scores, taken.file.labels)  # at once: what follows may be interrupted
    if output.top:
        errors, why = _errors(graph, sample, run, {"normalized": normalized, "endpoints": endpoints})
        click.echo()
        click.echo(_top_table(scores, errors, graph, taken.file.labels, output.top))
        click.echo()
        click.echo(f"standard error: {why}")
    click.echo(f"time: {seconds:.3g} s")
    if output.out is not None:
        click.echo(f"scores: {output.out}")
    if output.plot is not None:
        from lagbc.plots import plot_scores

        unit = "fraction of vertex pairs" if normalized else "vertex pairs"
        plot_scores(taken.matrix, scores, output.plot, directed=taken.directed, title=taken.title, unit=unit)
        click.echo(f"plot: {output.plot}")


def _errors(
    graph: Graph, sample: options.SampleOptions, run: options.RunOptions, convention: dict[str, bool]
) -> tuple[np.ndarray | None, str]:
    """Return the standard errors of an estimate, and a sentence on them."""
    if sample.k is None or sample.k >= graph.n:
        return None, "none; all vertices are roots"
    if not sample.error:
        return None, "not computed (--error does)"
    if sample.k < 2:
        return None, "none; one root does not tell it"
    from lagbc.centrality.standard_error import GROUPS, roots_of_group, standard_errors

    how = {**asdict(run), "weighted": graph.weighted, "checkpoint": None, "progress": False}
    errors = standard_errors(graph, sample.k, rng=sample.seed, **convention, **how)
    return errors, f"from {GROUPS} more estimates, of {roots_of_group(sample.k)} random roots each"


def _top_table(scores: np.ndarray, errors: np.ndarray | None, graph: Graph, labels: np.ndarray | None, top: int) -> str:
    import numpy as np

    names, degrees = zip(*degrees_of(graph), strict=True)
    error = () if errors is None else ("error",)
    rows: list[tuple[str, ...]] = [("rank", "vertex", "score", *error, *names)]
    for rank, v in enumerate(np.argsort(-scores, kind="stable")[:top], 1):
        vertex = v if labels is None else labels[v]
        error = () if errors is None else (f"± {errors[v]:.2g}",)
        rows.append((str(rank), str(vertex), f"{scores[v]:.8g}", *error, *(str(degree[v]) for degree in degrees)))
    return table(rows, right=True)


def _left_behind(checkpoint: Path | None) -> str:
    if checkpoint is None:
        return "nothing is kept; with --checkpoint a run can go on where it was stopped"
    if checkpoint.exists():
        return f"{checkpoint} keeps the roots that are done; the same command goes on from there"
    return f"no root was done, so {checkpoint} was not written"
