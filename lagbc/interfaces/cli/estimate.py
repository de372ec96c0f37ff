"""`lagbc estimate`: a centrality from random samples, with intervals, reported round by round."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lagbc.errors import InvalidValueError
from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.inputs import Dealing, read_arguments
from lagbc.interfaces.cli.outputs import Rows, arguments_of, check_outputs, rows_of_edges, rows_of_vertices
from lagbc.interfaces.cli.task import Drawing, Task, carry_out
from lagbc.interfaces.cli.terminal import in_options

if TYPE_CHECKING:
    from lagbc.calls import Phase
    from lagbc.estimates.estimate import Estimate
    from lagbc.interfaces.cli.inputs import Source
    from lagbc.interfaces.cli.terminal import Steps

# The meaning of a score, by the sum that is estimated.
_MEANINGS = {
    "dependency": "the share of all pairs whose shortest paths lead through the vertex",
    "edges": "the share of all pairs whose shortest paths lead along the edge",
    "inverse": "the sum of 1 / distance over all others",
    "distance": "(n - 1) / the sum of distances to all others",
}


@click.command("estimate", epilog=options.GRAPH_HELP)
@options.takes_graph
@click.option(
    "--which", default="bc", show_default=True, help="bc, edge-bc, harmonic, or closeness of a connected graph."
)
@click.option("--top", type=int, help="Draw until this number of highest scores are certain, or tied.")
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
@click.option(
    "--samples",
    type=click.Choice(("auto", "roots", "paths")),
    default="auto",
    show_default=True,
    help="Searches from random roots, or shortest paths of random pairs, for bc in hops.",
)
@click.option("--max-roots", type=int, help="The most roots to draw.")
@click.option("--max-seconds", type=float, help="The time after which no further round begins.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the random samples.")
@options.takes_arguments("vertices", "endpoints", "rtol")
@options.takes_output(
    out="Write scores and intervals of vertices: a .csv or .parquet table, or rows of an array, .npy.",
    plot="scores in the order of their ranks, with intervals",
)
@options.takes_run("method", "device", "reduce", "threads", "memory", "checkpoint", "progress", grid=True)
def estimate_command(
    source: options.GraphOptions,
    which: str,
    seed: int,
    output: options.OutputOptions,
    run: dict[str, Any],
    **typed: Any,
) -> None:
    """Estimate a centrality of GRAPH from random samples, and say how far off scores may be."""
    which = which.replace("-", "_")
    estimated = _sum_of(which)
    check_outputs(output.out, output.plot)
    if output.out is not None and estimated == "edges":
        raise InvalidValueError(f"--out {output.out} is a table of vertices; of edges --json has the scores")

    def prepare(taken: Source, steps: Steps) -> _Estimate:
        return _Estimate(taken, output, steps, run, which, seed, read_arguments(typed, taken), typed)

    def sums() -> frozenset[str]:
        from lagbc.estimates.terms import sums_of

        return sums_of(estimated)

    carry_out(source, run["progress"], prepare, Dealing.of_run(run, sums))


@dataclass(slots=True, eq=False)
class _Estimate(Task):
    which: str
    seed: int
    given: dict[str, Any]
    typed: dict[str, Any]
    found: Estimate = field(init=False)

    def compute(self) -> None:
        import lagbc
        from lagbc.estimates.aim import reporting_rounds

        with nullcontext() if self.output.quiet else reporting_rounds(_round_printer(time.perf_counter())):
            found = lagbc.estimate(self.source.graph, self.which, rng=self.seed, **self.given, **self.run)
        self.found = replace(found, reason=in_options(found.reason, click.get_current_context().command))

    def write(self, path: Path) -> None:
        self._rows("score").write(path)

    @property
    def _of_vertices(self) -> Source:
        """The graph, with the names of the vertices asked for alone."""
        import numpy as np

        if (names := self.given["vertices"]) is None:
            return self.source
        return replace(self.source, file=replace(self.source.file, labels=np.array(names)))

    def drawings(self) -> list[Drawing]:
        plot = self.output.plot
        return [] if plot is None else [Drawing("plot", plot, lambda path: self.found.plot(path))]

    def document(self) -> dict[str, Any]:
        found = self.found
        if self.given["top"] is not None:
            titles = {"vertex": "vertex", self.which: "score", "lower": "lower", "upper": "upper", "tied": "tied"}
            scores = {title: [getattr(row, name) for row in found.top] for title, name in titles.items()}
        else:
            scores = self._rows(self.which).shown(self.output)[1].as_json()
        return {
            "command": "estimate",
            "estimate": {"roots": found.roots, "paths": found.paths, "seed": self.seed},
            "arguments": arguments_of({"which": self.which, **self.typed, **self.run}),
            **{name: getattr(found, name) for name in ("exact", "guaranteed", "confidence", "reason")},
            "scores": scores,
        }

    def _rows(self, title: str) -> Rows:
        """Return scores, under a title, and intervals."""
        rows = rows_of_edges if _sum_of(self.which) == "edges" else rows_of_vertices
        return rows({title: self.found.scores, "lower": self.found.lower, "upper": self.found.upper}, self._of_vertices)

    def text(self) -> Iterator[str]:
        if _sum_of(self.which) == "edges":
            yield self._rows(self.which).shown(self.output)[1].as_text({})
        else:
            yield str(self.found).partition("\n")[2]

    def lines(self, seconds: float, phases: Mapping[Phase, float]) -> Iterator[str]:
        """Yield the reason for the end, the table, the meaning of a score, and the file."""
        yield f"\n{self.found.centrality}: {self.found.reason}"
        yield from self.text()
        yield f"\na score is {_MEANINGS[_sum_of(self.which)]}"
        if self.output.out is not None:
            yield f"scores: {self.output.out}"


def _sum_of(which: str) -> str:
    from lagbc.estimates.terms import estimated_sum, find_estimated

    return estimated_sum(find_estimated(which))


def _round_printer(begun: float) -> Callable[[str, int, float, float, float], None]:
    """Return a function that reports a round on stderr, above a progress bar if there is one."""
    from tqdm import tqdm

    def tell(samples: str, drawn: int, half: float, asked: float, foreseen: float) -> None:
        left = (time.perf_counter() - begun) * max(foreseen - drawn, 0) / drawn
        so_far = f"half-width {half:.3g}, " if half < 1 else ""  # no score is more than 1, and that tells nothing
        words = f"{drawn:8} {samples}: {so_far}asked {asked:.3g}"
        tqdm.write(words if half <= asked else f"{words}, some {left:.1f} s left", file=sys.stderr)

    return tell
