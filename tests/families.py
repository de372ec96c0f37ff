"""Named families of graphs, for tests and for the processes that they start: it imports little.

Nothing here uses lagbc, so that an error there cannot hide.
"""

import numpy as np
import scipy.sparse as sp


def matrix(n, edges):
    """COO matrix of ones; self loops and duplicates stay as they are given."""
    i, j = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    return sp.coo_array((np.ones(len(i)), (i, j)), shape=(n, n))


def edges_of(A, *, directed=True):
    """The set of edges (i, j), i != j, that the entries of a matrix mean."""
    return set(lengths_of(A, directed=directed))


def lengths_of(A, *, directed=True):
    """The length of each edge (i, j), i != j: duplicates add up, and of two directions the smaller one counts."""
    coo = sp.coo_array(A)
    edges = {}
    for i, j, length in zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True):
        if i != j:
            edges[i, j] = edges.get((i, j), 0) + length
    if directed:
        return edges
    both = {*edges, *((j, i) for i, j in edges)}
    return {(i, j): min(edges.get((i, j), np.inf), edges.get((j, i), np.inf)) for i, j in both}


def with_lengths(A, values, seed=0):
    """A's pattern with lengths drawn from some values, the same both ways; without loops and duplicates."""
    entries = np.unique(np.ravel_multi_index(sp.coo_array(A).coords, A.shape))
    i, j = np.unravel_index(entries, A.shape)
    i, j = i[i != j], j[i != j]
    edges, edge_of_entry = np.unique(np.minimum(i, j) * A.shape[0] + np.maximum(i, j), return_inverse=True)
    drawn = np.random.default_rng(seed).choice(values, len(edges))
    return sp.coo_array((drawn[edge_of_entry], (i, j)), shape=A.shape)


def both_ways(n, edges):
    return matrix(n, [*edges, *((j, i) for i, j in edges)])


def path(n):
    return both_ways(n, [(v, v + 1) for v in range(n - 1)])


def cycle(n):
    return both_ways(n, [(v, (v + 1) % n) for v in range(n)])


def star(leaves):
    return both_ways(leaves + 1, [(0, v) for v in range(1, leaves + 1)])


def complete_bipartite(a, b):
    return both_ways(a + b, [(u, a + w) for u in range(a) for w in range(b)])


def grid(rows, columns):
    v = np.arange(rows * columns).reshape(rows, columns)
    pairs = [(v[:, :-1], v[:, 1:]), (v[:-1], v[1:])]
    tails, heads = (np.concatenate([pair[side].ravel() for pair in pairs]) for side in (0, 1))
    i, j = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    return sp.coo_array((np.ones(len(i)), (i, j)), shape=(v.size, v.size))


def diamonds(count, ways):
    """Chain of `count` diamonds: joint 0, then of each diamond its `ways` middles and the next joint.

    There are ways**d shortest paths between two joints d diamonds apart.
    """
    edges = []
    for d in range(count):
        joint, following = d * (ways + 1), (d + 1) * (ways + 1)
        edges += [edge for middle in range(joint + 1, following) for edge in ((joint, middle), (middle, following))]
    return matrix(count * (ways + 1) + 1, edges)


def in_a_row(first, then):
    """The last vertex of a graph is the first one of the next."""
    first, then = sp.coo_array(first), sp.coo_array(then)
    joint = first.shape[0] - 1
    coords = [np.r_[here, there + joint] for here, there in zip(first.coords, then.coords, strict=True)]
    return sp.coo_array((np.r_[first.data, then.data], coords), shape=[joint + then.shape[0]] * 2)


def layered(layers, width):
    """Every vertex of a layer has an edge to every vertex of the next one."""
    edges = np.array([(u, w) for u in range(width) for w in range(width, 2 * width)])
    return matrix(layers * width, (edges + width * np.arange(layers - 1)[:, None, None]).reshape(-1, 2))


def scale_free(n, edges, seed):
    """Directed random graph whose endpoints are drawn by a power law."""
    rng = np.random.default_rng(seed)
    chance = 1.0 / np.arange(1, n + 1)
    i, j = (rng.permutation(n)[rng.choice(n, edges, p=chance / chance.sum())] for _ in range(2))
    return matrix(n, np.column_stack([i, j]))


def disjoint(*parts):
    return sp.block_diag(parts, format="coo")
