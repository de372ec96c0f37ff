"""Cutoffs beside igraph's: ``python -m benchmarks.cutoff --data FOLDER``.

Networks are taken as undirected, with random integer lengths from 20 to 200 (seed 1), from all roots, on a graph that
is read and ordered. Cutoffs are those within which 50, 500 and 5000 vertices lie in the mean, of a sample of 200. Of
`lagbc.bc` by one thread the processor's time counts, as igraph's does, best of interleaved rounds; by two threads the
clock on the wall. Three cutoffs from one search are held against the largest alone, and so are closeness and reach
beside betweenness. Scores have to agree with igraph's. The exponent is that of time against reach, fitted by least
squares to logarithms.

igraph takes a cutoff from all roots only, and a large one then takes minutes. With ``--part N`` the network is the N
vertices nearest to a random one, with the roads among them; cutoffs are those that reach so many there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

import lagbc
from benchmarks import machine
from benchmarks.graphs import read_streets
from lagbc.graph.graph import Graph
from lagbc.types import CentralityName

if TYPE_CHECKING:
    import igraph

REACHES, SAMPLE = (50, 500, 5000), 200
NETWORKS = "luxembourg_osm,road-usa-NY"
HEAD = "| network | cutoff | reach | igraph, s | lagbc, s | times | 2 threads, s | times |"
SEVERAL: tuple[CentralityName, ...] = ("bc", "closeness", "reach")


def cutoffs_that_reach(A: sparse.csr_array, reaches: tuple[int, ...]) -> list[float]:
    """Tell within which distances so many vertices lie, in the mean of a sample; each more than the one before."""
    roots, limit, cutoffs = np.random.default_rng(1).choice(A.shape[0], SAMPLE, replace=False), 100.0, list[float]()
    dist = np.empty(0)
    for reach in reaches:
        while len(dist) <= reach * SAMPLE + SAMPLE:
            limit *= 1.5
            found = dijkstra(A, indices=roots, limit=limit)
            dist = np.sort(found[np.isfinite(found)])
        cutoffs.append(float(np.floor(dist[reach * SAMPLE + SAMPLE])))
    return cutoffs


def neighbourhood(A: sparse.csr_array, size: int) -> sparse.csr_array:
    """Return the graph among the vertices nearest to a random one."""
    dist = dijkstra(A, indices=int(np.random.default_rng(1).integers(A.shape[0])))
    nearest = np.sort(np.argsort(dist, kind="stable")[:size])
    return sparse.csr_array(A[nearest][:, nearest])


def igraph_of(A: sparse.csr_array) -> tuple[igraph.Graph, list[float]]:
    """Make igraph's graph, and the lengths of its edges."""
    import igraph

    upper = sparse.triu(A).tocoo()
    return igraph.Graph(n=A.shape[0], edges=np.column_stack([upper.row, upper.col])), upper.data.tolist()


def best(clock: Callable[[], float], rounds: int, *runs: Callable[[], Any]) -> list[tuple[float, Any]]:
    """Time runs, round after round; the best seconds of each, and what it returned."""
    seconds, found = [np.inf] * len(runs), [None] * len(runs)
    for _ in range(rounds):
        for number, run in enumerate(runs):
            begun = clock()
            found[number] = run()
            seconds[number] = min(seconds[number], clock() - begun)
    return list(zip(seconds, found, strict=True))


def measure(name: str, A: sparse.csr_array, reaches: tuple[int, ...], rounds: int) -> list[str]:
    """Time one network; return the rows of the table, and a line on what more columns and sums cost."""
    graph, (peer, weights) = lagbc.as_graph(A, directed=False, weighted=True), igraph_of(A)
    lagbc.centralities(graph, SEVERAL, cutoff=[1, 2], threads=2)
    rows, cutoffs, seconds = list[str](), cutoffs_that_reach(A, reaches), list[float]()
    for reach, cutoff in zip(reaches, cutoffs, strict=True):

        def theirs(cutoff: float = cutoff) -> Any:
            return peer.betweenness(cutoff=cutoff, weights=weights)

        def ours(threads: int = 1, cutoff: float = cutoff) -> Any:
            return lagbc.bc(graph, cutoff=cutoff, threads=threads)

        (igraph_seconds, expected), (one, found) = best(process_time, rounds, theirs, ours)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-6)
        (waited, _), (two, _) = best(perf_counter, rounds, theirs, lambda: ours(threads=2))
        seconds.append(one)
        rows.append(
            f"| {name} | {cutoff:.0f} | {reach} | {igraph_seconds:.2f} | {one:.3f} | {igraph_seconds / one:.1f} "
            f"| {two:.3f} | {waited / two:.1f} |"
        )
        click.echo(rows[-1])
    rows.append(f"{measure_several(name, graph, cutoffs, rounds)}{exponent(reaches, seconds)}")
    click.echo(rows[-1])
    return rows


def measure_several(name: str, graph: Graph, cutoffs: list[float], rounds: int) -> str:
    """Say what more columns, and more sums, cost beside the largest cutoff alone."""
    (largest, _), (several, _), (more, _) = best(
        process_time,
        rounds,
        lambda: lagbc.bc(graph, cutoff=cutoffs[-1], threads=1),
        lambda: lagbc.bc(graph, cutoff=cutoffs, threads=1),
        lambda: lagbc.centralities(graph, SEVERAL, cutoff=cutoffs[-1], threads=1),
    )
    return (
        f"{name}: {len(cutoffs)} cutoffs take {several / largest:.2f} times the largest, "
        f"closeness and reach beside it {more / largest:.2f} times"
    )


def exponent(reaches: tuple[int, ...], seconds: list[float]) -> str:
    """Fit the power of the reach that the time grows with."""
    return f"; exponent {np.polyfit(np.log(reaches), np.log(seconds), 1)[0]:.2f}" if len(reaches) > 1 else ""


@click.command()
@click.option(
    "--data", type=click.Path(path_type=Path, exists=True), required=True, help="Folder of Matrix Market files."
)
@click.option("--networks", default=NETWORKS, show_default=True, help="Names, separated by commas.")
@click.option("--reaches", default=",".join(map(str, REACHES)), show_default=True, help="Mean numbers of vertices.")
@click.option("--part", type=click.IntRange(1), help="So many vertices of a network.  [default: all]")
@click.option("--rounds", default=2, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="A Markdown file for the table.")
def main(
    data: Path,
    networks: str,
    reaches: str,
    part: int | None,
    rounds: int,
    out: Path | None,
) -> None:
    """Print the table, and write it if asked to."""
    lines = [HEAD, "|---|---|---|---|---|---|---|---|"]
    for name in networks.split(","):
        A = read_streets(data / f"{name}.mtx.gz")
        if part is not None:
            name, A = f"{name}, {part} vertices", neighbourhood(A, part)
        lines += measure(name, A, tuple(map(int, reaches.split(","))), rounds)
    if out is not None:
        asked = "" if part is None else f" --part {part}"
        about = f"{machine.cpu_model()}, commit {machine.commit()}"
        table = [line for line in lines if line.startswith("|")]
        rest = [line for line in lines if not line.startswith("|")]
        by = f"By `python -m benchmarks.cutoff{asked}`; {about}."
        out.write_text("\n".join(["# Cutoffs", "", by, "", *table, "", *rest, ""]))


if __name__ == "__main__":
    main()
