"""Set what blocks are predicted to cost against what they take: ``python -m benchmarks.block_costs --data FOLDER``.

The largest block of each network, taken both ways, in hops and with lengths: swept as it is, and from its junctions.
What either takes is predicted by the constants of `lagbc.tuning`. If both take as many times that, the machine
is faster or slower than that of the constants; if not, the wrong one may be chosen. One thread, in the processor's
time, the best of some rounds; longer runs on near roots. Results are JSON lines, a line a block; what a file holds is
not measured again. With --fit, constants that are fitted to them are printed, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import click
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from benchmarks import json_lines
from benchmarks.planned import time_run
from benchmarks.reductions import ONE_THREAD, undirected
from benchmarks.run import RESULTS
from benchmarks.survey import Network, pick, provenance
from lagbc.graph.graph import Graph
from lagbc.methods.sums import DEPENDENCY
from lagbc.reduce import pieces as reduction
from lagbc.reduce.blocks import split
from lagbc.reduce.chains import JunctionWork, expect_work
from lagbc.reduce.weighted import Weighted
from lagbc.request import Request

Row = dict[str, Any]
Floats = NDArray[np.float64]

HEAD = ("network", "", "vertices", "levels", "junctions", "as it is (s)", "over predicted", "contracted (s)")
LAST = ("over predicted", "as it is / contracted", "predicted")
WAYS = {"as it is": "none", "contracted": "all"}
# A block counts in the fit by how near both ways are to each other, 1 / (TIE + log of the ratio); most if chains gain.
TIE = 0.3


def largest_block(network: Network) -> Graph | None:
    """Return the largest block, if its chains can be contracted."""
    graph = network.check()
    pieces = split(reduction._weighted(graph, Request(DEPENDENCY, np.arange(graph.n)))).large
    block = max((piece.graph for piece in pieces), key=lambda block: block.n, default=None)
    return block if block is not None and reduction._is_contractible(block) else None


def seconds(block: Graph, reduce: str, budget: float) -> float:
    """Time a run from all roots of a block, planning included; "all" contracts it."""

    def make() -> Graph:
        return Graph(block.indptr, block.indices, block.directed, block.weights)

    with mock.patch.object(reduction, "_takes_class_sizes", return_value=False):
        found = time_run(make, ONE_THREAD | {"reduce": reduce}, time.process_time, budget)
    return found.planning + found.sweeping


def measure(network: Network, block: Graph, budget: float, rounds: int) -> Row:
    """Time a block, the two ways in turn, and tell what their costs are told by."""
    ones = np.ones(block.n)
    taken = np.min([[seconds(block, reduce, budget) for reduce in WAYS.values()] for _ in range(rounds)], axis=0)
    return {
        "graph": network.name,
        "weighted": block.weighted,
        "n": block.n,
        "nnz": block.nnz,
        "depth": block.depth,
        "work": expect_work(Weighted(block, ones, ones))._asdict(),
        "seconds": dict(zip(WAYS, taken.tolist(), strict=True)),
    } | provenance()


def predicted(row: Row) -> tuple[float, float]:
    """Tell the seconds of both ways by the constants of today."""
    n, nnz, depth, weighted = (row[name] for name in ("n", "nnz", "depth", "weighted"))
    block: Any = SimpleNamespace(n=n, nnz=nnz, weighted=weighted)
    whole = reduction.predict_at_depth(block, n, "cpu", depth)
    return whole / 1e9, reduction.predict_junctions(JunctionWork(**row["work"]), "cpu", weighted=weighted) / 1e9


def cells(row: Row) -> list[str]:
    """Format the cells of a block."""
    taken, expected = list(row["seconds"].values()), predicted(row)
    sizes = [row["graph"], "1 to 10" if row["weighted"] else "hops", f"{row['n']:,}", str(row["depth"])]
    times = [f"{value:.3g}" for one, other in zip(taken, expected, strict=True) for value in (one, one / other)]
    ratios = [f"{one / other:.2f}" for one, other in (taken, expected)]
    return [*sizes, f"{row['work']['junctions']:,}", *times, *ratios]


def fit(rows: list[Row], *, weighted: bool) -> tuple[dict[str, float], dict[str, float]]:
    """Fit both ways' constants to the logarithms of what blocks with lengths, or in hops, took; see `TIE`."""
    mine = [row for row in rows if row["weighted"] == weighted]
    n, nnz, depth = (np.array([row[name] for row in mine], float) for name in ("n", "nnz", "depth"))
    works = [JunctionWork(**row["work"]) for row in mine]
    junctions, edges, evaluations = np.array([[w.junctions, w.edges, w.evaluations] for w in works], float).T
    whole, contracted = (np.array([1e9 * row["seconds"][way] for row in mine]) for way in WAYS)
    weights = 1 / (TIE + np.maximum(0, np.log(contracted / whole)))

    def as_it_is(pair: float, level: float, most: float, pair_edge: float) -> Floats:
        whole: Floats = n * (n * (pair + np.minimum(level * depth, most)) + nnz * pair_edge)
        return whole

    def from_junctions(pair: float, pair_edge: float, evaluation: float) -> Floats:
        taken: Floats = junctions * (junctions * pair + 2 * edges * pair_edge) + evaluation * evaluations
        return taken

    pair, level, most, pair_edge = _fitted(as_it_is, whole, weights, [5.0, 0.05, 5.0, 0.5])
    names = ("pair", "pair_edge", "evaluation")
    return (
        {"pair": pair, "level": level, "most": pair + most, "pair_edge": pair_edge},
        dict(zip(names, _fitted(from_junctions, contracted, weights, [10.0, 2.0, 10.0]), strict=True)),
    )


def _fitted(predict: Callable[..., Floats], taken: Floats, weights: Floats, start: list[float]) -> list[float]:
    """Fit constants >= 0, that predictions miss by few times, and few of them by many."""

    def misses(constants: Floats) -> Floats:
        missed: Floats = np.sqrt(weights) * np.log(predict(*constants) / taken)
        return missed

    solved = least_squares(misses, start, bounds=(1e-9, np.inf), x_scale=start, loss="soft_l1", f_scale=0.3)
    return [float(value) for value in solved.x]


def page(rows: list[Row]) -> str:
    """Lay out the table."""
    commits = ", ".join(sorted({f"{row['cpu']}, commit {str(row['commit'])[:10]}" for row in rows}))
    table = [f"{commits}.", "", f"| {' | '.join((*HEAD, *LAST))} |", "|" + "---|" * len((*HEAD, *LAST))]
    return "\n".join([*table, *map(_line, rows)]) + "\n"


def _line(row: Row) -> str:
    return f"| {' | '.join(cells(row))} |"


def survey(networks: list[Network], done: set[tuple[str, bool]], budget: float, rounds: int) -> Iterator[Row]:
    """Measure all that have chains, and are not done."""
    for network in networks:
        if (network.name, network.graph.weighted) not in done and (block := largest_block(network)) is not None:
            yield measure(network, block, budget, rounds)


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Folder of Matrix Market files; by default lagbc's own.")
@click.option("--networks", help="Names, separated by commas; all of the folder.")
@click.option("--budget", default=4.0, show_default=True, help="Seconds of a run; a longer one is timed on near roots.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--measure/--no-measure", "measures", default=True, help="Whether to measure what is missing.")
@click.option("--fit", "fits", is_flag=True, help="Print constants for tuning.py.")
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS / "block_costs.jsonl", show_default=True)
def main(
    data: Path | None, networks: str | None, budget: float, rounds: int, measures: bool, fits: bool, out: Path
) -> None:
    """Append to the results what is missing, a line a network in hops and with lengths; write the table beside them."""
    rows = json_lines.read(out)
    done = {(row["graph"], row["weighted"]) for row in rows}
    named = [undirected(one) for one in pick(data, networks.split(",") if networks else ())] if measures else []
    every = [Network(one, weighted=weighted) for one in named for weighted in (False, True)]
    for row in json_lines.append(out, survey(every, done, budget, rounds)):
        rows.append(row)
        click.echo(_line(row))
    if fits:
        for weighted in (False, True):
            for name, constants in zip(("BLOCK_COSTS", "JUNCTION_COSTS"), fit(rows, weighted=weighted), strict=True):
                told = ", ".join(f'"{term}": {value:.2g}' for term, value in constants.items())
                click.echo(f'{name}: ("cpu", {weighted}): {{{told}}},')
    out.with_suffix(".md").write_text(page(rows))


if __name__ == "__main__":
    main()
