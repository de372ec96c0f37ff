"""Run cases of `benchmarks.against` in one installation of lagbc: a case a line of JSON in, a line of JSON out.

As a script it imports nothing of the checkout that it lies in, and needs of lagbc only its public functions, `as_graph`
and the order of roots.
"""

import hashlib
import json
import sys
import time
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import csr_array

import lagbc
from lagbc.graph.validate import as_graph

RUN = 64  # near roots: of the order, runs of the length of a block


@cache
def graph_of(file: str, weighted: bool) -> Any:
    """Check and order a graph; it is undirected where its matrix is symmetric."""
    with np.load(file) as saved:
        n = len(saved["indptr"]) - 1
        A = csr_array((saved["data"], saved["indices"], saved["indptr"]), (n, n))
    directed = (A != A.T).nnz > 0
    graph = as_graph(A, directed=directed, weighted=weighted)
    _ = graph.reordered.transpose
    return graph, directed


def lined_up(graph: Any) -> Any:
    """Return all roots in the order of a run."""
    if hasattr(graph, "line_up"):
        return graph.line_up(np.arange(graph.n), "cpu")
    row = next(row for row in lagbc.METHODS if (row.device, row.weighted) == ("cpu", graph.weighted))
    roots: Any = import_module("lagbc.methods.roots")  # of an installation whose graphs line up no roots
    return roots.order_roots(graph, row, np.arange(graph.n))


@cache
def roots_of(file: str, weighted: bool, kind: str, count: int) -> Any:
    """Choose roots."""
    graph, _ = graph_of(file, weighted)
    if graph.n <= count:
        return np.arange(graph.n)
    if kind == "random":
        return np.sort(np.random.default_rng(1).choice(graph.n, count, replace=False))
    order = lined_up(graph)
    runs = max(1, count // RUN)
    starts = np.arange(runs) * (len(order) // RUN) // runs * RUN
    return np.concatenate([order[start : start + RUN] for start in starts])


def run(case: dict[str, Any]) -> dict[str, Any]:
    """Run a case once, and time it."""
    options = dict(case["options"])
    weighted = options.pop("weighted", False)
    graph, directed = graph_of(case["file"], weighted)
    roots = roots_of(case["file"], weighted, case["roots"], case["count"])
    function = getattr(lagbc, case["function"])
    begun = time.process_time()
    scores = function(graph, directed=directed, weighted=weighted, sources=roots, device="cpu", threads=1, **options)
    seconds = time.process_time() - begun
    values = scores.data if hasattr(scores, "indptr") else scores
    return {"seconds": seconds, "digest": hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()}


if __name__ == "__main__":
    for line in sys.stdin:
        try:
            told = run(json.loads(line))
        except Exception as error:  # the page names it, and the next case goes on
            told = {"error": f"{type(error).__name__}: {error}"[:200].replace("|", "/").replace("\n", " ")}
        print(json.dumps(told), flush=True)
