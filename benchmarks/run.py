"""Measure lagbc against its peers: ``python -m benchmarks.run cpu --help``."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from types import TracebackType
from typing import Any

import click
import numpy as np
from scipy.sparse import csr_array

from benchmarks import machine, report
from benchmarks.graphs import NamedGraph, is_symmetric, is_weighted, table
from benchmarks.peers import PEERS, Scores, Sources, competitor
from benchmarks.worker import save_case

Row = dict[str, Any]

RESULTS = Path(__file__).parent / "results"
# "auto" takes all roots while n * nnz, the edges to inspect, is below this (20 s at 100 million edges a second),
EXACT_BELOW = 2**31
# and else a sample of this many.
SAMPLE = 256


@dataclass(frozen=True)
class Entry:
    """A competitor with a number of threads; `python` is the interpreter that has its library."""

    name: str
    threads: int
    python: str = sys.executable


@dataclass(frozen=True)
class Case:
    """A graph and the roots to compute from (None: all vertices)."""

    graph: NamedGraph
    matrix: csr_array
    directed: bool
    sources: Sources
    roots: int

    def describe(self) -> Row:
        """Give the columns that every measurement of this case shares."""
        return {
            "graph": self.graph.name,
            "kind": self.graph.kind,
            "n": self.matrix.shape[0],
            "nnz": self.matrix.nnz,
            "directed": self.directed,
            "weighted": is_weighted(self.matrix),
            "roots": self.roots,
            "exact": self.sources is None,
        }

    def mteps(self, seconds: float) -> float:
        """Count million edges inspected a second, an undirected edge counted once a root."""
        edges = self.matrix.nnz if self.directed else self.matrix.nnz / 2
        return float(edges * self.roots / seconds / 1e6)


class WorkerError(RuntimeError):
    """A competitor is absent, failed or was stopped; the message is the status of its row."""


class Worker:
    """A `benchmarks.worker` process, which answers one question at a time within `timeout` seconds."""

    def __init__(self, entry: Entry, directory: Path, timeout: float) -> None:
        self.entry, self.timeout, self.stopped = entry, timeout, False
        self.scores_file = directory / f"{entry.name}-{entry.threads}.npy"
        command = [entry.python, "-m", "benchmarks.worker", str(directory), entry.name, str(entry.threads)]
        self.process = subprocess.Popen(
            command, cwd=machine.ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.process.kill()
        self.process.communicate()

    def ready(self) -> Row:
        """Wait until it has warmed up and loaded the graph."""
        return self._answer()

    def run(self) -> Row:
        """Let it compute once."""
        assert self.process.stdin
        with suppress(BrokenPipeError):  # if it died, the answer says so
            self.process.stdin.write("run\n")
            self.process.stdin.flush()
        return self._answer()

    def scores(self) -> Scores:
        """Read the scores of its first run."""
        scores: Scores = np.load(self.scores_file)
        return scores

    def _answer(self) -> Row:
        assert self.process.stdout
        timer = Timer(self.timeout, self._stop)
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        if self.stopped:
            raise WorkerError(f"stopped: no answer in {self.timeout:g} s")
        if not line:
            raise WorkerError(f"failed: ended with status {self.process.wait()}")
        answer: Row = json.loads(line)
        if "problem" in answer:
            raise WorkerError(answer["problem"])
        return answer

    def _stop(self) -> None:
        self.stopped = True
        self.process.kill()


def make_case(graph: NamedGraph, roots: str, seed: int) -> Case:
    """Load a graph and draw its roots, from the vertices that have edges (out-edges, if directed).

    `roots` is a number, ``"all"``, or ``"auto"`` (see `EXACT_BELOW`). All roots count as many as have edges: an
    isolated vertex costs nothing.
    """
    matrix = graph.load()
    candidates = np.flatnonzero(np.diff(matrix.indptr))
    everything = roots == "all" or (roots == "auto" and matrix.shape[0] * matrix.nnz < EXACT_BELOW)
    count = len(candidates) if everything else SAMPLE if roots == "auto" else int(roots)
    directed = not is_symmetric(matrix)
    if count >= len(candidates):
        return Case(graph, matrix, directed, None, len(candidates))
    sources = np.random.default_rng(seed).choice(candidates, count, replace=False)
    return Case(graph, matrix, directed, sources, count)


def measure(case: Case, entries: Sequence[Entry], repeat: int, timeout: float) -> list[Row]:
    """Verify every competitor on a case, then time those that agree; one row each, in the order of `entries`.

    The first entry that gives scores is the reference of the others. The timed rounds go around all competitors, so
    that a noisy minute hits them alike.
    """
    rows = [case.describe() | {"competitor": entry.name, "threads": entry.threads} for entry in entries]
    with TemporaryDirectory() as name, ExitStack() as stack:
        directory = Path(name)
        save_case(directory, case.matrix, case.sources, case.directed)
        running: list[tuple[Row, Worker]] = []
        reference: tuple[str, Scores] | None = None
        for row, entry in zip(rows, entries, strict=True):
            if case.sources is not None and not competitor(entry.name).takes_sources:
                row["status"] = "not applicable: no exact partial sums over given roots"
                continue
            if is_weighted(case.matrix) and not competitor(entry.name).takes_lengths:
                row["status"] = "not applicable: no lengths of edges"
                continue
            worker = stack.enter_context(Worker(entry, directory, timeout))
            if _verify(row, worker, reference):
                running.append((row, worker))
                reference = reference or (entry.name, worker.scores())
            _say(row)
        for _ in range(repeat):
            running = [(row, worker) for row, worker in running if _time(row, worker)]
    for row in rows:
        if row["status"] == "ok":
            row |= _summary(case, row)
        _say(row)
    return rows


def _verify(row: Row, worker: Worker, reference: tuple[str, Scores] | None) -> bool:
    """Start a worker, run it once and compare; fills the row and tells whether the worker may be timed."""
    try:
        row |= worker.ready()
        row["peak_bytes"] = worker.run()["peak_bytes"]
    except WorkerError as error:
        row["status"] = str(error)
        return False
    row |= {"status": "ok", "tolerance": competitor(worker.entry.name).tolerance, "reference": None, "error": None}
    if reference is not None:
        name, expected = reference
        row |= {"reference": name, "error": disagreement(worker.scores(), expected)}
        if not row["error"] <= row["tolerance"]:
            row["status"] = f"wrong: off {name} by {row['error']:.1e}"
    return bool(row["status"] == "ok")


def disagreement(scores: Scores, reference: Scores) -> float:
    """Find the largest ``|x - y| / (1 + |y|)``; infinite if a score is not finite."""
    difference = np.abs(scores - reference) / (1 + np.abs(reference))
    return float(np.nan_to_num(difference, nan=np.inf).max(initial=0.0))


def _time(row: Row, worker: Worker) -> bool:
    """One timed run, added to the row; False if the worker failed."""
    try:
        answer = worker.run()
    except WorkerError as error:
        row["status"] = str(error)
        return False
    row.setdefault("seconds_all", []).append(answer["seconds"])
    row.setdefault("convert_seconds_all", []).append(answer["convert_seconds"])
    row["peak_bytes"] = answer["peak_bytes"]  # a running maximum
    return True


def _summary(case: Case, row: Row) -> Row:
    rounds = zip(row["seconds_all"], row["convert_seconds_all"], strict=True)
    seconds = min(row["seconds_all"])
    return {
        "seconds": seconds,
        "convert_seconds": min(row["convert_seconds_all"]),
        "seconds_with_conversion": min(map(sum, rounds)),
        "mteps": case.mteps(seconds),
    }


def _say(row: Row) -> None:
    speed = f"{row['seconds']:.3f} s, {row['mteps']:.0f} MTEPS" if "mteps" in row else row["status"]
    click.echo(f"{row['graph']}: {row['competitor']} x{row['threads']}: {speed}", err=True)


def entries_for(names: Iterable[str], threads: Iterable[int], pythons: Mapping[str, str]) -> list[Entry]:
    """Every competitor with every number of threads it can use (one, if it is not threaded)."""
    return [
        Entry(name, count, pythons.get(name, sys.executable))
        for name in names
        for count in (threads if competitor(name).threaded else (1,))
    ]


def cpu_methods(weighted: bool) -> list[str]:
    """List the CPU methods of lagbc for hops or for lengths."""
    from lagbc.methods.table import METHODS

    return [row.name for row in METHODS if row.device == "cpu" and row.weighted == weighted]


def _words(context: click.Context, parameter: click.Parameter, value: str | None) -> list[str] | None:
    return None if value is None else [word for word in value.split(",") if word]


def _pairs(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    if bad := [value for value in values if "=" not in value]:
        raise click.BadParameter(f"{bad[0]!r} is not of the form PEER=INTERPRETER")
    return dict(value.split("=", 1) for value in values)


def _numbers(context: click.Context, parameter: click.Parameter, value: str) -> list[int]:
    if not all(word.isdigit() and int(word) for word in value.split(",")):
        raise click.BadParameter(f"{value!r} is not a comma-separated list of positive numbers")
    return list(dict.fromkeys(int(word) for word in value.split(",")))


@click.group()
def cli() -> None:
    """Benchmarks of lagbc and its peers."""


@cli.command()
@click.option("--graphs", callback=_words, help="Comma-separated names [all but the large ones].")
@click.option("--peers", callback=_words, help=f"Comma-separated, of {', '.join(PEERS)}; '' for none [all].")
@click.option("--methods", callback=_words, help="Comma-separated methods of lagbc; '' for none [all of the CPU].")
@click.option("--weighted", is_flag=True, help="Edges have lengths: random ones from 1 to 10, or those of the file.")
@click.option("--roots", default="auto", show_default=True, help="How many roots: a number, all or auto.")
@click.option("--repeat", default=3, show_default=True, type=click.IntRange(1), help="Timed rounds.")
@click.option("--threads", default=f"1,{machine.cores()}", show_default=True, callback=_numbers, help="Numbers.")
@click.option("--data", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Matrix Market directory.")
@click.option("--python", "pythons", multiple=True, callback=_pairs, help="PEER=INTERPRETER with that peer.")
@click.option("--timeout", default=300.0, show_default=True, help="Seconds after which one run is given up.")
@click.option("--seed", default=1, show_default=True, help="Seed of the roots.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Results [results/cpu-DATE.jsonl].")
def cpu(
    graphs: list[str] | None,
    peers: list[str] | None,
    methods: list[str] | None,
    weighted: bool,
    roots: str,
    repeat: int,
    threads: list[int],
    data: Path | None,
    pythons: dict[str, str],
    timeout: float,
    seed: int,
    out: Path | None,
) -> None:
    """Measure lagbc's CPU methods and the peers, and write a report beside the results."""
    known = table(data, weighted=weighted)
    chosen = [graph.name for graph in known.values() if not graph.large] if graphs is None else graphs
    if unknown := sorted(set(chosen) - set(known)):
        raise click.BadParameter(f"no graph {', '.join(unknown)}; there are {', '.join(known)}", param_hint="--graphs")
    if roots not in ("auto", "all") and not (roots.isdigit() and int(roots)):
        raise click.BadParameter(f"{roots!r} is neither a positive number nor all nor auto", param_hint="--roots")
    names = list(PEERS) if peers is None else peers
    names += [f"lagbc-{method}" for method in (cpu_methods(weighted) if methods is None else methods)]
    now = datetime.now(UTC)
    out = out or RESULTS / f"cpu{'-weighted' if weighted else ''}-{now:%Y-%m-%d}.jsonl"
    common = {"device": "cpu", "seed": seed, "date": now.isoformat(timespec="seconds"), "machine": machine.describe()}
    entries = entries_for(names, threads, pythons)
    cases = (make_case(known[name], roots, seed) for name in chosen)
    rows = _record(out, (row | common for case in cases for row in measure(case, entries, repeat, timeout)))
    for path in report.write(out):
        click.echo(path)
    if any(row["status"].startswith(("wrong", "failed")) for row in rows if row["competitor"].startswith("lagbc-")):
        raise SystemExit("a method of lagbc failed or disagrees with the reference; the report says which")


@cli.command(add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def gpu(arguments: tuple[str, ...]) -> None:
    """Measure lagbc's GPU methods; takes the options of ``python -m benchmarks.gpu``."""
    try:
        from benchmarks.gpu import main
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{error}; CuPy comes with lagbc's extra cuda12 or cuda13") from None
    main(arguments)


def _record(out: Path, rows: Iterable[Row]) -> list[Row]:
    """Write rows as they come, so that an interrupted run keeps what it measured."""
    out.parent.mkdir(parents=True, exist_ok=True)
    kept = []
    with out.open("w") as file:
        for row in rows:
            print(json.dumps(row), file=file, flush=True)
            kept.append(row)
    return kept


if __name__ == "__main__":
    cli()
