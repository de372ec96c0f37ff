"""Exact betweenness of a large graph in several calls: ``python -m benchmarks.whole --rmat 22-28 --checkpoint FILE``.

An R-MAT graph is made on the GPU, and `lagbc.bc` is called from all vertices, with a checkpoint. After so many seconds
the call is stopped, and the command ends with status 75: the same command goes on from the checkpoint, in a process of
its own. The seconds of each call are kept beside the checkpoint; they are whole calls, with reading, reductions and
all that a later call does again. The scores of a few roots are checked against another method by `benchmarks.large`;
those of all have to be finite, and their sum is told.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any

import click
import numpy as np

import lagbc
from benchmarks import machine
from benchmarks.graphs import SEED
from benchmarks.large import CHECKED, TOLERANCE, against_traversal, matrix_of, rmat

OUT = machine.ROOT / "benchmarks" / "results" / "whole.md"
UNFINISHED = 75


def page(name: str, device: str, graph: Any, scores: Any, plan: Any, calls: list[float], checked: str) -> str:
    """Lay out the page."""
    from lagbc.methods.table import gpus_in_words

    roots, seconds = int(np.count_nonzero(graph.out_degrees)), sum(calls)
    each = ", ".join(f"{one:.0f}" for one in calls)
    rate = graph.nnz / 2 * roots / seconds / 1e9
    return "\n".join(
        [
            "# Exact betweenness of a large graph",
            "",
            f"R-MAT {name}: {graph.n:,} vertices, {roots:,} of them with edges, {graph.nnz // 2:,} edges. "
            f"{gpus_in_words()}, {machine.cores()} cores; commit {machine.commit()}. By",
            "",
            f"    python -m benchmarks.whole --rmat {name} --device {device} --checkpoint FILE",
            "",
            f"**{seconds:.0f} s**, in {len(calls)} calls of {each} s, which go on from a checkpoint: {rate:.0f} GTEPS, "
            "for edges times vertices with edges, in the seconds of all calls.",
            "",
            f"Sum of the scores {float(scores.sum()):.15g}, largest {float(scores.max()):.9g}. {checked}",
            "",
            f"Plan: {plan.reason}; {plan.memory.total / 2**30:.1f} GiB.",
            "",
        ]
    )


@click.command(help=__doc__)
@click.option("--rmat", "name", default="22-28", show_default=True, help="SCALE-FACTOR, as in benchmarks.large.")
@click.option("--checkpoint", type=click.Path(path_type=Path), required=True)
@click.option("--seconds", default=480.0, show_default=True, help="Of a call.")
@click.option("--device", default="cuda", show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=OUT, show_default=True)
def main(name: str, checkpoint: Path, seconds: float, device: Any, out: Path) -> None:
    """Go on with the run; write the page at its end."""
    import cupy

    notes = checkpoint.with_suffix(".json")
    calls = json.loads(notes.read_text()) if notes.exists() else []
    scale, edge_factor = map(int, name.split("-"))
    A = matrix_of(*rmat(scale, edge_factor, SEED, cupy))
    end, begun = monotonic() + seconds, perf_counter()
    graph = lagbc.as_graph(A, directed=False)
    del A
    how: Any = {"device": device, "checkpoint": checkpoint}
    try:
        scores = lagbc.bc(graph, stop=lambda: monotonic() > end, progress=True, **how)
    except lagbc.StoppedError:
        scores = None
    calls.append(perf_counter() - begun)
    notes.write_text(json.dumps(calls))
    click.echo(f"{name}: calls of {calls} s")
    if scores is None:
        sys.exit(UNFINISHED)
    if not np.isfinite(scores).all():
        raise SystemExit("scores are not finite")
    few = np.random.default_rng(SEED).choice(np.flatnonzero(graph.out_degrees), CHECKED, replace=False)
    of_few = lagbc.bc(graph, sources=few, method="batched", batch=CHECKED, reduce="none", device="cuda")
    by, error = against_traversal(graph, few, of_few)
    if not error <= TOLERANCE:
        raise SystemExit(f"scores of {by} differ by {error}")
    planned = lagbc.plan(graph, device=device)
    out.write_text(page(name, device, graph, scores, planned, calls, f"Against {by}: {error:.1e}."), encoding="utf-8")
    click.echo(out.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
