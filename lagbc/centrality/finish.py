"""Sums of a run into scores, one function a centrality; `rescale` has the factors that they share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lagbc.centrality.rescale import per_sample, rescale, rescale_edges
from lagbc.errors import InvalidValueError, OutOfRangeError
from lagbc.graph.csr import transposed
from lagbc.graph.names import in_words

if TYPE_CHECKING:
    from lagbc.centrality.registry import Arguments
    from lagbc.run.execute import Result

Scores = NDArray[np.float64]

# Sums of distances below this are scaled by 2**_POWER, which leaves none of them below.
_SMALL, _POWER = 2.0**-900, 200


def bc(result: Result, arguments: Arguments) -> Scores:
    """Betweenness: the sum of dependencies, each pair once, as a share of pairs if asked for."""
    scores = rescale(
        result.sums.dependency,
        directed=result.pairs == 1,
        normalized=arguments.normalized,
        endpoints=arguments.endpoints,
        sampled=_sample(result),
    )
    return _of_weights(scores, arguments)


def edge_bc(result: Result, arguments: Arguments) -> Scores:
    """Betweenness of edges: both entries of an undirected edge hold the sum of its two directions."""
    raw, graph = result.sums.edges, result.graph.on_host
    if not graph.directed:
        _, _, back = transposed(graph.n, graph.indptr, graph.indices, np.ascontiguousarray(raw))
        with np.errstate(over="ignore"):
            raw = raw + back
    sample = _sample(result)
    scores = rescale_edges(
        raw,
        graph.n,
        directed=result.pairs == 1,
        normalized=arguments.normalized,
        sampled=None if sample is None else len(sample),
    )
    return _of_weights(scores, arguments)


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
    return _finite_inverse(scores, result)


def harmonic(result: Result, arguments: Arguments) -> Scores:
    """Return the sum of inverse distances into v."""
    with np.errstate(over="ignore"):
        scores = per_sample(result.sums.inverse, _sample(result))
    return _finite_inverse(scores, result)


def eccentricity(result: Result, arguments: Arguments) -> Scores:
    """Return the largest distance out of v."""
    return result.sums.depth.copy()  # type: ignore[no-any-return]


def eccentricity_centrality(result: Result, arguments: Arguments) -> Scores:
    """(n - 1) / eccentricity, 0 where v reaches nothing."""
    depth = result.sums.depth
    with np.errstate(over="ignore"):
        scores: Scores = np.divide(len(depth) - 1, depth, out=np.zeros(len(depth)), where=depth > 0)
    return _finite_inverse(scores, result)


def stress(result: Result, arguments: Arguments) -> Scores:
    """Return the number of shortest paths through v, each pair once, or its logarithm."""
    with np.errstate(over="ignore"):
        counts = per_sample(result.sums.stress, _sample(result)) / result.pairs
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


def reach(result: Result, arguments: Arguments) -> Scores:
    """Return how many targets are within the cutoff of v."""
    return _of_weights(result.sums.targets.copy(), arguments)


def gravity(result: Result, arguments: Arguments) -> Scores:
    """Return how much all targets of v count at their distances."""
    return _of_weights(result.sums.gravity.copy(), arguments)


def _sample(result: Result) -> NDArray[np.int64] | None:
    return result.roots if result.plan.request.is_sample else None


def _of_weights(scores: Scores, arguments: Arguments) -> Scores:
    if not np.isfinite(scores).all():
        weights = "target_weights times source_weights sum" if arguments.demand is None else "the trips of demand sum"
        raise OutOfRangeError(f"{weights} to more than float64 holds; scale them down")
    return scores


def _finite(what: str, scores: Scores) -> Scores:
    if not np.isfinite(scores).all():
        raise OutOfRangeError(f"{what} sum to more than float64 holds; take another unit of length")
    return scores


def _finite_inverse(scores: Scores, result: Result) -> Scores:
    """Require that float64 holds scores made of inverse distances."""
    lengths = result.graph.weights
    if lengths is not None and not np.isfinite(scores).all() and lengths.min() < 1 / np.finfo(np.float64).max:
        raise InvalidValueError(
            f"A holds the length {float(lengths.min())}; the inverse of such a distance is more than float64 holds; "
            "use a smaller unit of length"
        )
    return _finite("inverse distances", scores)
