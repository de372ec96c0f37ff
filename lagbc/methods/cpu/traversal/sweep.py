"""The loop of the traversals over the roots of a batch: blocks of roots, each searched and summed by one compiled call.

The search of a root and its sums follow each other while its trail is in the cache. So `forward` makes both, block by
block, and `backward` adds the sums of a block. Where the roots of a block reach few vertices, `touched` has its sums at
these alone: nothing takes time by the number of all vertices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.arrays import FLOAT, INTEGER, Array
from lagbc.methods.contract import Batching, Blocks, SweepPlan, places_of_roots, put_weights
from lagbc.methods.cpu.traversal import near, trips
from lagbc.methods.cpu.traversal.near import Near, take
from lagbc.methods.cpu.traversal.totals import TotalsOfBlocks, totals_arrays
from lagbc.methods.sums import OF_EDGES, PATH_SUMS, SparseSums, Sums
from lagbc.methods.targets import columns_into_range
from lagbc.native import core, record

# Roots that are summed together, by one thread. 16 let 256 roots keep 16 threads at work; 64 took up to 10 % less time
# with one thread. Another number is another order of the sums. Results: cpu_traversal.md.
BLOCK = 16
Trail: TypeAlias = core.Trail32 | core.Trail64
batching = Batching(block=BLOCK, auto=64, concurrent=True)
# Within bounds a root without reached vertices took 1.4 microseconds in blocks of 256 and 1.1 in blocks of 1024, one
# with 50 about 3; larger blocks keep fewer threads at work.
blocks = Blocks(most=1024, least=BLOCK, enough=64)


@dataclass(slots=True, eq=False)
class State:
    """One worker's arrays; vertices are numbered in sweep order."""

    graph: Graph  # in the caller's order
    plan: SweepPlan
    # ``kernel(*search, trail, asked, roots, omega, times, sums, found)`` searches each of the roots (int64, in sweep
    # order; -1 is an absent one) and adds it to the sums, the totals or `near`, if no path count is above the limit.
    # `omega` has a row of target weights for each root, or one for all; `times` says how often each root counts. If the
    # stop flag is set, all arrays may be left in disorder.
    kernel: Callable[..., None]
    search: tuple[Any, ...]  # the graph to search, and the search's own arrays
    trail: Trail
    asked: core.Asked  # of each root, by the plan
    blocks: TotalsOfBlocks  # of the block at hand, and of kept ones
    omega: NDArray[np.float64] | None  # (1, n): target weights of the plan
    near: Near | None  # room for the sums within the bounds of the plan, if it has some


class Levels(NamedTuple):
    """Blocks of roots, searched and summed."""

    roots: NDArray[np.int64]
    first: int  # place of the first root in the batch
    depths: NDArray[np.float64]  # the largest distance of a vertex from each root; 0 if it overflowed
    overflowed: NDArray[np.bool_]  # whether each root left the range of float64
    kept: int  # count of these blocks, if the state keeps them as entries; 0 where there is one, in its totals

    @property
    def places(self) -> NDArray[np.int64]:
        """Places of all roots of the blocks."""
        return np.arange(self.first, self.first + len(self.roots))

    @property
    def depth(self) -> int:
        """The largest distance of a vertex from its root, rounded down: its level, or with lengths the units to it."""
        return int(self.depths.max(initial=0))


def arrays_of_state(graph: Graph, plan: SweepPlan, edges: int) -> dict[str, Any]:
    """State the arrays of a `State` without its search, with room for `edges` tight edges of a root."""
    n, has_class_sizes = graph.n, plan.class_sizes is not None
    arrays = {
        "given": {
            "omega": None if plan.omega is None else Array((1, n), FLOAT),
            "class_sizes": Array((n,), FLOAT) if has_class_sizes else None,
        },
        "trail": trail_arrays(
            graph.indices.dtype, n, edges, edges=bool(plan.sums & OF_EDGES), class_sizes=has_class_sizes
        ),
        "trips": None if plan.demand is None else trips.arrays(graph, plan.demand),
    }
    if plan.bounds is not None:
        return arrays | near.arrays(graph, plan, max(n, blocks.least), edges)
    return arrays | totals_arrays(graph, plan)


def trail_arrays(index: np.dtype[Any], n: int, most: int, *, edges: bool, class_sizes: bool) -> dict[str, Array | None]:
    """State the trail of a search of n vertices and up to `most` tight edges, with their numbers, and class sizes."""
    return {
        "order": Array((n,), index),
        "dist": Array((n,), FLOAT),
        "sigma": Array((n,), FLOAT),
        "tails": Array((most,), index),
        "heads": Array((most,), index),
        "edges": Array((most,), INTEGER) if edges else None,
        "own": Array((n,), FLOAT),
        "onward": Array((n,), FLOAT),
        "class_sizes": Array((n,), FLOAT) if class_sizes else None,
    }


def most_tight_edges(graph: Graph) -> int:
    """Count the edges that can be tight for one root: of an edge in both directions, the one that leads away."""
    return graph.nnz // 2 if graph.transpose is graph else graph.nnz


def prepare(
    graph: Graph, plan: SweepPlan, kernel: Callable[..., None], search: tuple[Any, ...], arrays: dict[str, Any]
) -> State:
    """Make one worker's state with its search."""
    has_paths, given = bool(plan.sums & PATH_SUMS), put_weights(arrays["given"], graph, plan)
    asked = core.Asked(
        class_sizes=given["class_sizes"],
        radius=plan.radius,
        limit=plan.sigma_limit if has_paths else np.inf,
        rtol=plan.rtol,
        counts_paths=has_paths,
        endpoints=plan.endpoints,
        linear=plan.linear,
        stop=plan.stop.value,
    )
    of_roots = None if plan.demand is None else trips.new_trips(graph, plan.demand, arrays["trips"])
    trail = record("Trail", graph.indices.dtype, **arrays["trail"], trips=of_roots)
    of_blocks = TotalsOfBlocks(arrays, plan.sums, BLOCK)
    room = None if plan.bounds is None else near.new_near(graph, plan, arrays)
    return State(graph, plan, kernel, search, trail, asked, of_blocks, given["omega"], room)


def new_found(roots: int) -> core.Found:
    """Make room for a kernel's results for `roots` roots, all of them absent."""
    return core.Found(reached=np.zeros(roots, np.int64), depth=np.zeros(roots), overflowed=np.zeros(roots, np.bool_))


def forward(state: State, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Search and sum the roots of a batch; the sums of some blocks stay in the state."""
    places, times = places_of_roots(state.graph, roots), state.plan.times_of(roots)
    state.blocks.make_room(batching.auto // BLOCK)
    totals, end = state.blocks.totals, 0
    while end < len(roots):
        first, last = end, end + batching.auto
        found = _run(state, places[first:last], times[first:last], state.omega, totals)
        kept_first = (totals.kept, totals.kept), (0, 1)  # then the block that could not be kept
        for kept, count in kept_first:
            begin, end = end, min(end + count * BLOCK, last, len(roots))
            if begin < end:
                of = slice(begin - first, end - first)
                yield Levels(roots[begin:end], begin, found.depth[of], found.overflowed[of], kept)


def touched(state: State, levels: Levels) -> list[SparseSums] | None:
    """Return the sums of each block at the vertices and edges that it touches; None where these are many."""
    return _kept_blocks(state, levels) if levels.kept else None


def backward(state: State, levels: Levels, sums: Sums, omega: NDArray[np.float64] | None = None) -> None:
    """Add the sums of blocks to their rows of `sums`; weights by column make another sum, and sweep again."""
    state.plan.stop.check()
    graph, totals, row, kept = state.graph, state.blocks.totals, levels.first // BLOCK, levels.kept
    if omega is not None:
        scaled, times = columns_into_range(omega, state.plan.times_of(levels.roots), "float64")
        omega = np.ascontiguousarray(scaled.T, np.float64)
        _run(state, places_of_roots(graph, levels.roots), times, omega, totals)
        kept = totals.kept
    if kept:
        sums.add_blocks(_kept_blocks(state, levels), row, levels.first)
        return
    edge_order = graph.edge_order if state.plan.sums & OF_EDGES else None  # made on its first use
    core.take_totals(totals, graph.order, edge_order, sums.row(row))
    if sums.depth is not None:
        sums.depth[levels.places] += levels.depths


def _kept_blocks(state: State, levels: Levels) -> list[SparseSums]:
    """Return the kept blocks of these levels."""
    blocks = range(0, len(levels.roots), BLOCK)
    found = state.blocks.kept(state.graph, [levels.roots[first : first + BLOCK] for first in blocks])
    if "depth" in state.plan.sums:
        for first, block in zip(blocks, found, strict=True):
            block.sums.depth = levels.depths[first : first + BLOCK]
    return found


def sum_within(state: State, blocks: Sequence[NDArray[np.int64]]) -> Iterator[tuple[SparseSums, NDArray[np.bool_]]]:
    """Sum blocks of roots within the bounds of the plan."""
    assert state.near is not None
    for roots in blocks:
        times = state.plan.times_of(roots)
        found = _run(state, places_of_roots(state.graph, roots), times, state.omega, state.near)
        yield take(state.near, state.graph, state.plan, roots), found.overflowed


def paths(state: State, levels: Levels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return copies of dist and sigma, by the contract of `ReadsPaths`; each root is searched once more."""
    shape = state.graph.n, len(levels.roots)
    dist, sigma = np.full(shape, np.inf), np.zeros(shape)
    nothing, places = core.Totals(), places_of_roots(state.graph, levels.roots)
    for k in range(len(places)):
        found = _run(state, places[k : k + 1], np.ones(1), state.omega, nothing)
        count = found.reached[0]
        order = state.trail.order[:count]
        dist[order, k], sigma[order, k] = state.trail.dist[:count], state.trail.sigma[:count]
    return dist, sigma


def _run(
    state: State,
    places: NDArray[np.int64],
    times: NDArray[np.float64],
    omega: NDArray[np.float64] | None,
    sums: core.Totals | Near | None,
) -> core.Found:
    """Search some roots, and sum them, totals from zero; `times` says how often each counts."""
    found = new_found(len(places))
    if sums is state.blocks.totals:
        core.clear_totals(sums)  # they are zero already, unless a block was not taken
    state.kernel(*state.search, state.trail, state.asked, places, omega, times, sums, found)
    state.plan.stop.check()
    return found
