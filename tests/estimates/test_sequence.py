"""Confidence sequences, of synthetic values whose means are known."""

import numpy as np
import pytest
from strategies import times

from lagbc.estimates.aim import Sequence, aims_of_top

N, MEANS = 3000, 60
RUNS = times(40)


def bernoulli(rng):
    return (rng.random((N, MEANS)) < rng.random(MEANS) ** 3).astype(float)


def heavy_tailed(rng):
    """Most values are small, and a few in a thousand near 1."""
    return np.minimum(rng.pareto(1.1, (N, MEANS)) / 300, 1.0)


def constant(rng):
    return np.tile(rng.random(MEANS), (N, 1))


VALUES = {"Bernoulli": bernoulli, "heavy-tailed": heavy_tailed, "constant": constant}


def drawn(values, rng, error, failure, sizes=(128, *[100] * 100)):
    """Yield the sequence after each round."""
    order, place, sequence = rng.permutation(len(values)), 0, None
    for size in sizes:
        some = values[order[place : place + size]]
        if not len(some):
            return
        place += len(some)
        total, squares = some.sum(axis=0), (some**2).sum(axis=0)
        if sequence is None:
            sequence = Sequence.of_pilot(len(values), len(some), total, squares).priced(error, failure)
        else:
            sequence = sequence.plus(sequence.rates(error), len(some), total, squares)
        yield sequence


def misses(values, rng, times=1.0, failure=0.05, error=0.02):
    """Whether any mean is outside of its interval after any round."""
    means = values.mean(axis=0)
    for sequence in drawn(values, rng, error, failure):
        half = times * sequence.half_width
        if (np.abs(sequence.centre - means) > half + 1e-12).any():
            return True
    return False


@pytest.mark.parametrize("kind", VALUES)
def test_intervals_hold_for_all_means_at_all_rounds(kind):
    rng = np.random.default_rng(1)
    assert sum(misses(VALUES[kind](rng), rng) for _ in range(RUNS)) <= RUNS // 20


@pytest.mark.parametrize("kind", ["Bernoulli", "heavy-tailed"])
def test_narrower_intervals_miss(kind):
    """Intervals of 0.3 times the width do not hold: the test above can fail."""
    rng = np.random.default_rng(1)
    assert sum(misses(VALUES[kind](rng), rng, times=0.3) for _ in range(RUNS)) > RUNS // 20


def test_once_all_are_drawn_means_are_exact():
    rng = np.random.default_rng(3)
    values = bernoulli(rng)
    *_, last = drawn(values, rng, 0.02, 0.05)
    assert last.is_exact
    np.testing.assert_allclose(last.centre, values.mean(axis=0), rtol=1e-12)
    assert not last.half_width.any()
    np.testing.assert_array_equal(last.bounds[0], last.bounds[1])


def test_bounds_are_no_wider_than_what_is_left_allows():
    rng = np.random.default_rng(4)
    values = bernoulli(rng)
    for sequence in drawn(values, rng, 1e-3, 0.05):
        least, most = sequence.bounds
        assert (least <= values.mean(axis=0) + 1e-12).all()
        assert (values.mean(axis=0) <= most + 1e-12).all()
        assert (least >= sequence.total / N - 1e-12).all()


def test_the_failure_is_shared_out_and_no_more_of_it():
    rng = np.random.default_rng(5)
    sequence = next(drawn(heavy_tailed(rng), rng, 0.01, 0.05))
    assert (2 * np.exp(-sequence.price)).sum() == pytest.approx(0.05)
    slow = np.argmax(sequence.variance)
    assert sequence.price[slow] == sequence.price.min()


def test_constants_are_told_from_fewer_roots_than_others():
    rng = np.random.default_rng(6)
    of_constants = next(drawn(constant(rng), rng, 0.02, 0.05)).foreseen(0.02)
    assert of_constants < next(drawn(bernoulli(rng), rng, 0.02, 0.05)).foreseen(0.02) / 2


@pytest.mark.parametrize("kind", VALUES)
def test_the_roots_foreseen_are_about_those_that_it_takes(kind):
    rng = np.random.default_rng(7)
    found = list(drawn(VALUES[kind](rng), rng, 0.03, 0.05, sizes=(128, *[50] * 100)))
    taken = next(sequence.drawn for sequence in found if sequence.half_width.max() <= 0.03)
    assert taken / 1.5 < found[0].foreseen(0.03) < taken * 1.5


def test_normal_intervals_are_narrower():
    rng = np.random.default_rng(8)
    *_, sequence = drawn(bernoulli(rng), rng, 0.02, 0.05, sizes=(128, 500))
    least, most = sequence.normal_bounds(0.95)
    assert (most - least < 2 * sequence.half_width).all()
    assert sequence.foreseen_normal(0.02, 0.95) < sequence.foreseen(0.02)


def test_the_order_within_a_round_is_no_matter():
    rng = np.random.default_rng(9)
    values = bernoulli(rng)
    first, second = drawn(values, np.random.default_rng(1), 0.02, 0.05, sizes=(128, 200))
    assert second.drawn == 328
    some = values[np.random.default_rng(1).permutation(N)[128:328]][::-1]
    again = first.plus(first.rates(0.02), 200, some.sum(axis=0), (some**2).sum(axis=0))
    np.testing.assert_allclose(again.half_width, second.half_width, rtol=1e-12)


def test_aims_of_the_top_are_wide_far_from_the_gap():
    aims = aims_of_top(np.array([0.9, 0.5, 0.4, 0.1]), 2, 0.02)
    np.testing.assert_allclose(aims, [0.45, 0.05, 0.05, 0.35])
    assert (aims_of_top(np.array([0.9, 0.5]), 2, 0.02) == 1).all()
    np.testing.assert_allclose(aims_of_top(np.array([0.5, 0.5, 0.1]), 1, 0.02)[:2], 0.01)


def test_failures_are_shared_out_where_an_error_is_far_below_what_can_be_told():
    rng = np.random.default_rng(9)
    first = next(drawn(bernoulli(rng), rng, 1e-11, 0.05))
    assert np.isfinite(first.price).all()
    assert first.foreseen(1e-11) == N
