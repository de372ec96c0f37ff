"""Measure NetworkX with the backend lagbc against NetworkX without it: ``python -m benchmarks.nx_backend --help``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import networkx as nx
import numpy as np
from scipy.sparse import triu

from benchmarks import machine
from benchmarks.graphs import NamedGraph, is_symmetric, table
from benchmarks.run import disagreement
from lagbc.interfaces import networkx as nx_backend

Row = dict[str, Any]

RESULTS = Path(__file__).parent / "results" / "nx_backend.jsonl"
GRAPHS = "barabasi-albert-10000-10,holed-grid-100,delaunay-13"
# Without the backend all roots are taken if this many seconds are enough, judged by PILOT roots; else SAMPLE roots.
PATIENCE = 600.0
PILOT = 10
SAMPLE = 200
# Roots drawn by NetworkX; the backend draws the same ones.
SEED = 1


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds that a call takes, and what it gives."""
    begun = time.perf_counter()
    result = call()
    return time.perf_counter() - begun, result


def load(graph: NamedGraph) -> Any:
    """Make the NetworkX graph, nodes numbered from 0."""
    matrix = graph.load()
    symmetric = is_symmetric(matrix)
    G = nx.Graph() if symmetric else nx.DiGraph()
    G.add_nodes_from(range(matrix.shape[0]))
    edges = (triu(matrix) if symmetric else matrix).tocoo()
    G.add_edges_from(zip(edges.row.tolist(), edges.col.tolist(), strict=True))
    return G


def measure(name: str, G: Any, repeat: int) -> Row:
    """Time one graph: without the backend once, with it `repeat` times from the NetworkX graph on; the best counts.

    Each round with the backend converts anew. A call that finds the converted graph in the cache is timed apart.
    """

    def score(backend: str, k: int | None) -> Any:
        return nx.betweenness_centrality(G, k=k, normalized=False, seed=SEED, backend=backend)

    def from_the_start() -> Any:
        G.__networkx_cache__.clear()
        return score("lagbc", None)

    seconds = min(timed(from_the_start)[0] for _ in range(repeat))
    cached = min(timed(lambda: score("lagbc", None))[0] for _ in range(repeat))
    conversion = min(timed(lambda: nx_backend.convert_from_nx(G).graph(None))[0] for _ in range(repeat))
    pilot, _ = timed(lambda: score("networkx", PILOT))
    exact = pilot / PILOT * len(G) <= PATIENCE
    roots = len(G) if exact else min(SAMPLE, len(G))
    without, theirs = timed(lambda: score("networkx", None if exact else roots))
    ours = score("lagbc", None if exact else roots)
    total = without * len(G) / roots
    return {
        "graph": name,
        "n": len(G),
        "edges": G.number_of_edges(),
        "directed": G.is_directed(),
        "networkx_roots": roots,
        "networkx_seconds": without,
        "networkx_seconds_all_roots": total,
        "seconds": seconds,
        "cached_seconds": cached,
        "conversion_seconds": conversion,
        "ratio": total / seconds,
        "error": disagreement(np.array(list(ours.values())), np.array(list(theirs.values()))),
    }


def markdown(rows: list[Row]) -> str:
    """Lay out the page: conditions, and one line a graph."""
    first = rows[0]
    host = first["machine"]
    lines = [
        f"{host['cpu']}, {host['cores']} cores; NetworkX {first['networkx']}, Python {host['python']}, NumPy "
        f"{host['packages']['numpy']}, SciPy {host['packages']['scipy']}; commit {host['commit']}, {first['date']}.",
        "",
        "Seconds of `networkx.betweenness_centrality(G, normalized=False)`, all roots. With the backend: from the "
        "NetworkX graph to the dictionary of scores, conversion included, best of the rounds, all cores; `cached` has "
        "the converted graph from the cache. NetworkX alone runs on one core; where not all roots are named, its "
        "time is that of a sample (`k=`) times n / roots. Error: the largest difference between the two on the same "
        "roots, over 1 + score. The first call of a process, on a graph of 64 vertices, loads the compiled loops and "
        f"took {first['start_up_seconds']:.1f} s.",
        "",
        "| graph | n | edges | NetworkX, s | its roots | with lagbc, s | cached, s | conversion, s | ratio | error |",
        "|" + " --- |" * 10,
        *(
            f"| {row['graph']} | {row['n']:,} | {row['edges']:,} | {row['networkx_seconds_all_roots']:.0f} | "
            f"{'all' if row['networkx_roots'] == row['n'] else row['networkx_roots']} | {row['seconds']:.2f} | "
            f"{row['cached_seconds']:.2f} | {row['conversion_seconds']:.2f} | "
            f"{row['ratio']:.0f} | {row['error']:.0e} |"
            for row in rows
        ),
    ]
    return "\n".join(lines) + "\n"


@click.command()
@click.option("--graphs", default=GRAPHS, show_default=True, help="Comma-separated, of `benchmarks.graphs`.")
@click.option("--data", type=click.Path(exists=True, path_type=Path), help="Directory of Matrix Market files.")
@click.option("--repeat", default=3, show_default=True, help="Rounds with the backend.")
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True, help="A .jsonl file.")
def main(graphs: str, data: Path | None, repeat: int, out: Path) -> None:
    """Write a line a graph, and a table beside it."""
    known = table(data)
    if unknown := sorted(set(graphs.split(",")) - set(known)):
        raise click.BadParameter(f"no graph {', '.join(unknown)}; there are {', '.join(known)}", param_hint="--graphs")
    nx.config.warnings_to_ignore.add("cache")
    start_up, _ = timed(lambda: nx.betweenness_centrality(nx.cycle_graph(64), backend="lagbc"))
    common = {
        "seed": SEED,
        "start_up_seconds": start_up,
        "networkx": nx.__version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine.describe(),
    }
    rows = []
    with out.open("w") as results:
        for name in graphs.split(","):
            rows.append(measure(name, load(known[name]), repeat) | common)
            print(json.dumps(rows[-1]), file=results, flush=True)
            click.echo(f"{name}: {rows[-1]['ratio']:.0f} times NetworkX, error {rows[-1]['error']:.0e}")
    page = out.with_suffix(".md")
    page.write_text(markdown(rows))
    click.echo(page)
    if any(not row["error"] <= 1e-9 for row in rows):
        raise SystemExit("lagbc and NetworkX disagree; the table says where")


if __name__ == "__main__":
    main()
