"""Betweenness with lengths on the CPU by min-plus and masked matrix products on bit rows.

As in `lagbc.methods.cpu.batched.hops`, 64 roots are the 64 columns of one batch, and every vertex has a row of 64
numbers: its distances D, later its path counts sigma, later its path dependencies c, all in the same place.

    distances  D = min(D, A^T min.plus D) until nothing changes
    tight      T[v, w] = the columns in which D[v] + A[v, w] = D[w] and D[v] < D[w], a word of 64 bits an edge
    forward    P<L> = T^T plus.second P   for one set L of (vertex, columns) after the other
    backward   c at L = omega / sigma + T plus.second c;   delta = sigma * (that product)   in the reverse order
    stress     t at L = omega + T plus.second t;           stress = sigma * (that product)
    edges      of v -> w in T: the dot product of the rows sigma[v] and c[w]
    members    a row of P, and a row of c, is multiplied by how many vertices v stands for when it is finished

**Distances.** Delta-stepping (Meyer and Sanders 2003) with a row of 64 columns in the place of a vertex. A row is
*fresh* in the columns in which it came nearer since its edges were last relaxed. A phase relaxes the rows whose nearest
fresh column is at most the width of a bucket beyond the nearest of all, in all of their fresh columns: an edge costs
the same for one column as for 64, so a row that is near in one column takes along what it has in the others. Every
number is the sum, in float64, along a path from the root, and only ever falls; rounding is monotone, so that what is
left in the end depends neither on the order nor on the width. Lengths that are small whole numbers are summed as uint16
by rows of their own, the same sums in a quarter of the bytes; where they turn out not to fit, in float64 again.

**Sets.** T is a list of the edges that are tight in some column, a fifth to a third of all. A vertex can be counted in
the columns in which all its tight predecessors have been, and waits in the others. Which of those that can be counted
is next changes nothing but the time: it is one whose distance from the nearest root is small. Rows far from all the
roots then wait until they can be counted in nearly all of their columns at once. On meshes and roads, where the roots
of a batch are neighbours, a row is read 1 to 2 times for 64 columns; counting by levels of T, that is 10 to 20 times.

The queue of (vertex, bit row) entries is the sequence of these sets, and grows on demand. A length that rounding
absorbs can leave a vertex that is reached without a tight predecessor. It and all behind it wait for ever. Such columns
are marked, as are those whose counts leave the range of float64.

Only the owner of a row writes it, and it sums in row order. So the sums depend neither on threads nor on the width.
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

from lagbc.cpu.compile import njit
from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.contract import Batching, Interrupted, SweepPlan
from lagbc.methods.cpu.batched.distances import find_distances, find_farthest, sum_distances
from lagbc.methods.cpu.batched.products import gather_onward, scale_dependencies
from lagbc.methods.cpu.batched.queue import (
    Levels,
    add_ends,
    enqueue_roots,
    flags_of,
    require_wider,
    room_of_lengths,
    widened,
)
from lagbc.methods.cpu.batched.rows import COLUMNS, finish_paths_row, finish_row, load_row, omega_row
from lagbc.methods.cpu.batched.sums import (
    DistanceSums,
    PathSums,
    bytes_of_sums,
    rows_of_roots,
    weights_of_columns,
)
from lagbc.methods.cpu.batched.tight import TightEdges, add_tight, count, find_tight, push_roots, transpose
from lagbc.methods.cpu.columns import clear_unreached
from lagbc.methods.sums import PATH_SUMS, Sums

batching = Batching(block=COLUMNS, widest=COLUMNS, auto=COLUMNS, concurrent=True)
options = frozenset({"rtol", "bucket_width", "members"})


@dataclass(eq=False)
class State:
    """One worker's arrays; rows are vertices in sweep order."""

    graph: Graph
    plan: SweepPlan
    width: float  # of a bucket
    count_width: float
    omega: NDArray[np.float64]  # by row
    members: NDArray[np.float64] | None  # the same
    values: NDArray[np.float64]  # (n, 64): distances, then sigma, then c
    dist: NDArray[Any]  # (n, 64): the distances; they are `values` too, unless they are uint16, or both are summed
    paths: NDArray[np.float64] | None  # (n, 64): t, for stress
    bits: NDArray[np.uint64]  # (2, n): fresh, later waiting; pushed to
    nearest: NDArray[np.float64]  # the smallest distance in a row, at first of its fresh columns
    lists: NDArray[Any]  # (2, n): rows that are fresh, later pushed to
    out: TightEdges
    into: TightEdges
    queue: NDArray[Any]
    masks: NDArray[np.uint64]


def footprint(graph: Graph, plan: SweepPlan) -> int:
    """Return the bytes of a worker: the arrays of its `State`, the queue as it is at first, and a batch's sums."""
    n, index = graph.n, graph.indices.dtype.itemsize
    rows = 1 + _needs_both(plan) + ("stress" in plan.sums)  # values, dist and paths
    words = (4 + (plan.members is not None)) * n  # omega, two of bits, nearest; members
    lists = 2 * n * index
    tight = 2 * (8 * (n + 1) + graph.nnz * (index + 8))  # starts, ends and masks of out and of into
    queue = room_of_lengths(graph, plan) * (index + 8)  # and masks
    short = 2 * COLUMNS * n * _are_short(graph, plan)  # dist, beside values
    return 8 * (words + rows * COLUMNS * n) + short + lists + tight + queue + bytes_of_sums(graph, plan)


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Reorder the graph (once a graph) and allocate one worker's rows."""
    assert graph.weights is not None
    n, index_type, room = graph.n, graph.reordered.indices.dtype, room_of_lengths(graph, plan)
    with np.errstate(over="ignore"):  # an infinite width is one, too
        mean = float(np.mean(graph.weights)) if graph.nnz else 0.0
    values = np.empty((n, COLUMNS))
    dist = values
    if _are_short(graph, plan):
        dist = np.empty((n, COLUMNS), np.uint16)
    elif _needs_both(plan):
        dist = np.empty((n, COLUMNS))
    return State(
        graph=graph,
        plan=plan,
        width=tuning.BATCHED_WIDTH * mean if plan.bucket_width is None else plan.bucket_width,
        count_width=tuning.BATCHED_COUNT_WIDTH * mean,
        omega=np.ones(n) if plan.omega is None else plan.omega[graph.order],
        members=None if plan.members is None else plan.members[graph.order],
        values=values,
        dist=dist,
        paths=np.empty((n, COLUMNS)) if "stress" in plan.sums else None,
        bits=np.zeros((2, n), np.uint64),
        nearest=np.empty(n),
        lists=np.empty((2, n), index_type),
        out=TightEdges.empty(n, graph.nnz, index_type),
        into=TightEdges.empty(n, graph.nnz, index_type),
        queue=np.empty(room, index_type),
        masks=np.empty(room, np.uint64),
    )


def _needs_both(plan: SweepPlan) -> bool:
    """Whether distances are still read when paths have been counted."""
    return bool(plan.sums & PATH_SUMS and plan.sums - PATH_SUMS)


def _are_short(graph: Graph, plan: SweepPlan) -> bool:
    """Whether to begin with distances of uint16: whole numbers which the diameter in hops leaves small, at a guess."""
    if graph.weights is None or not graph.nnz or plan.rtol or plan.sums - PATH_SUMS:
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        expected = graph.weights.max() + 2 * graph.weights.mean() * graph.depth
    return bool(expected < np.iinfo(np.uint16).max) and bool((graph.weights == np.floor(graph.weights)).all())


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
    yield Levels(roots=roots, entries=entries, depth=depth, overflowed=flags_of(overflowed, len(roots)))


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
    return dist.dtype.type(np.iinfo(np.uint16).max if dist.dtype == np.uint16 else np.inf)


def _may_be_beyond(state: State) -> bool:
    """Whether a sum of lengths may have ended at infinity; of the others an edge leads no farther than to a number."""
    if state.dist.dtype != np.uint16:
        return False
    assert state.graph.weights is not None
    return bool(find_farthest(state.dist) + state.graph.weights.max() >= _infinite(state.dist))


def _count_paths(state: State, positions: NDArray[np.int64]) -> tuple[int, int, np.uint64]:
    """Replace distances by path counts; return how many phases and entries, and the columns to be recomputed."""
    graph, out, into, stop = state.graph.reordered, state.out, state.into, state.plan.stop
    waiting, pushed = state.bits
    find_tight(
        graph.indptr,
        graph.indices,
        graph.weights,
        state.plan.rtol,
        state.dist,
        waiting,
        state.nearest,
        out.starts,
        out.ends,
        out.masks,
        stop.value,
    )
    stop.check()
    transpose(out.starts, out.ends, out.masks, into.starts, into.ends, into.masks)
    entered = enqueue_roots(positions, state.values, state.queue, state.masks)
    waiting[state.queue[:entered]] &= ~state.masks[:entered]
    met = push_roots(out.starts, out.ends, out.masks, state.queue, state.masks, entered, pushed, state.lists[0])
    phases, entries, overflowed = 0, entered, np.uint64(0)
    while True:
        phases, met, entries, beyond = count(
            out.starts,
            out.ends,
            out.masks,
            into.starts,
            into.ends,
            into.masks,
            state.count_width,
            state.members,
            state.values,
            waiting,
            pushed,
            state.nearest,
            state.lists,
            state.queue,
            state.masks,
            phases,
            met,
            entries,
            overflowed,
            state.plan.sigma_limit,
            stop.value,
        )
        stop.check()
        overflowed = np.uint64(beyond)
        if not met:
            return phases, entries, overflowed
        needed = entries + met
        require_wider(state.queue, needed, state.graph.n, state.plan, room_of_lengths(state.graph, state.plan))
        state.queue, state.masks = (widened(array, needed, state.graph.n) for array in (state.queue, state.masks))


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
        raise ValueError("sigma is not there: no sum that the plan asks for needs path counts")
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
        _add_path_sums(state, levels, sums, *weights_of_columns(state.plan, levels.roots, state.omega, omega))


def _add_path_sums(
    state: State, levels: Levels, sums: Sums, omega: NDArray[np.float64], multiplicity: NDArray[np.float64]
) -> None:
    out, parts = state.out, PathSums.zeros(state.graph.n, sums)
    edges = None if sums.edges is None else np.zeros(out.starts[-1])
    finished = _backward(
        out.starts,
        out.ends,
        out.masks,
        levels.searched,
        levels.entries,
        levels.kept,
        omega,
        multiplicity,
        state.members,
        state.values,
        state.paths,
        state.queue,
        state.masks,
        parts.dependency,
        parts.stress,
        edges,
        state.plan.stop.value,
    )
    if not finished:
        raise Interrupted
    if state.plan.endpoints:
        add_ends(state.queue, state.masks, levels.searched, levels.entries, levels.kept, parts.dependency)
    parts.add_to(sums, state.graph.order)
    if edges is not None:
        graph = state.graph.reordered
        add_tight(graph.indptr, graph.indices, out.starts, out.ends, edges, state.graph.edge_order, sums.edges[0])


@njit
def _backward(
    starts,
    heads,
    edge_masks,
    roots,
    entries,
    keep,
    omega,
    multiplicity,
    members,
    values,
    paths,
    queue,
    masks,
    scores,
    stress,
    edges,
    stop,
):
    """Turn sigma into c from the last entry on, adding sigma * (sum of c over tight successors) to scores.

    With `paths`, which becomes t, `stress` is summed, too; with `edges`, their sums in the order of `heads`. Return
    whether the sweep was finished.
    """
    times = load_row(multiplicity, 0)
    for i in range(entries - 1, -1, -1):
        if stop[0]:
            return False
        v, mask = queue[i], masks[i] & keep
        if i < roots:
            if edges is not None:
                gather_onward(starts, heads, edge_masks, None, v, mask, values, None, times, edges)
            continue
        total, paths_total = gather_onward(starts, heads, edge_masks, None, v, mask, values, paths, times, edges)
        own = omega_row(omega, v)
        if paths is not None:
            stress[v] += finish_paths_row(paths, values, v, mask, paths_total, own, times)
        scores[v] += finish_row(values, v, mask, total, own, times)
        scale_dependencies(values, v, mask, members)
    return True
