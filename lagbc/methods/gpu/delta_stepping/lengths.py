r"""Betweenness with lengths on the GPU: Delta-stepping from 256 roots at a time, as min-plus products on bit rows.

A lane has neighbouring columns of a row as in `lagbc.methods.gpu.batched.hops`, distances and path counts are pulled
along in-edges, and bits tell which columns take part before a number is loaded. There are four ways, which agree on
what they compute and differ in what they are fast at; `choose_way` has the rule:

``dial``
    Lengths that are a few multiples of a unit, exactly. A launch for each distance; an edge of length l joins level
    t - l to level t, so that bits say all, and no distance is stored.
``threshold``
    Few, similar lengths. Dijkstra's rule for many vertices at once: what is nearer than every path that goes on from
    the vertices pending is final, with its count. A launch a round, which is a level.
``window``
    Any lengths, few levels. Delta-stepping with a window that slides with the nearest pending vertex, a launch a round;
    then counts along tight edges, a launch a level.
``deep``
    Any lengths, many levels: meshes and roads. The same with queues, one launch a sweep.

In all of them an edge (u, v) is tight if ``dist[u] + length == dist[v]`` and ``dist[u] < dist[v]``, for the least fixed
point dist of the rounded sums; ``rtol > 0`` opens the equation, which takes one of the last two ways. Roots from which
a vertex is reached that has no tight in-edge, as rounding absorbed a length, are marked as overflowed: computed one by
one, the length is named.

The backward sweep is compiled for what is asked for, as that of hops is. Sums of distances are those of the rows of
final distances, in `dial` of the levels' bit rows; where no more is asked for, no path is counted, no root overflows,
and no level is told from another but in `dial`.

Edges that are longer than a way around them are left out at first (`.detours`): on scale-free graphs with lengths of
all sizes, most of them.

Groups of roots that have more levels than a way takes are swept again in another. Sums are in the order of rows, in
parts of fixed shape, for each group by itself: the bits depend on nothing but graph, roots, `delta` and device type.

References
----------
U. Meyer and P. Sanders, Delta-stepping: a parallelizable shortest path algorithm, J. Algorithms 49 (2003) 114-152.

E. Solomonik, M. Besta, F. Vella and T. Hoefler, Scaling betweenness centrality using communication-efficient sparse
matrix multiplication, SC 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import gcd
from typing import Any

import cupy as cp
import numpy as np
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.graph.validate import EXACT_INTEGERS
from lagbc.methods.contract import SweepPlan, UnlikeBlocks
from lagbc.methods.gpu.common.rows import (
    COLUMNS,
    Found,
    Lengths,
    Levels,
    Placed,
    Rows,
    TooDeep,
    add_ends,
    bit_rows,
    count_groups,
    multiplicities,
    place,
    upload,
)
from lagbc.methods.gpu.common.sums import Distances, Edges, PathScores
from lagbc.methods.gpu.delta_stepping import deep, detours, dial, levels
from lagbc.methods.sums import PATH_SUMS, Sums

# Width of the window in mean lengths, if the user gives none.
WIDTH = 4.0
# `dial` takes lengths of at most so many units, and is the fastest, where paths are counted, up to a few.
MOST_UNITS = 16
FEW_UNITS = 7
# `threshold` takes lengths of which the smallest is at least this share of the mean.
SIMILAR = 0.1


@dataclass(frozen=True)
class Way:
    """Four functions, and the way that is taken where groups have more levels than this one takes."""

    allocate: Callable[[Rows, Lengths], Any]
    forward: Callable[[Any, NDArray[np.int64], Placed], Found]
    backward: Callable[[Any, NDArray[np.int64], int, Any, Any, Edges], PathScores]
    distances: Callable[[Any, NDArray[np.int64], int, Any, Distances], None]
    then: str = ""


_STRICT, _WINDOW = partial(levels.allocate, strict=True), partial(levels.allocate, strict=False)
WAYS = {
    "dial": Way(dial.allocate, dial.forward, dial.backward, dial.distances, then="window"),
    "threshold": Way(_STRICT, levels.forward, levels.backward, levels.distances, then="window"),
    "window": Way(_WINDOW, levels.forward, levels.backward, levels.distances, then="deep"),
    "deep": Way(deep.allocate, deep.forward, deep.backward, deep.distances),
}


@dataclass(eq=False)
class State:
    """The graph on the device, and the arrays of the way that was taken last."""

    rows: Rows
    lengths: Lengths
    first: str  # the way that is tried first
    way: str
    arrays: Any
    edge_order: Any  # of the graph, on the device; None if edges are not summed

    @property
    def plan(self) -> SweepPlan:
        """What the run asks for."""
        return self.rows.plan

    def take(self, way: str) -> Way:
        """Allocate what a way needs, in place of the arrays of another."""
        if way != self.way:
            self.arrays = None
            self.way, self.arrays = way, WAYS[way].allocate(self.rows, self.lengths)
        return WAYS[way]


def prepare(graph: Graph, plan: SweepPlan, way: str | None = None) -> State:
    """Upload the graph in sweep order and allocate rows for the batch; `way` is one of `WAYS`, if not the best."""
    graph, places = leave_out_detours(graph, plan)
    rows, lengths = upload(graph, plan), describe_lengths(graph, plan)
    first = choose_way(graph, lengths, plan) if way is None else way
    edge_order = None
    if "edges" in plan.sums:
        edge_order = cp.asarray(graph.edge_order) if places is None else places[graph.edge_order]
    return State(rows, lengths, first, first, WAYS[first].allocate(rows, lengths), edge_order)


def leave_out_detours(graph: Graph, plan: SweepPlan) -> tuple[Graph, Any]:
    """Leave out edges that no shortest path takes; also return the places of the others, None if none is left out."""
    if not detours.are_likely(graph, plan):
        return graph, None
    sweep = SweepPlan(COLUMNS, sums=frozenset({"distance"}), stop=plan.stop)
    kept = detours.find_kept(graph, upload(graph, sweep), describe_lengths(graph, sweep))
    return (graph, None) if kept is None else (graph.on_device.keep(kept), cp.flatnonzero(kept))


def forward(state: State, roots: NDArray[np.int64]) -> Levels:
    """Find the distances from a batch of roots and count their shortest paths; a root of -1 is an absent one.

    Raises
    ------
    UnlikeBlocks
        Some groups of roots are too deep for a way, and some are not: each kind has to come by itself.
    """
    placed = place(state.rows, roots)
    if not len(placed.position):
        return Levels(roots, placed, 0, np.zeros(len(roots), np.bool_), None)
    way = state.first
    while True:
        try:
            found = state.take(way).forward(state.arrays, roots, placed)
        except TooDeep as deeper:
            if not deeper.groups.all():
                raise UnlikeBlocks(deeper.groups) from None
            way = WAYS[way].then
        else:
            return Levels(roots, placed, found.depth, found.overflowed, found.reached)


def backward(state: State, levels: Levels, sums: Sums) -> None:
    """Add what the roots that did not overflow sum to, a row a group, in matrix order."""
    state.plan.stop.check()
    if not len(levels.placed.position):
        return
    rows, outputs = state.rows, state.plan.sums
    keep = cp.asarray(bit_rows(~levels.overflowed, rows.groups))
    if outputs & PATH_SUMS:
        _add_path_sums(state, levels, keep, sums)
    if outputs - PATH_SUMS:
        distances = Distances.zeros(rows, outputs)
        WAYS[state.way].distances(state.arrays, levels.roots, levels.depth, keep, distances)
        distances.add_to(sums, rows, count_groups(levels.roots), len(levels.roots))


def _add_path_sums(state: State, levels: Levels, keep: Any, sums: Sums) -> None:
    rows = state.rows
    multiplicity, edges = multiplicities(rows, levels.roots), Edges(state.edge_order, sums.edges)
    scores = WAYS[state.way].backward(state.arrays, levels.roots, levels.depth, keep, multiplicity, edges)
    if state.plan.endpoints:
        add_ends(levels.placed, levels.reached, keep, scores.dependency)
    scores.add_to(sums, rows, count_groups(levels.roots))


def choose_way(graph: Graph, lengths: Lengths, plan: SweepPlan) -> str:
    """Say which of `WAYS` is the fastest for a graph.

    `rtol` and a `delta` that is asked for leave window and deep. `threshold` counts paths with the distances, and is
    left out where no path is counted.
    """
    if graph.has_high_diameter:
        return "deep"
    if not graph.nnz or plan.rtol or plan.bucket_width is not None:
        return "window"
    counts, longest, shortest = plan.sums & PATH_SUMS, float(lengths.out.max()), float(lengths.out.min())
    if lengths.unit and graph.n <= dial.MOST_ROWS and not (counts and longest > FEW_UNITS * lengths.unit):
        return "dial"
    return "threshold" if counts and shortest >= SIMILAR * _mean(lengths.out) else "window"


def describe_lengths(graph: Graph, plan: SweepPlan) -> Lengths:
    """Bring the lengths of a graph into sweep order, and find what they allow."""
    out: Any = graph.reordered.on_device.weights
    into = graph.reordered.transpose.on_device.weights
    longest = float(out.max()) if graph.nnz else 0.0
    are_integers = longest <= EXACT_INTEGERS and bool((out == cp.floor(out)).all())
    # A path has fewer than n edges: float32 adds integers exactly as long as no path can be too long for it.
    dist = "float32" if are_integers and graph.n * longest <= 2**24 and not plan.rtol else "float64"
    width = WIDTH * _mean(out) if plan.bucket_width is None else plan.bucket_width
    return Lengths(out, into, _unit(out), dist, min(width, float(np.finfo(dist).max)))


def _mean(lengths: Any) -> float:
    """Mean length, without overflow; 0 if there is none."""
    return float((lengths / max(len(lengths), 1)).sum())


def _unit(lengths: Any) -> float:
    """Find the greatest common divisor of lengths; 0 if `dial` cannot take it for a unit.

    That is where a length is more than `MOST_UNITS` of it, or float64 does not hold its multiples up to
    `dial.MOST_LEVELS`: sums of lengths are rounded then, and no multiples of it any more.
    """
    if not len(lengths) or float(lengths.max()) > MOST_UNITS * float(lengths.min()):
        return 0.0
    distinct = cp.unique(lengths)
    if len(distinct) > MOST_UNITS:
        return 0.0
    exact = [Fraction(length) for length in distinct.get().tolist()]
    denominator = max(length.denominator for length in exact)  # all are powers of two
    unit = Fraction(gcd(*(int(length * denominator) for length in exact)), denominator)
    odd = unit.numerator // (unit.numerator & -unit.numerator)
    is_held = odd * dial.MOST_LEVELS <= EXACT_INTEGERS
    return float(unit) if is_held and exact[-1] <= MOST_UNITS * unit else 0.0
