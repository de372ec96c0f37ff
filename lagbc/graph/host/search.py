"""Distances from roots, and from hubs, in the host's memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.graph.host.csr import Csr
from lagbc.native import class_of, core, csr, parts_of_rows, share, until_stopped


def distances_from(out: Csr, into: Csr, root: int) -> NDArray[np.float64]:
    """Return the distances from a root, inf if unreached; `into` is the transpose of `out`."""

    def search(stop: NDArray[np.uint8]) -> NDArray[np.float64]:
        sweep = class_of("RootSweep", out[1].dtype)(csr(*out), csr(*into), None, 0.0, np.inf, stop)
        dist: NDArray[np.float64] = core.search_root(sweep, root)[1]
        return dist

    return until_stopped(search, len(out[1]))


def hub_distances(indptr: NDArray[np.int64], indices: NDArray[Any]) -> NDArray[np.uint8]:
    """Return hop distances (hubs, n) from each vertex to the first `HUBS`; 0 where no path of `HUB_LEVELS` leads.

    A search has a bit, and all go on at once: a vertex joins a search after the head of one of its edges.
    """
    n = len(indptr) - 1
    hubs = min(tuning.HUBS, n)
    distances = np.zeros((hubs, n), np.uint8)  # levels are fewer than 256
    frontier, joined, seen = np.zeros((3, n), np.uint16)
    frontier[:hubs] = seen[:hubs] = 1 << np.arange(hubs)
    parts = parts_of_rows(indptr)
    for level in range(1, tuning.HUB_LEVELS + 1):
        arrays = (1 << hubs) - 1, frontier, seen, joined, distances
        if not any(share(core.join_searches, parts, (indptr, indices), (level, *arrays))):
            break
        frontier, joined = joined, frontier
    return distances
