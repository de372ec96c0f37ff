r"""The goal of an estimate by roots or paths, and the confidence sequence of its means, by which it is reached.

A `Sequence` bounds the means of many bounded values at once, drawn without replacement. Each of N roots has a value y_v
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

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from math import inf, log
from statistics import NormalDist
from typing import Any

import numpy as np

from lagbc.estimates.terms import Question, Terms, Values, Wanted
from lagbc.graph.csr import module_of
from lagbc.methods.sums import Sums

# The part of the time left that the first round takes.
_PILOT_PART = 0.25
# Linear terms rarely lower the variance of high vertices by more than this factor.
_CALMER = 3.1
# The least wanted error of a mean: where all means are 0 in the first round, a part of the highest is 0.
_LEAST_ERROR = 1e-12
# Steps of a search for an error.
_HALVINGS = 40
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


# Called after each round with "roots" or "paths", their count so far, the half-width of the intervals, the wanted
# half-width, and the foreseen count.
Watch = Callable[[str, int, float, float, float], object]
_watch: ContextVar[Watch | None] = ContextVar("lagbc estimate", default=None)


@contextmanager
def reporting_rounds(watch: Watch) -> Iterator[None]:
    """Call a function after each round of estimates in a block."""
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)


def highest(scores: Values, k: int) -> Any:
    """Mark the k highest scores; of equal ones the first."""
    arrays, n = module_of(scores), len(scores)
    if k >= n:
        return arrays.ones(n, np.bool_)
    least = arrays.partition(scores, n - k)[n - k]
    chosen = scores > least
    equal = arrays.flatnonzero(scores == least)
    chosen[equal[: k - int(chosen.sum())]] = True
    return chosen


def gap(scores: Values, lower: Values, upper: Values, k: int) -> float:
    """Return how far the upper bound of another score exceeds the lower bounds of the k highest; <= 0 if none does."""
    if k >= len(scores):
        return 0.0
    chosen = highest(scores, k)
    return float(upper[~chosen].max() - lower[chosen].min())


@dataclass(slots=True, eq=False)
class Aim:
    """The goal of rounds: intervals as narrow as wanted, or the k highest told from the others."""

    terms: Terms
    question: Question
    samples: str = "roots"  # or "paths"
    error: float = 0.0  # a fraction, fixed by the first round
    foreseen: float = 0.0  # count of samples, all rounds together
    _reached: dict[int, bool] = field(default_factory=dict)  # by the count of samples

    @property
    def wanted(self) -> Wanted:
        """The wanted quality of the question."""
        return self.question.wanted

    @property
    def failure(self) -> float:
        """The largest probability that any interval misses."""
        return 1 - self.wanted.confidence

    def pilot(self, sequence: Sequence) -> Sequence:
        """Fix the error, and foresee the samples, by the first round; return it with its prices (`Sequence.priced`)."""
        most = float(self._asked(self.terms.scores(sequence.mean)).max())
        self.error = self._within_reach(sequence, max(self.wanted.width(most), _LEAST_ERROR))
        errors = self.errors(sequence)
        priced = sequence.priced(errors, self.failure)
        foreseen = priced.foreseen_normal(errors, self.wanted.confidence)
        self.foreseen = priced.foreseen(errors) if self.wanted.guarantee else foreseen
        return priced

    def _within_reach(self, sequence: Sequence, error: float) -> float:
        """Return the least error, not below `error`, that `max_roots` are foreseen to reach."""
        most, means = self.wanted.max_roots, sequence.mean
        if most is None or self.wanted.top is not None or not self.wanted.guarantee:
            return error
        far, steps = max(1.0, error), 0
        if sequence.foreseen(self.terms.errors(error, means), self.failure) <= most:
            return error
        while far > 1.01 * error and steps < _HALVINGS:
            middle, steps = (error * far) ** 0.5, steps + 1
            is_reached = sequence.foreseen(self.terms.errors(middle, means), self.failure) <= most
            error, far = (error, middle) if is_reached else (middle, far)
        return far

    def may_be_linear(self, sequence: Sequence) -> bool:
        """Whether linear terms, of twice the range and less variance, might take fewer roots.

        Both counts share the failure alike among all means: the prices of a plain pilot promise too few roots where few
        have high terms.
        """
        if not self.wanted.guarantee:
            return True
        errors = self.errors(sequence)
        linear = sequence.foreseen(errors / 2, self.failure, calmer=4 * _CALMER)
        return linear < sequence.foreseen(errors, self.failure)

    def errors(self, sequence: Sequence) -> float | Values:
        """Return the wanted error of each mean."""
        fractions: float | Values = self.error
        if self.wanted.top is not None:
            scores = self.terms.scores(sequence.mean) / self.question.of_score
            tie = self.error if self.wanted.tie is None else self.wanted.tie
            fractions = aims_of_top(scores, self.wanted.top, max(tie, 1e-300))
            fractions = fractions if self.terms.shown is None else fractions[self.terms.shown]
        errors: float | Values = np.maximum(self.terms.errors(fractions, sequence.mean), _LEAST_ERROR)
        return errors

    def _asked(self, scores: Values) -> Values:
        """Return the scores of the vertices of the question, as fractions."""
        vertices = self.question.vertices
        asked = scores if vertices is None else scores[module_of(scores).asarray(vertices)]
        fractions: Values = asked / self.question.of_score
        return fractions

    def plus(self, sequence: Sequence | None, count: int, sums: Sums) -> Sequence:
        """Add a round."""
        assert sequence is not None
        return sequence.plus(sequence.rates(self.errors(sequence)), count, *self.terms.of_round(sums))

    def intervals(self, sequence: Sequence) -> tuple[Values, Values, Values]:
        """Return all scores, their lower and their upper bounds, on the device of the sums."""
        if self.wanted.guarantee:
            centre, (least, most) = sequence.centre, sequence.bounds
        else:
            centre, (least, most) = sequence.mean, sequence.normal_bounds(self.wanted.confidence)
        scores = self.terms.scores(np.clip(centre, least, most))
        return (scores, *self.terms.bounds(np.maximum(least, 0), most))

    def is_reached(self, sequence: Sequence) -> bool:
        """Whether the intervals are narrow enough; a round is tested and reported once."""
        if sequence.drawn not in self._reached:
            self._reached[sequence.drawn] = self._is_reached(sequence)
        return self._reached[sequence.drawn]

    def _is_reached(self, sequence: Sequence) -> bool:
        scores, lower, upper = map(self._asked, self.intervals(sequence))
        width = self.wanted.width(float(lower.max()))
        if self.wanted.top is None:
            half = float(np.maximum(upper - scores, scores - lower).max())
        else:
            half = gap(scores, lower, upper, self.wanted.top)
            width = width if self.wanted.tie is None else self.wanted.tie
        if (watch := _watch.get()) is not None:
            watch(self.samples, sequence.drawn, half, width, self.foreseen)
        return half <= width

    def is_out_of_time(self) -> bool:
        """Whether more than `max_seconds` have passed."""
        most = self.wanted.max_seconds
        return most is not None and time.perf_counter() - self.question.begun > most

    def has_taken_its_part(self, started: float) -> bool:
        """Whether a first round, begun at `started`, has taken its part of `max_seconds`."""
        end = np.inf if self.wanted.max_seconds is None else self.question.begun + self.wanted.max_seconds
        return time.perf_counter() - started > _PILOT_PART * (end - started)

    def reason(self, sequence: Sequence, drawn: str) -> str:
        """Say why no more samples were drawn; `drawn` is their count in words."""
        wanted, sure = self.wanted, f"{100 * self.wanted.confidence:g} %"
        held = f"with probability {sure}" if wanted.guarantee else f"by normal intervals of {sure} each"
        if sequence.is_exact:
            return "all roots were drawn: scores are exact"
        if self.is_reached(sequence):
            if wanted.top is not None:
                return f"after {drawn} the {wanted.top} highest are certain or tied, {held}"
            return f"after {drawn} every score is within {wanted.words}, {held}"
        if wanted.max_seconds is not None and sequence.drawn != wanted.max_roots:
            return f"{drawn} were drawn in max_seconds={wanted.max_seconds:g}, which another run may not repeat"
        return f"{drawn} were drawn, as max_roots= asks for; scores are not within {wanted.words} yet"


@dataclass(slots=True, eq=False)
class Pilot(Aim):
    """The goal of the first round: the number of terms, or as many parts of them as a part of the time takes."""

    started: float = 0.0  # by `time.perf_counter`

    def plus(self, sequence: Sequence | None, count: int, sums: Sums) -> Sequence:
        """Add a part of the round."""
        total, squares = self.terms.of_round(sums)
        if sequence is not None:
            count, total, squares = sequence.drawn + count, sequence.total + total, sequence.squares + squares
        return Sequence.of_pilot(self.terms.population.size, count, total, squares)

    def is_reached(self, sequence: Sequence) -> bool:
        """Whether it has taken its part of `max_seconds`."""
        return self.has_taken_its_part(self.started)

    def is_out_of_time(self) -> bool:
        """Return False: without a first round there is no estimate."""
        return False
