"""Time `batched` on a GPU by what counts as a hub, as a table in Markdown: ``python -m benchmarks.gpu_hubs --help``.

A hub's row is swept by a block, any other by a warp. The columns are numbers of edges above which a row is a hub; the
last one is the rule of `lagbc.tuning`. Milliseconds a root with the sums on the host, best of three.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click
import cupy as cp

from benchmarks.generators import rmat
from benchmarks.gpu import Case, Entry, environment, order_on_device, run_once
from benchmarks.graphs import SEED, NamedGraph, table
from benchmarks.seeds import preferential
from lagbc import tuning

ENTRY = Entry("batched", "float64")
EDGES = (1024, 512, 256, 128, 64)
RULE = tuning.HUB_EDGES


def graphs(data: Path | None) -> list[NamedGraph]:
    """Small real networks, if they are there, and scale-free graphs of all sizes."""
    known = table(data)
    real = [known[name] for name in ("breast_coexpress", "human-ppi-weighted", "higgs-mention") if name in known]
    scales = (12, 14, 16, 18, 20)
    return [*real, preferential(10_000, 20), *(NamedGraph(f"rmat-{s}", "", partial(rmat, s, 16, SEED)) for s in scales)]


def milliseconds(case: Case, edges: tuple[int, int]) -> float:
    """Time a sweep from all roots in one batch, a root."""
    tuning.HUB_EDGES = edges
    cp.get_default_memory_pool().free_all_blocks()
    placed, plan = order_on_device(case.graph), ENTRY.plan(len(case.roots))
    state = ENTRY.prepare(placed, plan)
    rounds = [run_once(ENTRY, state, plan, placed, case.roots) for _ in range(4)]
    return 1e3 * min(done.wall for done in rounds[1:]) / len(case.roots)


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Directory of Matrix Market files.")
@click.option("--roots", type=int, multiple=True, default=(512, 1024), show_default=True)
def main(data: Path | None, roots: tuple[int, ...]) -> None:
    """Measure all graphs."""
    common = environment()
    commit = common["machine"]["commit"]
    click.echo(f"{common['device']}, CuPy {common['cupy']}; commit {commit}. Milliseconds a root, float64.\n")
    heads = ("graph", "nnz", "roots", *map(str, EDGES), "rule")
    click.echo(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for named in graphs(data):
        loaded = named.load()
        for count in roots:
            case = Case(named, SEED, count, "random", count)
            case.matrix = loaded
            times = [milliseconds(case, edges) for edges in (*((e, e) for e in EDGES), RULE)]
            cells = (named.name, case.graph.nnz, len(case.roots), *(f"{time:.4f}" for time in times))
            click.echo(f"| {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()
