"""Time what comes before a run on the CPU, beside SciPy's transpose: ``python -m benchmarks.preparation --help``.

The yardstick is ``A.T.tocsr()``, which moves every entry once, in one thread. `as_graph` reads the SciPy matrix, with
directed=False; `order` is the depth, the components and the order of the vertices; `reordered`, the graph in that order
and its transpose; `hubs`, all vertices grouped by their distances to the hubs, as roots of graphs of few levels are.
Rounds follow each other, and the best of each counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np
from scipy.sparse import csr_array

from benchmarks import machine
from benchmarks.generators import symmetric_lengths
from benchmarks.graphs import table
from lagbc.graph.csr import ops_of
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph

GRAPHS = "power,rmat-14-16,delaunay-19,road-like-20,rmat-20-16"
RESULTS = Path(__file__).parent / "results" / "preparation.md"
STAGES = ("A.T.tocsr()", "as_graph", "the same, not copied", "order", "reordered", "hubs")


def stages(A: csr_array, *, weighted: bool) -> dict[str, float]:
    """Seconds of each stage, once."""
    seconds = {}

    def timed(name: str, work: Callable[[], Graph | object]) -> None:
        begun = time.perf_counter()
        work()
        seconds[name] = time.perf_counter() - begun

    timed(STAGES[0], lambda: A.T.tocsr())
    timed(STAGES[1], lambda: as_graph(A, directed=False, weighted=weighted))
    timed(STAGES[2], lambda: as_graph(A, directed=False, weighted=weighted, copy=False))
    graph = as_graph(A, directed=False, weighted=weighted, copy=False)
    timed(STAGES[3], lambda: graph.order)
    timed(STAGES[4], lambda: graph.reordered.transpose)
    if not graph.has_high_diameter:
        ordered = graph.reordered
        timed(STAGES[5], lambda: ops_of(ordered.indptr).hub_order(ordered.hub_distances, np.arange(graph.n)))
    return seconds


def measure(name: str, A: csr_array, rounds: int, *, weighted: bool) -> list[object]:
    """Row of the table: seconds, of `as_graph` with its ratio to the yardstick."""
    if weighted:
        A = csr_array((symmetric_lengths(A.indptr, A.indices, 1, 10, True), A.indices, A.indptr), shape=A.shape)
    done = [stages(A, weighted=weighted) for _ in range(rounds + 1)][1:]  # the first compiles
    best = {stage: min(one[stage] for one in done) for stage in done[0]}
    cells = [f"{best[stage]:.2g}" if stage in best else "-" for stage in STAGES]
    for place in (1, 2):
        cells[place] += f" ({best[STAGES[place]] / best[STAGES[0]]:.2f})"
    return [name, A.shape[0], A.nnz, "1 to 10" if weighted else "hops", *cells]


@click.command()
@click.option("--graphs", default=GRAPHS, show_default=True, help="Comma-separated.")
@click.option("--data", type=click.Path(path_type=Path), help="Directory of Matrix Market files.")
@click.option("--rounds", default=5, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True)
def main(graphs: str, data: Path | None, rounds: int, out: Path) -> None:
    """Write a table."""
    known, host = table(data), machine.describe()
    heads = ("graph", "n", "nnz", "lengths", *STAGES)
    lines = [
        f"{host['cpu']}, {host['cores']} cores; commit {host['commit']}. Seconds, the best of {rounds} rounds; in "
        "brackets, over `A.T.tocsr()`.",
        "",
        f"| {' | '.join(heads)} |",
        "|" + "---|" * len(heads),
    ]
    for name in graphs.split(","):
        A = known[name].load()
        for weighted in (False, True):
            lines.append(f"| {' | '.join(map(str, measure(name, A, rounds, weighted=weighted)))} |")
            click.echo(lines[-1])
    out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
