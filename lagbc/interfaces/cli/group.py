"""`lagbc group-bc`: betweenness of groups of vertices."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lagbc import phases
from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.arguments import takes_arguments
from lagbc.interfaces.cli.document import arguments_of, show_document
from lagbc.interfaces.cli.graphs import form, headline, open_source, weight_lines
from lagbc.interfaces.cli.outputs import check_outputs, say_written, write_groups
from lagbc.interfaces.cli.steps import shown_steps
from lagbc.interfaces.cli.text import table, timing

if TYPE_CHECKING:
    import numpy as np

    from lagbc.io.tables import Vertices

# Characters of a group that a table shows.
_WIDTH = 40


@click.command("group-bc", epilog=options.GRAPH_HELP)
@options.takes_graph
@click.option("--group", "texts", metavar="V[,V...]", multiple=True, help="A group of vertices; once for each group.")
@click.option("--groups", "file", metavar="FILE", type=click.Path(path_type=Path), help="A file of groups, one a line.")
@takes_arguments("normalized", "endpoints", "rtol")
@click.option("--top", type=click.IntRange(0), help="How many of the highest to print.  [default: 10; with --json all]")
@click.option("--out", type=click.Path(path_type=Path), help="Write all scores: a .npy array or a .csv table.")
@options.json_option
@options.takes("threads", "memory", "progress")
def group_command(
    source: options.GraphOptions,
    texts: tuple[str, ...],
    file: Path | None,
    top: int | None,
    out: Path | None,
    as_json: bool,
    threads: int | None,
    memory: str | None,
    progress: bool,
    **given: Any,
) -> None:
    """Betweenness of groups of vertices of GRAPH: the share of shortest paths that meet one.

    Groups are numbered from 1 on: those of --group, then those of --groups.
    """
    import lagbc

    if not texts and file is None:
        raise click.UsageError("name groups by --group or --groups.")
    check_outputs(out, None)
    output = options.OutputOptions(top, out, None, as_json)
    with shown_steps(progress) as steps:
        taken = open_source(source, steps)
        with steps.step("reading the groups"):
            groups = _groups(texts, file, taken.vertices)
        start = time.perf_counter()
        with phases.record(watch=steps.phase) as recorder:
            graph = taken.graph
            if not as_json:
                said = [form(taken)] if taken.file.said else []
                click.echo("\n".join([headline(taken), *said, *weight_lines(taken)]))
            scores = lagbc.group_bc(graph, groups, threads=threads, memory=memory, progress=progress, **given)
        seconds = time.perf_counter() - start
    if out is not None:
        write_groups(out, groups, scores)
    places = _places(scores, output)
    if as_json:
        show_document(
            "group_bc",
            taken,
            arguments=arguments_of(given),
            scores={
                "group": [place + 1 for place in places],
                "vertices": [groups[place] for place in places],
                "group_bc": [float(scores[place]) for place in places],
            },
            seconds={"total": seconds, **recorder.seconds},
        )
        return
    if places:
        click.echo(f"\n{_table(groups, scores, places)}")
    click.echo(timing(seconds, recorder.seconds))
    say_written("scores", out)


def _groups(texts: tuple[str, ...], file: Path | None, vertices: Vertices) -> list[list[Any]]:
    from lagbc.io.tables import read_groups, vertices_in

    return [vertices_in(text, vertices) for text in texts] + ([] if file is None else read_groups(file, vertices))


def _places(scores: np.ndarray, output: options.OutputOptions) -> list[int]:
    import numpy as np

    if output.as_json and output.top is None:
        return list(range(len(scores)))
    places: list[int] = np.argsort(-scores, kind="stable")[: output.shown(len(scores))].tolist()
    return places


def _table(groups: list[list[Any]], scores: np.ndarray, places: list[int]) -> str:
    rows: list[tuple[str, ...]] = [("rank", "group", "score", "vertices")]
    for rank, place in enumerate(places, 1):
        members = ", ".join(map(str, groups[place]))
        shown = members if len(members) <= _WIDTH else members[: _WIDTH - 3] + "..."
        rows.append((str(rank), str(place + 1), f"{scores[place]:.8g}", shown))
    return table(rows, right=True)
