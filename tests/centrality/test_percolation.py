"""Percolation centrality is NetworkX's."""

import networkx as nx
import numpy as np
import pytest

import lagbc


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_percolation_is_that_of_networkx(kind, weight):
    G = kind(nx.karate_club_graph())
    if kind is nx.DiGraph:
        G.remove_edges_from([(u, v) for u, v in G.edges if u > v and (u + v) % 3])
    states = np.random.default_rng(1).random(34)
    states[[3, 5]] = 0
    theirs = nx.percolation_centrality(G, states=dict(zip(G, states, strict=True)), weight=weight, backend="networkx")
    ours = lagbc.percolation(G, states, weighted=weight is not None)
    np.testing.assert_allclose(ours, list(theirs.values()), rtol=1e-12)
    assert ours.any()


def test_equal_states_give_normalized_betweenness():
    G = nx.karate_club_graph()
    np.testing.assert_allclose(lagbc.percolation(G, np.full(34, 1e-300)), lagbc.bc(G, normalized=True), rtol=1e-12)


def test_states_of_any_size():
    G = nx.path_graph(4)
    # Of vertex 1 the sum over the others, 2, is lost in 1e30 + 2 - 1e30.
    np.testing.assert_allclose(lagbc.percolation(G, [1, 1e30, 1, 0]), [0, 3 / 2 / 2, 1 / 2, 0], rtol=1e-12)
    assert lagbc.percolation(G, [0, 1, 0, 0]).tolist() == [0, 0, 0.5, 0]
    assert lagbc.percolation(G, np.zeros(4)).tolist() == [0] * 4
    assert lagbc.percolation(G, np.full(4, 1e308)).tolist() == pytest.approx(lagbc.bc(G, normalized=True).tolist())
    assert lagbc.percolation(np.zeros((1, 1)), [1]).tolist() == [0]


@pytest.mark.parametrize(("least", "most"), [(1e-300, 1e300), (5e-324, 1e-10)])
def test_states_too_far_apart(least, most):
    G = nx.path_graph(4)
    # The state of vertex 1, as a share of the others', would be lost, and with it the score of vertex 2.
    with pytest.raises(ValueError, match=r"that of vertex 3 is .*e-3.*, that of vertex 2 1e.*; pass 0 for those"):
        lagbc.percolation(G, [0, 0, most, least])
    np.testing.assert_allclose(lagbc.percolation(G, [1e-280, 0, 1, 1e-280])[2], 3 / 2 / 2, rtol=1e-12)


def test_states_may_be_a_mapping():
    G = nx.les_miserables_graph()
    states = {name: len(name) / 20 for name in sorted(G)}
    np.testing.assert_array_equal(lagbc.percolation(G, states), lagbc.percolation(G, [states[name] for name in G]))
    np.testing.assert_allclose(lagbc.percolation(np.eye(4, k=1), {3: 1, 2: 1, 1: 0, 0: 1}), [0, 1 / 3, 1 / 4, 0])
    with pytest.warns(UserWarning, match="states names 76 vertices of 77; the others have 0"):
        found = lagbc.percolation(G, {name: state for name, state in states.items() if name != "Valjean"})
    np.testing.assert_array_equal(found, lagbc.percolation(G, states | {"Valjean": 0}))
    with pytest.raises(ValueError, match="states has a number for 'nobody', which is none of the 77"):
        lagbc.percolation(G, states | {"nobody": 1})
