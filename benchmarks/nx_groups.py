"""Groups and percolation beside NetworkX: ``python -m benchmarks.nx_groups --data FOLDER``.

The graph is the largest component of a network, undirected. Both programs are called through NetworkX, lagbc with
``backend="lagbc"`` from the NetworkX graph on, conversion included. The processor's time counts, of all threads, as
NetworkX runs on one. Scores have to agree.

NetworkX searches from all nodes first, whatever the groups, and then takes the same time for each group; it is given a
few of the groups, and the rest is not counted at all: what is shown is the least that it takes. On a second graph, a
small one, both are given all groups.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import click
import networkx as nx
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import lagbc
from benchmarks import machine
from benchmarks.generators import barabasi_albert
from benchmarks.graphs import table

RESULTS = Path(__file__).parent / "results" / "nx_groups.md"
SEED = 1
HEAD = "| graph | nodes | edges | what | NetworkX, s | lagbc, s | times | lagbc, s waited |"


def largest_component(A: csr_array) -> csr_array:
    """Keep the component with the most vertices."""
    _, component = connected_components(A)
    kept = np.flatnonzero(component == np.bincount(component).argmax())
    return csr_array(A[kept][:, kept])


def timed(call: Callable[[], Any], rounds: int = 1) -> tuple[float, float, Any]:
    """Processor's seconds and seconds waited, the least of each, and what a call gives."""
    seconds, waited, result = np.inf, np.inf, None
    for _ in range(rounds):
        begun, since = process_time(), perf_counter()
        result = call()
        seconds, waited = min(seconds, process_time() - begun), min(waited, perf_counter() - since)
    return seconds, waited, result


def measure(name: str, A: csr_array, groups: list[list[int]], their_groups: int, rounds: int) -> list[str]:
    """Time both functions on one graph; return rows of the table."""
    G = nx.from_scipy_sparse_array(A)
    states = dict(enumerate(np.random.default_rng(SEED).random(len(G)).tolist()))
    rows = []

    def row(what: str, theirs: float, ours: float, waited: float) -> None:
        size = f"{len(G):,} | {G.number_of_edges():,}"
        rows.append(f"| {name} | {size} | {what} | {theirs:.1f} | {ours:.2f} | {theirs / ours:.0f} | {waited:.2f} |")
        click.echo(rows[-1])

    def percolation(backend: str) -> dict[int, float]:
        G.__networkx_cache__.clear()
        scores: dict[int, float] = nx.percolation_centrality(G, states=states, backend=backend)
        return scores

    def of_groups(backend: str, some: list[list[int]]) -> list[float]:
        G.__networkx_cache__.clear()
        scores: list[float] = nx.group_betweenness_centrality(G, some, backend=backend)
        return scores

    ours, waited, found = timed(lambda: percolation("lagbc"), rounds)
    theirs, _, expected = timed(lambda: percolation("networkx"))
    np.testing.assert_allclose(list(found.values()), list(expected.values()), rtol=1e-9, atol=1e-12)
    row("percolation", theirs, ours, waited)

    ours, waited, scores = timed(lambda: of_groups("lagbc", groups), rounds)
    theirs, _, some = timed(lambda: of_groups("networkx", groups[:their_groups]))
    np.testing.assert_allclose(scores[:their_groups], some, rtol=1e-9, atol=1e-12)
    given = "" if their_groups >= len(groups) else f"; NetworkX {their_groups} of them"
    row(f"{len(groups)} groups of {len(groups[0])}{given}", theirs, ours, waited)
    return rows


@click.command()
@click.option(
    "--data", type=click.Path(path_type=Path, exists=True), required=True, help="Folder of Matrix Market files."
)
@click.option("--network", default="ca-GrQc", show_default=True)
@click.option("--small", default=500, show_default=True, help="Vertices of the graph on which both have all groups.")
@click.option("--groups", "count", default=100, show_default=True)
@click.option(
    "--their-groups", default=20, show_default=True, help="How many of them NetworkX is given on the network."
)
@click.option("--rounds", default=3, show_default=True, help="Calls of lagbc.")
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True)
def main(data: Path, network: str, small: int, count: int, their_groups: int, rounds: int, out: Path) -> None:
    """Write a table."""
    nx.config.warnings_to_ignore.add("cache")
    lagbc.group_bc(np.ones((3, 3)), [[0]])
    lagbc.percolation(np.ones((3, 3)), np.ones(3))
    rows = []
    for name, A, theirs in (
        (f"Barabasi-Albert n={small} m=5", csr_array(barabasi_albert(small, 5, SEED)), count),
        (f"{network}, largest component", largest_component(table(data)[network].load()), their_groups),
    ):
        rng = np.random.default_rng(SEED)
        groups = [rng.choice(A.shape[0], 2, replace=False).tolist() for _ in range(count)]
        rows += measure(name, A, groups, theirs, rounds)
    about = f"{machine.cpu_model()}, NetworkX {nx.__version__}, commit {machine.commit()}"
    notes = [
        "Seconds of the processor, of all threads; lagbc: conversion included, the best of "
        f"{rounds} calls. Where NetworkX is given some of the groups, the others",
        "are not counted: it takes at least this long. `waited` is lagbc by the clock on the wall.",
    ]
    lines = ["# Groups and percolation beside NetworkX", "", f"By `python -m benchmarks.nx_groups`; {about}.", ""]
    out.write_text("\n".join([*lines, *notes, "", HEAD, "|---|---|---|---|---|---|---|---|", *rows, ""]))


if __name__ == "__main__":
    main()
