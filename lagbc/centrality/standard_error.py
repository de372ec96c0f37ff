"""How far an estimate from random roots may be off.

Sums of squares of single roots, as `lagbc.estimate` has them, would tell it without smaller estimates. But those are
not made of stress, within cutoffs, with endpoints, in float32, by methods kept for comparison, and of a graph whose
roots are merged; and closeness is a quotient of two sums.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError

# Estimates that the error is told from: it is itself known to a quarter then. A batch of roots each is enough.
GROUPS, _MOST_ROOTS = 10, 64
# So many of them have to score a vertex. Where one or two do, errors are a third to a fifth more than is told.
FEWEST = 3

Estimates = dict[str, NDArray[np.float64]]


def standard_errors(
    estimate: Callable[[int, np.random.Generator], Estimates],
    n: int,
    k: int,
    rng: int | np.random.Generator | None,
    report: Callable[[int, int], object] = lambda *_: None,
) -> Estimates:
    r"""Estimate the standard errors of estimates from k of n roots, by ten smaller ones.

    Parameters
    ----------
    estimate : callable
        ``estimate(m, generator)`` makes estimates from m roots: arrays, each of a name.
    n : int
        Vertices.
    k : int
        Roots of the estimates, at least 2 and less than n.
    rng : int, numpy.random.Generator or None
        What drew these; the smaller ones are drawn from another seed that follows from one, or by the generator.
    report : callable
        Gets how many of the smaller estimates are done, and how many there are.

    Returns
    -------
    errors : dict
        An array of each name, in the unit of the estimates; NaN where fewer than `FEWEST` are other than 0.

    Notes
    -----
    The mean of m of n values, drawn without repeats, has a variance of :math:`\sigma^2 (1/m - 1/n)`. The estimates
    from m roots each give it, and :math:`(1/k - 1/n) / (1/m - 1/n)` times as much is that of the estimate from k. The
    time is that of ten runs from k / 10 roots each, 64 at most.
    """
    m = roots_of_group(k)
    generator = (
        rng if isinstance(rng, np.random.Generator) else np.random.default_rng(None if rng is None else [rng, 1])
    )
    estimates = []
    for done in range(GROUPS):
        report(done, GROUPS)
        estimates.append(estimate(m, generator))
    factor = (1 / k - 1 / n) / (1 / m - 1 / n)
    return {name: _spread(np.array([one[name] for one in estimates]), factor) for name in estimates[0]}


def _spread(estimates: NDArray[np.float64], factor: float) -> NDArray[np.float64]:
    """Return the root of so many times the variance of estimates of each of some scores, if enough are not 0."""
    errors: NDArray[np.float64] = np.sqrt(estimates.var(axis=0, ddof=1) * factor)
    errors[np.count_nonzero(estimates, axis=0) < FEWEST] = np.nan
    return errors


def roots_of_group(k: int) -> int:
    """Return the roots of each of the smaller estimates; one root would not tell of itself."""
    return max(2, min(k // GROUPS, _MOST_ROOTS))


def require_told(k: int | None, *, log2: bool) -> None:
    """Raise ValueError if a call has no estimate whose error can be told."""
    if k is None or k < 2:
        raise InvalidValueError("standard_error=True is that of an estimate: pass k, at least 2, or leave it out")
    if log2:
        raise InvalidValueError(
            "standard_error=True does not go with log2, as logarithms of estimates have none; leave out one"
        )
