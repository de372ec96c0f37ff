"""Whether a graph is looked at before it is swept: by what the look and the sweeps are predicted to take."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import csgraph
from strategies import disjoint, grid, path, scale_free

import lagbc
from lagbc.graph.validate import as_graph
from lagbc.reduce import choice, pieces


def star(n):
    """A vertex with n neighbours, which have no others."""
    ends = np.arange(1, n + 1)
    return sp.csr_array((np.ones(2 * n), (np.r_[ends, 0 * ends], np.r_[0 * ends, ends])), shape=(n + 1, n + 1))


@pytest.mark.parametrize(
    ("A", "least", "most"),
    [
        (grid(20, 20), 0.9, 1.0),
        (star(50), 0.0, 0.05),
        (path(100), 0.0, 0.1),
        (disjoint(grid(9, 9), grid(9, 9), grid(9, 9)), 0.2, 0.4),
    ],
    ids=["mesh", "ends", "chain", "components"],
)
def test_what_degrees_and_components_promise(A, least, most):
    assert least <= choice.promised_left(as_graph(A, directed=False), A.shape[0]) <= most


def test_a_short_run_is_not_looked_at(monkeypatch):
    """Nothing of the graph is taken apart, nor is anything that does it compiled."""

    def split(*given, **options):
        raise AssertionError("looked at")

    monkeypatch.setattr(pieces, "split", split)
    lagbc.bc(scale_free(3000, 20000, seed=2), directed=False, k=64, rng=1, device="cpu")
    with pytest.raises(AssertionError, match="looked at"):
        lagbc.bc(scale_free(3000, 20000, seed=2), directed=False, device="cpu")


def test_roots_that_reach_little_are_not_worth_a_long_look():
    """A look takes time by all vertices and edges, and sweeps from some roots by those that are reached."""
    rng = np.random.default_rng(1)
    ends = rng.integers(0, 30_000, (2, 25_000))
    A = sp.coo_array((np.ones(25_000), ends), shape=(30_000, 30_000)).tocsr()
    graph, some = as_graph(A), np.arange(0, 30_000, 15)
    share = choice.reached_share(graph, some)
    assert 0 < share < 1e-3
    reached = np.isfinite(csgraph.shortest_path(A, unweighted=True, indices=some[:: -(-len(some) // 64)]))
    assert share == pytest.approx(reached.mean())
    assert choice.is_look_worth(graph, len(some), "cpu")
    assert not choice.is_look_worth(graph, len(some), "cpu", lambda: share)
    assert choice.is_look_worth(graph, 10**6, "cpu", lambda: share), "each root takes some time"


def test_roots_that_reach_much_are_as_many_as_all():
    graph = as_graph(scale_free(2000, 12000, seed=1), directed=False)
    assert choice.reached_share(graph, np.arange(200)) == 1.0
