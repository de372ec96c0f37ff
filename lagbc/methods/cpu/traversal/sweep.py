"""The loop of the traversals over the roots of a batch: blocks of roots, each searched and summed by one compiled call.

The search of a root and its sums follow each other while its trail is in the cache. So `forward` makes both, block by
block, and `backward` adds the sums of a block. Where the roots of a block reach few vertices, `touched` has its sums at
these alone: nothing takes time by the number of all vertices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.contract import Batching, Blocks, SweepPlan
from lagbc.methods.cpu.traversal import near
from lagbc.methods.sums import DEPENDENCY, OF_EDGES, OF_ROW, PATH_SUMS, SparseSums, Sums, bits_of
from lagbc.methods.targets import columns_into_range, shifts_of_rows
from lagbc.native import class_of, core, csr

# Roots that are summed together, by one thread. 16 let 256 roots keep 16 threads at work; 64 took up to 10 % less time
# with one thread. Another number is another order of the sums. Results: cpu_traversal.md.
BLOCK = 16
batching = Batching(block=BLOCK, auto=64, concurrent=True)
# Within bounds a root without reached vertices took 1.4 microseconds in blocks of 256 and 1.1 in blocks of 1024, one
# with 50 about 3; larger blocks keep fewer threads at work.
blocks = Blocks(most=1024, least=BLOCK, enough=64)
Worker: TypeAlias = core.Traversal32 | core.Traversal64
_NO_NAMES = np.zeros(0, np.int64)


class Size(NamedTuple):
    """The sizes that tell all arrays of a worker, as lagbc/native/kernels/traversal/state.h has them."""

    n: int
    nnz: int
    most: int  # tight edges of a root, or notes
    buckets: int  # of the queue; 0 is a heap, and -1 a search in hops
    block: int
    most_kept: int  # blocks that are kept as entries at once
    has_omega: bool
    has_class_sizes: bool
    trips: int  # ends of trips to copy, as they are of another type; -1 if roots have no trips
    roots: int  # of a block within bounds; 0 without bounds
    of_vertices: int  # of_vertices, of_edges, of_roots: columns of the sums within bounds
    of_edges: int
    of_roots: int


@dataclass(slots=True, eq=False)
class State:
    """One worker; its own vertices are numbered in sweep order."""

    graph: Graph  # in the caller's order
    plan: SweepPlan
    sweep: Worker
    ball: Any = None  # of neighbouring roots (`lagbc.methods.cpu.within`), which sums within bounds in its place


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


def size_of(graph: Graph, plan: SweepPlan, most: int, buckets: int) -> Size:
    """Return the sizes of a worker with room for `most` tight edges of a root, and a queue."""
    demand, has_bounds = plan.demand, plan.bounds is not None
    trips = -1
    if demand is not None:
        trips = 0 if demand.indices.dtype == graph.indices.dtype else demand.nnz
    return Size(
        graph.n,
        graph.nnz,
        most,
        buckets,
        BLOCK,
        batching.auto // BLOCK,
        plan.omega is not None,
        plan.class_sizes is not None,
        trips,
        max(graph.n, blocks.least) if has_bounds else 0,
        *(near.widths(plan) if has_bounds else (0, 0, 0)),
    )


def bytes_of_worker(graph: Graph, plan: SweepPlan, size: Size) -> int:
    """Count the bytes of a worker."""
    count: int = class_of("Traversal", graph.indices.dtype).bytes(size, bits_of(plan.sums))
    return count


def most_tight_edges(graph: Graph) -> int:
    """Count the edges that can be tight for one root: of an edge in both directions, the one that leads away."""
    return graph.nnz // 2 if graph.transpose is graph else graph.nnz


def prepare(graph: Graph, plan: SweepPlan, size: Size, per_length: float = 0.0) -> State:
    """Make one worker; `per_length` is one over the width of a bucket."""
    sweep = class_of("Traversal", graph.indices.dtype)(
        size,
        bits_of(plan.sums),
        csr(*graph.reordered.csr),
        graph.order,
        graph.position,
        plan.root_weights,
        plan.omega,
        plan.class_sizes,
        per_length,
        plan.radius,
        plan.sigma_limit if plan.sums & PATH_SUMS else np.inf,
        plan.rtol,
        plan.endpoints,
        plan.linear,
    )
    sweep.poll(plan.stop.value)
    if plan.bounds is not None:
        near.set_bounds(sweep, plan)
    if plan.demand is not None:
        trips = plan.demand
        shifts, _ = shifts_of_rows(trips.indptr, trips.data)
        sweep.set_trips(trips.data, trips.indices, trips.indptr, shifts)
    return State(graph, plan, sweep)


def forward(state: State, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Search and sum the roots of a batch; the sums of some blocks stay in the state."""
    end = 0
    while end < len(roots):
        first, last = end, min(end + batching.auto, len(roots))
        depths, overflowed, kept = state.sweep.sum(roots[first:last], None, None)
        state.plan.stop.check()
        for of_kept, count in (kept, kept), (0, 1):  # then the block that could not be kept
            begin, end = end, min(end + count * BLOCK, last)
            if begin < end:
                of = slice(begin - first, end - first)
                yield Levels(roots[begin:end], begin, depths[of], overflowed[of], of_kept)


def touched(state: State, levels: Levels) -> list[SparseSums] | None:
    """Return the sums of each block at the vertices and edges that it touches; None where these are many."""
    return _kept_blocks(state, levels) if levels.kept else None


def backward(state: State, levels: Levels, sums: Sums, omega: NDArray[np.float64] | None = None) -> None:
    """Add the sums of blocks to their rows of `sums`; weights by column make another sum, and sweep again."""
    state.plan.stop.check()
    row, kept = levels.first // BLOCK, levels.kept
    if omega is not None:
        scaled, times = columns_into_range(omega, state.plan.times_of(levels.roots), "float64")
        *_, kept = state.sweep.sum(levels.roots, times, np.ascontiguousarray(scaled.T, np.float64))
        state.plan.stop.check()
    if kept:
        sums.add_blocks(_kept_blocks(state, levels), row, levels.first)
        return
    state.sweep.take(sums.row(row), _edge_order(state))
    if sums.depth is not None:
        sums.depth[levels.places] += levels.depths


def _edge_order(state: State) -> NDArray[np.int64] | None:
    """Return the order of edges, made on its first use, where edges are summed."""
    order: NDArray[np.int64] | None = state.graph.edge_order if state.plan.sums & OF_EDGES else None
    return order


def _kept_blocks(state: State, levels: Levels) -> list[SparseSums]:
    """Return the kept blocks of these levels."""
    asked = state.plan.sums
    summed = asked | DEPENDENCY if asked & PATH_SUMS else asked
    kinds = [
        ([name for name in OF_ROW if name in summed and (name in OF_EDGES) == is_of_edges], *entries)
        for is_of_edges, entries in zip((False, True), state.sweep.kept(_edge_order(state)), strict=True)
    ]
    found = list[SparseSums]()
    for number, first in enumerate(range(0, len(levels.roots), BLOCK)):
        places, sums = [], Sums()
        for names, at, values, ends in kinds:
            of = slice(ends[number - 1] if number else 0, ends[number])
            places.append(at[of] if asked.intersection(names) else _NO_NAMES)
            for row, name in enumerate(names):
                if name in asked:
                    setattr(sums, name, values[row, of])
        roots = slice(first, first + BLOCK)
        if "depth" in asked:
            sums.depth = levels.depths[roots]
        found.append(SparseSums(places[0], places[1], levels.roots[roots], sums))
    return found


def sum_within(state: State, blocks: Sequence[NDArray[np.int64]]) -> Iterator[tuple[SparseSums, NDArray[np.bool_]]]:
    """Sum blocks of roots within the bounds of the plan."""
    by = state.sweep if state.ball is None else state.ball
    for roots in blocks:
        overflowed = by.sum_within(roots)
        state.plan.stop.check()
        yield near.as_sums(state.plan, *state.sweep.take_within(roots, _edge_order(state))), overflowed


def paths(state: State, levels: Levels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return copies of dist and sigma, by the contract of `ReadsPaths`; each root is searched once more."""
    shape = state.graph.n, len(levels.roots)
    dist, sigma = np.full(shape, np.inf), np.zeros(shape)
    state.sweep.write_paths(levels.roots, dist, sigma)
    state.plan.stop.check()
    return dist, sigma
