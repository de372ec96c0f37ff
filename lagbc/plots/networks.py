"""Networks drawn once for each centrality, with vertices of few hops between them near each other."""

from __future__ import annotations

import os
import random
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from lagbc.errors import InvalidTypeError, InvalidValueError, needed
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.plots.figure import check_figure_path, name_highest, names_for, panels_in, save_figure, scores_of_vertices
from lagbc.types import GraphLike

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure


Places = NDArray[np.float64]
# Landmarks, whose hops to all vertices give the start: forces from a random start fold large grids and long paths.
LANDMARKS = 40
# Steps of the forces, and the longest move of a vertex in the first, in lengths of edges.
STEPS, FIRST_STEP = 50, 1.0
# Space between the boxes of components; a component of m vertices is sqrt(m) wide or high.
GAP = 1.0


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
    path : as for `lagbc.plots.plot_scores`
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
        Vertices have the same places in all panels, by Fruchterman and Reingold (1991) in igraph, from a start by hops
        from landmarks; components are side by side. Size and colour are the rank, ties by their mean, so that panels of
        different units can be compared. The ten highest vertices are named where there is room; without names, the
        three highest have their numbers.

    Raises
    ------
    TypeError, ValueError
        If there are no scores, or not one a vertex.
    MissingDependencyError
        If igraph is not installed.
    The errors of `lagbc.plots.plot_scores` about `path` and matplotlib.

    Notes
    -----
    O(nnz + n): 16,000 vertices are placed in a few seconds.
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
        if names is None:
            for v in np.argsort(-values, kind="stable")[:3]:
                style: dict[str, Any] = {"fontsize": "x-small", "fontweight": "bold", "color": "red"}
                axes.annotate(str(v), places[v], ha="center", va="center", **style)
    if names is not None:
        mark = _largest_area(n) ** 0.5
        drawn = ((axes, values, places, mark) for axes, values in zip(all_axes, columns.values(), strict=True))
        name_highest(figure, drawn, names)
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


def places_of(graph: Graph) -> Places:
    """Place the vertices of an undirected graph, components side by side; equal graphs have equal places."""
    order = np.argsort(graph.components, kind="stable")
    pattern = graph.pattern[order][:, order]
    ends = np.cumsum(np.bincount(graph.components)).tolist()
    pieces = [slice(start, end) for start, end in pairwise([0, *ends])]
    boxes = [_move_into_box(_lay_out(pattern[piece, piece])) for piece in pieces]
    places = np.empty((graph.n, 2))
    for piece, corner, box in zip(pieces, _corners_on_shelves(boxes), boxes, strict=True):
        places[order[piece]] = corner + box
    return places


def _move_into_box(places: Places) -> Places:
    """Move m places to the origin, and scale them to a box sqrt(m) wide or high."""
    moved: Places = places - places.min(axis=0)
    moved *= (len(places) ** 0.5 - 1) / max(moved.max(), 1e-9)
    return moved


def _corners_on_shelves(boxes: list[Places]) -> Places:
    """Return the lower left corner of each box: in rows, largest first, the whole about as wide as high."""
    sizes = np.array([box.max(axis=0) + GAP for box in boxes]).reshape(-1, 2)
    corners = np.zeros_like(sizes)
    width = max(sizes[:, 0].max(initial=0), 1.2 * np.sqrt(sizes.prod(axis=1).sum()))
    x = y = height = 0.0
    for i in np.lexsort((-sizes[:, 0], -sizes[:, 1])):
        if x > 0 and x + sizes[i, 0] > width:
            x, y, height = 0.0, y + height, 0.0
        corners[i] = x, -y - sizes[i, 1]
        x, height = x + sizes[i, 0], max(height, sizes[i, 1])
    return corners


def _lay_out(pattern: sparse.csr_array) -> Places:
    """Place the vertices of a connected graph."""
    with needed("places of vertices need igraph", "igraph", "plot"):
        import igraph
    n, entries = pattern.shape[0], sparse.triu(pattern, 1)
    # Noise separates vertices with the same hops from all landmarks.
    start = _principal_plane(_hops_from_landmarks(pattern)) + np.random.default_rng(0).normal(scale=0.1, size=(n, 2))
    network, before = igraph.Graph(n, np.column_stack(entries.coords)), random.getstate()
    random.seed(0)  # igraph draws from Python's generator
    try:
        layout = network.layout_fruchterman_reingold(seed=start.tolist(), niter=STEPS, start_temp=FIRST_STEP)
    finally:
        random.setstate(before)
    return np.array(layout.coords)


def _hops_from_landmarks(pattern: sparse.csr_array) -> NDArray[np.float64]:
    """Return the hops from landmarks, a row each: first a hub, then always the vertex farthest from all landmarks."""
    landmark = int(np.argmax(np.diff(pattern.indptr)))
    hops: list[NDArray[np.float64]] = []
    while len(hops) < LANDMARKS:
        hops.append(dijkstra(pattern, unweighted=True, indices=landmark))
        nearest = np.min(hops, axis=0)
        if not nearest.any():
            break
        landmark = int(np.argmax(nearest))
    return np.array(hops)


def _principal_plane(hops: NDArray[np.float64]) -> Places:
    """Place vertices by classical scaling: the two main axes of their centred squared hops from the landmarks."""
    squares = hops.T**2
    centred = -(squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()) / 2
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :2]
    plane = centred @ axes
    scale = np.sqrt(np.mean(hops**2) / max(np.mean((plane**2).sum(axis=1)), 1e-9) / 2)
    return np.pad(scale * plane, ((0, 0), (0, 2 - plane.shape[1])))
