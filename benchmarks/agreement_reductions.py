"""Compare scores with all reductions and without any: ``python -m benchmarks.agreement_reductions --data FOLDER``.

Vertices and edges of every network of the folder, in hops and with lengths (integers from 1 to 10, alike both ways), as
it is directed and as undirected, from roots that are drawn at random. Results are JSON lines; what a file holds of this
commit is not computed again. It ends with an error if scores differ by more than 1e-12 of the largest one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, cast
from unittest import mock

import click
import numpy as np

import lagbc
from benchmarks import json_lines
from benchmarks.graphs import SEED, NamedGraph
from benchmarks.reductions import largest_difference, undirected
from benchmarks.run import RESULTS
from benchmarks.survey import Network, Roots, pick, provenance
from lagbc.call import plan_request
from lagbc.options import Options, check_options
from lagbc.reduce import pieces as reduction
from lagbc.reduce.pieces import Reduced
from lagbc.request import Request

Row = dict[str, Any]

TOLERANCE = 1e-12
SUMS = {"bc": "dependency", "edge_bc": "edges"}
# How many roots are drawn, up to so many vertices and beyond.
ROOTS, FEW_ROOTS, MANY_VERTICES = 300, 64, 100_000


def drawn(n: int) -> Roots:
    """Draw the roots."""
    count = min(n, ROOTS if n <= MANY_VERTICES else FEW_ROOTS)
    return np.sort(np.random.default_rng(SEED).choice(n, count, replace=False))


def compare(network: Network, centrality: str, most_work: float) -> Row:
    """Compute scores both ways; where chains would take more than the most work, they are left as they are.

    All junctions are swept, however few the roots are.
    """
    roots = drawn(network.graph.n)
    reduced = reduction_of(network, centrality, roots)
    if reduced.work <= most_work:
        return compare_both(network, centrality, roots)
    with mock.patch.object(reduction, "_is_contractible", return_value=False):
        return compare_both(network, centrality, roots)


def compare_both(network: Network, centrality: str, roots: Roots) -> Row:
    """Compute scores both ways; the difference is relative to the largest one."""
    reduced, graph = reduction_of(network, centrality, roots), network.graph
    row: Row = {"roots": len(roots), "reduction": str(reduced) or None}
    function: Any = getattr(lagbc, centrality)
    call = partial(function, graph, directed=graph.directed, weighted=graph.weighted, sources=roots, device="cpu")
    found = {}
    for reduce in ("none", "all"):
        begun = time.perf_counter()
        scores = call(reduce=reduce)
        row |= {f"seconds_{reduce}": time.perf_counter() - begun}
        found[reduce] = scores if isinstance(scores, np.ndarray) else scores.tocsr().data
    return row | {"largest_relative_difference": largest_difference(found["all"], found["none"])}


def reduction_of(network: Network, centrality: str, roots: Roots) -> Reduced:
    """Tell what the graph is reduced to."""
    request = Request(frozenset({SUMS[centrality]}), roots)
    settings = check_options("auto", cast(Options, {"device": "cpu", "reduce": "all"}))
    return plan_request(network.graph, request, settings).reduced


def key(row: Row) -> tuple[Any, ...]:
    """Tell a line from the others; the results themselves make a checkout dirty."""
    commit = str(row["commit"]).removesuffix("-dirty")
    return commit, *(row[name] for name in ("graph", "directed", "weighted", "centrality"))


def survey(networks: Sequence[NamedGraph], done: set[tuple[Any, ...]], most_work: float) -> Iterator[Row]:
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
                        yield network.describe() | what | compare(network, centrality, most_work) | here


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Folder of Matrix Market files; by default lagbc's own.")
@click.option("--networks", help="Names, separated by commas; all of the folder.")
@click.option("--most-work", default=3e10, show_default=True, help="Roots x edges; beyond, no chains are contracted.")
@click.option(
    "--out", type=click.Path(path_type=Path), default=RESULTS / "agreement-reductions.jsonl", show_default=True
)
def main(data: Path | None, networks: str | None, most_work: float, out: Path) -> None:
    """Append to the results what is missing of this commit."""
    named = pick(data, networks.split(",") if networks else ())
    wrong = 0
    done = {key(row) for row in json_lines.read(out)}
    for row in json_lines.append(out, survey(named, done, most_work)):
        wrong += row["largest_relative_difference"] > TOLERANCE
        kind = f"{'directed' if row['directed'] else 'undirected'}, {'lengths' if row['weighted'] else 'hops'}"
        told = f"{row['largest_relative_difference']:.1e} ({row['reduction'] or 'not reduced'})"
        click.echo(f"{row['graph']}, {kind}, {row['centrality']}: {told}")
    if wrong:
        raise SystemExit(f"{wrong} differ by more than {TOLERANCE:g}")


if __name__ == "__main__":
    main()
