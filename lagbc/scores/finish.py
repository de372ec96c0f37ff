"""Sums of a run into scores: of each centrality, the steps that they share, and the factors of `rescale`.

Factors are by the conventions of NetworkX 3.5 and later, to the last case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidTypeError, InvalidValueError, OutOfRangeError, warn
from lagbc.graph.coordinates import as_coordinates
from lagbc.graph.graph import Graph
from lagbc.graph.host import transposed
from lagbc.graph.names import Names, edge_in_words, in_words
from lagbc.request import parse_vertex_weights

if TYPE_CHECKING:
    from lagbc.arguments import Arguments
    from lagbc.run.run import Result

Scores = NDArray[np.float64]

# Sums of distances below this are scaled by 2**_POWER, and then are not below.
_SMALL, _POWER = 2.0**-900, 200
# The straight line over the length of the straightest edge. In a UTM zone lines are up to 0.4 % longer than the great
# circles that osmnx measures, and up to 0.6 % shorter. Feet for metres are 0.3, degrees for metres 1e-5.
_MOST_OF_LINE, _LEAST_OF_LINE = 1.01, 0.5
# Edges whose lines are measured at once, for which some 5 MB are taken.
_EDGES_AT_ONCE = 2**16


def betweenness(result: Result, arguments: Arguments) -> Scores:
    """Return the sum of dependencies, each pair once, or its share of all pairs if it is normalized."""
    return rescale(
        result.sums.dependency,
        directed=result.pairs == 1,
        normalized=arguments.normalized,
        endpoints=arguments.endpoints,
        sampled=_sampled_roots(result),
    )


def edge_betweenness(result: Result, arguments: Arguments) -> Scores:
    """Return the sum of dependencies on edges; both entries of an undirected edge have the sum of its directions."""
    raw: Scores = result.sums.edges
    graph, sample = result.graph.on_host, _sampled_roots(result)
    sampled = None if sample is None else len(sample)
    factor = edge_factor(graph.n, directed=result.pairs == 1, normalized=arguments.normalized, sampled=sampled)
    if graph.directed:
        return raw * factor
    scores: Scores
    _, _, scores = transposed(graph.n, graph.indptr, graph.indices, np.ascontiguousarray(raw))
    with np.errstate(over="ignore"):
        scores += raw
    scores *= factor
    return scores


def closeness(result: Result, arguments: Arguments) -> Scores:
    """Return |R| / sum of distances into v, times |R| / (n - 1), R being the roots other than v that reach v.

    |R| and the sum of a sample are scaled to estimates for all roots: the scale cancels in the first factor.
    """
    reached = result.sums.reached
    share = per_sample(reached, _sampled_roots(result)) / max(len(reached) - 1, 1) if arguments.wf_improved else None
    return mean_closeness(reached, result.sums.distance, share, result.graph)


def mean_closeness(reached: Scores, distance: Scores, share: Scores | None, graph: Graph) -> Scores:
    """Return |R| over the sum of the distances of R, times the share that R is of all others, if it is given."""
    require_finite("distances", distance)
    # Small sums are scaled, as the second factor may bring the score back into range; a power of two changes no bit.
    small = np.flatnonzero((distance > 0) & (distance < _SMALL))
    if len(small):
        distance = distance.copy()
        distance[small] = np.ldexp(distance[small], _POWER)
    # The sum is 0 where no root reaches v: |R| is 0 then, and so is the quotient by any number.
    scores: Scores = np.maximum(distance, _SMALL)
    np.divide(reached, scores, out=scores)
    if share is not None:
        scores *= share
    if len(small):
        with np.errstate(over="ignore"):
            scores[small] = np.ldexp(scores[small], _POWER)
    return require_inverses(scores, graph)


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
    from lagbc.planning.sweep import request_to
    from lagbc.reduce.pieces import Whole

    plan = request_to(Whole(result.graph, result.request), result.sweeps[0])
    logarithms: Scores = extended.log2_stress(result.graph.on_host, plan, result.roots)
    return logarithms + np.log2(per_sample(np.ones(len(counts)), _sampled_roots(result)) / result.pairs)


def weigh_roots(graph: Graph, arguments: Arguments) -> Arguments:
    """Check the states, and take them as root weights."""
    if arguments.states is None:
        raise InvalidTypeError(f"states is None; it is one number a vertex, shape ({graph.n},)")
    x = parse_vertex_weights("states", arguments.states, graph.n, graph.names)
    _require_comparable(x, graph.names)
    # The largest is the unit, which cancels: no sum leaves float64.
    x = x / max(x.max(initial=0), np.finfo(np.float64).tiny)
    return arguments._replace(states=x, source_weights=x)


def percolation(result: Result, arguments: Arguments) -> NDArray[np.float64]:
    """Divide the sum at each vertex by the sum of the other states."""
    raw, graph = require_range(betweenness(result, arguments), arguments), result.graph
    x = cast("NDArray[np.float64]", arguments.states)
    # Sums before and after each vertex: a difference from the total would cancel.
    others = np.append(0, np.cumsum(x)[:-1]) + np.append(np.cumsum(x[::-1])[::-1][1:], 0)
    share = np.divide(1 if graph.directed else 2, others, out=np.zeros(graph.n), where=others > 0)
    return raw * share / max(graph.n - 2, 1)  # type: ignore[no-any-return]


def _require_comparable(x: NDArray[np.float64], names: Names | None) -> None:
    """Raise ValueError if two states are so far apart that float64 does not hold their quotient."""
    some = np.flatnonzero(x)
    if not len(some):
        return
    least, most = int(some[x[some].argmin()]), int(some[x[some].argmax()])
    if np.ldexp(x[most], -960) > x[least]:
        raise InvalidValueError(
            f"states lie too far apart for float64, that of {in_words(names, least)} is {x[least]:.3g}, that of "
            f"{in_words(names, most)} {x[most]:.3g}; pass 0 for those that are nothing beside the others"
        )


def take_coordinates(graph: Graph, arguments: Arguments) -> Arguments:
    """Check the coordinates, and lay them out as the sweep takes them."""
    found = as_coordinates(arguments.coordinates, None, graph)
    if found.degrees:
        raise InvalidValueError(
            "coordinates are longitudes and latitudes, between which no line is straight; project them, as "
            "osmnx.project_graph does, or pass x and y in the unit of the lengths"
        )
    xy = np.ascontiguousarray(found.xy.T)
    _require_unit(graph.on_host, xy)
    return arguments._replace(coordinates=xy)


def _require_unit(graph: Graph, xy: NDArray[np.float64]) -> None:
    """Raise ValueError if an edge is shorter than the straight line; warn if all are far longer.

    If none is shorter, no path is.
    """
    if not graph.nnz:
        return
    largest, e, tail = -1.0, 0, 0
    for first in range(0, graph.nnz, _EDGES_AT_ONCE):
        of = slice(first, first + _EDGES_AT_ONCE)
        heads = graph.indices[of]
        tails = np.searchsorted(graph.indptr, np.arange(first, first + len(heads)), side="right") - 1
        with np.errstate(over="ignore"):
            ratios = np.hypot(*(xy[:, heads] - xy[:, tails])) / (1.0 if graph.weights is None else graph.weights[of])
        if ratios.max() > largest:
            place = int(ratios.argmax())
            largest, e, tail = float(ratios[place]), first + place, int(tails[place])
    edge = f"the edge {edge_in_words(graph.names, tail, int(graph.indices[e]))}"
    has = "counts as 1, as hops do" if graph.weights is None else f"has the length {float(graph.weights[e])}"
    instead = "; weighted= takes lengths" if graph.weights is None else ""
    if largest > _MOST_OF_LINE:
        raise InvalidValueError(
            f"{edge} {has}, and the straight line between its ends is {largest:.6g} times as long; lengths and "
            f"coordinates have the same unit, and no edge is shorter than the line{instead}"
        )
    if largest < _LEAST_OF_LINE:
        warn(
            f"{edge} is the straightest of all: it {has}, and the line between its ends is {largest:.3g} of it; do "
            f"lengths and coordinates have the same unit?{_advice_on_degrees(xy)}{instead}",
            UserWarning,
        )


def _advice_on_degrees(xy: NDArray[np.float64]) -> str:
    """Return a sentence for coordinates that may be longitudes and latitudes; none for others."""
    if (np.abs(xy).max(axis=1) > (180.0, 90.0)).any():
        return ""
    return " If these are longitudes and latitudes, project them first"


def straightness(result: Result, arguments: Arguments) -> NDArray[np.float64]:
    """Divide the sum of straight lines over distances by the targets; 0 where a vertex reaches none."""
    targets = require_range(result.sums.targets, arguments)
    scores: NDArray[np.float64] = np.divide(
        result.sums.straight, targets, out=np.zeros(len(targets)), where=targets > 0
    )
    return scores


class Highest(NamedTuple):
    """The highest scores of a graph: of `lagbc.closeness` or `lagbc.harmonic` with `top`.

    The highest score is first; equal ones are in the order of the vertices, and the last may be equal to some that are
    left out. `lagbc.table` makes a pandas DataFrame of it.

    Attributes
    ----------
    vertices : ndarray of int64, shape (top,)
        Their numbers: as many as asked for, or all.
    names : list
        Their names, or their numbers where the graph has no names.
    scores : ndarray of float64, shape (top,)
        With the bits of the scores of all vertices.
    """

    vertices: NDArray[np.int64]
    names: list[Any]
    scores: NDArray[np.float64]


def rank(scores: Scores, count: int, names: Any) -> Highest:
    """Return the highest scores, of equal ones the first."""
    vertices = np.argsort(-scores, kind="stable")[:count]
    listed = vertices.tolist()
    return Highest(vertices, listed if names is None else [names[vertex] for vertex in listed], scores[vertices])


class Distances(NamedTuple):
    """The distances of a graph in numbers: from `lagbc.distances`.

    Pairs are those of a root and another vertex. Undirected, a pair counts half for each of its ends that is a root:
    once if all vertices are roots. With several cutoffs each number but the first two is an array, an entry a cutoff.

    Attributes
    ----------
    n : int
        Vertices.
    roots : int
        Vertices that were searched from: all, unless `sources` or `k` was given.
    pairs : float
        Pairs that a path joins.
    average : float
        The mean distance of these, the average shortest-path length; 0 where there are none.
    wiener : float
        The sum of their distances, the Wiener index where every vertex reaches every other one.
    efficiency : float
        The mean of 1 / distance over all pairs, 0 for those without a path: global efficiency.
    diameter : float
        The largest distance from a root to a vertex that it reaches: the diameter if all vertices are roots, at most
        the diameter if some are. 0 without pairs.
    radius : float
        The least eccentricity of a root, over the vertices that it reaches: the radius if all vertices are roots, at
        least the radius if some are. 0 if a root reaches none.
    """

    n: int
    roots: int
    pairs: Any
    average: Any
    wiener: Any
    efficiency: Any
    diameter: Any
    radius: Any

    @property
    def exact(self) -> bool:
        """Whether all vertices were roots."""
        return self.roots == self.n


def distances(result: Result, arguments: Arguments) -> NDArray[np.float64]:
    """Return the numbers of `Distances`, in their order; those of a sample are scaled to all roots."""
    sums, n, roots = result.sums, result.graph.n, len(result.roots)
    with np.errstate(over="ignore"):
        reached, distance, inverse = (float(one.sum()) for one in (sums.reached, sums.distance, sums.inverse))
        require_finite("distances", np.array(distance))
        require_inverses(np.array(inverse), result.graph)
    depth = sums.depth[result.roots]
    scale = (n / roots if result.request.is_sample else 1.0) / (1 if result.graph.directed else 2)
    return np.array(
        [
            n,
            roots,
            reached * scale,
            distance / max(reached, 1.0),
            require_finite("distances", np.array(distance * scale)),
            inverse / max(roots * (n - 1), 1),
            depth.max(initial=0),
            depth.min() if roots else 0,
        ]
    )


def of_all_roots(raw: Scores, result: Result) -> Scores:
    """Scale a sum over the roots of a run, if they are a sample, to all roots."""
    with np.errstate(over="ignore"):
        return per_sample(raw, _sampled_roots(result))


def _sampled_roots(result: Result) -> NDArray[np.int64] | None:
    return result.roots if result.request.is_sample else None


def require_range(scores: Scores, arguments: Arguments) -> Scores:
    """Raise OverflowError if weights of vertices or trips make scores too large for float64."""
    is_plain = arguments.target_weights is arguments.source_weights is arguments.demand is None
    if not is_plain and not np.isfinite(scores).all():
        weights = "target_weights times source_weights sum" if arguments.demand is None else "the trips of demand sum"
        raise OutOfRangeError(f"{weights} to more than float64 holds; scale them down")
    return scores


def require_finite(subject: str, scores: Scores) -> Scores:
    """Raise OverflowError if sums of lengths, or of their inverses, are too large for float64."""
    if not np.isfinite(scores).all():
        raise OutOfRangeError(f"{subject} sum to more than float64 holds; take another unit of length")
    return scores


def require_inverses(scores: Scores, graph: Graph) -> Scores:
    """Raise an error if scores made of inverse distances are too large for float64."""
    lengths = graph.weights
    if lengths is not None and not np.isfinite(scores).all() and lengths.min() < 1 / np.finfo(np.float64).max:
        raise InvalidValueError(
            f"an edge has the length {float(lengths.min())}; its inverse is more than float64 holds; "
            "use a smaller unit of length"
        )
    return require_finite("inverse distances", scores)


def rescale(
    raw: Scores,
    *,
    directed: bool,
    normalized: bool,
    endpoints: bool,
    sampled: NDArray[np.int64] | None = None,
) -> Scores:
    """Turn raw sums over roots s of delta_s(v) into scores.

    Undirected, each unordered pair counts once, so that the sum over ordered pairs is halved. `normalized` divides by
    the number of ordered pairs (s, t) that paths through v may join; with `endpoints`, where `raw` counts the ends of
    paths, a vertex is in pairs of its own. From a random sample of roots the scores estimate sums over all vertices;
    ValueError for one sampled root without endpoints, as no root but itself tells of it (0/0).
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


def edge_factor(n: int, *, directed: bool, normalized: bool, sampled: int | None = None) -> float:
    """Return the factor of raw sums of edges over roots: both ends of a path count, and pairs are all n (n - 1).

    An undirected edge has the sum of both directions in both. `sampled` is the number of roots, if they are a random
    sample.
    """
    if n < 2:
        return 1.0
    return _factor(n, n if sampled is None else sampled, n - 1 if normalized else None, directed)


def per_sample(raw: Scores, sampled: NDArray[np.int64] | None) -> Scores:
    """Scale sums over a random sample, if there is one, to all roots other than v: by (n - 1) / (samples but v)."""
    if sampled is None:
        return raw
    return rescale(raw, directed=True, normalized=False, endpoints=False, sampled=sampled)


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
