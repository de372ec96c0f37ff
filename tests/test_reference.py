"""The oracle itself: against closed forms in exact rationals, and against NetworkX."""

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from families import complete_bipartite, cycle, diamonds, edges_of, layered, matrix, path, star
from hypothesis import given
from hypothesis import strategies as st
from strategies import adjacency, diamond_scores, graphs, oracle, vertex_weights

from lagbc.reference import brandes, count_hops, count_lengths, edge_scores, stress


def exact(A, **options):
    return brandes(*adjacency(A), number=Fraction, **options)


CLOSED_FORMS = {
    "path": (path(9), [2 * v * (8 - v) for v in range(9)]),
    "star": (star(7), [7 * 6] + [0] * 7),
    # Two vertices of one side are joined by one path through each vertex of the other.
    "complete bipartite": (complete_bipartite(3, 5), [Fraction(5 * 4, 3)] * 3 + [Fraction(3 * 2, 5)] * 5),
    # All vertices of a layer are alike, so an inner one has 1/width of the pairs across it.
    "layers": (layered(5, 3), [Fraction(i * (4 - i) * 3) for i in range(5) for _ in range(3)]),
    # Ordered pairs times inner vertices of their paths, evenly spread: sum over pairs of (d - 1), over n vertices.
    **{f"cycle of {n}": (cycle(n), [sum(min(d, n - d) - 1 for d in range(1, n))] * n) for n in (3, 4, 5, 8, 9)},
}


@pytest.mark.parametrize(("A", "scores"), CLOSED_FORMS.values(), ids=CLOSED_FORMS)
def test_closed_forms(A, scores):
    assert exact(A) == scores


@pytest.mark.parametrize(("count", "ways"), [(1, 2), (5, 3), (40, 3), (1100, 2)])
def test_diamonds(count, ways):
    A = diamonds(count, ways)
    _, _, sigma, depth = count_hops(*adjacency(A), 0)
    assert sigma[:: ways + 1] == [ways**d for d in range(count + 1)]
    assert depth[-1] == 2 * count
    if count < 100:
        assert exact(A) == diamond_scores(count, ways)
    else:
        delta = exact(A, sources=[0])
        n = A.shape[0]
        assert delta[ways + 1 :: ways + 1] == [n - 1 - v for v in range(ways + 1, n, ways + 1)]


def test_bidirectional_sum_of_sources():
    A = path(6)
    parts = [exact(A, sources=[s]) for s in range(6)]
    assert [sum(column) for column in zip(*parts, strict=True)] == exact(A)


@given(st.data())
def test_weights_of_vertices_are_sums_over_pairs(data):
    # The definition, pair by pair: S(v) = sum of m[s] * omega[t] * sigma_st(v) / sigma_st.
    A = data.draw(graphs(max_n=7))
    n = A.shape[0]
    omega, times = data.draw(vertex_weights(n)), data.draw(vertex_weights(n))
    searches = [count_hops(*adjacency(A), s) for s in range(n)]
    expected, stressed, edges = [Fraction(0)] * n, [Fraction(0)] * n, dict.fromkeys(sorted(edges_of(A)), Fraction(0))
    for s in range(n):
        for t in range(n):
            for v in range(n):
                to, through, on = searches[s][3][t], searches[s][3][v], searches[v][3][t]
                if len({s, t, v}) == 3 and through >= 0 and on >= 0 and through + on == to:
                    share = Fraction(searches[s][2][v] * searches[v][2][t], searches[s][2][t])
                    expected[v] += Fraction(times[s]) * Fraction(omega[t]) * share
                    stressed[v] += Fraction(omega[t]) * searches[s][2][v] * searches[v][2][t]
            for u, w in edges:
                before, after = searches[s][3][u], searches[w][3][t]
                if s != t and min(before, after) >= 0 and before + 1 + after == searches[s][3][t]:
                    on = Fraction(searches[s][2][u] * searches[w][2][t], searches[s][2][t])
                    edges[u, w] += Fraction(omega[t]) * on
    assert exact(A, target_weights=omega, source_weights=times) == expected
    exactly = {"target_weights": list(map(Fraction, omega)), "number": Fraction}
    assert edge_scores(*adjacency(A), **exactly) == list(edges.values())
    assert stress(*adjacency(A), target_weights=omega) == stressed


@given(graphs(), st.booleans())
def test_against_networkx(A, endpoints):
    G = nx.from_scipy_sparse_array(A.tocsr(), create_using=nx.DiGraph)
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    theirs = nx.betweenness_centrality(G, normalized=False, endpoints=endpoints)
    np.testing.assert_allclose(oracle(A, endpoints=endpoints), list(theirs.values()), rtol=1e-12)


@given(st.data())
def test_lengths_against_networkx(data):
    A = data.draw(graphs())
    indptr, indices = adjacency(A)
    lengths = data.draw(st.lists(st.integers(1, 4), min_size=len(indices), max_size=len(indices)))
    G = nx.DiGraph()
    G.add_nodes_from(range(A.shape[0]))
    tails = np.repeat(np.arange(A.shape[0]), np.diff(indptr)).tolist()
    G.add_weighted_edges_from(zip(tails, indices, lengths, strict=True))
    theirs = nx.betweenness_centrality(G, normalized=False, weight="weight")
    ours = brandes(indptr, indices, lengths, number=Fraction)
    np.testing.assert_allclose([float(x) for x in ours], list(theirs.values()), rtol=1e-12)


@given(graphs())
def test_lengths_of_one_are_hops(A):
    assert exact(A, weights=[1] * len(edges_of(A))) == exact(A)


def test_lengths_closed_form():
    # 0 -> 1 -> 3 and 0 -> 2 -> 3 tie at 3; the edge 0 -> 3 is longer.
    indptr, indices = adjacency(matrix(4, [(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)]))
    order, predecessors, sigma, dist = count_lengths(indptr, indices, [1, 2, 4, 2, 1], 0)
    assert (order, predecessors[3], sigma, dist) == ([0, 1, 2, 3], [1, 2], [1, 1, 1, 2], [0, 1, 2, 3])
