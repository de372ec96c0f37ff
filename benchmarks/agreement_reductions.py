"""Compare scores with all reductions and without any: ``python -m benchmarks.agreement_reductions --data FOLDER``.

Vertices and edges of every network of the folder, in hops and with lengths (integers from 1 to 10, alike both ways), as
it is directed and as undirected, from roots that are drawn at random. Results are JSON lines; what a file holds of this
commit is not computed again. It ends with an error if scores differ by more than 1e-12 of the largest one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import click
import numpy as np

import lagbc
from benchmarks import json_lines
from benchmarks.graphs import SEED, NamedGraph, table
from benchmarks.reductions import undirected
from benchmarks.run import RESULTS
from benchmarks.survey import Network, Roots, provenance
from lagbc.run.options import Options
from lagbc.run.plan import plan_run
from lagbc.run.request import Request

Row = dict[str, Any]

TOLERANCE = 1e-12
SUMS = {"bc": "dependency", "edge_bc": "edges"}
# How many roots are drawn, up to so many vertices and beyond.
ROOTS, FEW_ROOTS, MANY_VERTICES = 300, 64, 100_000


def drawn(n: int) -> Roots:
    """Draw the roots."""
    count = min(n, ROOTS if n <= MANY_VERTICES else FEW_ROOTS)
    return np.sort(np.random.default_rng(SEED).choice(n, count, replace=False))


def compare(network: Network, centrality: str) -> Row:
    """Compute scores both ways; the difference is relative to the largest one."""
    graph, roots = network.graph, drawn(network.graph.n)
    row = {"roots": len(roots), "reduction": reduction_of(network, centrality, roots)}
    found = {}
    for reduce in ("none", "all"):
        begun = time.perf_counter()
        scores = lagbc.centralities(
            graph,
            cast(Any, centrality),
            directed=graph.directed,
            weighted=graph.weighted,
            sources=roots,
            device="cpu",
            reduce=cast(Any, reduce),
        )[centrality]
        row |= {f"seconds_{reduce}": time.perf_counter() - begun}
        found[reduce] = scores if isinstance(scores, np.ndarray) else scores.tocsr().data
    largest = max(float(found["none"].max(initial=0.0)), 1.0)
    difference = float(np.abs(found["all"] - found["none"]).max(initial=0.0)) / largest
    return row | {"largest_relative_difference": difference}


def reduction_of(network: Network, centrality: str, roots: Roots) -> str | None:
    """Say what the graph is reduced to; None if nothing applies."""
    request = Request(frozenset({SUMS[centrality]}), roots)
    plan = plan_run(network.graph, request, "auto", cast(Options, {"device": "cpu", "reduce": "all"}))
    return None if plan.reduction is None else str(plan.reduction)


def key(row: Row) -> tuple[Any, ...]:
    """Tell a line from the others; the results themselves make a checkout dirty."""
    commit = str(row["commit"]).removesuffix("-dirty")
    return commit, *(row[name] for name in ("graph", "directed", "weighted", "centrality"))


def survey(networks: Sequence[NamedGraph], done: set[tuple[Any, ...]]) -> Iterator[Row]:
    """Compare what is not done."""
    here = provenance()
    for named in networks:
        for kind in (named, undirected(named)):
            for weighted in (False, True):
                network = Network(kind, weighted=weighted)
                for centrality in SUMS:
                    what = {"graph": named.name, "directed": network.directed}
                    what |= {"weighted": weighted, "centrality": centrality}
                    if key(here | what) not in done:
                        done.add(key(here | what))
                        yield network.describe() | what | compare(network, centrality) | here


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Folder of Matrix Market files; by default lagbc's own.")
@click.option("--networks", help="Names, separated by commas; all of the folder.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=RESULTS / "agreement-reductions.jsonl", show_default=True
)
def main(data: Path | None, networks: str | None, out: Path) -> None:
    """Append to the results what is missing of this commit."""
    files = {name: named for name, named in table(data).items() if named.kind == "file"}
    named = [files[name] for name in (networks.split(",") if networks else files)]
    wrong = 0
    for row in json_lines.append(out, survey(named, {key(row) for row in json_lines.read(out)})):
        wrong += row["largest_relative_difference"] > TOLERANCE
        kind = f"{'directed' if row['directed'] else 'undirected'}, {'lengths' if row['weighted'] else 'hops'}"
        told = f"{row['largest_relative_difference']:.1e} ({row['reduction'] or 'not reduced'})"
        click.echo(f"{row['graph']}, {kind}, {row['centrality']}: {told}")
    if wrong:
        raise SystemExit(f"{wrong} differ by more than {TOLERANCE:g}")


if __name__ == "__main__":
    main()
