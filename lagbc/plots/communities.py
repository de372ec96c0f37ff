"""The dendrogram of communities, and the modularity of its levels."""

from __future__ import annotations

import os
from bisect import bisect, insort
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from lagbc.plots.figure import check_figure_path, figure_class, given_axes, label_decades, save_figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lagbc.centrality.communities import Communities

# More vertices are not named: their names would lie on each other.
_NAMED = 80
# More lines are drawn as an image within the file: it would take long to show them one by one.
_MOST_LINES = 20_000


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
    path : path-like, optional
        File of the figure; its suffix gives the format (png, pdf, svg, ...).
    title : str, optional
        Title of the figure, for instance the name of the graph.
    ax : two matplotlib Axes, optional
        They are drawn in, and their figure is returned.

    Returns
    -------
    matplotlib.figure.Figure
        Left, modularity against the number of communities; right, the splits from the top down, each at the height of
        the number of communities after it. A dashed line is at the highest modularity. Up to 80 vertices are named; of
        more, lines of single ones are left out.

    Raises
    ------
    ValueError
        If matplotlib does not write the suffix of `path`.
    MissingDependencyError
        If matplotlib is not installed.
    """
    check_figure_path(path)
    if ax is None:
        figure = figure_class()(figsize=(11, 4.5), layout="constrained")
        levels, tree = figure.subplots(1, 2, width_ratios=(2, 3))
    else:
        figure, (levels, tree) = given_axes(ax, 2)
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
    """Draw each split as a bar from the middle of one half to that of the other, and the communities between splits."""
    from matplotlib.collections import LineCollection

    lines = list(_lines(communities, is_named))
    rasterized = len(lines) > _MOST_LINES
    axes.add_collection(LineCollection(lines, linewidths=0.7, rasterized=rasterized))
    axes.set_xlim(-0.5, len(communities.order) - 0.5)
    axes.set_ylim(float(communities.counts[0]), float(communities.counts[-1]) + 1)


def _lines(communities: Communities, is_named: bool) -> Iterator[list[tuple[float, float]]]:
    """Yield the lines of the dendrogram; those of single vertices go down to their names, if they have some."""
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
