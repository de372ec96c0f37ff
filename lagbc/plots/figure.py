"""Files, names and classes of all figures; matplotlib is imported only when one is drawn."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidTypeError, InvalidValueError, needed, quantity
from lagbc.files import require_writable, write_whole
from lagbc.graph.given import is_sparse
from lagbc.graph.names import vertex_numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from lagbc.graph.graph import Graph

# The most vertices that are named, and the most characters of a name.
_NAMED, _LONGEST = 10, 24
# The number of highest vertices whose marks no name covers.
_CLEAR = 30
# Offsets of a name from its place where there is no room beside it, in points of print, nearer ones first.
_FARTHER = [
    (side * x, up * y)
    for x, y in ((10, 12), (3, 22), (24, 12), (14, 34), (40, 24), (30, 48), (60, 30), (50, 64), (90, 40))
    for side in (1, -1)
    for up in (1, -1)
]
# Most decades of axes that have labels at 1, 2 and 5.
_FEW_DECADES = 2.5


def check_figure_path(path: str | os.PathLike[str] | None) -> None:
    """Raise the errors of `plot_scores` for a path, if there is one, before scores are computed."""
    if path is None:
        return
    if not isinstance(path, str | os.PathLike):
        raise InvalidTypeError(f"path is a {type(path).__qualname__}; it is the file of the figure, a str or a path")
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
    """Import matplotlib, and return the class of figures."""
    # Not pyplot: a Figure of its own has no global state, and needs no display.
    with needed("figures need matplotlib", "matplotlib", "plot"):
        from lagbc.plots.shown import ShownFigure
    return ShownFigure


def panels_in(
    ax: Axes | Sequence[Axes] | NDArray[Any] | None,
    panels: int,
    size: tuple[float, float],
    *,
    columns: int | None = None,
    layout: Literal["constrained", "compressed"] = "constrained",
    **grid: Any,
) -> tuple[Figure, list[Axes]]:
    """Return axes, one a panel, and their figure: the caller's, or new ones in rows of `columns`, by default in one."""
    if ax is None:
        figure, columns = figure_class()(figsize=size, layout=layout), columns or panels
        every = figure.subplots(-(-panels // columns), columns, squeeze=False, **grid).ravel().tolist()
        for unused in every[panels:]:
            unused.remove()
        return figure, every[:panels]
    axes = np.asarray(ax, object).ravel().tolist()
    for one in axes:
        if not hasattr(one, "get_subplotspec"):
            raise InvalidTypeError(f"ax holds a {type(one).__qualname__}; it is axes of matplotlib, one a panel")
    if len(axes) != panels:
        given = quantity(len(axes), "axes", "axes")
        raise InvalidValueError(f"ax is {given}, but the figure has {quantity(panels, 'panel')}; pass axes for each")
    return axes[0].figure.canvas.figure, axes  # axes of a SubFigure are within it


def label_decades(*axes: Axis) -> None:
    """Label 1, 2 and 5 on logarithmic axes of few decades, where matplotlib writes 2 x 10^0, 3 x 10^0, ..."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter

    for axis in axes:
        low, high = axis.get_view_interval()
        if high <= low * 10**_FEW_DECADES:
            # Less than a factor of 5 may hold only one of these.
            axis.set_major_locator(MaxNLocator(4) if high < 5 * low else LogLocator(subs=(1, 2, 5)))
            axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())


def names_for(labels: Any, graph: Graph) -> Any:
    """Return the names of vertices in a figure: `labels`, else the names in the graph; None if `labels` are empty."""
    if labels is None:
        return graph.names
    if 0 < len(labels) != graph.n:
        raise InvalidValueError(f"there are {len(labels)} labels; expected one a vertex, {graph.n}")
    return labels if len(labels) else None


def are_of_edges(scores: Any) -> bool:
    """Whether scores are a sparse matrix, of SciPy or CuPy."""
    return is_sparse(scores) or type(scores).__module__.startswith("cupyx")


def scores_of_vertices(name: str, scores: Any, graph: Graph) -> NDArray[np.float64]:
    """Return a score for each vertex, given in their order, or by vertex in a dict or a series."""
    if are_of_edges(scores):
        raise InvalidTypeError(f"{name} is of edges, and vertices are drawn here; lagbc.plots.plot_map draws edges")
    columns = scores.items() if isinstance(scores, Mapping) or hasattr(scores, "columns") else ()
    if (column := next((key for key, one in columns if hasattr(one, "__len__")), None)) is not None:
        raise InvalidTypeError(
            f"{name} has columns: draw one, {name}[{column!r}], or all by lagbc.plots.plot_centralities"
        )
    if all(hasattr(scores, one) for one in ("scores", "lower", "upper")):
        raise InvalidTypeError(f"{name} is an estimate; pass its .scores, or draw it with its intervals by its .plot()")
    return vertex_numbers(name, scores, graph.n, graph.names)


def name_highest(figure: Figure, panels: Iterable[tuple[Axes, np.ndarray, np.ndarray, float]], labels: Any) -> None:
    """Name the ten vertices with the highest scores, not 0, in each panel: axes, scores, places, size of a mark."""
    figure.draw_without_rendering()  # lays out the axes
    for axes, scores, places, mark in panels:
        highest = [v for v in np.argsort(-scores, kind="stable")[:_CLEAR].tolist() if scores[v] > 0]
        called = (str(labels[v]) for v in highest[:_NAMED])
        names = [name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…" for name in called]
        _write_names(axes, names, places[highest], mark)


def _write_names(axes: Axes, names: list[str], places: np.ndarray, mark: float) -> None:
    """Write names beside the first places, or farther off with a line; leave out one that covers text, or a `mark`."""
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

    inside, half, beside = axes.get_window_extent(), axes.figure.dpi * mark / 144, mark / 2 + 1
    near = [(x, y) for y in (beside, -beside, 0) for x in (beside, -beside)]
    taken = [Bbox.from_extents(x - half, y - half, x + half, y + half) for x, y in axes.transData.transform(places)]
    for name, place in zip(names, places, strict=False):
        text = axes.annotate(
            name,
            place,
            (0, 0),
            textcoords="offset points",
            fontsize="x-small",
            color="0.2",
            parse_math=False,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.6, "pad": 0.5},
            arrowprops={"arrowstyle": "-", "color": "0.5", "linewidth": 0.5, "shrinkA": 0, "shrinkB": mark / 2},
        )
        text.set_in_layout(False)
        text.get_window_extent()  # finds its place
        for x, y in near + _FARTHER:
            va = "bottom" if y > 0 else "top" if y < 0 else "center"
            text.set(position=(x, y), ha="left" if x > 0 else "right", va=va)
            box = Text.get_window_extent(text).padded(1)  # without the line
            if inside.contains(*box.min) and inside.contains(*box.max) and not any(map(box.overlaps, taken)):
                assert text.arrow_patch is not None
                text.arrow_patch.set_visible((x, y) not in near)
                taken.append(box)
                break
        else:
            text.remove()
