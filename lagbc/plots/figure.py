"""What all figures share; matplotlib is imported only when one is drawn."""

from __future__ import annotations

import io
import os
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from lagbc.errors import InvalidValueError, MissingDependencyError
from lagbc.files import require_writable, written

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def check_figure_path(path: str | os.PathLike[str]) -> None:
    """Raise what `plot_scores` would raise for this path, before the scores are computed.

    Raises
    ------
    ValueError
        If the suffix is none that matplotlib writes.
    MissingDependencyError
        If matplotlib is not installed.
    FileError
        If no file can be written there.
    """
    formats = figure_class()().canvas.get_supported_filetypes()
    suffix = PurePath(path).suffix
    if suffix.lower().removeprefix(".") not in formats:
        raise InvalidValueError(
            f"no figure is written with the suffix {suffix!r}; there are: {', '.join(sorted(formats))}"
        )
    require_writable(Path(path))


def save_figure(figure: Figure, path: str | os.PathLike[str], dpi: int) -> None:
    """Write a figure in the format that the suffix names."""
    drawn = io.BytesIO()  # matplotlib hides errors of a file behind its own
    figure.savefig(drawn, format=PurePath(path).suffix.lower().removeprefix("."), dpi=dpi)
    with written(Path(path)) as file:
        file.write(drawn.getbuffer())


def figure_class() -> type[Figure]:
    """Import matplotlib's Figure."""
    """Import matplotlib's Figure."""
    # Not pyplot: a Figure of its own has no global state, and needs no display.
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError(
            "figures need matplotlib: pip install matplotlib; or pip install 'lagbc[plot]', in a checkout '.[plot]'"
        ) from error
    return Figure


def name_highest(axes: Axes, scores: np.ndarray, places: np.ndarray, labels: Any) -> None:
    """Write the labels of the ten vertices that score highest, and not 0, beside their places."""
    for v in np.argsort(-scores, kind="stable")[:10]:
        if scores[v] > 0:
            name = str(labels[v])
            shown = name if len(name) <= 24 else name[:23] + "…"
            axes.annotate(
                shown, places[v], (3, 3), textcoords="offset points", fontsize="x-small", color="0.2", parse_math=False
            )
