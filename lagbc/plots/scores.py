"""Figures of the distribution of scores, and of scores against degrees."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.graph.names import size_in_words
from lagbc.graph.validate import as_graph
from lagbc.plots.figure import (
    check_figure_path,
    figure_class,
    given_axes,
    label_decades,
    name_highest,
    names_for,
    save_figure,
    scores_of_vertices,
)
from lagbc.types import GraphLike

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

# More vertices are drawn as cells with counts: single points would hide each other.
_MOST_POINTS = 20_000
_AREA = 12  # of a point, in squares of points of print


def plot_scores(
    A: GraphLike,
    scores: ArrayLike | Mapping[Any, float],
    path: str | os.PathLike[str] | None = None,
    *,
    directed: bool | None = None,
    title: str | None = None,
    unit: str = "vertex pairs",
    name: str = "betweenness",
    labels: Sequence[Any] | NDArray[Any] | None = None,
    ax: Sequence[Axes] | NDArray[Any] | None = None,
    cmap: str | Colormap | None = None,
) -> Figure:
    """Draw the distribution of scores, and scores against degrees.

    Parameters
    ----------
    A : matrix or graph, as for `lagbc.bc`
        The graph of the scores. Self loops are left out.
    scores : array, shape (n,), or mapping of vertex to score
        A score a vertex, none negative, as `lagbc.bc` and others return them; or by vertex, as those of NetworkX, or a
        column of `lagbc.table`.
    path : path-like, optional
        File of the figure; its suffix gives the format (png, pdf, svg, ...).
    directed : bool, optional
        Whether the degree counts edges out and in (True) or neighbours (False). The default is the direction of a
        graph's own edges, and True for a matrix.
    title : str, optional
        Put before the counts of vertices and edges, for instance the name of the graph.
    unit : str
        The unit of the scores; "" for none.
    name : str
        The name of the centrality.
    labels : sequence, length n, optional
        Names of the vertices: the ten with the highest scores are named where there is room. By default the names of
        the graph; an empty sequence names none.
    ax : two matplotlib Axes, optional
        They are drawn in, and their figure is returned; it has no title unless `title` is given, and no note.
    cmap : str or matplotlib Colormap, optional
        Colours of the cells in which the vertices of a large graph are counted.

    Returns
    -------
    matplotlib.figure.Figure
        A notebook shows it as the value of a cell; ``.show()`` opens it in a window, ``.savefig(file)`` writes it.
        Left, the fraction of vertices that score at least b, against b; right, score against degree. Both axes of
        both panels are logarithmic; a note counts the vertices that score 0 and cannot be drawn.

    Raises
    ------
    TypeError, ValueError
        If there is not one score a vertex, or it is of edges, or if matplotlib does not write the suffix of `path`.
    MissingDependencyError
        If matplotlib is not installed.
    """
    graph = as_graph(A, directed=directed).on_host
    n, names = graph.n, names_for(labels, graph)
    scores = scores_of_vertices("scores", scores, graph)
    check_figure_path(path)
    directed = graph.directed
    degree = graph.out_degrees + graph.in_degrees if directed else graph.out_degrees
    if ax is None:
        figure = figure_class()(figsize=(11, 4.5), layout="constrained")
        zeros, counts = np.count_nonzero(scores == 0), size_in_words(n, graph.nnz, directed=directed)
        title = f"{title}: {counts}" if title else counts
        figure.supxlabel(f"{zeros:,} of {n:,} vertices score 0 and are not drawn", fontsize="small", color="0.35")
        distribution, against_degree = figure.subplots(1, 2)
    else:
        figure, (distribution, against_degree) = given_axes(ax, 2)
    if title:
        figure.suptitle(title)
    _draw_distribution(distribution, scores, name, unit)
    _draw_against_degree(against_degree, degree, scores, f"{name} ({unit})" if unit else name, directed, cmap)
    if names is not None:
        name_highest(figure, [(against_degree, scores, np.column_stack([degree, scores]), _AREA**0.5)], names)
    return save_figure(figure, path, 150)


def _draw_distribution(axes: Axes, scores: np.ndarray, name: str, unit: str) -> None:
    value, count = np.unique(scores, return_counts=True)
    at_least = np.cumsum(count[::-1])[::-1] / max(scores.size, 1)
    positive = value > 0
    mark = "o" if np.count_nonzero(positive) == 1 else ""
    xy, rasterized = (value[positive], at_least[positive]), scores.size > _MOST_POINTS
    axes.plot(*xy, drawstyle="steps-pre", marker=mark, rasterized=rasterized)
    if positive.any():
        axes.set(xscale="log", yscale="log")
        label_decades(axes.xaxis, axes.yaxis)
    axes.set_xlabel(f"{name} b ({unit})" if unit else f"{name} b")
    axes.set_ylabel(f"fraction of vertices with {name} >= b")
    axes.set_title("Distribution")


def _draw_against_degree(
    axes: Axes, degree: np.ndarray, scores: np.ndarray, label: str, directed: bool, cmap: str | Colormap | None
) -> None:
    drawn = scores > 0
    if np.count_nonzero(drawn) > _MOST_POINTS:
        logarithmic: dict[str, Any] = {"xscale": "log", "yscale": "log", "bins": "log"}
        cells = axes.hexbin(degree[drawn], scores[drawn], gridsize=60, mincnt=1, cmap=cmap, **logarithmic)
        axes.figure.colorbar(cells, ax=axes, label="vertices in a cell")
    else:
        axes.scatter(degree[drawn], scores[drawn], s=_AREA, alpha=0.5, linewidths=0)
    if drawn.any():
        axes.set(xscale="log", yscale="log")
        label_decades(axes.xaxis, axes.yaxis)
    axes.set_xlabel("degree (edges out and in)" if directed else "degree (neighbours)")
    axes.set_ylabel(label)
    axes.set_title("Score against degree")
