"""Orders of vertices in the host's memory: sorts by small integers, stable, by counting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.host.csr import Csr
from lagbc.graph.host.search import distances_from
from lagbc.native import core


def isolated_last(order: NDArray[np.int64], indptr: NDArray[np.int64]) -> NDArray[np.int64]:
    """Put vertices without edges behind the others, which stay in their order."""
    isolated = (np.diff(indptr) == 0)[order]
    return np.concatenate([order[~isolated], order[isolated]])


def hub_order(distances: NDArray[Any], vertices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort vertices by their distances to the first hub, then to the second, and so on; `distances` is (hubs, n).

    On a graph of few levels most shortest paths pass the hubs. Roots of one batch at the same distances from these see
    most vertices at the same levels: a row is live at fewer levels, in more columns at each.
    """
    for row in distances[::-1]:
        vertices = core.sort_by_key(row, vertices)
    return vertices


def length_order(csr: Csr, reverse: Csr, vertices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sort vertices by their distances to the first vertex; vertices that do not reach it come first.

    Few distances are equal, so one hub is enough. `reverse` is the transpose.
    """
    distances = distances_from(reverse, csr, 0)[vertices]
    return vertices[np.argsort(np.where(np.isfinite(distances), distances, -1.0), kind="stable")]
