"""What others count where edges have length 0: ``python -m benchmarks.zero_lengths``.

Betweenness of random graphs of 8 vertices with lengths 0 to 3, by NetworkX: beside the numbers of simple shortest
paths, each listed, and with the vertices and edges in other orders. It takes a minute.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import permutations
from random import Random

import click
import networkx as nx

from benchmarks import machine

OUT = machine.ROOT / "benchmarks" / "results" / "zero_lengths.md"
HEAD = "| edges | graphs | other numbers than of simple shortest paths | other scores in another order |"
N, ORDERS = 8, 5

Scores = dict[int, float]


def random_graph(kind: type[nx.Graph], rng: Random) -> nx.Graph:
    """Make a graph, of which 1 in 6 lengths is 0."""
    G = nx.gnm_random_graph(N, rng.choice([9, 10, 12]), rng, directed=kind is nx.DiGraph)
    nx.set_edge_attributes(G, {edge: rng.choice([0, 1, 1, 2, 2, 3]) for edge in G.edges}, "weight")
    return G


def listed(G: nx.Graph) -> Scores:
    """Betweenness by a list of all simple paths of each pair."""
    scores = dict.fromkeys(G, Fraction(0))
    for s, t in permutations(G, 2):
        paths = list(nx.all_simple_paths(G, s, t))
        lengths = [nx.path_weight(G, path, "weight") for path in paths]
        shortest = [path for path, length in zip(paths, lengths, strict=True) if length == min(lengths)]
        for v in (v for path in shortest for v in path[1:-1]):
            scores[v] += Fraction(1, len(shortest))
    return {v: float(score) / (1 if G.is_directed() else 2) for v, score in scores.items()}


def by_networkx(G: nx.Graph) -> Scores:
    """Betweenness by NetworkX itself."""
    found: Scores = nx.betweenness_centrality(G, normalized=False, weight="weight", backend="networkx")
    return found


def in_another_order(G: nx.Graph, rng: Random) -> nx.Graph:
    """Make the same graph of vertices and edges in another order."""
    shuffled = type(G)()
    shuffled.add_nodes_from(rng.sample(list(G), N))
    shuffled.add_edges_from(rng.sample(list(G.edges(data=True)), G.number_of_edges()))
    return shuffled


def differ(some: Scores, others: Scores) -> bool:
    """Whether a score differs by more than rounding."""
    return any(abs(some[v] - others[v]) > 1e-9 for v in some)


@click.command(help=__doc__)
@click.option("--graphs", default=300, show_default=True, help="Graphs to draw, of each kind.")
def main(graphs: int) -> None:
    """Count, and write the page."""
    rows = []
    for name, kind in (("undirected", nx.Graph), ("directed", nx.DiGraph)):
        rng, counts = Random(1), Counter[str]()
        for G in (random_graph(kind, rng) for _ in range(graphs)):
            if all(length for *_, length in G.edges(data="weight")):
                continue
            scores = by_networkx(G)
            counts["graphs"] += 1
            counts["listed"] += differ(scores, listed(G))
            counts["orders"] += any(differ(scores, by_networkx(in_another_order(G, rng))) for _ in range(ORDERS))
        rows.append(f"| {name} | {counts['graphs']} | {counts['listed']} | {counts['orders']} |")
    lines = [f"# Lengths of 0\n\nNetworkX {nx.__version__}, random graphs of {N} vertices in which some edges have the"]
    lines += [f"length 0, and {ORDERS} other orders of their vertices and edges. By\n"]
    lines += ["    python -m benchmarks.zero_lengths\n", HEAD, "|" + " --- |" * (HEAD.count("|") - 1), *rows, ""]
    OUT.write_text("\n".join(lines), encoding="utf-8")
    click.echo("\n".join(rows))


if __name__ == "__main__":
    main()
