"""Measure whole calls from the SciPy matrix, split into their phases: ``python -m benchmarks.calls --help``.

The first call of a case may compile and load kernels; of those that follow, the shortest counts.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click
import numpy as np
from matplotlib.figure import Figure
from scipy.sparse import csr_array

import lagbc
from benchmarks import machine
from benchmarks.generators import with_hashed_lengths
from benchmarks.graphs import SEED, is_symmetric, is_weighted, table
from benchmarks.report import COLOURS
from benchmarks.run import RESULTS
from lagbc.calls import PHASES, record

Row = dict[str, Any]

GRAPHS = {
    "cpu": "rmat-14-16,delaunay-13,barabasi-albert-10000-10",
    "cuda": "rmat-16-16,rmat-20-16,delaunay-19,road-like-20",
}
HEAD = ("graph", "vertices", "entries", "scores", "lengths", "roots", "device", "call", "seconds", *PHASES)


def measure(name: str, A: csr_array, count: int, device: Any, rounds: int, scores: str = "bc") -> list[Row]:
    """Time the first call from so many random roots, and the shortest of the others."""
    roots = np.flatnonzero(np.diff(A.indptr))
    roots = np.random.default_rng(SEED).choice(roots, min(count, len(roots)), replace=False)
    common = {"graph": name, "vertices": A.shape[0], "entries": A.nnz, "roots": len(roots), "device": device}
    common |= {"scores": scores}
    common |= {"lengths": "1 to 10" if is_weighted(A) else "hops"}
    options = {"directed": not is_symmetric(A), "weighted": is_weighted(A), "sources": roots, "device": device}
    first, *others = (common | call(A, scores, options) for _ in range(1 + rounds))
    return [first | {"call": "first"}, min(others, key=lambda row: row["seconds"]) | {"call": "later"}]


def call(A: csr_array, scores: str, options: dict[str, Any]) -> Row:
    """Seconds of a call, and of its phases."""
    with record(_wait if options["device"] == "cuda" else lambda: None) as recorder:
        begun = time.perf_counter()
        getattr(lagbc, scores)(A, reduce="none", **options)
        seconds = time.perf_counter() - begun
    return {"seconds": seconds, **dict(recorder.seconds.items())}


def _wait() -> None:
    import cupy

    cupy.cuda.Device().synchronize()


def markdown(rows: list[Row], picture: str) -> str:
    """Lay out the page."""
    here = machine.describe()
    lines = [
        f"{here['cpu']}, {here['cores']} cores; commit {str(here['commit'])[:10]}. Seconds of `lagbc.bc(A)`",
        "and of `lagbc.edge_bc(A)` from the SciPy matrix to the scores, without reductions; random roots. The first",
        "call that needs a kernel compiles or loads it. In `finish` sums are copied from the GPU, and laid out.",
        "",
        f"![Seconds of a call, by phase]({picture})",
        "",
        f"| {' | '.join(HEAD)} |",
        "|" + "---|" * len(HEAD),
    ]
    for row in rows:
        cells = (f"{row[name]:.3g}" if isinstance(row[name], float) else str(row[name]) for name in HEAD)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def figure(rows: list[Row]) -> Figure:
    """Draw a bar a call after the first, of its phases."""
    rows = [row for row in rows if row["call"] == "later"][::-1]
    picture = Figure(figsize=(8.0, 1.3 + 0.32 * len(rows)), layout="constrained")
    axes = picture.add_subplot()
    left = np.zeros(len(rows))
    for name, colour in zip(PHASES, COLOURS[1:], strict=False):
        seconds = np.array([row[name] for row in rows])
        axes.barh(range(len(rows)), seconds, left=left, label=name, color=colour, height=0.7)
        left += seconds
    names = [", ".join(row[name] for name in ("graph", "scores", "lengths", "device")) for row in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=8)
    axes.set_xlabel("seconds from the SciPy matrix to the scores, kernels compiled")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(
        ncols=len(PHASES), loc="upper center", bbox_to_anchor=(0.4, -0.25 if len(rows) < 8 else -0.15), frameon=False
    )
    return picture


@click.command()
@click.option("--graphs", help="Comma-separated names; by default some for the device.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of Matrix Market files.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--roots", default=1024, show_default=True)
@click.option("--rounds", default=3, show_default=True, help="Calls after the first.")
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS / "calls.md", show_default=True)
def main(graphs: str | None, data: Path | None, device: str, roots: int, rounds: int, out: Path) -> None:
    """Write a table and a picture."""
    known, rows = table(data), []
    for name in (graphs or GRAPHS[device]).split(","):
        A = known[name].load()
        for matrix in (A, with_hashed_lengths(A, SEED)):
            for scores in ("bc", "edge_bc"):
                rows += measure(name, matrix, roots, device, rounds, scores)
                click.echo(", ".join(f"{key} {rows[-1][key]}" for key in HEAD))
    figure(rows).savefig(out.with_suffix(".png"), dpi=130)
    out.write_text(markdown(rows, out.with_suffix(".png").name))
    click.echo(out)


if __name__ == "__main__":
    main()
