"""`lagbc estimate`: a centrality from random roots, with intervals, told round by round."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.arguments import takes_arguments
from lagbc.interfaces.cli.graphs import form, headline, open_source, weight_lines
from lagbc.interfaces.cli.outputs import say_written
from lagbc.interfaces.cli.steps import shown_steps


@click.command("estimate", epilog=options.GRAPH_HELP)
@options.takes_graph
@click.option(
    "--which", default="bc", show_default=True, help="bc, edge-bc, harmonic, or closeness of a connected graph."
)
@click.option("--top", type=int, help="Until so many of the highest are certain, or tied.")
@click.option(
    "--tie", type=float, help="How near two may be to be tied, as a fraction.  [default: the width asked for]"
)
@click.option(
    "--relative-error",
    type=float,
    default=0.1,
    show_default=True,
    help="How far off scores may be, as a part of the highest one.",
)
@click.option("--error", type=float, help="In its place a fraction of all pairs.")
@click.option("--confidence", type=float, default=0.95, show_default=True, help="Probability that all intervals hold.")
@click.option("--guarantee/--no-guarantee", default=True, help="Or normal intervals, each for itself.")
@click.option("--max-roots", type=int, help="At most so many roots.")
@click.option("--max-seconds", type=float, help="No round is gone on with after so many.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random roots.")
@takes_arguments("endpoints", "rtol")
@click.option("--out", type=click.Path(path_type=Path), help="Write scores and intervals: a .csv table.")
@options.takes("method", "device", "reduce", "threads", "memory", "checkpoint")
def estimate_command(source: options.GraphOptions, which: str, seed: int, out: Path | None, **given: Any) -> None:
    """Estimate a centrality of GRAPH from random roots, and say how far off scores may be."""
    import lagbc
    from lagbc.estimates.estimate import telling

    begun = time.perf_counter()
    with shown_steps(False) as steps:
        taken = open_source(source, steps)
    said = [form(taken)] if taken.file.said else []
    click.echo("\n".join([headline(taken), *said, *weight_lines(taken)]))
    with telling(_teller(begun)):
        found = lagbc.estimate(taken.graph, which.replace("-", "_"), rng=seed, **given)
    click.echo(f"\n{found}\n")
    if out is not None:
        _write(out, found, taken.file.labels)
        say_written("scores", out)


def _teller(begun: float) -> Callable[[int, float, float, float], None]:
    """Return a function that tells of a round on the standard error."""

    def tell(drawn: int, half: float, asked: float, foreseen: float) -> None:
        left = (time.perf_counter() - begun) * max(foreseen - drawn, 0) / drawn
        words = f"{drawn:8} roots: width {half:.3g}, asked {asked:.3g}"
        click.echo(words if half <= asked else f"{words}, some {left:.1f} s left", file=sys.stderr)

    return tell


def _write(out: Path, found: Any, labels: Any) -> None:
    """Write a line a vertex."""
    import numpy as np

    from lagbc.errors import InvalidValueError
    from lagbc.files import written

    if not isinstance(found.scores, np.ndarray):
        raise InvalidValueError("out: a table is of vertices; of edges there is none")
    with written(out) as file:
        file.write(b"vertex,score,lower,upper\n")
        for number, row in enumerate(zip(found.scores, found.lower, found.upper, strict=True)):
            name = number if labels is None else labels[number]
            file.write(f"{name},{','.join(repr(float(value)) for value in row)}\n".encode())
