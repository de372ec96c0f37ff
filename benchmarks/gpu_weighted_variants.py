"""Measure variants of the GPU's Delta-stepping, each against the first of its lengths, as a table in Markdown.

``python -m benchmarks.gpu_weighted_variants --help``. Edges: the share that is not left out as a detour, and the
milliseconds that it took to find them, once a run and in no other figure. Differs: from the first, over 1 + score.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from benchmarks import gpu
from benchmarks.generators import symmetric_lengths
from benchmarks.graphs import table
from lagbc import tuning
from lagbc.cuda import kernel
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.gpu.common import rows
from lagbc.methods.gpu.delta_stepping import lengths as delta_stepping
from lagbc.methods.gpu.driver import State
from lagbc.methods.gpu.kernels import DELTA_IN_ONE_LAUNCH, DELTA_PER_ROUND
from lagbc.methods.sums import Sums

LENGTHS = gpu.LENGTHS | {"1": (1, 1, True), "1..3": (1, 3, True), "1..5": (1, 5, True)}


@dataclass(frozen=True)
class Variant:
    """One way to run, with settings of `tuning.OWN_BYTES` and `tuning.RESIDENT`, and the window in mean lengths."""

    schedule: str
    lengths: str
    own: int = 64
    resident: int = 0
    width: float = 0.0
    dtype: str = "float64"
    all_edges: bool = False  # also those that `lagbc.methods.gpu.delta_stepping.lengths` leaves out

    @property
    def kernels(self) -> tuple[str, str]:
        """Names in `tuning.OWN_BYTES` and `tuning.RESIDENT`."""
        return {
            "window": ("delta_stepping/launch_per_round", "DELTA"),
            "one launch": ("delta_stepping/one_launch", "DELTA_ONE_LAUNCH"),
        }[self.schedule]


FLAT = (
    Variant("window", "1..10", 64, 4, all_edges=True),
    *(Variant("window", lengths, 64, 4) for lengths in ("1..10", "1..5", "1..3", "1")),
    Variant("window", "1..10", 64, 4, dtype="float32"),
    *(Variant("window", "0.1..1", own, resident) for own, resident in ((64, 3), (64, 4))),
    Variant("window", "0..1", 64, 4, all_edges=True),
    *(Variant("window", "0..1", own, resident) for own, resident in ((64, 3), (64, 4), (32, 4))),
    *(Variant("window", "0..1", 64, 4, width=width) for width in (1.0, 2.0, 16.0)),
)
DEEP = (
    *(Variant("one launch", "1..10", resident=resident) for resident in (5, 6)),
    *(Variant("one launch", "1..10", resident=6, width=width) for width in (2.0, 8.0, 16.0)),
    Variant("one launch", "0.1..1", resident=6),
)


@dataclass
class Measured:
    """Seconds of one pass over all roots, and what it gave."""

    forward: float
    backward: float
    levels: int
    schedule: str
    scores: NDArray[np.float64]
    kernels: dict[str, float] = field(default_factory=dict)


def in_sweep_order(graph: Graph, lengths: tuple[float, float, bool]) -> Graph:
    """Give lengths to a graph that is in sweep order already."""
    weights = symmetric_lengths(graph.indptr, graph.indices, *lengths)
    weighted = Graph(graph.indptr, graph.indices, directed=False, weights=weights)
    weighted.order, weighted.reordered, weighted.depth = np.arange(graph.n), weighted, graph.depth  # cached properties
    return weighted


@dataclass
class Case:
    """A graph without the edges that are left out, and the seconds that it took to find them."""

    graph: Graph
    lengths: rows.Lengths
    seconds: float

    @classmethod
    def of(cls, graph: Graph, all_edges: bool) -> Case:
        """Leave them out twice: the first time compiles."""
        seconds = 0.0
        if not all_edges:
            for _ in range(2):
                cp.get_default_memory_pool().free_all_blocks()
                seconds, (part, _) = gpu.timed(lambda: delta_stepping.prune(graph, SweepPlan(batch=256)))
            graph = part
        return cls(graph, delta_stepping.describe_lengths(graph, SweepPlan(batch=256)), seconds)


@contextmanager
def settings(variant: Variant) -> Iterator[None]:
    """Compile as the variant asks, for a while."""
    source, kernel = variant.kernels
    own, resident = dict(tuning.OWN_BYTES), dict(tuning.RESIDENT)
    if source in own:
        tuning.OWN_BYTES[source] = variant.own
    if variant.resident:
        tuning.RESIDENT[kernel] = variant.resident
    try:
        yield
    finally:
        tuning.OWN_BYTES.update(own)
        tuning.RESIDENT.update(resident)


@contextmanager
def timed_kernels() -> Iterator[list[tuple[str, Any, Any]]]:
    """Record events around each launch, as (kernel, begun, ended)."""
    launches: list[tuple[str, Any, Any]] = []
    load = kernel.load

    class Timed:
        def __init__(self, module: Any) -> None:
            self.module = module

        def get_function(self, name: str) -> Any:
            function = self.module.get_function(name)

            def launch(*arguments: Any) -> None:
                begun, ended = cp.cuda.Event(), cp.cuda.Event()
                begun.record()
                function(*arguments)
                ended.record()
                launches.append((name, begun, ended))

            return launch

    kernel.load = lambda *names, **options: Timed(load(*names, **options))  # type: ignore[assignment]
    try:
        yield launches
    finally:
        kernel.load = load


def compile_all(variants: Sequence[Variant]) -> None:
    """Compile what the variants need, side by side, before any of them is timed."""
    wanted = []
    for variant in variants:
        kernels = next(
            kernels for kernels in (DELTA_PER_ROUND, DELTA_IN_ONE_LAUNCH) if kernels.source.name == variant.kernels[0]
        )
        for dist in kernels.dists:
            if dist != ("float64" if "." in variant.lengths[:3] or variant.lengths == "0..1" else "float32") and dist:
                continue
            with settings(variant):
                options = kernels.options(kernel.Variant(variant.dtype, dist))
                wanted.append((kernels.source, options, kernels.cooperative))
    for source, options, cooperative in dict.fromkeys(wanted):
        kernel.begin_compile(source, options, cooperative=cooperative)
    for source, options, cooperative in dict.fromkeys(wanted):
        kernel.load(source, options, cooperative=cooperative)


def measure(state: State, roots: NDArray[np.int64]) -> Measured:
    """Sweep from all roots in one batch."""
    marks = [cp.cuda.Event() for _ in range(3)]
    out = cp.zeros((state.rows.groups, len(state.rows.position)))
    marks[0].record()
    (levels,) = delta_stepping.forward(state, roots)
    marks[1].record()
    delta_stepping.backward(state, levels, Sums(dependency=out))
    marks[2].record()
    scores = out.sum(axis=0).get()
    forward, backward = (cp.cuda.get_elapsed_time(marks[i], marks[i + 1]) / 1e3 for i in range(2))
    return Measured(forward, backward, levels.depth, state.schedule, scores)


def run(case: Case, variant: Variant, roots: NDArray[np.int64], kernels: bool) -> Measured:
    """Warm up, take the best of two passes, and if asked for the kernels' times in a third."""
    cp.get_default_memory_pool().free_all_blocks()
    plan, described = SweepPlan(batch=len(roots), dtype=variant.dtype), case.lengths
    if variant.width:
        mean = described.width / tuning.WINDOW_WIDTH
        described = described._replace(width=variant.width * mean)
    with settings(variant):
        on_device = rows.upload(case.graph, plan)
        state = State(on_device, schedules=delta_stepping.SCHEDULES, first=variant.schedule, lengths=described)
        measure(state, roots)
        best = min((measure(state, roots) for _ in range(2)), key=lambda m: m.forward + m.backward)
        if kernels:
            with timed_kernels() as launches:
                measure(state, roots)
            times: dict[str, float] = defaultdict(float)
            for name, begun, ended in launches:
                times[name] += cp.cuda.get_elapsed_time(begun, ended)
            best.kernels = dict(times)
    return best


def pick_roots(graph: Graph, count: int, seed: int) -> NDArray[np.int64]:
    """Seeded roots in sweep order: single vertices, or on graphs of high diameter runs of 256."""
    rng = np.random.default_rng(seed)
    order = np.flatnonzero(graph.out_degrees)
    count = min(count, len(order)) // 256 * 256
    if not graph.has_high_diameter:
        return np.sort(rng.choice(order, count, replace=False))
    runs = order[: len(order) // 256 * 256].reshape(-1, 256)
    return runs[np.sort(rng.choice(len(runs), count // 256, replace=False))].ravel()


def main(words: Sequence[str] | None = None) -> None:
    """Measure all variants of the graphs asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu_weighted_variants", description=__doc__)
    parser.add_argument("--graphs", default="rmat-20-16,delaunay-19,road-like-20")
    parser.add_argument("--roots", type=int, default=1024)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds after which no variant is begun")
    parser.add_argument("--kernels", action="store_true", help="also the time of each kernel")
    arguments = parser.parse_args(words)
    common = gpu.environment()
    print(f"{common['device']}, CUDA {common['cuda']}, CuPy {common['cupy']}; commit {common['machine']['commit']}, ")
    print(f"{common['date']}. {arguments.roots} roots in one batch, best of two, kernels alone.\n", flush=True)
    begun = time.perf_counter()
    names = arguments.graphs.split(",")
    compile_all([*(FLAT if any(name.startswith("rmat") for name in names) else ()), *DEEP])
    head = (
        "graph,lengths,edges,found in ms,schedule,dtype,own bytes,blocks,width,levels,forward ms,backward ms,ms a root,"
    )
    head += "GTEPS,differs,at s"
    print(f"| {head.replace(',', ' | ')} |\n{'|---' * (head.count(',') + 1)}|", flush=True)
    for name in names:
        pattern = as_graph(table()[name].load(), directed=False).reordered
        roots = pick_roots(pattern, arguments.roots, arguments.seed)
        cases: dict[tuple[str, bool], Case] = {}
        expected: dict[str, NDArray[np.float64]] = {}
        for variant in DEEP if pattern.has_high_diameter else FLAT:
            if time.perf_counter() - begun > arguments.budget:
                print("out of time")
                return
            chosen = variant.lengths, variant.all_edges
            if chosen not in cases:
                cases[chosen] = Case.of(in_sweep_order(pattern, LENGTHS[variant.lengths]), variant.all_edges)
            case = cases[chosen]
            try:
                best = run(case, variant, roots, arguments.kernels)
            except Exception as error:  # one variant's failure must not cost the others their time
                print(f"{name} {variant}: {type(error).__name__}: {error}", flush=True)
                continue
            trusted = expected.setdefault(variant.lengths, best.scores)
            difference = float((np.abs(best.scores - trusted) / (1 + np.abs(trusted))).max(initial=0.0))
            seconds = best.forward + best.backward
            cells = [name, variant.lengths, f"{case.graph.nnz / pattern.nnz:.2f}", f"{1e3 * case.seconds:.0f}"]
            cells += [best.schedule, variant.dtype, variant.own, variant.resident]
            cells += [variant.width or tuning.WINDOW_WIDTH, best.levels]
            cells += [f"{1e3 * best.forward:.1f}", f"{1e3 * best.backward:.1f}", f"{1e3 * seconds / len(roots):.4f}"]
            cells += [f"{pattern.nnz / 2 * len(roots) / seconds / 1e9:.1f}", f"{difference:.0e}"]
            cells += [f"{time.perf_counter() - begun:.0f}"]
            print(f"| {' | '.join(map(str, cells))} |", flush=True)
            if best.kernels:
                print("  ms: " + ", ".join(f"{kernel} {ms:.1f}" for kernel, ms in best.kernels.items()), flush=True)


if __name__ == "__main__":
    main()
