"""The goal of an estimate by roots or paths: the errors of its means, and the round after which it is reached."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lagbc.estimates.sequence import Sequence, aims_of_top
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
