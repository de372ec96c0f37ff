"""The scores of a piece as they are defined: over all pairs, from distances and path counts between all vertices.

Graphs are dictionaries {(u, v): length} here, of stored edges; those in hops have length 1.
"""

import numpy as np


def all_pairs(n, lengths):
    """Distances (inf unreached) and path counts between all vertices; lengths are whole numbers."""
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
    return dist, sigma


def demand_per_path(sources, targets, dist, sigma):
    """S(s) T(t) / sigma_st, 0 where s is t or does not reach it."""
    demand = np.outer(sources, targets)
    demand[~np.isfinite(dist)] = 0
    np.fill_diagonal(demand, 0)
    return demand / np.maximum(sigma, 1)


def vertex_scores(n, lengths, sources, targets):
    dist, sigma = all_pairs(n, lengths)
    demand, scores = demand_per_path(sources, targets, dist, sigma), np.zeros(n)
    for v in range(n):
        between = dist[:, v, None] + dist[v] == dist
        between[v, :] = between[:, v] = False
        scores[v] = (demand * np.outer(sigma[:, v], sigma[v]))[between].sum()
    return scores


def edge_scores(n, lengths, sources, targets):
    """Of each stored edge, in the order of the keys."""
    dist, sigma = all_pairs(n, lengths)
    demand = demand_per_path(sources, targets, dist, sigma)
    return np.array(
        [
            (demand * np.outer(sigma[:, u], sigma[v]))[dist[:, u, None] + x + dist[v] == dist].sum()
            for (u, v), x in lengths.items()
        ]
    )


def lengths_of_graph(graph):
    """The stored edges of a `Graph`, in the order of its indices."""
    weights = np.ones(graph.nnz) if graph.weights is None else graph.weights
    return {
        (u, int(graph.indices[e])): float(weights[e])
        for u in range(graph.n)
        for e in range(graph.indptr[u], graph.indptr[u + 1])
    }


def scores_of(piece):
    return vertex_scores(piece.graph.n, lengths_of_graph(piece.graph), piece.sources, piece.targets)


def edge_scores_of(piece):
    return edge_scores(piece.graph.n, lengths_of_graph(piece.graph), piece.sources, piece.targets)
