"""Measure the split into blocks, and what small blocks take by themselves: ``python -m benchmarks.blocks --help``.

The first table sets the split against the check of the matrix, `as_graph`. The second sets one block, searched from
each root as small blocks are, against a call of `batched`. Times are those of the processor, which other work on the
machine disturbs less than the clock; one thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import click
import numpy as np
from scipy.sparse import coo_array, csr_array

import lagbc
from benchmarks import machine
from benchmarks.graphs import NamedGraph, is_symmetric, table
from lagbc import tuning
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.reduce.blocks import split
from lagbc.reduce.weighted import Weighted

GRAPHS = "ca-GrQc,power,minnesota"
RESULTS = Path(__file__).parent / "results" / "blocks.md"
SIZES, DEGREES = (60, 200, 400, 600, 1000), (2.5, 6.0, 30.0)
NEVER = 2**62


def milliseconds(work: Callable[[], object], rounds: int) -> float:
    """Time the best of some rounds, after one that compiles."""
    work()
    taken = []
    for _ in range(rounds):
        begun = time.process_time()
        work()
        taken.append(1000 * (time.process_time() - begun))
    return min(taken)


def piece_of(graph: Graph) -> Weighted:
    """Take every vertex as a source and as a target."""
    ones = np.ones(graph.n)
    return Weighted(graph, ones, ones)


def split_line(named: NamedGraph, rounds: int) -> list[object]:
    """Time the check and the split of a graph."""
    A = named.load()
    directed = not is_symmetric(A)

    def check_and_split() -> object:
        return split(piece_of(as_graph(A, directed=directed)))

    graph = as_graph(A, directed=directed)
    check = milliseconds(lambda: as_graph(A, directed=directed), rounds)
    both = milliseconds(check_and_split, rounds)
    found = split(piece_of(graph))
    largest = max((part.graph.n for part in found.large), default=0)
    return [
        named.name,
        graph.n,
        graph.nnz,
        len(found.small.rows.ptr) - 1,
        len(found.small.numbers),
        largest,
        check,
        both - check,
    ]


def necklace(vertices: int, degree: float, seed: int) -> csr_array:
    """Make a random block: a cycle with random chords, of lengths 1 to 9."""
    rng = np.random.default_rng(seed)
    chords = rng.integers(vertices, size=(2, int(vertices * (degree - 2) / 2)))
    ring = np.arange(vertices)
    i, j = np.append(chords[0], ring), np.append(chords[1], (ring + 1) % vertices)
    return coo_array((rng.integers(1, 10, len(i)).astype(float), (i, j)), shape=(vertices, vertices)).tocsr()


def sum_small(piece: Weighted) -> None:
    """Split a piece, and sum its small blocks."""
    small = split(piece).small
    scores = np.zeros(len(small.rows.sources))
    for number in range(len(small.ends)):
        small.add(number, scores, None)


def block_line(vertices: int, degree: float, rounds: int, *, weighted: bool) -> list[object]:
    """Time one block as a small one, and as a graph of its own."""
    A = necklace(vertices, degree, seed=1)
    piece = piece_of(as_graph(A, directed=False, weighted=weighted))
    with mock.patch.multiple(tuning, SMALL_VERTICES=NEVER, SMALL_WORK=NEVER):
        small = milliseconds(lambda: sum_small(piece), rounds)

    def call() -> object:
        return lagbc.bc(A, directed=False, weighted=weighted, method="batched", device="cpu", threads=1, reduce="none")

    method = milliseconds(call, rounds)
    work = f"{piece.graph.n * piece.graph.nnz:.1e}"
    return ["1 to 9" if weighted else "hops", vertices, degree, work, small, method, f"{method / small:.2f}"]


@click.command()
@click.option("--graphs", default=GRAPHS, show_default=True, help="Comma-separated.")
@click.option("--data", type=click.Path(path_type=Path), help="Directory of Matrix Market files.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True)
def main(graphs: str, data: Path | None, rounds: int, out: Path) -> None:
    """Write two tables."""
    known, host = table(data), machine.describe()
    lines = [
        f"{host['cpu']}, one thread; commit {host['commit']}. Milliseconds of the processor, best of {rounds} rounds.",
        "",
        "| graph | n | nnz | blocks | small, swept | vertices of the largest left | as_graph | split |",
        "|" + "---|" * 8,
    ]
    lines += [row(split_line(known[name], rounds)) for name in graphs.split(",")]
    lines += ["", "| lengths | vertices | degree | roots x edges | small block | `batched` | ratio |", "|" + "---|" * 7]
    lines += [
        row(block_line(vertices, degree, rounds, weighted=weighted))
        for weighted in (False, True)
        for vertices in SIZES
        for degree in DEGREES
    ]
    click.echo("\n".join(lines))
    out.write_text("\n".join(lines) + "\n")


def row(cells: list[object]) -> str:
    """Format a line of a table."""
    return f"| {' | '.join(f'{cell:.3g}' if isinstance(cell, float) else str(cell) for cell in cells)} |"


if __name__ == "__main__":
    main()
