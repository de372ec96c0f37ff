"""Runs in parts: `--part 2/4` of a command writes one, `lagbc merge` makes scores of all."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lagbc.interfaces.cli import options
from lagbc.interfaces.cli.graphs import introduce, open_source
from lagbc.interfaces.cli.outputs import (
    check_outputs,
    columns_of,
    require_numbers,
    write_edges,
    write_scores,
    write_table,
)
from lagbc.interfaces.cli.text import counted, size
from lagbc.interfaces.cli.tops import top_edges, top_vertices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lagbc.graph.graph import Graph


def write_part(
    which: Sequence[str],
    source: options.GraphOptions,
    sample: options.SampleOptions,
    given: dict[str, Any],
    output: options.OutputOptions,
    run: options.RunOptions,
) -> None:
    """Compute the part of a command that `--part` names, and write it."""
    import lagbc

    part, path = output.part, _path_of_part(output)
    taken = open_source(source)
    graph: Any = taken.graph
    introduce(taken, graph, which, sample, run, given)
    how: dict[str, Any] = {"directed": taken.directed, "weighted": taken.weighted, **sample.arguments, **given}
    start = time.perf_counter()
    try:
        written = lagbc.save_part(path, part, graph, which, **how, **asdict(run))  # type: ignore[arg-type]
    except KeyboardInterrupt as interrupt:
        raise type(interrupt)(f"{path} was not written; more parts lose less when one is stopped") from None
    number, of = part  # type: ignore[misc]
    click.echo(f"time: {time.perf_counter() - start:.3g} s")
    roots = f"{written.roots:,} of {counted(written.of, 'root')}"
    click.echo(f"part {number} of {of}: {roots}: {path} ({size(path.stat().st_size)})")


def _path_of_part(output: options.OutputOptions) -> Path:
    """Find out before the computation where a part is written."""
    if output.out is None or output.out.suffix != ".npz":
        raise ValueError("--part writes sums to a file for lagbc merge: name it with --out, such as --out part1.npz")
    if output.plot is not None:
        raise ValueError("--plot draws scores, and a part has none; leave it out")
    if not output.out.parent.is_dir():
        raise FileNotFoundError(f"{output.out}: there is no directory {str(output.out.parent)!r}")
    return output.out


@click.command("merge")
@click.argument("parts", nargs=-1, required=True, type=click.Path(path_type=Path))
@options.top_option
@click.option("--out", type=click.Path(path_type=Path), help="Write all scores: a .npy array or a .csv table.")
def merge_command(parts: tuple[Path, ...], top: int, out: Path | None) -> None:
    """Scores of all PARTS that --part of a command has written, to the bit those of one run."""
    from lagbc.centrality.parts import merge_files
    from lagbc.centrality.registry import find

    check_outputs(out, None)
    start = time.perf_counter()
    graph, scores = merge_files(parts)
    labels: Any = graph.names
    click.echo(f"{counted(len(parts), 'part')}: {', '.join(scores)} of {_counted(graph)}")
    of_edges = [find(name).of_edges for name in scores]
    if any(of_edges) and len(scores) > 1:
        raise ValueError("scores of edges and others are in these parts; lagbc.merge_parts returns both")
    if any(of_edges):
        require_numbers(out, labels)
        (matrix,) = scores.values()
        if out is not None:
            write_edges(out, matrix, labels)
        shown = top_edges(matrix, graph, labels, top)
    else:
        names = scores if len(scores) > 1 else {"score": next(iter(scores.values()))}
        columns = {title: column for name, array in names.items() for title, column in columns_of(name, array).items()}
        if out is not None and len(scores) > 1:
            write_table(out, columns, labels)
        elif out is not None:
            write_scores(out, next(iter(scores.values())), labels)
        shown = top_vertices(columns, None, graph, labels, top)
    if top:
        click.echo(f"\n{shown}\n")
    click.echo(f"time: {time.perf_counter() - start:.3g} s")
    if out is not None:
        click.echo(f"scores: {out}")


def _counted(graph: Graph) -> str:
    edges = counted(graph.nnz, "directed edge") if graph.directed else counted(graph.nnz // 2, "undirected edge")
    return f"{counted(graph.n, 'vertex', 'vertices')}, {edges}"
