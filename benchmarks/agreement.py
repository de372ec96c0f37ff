"""Compare exact scores of real networks with igraph's: ``python -m benchmarks.agreement DIRECTORY``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import igraph
import numpy as np
from numpy.typing import NDArray

import lagbc
from lagbc.io import GraphFile, read_graph

NETWORKS = ("power", "ca-GrQc", "PGPgiantcompo", "wiki-Vote", "as-caida20071105", "email-Enron")
RESULTS = Path(__file__).parent / "results" / "agreement.jsonl"


def igraph_scores(file: GraphFile) -> NDArray[np.float64]:
    """Raw betweenness of all vertices by igraph."""
    entries = file.matrix.tocoo()
    edges = np.column_stack(entries.coords)
    kept = edges[edges[:, 0] < edges[:, 1]] if not file.directed else edges
    graph = igraph.Graph(n=file.matrix.shape[0], edges=kept, directed=file.directed)
    return np.asarray(graph.betweenness())


def largest_difference(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """Largest |x - y| / y over the vertices with a score, which must be the same ones up to rounding."""
    scored = theirs > 0
    if not np.allclose(ours[~scored], 0, atol=1e-9):
        return float("inf")
    return float(np.max(np.abs(ours[scored] - theirs[scored]) / theirs[scored], initial=0.0))


def main() -> None:
    """Write a line a network and method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path, help="with NAME.mtx.gz")
    parser.add_argument("--methods", default="batched", help="comma-separated methods of the CPU")
    arguments = parser.parse_args()
    with RESULTS.open("w") as results:
        for name in NETWORKS:
            file = read_graph(arguments.directory / f"{name}.mtx.gz")
            theirs = igraph_scores(file)
            for method in arguments.methods.split(","):
                ours = lagbc.bc(file.matrix, directed=file.directed, method=method, device="cpu")
                row = {
                    "network": name,
                    "n": file.matrix.shape[0],
                    "nnz": file.matrix.nnz,
                    "directed": file.directed,
                    "method": method,
                    "largest_relative_difference": largest_difference(ours, theirs),
                    "igraph": igraph.__version__,
                }
                print(row, flush=True)
                results.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
