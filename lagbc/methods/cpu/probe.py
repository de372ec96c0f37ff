"""The search of a probe on the host."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.native import core, csr


def count(graph: Graph, roots: NDArray[np.int64], most: int) -> tuple[int, int, int, int, int]:
    """Return visits, edges, pairs, pair_edges and levels of `lagbc.methods.probe.Probe`."""
    return core.probe_hops(csr(graph.indptr, graph.indices), roots, most)
