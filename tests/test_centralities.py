"""All centralities but betweenness: every method against the oracle and NetworkX, identities, overflow, arguments."""

import dataclasses
import functools
import math
import re
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from every_call import assert_same
from families import diamonds, disjoint, edges_of, grid, layered, matrix, path, scale_free, with_lengths
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path
from strategies import ALL_SUMS, DENSE, SPECIAL, TENTHS, adjacency, arrays, examples, expected, graphs, weighted_graphs
from test_bc import MANY, Chosen, as_networkx
from test_weighted import chain_of, diamonds_with_lengths

import lagbc
from lagbc import reference
from lagbc.graph.validate import as_graph
from lagbc.methods import table as methods
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu import extended
from lagbc.methods.sums import Sums
from lagbc.scores.records import BUILT_IN, shared

# No overflow may show, not even as a warning on the way.
pytestmark = pytest.mark.filterwarnings("error", "ignore::lagbc.TieWarning")

ALL = ("bc", "edge_bc", "closeness", "harmonic", "eccentricity", "eccentricity_centrality", "stress")


def test_all_are_those_of_the_registry():
    """But those that are summed within bounds alone: `test_cutoff.py` has them."""
    assert {*ALL, "reach", "gravity"} == {record.name for record in shared()}


def by_method(row):
    """`lagbc.centralities` by one method; a test that takes it runs once a method."""
    if not set(ALL_SUMS) <= set(row.sums):
        pytest.skip(f"{row.name} on {row.device} does not offer all sums")
    return functools.partial(lagbc.centralities, weighted=row.weighted, method=row.name, device=row.device)


@pytest.fixture(scope="module")
def centralities(row):
    return by_method(row)


@pytest.fixture(scope="module")
def of_lengths(weighted_row):
    return by_method(weighted_row)


@pytest.fixture(scope="module")
def either(any_row):
    """In hops or with lengths."""
    return by_method(any_row)


def call(centralities, name):
    """A public function with the method of `centralities`."""
    return functools.partial(getattr(lagbc, name), **centralities.keywords)


def assert_all_equal(ours, theirs, names=ALL):
    assert list(ours) == list(names)
    for name in names:
        scores = ours[name].toarray() if name == "edge_bc" else ours[name]
        np.testing.assert_allclose(scores, theirs[name], rtol=1e-12, atol=1e-13, err_msg=name)


@pytest.mark.parametrize("name", SPECIAL)
def test_special_graphs(either, name, directed):
    weighted = either.keywords["weighted"]
    A = with_lengths(SPECIAL[name], [1, 2, 3]) if weighted else SPECIAL[name]
    assert_all_equal(either(A, ALL, directed=directed), expected(A, *ALL, directed=directed, weighted=weighted))


@examples(30)
@given(weighted_graphs() | weighted_graphs(TENTHS) | DENSE, st.booleans())
def test_random_graphs(either, A, directed):
    theirs = expected(A, *ALL, directed=directed, weighted=either.keywords["weighted"])
    assert_all_equal(either(A, ALL, directed=directed), theirs)


@pytest.mark.parametrize(
    ("name", "directed"),
    # The others are the same both ways.
    [*((name, True) for name in MANY), ("scale-free, integers", False), ("scale-free, reals", False)],
)
def test_several_batches(either, name, directed):
    theirs = expected(MANY[name], *ALL, directed=directed, weighted=either.keywords["weighted"])
    assert_all_equal(either(MANY[name], ALL, directed=directed), theirs)


@pytest.mark.parametrize("name", ALL)
def test_one_alone_is_one_of_all(either, name):
    """Also of `bc`, which no other sum may change: bits are the same by "batched" on the CPU."""
    A = with_lengths(scale_free(200, 900, seed=3), np.arange(1, 11))
    alone, together = call(either, name)(A), either(A, ALL)[name]
    if name == "edge_bc":
        alone, together = alone.toarray(), together.toarray()
    if (either.keywords["method"], either.keywords["device"]) == ("batched", "cpu"):
        np.testing.assert_array_equal(alone, together)
    np.testing.assert_allclose(alone, together, rtol=1e-12)


# NetworkX


@pytest.mark.parametrize(("name", "directed"), [("karate", False), ("lesmis", False), ("lesmis", True)])
def test_networkx_on_networks(either, example, name, directed):
    A = sp.csr_array(example(name).matrix)
    G = as_networkx(A, directed=directed)
    weight, by = "weight" if either.keywords["weighted"] else None, {"backend": "networkx"}
    ours = either(A, ALL, directed=directed)
    for key, theirs in (
        ("bc", nx.betweenness_centrality(G, normalized=False, weight=weight, **by)),
        ("closeness", nx.closeness_centrality(G, distance=weight, **by)),
        ("harmonic", nx.harmonic_centrality(G, distance=weight, **by)),
        ("eccentricity", nx.eccentricity(G, weight=weight, **by)),
    ):
        np.testing.assert_allclose(ours[key], [theirs[v] for v in range(len(G))], rtol=1e-12, err_msg=key)
    edges = nx.edge_betweenness_centrality(G, normalized=False, weight=weight, **by)
    assert ours["edge_bc"].nnz == len(edges) * (1 if directed else 2)
    scores, (u, v) = ours["edge_bc"].toarray(), np.array(list(edges)).T
    for found in (scores[u, v], scores[v, u])[: 1 if directed else 2]:
        np.testing.assert_allclose(found, list(edges.values()), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("loop", [False, True])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("form", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_scores_of_edges_have_narrow_indices(form, kind, loop):
    A = sp.csr_array(scale_free(30, 90, seed=1), dtype=float)
    A = A + sp.csr_array(([1.0] * loop, ([3] * loop, [3] * loop)), shape=A.shape)
    A = form(sp.csr_array((A.data, A.indices.astype(kind), A.indptr.astype(kind)), shape=A.shape))
    scores = lagbc.edge_bc(A, directed=True)
    assert (scores.format, type(scores)) == (A.format, type(A))
    arrays = (scores.row, scores.col) if A.format == "coo" else (scores.indices, scores.indptr)
    assert {array.dtype for array in arrays} == {np.dtype(np.int32)}
    assert scores.nnz == A.nnz


def test_a_matrix_that_changes_during_its_run_is_an_error():
    A = sp.csr_array(scale_free(60, 300, seed=1))

    def change(_):
        A.indptr[1] = 10**9

    with pytest.raises(ValueError, match=r"A\.indptr does not rise from 0"):
        lagbc.edge_bc(A, progress=change, reduce="none", device="cpu")


@given(graphs(min_n=1), st.booleans(), st.booleans(), st.data())
def test_networkx_sampled_edges(centralities, A, directed, normalized, data):
    n, G = A.shape[0], as_networkx(A, directed=directed)
    k, seed = data.draw(st.integers(1, n)), data.draw(st.integers(0, 5))
    drawn = Chosen(np.random.default_rng(seed).choice(n, k, replace=False))
    scores = nx.edge_betweenness_centrality(G, k=k, normalized=normalized, seed=drawn, backend="networkx")
    ours = call(centralities, "edge_bc")(A, directed=directed, normalized=normalized, k=k, rng=seed).toarray()
    np.testing.assert_allclose([ours[u, v] for u, v in scores], list(scores.values()), rtol=1e-11)
    assert np.count_nonzero(ours) == (1 if directed else 2) * np.count_nonzero(list(scores.values()))


@given(weighted_graphs(min_n=1), st.booleans(), st.data())
def test_subsets(either, A, directed, data):
    vertices = st.lists(st.integers(0, A.shape[0] - 1), unique=True)
    sources, targets = data.draw(vertices), data.draw(vertices)
    omega = np.isin(np.arange(A.shape[0]), targets).astype(int).tolist()
    names, kind = ("bc", "edge_bc", "stress"), {"directed": directed, "weighted": either.keywords["weighted"]}
    theirs = expected(A, *names, **kind, sources=sources, target_weights=omega)
    ours = {name: call(either, name)(A, directed=directed, sources=sources, targets=targets) for name in names}
    assert_all_equal(ours, theirs, names)
    names = ("closeness", "harmonic")
    theirs = expected(A, *names, **kind, sources=sources)
    ours = {name: call(either, name)(A, directed=directed, sources=sources) for name in names}
    assert_all_equal(ours, theirs, names)


def test_factors_of_all(centralities):
    A = scale_free(60, 200, seed=5)
    ours = centralities(A, ("bc", "edge_bc"), normalized=True, endpoints=True)
    np.testing.assert_allclose(ours["bc"], call(centralities, "bc")(A, normalized=True, endpoints=True), rtol=1e-13)
    raw = call(centralities, "edge_bc")(A)
    np.testing.assert_allclose(ours["edge_bc"].toarray(), raw.toarray() / (60 * 59), rtol=1e-13)


# Path counts that float64 does not hold


@functools.cache
def of_diamonds(count, weighted):
    """Return diamonds in a row, some roots, the scores from these by the oracle, and the stress as integers."""
    A = diamonds_with_lengths(count, 6) if weighted else diamonds(count, 6)
    n = A.shape[0]
    sources = [0, 1, 4, n // 2, n - 9]
    exact = reference.stress(*arrays(A, weighted=weighted), sources=sources)
    return A, sources, expected(A, "edge_bc", "harmonic", sources=sources, weighted=weighted), exact


@pytest.mark.parametrize("count", [40, 400])
def test_diamonds(either, count):
    """6**count paths from end to end: more than float64 holds from 397 on. Edges and distances are as ever."""
    A, sources, theirs, exact = of_diamonds(count, either.keywords["weighted"])
    ours = call(either, "edge_bc")(A, sources=sources)
    np.testing.assert_allclose(ours.toarray(), theirs["edge_bc"], rtol=1e-11)
    np.testing.assert_allclose(call(either, "harmonic")(A, sources=sources), theirs["harmonic"], rtol=1e-12)
    log2 = call(either, "stress")(A, sources=sources, log2=True)
    np.testing.assert_allclose(log2, [math.log2(x) if x else -math.inf for x in exact], rtol=1e-12)
    if count == 40:
        ours = call(either, "stress")(A, sources=sources)
        np.testing.assert_allclose(ours, [float(x) for x in exact], rtol=1e-12)
    else:
        with pytest.raises(OverflowError, match=r"stress of \d+ vertices .* the first is .*log2=True"):
            call(either, "stress")(A, sources=sources)


@pytest.mark.parametrize("log2", [False, True])
def test_stress_of_overflowing_roots(centralities, log2):
    """From the last joint of 1021 diamonds on 2**1023 paths overflow a root, but no vertex has that many through it."""
    A = diamonds(1022, 2)
    theirs = reference.stress(*adjacency(A), sources=[3])
    ours = call(centralities, "stress")(A, sources=[3], log2=log2, directed=True)
    np.testing.assert_allclose(ours, [(math.log2(x) if x else -math.inf) if log2 else float(x) for x in theirs])


@given(weighted_graphs(min_n=1) | DENSE, st.booleans(), st.data())
def test_extended_routine(A, weighted, data):
    graph, omega = as_graph(A, weighted=weighted), data.draw(st.none() | st.just(np.arange(A.shape[0]) % 2.0))
    sums = Sums.zeros_of_batch(np, ALL_SUMS, graph.n, graph.nnz, 1, graph.n)
    plan = SweepPlan(batch=64, omega=omega, sums=frozenset(ALL_SUMS))
    for root in range(graph.n):
        extended.add_root(graph, plan, root, sums, 0, root)
    of_oracle = arrays(A, weighted=weighted)
    omega = None if omega is None else omega.astype(int).tolist()
    np.testing.assert_allclose(
        sums.edges[0], reference.edge_scores(*of_oracle, target_weights=omega), rtol=1e-12, atol=1e-13
    )
    stress = reference.stress(*of_oracle, target_weights=omega)
    np.testing.assert_allclose(sums.stress[0], np.array(stress, float))
    np.testing.assert_allclose(sums.depth, reference.eccentricity(*of_oracle))
    into = reference.distances_into(*of_oracle)
    np.testing.assert_allclose(sums.reached[0], [len(d) for d in into])
    np.testing.assert_allclose(sums.distance[0], [sum(d) for d in into])
    np.testing.assert_allclose(sums.inverse[0], [sum(1 / x for x in d) for d in into])


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("directed", [True, False])
def test_graphs_without_vertices_or_edges(n, directed):
    """A sum, mean or share of nothing is 0, of no vertices there are no scores, and no root reaches all of three."""
    A = sp.csr_array((n, n))
    needed = {"groups": [[v] for v in range(n)], "states": np.ones(n), "coordinates": np.zeros((n, 2)), "decay": 1}
    for record in BUILT_IN[:-1]:
        name = "decay" if record.name == "gravity" else record.needs
        found = getattr(lagbc, record.name)(A, directed=directed, **({name: needed[name]} if name else {}))
        assert_same(found, A if record.of_edges else np.zeros(n))
    assert lagbc.bc(A, demand=A, directed=directed).shape == (n,)
    for name, samples in (("bc", "paths"), *((name, "auto") for name in ("bc", "edge_bc", "closeness", "harmonic"))):
        found = lagbc.estimate(A, name, samples=samples, directed=directed)
        assert_same([found.lower, found.upper], [A if name == "edge_bc" else np.zeros(n)] * 2)
    assert lagbc.distances(A, directed=directed) == (n, n, 0, 0, 0, 0, 0, 0 if n == 1 else np.inf)


# Path counts themselves


@given(weighted_graphs(min_n=1), st.booleans(), st.booleans(), st.data())
def test_counts(A, directed, weighted, data):
    sources = data.draw(st.lists(st.integers(0, A.shape[0] - 1), unique=True))
    dist, sigma = lagbc.shortest_path_counts(A, sources, directed=directed, weighted=weighted)
    assert dist.shape == sigma.shape == (len(sources), A.shape[0])
    for i, root in enumerate(sources):
        *_, counts, depth = reference._search(*arrays(A, directed=directed, weighted=weighted), root)
        np.testing.assert_array_equal(sigma[i], counts)
        np.testing.assert_array_equal(dist[i], [d if d >= 0 else np.inf for d in depth])


def test_counts_out_of_range():
    A = diamonds(1100, 2)
    with pytest.raises(OverflowError, match=r"from vertex 3 to vertex 3075 is more .*log2=True"):
        lagbc.shortest_path_counts(A, [3300, 3])
    _, log2 = lagbc.shortest_path_counts(A, [3], log2=True)
    np.testing.assert_array_equal(log2[0, 3::3], np.arange(1100))
    np.testing.assert_array_equal(log2[0, :3], -np.inf)


# With lengths: tolerance and units; overflow, and lengths that rounding absorbs


def test_tolerance(of_lengths):
    """0.1 + 0.2 is more than 0.3 by rounding alone, so that with `rtol` there are three shortest paths from 0 to 3."""
    A = sp.coo_array(([0.1, 0.2, 0.2, 0.1, 0.3], ([0, 1, 0, 2, 0], [1, 3, 2, 3, 3])), shape=(4, 4))
    exact, open_ = (of_lengths(A, ("stress", "edge_bc"), rtol=rtol) for rtol in (0.0, 1e-9))
    np.testing.assert_array_equal(exact["stress"], [0, 0, 0, 0])
    np.testing.assert_array_equal(open_["stress"], [0, 1, 1, 0])
    assert exact["edge_bc"].toarray()[0].tolist() == [0, 1, 1, 1]
    np.testing.assert_allclose(open_["edge_bc"].toarray()[0], [0, 4 / 3, 4 / 3, 1 / 3])


@pytest.mark.parametrize("options", [{"batch": 1}, {"batch": 7, "threads": 3}, {"batch": 1000}, {"bucket_width": 3}])
def test_options_change_no_score(of_lengths, weighted_row, options):
    if "bucket_width" in options and not weighted_row.reads("bucket_width"):
        pytest.skip(f"{weighted_row.name} has no buckets of a width")
    A = with_lengths(grid(5, 9), [1, 2])
    assert_all_equal(of_lengths(A, ALL, **options), expected(A, *ALL, weighted=True))


# What a score is multiplied by with the unit of length: its power.
POWERS = dict.fromkeys(ALL, 0) | {"closeness": -1, "harmonic": -1, "eccentricity": 1, "eccentricity_centrality": -1}


@given(weighted_graphs(TENTHS), st.sampled_from([2.0**-900, 2.0**-30, 0.5, 4.0, 2.0**900]), st.booleans())
def test_a_power_of_two_is_a_unit_of_length(of_lengths, A, unit, directed):
    """It changes no digit of any sum."""
    scaled = sp.coo_array((A.data * unit, A.coords), shape=A.shape)
    ours, scaled = (of_lengths(one, ALL, directed=directed) for one in (A, scaled))
    for name, power in POWERS.items():
        here, there = (x[name].toarray() if name == "edge_bc" else x[name] for x in (ours, scaled))
        np.testing.assert_array_equal(there, here * unit**power, err_msg=name)


MIXED = disjoint(scale_free(60, 150, seed=1), layered(345, 8))
MIXED = with_lengths(matrix(MIXED.shape[0], [*edges_of(MIXED), (26, 60)]), [2])
SOME_OF_MIXED = [*range(0, 60, 12), 60, 61, 600]


@functools.cache
def of_mixed(weighted):
    """Return scores from some roots by the oracle, and the distances between all vertices, infinite to itself."""
    dist = shortest_path(MIXED, unweighted=not weighted)
    np.fill_diagonal(dist, np.inf)
    return expected(MIXED, "edge_bc", "harmonic", weighted=weighted, sources=SOME_OF_MIXED), dist


def test_mixed_batch(either):
    """Path counts of some roots of a batch overflow, up to 8**343, some do not; distances are summed for both."""
    B, sources = MIXED, SOME_OF_MIXED
    theirs, dist = of_mixed(either.keywords["weighted"])
    ours = call(either, "edge_bc")(B, sources=sources).toarray()
    np.testing.assert_allclose(ours, theirs["edge_bc"], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(call(either, "harmonic")(B, sources=sources), theirs["harmonic"], rtol=1e-12)
    if either.keywords["method"] == "graphblas":
        return  # all roots take it long; `test_graphblas.py` has depths of roots that overflow beside others
    both = either(B, ("bc", "harmonic", "eccentricity"), batch=1024)
    np.testing.assert_allclose(both["harmonic"], (1 / dist).sum(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(both["eccentricity"], np.where(np.isfinite(dist), dist, 0).max(axis=1))


def test_sums_of_distances_out_of_range(of_lengths):
    A = sp.coo_array(([2.0**1021] * 4, ([0, 1, 2, 3], [1, 2, 3, 4])), shape=(5, 5))
    np.testing.assert_array_equal(call(of_lengths, "eccentricity")(A), np.array([4, 3, 2, 1, 0]) * 2.0**1021)
    with pytest.raises(OverflowError, match="distances sum to more than float64 holds"):
        call(of_lengths, "closeness")(A)
    for name in ("harmonic", "eccentricity_centrality"):
        with pytest.raises(OverflowError, match="inverse distances sum to more"):
            call(of_lengths, name)(A * 2.0**-1021 * 2.0**-1023)


@pytest.mark.parametrize("name", ["closeness", "harmonic", "eccentricity_centrality"])
def test_length_without_an_inverse_is_named(of_lengths, name):
    A = sp.coo_array(([5e-324, 1.0], ([0, 1], [1, 2])), shape=(3, 3))
    message = "an edge has the length 5e-324; its inverse is more than float64 holds; use a smaller unit"
    with pytest.raises(ValueError, match=re.escape(message)):
        call(of_lengths, name)(A.T if name == "eccentricity_centrality" else A)


def test_closeness_whose_second_factor_makes_up_for_the_first(of_lengths):
    """1 / 1e-309 is more than float64 holds, but not a fortieth of it."""
    A = sp.coo_array(([1e-309], ([0], [1])), shape=(41, 41))
    assert call(of_lengths, "closeness")(A)[1] == pytest.approx(float(1 / (40 * Fraction(1e-309))), rel=1e-12)


@pytest.mark.parametrize("name", ["bc", "edge_bc", "stress"])
def test_absorbed_length_is_named(of_lengths, name, directed):
    message = (
        "the length 1.0 of the edge (1, 2) is lost to rounding beside the distance 1e+18 from vertex 0 to vertex 1: "
        "in float64 their sum is that distance; use lengths of more similar size"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        call(of_lengths, name)(chain_of(1e18, 1.0), directed=directed)


def test_batches_that_are_out_of_range_together(of_lengths):
    """100 leaves on a hub: each batch of 64 roots sums to less than float64 holds, both together to more."""
    n, length = 101, 2.0**1023 / 75
    star = sp.coo_array((np.full(n - 1, length), (np.arange(1, n), np.zeros(n - 1, int))), shape=(n, n))
    tail = sp.coo_array(([length], ([0], [n])), shape=(n + 1, n + 1))
    star.resize(n + 1, n + 1)
    with pytest.raises(OverflowError, match="distances sum to more than float64 holds"):
        call(of_lengths, "closeness")(sp.coo_array(star + tail), batch=64)


# Edge scores as a matrix


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.coo_array, sp.lil_array, sp.dok_array, sp.csr_matrix])
def test_format_is_that_of_the_matrix(kind):
    A = kind(sp.csr_array(SPECIAL["loops and duplicates"]))
    scores = lagbc.edge_bc(A, method="batched", device="cpu")
    assert type(scores) is kind
    assert scores.nnz == 5
    stored = scores.tocoo()
    entries = {*zip(stored.row.tolist(), stored.col.tolist(), stored.data.tolist(), strict=True)}
    assert entries == {(0, 0, 0), (0, 1, 3), (1, 2, 4), (2, 2, 0), (2, 3, 3)}


def test_pattern_is_that_of_both_ways():
    A = SPECIAL["loops and duplicates"]
    scores = sp.csr_array(lagbc.edge_bc(A, directed=False))
    assert scores.nnz == 8
    np.testing.assert_array_equal(scores.toarray(), [[0, 3, 0, 0], [3, 0, 4, 0], [0, 4, 0, 3], [0, 0, 3, 0]])


def test_dense_and_graphs():
    dense = SPECIAL["grid"].toarray()
    scores = lagbc.edge_bc(dense, directed=False)
    assert scores.format == "csr"
    G = nx.from_numpy_array(dense)
    np.testing.assert_array_equal(lagbc.edge_bc(G).toarray(), scores.toarray())
    np.testing.assert_array_equal(lagbc.edge_bc(as_graph(dense, directed=False)).toarray(), scores.toarray())
    assert lagbc.edge_bc(nx.DiGraph([(0, 1), (1, 1)])).nnz == 2


# Arguments


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({}, ["bc", "closeness", "harmonic", "eccentricity", "stress"]),
        ({"normalized": True, "wf_improved": False}, ["bc", "closeness", "harmonic", "eccentricity", "stress"]),
        ({"k": 3, "rng": 1}, ["bc", "closeness", "harmonic", "stress"]),
        ({"sources": [1, 2]}, ["bc", "closeness", "harmonic", "stress"]),
        ({"targets": [1]}, ["bc", "stress"]),
        ({"source_weights": np.ones(5)}, ["bc"]),
    ],
)
def test_what_is_computed_by_default_takes_what_is_given(given, names):
    found = lagbc.centralities(path(5), **given)
    assert list(found) == names
    for name, scores in lagbc.centralities(path(5), names, **given).items():
        np.testing.assert_array_equal(found[name], scores)


def test_a_method_that_does_not_offer_a_sum(monkeypatch):
    one, *others = methods.METHODS
    less = dataclasses.replace(one, sums=("dependency", "edges"))
    monkeypatch.setattr(methods, "METHODS", (less, *others))
    with pytest.raises(ValueError, match=r"batched on cpu does not sum stress"):
        lagbc.stress(path(4), method="batched", device="cpu")
    assert lagbc.edge_bc(path(4), method="batched", device="cpu").sum() > 0


def test_checkpoints_of_other_sums_are_refused(tmp_path):
    A = scale_free(200, 900, seed=3)
    options = {"method": "batched", "device": "cpu", "checkpoint": tmp_path / "run"}
    first = lagbc.edge_bc(A, **options)
    np.testing.assert_array_equal(lagbc.edge_bc(A, **options).toarray(), first.toarray())
    with pytest.raises(lagbc.CheckpointError, match="other options"):
        lagbc.stress(A, **options)


@given(data=st.data())
def test_closeness_of_some_vertices(directed, data):
    """As from the sweep of all roots: bit by bit in hops, and whatever the sources and cutoffs."""
    weighted = data.draw(st.booleans())
    A = data.draw(weighted_graphs(min_n=1) if weighted else graphs(min_n=1))
    some = data.draw(st.lists(st.integers(0, A.shape[0] - 1), unique=True))
    how = {"directed": directed, "weighted": weighted, "wf_improved": data.draw(st.booleans())}
    how |= {"sources": data.draw(st.none() | st.just(some)), "cutoff": data.draw(st.sampled_from([None, 2, [1, 3.5]]))}
    whole = lagbc.closeness(A, **how)
    np.testing.assert_array_equal(lagbc.closeness(A, u=some, **how), whole[some])
    one = lagbc.closeness(A, u=0, **how)
    assert np.array_equal(one, whole[0])
    assert np.ndim(how["cutoff"] or 0) or type(one) is float


def test_closeness_of_more_vertices_than_a_batch_has():
    A = scale_free(300, 900, seed=1)
    lengths = with_lengths(A, [0.1, 0.2, 0.7])
    order = np.random.default_rng(1).permutation(300)[:150]
    np.testing.assert_array_equal(lagbc.closeness(A, u=order), lagbc.closeness(A)[order])
    some = lagbc.closeness(lengths, u=order, weighted=True)
    np.testing.assert_allclose(some, lagbc.closeness(lengths, weighted=True)[order], rtol=1e-14)
    seen = []
    for options in ({"threads": 1}, {"threads": 3, "progress": seen.append}, {"memory": "2MB"}):
        np.testing.assert_array_equal(lagbc.closeness(lengths, u=order, weighted=True, **options), some)
    assert seen[-1].done == 150
    named = nx.path_graph(["a", "b", "c"])
    assert lagbc.closeness(named, u="b") == 1
    assert lagbc.closeness(named, u=["c", "b"]).tolist() == [2 / 3, 1]
