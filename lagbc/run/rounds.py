r"""`Rounds`, a work over roots drawn at random in rounds, and `Sequence`, a confidence sequence, to which they add.

The sequence bounds the means of many bounded values at once, drawn without replacement. Each of N roots has a value y_v
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

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from math import inf, log
from statistics import NormalDist
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import phase
from lagbc.graph.csr import as_numpy, module_of
from lagbc.limits import Room
from lagbc.methods.contract import StopFlag
from lagbc.methods.roots import order_roots
from lagbc.methods.sums import Sums
from lagbc.planning.sweep import Sweep
from lagbc.reduce.pieces import Drawn, Whole
from lagbc.run.sweeps import Batches, Rows, Sweeps, on_host
from lagbc.run.work import Arrays, Found, Hand, Items, Reads, Span, Total

Values = NDArray[np.float64]

# This over the count of roots is added to each variance: a value that was 0 so far may still vary.
_UNSEEN = 0.025
_MOST_RATE = 0.95
# Most steps of Newton in `_solve`, and the relative length of its last step.
_STEPS, _NEAR = 100, 1e-6
# Prefix of the names of the sums of the unfinished round, in a file.
_ROUND = "round/"
# Rounds of fewer roots are not grouped.
_GROUPED = 128


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


_ARRAYS = tuple(field.name for field in fields(Sequence) if field.name not in ("population", "drawn"))


class Goal(Protocol):
    """The accuracy that rounds are drawn for, or the time that they may take."""

    def plus(self, sequence: Sequence | None, count: int, sums: Sums) -> Sequence:
        """Add the sums of a round of `count` roots."""

    def is_reached(self, sequence: Sequence) -> bool:
        """Whether the sequence is accurate enough."""

    def is_out_of_time(self) -> bool:
        """Whether to stop within the round at hand."""


class Rounds(Sweeps):
    """Sums over the rounds of a piece. A total has the sequence as `whole`, and the sums of the round at hand."""

    may_end_early = True  # once the goal is reached
    goal: Goal | None = None  # None in a worker, which adds nothing
    begun: Sequence | None = None  # before the first round

    def __init__(self, piece: Whole, sweep: Sweep, room: Room | None) -> None:
        super().__init__(piece, sweep, room)
        assert piece.drawn is not None
        self.drawn: Drawn = piece.drawn
        self._as_drawn = self.items
        self.items = self.items.copy()  # a round is put in order when it is begun
        self.chunk = max(1, len(self.items))  # there are no chunks: rounds are added panel by panel
        self._in_order = set[int]()  # numbers of rounds

    def towards(self, goal: Goal, begun: Sequence | None = None) -> Self:
        """Set the goal, and the sequence before the first round; return the work."""
        self.goal, self.begun = goal, begun
        return self

    @property
    def order(self) -> Items:
        return self._as_drawn

    @property
    def panel(self) -> int:
        """The roots that the method sums at once; each panel is sent and added by itself."""
        return self.module.batching.block

    grain = cut = panel

    @property
    def portion(self) -> int:
        return self.batch

    def spans(self, first: int, last: int, length: int) -> Iterator[Span]:
        for span in super().spans(first, last, length):
            self._put_in_order(span)
            yield span

    def batches(self, first: int, last: int) -> Iterator[Span]:
        """Cut a span into batches; if roots repeat, none crosses the end of a round, as counts are by round."""
        ends = self.drawn.ends.tolist() if self.drawn.repeats else []
        while first < last:
            end = min([first + self.batch, last, *(end for end in ends if end > first)])
            span = Span(first, end)
            self._put_in_order(span)
            yield span
            first = end

    def _put_in_order(self, span: Span) -> None:
        """Put near roots of a round together, in each round that a span meets, as any order within a round is valid."""
        if not len(self.items):  # a worker has no items
            return
        ends = self.drawn.ends
        begun, ended = np.searchsorted(ends, [span.first, span.last - 1], side="right").tolist()
        for number in {*range(begun, ended + 1)} - self._in_order:
            self._in_order.add(number)
            items = self.items[ends[number - 1] if number else 0 : ends[number]]
            drawn = items[items >= 0]
            roots = drawn % self.graph.n
            ordered = self._near_together(roots)
            places = np.argsort(roots)
            items[: len(ordered)] = drawn[places[np.searchsorted(roots, ordered, sorter=places)]]
            items[len(ordered) :] = -1

    def _near_together(self, roots: Items) -> Items:
        return order_roots(self.graph, self.row, roots, _GROUPED)

    def open(self, stop: StopFlag) -> Hand:
        """Return a hand in whose batches roots count as often as they were drawn."""
        with phase("prepare"):
            batches = Batches(self, stop)
        n, repeats = self.graph.n, self.drawn.repeats

        def run(span: Span, items: Items) -> Rows:
            return batches.run(span, np.where(items < 0, -1, items % n), items // n + 1 if repeats else None)

        return run

    def sent(self, found: list[Found], items: Items, to_host: Callable[[Any], NDArray[Any]] = as_numpy) -> list[Found]:
        return [(span, on_host(sums, to_host)) for span, sums in found]

    def add(self, total: Total, span: Span, sums: Any) -> Total:
        """Add panels to the round at hand, and each whole round to the sequence."""
        done, sequence, part = total
        assert self.goal is not None
        asarray = self.row.arrays.asarray  # the sequence is on the device of the method, whoever summed the panels
        rows = self.as_rows(sums, span.last - span.first)
        for number, done in enumerate(range(span.first + self.panel, span.last + self.panel, self.panel)):
            panel = Sums(**{name: asarray(array[number]) for name, array in rows})
            part = panel if part is None else part.plus(panel)
            ended = int(np.searchsorted(self.drawn.ends, done))
            if self.drawn.ends[ended] == done:
                sequence = self.goal.plus(sequence or self.begun, int(self.drawn.sizes[ended]), part)
                part = None
                if self.goal.is_reached(sequence):
                    break
        return Total(done, sequence, part)

    def is_enough(self, total: Total) -> bool:
        assert self.goal is not None
        if total.part is None and total.whole is not None and self.goal.is_reached(total.whole):
            return True
        return self.goal.is_out_of_time()

    def finish(self, total: Total) -> Sums:
        """Return the sums of the round at hand."""
        return (total.part or Sums()).moved(as_numpy)

    def pack_total(self, total: Total) -> Arrays:
        arrays = {} if total.whole is None else {name: getattr(total.whole, name) for name in _ARRAYS}
        arrays |= {f"{_ROUND}{name}": array for name, array in total.part or Sums()}
        return {name: as_numpy(array) for name, array in arrays.items()}

    def unpack_total(self, done: int, read: Reads) -> Total:
        whole = int(np.searchsorted(self.drawn.ends, done, side="right"))
        sequence, part, asarray = None, None, self.row.arrays.asarray
        if whole:
            assert self.begun is not None
            arrays = {name: asarray(read(name, (len(self.begun.total),))) for name in _ARRAYS}
            drawn = self.begun.drawn + int(self.drawn.sizes[:whole].sum())
            sequence = Sequence(self.begun.population, drawn, **arrays)
        if done > (0, *self.drawn.ends.tolist())[whole]:
            n, nnz, names = self.graph.n, self.graph.nnz, self.plan.sums
            zeros = Sums.zeros(np, names, n, nnz)
            part = Sums(**{name: asarray(read(f"{_ROUND}{name}", array.shape)) for name, array in zeros})
        return Total(done, sequence, part)
