"""Sweeps of two installations of lagbc, in turn: ``python -m benchmarks.against PYTHON_PATH --data FOLDER``.

PYTHON_PATH is where Python finds the other one, such as a checkout of an older commit. A process of each, on one core
and one thread, runs every case in turn after a first call that is not timed; the best processor's times count, and the
scores have to be the same bits. Cases are synthetic graphs and networks, near roots (runs of the order in which a run
from all roots takes them) and random ones, in hops and with lengths, by each method of the CPU, within cutoffs, with
reductions, and of other sums. The page has a row a case, the slowest first. With --jobs several pairs run at a time,
and with --level the other one has other instructions.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import geometric_mean
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np
from scipy.sparse import csr_array

from benchmarks import machine
from benchmarks.generators import (
    barabasi_albert,
    delaunay,
    holed_grid,
    random_directed,
    rmat,
    road_like,
    with_hashed_lengths,
)

OUT = machine.ROOT / "benchmarks" / "results" / "against.md"
HEAD = "| graph | case | other, ms | this, ms | this / other | bits |"
SYNTHETIC: dict[str, Callable[[], csr_array]] = {
    "R-MAT 12-16": lambda: rmat(12, 16, 1),
    "R-MAT 14-16": lambda: rmat(14, 16, 1),
    "Barabasi-Albert": lambda: barabasi_albert(10_000, 10, 1),
    "Delaunay 2^13": lambda: delaunay(1 << 13, 1),
    "holed grid": lambda: holed_grid(100, 100, 1),
    "road-like 2^14": lambda: road_like(1 << 14, 1),
    "directed 2^16, degree 0.9": lambda: random_directed(1 << 16, 0.9, 1),
}
Case = dict[str, Any]


def cases() -> Iterator[Case]:
    """Yield the cases of a graph: a name, a public function of lagbc, its options, and how its roots are chosen."""
    for weighted, traversal in ((False, "work-efficient"), (True, "dijkstra")):
        kind = "lengths" if weighted else "hops"
        for roots in ("near", "random"):
            for method in ("batched", traversal):
                yield _case(f"{method}, {kind}, {roots}", "bc", roots, method=method, weighted=weighted)
        for function in ("edge_bc", "closeness"):
            yield _case(f"{function}, {kind}", function, "near", method="batched", weighted=weighted)
        near, far = (10, 20) if weighted else (2, 4)
        for cutoff in (near, far):
            yield _case(f"within {cutoff}, {kind}", "bc", "near", cutoff=cutoff, weighted=weighted)
        yield _case(f"closeness within {near}, {kind}", "closeness", "near", cutoff=near, weighted=weighted)
    for function in ("harmonic", "stress"):
        yield _case(function, function, "near", method="batched")


def _case(name: str, function: str, roots: str, **options: Any) -> Case:
    return {"name": name, "function": function, "roots": roots, "options": {"reduce": "none", **options}}


class Worker:
    """A process with one installation, which runs cases that it is told by lines of JSON."""

    def __init__(self, environment: dict[str, str], core: int | None) -> None:
        pin = [] if core is None else ["taskset", "-c", str(core)]
        command = [*pin, sys.executable, str(Path(__file__).with_name("against_worker.py"))]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | environment
        )

    def run(self, case: Case) -> dict[str, Any]:
        """Run a case once; seconds and a digest of the scores, or the error."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(case), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"a worker ended at {case}")
        told: dict[str, Any] = json.loads(line)
        return told

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def compare(graph: str, file: Path, other: dict[str, str], rounds: int, count: int, core: int | None) -> Iterator[str]:
    """Yield a row for each case of a graph, with the ratio first."""
    workers = [Worker(other, core), Worker({}, core)]
    for case in cases():
        given = case | {"file": str(file), "count": count}
        told = [worker.run(given) for worker in workers]  # compiles, loads, orders
        if failed := [one["error"] for one in told if "error" in one]:
            yield f"| {graph} | {case['name']} | | | | {failed[0]} |"
            continue
        best = [np.inf, np.inf]
        for _ in range(rounds):
            for number, worker in enumerate(workers):
                best[number] = min(best[number], worker.run(given)["seconds"])
        bits = "same" if told[0]["digest"] == told[1]["digest"] else "differ"
        old, new = best
        yield f"| {graph} | {case['name']} | {1e3 * old:.3g} | {1e3 * new:.3g} | {new / old:.3f} | {bits} |"
    for worker in workers:
        worker.close()


def ratio_of(row: str) -> float:
    """Read the ratio of a row; 0 where a case failed."""
    text = row.split("|")[5].strip()
    return float(text) if text else 0.0


def save(folder: Path, name: str, A: csr_array) -> Path:
    """Write a matrix with lengths where workers read it."""
    weighed = with_hashed_lengths(csr_array(A), 1) if not _has_lengths(A) else csr_array(A)
    file = folder / f"{hashlib.sha256(name.encode()).hexdigest()[:12]}.npz"
    np.savez(file, indptr=weighed.indptr, indices=weighed.indices, data=weighed.data)
    return file


def _has_lengths(A: csr_array) -> bool:
    return bool(A.dtype != bool and np.any(A.data != 1))


@click.command(help=__doc__)
@click.argument("python_path")
@click.option("--data", type=click.Path(exists=True, path_type=Path), help="Folder of Matrix Market files.")
@click.option("--networks", default="", help="Names, separated by commas; all of the folder.")
@click.option("--level", help="Of instructions, of the other one: this one has the best that was built.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--count", default=256, show_default=True, help="Roots.")
@click.option("--jobs", default=1, show_default=True, help="Pairs of processes at a time, each on a core of its own.")
@click.option("--note", default="", help="A sentence for the page.")
@click.option("--out", type=click.Path(path_type=Path), default=OUT, show_default=True)
def main(
    python_path: str,
    data: Path | None,
    networks: str,
    level: str | None,
    rounds: int,
    count: int,
    jobs: int,
    note: str,
    out: Path,
) -> None:
    """Measure every graph, print the rows, and write the page."""
    from scipy.io import mmread

    other = {"PYTHONPATH": python_path} | ({"LAGBC_LEVEL": level} if level else {})

    files = {file.name.removesuffix(".mtx.gz"): file for file in sorted(data.glob("*.mtx.gz"))} if data else {}
    if networks:
        files = {name: files[name] for name in networks.split(",")}
    graphs: dict[str, Callable[[], Any]] = SYNTHETIC | {
        name: lambda file=file: csr_array(mmread(file, spmatrix=False))  # type: ignore[misc]
        for name, file in files.items()
    }
    cores = sorted(os.sched_getaffinity(0))
    begun, rows = time.time(), list[str]()
    with TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        free: list[int | None] = list(cores[:jobs]) if jobs > 1 else [None]

        def measure(graph: str) -> None:
            core = free.pop()
            try:
                for row in compare(graph, save(Path(folder), graph, graphs[graph]()), other, rounds, count, core):
                    rows.append(row)
                    click.echo(row)
            finally:
                free.append(core)

        for done in [pool.submit(measure, graph) for graph in graphs]:
            done.result()
            out.write_text(page(rows, rounds, count, jobs, note), encoding="utf-8")
    click.echo(f"{time.time() - begun:.0f} s")


def page(rows: list[str], rounds: int, count: int, jobs: int, note: str) -> str:
    """Lay out the page: the mean by case, and all rows, the slowest first."""
    ratios: dict[str, list[float]] = {}
    for row in rows:
        if ratio := ratio_of(row):
            ratios.setdefault(row.split("|")[2].strip(), []).append(ratio)
    means = [
        f"| {name} | {len(of)} | {geometric_mean(of):.3f} | {max(of):.3f} | {sum(one > 1.05 for one in of)} |"
        for name, of in ratios.items()
    ]
    return "\n".join(
        [
            "# Sweeps of two installations, in turn",
            "",
            f"{machine.cpu_model()}, one thread a process, {jobs} pairs at a time; {count} roots, the best of {rounds}"
            f" rounds; commit {machine.commit()}. By `python -m benchmarks.against`. {note}".rstrip(),
            "",
            "| case | graphs | this / other, mean | worst | above 1.05 |",
            "| --- | --- | --- | --- | --- |",
            *means,
            "",
            HEAD,
            "|" + " --- |" * (HEAD.count("|") - 1),
            *sorted(rows, key=ratio_of, reverse=True),
            "",
        ]
    )


if __name__ == "__main__":
    main()
