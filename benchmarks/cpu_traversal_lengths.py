"""Dijkstra's search on the CPU beside batches and igraph: ``python -m benchmarks.cpu_traversal_lengths --data FOLDER``.

One thread, 256 random roots (seed 1) of the vertices with out-edges, igraph from every fourth, on a graph that is read
and ordered; processor time, best of interleaved rounds. Lengths are random integers 1 to 10 and numbers from 0.1 to 1,
the same both ways. `dijkstra` is timed with its own choice of a queue and with the heap. Scores have to agree.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any
from unittest import mock

import click
import igraph
import numpy as np
from numpy.typing import NDArray

import lagbc
from benchmarks import machine
from benchmarks.generators import symmetric_lengths
from lagbc import tuning
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph

Scores = Callable[[NDArray[np.int64]], NDArray[np.float64]]  # of some roots

HEAD = "| network | vertices | entries | igraph, ms a root | `batched` | `dijkstra` | with the heap | better of both |"
SAMPLE, LONG = 4, 20.0  # one root in so many is igraph's; seconds of a round behind which there is no other
LENGTHS = {"integers 1 to 10": (1.0, 10.0, True), "numbers 0.1 to 1": (0.1, 1.0, False)}


def random_roots(graph: Graph, count: int) -> NDArray[np.int64]:
    """Draw roots from the vertices that edges leave."""
    there = np.flatnonzero(graph.out_degrees)
    return np.sort(np.random.default_rng(1).choice(there, min(count, len(there)), replace=False))


def scores_of_igraph(graph: Graph) -> Scores:
    """Make igraph's graph, in which an undirected edge is there once, and return its betweenness by roots."""
    assert graph.weights is not None
    kept = np.ones(graph.nnz, bool) if graph.directed else graph.rows < graph.indices
    edges = np.column_stack([graph.rows, graph.indices])[kept]
    peer, weights = igraph.Graph(n=graph.n, edges=edges, directed=graph.directed), graph.weights[kept].tolist()
    return lambda roots: np.array(peer.betweenness(sources=roots.tolist(), weights=weights))


def scores_of_lagbc(graph: Graph, method: str, heap: bool, roots: NDArray[np.int64]) -> NDArray[np.float64]:
    """Betweenness on one thread."""
    options: dict[str, Any] = {"directed": graph.directed, "weighted": True, "device": "cpu", "threads": 1}
    with mock.patch.object(tuning, "TRAVERSAL_BUCKETS", -1 if heap else tuning.TRAVERSAL_BUCKETS):
        scores: NDArray[np.float64] = lagbc.bc(
            graph, sources=roots, method=method, memory="8GB", reduce="none", **options
        )
        return scores


def milliseconds(graph: Graph, count: int, rounds: int) -> dict[str, float]:
    """Time a root of igraph and of the methods."""
    roots, theirs = random_roots(graph, count), scores_of_igraph(graph)
    ours: dict[str, Scores] = {
        "batched": partial(scores_of_lagbc, graph, "batched", False),
        "dijkstra": partial(scores_of_lagbc, graph, "dijkstra", False),
        "heap": partial(scores_of_lagbc, graph, "dijkstra", True),
    }
    few = roots[::SAMPLE]
    expected = theirs(few)
    for name, scores in ours.items():
        np.testing.assert_allclose(scores(few), expected, rtol=1e-7, atol=1e-7, err_msg=name)
    times = dict.fromkeys(("igraph", *ours), np.inf)
    for _ in range(rounds):
        round_began = process_time()
        for name, scores in (("igraph", theirs), *ours.items()):
            sources = few if name == "igraph" else roots
            begun = process_time()
            scores(sources)
            times[name] = min(times[name], (process_time() - begun) / len(sources) * 1e3)
        if process_time() - round_began > LONG:
            break
    return times


def rows(data: Path, names: str, least: int, count: int, rounds: int, kind: str) -> list[str]:
    """Write a row a network: how many times as fast as igraph each method is; and the means."""
    lines, ratios = [HEAD, "|" + "---|" * 8], []
    for path in sorted(data.glob("*.mtx*")):
        name = path.name.split(".mtx")[0]
        if names and name not in names.split(","):
            continue
        read = lagbc.read_graph(path)
        pattern = as_graph(read.matrix, directed=read.directed)
        if pattern.n < least:
            continue
        low, high, integer = LENGTHS[kind]
        weights = symmetric_lengths(pattern.indptr, pattern.indices, low, high, integer, 1)
        graph = Graph(pattern.indptr, pattern.indices, pattern.directed, weights)
        times = milliseconds(graph, count, rounds)
        gains = [times["igraph"] / times[way] for way in ("batched", "dijkstra", "heap")]
        ratios.append([*gains, max(gains[:2])])
        cells = [name, f"{graph.n:,}", f"{graph.nnz:,}", f"{times['igraph']:.3g}", *(f"{x:.2f}" for x in ratios[-1])]
        lines.append(f"| {' | '.join(cells)} |")
        click.echo(lines[-1])
    for title, cells in ("geometric mean", np.exp(np.log(ratios).mean(axis=0))), ("least", np.min(ratios, axis=0)):
        lines.append(f"| {title} | | | | {' | '.join(f'{x:.2f}' for x in cells)} |")
        click.echo(lines[-1])
    return lines


@click.command()
@click.option("--data", type=click.Path(path_type=Path, exists=True), required=True, help="Folder of NAME.mtx[.gz].")
@click.option("--networks", default="", help="Names, separated by commas; all that have enough vertices.")
@click.option("--least", default=1000, show_default=True, help="Vertices of a network.")
@click.option("--roots", default=256, show_default=True)
@click.option("--rounds", default=3, show_default=True)
@click.option("--kinds", default="integers 1 to 10,numbers 0.1 to 1", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default="lengths.md", show_default=True)
def main(data: Path, networks: str, least: int, roots: int, rounds: int, kinds: str, out: Path) -> None:
    """Write a table for each kind of lengths."""
    host = machine.describe()
    lines = [f"{host['cpu']}, one thread; commit {host['commit']}. Times as fast as igraph {igraph.__version__}."]
    for kind in kinds.split(","):
        lines += ["", f"Lengths: {kind}.", "", *rows(data, networks, least, roots, rounds, kind)]
    out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
