"""Hold estimates of memory against what runs take: ``python -m benchmarks.memory --data FOLDER [--device cuda]``.

A case is a network, hops or lengths (integers from 1 to 10, alike both ways), and a method. Each runs in a process of
its own, forked from this one when all is compiled, which reads the matrix, calls `lagbc.bc` from two roots, gives free
memory back, and calls it from all. What resident memory then rises by, at its peak, is what the run took: at the first
call the libraries' own pages are read, too. `lagbc.plan` is asked with the same arguments. Roots are drawn at random,
so that those of a batch are far apart, which takes more memory than roots near each other. Objects of the interpreter,
and stacks and heaps of threads, are in what is taken, but in no estimate: up to `NOISE`.

On a GPU all cases run in this process, each from all roots, or as many as are asked for. A run is stopped after the
first batch that ends when `SECONDS` have passed. What it took is the most that CuPy's pool had handed out at a time,
looked at after each allocation; what the pool got from the device for it, with the blocks that it keeps, is written
down, too. Graphs are not reduced there, so that all of them are swept.

Results are JSON lines, a line a case, and a table of them.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

import lagbc
from benchmarks import machine
from benchmarks.generators import with_hashed_lengths
from benchmarks.graphs import SEED, table
from lagbc.comparison.measure import PeakMemory

RESULTS = {
    device: Path(__file__).parent / "results" / name
    for device, name in (("cpu", "memory.md"), ("cuda", "memory_cuda.md"))
}
METHODS = {
    ("cpu", False): ("batched", "work-efficient"),
    ("cpu", True): ("batched", "dijkstra"),
    ("cuda", False): ("batched", "work-efficient"),
    ("cuda", True): ("delta-stepping", "dijkstra"),
}
# From so many bytes that are estimated on, an estimate is to be at most `MOST` times what the run took.
LARGE, MOST = 100e6, 1.3
NOISE = 2**21
# A run on a GPU is stopped after the first batch that ends later.
SECONDS = 0.3
WARM_UP = ("karate", "minnesota")  # of low and of high diameter: all that is needed is compiled
HEADS = ("network", "n", "nnz", "lengths", "method", "batch", "threads", "MB taken", "MB estimated", "ratio", "warned")

OFF = {
    "cpu": f"Below what was taken by more than 2 MiB, or, from 100 MB on, above {MOST} times as much",
    "cuda": f"More than {MOST} times as much as was taken, or less than what was taken over {MOST}",
}

Row = dict[str, Any]


def read(path: Path, *, weighted: bool) -> tuple[csr_array, bool]:
    """Read a network, and whether its edges have directions."""
    given = lagbc.read_graph(path)
    A = csr_array(given.matrix.astype(np.float64))
    return with_hashed_lengths(A, SEED) if weighted else A, given.directed


def warm_up(method: Any, threads: int, *, weighted: bool, directed: bool) -> None:
    """Call a method on small networks."""
    for name in WARM_UP:
        A, _ = read(lagbc.example_path(name), weighted=weighted)
        lagbc.bc(A, directed=directed, weighted=weighted, method=method, device="cpu", threads=threads)


def measure(path: Path, method: str, roots: int, threads: int, *, weighted: bool) -> Row:
    """Estimate the memory of a run, and have it run."""
    A, directed = read(path, weighted=weighted)
    drawn = draw(A, roots)
    options: Any = {"directed": directed, "weighted": weighted, "method": method, "device": "cpu", "threads": threads}
    lagbc.bc(A, sources=drawn[:2], **options)
    with PeakMemory("cpu") as peak:
        lagbc.bc(A, sources=drawn, **options)
    return row_of(name_of(path), A, len(drawn), options) | {"taken": peak.bytes}


def name_of(path: Path) -> str:
    """Return the name of a network."""
    return path.name.split(".mtx")[0]


def draw(A: csr_array, roots: int | None) -> NDArray[np.int64]:
    """Draw roots; None takes all."""
    n = A.shape[0]
    drawn: NDArray[np.int64] = np.random.default_rng(SEED).choice(
        n, n if roots is None else min(roots, n), replace=False
    )
    return drawn


def row_of(name: str, A: csr_array, roots: int, options: Any) -> Row:
    """Estimate the memory of a case."""
    planned = lagbc.plan(A, k=roots, rng=SEED, **options)
    largest, needed = planned.sweeps[planned.main], planned.memory
    parts = {"batch": largest.batch, "threads": largest.threads, **needed._asdict()}
    case = {"network": name, "n": A.shape[0], "nnz": A.nnz, "roots": roots}
    asked = {option: options[option] for option in ("device", "directed", "weighted", "method")}
    return case | asked | parts | {"estimated": needed.total}


class Enough(Exception):  # noqa: N818 (a wish, not an error)
    """Raised to stop a run."""


class DevicePeak:
    """The most bytes that CuPy's pool hands out at a time, in `bytes`, and the most that it gets for it, `reserved`."""

    def __enter__(self) -> DevicePeak:
        import cupy

        self._cupy, self._pool = cupy, cupy.get_default_memory_pool()
        gc.collect()
        self._pool.free_all_blocks()
        self._before = self._pool.used_bytes(), self._pool.total_bytes()
        self.bytes = self.reserved = 0
        self.gpu = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)["name"].decode()
        cupy.cuda.set_allocator(self._allocate)
        return self

    def _allocate(self, size: int) -> Any:
        block = self._pool.malloc(size)
        self.bytes = max(self.bytes, self._pool.used_bytes() - self._before[0])
        self.reserved = max(self.reserved, self._pool.total_bytes() - self._before[1])
        return block

    def since(self) -> int:
        """Return the most since the last call, and begin anew with what is handed out now."""
        most, self.bytes = self.bytes, self._pool.used_bytes() - self._before[0]
        return most

    def __exit__(self, *_: object) -> None:
        self._cupy.cuda.set_allocator(self._pool.malloc)


def measure_on_device(
    name: str, A: csr_array, method: str, roots: int | None, *, weighted: bool, directed: bool
) -> Row:
    """Estimate the memory of a run on the GPU, and have it run for `SECONDS`."""

    def stop(progress: lagbc.Progress) -> None:
        if progress.seconds > SECONDS and progress.done < progress.total:
            raise Enough

    drawn = draw(A, roots)
    options: Any = {"directed": directed, "weighted": weighted, "method": method, "device": "cuda", "reduce": "none"}
    row = row_of(name, A, len(drawn), options)
    with warnings.catch_warnings(record=True) as warned, DevicePeak() as peak, suppress(Enough):
        warnings.simplefilter("always", lagbc.MemoryWarning)
        lagbc.bc(A, sources=drawn, progress=stop, **options)
    messages = [str(one.message) for one in warned if issubclass(one.category, lagbc.MemoryWarning)]
    return row | {"taken": peak.bytes, "reserved": peak.reserved, "warned": messages, "gpu": peak.gpu}


def measured_apart(path: Path, method: str, roots: int, threads: int, *, weighted: bool) -> Row:
    """Measure a case in a process of its own."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)

    def send(end: Connection) -> None:
        end.send(measure(path, method, roots, threads, weighted=weighted))

    child = context.Process(target=send, args=(theirs,))
    child.start()
    theirs.close()
    row: Row = ours.recv()
    child.join()
    return row


def is_off(row: Row) -> bool:
    """Whether an estimate is too low, or, of a run that is not small, too high; on a GPU either by `MOST`."""
    if row["device"] == "cuda":
        return not 1 / MOST <= row["estimated"] / max(row["taken"], 1) <= MOST
    is_low, is_high = row["taken"] > row["estimated"] + NOISE, row["estimated"] > max(LARGE, MOST * row["taken"])
    return bool(is_low or is_high)


def page(rows: Sequence[Row], command: str) -> str:
    """Lay out the results."""
    host = rows[0]["machine"]
    where = " and ".join(filter(None, (rows[0].get("gpu"), host["cpu"])))
    commits = ", ".join(sorted({str(row["machine"]["commit"])[:10] for row in rows}))
    packages = ", ".join(f"{name} {version}" for name, version in host["packages"].items() if version)
    large = [row for row in rows if row["estimated"] >= LARGE]
    ratios = [row["estimated"] / row["taken"] for row in large]
    off = [row for row in rows if is_off(row)]
    lines = [
        f"`{command}` on {where}, {host['cores']} cores, {host['system']}, Python {host['python']}, {packages}; "
        f"commit {commits}.",
        "",
        f"{len(rows)} runs from up to {max(row['roots'] for row in rows)} random roots. {len(large)} of them are "
        f"estimated at 100 MB or more: {min(ratios, default=0):.2f} to {max(ratios, default=0):.2f} times what they "
        f"took. {OFF[rows[0]['device']]}: {len(off)}.",
        "",
        f"| {' | '.join(HEADS)} |",
        "|" + "---|" * len(HEADS),
    ]
    for row in rows:
        ratio = f"{row['estimated'] / max(row['taken'], 1):.2f}"
        lengths = "1 to 10" if row["weighted"] else "hops"
        sizes = [f"{row[name] / 1e6:.1f}" for name in ("taken", "estimated")]
        cells = [row["network"], row["n"], row["nnz"], lengths, row["method"], row["batch"], row["threads"], *sizes]
        marked = f"**{ratio}**" if is_off(row) else ratio
        lines.append(f"| {' | '.join(map(str, cells))} | {marked} | {'; '.join(row.get('warned', ()))} |")
    return "\n".join(lines) + "\n"


def on_host(paths: list[Path], roots: int, threads: int) -> Iterator[Row]:
    """Measure all cases on the CPU, one after the other."""
    kinds = [(weighted, method) for weighted in (False, True) for method in METHODS["cpu", weighted]]
    for weighted, method in kinds:
        for directed in (False, True):
            warm_up(method, threads, weighted=weighted, directed=directed)
    for path in paths:
        for weighted, method in kinds:
            yield measured_apart(path, method, roots, threads, weighted=weighted)


def on_device(paths: list[Path], generated: list[str], roots: int | None) -> Iterator[Row]:
    """Measure all cases on the GPU, one after the other."""
    made = table()
    networks = ((name_of(path), *read(path, weighted=False)) for path in paths)
    graphs = ((name, csr_array(made[name].load().astype(np.float64)), False) for name in generated)
    for name, A, directed in chain(networks, graphs):
        for weighted in (False, True):
            matrix = with_hashed_lengths(A, SEED) if weighted else A
            for method in METHODS["cuda", weighted]:
                yield measure_on_device(name, matrix, method, roots, weighted=weighted, directed=directed)


@click.command()
@click.option("--data", type=click.Path(path_type=Path, exists=True), help="Folder of Matrix Market files.")
@click.option("--networks", help="Names of files, comma-separated; by default all.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cpu", show_default=True)
@click.option("--generated", default="", help="On a GPU: names of generated graphs, such as road-like-20,delaunay-19.")
@click.option("--roots", type=int, help="How many; by default 128 on the CPU, all on a GPU.")
@click.option("--threads", default=2, show_default=True, help="On the CPU.")
@click.option("--out", type=click.Path(path_type=Path), help="Table; by default in benchmarks/results.")
def main(
    data: Path | None,
    networks: str | None,
    device: str,
    generated: str,
    roots: int | None,
    threads: int,
    out: Path | None,
) -> None:
    """Write a table, and the lines that it is made of."""
    folder = lagbc.example_path("karate").parent if data is None else data
    wanted = None if networks is None else networks.split(",")
    paths = [path for path in sorted(folder.glob("*.mtx*")) if wanted is None or name_of(path) in wanted]
    options = {"networks": networks, "device": device, "generated": generated or None, "roots": roots}
    named = "".join(f" --{option} {value}" for option, value in options.items() if value is not None)
    named += "" if data is None else " --data FOLDER"
    if device == "cuda":
        cases = on_device(paths, [name for name in generated.split(",") if name], roots)
    else:
        cases, named = on_host(paths, 128 if roots is None else roots, threads), f"{named} --threads {threads}"
    out = RESULTS[device] if out is None else out
    rows: list[Row] = []
    host = machine.describe()
    for row in cases:
        rows.append(row | {"machine": host, "date": datetime.now(UTC).isoformat()})
        sizes = " ".join(f"{row[name] / 1e6:.1f}" for name in ("taken", "estimated"))
        off = " ".join([" OFF" * is_off(row), *row.get("warned", ())])
        click.echo(f"{row['network']} {'lengths' if row['weighted'] else 'hops'} {row['method']}: {sizes}{off}")
        out.with_suffix(".jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        out.write_text(page(rows, f"python -m benchmarks.memory{named}"))


if __name__ == "__main__":
    main()
