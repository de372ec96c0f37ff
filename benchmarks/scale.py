"""Time against workers: ``python -m benchmarks.scale --help``.

The same call by threads of one process, and by as many workers of one thread each: processes of `ProcessPoolExecutor`,
a Dask `LocalCluster`, and MPI ranks, where these are installed. With ``--device cuda`` the GPUs of one process take the
place of its threads, and each worker has a GPU; where there are fewer GPUs than workers, some share one. Workers are
warm and have the graph: the first call, from few roots, is not timed. Rounds go around all engines, so that a noisy
minute hits them alike; ranks have rounds of their own, as they are other processes. Every engine has to give the same
bits.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np
import psutil
from numpy.typing import NDArray
from scipy.sparse import csr_array

import lagbc
from benchmarks import machine
from benchmarks.generators import rmat, road_like, with_hashed_lengths
from benchmarks.graphs import is_symmetric, read
from lagbc.methods.table import count_gpus, gpu_names

RESULTS = Path(__file__).parent / "results"
Scores = NDArray[np.float64]
Where = Literal["cpu", "cuda"]
# Of a call: on the clock, and of the processors, of all processes together.
Seconds = tuple[float, float]
Call = Callable[..., Scores]
# The first is what the others are held against: the workers of one process.
ENGINES = {"cpu": ("threads", "processes", "dask", "ranks"), "cuda": ("GPUs", "processes", "dask", "ranks")}
_TOLD = "seconds by rank: "
# Roots that warm a call up: GPUs take all their memory then.
_FEW = {"cpu": 1024, "cuda": 32768}
_RANKS = "import sys; from benchmarks.scale import time_on_ranks; time_on_ranks(*sys.argv[1:])"


def graph_of(name: str, data: Path | None) -> csr_array:
    """Make ``rmat-SCALE-FACTOR`` or ``road_like-N``, or read a network: a file of a folder, or one of lagbc's own."""
    if name.startswith("rmat-"):
        return rmat(*map(int, name.split("-")[1:]))
    if name.startswith("road_like-"):
        return road_like(int(name.split("-")[1]))
    if data is None:
        return csr_array(lagbc.read_graph(lagbc.example_path(name)).matrix)
    return read(next(data.glob(f"{name}.mtx*")))


@dataclass(frozen=True)
class Case:
    """What is timed: a centrality of a graph on a kind of device, from all vertices or from some that are drawn."""

    graph: str
    data: str | None
    device: Where
    roots: int | None
    centrality: Literal["bc", "edge_bc"]
    weighted: bool
    memory: str | None

    def load(self) -> csr_array:
        """Make or read the graph, with integer lengths from 1 to 10 if edges shall have some."""
        A = graph_of(self.graph, None if self.data is None else Path(self.data))
        return with_hashed_lengths(A) if self.weighted else A

    def call(self, A: csr_array) -> Callable[..., Scores]:
        """Return the call that is timed, but for who makes it; of edges, the scores in the order of the matrix."""
        some: dict[str, Any] = {} if self.roots is None else {"k": self.roots, "rng": 1}
        given: dict[str, Any] = {"directed": not is_symmetric(A), "weighted": self.weighted, "device": self.device}
        given |= {"memory": self.memory, **some}
        if self.centrality == "bc":
            return partial(lagbc.bc, A, **given)
        return lambda **how: csr_array(lagbc.edge_bc(A, **{**given, **how})).data


def calls(
    call: Callable[..., Scores], workers: int, device: Where, engines: set[str], stack: ExitStack
) -> Iterator[tuple[str, Call]]:
    """Yield the call by each engine of this process, with so many workers; the first one is always among them."""
    if device == "cpu":
        yield "threads", partial(call, threads=workers)
    else:
        yield "GPUs", partial(call, device=[number % count_gpus() for number in range(workers)])
    if "processes" in engines:
        context = multiprocessing.get_context("forkserver")
        pool = stack.enter_context(ProcessPoolExecutor(workers, mp_context=context))
        yield "processes", partial(call, executor=pool)
    if "dask" in engines and find_spec("distributed"):
        dask: Any = import_module("distributed")
        cluster = dask.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
        client = stack.enter_context(dask.Client(stack.enter_context(cluster)))
        yield "dask", partial(call, executor=client.get_executor())


def few_of(case: Case, A: csr_array) -> int:
    """Return how many roots warm a call up."""
    return min(_FEW[case.device], int(A.shape[0]))


def cpu_seconds() -> float:
    """Tell the processor time of this process and those that it started, as long as they run."""
    own = psutil.Process()
    return float(sum(sum(process.cpu_times()[:2]) for process in (own, *own.children(recursive=True))))


def seconds_of(
    named: dict[str, Call], few: int, expected: Scores | None, rounds: int
) -> tuple[dict[str, list[Seconds]], Scores | None]:
    """Time calls in turn, warm from few roots, and return their scores, too; ValueError if these are not equal."""
    for call in named.values():
        call(k=few, rng=1)
    seconds: dict[str, list[Seconds]] = {engine: [] for engine in named}
    for _ in range(rounds):
        for engine, call in named.items():
            begun, used = time.perf_counter(), cpu_seconds()
            scores = call()
            seconds[engine].append((time.perf_counter() - begun, cpu_seconds() - used))
            expected = scores if expected is None else expected
            if not np.array_equal(scores, expected):
                raise ValueError(f"{engine} gives other scores")
    return seconds, expected


def seconds_on_ranks(case: Case, workers: int, rounds: int) -> list[Seconds]:
    """Time calls of a program of so many ranks; none where there is no MPI."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    launcher = shutil.which("mpiexec", path=path)
    if launcher is None or not find_spec("mpi4py"):
        return []
    command = [launcher, "-n", str(workers), sys.executable, "-c", _RANKS, json.dumps(asdict(case)), str(rounds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    *_, told = done.stdout.partition(_TOLD)  # Open MPI writes more, before and after
    by_rank: list[list[Seconds]] = json.loads(told.splitlines()[0])
    return [(max(one[0] for one in every), sum(one[1] for one in every)) for every in zip(*by_rank, strict=True)]


def time_on_ranks(case: str, rounds: str) -> None:
    """Print the seconds of calls; every rank calls this."""
    from mpi4py import MPI

    known = Case(**json.loads(case))
    A = known.load()
    call = known.call(A)
    on_ranks = partial(call, comm=MPI.COMM_WORLD, threads=1)
    timed, _ = seconds_of({"ranks": on_ranks}, few_of(known, A), call(), int(rounds))
    if by_rank := MPI.COMM_WORLD.gather(timed["ranks"]):
        print(f"{_TOLD}{json.dumps(by_rank)}", flush=True)


def measure(case: Case, counts: list[int], rounds: int, engines: set[str]) -> Iterator[dict[str, Any]]:
    """Yield a record an engine, for each count of workers."""
    A = case.load()
    call, expected = case.call(A), None
    what = {**asdict(case), "n": A.shape[0], "nnz": A.nnz, "roots": case.roots or A.shape[0]}
    for workers in counts:
        with ExitStack() as stack:
            named = dict(calls(call, workers, case.device, engines, stack))
            timed, expected = seconds_of(named, few_of(case, A), expected, rounds)
        timed["ranks"] = seconds_on_ranks(case, workers, rounds) if "ranks" in engines else []
        for engine, seconds in timed.items():
            if seconds:
                told = {"seconds": [clock for clock, _ in seconds], "cpu_seconds": [used for _, used in seconds]}
                yield what | {"engine": engine, "workers": workers} | told


def report(rows: list[dict[str, Any]]) -> str:
    """Lay out the best times, and how many times as long as the first engine, in one process, each other one takes."""
    host, rounds, device = machine.describe(), len(rows[0]["seconds"]), rows[0]["device"]
    first, *others = _engines(rows)
    found = ", ".join(gpu_names()) if device == "cuda" else ""
    call = f"`{rows[0]['centrality']}`{', with integer lengths from 1 to 10,' * rows[0]['weighted']}"
    lines = [
        f"{found + ' beside ' if found else ''}{host['cpu']}, {host['cores']} cores; Python {host['python']}; "
        f"commit {host['commit']}.",
        "",
        f"Seconds of a call of {call} by warm workers, the best of {rounds} rounds, and how many times as fast it "
        f"is with {first} of one process as with the fewest. In brackets, how many times as long as that of as many "
        f"{first} of one process: on the clock, and of the processors, of all processes. Each worker has one "
        f"{'GPU, or a share of one' if found else 'thread'}. By `python -m benchmarks.scale`.",
        "",
        f"| {' | '.join(['graph', 'n', 'entries', 'roots', 'workers', first, 'times', *others])} |",
        "|" + "---|" * (7 + len(others)),
    ]
    best = {
        (row["graph"], row["workers"], row["engine"]): np.array([min(row["seconds"]), min(row["cpu_seconds"])])
        for row in rows
    }
    for graph, workers in dict.fromkeys((row["graph"], row["workers"]) for row in rows):
        row = next(row for row in rows if row["graph"] == graph)
        of_one_process, (of_fewest, _) = best[graph, workers, first], best[graph, row["workers"], first]
        cells = [graph, row["n"], row["nnz"], row["roots"], workers]
        cells += [f"{of_one_process[0]:.3f}", f"{of_fewest / of_one_process[0]:.2f}"]
        for engine in others:
            seconds = best.get((graph, workers, engine))
            ratio, used = (0, 0) if seconds is None else seconds / of_one_process
            cells.append("-" if seconds is None else f"{seconds[0]:.3f} ({ratio:.2f}, {used:.2f})")
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


def _engines(rows: list[dict[str, Any]]) -> list[str]:
    """Return the engines of the records, that of one process first."""
    return [engine for engine in ENGINES[rows[0]["device"]] if any(row["engine"] == engine for row in rows)]


def plot(rows: list[dict[str, Any]], path: Path) -> None:
    """Draw the best times by workers, a panel a graph."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    graphs = list(dict.fromkeys(row["graph"] for row in rows))
    figure, panels = pyplot.subplots(1, len(graphs), figsize=(4.2 * len(graphs), 3.4), squeeze=False)
    for graph, panel in zip(graphs, panels[0], strict=True):
        for engine in _engines(rows):
            mine = [row for row in rows if (row["graph"], row["engine"]) == (graph, engine)]
            panel.plot([row["workers"] for row in mine], [min(row["seconds"]) for row in mine], "o-", label=engine)
        counts = sorted({row["workers"] for row in rows})
        first = min(min(row["seconds"]) for row in rows if (row["graph"], row["workers"]) == (graph, counts[0]))
        panel.plot(counts, [first * counts[0] / count for count in counts], ":", color="grey", label="linear")
        panel.set(xlabel="workers", ylabel="seconds", title=graph, xscale="log", yscale="log")
        panel.set_xticks(counts, counts)
        seconds = [line.get_ydata()[-1] for line in panel.lines]
        panel.set_yticks([first, *seconds], [f"{one:.3g}" for one in (first, *seconds)])
        panel.minorticks_off()
        panel.grid(alpha=0.3)
        panel.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


@click.command()
@click.option("--graphs", default="rmat-14-16", show_default=True, help="rmat-SCALE-FACTOR, road_like-N, names.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of Matrix Market files that names are of.")
@click.option("--workers", default="1,2", show_default=True)
@click.option("--roots", type=click.IntRange(min=1), help="So many that are drawn.  [default: all]")
@click.option("--device", type=click.Choice(list(ENGINES)), default="cpu", show_default=True)
@click.option("--centrality", type=click.Choice(["bc", "edge_bc"]), default="bc", show_default=True)
@click.option("--weighted", is_flag=True, help="With lengths, integers from 1 to 10.")
@click.option("--engines", default="processes,dask,ranks", show_default=True, help="Beside threads or GPUs.")
@click.option("--memory", help="What each worker may take, where several share a GPU.")
@click.option("--rounds", default=5, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, show_default=True)
def main(graphs: str, data: Path | None, workers: str, rounds: int, engines: str, out: Path, **what: Any) -> None:
    """Write scale.jsonl, .md and .png; names end in -cuda on GPUs, -edge_bc of edges, -weighted with lengths."""
    rows: list[dict[str, Any]] = []
    for name in graphs.split(","):
        case = Case(graph=name, data=str(data) if data else None, **what)
        for row in measure(case, [int(count) for count in workers.split(",")], rounds, set(engines.split(","))):
            rows.append(row)
            click.echo(f"{name}, {row['workers']} workers, {row['engine']}: {min(row['seconds']):.3f} s")
    records = (json.dumps(row | {"machine": machine.describe()}) for row in rows)
    kinds = [kind for kind in (what["device"], what["centrality"]) if kind not in ("cpu", "bc")]
    written = "-".join(["scale", *kinds, *["weighted"] * what["weighted"]])
    (out / f"{written}.jsonl").write_text("\n".join(records) + "\n")
    (out / f"{written}.md").write_text(report(rows))
    plot(rows, out / f"{written}.png")


if __name__ == "__main__":
    main()
