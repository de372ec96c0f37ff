"""Scores of each centrality, made of the sums of a run.

`rescale` follows the conventions of NetworkX 3.5 and later, to the last case.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidTypeError, InvalidValueError, OutOfRangeError, warn
from lagbc.graph.coordinates import as_coordinates
from lagbc.graph.graph import Graph
from lagbc.graph.host import plus_mirrored
from lagbc.graph.names import Names, edge_in_words, in_words
from lagbc.reduce.blocks import find_reaching_all
from lagbc.request import parse_vertex_weights

if TYPE_CHECKING:
    from lagbc.arguments import Arguments
    from lagbc.methods.sums import Sums
    from lagbc.planning.sweep import Sweep
    from lagbc.request import Request

Scores = NDArray[np.float64]


class Result(NamedTuple):
    """The sums of a call."""

    sums: Sums  # on the host, of the graph of the call
    graph: Graph
    request: Request
    pairs: int  # how often sums over paths count a pair: twice in an undirected graph, unless weighed
    sweeps: tuple[Sweep, ...]  # of the pieces of the graph

    @property
    def sample(self) -> NDArray[np.int64] | None:
        """The roots, if they are a random sample."""
        return self.request.roots if self.request.is_sample else None

    @property
    def roots(self) -> NDArray[np.int64]:
        """The roots of the run; a checkpoint may hold others than were drawn for this call."""
        return self.request.roots

    def columns(self, *, decays: bool) -> Iterator[Result]:
        """Yield each column as the result of a run: one for each cutoff, with `decays` one for each pair of both."""
        bounds = self.request.bounds
        assert bounds is not None
        for c, d, alone in bounds:
            if decays or d == 0:
                yield self._replace(sums=self.sums.column(bounds, c, d), request=self.request._replace(bounds=alone))


# Sums of distances below this number are multiplied by 2**_POWER, which lifts all of them above it.
_SMALL, _POWER = 2.0**-900, 200
# The straight line over the length of the straightest edge. In a UTM zone lines are up to 0.4 % longer than the great
# circles that osmnx measures, and up to 0.6 % shorter. Feet for metres are 0.3, degrees for metres 1e-5.
_MOST_OF_LINE, _LEAST_OF_LINE = 1.01, 0.5
# Edges whose lines are measured at once, for which some 5 MB are taken.
_EDGES_AT_ONCE = 2**16


def betweenness(result: Result, arguments: Arguments) -> Scores:
    """Return the sum of dependencies, each pair once, or its share of all pairs if it is normalized."""
    scores = rescale(
        result.sums.dependency,
        directed=result.pairs == 1,
        normalized=arguments.normalized,
        endpoints=arguments.endpoints,
        sampled=result.sample,
    )
    return _require_range(scores, arguments)


def edge_betweenness(result: Result, arguments: Arguments) -> Scores:
    """Return the sum of dependencies on edges; both entries of an undirected edge have the sum of its directions."""
    raw: Scores = result.sums.edges
    graph, sample = result.graph.on_host, result.sample
    sampled = None if sample is None else len(sample)
    factor = edge_factor(graph.n, directed=result.pairs == 1, normalized=arguments.normalized, sampled=sampled)
    if graph.directed:
        return _require_range(raw * factor, arguments)
    return _require_range(plus_mirrored(graph.indptr, graph.indices, np.ascontiguousarray(raw), factor), arguments)


def closeness(result: Result, arguments: Arguments) -> Scores:
    """Return |R| / sum of distances into v, times |R| / (n - 1), R being the roots other than v that reach v.

    The roots of a sample stand for all roots: that scales |R| and the sum alike, and so the second factor alone.
    """
    reached = result.sums.reached
    share = of_all_roots(reached, result) / max(len(reached) - 1, 1) if arguments.wf_improved else None
    return mean_closeness(reached, result.sums.distance, share, result.graph)


def mean_closeness(reached: Scores, distance: Scores, share: Scores | None, graph: Graph) -> Scores:
    """Return |R| over the sum of the distances of R, times `share`, the part of all other vertices that R is."""
    _require_finite("distances", distance)
    # Small sums are scaled, as the share may bring the score back into range; a power of two changes no bit.
    small = np.flatnonzero((distance > 0) & (distance < _SMALL))
    if len(small):
        distance = distance.copy()
        distance[small] = np.ldexp(distance[small], _POWER)
    # Where no root reaches v, |R| and the sum are 0, and the score is 0 by any divisor.
    scores: Scores = np.maximum(distance, _SMALL)
    np.divide(reached, scores, out=scores)
    if share is not None:
        scores *= share
    if len(small):
        with np.errstate(over="ignore"):
            scores[small] = np.ldexp(scores[small], _POWER)
    return _require_inverses(scores, graph)


def harmonic(result: Result, arguments: Arguments) -> Scores:
    """Return the sum of 1 / d(s, v) over the roots s."""
    return _require_inverses(of_all_roots(result.sums.inverse, result), result.graph)


def eccentricity(result: Result, arguments: Arguments) -> Scores:
    """Return the largest distance from each root."""
    return result.sums.depth.copy()  # type: ignore[no-any-return]


def eccentricity_centrality(result: Result, arguments: Arguments) -> Scores:
    """Return n - 1 over the largest distance from each root, 0 where it reaches no vertex."""
    depth = result.sums.depth
    with np.errstate(over="ignore"):
        scores = np.divide(len(depth) - 1, depth, out=np.zeros(len(depth)), where=depth > 0)
    return _require_inverses(scores, result.graph)


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
    return logarithms + np.log2(of_all_roots(np.ones(len(counts)), result) / result.pairs)


def reach(result: Result, arguments: Arguments) -> Scores:
    """Return the weights of the targets within the cutoff."""
    return _require_range(result.sums.targets.copy(), arguments)


def gravity(result: Result, arguments: Arguments) -> Scores:
    """Return the weights of the targets, less by the decay the farther they are."""
    return _require_range(result.sums.gravity.copy(), arguments)


def weigh_by_states(graph: Graph, arguments: Arguments) -> Arguments:
    """Check the states, and take them as root weights."""
    if arguments.states is None:
        raise InvalidTypeError(f"states is None; it is one number a vertex, shape ({graph.n},)")
    x = parse_vertex_weights("states", arguments.states, graph.n, graph.names)
    _require_comparable(x, graph.names)
    # In units of the largest state, which cancel, no sum leaves float64.
    x = x / max(x.max(initial=0), np.finfo(np.float64).tiny)
    return arguments._replace(states=x, source_weights=x)


def percolation(result: Result, arguments: Arguments) -> Scores:
    """Divide the sum at each vertex by the sum of the other states."""
    raw, graph = betweenness(result, arguments), result.graph
    x = cast("NDArray[np.float64]", arguments.states)
    # The states before v, and behind v: the total less the state of v would cancel.
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
    found = as_coordinates(arguments.coordinates, None, graph, "coordinates=")
    if found.degrees:
        raise InvalidValueError(
            "coordinates are longitudes and latitudes, between which no line is straight; project them, as "
            "osmnx.project_graph does, or pass x and y in the unit of the lengths"
        )
    xy = np.ascontiguousarray(found.xy.T)
    _require_unit(graph.on_host, xy)
    return arguments._replace(coordinates=xy)


def _require_unit(graph: Graph, xy: NDArray[np.float64]) -> None:
    """Raise ValueError if an edge, and so a path, is shorter than the straight line; warn if all are far longer."""
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
    """Return a sentence for coordinates that may be longitudes and latitudes, else an empty one."""
    if (np.abs(xy).max(axis=1) > (180.0, 90.0)).any():
        return ""
    return " If these are longitudes and latitudes, project them first"


def straightness(result: Result, arguments: Arguments) -> Scores:
    """Return the mean of straight line over distance to the targets; 0 where a vertex reaches none."""
    targets = _require_range(result.sums.targets, arguments)
    scores: Scores = np.divide(result.sums.straight, targets, out=np.zeros(len(targets)), where=targets > 0)
    return scores


class OfGroups(NamedTuple):
    """Sums of groups, a number a group; None where a sum is not asked for."""

    graph: Graph
    sizes: NDArray[np.int64]
    passed: Any = None  # over ordered pairs: the share of their shortest paths that meet the group
    neighbours: Any = None  # vertices outside that an edge from the group leads to
    reached: Any = None  # reached, distance, inverse: over the vertices outside with a path into the group:
    distance: Any = None  # 1, its length d, and 1 / d
    inverse: Any = None

    def share(self, count: Scores) -> Scores:
        """Return counts of vertices as parts of all vertices outside."""
        return count / np.maximum(self.graph.n - self.sizes, 1)  # type: ignore[no-any-return]


def group_betweenness(found: OfGroups, arguments: Arguments) -> Scores:
    """Return the sum over pairs outside, an undirected pair once; normalized the mean over ordered pairs."""
    raw: Scores = found.passed
    if arguments.normalized:
        outside = found.graph.n - found.sizes
        return raw / np.maximum(outside * (outside - 1), 1)  # type: ignore[no-any-return]
    return raw if found.graph.directed else raw / 2


def group_closeness(found: OfGroups, arguments: Arguments) -> Scores:
    """Return one over the mean distance into a group, times the share of the vertices that reach it."""
    share = found.share(found.reached) if arguments.wf_improved else None
    return mean_closeness(found.reached, found.distance, share, found.graph)


def group_harmonic(found: OfGroups, arguments: Arguments) -> Scores:
    """Return the sum of inverse distances into a group."""
    return _require_inverses(found.inverse, found.graph)


def group_degree(found: OfGroups, arguments: Arguments) -> Scores:
    """Return the neighbours of a group, or their share of all vertices outside."""
    return found.share(found.neighbours) if arguments.normalized else found.neighbours  # type: ignore[no-any-return]


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
        The least eccentricity of a root that reaches all other vertices: the radius if all vertices are roots, at least
        the radius if some are. inf if no root reaches all; NetworkX raises an error unless all do. Distances beyond a
        cutoff are left out of the eccentricity. NaN of a directed graph over a grid unless all roots reach all.
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


def distances(result: Result, arguments: Arguments) -> Scores:
    """Return the numbers of `Distances`, in their order; sums over a sample are scaled to all roots."""
    sums, n, roots = result.sums, result.graph.n, len(result.roots)
    with np.errstate(over="ignore"):
        reached, distance, inverse = (float(one.sum()) for one in (sums.reached, sums.distance, sums.inverse))
        _require_finite("distances", np.array(distance))
        _require_inverses(np.array(inverse), result.graph)
    depth = sums.depth[result.roots]
    scale = (n / roots if result.request.is_sample else 1.0) / (1 if result.graph.directed else 2)
    return np.array(
        [
            n,
            roots,
            reached * scale,
            distance / max(reached, 1.0),
            _require_finite("distances", np.array(distance * scale)),
            inverse / max(roots * (n - 1), 1),
            depth.max(initial=0),
            _radius(result, reached, depth),
        ]
    )


def _radius(result: Result, reached: float, depth: NDArray[np.float64]) -> float:
    """Return the least eccentricity of a root that reaches all vertices; NaN if these roots are unknown."""
    graph, roots = result.graph, result.roots
    if reached == len(roots) * (graph.n - 1):
        return float(depth.min(initial=np.inf))
    if not graph.directed:  # and so not connected, unless a cutoff keeps roots from the others
        is_cut = result.request.bounds is not None and not graph.on_host.components.any()
        return float(depth.min(initial=np.inf)) if is_cut else np.inf
    among = find_reaching_all(graph)
    return np.nan if among is None else float(depth[among[roots]].min(initial=np.inf))


def of_all_roots(raw: Scores, result: Result) -> Scores:
    """Scale sums over a random sample of roots to all roots other than v, by (n - 1) / (sampled roots other than v)."""
    sampled = result.sample
    if sampled is None:
        return raw
    with np.errstate(over="ignore"):
        return rescale(raw, directed=True, normalized=False, endpoints=False, sampled=sampled)


def _require_range(scores: Scores, arguments: Arguments) -> Scores:
    """Return the scores; OverflowError says that weights of vertices or trips make them too large for float64."""
    is_plain = arguments.target_weights is arguments.source_weights is arguments.demand is None
    if not is_plain and not np.isfinite(scores).all():
        weights = "target_weights times source_weights sum" if arguments.demand is None else "the trips of demand sum"
        raise OutOfRangeError(f"{weights} to more than float64 holds; scale them down")
    return scores


def _require_finite(subject: str, scores: Scores) -> Scores:
    """Return the scores; OverflowError says that sums of lengths, or of their inverses, are too large for float64."""
    if not np.isfinite(scores).all():
        raise OutOfRangeError(f"{subject} sum to more than float64 holds; take another unit of length")
    return scores


def _require_inverses(scores: Scores, graph: Graph) -> Scores:
    """Raise ValueError if the inverse of a length is too large for float64, OverflowError if scores of inverses are."""
    lengths = graph.weights
    if lengths is not None and not np.isfinite(scores).all() and lengths.min() < 1 / np.finfo(np.float64).max:
        raise InvalidValueError(
            f"an edge has the length {float(lengths.min())}; its inverse is more than float64 holds; "
            "use a smaller unit of length"
        )
    return _require_finite("inverse distances", scores)


def rescale(
    raw: Scores,
    *,
    directed: bool,
    normalized: bool,
    endpoints: bool,
    sampled: NDArray[np.int64] | None = None,
) -> Scores:
    """Turn raw sums over roots s of delta_s(v) into scores.

    Of an undirected graph the sum over ordered pairs is halved. `normalized` divides by the number of ordered pairs
    (s, t) that paths through v may join. With `endpoints` `raw` counts the ends of paths, and v is in pairs of its own.
    Sums over a random sample of roots are scaled to estimates; one sampled root without endpoints is a ValueError.
    """
    n = len(raw)
    others = n if endpoints else n - 1  # vertices that can be the other end of a pair with v
    if others < 2:
        return raw
    pairs_of_root = others - 1 if normalized else None
    if sampled is None or endpoints:
        roots = others if sampled is None else len(sampled)
        return raw * _factor(others, roots, pairs_of_root, directed)
    if len(sampled) == 1:
        require_defined(n, endpoints=endpoints)
    # Without endpoints no vertex is a root for itself: the sum of a sampled root has one term less.
    scores = raw * _factor(others, len(sampled), pairs_of_root, directed)
    scores[sampled] = raw[sampled] * _factor(others, len(sampled) - 1, pairs_of_root, directed)
    return scores


def edge_factor(n: int, *, directed: bool, normalized: bool, sampled: int | None = None) -> float:
    """Return the factor of raw sums of edges, among all n (n - 1) pairs.

    Both entries of an undirected edge hold the sum of its directions. `sampled` counts the roots of a random sample.
    """
    if n < 2:
        return 1.0
    return _factor(n, n if sampled is None else sampled, n - 1 if normalized else None, directed)


def require_defined(n: int, *, endpoints: bool) -> None:
    """Raise ValueError for a sample of one root, whose own score has no term (0/0) unless ends count."""
    if not endpoints and n > 2:
        raise InvalidValueError(
            "k=1 without endpoints leaves the score of the sampled vertex undefined (0/0); take k >= 2"
        )


def _factor(others: int, roots: int, pairs_of_root: int | None, directed: bool) -> float:
    if pairs_of_root is not None:
        return 1.0 / (roots * pairs_of_root)
    return others / (roots * (1 if directed else 2))
