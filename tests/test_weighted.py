"""Betweenness with lengths by every method that has them: against the oracle, NetworkX and what must hold of it."""

import functools
import re
import warnings
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    TENTHS,
    diamond_scores,
    diamonds,
    disjoint,
    draw_options,
    edges_of,
    graphs,
    grid,
    in_a_row,
    layered,
    oracle,
    path,
    rational,
    scale_free,
    weighted_graphs,
    with_lengths,
)
from test_bc import Chosen, as_networkx, values

import lagbc
from lagbc import reference
from lagbc.graph.validate import as_graph

pytestmark = pytest.mark.filterwarnings("ignore::lagbc.TieWarning")

ONE_TO_TEN = np.arange(1, 11)
MANY = {
    "scale-free, integers": with_lengths(scale_free(250, 1500, seed=1), ONE_TO_TEN),
    "scale-free, reals": with_lengths(scale_free(250, 1500, seed=1), np.random.default_rng(1).random(500) + 1e-3),
    "mesh, integers": with_lengths(grid(13, 17), ONE_TO_TEN),
    "mesh, tenths": with_lengths(grid(13, 17), TENTHS),
    "long path": with_lengths(path(140), ONE_TO_TEN),
}


def assert_close(ours, theirs, rtol=1e-12):
    assert ours.dtype == np.float64
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-12)


# Against the oracle


@given(st.data())
def test_float_ties(weighted_bc, data):
    """Paths tie where their float64 sums from the root on do, and nowhere else."""
    A = data.draw(weighted_graphs(TENTHS))
    options = draw_options(data, A.shape[0])
    assert_close(weighted_bc(A, **options), oracle(A, weighted=True, **options))


def test_a_float_tie_and_what_is_none(weighted_bc):
    """From 0 to 3 there are two paths of 0.6; then two of 0.1 + 0.2, which in float64 is more than the edge of 0.3."""
    tie = sp.coo_array(([0.3, 0.3, 0.1, 0.5], ([0, 1, 0, 2], [1, 3, 2, 3])), shape=(4, 4))
    assert 0.3 + 0.3 == 0.1 + 0.5
    assert_close(weighted_bc(tie), [0, 0.5, 0.5, 0])
    near = sp.coo_array(([0.1, 0.2, 0.2, 0.1, 0.3], ([0, 1, 0, 2, 0], [1, 3, 2, 3, 3])), shape=(4, 4))
    assert 0.1 + 0.2 == 0.2 + 0.1 > 0.3
    assert_close(weighted_bc(near), [0, 0, 0, 0])


@pytest.mark.parametrize(
    ("name", "directed"),
    # The others are the same both ways.
    [*((name, True) for name in MANY), ("scale-free, integers", False), ("scale-free, reals", False)],
)
def test_many_batches(weighted_bc, name, directed):
    """More roots than one batch or block takes, so that all paths of the code are taken."""
    A, rng = MANY[name], np.random.default_rng(2)
    n = A.shape[0]
    omega, times = rng.integers(0, 4, n) / 2, rng.integers(0, 4, n) / 2
    for options in ({}, {"endpoints": True}, {"target_weights": omega, "source_weights": times}):
        options["directed"] = directed
        assert_close(weighted_bc(A, **options), oracle(A, weighted=True, **options))


# Against NetworkX


def counted_by_networkx(G, **options):
    return values(nx.betweenness_centrality(G, weight="weight", **options))


@functools.cache
def busiest(example, name, count=120):
    """A shipped network, or the part of it among the vertices of most edges, as NetworkX is slow."""
    A = sp.csr_array(example(name).matrix)
    chosen = np.sort(np.argsort(-np.bincount(A.indices, minlength=A.shape[0]), kind="stable")[:count])
    return A[chosen][:, chosen]


@functools.cache
def counted_once(example, name, directed, **options):
    return counted_by_networkx(as_networkx(busiest(example, name), directed=directed), **options)


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("endpoints", [True, False])
@pytest.mark.parametrize(("name", "directed"), [("lesmis", False), ("lesmis", True), ("us-airports", True)])
def test_networkx(weighted_bc, example, name, directed, endpoints, normalized):
    options = {"normalized": normalized, "endpoints": endpoints}
    theirs = counted_once(example, name, directed, **options)
    assert_close(weighted_bc(busiest(example, name), directed=directed, **options), theirs)


@functools.cache
def counted_from_some(example, name, drawn):
    """A shipped network with lengths, some roots, and the sums of NetworkX from these."""
    A = with_lengths(example(name).matrix, {"integers": ONE_TO_TEN, "tenths": TENTHS}[drawn])
    n = A.shape[0]
    sources = np.random.default_rng(3).choice(n, 10, replace=False)
    theirs = nx.betweenness_centrality_subset(
        as_networkx(A, directed=False), sources=sources.tolist(), targets=range(n), normalized=False, weight="weight"
    )
    return A, sources, values(theirs)


@pytest.mark.parametrize("name", ["power", "minnesota", "ca-GrQc"])
@pytest.mark.parametrize("drawn", ["integers", "tenths"])
def test_sources_against_networkx(weighted_bc, example, name, drawn):
    A, sources, theirs = counted_from_some(example, name, drawn)
    assert_close(weighted_bc(A, directed=False, sources=sources), theirs)


@pytest.mark.parametrize("endpoints", [True, False])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("k", [2, 77])
def test_sample_against_networkx(weighted_bc, example, tmp_path, k, directed, endpoints):
    A = example("lesmis").matrix
    options = {"k": k, "endpoints": endpoints, "normalized": True}
    ours = weighted_bc(A, directed=directed, rng=4, checkpoint=tmp_path / "run", **options)
    roots = np.load(tmp_path / "run")["roots"]
    assert_close(ours, counted_by_networkx(as_networkx(A, directed=directed), seed=Chosen(roots), **options))


# What holds whatever computes it


@given(graphs(), st.sampled_from([1.0, 3.0, 0.1, 2.0**-1000, 1e290]), st.booleans())
def test_equal_lengths_are_hops(weighted_bc, A, length, directed):
    same = with_lengths(A, [length])
    assert_close(weighted_bc(same, directed=directed), lagbc.bc(A, directed=directed, device="cpu"))


@pytest.mark.parametrize("name", MANY)
def test_unit_lengths_are_hops(weighted_bc, name):
    ones = with_lengths(MANY[name], [1])
    for options in ({}, {"endpoints": True, "directed": False}):
        assert_close(weighted_bc(ones, **options), lagbc.bc(ones, device="cpu", method="batched", **options))


@given(weighted_graphs(TENTHS), st.sampled_from([2.0**-900, 0.25, 4.0, 2.0**900]), st.booleans())
def test_the_unit_of_length_does_not_matter(weighted_bc, A, unit, directed):
    """A power of two changes no digit of any sum."""
    scaled = sp.coo_array((A.data * unit, A.coords), shape=A.shape)
    np.testing.assert_array_equal(weighted_bc(scaled, directed=directed), weighted_bc(A, directed=directed))


@given(weighted_graphs(), st.booleans())
def test_duplicates_add_up(weighted_bc, A, directed):
    summed = A.tocsr()
    summed.sum_duplicates()
    np.testing.assert_array_equal(weighted_bc(A, directed=directed), weighted_bc(summed, directed=directed))


@given(weighted_graphs(), st.booleans())
def test_loops_do_not_matter(weighted_bc, A, directed):
    n = A.shape[0]
    data = np.concatenate([A.data, np.tile([7, 0, -1], n)[:n]])
    more = sp.coo_array((data, [np.r_[c, np.arange(n)] for c in A.coords]), shape=A.shape)
    np.testing.assert_array_equal(weighted_bc(more, directed=directed), weighted_bc(A, directed=directed))


@given(weighted_graphs(), st.data())
def test_an_edge_longer_than_all_paths_carries_none(weighted_bc, A, data):
    """An edge between two joined vertices, longer than the graph is wide, changes nothing."""
    edges = sorted(edges_of(A))
    if edges:
        i, j = data.draw(st.sampled_from(edges))
        far = 3 * A.data.sum()
        longer = A.tolil()
        longer[i, j] = 0
        without = sp.coo_array(longer)
        with_detour = sp.coo_array(
            (np.r_[without.data, far], (np.r_[without.row, i], np.r_[without.col, j])), shape=A.shape
        )
        if nx.has_path(as_networkx(without, directed=True), i, j):
            assert_close(weighted_bc(with_detour), weighted_bc(without))


def test_a_stored_edge_may_be_a_detour(weighted_bc):
    """The direct edge is longer than the way round, so that the middle is between."""
    A = sp.coo_array(([1.0, 1.0, 3.0], ([0, 1, 0], [1, 2, 2])), shape=(3, 3))
    np.testing.assert_array_equal(weighted_bc(A), [0, 1, 0])
    np.testing.assert_array_equal(lagbc.bc(A, device="cpu"), [0, 0, 0])


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.float32, np.float64])
def test_every_dtype(weighted_bc, dtype):
    A = with_lengths(grid(3, 4), np.array([1, 2])).astype(dtype)
    expected = oracle(sp.coo_array(A.astype(float)), weighted=True)
    assert_close(weighted_bc(A), expected)
    assert_close(weighted_bc(A.toarray()), expected)


# rtol and bucket_width


def takers(option):
    return [row for row in lagbc.METHODS if row.weighted and row.reads(option)]


@pytest.fixture(scope="module")
def rtol_bc(weighted_row, weighted_bc):
    if not weighted_row.reads("rtol"):
        pytest.skip(f"{weighted_row.name} compares exactly")
    return weighted_bc


@given(st.data())
def test_rtol_against_oracle(rtol_bc, data):
    A = data.draw(weighted_graphs((1.0, 1.1, 2.0, 2.3)))
    options = draw_options(data, A.shape[0])
    options["rtol"] = data.draw(st.sampled_from([0.0, 0.01, 0.06, 0.3, 0.9]))
    assert_close(rtol_bc(A, **options), oracle(A, weighted=True, **options))


def test_rtol_bridges_rounding(rtol_bc):
    """Lengths that were integers before a change of unit tie again within a tolerance; without one, few do."""
    exact = with_lengths(grid(12, 13), ONE_TO_TEN)
    metres = sp.coo_array((exact.data * 0.3048, exact.coords), shape=exact.shape)
    expected = oracle(exact, weighted=True)
    assert_close(rtol_bc(metres, rtol=1e-12), expected)
    assert not np.allclose(rtol_bc(metres), expected)


def test_rtol_of_zero_is_the_exact_comparison(rtol_bc):
    A = MANY["mesh, tenths"]
    np.testing.assert_array_equal(rtol_bc(A, rtol=0.0), rtol_bc(A))
    assert not np.allclose(rtol_bc(A, rtol=1e-12), rtol_bc(A))


def test_delta_changes_no_score(weighted_row, weighted_bc):
    if not weighted_row.reads("bucket_width"):
        pytest.skip(f"{weighted_row.name} has no buckets")
    for name in ("scale-free, reals", "mesh, tenths", "long path"):
        A = MANY[name]
        sources = np.arange(0, A.shape[0], 3)  # of more than one batch, and of all parts of the graph
        expected = weighted_bc(A, sources=sources)
        for delta in (1e-300, 0.3, 7.5, 1e300):
            assert_close(weighted_bc(A, sources=sources, bucket_width=delta), expected)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"rtol": -1e-9}, ValueError, "rtol=-1e-09: it is a relative difference, from 0 to less than 1"),
        ({"rtol": 1}, ValueError, "rtol=1: it is a relative difference"),
        ({"rtol": np.nan}, ValueError, "rtol=nan"),
        ({"rtol": "tiny"}, TypeError, "rtol='tiny' is not a real number"),
        ({"bucket_width": 0}, ValueError, "bucket_width=0: it is a length, finite and > 0, or 'auto'"),
        ({"bucket_width": np.inf}, ValueError, "bucket_width=inf"),
        ({"bucket_width": "wide"}, TypeError, "bucket_width='wide' is neither 'auto' nor a length"),
        ({"bucket_width": True}, TypeError, "bucket_width=True is not a real number"),
    ],
    ids=str,
)
def test_bad_rtol_and_delta(options, error, message):
    with pytest.raises(error, match=re.escape(message)):
        lagbc.bc(path(5), weighted=True, method="batched", device="cpu", **options)


@pytest.mark.parametrize("options", [{"rtol": 1e-9}, {"bucket_width": 2.0}], ids=str)
def test_rtol_and_delta_are_for_lengths(options):
    (option,) = options
    who = ", ".join(f"{row.name} on {row.device} with lengths" for row in takers(option))
    message = f"means nothing to batched on cpu without lengths; it goes with: {who}"
    with pytest.raises(ValueError, match=re.escape(message)):
        lagbc.bc(path(5), method="batched", device="cpu", **options)


# Counts out of range

# No overflow may show, not even as a warning on the way.
errors = pytest.mark.filterwarnings("error")


def diamonds_with_lengths(count, ways):
    """A chain of diamonds in which the ways of each are equally long, 5, in parts that differ; joints as in `diamonds`.

    To each joint leads, too, an edge from the one before that is longer.
    """
    A = diamonds(count, ways)
    first = A.row % (ways + 1) == 0
    middle = np.where(first, A.col, A.row)
    part = 1 + middle % 4
    joints = np.arange(count) * (ways + 1)
    data = np.r_[np.where(first, part, 5 - part), np.full(count, 6)]
    return sp.coo_array((data, (np.r_[A.row, joints], np.r_[A.col, joints + ways + 1])), shape=A.shape)


@errors
@pytest.mark.parametrize(("count", "ways"), [(40, 3), (350, 9)])
def test_diamonds(weighted_bc, count, ways):
    """9**350 paths; from all roots, from those at the start alone, and with the ends."""
    A = diamonds_with_lengths(count, ways)
    n = A.shape[0]
    assert_close(weighted_bc(A, batch=512), [float(x) for x in diamond_scores(count, ways)], rtol=1e-11)
    roots = [0, ways + 1, n - 1 - 10 * (ways + 1)]
    for options in ({}, {"endpoints": True}, {"target_weights": np.arange(n) % 3 / 2}):
        expected = oracle(A, weighted=True, sources=roots, number=rational, **options)
        assert_close(weighted_bc(A, sources=roots, **options), expected, rtol=1e-11)


@errors
@pytest.mark.parametrize("exponent", [1021, 1022, 1023, 1024])
def test_limit(weighted_bc, exponent):
    A = in_a_row(diamonds_with_lengths(exponent // 4, 16), diamonds_with_lengths(exponent % 4, 2))
    expected = oracle(A, weighted=True, sources=[0], number=rational)
    assert_close(weighted_bc(A, sources=[0]), expected, rtol=1e-11)


@errors
def test_mixed_batch(weighted_bc):
    """Some roots of a batch overflow and some do not."""
    tangle, chain = with_lengths(scale_free(60, 150, seed=1), [1, 2]), diamonds_with_lengths(350, 9)
    n = 60 + chain.shape[0]
    both = disjoint(tangle, chain).tocoo()
    A = sp.coo_array((np.r_[both.data, 1], (np.r_[both.row, 26], np.r_[both.col, 60])), shape=both.shape)
    roots = np.r_[0:60:12, 60, 61, 600, n - 1]
    for options in ({}, {"endpoints": True}):
        expected = oracle(A, weighted=True, sources=roots.tolist(), number=rational, **options)
        assert_close(weighted_bc(A, sources=roots, **options), expected, rtol=1e-11)


@errors
def test_overflow_with_rtol(rtol_bc):
    A = diamonds_with_lengths(370, 8)
    off = np.random.default_rng(1).uniform(1, 1 + 1e-13, A.nnz)
    nearly = sp.coo_array((A.data * off, A.coords), shape=A.shape)
    expected = oracle(A, weighted=True, sources=[0], number=rational)
    assert_close(rtol_bc(nearly, sources=[0], rtol=1e-9), expected, rtol=1e-11)


@errors
def test_layers_of_equal_lengths(weighted_bc):
    layers, width = 330, 10
    A = with_lengths(layered(layers, width), [7])
    layer = np.arange(layers).repeat(width)
    roots = np.flatnonzero(np.isin(layer, [0, 20, 200]))
    before = np.array([np.count_nonzero(layer[roots] < i) for i in layer])
    assert_close(weighted_bc(A, sources=roots), before * (layers - 1 - layer))


# Lengths that rounding absorbs


def chain_of(*lengths):
    n = len(lengths) + 1
    return sp.coo_array((np.array(lengths), (np.arange(n - 1), np.arange(1, n))), shape=(n, n))


@errors
@pytest.mark.parametrize("directed", [True, False])
def test_absorbed_length_is_named(weighted_bc, directed):
    A = chain_of(1e18, 1.0)
    message = (
        "the length 1.0 of the edge (1, 2) is lost to rounding beside the distance 1e+18 from vertex 0 to vertex 1: "
        "in float64 their sum is that distance; use lengths of more similar size"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        weighted_bc(A, directed=directed)


@errors
@pytest.mark.parametrize("behind", [0, 1, 5])
def test_absorbed_length_amid_others(weighted_bc, behind):
    """The vertices behind the absorbed one are reached and never counted; nothing loops, nothing is miscounted."""
    A = disjoint(chain_of(1e18, 2.0, 1.0, *[1e10] * behind), with_lengths(grid(6, 6), ONE_TO_TEN * 1.0))
    with pytest.raises(ValueError, match=r"the length 2\.0 of the edge \(1, 2\).*from vertex 0 to vertex 1"):
        weighted_bc(A, sources=[0, 20])
    roots = np.setdiff1d(np.arange(A.shape[0]), [0])
    assert_close(weighted_bc(A, sources=roots), oracle(A, weighted=True, sources=roots.tolist()))


@errors
def test_absorbed_cycle(weighted_bc):
    """Around a cycle that rounding absorbs, no vertex comes before another."""
    A = sp.coo_array(([1e18, 1.0, 1.0, 1.0], ([0, 1, 2, 3], [1, 2, 3, 1])), shape=(4, 4))
    with pytest.raises(ValueError, match=r"the length 1\.0 of the edge \((1, 2|2, 3|3, 1)\) is lost to rounding"):
        weighted_bc(A)


@errors
def test_absorbed_length_that_no_path_needs(weighted_bc):
    """Both ends of the edge have edges of their own from the root, equally long: it is on no shortest path."""
    A = sp.coo_array(([1e18, 1e18, 1.0], ([0, 0, 1], [1, 2, 2])), shape=(3, 3))
    np.testing.assert_array_equal(weighted_bc(A, sources=[0]), [0, 0, 0])
    np.testing.assert_array_equal(weighted_bc(A, sources=[0], endpoints=True), [2, 1, 1])


@errors
def test_rounding_that_absorbs_nothing(weighted_bc):
    """1e16 + 3 rounds to 1e16 + 4, which is a distance like any other."""
    A = chain_of(1e16, 3.0, 3.0)
    np.testing.assert_array_equal(weighted_bc(A), [0, 2, 2, 0])


@errors
def test_tiny_and_huge_lengths(weighted_bc):
    for length in (5e-324, 1e-310, 1e307 / 7):
        np.testing.assert_array_equal(weighted_bc(chain_of(*[length] * 6)), [0, 5, 8, 9, 8, 5, 0])


# Bits


@pytest.mark.parametrize("name", MANY)
def test_same_bits(name):
    graph = as_graph(MANY[name], weighted=True)
    expected = lagbc.bc(graph, batch=64, weighted=True, method="batched", device="cpu", threads=1)
    for threads in (1, 2, 4):
        for batch in (1, 100, "auto"):
            scores = lagbc.bc(graph, batch=batch, weighted=True, method="batched", device="cpu", threads=threads)
            np.testing.assert_array_equal(scores, expected)
    for delta in (1e-3, 1.0, 1e3):
        scores = lagbc.bc(graph, weighted=True, method="batched", device="cpu", bucket_width=delta)
        np.testing.assert_array_equal(scores, expected)


def fractions_of(A):
    """The strengths of a matrix as exact lengths 1 / w, in the arrays of the oracle."""
    csr = sp.csr_array(A)
    csr.sort_indices()
    return csr.indptr.tolist(), csr.indices.tolist(), [1 / Fraction(int(w)) for w in csr.data]


def strengths(seed, n=40, edges=120):
    """A random graph with strengths 1 to 6, where paths tie such as 1/3 + 1/6 and 1/2."""
    rng = np.random.default_rng(seed)
    pairs = np.unique(np.sort(rng.integers(0, n, (edges, 2))), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    w = rng.integers(1, 7, len(pairs)).astype(float)
    half = sp.coo_array((w, pairs.T), shape=(n, n))
    return sp.csr_array(half + half.T)


@pytest.mark.parametrize("seed", range(4))
def test_a_tolerance_finds_the_ties_of_strengths(seed):
    """As exact numbers have them; without it, some are missed."""
    A = strengths(seed)
    exact = np.array(reference.brandes(*fractions_of(A)), float) / 2
    with pytest.warns(lagbc.TieWarning, match=r"rtol=1e-9"):
        rounded = lagbc.bc(A, directed=False, strength=True)
    np.testing.assert_allclose(lagbc.bc(A, directed=False, strength=True, rtol=1e-9), exact, rtol=1e-9, atol=1e-9)
    assert np.abs(rounded - exact).max() > 1e-3


@pytest.mark.parametrize("make", [lagbc.as_graph, lagbc.graph_from_edges])
def test_a_graph_of_strengths_tells_of_their_ties(make):
    A = strengths(0)
    if make is lagbc.as_graph:
        graph = make(A, directed=False, strength=True)
    else:
        half = sp.triu(A)
        graph = make(*half.coords, strength=half.data, directed=False)
        A = A[graph.names][:, graph.names]
    with pytest.warns(lagbc.TieWarning, match="lengths 1 / w are rounded"):
        scores = lagbc.bc(graph)
    np.testing.assert_array_equal(scores, lagbc.bc(A, directed=False, strength=True, rtol=0))
    np.testing.assert_array_equal(scores, lagbc.bc(graph, strength=True, rtol=0))


def grid_of(lengths, k=12):
    """A square grid with some lengths."""
    edges = np.array(nx.convert_node_labels_to_integers(nx.grid_2d_graph(k, k)).edges)
    half = sp.coo_array((np.resize(lengths, len(edges)), edges.T), shape=(k * k, k * k))
    return sp.csr_array(half + half.T)


def drawn(draw):
    return draw(np.random.default_rng(1))


TENTHS = drawn(lambda rng: rng.integers(1, 11, 264) / 10)


@pytest.mark.parametrize(
    "call",
    [
        lagbc.bc,
        lagbc.edge_bc,
        lambda A, **given: lagbc.group_bc(A, [[3]], **given),
        lambda A, **given: lagbc.estimate(A, error=0.4, rng=0, **given),
        lambda A, **given: lagbc.bc(lagbc.as_graph(A, **given)),
    ],
)
def test_ties_of_tenths_that_rounding_breaks_are_warned_of(call):
    tenths = grid_of(TENTHS)
    exact = lagbc.bc(grid_of(drawn(lambda rng: rng.integers(1, 11, 264))), directed=False, weighted=True)
    assert not np.allclose(lagbc.bc(tenths, directed=False, weighted=True, rtol=0), exact)
    with pytest.warns(lagbc.TieWarning, match=r"paths from vertex \d+ to vertex \d+ are .* and .* long.*rtol=1e-9"):
        call(tenths, directed=False, weighted=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(lagbc.bc(tenths, directed=False, weighted=True, rtol=1e-9), exact, atol=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_small_graphs_are_searched_whole_for_ties_that_rounding_breaks(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 61))
    pairs = np.unique(np.sort(rng.integers(0, n, (2 * n, 2))), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    halves = [sp.coo_array((rng.integers(1, 10, len(pairs)), pairs.T), shape=(n, n))]
    halves.append(halves[0] / 10)
    whole, tenths = (sp.csr_array(half + half.T) for half in halves)
    exact = lagbc.bc(whole, directed=False, weighted=True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        scores = lagbc.bc(tenths, directed=False, weighted=True)
    assert bool(told) == (not np.allclose(scores, exact, atol=1e-9))


@pytest.mark.parametrize(
    ("lengths", "call"),
    [
        (0.1, lagbc.bc),
        (drawn(lambda rng: rng.random(264)), lagbc.bc),
        (drawn(lambda rng: rng.integers(1, 11, 264)), lagbc.bc),
        (drawn(lambda rng: rng.integers(1, 11, 264) / 8), lagbc.bc),
        (TENTHS, lagbc.closeness),
        (TENTHS, lambda A, **given: lagbc.bc(A, targets=[1], **given)),
        (TENTHS, lambda A, **given: lagbc.bc(A, cutoff=0.5, **given)),
    ],
    ids=["one length", "random", "whole", "eighths", "distances alone", "of some targets", "of short paths"],
)
def test_no_word_of_ties_that_rounding_leaves(lengths, call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(grid_of(lengths), directed=False, weighted=True)


def test_no_word_of_paths_that_a_tiny_length_parts():
    """A tolerance would take them for ties, which they are not."""
    tails, heads, lengths = zip((0, 1, 1.5), (0, 2, 1.5), (1, 2, 1e-15), (1, 3, 1), (2, 3, 1), (3, 4, 1), strict=True)
    A = sp.coo_array((lengths, (tails, heads)), shape=(5, 5)).tocsr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lagbc.bc(A, directed=False, weighted=True, sources=[2])[1] == 0


@pytest.mark.parametrize(
    ("call", "options"),
    [
        (lagbc.bc, {"rtol": 0}),
        (lagbc.bc, {"rtol": 1e-9}),
        (lagbc.closeness, {}),
        (lambda A, **given: lagbc.bc(sp.csr_array((np.full(A.nnz, 4.0), A.indices, A.indptr)), **given), {}),
    ],
    ids=["said", "tolerance", "distances alone", "powers of two"],
)
def test_no_word_of_ties_where_none_is_needed(call, options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(strengths(0), directed=False, strength=True, **options)
