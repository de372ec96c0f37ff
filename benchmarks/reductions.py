"""Measure what the reductions of graphs save: ``python -m benchmarks.reductions --data FOLDER``.

Every network is taken as undirected, or with --directed as it is; in hops, from all roots, on one thread, in the
processor's time. Four runs are timed: by `batched` and by the method that "auto" takes, both without reductions; with
the split into blocks alone; and with all reductions that "auto" takes. Of several rounds, which go around these, the
fastest run counts: where others work on the machine, take some. What is predicted to take less than the budget
is run whole, the others on near roots of each of their parts. With --former, `batched` of another checkout is timed on
as many roots as that of this one, in turn with it. Results are JSON lines, a line a network; what a file holds is not
measured again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import click
import numpy as np
from scipy.sparse import csr_array

from benchmarks import json_lines, machine, reductions_report
from benchmarks.graphs import NamedGraph
from benchmarks.planned import RUN, Timed, near, time_run
from benchmarks.run import RESULTS
from benchmarks.survey import Network, pick, provenance
from lagbc.graph.graph import Graph
from lagbc.methods.sums import DEPENDENCY
from lagbc.reduce import pieces as reduction
from lagbc.reduce.blocks import split
from lagbc.reduce.pieces import Chains, Whole
from lagbc.reduce.twins import merge
from lagbc.reduce.weighted import Scores, Weighted
from lagbc.request import Request

Row = dict[str, Any]

# Runs from all roots, by what they are called in the results.
ONE_THREAD = {"device": "cpu", "threads": 1}
RUNS: dict[str, Row] = {
    "plain": ONE_THREAD | {"method": "batched", "reduce": "none"},
    "unreduced": ONE_THREAD | {"reduce": "none"},
    "blocks": ONE_THREAD | {"reduce": "auto"},
    "all": ONE_THREAD | {"reduce": "auto"},
}
# Times the `batched` of another checkout, in a process of its own.
FORMER = Path(__file__).parent / "former.py"
# Reductions of a block.
REDUCTIONS = ("twins", "chains")


def undirected(named: NamedGraph) -> NamedGraph:
    """Take every edge both ways."""

    def load() -> csr_array:
        A = named.load()
        return csr_array(A + A.T)

    return replace(named, load=load)


def work_left(graph: Graph) -> Row:
    """Tell which share of roots x edges is left by the blocks, with the twins or the chains of each, and with the best.

    Nothing is swept, and nothing is asked about what pays.
    """
    request = Request(DEPENDENCY, np.arange(graph.n))
    blocks = split(reduction._weighted(graph, request))
    small, whole = float(blocks.small.work.sum()), max(reduction._work_of(graph, request.roots), 1.0)
    works: dict[str, list[float]] = {name: [] for name in ("blocks", *REDUCTIONS, "all")}
    for piece in blocks.large:
        alone = reduction._whole(piece, request).work
        by_name = {name: min(work_of_block(name, piece, request, alone), default=alone) for name in REDUCTIONS}
        works["blocks"].append(alone)
        works["all"].append(min(alone, *by_name.values()))
        for name, work in by_name.items():
            works[name].append(min(alone, work))
    return {
        "count": len(blocks.small.rows.ptr) - 1,
        "small": len(blocks.small.numbers),
        "large": len(blocks.large),
        "largest": max((piece.graph.n for piece in blocks.large), default=0),
        "left": {name: (small + sum(of_pieces)) / whole for name, of_pieces in works.items()},
    }


def work_of_block(name: str, piece: Weighted, request: Request, alone: float) -> Iterator[float]:
    """Reduce a block, if that can be done, and tell the work that is left of what it is alone."""
    if name == "twins":
        merged, classes = merge(piece)
        if classes is not None:
            yield reduction._whole(merged, request).work
    elif reduction._is_contractible(piece.graph):
        yield from (form.work for form in reduction._contracted(piece, request, alone, "cpu", np.inf))


def only_blocks() -> AbstractContextManager[Any]:
    """Leave blocks as they are."""
    return mock.patch.object(reduction, "_reduce_part", lambda part, request, *_, **__: reduction._whole(part, request))


def measure(network: Network, budget: float, rounds: int, checkout: Path | None = None) -> Row:
    """Time the runs of a network, the best of some rounds; compare the scores of those that were whole."""
    row = network.describe() | provenance() | {"rounds": rounds} | work_left(network.check())
    timed: dict[str, Timed] = {}
    skipped: dict[str, Row] = {}
    before = []
    for _ in range(rounds):
        of_round, over = time_runs(network, budget)
        skipped |= over
        timed = {name: min(timed.get(name, found), found, key=total) for name, found in of_round.items()}
        if checkout and "plain" in of_round:
            places = near(np.arange(len(network.order)), of_round["plain"].timed, RUN["cpu"])
            before.append(time_former(network.matrix, checkout, places=places))
    if "all" in timed and (reduced := timed["all"].call.reduced).tree is not None:
        merged = [one for one in reduced.large if isinstance(one, Whole) and one.classes is not None]
        row |= {"classes": sum(one.graph.n for one in merged)}
        row |= {"junctions": sum(len(one.contracted.roots) for one in reduced.large if isinstance(one, Chains))}
    described = {name: {"status": "ok"} | found.describe() for name, found in timed.items()}
    if checkout and before:
        alike = {name: described["plain"][name] for name in ("status", "swept", "timed")}
        described["former"] = alike | {"planning": 0.0, "sweeping": min(before), "commit": machine.commit(checkout)}
    return row | {"runs": skipped | described, "difference": difference(timed)}


def time_runs(network: Network, budget: float) -> tuple[dict[str, Timed], dict[str, Row]]:
    """Time each run once; return those for which there was memory, and why others were skipped."""
    timed: dict[str, Timed] = {}
    skipped: dict[str, Row] = {}
    for name, options in RUNS.items():
        with only_blocks() if name == "blocks" else nullcontext():
            try:
                timed[name] = time_run(network.check, options, time.process_time, budget, timed.values())
            except MemoryError as error:
                skipped[name] = {"status": f"skipped: {error}"}
    return timed, skipped


def time_former(A: csr_array, checkout: Path, **places: Any) -> float:
    """Seconds that all roots take by the `batched` of a checkout, as `benchmarks.former` tells them."""
    with TemporaryDirectory() as folder:
        case = Path(folder) / "case.npz"
        np.savez(case, indptr=A.indptr, indices=A.indices, **places)
        paths = os.pathsep.join([str(checkout), os.environ.get("PYTHONPATH", "")])
        command, environment = [sys.executable, str(FORMER), str(case)], os.environ | {"PYTHONPATH": paths}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def total(found: Timed) -> float:
    """Seconds of a run, planning included."""
    return found.planning + found.sweeping


def difference(timed: dict[str, Timed]) -> float | None:
    """Give the largest difference from the plain run's scores over the largest of them; None if nothing was whole."""
    scores = {name: found.sums.dependency for name, found in timed.items() if found.sums is not None}
    plain = scores.pop("plain", None)
    if plain is None or not scores:
        return None
    return max(largest_difference(found, plain) for found in scores.values())


def largest_difference(found: Scores, expected: Scores) -> float:
    """Give the largest difference over the largest score."""
    return float(np.abs(found - expected).max(initial=0.0)) / (float(expected.max(initial=0.0)) or 1.0)


def survey(
    networks: Sequence[NamedGraph],
    done: set[tuple[str, bool]],
    budget: float,
    rounds: int,
    checkout: Path | None,
    *,
    directed: bool,
) -> Iterator[Row]:
    """Measure what is not done."""
    for named in networks:
        network = Network(named if directed else undirected(named), weighted=False)
        if (network.name, network.directed) not in done:
            yield measure(network, budget, rounds, checkout)


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Folder of Matrix Market files; by default lagbc's own.")
@click.option("--networks", help="Names, separated by commas; all of the folder.")
@click.option(
    "--budget", default=20.0, show_default=True, help="Seconds of a run; a longer one is timed on near roots."
)
@click.option("--rounds", default=1, show_default=True, help="Of all runs in turn, of which the fastest count.")
@click.option("--directed", is_flag=True, help="Networks as they are, not all undirected.")
@click.option(
    "--former",
    type=click.Path(exists=True, path_type=Path),
    help="A checkout, for undirected networks.",
)
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS / "reductions.jsonl", show_default=True)
def main(
    data: Path | None,
    networks: str | None,
    budget: float,
    rounds: int,
    directed: bool,
    former: Path | None,
    out: Path,
) -> None:
    """Append to the results what is missing, and write the table and picture beside them."""
    if directed and former:
        raise click.UsageError("--former is of undirected networks; leave out --directed")
    named = pick(data, networks.split(",") if networks else ())
    done = {(row["graph"], row["directed"]) for row in json_lines.read(out)}
    for row in json_lines.append(out, survey(named, done, budget, rounds, former, directed=directed)):
        click.echo(reductions_report.line(row))
    for path in reductions_report.write(out):
        click.echo(path)


if __name__ == "__main__":
    main()
