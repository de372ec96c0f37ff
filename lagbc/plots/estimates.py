"""Estimated scores, in the order of their ranks, with their intervals."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lagbc.plots.figure import check_figure_path, figure_class, given_axes, save_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# More points are drawn as an image within the file: it would take long to show them one by one.
_MOST_POINTS = 20_000


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
    """Draw an estimate, and write it to a path, if there is one."""
    check_figure_path(path)
    if ax is None:
        figure = figure_class()(figsize=(8, 4.5), layout="constrained")
        axes = figure.subplots()
    else:
        figure, (axes,) = given_axes(ax, 1)
    order, ranks = np.argsort(-scores, kind="stable"), np.arange(1, len(scores) + 1)
    many = len(scores) > _MOST_POINTS
    axes.fill_between(ranks, lower[order], upper[order], alpha=0.3, linewidth=0, label="interval", rasterized=many)
    axes.plot(ranks, scores[order], ".", markersize=3, label="estimate", rasterized=many)
    axes.set(xlabel="rank", ylabel=name, xscale="log", title=reason)
    axes.title.set_fontsize("small")
    axes.legend()
    return save_figure(figure, path, 150)
