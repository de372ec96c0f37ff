"""Whole calls on all cores against one: ``python -m benchmarks.many_cores``.

A call is timed by the clock, the best of some rounds, with one thread and with a thread a core: from a matrix that
lagbc has not seen to the scores of some roots. Then one call on all cores is told phase by phase. The cores share the
phases before the sweeps as far as they can, whatever `threads` is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import click
from scipy.sparse import csr_array

import lagbc
from benchmarks import machine
from benchmarks.generators import delaunay, rmat
from lagbc.calls import record

OUT = machine.ROOT / "benchmarks" / "results" / "many_cores.md"
CASES: dict[str, tuple[Callable[[], csr_array], int]] = {
    "Delaunay 2^16": (lambda: delaunay(1 << 16, 1), 8192),
    "R-MAT 16-16": (lambda: rmat(16, 16, 1), 8192),
}


def seconds(A: csr_array, roots: int, threads: int) -> float:
    """Time one call."""
    begun = time.perf_counter()
    lagbc.bc(A, directed=False, device="cpu", k=roots, rng=1, threads=threads)
    return time.perf_counter() - begun


@click.command(help=__doc__)
@click.option("--rounds", default=3, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=OUT, show_default=True)
def main(rounds: int, out: Path) -> None:
    """Time all cases, and write the page."""
    cores = machine.cores()
    rows, phases = list[str](), list[str]()
    for name, (make, roots) in CASES.items():
        A = make()
        seconds(A, 256, cores)  # threads are started, pages are touched
        alone = seconds(A, roots, 1)
        together = min(seconds(A, roots, cores) for _ in range(rounds))
        rows.append(f"| {name} | {roots:,} | {alone:.2f} | {together:.3f} | {alone / together:.1f} |")
        with record() as recorder:
            whole = seconds(A, roots, cores)
        told = ", ".join(f"{phase} {spent:.3f}" for phase, spent in recorder.seconds.items() if spent > 0.001)
        phases.append(f"{name}: {told} of {whole:.3f} s.")
        click.echo(rows[-1] + " " + phases[-1])
    head = f"{machine.cpu_model()}, {cores} cores; commit {machine.commit()}; `python -m benchmarks.many_cores`."
    table = ["| graph | roots | one thread, s | all cores, s | ratio |", "| --- | --- | --- | --- | --- |", *rows]
    lines = ["# Whole calls on many cores", "", head, "", *table, "", *phases, ""]
    out.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
