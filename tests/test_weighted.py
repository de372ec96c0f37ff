"""Betweenness with lengths by every method that has them: against the oracle, NetworkX and what must hold of it."""

import re
import warnings
from fractions import Fraction
from functools import partial

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from families import diamonds, disjoint, grid, path, with_lengths
from hypothesis import given
from hypothesis import strategies as st
from strategies import adjacency, diamond_scores, draw_options, graphs, lengths, oracle, rational, weighted_graphs
from test_bc import MANY, ONE_TO_TEN, assert_close

import lagbc
from lagbc import reference

# No overflow may show, not even as a warning on the way.
pytestmark = pytest.mark.filterwarnings("error", "ignore::lagbc.TieWarning")


def test_a_float_tie_and_what_is_none(weighted_bc):
    """From 0 to 3 there are two paths of 0.6; then two of 0.1 + 0.2, which in float64 is more than the edge of 0.3."""
    tie = sp.coo_array(([0.3, 0.3, 0.1, 0.5], ([0, 1, 0, 2], [1, 3, 2, 3])), shape=(4, 4))
    assert_close(weighted_bc(tie), [0, 0.5, 0.5, 0])
    near = sp.coo_array(([0.1, 0.2, 0.2, 0.1, 0.3], ([0, 1, 0, 2, 0], [1, 3, 2, 3, 3])), shape=(4, 4))
    assert_close(weighted_bc(near), [0, 0, 0, 0])


@given(graphs(), st.sampled_from([1.0, 3.0, 0.1, 2.0**-1000, 1e290]), st.booleans())
def test_equal_lengths_are_hops(weighted_bc, A, length, directed):
    same = with_lengths(A, [length])
    assert_close(weighted_bc(same, directed=directed), lagbc.bc(A, directed=directed, device="cpu"))


# rtol and bucket_width


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


def test_delta_changes_no_score(weighted_row, weighted_bc):
    if not weighted_row.reads("bucket_width"):
        pytest.skip(f"{weighted_row.name} has no buckets")
    for name in ("scale-free, reals", "mesh, tenths", "long path"):
        A = MANY[name]
        sources = np.arange(0, A.shape[0], 3)  # of more than one batch, and of all parts of the graph
        expected = weighted_bc(A, sources=sources)
        for delta in (1e-300, 0.3, 7.5, 1e300):
            scores = weighted_bc(A, sources=sources, bucket_width=delta)
            assert_close(scores, expected)
            assert weighted_row.name != "batched" or (scores == expected).all()


@pytest.mark.parametrize("options", [{"rtol": 1e-9}, {"bucket_width": 2.0}], ids=str)
def test_rtol_and_delta_are_for_lengths(options):
    """The message names the methods that take the option, of those that are available."""
    (option,) = options
    takers = [row for row in lagbc.METHODS if row.weighted and row.reads(option)]
    who = ", ".join(f"{row.name} on {row.device} with lengths" for row in takers)
    message = f"{option}={options[option]} means nothing to batched on cpu without lengths; it goes with: {who}; "
    message += "weighted=True takes the values of edges for lengths"
    with pytest.raises(ValueError, match=re.escape(message) + "$"):
        lagbc.bc(path(5), method="batched", device="cpu", **options)


# Counts out of range


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


def test_overflow_with_rtol(rtol_bc):
    A = diamonds_with_lengths(370, 8)
    off = np.random.default_rng(1).uniform(1, 1 + 1e-13, A.nnz)
    nearly = sp.coo_array((A.data * off, A.coords), shape=A.shape)
    expected = oracle(A, weighted=True, sources=[0], number=rational)
    assert_close(rtol_bc(nearly, sources=[0], rtol=1e-9), expected, rtol=1e-11)


# Lengths that rounding absorbs


def chain_of(*lengths):
    n = len(lengths) + 1
    return sp.coo_array((np.array(lengths), (np.arange(n - 1), np.arange(1, n))), shape=(n, n))


@pytest.mark.parametrize("behind", [0, 1, 5])
def test_absorbed_length_amid_others(weighted_bc, behind):
    """The vertices behind the absorbed one are reached and never counted; nothing loops, nothing is miscounted."""
    A = disjoint(chain_of(1e18, 2.0, 1.0, *[1e10] * behind), with_lengths(grid(6, 6), ONE_TO_TEN * 1.0))
    with pytest.raises(ValueError, match=r"the length 2\.0 of the edge \(1, 2\).*from vertex 0 to vertex 1"):
        weighted_bc(A, sources=[0, 20])
    roots = np.setdiff1d(np.arange(A.shape[0]), [0])
    assert_close(weighted_bc(A, sources=roots), oracle(A, weighted=True, sources=roots.tolist()))


def test_absorbed_cycle(weighted_bc):
    """Around a cycle that rounding absorbs, no vertex comes before another."""
    A = sp.coo_array(([1e18, 1.0, 1.0, 1.0], ([0, 1, 2, 3], [1, 2, 3, 1])), shape=(4, 4))
    with pytest.raises(ValueError, match=r"the length 1\.0 of the edge \((1, 2|2, 3|3, 1)\) is lost to rounding"):
        weighted_bc(A)


def test_absorbed_length_that_no_path_needs(weighted_bc):
    """Both ends of the edge have edges of their own from the root, equally long: it is on no shortest path."""
    A = sp.coo_array(([1e18, 1e18, 1.0], ([0, 0, 1], [1, 2, 2])), shape=(3, 3))
    np.testing.assert_array_equal(weighted_bc(A, sources=[0]), [0, 0, 0])
    np.testing.assert_array_equal(weighted_bc(A, sources=[0], endpoints=True), [2, 1, 1])


def test_rounding_that_absorbs_nothing(weighted_bc):
    """1e16 + 3 rounds to 1e16 + 4, which is a distance like any other."""
    A = chain_of(1e16, 3.0, 3.0)
    np.testing.assert_array_equal(weighted_bc(A), [0, 2, 2, 0])


def test_tiny_and_huge_lengths(weighted_bc):
    for length in (5e-324, 1e-310, 1e307 / 7):
        np.testing.assert_array_equal(weighted_bc(chain_of(*[length] * 6)), [0, 5, 8, 9, 8, 5, 0])


# Bits


def random_graph(rng, n, edges, most):
    """An undirected graph of at most so many edges, with integers from 1 to the most."""
    pairs = np.unique(np.sort(rng.integers(0, n, (edges, 2))), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    half = sp.coo_array((rng.integers(1, most + 1, len(pairs)).astype(float), pairs.T), shape=(n, n))
    return sp.csr_array(half + half.T)


def strengths(seed):
    """A random graph with strengths 1 to 6, where paths tie such as 1/3 + 1/6 and 1/2."""
    return random_graph(np.random.default_rng(seed), 40, 120, 6)


@pytest.mark.parametrize("seed", range(4))
def test_a_tolerance_finds_the_ties_of_strengths(seed):
    """As exact numbers have them; without it, some are missed."""
    A = strengths(seed)
    in_fractions = [1 / Fraction(int(w)) for w in lengths(A)]
    exact = np.array(reference.brandes(*adjacency(A), in_fractions), float) / 2
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


DRAWN_TENTHS = drawn(lambda rng: rng.integers(1, 11, 264) / 10)


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
    tenths = grid_of(DRAWN_TENTHS)
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
    whole = random_graph(rng, n, 2 * n, 9)
    tenths = whole / 10
    exact = lagbc.bc(whole, directed=False, weighted=True)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        scores = lagbc.bc(tenths, directed=False, weighted=True)
    assert bool(told) == (not np.allclose(scores, exact, atol=1e-9))


def test_no_word_of_paths_that_a_tiny_length_parts():
    """A tolerance would take them for ties, which they are not."""
    tails, heads, lengths = zip((0, 1, 1.5), (0, 2, 1.5), (1, 2, 1e-15), (1, 3, 1), (2, 3, 1), (3, 4, 1), strict=True)
    A = sp.coo_array((lengths, (tails, heads)), shape=(5, 5)).tocsr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert lagbc.bc(A, directed=False, weighted=True, sources=[2])[1] == 0


def of_strengths(call=lagbc.bc, A=None, **options):
    call(strengths(0) if A is None else A, directed=False, strength=True, **options)


def of_grid(lengths, call=lagbc.bc, **options):
    call(grid_of(lengths), directed=False, weighted=True, **options)


QUIET = {
    "one length": partial(of_grid, 0.1),
    "random": partial(of_grid, drawn(lambda rng: rng.random(264))),
    "whole": partial(of_grid, drawn(lambda rng: rng.integers(1, 11, 264))),
    "eighths": partial(of_grid, drawn(lambda rng: rng.integers(1, 11, 264) / 8)),
    "distances alone": partial(of_grid, DRAWN_TENTHS, lagbc.closeness),
    "of some targets": partial(of_grid, DRAWN_TENTHS, targets=[1]),
    "of short paths": partial(of_grid, DRAWN_TENTHS, cutoff=0.5),
    "said": partial(of_strengths, rtol=0),
    "tolerance": partial(of_strengths, rtol=1e-9),
    "distances of strengths": partial(of_strengths, lagbc.closeness),
    "powers of two": partial(of_strengths, A=grid_of([4.0])),
}


@pytest.mark.parametrize("call", QUIET.values(), ids=QUIET)
def test_no_word_of_ties_where_none_is_needed(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call()
