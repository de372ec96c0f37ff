"""Hold estimates of memory against what runs take: ``python -m benchmarks.memory --data FOLDER``.

A case is a network, hops or lengths (integers from 1 to 10, alike both ways), and a method. Each runs in a process of
its own, forked from this one when all is compiled, which reads the matrix, calls `lagbc.bc` from two roots, gives free
memory back, and calls it from all. What resident memory then rises by, at its peak, is what the run took: at the first
call the libraries' own pages are read, too. `lagbc.estimate_memory` is asked with the same arguments. Roots are drawn
at random, so that those of a batch are far apart, which takes more memory than roots near each other. Objects of the
interpreter, and stacks and heaps of threads, are in what is taken, but in no estimate: up to `NOISE`.

Results are JSON lines, a line a case, and a table of them.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Sequence
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy.sparse import csr_array

import lagbc
from benchmarks import machine
from benchmarks.generators import with_hashed_lengths
from benchmarks.graphs import SEED
from lagbc.comparison.peak import PeakMemory

RESULTS = Path(__file__).parent / "results" / "memory.md"
METHODS = {False: ("batched", "work-efficient"), True: ("batched", "dijkstra")}
# From so many bytes that are estimated on, an estimate is to be at most `MOST` times what the run took.
LARGE, MOST = 100e6, 1.3
NOISE = 2**21
WARM_UP = ("karate", "minnesota")  # of low and of high diameter: all that is needed is compiled
HEADS = ("network", "n", "nnz", "lengths", "method", "threads", "MB taken", "MB estimated", "estimated / taken")

Row = dict[str, Any]


def read(path: Path, *, weighted: bool) -> tuple[csr_array, bool]:
    """Read a network, and whether its edges have directions."""
    given = lagbc.read_graph(path)
    A = csr_array(given.matrix.astype(np.float64))
    return with_hashed_lengths(A, SEED) if weighted else A, given.directed


def warm_up(method: Any, threads: int, *, weighted: bool, directed: bool) -> None:
    """Call a method on small networks."""
    for name in WARM_UP:
        A, _ = read(lagbc.example_path(name), weighted=weighted)
        lagbc.bc(A, directed=directed, weighted=weighted, method=method, device="cpu", threads=threads)


def measure(path: Path, method: str, roots: int, threads: int, *, weighted: bool) -> Row:
    """Estimate the memory of a run, and have it run."""
    A, directed = read(path, weighted=weighted)
    n = A.shape[0]
    drawn = np.random.default_rng(SEED).choice(n, min(roots, n), replace=False)
    options: Any = {"directed": directed, "weighted": weighted, "method": method, "device": "cpu", "threads": threads}
    lagbc.bc(A, sources=drawn[:2], **options)
    with PeakMemory("cpu") as peak:
        lagbc.bc(A, sources=drawn, **options)
    estimate = lagbc.estimate_memory(A, roots=len(drawn), **options)
    parts = {name: getattr(estimate, name) for name in ("threads", "graph", "workspace", "scores")}
    case = {"network": path.name.split(".mtx")[0], "n": n, "nnz": A.nnz, "directed": directed, "weighted": weighted}
    return case | {"method": method, "roots": len(drawn)} | parts | {"taken": peak.bytes, "estimated": estimate.total}


def measured_apart(path: Path, method: str, roots: int, threads: int, *, weighted: bool) -> Row:
    """Measure a case in a process of its own."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)

    def send(end: Connection) -> None:
        end.send(measure(path, method, roots, threads, weighted=weighted))

    child = context.Process(target=send, args=(theirs,))
    child.start()
    theirs.close()
    row: Row = ours.recv()
    child.join()
    return row


def is_off(row: Row) -> bool:
    """Whether an estimate is too low, or, of a run that is not small, too high."""
    is_low, is_high = row["taken"] > row["estimated"] + NOISE, row["estimated"] > max(LARGE, MOST * row["taken"])
    return bool(is_low or is_high)


def page(rows: Sequence[Row], command: str) -> str:
    """Lay out the results."""
    host = rows[0]["machine"]
    packages = ", ".join(f"{name} {version}" for name, version in host["packages"].items() if version)
    large = [row for row in rows if row["estimated"] >= LARGE]
    ratios = [row["estimated"] / row["taken"] for row in large]
    off = [row for row in rows if is_off(row)]
    lines = [
        f"`{command}` on {host['cpu']}, {host['cores']} cores, {host['system']}, Python {host['python']}, {packages}; "
        f"commit {host['commit']}.",
        "",
        f"{len(rows)} runs from up to {rows[0]['roots']} random roots. {len(large)} of them are estimated at 100 MB or "
        f"more: {min(ratios, default=0):.2f} to {max(ratios, default=0):.2f} times what they took. Below what was "
        f"taken by more than 2 MiB, or, from 100 MB on, above {MOST} times as much: {len(off)}.",
        "",
        f"| {' | '.join(HEADS)} |",
        "|" + "---|" * len(HEADS),
    ]
    for row in rows:
        ratio = f"{row['estimated'] / max(row['taken'], 1):.2f}"
        lengths = "1 to 10" if row["weighted"] else "hops"
        sizes = [f"{row[name] / 1e6:.1f}" for name in ("taken", "estimated")]
        cells = [row["network"], row["n"], row["nnz"], lengths, row["method"], row["threads"], *sizes]
        lines.append(f"| {' | '.join(map(str, cells))} | {f'**{ratio}**' if is_off(row) else ratio} |")
    return "\n".join(lines) + "\n"


@click.command()
@click.option("--data", type=click.Path(path_type=Path, exists=True), help="Folder of Matrix Market files.")
@click.option("--networks", help="Names of files, comma-separated; by default all.")
@click.option("--roots", default=128, show_default=True)
@click.option("--threads", default=2, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True)
def main(data: Path | None, networks: str | None, roots: int, threads: int, out: Path) -> None:
    """Write a table, and the lines that it is made of."""
    kinds = [(weighted, method) for weighted, methods in METHODS.items() for method in methods]
    for weighted, method in kinds:
        for directed in (False, True):
            warm_up(method, threads, weighted=weighted, directed=directed)
    folder = lagbc.example_path("karate").parent if data is None else data
    wanted = None if networks is None else networks.split(",")
    named = ("" if data is None else " --data FOLDER") + ("" if networks is None else f" --networks {networks}")
    rows: list[Row] = []
    for path in sorted(folder.glob("*.mtx*")):
        if wanted is not None and path.name.split(".mtx")[0] not in wanted:
            continue
        for weighted, method in kinds:
            row = measured_apart(path, method, roots, threads, weighted=weighted)
            rows.append(row | {"machine": machine.describe(), "date": datetime.now(UTC).isoformat()})
            sizes = " ".join(f"{row[name] / 1e6:.1f}" for name in ("taken", "estimated"))
            click.echo(f"{row['network']} {'lengths' if weighted else 'hops'} {method}: {sizes}{' OFF' * is_off(row)}")
        out.with_suffix(".jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        out.write_text(page(rows, f"python -m benchmarks.memory{named} --roots {roots} --threads {threads}"))


if __name__ == "__main__":
    main()
