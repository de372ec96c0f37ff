"""Measure what all centralities of one sweep cost against betweenness: ``python -m benchmarks.centralities --help``.

On one thread the time is the processor's, which other work disturbs less.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, cast

import click
import numpy as np

import lagbc
from benchmarks import machine
from benchmarks.graphs import is_symmetric, table
from lagbc.graph.validate import as_graph

Row = dict[str, Any]

RESULTS = Path(__file__).parent / "results" / "centralities.jsonl"
# What is timed in one sweep each; the first is what the others are held against.
SWEEPS = (
    ("bc",),
    ("bc", "closeness", "harmonic", "eccentricity", "stress"),
    ("edge_bc",),
    ("stress",),
    ("closeness",),
    ("eccentricity",),
)


def measure(name: str, A: Any, rounds: int, method: str, device: str, threads: int | None, reduce: str) -> list[Row]:
    """Time the sweeps in turn, round after round; the ratio is the median of the rounds' ratios."""
    directed = not is_symmetric(A)
    graph = as_graph(A, directed=directed)
    options: Row = {"method": method, "device": device, "threads": threads, "reduce": reduce}
    runs: list[Callable[[], Any]] = [
        partial(lagbc.centralities, graph, cast(Any, which), directed=directed, **options) for which in SWEEPS
    ]
    clock = time.process_time if threads == 1 and device == "cpu" else time.perf_counter

    def timed(run: Callable[[], Any]) -> float:
        begun = clock()
        run()
        return clock() - begun

    for which in SWEEPS:
        lagbc.centralities(
            as_graph(A[:100, :100], directed=directed),
            cast(Any, which),
            directed=directed,
            method=cast(Any, method),
            device=cast(Any, device),
        )
    seconds = np.array([[timed(run) for run in runs] for _ in range(rounds)])
    return [
        {
            "graph": name,
            "n": graph.n,
            "nnz": graph.nnz,
            "which": list(which),
            "method": method,
            "device": device,
            "threads": threads,
            "rounds": rounds,
            "seconds": float(seconds[:, i].min()),
            "ratio": statistics.median((seconds[:, i] / seconds[:, 0]).tolist()),
        }
        for i, which in enumerate(SWEEPS)
    ]


def markdown(rows: list[Row]) -> str:
    """Lay out the page: conditions, and one line a sweep."""
    first = rows[0]
    host = first["machine"]
    lines = [
        f"{host['cpu']}, {host['cores']} cores; Python {host['python']}, NumPy {host['packages']['numpy']}; "
        f"commit {host['commit']}, {first['date']}. All roots.",
        "",
        "Seconds are the best of the rounds; the ratio to the first row of a graph is the median of the rounds' "
        "ratios, in which the sweeps follow each other.",
        "",
        "| graph | n | nnz | method | sweep | seconds | ratio |",
        "|" + " --- |" * 7,
        *(
            f"| {row['graph']} | {row['n']:,} | {row['nnz']:,} | {row['method']} on {row['device']} | "
            f"{', '.join(row['which'])} | {row['seconds']:.3g} | {row['ratio']:.2f} |"
            for row in rows
        ),
    ]
    return "\n".join(lines) + "\n"


@click.command()
@click.option("--graphs", default="rmat-14-16", show_default=True, help="Comma-separated, of `benchmarks.graphs`.")
@click.option("--data", type=click.Path(exists=True, path_type=Path), help="Directory of Matrix Market files.")
@click.option("--rounds", default=5, show_default=True)
@click.option("--method", default="batched", show_default=True)
@click.option("--device", default="cpu", show_default=True)
@click.option("--threads", type=click.IntRange(1), help="CPU threads.  [default: as many as there are cores]")
@click.option("--reduce", type=click.Choice(["none", "auto"]), default="none", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True, help="A .jsonl file.")
def main(
    graphs: str,
    data: Path | None,
    rounds: int,
    method: str,
    device: str,
    threads: int | None,
    reduce: str,
    out: Path,
) -> None:
    """Write a line a sweep, and a table beside it."""
    known = table(data)
    if unknown := sorted(set(graphs.split(",")) - set(known)):
        raise click.BadParameter(f"no graph {', '.join(unknown)}; there are {', '.join(known)}", param_hint="--graphs")
    common = {"date": datetime.now(UTC).isoformat(timespec="seconds"), "machine": machine.describe()}
    rows = []
    with out.open("w") as results:
        for name in graphs.split(","):
            for row in measure(name, known[name].load(), rounds, method, device, threads, reduce):
                rows.append(row | common)
                print(json.dumps(rows[-1]), file=results, flush=True)
                click.echo(f"{name}: {', '.join(row['which'])}: {row['seconds']:.3g} s, ratio {row['ratio']:.2f}")
    page = out.with_suffix(".md")
    page.write_text(markdown(rows))
    click.echo(page)


if __name__ == "__main__":
    main()
