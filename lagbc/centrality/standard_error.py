"""Standard errors of estimates from random roots, by smaller estimates.

Sums of squares of single roots, as for `lagbc.estimate`, would tell the errors at less cost. But they are not made of
stress, within cutoffs, with endpoints, in float32, by methods kept for comparison, and of a graph whose roots are
merged; and closeness is a quotient of two sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Event
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import stopping_by
from lagbc.errors import InvalidValueError

# Smaller estimates, enough to know the error to a quarter, and the most roots of each, a batch.
GROUPS, _MOST_ROOTS = 10, 64
# Fewest estimates that have to score a vertex. By one or two the error comes out a third to a fifth too small.
FEWEST = 3

Estimates = dict[str, NDArray[np.float64]]
Call = TypeVar("Call")


def standard_errors(
    draw: Callable[[int, np.random.Generator], Call],
    estimate: Callable[[Call], Estimates],
    n: int,
    k: int,
    rng: int | np.random.Generator | None,
    side_by_side: int = 1,
    report: Callable[[int, int], object] = lambda *_: None,
) -> Estimates:
    """Estimate the standard errors of estimates from k of n roots, 2 <= k < n, by ten smaller ones of m roots each.

    Errors are NaN where fewer than `FEWEST` of these are other than 0. A seed `rng` gives another seed for them, a
    generator goes on drawing. `draw` makes a call of so many roots, `estimate` carries it out, in as many threads as
    run `side_by_side`. `report` gets the number of smaller estimates done, and of all.

    The mean of m of n values, drawn without repeats, has a variance of s^2 (1/m - 1/n). The smaller estimates give it,
    and the estimate from k roots has (1/k - 1/n) / (1/m - 1/n) times this variance. It takes the time of ten runs from
    k / 10 roots each, 64 at most.
    """
    m = roots_of_group(k)
    generator = (
        rng if isinstance(rng, np.random.Generator) else np.random.default_rng(None if rng is None else [rng, 1])
    )
    report(0, GROUPS)
    estimates = list[Estimates]()
    for one in _carried_out(estimate, (draw(m, generator) for _ in range(GROUPS)), side_by_side):
        estimates.append(one)
        report(len(estimates), GROUPS)
    factor = (1 / k - 1 / n) / (1 / m - 1 / n)
    return {name: _spread(np.array([one[name] for one in estimates]), factor) for name in estimates[0]}


def _carried_out(
    estimate: Callable[[Call], Estimates], calls: Iterator[Call], side_by_side: int
) -> Iterator[Estimates]:
    """Yield the estimates of calls, in order."""
    if side_by_side == 1:
        yield from map(estimate, calls)
        return
    from lagbc.native.pool import Pool

    ended = Event()
    with Pool(side_by_side) as pool, stopping_by(ended.is_set):
        try:
            for _, one in pool.in_order(estimate, calls):
                yield one
        finally:
            ended.set()


def _spread(estimates: NDArray[np.float64], factor: float) -> NDArray[np.float64]:
    """Return the root of `factor` times the variance of estimates, by score; NaN if too few are not 0."""
    errors: NDArray[np.float64] = np.sqrt(estimates.var(axis=0, ddof=1) * factor)
    errors[np.count_nonzero(estimates, axis=0) < FEWEST] = np.nan
    return errors


def roots_of_group(k: int) -> int:
    """Return the number of roots of a smaller estimate, at least 2: a root alone tells nothing of itself."""
    return max(2, min(k // GROUPS, _MOST_ROOTS))


def require_estimate(k: int | None, *, log2: bool) -> None:
    """Raise ValueError if a call makes no estimate, or one without a standard error."""
    if k is None or k < 2:
        raise InvalidValueError("standard_error=True is that of an estimate: pass k, at least 2, or leave it out")
    if log2:
        raise InvalidValueError(
            "standard_error=True does not go with log2, as logarithms of estimates have none; leave out one"
        )
