"""Centralities with lengths: every method against the oracle and NetworkX, identities, overflow."""

import functools
import math
import re

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    DENSE,
    SPECIAL,
    TENTHS,
    adjacency,
    disjoint,
    graphs,
    grid,
    lengths,
    lengths_of,
    path,
    scale_free,
    weighted_graphs,
    with_lengths,
)
from test_centralities import SEVEN, assert_all_equal, call, expected
from test_weighted import ONE_TO_TEN, chain_of, diamonds_with_lengths

import lagbc
from lagbc import methods, reference

MANY = {
    "scale-free, integers": with_lengths(scale_free(150, 600, seed=2), ONE_TO_TEN),
    "grid, tenths": with_lengths(grid(9, 17), TENTHS),
    "grid, few lengths": with_lengths(grid(9, 17), [1, 2]),
    "long path": with_lengths(path(130), ONE_TO_TEN),
}
# No overflow may show, not even as a warning on the way.
errors = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="session")
def centralities(weighted_row):
    """`lagbc.centralities` with lengths by one method; a test that takes it runs once a method."""
    if not set(methods.ALL_SUMS) <= set(weighted_row.offers):
        pytest.skip(f"{weighted_row.name} on {weighted_row.device} does not offer all sums")
    return functools.partial(lagbc.centralities, weighted=True, method=weighted_row.name, device=weighted_row.device)


def as_networkx(A, *, directed):
    G = nx.DiGraph() if directed else nx.Graph()
    G.add_nodes_from(range(A.shape[0]))
    G.add_weighted_edges_from((i, j, length) for (i, j), length in lengths_of(A, directed=directed).items())
    return G


def assert_as_oracle(centralities, A, directed):
    ours = centralities(A, SEVEN, directed=directed)
    assert_all_equal(ours, expected(A, directed=directed, weighted=True))


# Against the oracle


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", SPECIAL)
def test_special_graphs(centralities, name, directed):
    assert_as_oracle(centralities, with_lengths(SPECIAL[name], [1, 2, 3]), directed)


@given(weighted_graphs() | DENSE, st.booleans())
def test_integer_ties(centralities, A, directed):
    assert_as_oracle(centralities, A, directed)


@given(weighted_graphs(TENTHS), st.booleans())
def test_float_ties(centralities, A, directed):
    assert_as_oracle(centralities, A, directed)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", MANY)
def test_several_batches(centralities, name, directed):
    assert_as_oracle(centralities, MANY[name], directed)


@pytest.mark.parametrize("name", SEVEN)
def test_one_alone_is_one_of_all(centralities, name):
    """Also of `bc`, which no other sum may change: bits are the same by "batched"."""
    A = MANY["scale-free, integers"]
    alone, together = call(centralities, name)(A), centralities(A, SEVEN)[name]
    if name == "edge_bc":
        alone, together = alone.toarray(), together.toarray()
    if centralities.keywords["method"] == "batched":
        np.testing.assert_array_equal(alone, together)
    np.testing.assert_allclose(alone, together, rtol=1e-12)


@pytest.mark.parametrize("options", [{"batch": 1}, {"batch": 7, "threads": 3}, {"batch": 1000}, {"delta": 3}])
def test_options_change_no_score(centralities, options):
    A = with_lengths(grid(5, 9), [1, 2])
    assert_all_equal(centralities(A, SEVEN, **options), expected(A, weighted=True))


# Against NetworkX


@pytest.mark.parametrize("directed", [True, False])
def test_networkx_on_a_network(centralities, example, directed):
    A = example("lesmis").matrix
    G = as_networkx(A, directed=directed)
    ours = centralities(A, SEVEN, directed=directed)
    options = {"backend": "networkx"}
    for key, theirs in (
        ("bc", nx.betweenness_centrality(G, weight="weight", normalized=False, **options)),
        ("closeness", nx.closeness_centrality(G, distance="weight", **options)),
        ("harmonic", nx.harmonic_centrality(G, distance="weight", **options)),
        ("eccentricity", nx.eccentricity(G, weight="weight", **options)),
    ):
        np.testing.assert_allclose(ours[key], [theirs[v] for v in range(len(G))], rtol=1e-12, err_msg=key)
    edges = nx.edge_betweenness_centrality(G, weight="weight", normalized=False, **options)
    scores = ours["edge_bc"].toarray()
    np.testing.assert_allclose([scores[u, v] for u, v in edges], list(edges.values()), rtol=1e-12, atol=1e-12)
    if not directed:
        np.testing.assert_array_equal(scores, scores.T)


@given(weighted_graphs(min_n=1), st.booleans(), st.data())
def test_subsets(centralities, A, directed, data):
    vertices = st.lists(st.integers(0, A.shape[0] - 1), unique=True)
    sources, targets = data.draw(vertices), data.draw(vertices)
    options = {"directed": directed, "sources": sources}
    subset = nx.betweenness_centrality_subset(
        as_networkx(A, directed=directed), sources, targets, weight="weight", backend="networkx"
    )
    ours = call(centralities, "bc")(A, targets=targets, **options)
    np.testing.assert_allclose(ours, [subset[v] for v in range(A.shape[0])], rtol=1e-11)
    omega = np.isin(np.arange(A.shape[0]), targets).astype(int).tolist()
    theirs = expected(A, "edge_bc", "stress", "harmonic", weighted=True, omega=omega, **options)
    for name in ("edge_bc", "stress"):
        ours = call(centralities, name)(A, targets=targets, **options)
        np.testing.assert_allclose(ours.toarray() if name == "edge_bc" else ours, theirs[name], rtol=1e-12)
    np.testing.assert_allclose(call(centralities, "harmonic")(A, **options), theirs["harmonic"], rtol=1e-12)


# What holds whatever computes it


@given(weighted_graphs(min_n=1), st.data())
def test_edges_of_a_vertex_sum_to_its_dependency(centralities, A, data):
    n = A.shape[0]
    root = data.draw(st.integers(0, n - 1))
    edges = call(centralities, "edge_bc")(A, sources=[root]).toarray()
    delta = call(centralities, "bc")(A, sources=[root])
    dist = np.array(reference.count_lengths(*adjacency(A), lengths(A), root)[3], float)
    reached, others = np.isfinite(dist) & (dist > 0), np.arange(n) != root
    np.testing.assert_allclose(edges.sum(axis=1)[others], delta[others], atol=1e-12)
    np.testing.assert_allclose(edges[root].sum(), reached.sum(), atol=1e-12)
    np.testing.assert_allclose(edges.sum(axis=0), np.where(reached, delta + 1, 0), atol=1e-12)


@given(weighted_graphs(), st.booleans())
def test_lengths_times_edge_scores_sum_to_distances(centralities, A, directed):
    """A path is as long as its edges together."""
    graph = (*adjacency(A, directed=directed), lengths(A, directed=directed))
    total = sum(sum(d) for d in reference.distances_into(*graph))
    scores = call(centralities, "edge_bc")(A, directed=directed).toarray()
    tails = np.repeat(np.arange(A.shape[0]), np.diff(graph[0]))
    assert scores[tails, graph[1]] @ np.array(graph[2], float) == pytest.approx(total, abs=1e-9)


@given(graphs(), st.booleans(), st.sampled_from([1, 0.25, 3]))
def test_equal_lengths_are_hops(centralities, A, directed, length):
    hops = lagbc.centralities(A, SEVEN, directed=directed, method="batched", device="cpu")
    hops["edge_bc"] = hops["edge_bc"].toarray()
    units = {"closeness": 1 / length, "harmonic": 1 / length, "eccentricity": length}
    units["eccentricity_centrality"] = 1 / length
    ours = centralities(with_lengths(A, [length]), SEVEN, directed=directed)
    assert_all_equal(ours, {name: hops[name] * units.get(name, 1) for name in SEVEN})


@given(weighted_graphs(min_n=1), st.data(), st.booleans())
def test_names_of_vertices_do_not_matter(centralities, A, data, directed):
    order = np.array(data.draw(st.permutations(range(A.shape[0]))))
    renamed = centralities(A.tocsr()[order][:, order], SEVEN, directed=directed)
    ours = centralities(A.tocsr(), SEVEN, directed=directed)
    for name in SEVEN:
        here = ours[name][order][:, order].toarray() if name == "edge_bc" else ours[name][order]
        there = renamed[name].toarray() if name == "edge_bc" else renamed[name]
        np.testing.assert_allclose(there, here, rtol=1e-12, atol=1e-13, err_msg=name)


# Path counts that float64 does not hold


@errors
@pytest.mark.parametrize("count", [300, 660])
def test_diamonds(centralities, count):
    """3**count paths from end to end: more than float64 holds from 647 on. Edges and distances are as ever."""
    A = diamonds_with_lengths(count, 3)
    n = A.shape[0]
    sources = [0, 1, 4, n // 2, n - 9]
    theirs = expected(A, "edge_bc", "harmonic", sources=sources, weighted=True)
    ours = call(centralities, "edge_bc")(A, sources=sources)
    np.testing.assert_allclose(ours.toarray(), theirs["edge_bc"], rtol=1e-11)
    np.testing.assert_allclose(call(centralities, "harmonic")(A, sources=sources), theirs["harmonic"], rtol=1e-12)
    exact = reference.stress(*adjacency(A), lengths(A), sources=sources)
    log2 = call(centralities, "stress")(A, sources=sources, log2=True)
    np.testing.assert_allclose(log2, [math.log2(x) if x else -math.inf for x in exact], rtol=1e-12)
    if count == 300:
        ours = call(centralities, "stress")(A, sources=sources)
        np.testing.assert_allclose(ours, [float(x) for x in exact], rtol=1e-12)
    else:
        with pytest.raises(OverflowError, match=r"stress of \d+ vertices .* the first is .*log2=True"):
            call(centralities, "stress")(A, sources=sources)


@errors
def test_mixed_batch(centralities):
    """Some roots of a batch overflow, some do not."""
    tangle, chain = with_lengths(scale_free(60, 150, seed=1), [1, 2]), diamonds_with_lengths(660, 3)
    both = disjoint(tangle, chain).tocoo()
    A = sp.coo_array((np.r_[both.data, 1], (np.r_[both.row, 26], np.r_[both.col, 60])), shape=both.shape)
    sources = [*range(0, 60, 4), 60, 61, 600]
    theirs = expected(A, "edge_bc", "harmonic", sources=sources, weighted=True)
    ours = call(centralities, "edge_bc")(A, sources=sources).toarray()
    np.testing.assert_allclose(ours, theirs["edge_bc"], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(call(centralities, "harmonic")(A, sources=sources), theirs["harmonic"], rtol=1e-12)


# Lengths that rounding absorbs, and sums of lengths that float64 does not hold


@errors
@pytest.mark.parametrize("name", ["edge_bc", "stress"])
def test_absorbed_length_is_named(centralities, name):
    message = "the length 1.0 of the edge (1, 2) is lost to rounding beside the distance 1e+18 from vertex 0 to 1"
    with pytest.raises(ValueError, match=re.escape(message)):
        call(centralities, name)(chain_of(1e18, 1.0))


@errors
def test_distances_out_of_range(centralities):
    far, near = chain_of(*[1.6e308 / 7] * 6), chain_of(*[1e-310] * 6)
    with pytest.raises(OverflowError, match="distances sum to more than float64 holds"):
        call(centralities, "closeness")(far)
    np.testing.assert_allclose(call(centralities, "eccentricity")(far), np.arange(6, -1, -1) * (1.6e308 / 7))
    for name in ("harmonic", "eccentricity_centrality"):
        with pytest.raises(OverflowError, match="inverse distances sum to more than float64 holds"):
            call(centralities, name)(near)
