"""The question that an estimate answers: a call, checked, and its answer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.arguments import Arguments
from lagbc.graph.graph import Graph
from lagbc.limits import Room
from lagbc.options import Settings
from lagbc.request import Request
from lagbc.scores.records import Centrality

Values = NDArray[np.float64]


class Wanted(NamedTuple):
    """The wanted quality of an estimate, and the limits of its run."""

    relative_error: float | None  # relative_error, error: the wanted error; one of them is None
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
    name: str  # of the sum that is estimated
    arguments: Arguments  # normalized is False where it means nothing
    settings: Settings
    room: Room
    request: Request
    wanted: Wanted
    vertices: NDArray[np.int64] | None  # whose scores are wanted; None is all
    rng: int | np.random.Generator | None
    begun: float

    @property
    def of_score(self) -> float:
        """The score of a fraction of 1."""
        n, undirected = self.graph.n, 1 if self.graph.directed else 2
        if self.name == "inverse":
            return float(n - 1)
        if self.name == "distance" or self.arguments.normalized:
            return 1.0
        pairs = (n - 1) * (n - 2) if self.name == "dependency" and not self.arguments.endpoints else n * (n - 1)
        return max(pairs, 1) / undirected


class Answer(NamedTuple):
    """The scores of a question, with their bounds, and the samples that they are from."""

    found: tuple[Values, Values, Values]
    reason: str
    roots: int = 0
    paths: int = 0
    exact: bool = False
