"""The ten highest closeness and harmonic scores beside NetworKit's: ``python -m benchmarks.top_closeness FILE...``.

Of NetworKit (``pip install networkit``), `TopCloseness` and `TopHarmonicCloseness` are timed as they are by default,
and without their optional bounds, which is faster on most networks; of lagbc, `closeness` and `harmonic` with
``top=10``. All take hops, and one thread: processor time in a process each, in turns, the least of the rounds. Neither
graph's making counts, nor the loading of modules: each is called with a small graph before. NetworKit's distances lead
out of a vertex: of a directed graph it gets the transpose. The vertices have to be the same, but for ties; those of a
process that ends at the limit are not known.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from math import inf
from multiprocessing import get_context
from pathlib import Path
from time import process_time
from typing import Any

import click
import numpy as np

import lagbc
from benchmarks import machine

TOP, SCORES = 10, ("closeness", "harmonic")
HEAD = "| network | vertices | edges | score | NetworKit, s | without bounds, s | lagbc, s | times | same |"
Found = tuple[float, list[int]]


def by_lagbc(file: Path, score: str) -> Found:
    """Time lagbc."""
    graph = lagbc.read_graph(file)
    plain = lagbc.as_graph(graph.matrix, directed=graph.directed, weighted=False)
    compute = getattr(lagbc, score)
    compute(np.ones((3, 3)), top=1)
    begun = process_time()
    found = compute(plain, top=TOP, threads=1)
    return process_time() - begun, found.vertices.tolist()


def by_networkit(file: Path, score: str, bounds: bool) -> Found:
    """Time NetworKit, with all bounds as by default, or without."""
    import networkit as nk

    nk.setNumberOfThreads(1)
    graph = lagbc.read_graph(file)
    entries = graph.matrix.T.tocoo()
    once = np.flatnonzero(graph.directed | (entries.row <= entries.col))
    pairs = entries.row[once], entries.col[once]
    G = nk.GraphFromCoo((np.ones(len(once)), pairs), n=graph.matrix.shape[0], directed=graph.directed)
    algorithm = nk.centrality.TopHarmonicCloseness if score == "harmonic" else nk.centrality.TopCloseness
    how = (bounds,) if score == "harmonic" else (bounds, bounds)
    algorithm(nk.GraphFromCoo((np.ones(2), (np.array([0, 1]), np.array([1, 2]))), n=3), 1, *how).run()
    begun = process_time()
    run = algorithm(G, TOP, *how)
    run.run()
    return process_time() - begun, run.topkNodesList()


def within(limit: int, call: Callable[..., Found], *given: Any) -> Found:
    """Call in a process of its own that takes so many seconds at most."""
    how: dict[str, Any] = {"initializer": resource.setrlimit, "initargs": (resource.RLIMIT_CPU, (limit, limit))}
    try:
        with ProcessPoolExecutor(1, get_context("spawn"), **how) as pool:
            return pool.submit(call, *given).result()
    except BrokenProcessPool:
        return inf, []


def row_of(file: Path, score: str, rounds: int, limit: int) -> str:
    """Measure a network, and lay out its row."""
    networkit: list[Callable[..., Found]] = [partial(by_networkit, bounds=bounds) for bounds in (True, False)]
    calls = [*networkit, by_lagbc]
    best: list[Found] = [(inf, [])] * len(calls)
    for _ in range(rounds):
        best = [min(one, within(limit, call, file, score)) for one, call in zip(best, calls, strict=True)]
    graph = lagbc.read_graph(file)
    same = " ".join("-" if not found else "yes" if {*found} == {*best[2][1]} else "no" for _, found in best[:2])
    seconds = [f"over {limit}" if taken == inf else f"{taken:.2f}" for taken, _ in best]
    faster = min(best[0][0], best[1][0])
    times = f"over {limit / best[2][0]:.1f}" if faster == inf else f"{faster / best[2][0]:.1f}"
    edges = graph.matrix.nnz // (1 if graph.directed else 2)
    name = file.name.removesuffix(".mtx.gz")
    cells = name, f"{graph.matrix.shape[0]:,}", f"{edges:,}", score, *seconds, times, same
    return f"| {' | '.join(cells)} |"


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option("--score", "scores", multiple=True, type=click.Choice(SCORES), default=SCORES, show_default=True)
@click.option("--rounds", default=2, show_default=True)
@click.option("--limit", default=60, show_default=True, help="Seconds of the processor that a call may take.")
@click.option("--out", default=machine.ROOT / "benchmarks/results/top_closeness.md", type=click.Path(path_type=Path))
def main(files: tuple[Path, ...], scores: tuple[str, ...], rounds: int, limit: int, out: Path) -> None:
    """Measure networks, and write the page."""
    about = f"{machine.cpu_model()}, one thread; NetworKit {machine.package_version('networkit')}"
    lines = ["# The ten highest", "", f"{about}; commit {machine.commit()}. By `python -m benchmarks.top_closeness`:"]
    lines.append("processor time, the least of the rounds. The column of times is of the faster of NetworKit's two.")
    lines += ["", HEAD, "|---" * 9 + "|"]
    for file in files:
        for score in scores:
            lines.append(row_of(file, score, rounds, limit))
            click.echo(lines[-1])
            out.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
