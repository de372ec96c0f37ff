"""Straight lines between vertices, for straightness centrality."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lagbc.arguments import Arguments
from lagbc.errors import InvalidValueError, warn
from lagbc.graph.coordinates import as_coordinates
from lagbc.graph.graph import Graph
from lagbc.graph.names import edge_in_words
from lagbc.scores.finish import require_range

if TYPE_CHECKING:
    from lagbc.run.run import Result

# The straight line over the length of the straightest edge. In a UTM zone lines are up to 0.4 % longer than the great
# circles that osmnx measures, and up to 0.6 % shorter. Feet for metres are 0.3, degrees for metres 1e-5.
_MOST, _LEAST = 1.01, 0.5


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
    with np.errstate(over="ignore"):
        ratios = np.hypot(*(xy[:, graph.indices] - xy[:, graph.rows]))
        ratios /= 1.0 if graph.weights is None else graph.weights
    e = int(ratios.argmax())
    edge = f"the edge {edge_in_words(graph.names, int(graph.rows[e]), int(graph.indices[e]))}"
    has = "counts as 1, as hops do" if graph.weights is None else f"has the length {float(graph.weights[e])}"
    instead = "; weighted= takes lengths" if graph.weights is None else ""
    if ratios[e] > _MOST:
        raise InvalidValueError(
            f"{edge} {has}, and the straight line between its ends is {ratios[e]:.6g} times as long; lengths and "
            f"coordinates have the same unit, and no edge is shorter than the line{instead}"
        )
    if ratios[e] < _LEAST:
        warn(
            f"{edge} is the straightest, yet it {has}, and the line between its ends is {ratios[e]:.3g} of it; do "
            f"lengths and coordinates have the same unit?{instead}",
            UserWarning,
        )


def straightness(result: Result, arguments: Arguments) -> NDArray[np.float64]:
    """Divide the sum of straight lines over distances by the targets; 0 where a vertex reaches none."""
    targets = require_range(result.sums.targets, arguments)
    scores: NDArray[np.float64] = np.divide(
        result.sums.straight, targets, out=np.zeros(len(targets)), where=targets > 0
    )
    return scores
