"""Trips that no path takes."""

import logging

import numpy as np
import pytest
import scipy.sparse as sp

import lagbc
from lagbc.centrality.beside import unassigned_trips
from lagbc.options import check_options


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("weighted", [True, False], ids=["lengths", "hops"])
@pytest.mark.parametrize("cutoff", [None, 2.0, [1.0, 3.0]], ids=str)
def test_unassigned_trips_are_those_between_vertices_too_far_apart(directed, weighted, cutoff):
    rng = np.random.default_rng(7)
    dense = np.where(rng.random((60, 60)) < 0.03, rng.integers(1, 4, (60, 60)) / 2, 0)
    dense = dense if directed else np.maximum(dense, dense.T)
    trips = np.where(rng.random((60, 60)) < 0.2, 2.0 ** rng.integers(-300, 30, (60, 1)), 0)
    np.fill_diagonal(trips, 0)
    graph = lagbc.as_graph(sp.csr_array(dense), directed=directed, weighted=weighted)
    found = unassigned_trips(graph, trips, cutoff, check_options("auto", {}))
    distance = sp.csgraph.shortest_path(dense, unweighted=not weighted)
    radii = [np.finfo(float).max] if cutoff is None else np.atleast_1d(cutoff)
    np.testing.assert_allclose(found.sums, [trips[distance > radius].sum() for radius in radii], rtol=1e-12)
    np.testing.assert_allclose(found.of, trips.sum(), rtol=1e-12)
    assert found.sums.all()


def test_calls_log_trips_that_are_not_assigned(caplog):
    path = sp.diags_array([1.0, 1.0], offsets=1, shape=(3, 3))
    with caplog.at_level(logging.INFO, "lagbc"):
        lagbc.bc(path, directed=True, demand={0: {2: 2.0}, 2: {0: 1.5}})
    assert "bc: 1.5 of 3.5 trips are not assigned: no path leads to their ends" in caplog.messages
