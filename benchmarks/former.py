"""Time `batched` of another checkout of lagbc: ``PYTHONPATH=CHECKOUT python benchmarks/former.py CASE.npz``.

The case is a symmetric matrix, in hops. It may hold places in the order in which a run from all roots takes them: the
roots there are timed on the CPU, on one thread, in the processor's time, on a graph that is in order, and what all take
by that is printed, in seconds. Without places a whole call on a GPU is timed, by the clock, from the matrix to the
scores of all roots. As a script it imports nothing of the checkout that it lies in, and what it needs of lagbc was
there before traversals came to the CPU and reductions to any device.
"""

import sys
import time
from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import lagbc
from lagbc.graph.validate import as_graph

# Roots of the call that compiles.
FIRST = {"cpu": 64, "cuda": 1024}


def lined_up(graph: Any) -> Any:
    """Return all roots in the order of a run."""
    if hasattr(graph, "line_up"):
        return graph.line_up(np.arange(graph.n), "cpu")
    row = next(row for row in lagbc.METHODS if (row.name, row.device, row.weighted) == ("batched", "cpu", False))
    roots: Any = import_module("lagbc.methods.roots")  # of an installation whose graphs line up no roots
    return roots.order_roots(graph, row, np.arange(graph.n))


def near_roots(A: csr_array, places: Any) -> float:
    """Time the roots at these places, once everything is compiled, and scale that to all roots."""
    graph = as_graph(A, directed=False)
    ordered = lined_up(graph)
    roots = ordered[places]

    def run(some: Any) -> None:
        lagbc.bc(graph, directed=False, method="batched", device="cpu", threads=1, sources=some)

    run(roots[: FIRST["cpu"]])
    begun = time.process_time()
    run(roots)
    return (time.process_time() - begun) * len(ordered) / len(roots)


def whole_call(A: csr_array) -> float:
    """Time a call on a GPU, once everything is compiled."""
    lagbc.bc(A, directed=False, method="batched", device="cuda", sources=np.arange(min(FIRST["cuda"], A.shape[0])))
    begun = time.perf_counter()
    lagbc.bc(A, directed=False, method="batched", device="cuda")
    return time.perf_counter() - begun


if __name__ == "__main__":
    with np.load(sys.argv[1]) as case:
        n = len(case["indptr"]) - 1
        matrix = csr_array((np.ones(len(case["indices"])), case["indices"], case["indptr"]), (n, n))
        print(near_roots(matrix, case["places"]) if "places" in case else whole_call(matrix))
