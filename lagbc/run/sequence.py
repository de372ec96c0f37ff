r"""Confidence sequences for the means of many bounded values at once, drawn without replacement.

Each of N roots has a value y_v in [0, 1] for each vertex v (or edge). Roots are drawn in a random order, in rounds; of
a round the sums of y and of y^2 are enough. After each round the mean of every v over all N lies within its interval,
for all v and all rounds at once, with probability 1 - failure at least.

With what was known before a round of B roots, T roots before it: mu = S/T, the variance var, a rate lambda in [0, 1)
and psi = -log(1 - lambda) - lambda. The round's sums X of y and P of y^2 then make

    A += lambda (X + B S / (N - T)),   D += lambda B N / (N - T),   W += psi (P - 2 mu X + B mu^2)

and the interval is A / D +- (L + W) / D. That is the empirical-Bernstein supermartingale of Fan, Grama and Liu (2015),
Howard et al. (2021) and Waudby-Smith and Ramdas (2024), for the mean of the roots that are left. Within a round the
order does not matter, as exp(sum) of draws without replacement is at most that with replacement (Hoeffding 1963,
theorem 4). L = log(2 / failure_v), where failures are shared out after the first round, the pilot, whose rate is 0.

The arrays are NumPy's, or CuPy's where the sums are: ufuncs of NumPy compute on either, where they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, log
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.csr import module_of

Values = NDArray[np.float64]

# Added to a variance, over the number of roots: a value of which nothing was seen may still vary.
_UNSEEN = 0.025
_MOST_RATE = 0.95
# Steps to where a sum of exponentials is 1, and how near the last of them comes.
_STEPS, _NEAR = 100, 1e-6


@dataclass(slots=True, eq=False)
class Sequence:
    """The knowledge of the means after some rounds; arrays have an entry for each mean."""

    population: int  # population, drawn: N, and how many of them were drawn
    drawn: int
    total: Values  # total, squares: S and Q, sums of y and of y^2 over all roots that were drawn
    squares: Values
    weighed: Values  # weighed, weight, spread: A, D and W, over the rounds after the pilot
    weight: Values
    spread: Values
    price: Values  # L = log(2 / failure_v), fixed after the pilot

    @classmethod
    def of_pilot(cls, population: int, drawn: int, total: Values, squares: Values) -> Sequence:
        """Begin with a round that is in no interval; prices are set by `priced`."""
        weighed, weight, spread, price = (0 * total for _ in range(4))
        return cls(population, drawn, total, squares, weighed, weight, spread, price + inf)

    @property
    def is_exact(self) -> bool:
        """Whether all roots were drawn."""
        return self.drawn == self.population

    @property
    def mean(self) -> Values:
        """Of the roots that were drawn."""
        return self.total / self.drawn

    @property
    def variance(self) -> Values:
        """Of these, and a little more."""
        return np.maximum(self.squares / self.drawn - self.mean**2, 0) + _UNSEEN / self.drawn

    def priced(self, error: float | Values, failure: float) -> Sequence:
        """Share a failure out among the means: most to those that take longest to come within the error."""
        variance = self.variance
        rate = _exponent(variance, error)
        roots = _solve(rate)
        shares = np.exp(-roots * rate)
        of_each = failure * (shares / shares.sum() + 1 / len(rate)) / 2
        return replace(self, price=np.log(2 / of_each))

    def rates(self, error: float | Values) -> Values:
        """Return lambda of the next round."""
        left = self.population / (self.population - self.drawn)
        return np.minimum(error * left / (error * left + self.variance), _MOST_RATE)

    def plus(self, rates: Values, count: int, total: Values, squares: Values) -> Sequence:
        """Add a round of `count` roots, with rates that were known before."""
        mean, left = self.mean, self.population - self.drawn
        psi = -np.log1p(-rates) - rates
        about_mean = np.maximum(squares - 2 * mean * total + count * mean**2, 0)
        return replace(
            self,
            drawn=self.drawn + count,
            total=self.total + total,
            squares=self.squares + squares,
            weighed=self.weighed + rates * (total + count * self.total / left),
            weight=self.weight + rates * (count * self.population / left),
            spread=self.spread + psi * about_mean,
        )

    @property
    def centre(self) -> Values:
        """The estimates, which the guarantee is of."""
        if self.is_exact:
            return self.mean
        arrays, begun = module_of(self.weight), self.weight > 0
        centre: Values = arrays.where(begun, self.weighed / arrays.where(begun, self.weight, 1), self.mean)
        return centre

    @property
    def half_width(self) -> Values:
        """How far off they may be; infinite before there was a round."""
        if self.is_exact:
            return 0 * self.total
        arrays, begun = module_of(self.weight), self.weight > 0
        half: Values = arrays.where(begun, (self.price + self.spread) / arrays.where(begun, self.weight, 1), inf)
        return half

    @property
    def bounds(self) -> tuple[Values, Values]:
        """The least and the most that each mean may be; no more than the roots that are left allow."""
        centre, half = self.centre, self.half_width
        if self.is_exact:
            return centre, centre
        least, left = self.total / self.population, (self.population - self.drawn) / self.population
        return np.maximum(centre - half, least), np.minimum(centre + half, least + left)

    def normal_bounds(self, confidence: float) -> tuple[Values, Values]:
        """Return intervals about the mean of each by itself, as if it were normal: no guarantee."""
        if self.is_exact:
            return self.mean, self.mean
        quantile = NormalDist().inv_cdf((1 + confidence) / 2)
        left = 1 - self.drawn / self.population
        half = quantile * np.sqrt(self.variance / self.drawn * left)
        return np.maximum(self.mean - half, 0), np.minimum(self.mean + half, 1)

    def foreseen(self, error: float | Values, failure: float | None = None, calmer: float = 1.0) -> float:
        """Predict how many roots there are at the end, those of the pilot among them; of a failure shared alike.

        Variances are taken to be so many times less.
        """
        price: Any = self.price if failure is None else log(2 * len(self.total) / failure)
        variance: Any = self.variance / calmer
        if failure is not None and isinstance(error, float):  # the most that any takes is that of the most variance
            variance = variance.max()
        most = float((price / _exponent(variance, error)).max())
        after = self.population * -float(np.expm1(-most / self.population))
        return min(self.drawn + after, float(self.population))

    def foreseen_normal(self, error: float | Values, confidence: float) -> float:
        """Predict the same for `normal_bounds`."""
        quantile = NormalDist().inv_cdf((1 + confidence) / 2)
        most = float((self.variance * (quantile / error) ** 2).max())
        return most / (1 + most / self.population)


def _exponent(variance: Values, error: float | Values) -> Values:
    """How fast failures fall with each root: exp(-exponent)."""
    share = error / variance
    # The first terms of the series are less, and exact where the difference has no digits left.
    rate: Values = variance * np.maximum(share - np.log1p(share), share**2 * (0.5 - share / 3))
    return rate


def _solve(rate: Values) -> float:
    """Return m with sum(exp(-m rate)) = 1, by Newton's steps for the logarithm of the sum: it is convex."""
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
    """Return how near each score is to come to its true one, so that the k highest are told from the others."""
    if k >= len(scores):
        return np.ones_like(scores)
    ranked = module_of(scores).partition(scores, [len(scores) - k - 1, len(scores) - k])
    aims: Values = np.maximum(np.abs(scores - (ranked[-k] + ranked[-k - 1]) / 2), tie / 2)
    return aims
