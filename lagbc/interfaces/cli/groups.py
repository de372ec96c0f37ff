"""Commands of groups of vertices: `lagbc group-bc` and its kin score groups, `lagbc girvan-newman` finds them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.outputs import Rows, arguments_of, check_outputs, csv_line, rows_of_vertices, write_array
from lagbc.interfaces.cli.task import Drawing, Task, carry_out
from lagbc.scores.records import GROUP_BC, GROUP_CLOSENESS, GROUP_DEGREE, GROUP_HARMONIC, Centrality

if TYPE_CHECKING:
    from lagbc.centrality.communities import Communities
    from lagbc.interfaces.cli.inputs import Source
    from lagbc.interfaces.cli.terminal import Steps


# Widths in tables, in characters: of a group, and of a community.
_OF_GROUP, _OF_COMMUNITY = 40, 60
# Options of a run that the searches from groups take beside those of all commands here.
_RUN_OF: dict[Centrality, tuple[str, ...]] = {GROUP_CLOSENESS: ("device",), GROUP_HARMONIC: ("device",)}
_NUMBERED = "Groups are numbered from 1 on, groups of --group before groups of --groups."


def _group_command(record: Centrality) -> click.Command:
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
            from lagbc.io.tables import read_groups, vertices_in

            with steps.step("reading the groups"):
                groups = [vertices_in(text, taken.vertices) for text in texts]
                groups += [] if file is None else read_groups(file, taken.vertices)
            return _Groups(taken, output, steps, run, record.name, groups, given)

        carry_out(source, run["progress"], prepare)

    declarations = (
        options.takes_graph,
        click.option(
            "--group", "texts", metavar="V[,V...]", multiple=True, help="A group of vertices; once for each group."
        ),
        click.option(
            "--groups", "file", metavar="FILE", type=click.Path(path_type=Path), help="A file of groups, one a line."
        ),
        options.takes_arguments(*record.takes),
        options.takes_output(top=True),
        options.takes_run(*_RUN_OF.get(record, ()), "threads", "memory", "progress"),
    )
    subject, _, of = record.summary.partition(" of groups: ")
    told = f"{subject.capitalize()} of groups of vertices of GRAPH: {of}.\n\n{_NUMBERED}"
    command = click.command(record.name.replace("_", "-"), epilog=options.GRAPH_HELP, help=told)
    return command(options.declared(run_command, declarations))


group_bc_command = _group_command(GROUP_BC)
group_closeness_command = _group_command(GROUP_CLOSENESS)
group_degree_command = _group_command(GROUP_DEGREE)
group_harmonic_command = _group_command(GROUP_HARMONIC)


@dataclass(slots=True, eq=False)
class _Groups(Task):
    """The task of scores of groups; `name` is their function in lagbc."""

    name: str
    groups: list[list[Any]]
    given: dict[str, Any]
    scores: Any = field(init=False)

    def compute(self) -> None:
        import lagbc

        self.scores = getattr(lagbc, self.name)(self.source.graph, self.groups, **self.run, **self.given)

    def write(self, path: Path) -> None:
        """Write a line a group: its number, its vertices as a line of CSV, and its score."""
        if path.suffix == ".npy":
            write_array(path, self.scores)
        else:
            self._rows("score", [csv_line(group) for group in self.groups]).write(path)

    def document(self) -> dict[str, Any]:
        _, rows = self._rows(self.name, self.groups).shown(self.output)
        return {"command": self.name, "arguments": arguments_of(self.given), "scores": rows.as_json()}

    def text(self) -> Iterator[str]:
        places, rows = self._rows("score").shown(self.output)
        if shown := [_members(self.groups[place], _OF_GROUP) for place in places]:
            yield f"\n{rows.as_text({'vertices': shown})}"

    def _rows(self, title: str, members: list[Any] | None = None) -> Rows:
        """Return the scores under a title, with numbers of groups from 1 on, and perhaps their members."""
        import numpy as np

        keys = {"group": np.arange(1, len(self.groups) + 1)}
        if members is not None:
            keys["vertices"] = np.fromiter(members, object)
        return Rows(keys, {title: self.scores})


@click.command("girvan-newman", epilog=options.GRAPH_HELP)
@options.takes_graph
@click.option("--until", type=int, help="The number of communities to stop at.  [default: when no edge is left]")
@click.option("--at-once", type=float, help="Remove this share of the edges that are left at a time.")
@click.option(
    "--communities", "k", type=int, help="The number to show.  [default: the number of the highest modularity]"
)
@options.takes_arguments("rtol")
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
        return _Communities(taken, output, steps, run, k, given)

    carry_out(source, run["progress"], prepare)


@dataclass(slots=True, eq=False)
class _Communities(Task):
    """The task of dividing a graph into communities; `k` of them are shown."""

    k: int | None
    given: dict[str, Any]
    found: Communities = field(init=False)  # the division into each number of communities
    labels: Any = field(init=False)  # the community of each vertex in the division that is shown

    def compute(self) -> None:
        import lagbc

        self.found = lagbc.girvan_newman(self.source.graph, **self.given, **self.run)
        self.labels = self.found.labels(self.k)

    def write(self, path: Path) -> None:
        rows_of_vertices({"community": self.labels}, self.source).write(path)

    def document(self) -> dict[str, Any]:
        found = self.found
        levels = Rows({"communities": found.counts, "removed": found.removals}, {"modularity": found.modularity})
        return {
            "command": "girvan_newman",
            "arguments": arguments_of(self.given | {"k": self.k}),
            "levels": levels.as_json(),
            "scores": {"vertex": self.source.vertex_names.tolist(), "community": self.labels.tolist()},
        }

    def text(self) -> Iterator[str]:
        import numpy as np

        sizes = np.bincount(self.labels)
        level = len(sizes) - int(self.found.counts[0])
        yield f"\n{len(sizes):,} communities: modularity {self.found.modularity[level]:.6g}"
        places, rows = Rows({"community": np.arange(len(sizes))}, {"size": sizes}).shown(self.output)
        names = self.source.vertex_names
        if shown := [_members(names[self.labels == place], _OF_COMMUNITY) for place in places]:
            yield rows.as_text({"vertices": shown})

    def drawings(self) -> list[Drawing]:
        from lagbc.plots import plot_communities

        draw = partial(plot_communities, self.found, title=self.source.title)
        return [Drawing("figure", self.output.plot, draw)] if self.output.plot is not None else []


def _members(vertices: Any, width: int) -> str:
    names = ", ".join(map(str, vertices[:width]))
    return names if len(names) <= width else f"{names[: width - 3]}..."
