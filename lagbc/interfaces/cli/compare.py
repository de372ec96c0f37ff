"""`lagbc compare`: every method on one graph."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.document import show_document
from lagbc.interfaces.cli.graphs import headline, open_source
from lagbc.interfaces.cli.outputs import check_outputs
from lagbc.interfaces.cli.steps import shown_steps
from lagbc.interfaces.cli.text import wrapped

if TYPE_CHECKING:
    from lagbc.comparison.records import Comparison, Measurement
    from lagbc.interfaces.cli.graphs import Source

# The exit status if scores of some method are wrong.
WRONG = 3


@click.command("compare", epilog=options.GRAPH_HELP)
@options.takes_graph
@click.option("--roots", type=click.IntRange(1), default=256, show_default=True, help="How many roots to draw.")
@options.seed_option
@click.option("--methods", metavar="NAME,...", default="all", show_default=True, help="Which of lagbc info's table.")
@click.option(
    "--device",
    type=click.Choice(["all", "cpu", "cuda"]),
    default="all",
    show_default=True,
    help="Where to compute.",
)
@click.option(
    "--time-limit", type=float, default=60.0, show_default=True, help="Seconds; a method that takes longer is skipped."
)
@options.plot_option("times and memory")
@options.json_option
@options.takes_run("batch", "bucket_width", "dtype", "threads", "progress")
def compare_command(
    source: options.GraphOptions,
    roots: int,
    seed: int,
    methods: str,
    device: str,
    time_limit: float,
    plot: Path | None,
    as_json: bool,
    run: dict[str, Any],
) -> None:
    """Time, memory and agreement of every method on GRAPH.

    A row is printed as soon as its method is measured; why others were not follows the table. The exit status is 3 if
    the scores of some method are wrong.
    """
    import lagbc

    check_outputs(None, plot)
    with shown_steps(run["progress"]) as steps:
        taken = open_source(source, steps)
        with steps.step("checking the graph"):
            graph = taken.graph
    if not as_json:
        click.echo(f"{headline(taken)}{', with lengths' if taken.weighted else ''}\n")
    comparison = lagbc.compare(
        graph,
        roots,
        methods=cast(Any, methods if methods == "all" else [name.strip() for name in methods.split(",")]),
        device=cast(Any, device),
        directed=taken.directed,
        weighted=taken.weighted,
        rng=seed,
        time_limit=time_limit,
        **run,
        report=None if as_json else _row_printer(),
    )
    if as_json:
        _show_json(taken, comparison)
    else:
        click.echo(f"\n{comparison.conditions}" if comparison.measured else comparison.conditions)
        for remark in (*comparison.remarks(), *comparison.reasons()):
            click.echo(wrapped(remark))
    if plot is not None:
        comparison.plot(plot, title=taken.title)
        if not as_json:
            click.echo(f"plot: {plot}")
    if any(record.agrees is False for record in comparison.records):
        click.get_current_context().exit(WRONG)


def _show_json(source: Source, comparison: Comparison) -> None:
    """Print JSON."""
    show_document(
        "compare",
        source,
        roots=comparison.roots,
        threads=comparison.threads,
        gpu=comparison.gpu,
        depth=comparison.depth,
        methods=[{**asdict(record), "agrees": record.agrees} for record in comparison.records],
    )


def _row_printer() -> Callable[[Measurement], None]:
    """Return a function that prints a measurement, above a progress bar if there is one, the first below titles."""
    from tqdm import tqdm

    from lagbc.comparison.records import TABLE_COLUMNS
    from lagbc.methods.table import METHODS

    # Columns are as wide as titles, names and figures need.
    longest = {"method": max(len(row.name) for row in METHODS), "formulation": 11, "device": 6, "difference": 13}
    widths = [max(len(title), longest.get(title, 8)) for title, _ in TABLE_COLUMNS]
    titles = [title for title, _ in TABLE_COLUMNS]

    def line(cells: list[str]) -> None:
        text = "  ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=False)).rstrip()
        tqdm.write(text, file=sys.stdout)

    def show(record: Measurement) -> None:
        if record.skipped:
            return
        if titles:
            line(titles)
            titles.clear()
        line([cell(record) for _, cell in TABLE_COLUMNS])

    return show
