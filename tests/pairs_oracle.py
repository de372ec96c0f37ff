"""The sums of a piece as they are defined: over all pairs, from distances and path counts between all vertices.

Graphs are dictionaries {(u, v): length} here, of stored edges; those in hops have length 1.
"""

import numpy as np


def sums_over_pairs(n, lengths, sources, targets):
    """F of each vertex, and the sum of each stored edge in the order of the keys; sums of lengths are exact."""
    length = np.full((n, n), np.inf)
    for (u, v), x in lengths.items():
        length[u, v] = x
    dist = length.copy()
    np.fill_diagonal(dist, 0)
    for v in range(n):
        dist = np.minimum(dist, dist[:, v, None] + dist[v])
    sigma = np.eye(n)
    for s in range(n):
        for v in np.argsort(dist[s], kind="stable"):
            if v != s and np.isfinite(dist[s, v]):
                sigma[s, v] = sigma[s, dist[s] + length[:, v] == dist[s, v]].sum()
    # S(s) T(t) / sigma_st, 0 where s is t or does not reach it.
    demand = np.outer(sources, targets)
    demand[~np.isfinite(dist)] = 0
    np.fill_diagonal(demand, 0)
    demand /= np.maximum(sigma, 1)
    vertices = np.zeros(n)
    for v in range(n):
        between = dist[:, v, None] + dist[v] == dist
        between[v, :] = between[:, v] = False
        vertices[v] = (demand * np.outer(sigma[:, v], sigma[v]))[between].sum()
    edges = [
        (demand * np.outer(sigma[:, u], sigma[v]))[dist[:, u, None] + x + dist[v] == dist].sum()
        for (u, v), x in lengths.items()
    ]
    return vertices, np.array(edges)


def lengths_of_graph(graph):
    """The stored edges of a `Graph`, in the order of its indices."""
    weights = np.ones(graph.nnz) if graph.weights is None else graph.weights
    ends = zip(graph.rows.tolist(), graph.indices.tolist(), strict=True)
    return dict(zip(ends, weights.tolist(), strict=True))


def piece_sums(piece):
    """Sums of a piece, by the graph in which each member of a vertex is one; all demand is between first members."""
    n, of_graph = piece.graph.n, lengths_of_graph(piece.graph)
    members = np.ones(n, int) if piece.class_sizes is None else piece.class_sizes.astype(int)
    first = np.append(0, np.cumsum(members))
    lengths, edge_of = {}, []
    for edge, ((u, v), length) in enumerate(of_graph.items()):
        copies = [(x, y) for x in range(first[u], first[u + 1]) for y in range(first[v], first[v + 1])]
        lengths |= dict.fromkeys(copies, length)
        edge_of += [edge] * len(copies)
    weights = np.zeros((2, first[-1]))
    weights[:, first[:-1]] = piece.sources, piece.targets
    vertices, edges = sums_over_pairs(first[-1], lengths, *weights)
    vertex_of = np.repeat(np.arange(n), members)
    return np.bincount(vertex_of, vertices, n), np.bincount(np.array(edge_of, int), edges, len(of_graph))


def assert_close(ours, theirs):
    """To rounding of the largest sum."""
    assert ours.shape == theirs.shape
    assert np.all(np.isfinite(ours))
    assert np.max(np.abs(ours - theirs), initial=0) <= 1e-13 * max(1e-100, np.max(np.abs(theirs), initial=0))
