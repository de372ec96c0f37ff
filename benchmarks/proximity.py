"""The order by proximity by the GPU beside that by the host: ``python -m benchmarks.proximity --data FOLDER``.

`lagbc.bc` of a SciPy matrix on a GPU reads a graph there, and orders it there. The host would fetch the graph, and make
the same order on all cores. Whole calls are timed with the order by the GPU, the best of some rounds, and both orders
alone, in turn; a call with the order by the host is the first, less its order, plus the host's.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy.sparse import csr_array

import lagbc
from benchmarks import machine
from benchmarks.graphs import table
from benchmarks.reduce_auto import best
from lagbc.graph import host

OUT = machine.ROOT / "benchmarks" / "results" / "proximity.md"
GRAPHS, ROOTS = "delaunay-19,road-like-20,road-usa-NY", (256, 4096)


def order_by_gpu(graph: Any) -> Any:
    """Order a graph on the GPU, and fetch the order."""
    from lagbc.graph.device import ops

    return ops.proximity_order(graph.indptr, graph.indices, graph.components).get()


def order_by_host(graph: Any) -> Any:
    """Fetch a graph, and order it on the host."""
    return host.proximity_order(graph.indptr.get(), graph.indices.get(), graph.components.get())


def rows_of(name: str, A: csr_array, rounds: int) -> list[str]:
    """Time both orders of a graph, and calls from some roots."""
    graph = lagbc.as_graph(A, directed=False, weighted=False).on_device
    np.testing.assert_array_equal(order_by_gpu(graph), order_by_host(graph))
    by_gpu, by_host = best(rounds, partial(order_by_gpu, graph), partial(order_by_host, graph))
    rows = []
    for roots in (count for count in ROOTS if count < A.shape[0]):
        call = partial(lagbc.bc, A, directed=False, weighted=False, k=roots, rng=1, device="cuda")
        call()
        (whole,) = best(rounds, call)
        times = f"{whole:.3f} | {whole - by_gpu + by_host:.3f} | {1 + (by_host - by_gpu) / whole:.2f}"
        rows.append(f"| {name} | {A.shape[0]:,} | {by_gpu:.3f} | {by_host:.3f} | {roots:,} | {times} |")
        click.echo(rows[-1])
    return rows


@click.command(help=__doc__)
@click.option("--graphs", default=GRAPHS, show_default=True, help="Comma-separated.")
@click.option("--data", type=click.Path(path_type=Path), help="Directory of Matrix Market files.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=OUT, show_default=True)
def main(graphs: str, data: Path | None, rounds: int, out: Path) -> None:
    """Write a table."""
    from lagbc.methods.table import gpus_in_words

    known, here = table(data), machine.describe()
    lines = [
        "# The order by proximity, by the GPU and by the host",
        "",
        f"{gpus_in_words()}, {here['cpu']}, {here['cores']} cores; commit {here['commit']}. Seconds of the "
        "order of a graph on the GPU, and of a whole call of `lagbc.bc` in hops, from a SciPy matrix.",
        "",
        "| graph | vertices | order by the GPU | by the host | roots | call | with the host's order | ratio |",
        "|" + " --- |" * 8,
    ]
    for name in graphs.split(","):
        lines += rows_of(name, known[name].load(), rounds)
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
