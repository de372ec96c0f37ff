"""Breadth-first search and weakly connected components."""

from __future__ import annotations

from typing import Any

import numpy as np


def weak_components(indptr: Any, indices: Any) -> Any:
    """Weakly connected component of each vertex, numbered from 0 in the order of their first vertices."""
    if isinstance(indptr, np.ndarray):
        from lagbc.graph.host import search as host

        return host.components(indptr, indices)
    from lagbc.graph.device import search as device

    return device.weak_components(indptr, indices)


def widest_row(indptr: Any, components: Any = None) -> tuple[int, int]:
    """Return the vertex of the largest degree, the first of them, and how many have edges.

    Of all vertices, or of those of the largest component.
    """
    if isinstance(indptr, np.ndarray):
        degrees = indptr[1:] - indptr[:-1]
        if components is not None:
            degrees = np.where(components == np.argmax(np.bincount(components)), degrees, -1)
        return int(degrees.argmax()), int(np.count_nonzero(degrees > 0))
    from lagbc.graph.device import search as device

    return device.widest_row(indptr, components, 0 if components is None else device.largest(components))


def bfs_extent(indptr: Any, indices: Any, root: int) -> tuple[int, int]:
    """Return the largest hop distance from `root`, a lower bound of the diameter, and how many vertices it reaches.

    The pattern is symmetric.
    """
    if isinstance(indptr, np.ndarray):
        from lagbc.graph.host import search as host

        distances, found = host.search(indptr, indices, np.array([root]))
        return int(distances[found[-1]]), len(found)
    from lagbc.graph.device import search as device

    return device.bfs_extent(indptr, indices, root)
