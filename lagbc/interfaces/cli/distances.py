"""`lagbc distances`: numbers of the distances of all pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.inputs import read_arguments
from lagbc.interfaces.cli.outputs import Rows, arguments_of, as_json, check_outputs
from lagbc.interfaces.cli.task import Task, carry_out
from lagbc.interfaces.cli.terminal import left_behind, table

if TYPE_CHECKING:
    from lagbc.interfaces.cli.inputs import Source
    from lagbc.interfaces.cli.terminal import Steps


@click.command("distances", epilog=options.GRAPH_HELP)
@options.takes_graph
@options.takes_arguments("sources", "cutoff")
@options.takes_sample
@options.error_option
@options.takes_output(out="Write a row for each cutoff: a .npy array, or a table, .csv or .parquet.")
@options.takes_run()
def distances_command(
    source: options.GraphOptions,
    sample: options.SampleOptions,
    error: bool,
    output: options.OutputOptions,
    run: dict[str, Any],
    **typed: Any,
) -> None:
    """Average distance, Wiener index, efficiency, diameter and radius of GRAPH."""
    check_outputs(output.out, None)

    def prepare(taken: Source, steps: Steps) -> _Distances:
        with steps.step("reading the arguments"):
            given = read_arguments(typed, taken, sample)
        has_error = error and sample.k is not None and sample.k > 1
        return _Distances(taken, output, steps, typed, given | sample.arguments, run, sample, has_error)

    carry_out(source, run["progress"], prepare)


@dataclass(slots=True, eq=False)
class _Distances(Task):
    """The task of distances; `given` are the arguments, and `typed` the texts that were typed for them."""

    typed: dict[str, Any]
    given: dict[str, Any]
    run: dict[str, Any]
    sample: options.SampleOptions
    has_error: bool
    found: Any = field(init=False)
    errors: Any = field(init=False, default=None)

    def compute(self) -> None:
        """Compute the numbers, and their standard errors where they are wanted."""
        import lagbc

        distances: Any = lagbc.distances
        found = distances(self.source.graph, standard_error=self.has_error, **self.given, **self.run)
        self.found, self.errors = found if self.has_error else (found, None)

    def left_behind(self) -> str:
        """Describe the checkpoint."""
        return left_behind(self.run["checkpoint"])

    def write(self, path: Path) -> None:
        """Write a row for each cutoff, or one."""
        self._rows().write(path)

    def document(self) -> dict[str, Any]:
        """Return the parts of the document."""
        sample, rows = self.sample, self._rows()
        scores = rows._replace(keys={}).as_json()
        return {
            "command": "distances",
            "estimate": None if sample.k is None else {"roots": self.found.roots, "seed": sample.seed},
            "arguments": arguments_of(self.typed),
            "scores": {name: as_json(one.tolist()) for name, one in rows.keys.items()} | scores,
        }

    def text(self) -> Iterator[str]:
        """Yield a line for each number, with its error, and a column for each cutoff."""
        rows = self._rows()
        heads = [f"within {cutoff:g}" for cutoff in rows.keys["cutoff"]] if "cutoff" in rows.keys else []
        lines: list[tuple[str, ...]] = [("", *heads)] if heads else []
        for name, values in rows.scores.items():
            lines.append((name, *(f"{value:.10g}" for value in values)))
        yield "\n" + table(lines, right=True)

    def remarks(self) -> Iterator[str]:
        """Say of some roots that diameter and radius are bounds."""
        if not self.found.exact:
            roots = f"{self.found.roots:,} of {self.found.n:,} roots"
            yield f"from {roots}: the diameter of the graph is at least, its radius at most, the one found"

    def _rows(self) -> Rows:
        """Return a row for each cutoff, with errors beside their numbers."""
        import numpy as np

        cutoff = self.given.get("cutoff")
        columns: dict[str, Any] = {}
        for name in self.found._fields[2:]:
            columns[name] = np.atleast_1d(getattr(self.found, name))
            if self.has_error and name not in ("diameter", "radius"):
                columns[f"{name}_error"] = np.atleast_1d(getattr(self.errors, name))
        return Rows({} if cutoff is None else {"cutoff": np.atleast_1d(cutoff).astype(float)}, columns)
