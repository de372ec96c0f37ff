"""Measure from how many roots batches pay on a GPU: ``python -m benchmarks.gpu_few_roots --help``.

`batched` and `work-efficient` on real networks, from 256, 1024 and 4096 random roots. `lagbc.methods.table` has the
rule that follows from it. Needs NumPy, SciPy, CuPy and a device.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

import cupy as cp
import numpy as np

from benchmarks.gpu import Case, Entry, Roots, Round, Row, disagreement, environment, order_on_device, run_once
from benchmarks.graphs import NamedGraph, table
from lagbc.graph.graph import Graph
from lagbc.run.sweep import order_roots

COUNTS = (256, 1024, 4096)
ENTRIES = Entry("batched", "float64"), Entry("work-efficient", "float64")
SEED, ROUNDS = 1, 2
SMALLEST = 1000  # vertices


def measure(named: NamedGraph) -> Iterator[Row]:
    """Time both methods from some of the roots, and from all if that is not many more."""
    case = Case(named, SEED, 1, "random", max(COUNTS))
    if case.graph.n < SMALLEST:
        return
    roots = np.random.default_rng(SEED).permutation(np.flatnonzero(case.graph.out_degrees > 0))
    placed = order_on_device(case.graph)
    for count in COUNTS:
        if count > COUNTS[0] and len(roots) <= count // 4:
            break
        chosen = roots[:count]
        best = {entry.name: time_one(entry, placed, order_roots(placed, entry.row, chosen)) for entry in ENTRIES}
        batched, alone = best.values()
        yield case.describe() | {
            "roots": len(chosen),
            "levels": batched.levels,
            **{name: 1e3 * taken.wall / len(chosen) for name, taken in best.items()},
            "error": disagreement(batched.scores, alone.scores),
        }


def time_one(entry: Entry, placed: Graph, roots: Roots) -> Round:
    """Sweep a few times after a warm-up; the shortest counts."""
    cp.get_default_memory_pool().free_all_blocks()
    plan = entry.plan(len(roots))
    state = entry.prepare(placed, plan)
    rounds = [run_once(entry, state, plan, placed, roots) for _ in range(1 + ROUNDS)]
    return min(rounds[1:], key=lambda taken: taken.wall)


def markdown(measured: list[Row], conditions: str) -> str:
    """Lay out a line a graph and number of roots."""
    lines = [
        conditions,
        "",
        "Milliseconds a root, float64, roots drawn at random. Lead: `work-efficient`'s time over that of `batched`.",
        "",
        "| graph | n | nnz | BFS depth / log2(n) | levels | roots | batched | work-efficient | lead |",
        "|" + "---|" * 9,
    ]
    for row in measured:
        ratio = row["depth"] / np.log2(row["n"])
        lead = row["work-efficient"] / row["batched"]
        name = f"{row['graph']}{', directed' * row['directed']}"
        times = f"{row['batched']:.4f} | {row['work-efficient']:.4f} | {lead:.2f}"
        lines.append(
            f"| {name} | {row['n']} | {row['nnz']} | {ratio:.2f} | {row['levels']} | {row['roots']} | {times} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure every file of a folder; write the lines, then the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_few_roots", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="directory of Matrix Market files")
    parser.add_argument("--graphs", help="comma-separated [all files]")
    parser.add_argument("--commit", help="what is measured, where git cannot tell")
    parser.add_argument("--out", type=Path, required=True, help="lines of JSON; the table is written beside them")
    arguments = parser.parse_args()
    known, common = table(arguments.data), environment(arguments.commit)
    names = arguments.graphs.split(",") if arguments.graphs else sorted(_names(arguments.data))
    measured = []
    with arguments.out.open("w") as file:
        for name in names:
            for row in measure(known[name]):
                measured.append(row)
                print(json.dumps(row | common), file=file, flush=True)
    conditions = f"{common['device']}, CuPy {common['cupy']}, commit {common['machine']['commit']}."
    arguments.out.with_suffix(".md").write_text(markdown(measured, conditions))
    print(arguments.out.with_suffix(".md"))


def _names(folder: Path) -> set[str]:
    return {path.name.removesuffix(".gz").removesuffix(".mtx") for path in folder.glob("*.mtx*")}


if __name__ == "__main__":
    main()
