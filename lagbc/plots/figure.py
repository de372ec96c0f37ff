"""Files, names and classes of all figures; matplotlib is imported only when one is drawn."""

from __future__ import annotations

import io
import os
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from lagbc.errors import InvalidValueError, MissingDependencyError
from lagbc.files import require_writable, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lagbc.graph.graph import Graph

# The most vertices that are named, and the most characters of a name.
_NAMED, _LONGEST = 10, 24
# Offsets of a name from its place, in points of print: beside it, or farther off.
_NEAR = [(x, y) for x in (3, -3) for y in (3, -3)]
_OFFSETS = _NEAR + [
    (side * x, up * y)
    for x, y in ((10, 12), (3, 22), (24, 12), (14, 34), (40, 24))
    for side in (1, -1)
    for up in (1, -1)
]
_MARK = 5  # side of a named place, in points of print


def check_figure_path(path: str | os.PathLike[str] | None) -> None:
    """Raise the errors of `plot_scores` for a path, before scores are computed; there are none without a path.

    Raises
    ------
    ValueError
        If matplotlib does not write the suffix.
    MissingDependencyError
        If matplotlib is not installed.
    FileError
        If no file can be written at the path.
    """
    if path is None:
        return
    formats = figure_class()().canvas.get_supported_filetypes()
    suffix = PurePath(path).suffix
    if suffix.lower().removeprefix(".") not in formats:
        raise InvalidValueError(
            f"no figure is written with the suffix {suffix!r}; there are: {', '.join(sorted(formats))}"
        )
    require_writable(Path(path))


def save_figure(figure: Figure, path: str | os.PathLike[str] | None, dpi: int) -> Figure:
    """Write a figure in the format of the suffix, if there is a path, and return it."""
    if path is None:
        return figure
    drawn = io.BytesIO()  # matplotlib hides errors of a file behind its own
    figure.savefig(drawn, format=PurePath(path).suffix.lower().removeprefix("."), dpi=dpi)
    with write_whole(Path(path)) as file:
        file.write(drawn.getbuffer())
    return figure


def figure_class() -> type[Figure]:
    """Import matplotlib's Figure."""
    # Not pyplot: a Figure of its own has no global state, and needs no display.
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError(
            "figures need matplotlib: pip install matplotlib; or pip install 'lagbc[plot]', in a checkout '.[plot]'"
        ) from error
    return Figure


def names_for(labels: Any, graph: Graph) -> Any:
    """Return the names of vertices in a figure: labels, or else the names of the graph; None if labels are empty.

    Raises
    ------
    ValueError
        There are more or fewer labels than vertices.
    """
    if labels is None:
        return graph.names
    if 0 < len(labels) != graph.n:
        raise InvalidValueError(f"there are {len(labels)} labels; expected one a vertex, {graph.n}")
    return labels if len(labels) else None


def name_highest(figure: Figure, panels: Iterable[tuple[Axes, np.ndarray, np.ndarray]], labels: Any) -> None:
    """Name the ten vertices with the highest scores, not 0, in each panel of axes, scores and places."""
    figure.draw_without_rendering()  # lays out the axes
    for axes, scores, places in panels:
        highest = [v for v in np.argsort(-scores, kind="stable")[:_NAMED].tolist() if scores[v] > 0]
        _write_names(axes, [_shortened(str(labels[v])) for v in highest], places[highest])


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"


def _write_names(axes: Axes, names: list[str], places: np.ndarray) -> None:
    """Write names beside their places or, with a line, farther off; a name that would cover another is left out."""
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

    inside, half = axes.get_window_extent(), axes.figure.dpi * _MARK / 144
    taken = [Bbox.from_extents(x - half, y - half, x + half, y + half) for x, y in axes.transData.transform(places)]
    for number, name in enumerate(names):
        text = axes.annotate(
            name,
            places[number],
            (0, 0),
            textcoords="offset points",
            fontsize="x-small",
            color="0.2",
            parse_math=False,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.6, "pad": 0.5},
            arrowprops={"arrowstyle": "-", "color": "0.5", "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2},
        )
        text.set_in_layout(False)
        text.get_window_extent()  # finds its place
        others = taken[:number] + taken[number + 1 :]
        for x, y in _OFFSETS:
            text.set(position=(x, y), ha="left" if x > 0 else "right", va="bottom" if y > 0 else "top")
            box = Text.get_window_extent(text).padded(1)  # without the line
            if inside.contains(*box.min) and inside.contains(*box.max) and not any(map(box.overlaps, others)):
                assert text.arrow_patch is not None
                text.arrow_patch.set_visible((x, y) not in _NEAR)
                taken.append(box)
                break
        else:
            text.remove()
