"""Networks drawn once for each centrality, with their vertices in the same places."""

from __future__ import annotations

import os
import random
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from lagbc.errors import InvalidTypeError, InvalidValueError, MissingDependencyError
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.plots.figure import (
    check_figure_path,
    name_highest,
    names_for,
    panels_in,
    save_figure,
    scores_of_vertices,
)
from lagbc.types import GraphLike

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure


# Vertices up to which distances are those in hops, which fold no mesh; more of them take more than a second or two.
_SMALL = 500


def plot_centralities(
    A: GraphLike,
    scores: Mapping[str, ArrayLike | Mapping[Any, float]] | pandas.DataFrame,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    labels: Sequence[Any] | NDArray[Any] | None = None,
    ax: Axes | Sequence[Axes] | NDArray[Any] | None = None,
    cmap: str | Colormap = "viridis",
) -> Figure:
    """Draw a network once for each centrality, vertices larger and brighter the higher they rank.

    Parameters
    ----------
    A : matrix or graph, as for `lagbc.bc`
        The graph, edges taken in both directions. Self loops are left out.
    scores : mapping or data frame, of name to array, shape (n,), or to mapping of vertex to score
        As `lagbc.centralities` returns them; a panel each.
    path : path-like, optional
        File of the figure; its suffix gives the format (png, pdf, svg, ...).
    title : str, optional
    labels : sequence, length n, optional
        Names of the vertices, by default of the graph.
    ax : matplotlib Axes, or one for each centrality, optional
        Drawn in; their figure is returned.
    cmap : str or matplotlib Colormap
        Colours, from the lowest to the highest rank.

    Returns
    -------
    matplotlib.figure.Figure
        Vertices have the same places in all panels, by igraph: those of Kamada and Kawai (1989) or, of more than 500
        vertices, of Fruchterman and Reingold (1991). Size and colour are the rank, ties by their mean, so that
        panels of different units can be compared. The ten highest vertices are named where there is room; without
        names, the three highest have their numbers.

    Raises
    ------
    TypeError, ValueError
        If there are no scores, or not one a vertex, or if matplotlib does not write the suffix of `path`.
    MissingDependencyError
        If matplotlib or igraph is not installed.
    """
    graph = as_graph(A, directed=False)
    n, names = graph.n, names_for(labels, graph)
    if not hasattr(scores, "items"):
        raise InvalidTypeError(f"scores is a {type(scores).__qualname__}; give the scores a name, {{'bc': scores}}")
    if by_vertex := [name for name, values in scores.items() if isinstance(values, Real)]:
        raise InvalidTypeError(
            f"scores holds a number for {by_vertex[0]!r}; give scores by vertex a name, too, {{'bc': scores}}"
        )
    columns = {name: scores_of_vertices(name, values, graph) for name, values in scores.items()}
    if not columns:
        raise InvalidValueError("scores is empty; it holds the scores of one centrality or more, by name")
    check_figure_path(path)
    graph = graph.on_host
    places = places_of(graph)
    ends = np.stack([places[graph.rows], places[graph.indices]], axis=1)[graph.rows < graph.indices]
    figure, all_axes = panels_in(ax, len(columns), (3.6 * len(columns), 4))
    if title:
        figure.suptitle(title)
    for axes, (name, values) in zip(all_axes, columns.items(), strict=True):
        _draw_network(axes, places, ends, values, cmap)
        axes.set_title(name)
    mark = _largest_area(n) ** 0.5
    drawn = [(axes, values, places, mark) for axes, values in zip(all_axes, columns.values(), strict=True)]
    if names is not None:
        name_highest(figure, drawn, names)
    else:
        _number_highest(drawn)
    return save_figure(figure, path, 100)


def _draw_network(axes: Axes, places: np.ndarray, ends: np.ndarray, values: np.ndarray, cmap: str | Colormap) -> None:
    from matplotlib.collections import LineCollection

    _, level, count = np.unique(values, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count + 1) / 2)[level] / max(len(values) - 1, 1)
    axes.add_collection(LineCollection(list(ends), colors="0.8", linewidths=0.5, zorder=1))
    areas = (1 / 15 + 14 / 15 * rank**3) * _largest_area(len(values))
    x, y = places.T
    axes.scatter(x, y, s=areas, c=rank, cmap=cmap, edgecolors="0.3", linewidths=0.3, zorder=2)
    axes.set_aspect("equal")
    axes.set_axis_off()


def _largest_area(n: int) -> float:
    """Return the area of the mark of the highest rank: marks of many vertices are smaller, not to hide each other."""
    return 150 * min(1.0, 500 / max(n, 1))


def _number_highest(drawn: Iterable[tuple[Axes, np.ndarray, np.ndarray, float]]) -> None:
    for axes, values, places, _ in drawn:
        for v in np.argsort(-values, kind="stable")[:3]:
            axes.annotate(
                str(v), places[v], ha="center", va="center", fontsize="x-small", fontweight="bold", color="red"
            )


def places_of(graph: Graph) -> NDArray[np.float64]:
    """Place the vertices of an undirected graph; equal graphs have equal places.

    Raises
    ------
    MissingDependencyError
        igraph is not installed.
    """
    try:
        import igraph
    except ImportError as error:
        raise MissingDependencyError(
            "places of vertices need igraph: pip install igraph; or pip install 'lagbc[plot]', in a checkout '.[plot]'"
        ) from error
    if not graph.n:
        return np.empty((0, 2))
    edges = sparse.triu(graph.pattern, 1)
    network, before = igraph.Graph(graph.n, np.column_stack(edges.coords)), random.getstate()
    random.seed(0)  # igraph draws from Python's generator
    try:
        layout = network.layout_kamada_kawai() if graph.n <= _SMALL else network.layout_fruchterman_reingold()
    finally:
        random.setstate(before)
    return np.array(layout.coords)
