"""All centralities with lengths: every method that has them against the oracle and NetworkX; identities, overflow."""

import functools
import re
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from families import disjoint, edges_of, grid, layered, matrix, scale_free, with_lengths
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path
from strategies import ALL_SUMS, TENTHS, expected, weighted_graphs
from test_centralities import ALL, assert_all_equal, call
from test_centralities import either as either
from test_weighted import chain_of

import lagbc

# No overflow may show, not even as a warning on the way.
errors = pytest.mark.filterwarnings("error")

# What a score is multiplied by with the unit of length: its power.
POWERS = dict.fromkeys(ALL, 0) | {"closeness": -1, "harmonic": -1, "eccentricity": 1, "eccentricity_centrality": -1}


@pytest.fixture(scope="module")
def centralities(weighted_row):
    """`lagbc.centralities` with lengths by one method."""
    if not set(ALL_SUMS) <= set(weighted_row.sums):
        pytest.skip(f"{weighted_row.name} on {weighted_row.device} does not offer all sums")
    return functools.partial(lagbc.centralities, weighted=True, method=weighted_row.name, device=weighted_row.device)


# Against the oracle


def test_tolerance(centralities):
    """0.1 + 0.2 is more than 0.3 by rounding alone, so that with `rtol` there are three shortest paths from 0 to 3."""
    A = sp.coo_array(([0.1, 0.2, 0.2, 0.1, 0.3], ([0, 1, 0, 2, 0], [1, 3, 2, 3, 3])), shape=(4, 4))
    exact, open_ = (centralities(A, ("stress", "edge_bc"), rtol=rtol) for rtol in (0.0, 1e-9))
    np.testing.assert_array_equal(exact["stress"], [0, 0, 0, 0])
    np.testing.assert_array_equal(open_["stress"], [0, 1, 1, 0])
    assert exact["edge_bc"].toarray()[0].tolist() == [0, 1, 1, 1]
    np.testing.assert_allclose(open_["edge_bc"].toarray()[0], [0, 4 / 3, 4 / 3, 1 / 3])


# What must hold


@pytest.mark.parametrize("options", [{"batch": 1}, {"batch": 7, "threads": 3}, {"batch": 1000}, {"bucket_width": 3}])
def test_options_change_no_score(centralities, weighted_row, options):
    if "bucket_width" in options and not weighted_row.reads("bucket_width"):
        pytest.skip(f"{weighted_row.name} has no buckets of a width")
    A = with_lengths(grid(5, 9), [1, 2])
    assert_all_equal(centralities(A, ALL, **options), expected(A, *ALL, weighted=True))


@given(weighted_graphs(TENTHS), st.sampled_from([2.0**-900, 2.0**-30, 0.5, 4.0, 2.0**900]), st.booleans())
def test_a_power_of_two_is_a_unit_of_length(centralities, A, unit, directed):
    """It changes no digit of any sum."""
    scaled = sp.coo_array((A.data * unit, A.coords), shape=A.shape)
    ours, scaled = (centralities(one, ALL, directed=directed) for one in (A, scaled))
    for name, power in POWERS.items():
        here, there = (x[name].toarray() if name == "edge_bc" else x[name] for x in (ours, scaled))
        np.testing.assert_array_equal(there, here * unit**power, err_msg=name)


# Overflow, and lengths that rounding absorbs


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
        return  # all roots take it long; `test_graphblas_sums.py` has depths of roots that overflow beside others
    both = either(B, ("bc", "harmonic", "eccentricity"), batch=1024)
    np.testing.assert_allclose(both["harmonic"], (1 / dist).sum(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(both["eccentricity"], np.where(np.isfinite(dist), dist, 0).max(axis=1))


@errors
def test_sums_of_distances_out_of_range(centralities):
    A = sp.coo_array(([2.0**1021] * 4, ([0, 1, 2, 3], [1, 2, 3, 4])), shape=(5, 5))
    np.testing.assert_array_equal(call(centralities, "eccentricity")(A), np.array([4, 3, 2, 1, 0]) * 2.0**1021)
    with pytest.raises(OverflowError, match="distances sum to more than float64 holds"):
        call(centralities, "closeness")(A)
    for name in ("harmonic", "eccentricity_centrality"):
        with pytest.raises(OverflowError, match="inverse distances sum to more"):
            call(centralities, name)(A * 2.0**-1021 * 2.0**-1023)


@errors
@pytest.mark.parametrize("name", ["closeness", "harmonic", "eccentricity_centrality"])
def test_length_without_an_inverse_is_named(centralities, name):
    A = sp.coo_array(([5e-324, 1.0], ([0, 1], [1, 2])), shape=(3, 3))
    message = "an edge has the length 5e-324; its inverse is more than float64 holds; use a smaller unit"
    with pytest.raises(ValueError, match=re.escape(message)):
        call(centralities, name)(A.T if name == "eccentricity_centrality" else A)


@errors
def test_closeness_whose_second_factor_makes_up_for_the_first(centralities):
    """1 / 1e-309 is more than float64 holds, but not a fortieth of it."""
    A = sp.coo_array(([1e-309], ([0], [1])), shape=(41, 41))
    assert call(centralities, "closeness")(A)[1] == pytest.approx(float(1 / (40 * Fraction(1e-309))), rel=1e-12)


@errors
@pytest.mark.parametrize("name", ["edge_bc", "stress"])
def test_absorbed_length_is_named(centralities, name):
    message = (
        "the length 1.0 of the edge (1, 2) is lost to rounding beside the distance 1e+18 from vertex 0 to vertex 1"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        call(centralities, name)(chain_of(1e18, 1.0))


@pytest.mark.filterwarnings("error")
def test_batches_that_are_out_of_range_together(centralities):
    """100 leaves on a hub: each batch of 64 roots sums to less than float64 holds, both together to more."""
    n, length = 101, 2.0**1023 / 75
    star = sp.coo_array((np.full(n - 1, length), (np.arange(1, n), np.zeros(n - 1, int))), shape=(n, n))
    tail = sp.coo_array(([length], ([0], [n])), shape=(n + 1, n + 1))
    star.resize(n + 1, n + 1)
    with pytest.raises(OverflowError, match="distances sum to more than float64 holds"):
        call(centralities, "closeness")(sp.coo_array(star + tail), batch=64)
