"""Orders in which sweeps number vertices and group roots. All functions take arrays of the host or of a device."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, dijkstra

from lagbc.cuda import compiler
from lagbc.graph.csr import module_of, rows_of

Order = NDArray[np.int64]

# Coordinates of a vertex in `proximity_order`: 4 left a row live at 20 % more levels on a mesh, 16 at none less.
LANDMARKS = 8
# Power iterations that find the principal axis of a piece.
POWER_STEPS = 4
# Hubs whose distances group the roots, at most 16: on R-MAT graphs 8 gained two thirds as much, 64 a tenth more.
HUBS = 16
# Levels that are searched for them. The graphs for which it is done have less, but where edges have directions.
HUB_LEVELS = 64


def degree_order(degrees: Any) -> Any:
    """Order vertices by falling degree, ties by number; vertices without edges come last."""
    return module_of(degrees).argsort(-degrees, kind="stable")


def proximity_order(indptr: Any, indices: Any, components: Any, leaf: int = 64) -> Any:
    """Order vertices so that each run of `leaf` of them, aligned to `leaf`, is a compact piece of the graph.

    The hop distances from a few landmarks far from each other are taken as coordinates, in which the vertices are
    bisected again and again, at the median of each piece along its principal axis. The roots of one batch then see a
    vertex at nearly the same distance, so that its row is live at few levels.

    Parameters
    ----------
    indptr, indices : arrays
        Symmetric pattern, on the host or on a device.
    components : array, shape (n,)
        Connected component of each vertex.
    leaf : int
        Vertices in a piece; the cuts of a component are at multiples of it.

    Returns
    -------
    order : array of int64, shape (n,), where `indptr` is
        Larger components come first. The same bits on every device: sums are of integers.

    Notes
    -----
    O(n log(n) log(n / leaf) + nnz). On a Delaunay mesh a row is live at 5.6 levels for 64 roots, on a road network at
    14; bisection of the graph itself by breadth-first search from the ends of each piece gave 7.0 and 21.
    """
    xp = module_of(indptr)
    n = len(indptr) - 1
    points = _landmark_distances(indptr, indices, components)
    sizes = xp.bincount(components)
    rank = xp.empty(len(sizes), np.int64)
    rank[xp.argsort(-sizes, kind="stable")] = xp.arange(len(sizes))
    order = xp.argsort(rank[components], kind="stable")
    starts = xp.flatnonzero(_is_first(rank[components][order]))
    while True:
        sizes = xp.diff(xp.append(starts, n))
        to_cut = sizes > leaf
        if not to_cut.any():
            return order
        piece = _piece_of(starts, n)
        along = xp.where(to_cut[piece], _principal_coordinate(points[:, order], starts, sizes, piece), 0.0)
        # By piece, then along the axis, then as before: both sorts are stable.
        by_axis = xp.argsort(along, kind="stable")
        order = order[by_axis[xp.argsort(piece[by_axis], kind="stable")]]
        half = leaf * ((-(-sizes // leaf) + 1) // 2)
        starts = xp.sort(xp.concatenate([starts, (starts + half)[to_cut]]))


def _is_first(values: Any) -> Any:
    """Whether each of some sorted values differs from the one before."""
    xp = module_of(values)
    return xp.concatenate([xp.ones(min(len(values), 1), bool), values[1:] != values[:-1]])


def _piece_of(starts: Any, n: int) -> Any:
    """Return the number of the piece that each position is in."""
    xp = module_of(starts)
    marks = xp.zeros(n, np.int64)
    marks[starts] = 1
    return xp.cumsum(marks) - 1


def _landmark_distances(indptr: Any, indices: Any, components: Any) -> Any:
    """Hop distances to `LANDMARKS` landmarks of its component, for each vertex; each is the farthest from the others.

    The first landmark is the vertex farthest from the first of its component, and thus at an end of it. Shape
    (LANDMARKS, n).
    """
    xp = module_of(indptr)
    first = xp.unique(components, return_index=True)[1]
    last = xp.cumsum(xp.bincount(components)) - 1
    nearest = hop_distances(indptr, indices, first)
    distances = xp.empty((LANDMARKS, len(components)), np.int64)
    for i in range(LANDMARKS):
        # The last vertex of each component in the order of (component, distance) is its farthest.
        by_distance = xp.argsort(nearest, kind="stable")
        farthest = by_distance[xp.argsort(components[by_distance], kind="stable")][last]
        distances[i] = hop_distances(indptr, indices, farthest)
        nearest = distances[0] if i == 0 else xp.minimum(nearest, distances[i])
    return distances


def _principal_coordinate(points: Any, starts: Any, sizes: Any, piece: Any) -> Any:
    """Coordinate of each point along the principal axis of its piece, by power iteration on the pieces' covariances.

    The sums are of integers, so that they are exact in any order: coordinates are coarsened to 15 bits for them.
    """
    xp = module_of(points)
    coarse = points >> max(0, int(points.max()).bit_length() - 15)
    sums = [_sum_pieces(x, starts, sizes).astype(np.float64) for x in coarse]
    covariance = {}
    for a, b in combinations_with_replacement(range(len(coarse)), 2):
        moment = _sum_pieces(coarse[a] * coarse[b], starts, sizes)
        covariance[a, b] = covariance[b, a] = moment - sums[a] * sums[b] / sizes
    # An axis that no symmetric piece has for an eigenvector.
    axes = [xp.full(len(starts), 1 + a / (len(coarse) - 1)) for a in range(len(coarse))]
    for _ in range(POWER_STEPS):
        axes = [sum(covariance[a, b] * axis for b, axis in enumerate(axes)) for a in range(len(axes))]
        longest = xp.maximum(sum(abs(axis) for axis in axes), 1e-30)
        axes = [axis / longest for axis in axes]
    return sum(axis[piece] * x for axis, x in zip(axes, points, strict=True))


def _sum_pieces(values: Any, starts: Any, sizes: Any) -> Any:
    """Sum of the integers of each piece."""
    if isinstance(values, np.ndarray):
        return np.add.reduceat(values, starts)
    ends = module_of(values).cumsum(values)[starts + sizes - 1]
    return module_of(values).diff(ends, prepend=0)


def group_by_hubs(indptr: Any, indices: Any, vertices: Any) -> Any:
    """Group vertices that see the hubs of a graph, its first `HUBS` vertices, at the same distances.

    On a graph of few levels most shortest paths lead by the hubs, so that such vertices, as roots of one batch, see
    most others at the same levels, too: a row is live at fewer levels, in more columns at each.

    Parameters
    ----------
    indptr, indices : arrays
        Pattern, on the host or on a device.
    vertices : array of int64
        Where `indptr` is.

    Returns
    -------
    vertices : array of int64
        By their hop distances to the first hub, then to the second, and so on; in the order given where all agree.
    """
    distances = hub_distances(indptr, indices)[:, vertices]
    return vertices[module_of(indptr).lexsort(distances[::-1])]


def group_by_length(reverse: csr_array, vertices: Any) -> Any:
    """Group vertices as `group_by_hubs` does, where edges have lengths: by their distances to the first vertex.

    Parameters
    ----------
    reverse : csr_array
        Lengths of the reversed edges.
    vertices : array of int64

    Returns
    -------
    vertices : array of int64
        Those that do not reach the hub, then the nearest first. Few distances are alike, so that one hub is enough.
    """
    distances = dijkstra(reverse, indices=0)[vertices]
    return vertices[np.argsort(np.where(np.isfinite(distances), distances, -1.0), kind="stable")]


def hub_distances(indptr: Any, indices: Any) -> Any:
    """Hop distances from every vertex to each of the first `HUBS`; 0 where no path, of up to `HUB_LEVELS`, leads there.

    All are searched for at once, a bit each: a vertex joins a search when the head of one of its edges has. Shape
    (HUBS, n), or (n, n) if there are fewer vertices.
    """
    n = len(indptr) - 1
    hubs = min(HUBS, n)
    if not isinstance(indptr, np.ndarray):
        return _hub_distances_on_device(indptr, indices, hubs)
    distances = np.zeros((hubs, n), np.int32)
    frontier = np.zeros(n, np.uint16)
    frontier[:hubs] = 1 << np.arange(hubs)
    seen = frontier.copy()
    rows = np.flatnonzero(np.diff(indptr))
    for level in range(1, HUB_LEVELS + 1):
        joined = np.bitwise_or.reduceat(frontier[indices], indptr[rows]) & ~seen[rows]
        frontier[:] = 0
        frontier[rows] = joined
        seen |= frontier
        found = np.flatnonzero(frontier)
        if not len(found):
            break
        here = frontier[found] >> np.arange(hubs, dtype=np.uint16)[:, None] & 1
        distances[:, found] += level * here.astype(np.int32)
    return distances


def _hub_distances_on_device(indptr: Any, indices: Any, hubs: int) -> Any:
    xp = module_of(indptr)
    n = len(indptr) - 1
    distances = xp.zeros((hubs, n), np.int32)
    frontiers = xp.zeros((2, n), np.uint32)
    frontiers[0, :hubs] = xp.left_shift(xp.uint32(1), xp.arange(hubs, dtype=np.uint32))
    kernel = compiler.load("breadth_first", "float64", cooperative=True).get_function("hub_distances")
    blocks = compiler.resident_blocks(compiler.THREADS, kernel)
    searches = frontiers, frontiers[0].copy(), distances
    sizes = np.int32(n), np.int32(hubs), np.int32(HUB_LEVELS)
    arguments = (*sizes, indptr, indices, *searches, xp.zeros(3, np.int32), xp.zeros(1, np.uint32))
    kernel((blocks,), (compiler.THREADS,), arguments)
    return distances


def weak_components(indptr: Any, indices: Any) -> Any:
    """Weakly connected component of each vertex, numbered from 0 in the order of their first vertices.

    On a device each component's labels are hooked to smaller neighbouring ones, then shortened, until none is left to
    hook: Shiloach and Vishkin (1982).
    """
    n, nnz = len(indptr) - 1, len(indices)
    if isinstance(indptr, np.ndarray):
        pattern = csr_array((np.ones(nnz, np.bool_), indices, indptr), shape=(n, n))
        return connected_components(pattern, directed=True, connection="weak")[1]
    xp = module_of(indptr)
    rows = rows_of(indptr, indices)
    labels = xp.arange(n, dtype=np.int32)
    while True:
        a, b = labels[rows], labels[indices]
        if not (a != b).any():
            return xp.unique(labels, return_inverse=True)[1]
        xp.minimum.at(labels, xp.maximum(a, b), xp.minimum(a, b))
        while (labels[labels] != labels).any():
            labels = labels[labels]


def bfs_extent(indptr: Any, indices: Any, root: int) -> tuple[int, int]:
    """Return the largest hop distance from `root`, a lower bound of the diameter, and how many vertices it reaches."""
    distances = hop_distances(indptr, indices, module_of(indptr).array([root]))
    return int(distances.max()), int((distances > 0).sum()) + 1


def hop_distances(indptr: Any, indices: Any, roots: Any) -> Any:
    """Hop distance of each vertex from the nearest of some roots; 0 where no root is in reach."""
    if not isinstance(indptr, np.ndarray):
        return _hop_distances_on_device(indptr, indices, roots)
    n = len(indptr) - 1
    # SciPy searches from one vertex: an extra one, n, joined to all roots.
    indptr = np.append(indptr, indptr[-1] + len(roots)).astype(indices.dtype if len(indices) < 2**31 else np.int64)
    indices = np.concatenate([indices, roots.astype(indices.dtype)])
    joined = csr_array((np.ones(len(indices), np.bool_), indices, indptr), shape=(n + 1, n + 1))
    found, parent = breadth_first_order(joined, n, directed=True)
    position = np.empty(n + 1, np.int64)
    position[found] = np.arange(len(found))
    # Pointer jumping over the BFS tree, in BFS order: depth[i] counts the steps to ancestor[i]; n's is itself.
    ancestor = np.zeros(len(found), np.int64)
    ancestor[1:] = position[parent[found[1:]]]
    depth = np.ones(len(found), np.int64)
    depth[0] = 0
    while ancestor.any():
        depth += depth[ancestor]
        ancestor = ancestor[ancestor]
    distances = np.zeros(n, np.int64)
    distances[found[1:]] = depth[1:] - 1
    return distances


def _hop_distances_on_device(indptr: Any, indices: Any, roots: Any) -> Any:
    xp = module_of(indptr)
    depth = xp.full(len(indptr) - 1, -1, np.int32)
    depth[roots] = 0
    kernel = compiler.load("breadth_first", "float64", cooperative=True).get_function("breadth_first")
    blocks = compiler.resident_blocks(compiler.THREADS, kernel)
    arguments = (np.int32(len(depth)), indptr, indices, depth, xp.zeros(3, np.int32), xp.zeros(1, np.uint32))
    kernel((blocks,), (compiler.THREADS,), arguments)
    return xp.maximum(depth, 0).astype(np.int64)
