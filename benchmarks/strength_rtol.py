"""What a tolerance costs where values are strengths: ``python -m benchmarks.strength_rtol --data FOLDER``.

Of each network with values they are taken as strengths w, that is lengths 1 / w, undirected, all roots or a sample:
`lagbc.bc` with ``rtol=0`` and ``rtol=1e-9`` in turn, the best of some rounds each, on one thread. Columns tell how many
scores differ by more than 1e-6, relative to the larger, as ties fall otherwise.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import Any

import click
import numpy as np
from scipy.io import mmread
from scipy.sparse import csr_array

import lagbc
from benchmarks import machine

OUT = machine.ROOT / "benchmarks" / "results" / "strength_rtol.md"
HEAD = "| network | vertices | roots | rtol=0, s | rtol=1e-9, s | times | scores that differ |"
NETWORKS = "lesmis,celegansneural,USAir97,netscience,hep-th,cond-mat,human-ppi-weighted"


def measure(A: csr_array, roots: int, rounds: int) -> tuple[float, float, int]:
    """Return the seconds without a tolerance and with one, and how many scores differ."""
    n = A.shape[0]
    sources = np.sort(np.random.default_rng(1).choice(n, min(roots, n), replace=False))
    seconds, scores = {0.0: np.inf, 1e-9: np.inf}, dict[float, Any]()
    for turn in range(rounds + 1):  # the first compiles
        for rtol in seconds:
            begun = perf_counter()
            scores[rtol] = lagbc.bc(
                A, directed=False, strength=True, sources=sources, rtol=rtol, threads=1, device="cpu"
            )
            if turn:
                seconds[rtol] = min(seconds[rtol], perf_counter() - begun)
    exact, near = scores.values()
    differ = np.abs(exact - near) > 1e-6 * np.maximum(np.abs(exact), np.abs(near))
    return seconds[0.0], seconds[1e-9], int(np.count_nonzero(differ))


@click.command(help=__doc__)
@click.option("--data", type=click.Path(exists=True, path_type=Path), required=True, help="Folder of networks.")
@click.option("--networks", default=NETWORKS, show_default=True)
@click.option("--roots", default=4096, show_default=True, help="At most so many.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=OUT, show_default=True)
def main(data: Path, networks: str, roots: int, rounds: int, out: Path) -> None:
    """Measure the networks, print the rows, and write the page."""
    lines = [f"# Strengths with a tolerance\n\n{machine.cpu_model()}, one thread; commit {machine.commit()}. By\n"]
    lines += ["    python -m benchmarks.strength_rtol --data FOLDER\n", HEAD, "|" + " --- |" * (HEAD.count("|") - 1)]
    for name in networks.split(","):
        A = csr_array(mmread(data / f"{name}.mtx.gz", spmatrix=False))
        without, tolerant, differ = measure(A, roots, rounds)
        lines.append(
            f"| {name} | {A.shape[0]:,} | {min(roots, A.shape[0])} | {without:.4g} | {tolerant:.4g} "
            f"| {tolerant / without:.2f} | {differ} |"
        )
        click.echo(lines[-1])
        out.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
