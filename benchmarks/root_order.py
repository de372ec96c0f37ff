"""Measure what the order of the roots is worth on the CPU: ``python -m benchmarks.root_order --help``.

`batched` on one thread, with roots in the order of the vertices and grouped by their distances to the hubs, in rounds
that follow each other. The time to group them is part of the second.
"""

from __future__ import annotations

import time
from pathlib import Path
from unittest import mock

import click
import numpy as np
from scipy.sparse import csr_array

from benchmarks import machine
from benchmarks.generators import symmetric_lengths
from benchmarks.graphs import NamedGraph, is_symmetric, table
from benchmarks.planned import sum_by
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.methods.table import METHODS

GRAPHS = "rmat-12-16,rmat-14-16,barabasi-albert-10000-10"
RESULTS = Path(__file__).parent / "results" / "root_order.md"
SEED, NEVER = 1, 2**63


def seconds(graph: Graph, roots: np.ndarray, grouped_roots: int) -> float:
    """Time a run on one thread that groups its roots if there are so many."""
    row = next(row for row in METHODS if (row.name, row.device, row.weighted) == ("batched", "cpu", graph.weighted))
    with mock.patch("lagbc.tuning.GROUPED_ROOTS", grouped_roots):
        begun = time.perf_counter()
        sum_by(row, graph, roots, row.load().batching.block)
        return time.perf_counter() - begun


def measure(named: NamedGraph, count: int, rounds: int, *, weighted: bool) -> list[object]:
    """Time both orders in turn; the best round of each counts."""
    A = named.load()
    if weighted:
        A = csr_array((symmetric_lengths(A.indptr, A.indices, 1, 10, True), A.indices, A.indptr), shape=A.shape)
    graph = as_graph(A, directed=not is_symmetric(A), weighted=weighted)
    roots = np.flatnonzero(graph.out_degrees > 0)
    roots = np.sort(np.random.default_rng(SEED).permutation(roots)[:count])
    _ = graph.reordered.transpose
    seconds(graph, roots[:64], NEVER)
    pairs = np.array([[seconds(graph, roots, least) for least in (NEVER, 1)] for _ in range(rounds)])
    ungrouped, grouped = pairs.min(axis=0)
    lengths = "1 to 10" if weighted else "hops"
    gain = np.median(pairs[:, 0] / pairs[:, 1])
    return [named.name, graph.n, graph.nnz, lengths, len(roots), f"{ungrouped:.3g}", f"{grouped:.3g}", f"{gain:.2f}"]


@click.command()
@click.option("--graphs", default=GRAPHS, show_default=True, help="Comma-separated.")
@click.option("--data", type=click.Path(path_type=Path), help="Directory of Matrix Market files.")
@click.option("--roots", default=4096, show_default=True, help="At most so many, drawn at random.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True)
def main(graphs: str, data: Path | None, roots: int, rounds: int, out: Path) -> None:
    """Write a table."""
    known, host = table(data), machine.describe()
    lines = [
        f"{host['cpu']}, one thread; commit {host['commit']}. Seconds, the best of {rounds} rounds; gain: their median "
        "ratio.",
        "",
        "| graph | n | nnz | lengths | roots | order of the vertices | grouped | gain |",
        "|" + "---|" * 8,
    ]
    for name in graphs.split(","):
        for weighted in (False, True):
            cells = measure(known[name], roots, rounds, weighted=weighted)
            lines.append(f"| {' | '.join(map(str, cells))} |")
            click.echo(lines[-1])
    out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
