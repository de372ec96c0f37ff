"""How far an estimate from random roots may be off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.centrality.together import centralities

# Estimates that the error is told from: it is itself known to a quarter then. A batch of roots each is enough.
GROUPS, _MOST_ROOTS = 10, 64


def standard_errors(
    A: Any, name: str, k: int, *, rng: int, report: Callable[[int, int], object] = lambda *_: None, **options: Any
) -> NDArray[np.float64]:
    r"""Estimate the standard errors of ``centralities(A, name, k=k, rng=rng, **options)``, by ten smaller estimates.

    Parameters
    ----------
    A : matrix or graph as for `lagbc.bc`
    name : str
        A centrality of vertices that takes `k`.
    k : int
        Roots of the estimate, from 2 to less than n.
    rng : int
        Seed of the estimate; the smaller ones are drawn from another seed that follows from it.
    report : callable
        Gets how many of the smaller estimates are done, and how many there are.
    **options
        As for `lagbc.centralities`.

    Returns
    -------
    errors : ndarray of float64, shape (n,)
        In the unit of the scores.

    Notes
    -----
    The mean of m of n values, drawn without repeats, has a variance of :math:`\sigma^2 (1/m - 1/n)`. The estimates
    from m roots each give it, and :math:`(1/k - 1/n) / (1/m - 1/n)` times as much is that of the estimate from k. The
    time is that of ten runs from k / 10 roots each, 64 at most. Of a vertex that few roots score much the error is
    often told too small, and 0 where none of these roots does.
    """
    generator, m = np.random.default_rng([rng, 1]), roots_of_group(k)
    drawn = []
    for done in range(GROUPS):
        report(done, GROUPS)
        drawn.append(_estimate(A, name, k=m, rng=generator, **options))
    estimates = np.array(drawn)
    n = estimates.shape[1]
    errors: NDArray[np.float64] = np.sqrt(estimates.var(axis=0, ddof=1) * (1 / k - 1 / n) / (1 / m - 1 / n))
    return errors


def _estimate(A: Any, name: Any, **options: Any) -> NDArray[np.float64]:
    scores: NDArray[np.float64] = dict(centralities(A, name, **options))[name]  # type: ignore[assignment]
    return scores


def roots_of_group(k: int) -> int:
    """Return the roots of each of the smaller estimates; one root would not tell of itself."""
    return max(2, min(k // GROUPS, _MOST_ROOTS))
