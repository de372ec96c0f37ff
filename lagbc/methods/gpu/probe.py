"""The search of a probe on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.cuda import compiler
from lagbc.graph.graph import Graph
from lagbc.methods.gpu.kernels import PROBE


def count(graph: Graph, roots: NDArray[np.int64], most: int) -> Any:
    """Return visits, edges, pairs, pair_edges and levels of `lagbc.methods.roots.Probe`."""
    import cupy as cp

    kernel = PROBE.kernel("probe")
    counts = cp.zeros(5, np.uint64)
    kernel(
        (compiler.resident_blocks(compiler.THREADS, kernel),),
        compiler.THREADS,
        n=graph.n,
        columns=len(roots),
        most=most,
        indptr=graph.indptr,
        indices=graph.indices,
        roots=cp.asarray(roots.astype(np.int32)),
        found=cp.zeros((2, graph.n), np.uint64),
        seen=cp.zeros(graph.n, np.uint64),
        queues=cp.empty((2, graph.n), np.int32),
        sizes=cp.zeros(3, np.int32),
        edges=cp.zeros(3, np.uint64),
        counts=counts,
        barrier=cp.zeros(1, np.uint32),
    )
    return counts.get()
