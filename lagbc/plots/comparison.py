"""Times and memory of the methods of a comparison, as bars."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from lagbc.plots.figure import check_figure_path, figure_class, given_axes, label_decades, save_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lagbc.comparison.records import Comparison, Measurement


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
    path : path-like, optional
        File of the figure; its suffix gives the format (png, pdf, svg, ...).
    title : str, optional
        Put before the headline of the comparison, for instance the name of the graph.
    ax : two matplotlib Axes, optional
        They are drawn in, and their figure is returned; it has no title unless `title` is given, and no note.

    Returns
    -------
    matplotlib.figure.Figure
        Left, milliseconds per root, with the GTEPS beside each bar; right, peak memory. The fastest method is at the
        top. Both axes are logarithmic; a colour is a formulation, hatched bars are of the GPU. A note names methods
        that were not measured, with the reasons, and methods with wrong scores.

    Raises
    ------
    ValueError
        If matplotlib does not write the suffix of `path`.
    MissingDependencyError
        If matplotlib is not installed.
    """
    check_figure_path(path)
    records = sorted(comparison.measured, key=lambda record: -(record.seconds_per_root or 0))
    if ax is None:
        notes = "\n".join(textwrap.fill(note, 150) for note in (*comparison.remarks(), *comparison.reasons()))
        height = 1.8 + 0.4 * len(records) + 0.17 * (notes.count("\n") + 1)
        figure = figure_class()(figsize=(11, height), layout="constrained")
        figure.supxlabel(notes, fontsize="small", color="0.35", ha="left", x=0.02)
        title = f"{title}: {comparison.headline}" if title else comparison.headline
        times, memories = figure.subplots(1, 2, sharey=True)
    else:
        figure, (times, memories) = given_axes(ax, 2)
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
    """Draw a bar a record, from the bottom up, in a colour a formulation; bars of the GPU are hatched."""
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
        # Bars begin a factor of 3 below the shortest; the factor of 8 leaves room for texts.
        axes.set(xscale="log", xlim=(min(positive) / 3, max(positive) * 8))
        label_decades(axes.xaxis)
    start = axes.get_xlim()[0]
    for i, (value, text) in enumerate(zip(values, texts, strict=True)):
        axes.annotate(text, (max(value, start), i), (4, 0), textcoords="offset points", va="center", fontsize="small")
