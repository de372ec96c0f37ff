"""Distances and angles of streets beside cityseer's: ``python -m benchmarks.cityseer --data FOLDER``.

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

Angles are those of the roads of Minnesota, which come with lagbc: `closeness` and betweenness of every road by simplest
paths, without a threshold. Of cityseer, `centrality_simplest` of its dual graph is timed with the expressions ``c``
and ``1``; of lagbc, `closeness` and `bc` of the graph of turns, two vertices a road, as in docs/gallery/plot_angles.py.
Both add 1e-6 degrees a metre, which cityseer breaks ties by. ``--part angles --out FILE`` replaces the section of
angles at the end of a file, and leaves the rest.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
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
HEAD_OF_ANGLES = "| network | roads | threads | cityseer, s | lagbc, s | times |"
SECTION = "## Simplest paths"
# Degrees a metre, and the length of an edge that is none.
PER_METRE, LEAST = 1e-6, 1e-9


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

    seconds, found = timed(ours, theirs, threads, rounds)
    apart = {name: difference(found[ours][name], found[theirs][name]) for name in ("bc", "harmonic")}
    for name, allowed in (("bc", 1e-9), ("harmonic", 1e-5)):
        if apart[name] > allowed:
            raise AssertionError(f"{name} of the two is {apart[name]:.1e} apart, of the highest score")
    reach = lagbc.reach(graph, cutoff=DISTANCES[-1], threads=threads).mean()
    row = f"| {path.name.partition('.')[0]} | {A.shape[0]} | {reach:.0f} | {threads} | {seconds[theirs]:.2f} "
    row += f"| {seconds[ours]:.3f} | {seconds[theirs] / seconds[ours]:.1f} |"
    return row, f"betweenness is {apart['bc']:.1e} apart, harmonic closeness {apart['harmonic']:.1e}"


def timed(ours: Any, theirs: Any, threads: int, rounds: int) -> tuple[dict[Any, float], dict[Any, Any]]:
    """Return the least seconds of each, and what it found."""
    ours()  # compiles
    clock = process_time if threads == 1 else perf_counter
    seconds: dict[Any, float] = {ours: np.inf, theirs: np.inf}
    found: dict[Any, Any] = {}
    for _ in range(rounds):
        for run in seconds:
            begun = clock()
            found[run] = run()
            seconds[run] = min(seconds[run], clock() - begun)
    return seconds, found


def roads() -> tuple[np.ndarray, np.ndarray]:
    """Return places in metres and the ends of roads, without those of no length, which have no angle."""
    graph = lagbc.read_graph("example:minnesota")
    assert graph.coordinates is not None
    xy = np.radians(graph.coordinates.xy) * 6371009 * [np.cos(np.radians(46)), 1]
    entries = graph.matrix.tocoo()
    ends = np.stack([entries.row, entries.col], axis=1)[entries.row < entries.col]
    return xy, ends[(xy[ends[:, 0]] != xy[ends[:, 1]]).any(axis=1)]


def meetings(xy: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ways from which and into which paths turn: way s leads along road s, and way m + s back."""
    ways, m = np.concatenate([ends, ends[:, ::-1]]), len(ends)
    follow = sparse.coo_array((np.ones(2 * m), (range(2 * m), ways[:, 1])), shape=(2 * m, len(xy))) @ sparse.coo_array(
        (np.ones(2 * m), (ways[:, 0], range(2 * m))), shape=(len(xy), 2 * m)
    )
    into, out = follow.nonzero()
    return into[into % m != out % m], out[into % m != out % m]


def turns_of(xy: np.ndarray, ends: np.ndarray) -> sparse.coo_array:
    """Make the graph of turns: ways, then vertices at which the paths of each road begin, and at which they end."""
    ways, m, (into, out) = np.concatenate([ends, ends[:, ::-1]]), len(ends), meetings(xy, ends)
    across = xy[ways[:, 1]] - xy[ways[:, 0]]
    angles, halves = np.degrees(np.arctan2(*across.T[::-1])), np.hypot(*across.T) / 2
    turns = abs((angles[out] - angles[into] + 180) % 360 - 180) + PER_METRE * (halves[into] + halves[out])
    both = np.arange(2 * m)
    tails, heads = np.concatenate([into, 2 * m + both % m, both]), np.concatenate([out, both, 3 * m + both % m])
    return sparse.coo_array((np.append(turns, np.full(4 * m, LEAST)), (tails, heads)), shape=(4 * m, 4 * m))


def dual_of(xy: np.ndarray, ends: np.ndarray) -> Any:
    """Make cityseer's dual graph."""
    from cityseer.rustalgos import graph

    dual, middles, m, ways = graph.NetworkStructure(), xy[ends].mean(axis=1), len(ends), ends.ravel("F")
    dual.set_is_dual(True)
    for s, (x, y) in enumerate(middles.tolist()):
        dual.add_street_node(s, x, y, True, 1.0)
    for number, (into, out) in enumerate(zip(*(part.tolist() for part in meetings(xy, ends)), strict=True)):
        tail, head, junction = into % m, out % m, ways[out]
        line = ", ".join(f"{x!r} {y!r}" for x, y in np.stack([middles[tail], xy[junction], middles[head]]).tolist())
        dual.add_street_edge(
            tail, head, number, tail, head, f"LINESTRING ({line})", shared_primal_node_key=f"{junction}"
        )
    return dual


def measure_angles(threads: int, rounds: int) -> tuple[str, str]:
    """Time both by so many threads; a row of the table, and how far the scores are apart."""
    xy, ends = roads()
    graph, dual, m = lagbc.as_graph(turns_of(xy, ends), directed=True, weighted=True), dual_of(xy, ends), len(ends)
    how: Any = {"sources": np.arange(2 * m, 3 * m), "threads": threads}

    def ours() -> Any:
        near = lagbc.closeness(graph, wf_improved=False, **how)[3 * m :]
        return near, lagbc.bc(graph, targets=np.arange(3 * m, 4 * m), **how)

    def theirs() -> Any:
        return dual.centrality_simplest(
            distances=[10**7],
            closeness_exprs=[("far", "c"), ("count", "1")],
            betweenness_exprs=[("bc", "1")],
            speed_m_s=1.0,
            tolerance=0.0,
            pbar_disabled=True,
        ).metrics

    seconds, found = timed(ours, theirs, threads, rounds)
    (near, between), (far, count, bc) = found[ours], (found[theirs][name][10**7] for name in ("far", "count", "bc"))
    # Of a road itself the distance is next to none; each path counts on its first and last road, and there and back.
    others = count > 0
    apart = float(np.abs((count + 1)[others] / near[others] / far[others] - 1).max())
    if apart > 1e-6:
        raise AssertionError(f"sums of angles of the two are {apart:.1e} apart")
    inner = (between[:m] + between[m : 2 * m] - 1 - 2 * count) / 2
    row = f"| minnesota | {m} | {threads} | {seconds[theirs]:.2f} | {seconds[ours]:.3f} "
    row += f"| {seconds[theirs] / seconds[ours]:.1f} |"
    said = f"sums of angles are {apart:.1e} apart, betweenness {np.abs(inner - bc).max() / bc.max():.1e} of the highest"
    return row, f"{said} (correlation {np.corrcoef(inner, bc)[0, 1]:.6f})"


def difference(ours: np.ndarray, theirs: dict[int, np.ndarray]) -> float:
    """Return the largest difference between scores, as a part of the highest within the same distance."""
    expected = np.column_stack([theirs[distance] for distance in DISTANCES])
    return float((np.abs(ours - expected).max(axis=0) / expected.max(axis=0)).max())


def table(head: str, work: Callable[..., tuple[str, str]], threads: str) -> tuple[list[str], str]:
    """Measure by each number of threads, in a process of its own; the table, and the last sentence."""
    lines, said = [head, f"{'|---' * (head.count('|') - 1)}|"], ""
    for count in map(int, threads.split(",")):
        os.environ["RAYON_NUM_THREADS"] = str(count)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            row, said = process.submit(work, threads=count).result()
        lines.append(row)
        click.echo(row)
    click.echo(said)
    return lines, said


@click.command()
@click.option(
    "--data", type=click.Path(path_type=Path, exists=True), required=True, help="Folder of Matrix Market files."
)
@click.option("--network", default="luxembourg_osm", show_default=True)
@click.option("--part", type=click.Choice(["lengths", "angles"]), help="One of both sections; the other one is left.")
@click.option("--threads", default="1,2", show_default=True, help="Numbers of threads, separated by commas.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), help="A Markdown file for the tables.")
def main(data: Path, network: str, part: str | None, threads: str, rounds: int, out: Path | None) -> None:
    """Print the tables, and write them if asked to."""
    about = f"By `python -m benchmarks.cityseer`; cityseer {version('cityseer')}, {machine.cpu_model()}, "
    about += f"commit {machine.commit()}."
    before = out.read_text().partition(f"\n{SECTION}\n") if out is not None and out.exists() else ("", "", "")
    lengths, angles = before[0], "".join(before[1:])
    if part != "angles":
        work = partial(measure, data / f"{network}.mtx.gz", rounds=rounds)
        lines, said = table(HEAD, work, threads)
        heading = "Betweenness and harmonic closeness within 400, 800 and 1600 m, from all vertices; the reach is the "
        heading += "mean number of vertices within 1600 m."
        rest = f"Of the highest score within the same distance, {said}."
        lengths = "\n".join(["# Beside cityseer", "", about, "", heading, "", *lines, "", rest, ""])
    if part != "lengths":
        lines, said = table(HEAD_OF_ANGLES, partial(measure_angles, rounds=rounds), threads)
        heading = "Closeness and betweenness by the least angles, of all roads from all."
        angles = "\n".join(["", SECTION, "", about, "", heading, "", *lines, "", f"Of the two, {said}.", ""])
    if out is not None:
        out.write_text(lengths + angles)


if __name__ == "__main__":
    main()
