"""The CPU's traversal beside its batches and igraph, in hops: ``python -m benchmarks.cpu_traversal --data FOLDER``.

One thread, 256 random roots (seed 1) of the vertices with out-edges, on a graph that is read and ordered; processor
time, best of interleaved rounds. Scores have to agree.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, cast

import click
import numpy as np

import lagbc
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph

RESULTS = Path(__file__).parent / "results" / "cpu_traversal.md"
METHODS = ("batched", "work-efficient")
# Seconds from which on igraph has a sample of the roots, and no further round is begun.
LONG = 4.0


def random_roots(graph: Graph, count: int) -> Any:
    """Draw roots from the vertices that edges leave."""
    there = np.flatnonzero(graph.out_degrees)
    return np.random.default_rng(1).choice(there, min(count, len(there)), replace=False)


def igraph_of(graph: Graph) -> Any:
    """Make igraph's graph; an undirected edge is there once."""
    import igraph

    edges = np.column_stack([graph.rows, graph.indices])
    if not graph.directed:
        edges = edges[edges[:, 0] < edges[:, 1]]
    return igraph.Graph(n=graph.n, edges=edges, directed=graph.directed)


def best(calls: dict[str, Callable[[], Any]], rounds: int) -> dict[str, float]:
    """Time calls in turn, and take the shortest of each; less often where they are long."""
    times = dict.fromkeys(calls, np.inf)
    for turn in range(rounds):
        if turn and sum(times.values()) * turn > LONG:
            break
        for name, call in calls.items():
            begun = process_time()
            call()
            times[name] = min(times[name], process_time() - begun)
    return times


def measure(graph: Graph, count: int, rounds: int) -> dict[str, float]:
    """Milliseconds a root of igraph, from every 16th root where all take long, and of the methods."""
    roots, peer = random_roots(graph, count), igraph_of(graph)
    sample = roots[::16]
    begun = process_time()
    peer.betweenness(sources=sample.tolist())
    if 16 * (process_time() - begun) < LONG:
        sample = roots
    calls: dict[str, Callable[[], Any]] = {"igraph": partial(peer.betweenness, sources=sample.tolist())}
    for method in METHODS:
        score = partial(lagbc.bc, graph, method=cast(Any, method), device="cpu", threads=1, memory="8GB", reduce="none")
        np.testing.assert_allclose(score(sources=sample), calls["igraph"](), rtol=1e-9, atol=1e-9, err_msg=method)
        calls[method] = partial(score, sources=roots)
    times = best(calls, rounds)
    return {name: times[name] / len(sample if name == "igraph" else roots) * 1e3 for name in times}


@click.command()
@click.option("--data", type=click.Path(path_type=Path, exists=True), required=True, help="Folder of NAME.mtx[.gz].")
@click.option("--networks", default="", help="Names, separated by commas; all that have enough vertices.")
@click.option("--least", default=1000, help="Vertices of a network.")
@click.option("--roots", default=256)
@click.option("--rounds", default=7)
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS)
def main(data: Path, networks: str, least: int, roots: int, rounds: int, out: Path) -> None:
    """Write a table: how many times as fast as igraph each method is."""
    lines = []
    ratios = []
    for path in sorted(data.glob("*.mtx*")):
        name = path.name.removesuffix(".gz").removesuffix(".mtx")
        if networks and name not in networks.split(","):
            continue
        read = lagbc.read_graph(path)
        graph = as_graph(read)
        if graph.n < least:
            continue
        times = measure(graph, roots, rounds)
        gains = [times["igraph"] / times[method] for method in METHODS]
        ratios.append(gains)
        shape = f"{graph.n:,} | {graph.nnz:,} | {'high' if graph.has_high_diameter else 'low'}"
        lines.append(
            f"| {name} | {shape} | {times['igraph']:.4g} | " + " | ".join(f"{gain:.2f}" for gain in gains) + " |"
        )
        click.echo(lines[-1])
    means = np.exp(np.log(ratios).mean(axis=0))
    better = np.exp(np.log(ratios).max(axis=1).mean())
    click.echo(f"geometric means: {means}, better of both {better:.2f}")
    head = (
        "| network | vertices | entries | diameter | igraph, ms a root | "
        + " | ".join(f"`{m}`" for m in METHODS)
        + " |"
    )
    out.write_text("\n".join([head, "|" + "---|" * 7, *lines]) + "\n")


if __name__ == "__main__":
    main()
