"""`lagbc estimate`: a centrality from random roots, with intervals, told round by round."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.arguments import takes_arguments
from lagbc.interfaces.cli.document import arguments_of, show_document
from lagbc.interfaces.cli.graphs import form, headline, open_source, weight_lines
from lagbc.interfaces.cli.outputs import say_written
from lagbc.interfaces.cli.steps import shown_steps
from lagbc.phases import record

if TYPE_CHECKING:
    from lagbc.estimates.estimate import Estimate
    from lagbc.interfaces.cli.graphs import Source


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
@options.json_option
@options.takes("method", "device", "reduce", "threads", "memory", "checkpoint")
def estimate_command(
    source: options.GraphOptions, which: str, seed: int, out: Path | None, as_json: bool, **given: Any
) -> None:
    """Estimate a centrality of GRAPH from random roots, and say how far off scores may be."""
    import lagbc
    from lagbc.estimates.estimate import telling

    begun = time.perf_counter()
    with shown_steps(False) as steps:
        taken = open_source(source, steps)
    if not as_json:
        said = [form(taken)] if taken.file.said else []
        click.echo("\n".join([headline(taken), *said, *weight_lines(taken)]))
    with record() as recorder, telling(_teller(begun)):
        found = lagbc.estimate(taken.graph, which.replace("-", "_"), rng=seed, **given)
    if out is not None:
        _write(out, found, taken.file.labels)
    if as_json:
        seconds = {"total": time.perf_counter() - begun, **recorder.seconds}
        show_document("estimate", taken, **_parts(found, taken, seed, given), seconds=seconds)
        return
    click.echo(f"\n{found}\n")
    say_written("scores", out)


def _parts(found: Estimate, source: Source, seed: int, given: dict[str, Any]) -> dict[str, Any]:
    """Return an estimate as JSON has it; with top the highest alone."""
    return {
        "estimate": {"roots": found.roots, "seed": seed},
        "arguments": arguments_of({"which": found.centrality, **given}),
        **{name: getattr(found, name) for name in ("exact", "guaranteed", "confidence", "reason")},
        "scores": _columns(found, source) if given["top"] is None else _columns_of_top(found),
    }


def _columns(found: Estimate, source: Source) -> dict[str, list[Any]]:
    """Return all scores and intervals: of vertices, or of edges, an undirected one once."""
    import numpy as np

    labels = source.file.labels
    numbers = {found.centrality: found.scores, "lower": found.lower, "upper": found.upper}
    ends: dict[str, Any]
    if isinstance(found.scores, np.ndarray):
        ends = {"vertex": np.arange(len(found.scores))}
    else:
        entries = {name: one.tocoo() for name, one in numbers.items()}
        rows, columns = entries["lower"].coords
        once = np.full(len(rows), True) if source.graph.directed else rows <= columns
        ends = {"source": rows[once], "target": columns[once]}
        numbers = {name: one.data[once] for name, one in entries.items()}
    named = {name: [one if labels is None else labels[one] for one in end.tolist()] for name, end in ends.items()}
    return named | {name: one.tolist() for name, one in numbers.items()}


def _columns_of_top(found: Estimate) -> dict[str, list[Any]]:
    rows = {"vertex": "vertex", found.centrality: "score", "lower": "lower", "upper": "upper", "tied": "tied"}
    return {title: [getattr(row, name) for row in found.top] for title, name in rows.items()}


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
