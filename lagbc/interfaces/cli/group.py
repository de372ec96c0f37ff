"""Commands of groups of vertices: `lagbc group-bc` and its kin, each made of its record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.arguments import takes_arguments
from lagbc.interfaces.cli.document import arguments_of
from lagbc.interfaces.cli.outputs import check_outputs, csv_line, write_array
from lagbc.interfaces.cli.rows import Rows
from lagbc.interfaces.cli.task import Task, carry_out
from lagbc.scores.records import GROUP_BC, GROUP_CLOSENESS, GROUP_DEGREE, GROUP_HARMONIC, Centrality

if TYPE_CHECKING:
    from lagbc.interfaces.cli.graphs import Source
    from lagbc.interfaces.cli.steps import Steps
    from lagbc.io.tables import Vertices

# Width of a group in a table, in characters.
_WIDTH = 40
_NUMBERED = "Groups are numbered from 1 on, groups of --group before groups of --groups."


def _group_command(record: Centrality) -> click.Command:
    """Make a command of groups with the arguments of its centrality."""

    def run_command(
        source: options.GraphOptions,
        texts: tuple[str, ...],
        file: Path | None,
        output: options.OutputOptions,
        run: dict[str, Any],
        **given: Any,
    ) -> None:
        if not texts and file is None:
            raise click.UsageError("name groups by --group or --groups.")
        check_outputs(output.out, None)

        def prepare(taken: Source, steps: Steps) -> _Groups:
            with steps.step("reading the groups"):
                groups = _read_groups(texts, file, taken.vertices)
            return _Groups(taken, output, steps, record.name, groups, given, run)

        carry_out(source, run["progress"], prepare)

    declared: Any = run_command
    for declare in (
        options.takes_run("threads", "memory", "progress"),
        options.takes_output(top=True),
        takes_arguments(*record.takes),
        click.option(
            "--groups", "file", metavar="FILE", type=click.Path(path_type=Path), help="A file of groups, one a line."
        ),
        click.option(
            "--group", "texts", metavar="V[,V...]", multiple=True, help="A group of vertices; once for each group."
        ),
        options.takes_graph,
    ):
        declared = declare(declared)
    subject, _, of = record.summary.partition(" of groups: ")
    told = f"{subject.capitalize()} of groups of vertices of GRAPH: {of}.\n\n{_NUMBERED}"
    return click.command(record.name.replace("_", "-"), epilog=options.GRAPH_HELP, help=told)(declared)


@dataclass(slots=True, eq=False)
class _Groups(Task):
    """The task of scores of groups by a function of lagbc, with options of its run."""

    name: str
    groups: list[list[Any]]
    given: dict[str, Any]
    run: dict[str, Any]
    scores: Any = field(init=False)

    def compute(self) -> None:
        """Compute the scores."""
        import lagbc

        self.scores = getattr(lagbc, self.name)(self.source.graph, self.groups, **self.run, **self.given)

    def write(self, path: Path) -> None:
        """Write a line a group: its number, its vertices as a line of CSV, and its score."""
        if path.suffix == ".npy":
            write_array(path, self.scores)
        else:
            self._rows("score", [csv_line(group) for group in self.groups]).write(path)

    def document(self) -> dict[str, Any]:
        """Return the parts of the document."""
        _, rows = self._rows(self.name, self.groups).shown(self.output)
        return {"command": self.name, "arguments": arguments_of(self.given), "scores": rows.as_json()}

    def text(self) -> Iterator[str]:
        """Yield the table of the highest."""
        places, rows = self._rows("score").shown(self.output)
        members = [", ".join(map(str, self.groups[place])) for place in places]
        shown = [names if len(names) <= _WIDTH else f"{names[: _WIDTH - 3]}..." for names in members]
        if members:
            yield f"\n{rows.as_text({'vertices': shown})}"

    def _rows(self, title: str, members: list[Any] | None = None) -> Rows:
        """Return the scores under a title, with numbers of groups from 1 on, and perhaps their members."""
        import numpy as np

        keys = {"group": np.arange(1, len(self.groups) + 1)}
        if members is not None:
            keys["vertices"] = np.fromiter(members, object)
        return Rows(keys, {title: self.scores})


def _read_groups(texts: tuple[str, ...], file: Path | None, vertices: Vertices) -> list[list[Any]]:
    from lagbc.io.tables import read_groups, vertices_in

    return [vertices_in(text, vertices) for text in texts] + ([] if file is None else read_groups(file, vertices))


group_bc_command = _group_command(GROUP_BC)
group_closeness_command = _group_command(GROUP_CLOSENESS)
group_degree_command = _group_command(GROUP_DEGREE)
group_harmonic_command = _group_command(GROUP_HARMONIC)
