"""The distances of all pairs in numbers: mean, sum, efficiency, diameter, radius."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from strategies import adjacency, graphs, lengths, scale_free, weighted_graphs

import lagbc
from lagbc import reference

A = scale_free(60, 150, seed=3)


def exact(A, *, directed, weighted, sources=None, cutoff=np.inf):
    """The numbers by their definitions, in rationals."""
    indptr, indices = adjacency(A, directed=directed)
    weights = lengths(A, directed=directed) if weighted else None
    n = len(indptr) - 1
    roots = range(n) if sources is None else sources
    everywhere, within = (
        [reference.distances_into(indptr, indices, weights, sources=[s], cutoff=most) for s in roots]
        for most in (np.inf, cutoff)
    )
    out = [[Fraction(d) for distances in of_root for d in distances] for of_root in within]
    reach_all = [sum(map(len, of_root)) == n - 1 for of_root in everywhere]
    pairs = [d for row in out for d in row]
    once = 1 if directed else 2
    return (
        n,
        len(roots),
        Fraction(len(pairs), once),
        sum(pairs) / len(pairs) if pairs else 0,
        Fraction(sum(pairs), once),
        sum(1 / d for d in pairs) / (len(roots) * (n - 1)) if pairs else 0,
        max((max(row, default=0) for row in out), default=0),
        min((max(row, default=0) for row, all_ in zip(out, reach_all, strict=True) if all_), default=np.inf),
    )


def assert_exact(found, numbers):
    np.testing.assert_allclose([*found], [float(one) for one in numbers], rtol=1e-14)


@given(data=st.data())
def test_numbers_by_their_definitions(directed, data):
    weighted = data.draw(st.booleans())
    A = data.draw(weighted_graphs(min_n=1) if weighted else graphs())
    how = {"directed": directed, "weighted": weighted}
    found = lagbc.distances(A, **how)
    assert found.exact
    assert_exact(found, exact(A, **how))
    some = data.draw(st.lists(st.integers(0, A.shape[0] - 1), unique=True)) if A.shape[0] else []
    assert_exact(lagbc.distances(A, **how, sources=some), exact(A, **how, sources=some))
    within = lagbc.distances(A, **how, cutoff=[1, 3, np.inf])
    for column, cutoff in enumerate((1, 3, np.inf)):
        numbers = within[:2] + tuple(one[column] for one in within[2:])
        assert_exact(numbers, exact(A, **how, cutoff=cutoff))


def test_every_method_has_the_numbers(any_row):
    if not {"reached", "distance", "inverse", "depth"} <= {*any_row.sums}:
        pytest.skip("it does not make these sums")
    lengths_too = sp.coo_array((1.0 + np.arange(A.nnz) % 3, A.coords), shape=A.shape)
    how = {"directed": False, "weighted": any_row.weighted}
    numbers = lagbc.distances(lengths_too, method=any_row.name, device=any_row.device, **how)
    assert_exact(numbers, exact(lengths_too, **how))


def test_a_sample_estimates_with_standard_errors():
    whole = lagbc.distances(A, directed=False)
    drawn = [lagbc.distances(A, directed=False, k=30, rng=seed, standard_error=True) for seed in range(40)]
    for name in ("pairs", "average", "wiener", "efficiency"):
        found, errors = (np.array([getattr(one[place], name) for one in drawn]) for place in (0, 1))
        error = found.std()
        assert abs(found.mean() - getattr(whole, name)) < 4 * error / np.sqrt(40) + 1e-9
        assert 0.6 * error <= errors.mean() <= 1.7 * error + 1e-9
    for found, errors in drawn:
        assert found.diameter <= whole.diameter
        assert found.radius >= whole.radius
        assert (found.roots, errors.roots, found.exact) == (30, 30, False)
        assert np.isnan([errors.diameter, errors.radius]).all()
    found, errors = lagbc.distances(A, directed=False, k=60, standard_error=True)
    assert (found, *errors[2:]) == (whole, *[0] * 6)
    one = lagbc.distances(A, directed=False, k=1, rng=0)
    assert one.average == pytest.approx(one.wiener / one.pairs)


def test_the_radius_is_of_roots_that_reach_all():
    """These are a first component, here a circle; where there are two, or two parts, no root reaches all."""
    ends = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (3, 5)]
    sinks = sp.coo_array((np.ones(6), np.transpose(ends)), shape=(6, 6))
    assert lagbc.distances(sinks).radius == 2
    assert lagbc.distances(sinks, cutoff=[1, 2]).radius.tolist() == [1, 2]
    for sources, radius in ([0, 3], 4), ([3, 4], np.inf), ([], np.inf):
        assert lagbc.distances(sinks, sources=sources).radius == radius
    assert lagbc.distances(sinks.T).radius == np.inf
    assert lagbc.distances(sp.block_diag([sinks, sinks]), directed=False)[-2:] == (3, np.inf)


def test_a_checkpoint_and_parts_of_the_memory(tmp_path):
    path = tmp_path / "run.npz"
    found = lagbc.distances(A, checkpoint=path)
    assert lagbc.distances(A, checkpoint=path) == found
    assert lagbc.distances(A, batch=64, threads=2) == found
