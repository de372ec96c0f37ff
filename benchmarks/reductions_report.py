"""Table and picture of what reductions save: ``python -m benchmarks.reductions_report RESULTS.jsonl``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks import json_lines
from benchmarks.report import COLOURS
from benchmarks.survey_report import LEAST, lay_out

Row = dict[str, Any]

SHAPE = ("network", "vertices", "edges", "blocks", "classes", "junctions")
LEFT = {"blocks": "blocks", "twins": "+ twins", "chains": "+ chains", "all": "best"}
SECONDS = {
    "former": "former",
    "plain": "plain",
    "unreduced": "best unreduced",
    "blocks": "blocks alone",
    "all": "reduced",
}
LAST = (
    "former / reduced",
    "plain / reduced",
    "best unreduced / reduced",
    "planning (s)",
    "its share",
    "difference",
)


def write(results: Path) -> list[Path]:
    """Write the page and the picture beside `results`; returns their paths."""
    rows = json_lines.read(results)
    page, picture = results.with_suffix(".md"), results.with_suffix(".png")
    figure(rows).savefig(picture, dpi=110)
    page.write_text("\n".join(markdown(rows, picture.name)) + "\n")
    return [page, picture]


def markdown(rows: Sequence[Row], picture: str) -> list[str]:
    """Lay out the page."""
    commits = ", ".join(dict.fromkeys(str(row["commit"])[:10] for row in rows))
    rounds = sorted({row.get("rounds", 1) for row in rows})
    lines = [
        f"{', '.join(dict.fromkeys(row['cpu'] for row in rows))}; commit {commits}.",
        "",
        "Betweenness in hops, from all roots, one thread; seconds of the processor, planning included: the reduction,",
        "the choice of the method, order and transpose. `plain` is `batched`, `best unreduced` what `auto` takes, both",
        'with `reduce="none"`; `reduced` is the default. Of a run with `*` near roots of each part were timed, and',
        "small blocks whole. Work left is roots x edges, for chains what takes as long, before it is asked what pays;",
        "classes of twins and junctions are those of the run. The difference is that of the scores from the plain",
        f"run's, over the largest, where both were whole. Best of {' or '.join(map(str, rounds))} rounds of all runs.",
        *_on_former(rows),
        "",
        f"![Work left]({picture})",
    ]
    for directed in sorted({row["directed"] for row in rows}):
        mine = sorted((row for row in rows if row["directed"] == directed), key=lambda row: row["left"]["all"])
        lines += ["", f"## {'Directed' if directed else 'Undirected'}", "", *summary(mine), ""]
        heads = [*SHAPE, *(f"% left: {title}" for title in LEFT.values()), *(f"{s} (s)" for s in SECONDS.values())]
        lines += [f"| {' | '.join([*heads, *LAST])} |", "|" + "---|" * (len(heads) + len(LAST))]
        lines += [f"| {' | '.join(cells(row))} |" for row in mine]
    return lines


def _on_former(rows: Sequence[Row]) -> list[str]:
    """Say what `former` is, if it was measured."""
    runs = [row["runs"]["former"] for row in rows if "former" in row["runs"]]
    commits = sorted({str(run["commit"])[:10] for run in runs})
    if not commits:
        return []
    return [f"`former` is `batched` of commit {', '.join(commits)}, its sweeps alone, on as many roots as `plain`."]


def summary(rows: Sequence[Row]) -> list[str]:
    """Give geometric means of the ratios."""
    lines = [f"Geometric means over networks of {LEAST:,} vertices and more."]
    for name in ("former", "plain", "unreduced"):
        ratios = [ratio(row, name) for row in rows if row["n"] >= LEAST]
        known = np.array([value for value in ratios if value is not None])
        if len(known):
            mean, of = np.exp(np.log(known).mean()), f"{len(known)} networks, {known.min():.2f} to {known.max():.3g}"
            lines.append(f"{SECONDS[name]} / reduced: {mean:.2f} ({of}).")
    return lines


def cells(row: Row) -> list[str]:
    """Format the cells of a network."""
    edges = row["nnz"] if row["directed"] else row["nnz"] // 2
    shape = [row["graph"], *(f"{value:,}" for value in (row["n"], edges, row["count"]))]
    shape += [f"{row[name]:,}" if row.get(name) else "-" for name in ("classes", "junctions")]
    times = [_number(seconds(row, name)) + "*" * is_sampled(row, name) for name in SECONDS]
    planning, all_of_it = row["runs"]["all"].get("planning"), seconds(row, "all")
    last = [_number(ratio(row, name)) for name in ("former", "plain", "unreduced")]
    last += [_number(planning), "-" if not all_of_it else f"{100 * planning / all_of_it:.2g} %"]
    last += ["-" if row["difference"] is None else f"{row['difference']:.1e}"]
    return [*shape, *(f"{100 * row['left'][name]:.3g}" for name in LEFT), *times, *last]


def seconds(row: Row, name: str) -> float | None:
    """Seconds of a run, planning included; None if there was none, or it was skipped."""
    run = row["runs"].get(name)
    return float(run["planning"] + run["sweeping"]) if run and run["status"] == "ok" else None


def is_sampled(row: Row, name: str) -> bool:
    """Whether only some roots of a run were timed."""
    run = row["runs"].get(name)
    return bool(run and run["status"] == "ok" and run["timed"] < run["swept"])


def ratio(row: Row, name: str) -> float | None:
    """How many times as long a run takes as the reduced one."""
    ours, other = seconds(row, "all"), seconds(row, name)
    return other / ours if ours and other else None


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def line(row: Row) -> str:
    """Say in a line what was measured."""
    times = ", ".join(f"{SECONDS[name]} {_number(seconds(row, name))} s" for name in SECONDS)
    return f"{row['graph']}: {100 * row['left']['all']:.3g} % of the work left; {times}; differ by {row['difference']}"


def figure(rows: Sequence[Row]) -> Figure:
    """Draw a panel for undirected networks and one for directed ones: a line a network, sorted by the work left."""
    kinds = sorted({row["directed"] for row in rows})
    height = max(sum(row["directed"] == kind for row in rows) for kind in kinds)
    picture = Figure(figsize=(5.5 * len(kinds), 1.6 + 0.15 * height), layout="constrained")
    for axes, kind in zip(picture.subplots(1, len(kinds), squeeze=False).flat, kinds, strict=True):
        _panel(axes, [row for row in rows if row["directed"] == kind])
    picture.axes[0].legend(loc="lower left", fontsize=8)
    return picture


def _panel(axes: Axes, rows: Sequence[Row]) -> None:
    rows = sorted(rows, key=lambda row: -row["left"]["all"])
    for name, label, colour in (("blocks", "blocks alone", COLOURS[5]), ("all", "all reductions", COLOURS[6])):
        # A tree leaves nothing.
        left = [max(100 * row["left"][name], 1e-3) for row in rows]
        axes.scatter(left, range(len(rows)), 18, color=colour, label=label, zorder=2)
    title = "directed" if rows[0]["directed"] else "undirected"
    lay_out(axes, [row["graph"] for row in rows], "work left: roots x edges", title, ticks="{x:g} %")


@click.command()
@click.argument("results", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(results: Path) -> None:
    """Write the table (.md) and the picture (.png) of RESULTS beside it."""
    for path in write(results):
        click.echo(path)


if __name__ == "__main__":
    main()
