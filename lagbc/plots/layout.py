"""Places of vertices in the plane, by igraph: vertices few hops apart are near each other."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from lagbc.errors import MissingDependencyError
from lagbc.graph.graph import Graph

Places = NDArray[np.float64]

# Landmarks, whose hops to all vertices give the start: forces from a random start fold large grids and long paths.
LANDMARKS = 40
# Steps of the forces, and the longest move of a vertex in the first, in lengths of edges.
STEPS, FIRST_STEP = 50, 1.0
# Space between the boxes of components; a component of m vertices is sqrt(m) wide or high.
GAP = 1.0


def places_of(graph: Graph) -> Places:
    """Place the vertices of an undirected graph; the same graph gives the same places.

    The layout of Fruchterman and Reingold (1991), by igraph, begins at the hops from landmarks. Components are laid out
    one by one and put side by side, the largest first.

    Raises
    ------
    MissingDependencyError
        igraph is not installed.

    Notes
    -----
    O(nnz + n), with a large constant: 16,000 vertices take a few seconds.
    """
    order = np.argsort(graph.components, kind="stable")
    pattern = graph.pattern[order][:, order]
    ends = np.cumsum(np.bincount(graph.components)).tolist()
    pieces = [slice(start, end) for start, end in pairwise([0, *ends])]
    boxes = [_move_into_box(_lay_out(pattern[piece, piece])) for piece in pieces]
    places = np.empty((graph.n, 2))
    for piece, corner, box in zip(pieces, _corners_on_shelves(boxes), boxes, strict=True):
        places[order[piece]] = corner + box
    return places


def _move_into_box(places: Places) -> Places:
    """Move m places to the origin, and scale them to a box sqrt(m) wide or high."""
    moved: Places = places - places.min(axis=0)
    scale = (len(places) ** 0.5 - 1) / max(moved.max(), 1e-9)
    moved *= scale
    return moved


def _corners_on_shelves(boxes: list[Places]) -> Places:
    """Return the lower left corner of each box: in rows, largest first, the whole about as wide as high."""
    sizes = np.array([box.max(axis=0) + GAP for box in boxes]).reshape(-1, 2)
    corners = np.zeros_like(sizes)
    width = max(sizes[:, 0].max(initial=0), 1.2 * np.sqrt(sizes.prod(axis=1).sum()))
    x = y = height = 0.0
    for i in np.lexsort((-sizes[:, 0], -sizes[:, 1])):
        if x > 0 and x + sizes[i, 0] > width:
            x, y, height = 0.0, y + height, 0.0
        corners[i] = x, -y - sizes[i, 1]
        x, height = x + sizes[i, 0], max(height, sizes[i, 1])
    return corners


def _lay_out(pattern: sparse.csr_array) -> Places:
    """Place the vertices of a connected graph."""
    try:
        import igraph
    except ImportError as error:
        raise MissingDependencyError(
            "places of vertices need igraph: pip install igraph; or pip install 'lagbc[plot]', in a checkout '.[plot]'"
        ) from error
    n, entries = pattern.shape[0], sparse.triu(pattern, 1)
    # Noise separates vertices with the same hops from all landmarks.
    start = _principal_plane(_hops_from_landmarks(pattern)) + np.random.default_rng(0).normal(scale=0.1, size=(n, 2))
    network, before = igraph.Graph(n, np.column_stack(entries.coords)), random.getstate()
    random.seed(0)  # igraph draws from Python's generator
    try:
        layout = network.layout_fruchterman_reingold(seed=start.tolist(), niter=STEPS, start_temp=FIRST_STEP)
    finally:
        random.setstate(before)
    return np.array(layout.coords)


def _hops_from_landmarks(pattern: sparse.csr_array) -> NDArray[np.float64]:
    """Return the hops from landmarks, a row each: first a hub, then the farthest vertex from all landmarks before."""
    landmark = int(np.argmax(np.diff(pattern.indptr)))
    hops: list[NDArray[np.float64]] = []
    while len(hops) < LANDMARKS:
        hops.append(dijkstra(pattern, unweighted=True, indices=landmark))
        nearest = np.min(hops, axis=0)
        if not nearest.any():
            break
        landmark = int(np.argmax(nearest))
    return np.array(hops)


def _principal_plane(hops: NDArray[np.float64]) -> Places:
    """Place vertices by classical scaling: the two main axes of their centred squared hops from the landmarks."""
    squares = hops.T**2
    centred = -(squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()) / 2
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :2]
    plane = centred @ axes
    scale = np.sqrt(np.mean(hops**2) / max(np.mean((plane**2).sum(axis=1)), 1e-9) / 2)
    return np.pad(scale * plane, ((0, 0), (0, 2 - plane.shape[1])))
