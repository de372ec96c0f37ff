"""Path counts that float64 cannot hold: the extended routine alone, and every method on graphs that need it."""

import math
from fractions import Fraction

import numpy as np
import pytest
from families import diamonds, disjoint, edges_of, grid, in_a_row, layered, matrix, scale_free, with_lengths
from states import prepare
from strategies import diamond_scores, oracle, rational
from test_weighted import diamonds_with_lengths

import lagbc
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import Interrupted, SweepPlan
from lagbc.methods.cpu import batched, extended
from lagbc.methods.sums import Sums
from lagbc.native import core

# No overflow may show, not even as a warning on the way.
pytestmark = pytest.mark.filterwarnings("error")

LAYERS, WIDTH = 330, 10


def extended_scores(A, *, sources=None, target_weights=None, source_weights=None, endpoints=False, directed=True):
    graph = as_graph(A, directed=directed)
    plan = SweepPlan(batch=64, omega=target_weights, root_weights=source_weights, endpoints=endpoints)
    out = np.zeros(graph.n)
    for root in range(graph.n) if sources is None else sources:
        extended.add_root(graph, plan, int(root), Sums(dependency=out[None]), 0, 0)
    return out / (1 if directed else 2)


@pytest.mark.parametrize("A", [diamonds(40, 3), diamonds(350, 9), grid(12, 12)], ids=["40", "350", "grid"])
def test_extended_in_rationals(A):
    options = {"sources": [0, 1, 5], "target_weights": np.arange(A.shape[0]) % 3 / 2}
    np.testing.assert_allclose(extended_scores(A, **options), oracle(A, number=rational, **options), rtol=1e-12)


def added(a, a_power, b, b_power):
    """Add a * 2**a_power and b * 2**b_power, as (mantissa, exponent)."""
    mantissas, powers = np.array([a]), np.array([a_power])
    core.add_numbers(mantissas, powers, np.array([b]), np.array([b_power]))
    return float(mantissas[0]), int(powers[0])


@pytest.mark.parametrize("shift", range(-70, 71))
def test_extended_addition(shift):
    for a, b in [(0.5, 0.5), (0.75, 0.5 + 2**-53), (1 - 2**-53, 1 - 2**-53), (0.0, 0.75), (0.75, 0.0), (0.0, 0.0)]:
        mantissa, power = added(a, 1000, b, 1000 + shift)
        exact = Fraction(a) + Fraction(b) * Fraction(2) ** shift
        assert abs(Fraction(mantissa) * Fraction(2) ** (power - 1000) - exact) <= exact * Fraction(2) ** -53
        assert mantissa == 0 or 0.5 <= mantissa < 1


def test_extended_addition_far_outside_of_float64():
    assert added(0.5, 10**15, 0.5, 10**15) == (0.5, 10**15 + 1)
    assert added(0.5, 10**15, 0.75, -(10**15)) == (0.5, 10**15)
    assert added(0.0, 0, 0.75, -(10**15)) == (0.75, -(10**15))


def test_extended_stops():
    plan = SweepPlan(batch=64)
    plan.stop.set()
    out = np.zeros(20)
    with pytest.raises(Interrupted):
        extended.add_root(as_graph(grid(4, 5)), plan, 0, Sums(dependency=out[None]), 0, 0)
    assert not out.any()


@pytest.fixture(scope="module")
def layer():
    return np.arange(LAYERS).repeat(WIDTH)


@pytest.fixture(scope="module")
def roots(layer):
    """60 of its vertices; those in the first three of these layers overflow."""
    return np.flatnonzero(np.isin(layer, [0, 1, 20, 21, 22, 200]))


def test_layers(any_bc, layer, roots):
    """10**328 paths; all vertices of a layer are alike, so each is on 1/WIDTH of the paths across its layer."""
    A = with_lengths(layered(LAYERS, WIDTH), [7])
    before = np.array([np.count_nonzero(layer[roots] < i) for i in layer])
    after = (LAYERS - 1 - layer) * WIDTH
    scores = any_bc(A, sources=roots)
    np.testing.assert_allclose(scores, before * after / WIDTH, rtol=1e-12)
    scores = any_bc(A, sources=roots, endpoints=True)
    ends = before + np.isin(np.arange(LAYERS * WIDTH), roots) * after
    np.testing.assert_allclose(scores, before * after / WIDTH + ends, rtol=1e-12)


def test_layers_with_vertex_weights(bc, layer, roots):
    """Weights with zeros, whole layers of them too: an inner vertex takes (roots before) * (targets after) / WIDTH."""
    rng = np.random.default_rng(1)
    omega, times = rng.integers(0, 3, LAYERS * WIDTH) / 2, rng.integers(0, 3, LAYERS * WIDTH) / 2
    omega[layer == LAYERS - 1] = omega[(layer >= 100) & (layer < 110)] = 0
    before = np.array([times[roots[layer[roots] < i]].sum() for i in range(LAYERS)])
    after = np.array([omega[layer > i].sum() for i in range(LAYERS)])
    scores = bc(layered(LAYERS, WIDTH), sources=roots, target_weights=omega, source_weights=times)
    np.testing.assert_allclose(scores, (before * after / WIDTH)[layer], rtol=1e-12)


@pytest.mark.parametrize("ways", [2, 3])
def test_diamonds_from_all_roots(ways):
    expected = [float(x) for x in diamond_scores(1100, ways)]
    np.testing.assert_allclose(lagbc.bc(diamonds(1100, ways), method="batched", device="cpu"), expected, rtol=1e-11)


@pytest.mark.parametrize("exponent", [1021, 1022, 1023, 1024])
def test_limit(any_bc, exponent):
    """Path counts up to and just over the largest power of two that float64 holds, from one root."""
    weighted = any_bc.keywords["weighted"]
    make = diamonds_with_lengths if weighted else diamonds
    A = in_a_row(make(exponent // 4, 16), make(exponent % 4, 2))
    expected = oracle(A, weighted=weighted, sources=[0], number=rational)
    np.testing.assert_allclose(any_bc(A, sources=[0]), expected, rtol=1e-11)


def test_grid(bc):
    """comb(1038, 519) paths from corner to corner; two roots and their mirror images, so the scores are mirrored."""
    side = 520
    assert math.comb(2 * side - 2, side - 1) > 2**1024
    roots = np.array([(i, j) for r, c in [(0, 0), (250, 100)] for i in (r, side - 1 - r) for j in (c, side - 1 - c)])
    scores = bc(grid(side, side), sources=roots @ [side, 1]).reshape(side, side)
    assert np.isfinite(scores).all()
    assert (scores > 0).all()
    np.testing.assert_allclose(scores, scores[::-1], rtol=1e-10)
    np.testing.assert_allclose(scores, scores[:, ::-1], rtol=1e-10)
    i, j = np.indices((side, side))
    inner = sum(np.maximum(np.abs(i - r) + np.abs(j - c) - 1, 0).sum() for r, c in roots)
    assert scores.sum() == pytest.approx(inner, rel=1e-11)


@pytest.fixture(scope="module")
def mixed():
    """A scale-free graph, some of which leads into a long chain of diamonds; some roots overflow and some do not."""
    tangle, chain = scale_free(60, 150, seed=1), diamonds(350, 9)
    n = 60 + chain.shape[0]
    edges = [*edges_of(disjoint(tangle, chain)), (26, 60)]
    return with_lengths(matrix(n, edges), [2]), np.r_[0:60:6, 60, 61, 600, n - 1]


def test_mixed_batch_is_mixed(mixed):
    A, roots = mixed
    state = prepare(batched, as_graph(A), SweepPlan(batch=64))
    overflowed = next(batched.forward(state, roots)).overflowed
    assert 4 <= overflowed.sum() <= 10


@pytest.mark.parametrize("kind", ["plain", "endpoints", "weights"])
def test_mixed_batch(any_bc, mixed, kind):
    (A, roots), weighted = mixed, any_bc.keywords["weighted"]
    target_weights, source_weights = np.random.default_rng(3).integers(0, 3, (2, A.shape[0])) * 1.0
    weights = {"target_weights": target_weights, "source_weights": source_weights}
    options = {"plain": {}, "endpoints": {"endpoints": True}, "weights": weights}[kind]
    expected = oracle(A, weighted=weighted, sources=roots.tolist(), number=rational, **options)
    np.testing.assert_allclose(any_bc(A, sources=roots, **options), expected, rtol=1e-11)
