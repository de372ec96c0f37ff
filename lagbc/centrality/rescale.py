"""Factors of the scores, by the conventions of NetworkX 3.5 and later, to the last case."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError


def rescale(
    raw: NDArray[np.float64],
    *,
    directed: bool,
    normalized: bool,
    endpoints: bool,
    sampled: NDArray[np.int64] | None = None,
) -> NDArray[np.float64]:
    """Turn raw sums over roots into scores.

    Parameters
    ----------
    raw : ndarray of float64, shape (n,)
        Sum over the roots s of delta_s(v).
    directed : bool
        False: each unordered pair counts once, so the sum over ordered pairs is halved.
    normalized : bool
        Divide by the number of ordered pairs (s, t) that paths through v may join.
    endpoints : bool
        Whether `raw` counts the ends of paths; a vertex is then in pairs of its own.
    sampled : ndarray of int64, or None
        The roots, if they are a random sample: the scores estimate sums over all vertices.

    Returns
    -------
    scores : ndarray of float64, shape (n,)

    Raises
    ------
    ValueError
        One sampled root without endpoints: no root but itself tells of it (0/0).
    """
    n = len(raw)
    # The number of vertices that can be the other end of a pair with v.
    others = n if endpoints else n - 1
    if others < 2:
        return raw
    pairs_of_root = others - 1 if normalized else None
    if sampled is None or endpoints:
        roots = others if sampled is None else len(sampled)
        return raw * _factor(others, roots, pairs_of_root, directed)
    require_defined(n, len(sampled), endpoints=endpoints)
    # Without endpoints a sampled root is no root for itself: its sum has one term less.
    scores = raw * _factor(others, len(sampled), pairs_of_root, directed)
    scores[sampled] = raw[sampled] * _factor(others, len(sampled) - 1, pairs_of_root, directed)
    return scores


def rescale_edges(
    raw: NDArray[np.float64], n: int, *, directed: bool, normalized: bool, sampled: int | None = None
) -> NDArray[np.float64]:
    """Turn raw sums over roots into scores of edges, for which both ends of a path count.

    Parameters
    ----------
    raw : ndarray of float64, shape (nnz,)
        Sum over the roots s of the dependency of s on each edge, of an undirected edge in both directions.
    n : int
        Number of vertices.
    directed, normalized : bool
        As for `rescale`; the pairs are all n (n - 1).
    sampled : int, optional
        The number of roots, if they are a random sample.
    """
    if n < 2:
        return raw
    return raw * _factor(n, n if sampled is None else sampled, n - 1 if normalized else None, directed)


def per_sample(raw: NDArray[np.float64], sampled: NDArray[np.int64] | None) -> NDArray[np.float64]:
    """Scale sums over a random sample, if there is one, to all roots other than v: by (n - 1) / (samples but v)."""
    if sampled is None:
        return raw
    n = len(raw)
    require_defined(n, len(sampled), endpoints=False)
    scaled: NDArray[np.float64] = raw * ((n - 1) / max(len(sampled), 1))
    scaled[sampled] = raw[sampled] * ((n - 1) / max(len(sampled) - 1, 1))
    return scaled


def require_defined(n: int, k: int | None, *, endpoints: bool) -> None:
    """Raise ValueError if one sampled root is to estimate its own score: no root but itself tells of it (0/0)."""
    if k == 1 and not endpoints and n > 2:
        raise InvalidValueError(
            "k=1 without endpoints leaves the score of the sampled vertex undefined (0/0); take k >= 2"
        )


def _factor(others: int, roots: int, pairs_of_root: int | None, directed: bool) -> float:
    if pairs_of_root is not None:
        return 1.0 / (roots * pairs_of_root)
    return others / (roots * (1 if directed else 2))
