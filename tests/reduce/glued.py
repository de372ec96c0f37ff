"""Random graphs of many blocks: trees, cycles, cliques, thetas and others glued at vertices, in several components."""

from itertools import pairwise

import numpy as np


def cycle(k):
    return [(v, (v + 1) % k) for v in range(k)]


def path(k):
    return [(v, v + 1) for v in range(k - 1)]


def star(k):
    return [(0, v) for v in range(1, k)]


def clique(k):
    return [(u, v) for u in range(k) for v in range(u)]


def theta(*inner):
    """Two vertices, and chains between them with so many vertices inside; at most one has none."""
    edges, n = [], 2
    for k in inner:
        chain = [0, *range(n, n + k), 1]
        edges += pairwise(chain)
        n += k
    return edges


def bipartite(a, b):
    return [(u, a + v) for u in range(a) for v in range(b)]


def random_part(rng):
    kind = rng.integers(7)
    if kind == 0:
        return path(int(rng.integers(2, 5)))
    if kind == 1:
        return star(int(rng.integers(3, 6)))
    if kind == 2:
        return cycle(int(rng.integers(3, 8)))
    if kind == 3:
        return clique(int(rng.integers(3, 6)))
    if kind == 4:
        return theta(*rng.integers(1, 3, rng.integers(2, 4)).tolist())
    if kind == 5:
        return bipartite(2, int(rng.integers(2, 4)))
    k = int(rng.integers(4, 7))
    return [*cycle(k), *(edge for edge in clique(k) if rng.random() < 0.3)]


def random_edges(rng, most=14):
    """``(n, edges)`` of up to about `most` vertices, relabelled; with duplicates, loops and isolated vertices."""
    n, edges = 0, []
    while n < most:
        part = random_part(rng)
        size = 1 + max(map(max, part))
        names = list(range(n, n + size))
        if n and rng.random() < 0.85:  # else a component of its own
            names = [int(rng.integers(n)), *range(n, n + size - 1)]
            k = int(rng.integers(size))
            names[0], names[k] = names[k], names[0]
        n = max(n, 1 + max(names))
        edges += [(names[u], names[v]) for u, v in part]
    n += int(rng.integers(3)) // 2
    edges += [edges[k] for k in rng.integers(len(edges), size=2)] + [(0, 0)]
    label = rng.permutation(n)
    return n, [(int(label[u]), int(label[v])) for u, v in edges]


def barbell(k, between):
    """Two cliques of k with a path of so many edges between."""
    other = [(u + k, v + k) for u, v in clique(k)]
    bridge = [0, *range(2 * k, 2 * k + between - 1), k]
    return 2 * k + between - 1, [*clique(k), *other, *pairwise(bridge)]


def random_weights(rng, n):
    """Whole numbers, some of them 0; now and then any floats."""
    kind = rng.integers(4)
    if kind == 0:
        return np.ones(n)
    if kind == 3:
        return rng.random(n) * rng.integers(0, 2, n)
    return rng.integers(0, 4, n).astype(float)
