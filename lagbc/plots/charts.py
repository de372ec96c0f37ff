"""Charts: scores and their distribution, estimates by rank, levels of communities, and times of methods."""

from __future__ import annotations

import os
import textwrap
from bisect import bisect, insort
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.errors import InvalidTypeError
from lagbc.graph.names import size_in_words
from lagbc.graph.validate import as_graph
from lagbc.plots.figure import (
    check_figure_path,
    label_decades,
    name_highest,
    names_for,
    panels_in,
    save_figure,
    scores_of_vertices,
)
from lagbc.types import GraphLike

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure

    from lagbc.centrality.communities import Communities
    from lagbc.comparison.compare import Comparison, Measurement


# More points or lines are drawn as an image within the file, which is faster to show, or as cells with counts.
_MOST_SHAPES = 20_000
_AREA = 12  # of a point, in squares of points of print
# More vertices are not named: their names would lie on each other.
_NAMED = 80


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
        A score a vertex, none negative, as `lagbc.bc` and others return them; or scores by vertex, as of NetworkX, or a
        column of `lagbc.table`.
    path : path-like, optional
        File of the figure; its suffix gives the format (png, pdf, svg, ...).
    directed : bool, optional
        Whether the degree counts edges out and in (True) or neighbours (False). The default is the direction of a
        graph's own edges, and True for a matrix.
    title : str, optional
        Put before the counts of vertices and edges, such as the name of the graph.
    unit : str
        The unit of the scores; "" for none.
    name : str
        The name of the centrality.
    labels : sequence, length n, optional
        Names of the vertices: the ten with the highest scores are named where there is room. By default the names of
        the graph; an empty sequence names none.
    ax : two matplotlib Axes, optional
        Drawn in; their figure is returned, with no title but `title`, and no note.
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
    figure, (distribution, against_degree) = panels_in(ax, 2, (11, 4.5))
    if ax is None:
        zeros, counts = np.count_nonzero(scores == 0), size_in_words(n, graph.nnz, directed=directed)
        title = f"{title}: {counts}" if title else counts
        figure.supxlabel(f"{zeros:,} of {n:,} vertices score 0 and are not drawn", fontsize="small", color="0.35")
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
    xy, rasterized = (value[positive], at_least[positive]), scores.size > _MOST_SHAPES
    axes.plot(*xy, drawstyle="steps-pre", marker=mark, rasterized=rasterized)
    if positive.any():
        axes.set(xscale="log", yscale="log")
        label_decades(axes.xaxis, axes.yaxis)
    label = f"{name} b ({unit})" if unit else f"{name} b"
    axes.set(title="Distribution", xlabel=label, ylabel=f"fraction of vertices with {name} >= b")


def _draw_against_degree(
    axes: Axes, degree: np.ndarray, scores: np.ndarray, label: str, directed: bool, cmap: str | Colormap | None
) -> None:
    drawn = scores > 0
    if np.count_nonzero(drawn) > _MOST_SHAPES:
        logarithmic: dict[str, Any] = {"xscale": "log", "yscale": "log", "bins": "log"}
        cells = axes.hexbin(degree[drawn], scores[drawn], gridsize=60, mincnt=1, cmap=cmap, **logarithmic)
        axes.figure.colorbar(cells, ax=axes, label="vertices in a cell")
    else:
        axes.scatter(degree[drawn], scores[drawn], s=_AREA, alpha=0.5, linewidths=0)
    if drawn.any():
        axes.set(xscale="log", yscale="log")
        label_decades(axes.xaxis, axes.yaxis)
    of_degree = "degree (edges out and in)" if directed else "degree (neighbours)"
    axes.set(title="Score against degree", xlabel=of_degree, ylabel=label)


def draw_estimate(
    scores: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    name: str,
    reason: str,
    path: str | os.PathLike[str] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw the scores of an estimate in the order of their ranks, with intervals."""
    check_figure_path(path)
    figure, (axes,) = panels_in(ax, 1, (8, 4.5))
    order, ranks = np.argsort(-scores, kind="stable"), np.arange(1, len(scores) + 1)
    many = len(scores) > _MOST_SHAPES
    axes.fill_between(ranks, lower[order], upper[order], alpha=0.3, linewidth=0, label="interval", rasterized=many)
    axes.plot(ranks, scores[order], ".", markersize=3, label="estimate", rasterized=many)
    axes.set(xlabel="rank", ylabel=name, xscale="log", title=reason)
    axes.title.set_fontsize("small")
    axes.legend()
    return save_figure(figure, path, 150)


def plot_communities(
    communities: Communities,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    ax: Sequence[Axes] | NDArray[Any] | None = None,
) -> Figure:
    """Draw the modularity of each number of communities, and the dendrogram.

    Parameters
    ----------
    communities : Communities
        As `lagbc.girvan_newman` returns it.
    path : as for `lagbc.plots.plot_scores`
    title : str, optional
        Title of the figure, for instance the name of the graph.
    ax : two matplotlib Axes, optional
        Drawn in; their figure is returned.

    Returns
    -------
    matplotlib.figure.Figure
        Left, modularity against the number of communities; right, the splits from the top down, each at the height of
        the number of communities after it. A dashed line is at the highest modularity. Up to 80 vertices are named; of
        more, lines of single ones are left out.

    Raises
    ------
    The errors of `lagbc.plots.plot_scores` about `path` and matplotlib.
    """
    from lagbc.centrality.communities import Communities

    if not isinstance(communities, Communities):
        raise InvalidTypeError(
            f"communities is a {type(communities).__name__}; plot_communities draws what lagbc.girvan_newman returns"
        )
    check_figure_path(path)
    figure, (levels, tree) = panels_in(ax, 2, (11, 4.5), width_ratios=(2, 3))
    if title:
        figure.suptitle(title)
    counts, order = communities.counts, communities.order
    levels.plot(counts, communities.modularity, marker="." if len(counts) < 50 else "")
    levels.set(xscale="log", xlabel="communities", ylabel="modularity", title="Modularity")
    is_named = len(order) <= _NAMED
    _draw_tree(tree, communities, is_named)
    tree.set(yscale="log", ylabel="communities", xlabel="vertices", title="Splits")
    names = order if communities.names is None else [communities.names[v] for v in order.tolist()]
    tree.set_xticks(range(len(order)) if is_named else [], names if is_named else [], rotation=90, fontsize="x-small")
    if len(counts) > 1:
        label = f"{communities.best} communities: {communities.modularity.max():.3f}"
        levels.axvline(communities.best, color="0.5", linestyle="--", label=label)
        levels.legend()
        tree.axhline(communities.best, color="0.5", linestyle="--")
        label_decades(levels.xaxis, tree.yaxis)
    tree.invert_yaxis()
    return save_figure(figure, path, 150)


def _draw_tree(axes: Axes, communities: Communities, is_named: bool) -> None:
    """Draw a split as a bar between the middles of its halves, and a community as a line from split to split."""
    from matplotlib.collections import LineCollection

    lines = list(_lines(communities, is_named))
    rasterized = len(lines) > _MOST_SHAPES
    axes.add_collection(LineCollection(lines, linewidths=0.7, rasterized=rasterized))
    axes.set_xlim(-0.5, len(communities.order) - 0.5)
    axes.set_ylim(float(communities.counts[0]), float(communities.counts[-1]) + 1)


def _lines(communities: Communities, is_named: bool) -> Iterator[list[tuple[float, float]]]:
    """Yield the lines of the dendrogram; the line of a single vertex goes down to its name, if it has one."""
    ends = [*communities.starts.tolist(), len(communities.order)]
    since = dict.fromkeys(ends[:-1], float(communities.counts[0]))
    for cut, count in zip(communities.cuts.tolist(), communities.counts.tolist()[1:], strict=True):
        at = bisect(ends, cut)
        start, end = ends[at - 1], ends[at]
        middle, left, right = ((first + last - 1) / 2 for first, last in ((start, end), (start, cut), (cut, end)))
        yield [(middle, since[start]), (middle, count)]
        yield [(left, count), (right, count)]
        since[start] = since[cut] = count
        insort(ends, cut)
    bottom = float(communities.counts[-1]) + 1
    for start, end in pairwise(ends):
        if is_named or end - start > 1:
            yield [((start + end - 1) / 2, since[start]), ((start + end - 1) / 2, bottom)]


def plot_comparison(
    comparison: Comparison,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    ax: Sequence[Axes] | NDArray[Any] | None = None,
) -> Figure:
    """Draw the times and the memory of the methods of a comparison.

    Parameters
    ----------
    comparison : Comparison
        As `lagbc.compare` returns it.
    path, ax : as for `lagbc.plots.plot_scores`
    title : str, optional
        Put before the headline of the comparison, for instance the name of the graph.

    Returns
    -------
    matplotlib.figure.Figure
        Left, milliseconds per root, with the GTEPS beside each bar; right, peak memory. The fastest method is at the
        top. Both axes are logarithmic; a colour is a formulation, hatched bars are of the GPU. A note names methods
        that were not measured, with the reasons, and methods with wrong scores.

    Raises
    ------
    The errors of `lagbc.plots.plot_scores` about `path` and matplotlib.
    """
    check_figure_path(path)
    records = sorted(comparison.measured, key=lambda record: -(record.seconds_per_root or 0))
    notes = "\n".join(textwrap.fill(note, 150) for note in (*comparison.remarks(), *comparison.reasons()))
    height = 1.8 + 0.4 * len(records) + 0.17 * (notes.count("\n") + 1)
    figure, (times, memories) = panels_in(ax, 2, (11, height), sharey=True)
    if ax is None:
        figure.supxlabel(notes, fontsize="small", color="0.35", ha="left", x=0.02)
        title = f"{title}: {comparison.headline}" if title else comparison.headline
    if title:
        figure.suptitle(title, fontsize="medium")
    milliseconds = [(record.seconds_per_root or 0) * 1e3 for record in records]
    _draw_bars(times, records, milliseconds, [f"{record.gteps:.3g} GTEPS" for record in records])
    times.set(title="Time", xlabel="milliseconds per root")
    times.set_yticks(range(len(records)), [record.title for record in records])
    mebibytes = [(record.peak_bytes or 0) / 2**20 for record in records]
    per_state = [record.bytes_per_state for record in records]
    texts = ["not measured" if size is None else f"{size:.3g} bytes a state" for size in per_state]
    _draw_bars(memories, records, mebibytes, texts)
    memories.set(title="Memory", xlabel="MiB at the peak")
    if records and ax is None:
        figure.legend(*times.get_legend_handles_labels(), loc="outside right upper", title="formulation")
    elif records:
        times.legend(title="formulation", fontsize="small")
    return save_figure(figure, path, 150)


def _draw_bars(axes: Axes, records: list[Measurement], values: list[float], texts: list[str]) -> None:
    """Draw a bar for each record, from the bottom up, in the colour of its formulation; bars of the GPU are hatched."""
    formulations = sorted({record.formulation for record in records})
    for formulation, device in sorted({(record.formulation, record.device) for record in records}):
        group = [i for i, record in enumerate(records) if (record.formulation, record.device) == (formulation, device)]
        style: dict[str, Any] = {"color": f"C{formulations.index(formulation)}", "hatch": "//" * (device == "cuda")}
        axes.barh(group, [values[i] for i in group], alpha=0.8, label=f"{formulation}, {device}", **style)
    positive = [value for value in values if value > 0]
    if positive:
        # The axis begins a factor of 3 below the shortest bar; the factor of 8 leaves room for texts.
        axes.set(xscale="log", xlim=(min(positive) / 3, max(positive) * 8))
        label_decades(axes.xaxis)
    start = axes.get_xlim()[0]
    for i, (value, text) in enumerate(zip(values, texts, strict=True)):
        axes.annotate(text, (max(value, start), i), (4, 0), textcoords="offset points", va="center", fontsize="small")
