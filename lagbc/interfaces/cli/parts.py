"""Runs in parts: `--part 2/4` of a command writes one, `lagbc merge` makes scores of all."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lagbc.errors import InvalidValueError
from lagbc.files import require_writable
from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.graphs import Source, choose, degrees_of, introduction
from lagbc.interfaces.cli.outputs import (
    check_outputs,
    columns_of,
    matrices_of,
    require_numbers,
    say_written,
    titles_of,
    write_edges,
    write_scores,
    write_table,
)
from lagbc.interfaces.cli.rows import rows_of_edges, rows_of_vertices
from lagbc.interfaces.cli.text import counted, size

if TYPE_CHECKING:
    from collections.abc import Sequence


def check_part(output: options.OutputOptions, plot_map: Path | None = None) -> None:
    """Find out before the computation that a part cannot be written, or that something is asked for that it has not."""
    if output.out is None or output.out.suffix != ".npz":
        raise InvalidValueError(
            "--part writes sums to a file for lagbc merge: name it with --out, such as --out part1.npz"
        )
    for option, given in (("--plot", output.plot), ("--plot-map", plot_map), ("--json", output.as_json)):
        if given:
            raise InvalidValueError(f"{option} shows scores, and a part has none; leave it out")
    require_writable(output.out)


def write_part(
    which: Sequence[str],
    taken: Source,
    sample: options.SampleOptions,
    given: dict[str, Any],
    output: options.OutputOptions,
    run: dict[str, Any],
) -> None:
    """Compute the part of a command that `--part` names, and write it."""
    import lagbc

    path: Any = output.out
    part: Any = output.part
    graph: Any = taken.graph
    click.echo(introduction(taken, choose(taken, which, given, sample, run), sample, given))
    how: dict[str, Any] = {"directed": taken.directed, "weighted": taken.weighted, **sample.arguments, **given}
    start = time.perf_counter()
    try:
        written = lagbc.save_part(path, part, graph, which, **how, **run)  # type: ignore[arg-type]
    except KeyboardInterrupt as interrupt:
        raise type(interrupt)(f"{path} was not written; of more parts, less is lost") from None
    click.echo(f"time: {time.perf_counter() - start:.3g} s")
    roots = f"{written.roots:,} of {counted(written.of, 'root')}"
    click.echo(f"part {part[0]} of {part[1]}: {roots}: {path} ({size(path.stat().st_size)})")


@click.command("merge")
@click.argument("parts", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--top", type=click.IntRange(0), help="How many of the highest to print.  [default: 10]")
@click.option("--out", type=click.Path(path_type=Path), help="Write all scores: a .npy array or a .csv table.")
def merge_command(parts: tuple[Path, ...], top: int | None, out: Path | None) -> None:
    """Scores of all PARTS that --part of a command has written, to the bit those of one run."""
    import numpy as np

    from lagbc.centrality.parts import merge_files
    from lagbc.centrality.registry import find
    from lagbc.graph.plain import Rows
    from lagbc.io.graph_file import GraphFile

    check_outputs(out, None)
    start = time.perf_counter()
    graph, scores, arguments = merge_files(parts)
    given: dict[str, Any] = {"cutoff": arguments.cutoff, "decay": arguments.decay}
    bounds = {name: None if one is None else np.asarray(one).tolist() for name, one in given.items()}
    host = graph.on_host
    rows = Rows(host.indptr, host.indices, np.ones(host.nnz) if host.weights is None else host.weights)
    file = GraphFile(rows, graph.directed, "parts", graph.names)
    taken = Source(file, graph.directed, graph.weighted, None, "parts")
    click.echo(f"{counted(len(parts), 'part')}: {', '.join(scores)} of {counted(graph.n, 'vertex', 'vertices')}")
    output = options.OutputOptions(top, out, None, as_json=False)
    values, *others = scores.values()
    titles = {
        name: titles_of(name, find(name).takes, bounds, f"{name}, ")
        if others
        else titles_of("score", find(name).takes, bounds)
        for name in scores
    }
    (first, *_) = titles.values()
    if any(find(name).of_edges for name in scores):
        if others:
            raise InvalidValueError("scores of edges and others are in these parts; lagbc.merge_parts returns both")
        require_numbers(out, file.labels)
        if out is not None:
            write_edges(out, values, first, file.labels)
        shown = rows_of_edges(matrices_of(first, values), taken, output).as_text({})
    else:
        columns = {
            title: column for name, array in scores.items() for title, column in columns_of(titles[name], array).items()
        }
        if out is not None and others:
            write_table(out, columns, file.labels)
        elif out is not None:
            write_scores(out, values, first, file.labels)
        shown = rows_of_vertices(columns, taken, output).as_text({} if others else dict(degrees_of(graph)))
    if output.shown(graph.n):
        click.echo(f"\n{shown}\n")
    click.echo(f"time: {time.perf_counter() - start:.3g} s")
    say_written("scores", out)
