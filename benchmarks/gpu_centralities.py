"""Measure all centralities of the batched method on a GPU: ``python -m benchmarks.gpu_centralities --help``.

Three parts: what the sums of a sweep cost against betweenness alone; the four centralities of gpu-fan's first paper on
a graph of its size, from all roots; and edge betweenness of a small graph, from all roots.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import cupy as cp

import lagbc
from benchmarks.centralities import SWEEPS
from benchmarks.generators import erdos_renyi
from benchmarks.gpu import CHECKED, Case, Entry, Row, disagreement, environment, order_on_device, run_once, timed
from benchmarks.graphs import SEED, NamedGraph, table
from benchmarks.planned import sum_by
from benchmarks.seeds import preferential
from lagbc import tuning
from lagbc.centrality.compute import find_all
from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.table import METHODS
from lagbc.scores.records import USUAL

RESULTS = Path(__file__).parent / "results" / "gpu_centralities.jsonl"
ENTRY = Entry("batched", "float64")
TOLERANCE = 1e-9
# Seconds that gpu-fan took for all roots on its own hardware (Shi and Zhang 2011, table 2).
PUBLISHED_FAN = {"bc": 365.5, "closeness": 92.6, "eccentricity": 91.4, "stress": 338.2}
FAN = preferential(30_000, 50)
# Milliseconds a root that cuGraph's edge betweenness took on a random graph of this size.
PUBLISHED_EDGES = 1.66
EDGES = NamedGraph("random-1000-9935", "random", partial(erdos_renyi, 1000, 2 * 9935 / 1000, SEED))


@dataclass(frozen=True)
class Variant:
    """A sweep for some centralities, with other constants than those of `lagbc.tuning` where they are given."""

    which: tuple[str, ...]
    resident: int | None = None  # blocks a multiprocessor
    own: int | None = None  # bytes of a row that a lane has, where edges are summed

    def set_constants(self) -> None:
        """Compile with them from now on."""
        tuning.RESIDENT.update(CONSTANTS)
        tuning.EDGES_OWN_BYTES = OWN if self.own is None else self.own
        if self.resident is not None:
            tuning.RESIDENT["LEVELS_EDGES" if "edge_bc" in self.which else "LEVELS_STRESS"] = self.resident

    @property
    def label(self) -> str:
        """How the table calls it."""
        constants = {"resident": self.resident, "own": self.own}
        return ", ".join([*self.which, *(f"{name} {value}" for name, value in constants.items() if value is not None)])


CONSTANTS, OWN = dict(tuning.RESIDENT), tuning.EDGES_OWN_BYTES
VARIANTS = (
    *(Variant(which) for which in SWEEPS),
    *(Variant(("edge_bc",), resident, own) for resident, own in ((2, 64), (4, 64), (4, 32))),
    *(Variant(tuple(one.name for one in USUAL), resident) for resident in (3, 5)),
)


def sweeps(name: str, roots: int, rounds: int, until: float, variants: Sequence[Variant]) -> Iterator[Row]:
    """Time each sweep in turn with betweenness alone; the ratio is the median of the rounds' ratios."""
    case = Case(table()[name], SEED, roots, "random", roots)
    case.load()
    placed = order_on_device(case.graph)
    lined_up = placed.line_up(case.roots, ENTRY.row.device)
    alone = Variant(("bc",))
    for variant in variants:
        row = case.describe() | {"part": "sweeps", "label": variant.label, "roots": len(case.roots)}
        if time.perf_counter() > until:
            yield row | {"status": "not run: out of time"}
            continue
        cp.get_default_memory_pool().free_all_blocks()
        plan, state = prepare(variant, placed, len(case.roots))
        error = check(placed, case, variant, plan, state)
        plan_alone, state_alone = prepare(alone, placed, len(case.roots))
        pairs = []
        for _ in range(rounds + 1):  # the first one warms up
            variant.set_constants()
            ours = run_once(ENTRY, state, plan, placed, lined_up)
            alone.set_constants()
            pairs.append((ours, run_once(ENTRY, state_alone, plan_alone, placed, lined_up)))
        best = min((ours for ours, _ in pairs[1:]), key=lambda ours: ours.kernels)
        yield row | {
            "seconds": best.wall,
            "kernel_seconds": best.kernels,
            "forward_seconds": best.forward,
            "backward_seconds": best.backward,
            "ratio": statistics.median(ours.kernels / base.kernels for ours, base in pairs[1:]),
            "ratio_to_host": statistics.median(ours.wall / base.wall for ours, base in pairs[1:]),
            "peak_bytes": cp.get_default_memory_pool().total_bytes(),
            "error": error,
            "status": "ok" if error <= TOLERANCE else "wrong: disagrees with batched on cpu",
        }


def prepare(variant: Variant, placed: Graph, batch: int) -> tuple[SweepPlan, Any]:
    """Make plan and state of a sweep."""
    variant.set_constants()
    plan = replace(ENTRY.plan(batch), sums=frozenset().union(*(one.sums for one in find_all(variant.which))))
    return plan, ENTRY.prepare(placed, plan)


def check(placed: Graph, case: Case, variant: Variant, plan: SweepPlan, state: Any) -> float:
    """Find the largest difference from the CPU's method in any sum, over 1 + it, from some of the roots."""
    variant.set_constants()
    roots = case.roots[:: max(1, len(case.roots) // CHECKED)][:CHECKED]
    ours = run_once(ENTRY, state, plan, placed, roots).sums
    row = next(row for row in METHODS if (row.name, row.device, row.weighted) == ("batched", "cpu", False))
    theirs = sum_by(row, case.graph, roots, row.load().batching.block, plan.sums)
    return max(disagreement(array, getattr(theirs, name)) for name, array in ours)


def all_roots(named: NamedGraph, which: Sequence[str], rounds: int, until: float) -> Iterator[Row]:
    """Time public functions from all roots, on a matrix of the host; the graph is read and ordered each time."""
    A = named.load()
    for name in which:
        row: Row = {"part": named.name, "graph": named.name, "n": A.shape[0], "nnz": A.nnz, "label": name}
        if time.perf_counter() > until:
            yield row | {"status": "not run: out of time"}
            continue
        call = partial(getattr(lagbc, name), A, directed=False, method="batched", device="cuda")
        timed(call)
        seconds = [timed(call)[0] for _ in range(rounds)]
        yield row | {"seconds": min(seconds), "ms_per_root": 1e3 * min(seconds) / A.shape[0], "status": "ok"}


def rows(graph: str, roots: int, rounds: int, until: float, *, tune: bool) -> Iterator[Row]:
    """Measure all parts."""
    yield from sweeps(graph, roots, rounds, until, VARIANTS if tune else VARIANTS[: len(SWEEPS)])
    Variant(("bc",)).set_constants()
    yield from all_roots(EDGES, ("edge_bc",), rounds, until)
    yield from all_roots(FAN, tuple(PUBLISHED_FAN), rounds, until)


def markdown(measured: list[Row]) -> str:
    """Lay out a table for each part."""
    first, done = measured[0], [row for row in measured if row["status"] == "ok"]
    lines = [
        f"{first['device']}, CUDA {first['cuda']}, CuPy {first['cupy']}; float64.",
        "",
        "One sweep for several centralities, against betweenness alone: the median ratio of rounds that follow each "
        "other, of the kernels and with the sums copied to the host. Resident and own: other constants; with own 32, "
        "two warps add to an edge's sum, in any order, so that lagbc does not use it.",
        "",
        "| graph | roots | sweep | forward, ms | backward, ms | ratio | ratio, to the host | GiB | error | commit |",
        "|" + " --- |" * 10,
    ]
    for row in done:
        if row["part"] == "sweeps":
            lines.append(
                f"| {row['graph']} | {row['roots']} | {row['label']} | {row['forward_seconds'] * 1e3:.1f} | "
                f"{row['backward_seconds'] * 1e3:.1f} | {row['ratio']:.2f} | {row['ratio_to_host']:.2f} | "
                f"{row['peak_bytes'] / 2**30:.1f} | {row['error']:.0e} | {row['machine']['commit']} |"
            )
    lines += [
        "",
        "All roots, from a matrix on the host, by the public functions. Published: seconds of gpu-fan on its own "
        "hardware; milliseconds a root of cuGraph.",
        "",
        "| graph | n | nnz | centrality | seconds | ms a root | published | commit |",
        "|" + " --- |" * 8,
    ]
    for row in done:
        if row["part"] != "sweeps":
            published = f"{PUBLISHED_EDGES} ms" if row["part"] == EDGES.name else f"{PUBLISHED_FAN[row['label']]} s"
            lines.append(
                f"| {row['graph']} | {row['n']:,} | {row['nnz']:,} | {row['label']} | {row['seconds']:.3f} | "
                f"{row['ms_per_root']:.4f} | {published} | {row['machine']['commit']} |"
            )
    return "\n".join(lines) + "\n"


@click.command()
@click.option("--graph", default="rmat-20-16", show_default=True, help="Of the first part; of `benchmarks.graphs`.")
@click.option("--roots", default=1024, show_default=True, help="Of the first part; one batch.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--tune/--no-tune", default=True, show_default=True, help="Also sweep with other constants.")
@click.option("--budget", default=float("inf"), show_default=True, help="Seconds after which nothing is begun.")
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True, help="A .jsonl file.")
def main(graph: str, roots: int, rounds: int, tune: bool, budget: float, out: Path) -> None:
    """Write a line a measurement, and tables beside it."""
    if graph not in table():
        raise click.BadParameter(f"no graph {graph}; there are {', '.join(table())}", param_hint="--graph")
    common, measured = environment(), []
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w") as results:
        for row in rows(graph, roots, rounds, time.perf_counter() + budget, tune=tune):
            measured.append(row | common)
            print(json.dumps(measured[-1]), file=results, flush=True)
            figures = [f"{name} {row[name]:.4g}" for name in ("seconds", "ratio", "ms_per_root") if name in row]
            click.echo(f"{row['graph']}: {row['label']}: {row['status']} {', '.join(figures)}")
    page = out.with_suffix(".md")
    page.write_text(markdown(measured))
    click.echo(page)
    if any(row["status"].startswith("wrong") for row in measured):
        raise SystemExit("a sum disagrees with the CPU's")


if __name__ == "__main__":
    main()
