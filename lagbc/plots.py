"""Figures of centrality scores; matplotlib is imported only when one is drawn."""

from __future__ import annotations

import os
import textwrap
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from lagbc.errors import MissingDependencyError
from lagbc.graph.validate import as_graph

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from lagbc.comparison.compare import Comparison, Measurement
    from lagbc.graph.graph import Graph

# Beyond this many vertices single points hide each other, and cells that are counted say more.
_MOST_POINTS = 20_000


def plot_scores(
    A: Any,
    scores: np.ndarray,
    path: str | os.PathLike[str] | None = None,
    *,
    directed: bool,
    title: str | None = None,
    unit: str = "vertex pairs",
) -> Figure:
    """Draw how betweenness scores are distributed, and how they go with the degree.

    Parameters
    ----------
    A : sparse matrix or array, shape (n, n)
        The graph; the entry (i, j) is the edge i -> j. Self loops are left out.
    scores : numpy.ndarray, shape (n,)
        A score a vertex, none negative, as `lagbc.bc` returns them.
    path : path-like, optional
        Where to write the figure; the suffix gives the format (png, pdf, svg, ...).
    directed : bool
        Whether the degree counts edges out and in (True) or neighbours (False).
    title : str, optional
        Put before the counts of vertices and edges, for instance the name of the graph.
    unit : str
        What the scores count.

    Returns
    -------
    matplotlib.figure.Figure
        Left, the fraction of vertices that score at least b, against b; right, score against degree. Both axes of
        both panels are logarithmic; a note says how many vertices score 0 and so cannot be drawn.

    Raises
    ------
    ValueError
        If there is not one score a vertex, or if the suffix of `path` is none that matplotlib writes.
    MissingDependencyError
        If matplotlib is not installed.
    """
    scores = np.asarray(scores, dtype=np.float64)
    n = A.shape[0]
    if scores.shape != (n,):
        raise ValueError(f"scores have the shape {scores.shape}; expected one a vertex, ({n},)")
    if path is not None:
        check_figure_path(path)
    graph = as_graph(A, directed=directed)
    degree = graph.out_degrees + graph.in_degrees if directed else graph.out_degrees
    edges = graph.nnz if directed else graph.nnz // 2
    figure = _figure_class()(figsize=(11, 4.5), layout="constrained")
    counts = f"{n:,} vertices, {edges:,} {'directed' if directed else 'undirected'} edges"
    figure.suptitle(f"{title}: {counts}" if title else counts)
    distribution, against_degree = figure.subplots(1, 2)
    _draw_distribution(distribution, scores, unit)
    _draw_against_degree(against_degree, degree, scores, unit, directed)
    zeros = np.count_nonzero(scores == 0)
    figure.supxlabel(f"{zeros:,} of {n:,} vertices score 0 and are not drawn", fontsize="small", color="0.35")
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def plot_comparison(
    comparison: Comparison, path: str | os.PathLike[str] | None = None, *, title: str | None = None
) -> Figure:
    """Draw how long the methods of a comparison took, and how much memory.

    Parameters
    ----------
    comparison : Comparison
        As `lagbc.compare` returns it.
    path : path-like, optional
        Where to write the figure; the suffix gives the format (png, pdf, svg, ...).
    title : str, optional
        Put before the line that says what was compared on what, for instance the name of the graph.

    Returns
    -------
    matplotlib.figure.Figure
        Left, milliseconds per root, with the GTEPS beside each bar; right, peak memory. The fastest method is at the
        top. Both axes are logarithmic; a colour is a formulation, hatched bars are of the GPU. A note names the methods
        that were not measured, with the reasons, and those whose scores are wrong.

    Raises
    ------
    ValueError
        If the suffix of `path` is none that matplotlib writes.
    MissingDependencyError
        If matplotlib is not installed.
    """
    if path is not None:
        check_figure_path(path)
    records = sorted(comparison.measured, key=lambda record: -(record.seconds_per_root or 0))
    notes = "\n".join(textwrap.fill(note, 150) for note in (*comparison.remarks(), *comparison.reasons()))
    height = 1.8 + 0.4 * len(records) + 0.17 * (notes.count("\n") + 1)
    figure = _figure_class()(figsize=(11, height), layout="constrained")
    figure.suptitle(f"{title}: {comparison.headline}" if title else comparison.headline, fontsize="medium")
    figure.supxlabel(notes, fontsize="small", color="0.35", ha="left", x=0.02)
    times, memories = figure.subplots(1, 2, sharey=True)
    milliseconds = [(record.seconds_per_root or 0) * 1e3 for record in records]
    _draw_bars(times, records, milliseconds, [f"{record.gteps:.3g} GTEPS" for record in records])
    times.set(title="Time", xlabel="milliseconds per root")
    times.set_yticks(range(len(records)), [record.title for record in records])
    mebibytes = [(record.peak_bytes or 0) / 2**20 for record in records]
    per_state = [record.bytes_per_state for record in records]
    texts = ["not measured" if size is None else f"{size:.3g} bytes a state" for size in per_state]
    _draw_bars(memories, records, mebibytes, texts)
    memories.set(title="Memory", xlabel="MiB at the peak")
    if records:
        figure.legend(*times.get_legend_handles_labels(), loc="outside right upper", title="formulation")
    if path is not None:
        figure.savefig(path, dpi=150)
    return figure


def plot_centralities(
    A: Any,
    scores: Mapping[str, np.ndarray],
    path: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
) -> Figure:
    """Draw a small network once for each centrality, vertices larger and brighter the higher they rank.

    Parameters
    ----------
    A : sparse matrix or array, shape (n, n)
        The graph, edges taken in both directions. Self loops are left out.
    scores : mapping of name to ndarray, shape (n,)
        As `lagbc.centralities` returns them; a panel each.
    path : path-like, optional
        Where to write the figure; the suffix gives the format (png, pdf, svg, ...).
    title : str, optional

    Returns
    -------
    matplotlib.figure.Figure
        The places of vertices are the same in all panels, and are computed by NetworkX (Kamada and Kawai 1989). Size
        and colour are the rank, ties by their mean, so that panels of different units can be compared; the three
        highest vertices are named by number.

    Raises
    ------
    ValueError
        If there is not one score a vertex, or if the suffix of `path` is none that matplotlib writes.
    MissingDependencyError
        If matplotlib or NetworkX is not installed.
    """
    n = A.shape[0]
    for name, values in scores.items():
        if np.shape(values) != (n,):
            raise ValueError(f"{name} has the shape {np.shape(values)}; expected one score a vertex, ({n},)")
    if path is not None:
        check_figure_path(path)
    graph = as_graph(A, directed=False)
    places = _places(graph)
    ends = np.stack([places[graph.rows], places[graph.indices]], axis=1)[graph.rows < graph.indices]
    figure = _figure_class()(figsize=(3.6 * len(scores), 4), layout="constrained")
    if title:
        figure.suptitle(title)
    for axes, (name, values) in zip(figure.subplots(1, len(scores), squeeze=False)[0], scores.items(), strict=True):
        _draw_network(axes, places, ends, np.asarray(values))
        axes.set_title(name)
    if path is not None:
        figure.savefig(path, dpi=100)
    return figure


def _places(graph: Graph) -> np.ndarray:
    try:
        import networkx
    except ImportError as error:
        raise MissingDependencyError("places of vertices need NetworkX: pip install networkx") from error
    layout = networkx.kamada_kawai_layout(networkx.from_scipy_sparse_array(graph.pattern.astype(int)))
    return np.array([layout[v] for v in range(graph.n)]).reshape(-1, 2)


def _draw_network(axes: Axes, places: np.ndarray, ends: np.ndarray, values: np.ndarray) -> None:
    from matplotlib.collections import LineCollection

    _, level, count = np.unique(values, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count + 1) / 2)[level] / max(len(values) - 1, 1)
    axes.add_collection(LineCollection(list(ends), colors="0.8", linewidths=0.5, zorder=1))
    x, y = places.T
    axes.scatter(x, y, s=10 + 140 * rank**3, c=rank, cmap="viridis", edgecolors="0.3", linewidths=0.3, zorder=2)
    for v in np.argsort(-values, kind="stable")[:3]:
        axes.annotate(str(v), places[v], ha="center", va="center", fontsize="x-small", fontweight="bold", color="red")
    axes.set_aspect("equal")
    axes.set_axis_off()


def check_figure_path(path: str | os.PathLike[str]) -> None:
    """Raise what `plot_scores` would raise for this path, before the scores are computed.

    Raises
    ------
    ValueError
        If the suffix is none that matplotlib writes.
    MissingDependencyError
        If matplotlib is not installed.
    """
    formats = _figure_class()().canvas.get_supported_filetypes()
    suffix = PurePath(path).suffix
    if suffix.lower().removeprefix(".") not in formats:
        raise ValueError(f"no figure is written with the suffix {suffix!r}; there are: {', '.join(sorted(formats))}")


def _figure_class() -> type[Figure]:
    # Not pyplot: a Figure of its own has no global state, and needs no display.
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingDependencyError("figures need matplotlib: pip install 'lagbc[plot]'") from error
    return Figure


def _draw_distribution(axes: Axes, scores: np.ndarray, unit: str) -> None:
    value, count = np.unique(scores, return_counts=True)
    at_least = np.cumsum(count[::-1])[::-1] / max(scores.size, 1)
    positive = value > 0
    axes.plot(value[positive], at_least[positive], drawstyle="steps-pre", rasterized=scores.size > _MOST_POINTS)
    if positive.any():
        axes.set(xscale="log", yscale="log")
    axes.set_xlabel(f"betweenness b ({unit})")
    axes.set_ylabel("fraction of vertices with betweenness >= b")
    axes.set_title("Distribution")


def _draw_against_degree(axes: Axes, degree: np.ndarray, scores: np.ndarray, unit: str, directed: bool) -> None:
    drawn = scores > 0
    if np.count_nonzero(drawn) > _MOST_POINTS:
        cells = axes.hexbin(degree[drawn], scores[drawn], xscale="log", yscale="log", bins="log", gridsize=60, mincnt=1)
        axes.figure.colorbar(cells, ax=axes, label="vertices in a cell")
    else:
        axes.scatter(degree[drawn], scores[drawn], s=12, alpha=0.5, linewidths=0)
    if drawn.any():
        axes.set(xscale="log", yscale="log")
        _plain_numbers(axes.xaxis)
    axes.set_xlabel("degree (edges out and in)" if directed else "degree (neighbours)")
    axes.set_ylabel(f"betweenness ({unit})")
    axes.set_title("Score against degree")


def _draw_bars(axes: Axes, records: list[Measurement], values: list[float], texts: list[str]) -> None:
    """Draw a bar a record, from the bottom up, in one colour a formulation; the GPU's are hatched."""
    formulations = sorted({record.formulation for record in records})
    for formulation in formulations:
        for device, hatch in (("cpu", ""), ("cuda", "//")):
            group = [
                i for i, record in enumerate(records) if (record.formulation, record.device) == (formulation, device)
            ]
            if group:
                axes.barh(
                    group,
                    [values[i] for i in group],
                    color=f"C{formulations.index(formulation)}",
                    hatch=hatch,
                    alpha=0.8,
                    label=f"{formulation}, {device}",
                )
    positive = [value for value in values if value > 0]
    if positive:
        # Bars begin a factor of 3 below the shortest; texts end them within the frame.
        axes.set(xscale="log", xlim=(min(positive) / 3, max(positive) * 8))
    start = axes.get_xlim()[0]
    for i, (value, text) in enumerate(zip(values, texts, strict=True)):
        axes.annotate(text, (max(value, start), i), (4, 0), textcoords="offset points", va="center", fontsize="small")


def _plain_numbers(axis: Axis) -> None:
    # Degrees often span less than two decades, where matplotlib would write 2 x 10^0, 3 x 10^0, ...
    from matplotlib.ticker import LogFormatter

    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(LogFormatter(minor_thresholds=(2, 0.5)))
