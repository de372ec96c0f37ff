"""Measure the tuned constants again, each with other values: ``python -m benchmarks.tune --help``.

A table of one line a constant and graph: what today's value takes, what the others take against it, and which is the
best on this machine. Scores must agree before a value is timed. On the CPU the time is the processor's, of one thread,
which other work on the machine disturbs less; on a GPU it is that of the clock. The best of the rounds counts, which go
around all values.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, cast
from unittest import mock

import click
import numpy as np

import lagbc
from benchmarks import machine
from benchmarks.generators import with_lengths
from benchmarks.graphs import SEED, is_weighted, table
from lagbc import tuning
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.methods.table import METHODS
from lagbc.types import CentralityName

SHALLOW, DEEP = ("rmat-13-16", "barabasi-albert-10000-10", "ca-GrQc"), ("delaunay-13", "holed-grid-100", "minnesota")
LARGE_SHALLOW, LARGE_DEEP = ("rmat-16-16",), ("delaunay-19",)
NEVER = 2**62
HEAD = "| constant | graph | ms today | today | others, times today's time | best here |\n|" + " --- |" * 6


@dataclass(frozen=True)
class Constant:
    """What is tried for a tuned constant, and the call that shows it.

    Attributes
    ----------
    name : str
        In `lagbc.tuning`; ``NAME[KEY]`` is an entry of a dictionary.
    values : tuple
        Besides today's.
    graphs : tuple of str
        Of `benchmarks.graphs`.
    roots : int or None
        So many that follow each other in sweep order, as in a run from all; None takes all.
    which : CentralityName
    longest : int
        Edges have random lengths from 1 to this; 0 counts hops.
    ordered : bool
        Whether the graph is checked and ordered before the clock runs.
    device : str
        A constant of "cuda" is measured where there is one.
    options : dict
        How the run is carried out.
    """

    name: str
    values: tuple[Any, ...]
    graphs: tuple[str, ...] = SHALLOW + DEEP
    roots: int | None = 512
    which: CentralityName = "bc"
    longest: int = 0
    ordered: bool = True
    device: str = "cpu"
    options: dict[str, Any] = field(default_factory=lambda: {"method": "batched"})

    @property
    def home(self) -> tuple[str, str]:
        """Attribute, and key, empty if it is no entry."""
        attribute, _, key = self.name.rstrip("]").partition("[")
        return attribute, key

    @property
    def today(self) -> Any:
        """Today's value."""
        attribute, key = self.home
        return getattr(tuning, attribute)[key] if key else getattr(tuning, attribute)

    def set_to(self, value: Any) -> AbstractContextManager[Any]:
        """Return a context in which it has another value."""
        attribute, key = self.home
        if key:
            return cast(AbstractContextManager[Any], mock.patch.dict(getattr(tuning, attribute), {key: value}))
        return mock.patch.object(tuning, attribute, value)


batched = partial(Constant)
lengths = partial(Constant, longest=10)
graphblas = partial(Constant, roots=128, options={"method": "graphblas"})
order = partial(Constant, graphs=("power", "minnesota", "delaunay-13"), roots=None, ordered=False)
hubs = partial(Constant, graphs=("rmat-12-16", "ca-GrQc"), roots=None)
gpu = partial(Constant, roots=1024, device="cuda", options={"method": "batched"})
gpu_shallow, gpu_deep = partial(gpu, graphs=LARGE_SHALLOW), partial(gpu, graphs=LARGE_DEEP)
delta = partial(gpu, graphs=LARGE_SHALLOW, options={"method": "delta-stepping"})
window = partial(delta, longest=100)
one_launch = partial(delta, graphs=LARGE_DEEP, longest=100)
hybrid = partial(gpu, graphs=LARGE_SHALLOW + LARGE_DEEP, options={"method": "hybrid"})
choice = partial(gpu, graphs=("rmat-12-16", "delaunay-13"), options={"method": "auto"})

CONSTANTS = (
    batched("BATCHED_PULL_SHARE", (0.05, 0.2, 0.4, 1.0)),
    lengths("BATCHED_WIDTH", (0.1, 0.25, 0.5, 2.0, 4.0)),
    lengths("BATCHED_COUNT_WIDTH", (0.25, 0.5, 1.0, 4.0, np.inf)),
    lengths("TRAVERSAL_BUCKETS", (0, 2048), longest=1000, options={"method": "dijkstra"}),
    graphblas("GRAPHBLAS_PULL_SHARE", (0.05, 0.2, 1.0)),
    graphblas("GRAPHBLAS_WIDTH_FACTOR", (4.0, 64.0, 1e9), longest=10),
    order("HIGH_DIAMETER", (0.0, 1.0, 4.0, 1e9), graphs=("rmat-12-16", "ca-GrQc", "power", "minnesota")),
    order("SURVEYED", (-1, 2**17), graphs=("karate", "lesmis", "us-airports")),
    order("LANDMARKS", (2, 4, 16)),
    order("POWER_STEPS", (1, 2, 8)),
    hubs("HUBS", (1, 4, 8)),
    hubs("HUB_LEVELS", (4, 16)),
    hubs("GROUPED_ROOTS", (NEVER,)),
    hubs("CHUNK_ROOTS[cpu]", (256, 4096)),
    gpu_shallow("RESIDENT[LEVELS]", (4, 6)),
    gpu_shallow("RESIDENT[LEVELS_STRESS]", (3, 5), which="stress"),
    gpu_shallow("RESIDENT[LEVELS_EDGES]", (2, 4), which="edge_bc"),
    gpu_deep("RESIDENT[FORWARD]", (4, 6)),
    gpu_deep("RESIDENT[BACKWARD]", (5, 7)),
    gpu_deep("RESIDENT[BACKWARD_SUMS]", (3, 5), which="stress"),
    gpu_shallow("RESIDENT[DIJKSTRA]", (2,), longest=100, options={"method": "dijkstra"}),
    window("RESIDENT[DELTA]", (3, 5)),
    window("RESIDENT[DELTA_SUMS]", (1, 3), which="stress"),
    one_launch("RESIDENT[DELTA_ONE_LAUNCH]", (5, 7)),
    one_launch("RESIDENT[DELTA_ONE_LAUNCH_SUMS]", (3, 5), which="stress"),
    gpu_shallow("OWN_BYTES[batched/launch_per_level_forward]", (64,)),
    gpu_shallow("OWN_BYTES[batched/launch_per_level_backward]", (64,)),
    window("OWN_BYTES[delta_stepping/launch_per_round]", (32,)),
    gpu_shallow("HUB_SHARE", (1 / 1024, 1 / 16384)),
    gpu_shallow("HUB_EDGES", ((64, 64), (256, 256), (1024, 1024), (NEVER, NEVER))),
    window("STRIDING_BLOCKS", (4, 16)),
    gpu_shallow("HOPS_MOST_LEVELS", (4, 192)),
    gpu_shallow("SMALL_LEVEL", (2, 32, 1024)),
    gpu_deep("HOPS_FIRST_ENTRIES", (4.0, 24.0)),
    window("WINDOW_WIDTH", (1.0, 2.0, 8.0)),
    window("MOST_ROUNDS", (32, 128)),
    one_launch("DELTA_FIRST_ENTRIES", (4.0, 28.0)),
    window("PRUNING_LEAST_EDGES", (NEVER,)),
    window("PRUNING_LEAST_ROOTS", (NEVER,)),
    window("PRUNING_MOST_KEPT", (0.0, 1.0)),
    hybrid("SAMPLE", (128, NEVER)),
    hybrid("GAMMA", (0.0, 1.0, np.inf)),
    gpu_deep("TRAVERSAL_THREADS", (256, 1024), options={"method": "work-efficient"}),
    choice("GPU_WORK", (0, np.inf), options={"method": "auto", "device": "auto"}),
    choice("PROBE_WORK", (0, np.inf), roots=256),
    choice("PROBE_SHARE", (1 / 64, 1), roots=128),
    gpu("HOST_EDGES", (0, NEVER), graphs=("rmat-12-16", "rmat-16-16"), ordered=False),
)
# By no call: the work that a kill may cost, a bound that keeps an edge's sum with one owner, and the room of a message
# between ranks. By another command, `benchmarks.choice`, `benchmarks.survey` or `benchmarks.cutoff`: the choice of
# "auto", the number of threads, balls; and by `benchmarks.blocks`, `benchmarks.block_costs` or
# `benchmarks.reduce_auto`: the reductions.
NOT_MEASURED = {
    "CHECKPOINT_SECONDS",
    "EDGES_OWN_BYTES",
    "GRID_SLICE",
    "GRID_SLICE_ON_GPU",
    "GRID_GROUPS",
    "GRID_LEVELS",
    "GRID_FEW_EDGES",
    "COSTS",
    "OF_SMALL_RUNS",
    "PROBE_ROOTS",
    "PROBE_SEARCHES",
    "THREAD_WORK",
    "WITHIN_TOGETHER",
    "SMALL_VERTICES",
    "SMALL_WORK",
    "SLICE_WORK",
    "BLOCK_WORK",
    "MOST_STEPS",
    "FEW_STEPS",
    "LOOK_SHARE",
    "LOOK_MOST",
    "LOOK_OF_SAVED",
    "PRUNED_SHARE",
    "LANDMARKS_SHARE",
    "LOOK_THREADS",
    "LEAST_LOOKED_AT",
    "SHORT_LOOK",
    "SHORT_SHARE",
    "REACH_SHARE",
    "LEAST_OF_ROOT",
    "LOOK_COSTS",
    "GPU_EDGE",
    "FROM_JUNCTIONS",
    "MOST_LEFT",
    "BLOCK_COSTS",
    "JUNCTION_COSTS",
    "FEW_LEVELS",
}


@cache
def load(name: str, longest: int) -> tuple[Any, Graph]:
    """Give a matrix, and the graph that lagbc makes of it."""
    A = table()[name].load()
    A = with_lengths(A, SEED, longest) if longest else A
    return A, as_graph(A, directed=False, weighted=is_weighted(A))


def scores(constant: Constant, name: str, value: Any) -> tuple[float, Any]:
    """Seconds of the call with a value, and what it returns."""
    A, graph = load(name, constant.longest)
    sources = None
    if constant.roots is not None:
        first = max(0, (graph.n - constant.roots) // 2)
        sources = graph.order[first : first + constant.roots]
    on_cpu = constant.device == "cpu"
    options = {"device": constant.device, "reduce": "none"} | ({"threads": 1} if on_cpu else {}) | constant.options
    clock = time.process_time if on_cpu else time.perf_counter
    with constant.set_to(value):
        start = clock()
        found = lagbc.centralities(
            graph if constant.ordered else A,
            constant.which,
            directed=False,
            weighted=graph.weighted,
            sources=sources,
            **options,
        )
        return clock() - start, found[constant.which]


def measure(constant: Constant, name: str, seconds: float) -> dict[Any, float]:
    """Seconds by value, today's first: the best of as many rounds as the time allows, of one at least.

    Raises
    ------
    AssertionError
        Scores with another value are not those with today's.
    """
    today = constant.today
    expected = scores(constant, name, today)[1]
    values = [today, *(value for value in constant.values if value != today)]
    for value in values[1:]:  # compiles, too
        _assert_close(scores(constant, name, value)[1], expected, f"{constant.name} = {value} on {name}")
    best = dict.fromkeys(values, np.inf)
    end = time.perf_counter() + seconds
    while np.inf in best.values() or time.perf_counter() < end:
        for value in values:
            best[value] = min(best[value], scores(constant, name, value)[0])
    return best


def _assert_close(ours: Any, theirs: Any, what: str) -> None:
    found, expected = (scores if isinstance(scores, np.ndarray) else scores.data for scores in (ours, theirs))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=what)


def line(constant: Constant, name: str, best: dict[Any, float]) -> str:
    """Lay out what was measured on a graph."""
    (today, base), *others = best.items()
    tried = ", ".join(f"{_shown(value)}: {seconds / base:.2f}" for value, seconds in others)
    fastest = min(best, key=lambda value: best[value])
    cells = constant.name, name, f"{1e3 * base:.1f}", _shown(today), tried, _shown(fastest)
    return f"| {' | '.join(cells)} |"


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return " ".join(map(_shown, value))
    return "never" if value == NEVER else f"{value:g}"


def measurable() -> list[Constant]:
    """Those whose method is available on this machine."""
    return [constant for constant in CONSTANTS if _is_available(constant)]


def _is_available(constant: Constant) -> bool:
    method = constant.options["method"]
    rows = [row for row in METHODS if row.device == constant.device and method in ("auto", row.name)]
    return any(row.available for row in rows)


def lines(constants: list[Constant], seconds: float) -> Iterator[str]:
    """Measure constants, in equal parts of the time."""
    cases = [(constant, name) for constant in constants for name in constant.graphs]
    for constant, name in cases:
        yield line(constant, name, measure(constant, name, seconds / len(cases)))


@click.command()
@click.option("--only", multiple=True, metavar="NAME", help="As RESIDENT or RESIDENT[DELTA].")
@click.option("--seconds", default=60.0, show_default=True, help="For all; a round of each value is always made.")
def main(only: tuple[str, ...], seconds: float) -> None:
    """Print a line a constant and graph."""
    chosen = [c for c in measurable() if not only or {c.name, c.home[0]} & set(only)]
    known = {name for constant in CONSTANTS for name in (constant.name, constant.home[0])}
    if unknown := set(only) - known:
        raise click.BadParameter(f"no constant {', '.join(sorted(unknown))}", param_hint="--only")
    if not chosen:
        raise click.ClickException("what these are measured with is not available on this machine")
    here = machine.describe()
    click.echo(f"{here['cpu']}, Python {here['python']}, {here['packages']}; commit {here['commit']}.\n\n{HEAD}")
    for text in lines(chosen, seconds):
        click.echo(text)


if __name__ == "__main__":
    main()
