"""Places of vertices in the plane: near each other where few hops are between them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from lagbc.errors import MissingDependencyError
from lagbc.graph.graph import Graph

Places = NDArray[np.float64]

# Kamada and Kawai's layout takes all pairs of vertices: two seconds for so many, twenty for 500, minutes for 2,000.
MOST_PAIRED = 200
# Landmarks of the other layout, and its steps: together a few seconds for 16,000 vertices.
LANDMARKS = 40
STEPS = 60
# Components of so few vertices are drawn as a ring there.
IN_A_RING = 4
# Space between the boxes of components, in units in which a component of m vertices is sqrt(m) wide or high.
GAP = 1.0


def places_of(graph: Graph) -> Places:
    """Place the vertices of an undirected graph, the same for the same graph.

    Up to 200 vertices Kamada and Kawai's layout (1989) is taken, by NetworkX; beyond, hop distances from landmarks and
    along edges are fitted. Components are laid out one by one and put side by side, the largest first.

    Raises
    ------
    MissingDependencyError
        NetworkX is needed and not installed.

    Notes
    -----
    O(nnz + n), with a large constant, beyond 200 vertices.
    """
    order = np.argsort(graph.components, kind="stable")
    pattern = graph.pattern[order][:, order]
    lay_out = _by_pairs if graph.n <= MOST_PAIRED else _by_landmarks
    ends = np.cumsum(np.bincount(graph.components)).tolist()
    pieces = [slice(start, end) for start, end in pairwise([0, *ends])]
    boxes = [_in_box(lay_out(pattern[piece, piece])) for piece in pieces]
    places = np.empty((graph.n, 2))
    for piece, corner, box in zip(pieces, _shelves(boxes), boxes, strict=True):
        places[order[piece]] = corner + box
    return places


def _in_box(places: Places) -> Places:
    """Move places to the origin and scale them: m of them are sqrt(m) wide or high."""
    moved: Places = places - places.min(axis=0)
    scale = (len(places) ** 0.5 - 1) / max(moved.max(), 1e-9)
    moved *= scale
    return moved


def _shelves(boxes: list[Places]) -> Places:
    """Return the lower left corner of each box: in rows, the largest boxes first, about as wide as high in all."""
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


def _by_pairs(pattern: sparse.csr_array) -> Places:
    try:
        import networkx
    except ImportError as error:
        raise MissingDependencyError("places of vertices need NetworkX: pip install networkx") from error
    layout = networkx.kamada_kawai_layout(networkx.from_scipy_sparse_array(pattern.astype(int)))
    return np.array([layout[v] for v in range(pattern.shape[0])])


def _by_landmarks(pattern: sparse.csr_array) -> Places:
    """Fit distances in the plane to hops, those to landmarks and those along one edge or two.

    The sum over the pairs of ``(length - hops)^2 / hops^2`` is lowered as in SMACOF (de Leeuw 1977): each vertex goes
    to the least of a parabola above the sum. All go at once, half as far as one alone would, which never raises it.
    """
    n = pattern.shape[0]
    if n <= IN_A_RING:
        angle = np.arange(n) * (2 * np.pi / n)
        return np.column_stack([np.cos(angle), np.sin(angle)])
    landmarks, hops = _hops_from_landmarks(pattern)
    difference, wanted = _pairs(pattern, landmarks, hops)
    weight, back = wanted**-2, difference.T.tocsr()
    inertia = 2 * (abs(back) @ weight)[:, None]
    # The noise tells vertices apart that all landmarks see alike.
    places = _principal_plane(hops) + np.random.default_rng(0).normal(scale=0.1, size=(n, 2))
    for _ in range(STEPS):
        vectors = difference @ places
        excess = weight * (1 - wanted / np.maximum(np.hypot(*vectors.T), 1e-9))
        places -= (back @ (excess[:, None] * vectors)) / inertia
    return places


def _pairs(
    pattern: sparse.csr_array, landmarks: NDArray[np.int64], hops: NDArray[np.float64]
) -> tuple[sparse.csr_array, NDArray[np.float64]]:
    """Return a matrix that subtracts the places of a pair, a row each, and how many hops apart the two are."""
    n, rows = pattern.shape[0], np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    edges = np.stack([rows, pattern.indices])[:, rows < pattern.indices]
    # Neighbours of one vertex are at most two hops apart; nothing else keeps the leaves of a hub from each other.
    beside = np.stack([pattern.indices[:-1], pattern.indices[1:]])[:, rows[:-1] == rows[1:]]
    far = np.stack([np.tile(np.arange(n), len(landmarks)), np.repeat(landmarks, n)])
    tails, heads = np.concatenate([far, edges, beside], axis=1)
    wanted = np.concatenate([hops.ravel(), np.ones(edges.shape[1]), np.full(beside.shape[1], 2.0)])
    apart = wanted > 0
    count, ends = np.count_nonzero(apart), np.column_stack([tails, heads])[apart].ravel()
    signs, starts = np.tile([1.0, -1.0], count), np.arange(0, 2 * count + 1, 2)
    return sparse.csr_array((signs, ends, starts), shape=(count, n)), wanted[apart]


def _hops_from_landmarks(pattern: sparse.csr_array) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return landmarks, from a hub on each the farthest from those before it, and all hops from each of them."""
    landmarks, hops = [int(np.argmax(np.diff(pattern.indptr)))], []
    while True:
        hops.append(dijkstra(pattern, unweighted=True, indices=landmarks[-1]))
        nearest = np.min(hops, axis=0)
        if len(hops) == LANDMARKS or not nearest.any():
            return np.array(landmarks), np.array(hops)
        landmarks.append(int(np.argmax(nearest)))


def _principal_plane(hops: NDArray[np.float64]) -> Places:
    """Place vertices by classical scaling: the two main axes of their centred squared hops from the landmarks."""
    squares = hops.T**2
    centred = -(squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()) / 2
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :2]
    plane = centred @ axes
    scale = np.sqrt(np.mean(hops**2) / max(np.mean((plane**2).sum(axis=1)), 1e-9) / 2)
    return np.pad(scale * plane, ((0, 0), (0, 2 - plane.shape[1])))
