"""Communities by Girvan and Newman beside igraph and NetworkX: ``python -m benchmarks.communities --data FOLDER``.

The processor's time counts, of all threads, of one run each, as the other programs run on one thread. Small networks
are divided until no edge is left; the largest one until it has some more communities than components. igraph searches
the whole graph after each removal, and cannot stop before the last; NetworkX does the same. Where that would take
hours, one search of the whole graph by each is timed, and multiplied by lagbc's removals: such figures are in
parentheses, and too high where all edges are removed. Ties are broken in other ways, so that partitions differ; the
highest modularity tells them apart.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import click
import igraph
import networkx as nx
import numpy as np

import lagbc
from benchmarks import machine

RESULTS = Path(__file__).parent / "results" / "communities.md"
HEAD = "| graph | vertices | edges | removed | lagbc, s | igraph, s | NetworkX, s | lagbc, 5 % at once, s |"
QUALITY = "| graph | lagbc | igraph | NetworkX | lagbc, 5 % at once |"


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Processor's seconds, and what a call gives."""
    begun = process_time()
    result = call()
    return process_time() - begun, result


def best_of_networkx(G: Any) -> tuple[int, float]:
    """Return the number of communities and the modularity of the best level."""
    levels = list(nx.community.girvan_newman(G, backend="networkx"))
    numbers = [nx.community.modularity(G, level) for level in levels]
    return len(levels[int(np.argmax(numbers))]), max(numbers)


def measure(name: str, data: Path, more: int | None, slow: float) -> tuple[str, str]:
    """Time all programs on one network; return its rows of both tables."""
    graph = lagbc.as_graph(lagbc.read_graph(data / f"{name}.mtx.gz"), directed=False)
    edges = np.stack([graph.rows, graph.indices], axis=1)
    edges = edges[edges[:, 0] < edges[:, 1]].tolist()
    G, I = nx.empty_graph(graph.n), igraph.Graph(graph.n, edges)  # noqa: E741
    G.add_edges_from(edges)
    until = None if more is None else len(set(graph.components.tolist())) + more
    ours, found = timed(lambda: lagbc.girvan_newman(graph, until=until))
    shared, at_once = timed(lambda: lagbc.girvan_newman(graph, at_once=0.05))
    theirs, quality = [], [f"{found.best}: {found.modularity.max():.4f}"]

    def beside(search: Callable[[], Any], divide: Callable[[], tuple[int, float]]) -> None:
        one, _ = timed(search)
        if more is None and one * len(found.removed) < slow:
            seconds, (count, modularity) = timed(divide)
            theirs.append(f"{seconds:.2f}")
            quality.append(f"{count}: {modularity:.4f}")
        else:
            theirs.append(f"({one * len(found.removed):,.0f})")
            quality.append("-")

    def by_igraph() -> tuple[int, float]:
        best = I.community_edge_betweenness(directed=False).as_clustering()
        return len(best), best.modularity

    beside(I.edge_betweenness, by_igraph)
    beside(lambda: nx.edge_betweenness_centrality(G, backend="networkx"), lambda: best_of_networkx(G))
    size = f"{graph.n:,} | {len(edges):,} | {len(found.removed):,}"
    quality.append(f"{at_once.best}: {at_once.modularity.max():.4f}")
    return (
        f"| {name} | {size} | {ours:.2f} | {' | '.join(theirs)} | {shared:.2f} |",
        f"| {name} | {' | '.join(quality)} |",
    )


@click.command()
@click.option("--data", type=click.Path(path_type=Path, exists=True), required=True, help="Folder of the networks.")
@click.option("--networks", default="dolphins,football,netscience,ca-GrQc", show_default=True)
@click.option("--part", default="ca-GrQc", show_default=True, help="The network that is divided in part.")
@click.option("--more", default=5, show_default=True, help="Communities beyond its components.")
@click.option("--slow", default=60.0, show_default=True, help="Seconds predicted from which on others are not run.")
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True)
def main(data: Path, networks: str, part: str, more: int, slow: float, out: Path) -> None:
    """Write both tables."""
    lagbc.girvan_newman(np.ones((3, 3)))
    rows = []
    for name in networks.split(","):
        rows.append(measure(name, data, more if name == part else None, slow))
        click.echo("\n".join(rows[-1]))
    versions = f"igraph {igraph.__version__}, NetworkX {nx.__version__}"
    lines = [
        "# Communities beside igraph and NetworkX",
        "",
        f"By `python -m benchmarks.communities`; {machine.cpu_model()}, {versions}, commit {machine.commit()}.",
        "",
        "Seconds of the processor, of all threads, one run each. In parentheses: one search of the whole graph times",
        "the removals, of a program that was not run; where all edges are removed that is too much, as later searches",
        f"take less. {part} is divided until it has {more} communities more than components, but for the last column.",
        "With 5 % of the edges at once it is another method.",
        "",
        HEAD,
        "|---|---|---|---|---|---|---|---|",
        *(times for times, _ in rows),
        "",
        "The number of communities of the highest modularity, and that:",
        "",
        QUALITY,
        "|---|---|---|---|---|",
        *(best for _, best in rows),
        "",
    ]
    out.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
