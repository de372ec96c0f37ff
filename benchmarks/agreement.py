"""Compare scores of real networks with another program's: ``python -m benchmarks.agreement DIRECTORY [--weighted]``.

Hops are compared with igraph, lengths with NetworkX. Networks with values that are no lengths must be refused.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import igraph
import networkx
import numpy as np
from numpy.typing import NDArray

import lagbc
from lagbc.io.graph_file import GraphFile
from lagbc.io.read import read_graph

NETWORKS = ("power", "ca-GrQc", "PGPgiantcompo", "wiki-Vote", "as-caida20071105", "email-Enron")
# How many roots are compared; None is all.
WEIGHTED_NETWORKS = {
    "USairports-distance": None,
    "rome99": None,
    "lesmis": None,
    "cal-road": 128,
    "LosAngeles-road": 32,
}
REFUSED = ("soc-sign-bitcoinotc", "porto-road")
RESULTS = Path(__file__).parent / "results"
SEED = 1

Row = dict[str, Any]


def igraph_scores(file: GraphFile) -> NDArray[np.float64]:
    """Raw betweenness of all vertices by igraph, in hops."""
    entries = file.matrix.tocoo()
    edges = np.column_stack(entries.coords)
    kept = edges[edges[:, 0] < edges[:, 1]] if not file.directed else edges
    graph = igraph.Graph(n=file.matrix.shape[0], edges=kept, directed=file.directed)
    return np.asarray(graph.betweenness())


def networkx_scores(file: GraphFile, sources: NDArray[np.integer] | None) -> NDArray[np.float64]:
    """Raw betweenness by NetworkX, the values of the file being lengths."""
    kind = networkx.DiGraph if file.directed else networkx.Graph
    graph = networkx.from_scipy_sparse_array(file.matrix, create_using=kind)
    if sources is None:
        scores = networkx.betweenness_centrality(graph, normalized=False, weight="weight")
    else:
        scores = networkx.betweenness_centrality_subset(
            graph, sources.tolist(), list(graph), normalized=False, weight="weight"
        )
    return np.array([scores[v] for v in range(len(graph))], np.float64)


def largest_difference(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """Largest |x - y| / y over the vertices with a score, which must be the same ones up to rounding."""
    scored = theirs > 0
    if not np.allclose(ours[~scored], 0, atol=1e-9):
        return float("inf")
    return float(np.max(np.abs(ours[scored] - theirs[scored]) / theirs[scored], initial=0.0))


def compare_hops(directory: Path, methods: list[str]) -> Iterator[Row]:
    """All roots, in hops."""
    for name in NETWORKS:
        file = read_graph(directory / f"{name}.mtx.gz")
        theirs = igraph_scores(file)
        for method in methods:
            ours = lagbc.bc(file.matrix, directed=file.directed, method=cast(Any, method), device="cpu", reduce="none")
            difference = {"largest_relative_difference": largest_difference(ours, theirs)}
            yield _describe(name, file, method) | difference | {"igraph": igraph.__version__}


def compare_lengths(directory: Path, methods: list[str]) -> Iterator[Row]:
    """All or sampled roots; then the networks that must be refused, with the message."""
    for name, count in WEIGHTED_NETWORKS.items():
        file = read_graph(directory / f"{name}.mtx.gz")
        n = file.matrix.shape[0]
        sources = None if count is None else np.sort(np.random.default_rng(SEED).choice(n, count, replace=False))
        theirs = networkx_scores(file, sources)
        for method in methods:
            ours = lagbc.bc(
                file.matrix,
                directed=file.directed,
                weighted=True,
                sources=sources,
                method=cast(Any, method),
                device="cpu",
                reduce="none",
            )
            yield _describe(name, file, method) | {
                "roots": n if count is None else count,
                "largest_relative_difference": largest_difference(ours, theirs),
                "networkx": networkx.__version__,
            }
    for name in REFUSED:
        file = read_graph(directory / f"{name}.mtx.gz")
        for method in methods:
            yield _describe(name, file, method) | {"refused": _refusal(file, method)}


def _describe(name: str, file: GraphFile, method: str) -> Row:
    n, nnz = file.matrix.shape[0], file.matrix.nnz
    return {"network": name, "n": n, "nnz": nnz, "directed": file.directed, "method": method}


def _refusal(file: GraphFile, method: str) -> str:
    try:
        lagbc.bc(file.matrix, directed=file.directed, weighted=True, method=cast(Any, method), device="cpu")
    except ValueError as error:
        return str(error)
    raise SystemExit("values that are no lengths were taken as such")


def main() -> None:
    """Write a line a network and method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="with NAME.mtx.gz")
    parser.add_argument("--weighted", action="store_true", help="compare lengths, not hops")
    parser.add_argument("--methods", default="batched", help="comma-separated methods of the CPU")
    arguments = parser.parse_args()
    compare = compare_lengths if arguments.weighted else compare_hops
    with (RESULTS / f"agreement{'-weighted' if arguments.weighted else ''}.jsonl").open("w") as results:
        for row in compare(arguments.directory, arguments.methods.split(",")):
            print(row, flush=True)
            results.write(json.dumps(row) + "\n")
            results.flush()


if __name__ == "__main__":
    main()
