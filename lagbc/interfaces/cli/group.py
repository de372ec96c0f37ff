"""`lagbc group-bc`: betweenness of groups of vertices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.arguments import takes_arguments
from lagbc.interfaces.cli.document import arguments_of
from lagbc.interfaces.cli.outputs import check_outputs, write_groups
from lagbc.interfaces.cli.rows import places_of
from lagbc.interfaces.cli.task import Task, carry_out
from lagbc.interfaces.cli.text import table

if TYPE_CHECKING:
    from lagbc.interfaces.cli.graphs import Source
    from lagbc.interfaces.cli.steps import Steps
    from lagbc.io.tables import Vertices

# Width of a group in a table, in characters.
_WIDTH = 40


@click.command("group-bc", epilog=options.GRAPH_HELP)
@options.takes_graph
@click.option("--group", "texts", metavar="V[,V...]", multiple=True, help="A group of vertices; once for each group.")
@click.option("--groups", "file", metavar="FILE", type=click.Path(path_type=Path), help="A file of groups, one a line.")
@takes_arguments("normalized", "endpoints", "rtol")
@options.top_option
@options.out_option
@options.json_option
@options.takes_run("threads", "memory", "progress")
def group_command(
    source: options.GraphOptions,
    texts: tuple[str, ...],
    file: Path | None,
    top: int | None,
    out: Path | None,
    as_json: bool,
    run: dict[str, Any],
    **given: Any,
) -> None:
    """Betweenness of groups of vertices of GRAPH: the share of shortest paths that meet one.

    Groups are numbered from 1 on, groups of --group before groups of --groups.
    """
    if not texts and file is None:
        raise click.UsageError("name groups by --group or --groups.")
    check_outputs(out, None)

    def prepare(taken: Source, steps: Steps) -> _Groups:
        with steps.step("reading the groups"):
            groups = _read_groups(texts, file, taken.vertices)
        return _Groups(taken, options.OutputOptions(top, out, None, as_json), steps, groups, given, run)

    carry_out(source, run["progress"], prepare)


@dataclass(eq=False)
class _Groups(Task):
    """The task of betweenness of groups, with options of its run."""

    groups: list[list[Any]]
    given: dict[str, Any]
    run: dict[str, Any]

    def compute(self) -> None:
        """Compute the scores."""
        import lagbc

        self.scores = lagbc.group_bc(self.source.graph, self.groups, **self.run, **self.given)

    @property
    def places(self) -> list[int]:
        """The places of the groups to show."""
        places: list[int] = places_of(self.scores, self.output).tolist()
        return places

    def write(self, path: Path) -> None:
        """Write a line a group."""
        write_groups(path, self.groups, self.scores)

    def document(self) -> dict[str, Any]:
        """Return the parts of the document."""
        return {
            "command": "group_bc",
            "arguments": arguments_of(self.given),
            "scores": {
                "group": [place + 1 for place in self.places],
                "vertices": [self.groups[place] for place in self.places],
                "group_bc": self.scores[self.places].tolist(),
            },
        }

    def text(self) -> Iterator[str]:
        """Yield the table of the highest."""
        rows: list[tuple[str, ...]] = [("rank", "group", "score", "vertices")]
        for rank, place in enumerate(self.places, 1):
            members = ", ".join(map(str, self.groups[place]))
            shown = members if len(members) <= _WIDTH else members[: _WIDTH - 3] + "..."
            rows.append((str(rank), str(place + 1), f"{self.scores[place]:.8g}", shown))
        if self.places:
            yield f"\n{table(rows, right=True)}"


def _read_groups(texts: tuple[str, ...], file: Path | None, vertices: Vertices) -> list[list[Any]]:
    from lagbc.io.tables import read_groups, vertices_in

    return [vertices_in(text, vertices) for text in texts] + ([] if file is None else read_groups(file, vertices))
