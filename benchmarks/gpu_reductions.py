"""Measure whole exact calls on a GPU with and without reductions: ``python -m benchmarks.gpu_reductions --help``.

A call goes from the SciPy matrix to the scores of all roots. The first call of a case, whose seconds are given apart,
compiles or loads kernels. With --former, a call of `batched` of another checkout is timed beside them. Results are
JSON lines, a line a network; what a file holds is not measured again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy.sparse import csr_array

import lagbc
from benchmarks import json_lines, machine
from benchmarks.graphs import NamedGraph, is_symmetric, table
from benchmarks.planned import parts_of
from benchmarks.reductions import largest_difference, time_former, undirected
from benchmarks.run import RESULTS
from lagbc.call import plan_request
from lagbc.graph.validate import as_graph
from lagbc.methods.sums import DEPENDENCY
from lagbc.options import check_options
from lagbc.request import Request

Row = dict[str, Any]

GRAPHS = "luxembourg_osm,porto-road,usroads,web-NotreDame,dblp-2010,rmat-20-16"
HEAD = (
    "network | vertices | entries | directed | former (s) | reduce='none' (s) | 'auto' (s) | former / auto | "
    "none / auto | first call (s) | difference | what was reduced"
)


def measure(named: NamedGraph, device: str, rounds: int, checkout: Path | None) -> Row:
    """Time the calls of a network, the shortest of those with reductions, and compare their scores."""
    import cupy

    A, gpu = named.load(), cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    options: Row = {"directed": not is_symmetric(A), "device": device}
    row: Row = {"graph": named.name, "vertices": A.shape[0], "entries": A.nnz, "directed": options["directed"]}
    first, _ = call(A, options | {"reduce": "auto"})
    reduced, scores = min((call(A, options | {"reduce": "auto"}) for _ in range(rounds)), key=lambda timed: timed[0])
    plain, expected = call(A, options | {"reduce": "none"})
    seconds = {"first": first, "auto": reduced, "none": plain}
    if checkout:
        seconds |= {"former": time_former(A, checkout)}
        row |= {"former_commit": machine.commit(checkout)}
    seen = {"difference": largest_difference(scores, expected), "reduction": describe(A, options)}
    return row | seconds | seen | {"gpu": gpu, "device": device, "commit": machine.commit(), "cores": machine.cores()}


def call(A: csr_array, options: Row) -> tuple[float, Any]:
    """Return the seconds of a call, and its scores."""
    begun = time.perf_counter()
    scores = lagbc.bc(A, **options)
    return time.perf_counter() - begun, scores


def describe(A: csr_array, options: Row) -> str:
    """Say what a run is reduced to, and what sweeps the parts."""
    graph = as_graph(A, directed=options["directed"])
    settings = check_options("auto", {"device": options["device"]})
    planned = plan_request(graph, Request(DEPENDENCY, np.arange(graph.n)), settings)
    parts = {f"{'chains ' * (one.work == 'chains')}{one.method} on {one.device}" for _, one in parts_of(planned)}
    return f"{str(planned.reduced) or 'nothing'}; {', '.join(sorted(parts))}"


def markdown(rows: list[Row]) -> str:
    """Lay out the page."""
    commits = ", ".join(sorted({str(row["commit"])[:10] for row in rows}))
    formers = sorted({str(row["former_commit"])[:10] for row in rows if "former_commit" in row})
    lines = [
        f"{rows[0]['gpu']}, {rows[0]['cores']} cores; commit {commits}.",
        "",
        "Seconds of `lagbc.bc(A)` from the SciPy matrix to the exact scores, kernels compiled. The difference is that",
        "of the scores, over the largest."
        + "".join(f" `former` is `batched` of commit {commit}." for commit in formers),
        "",
        f"| {HEAD} |",
        "|" + "---|" * (HEAD.count("|") + 1),
    ]
    for row in rows:
        cells = [row["graph"], f"{row['vertices']:,}", f"{row['entries']:,}", "yes" if row["directed"] else "no"]
        former = row.get("former")
        cells += ["-" if former is None else f"{former:.3g}", f"{row['none']:.3g}", f"{row['auto']:.3g}"]
        cells += ["-" if former is None else f"{former / row['auto']:.2f}", f"{row['none'] / row['auto']:.2f}"]
        cells += [f"{row['first']:.3g}"]
        lines.append(f"| {' | '.join(cells)} | {row['difference']:.1e} | {row['reduction']} |")
    return "\n".join(lines) + "\n"


def survey(
    graphs: Sequence[NamedGraph], done: set[tuple[str, bool]], device: str, rounds: int, checkout: Path | None
) -> Iterator[Row]:
    """Measure what is not done."""
    for named in graphs:
        if (named.name, not is_symmetric(named.load())) not in done:
            yield measure(named, device, rounds, checkout)


@click.command()
@click.option("--graphs", default=GRAPHS, show_default=True, help="Names, separated by commas.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of Matrix Market files; by default lagbc's own.")
@click.option("--device", default="auto", show_default=True, help="Of the calls: auto, cpu or cuda.")
@click.option("--rounds", default=3, show_default=True, help="Calls with reductions after the first.")
@click.option("--directed", is_flag=True, help="Networks as they are, not all undirected.")
@click.option("--former", type=click.Path(exists=True, path_type=Path), help="A checkout, for undirected networks.")
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS / "gpu_reductions.jsonl", show_default=True)
def main(
    graphs: str, data: Path | None, device: str, rounds: int, directed: bool, former: Path | None, out: Path
) -> None:
    """Append to the results what is missing, and write the table beside them."""
    if directed and former:
        raise click.UsageError("--former is of undirected networks; leave out --directed")
    known = table(data)
    done = {(row["graph"], row["directed"]) for row in json_lines.read(out)}
    named = [known[name] if directed else undirected(known[name]) for name in graphs.split(",")]
    for row in json_lines.append(out, survey(named, done, device, rounds, former)):
        click.echo(row)
    out.with_suffix(".md").write_text(markdown(json_lines.read(out)))


if __name__ == "__main__":
    main()
