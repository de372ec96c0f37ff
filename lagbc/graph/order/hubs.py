"""Groups of roots that are at the same distances from the hubs of a graph of low diameter."""

from __future__ import annotations

from typing import Any

import numpy as np

from lagbc.graph import tuning
from lagbc.graph.csr import Csr


def group_by_hubs(distances: Any, vertices: Any) -> Any:
    """Group vertices that see the hubs of a graph, its first `HUBS` vertices, at the same distances.

    On a graph of few levels most shortest paths lead by the hubs, so that such vertices, as roots of one batch, see
    most others at the same levels, too: a row is live at fewer levels, in more columns at each.

    Parameters
    ----------
    distances : array of integers, shape (hubs, n)
        As `hub_distances` finds them, on the host or on a device.
    vertices : array of int64
        Where `distances` is.

    Returns
    -------
    vertices : array of int64
        By their hop distances to the first hub, then to the second, and so on; in the order given where all agree.
    """
    if isinstance(distances, np.ndarray):
        from lagbc.graph.host import order as host

        return host.hub_order(distances, vertices)
    from lagbc.graph.device import order as device

    return device.hub_order(distances, vertices)


def group_by_length(csr: Csr, reverse: Csr, vertices: Any) -> Any:
    """Group vertices as `group_by_hubs` does, where edges have lengths: by their distances to the first vertex.

    Parameters
    ----------
    csr, reverse : Csr
        The edges, and their transpose, on the host.
    vertices : array of int64

    Returns
    -------
    vertices : array of int64
        Those that do not reach the hub, then the nearest first. Few distances are alike, so that one hub is enough.
    """
    from lagbc.graph.host import search as host

    distances = host.distances_from(reverse, csr, 0)[vertices]
    return vertices[np.argsort(np.where(np.isfinite(distances), distances, -1.0), kind="stable")]


def hub_distances(indptr: Any, indices: Any) -> Any:
    """Hop distances from every vertex to each of the first `HUBS`; 0 where no path, of up to `HUB_LEVELS`, leads there.

    All are searched for at once, a bit each: a vertex joins a search when the head of one of its edges has. Shape
    (HUBS, n), or (n, n) if there are fewer vertices.
    """
    n = len(indptr) - 1
    hubs = min(tuning.HUBS, n)
    if isinstance(indptr, np.ndarray):
        from lagbc.graph.host import search as host

        return host.hub_distances(indptr, indices, hubs, tuning.HUB_LEVELS)
    from lagbc.graph.device import search as device

    return device.hub_distances(indptr, indices, hubs)
