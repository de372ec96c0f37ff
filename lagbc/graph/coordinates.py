"""Coordinates of vertices for maps: read from the attributes of a graph, or given and checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError
from lagbc.graph import adapters
from lagbc.graph.given import refuse_masked
from lagbc.graph.names import by_vertex, in_words

if TYPE_CHECKING:
    from lagbc.graph.graph import Graph

# Attributes of a vertex that hold its coordinates, as in osmnx.
X, Y = "x", "y"
# The attribute of a graph that names its coordinate reference system, and the name for longitudes and latitudes.
CRS, DEGREES = "crs", "epsg:4326"


@dataclass(slots=True, eq=False)
class Coordinates:
    """Coordinates of the vertices of a graph."""

    xy: NDArray[np.float64]  # (n, 2)
    degrees: bool = False  # True: x and y are longitudes and latitudes. False: they have the same unit of length.


def coordinates_of(A: Any) -> Coordinates | None:
    """Return the coordinates that a NetworkX graph, an igraph graph or a `GraphFile` holds; None for all others."""
    if adapters.is_networkx(A):
        return coordinates_of_attributes([held for _, held in A.nodes(data=True)], A.graph)
    if adapters.is_igraph(A):
        return coordinates_of_attributes([v.attributes() for v in A.vs], {name: A[name] for name in A.attributes()})
    coordinates = getattr(A, "coordinates", None)
    return coordinates if isinstance(coordinates, Coordinates) else None


def coordinates_of_attributes(vertices: Sequence[Mapping[str, Any]], graph: Mapping[str, Any]) -> Coordinates | None:
    """Return x and y of each vertex, in degrees if the graph says so, NaN if missing; None if no vertex has both."""
    if not any(held.get(X) is not None and held.get(Y) is not None for held in vertices):
        return None
    xy = np.array([[_float_or_nan(held.get(axis)) for axis in (X, Y)] for held in vertices])
    return Coordinates(xy, degrees=str(graph.get(CRS, "")).lower() == DEGREES)


def _float_or_nan(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan


def as_coordinates(xy: Any, A: Any, graph: Graph, argument: str) -> Coordinates:
    """Check the coordinates `xy` of the vertices of `graph`; None takes the coordinates that its source `A` holds.

    The numbers of an array (n, 2), a mapping or a data frame by vertex count as lengths, not degrees. Errors name the
    `argument`, or the first vertex whose coordinates are not finite.
    """
    xy = coordinates_of(A) if xy is None else xy
    if xy is None:
        raise InvalidValueError(f"the graph does not say where its vertices are (attributes x and y); give {argument}")
    refuse_masked("coordinates", xy)
    found = xy if isinstance(xy, Coordinates) else Coordinates(_as_floats(_in_order(xy, graph)))
    n = graph.n
    if found.xy.shape != (n, 2):
        raise InvalidValueError(
            f"coordinates have the shape {found.xy.shape}; expected x and y of every vertex, ({n}, 2)"
        )
    wrong = np.flatnonzero(~np.isfinite(found.xy).all(axis=1))
    if len(wrong):
        v = int(wrong[0])
        x, y = found.xy[v].tolist()
        raise InvalidValueError(
            f"{len(wrong)} of the {n} vertices have no finite coordinates, the first is {in_words(graph.names, v)}: "
            f"x = {x}, y = {y}"
        )
    return found


def _in_order(xy: Any, graph: Graph) -> Any:
    """Put a mapping or a data frame by vertex in the order of the vertices, NaN for a vertex left out.

    An array is in order, and so is a data frame whose index is 0, 1, ..., unless these name the vertices. A data frame
    has two columns, x and y in this order unless they are titled so; others beside x and y only if its index is not
    0, 1, .... ValueError for other columns, and for a vertex with two rows.
    """
    if hasattr(xy, "index") and hasattr(xy, "columns"):
        index, titles, has_both = xy.index.tolist(), list(xy.columns), {X, Y} <= {*xy.columns}
        is_numbered = index == list(range(graph.n))
        if len(titles) != 2 and (is_numbered or not has_both):  # another column may name the vertices
            raise InvalidValueError(
                f"coordinates have the columns {', '.join(map(str, titles)) or 'none'}; if one of them names the "
                "vertices, make it the index by frame.set_index(...); else pass x and y alone, frame[['x', 'y']]"
            )
        rows = (xy[[X, Y]] if has_both else xy).to_numpy()
        if is_numbered and (graph.names is None or {*graph.names} != {*index}):
            return rows
        if len(set(index)) < len(index):
            twice = next(vertex for place, vertex in enumerate(index) if vertex in index[:place])
            raise InvalidValueError(f"coordinates has several rows for {twice!r}")
        xy = dict(zip(index, rows, strict=True))
    return by_vertex("coordinates", xy, graph.n, graph.names, (np.nan, np.nan)) if isinstance(xy, Mapping) else xy


def _as_floats(xy: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(xy, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidValueError(
            "coordinates are no array of numbers; expected x and y of every vertex, (n, 2), or a mapping by vertex"
        ) from None
