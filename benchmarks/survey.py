"""Measure all networks of a folder, against igraph: ``python -m benchmarks.survey --data FOLDER``.

A case is a network, hops or lengths, a set of roots, and a number of threads. Near roots are whole blocks of the order
in which a run from all roots takes them, from all over it; the others are drawn at random. The graph is checked and
ordered, and kernels are compiled, before the clock runs. igraph is timed on as many of the same roots as the time
allows, at least 256, and what it takes is counted by the root. Results are JSON lines, a line a competitor; what a file
holds is not measured again.

Methods sweep whole graphs. With --reduce, runs from all roots with the reductions are timed, too, and counted by the
root: near roots of each part of what is left.

On one CPU thread the time is the processor's, which other work on the machine disturbs less; else it is the clock's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

import lagbc
from benchmarks import json_lines, machine, survey_report
from benchmarks.generators import with_hashed_lengths
from benchmarks.graphs import SEED, NamedGraph, is_symmetric, is_weighted, table
from benchmarks.peers import PEERS
from benchmarks.planned import RUN, near, time_run
from benchmarks.run import RESULTS, disagreement
from lagbc.call import plan_request
from lagbc.comparison.measure import predict
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.methods.sums import DEPENDENCY
from lagbc.options import check_options
from lagbc.request import Request

Row = dict[str, Any]
Roots = NDArray[np.int64]

# Those that "auto" chooses from, and itself.
METHODS = ("auto", "batched", "work-efficient", "delta-stepping", "dijkstra")
MOST_ROUNDS, IGRAPH_ROUNDS = 5, 3
# Roots that igraph is timed on at least: of web-NotreDame, directed, some reach little and others a third of the pages,
# so that the one root that was sampled took 14 times as long as a root does in the mean.
IGRAPH_ROOTS = 256


@dataclass(frozen=True)
class Case:
    """What a network is measured with: `roots` is "near", "random" or "all", `count` at most so many of them."""

    weighted: bool
    roots: str
    count: int
    device: str
    threads: int

    def describe(self) -> Row:
        """Give the columns that tell the case."""
        return {"weighted": self.weighted, "roots": self.roots, "count": self.count} | {
            "device": self.device,
            "threads": self.threads,
        }

    @property
    def clock(self) -> Callable[[], float]:
        """The processor's time, or that of the clock."""
        return time.process_time if self.device == "cpu" and self.threads == 1 else time.perf_counter


class Network:
    """A network with hops or with lengths: integers from 1 to 10, alike both ways."""

    def __init__(self, named: NamedGraph, *, weighted: bool) -> None:
        A = named.load()
        self.name, self.directed = named.name, not is_symmetric(A)
        self.matrix = with_hashed_lengths(A, SEED) if weighted else A

    @cached_property
    def graph(self) -> Graph:
        """Checked, ordered and transposed."""
        graph = self.check()
        _ = graph.reordered.transpose
        return graph

    def check(self) -> Graph:
        """Make a new graph, checked only."""
        return as_graph(self.matrix, directed=self.directed, weighted=is_weighted(self.matrix))

    @cached_property
    def igraph(self) -> Any:
        """The graph of igraph."""
        return PEERS["igraph"].convert(self.matrix, self.directed)

    @cached_property
    def order(self) -> Roots:
        """All roots, as `batched` on the CPU takes them."""
        return self.graph.line_up(np.arange(self.graph.n), "cpu")

    def roots(self, case: Case) -> Roots:
        """Return the roots of a case; all where there are no more."""
        if case.roots == "all" or len(self.order) <= case.count:
            return self.order
        if case.roots == "random":
            return np.random.default_rng(SEED).choice(np.sort(self.order), case.count, replace=False)
        return near(self.order, case.count, RUN[case.device])

    def describe(self) -> Row:
        """Give the columns of the network."""
        return {"graph": self.name, "n": self.graph.n, "nnz": self.graph.nnz, "directed": self.directed}


def pick(data: Path | None, names: Sequence[str]) -> list[NamedGraph]:
    """Return the networks of a folder that have these names, or all of them."""
    files = {name: named for name, named in table(data).items() if named.kind == "file"}
    if unknown := sorted(set(names) - set(files)):
        raise click.BadParameter(f"no network {', '.join(unknown)}; there are {', '.join(files)}")
    return [files[name] for name in (names or files)]


def available(wanted: Sequence[str], device: str, *, weighted: bool) -> list[str]:
    """Keep the methods that are there: rows of lagbc's table, and "auto"."""
    rows = [row for row in lagbc.METHODS if (row.device, row.weighted) == (device, weighted) and row.available]
    return [name for name in wanted if name in ("auto", *(row.name for row in rows))]


def reduced(network: Network, case: Case, seconds: float) -> Row:
    """Time a run from all roots with its reductions; what is not whole in about so many `seconds`, on near roots."""
    row = network.describe() | case.describe() | provenance() | {"competitor": "reduced", "status": "ok", "rounds": 1}
    try:
        found = time_run(network.check, _options(case) | {"reduce": "auto"}, case.clock, seconds)
    except MemoryError as error:
        return row | {"status": f"skipped: {error}", "seconds": None}
    # By the root of the network, with the reduction and the small blocks.
    return row | found.describe() | {"seconds": found.planning + found.sweeping, "timed": len(network.order)}


def provenance() -> Row:
    """Give the columns of what was measured, on which machine, and when."""
    here = {"commit": machine.commit(), "cpu": machine.cpu_model(), "cores": machine.cores()}
    return here | {"date": datetime.now(UTC).isoformat(timespec="seconds")}


def cases(device: str, threads: Sequence[int], *, choice: bool) -> list[Case]:
    """List those of the survey, or of the check of what "auto" chooses."""
    sets = [("near", 2048), ("random", 256)]
    if choice:
        sets, threads = [*sets, ("random", 64), ("random", 1024)], threads[:1]
    return [
        Case(weighted, roots, count, device, number)
        for weighted in (False, True)
        for number in threads
        for roots, count in sets
    ]


def measure(network: Network, case: Case, competitors: Sequence[str], seconds: float, limit: float) -> list[Row]:
    """Time competitors on a case, a row each: the best of the rounds, which go around all of them.

    Rounds follow until each has had so many `seconds`. A competitor that would take longer than `limit` is skipped.
    """
    roots, common = network.roots(case), network.describe() | case.describe()
    common |= provenance() | {"chose": chosen(network.graph, case, roots)}
    rows: dict[str, Row] = {}
    scores: dict[str, Any] = {}
    for name in competitors:
        row = rows[name] = common | {"competitor": name, "status": "ok", "seconds": np.inf, "rounds": 0}
        if name == "igraph":
            row |= _igraph(network, case, roots, seconds)
            continue
        run = runner(network.graph, case, name)
        try:
            expected = _expect(run, case, roots)
            if expected > limit:
                row["status"] = f"skipped: {len(roots)} roots would take about {expected:.2g} s"
                continue
            scores[name] = run(roots)
        except MemoryError as error:
            row["status"] = f"skipped: {error}"
    for name, found in scores.items():
        difference = disagreement(found, next(iter(scores.values())))
        if difference > 1e-9:
            rows[name]["status"] = f"wrong: off by {difference:.1e}"
    timed = [name for name in scores if rows[name]["status"] == "ok"]
    spent = time.perf_counter()
    for _ in range(MOST_ROUNDS):
        for name in timed:
            taken, _ = timed_run(case, runner(network.graph, case, name), roots)
            rows[name] |= {"seconds": min(taken, rows[name]["seconds"]), "rounds": rows[name]["rounds"] + 1}
        if time.perf_counter() - spent > seconds * len(timed):
            break
    return [
        row | ({"timed": row.get("timed", len(roots))} if row["status"] == "ok" else {"seconds": None})
        for row in rows.values()
    ]


def runner(graph: Graph, case: Case, method: Any) -> Callable[[Roots], Any]:
    """Return the call of betweenness from some roots."""
    options: Any = _options(case) | {"method": method}
    return lambda roots: lagbc.bc(
        graph, directed=graph.directed, weighted=graph.weighted, sources=np.asarray(roots), **options
    )


def _options(case: Case) -> Any:
    return {"device": case.device, "reduce": "none"} | ({"threads": case.threads} if case.device == "cpu" else {})


def chosen(graph: Graph, case: Case, roots: Roots) -> str:
    """Name the method that "auto" takes."""
    return plan_request(graph, Request(DEPENDENCY, np.sort(roots)), check_options("auto", _options(case))).plan.method


def timed_run(case: Case, run: Callable[[Roots], Any], roots: Roots) -> tuple[float, Any]:
    """Run and time it."""
    begun = case.clock()
    found = run(roots)
    return case.clock() - begun, found


def _expect(run: Callable[[Roots], Any], case: Case, roots: Roots) -> float:
    """Tell from a few roots what all take, once everything is compiled."""
    run(roots[:1])
    few = roots[: 64 * case.threads]
    return timed_run(case, run, few)[0] * len(roots) / max(len(few), 1)


def _igraph(network: Network, case: Case, roots: Roots, seconds: float) -> Row:
    """Time igraph on the roots, or on as many of them, drawn at random, as `seconds` allow, but no fewer than a least.

    The best of some rounds counts; of one, where the least takes longer than that.
    """
    graph, drawn = network.igraph, np.random.default_rng(SEED).permutation(roots)

    def run(some: Roots) -> Any:
        return PEERS["igraph"].score(graph, some, 1, network.directed)

    size, total = min(IGRAPH_ROOTS, len(drawn)), 0.0
    while True:
        taken, _ = timed_run(case, run, drawn[:size])
        total += taken
        following = min(4 * size, len(drawn))
        if size == len(drawn) or taken * following / size > max(seconds - total, seconds / 2):
            rounds = IGRAPH_ROUNDS if taken < seconds else 1
            others = [timed_run(case, run, drawn[:size])[0] for _ in range(rounds - 1)]
            return {"seconds": min([taken, *others]), "timed": size, "rounds": rounds}
        size = following


def predicted(network: Network, case: Case, limit: float) -> Row:
    """Compare the time that is predicted for a run from all roots with what it takes; skipped if over the limit."""
    begun, graph = time.perf_counter(), network.graph
    planned = plan_request(graph, Request(DEPENDENCY, np.arange(graph.n)), check_options("auto", _options(case)))
    with lagbc.config(**_options(case)):
        found = predict(graph, planned, time.perf_counter() - begun)
    row = network.describe() | case.describe() | {"competitor": "prediction", "predicted": found.seconds}
    row |= provenance() | {"predicting": time.perf_counter() - begun, "swept": found.swept}
    if found.seconds > limit:
        return row | {"status": f"skipped: it would take about {found.seconds:.2g} s", "seconds": None}
    run = runner(network.graph, case, "auto")
    begun = time.perf_counter()
    run(network.order)
    return row | {"status": "ok", "seconds": time.perf_counter() - begun, "timed": len(network.order)}


def key(row: Row) -> tuple[Any, ...]:
    """Tell a line from the others."""
    return tuple(row[name] for name in ("graph", "weighted", "roots", "count", "device", "threads", "competitor"))


def survey(
    networks: Sequence[NamedGraph],
    wanted: Sequence[Case],
    done: set[tuple[Any, ...]],
    methods: Sequence[str],
    seconds: float,
    limit: float,
    *,
    choice: bool,
    prediction: bool,
    reduce: bool,
) -> Iterator[Row]:
    """Measure what is not done, network by network."""
    for named in networks:
        for weighted in (False, True):
            network = Network(named, weighted=weighted)
            for case in (case for case in wanted if case.weighted == weighted):
                with_igraph = case.device == "cpu" and not choice and case.threads == 1
                names = [*(["igraph"] if with_igraph else []), *available(methods, case.device, weighted=weighted)]
                here = {"graph": named.name} | case.describe()
                missing = [name for name in names if key(here | {"competitor": name}) not in done]
                if missing:
                    yield from measure(network, case, missing, seconds, limit)
                is_reduced = reduce and case.roots == "near" and case.device == "cpu"
                if is_reduced and key(here | {"competitor": "reduced"}) not in done:
                    yield reduced(network, case, MOST_ROUNDS * seconds)
            if prediction:
                case = Case(weighted, "all", 0, wanted[0].device, wanted[-1].threads)
                if key({"graph": named.name, "competitor": "prediction"} | case.describe()) not in done:
                    yield predicted(network, case, limit)


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="Folder of Matrix Market files; by default lagbc's own.")
@click.option("--only", multiple=True, metavar="NETWORK", help="Not all of them.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--methods", default=",".join(METHODS), show_default=True, help="Those that are there of these.")
@click.option("--threads", multiple=True, type=int, help="By default, 1 and all there are.")
@click.option("--seconds", default=0.5, show_default=True, help="A competitor and case: rounds follow until then.")
@click.option("--limit", default=20.0, show_default=True, help="What would take longer is skipped.")
@click.option("--choice", is_flag=True, help="What auto chooses over the best method, without igraph.")
@click.option("--prediction", is_flag=True, help="Runs from all roots, too, against what lagbc info tells of them.")
@click.option("--reduce", is_flag=True, help="Near roots with reductions, too, on the CPU.")
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS / "survey.jsonl", show_default=True)
def main(
    data: Path | None,
    only: tuple[str, ...],
    device: str,
    methods: str,
    threads: tuple[int, ...],
    seconds: float,
    limit: float,
    choice: bool,
    prediction: bool,
    reduce: bool,
    out: Path,
) -> None:
    """Append to the results what is missing, and write the tables and pictures beside them."""
    numbers = list(threads) or (sorted({1, machine.cores()}) if device == "cpu" else [1])
    measured = survey(
        pick(data, only),
        cases(device, numbers, choice=choice),
        {key(row) for row in json_lines.read(out)},
        methods.split(","),
        seconds,
        limit,
        choice=choice,
        prediction=prediction,
        reduce=reduce,
    )
    for row in json_lines.append(out, measured):
        click.echo(survey_report.line(row))
    for path in survey_report.write(out):
        click.echo(path)


if __name__ == "__main__":
    main()
