"""A call of `estimate` as data, and the terms of single roots, whose means are estimated.

A sum S over the roots of a population has terms x in [0, R]; means are estimated of y = x / R, in [0, 1]. The function
that finishes sums of all roots makes scores of S. Errors are fractions: of all pairs for betweenness, of n - 1 for
harmonic centrality; for closeness they are scores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.arguments import Arguments
from lagbc.errors import InvalidValueError
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.graph.host import transposed
from lagbc.limits import Room
from lagbc.methods.sums import Sums
from lagbc.options import Settings
from lagbc.planning.population import Population
from lagbc.reduce.pieces import Reduced, restore
from lagbc.request import Request
from lagbc.scores.finish import Result
from lagbc.scores.records import Centrality, find

Values = NDArray[np.float64]
Places = NDArray[np.int64]

# Of the sums of a centrality, the one whose terms are estimated.
_OF_SUMS = {
    frozenset({"dependency"}): "dependency",
    frozenset({"edges"}): "edges",
    frozenset({"inverse"}): "inverse",
    frozenset({"reached", "distance"}): "distance",
}
# Sums that fall as the score rises.
_FALLING = frozenset({"distance"})
# Stands for a sum of 0 in divisors.
_LEAST = 1e-300


class Wanted(NamedTuple):
    """The wanted quality of an estimate, and the limits of its run; fields are arguments of `lagbc.estimate`."""

    relative_error: float | None  # None where `error` takes its place
    error: float | None
    confidence: float
    guarantee: bool
    top: int | None
    tie: float | None
    max_roots: int | None
    max_seconds: float | None

    @property
    def words(self) -> str:
        """The wanted half-width of intervals, for messages."""
        if self.error is not None:
            return f"{self.error:g}"
        return f"{self.relative_error:g} of the highest"

    def width(self, highest: float) -> float:
        """Return the half-width in force, as a fraction; `highest` is the lower bound of the highest score."""
        return self.error if self.error is not None else (self.relative_error or 0.0) * highest


class Question(NamedTuple):
    """A call of `estimate`, checked."""

    graph: Graph
    centrality: Centrality
    name: str  # of the estimated sum
    arguments: Arguments  # normalized is False where it means nothing
    settings: Settings
    room: Room
    request: Request
    wanted: Wanted
    vertices: Places | None  # whose scores are wanted; None is all
    rng: int | np.random.Generator | None
    begun: float  # the time of the call, by `time.perf_counter`

    @property
    def of_score(self) -> float:
        """The score that is the fraction 1."""
        if self.name == "inverse":
            return float(self.graph.n - 1)
        if self.name == "distance" or self.arguments.normalized:
            return 1.0
        return self.pairs / (1 if self.graph.directed else 2)

    @property
    def pairs(self) -> int:
        """The ordered pairs that betweenness of a vertex, or of an edge, is a share of, at least 1."""
        n = self.graph.n
        has_no_ends = self.name == "dependency" and not self.arguments.endpoints
        return max((n - 1) * (n - 2) if has_no_ends else n * (n - 1), 1)


class Answer(NamedTuple):
    """The scores of a question, their lower and upper bounds, and the counts of samples."""

    found: tuple[Values, Values, Values]
    reason: str
    roots: int = 0
    paths: int = 0
    exact: bool = False


def find_estimated(name: str) -> Centrality:
    """Return the centrality of a name; ValueError lists the estimated ones if there is none."""
    return find(name, lambda one: one.sums in _OF_SUMS)


def estimated_sum(centrality: Centrality) -> str:
    """Return the sum whose terms are estimated for a centrality; ValueError if there is none."""
    name = _OF_SUMS.get(centrality.sums)
    if name is None:
        raise InvalidValueError(
            f"{centrality.name} is not estimated with error bounds: a root's part of it has no known range; bc, "
            "edge_bc, closeness and harmonic are"
        )
    return name


def sums_of(name: str) -> frozenset[str]:
    """Return the sums of a sweep that estimates one sum: this sum, and the sum of its squares."""
    return frozenset({name, f"{name}_squares"})


class Terms(NamedTuple):
    """The terms of a run; its arrays are on the device of the sums.

    A score is fixed + slope * mean, or n - 1 over that for a falling sum.
    """

    name: str  # of the sum
    population: Population
    largest: float | Values  # R of each mean, times the vertices that are merged into its vertex
    places: Places | None  # vertices, or edges, of the swept graph whose means are estimated; None is all
    unit: float  # the fraction that a mean of 1 is; unused for closeness
    fixed: float | Values  # fixed, slope: of each vertex, or edge, of the call
    slope: float | Values
    # which: for each vertex of the call, the number of its mean, any number if it has none; shown: for each mean, a
    # vertex of the call. None where vertices and means have the same numbers.
    which: Places | None
    shown: Places | None
    back: Places | None  # for each edge, the place of its other direction; None if directions count apart
    is_linear: bool = False  # whether targets count linearly

    @property
    def sums(self) -> frozenset[str]:
        """The sums of a sweep."""
        return sums_of(self.name)

    def of_round(self, sums: Sums) -> tuple[Values, Values]:
        """Return the sums of y and of y^2 over a round."""
        total, squares = getattr(sums, self.name), getattr(sums, f"{self.name}_squares")
        if self.back is not None:
            total, squares = total + total[self.back], squares + squares[self.back]
        if self.places is not None:
            total, squares = total[self.places], squares[self.places]
        return total / self.largest, squares / self.largest**2

    def scores(self, means: Values) -> Values:
        """Return the scores of all vertices or edges of the call."""
        scores = self.fixed + self.slope * (means if self.which is None else means[self.which])
        if self.name in _FALLING:
            scores = (self.population.graph.n - 1) / np.maximum(scores, _LEAST)
        return scores

    def bounds(self, least: Values, most: Values) -> tuple[Values, Values]:
        """Return the lower and upper bounds of scores, by those of means."""
        low, high = self.scores(least), self.scores(most)
        return (high, low) if self.name in _FALLING else (low, high)

    def errors(self, fractions: float | Values, means: Values) -> float | Values:
        """Return the errors of means that make these errors of scores, as fractions, near the estimated means."""
        if self.name not in _FALLING:
            return fractions / self.unit
        n = self.population.graph.n
        closeness = (n - 1) / np.maximum(means * self.largest * self.population.size, _LEAST)
        errors: Values = fractions * (n - 1) / (closeness**2 * self.largest * self.population.size)
        return errors

    def linear(self) -> Terms:
        """Return the linear terms, of twice the range."""
        twice = {name: 2 * getattr(self, name) for name in ("largest", "unit", "slope")}
        return self._replace(**twice, is_linear=True)


def terms_of(
    question: Question,
    population: Population,
    arrays: Any,
    farthest: Callable[[], float],
    of_small: Callable[[Reduced], list[Sums]],
) -> Terms:
    """Make the terms of a run, of the vertices whose scores are wanted.

    `arrays` is the module of the arrays of sums, numpy or cupy; ``farthest()`` bounds the distance of two vertices, and
    ``of_small(reduced)`` sums the small blocks of a reduced graph.
    """
    graph, centrality, arguments, vertices = question.graph, question.centrality, question.arguments, question.vertices
    name, n, size = question.name, graph.n, population.size
    largest, unit, swept = 1.0, 1.0, population.graph
    if name in ("dependency", "edges"):
        largest = float(max(n - 1, 1))
        unit = size * largest / question.pairs
    elif name == "inverse":
        largest = 1.0 if swept.weights is None else 1 / float(as_numpy(swept.weights).min())
        unit = size * largest / max(n - 1, 1)
    else:
        largest = farthest()
    size_of_sums = swept.nnz if name == "edges" else swept.n
    places = None if vertices is None else _places_of(population, vertices)
    class_sizes = population.request.class_sizes
    of_each = largest if class_sizes is None else largest * (class_sizes if places is None else class_sizes[places])

    request = population.request._replace(roots=np.arange(n), sums=centrality.sums)
    ends = _count_path_ends(graph) if arguments.endpoints else None
    reduced = population.reduced
    small = of_small(reduced)

    def finish(means: float) -> Values:
        whole = np.zeros(size_of_sums)
        whole[slice(None) if places is None else places] = means * of_each * size
        if name == "edges" and not swept.directed:
            whole /= 2  # both entries of an edge hold both directions
        if name in _FALLING:
            return whole
        sums = Sums(**{name: whole})
        if reduced.tree is not None:
            sums = restore(reduced, request, [sums, *small])
        if ends is not None:
            sums.dependency = sums.dependency + ends
        return centrality.finish(Result(sums, graph, request, 1 if graph.directed else 2, ()), arguments)

    fixed = finish(0.0)
    slope = finish(1.0) - fixed
    which, shown = _means_and_vertices(population, places)

    def there(numbers: Any) -> Any:  # on the device of the sums
        return arrays.asarray(numbers) if isinstance(numbers, np.ndarray) else numbers

    return Terms(
        name,
        population,
        largest=there(of_each),
        places=there(places),
        unit=unit,
        fixed=there(_as_one(fixed)),
        slope=there(_as_one(slope)),
        which=there(which),
        shown=there(shown),
        back=there(_other_directions(swept)) if name == "edges" and not swept.directed else None,
    )


def _as_one(numbers: Values) -> float | Values:
    """Return the one number of an array of equal numbers; any other array as it is."""
    return float(numbers[0]) if (numbers == numbers[0]).all() else numbers


def _means_and_vertices(population: Population, places: Places | None) -> tuple[Places | None, Places | None]:
    """Return `which` and `shown` of `Terms`."""
    inside = population.inside
    if places is None and inside is None:
        return None, None
    every = np.arange(population.graph.n)
    of_place = every if inside is None else inside
    places = every if places is None else places
    which = np.zeros(population.graph.n, np.int64)
    which[places] = np.arange(len(places))
    there = np.flatnonzero(of_place >= 0)
    shown = np.zeros(population.graph.n, np.int64)
    shown[of_place[there]] = there
    return np.where(of_place >= 0, which[of_place], 0), shown[places]


def _other_directions(graph: Graph) -> Places:
    """Return the place of the entry (v, u) for each entry (u, v)."""
    host = graph.on_host
    _, _, back = transposed(host.n, host.indptr, host.indices, np.arange(host.nnz, dtype=np.float64))
    places: Places = back.astype(np.int64)
    return places


def _count_path_ends(graph: Graph) -> Values:
    """Count the ends of paths at each vertex of an undirected graph: with all of its component, both ways."""
    component = as_numpy(graph.components)
    ends: Values = 2.0 * (np.bincount(component)[component] - 1)
    return ends


def _places_of(population: Population, vertices: Places) -> Places:
    """Return the places of vertices in the swept graph, at least one place; others' scores are known exactly."""
    places = np.unique(vertices if population.inside is None else population.inside[vertices])
    return places[places >= 0] if (places >= 0).any() else np.zeros(1, np.int64)
