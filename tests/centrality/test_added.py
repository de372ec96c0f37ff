"""A centrality that is added from outside of the package: one record, and how the oracle computes it."""

import json
import sys

import networkx as nx
import numpy as np
import pytest
from interfaces.commands import succeed
from strategies import adjacency, lengths, scale_free

import lagbc
from lagbc import reference

A = scale_free(30, 90, seed=2)


def oracle(A, weighted=False, **given):
    into = reference.distances_into(*adjacency(A), lengths(A) if weighted else None, **given)
    return [sum(d) / len(d) if d else 0.0 for d in into]


@pytest.fixture
def mean_distance():
    """Compute the mean distance into every vertex, from those that reach it."""
    record = lagbc.Centrality(
        name="mean_distance",
        sums=frozenset({"reached", "distance"}),
        finish=lambda result, arguments: result.sums.distance / np.maximum(result.sums.reached, 1),
        takes=frozenset({"sources", "cutoff", "k", "rng"}),
        summary="mean distance: that into a vertex",
    )
    lagbc.register_centrality(record)
    yield lambda A, **given: lagbc.centralities(A, "mean_distance", **given)["mean_distance"]
    lagbc.unregister_centrality("mean_distance")


@pytest.mark.parametrize("method", [row for row in lagbc.METHODS if row.device == "cpu"], ids=lambda row: row.name)
def test_every_method_computes_it_as_the_oracle(mean_distance, method, weighted):
    if method.weighted != weighted or not method.available or "distance" not in method.sums:
        pytest.skip("no row of this kind")
    found = mean_distance(A, weighted=weighted, method=method.name, device="cpu")
    np.testing.assert_allclose(found, oracle(A, weighted), rtol=1e-12)


def test_it_takes_what_its_record_says(mean_distance):
    np.testing.assert_allclose(mean_distance(A, batch=4, sources=[3, 5]), oracle(A, sources=[3, 5]), rtol=1e-12)
    scores, errors = lagbc.centralities(A, "mean_distance", k=10, rng=1, standard_error=True)
    assert scores["mean_distance"].shape == errors["mean_distance"].shape == (30,)
    with pytest.raises(ValueError, match="targets means nothing to mean_distance; leave it out"):
        mean_distance(A, targets=[0])


def test_it_shares_a_sweep(mean_distance):
    both = lagbc.centralities(A, ("closeness", "mean_distance"))
    np.testing.assert_array_equal(both["mean_distance"], mean_distance(A))


def test_it_takes_a_graph_by_names(mean_distance):
    G = nx.DiGraph([("a", "b"), ("b", "c"), ("d", "c")])
    np.testing.assert_array_equal(mean_distance(G), [0, 1, 4 / 3, 0])
    np.testing.assert_array_equal(mean_distance(G, sources=["d"]), [0, 0, 1, 0])


def test_it_has_a_command(mean_distance):
    path = "example:karate"
    told = json.loads(succeed("mean-distance", path, "--json"))
    expected = mean_distance(lagbc.read_graph(path))
    assert told["scores"]["mean_distance"] == expected.tolist()
    assert "Mean distance: that into a vertex." in succeed("mean-distance", "--help")
    assert "mean-distance" in succeed("--help")


def test_one_of_networkx_is_told_to_it():
    lagbc.register_centrality(
        lagbc.Centrality(
            name="depth",
            sums=frozenset({"depth"}),
            finish=lambda result, arguments: result.sums.depth.copy(),
            takes=frozenset(),
            summary="depth",
            networkx=("depth_of",),
        )
    )
    try:
        sys.modules.pop("lagbc.interfaces.nx_metadata", None)
        from lagbc.interfaces.nx_metadata import get_info

        assert "depth_of" in get_info()["functions"]
        np.testing.assert_array_equal(lagbc.centralities(nx.path_graph(4), "depth")["depth"], [3, 2, 2, 3])
    finally:
        lagbc.unregister_centrality("depth")
        sys.modules.pop("lagbc.interfaces.nx_metadata", None)
