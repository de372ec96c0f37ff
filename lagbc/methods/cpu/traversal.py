"""Sums on the CPU by Brandes' algorithm, root by root, in hops and with lengths.

One compiled call searches and sums a block of roots (lagbc/native/kernels/traversal/): each root is summed while its
trail is in the cache. So `forward` makes the sums, too, and `backward` adds them to those of the batch. Where the roots
of a block reach few vertices, `touched` returns its sums at these alone, in time by the touched vertices.

Within bounds each vertex (or edge) that a block touches gets a row for its sums, in the order of the first touch: roots
of a block are neighbours, and so are the rows that they add to. With lengths 64 neighbouring roots are searched
together (lagbc/native/kernels/within/), in matrices with a row for each vertex of their ball and a lane for each root:
an edge is read once for all lanes, and vector instructions work on several lanes. Where the ball is much larger than
the part that each root reaches, they are searched one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.graph.graph import Graph
from lagbc.methods.contract import HALF_WORD, INTEGER, Array, Batching, Blocks, SweepPlan
from lagbc.methods.sums import (
    DEPENDENCY,
    OF_EDGES,
    OF_ROOTS,
    OF_ROW,
    PATH_SUMS,
    SparseSums,
    Sums,
    bits_of,
    columns_into_range,
    shifts_of_rows,
)
from lagbc.native import classes_of, core, csr

# Roots that a thread sums together; they fix the order of the sums. With 16, 256 roots keep 16 threads at work; 64 took
# up to 10 % less time with one thread. Results: cpu_traversal.md.
BLOCK = 16
batching = Batching(block=BLOCK, auto=64, concurrent=True)
# Within bounds a root without reached vertices took 1.4 microseconds in blocks of 256 and 1.1 in blocks of 1024, one
# with 50 about 3; larger blocks keep fewer threads at work.
blocks = Blocks(most=1024, least=BLOCK, enough=64)
# The largest ball. Matrices of so many rows take 32 MiB a thread.
MOST_ROWS, MOST_EDGES = 1 << 14, 1 << 17
Worker: TypeAlias = core.Traversal32 | core.Traversal64
Ball: TypeAlias = core.ShortBall32 | core.ShortBall64 | core.Ball32 | core.Ball64
_TRAVERSALS, _BALLS, _SHORT_BALLS = map(classes_of, ("Traversal", "Ball", "ShortBall"))
_NO_NAMES = np.zeros(0, np.int64)
_NO_NOTE = np.iinfo(HALF_WORD).max
# The sums within bounds, in the order of `Columns` in lagbc/native/kernels/traversal/state.h. Each is in one of three
# arrays, with a row a vertex, a row an edge, or a row a root.
_SUMS_WITHIN = (
    *("dependency", "stress", "reached", "distance", "inverse", "edges", "depth"),
    *("targets", "gravity", "straight"),
)
_VERTICES, _EDGES, _ROOTS = range(3)


class Size(NamedTuple):
    """The sizes of a worker's arrays: `TraversalSize` of lagbc/native/kernels/traversal/state.h."""

    n: int
    nnz: int
    most: int  # tight edges of a root, or notes
    buckets: int  # of the queue; 0 is a heap, and -1 a search in hops
    sums: int  # asked for, as bits
    block: int  # roots that are summed together
    most_kept: int  # blocks that are kept as entries at once
    has_omega: bool
    has_class_sizes: bool
    has_coordinates: bool
    has_trips: bool
    roots: int  # of a block within bounds; 0 without bounds
    of_vertices: int  # of_vertices, of_edges, of_roots: columns of the sums within bounds
    of_edges: int
    of_roots: int


@dataclass(slots=True, eq=False)
class State:
    """One worker."""

    graph: Graph
    plan: SweepPlan
    sweep: Worker  # its vertices are in sweep order
    places: dict[str, tuple[int, slice]]  # within bounds: the array and the columns of each sum
    ball: Ball | None = None  # sums within bounds in the worker's place
    trips: tuple[NDArray[Any], ...] = ()  # of the demand: ends, where rows begin, and their shifts


class Levels(NamedTuple):
    """Blocks of roots, searched and summed."""

    roots: NDArray[np.int64]
    first: int  # place of the first root in the batch
    depths: NDArray[np.float64]  # the largest distance of a vertex from each root; 0 if it overflowed
    overflowed: NDArray[np.bool_]  # whether each root left the range of float64
    kept: int  # count of these blocks, if the state keeps them as entries; 0 for one block that is in its totals

    @property
    def places(self) -> NDArray[np.int64]:
        """Places of all roots of the blocks."""
        return np.arange(self.first, self.first + len(self.roots))

    @property
    def depth(self) -> int:
        """The largest distance of a vertex from its root, rounded down."""
        return int(self.depths.max(initial=0))


def size_of(graph: Graph, plan: SweepPlan) -> Size:
    """Return the sizes of a worker.

    Of an edge in both directions a root can have one tight: the one that leads away. In hops and with buckets only that
    one is noted: when the farther end is settled, the nearer one is settled, or in the same bucket, narrower than any
    edge. With the heap, a length that rounding absorbs, or a tolerance, lets both be noted.
    """
    has_bounds = plan.bounds is not None
    buckets, _ = _choose_buckets(graph, plan)
    return Size(
        graph.n,
        graph.nnz,
        graph.nnz // 2 if buckets and graph.transpose is graph else graph.nnz,
        buckets,
        bits_of(plan.sums),
        BLOCK,
        batching.auto // BLOCK,
        plan.omega is not None,
        plan.class_sizes is not None,
        plan.xy is not None,
        plan.demand is not None,
        max(graph.n, blocks.least) if has_bounds else 0,
        *(columns_of_sums(plan)[1] if has_bounds else (0, 0, 0)),
    )


def _choose_buckets(graph: Graph, plan: SweepPlan) -> tuple[int, float]:
    """Return the count of buckets, 0 for a heap and -1 in hops, and one over their width.

    Buckets are narrower than the shortest edge, by more than rounding can move a distance; notes have 32-bit numbers.
    """
    if not graph.weighted:
        return -1, 0.0
    if plan.rtol or not 0 < graph.nnz < _NO_NOTE:
        return 0, 0.0
    assert graph.weights is not None
    with np.errstate(over="ignore", invalid="ignore"):
        per_length = (1 + 1 / 256) / graph.weights.min()
        ahead = graph.longest * per_length
    if not ahead <= tuning.TRAVERSAL_BUCKETS:
        return 0, 0.0
    return 1 << int(ahead + 2).bit_length(), float(per_length)


def arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """State the bytes of a worker, and of its ball."""
    worker, form = _TRAVERSALS[graph.indices.dtype].bytes(size_of(graph, plan)), form_of_ball(graph, plan)
    ball = 0 if form is None else form.of.bytes(form.size)
    return {"sweep": worker, "ball": ball, "trips": _arrays_of_trips(graph, plan)}


def _arrays_of_trips(graph: Graph, plan: SweepPlan) -> dict[str, Array] | None:
    """State the arrays of a demand that a worker has of its own: those that are not of the type that it reads."""
    if (trips := plan.demand) is None:
        return None
    made = {"first": Array((graph.n + 1,), INTEGER), "shifts": Array((graph.n,), INTEGER)}
    if trips.indices.dtype != graph.indices.dtype:
        made["ends"] = Array((trips.nnz,), graph.indices.dtype)
    return made


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Make one worker."""
    (_, per_length), limit = _choose_buckets(graph, plan), plan.sigma_limit if plan.counts_paths else np.inf
    sweep = _TRAVERSALS[graph.indices.dtype](
        size_of(graph, plan),
        csr(*graph.reordered.csr),
        graph.order,
        graph.position,
        plan.root_weights,
        plan.omega,
        plan.class_sizes,
        *((None, None) if plan.xy is None else plan.xy),
        per_length,
        (plan.radius, limit, plan.rtol, plan.endpoints, plan.linear),
    )
    sweep.poll(plan.stop.value)
    places: dict[str, tuple[int, slice]] = {}
    if plan.bounds is not None:
        bounds, (first, _) = plan.bounds, columns_of_sums(plan)
        for name, begin in first.items():
            places[name] = _array_of(name), slice(begin, begin + plan.columns(name))
        columns = tuple(first.get(name, -1) for name in _SUMS_WITHIN)
        sweep.set_bounds(bounds.radii, bounds.decays, bounds.cutoffs, columns)
    state = State(graph, plan, sweep, places)
    if (demand := plan.demand) is not None:
        shifts, _ = shifts_of_rows(demand.indptr, demand.data)
        state.trips = demand.indices.astype(graph.indices.dtype, copy=False), demand.indptr.astype(np.int64), shifts
        sweep.set_trips(demand.data, *state.trips)
    if (form := form_of_ball(graph, plan)) is not None:
        into = csr(*graph.reordered.transpose.csr)
        state.ball = form.of(form.size, sweep, into, form.far, tuning.WITHIN_TOGETHER)
    return state


def forward(state: State, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Search and sum the roots of a batch, as many blocks at a time as the state keeps."""
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
    """Return the sums of each block at the vertices and edges that it touches; None if these are many."""
    return _kept_blocks(state, levels) if levels.kept else None


def backward(state: State, levels: Levels, sums: Sums, omega: NDArray[np.float64] | None = None) -> None:
    """Add the sums of blocks to their rows of `sums`; with `omega` the roots are searched again."""
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
    """Return the order of edges, which the graph makes on the first use; None where edges are not summed."""
    return state.graph.edge_order if state.plan.sums & OF_EDGES else None


def _kept_blocks(state: State, levels: Levels) -> list[SparseSums]:
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


def paths(state: State, levels: Levels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return dist and sigma as `ReadsPaths` says; each root is searched once more."""
    if state.graph.weighted:
        state.plan.require_path_counts()
    shape = state.graph.n, len(levels.roots)
    dist, sigma = np.full(shape, np.inf), np.zeros(shape)
    state.sweep.write_paths(levels.roots, dist, sigma)
    state.plan.stop.check()
    return dist, sigma


# ---- Within bounds


def _array_of(name: str) -> int:
    return _EDGES if name in OF_EDGES else _ROOTS if name in OF_ROOTS else _VERTICES


def columns_of_sums(plan: SweepPlan) -> tuple[dict[str, int], list[int]]:
    """Return the first column of each sum in its array, and the widths of the three arrays."""
    first, widths = dict[str, int](), [0, 0, 0]
    for name in sorted(plan.sums):
        first[name] = widths[_array_of(name)]
        widths[_array_of(name)] += plan.columns(name)
    return first, widths


def sum_within(state: State, blocks: Sequence[NDArray[np.int64]]) -> Iterator[tuple[SparseSums, NDArray[np.bool_]]]:
    """Sum blocks of roots within the bounds of the plan; their sums are views of the worker's arrays."""
    by = state.sweep if state.ball is None else state.ball
    for roots in blocks:
        overflowed = by.sum_within(roots)
        state.plan.stop.check()
        vertices, edges, summed, *rows = state.sweep.take_within(roots, _edge_order(state))
        sums = Sums(**{name: rows[array][:, columns] for name, (array, columns) in state.places.items()})
        yield SparseSums(vertices, edges, summed, sums), overflowed


class BallForm(NamedTuple):
    """The class of a ball, its sizes, and the distance that stands for all beyond the radius."""

    of: Any
    size: tuple[int, int, int, bool, bool, bool]  # `BallSize` of lagbc/native/kernels/within/state.h
    far: float


def form_of_ball(graph: Graph, plan: SweepPlan) -> BallForm | None:
    """Choose the form in which neighbouring roots are searched together; None where they may not be.

    Rounding must absorb no length: with l >= ulp(radius), d + l > d for all d up to the radius. Distances are 16-bit
    integers if lengths are whole, and the one beyond the radius plus any length is one; else float64.
    """
    if plan.bounds is None or plan.rtol or plan.class_sizes is not None or plan.demand is not None:
        return None
    radius = plan.radius
    if graph.weights is None or not graph.nnz or radius == np.inf or graph.n >= 2**31:
        return None
    if graph.weights.min() < np.spacing(radius):
        return None
    most, is_symmetric = (min(graph.n, MOST_ROWS), min(graph.nnz, MOST_EDGES)), graph.transpose is graph
    size, beyond = (graph.n, *most, is_symmetric, plan.counts_paths, "edges" in plan.sums), int(radius) + 1
    if graph.has_whole_lengths and beyond + graph.longest <= np.iinfo(np.uint16).max:
        return BallForm(_SHORT_BALLS[graph.indices.dtype], size, float(beyond))
    return BallForm(_BALLS[graph.indices.dtype], size, float(np.nextafter(radius, np.inf)))
