"""Maps of scores: vertices and edges at their coordinates, side by side with one scale of colours."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from lagbc.errors import InvalidValueError
from lagbc.graph import adapters
from lagbc.graph.coordinates import Coordinates, as_coordinates
from lagbc.graph.given import refuse_masked
from lagbc.graph.graph import Graph
from lagbc.graph.names import edge_in_words, in_words
from lagbc.graph.validate import as_graph
from lagbc.plots.figure import (
    are_of_edges,
    check_figure_path,
    name_highest,
    names_for,
    panels_in,
    save_figure,
    scores_of_vertices,
)
from lagbc.scores.records import titled
from lagbc.types import GraphLike

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Colormap
    from matplotlib.figure import Figure


# More lines or points are a picture within an svg or pdf: as shapes they would take megabytes.
_MOST_SHAPES = 5000
# If a tenth of the positive scores is below _LOW of the highest, colours are logarithmic, down to _LEAST of it.
_LOW, _LEAST = 1 / 30, 1e-3
_MOST_COLUMNS = 4
# The side, in inches, of a square with the area of a panel.
_SIDE = 4.5
_GREY = "0.82"
# The attribute of an edge that holds its line, a LineString of shapely, as in osmnx.
GEOMETRY = "geometry"
# A line of k points, shape (k, 2).
Line = NDArray[np.float64]


class _Panel(NamedTuple):
    """Scores of vertices; or of edges, with their lines."""

    scores: NDArray[np.float64]
    lines: list[Line] | None


def plot_map(
    graph: GraphLike,
    scores: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    xy: NDArray[Any] | Mapping[Any, Any] | Coordinates | None = None,
    degrees: bool | None = None,
    title: str | None = None,
    titles: Sequence[str] | None = None,
    cutoff: ArrayLike | None = None,
    decay: ArrayLike | None = None,
    unit: str = "score",
    labels: Sequence[Any] | NDArray[Any] | None = None,
    ax: Axes | Sequence[Axes] | NDArray[Any] | None = None,
    cmap: str | Colormap = "plasma_r",
) -> Figure:
    """Draw a map of the vertices or edges of a graph, coloured by score, for one column of scores or several.

    Parameters
    ----------
    graph : matrix or graph, as for `lagbc.bc`
        The graph of the scores.
    scores : array, shape (n,) or (n, columns); mapping; data frame; sparse matrix, shape (n, n); or list of matrices
        Scores of vertices, as `lagbc.bc` or `lagbc.table` returns them, or by vertex; or of edges, as `lagbc.edge_bc`
        returns them. Each column or matrix is a panel.
    path, title : as for `lagbc.plots.plot_scores`
    xy : array, shape (n, 2), or a mapping or data frame by vertex, optional
        Coordinates of the vertices. By default the graph's own: attributes x and y of the vertices of a NetworkX graph
        (such as a street network of osmnx) or an igraph graph, or ``.coordinates`` of a file from `lagbc.read_graph`.
    degrees : bool, optional
        Whether `xy` are longitudes and latitudes. By default as the graph's own coordinates (of osmnx, by its ``crs``),
        else False.
    titles : sequence of str, optional
        One a panel, such as "400 m".
    cutoff, decay : as for the call that made the scores, optional
        The titles of panels, without `titles`.
    unit : str
        The unit of the scores, beside the scale of colours.
    labels : as for `lagbc.plots.plot_scores`
        Higher scores are named first.
    ax : matplotlib Axes, or one for each panel, optional
        Drawn in; their figure is returned, with no title but `title`, and no note.
    cmap : str or matplotlib Colormap
        Colours, from the lowest to the highest score.

    Returns
    -------
    matplotlib.figure.Figure
        The scale of colours is the same in all panels. It is logarithmic, down to 1/1000 of the highest score and with
        0 in grey, where more than a tenth of the positive scores is below 1/30 of the highest. Edges are wider
        the higher they score; under scores of vertices they are grey. With the graph's own coordinates they have the
        lines in the edges' attribute "geometry", of shapely, as in osmnx, of parallel edges the shortest; else they are
        straight. High scores lie on top. A unit of length is as long in both directions, of degrees in the middle of
        the map. More than 5000 lines or points are a picture of 150 dots an inch also in svg and pdf, which stay small.

    Raises
    ------
    ValueError
        The graph has no coordinates, or `xy` is no finite pair a vertex; or scores have another shape, or hold NaN; or
        there are more or fewer titles than panels.
    The errors of `lagbc.plots.plot_scores` about `path` and matplotlib.

    Notes
    -----
    O((nnz + n) log(nnz + n)) a panel: 100,000 edges take about a second.
    """
    check_figure_path(path)
    read = as_graph(graph)
    taken, names = read.on_host, names_for(labels, read)
    where = as_coordinates(xy, graph, taken, "xy=")
    degrees = where.degrees if degrees is None else degrees
    ratio = _degree_ratio(where.xy[:, 1]) if degrees and taken.n else 1.0
    geometry = geometry_of(graph, where.xy, ratio) if xy is None else {}
    panels = _panels(scores, taken, where.xy, geometry)
    if titles is None and not (cutoff is None and decay is None):
        titles = list(titled("scores", panels, cutoff, decay))
    if titles is not None and len(titles) != len(panels):
        raise InvalidValueError(f"there are {len(titles)} titles; expected one a column of scores, {len(panels)}")
    of_edges = panels[0].lines is not None
    edges = sparse.triu(taken.symmetric.on_host.pattern).tocoo()
    streets = [] if of_edges else lines_of(edges, where.xy, geometry)
    colours, extend = _colour_scale(np.concatenate([panel.scores for panel in panels]), cmap)
    figure, all_axes = _make_panels(ax, len(panels), where.xy, ratio)
    if ax is None:
        counts = f"{taken.n:,} vertices, {taken.nnz if taken.directed else taken.nnz // 2:,} edges"
        title = f"{title}: {counts}" if title else counts
        if any(np.ma.getmaskarray(_mask_uncoloured(panel.scores, colours)).any() for panel in panels):
            note = f"{'edges' if of_edges else 'vertices'} that score 0 are grey"
            figure.supxlabel(note, fontsize="small", color="0.35")
    if title:
        figure.suptitle(title, fontsize="medium")
    for i, (axes, panel) in enumerate(zip(all_axes, panels, strict=True)):
        if panel.lines is None:
            _draw_points(axes, panel.scores, where.xy, streets, colours)
        else:
            _draw_lines(axes, panel.scores, panel.lines, colours)
        axes.set_aspect(ratio)
        axes.autoscale_view()
        axes.set_axis_off()
        if titles is not None:
            axes.set_title(titles[i], fontsize="medium")
    figure.colorbar(colours, ax=all_axes, label=unit, extend=extend, aspect=30, shrink=0.85, fraction=0.05, pad=0.02)
    if names is not None and not of_edges:
        mark = 2 * _diameter(taken.n)
        drawn = ((axes, panel.scores, where.xy, mark) for axes, panel in zip(all_axes, panels, strict=True))
        name_highest(figure, drawn, names)
    return save_figure(figure, path, 150)


def _panels(
    scores: Any, graph: Graph, xy: NDArray[np.float64], geometry: Mapping[tuple[int, int], Line]
) -> list[_Panel]:
    """Check scores, and make a panel of each column or matrix."""
    refuse_masked("scores", scores)
    given = [scores] if are_of_edges(scores) else scores
    if isinstance(given, list | tuple) and given and all(map(are_of_edges, given)):
        return [_panel_of_edges(matrix, graph, xy, geometry) for matrix in given]
    if hasattr(scores, "get") and not hasattr(scores, "items"):
        scores = scores.get()  # an array of CuPy
    if hasattr(scores, "columns"):
        columns = np.column_stack([scores_of_vertices(f"scores[{name!r}]", one, graph) for name, one in scores.items()])
    elif np.ndim(scores) < 2:
        columns = scores_of_vertices("scores", scores, graph)
    else:
        columns = np.asarray(scores, dtype=np.float64)
    if columns.ndim not in (1, 2) or columns.shape[0] != graph.n or columns.shape[1:] == (0,):
        raise InvalidValueError(
            f"scores have the shape {columns.shape}; expected one a vertex, ({graph.n},), or columns of them, "
            f"({graph.n}, columns)"
        )
    columns = columns if columns.ndim == 2 else columns[:, None]
    wrong = np.argwhere(np.isnan(columns) | (columns == np.inf))
    if len(wrong):
        v, column = wrong[0].tolist()
        raise InvalidValueError(
            f"the score of {in_words(graph.names, v)} is {columns[v, column]}; expected finite scores"
        )
    return [_Panel(column, None) for column in columns.T]


def _panel_of_edges(
    matrix: Any, graph: Graph, xy: NDArray[np.float64], geometry: Mapping[tuple[int, int], Line]
) -> _Panel:
    """Make a panel of scores of edges, an undirected edge once."""
    matrix = (matrix.get() if hasattr(matrix, "get") else matrix).tocoo()
    if matrix.shape != (graph.n, graph.n):
        raise InvalidValueError(f"scores of edges have the shape {matrix.shape}; expected ({graph.n}, {graph.n})")
    wrong = np.flatnonzero(~np.isfinite(matrix.data))
    if len(wrong):
        e = wrong[0]
        edge = edge_in_words(graph.names, int(matrix.row[e]), int(matrix.col[e]))
        raise InvalidValueError(f"the score of the edge {edge} is {matrix.data[e]}; expected finite scores")
    drawn = np.flatnonzero(matrix.row != matrix.col)
    if not graph.directed:
        pairs = np.sort(np.column_stack([matrix.row, matrix.col])[drawn].astype(np.int64), axis=1)
        drawn = drawn[np.unique(pairs @ [graph.n, 1], return_index=True)[1]]
    lines = lines_of(matrix, xy, geometry)
    return _Panel(matrix.data[drawn].astype(np.float64), [lines[e] for e in drawn.tolist()])


def _degree_ratio(latitudes: NDArray[np.float64]) -> float:
    """Return the length of a degree of latitude in degrees of longitude, in the middle of the map."""
    if np.abs(latitudes).max() > 90:
        v = int(np.abs(latitudes).argmax())
        raise InvalidValueError(f"degrees=True, but y of vertex {v} is {latitudes[v]}; latitudes are from -90 to 90")
    return float(1 / max(np.cos(np.radians((latitudes.min() + latitudes.max()) / 2)), 0.01))


def _colour_scale(scores: NDArray[np.float64], cmap: str | Colormap) -> tuple[ScalarMappable, str]:
    """Return the scale of colours, and `extend` of its bar, for scores below the scale."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm, Normalize

    colours = colormaps.get_cmap(cmap).with_extremes(bad=_GREY)
    finite = scores[np.isfinite(scores)]
    positive = finite[finite > 0]
    highest = positive.max(initial=0.0)
    if not len(positive) or finite.min() < 0 or np.quantile(positive, 0.1) > _LOW * highest:
        low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 0.0)
        return ScalarMappable(Normalize(low, high if high > low else low + 1), colours), "neither"
    least = max(positive.min(), _LEAST * highest)
    return ScalarMappable(LogNorm(least, highest), colours), "min" if positive.min() < least else "neither"


def _mask_uncoloured(scores: NDArray[np.float64], colours: ScalarMappable) -> np.ma.MaskedArray[Any, Any]:
    """Mask scores without a colour on the scale: 0 on a logarithmic scale, and -inf, the logarithm of 0."""
    from matplotlib.colors import LogNorm

    return np.ma.masked_invalid(np.where(scores > 0, scores, np.nan) if isinstance(colours.norm, LogNorm) else scores)


def _make_panels(ax: Any, panels: int, xy: NDArray[np.float64], ratio: float) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels: the caller's, or new ones in about the shape of the map."""
    wide, high = np.ptp(xy, axis=0) if len(xy) else (1.0, 1.0)
    shape = np.clip(wide / max(high * ratio, 1e-300), 0.4, 2.5)
    columns = min(panels, _MOST_COLUMNS)
    rows = -(-panels // columns)
    height = _SIDE / np.sqrt(shape)
    size = columns * height * shape + 1.2, rows * (height + 0.3) + 0.5
    return panels_in(ax, panels, size, columns=columns, layout="compressed")


def _spacing(count: int) -> float:
    """Return the points of print between neighbours where `count` lines or points fill a panel evenly."""
    return float(72 * _SIDE / np.sqrt(max(count, 1)))


def _diameter(points: int) -> float:
    """Return the diameter of the lowest score's mark, in points of print; the highest score's is twice as wide."""
    return float(np.clip(_spacing(points) / 5, 0.5, 6))


def _draw_lines(axes: Axes, scores: NDArray[np.float64], lines: list[Line], colours: ScalarMappable) -> None:
    """Draw edges, wider the higher they score, from the lowest to the highest."""
    from matplotlib.collections import LineCollection

    order = np.argsort(scores, kind="stable")
    coloured = _mask_uncoloured(scores[order], colours)
    widths = np.clip(_spacing(len(order)) / 8, 0.2, 1.2) * (1 + 2 * _heights(coloured, colours))
    scale: dict[str, Any] = {"cmap": colours.cmap, "norm": colours.norm}
    drawn = LineCollection([lines[e] for e in order.tolist()], linewidths=widths, **scale)
    drawn.set_array(coloured)
    drawn.set(capstyle="round", rasterized=len(order) > _MOST_SHAPES)
    axes.add_collection(drawn)


def _draw_points(
    axes: Axes, scores: NDArray[np.float64], xy: NDArray[np.float64], streets: list[Line], colours: ScalarMappable
) -> None:
    """Draw edges in grey, and vertices above them, larger the higher they score, from the lowest to the highest."""
    from matplotlib.collections import LineCollection

    width = np.clip(_spacing(len(streets)) / 8, 0.15, 0.8)
    rasterized = len(streets) + len(scores) > _MOST_SHAPES
    axes.add_collection(LineCollection(streets, colors=_GREY, linewidths=width, rasterized=rasterized))
    order = np.argsort(scores, kind="stable")
    coloured = _mask_uncoloured(scores[order], colours)
    diameters = _diameter(len(order)) * (1 + _heights(coloured, colours))
    x, y = xy[order].T
    scale: dict[str, Any] = {"cmap": colours.cmap, "norm": colours.norm, "plotnonfinite": True}
    axes.scatter(x, y, diameters**2, coloured.filled(np.nan), linewidths=0, zorder=2, rasterized=rasterized, **scale)


def _heights(scores: np.ma.MaskedArray[Any, Any], colours: ScalarMappable) -> NDArray[np.float64]:
    heights: NDArray[np.float64] = np.clip(np.ma.filled(colours.norm(scores), 0.0), 0, 1)
    return heights


def geometry_of(graph: Any, xy: NDArray[np.float64], ratio: float) -> dict[tuple[int, int], Line]:
    """Return lines of edges by their ends, of parallel edges the shortest; a unit of y is `ratio` units of x long."""
    edges = list(_edges_of(graph))
    if all(geometry is None for _, _, geometry in edges):
        return {}
    lines, lengths = dict[tuple[int, int], Line](), dict[tuple[int, int], float]()
    for tail, head, geometry in edges:
        is_line = getattr(geometry, "geom_type", None) == "LineString"
        line = np.asarray(geometry.coords, np.float64)[:, :2] if is_line else xy[[tail, head]]
        length = float(np.hypot(*(np.diff(line, axis=0) * [1, ratio]).T).sum())
        if length < lengths.get((tail, head), np.inf):
            lines[tail, head], lengths[tail, head] = line, length
    return lines


def lines_of(matrix: Any, xy: NDArray[np.float64], geometry: Mapping[tuple[int, int], Line]) -> list[Line]:
    """Return the lines of the entries of a sparse matrix; both ways of an edge have the geometry of one."""
    straight = np.stack([xy[matrix.row], xy[matrix.col]], axis=1)
    if not geometry:
        return list(straight)
    ends = zip(matrix.row.tolist(), matrix.col.tolist(), straight, strict=True)
    return [geometry.get((i, j), geometry.get((j, i), line)) for i, j, line in ends]


def _edges_of(graph: Any) -> Iterable[tuple[int, int, Any]]:
    """Return the ends and the geometry, or None, of each edge of a NetworkX or igraph graph."""
    if adapters.is_networkx(graph):
        entries = adapters.networkx_entries(graph)
        held = (data.get(GEOMETRY) for data in adapters.networkx_edge_data(graph))
        return zip(entries.tails.tolist(), entries.heads.tolist(), held, strict=True)
    if adapters.is_igraph(graph) and GEOMETRY in graph.es.attributes():
        return ((*edge.tuple, edge[GEOMETRY]) for edge in graph.es)
    return ()
