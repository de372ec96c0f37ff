r"""Confidence sequences: bounds of the means of many values at once, after each round of random roots.

Values are bounded, and drawn without replacement. Each of N roots has a value y_v
in [0, 1] for each vertex v (or edge). Roots are drawn in rounds, and a round enters by its sums of y and of y^2. After
each round the mean of every v over all N lies within its interval, for all v and all rounds at once, with probability
1 - failure at least.

Before a round of B roots, T roots are drawn, with sums S of y; mu = S/T is their mean, var their variance. A rate
lambda in [0, 1) is chosen, and psi = -log(1 - lambda) - lambda. The round's sums X of y and P of y^2 then make

    A += lambda (X + B S / (N - T)),   D += lambda B N / (N - T),   W += psi (P - 2 mu X + B mu^2)

and the interval is A / D +- (L + W) / D. That is the empirical-Bernstein supermartingale of Fan, Grama and Liu (2015),
Howard et al. (2021) and Waudby-Smith and Ramdas (2024), for the mean of the roots that are left. Within a round the
order does not matter, as exp(sum) of draws without replacement is at most that with replacement (Hoeffding 1963,
theorem 4). L = log(2 / failure_v): the failure is shared out after the first round, the pilot, whose rate is 0. For
draws with replacement N is infinite.

Arrays are NumPy's, or CuPy's if the sums are: ufuncs of NumPy take both.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import inf, log
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.csr import module_of

Values = NDArray[np.float64]

# This over the count of roots is added to each variance: a value that was 0 so far may still vary.
_UNSEEN = 0.025
_MOST_RATE = 0.95
# Most steps of Newton in `_solve`, and the relative length of its last step.
_STEPS, _NEAR = 100, 1e-6


@dataclass(slots=True, eq=False)
class Sequence:
    """The bounds of the means after some rounds; arrays have an entry for each mean."""

    population: float  # N
    drawn: int  # T: roots so far
    total: Values  # S: sum of y over these
    squares: Values  # sum of y^2 over these
    # weighed, weight, spread: A, D and W, sums over the rounds after the pilot
    weighed: Values
    weight: Values
    spread: Values
    price: Values  # L, fixed after the pilot

    @property
    def arrays(self) -> dict[str, Values]:
        """The arrays, by name."""
        return {of.name: getattr(self, of.name) for of in fields(self) if of.name not in ("population", "drawn")}

    @classmethod
    def of_pilot(cls, population: float, drawn: int, total: Values, squares: Values) -> Sequence:
        """Begin with the pilot, which is in no interval; `priced` sets the prices."""
        weighed, weight, spread, price = (0 * total for _ in range(4))
        return cls(population, drawn, total, squares, weighed, weight, spread, price + inf)

    @property
    def is_exact(self) -> bool:
        """Whether all roots were drawn."""
        return self.drawn == self.population

    @property
    def mean(self) -> Values:
        """The mean of the drawn roots."""
        return self.total / self.drawn

    @property
    def variance(self) -> Values:
        """The variance of the drawn roots, and a little more."""
        return np.maximum(self.squares / self.drawn - self.mean**2, 0) + _UNSEEN / self.drawn

    def priced(self, error: float | Values, failure: float) -> Sequence:
        """Share a failure out among the means, most to the means that need most roots to come within the error."""
        variance = self.variance
        rate = _exponent(variance, error)
        roots = _solve(rate)
        shares = np.exp(-roots * rate)
        of_each = failure * (shares / shares.sum() + 1 / len(rate)) / 2
        return replace(self, price=np.log(2 / of_each))

    def _enlarged(self, count: float) -> float:
        """Return count * N / (N - T)."""
        return count if self.population == inf else count * self.population / (self.population - self.drawn)

    def rates(self, error: float | Values) -> Values:
        """Return lambda for the next round."""
        left = self._enlarged(1)
        return np.minimum(error * left / (error * left + self.variance), _MOST_RATE)

    def plus(self, rates: Values, count: int, total: Values, squares: Values) -> Sequence:
        """Return the sequence with one more round, of `count` roots: `total` sums y over these, `squares` y^2.

        The method `rates` made the `rates` from the rounds before: the guarantee needs rates that are fixed in advance.
        """
        mean, left = self.mean, self.population - self.drawn
        psi = -np.log1p(-rates) - rates
        about_mean = np.maximum(squares - 2 * mean * total + count * mean**2, 0)
        return replace(
            self,
            drawn=self.drawn + count,
            total=self.total + total,
            squares=self.squares + squares,
            weighed=self.weighed + rates * (total + count * self.total / left),
            weight=self.weight + rates * self._enlarged(count),
            spread=self.spread + psi * about_mean,
        )

    @property
    def centre(self) -> Values:
        """The middle of each guaranteed interval."""
        if self.is_exact:
            return self.mean
        arrays, begun = module_of(self.weight), self.weight > 0
        centre: Values = arrays.where(begun, self.weighed / arrays.where(begun, self.weight, 1), self.mean)
        return centre

    @property
    def half_width(self) -> Values:
        """Half of the width of each interval; infinite before the first round after the pilot."""
        if self.is_exact:
            return 0 * self.total
        arrays, begun = module_of(self.weight), self.weight > 0
        half: Values = arrays.where(begun, (self.price + self.spread) / arrays.where(begun, self.weight, 1), inf)
        return half

    @property
    def bounds(self) -> tuple[Values, Values]:
        """Lower and upper bounds of the means; the roots that are left have values from 0 to 1."""
        centre, half = self.centre, self.half_width
        if self.is_exact:
            return centre, centre
        if self.population == inf:
            return np.maximum(centre - half, 0), np.minimum(centre + half, 1)
        least, left = self.total / self.population, (self.population - self.drawn) / self.population
        return np.maximum(centre - half, least), np.minimum(centre + half, least + left)

    def normal_bounds(self, confidence: float) -> tuple[Values, Values]:
        """Return an interval about each mean by itself, as if it were normal: no guarantee."""
        if self.is_exact:
            return self.mean, self.mean
        left = 1 - self.drawn / self.population
        half = _quantile(confidence) * np.sqrt(self.variance / self.drawn * left)
        return np.maximum(self.mean - half, 0), np.minimum(self.mean + half, 1)

    def foreseen(self, error: float | Values, failure: float | None = None, calmer: float = 1.0) -> float:
        """Predict the count of roots at the end, with the pilot's.

        The failure is that of the prices; another `failure` is shared alike among the means. Variances are taken to be
        `calmer` times less.
        """
        price: Any = self.price if failure is None else log(2 * len(self.total) / failure)
        variance: Any = self.variance / calmer
        if failure is not None and isinstance(error, float):  # the mean of the largest variance needs most
            variance = variance.max()
        most = float((price / _exponent(variance, error)).max())
        after = most if self.population == inf else self.population * -float(np.expm1(-most / self.population))
        return min(self.drawn + after, float(self.population))

    def foreseen_normal(self, error: float | Values, confidence: float) -> float:
        """Predict the same for `normal_bounds`."""
        most = float((self.variance * (_quantile(confidence) / error) ** 2).max())
        return most / (1 + most / self.population)


def _quantile(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _exponent(variance: Values, error: float | Values) -> Values:
    """Return c such that each root multiplies the failure by exp(-c)."""
    share = error / variance
    # The first terms of the series bound it from below, and serve where the difference has lost its digits.
    rate: Values = variance * np.maximum(share - np.log1p(share), share**2 * (0.5 - share / 3))
    return rate


def _solve(rate: Values) -> float:
    """Return m with sum(exp(-m rate)) = 1, by Newton's method on the logarithm of the sum, which is convex."""
    found = 0.0
    for _ in range(_STEPS):
        shares = np.exp(-found * rate)
        total = float(shares.sum())
        step = total * log(total) / float((rate * shares).sum())
        found += step
        if step <= _NEAR * found:
            break
    return found


def aims_of_top(scores: Values, k: int, tie: float) -> Values:
    """Return an error for each score that tells the k highest from the others, if they are `tie` or more apart."""
    if k >= len(scores):
        return np.ones_like(scores)
    ranked = module_of(scores).partition(scores, [len(scores) - k - 1, len(scores) - k])
    aims: Values = np.maximum(np.abs(scores - (ranked[-k] + ranked[-k - 1]) / 2), tie / 2)
    return aims
