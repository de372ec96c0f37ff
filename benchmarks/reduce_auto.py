"""What ``reduce="auto"`` costs where nothing is reduced: ``python -m benchmarks.reduce_auto --data FOLDER``.

Whole calls of `lagbc.bc` from a SciPy matrix, in hops, warm, undirected and, where a matrix is not symmetric,
directed: ``reduce="none"`` and ``"auto"`` in turn, the best of some rounds each, and of three times as many where
"auto" is behind after them. From many roots the sweeps are not run to their end: of such a run, marked ~, the sweeps
of "none" are extrapolated from those of fewer roots, and "auto", where it reduces nothing, is that and what it plans
longer. "auto" is behind where it takes more than 5 % and 2 ms longer. With ``--device cuda`` the same on a GPU. The
command ends with status 1 if "auto" is behind anywhere.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import numpy as np
from scipy.io import mmread
from scipy.sparse import csr_array

import lagbc
from benchmarks import machine
from benchmarks.generators import rmat
from benchmarks.graphs import is_symmetric

RESULTS = machine.ROOT / "benchmarks" / "results"
ROOTS = (256, 1024, 4096, 16384)
HEAD = "| graph | roots | none, s | auto, s | times | auto |"


def best(rounds: int, *calls: Callable[[], Any]) -> list[float]:
    """Time calls in turn; the best seconds of each."""
    seconds = [np.inf] * len(calls)
    for _ in range(rounds):
        for number, call in enumerate(calls):
            begun = perf_counter()
            call()
            seconds[number] = min(seconds[number], perf_counter() - begun)
    return seconds


def is_behind(none: float, auto: float) -> bool:
    """Whether seconds of "auto" are more than 5 % and 2 ms beyond those of "none"."""
    return auto - none > max(0.05 * none, 0.002)


def measure(
    A: csr_array, directed: bool, roots: int, device: Any, rounds: int, limit: float, rate: float
) -> tuple[str, float, bool]:
    """Measure from so many roots; return the end of the row, seconds a root of "none", and whether "auto" is behind.

    `rate` is what "none" took a root before, 0 if that is not known.
    """
    n = A.shape[0]
    sources = None if roots == n else np.sort(np.random.default_rng(1).choice(n, roots, replace=False))

    def run(reduce: Any) -> Any:
        return lagbc.bc(A, directed=directed, sources=sources, reduce=reduce, device=device)

    def plan(reduce: Any) -> Any:
        return lagbc.plan(A, directed=directed, sources=sources, reduce=reduce, device=device)

    reason = plan("auto").reason
    reduces = " of the work" in reason
    if rate * roots <= limit:
        none, auto = best(rounds, lambda: run("none"), lambda: run("auto"))
        if is_behind(none, auto):
            again = best(3 * rounds, lambda: run("none"), lambda: run("auto"))
            none, auto = min(none, again[0]), min(auto, again[1])
        rate, mark = none / roots, ""
    else:
        plain, looked = best(rounds, lambda: plan("none"), lambda: plan("auto"))
        none = rate * roots
        auto, mark = none + looked - plain, "~"
        if reduces:
            return f"{mark}{none:.3g} | | | reduces |", rate, False
    behind = is_behind(none, auto)
    told = ("reduces" if reduces else "as it is") + (", behind" if behind else "")
    return f"{mark}{none:.4g} | {mark}{auto:.4g} | {auto / none:.3f} | {told} |", rate, behind


@click.command(help=__doc__)
@click.option("--data", type=click.Path(exists=True, path_type=Path), help="Folder of Matrix Market files.")
@click.option("--networks", default="", help="Names, separated by commas; all of the folder.")
@click.option("--rmat", "scales", default="18", show_default=True, help="Scales of R-MAT graphs of edge factor 16.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--rounds", default=5, show_default=True)
@click.option("--limit", default=2.0, show_default=True, help="Seconds of a run that is run to its end.")
@click.option("--out", type=click.Path(path_type=Path))
def main(
    data: Path | None, networks: str, scales: str, device: str, rounds: int, limit: float, out: Path | None
) -> None:
    """Measure every graph, print the rows, and write the page."""
    out = out or RESULTS / f"reduce_auto_{device}.md"
    files = {file.name.removesuffix(".mtx.gz"): file for file in sorted(data.glob("*.mtx.gz"))} if data else {}
    graphs: dict[str, Callable[[], Any]] = {
        name: lambda file=files[name]: mmread(file, spmatrix=False)  # type: ignore[misc]
        for name in (networks.split(",") if networks else files)
    }
    graphs |= {f"R-MAT {scale}-16": lambda scale=int(scale): rmat(scale, 16, 1) for scale in scales.split(",") if scale}  # type: ignore[misc]
    rows, any_behind = list[str](), False
    about = f"{machine.cpu_model()}, {machine.cores()} cores" + (f", {_gpu()}" if device == "cuda" else "")
    for name, load in graphs.items():
        A = csr_array(load())
        for directed in [False] + [True] * (not is_symmetric(A)):
            lagbc.bc(A, directed=directed, k=min(64, A.shape[0]), device=device, reduce="none")  # type: ignore[call-overload]
            lagbc.plan(A, directed=directed, reduce="all", device=device)  # type: ignore[arg-type]
            rate, called = 0.0, f"{name}, directed" if directed else name
            for roots in (*(count for count in ROOTS if count < A.shape[0]), A.shape[0]):
                row, rate, behind = measure(A, directed, roots, device, rounds, limit, rate)
                rows.append(f"| {called} | {'all' if roots == A.shape[0] else roots} | {row}")
                any_behind |= behind
                click.echo(rows[-1])
        lines = ['# `reduce="auto"` beside `"none"`', "", f"{about}; commit {machine.commit()}. By", ""]
        lines += [f"    python -m benchmarks.reduce_auto --device {device} --limit {limit} --rounds {rounds}", ""]
        out.write_text("\n".join([*lines, HEAD, "|" + " --- |" * (HEAD.count("|") - 1), *rows, ""]), encoding="utf-8")
    sys.exit(any_behind)


def _gpu() -> str:
    import cupy

    name: str = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    return name


if __name__ == "__main__":
    main()
