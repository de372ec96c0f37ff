"""Seeded random graphs, each a symmetric pattern (bool, int32 indices, no self loops) as a `scipy.sparse.csr_array`.

`with_lengths` gives the edges of any of them lengths.

The same arguments give the same graph on every run. Nothing here needs lagbc.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import Delaunay, cKDTree

Vertices = NDArray[np.integer]


def rmat(scale: int, edge_factor: int, seed: int = 0, *, part: tuple[int, int] | None = None) -> csr_array:
    """R-MAT graph of the Graph500 quadrant probabilities (a, b, c, d) = (.57, .19, .19, .05), vertices in random order.

    Parameters
    ----------
    scale
        There are ``2**scale`` vertices, many of them isolated.
    edge_factor
        ``edge_factor * 2**scale`` edges are drawn; loops are dropped and equal edges merged.
    seed
        Seed of the generator.
    part
        Number and count of parts: the edges of one of them. All parts together are another graph than the whole.

    References
    ----------
    Chakrabarti, Zhan, Faloutsos: R-MAT: a recursive model for graph mining, SDM 2004.
    """
    number, count = part or (0, 1)
    rng = np.random.default_rng(seed if part is None else [seed, number])
    n, drawn = 1 << scale, (edge_factor << scale) // count
    row, col = np.zeros(drawn, np.int32), np.zeros(drawn, np.int32)
    for _ in range(scale):
        for first in range(0, drawn, 1 << 16):  # in pieces that stay in cache
            bit_row, bit_col = row[first : first + (1 << 16)], col[first : first + (1 << 16)]
            x = rng.random(len(bit_row))
            bit_row += bit_row + (x >= 0.76)
            bit_col += bit_col + (((x >= 0.57) & (x < 0.76)) | (x >= 0.95))
    label = (rng if part is None else np.random.default_rng(seed)).permutation(n)
    return _symmetric(n, label[row], label[col])


def delaunay(n: int, seed: int = 0) -> csr_array:
    """Delaunay triangulation of `n` uniform points in the unit square, numbered at random (the order of the points)."""
    points = np.random.default_rng(seed).random((n, 2))
    return _symmetric(n, *_sides(points))


def random_geometric(n: int, seed: int = 0) -> csr_array:
    """Join those of `n` uniform points in the unit square that are nearer than ``0.55 sqrt(ln(n) / n)``."""
    points = np.random.default_rng(seed).random((n, 2))
    pairs = cKDTree(points).query_pairs(0.55 * np.sqrt(np.log(n) / n), output_type="ndarray")
    return _symmetric(n, pairs[:, 0], pairs[:, 1])


def holed_grid(rows: int, cols: int, seed: int = 0) -> csr_array:
    """Four-neighbour grid of ``rows * cols`` vertices in row order, a random 20 % of its edges removed."""
    vertex = np.arange(rows * cols).reshape(rows, cols)
    tail = np.concatenate([vertex[:, :-1].ravel(), vertex[:-1].ravel()])
    head = np.concatenate([vertex[:, 1:].ravel(), vertex[1:].ravel()])
    kept = np.random.default_rng(seed).permutation(len(tail))[len(tail) // 5 :]
    return _symmetric(rows * cols, tail[kept], head[kept])


def barabasi_albert(n: int, m: int, seed: int = 0) -> csr_array:
    """Preferential attachment: every vertex from `m` on joins `m` distinct earlier ones, chosen by degree.

    The graph has exactly ``m * (n - m)`` edges. Cost: O(n m).

    References
    ----------
    Barabasi, Albert: Emergence of scaling in random networks, Science 286 (1999).
    """
    rng = np.random.default_rng(seed)
    joined = np.empty((n - m, m), np.int32)
    joined[0] = np.arange(m)
    # Every vertex stands here once per edge end, so that a uniform draw from it is a draw by degree.
    ends = np.empty(2 * m * (n - m), np.int32)
    for step in range(n - m):
        filled = 2 * m * step
        if step:
            joined[step] = _distinct(ends[:filled], m, rng)
        ends[filled : filled + m] = joined[step]
        ends[filled + m : filled + 2 * m] = m + step
    return _symmetric(n, np.repeat(np.arange(m, n), m), joined.ravel())


def road_like(n: int, seed: int = 0) -> csr_array:
    """Euclidean minimum spanning tree of `n` uniform points plus a random 15 % of the other Delaunay edges.

    Connected, mean degree about 2.6 and a diameter of about ``sqrt(n)``, as road networks have. Vertices are numbered
    at random.
    """
    rng = np.random.default_rng(seed)
    points = rng.random((n, 2))
    tail, head = _sides(points)
    length = np.hypot(*(points[tail] - points[head]).T)
    tree = minimum_spanning_tree(csr_array((length, (tail, head)), shape=(n, n))).tocoo()
    in_tree = np.isin(tail.astype(np.int64) * n + head, tree.row.astype(np.int64) * n + tree.col)
    kept = in_tree | (rng.random(len(tail)) < 0.15)
    return _symmetric(n, tail[kept], head[kept])


def erdos_renyi(n: int, mean_degree: float, seed: int = 0) -> csr_array:
    """Uniform random graph of `n` vertices and ``round(n * mean_degree / 2)`` distinct edges."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(n * (n - 1) // 2, round(n * mean_degree / 2), replace=False, shuffle=False)
    # On a circle of n vertices, pair k joins vertex k % n to the one that is k // n + 1 places further: each pair once.
    tail = chosen % n
    return _symmetric(n, tail, (tail + chosen // n + 1) % n)


def random_directed(n: int, mean_degree: float, seed: int = 0) -> csr_array:
    """Draw edges one way between random vertices; with less than one a vertex, each reaches few."""
    tails, heads = np.random.default_rng(seed).integers(0, n, (2, int(mean_degree * n)))
    return coo_array((np.ones(len(tails), np.bool_), (tails, heads)), shape=(n, n)).tocsr()


def with_lengths(A: csr_array, seed: int = 0, largest: int = 10) -> csr_array:
    """Give the edges of a symmetric pattern random integer lengths from 1 to `largest`, the same both ways."""
    entries = A.tocoo()
    upper = entries.row < entries.col
    row, col = entries.row[upper], entries.col[upper]
    length = np.random.default_rng(seed).integers(1, largest + 1, len(row)).astype(np.float64)
    both = np.concatenate([row, col]), np.concatenate([col, row])
    return coo_array((np.concatenate([length, length]), both), shape=A.shape).tocsr()


def with_hashed_lengths(A: csr_array, seed: int = 0, largest: int = 10) -> csr_array:
    """Give the edges of any pattern random integer lengths from 1 to `largest`, the same both ways."""
    lengths = symmetric_lengths(A.indptr, A.indices, 1, largest, integer=True, seed=seed)
    return csr_array((lengths, A.indices, A.indptr), shape=A.shape)


def symmetric_lengths(
    indptr: NDArray[np.integer], indices: Vertices, least: float, most: float, integer: bool, seed: int = 0
) -> NDArray[np.float64]:
    """Lengths of the edges of a symmetric pattern in CSR form, uniform in least..most, alike both ways.

    The length of an edge is a hash of its two ends (the finalizer of SplitMix64, twice) and of the seed.
    """
    tails = np.repeat(np.arange(len(indptr) - 1, dtype=np.uint64), np.diff(indptr))
    heads = indices.astype(np.uint64)
    mixed = _mix(np.minimum(tails, heads) + np.uint64(seed * 0x9E3779B97F4A7C15 % 2**64))
    mixed = _mix(mixed ^ np.maximum(tails, heads))
    # 52 bits and a half: in (0, 1), and never a bound.
    uniform = ((mixed >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    if integer:
        return np.floor(least + uniform * (most - least + 1))
    return least + uniform * (most - least)


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _symmetric(n: int, row: Vertices, col: Vertices) -> csr_array:
    """Store both directions of every given edge; loops are dropped, equal edges merged."""
    proper = row != col
    row, col = row[proper].astype(np.int32), col[proper].astype(np.int32)
    both = np.concatenate([row, col]), np.concatenate([col, row])
    # In bool, the sum of duplicates is their "or".
    return coo_array((np.ones(len(both[0]), bool), both), shape=(n, n)).tocsr()


def _sides(points: NDArray[np.float64]) -> tuple[Vertices, Vertices]:
    """List the edges (tail < head), each once, of the Delaunay triangulation of `points`."""
    corners = np.sort(Delaunay(points).simplices, axis=1).astype(np.int64)
    n = len(points)
    key = np.unique(np.concatenate([corners[:, i] * n + corners[:, j] for i, j in ((0, 1), (0, 2), (1, 2))]))
    return key // n, key % n


def _distinct(ends: Vertices, m: int, rng: np.random.Generator) -> list[int]:
    """`m` distinct vertices, drawn one after the other from `ends`."""
    drawn: dict[int, None] = {}
    while len(drawn) < m:
        drawn |= dict.fromkeys(ends[rng.integers(len(ends), size=m - len(drawn))].tolist())
    return list(drawn)
