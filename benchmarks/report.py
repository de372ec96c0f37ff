"""Table and figure of a results file: ``python -m benchmarks.report RESULTS.jsonl``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np
from matplotlib.figure import Figure

Row = dict[str, Any]

BASE = ("igraph", 1)
HEADER = (
    "graph | n | nnz | roots | competitor | threads | seconds | with conversion | MTEPS | x igraph | peak MiB | error"
)
LENGTHS = (
    "Edges have lengths: integers from 1 to 10, drawn at random, the same both ways; those of a file are its values."
)
# Okabe and Ito's colours, which colour-blind readers tell apart.
COLOURS = ("#999999", "#E69F00", "#009E73", "#F0E442", "#CC79A7", "#0072B2", "#D55E00", "#56B4E9", "#000000")
HATCHES = ("", "//", "xx", "..")


def write(results: Path) -> tuple[Path, Path]:
    """Write the Markdown table and the PNG figure beside `results`; returns their paths."""
    rows = [json.loads(line) for line in results.read_text().splitlines()]
    page, picture = results.with_suffix(".md"), results.with_suffix(".png")
    figure(rows).savefig(picture, dpi=150)
    page.write_text(markdown(rows, picture.name))
    return page, picture


def markdown(rows: list[Row], picture: str) -> str:
    """Lay out the page: conditions, figure, one line a measurement, and what was not timed, with the reason."""
    columns = HEADER.count("|") + 1
    timed = [row for row in rows if row["status"] == "ok"]
    others = [row for row in rows if row["status"] != "ok"]
    lines = [
        *_conditions(rows[0]),
        "",
        f"![Speed by graph and competitor]({picture})",
        "",
        f"| {HEADER} |",
        "|" + " --- |" * columns,
        *(_line(row, _base_seconds(rows, row["graph"])) for row in timed),
    ]
    if others:
        lines += ["", "## Not timed", ""]
        lines += [f"- {row['graph']}, {row['competitor']}, {row['threads']} threads: {row['status']}" for row in others]
    return "\n".join(lines) + "\n"


def figure(rows: list[Row]) -> Figure:
    """Draw grouped bars: edges a second (log scale) by graph; a colour a competitor, a hatch a thread count."""
    timed = [row for row in rows if row["status"] == "ok"]
    graphs = list(dict.fromkeys(row["graph"] for row in timed))
    names = list(dict.fromkeys(row["competitor"] for row in rows))
    counts = sorted({row["threads"] for row in rows})
    shown = {(row["competitor"], row["threads"]) for row in timed}
    series = [pair for pair in dict.fromkeys((row["competitor"], row["threads"]) for row in rows) if pair in shown]
    width = 0.85 / max(len(series), 1)
    picture = Figure(figsize=(max(7.0, 2.0 + 0.25 * len(series) * len(graphs)), 4.8), layout="constrained")
    axes = picture.add_subplot()
    for place, (name, threads) in enumerate(series):
        speed = {row["graph"]: row["mteps"] for row in timed if (row["competitor"], row["threads"]) == (name, threads)}
        axes.bar(
            np.arange(len(graphs)) + (place - (len(series) - 1) / 2) * width,
            [speed.get(graph, np.nan) for graph in graphs],
            width,
            label=f"{name}, {threads} {'thread' if threads == 1 else 'threads'}",
            color=COLOURS[names.index(name) % len(COLOURS)],
            hatch=HATCHES[counts.index(threads) % len(HATCHES)],
            edgecolor="white",
            linewidth=0.5,
        )
    axes.set_yscale("log")
    axes.set_xticks(range(len(graphs)), graphs, rotation=20, ha="right")
    axes.set_ylabel("million edges a second (MTEPS), more is better")
    axes.set_title("Betweenness centrality, the same graph and roots for all")
    axes.grid(axis="y", alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if timed:
        axes.set_ylim(bottom=min(row["mteps"] for row in timed) / 2)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return picture


def _conditions(row: Row) -> list[str]:
    host = row["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in host["packages"].items() if version)
    return [
        f"# Betweenness centrality on {row['device']}, {row['date'][:10]}",
        "",
        f"{host['cpu']}, {host['cores']} cores, {host['system']}; Python {host['python']}, {packages}; "
        f"commit {host['commit']}; roots drawn with seed {row['seed']}.",
        "",
        "Seconds are the best of the rounds. MTEPS = edges x roots / seconds / 1e6, an undirected edge counted once.",
        "`x igraph` is igraph's seconds on one thread over the competitor's, both without conversion. The error is the",
        "largest |x - y| / (1 + |y|) from the reference.",
        *(["", LENGTHS] if row.get("weighted") else []),
    ]


def _base_seconds(rows: list[Row], graph: str) -> float | None:
    return next(
        (
            row["seconds"]
            for row in rows
            if row["graph"] == graph and (row["competitor"], row["threads"]) == BASE and row["status"] == "ok"
        ),
        None,
    )


def _line(row: Row, base: float | None) -> str:
    cells = (
        row["graph"],
        f"{row['n']:,}",
        f"{row['nnz']:,}",
        f"{row['roots']:,}" + (" (all)" if row["exact"] else ""),
        f"{row['competitor']} {row['version']}",
        row["threads"],
        f"{row['seconds']:.4g}",
        f"{row['seconds_with_conversion']:.4g}",
        f"{row['mteps']:.4g}",
        "" if base is None else f"{base / row['seconds']:.2f}",
        "" if row["peak_bytes"] is None else f"{row['peak_bytes'] / 2**20:.0f}",
        "reference" if row["error"] is None else f"{row['error']:.0e}",
    )
    return "| " + " | ".join(map(str, cells)) + " |"


@click.command()
@click.argument("results", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(results: Path) -> None:
    """Write RESULTS' table (.md) and figure (.png) beside it."""
    for path in write(results):
        click.echo(path)


if __name__ == "__main__":
    main()
