"""What single roots add to a centrality, as values in [0, 1] whose means are estimated, and the way back to scores.

A sum S over the members of a population has terms x in [0, R], and y = x / R. Scores follow from S by the function that
finishes those of all roots. Errors are fractions: of all pairs for betweenness, of n - 1 for harmonic centrality; of
closeness they are the scores themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lagbc.centrality.registry import Arguments, Centrality
from lagbc.errors import InvalidValueError
from lagbc.graph.csr import as_numpy, transposed
from lagbc.graph.graph import Graph
from lagbc.methods.sums import Sums
from lagbc.plan.plan import Plan
from lagbc.plan.rounds import Population
from lagbc.run.execute import Result, whole_sums

Values = NDArray[np.float64]

# The sum that each set of sums is estimated by.
_OF_SUMS = {
    frozenset({"dependency"}): "dependency",
    frozenset({"edges"}): "edges",
    frozenset({"inverse"}): "inverse",
    frozenset({"reached", "distance"}): "distance",
}
# Those that are smaller the higher a score is.
_FALLING = frozenset({"distance"})


def estimated_sum(centrality: Centrality) -> str:
    """Return the sum that a centrality is estimated by; ValueError if it is not."""
    name = _OF_SUMS.get(centrality.sums)
    if name is None:
        raise InvalidValueError(
            f"{centrality.name} is not estimated with error bounds: a root's part of it has no known range; bc, "
            "edge_bc, closeness and harmonic are"
        )
    return name


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of a run.

    Attributes
    ----------
    name : str
        Of the sum.
    population : Population
    largest : ndarray of float64
        R of each place; vertices that are merged add it each.
    places : ndarray of int64
        Vertices, or edges, of the swept graph whose means are estimated.
    unit : float
        The fraction that a mean y of 1 is; of closeness nothing.
    finish : callable
        Makes scores of a sum over the whole population, of all vertices or edges of the swept graph.
    is_linear : bool
        Whether targets count linearly.
    """

    name: str
    population: Population
    largest: Values
    places: NDArray[np.int64]
    unit: float
    finish: Callable[[Values], Values]
    is_linear: bool = False

    @property
    def sums(self) -> frozenset[str]:
        """Those that are swept."""
        return frozenset({self.name, f"{self.name}_squares"})

    def of_round(self, sums: Sums) -> tuple[Values, Values]:
        """Return the sums of y and of y^2 over a round."""
        total, squares = getattr(sums, self.name), getattr(sums, f"{self.name}_squares")
        if self.name == "edges" and not self.population.graph.directed:
            total, squares = self._both_ways(total), self._both_ways(squares)
        return total[self.places] / self.largest, squares[self.places] / self.largest**2

    def _both_ways(self, sums: Values) -> Values:
        graph = self.population.graph.on_host
        _, _, back = transposed(graph.n, graph.indptr, graph.indices, np.ascontiguousarray(sums))
        both: Values = sums + back
        return both

    def scores(self, means: Values) -> Values:
        """Return the scores, of all vertices or edges of the call, of means."""
        graph = self.population.graph
        whole = np.zeros(graph.nnz if self.name == "edges" else graph.n)
        whole[self.places] = means * self.largest * self.population.size
        if self.name == "edges" and not graph.directed:
            whole /= 2  # both entries of an edge hold both directions
        return self.finish(whole)

    def bounds(self, least: Values, most: Values) -> tuple[Values, Values]:
        """Return the least and the highest scores that go with such means."""
        low, high = self.scores(least), self.scores(most)
        return (high, low) if self.name in _FALLING else (low, high)

    def errors(self, fractions: float | Values, means: Values) -> float | Values:
        """Return how far means may be off where scores may be off by fractions; `means` are the estimates."""
        if self.name not in _FALLING:
            return fractions / self.unit
        n = self.population.graph.n
        closeness = (n - 1) / np.maximum(means * self.largest * self.population.size, 1e-300)
        errors: Values = fractions * (n - 1) / (closeness**2 * self.largest * self.population.size)
        return errors

    def linear(self) -> Terms:
        """Return the terms that count linearly: they reach twice as far."""
        return replace(self, largest=2 * self.largest, unit=2 * self.unit, is_linear=True)


def terms_of(
    graph: Graph,
    centrality: Centrality,
    arguments: Arguments,
    population: Population,
    plan: Plan,
    vertices: NDArray[np.int64] | None,
    farthest: Callable[[], float],
) -> Terms:
    """Make the terms of a run.

    Parameters
    ----------
    graph : Graph
        Of the call.
    centrality, arguments, population : as they are
    plan : Plan
        Of some rounds.
    vertices : ndarray of int64, or None
        Those whose scores are wanted; None is all.
    farthest : callable
        Bounds the distance of two vertices.
    """
    name, n, size = estimated_sum(centrality), graph.n, population.size
    largest, unit, swept = 1.0, 1.0, population.graph
    if name in ("dependency", "edges"):
        largest = float(max(n - 1, 1))
        pairs = (n - 1) * (n - 2) if name == "dependency" and not arguments.endpoints else n * (n - 1)
        unit = size * largest / max(pairs, 1)
    elif name == "inverse":
        largest = 1.0 if swept.weights is None else 1 / float(as_numpy(swept.weights).min())
        unit = size * largest / max(n - 1, 1)
    else:
        largest = farthest()
    places = np.arange(swept.nnz if name == "edges" else swept.n)
    if vertices is not None:
        places = _places_of(population, vertices)

    request = replace(plan.request, roots=np.arange(n), sums=centrality.sums)
    of_call, ends = replace(plan, graph=graph, request=request), _ends(graph) if arguments.endpoints else None

    def finish(whole: Values) -> Values:
        sums = whole_sums(of_call, [Sums(**{name: whole})])
        if name == "distance":
            sums.reached = np.full(n, float(n - 1))
        if ends is not None:
            sums.dependency = sums.dependency + ends
        return centrality.finish(Result(sums, of_call), arguments)

    members = population.members
    of_each = np.full(len(places), largest) if members is None else largest * members[places]
    return Terms(name, population, of_each, places, unit, finish)


def _ends(graph: Graph) -> Values:
    """Count how often each vertex is an end of a path of an undirected graph: with all of its component, both ways."""
    component = as_numpy(graph.components)
    ends: Values = 2.0 * (np.bincount(component)[component] - 1)
    return ends


def _places_of(population: Population, vertices: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the places of vertices in the graph that is swept; those that are not there are known exactly."""
    places = np.unique(vertices if population.inside is None else population.inside[vertices])
    return places[places >= 0]
