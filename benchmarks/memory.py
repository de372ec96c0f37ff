"""Hold estimates of memory against what runs take: ``python -m benchmarks.memory --data FOLDER``.

A case is a network, hops or lengths (integers from 1 to 10, alike both ways), and a method. Each runs in a process of
its own, which has read the matrix, called the method on small networks of both kinds of orders, and given free memory
back to the system. What resident memory then rises by, at its peak, while `lagbc.bc` is called, is what the run took;
`lagbc.estimate_memory` is asked with the same arguments. Roots are drawn at random, so that those of a batch are far
apart, which takes more memory than roots near each other. Objects of the interpreter and heaps of threads are in it.

Results are JSON lines, a line a case, and a table of them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
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
HEADS = ("network", "n", "nnz", "lengths", "method", "threads", "MB taken", "MB estimated", "estimated / taken")

Row = dict[str, Any]


def read(path: Path, *, weighted: bool) -> tuple[csr_array, bool]:
    """Read a network, and whether its edges have directions."""
    given = lagbc.read_graph(path)
    A = csr_array(given.matrix.astype(np.float64))
    return with_hashed_lengths(A, SEED) if weighted else A, given.directed


def measure(path: Path, method: str, roots: int, threads: int, *, weighted: bool) -> Row:
    """Estimate the memory of a run, and have it run; once in a process, as compiled functions stay."""
    options: Any = {"weighted": weighted, "method": method, "device": "cpu", "threads": threads}
    A, directed = read(path, weighted=weighted)
    for name in ("karate", "minnesota"):  # of low and of high diameter: all that is needed is compiled
        small, _ = read(lagbc.example_path(name), weighted=weighted)
        lagbc.bc(small, directed=directed, sources=np.arange(34), **options)
    n = A.shape[0]
    drawn = np.random.default_rng(SEED).choice(n, min(roots, n), replace=False)
    with PeakMemory("cpu") as peak:
        lagbc.bc(A, directed=directed, sources=drawn, **options)
    estimate = lagbc.estimate_memory(A, directed=directed, roots=len(drawn), **options)
    parts = {name: getattr(estimate, name) for name in ("threads", "graph", "workspace", "scores")}
    case = {"network": path.name.split(".mtx")[0], "n": n, "nnz": A.nnz, "directed": directed, "weighted": weighted}
    return case | {"method": method, "roots": len(drawn)} | parts | {"taken": peak.bytes, "estimated": estimate.total}


def measured_apart(path: Path, method: str, roots: int, threads: int, *, weighted: bool) -> Row:
    """Measure a case in a process of its own."""
    case = [str(path), method, str(roots), str(threads), "lengths" if weighted else "hops"]
    command = [sys.executable, "-m", "benchmarks.memory", "case", *case]
    row: Row = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    return row


def is_off(row: Row) -> bool:
    """Whether an estimate is too low, or, of a run that is not small, too high."""
    return bool(row["taken"] > row["estimated"] or row["estimated"] > max(LARGE, MOST * row["taken"]))


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
        f"more: {min(ratios, default=0):.2f} to {max(ratios, default=0):.2f} times what they took. Below what was taken"
        f", or, from 100 MB on, above {MOST} times as much: {len(off)}.",
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


@click.group(invoke_without_command=True)
@click.option("--data", type=click.Path(path_type=Path, exists=True), help="Folder of Matrix Market files.")
@click.option("--networks", help="Names of files, comma-separated; by default all.")
@click.option("--roots", default=256, show_default=True)
@click.option("--threads", default=2, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True)
@click.pass_context
def main(
    context: click.Context, data: Path | None, networks: str | None, roots: int, threads: int, out: Path
) -> None:
    """Write a table, and the lines that it is made of."""
    if context.invoked_subcommand is not None:
        return
    folder = lagbc.example_path("karate").parent if data is None else data
    wanted = None if networks is None else networks.split(",")
    rows = []
    for path in sorted(folder.glob("*.mtx*")):
        if wanted is not None and path.name.split(".mtx")[0] not in wanted:
            continue
        for weighted, methods in METHODS.items():
            for method in methods:
                row = measured_apart(path, method, roots, threads, weighted=weighted)
                rows.append(row | {"machine": machine.describe(), "date": datetime.now(UTC).isoformat()})
                sizes = [f"{row[name] / 1e6:.1f}" for name in ("taken", "estimated", "graph", "workspace", "scores")]
                kind = "lengths" if weighted else "hops"
                click.echo(f"{row['network']} {kind} {method}: {' '.join(sizes)} MB{' OFF' * is_off(row)}")
    out.with_suffix(".jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    named = "" if networks is None else f" --networks {networks}"
    of = "" if data is None else " --data FOLDER"
    out.write_text(page(rows, f"python -m benchmarks.memory{of}{named} --roots {roots} --threads {threads}"))


@main.command(hidden=True)
@click.argument("path", type=click.Path(path_type=Path))
@click.argument("method")
@click.argument("roots", type=int)
@click.argument("threads", type=int)
@click.argument("kind", type=click.Choice(["hops", "lengths"]))
def case(path: Path, method: str, roots: int, threads: int, kind: str) -> None:
    """Measure one case in this process, and print its line."""
    print(json.dumps(measure(path, method, roots, threads, weighted=kind == "lengths")))


if __name__ == "__main__":
    main()
