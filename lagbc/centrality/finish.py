"""Sums of a run into scores: the steps that centralities share, and longer ones; `rescale` has the factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lagbc.centrality.rescale import per_sample, rescale, rescale_edges
from lagbc.errors import InvalidValueError, OutOfRangeError
from lagbc.graph.host.ops import transposed
from lagbc.graph.names import in_words

if TYPE_CHECKING:
    from lagbc.centrality.registry import Arguments
    from lagbc.run.execute import Result

Scores = NDArray[np.float64]

# Sums of distances below this are scaled by 2**_POWER, which leaves none of them below.
_SMALL, _POWER = 2.0**-900, 200


def betweenness(result: Result, arguments: Arguments) -> Scores:
    """Return the sum of dependencies, each pair once, as a share of pairs if asked for."""
    return rescale(
        result.sums.dependency,
        directed=result.pairs == 1,
        normalized=arguments.normalized,
        endpoints=arguments.endpoints,
        sampled=_sample(result),
    )


def edge_betweenness(result: Result, arguments: Arguments) -> Scores:
    """Return the sum of dependencies on edges, at both entries of an undirected edge that of its two directions."""
    raw, graph = result.sums.edges, result.graph.on_host
    if not graph.directed:
        _, _, back = transposed(graph.n, graph.indptr, graph.indices, np.ascontiguousarray(raw))
        with np.errstate(over="ignore"):
            raw = raw + back
    sample = _sample(result)
    return rescale_edges(
        raw,
        graph.n,
        directed=result.pairs == 1,
        normalized=arguments.normalized,
        sampled=None if sample is None else len(sample),
    )


def closeness(result: Result, arguments: Arguments) -> Scores:
    """|R| / sum of distances into v, times |R| / (n - 1), R being the roots other than v that reach v.

    Of a sample, |R| and the sum are scaled to what all roots would give: the scale cancels in the first factor.
    """
    reached, distance = result.sums.reached, _finite("distances", result.sums.distance)
    # Small sums are scaled by a power of two, which changes no bit, as the second factor may make up for the first.
    small = np.flatnonzero((distance > 0) & (distance < _SMALL))
    if len(small):
        distance = distance.copy()
        distance[small] = np.ldexp(distance[small], _POWER)
    # Nothing reaches v where the sum is 0, and 0 by any number is 0.
    scores: Scores = np.maximum(distance, _SMALL)
    np.divide(reached, scores, out=scores)
    if arguments.wf_improved:
        scores *= per_sample(reached, _sample(result)) / max(len(reached) - 1, 1)
    if len(small):
        with np.errstate(over="ignore"):
            scores[small] = np.ldexp(scores[small], _POWER)
    return require_inverses(scores, result)


def stress(result: Result, arguments: Arguments) -> Scores:
    """Return the number of shortest paths through v, each pair once, or its logarithm."""
    with np.errstate(over="ignore"):
        counts = of_all_roots(result.sums.stress, result) / result.pairs
    outside = np.flatnonzero(~np.isfinite(counts))
    if not len(outside):
        with np.errstate(divide="ignore"):
            return np.log2(counts) if arguments.log2 else counts
    if not arguments.log2:
        raise OutOfRangeError(
            f"the stress of {len(outside)} vertices is more than float64 holds, the first is "
            f"{in_words(result.graph.names, int(outside[0]))}; "
            "log2=True returns its logarithm"
        )
    from lagbc.methods.cpu import extended

    logarithms: Scores = extended.log2_stress(result.graph.on_host, result.step.sweep, result.roots)
    return logarithms + np.log2(per_sample(np.ones(len(counts)), _sample(result)) / result.pairs)


def of_all_roots(raw: Scores, result: Result) -> Scores:
    """Scale a sum over the roots of a run to one over all roots, where these are a sample."""
    with np.errstate(over="ignore"):
        return per_sample(raw, _sample(result))


def _sample(result: Result) -> NDArray[np.int64] | None:
    return result.roots if result.plan.request.is_sample else None


def require_range(scores: Scores, arguments: Arguments) -> Scores:
    """Require that float64 holds scores that weights of vertices or trips make large."""
    if not np.isfinite(scores).all():
        weights = "target_weights times source_weights sum" if arguments.demand is None else "the trips of demand sum"
        raise OutOfRangeError(f"{weights} to more than float64 holds; scale them down")
    return scores


def _finite(what: str, scores: Scores) -> Scores:
    if not np.isfinite(scores).all():
        raise OutOfRangeError(f"{what} sum to more than float64 holds; take another unit of length")
    return scores


def require_inverses(scores: Scores, result: Result) -> Scores:
    """Require that float64 holds scores made of inverse distances."""
    lengths = result.graph.weights
    if lengths is not None and not np.isfinite(scores).all() and lengths.min() < 1 / np.finfo(np.float64).max:
        raise InvalidValueError(
            f"A holds the length {float(lengths.min())}; the inverse of such a distance is more than float64 holds; "
            "use a smaller unit of length"
        )
    return _finite("inverse distances", scores)
