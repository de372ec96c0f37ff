"""`lagbc girvan-newman`: communities by the betweenness of edges."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.arguments import takes_arguments
from lagbc.interfaces.cli.document import arguments_of
from lagbc.interfaces.cli.outputs import check_outputs
from lagbc.interfaces.cli.rows import Rows, rows_of_vertices
from lagbc.interfaces.cli.task import Drawing, Task, carry_out

if TYPE_CHECKING:
    from lagbc.centrality.communities import Communities
    from lagbc.interfaces.cli.graphs import Source
    from lagbc.interfaces.cli.steps import Steps

# Width of a community in a table, in characters.
_WIDTH = 60


@click.command("girvan-newman", epilog=options.GRAPH_HELP)
@options.takes_graph
@click.option("--until", type=int, help="Stop at so many communities.  [default: when no edge is left]")
@click.option("--at-once", type=float, help="Remove this share of the edges that are left at a time.")
@click.option("--communities", "k", type=int, help="So many are shown.  [default: those of the highest modularity]")
@takes_arguments("rtol")
@options.takes_output(
    top=True,
    out="Write the community of each vertex: a .npy array, or a table, .csv or .parquet.",
    plot="the modularity of each number of communities, and the dendrogram",
)
@options.takes_run("method", "device", "reduce", "threads", "memory", "progress")
def girvan_newman_command(
    source: options.GraphOptions, k: int | None, output: options.OutputOptions, run: dict[str, Any], **given: Any
) -> None:
    """Communities of GRAPH: the edge of the highest betweenness is removed, again and again."""
    check_outputs(output.out, output.plot)

    def prepare(taken: Source, steps: Steps) -> _Communities:
        return _Communities(taken, output, steps, k, given, run)

    carry_out(source, run["progress"], prepare)


@dataclass(slots=True, eq=False)
class _Communities(Task):
    """The task of communities, with options of its run; `k` are shown."""

    k: int | None
    given: dict[str, Any]
    run: dict[str, Any]
    found: Communities = field(init=False)
    labels: Any = field(init=False)

    def compute(self) -> None:
        """Divide the graph."""
        import lagbc

        self.found = lagbc.girvan_newman(self.source.graph, **self.given, **self.run)
        self.labels = self.found.labels(self.k)

    def write(self, path: Path) -> None:
        """Write a line a vertex."""
        rows_of_vertices({"community": self.labels}, self.source).write(path)

    def document(self) -> dict[str, Any]:
        """Return the parts of the document."""
        found = self.found
        levels = Rows({"communities": found.counts, "removed": found.removals}, {"modularity": found.modularity})
        return {
            "command": "girvan_newman",
            "arguments": arguments_of(self.given | {"k": self.k}),
            "levels": levels.as_json(),
            "scores": {"vertex": self.source.vertex_names.tolist(), "community": self.labels.tolist()},
        }

    def text(self) -> Iterator[str]:
        """Yield the table of the largest communities."""
        import numpy as np

        sizes = np.bincount(self.labels)
        level = len(sizes) - int(self.found.counts[0])
        yield f"\n{len(sizes):,} communities: modularity {self.found.modularity[level]:.6g}"
        places, rows = Rows({"community": np.arange(len(sizes))}, {"size": sizes}).shown(self.output)
        members = [self.source.vertex_names[self.labels == place] for place in places]
        names = [", ".join(map(str, some[:_WIDTH])) for some in members]
        shown = [name if len(name) <= _WIDTH else f"{name[: _WIDTH - 3]}..." for name in names]
        if members:
            yield rows.as_text({"vertices": shown})

    def drawings(self) -> list[Drawing]:
        """Return the dendrogram, if it is to be drawn."""
        from lagbc.plots import plot_communities

        draw = partial(plot_communities, self.found, title=self.source.title)
        return [Drawing("figure", self.output.plot, draw)] if self.output.plot is not None else []
