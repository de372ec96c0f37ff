"""Betweenness with lengths on the CPU by min-plus and masked matrix products on bit rows.

As in `lagbc.methods.cpu.batched.hops`, 64 roots are the 64 columns of one batch, and every vertex has a row of 64
numbers: its distances D, later its path counts sigma, later its path dependencies c, all in the same place.

    distances  D = min(D, A^T min.plus D) until nothing changes
    tight      T[v, w] = the columns in which D[v] + A[v, w] = D[w] and D[v] < D[w], a word of 64 bits an edge

Along T paths are counted and dependencies summed as `lagbc.methods.cpu.batched.counting` says.

**Distances.** Delta-stepping (Meyer and Sanders 2003) with a row of 64 columns in the place of a vertex. A row is
*fresh* in the columns in which it came nearer since its edges were last relaxed. A phase relaxes the rows whose nearest
fresh column is at most the width of a bucket beyond the nearest of all, in all of their fresh columns: an edge costs
the same for one column as for 64, so a row that is near in one column takes along what it has in the others. Every
number is the sum, in float64, along a path from the root, and only ever falls; rounding is monotone, so that what is
left in the end depends neither on the order nor on the width. Lengths that are small whole numbers are summed as uint16
by rows of their own, the same sums in a quarter of the bytes; where they turn out not to fit, in float64 again.

T is a list of the edges that are tight in some column, a fifth to a third of all. A length that rounding absorbs can
leave a vertex that is reached without a tight predecessor. It and all behind it wait for ever. Such columns are marked,
as are those whose counts leave the range of float64.

Sums of distances are sums over the rows of D; where no more is asked for, nothing is counted. As in hops, compiled
functions leave out what belongs to an argument that is None.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,var-annotated"

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError
from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.contract import Batching, SweepPlan
from lagbc.methods.cpu.batched.counting import (
    Counting,
    add_path_sums,
    arrays_of_counting,
    bytes_of_counting,
    count_paths,
)
from lagbc.methods.cpu.batched.distances import find_distances, find_farthest, sum_distances
from lagbc.methods.cpu.batched.queue import Levels, room_of_lengths
from lagbc.methods.cpu.batched.rows import COLUMNS
from lagbc.methods.cpu.batched.sums import (
    DistanceSums,
    bytes_of_sums,
    rows_of_roots,
    weights_of_columns,
)
from lagbc.methods.cpu.batched.tight import TightEdges, add_tight, find_tight
from lagbc.methods.cpu.columns import clear_unreached
from lagbc.methods.sums import PATH_SUMS, Sums

batching = Batching(block=COLUMNS, widest=COLUMNS, auto=COLUMNS, concurrent=True)
options = frozenset({"rtol", "bucket_width", "members"})
# Stands for infinity among distances of 16 bits.
_MOST = np.iinfo(np.uint16).max


@dataclass(eq=False)
class State(Counting):
    """One worker's arrays; rows are vertices in sweep order.

    Before paths are counted, `values` are the distances, `bits` the columns that are fresh, `nearest` the smallest
    distance of these, and `lists` the rows that are fresh.

    Attributes
    ----------
    width : float
        Of a bucket.
    dist : ndarray of float64 or uint16, shape (n, 64)
        The distances; they are `values` too, unless they are uint16, or both are summed.
    """

    width: float
    dist: NDArray[Any]


def footprint(graph: Graph, plan: SweepPlan) -> int:
    """Return the bytes of a worker: the arrays of its `State`, the queue as it is at first, and a batch's sums."""
    n, index = graph.n, graph.indices.dtype.itemsize
    out = 8 * (n + 1) + graph.nnz * (index + 8)  # starts, ends and masks
    dist = COLUMNS * n * (8 * _needs_both(plan) + 2 * _are_short(graph, plan))  # beside values
    return bytes_of_counting(graph, plan, room_of_lengths(graph, plan)) + out + dist + bytes_of_sums(graph, plan)


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Reorder the graph (once a graph) and allocate one worker's rows."""
    arrays = arrays_of_counting(graph, plan, room_of_lengths(graph, plan))
    mean = graph.mean_length  # an infinite width is one, too
    dist = arrays["values"]
    if _are_short(graph, plan):
        dist = np.empty((graph.n, COLUMNS), np.uint16)
    elif _needs_both(plan):
        dist = np.empty((graph.n, COLUMNS))
    return State(
        **arrays,
        count_width=tuning.BATCHED_COUNT_WIDTH * mean,
        out=TightEdges.empty(graph.n, graph.nnz, graph.reordered.indices.dtype),
        width=tuning.BATCHED_WIDTH * mean if plan.bucket_width is None else plan.bucket_width,
        dist=dist,
    )


def _needs_both(plan: SweepPlan) -> bool:
    """Whether distances are still read when paths have been counted."""
    return bool(plan.sums & PATH_SUMS and plan.sums - PATH_SUMS)


def _are_short(graph: Graph, plan: SweepPlan) -> bool:
    """Whether to begin with distances of uint16: whole numbers which the diameter in hops leaves small, at a guess."""
    if not graph.weighted or not graph.nnz or plan.rtol or plan.sums - PATH_SUMS:
        return False
    return graph.longest + 2 * graph.mean_length * graph.depth < _MOST and graph.has_whole_lengths


def forward(state: State, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Find the distances from up to 64 roots, the tight edges, and an order to count shortest paths in; count them."""
    _search(state, roots, state.dist)
    if _may_be_beyond(state):
        state.dist = state.values
        _search(state, roots, state.dist)
    if state.plan.sums & PATH_SUMS:
        depth, entries, overflowed = _count_paths(state, rows_of_roots(state.graph, roots))
    else:
        depth, entries, overflowed = 0, 0, np.uint64(0)
    yield Levels(roots=roots, entries=entries, depth=depth, beyond=overflowed)


def _search(state: State, roots: NDArray[np.int64], dist: NDArray[Any]) -> None:
    """Find the distances from the roots; what the state has for it is free again behind a forward sweep, too."""
    graph, stop = state.graph.reordered, state.plan.stop
    (fresh, _), (now, later) = state.bits, state.lists
    dist.fill(_infinite(dist))
    state.bits.fill(0)
    find_distances(
        graph.indptr,
        graph.indices,
        graph.weights,
        rows_of_roots(state.graph, roots),
        state.width,
        dist,
        fresh,
        state.nearest,
        now,
        later,
        stop.value,
    )
    stop.check()


def _infinite(dist: NDArray[Any]) -> Any:
    """Return what stands for infinity among some distances."""
    return dist.dtype.type(_MOST if dist.dtype == np.uint16 else np.inf)


def _may_be_beyond(state: State) -> bool:
    """Whether a sum of lengths may have ended at infinity; of the others an edge leads no farther than to a number."""
    return state.dist.dtype == np.uint16 and bool(find_farthest(state.dist) + state.graph.longest >= _MOST)


def _count_paths(state: State, positions: NDArray[np.int64]) -> tuple[int, int, np.uint64]:
    """Replace distances by path counts; return how many phases and entries, and the columns to be recomputed."""
    graph, out, stop = state.graph.reordered, state.out, state.plan.stop
    find_tight(
        graph.indptr,
        graph.indices,
        graph.weights,
        state.plan.rtol,
        state.dist,
        state.bits[0],
        state.nearest,
        out.starts,
        out.ends,
        out.masks,
        stop.value,
    )
    stop.check()
    return count_paths(state, positions)


def paths(state: State, levels: Levels) -> tuple[NDArray[Any], NDArray[np.float64]]:
    """Return dist and sigma of the roots, shape (n, columns), rows being vertices in sweep order.

    dist is inf where a vertex is not reached, and sigma is 0. They may be the state's own, and hold until its next
    sweep. Where path counts have taken the place of the distances, these are found again. Short distances are returned
    as float32, which holds them.

    Raises
    ------
    ValueError
        The plan asks for no sum over paths, so that they are not counted.
    """
    if not state.plan.sums & PATH_SUMS:
        raise InvalidValueError("sigma is not there: no sum that the plan asks for needs path counts")
    dist = state.dist
    if dist is state.values:
        dist = np.empty_like(state.values)
        _search(state, levels.roots, dist)
    dist, sigma = dist[:, : len(levels.roots)], state.values[:, : len(levels.roots)]
    if dist.dtype == np.uint16:
        dist = np.where(dist == _infinite(dist), np.float32(np.inf), dist.astype(np.float32))
    clear_unreached(dist, sigma)
    return dist, sigma


def backward(state: State, levels: Levels, sums: Sums, omega: NDArray[np.float64] | None = None) -> None:
    """Add what the roots that did not overflow sum to, to the one row of `sums`."""
    if state.plan.sums - PATH_SUMS:
        distances = DistanceSums.zeros(state.graph.n)
        sum_distances(
            state.dist,
            levels.kept,
            distances.reached,
            distances.distance,
            distances.inverse,
            distances.deepest,
        )
        distances.add_to(sums, state.graph.order, len(levels.roots))
    if state.plan.sums & PATH_SUMS:
        edges = add_path_sums(state, levels, sums, *weights_of_columns(state.plan, levels.roots, state.omega, omega))
        if edges is not None:
            graph, out, order = state.graph.reordered, state.out, state.graph.edge_order
            add_tight(graph.indptr, graph.indices, out.starts, out.ends, edges, order, sums.edges[0])
