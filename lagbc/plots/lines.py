"""Lines of edges on a map: straight, or as osmnx has the geometry of streets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph import adapters

# The attribute of an edge for its line, a LineString of shapely, as in osmnx.
GEOMETRY = "geometry"

# A line of k points, shape (k, 2).
Line = NDArray[np.float64]


def geometry_of(graph: Any, xy: NDArray[np.float64], ratio: float) -> dict[tuple[int, int], Line]:
    """Return the lines of edges by their ends, of parallel edges the shortest; none if no edge has a geometry.

    An edge without a geometry beside some that have one is straight. A unit of y is as long as `ratio` units of x.
    """
    edges = list(_edges_of(graph))
    if all(geometry is None for _, _, geometry in edges):
        return {}
    lines, lengths = dict[tuple[int, int], Line](), dict[tuple[int, int], float]()
    for tail, head, geometry in edges:
        is_line = getattr(geometry, "geom_type", None) == "LineString"
        line = np.asarray(geometry.coords, np.float64)[:, :2] if is_line else xy[[tail, head]]
        length = float(np.hypot(*(np.diff(line, axis=0) * [1, ratio]).T).sum())
        if length < lengths.get((tail, head), np.inf):
            lines[tail, head], lengths[tail, head] = line, length
    return lines


def lines_of(matrix: Any, xy: NDArray[np.float64], geometry: Mapping[tuple[int, int], Line]) -> list[Line]:
    """Return the lines of the entries of a sparse matrix; one way of an edge has the geometry of the other."""
    straight = np.stack([xy[matrix.row], xy[matrix.col]], axis=1)
    if not geometry:
        return list(straight)
    ends = zip(matrix.row.tolist(), matrix.col.tolist(), straight, strict=True)
    return [geometry.get((i, j), geometry.get((j, i), line)) for i, j, line in ends]


def _edges_of(graph: Any) -> Iterable[tuple[int, int, Any]]:
    """Return the ends and the geometry, or None, of each edge of a NetworkX or igraph graph."""
    if adapters.is_networkx(graph):
        entries = adapters.networkx_entries(graph)
        held = (data.get(GEOMETRY) for data in adapters.networkx_edge_data(graph))
        return zip(entries.tails.tolist(), entries.heads.tolist(), held, strict=True)
    if adapters.is_igraph(graph) and GEOMETRY in graph.es.attributes():
        return ((*edge.tuple, edge[GEOMETRY]) for edge in graph.es)
    return ()
