"""Time `batched` of another checkout of lagbc: ``PYTHONPATH=CHECKOUT python benchmarks/former.py CASE.npz``.

The case holds a symmetric matrix, and places in the order in which a run from all roots takes them: the roots there are
timed, in hops, on one thread, in the processor's time, and what all take by that is printed, in seconds. As a script it
imports nothing of the checkout that it lies in. What it needs of lagbc was there before traversals came to the CPU.
"""

import sys
import time
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import lagbc
from lagbc.graph.validate import as_graph
from lagbc.run.sweep import order_roots


def seconds(case: Any) -> float:
    """Time the roots of a case, once everything is compiled, and scale that to all roots."""
    n = len(case["indptr"]) - 1
    graph = as_graph(
        csr_array((np.ones(len(case["indices"])), case["indices"], case["indptr"]), (n, n)), directed=False
    )
    row = next(row for row in lagbc.METHODS if (row.name, row.device, row.weighted) == ("batched", "cpu", False))
    ordered = order_roots(graph, row, np.arange(graph.n))
    roots = ordered[case["places"]]

    def run(some: Any) -> None:
        lagbc.bc(graph, directed=False, method="batched", device="cpu", threads=1, sources=some)

    run(roots[:64])
    begun = time.process_time()
    run(roots)
    return (time.process_time() - begun) * len(ordered) / len(roots)


if __name__ == "__main__":
    with np.load(sys.argv[1]) as given:
        print(seconds(given))
