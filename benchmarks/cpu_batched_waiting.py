"""Hops by levels, and with rows that wait: ``python -m benchmarks.cpu_batched_waiting --data FOLDER``.

The two ways of `batched` on the CPU, of which `Graph.has_high_diameter` takes one. One thread; batches of 64 roots,
near ones (in the order of a run from all roots, from all over it) or random ones (seed 1); the graph is read and
ordered, and kernels are compiled. Processor time, best of interleaved rounds. Sums have to agree.
"""

from __future__ import annotations

from pathlib import Path
from time import process_time
from types import ModuleType
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from benchmarks import machine
from benchmarks.planned import RUN, near
from benchmarks.survey import Case, Network, pick
from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu.batched import levels, waiting
from lagbc.methods.cpu.batched.sweep import COLUMNS
from lagbc.methods.sums import Sums

RESULTS = Path(__file__).parent / "results" / "cpu_batched_waiting.md"
WAYS = {"levels": levels, "waiting": waiting}


def sweep(
    way: ModuleType, state: Any, graph: Graph, roots: NDArray[np.int64]
) -> tuple[float, int, NDArray[np.float64]]:
    """Sweep all batches; return seconds, entries of the queues that were counted, and the sums."""
    total, entries = np.zeros((1, graph.n)), 0
    begun = process_time()
    for first in range(0, len(roots), COLUMNS):
        for found in way.forward(state, roots[first : first + COLUMNS]):
            way.backward(state, found, Sums(dependency=total))
            entries += found.entries
    return process_time() - begun, entries, total


def measure(graph: Graph, roots: NDArray[np.int64], rounds: int) -> str:
    """Measure both ways on some roots, and lay out the cells."""
    plan = SweepPlan(batch=COLUMNS, roots=len(roots))
    states = {name: way.prepare(graph, plan) for name, way in WAYS.items()}
    best, rows, sums = dict.fromkeys(WAYS, np.inf), dict.fromkeys(WAYS, 0.0), {}
    for number in range(rounds + 1):
        for name, way in WAYS.items():
            taken, entries, sums[name] = sweep(way, states[name], graph, roots)
            best[name] = min(best[name], taken) if number else np.inf  # the first compiles
            rows[name] = entries / graph.n / -(-len(roots) // COLUMNS)
    np.testing.assert_allclose(sums["waiting"], sums["levels"], rtol=1e-9, atol=1e-9)
    times = [1e6 * best[name] / len(roots) for name in WAYS]
    reads = " | ".join(f"{rows[name]:.1f}" for name in WAYS)
    return f"{reads} | {times[0]:.4g} | {times[1]:.4g} | {times[0] / times[1]:.2f} |"


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Folder of Matrix Market files; by default lagbc's own.")
@click.option("--only", multiple=True, metavar="NETWORK", help="Not all of them.")
@click.option("--near", "count", default=1024, show_default=True, help="Near roots.")
@click.option("--random", "drawn", default=256, show_default=True, help="Random roots.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True)
def main(data: Path | None, only: tuple[str, ...], count: int, drawn: int, rounds: int, out: Path) -> None:
    """Write a table: how often a row is counted for 64 roots, microseconds a root, and the gain."""
    lines = []
    for named in pick(data, only):
        network = Network(named, weighted=False)
        graph = network.graph
        for kind, number in (("near", count), ("random", drawn)):
            case = Case(False, kind, number, "cpu", 1)
            roots = near(network.order, number, RUN["cpu"]) if kind == "near" else network.roots(case)
            diameter = "high" if graph.has_high_diameter else "low"
            lines.append(f"| {named.name} | {graph.n:,} | {diameter} | {kind} | {measure(graph, roots, rounds)}")
            click.echo(lines[-1])
    commit = (machine.commit() or "unknown")[:10]
    head = [
        "# Hops by levels, and with rows that wait",
        "",
        f"{machine.cpu_model()}, one thread, commit {commit}; {count:,} near roots and {drawn} random",
        f"ones, processor time, best of {rounds} interleaved rounds. Where other programs load it, compare in a row.",
        "Rows are entries of the queue that is counted, a vertex and batch; times are microseconds a root.",
        "",
        "    python -m benchmarks.cpu_batched_waiting --data FOLDER",
        "",
        "| network | vertices | diameter | roots | rows, levels | rows, waiting | levels | waiting | gain |",
        "|" + "---|" * 9,
    ]
    tail = out.read_text().partition("\n## ")[2] if out.exists() else ""
    out.write_text("\n".join([*head, *lines]) + "\n" + (f"\n## {tail}" if tail else ""))


if __name__ == "__main__":
    main()
