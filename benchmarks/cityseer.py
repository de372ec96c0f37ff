"""Distances of streets beside cityseer's: ``python -m benchmarks.cityseer --data FOLDER``.

A street network, taken as undirected, with random integer lengths from 20 to 200 metres (seed 1): betweenness and
harmonic closeness of every vertex within 400, 800 and 1600 m, from one search. cityseer (``pip install cityseer``)
gets the same graph, as its "primal" one: junctions are nodes, and an edge is a line of that length, there and back.
The file has no coordinates, so that all nodes are put at one place; cityseer's searches read lengths alone. Of
cityseer, `centrality_shortest` with the expressions ``1/c`` and ``1`` is timed, at one metre a second so that
thresholds are the metres themselves, and no tolerance; of lagbc, `centralities` with ``cutoff=``. Neither graph's
making counts. Both take the same number of threads: rayon's pool, which cityseer computes in, is set once a process,
so that each number has a process of its own. Rounds are interleaved; the best of each counts: of one thread the
processor's time, of more the clock on the wall. Scores have to agree: betweenness but for rounding, closeness to the
float32 in which cityseer keeps distances.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import click
import numpy as np
from scipy import sparse

import lagbc
from benchmarks import machine
from benchmarks.graphs import read_streets

DISTANCES = [400, 800, 1600]
HEAD = "| network | vertices | reach | threads | cityseer, s | lagbc, s | times |"


def streets_of(A: sparse.csr_array) -> Any:
    """Make cityseer's graph."""
    from cityseer.rustalgos import graph

    streets = graph.NetworkStructure()
    for v in range(A.shape[0]):
        streets.add_street_node(v, 0.0, 0.0, True, 1.0)
    entries = A.tocoo()
    for number, (u, v, length) in enumerate(
        zip(*(part.tolist() for part in (*entries.coords, entries.data)), strict=True)
    ):
        streets.add_street_edge(u, v, number, u, v, f"LINESTRING (0 0, {length / 2} 0, 0 0)")
    return streets


def measure(path: Path, threads: int, rounds: int) -> tuple[str, str]:
    """Time both by so many threads; a row of the table, and how far the scores are apart."""
    A = read_streets(path)
    graph, streets = lagbc.as_graph(A, directed=False, weighted=True), streets_of(A)

    def ours() -> Any:
        return lagbc.centralities(graph, ("bc", "harmonic"), cutoff=DISTANCES, threads=threads)

    def theirs() -> Any:
        return streets.centrality_shortest(
            distances=DISTANCES,
            closeness_exprs=[("harmonic", "1/c")],
            betweenness_exprs=[("bc", "1")],
            speed_m_s=1.0,
            tolerance=0.0,
            pbar_disabled=True,
        ).metrics

    ours()  # compiles
    clock = process_time if threads == 1 else perf_counter
    seconds: dict[Any, float] = {ours: np.inf, theirs: np.inf}
    found: dict[Any, Any] = {}
    for _ in range(rounds):
        for run in seconds:
            begun = clock()
            found[run] = run()
            seconds[run] = min(seconds[run], clock() - begun)
    apart = {name: difference(found[ours][name], found[theirs][name]) for name in ("bc", "harmonic")}
    for name, allowed in (("bc", 1e-9), ("harmonic", 1e-5)):
        if apart[name] > allowed:
            raise AssertionError(f"{name} of the two is {apart[name]:.1e} apart, of the highest score")
    reach = lagbc.reach(graph, cutoff=DISTANCES[-1], threads=threads).mean()
    row = f"| {path.name.partition('.')[0]} | {A.shape[0]} | {reach:.0f} | {threads} | {seconds[theirs]:.2f} "
    row += f"| {seconds[ours]:.3f} | {seconds[theirs] / seconds[ours]:.1f} |"
    return row, f"betweenness is {apart['bc']:.1e} apart, harmonic closeness {apart['harmonic']:.1e}"


def difference(ours: np.ndarray, theirs: dict[int, np.ndarray]) -> float:
    """Return the largest difference between scores, as a part of the highest within the same distance."""
    expected = np.column_stack([theirs[distance] for distance in DISTANCES])
    return float((np.abs(ours - expected).max(axis=0) / expected.max(axis=0)).max())


@click.command()
@click.option(
    "--data", type=click.Path(path_type=Path, exists=True), required=True, help="Folder of Matrix Market files."
)
@click.option("--network", default="luxembourg_osm", show_default=True)
@click.option("--threads", default="1,2", show_default=True, help="Numbers of threads, separated by commas.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="A Markdown file for the table.")
def main(data: Path, network: str, threads: str, rounds: int, out: Path | None) -> None:
    """Print the table, and write it if asked to."""
    lines, said = [HEAD, "|---|---|---|---|---|---|---|"], ""
    for count in map(int, threads.split(",")):
        os.environ["RAYON_NUM_THREADS"] = str(count)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            row, said = process.submit(measure, data / f"{network}.mtx.gz", count, rounds).result()
        lines.append(row)
        click.echo(row)
    click.echo(said)
    if out is not None:
        about = f"cityseer {version('cityseer')}, {machine.cpu_model()}, commit {machine.commit()}"
        heading = (
            "Betweenness and harmonic closeness within 400, 800 and 1600 m, from all vertices; the reach is the mean "
        )
        heading += "number of vertices within 1600 m."
        rest = f"Of the highest score within the same distance, {said}."
        text = [
            "# Beside cityseer",
            "",
            f"By `python -m benchmarks.cityseer`; {about}.",
            "",
            heading,
            "",
            *lines,
            "",
            rest,
        ]
        out.write_text("\n".join([*text, ""]))


if __name__ == "__main__":
    main()
