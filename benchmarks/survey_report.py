"""Tables and pictures of a survey: ``python -m benchmarks.survey_report RESULTS.jsonl``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from benchmarks import json_lines
from benchmarks.report import COLOURS

Row = dict[str, Any]

# Ratios of smaller networks are drawn, but not in the geometric means.
LEAST = 1000
# Marks of competitors and their colours; "best" is the fastest method, the dot where "auto" was not measured, and
# "reduced" is "auto" after the reductions.
MARKERS = {"auto": "o", "best": "o", "batched": "|", "work-efficient": "x", "dijkstra": "x", "delta-stepping": "+"}
MARKERS["reduced"] = "d"
INKS = dict(zip(MARKERS, (COLOURS[number] for number in (8, 8, 5, 6, 2, 4, 1)), strict=True))
NO_METHODS = ("igraph", "auto", "reduced")


@dataclass(frozen=True, order=True)
class Cell:
    """What all dots of a panel have in common."""

    weighted: bool
    device: str
    threads: int
    roots: str
    count: int

    @property
    def title(self) -> str:
        """In words."""
        threads = f"{self.threads} thread{'s' if self.threads > 1 else ''}"
        what = "lengths" if self.weighted else "hops"
        return f"{what}, {self.count:,} {self.roots} roots, {threads if self.device == 'cpu' else 'GPU'}"


CELL = tuple(field.name for field in fields(Cell))


class Ratio(NamedTuple):
    """A network's dot, and the values of all competitors."""

    network: str
    n: int
    value: float
    others: dict[str, float]


def write(results: Path) -> list[Path]:
    """Write what the rows are good for beside `results`; returns the paths."""
    every = json_lines.read(results)
    predictions = [row for row in every if row["competitor"] == "prediction"]
    rows = [row for row in every if row["competitor"] != "prediction"]
    written = []
    for name, make, x, limit in (
        ("", against_igraph, "times as fast as igraph on one thread", 1.0),
        ("-choice", of_choice, "time of the chosen method over the best one's", 1.5),
    ):
        cells = make(rows)
        if not cells:
            continue
        page, picture = (results.with_name(f"{results.stem}{name}{suffix}") for suffix in (".md", ".png"))
        figure(cells, x, limit).savefig(picture, dpi=110)
        body = survey_page(rows, cells) if not name else choice_page(cells)
        page.write_text("\n".join([*_conditions(rows), "", f"![{x}]({picture.name})", "", *body]) + "\n")
        written += [page, picture]
    if predictions:
        page = results.with_name(f"{results.stem}-prediction.md")
        page.write_text("\n".join([*_conditions(predictions), "", *prediction_page(predictions)]) + "\n")
        written.append(page)
    return written


def against_igraph(rows: Sequence[Row]) -> dict[Cell, list[Ratio]]:
    """Give igraph's time a root, on one thread, over that of "auto" and of each method, by cell."""
    base = {
        (row["graph"], row["weighted"], row["roots"], row["count"]): _per_root(row)
        for row in rows
        if row["competitor"] == "igraph"
    }
    found: dict[Cell, list[Ratio]] = {}
    for cell, network, group in _groups(rows):
        igraph = base.get((network, cell.weighted, cell.roots, cell.count))
        ratios = {name: igraph / _per_root(row) for name, row in group.items() if igraph and name != "igraph"}
        if methods := [value for name, value in ratios.items() if name not in NO_METHODS]:
            ratios["best"] = max(methods)
        if dot := ratios.get("auto", ratios.get("best")):
            found.setdefault(cell, []).append(Ratio(network, next(iter(group.values()))["n"], dot, ratios))
    return found


def of_choice(rows: Sequence[Row]) -> dict[Cell, list[Ratio]]:
    """Give the time of the method that "auto" takes over that of the best one, by cell, where there are several."""
    found: dict[Cell, list[Ratio]] = {}
    chose = {_case(row): row["chose"] for row in rows if "chose" in row}
    for cell, network, group in _groups(rows):
        name = chose.get((network, *astuple(cell)))
        methods = {name: row["seconds"] for name, row in group.items() if name not in NO_METHODS}
        if len(methods) > 1 and name in methods:
            best, n = min(methods.values()), next(iter(group.values()))["n"]
            ratios = {other: seconds / best for other, seconds in methods.items()}
            found.setdefault(cell, []).append(Ratio(network, n, ratios[name], {name: ratios[name]}))
    return found


def figure(cells: dict[Cell, list[Ratio]], x: str, limit: float) -> Figure:
    """Draw a panel a cell: a line a network, sorted by its dot, and a mark a competitor."""
    columns = min(4, len(cells))
    height = max(len(ratios) for ratios in cells.values())
    panels = -(-len(cells) // columns), columns
    picture = Figure(figsize=(4.4 * columns, panels[0] * (1.2 + 0.145 * height)), layout="constrained")
    names = _competitors(cells)
    names = [name for name in names if name != "best" or "auto" not in names]
    for axes, (cell, ratios) in zip(picture.subplots(*panels, squeeze=False).flat, sorted(cells.items()), strict=False):
        ratios = sorted(ratios, key=lambda ratio: np.nan_to_num(ratio.value))
        for name in names:
            values = [ratio.others.get(name, np.nan) for ratio in ratios]
            filled = MARKERS[name] == "o"
            axes.scatter(
                values,
                range(len(ratios)),
                16 if filled else 30,
                marker=MARKERS[name],
                color=INKS[name],
                label=name,
                linewidths=0 if filled else 1.2,
                zorder=3 - filled,
            )
        axes.axvline(limit, color="black", linewidth=1)
        labels = [ratio.network if ratio.n >= LEAST else f"({ratio.network})" for ratio in ratios]
        lay_out(axes, labels, x, cell.title)
    for axes in list(picture.axes)[len(cells) :]:
        axes.set_visible(False)
    picture.axes[0].legend(loc="lower right", fontsize=8)
    return picture


def lay_out(axes: Axes, labels: Sequence[str], x: str, title: str, *, ticks: str = "{x:g}") -> None:
    """Make a panel of a line a label, and a logarithmic axis."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(ticks)
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", labelsize=7)
    axes.set_yticks(range(len(labels)), labels, fontsize=7)
    axes.set_ylim(-0.8, len(labels) - 0.2)
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_xlabel(x, fontsize=8)


def survey_page(rows: Sequence[Row], cells: dict[Cell, list[Ratio]]) -> list[str]:
    """Lay out means, the worst, all ratios, and what was skipped."""
    lines = [f"Geometric means and the worst of the networks of {LEAST:,} vertices and more; times igraph's speed.", ""]
    lines += ["| case | method | networks | geometric mean | below 1.5 | the three worst |", "|" + "---|" * 6]
    for cell, ratios in sorted(cells.items()):
        for name in _competitors({cell: ratios}):
            lines.append(f"| {cell.title} | {name} {summary(ratios, name)}")
    methods = _competitors(cells)
    lines += ["", "All of them.", ""]
    lines += [f"| case | network | vertices | {' | '.join(methods)} |", "|" + "---|" * (3 + len(methods))]
    for cell, ratios in sorted(cells.items()):
        for ratio in sorted(ratios, key=lambda ratio: np.nan_to_num(ratio.value)):
            values = (f"{ratio.others[name]:.2f}" if name in ratio.others else "-" for name in methods)
            lines.append(f"| {cell.title} | {ratio.network} | {ratio.n:,} | {' | '.join(values)} |")
    return [*lines, *_left_out(rows)]


def summary(ratios: Sequence[Ratio], name: str) -> str:
    """Return the cells of a line: how many networks, the mean, how many are below 1.5, and the worst."""
    found = sorted((ratio.others[name], ratio.network) for ratio in ratios if name in ratio.others and ratio.n >= LEAST)
    if not found:
        return "| 0 | - | - | - |"
    values = np.array([value for value, _ in found])
    worst = ", ".join(f"{network} {value:.2f}" for value, network in found[:3])
    return f"| {len(found)} | {np.exp(np.log(values).mean()):.2f} | {(values < 1.5).sum()} | {worst} |"


def choice_page(cells: dict[Cell, list[Ratio]]) -> list[str]:
    """Lay out the worst, the median and a histogram of the chosen method's time over the best one's."""
    bounds = (1.0, 1.05, 1.2, 1.5, 2.0, np.inf)
    titles = ["1 to 1.05", "to 1.2", "to 1.5", "to 2", "more"]
    lines = ["Time of the method that `auto` takes over the time of the best one; networks, by that ratio.", ""]
    lines += [f"| case | networks | median | worst | {' | '.join(titles)} |", "|" + "---|" * (4 + len(titles))]
    for cell, ratios in sorted(cells.items()):
        values = [ratio.value for ratio in ratios]
        worst = max(ratios, key=lambda ratio: ratio.value)
        counts = np.histogram(values, bounds)[0]
        lines.append(
            f"| {cell.title} | {len(values)} | {np.median(values):.2f} | {worst.network} {worst.value:.2f} | "
            f"{' | '.join(map(str, counts))} |"
        )
    lines += ["", "Those above 1.2.", "", "| case | network | vertices | chosen | ratio |", "|" + "---|" * 5]
    for cell, ratios in sorted(cells.items()):
        for ratio in sorted(ratios, key=lambda ratio: -ratio.value):
            if ratio.value > 1.2:
                (name,) = ratio.others
                lines.append(f"| {cell.title} | {ratio.network} | {ratio.n:,} | {name} | {ratio.value:.2f} |")
    return lines


def prediction_page(rows: Sequence[Row]) -> list[str]:
    """Lay out the time that was predicted, and what the run from all roots took."""
    lines = ["Runs from all roots: what `lagbc info` predicts, and what they took.", ""]
    lines += ["| network | vertices | lengths | predicted (s) | took (s) | ratio |", "|" + "---|" * 6]
    done = [row for row in rows if row["status"] == "ok"]
    for row in sorted(done, key=lambda row: row["predicted"] / row["seconds"]):
        ratio = row["predicted"] / row["seconds"]
        what = "1 to 10" if row["weighted"] else "hops"
        lines.append(
            f"| {row['graph']} | {row['n']:,} | {what} | {row['predicted']:.3g} | {row['seconds']:.3g} | {ratio:.2f} |"
        )
    ratios = [row["predicted"] / row["seconds"] for row in done]
    within = sum(0.5 <= ratio <= 2 for ratio in ratios)
    return [f"Within a factor of two: {within} of {len(ratios)}.", "", *lines, *_left_out(rows)]


def line(row: Row) -> str:
    """Say in a line what was measured."""
    cell = Cell(*(row[name] for name in CELL))
    what = row["status"] if row["seconds"] is None else f"{1e3 * _per_root(row):.4g} ms a root"
    told = f", predicted {row['predicted']:.3g} s, took {row['seconds']}" if "predicted" in row else ""
    return f"{row['graph']}, {cell.title}, {row['competitor']}: {what}{told}"


def _competitors(cells: dict[Cell, list[Ratio]]) -> list[str]:
    found = {name for ratios in cells.values() for ratio in ratios for name in ratio.others}
    return [name for name in MARKERS if name in found]


def _groups(rows: Sequence[Row]) -> list[tuple[Cell, str, dict[str, Row]]]:
    """Group measured rows by case, by the name of the competitor."""
    found: dict[tuple[Any, ...], dict[str, Row]] = {}
    for row in rows:
        if row["status"] == "ok" and row["competitor"] != "prediction":
            found.setdefault(_case(row), {})[row["competitor"]] = row
    return [(Cell(*case), network, group) for (network, *case), group in found.items()]


def _case(row: Row) -> tuple[Any, ...]:
    return (row["graph"], *(row[name] for name in CELL))


def _per_root(row: Row) -> float:
    return float(row["seconds"] / row["timed"])


def _conditions(rows: Sequence[Row]) -> list[str]:
    commits = ", ".join(dict.fromkeys(str(row["commit"])[:10] for row in rows))
    hosts = ", ".join(dict.fromkeys(f"{row['cpu']}, {row['cores']} cores" for row in rows if "cpu" in row))
    return [
        f"{hosts}; commit {commits}.",
        "",
        "Near roots are whole blocks, as in a run from all roots; lengths are random integers from 1 to 10. Graphs are",
        "ordered and kernels compiled beforehand. On one thread the time is the processor's, else the clock's; igraph",
        "is timed on a sample of the same roots. Methods sweep whole graphs; `reduced` is a run from all roots with",
        "reductions, planning and all, by the root.",
    ]


def _left_out(rows: Sequence[Row]) -> list[str]:
    others = [line(row) for row in rows if row["status"] != "ok"]
    return ["", "Not timed.", "", *(f"- {text}" for text in others)] if others else []


@click.command()
@click.argument("results", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(results: Path) -> None:
    """Write the tables (.md) and pictures (.png) of RESULTS beside it."""
    for path in write(results):
        click.echo(path)


if __name__ == "__main__":
    main()
