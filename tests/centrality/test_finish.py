"""Scores made of sums: their bits at the ends of the range, and what is not done to all vertices."""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from lagbc.arguments import Arguments
from lagbc.methods.sums import Sums
from lagbc.request import Request
from lagbc.run.run import Result
from lagbc.scores import finish
from lagbc.scores.finish import of_all_roots

# Of 41 vertices, most of which nothing reaches: sums below the normal numbers, and around where they are scaled.
REACHED = np.pad(np.array([1.0, 3, 5, 7, 2, 6, 4, 9]), (0, 33))
DISTANCE = np.pad(np.array([4e-309, 3e-307, 1e-272, np.nextafter(2.0**-900, 0), 2.0**-900, 1.0, 1e300, 7e307]), (0, 33))
ROOTS = np.array([0, 3, 17, 40])


def summed(reached, distance, roots=None):
    """A result that holds no more than `closeness` reads."""
    request = Request(frozenset({"reached", "distance"}), roots, is_sample=roots is not None)
    return Result(Sums(reached=reached, distance=distance), SimpleNamespace(weights=None), request, 1, ())


@pytest.mark.parametrize("roots", [None, ROOTS], ids=["all", "sample"])
@pytest.mark.parametrize("wf_improved", [True, False])
def test_closeness_is_rounded_as_its_formula(wf_improved, roots):
    """Once a factor, though the first may be more than float64 holds."""
    first = 0 if wf_improved else 1
    reached, distance = REACHED.copy(), DISTANCE.copy()
    reached[:first], distance[:first] = 0, 0
    shares = of_all_roots(reached, summed(reached, distance, roots)) / 40 if wf_improved else np.ones(41)
    expected = []
    for r, d, share in zip(reached.tolist(), distance.tolist(), shares.tolist(), strict=True):
        scale = 2**100 if d < 1 else 1
        quotient = scale * Fraction(float(Fraction(r) / Fraction(d) / scale)) if r else 0
        expected.append(float(quotient * Fraction(share)))
    before = reached.copy(), distance.copy()
    ours = finish.closeness(summed(reached, distance, roots), Arguments(wf_improved=wf_improved))
    np.testing.assert_array_equal(ours, expected)
    np.testing.assert_array_equal((reached, distance), before)


@pytest.mark.parametrize(("small", "scaled"), [(0, []), (2, [2, 2])])
def test_only_small_sums_are_scaled(monkeypatch, small, scaled):
    """Where all vertices were, that took as long as the sweep."""
    seen, ldexp = [], np.ldexp

    def noted(x, power):
        seen.append(np.broadcast(x, power).size)
        return ldexp(x, power)

    monkeypatch.setattr(np, "ldexp", noted)
    distance = np.full(1000, 3.0)
    distance[:small] = 1e-300
    finish.closeness(summed(np.ones(1000), distance), Arguments())
    assert seen == scaled


def test_a_sample_is_scaled_by_what_it_tells_of_each_vertex():
    raw = np.random.default_rng(1).random(41)
    others = np.array([len(ROOTS) - (v in ROOTS) for v in range(41)])
    np.testing.assert_array_equal(of_all_roots(raw, summed(raw, raw, ROOTS)), raw * (40 / others))
