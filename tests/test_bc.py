"""Scores of every method: against the oracle, and against NetworkX for every convention."""

import functools
import random

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from families import grid, path, scale_free, with_lengths
from hypothesis import given
from hypothesis import strategies as st
from strategies import SPECIAL, TENTHS, draw_options, examples, oracle, weighted_graphs

pytestmark = pytest.mark.filterwarnings("ignore::lagbc.TieWarning")

ONE_TO_TEN = np.arange(1, 11)
MANY = {
    "scale-free, integers": with_lengths(scale_free(250, 1500, seed=1), ONE_TO_TEN),
    "scale-free, reals": with_lengths(scale_free(250, 1500, seed=1), np.random.default_rng(1).random(500) + 1e-3),
    "mesh, integers": with_lengths(grid(13, 17), ONE_TO_TEN),
    "mesh, tenths": with_lengths(grid(13, 17), TENTHS),
    "long path": with_lengths(path(140), ONE_TO_TEN),
}


class Chosen(random.Random):
    """A random generator whose sample is known beforehand, to give NetworkX our roots."""

    def __init__(self, roots):
        super().__init__(0)
        self.roots = [int(s) for s in roots]

    def sample(self, population, k):
        assert k == len(self.roots)
        return self.roots


def as_networkx(A, *, directed):
    G = nx.from_scipy_sparse_array(A.tocsr(), create_using=nx.DiGraph if directed else nx.Graph)
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    return G


def values(scores):
    return np.array([scores[v] for v in range(len(scores))], dtype=float)


def assert_close(ours, theirs, rtol=1e-12):
    assert ours.dtype == np.float64
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("name", SPECIAL)
def test_special_graphs(any_bc, name, directed):
    weighted = any_bc.keywords["weighted"]
    A = with_lengths(SPECIAL[name], [1, 2, 3]) if weighted else SPECIAL[name]
    for options in ({"directed": directed}, {"directed": directed, "endpoints": True}):
        assert_close(any_bc(A, **options), oracle(A, weighted=weighted, **options))


@examples(30)
@given(st.data())
def test_against_oracle(any_bc, data):
    """With lengths paths tie where their float64 sums from the root on do, and nowhere else."""
    A = data.draw(weighted_graphs() | weighted_graphs(TENTHS))
    options = draw_options(data, A.shape[0])
    assert_close(any_bc(A, **options), oracle(A, weighted=any_bc.keywords["weighted"], **options))


@pytest.mark.parametrize(
    ("name", "directed"),
    # The others are the same both ways.
    [*((name, True) for name in MANY), ("scale-free, integers", False), ("scale-free, reals", False)],
)
def test_many_batches_against_oracle(any_bc, name, directed):
    """More roots than one batch or block takes, so that all paths of the code are taken."""
    A, rng = MANY[name], np.random.default_rng(2)
    n, kind = A.shape[0], {"directed": directed, "weighted": any_bc.keywords["weighted"]}
    omega, times = rng.integers(0, 4, n) / 2, rng.integers(0, 4, n) / 2
    for options in ({}, {"endpoints": True}, {"target_weights": omega, "source_weights": times}):
        assert_close(any_bc(A, directed=directed, **options), oracle(A, **kind, **options))


@functools.cache
def busiest(example, name, count=120):
    """A shipped network, or the part of it among the vertices of most edges, as NetworkX is slow."""
    A = sp.csr_array(example(name).matrix)
    chosen = np.sort(np.argsort(-np.bincount(A.indices, minlength=A.shape[0]), kind="stable")[:count])
    return A[chosen][:, chosen]


@functools.cache
def counted_by_networkx(example, name, directed, **options):
    return values(nx.betweenness_centrality(as_networkx(busiest(example, name), directed=directed), **options))


def attribute_of(any_bc):
    """The lengths that NetworkX takes."""
    return "weight" if any_bc.keywords["weighted"] else None


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("endpoints", [True, False])
@pytest.mark.parametrize(
    ("name", "directed"), [("karate", False), ("lesmis", False), ("lesmis", True), ("us-airports", True)]
)
def test_networkx(any_bc, example, name, directed, endpoints, normalized):
    options = {"normalized": normalized, "endpoints": endpoints}
    theirs = counted_by_networkx(example, name, directed, weight=attribute_of(any_bc), **options)
    assert_close(any_bc(busiest(example, name), directed=directed, **options), theirs)


@functools.cache
def counted_from_some(example, name, directed, drawn):
    """A shipped network, some roots, and the sums of NetworkX from these."""
    A = example(name).matrix if drawn is None else with_lengths(example(name).matrix, drawn)
    G = as_networkx(A, directed=directed)
    sources = np.random.default_rng(3).choice(len(G), 10, replace=False)
    how = {"targets": range(len(G)), "normalized": False, "weight": None if drawn is None else "weight"}
    return A, sources, values(nx.betweenness_centrality_subset(G, sources=sources.tolist(), **how))


@pytest.mark.parametrize(
    ("name", "directed"),
    [("us-airports", True), ("us-airports", False), ("power", False), ("minnesota", False), ("ca-GrQc", False)],
)
def test_sources_against_networkx(any_bc, example, name, directed):
    for drawn in (tuple(ONE_TO_TEN), TENTHS) if any_bc.keywords["weighted"] else (None,):
        A, sources, theirs = counted_from_some(example, name, directed, drawn)
        assert_close(any_bc(A, directed=directed, sources=sources), theirs)


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("endpoints", [True, False])
@pytest.mark.parametrize("k", [1, 2, 17, 77])
def test_sample_against_networkx(any_bc, example, tmp_path, k, directed, endpoints, normalized):
    A, bc = example("lesmis").matrix, any_bc
    options = {"k": k, "normalized": normalized, "endpoints": endpoints}
    if k == 1 and not endpoints:
        with pytest.raises(ValueError, match=r"k=1 without endpoints.*take k >= 2"):
            bc(A, directed=directed, **options)
        return
    ours = bc(A, directed=directed, rng=4, checkpoint=tmp_path / "run", **options)
    roots = np.load(tmp_path / "run")["roots"]
    assert len(set(roots.tolist())) == k
    G = as_networkx(A, directed=directed)
    theirs = nx.betweenness_centrality(G, seed=Chosen(roots), weight=attribute_of(any_bc), **options)
    assert_close(ours, values(theirs))


@pytest.mark.parametrize("n", range(5))
@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("endpoints", [True, False])
def test_small_cases_of_networkx(bc, tmp_path, n, directed, normalized, endpoints):
    A = path(n)
    G = as_networkx(A, directed=directed)
    for k in [None, *range(1, n + 1)]:
        options = {"k": k, "normalized": normalized, "endpoints": endpoints}
        if k is None:
            assert_close(bc(A, directed=directed, **options), values(nx.betweenness_centrality(G, **options)))
        elif k > 1 or endpoints or n <= 2:
            ours = bc(A, directed=directed, rng=n, checkpoint=tmp_path / f"{k}", **options)
            roots = np.load(tmp_path / f"{k}")["roots"]
            assert_close(ours, values(nx.betweenness_centrality(G, seed=Chosen(roots), **options)))
        else:
            with pytest.raises(ValueError, match="k=1 without endpoints"):
                bc(A, directed=directed, **options)


def test_sample_follows_its_seed(bc, example):
    A = example("lesmis").matrix
    by_number, by_generator = bc(A, k=20, rng=5), bc(A, k=20, rng=np.random.default_rng(5))
    if bc.keywords["device"] == "cpu":
        np.testing.assert_array_equal(by_number, by_generator)
    np.testing.assert_allclose(by_number, by_generator, rtol=1e-12)  # traversals add in any order
    assert not np.allclose(by_number, bc(A, k=20, rng=6))


def test_sources_are_a_partial_sum(any_bc, example):
    """Nothing but the roots changes: normalized and endpoints divide and count as with all roots."""
    A, vertices = example("lesmis").matrix, np.arange(77, dtype=np.uint8)
    for options in ({}, {"normalized": True}, {"endpoints": True}, {"normalized": True, "endpoints": True}):
        parts = [any_bc(A, directed=False, sources=vertices[part::3], **options) for part in range(3)]
        assert_close(sum(parts), any_bc(A, directed=False, **options))


def test_result_is_the_callers_own(bc):
    A = path(5)
    first = bc(A)
    first += 1
    assert_close(bc(A), oracle(A))
