"""Measure what a call on a small graph takes: ``python -m benchmarks.small --help``.

The networks are those that lagbc ships, as SciPy CSR matrices; igraph and NetworkX have them as graphs of their own,
made beforehand. Some calls of each follow each other, round after round.

Then come calls on thousands of random graphs, each once, in hops and with lengths in turn: what resident memory grows
by after the first tenth of them is what they leave behind. ``--leaks`` measures that alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import networkx as nx
import numpy as np
from scipy.sparse import csr_array

import lagbc
from benchmarks import machine
from benchmarks.generators import erdos_renyi, with_hashed_lengths
from lagbc.comparison.measure import resident

RESULTS = Path(__file__).parent / "results" / "small.md"
Call = Callable[[], Any]
IN_A_ROW = 20
# Random graphs of about karate's size.
GRAPHS, LEAST, MOST, DEGREE = 10_000, 20, 60, 5.0
_OF_LEAKS = "Memory after"


def calls(A: csr_array) -> dict[str, dict[str, Call | None]]:
    """Return what is timed: for each task the call of each program, None where it has none."""
    import igraph

    n = A.shape[0]
    G = nx.from_scipy_sparse_array(A)
    edges, lengths = zip(*(((u, v), w) for u, v, w in G.edges(data="weight")), strict=True)
    g = igraph.Graph(n, list(edges))
    hop_graph, length_graph = (lagbc.as_graph(A, directed=False, weighted=weighted) for weighted in (False, True))

    def several_nx() -> None:
        nx.betweenness_centrality(G, normalized=False)
        nx.closeness_centrality(G)
        nx.harmonic_centrality(G)
        nx.eccentricity(G)

    def several_igraph() -> None:
        g.betweenness()
        g.closeness()
        g.harmonic_centrality()
        g.eccentricity()

    def several(A: Any, weighted: bool) -> Call:
        return lambda: lagbc.centralities(A, directed=False, weighted=weighted)

    return {
        "hops": {
            "lagbc": lambda: lagbc.bc(A, directed=False),
            "lagbc, of a Graph": lambda: lagbc.bc(hop_graph),
            "NetworkX": lambda: nx.betweenness_centrality(G, normalized=False),
            "igraph": lambda: g.betweenness(),
        },
        "lengths": {
            "lagbc": lambda: lagbc.bc(A, directed=False, weighted=True),
            "lagbc, of a Graph": lambda: lagbc.bc(length_graph),
            "NetworkX": lambda: nx.betweenness_centrality(G, normalized=False, weight="weight"),
            "igraph": lambda: g.betweenness(weights=lengths),
        },
        "several": {
            "lagbc": several(A, weighted=False),
            "lagbc, of a Graph": several(hop_graph, weighted=False),
            "NetworkX": several_nx,
            "igraph": several_igraph,
        },
        "several, lengths": {
            "lagbc": several(A, weighted=True),
            "lagbc, of a Graph": several(length_graph, weighted=True),
            "NetworkX": None,
            "igraph": None,
        },
    }


def require_agreement(A: csr_array) -> None:
    """Require that lagbc gives the scores of NetworkX, in hops and with lengths."""
    G = nx.from_scipy_sparse_array(A)
    for weight in (None, "weight"):
        theirs = nx.betweenness_centrality(G, normalized=False, weight=weight)
        np.testing.assert_allclose(
            lagbc.bc(A, directed=False, weighted=weight is not None), list(theirs.values()), rtol=1e-9, atol=1e-9
        )


def microseconds(programs: dict[str, Call | None], rounds: int) -> dict[str, float | None]:
    """Time `IN_A_ROW` calls of each program, as in a loop over graphs, in turn; the best round of each counts."""
    best: dict[str, float | None] = dict.fromkeys(programs)
    for _ in range(rounds):
        for name, call in programs.items():
            if call is not None:
                median = 1e6 * median_seconds(call)
                best[name] = min(median, best[name] or median)
    return best


def median_seconds(call: Call) -> float:
    """Return the median of some calls."""
    seconds = np.empty(IN_A_ROW)
    for i in range(IN_A_ROW):
        begun = time.perf_counter()
        call()
        seconds[i] = time.perf_counter() - begun
    return float(np.median(seconds))


def leaks(graphs: int = GRAPHS) -> str:
    """Say how resident memory grows over calls on random graphs."""
    first = 0
    for seed in range(graphs):
        if seed == graphs // 10:
            first = resident("VmRSS") or 0
        A = erdos_renyi(LEAST + seed % (MOST - LEAST), DEGREE, seed=seed)
        A = with_hashed_lengths(A, seed) if seed % 2 else A
        lagbc.bc(A, directed=False, weighted=bool(seed % 2), device="cpu")
    last = resident("VmRSS") or 0
    return (
        f"{_OF_LEAKS} calls on {graphs:,} random graphs of {LEAST} to {MOST - 1} vertices, in hops and with lengths in "
        f"turn: {last / 2**20:.0f} MiB resident, {(last - first) / 2**20:+.1f} MiB since the first {graphs // 10:,}. "
        f"Commit {machine.commit()}."
    )


@click.command()
@click.option("--graphs", default="karate,lesmis", show_default=True, help="Shipped networks, comma-separated.")
@click.option("--rounds", default=30, show_default=True)
@click.option("--leaks", "only_leaks", is_flag=True, help="Leave the table as it is; measure what calls leave behind.")
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True)
def main(graphs: str, rounds: int, only_leaks: bool, out: Path) -> None:
    """Write a table, and what calls leave behind."""
    found = leaks()
    click.echo(found)
    if only_leaks:
        kept = [line for line in out.read_text().splitlines() if not line.startswith(_OF_LEAKS)]
        out.write_text("\n".join(kept).rstrip() + f"\n\n{found}\n")
        return
    host = machine.describe()
    lines = [
        f"{host['cpu']}, {host['cores']} cores; Python {host['python']}; commit {host['commit']}. Microseconds a call "
        f"after the first: the median of {IN_A_ROW} in a row, the best of {rounds} rounds. Several: betweenness, "
        "closeness, harmonic and eccentricity, by lagbc stress, too, from one sweep; NetworkX and igraph, whose graphs "
        "are made beforehand, are called for each.",
        "",
        "| network | n | entries | task | lagbc | lagbc, of a Graph | NetworkX | igraph |",
        "|" + "---|" * 8,
    ]
    for name in graphs.split(","):
        A = csr_array(lagbc.read_graph(lagbc.example_path(name)).matrix.astype(np.float64))
        require_agreement(A)
        for task, programs in calls(A).items():
            cells = ("-" if time is None else f"{time:.0f}" for time in microseconds(programs, rounds).values())
            lines.append(f"| {name} | {A.shape[0]} | {A.nnz} | {task} | {' | '.join(cells)} |")
            click.echo(lines[-1])
    out.write_text("\n".join([*lines, "", found]) + "\n")


if __name__ == "__main__":
    main()
