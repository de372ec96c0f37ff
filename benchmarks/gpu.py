"""Measure lagbc's GPU methods: ``python -m benchmarks.gpu --help``, or the same as ``python -m benchmarks.run gpu``.

Needs NumPy, SciPy, CuPy and a device.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import cupy as cp
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from benchmarks import machine
from benchmarks.generators import symmetric_lengths
from benchmarks.graphs import NamedGraph, is_symmetric, table
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import Sums
from lagbc.methods.table import METHODS, Method, methods_of, ways_of

Row = dict[str, Any]
Roots = NDArray[np.int64]
Scores = NDArray[np.float64]

RESULTS = Path(__file__).parent / "results"
SYNTHETIC = ("rmat-16-16", "rmat-20-16", "rmat-20-43", "delaunay-19", "road-like-20")
REAL = ("web-NotreDame", "luxembourg_osm", "road-usa-NY", "dblp-2010", "higgs-mention", "breast_coexpress")
EXACT = ("web-NotreDame", "luxembourg_osm", "rmat-20-16")
# Bytes that masked products move for a directed edge and a root on an R-MAT graph, forward and backward, if roots are
# in any order and counts take as many bytes as c. Fields of results call it the bound; it is one no longer.
BOUND = {"float64": 9.6, "float32": 6.7}
# Largest |x - y| / (1 + |y|) that counts as agreement.
TOLERANCE = {"float64": 1e-9, "float32": 1e-3}
# Roots that the CPU checks.
CHECKED = 64
# Lengths by name: least, most, whether integers; the last ones have tiny ones among them.
LENGTHS = {"1..10": (1, 10, True), "0.1..1": (0.1, 1.0, False), "0..1": (0.0, 1.0, False)}
HOPS = "hops"


@dataclass(frozen=True)
class Entry:
    """A method as `lagbc.bc` names it, perhaps with ways behind it, in one dtype."""

    name: str
    dtype: str
    weighted: bool = False

    @property
    def row(self) -> Method:
        """Row of METHODS."""
        (row,) = methods_of(weighted=self.weighted, method=self.name, device="cuda")
        return row

    def plan(self, batch: int) -> SweepPlan:
        """Ask for this method, in batches of about so many roots."""
        variant, virtual_warp = ways_of(self.name)
        return SweepPlan(
            batch=self.row.load().batching.round(batch),
            dtype=self.dtype,
            method=self.row.name,
            variant=variant,
            virtual_warp=virtual_warp,
        )

    def prepare(self, graph: Graph, plan: SweepPlan) -> Any:
        """Build the method's state."""
        return self.row.load().prepare(graph, plan)


@dataclass
class Case:
    """A graph, its roots, and the scores that its methods have to agree with."""

    named: NamedGraph
    seed: int
    count: int
    draw: str
    batch: int
    lengths: str = HOPS
    trusted: dict[bytes, tuple[str, Scores]] = field(default_factory=dict)

    @cached_property
    def matrix(self) -> Any:
        """The pattern as a SciPy matrix, or with lengths that a hash of their ends gives the edges."""
        pattern = self.named.load()
        if self.lengths == HOPS:
            return pattern
        data = symmetric_lengths(pattern.indptr, pattern.indices, *LENGTHS[self.lengths])
        return csr_array((data, pattern.indices, pattern.indptr), shape=pattern.shape)

    @cached_property
    def graph(self) -> Graph:
        """The matrix as methods read it."""
        return as_graph(self.matrix, directed=not is_symmetric(self.matrix), weighted=self.lengths != HOPS)

    @cached_property
    def near(self) -> bool:
        """Whether a batch's roots are neighbours in sweep order, as they are when all vertices are roots."""
        return self.draw == "near" or (self.draw == "auto" and self.graph.has_high_diameter)

    @cached_property
    def roots(self) -> Roots:
        """Seeded roots with out-edges, in sweep order: single vertices, or runs of a batch each."""
        order: Roots = self.graph.order[self.graph.out_degrees[self.graph.order] > 0]
        rng = np.random.default_rng(self.seed)
        count = min(self.count, len(order))
        if not self.near:
            return order[np.sort(rng.choice(len(order), count, replace=False))]
        runs = order[: len(order) // self.batch * self.batch].reshape(-1, self.batch)
        if not len(runs):
            return order[:count]
        return runs[np.sort(rng.choice(len(runs), min(-(-count // self.batch), len(runs)), replace=False))].ravel()

    def load(self) -> float:
        """Make or read the graph and its order; return the seconds."""
        begun = time.perf_counter()
        _ = self.roots
        return time.perf_counter() - begun

    def gteps(self, seconds: float, roots: int) -> float:
        """Count billions of edges a second, ``nnz / 2`` a root."""
        return float(self.graph.nnz / 2 * roots / seconds / 1e9)

    def describe(self) -> Row:
        """Give the columns that all measurements of this case share."""
        return {
            "graph": self.named.name,
            "kind": self.named.kind,
            "n": self.graph.n,
            "nnz": self.graph.nnz,
            "directed": self.graph.directed,
            "depth": self.graph.depth,
            "lengths": self.lengths,
            "seed": self.seed,
            "draw": "near" if self.near else "random",
        }


@dataclass(frozen=True)
class Round:
    """One pass over all roots."""

    forward: float
    backward: float
    wall: float
    levels: int
    overflowed: NDArray[np.bool_]
    sums: Sums  # on the host

    @property
    def scores(self) -> Scores:
        """Raw sums of dependencies, in matrix order."""
        scores: Scores = self.sums.dependency
        return scores

    @property
    def kernels(self) -> float:
        """Seconds between the events around forward and backward sweeps."""
        return self.forward + self.backward


def run_once(entry: Entry, state: Any, plan: SweepPlan, graph: Graph, roots: Roots) -> Round:
    """Sweep from all roots, batch after batch, with events around the sweeps."""
    module: Any = entry.row.load()
    block = entry.row.load().batching.block
    total, levels_most, events = Sums.zeros(cp, plan.sums, graph.n, graph.nnz), 0, []
    overflowed = np.zeros(len(roots), np.bool_)
    cp.cuda.Device().synchronize()
    begun = time.perf_counter()
    for first in range(0, len(roots), plan.batch):
        batch = roots[first : first + plan.batch]
        blocks = -(-len(batch) // block) if block > 1 else 1
        out = Sums.zeros_of_batch(cp, plan.sums, graph.n, graph.nnz, blocks, len(batch))
        marks = [cp.cuda.Event()]
        marks[0].record()
        for levels in module.forward(state, batch):
            marks += [cp.cuda.Event(), cp.cuda.Event()]
            marks[-2].record()
            module.backward(state, levels, out)
            marks[-1].record()
            overflowed[first + levels.places] = levels.overflowed
            levels_most = max(levels_most, int(levels.depth))
        total = out.added_to(total, graph.n, batch)
        events.append(marks)
    sums = Sums(**{name: array.get() for name, array in total})
    wall = time.perf_counter() - begun
    forward, backward = (
        sum(cp.cuda.get_elapsed_time(*pair) for marks in events for pair in list(pairwise(marks))[i::2]) / 1e3
        for i in range(2)
    )
    return Round(forward, backward, wall, levels_most, overflowed, sums)


def measure(case: Case, entry: Entry, repeat: int, bandwidth: float) -> Row:
    """Verify a method on a case, then time it; one row."""
    graph, dtype = case.graph, entry.dtype
    plan = entry.plan(min(case.batch, len(case.roots)))
    pool = cp.get_default_memory_pool()
    pool.free_all_blocks()
    order_seconds, placed = timed(lambda: order_on_device(graph))
    roots = placed.line_up(case.roots, entry.row.device)
    group_seconds, _ = timed(lambda: placed.line_up(case.roots, entry.row.device))
    prepare_seconds, state = timed(lambda: entry.prepare(placed, plan))
    warm_up_seconds, _ = timed(lambda: run_once(entry, state, plan, graph, roots[: plan.batch]))
    rounds = [run_once(entry, state, plan, graph, roots) for _ in range(repeat)]
    best = min(rounds, key=lambda r: r.wall)
    bound = BOUND[dtype] * graph.nnz * len(case.roots)
    row: Row = {
        "batch": plan.batch,
        "roots": len(case.roots),
        "levels": best.levels,
        "overflowed": int(best.overflowed.sum()),
        "order_seconds": order_seconds,
        "group_seconds": group_seconds,
        "prepare_seconds": prepare_seconds,
        "warm_up_seconds": warm_up_seconds,
        "forward_seconds": best.forward,
        "backward_seconds": best.backward,
        "kernel_seconds": best.kernels,
        "seconds": best.wall,
        "seconds_all": [r.wall for r in rounds],
        "ms_per_root": best.wall / len(case.roots) * 1e3,
        "gteps": case.gteps(best.wall, len(case.roots)),
        "kernel_gteps": case.gteps(best.kernels, len(case.roots)),
        "bound_bytes": bound,
        "bound_seconds": bound / bandwidth,
        "of_bound": bound / bandwidth / best.kernels,
        "peak_bytes": pool.total_bytes(),
    }
    return row | verify(case, entry, state, plan, best, roots)


def order_on_device(graph: Graph) -> Graph:
    """Upload a graph anew, order it and transpose it."""
    placed = replace(graph).on_device
    _ = placed.reordered.transpose
    return placed


def verify(case: Case, entry: Entry, state: Any, plan: SweepPlan, best: Round, roots: Roots) -> Row:
    """Compare with the CPU on a few roots, and on all of them with the method that was measured first."""
    graph = case.graph
    kept = case.roots[~np.isin(case.roots, roots[best.overflowed])]
    answer: Row = {"tolerance": TOLERANCE[entry.dtype], "checks": {}}
    checked = kept[:: max(1, len(kept) // CHECKED)][:CHECKED]
    for some in (checked, kept):
        scores = best.scores if some is kept and len(kept) == len(case.roots) else None
        if not len(some):
            continue
        if scores is None:
            scores = run_once(entry, state, plan, graph, some).scores
        key = some.tobytes()
        if some is checked and key not in case.trusted and (known := on_cpu(graph, some)) is not None:
            case.trusted[key] = known
        name, expected = case.trusted.setdefault(key, (f"{entry.name} {entry.dtype}", scores))
        answer["checks"][f"{len(some)} roots, {name}"] = disagreement(scores, expected)
    wrong = [name for name, error in answer["checks"].items() if not error <= answer["tolerance"]]
    answer["status"] = f"wrong: disagrees with {'; '.join(wrong)}" if wrong else "ok"
    return answer


def on_cpu(graph: Graph, roots: Roots) -> tuple[str, Scores] | None:
    """Raw sums by the batched method of the CPU."""
    from lagbc import bc

    scores = bc(graph, directed=graph.directed, weighted=graph.weighted, sources=roots, method="batched", device="cpu")
    return "batched on cpu", scores * (1 if graph.directed else 2)


def disagreement(scores: Scores, expected: Scores) -> float:
    """Find the largest ``|x - y| / (1 + |y|)``; infinite if a score is not finite."""
    difference = np.abs(scores - expected) / (1 + np.abs(expected))
    return float(np.nan_to_num(difference, nan=np.inf).max(initial=0.0))


def end_to_end(case: Case, entry: Entry, batch: int) -> Row:
    """Time `lagbc.bc` on the SciPy matrix: reading, ordering, upload and all."""
    from lagbc import bc

    cp.get_default_memory_pool().free_all_blocks()
    seconds, _ = timed(
        lambda: bc(
            case.matrix,
            batch=batch,
            directed=case.graph.directed,
            weighted=case.graph.weighted,
            sources=case.roots,
            method=cast(Any, entry.name),
            device="cuda",
            reduce="none",
            dtype=cast(Any, entry.dtype),
        )
    )
    return {"end_to_end_seconds": seconds}


class OutOfTime(Exception):  # noqa: N818 (no error)
    """The budget is spent."""


def measure_exact(case: Case, entry: Entry, until: float) -> Row:
    """Time `lagbc.bc` from all roots; past `until`, stop and tell how far it came."""
    from lagbc import Progress, bc

    last = Progress(0, 0, 0.0, 0.0, 0.0)

    def watch(progress: Progress) -> None:
        nonlocal last
        last = progress
        if time.perf_counter() > until:
            raise OutOfTime

    pool = cp.get_default_memory_pool()
    pool.free_all_blocks()
    status, scores, begun = "ok", np.zeros(0), time.perf_counter()
    try:
        scores = bc(
            case.matrix,
            directed=case.graph.directed,
            weighted=case.graph.weighted,
            method=cast(Any, entry.name),
            device="cuda",
            reduce="none",
            dtype=cast(Any, entry.dtype),
            progress=watch,
        )
    except OutOfTime:
        status = f"stopped after {last.done} of {last.total} roots in {last.seconds:.1f} s"
    seconds = time.perf_counter() - begun
    if not np.isfinite(scores).all():
        status = "wrong: a score is not finite"
    return {
        "exact": True,
        "status": status,
        "roots": last.total,
        "roots_done": last.done,
        "seconds": seconds,
        "sweep_seconds": last.seconds,
        "gteps": case.gteps(seconds, last.done),
        "ms_per_root": seconds / max(last.done, 1) * 1e3,
        "peak_bytes": pool.total_bytes(),
        "sum_of_scores": float(scores.sum()),
    }


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    """Call, wait for the device; return the seconds and the answer."""
    begun = time.perf_counter()
    answer = function()
    cp.cuda.Device().synchronize()
    return time.perf_counter() - begun, answer


def copy_bandwidth() -> float:
    """Bytes read and written a second by a copy within device memory."""
    source = cp.zeros(1 << 30, cp.uint8)
    target = cp.empty_like(source)
    cp.copyto(target, source)
    seconds = min(timed(lambda: [cp.copyto(target, source) for _ in range(10)])[0] for _ in range(3))
    return float(20 * source.nbytes / seconds)


def environment() -> Row:
    """Say which device and which software gave a result."""
    properties = cp.cuda.runtime.getDeviceProperties(cp.cuda.Device().id)
    driver = Path("/proc/driver/nvidia/version")
    return {
        "device": properties["name"].decode(),
        "device_bytes": properties["totalGlobalMem"],
        "driver": driver.read_text().splitlines()[0] if driver.exists() else None,
        "driver_cuda": cp.cuda.runtime.driverGetVersion(),
        "cuda": cp.cuda.runtime.runtimeGetVersion(),
        "cupy": cp.__version__,
        "machine": machine.describe(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def rows(arguments: argparse.Namespace) -> Iterator[Row]:
    """Measure all cases, as long as the budget lasts."""
    begun = time.perf_counter()
    until = begun + arguments.budget
    common = environment()
    bandwidth = copy_bandwidth()
    common["copy_bandwidth"] = bandwidth
    known = table(arguments.data)
    for name in graph_names(arguments):
        if name not in known:
            yield {"graph": name, "status": "absent: no such file in --data"} | common
            continue
        weighted = arguments.lengths != HOPS
        case = Case(known[name], arguments.seed, arguments.roots, arguments.draw, arguments.batch, arguments.lengths)
        load_seconds = None
        for method in arguments.methods or semiring(weighted):
            for dtype in arguments.dtypes:
                entry = Entry(method, dtype, weighted)
                row = {"graph": name, "method": method, "dtype": dtype} | common
                if time.perf_counter() > until:
                    yield row | {"status": "not run: out of time"}
                    continue
                try:
                    load_seconds = load_seconds or case.load()
                    row |= case.describe() | {"load_seconds": load_seconds}
                    if arguments.exact:
                        row |= measure_exact(case, entry, until)
                    else:
                        row |= measure(case, entry, arguments.repeat, bandwidth)
                        if arguments.end_to_end and dtype == arguments.dtypes[0]:
                            row |= end_to_end(case, entry, row["batch"])
                except Exception as error:  # one method's failure must not cost the others their time
                    row["status"] = f"failed: {type(error).__name__}: {error}"
                yield row


def semiring(weighted: bool) -> list[str]:
    """Name the methods of the semiring formulation, with lengths or without."""
    rows = [row for row in METHODS if row.device == "cuda" and row.formulation == "semiring"]
    return [row.name for row in rows if row.weighted == weighted]


def graph_names(arguments: argparse.Namespace) -> Sequence[str]:
    """Give the graphs asked for, or those of the kind of run."""
    if arguments.graphs:
        return tuple(arguments.graphs)
    return EXACT if arguments.exact else (*SYNTHETIC, *REAL)


def parse(words: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description="Measure lagbc's GPU methods.")
    hops, weighted = (
        [row.name for row in METHODS if row.device == "cuda" and row.weighted == lengths] for lengths in (False, True)
    )
    parser.add_argument("--graphs", type=words_of, help=f"comma-separated [{','.join((*SYNTHETIC, *REAL))}]")
    parser.add_argument("--lengths", choices=(HOPS, *LENGTHS), default=HOPS, help="lengths of the edges [hops]")
    parser.add_argument(
        "--methods",
        type=words_of,
        help=f"of {','.join(hops)}, with ways as in warp-centric:8; with lengths {','.join(weighted)} [the semiring's]",
    )
    parser.add_argument("--dtypes", type=words_of, default=["float64", "float32"])
    parser.add_argument("--data", type=Path, help="directory of Matrix Market files")
    parser.add_argument("--roots", type=int, default=1024, help="how many [1024]")
    parser.add_argument(
        "--draw", choices=("auto", "random", "near"), default="auto", help="near: whole runs of a batch"
    )
    parser.add_argument("--batch", type=int, default=1024, help="columns, rounded as the method needs [1024]")
    parser.add_argument("--repeat", type=int, default=3, help="timed rounds, of which the best counts [3]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds after which no case is begun")
    parser.add_argument("--exact", action="store_true", help=f"from all roots, by lagbc.bc [{','.join(EXACT)}]")
    parser.add_argument("--no-end-to-end", dest="end_to_end", action="store_false", help="do not time lagbc.bc")
    parser.add_argument("--out", type=Path, help="results [results/gpu-DATE.jsonl]")
    return parser.parse_args(words)


def words_of(text: str) -> list[str]:
    """Split a comma-separated list."""
    return [word for word in text.split(",") if word]


def say(row: Row) -> None:
    """Print one measurement in a line."""
    head = f"{row['graph']} {row.get('lengths', '')} {row.get('method', '')} {row.get('dtype', '')}: {row['status']}"
    if "gteps" not in row:
        print(head, flush=True)
        return
    parts = [f"{row['roots']} roots {row['seconds']:.3f} s", f"{row['gteps']:.1f} GTEPS"]
    parts += [f"{row['ms_per_root']:.4f} ms a root", f"{row['peak_bytes'] / 2**30:.2f} GiB"]
    if "kernel_seconds" in row:
        parts += [f"forward {row['forward_seconds'] * 1e3:.1f} ms", f"backward {row['backward_seconds'] * 1e3:.1f} ms"]
        parts += [f"{100 * row['of_bound']:.0f} % of the model", f"{row['levels']} levels", str(row["checks"])]
    print(head, *parts, sep=", ", flush=True)


def main(words: Sequence[str] | None = None) -> None:
    """Measure, and write a line of JSON a measurement."""
    arguments = parse(words)
    out = arguments.out or RESULTS / f"gpu-{datetime.now(UTC):%Y-%m-%d}{'-exact' * arguments.exact}.jsonl"
    out.parent.mkdir(parents=True, exist_ok=True)
    bad = False
    with out.open("w") as file:
        for row in rows(arguments):
            print(json.dumps(row), file=file, flush=True)
            say(row)
            bad |= row["status"].startswith(("wrong", "failed"))
    if bad:
        raise SystemExit("a method failed or disagrees; the status of its row says how")


if __name__ == "__main__":
    main()
