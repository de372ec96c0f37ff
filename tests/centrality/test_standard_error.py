"""The standard error of an estimate is that of all estimates there are."""

import numpy as np
import pytest
from strategies import scale_free

import lagbc
from lagbc.centrality.standard_error import roots_of_group, standard_errors
from lagbc.graph.validate import as_graph


@pytest.fixture(scope="module")
def graph():
    return as_graph(scale_free(120, 600, seed=3), directed=False)


def test_it_is_the_spread_of_estimates(graph):
    """Its mean square over seeds is the variance of the mean of k of n dependencies, drawn without repeats."""
    k, n = 60, graph.n
    of_roots = np.array([lagbc.bc(graph, sources=[s]) for s in range(n)]) * n
    top = np.argsort(-of_roots.sum(axis=0))[:10]
    variance = of_roots.var(axis=0, ddof=1)[top] * (1 / k - 1 / n)
    squares = np.mean([standard_errors(graph, "bc", k, rng=seed)[top] ** 2 for seed in range(20)], axis=0)
    assert np.mean(squares / variance) == pytest.approx(1, abs=0.2)
    assert squares / variance == pytest.approx(np.ones(10), abs=0.5)


def test_it_is_in_the_unit_of_the_scores(graph):
    plain = standard_errors(graph, "bc", 40, rng=1)
    pairs = (graph.n - 1) * (graph.n - 2) / 2
    np.testing.assert_allclose(standard_errors(graph, "bc", 40, rng=1, normalized=True), plain / pairs, rtol=1e-12)


def test_the_seed_gives_it(graph):
    assert np.array_equal(standard_errors(graph, "bc", 40, rng=1), standard_errors(graph, "bc", 40, rng=1))
    assert not np.array_equal(standard_errors(graph, "bc", 40, rng=1), standard_errors(graph, "bc", 40, rng=2))


def test_more_roots_less_error(graph):
    few, many = (standard_errors(graph, "bc", k, rng=1).sum() for k in (20, 110))
    assert many < few / 3


@pytest.mark.parametrize(("k", "roots"), [(2, 2), (25, 2), (100, 10), (640, 64), (10**6, 64)])
def test_time_does_not_grow_with_k(k, roots):
    assert roots_of_group(k) == roots
