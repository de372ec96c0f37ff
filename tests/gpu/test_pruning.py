"""Edges that no shortest path takes: that none is left out that one takes, and that no result changes."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra
from strategies import disjoint, graphs, grid, matrix, oracle, scale_free, with_lengths

import lagbc
from lagbc import tuning
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan

LENGTHS = {
    "0 to 1": np.random.default_rng(1).uniform(1e-6, 1, 997),
    "1 to 10": np.arange(1, 11),
    "powers": 2.0 ** np.arange(-20, 21),
}


def prune_all(monkeypatch):
    """Have edges of small graphs left out, too."""
    monkeypatch.setattr(tuning, "PRUNING_LEAST_EDGES", 1)
    monkeypatch.setattr(tuning, "PRUNING_LEAST_ROOTS", 1)


@pytest.fixture
def leave_out(cupy, monkeypatch):
    """The function, which takes small graphs, too."""
    from lagbc.methods.gpu.delta_stepping import lengths as delta_stepping

    prune_all(monkeypatch)
    return lambda graph, **options: delta_stepping.prune(graph, SweepPlan(batch=256, **options))


def distances(graph):
    host = graph.on_host
    return dijkstra(sp.csr_array((host.weights, host.indices, host.indptr), shape=(host.n, host.n)))


@pytest.mark.parametrize("name", LENGTHS)
def test_only_longer_edges_are_left_out(leave_out, name, directed):
    A = with_lengths(disjoint(scale_free(300, 3000, seed=1), scale_free(90, 700, seed=2)), LENGTHS[name])
    graph = as_graph(A, directed=directed, weighted=True)
    part, places = leave_out(graph)
    places, part = places.get(), part.on_host
    expected, tails = distances(graph), graph.rows
    is_longer = graph.weights > expected[tails, graph.indices] * (1 + 1e-12)
    left_out = np.setdiff1d(np.arange(graph.nnz), places)
    assert is_longer[left_out].all()
    # The hubs are landmarks for most ways.
    assert len(left_out) > is_longer.sum() / 2 > graph.nnz / 20
    np.testing.assert_array_equal(part.indices, graph.indices[places])
    np.testing.assert_array_equal(part.rows, tails[places])
    np.testing.assert_array_equal(part.weights, graph.weights[places])
    np.testing.assert_allclose(distances(part), expected, rtol=1e-12)
    if not directed:
        assert part.matrix.nnz == (part.matrix != 0).multiply((part.matrix != 0).T).nnz


def test_every_landmark_that_reaches_both_ends_counts(leave_out):
    """All vertices are landmarks: every edge that is longer than a path of others is found, and no tie."""
    A = with_lengths(scale_free(200, 2000, seed=3), LENGTHS["1 to 10"])
    graph = as_graph(A, weighted=True)
    part, _ = leave_out(graph)
    assert part.nnz == int((graph.weights <= distances(graph)[graph.rows, graph.indices]).sum())


def test_what_rounding_may_make_tight_is_kept(leave_out):
    """0.1 + 0.2 is above 0.3, and 0.3 above 0.1 + 0.2 - 2e-16: both are paths once distances are rounded."""
    for direct in (0.3, np.nextafter(0.1 + 0.2, 1), 0.31):
        A = sp.csr_array(([0.1, 0.2, direct], ([0, 1, 0], [1, 2, 2])), shape=(3, 3))
        part, places = leave_out(as_graph(A, weighted=True))
        assert (part.nnz, places is None) == ((2, False) if direct == 0.31 else (3, True))


def test_graphs_that_are_taken_as_they_are(leave_out, monkeypatch):
    for A, options in (
        (with_lengths(scale_free(200, 2000, seed=1), [1, 2]), {}),
        (with_lengths(scale_free(200, 2000, seed=1), [1, 9]), {"rtol": 1e-9}),
        (with_lengths(grid(9, 60), [1, 9]), {}),
        (with_lengths(matrix(4, [(0, 1), (1, 2)]), [1, 9]), {}),
    ):
        graph = as_graph(A, weighted=True)
        assert leave_out(graph, **options) == (graph, None)
    graph = as_graph(with_lengths(scale_free(200, 2000, seed=1), [1, 9]), weighted=True)
    assert leave_out(graph)[1] is not None
    monkeypatch.setattr(tuning, "PRUNING_LEAST_ROOTS", 20)
    assert leave_out(graph, roots=20)[1] is not None
    assert leave_out(graph, roots=19) == (graph, None)
    monkeypatch.setattr(tuning, "PRUNING_LEAST_EDGES", graph.nnz + 1)
    assert leave_out(graph) == (graph, None)


def test_a_sweep_of_many_rounds_leaves_nothing_out(leave_out):
    """A hub whose edges are long, over a path of many short ones, not deep in hops."""
    n = 400
    ring = np.arange(1, n)
    tails, heads = np.concatenate([ring, 0 * ring]), np.concatenate([ring % (n - 1) + 1, ring])
    lengths = np.concatenate([np.ones(n - 1), np.full(n - 1, 1e3)])
    graph = as_graph(sp.csr_array((lengths, (tails, heads)), shape=(n, n)), directed=False, weighted=True)
    assert not graph.has_high_diameter
    assert leave_out(graph) == (graph, None)


@pytest.mark.parametrize("delta", ["auto", 0.25])
@pytest.mark.parametrize("name", LENGTHS)
def test_every_sum_is_that_of_all_edges(leave_out, name, directed, delta):
    A = with_lengths(disjoint(scale_free(200, 2000, seed=1), scale_free(40, 200, seed=2)), LENGTHS[name])
    assert leave_out(as_graph(A, directed=directed, weighted=True))[1] is not None
    which = ("bc", "edge_bc", "stress", "closeness", "harmonic", "eccentricity")
    options = {"directed": directed, "weighted": True}
    ours = lagbc.centralities(A, which, method="delta-stepping", device="cuda", bucket_width=delta, **options)
    theirs = lagbc.centralities(A, which, method="batched", device="cpu", **options)
    assert ours["edge_bc"].nnz == theirs["edge_bc"].nnz
    for measure in which:
        one, other = (X.toarray() if sp.issparse(X) else X for X in (ours[measure], theirs[measure]))
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-11)


@settings(max_examples=25)
@given(st.data())
def test_random_graphs(cupy, data):
    A = with_lengths(data.draw(graphs()), data.draw(st.lists(st.integers(1, 40), min_size=1, max_size=7)))
    directed, dtype = data.draw(st.booleans()), data.draw(st.sampled_from(["float64", "float32"]))
    with pytest.MonkeyPatch.context() as patch:
        prune_all(patch)
        scores = lagbc.bc(A, weighted=True, directed=directed, method="delta-stepping", device="cuda", dtype=dtype)
    tolerance = 1e-12 if dtype == "float64" else 3e-5
    np.testing.assert_allclose(scores, oracle(A, directed=directed, weighted=True), rtol=tolerance, atol=tolerance)
