"""A centrality that is declared outside of the package: one function, and how the oracle computes it."""

import importlib
import inspect
import json
import sys

import networkx as nx
import numpy as np
import pytest
from interfaces.commands import succeed
from strategies import adjacency, lengths, scale_free

import lagbc
from lagbc import reference
from lagbc.centrality.declare import FUNCTIONS, SAMPLES, centrality
from lagbc.interfaces import stub

A = scale_free(30, 90, seed=2)


def oracle(A, weighted=False, **given):
    into = reference.distances_into(*adjacency(A), lengths(A) if weighted else None, **given)
    return [sum(d) / len(d) if d else 0.0 for d in into]


@pytest.fixture
def mean_distance():
    @centrality(sums={"reached", "distance"}, takes=SAMPLES, summary="mean distance: that into a vertex")
    def mean_distance(result, arguments):
        """Mean distance into every vertex, from those that reach it.

        Parameters
        ----------
        A, batch, directed, weighted, strength, sources, cutoff, k, rng, standard_error, options : as for `lagbc.bc`

        Examples
        --------
        >>> lagbc.mean_distance(np.eye(3, k=1)).tolist()
        [0.0, 1.0, 1.5]
        """
        return result.sums.distance / np.maximum(result.sums.reached, 1)

    yield mean_distance
    lagbc.unregister_centrality("mean_distance")
    del FUNCTIONS["mean_distance"]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", [row for row in lagbc.METHODS if row.device == "cpu"], ids=lambda row: row.name)
def test_every_method_computes_it_as_the_oracle(mean_distance, method, weighted):
    if method.weighted != weighted or not method.available or "distance" not in method.sums:
        pytest.skip("no row of this kind")
    found = mean_distance(A, weighted=weighted, method=method.name, device="cpu")
    np.testing.assert_allclose(found, oracle(A, weighted), rtol=1e-12)


def test_it_is_a_function_of_lagbc(mean_distance):
    assert lagbc.mean_distance is mean_distance
    assert {"mean_distance"} <= {*lagbc.__all__} & {*dir(lagbc)}
    shown = inspect.signature(mean_distance)
    assert str(shown) == str(inspect.signature(lagbc.harmonic)).replace("harmonic", "mean_distance")
    assert inspect.getdoc(mean_distance).startswith("Mean distance into every vertex")
    np.testing.assert_allclose(mean_distance(A, batch=4, sources=[3, 5]), oracle(A, sources=[3, 5]), rtol=1e-12)
    scores, errors = mean_distance(A, k=10, rng=1, standard_error=True)
    assert scores.shape == errors.shape == (30,)
    with pytest.raises(TypeError, match="mean_distance takes no targets"):
        mean_distance(A, targets=[0])
    with pytest.raises(TypeError, match=r"mean_distance\(\) missing 1 required positional argument: 'A'"):
        mean_distance()


def test_it_shares_a_sweep(mean_distance):
    both = lagbc.centralities(A, ("closeness", "mean_distance"))
    np.testing.assert_array_equal(both["mean_distance"], mean_distance(A))


def test_it_has_a_command(mean_distance):
    path = "example:karate"
    told = json.loads(succeed("mean-distance", path, "--json"))
    expected = mean_distance(lagbc.read_graph(path))
    assert told["scores"]["mean_distance"] == expected.tolist()
    assert "Mean distance: that into a vertex." in succeed("mean-distance", "--help")
    assert "mean-distance" in succeed("--help")


def test_it_is_in_what_is_made_of_records(mean_distance):
    made = {path.name: stub.made(path) for path in (stub.STUB, stub.TYPES, stub.README)}
    assert "def mean_distance(A: GraphLike, *, standard_error: Lit" in made["__init__.pyi"]
    assert '"mean_distance"' in made["types.py"]
    assert "| `mean_distance` | - | yes | yes | - | - | - |\n" in made["README.md"]


MODULE = '''
from lagbc.centrality.declare import SAMPLES, centrality


@centrality(sums={"reached"}, takes=SAMPLES, summary="reached by: how many vertices reach one")
def reached_by(result, arguments):
    """Count the vertices that reach each vertex."""
    return result.sums.reached.copy()
'''


def test_a_module_outside_of_the_package_is_enough(tmp_path, monkeypatch):
    """Called through Python, with a matrix, with a graph of NetworkX and among several, and through the program."""
    (tmp_path / "outside_of_lagbc.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    try:
        reached_by = importlib.import_module("outside_of_lagbc").reached_by
        G = nx.DiGraph([("a", "b"), ("b", "c"), ("d", "c")])
        expected = [len(nx.ancestors(G, v)) for v in G]
        np.testing.assert_array_equal(lagbc.reached_by(nx.to_scipy_sparse_array(G)), expected)
        np.testing.assert_array_equal(reached_by(G), expected)
        np.testing.assert_array_equal(lagbc.reached_by(G, sources=["d"]), [0, 0, 1, 0])
        np.testing.assert_array_equal(lagbc.centralities(G, ("bc", "reached_by"))["reached_by"], expected)
        nx.write_edgelist(G, tmp_path / "graph.txt", data=False)
        told = json.loads(succeed("reached-by", tmp_path / "graph.txt", "--directed", "--json"))["scores"]
        assert dict(zip(told["vertex"], told["reached_by"], strict=True)) == dict(zip(G, expected, strict=True))
    finally:
        lagbc.unregister_centrality("reached_by")
        FUNCTIONS.pop("reached_by", None)
        sys.modules.pop("outside_of_lagbc", None)


def test_one_of_networkx_is_told_to_it():
    @centrality(sums={"depth"}, takes=(), summary="depth", networkx=("depth_of",))
    def depth(result, arguments):
        """Return the largest distance."""
        return result.sums.depth.copy()

    try:
        sys.modules.pop("lagbc.interfaces.nx_metadata", None)
        from lagbc.interfaces.nx_metadata import get_info

        assert "depth_of" in get_info()["functions"]
        np.testing.assert_array_equal(depth(nx.path_graph(4)), [3, 2, 2, 3])
    finally:
        lagbc.unregister_centrality("depth")
        del FUNCTIONS["depth"]
        sys.modules.pop("lagbc.interfaces.nx_metadata", None)


def test_names_and_arguments_that_are_taken_or_unknown():
    with pytest.raises(ValueError, match="there is a centrality 'bc' already"):

        @centrality(sums={"depth"}, takes=(), summary="mine")
        def bc(result, arguments):
            """Betweenness once more."""

    with pytest.raises(ValueError, match="takes: there is no root; there are: sources"):

        @centrality(sums={"depth"}, takes={"root"}, summary="mine")
        def mine(result, arguments):
            """Of a root."""
