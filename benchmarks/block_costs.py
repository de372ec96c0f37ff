"""Set what blocks are predicted to cost against what they take: ``python -m benchmarks.block_costs --data FOLDER``.

The largest block of each network, taken both ways, in hops and with lengths: swept as it is, and from its junctions.
What either takes is predicted by the constants of `lagbc.reduce.tuning`. If both take as many times that, the machine
is faster or slower than that of the constants; if not, the wrong one may be chosen. One thread, in the processor's
time, the best of some rounds; longer runs on near roots.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import click
import numpy as np

from benchmarks import machine
from benchmarks.planned import time_run
from benchmarks.reductions import ONE_THREAD, undirected
from benchmarks.run import RESULTS
from benchmarks.survey import Network, pick
from lagbc.graph.graph import Graph
from lagbc.methods.sums import DEPENDENCY
from lagbc.reduce.blocks import split
from lagbc.reduce.piece import Piece
from lagbc.reduce.work import expect_work
from lagbc.run import block_costs, reduction
from lagbc.run.request import Request

HEAD = ("network", "", "vertices", "levels", "junctions", "as it is (s)", "over predicted", "contracted (s)")
LAST = ("over predicted", "as it is / contracted", "predicted")


def largest_block(network: Network) -> Graph | None:
    """Return the largest block, if its chains can be contracted."""
    graph = network.check()
    pieces = split(reduction._piece(graph, Request(DEPENDENCY, np.arange(graph.n)))).pieces
    block = max((piece.graph for piece in pieces), key=lambda block: block.n, default=None)
    return block if block is not None and reduction._is_contractible(block) else None


def seconds(block: Graph, reduce: str, budget: float) -> float:
    """Time a run from all roots of a block, planning included; "all" contracts it."""

    def make() -> Graph:
        return Graph(block.indptr, block.indices, block.directed, block.weights)

    with mock.patch.object(reduction, "_takes_members", return_value=False):
        found = time_run(make, ONE_THREAD | {"reduce": reduce}, time.process_time, budget)
    return found.planning + found.sweeping


def line(network: Network, block: Graph, budget: float, rounds: int) -> list[object]:
    """Measure a block, the two ways in turn."""
    ones = np.ones(block.n)
    work, weighted = expect_work(Piece(block, ones, ones)), block.weighted
    predicted = (
        block_costs.of_block(block, block.n, "cpu") / 1e9,
        block_costs.of_junctions(work, "cpu", weighted=weighted) / 1e9,
    )
    taken = np.min([[seconds(block, reduce, budget) for reduce in ("none", "all")] for _ in range(rounds)], axis=0)
    sizes = f"{block.n:,}", block.depth, f"{work.junctions:,}"
    times = (f"{value:.3g}" for pair in zip(taken, taken / predicted, strict=True) for value in pair)
    ratios = f"{taken[0] / taken[1]:.2f}", f"{predicted[0] / predicted[1]:.2f}"
    return [network.name, "1 to 10" if weighted else "hops", *sizes, *times, *ratios]


def lines(networks: list[Network], budget: float, rounds: int) -> Iterator[list[object]]:
    """Measure all that have chains."""
    for network in networks:
        block = largest_block(network)
        if block is not None:
            yield line(network, block, budget, rounds)


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Folder of Matrix Market files; by default lagbc's own.")
@click.option("--networks", help="Names, separated by commas; all of the folder.")
@click.option("--budget", default=4.0, show_default=True, help="Seconds of a run; a longer one is timed on near roots.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS / "block_costs.md", show_default=True)
def main(data: Path | None, networks: str | None, budget: float, rounds: int, out: Path) -> None:
    """Write a table of a line a network, in hops and with lengths."""
    named = [undirected(one) for one in pick(data, networks.split(",") if networks else ())]
    every = [Network(one, weighted=weighted) for one in named for weighted in (False, True)]
    table = [f"{machine.cpu_model()}, commit {str(machine.commit())[:10]}.", "", f"| {' | '.join((*HEAD, *LAST))} |"]
    table.append("|" + "---|" * len((*HEAD, *LAST)))
    for cells in lines(every, budget, rounds):
        table.append(f"| {' | '.join(map(str, cells))} |")
        click.echo(table[-1])
        out.write_text("\n".join(table) + "\n")


if __name__ == "__main__":
    main()
