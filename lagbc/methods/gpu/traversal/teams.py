"""Virtual warps: teams of threads that share the edges of a vertex."""

from __future__ import annotations

import numpy as np

from lagbc.graph.graph import Graph

WIDTHS = (1, 2, 4, 8, 16, 32)


def width_of(graph: Graph, narrowest: int = 1) -> int:
    """Threads that share a vertex's edges: as many as the tail of an edge has on average, rounded down.

    So it is 2 or 4 on roads and meshes, and 32 where a few vertices have most edges, on which one thread would be long.
    """
    degrees = graph.out_degrees.astype(np.float64)
    mean = float(degrees @ degrees) / max(1, graph.nnz)
    return max(size for size in WIDTHS if size <= max(mean, narrowest))
