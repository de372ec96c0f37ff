"""Betweenness with lengths on the CPU by min-plus and masked matrix products on bit rows.

As in `lagbc.methods.cpu.batched.hops`, 64 roots are the 64 columns of one batch, and every vertex has a row of 64
numbers: its distances D, later its path counts sigma, later its path dependencies c, all in the same place.

    distances  D = min(D, A^T min.plus D) until nothing changes
    tight      T[v, w] = the columns in which D[v] + A[v, w] = D[w] and D[v] < D[w], a word of 64 bits an edge
    forward    P<L> = T^T plus.second P   for one set L of (vertex, columns) after the other
    backward   c at L = omega / sigma + T plus.second c;   delta = sigma * (that product)   in the reverse order
    stress     t at L = omega + T plus.second t;           stress = sigma * (that product)
    edges      of v -> w in T: the dot product of the rows sigma[v] and c[w]

**Distances.** Delta-stepping (Meyer and Sanders 2003) with a row of 64 columns in the place of a vertex. A row is
*fresh* in the columns in which it came nearer since its edges were last relaxed. A phase relaxes the rows whose nearest
fresh column is at most `delta` beyond the nearest of all, in all of their fresh columns: an edge costs the same for one
column as for 64, so a row that is near in one column takes along what it has in the others. Every number is the sum, in
float64, along a path from the root, and only ever falls; rounding is monotone, so that what is left in the end depends
neither on the order nor on `delta`.

**Sets.** T is a list of the edges that are tight in some column, a fifth to a third of all. A vertex can be counted in
the columns in which all its tight predecessors have been, and waits in the others. Which of those that can be counted
is next changes nothing but the time: it is one whose distance from the nearest root is small. Rows far from all the
roots then wait until they can be counted in nearly all of their columns at once. On meshes and roads, where the roots
of a batch are neighbours, a row is read 1 to 2 times for 64 columns; counting by levels of T, that is 10 to 20 times.

The queue of (vertex, bit row) entries is the sequence of these sets. A length that rounding absorbs can leave a vertex
that is reached without a tight predecessor. It and all behind it wait for ever. Such columns are marked, as are those
whose counts leave the range of float64.

Only the owner of a row writes it, and it sums in row order. So the sums depend neither on threads nor on `delta`. Sums
of distances are sums over the rows of D; where no more is asked for, nothing is counted. As in `batched_hops`, compiled
functions leave out what belongs to an argument that is None.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,var-annotated"

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit, uint64
from numpy.typing import NDArray

from lagbc.graph.graph import Graph
from lagbc.methods.contract import Interrupted, SweepPlan
from lagbc.methods.cpu.batched.queue import add_ends, add_to, allocate, columns_of, flags_of, grow, multiplicity_row
from lagbc.methods.cpu.batched.rows import (
    COLUMNS,
    add_row,
    count_bits,
    dot_rows,
    finish_paths_row,
    finish_row,
    finite_in_row,
    load_row,
    minimum_of_row,
    positive_in_row,
    put_row,
    raise_row,
    relax_row,
    store_row,
    sum_inverse_row,
    sum_row,
    tight_in_row,
    zero_row,
)
from lagbc.methods.sums import PATH_SUMS, Sums

# The default width of a bucket, in mean lengths. On scale-free graphs 0.1 to 0.5 were alike, and 2 took up to 1.9 times
# as long; on meshes and roads 1 to 4 were alike, and 0.25 took up to 1.6 times as long.
WIDTH, DEEP_WIDTH = 0.25, 2.0
# The same for the order in which rows are counted; on scale-free graphs 0.5 was as good.
COUNT_WIDTH = 2.0
# Queue entries a vertex that are allocated at first; it grows on demand, up to COLUMNS a vertex.
FIRST_ENTRIES = 4

_DONE, _QUEUE_FULL, _STOPPED = 0, 1, 2


@dataclass(frozen=True, eq=False)
class TightEdges:
    """The edges that are tight in some column, by row: row v has starts[v]:starts[v + 1]."""

    starts: NDArray[np.int64]
    ends: NDArray[Any]
    masks: NDArray[np.uint64]


@dataclass(eq=False)
class State:
    """One worker's arrays; rows are vertices in sweep order."""

    graph: Graph
    plan: SweepPlan
    position: NDArray[np.int64]  # the row of each vertex of the caller's
    width: float  # of a bucket
    count_width: float
    omega: NDArray[np.float64]  # by row
    values: NDArray[np.float64]  # (n, 64): distances, then sigma, then c
    dist: NDArray[np.float64]  # (n, 64): the distances; they are `values` too, unless both are summed
    paths: NDArray[np.float64] | None  # (n, 64): t, for stress
    bits: NDArray[np.uint64]  # (2, n): fresh, later waiting; pushed to
    nearest: NDArray[np.float64]  # the smallest distance in a row, at first of its fresh columns
    lists: NDArray[Any]  # (2, n): rows that are fresh, later pushed to
    out: TightEdges
    into: TightEdges
    queue: NDArray[Any]
    masks: NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Levels:
    """What a forward sweep leaves in its state: how many entries, in how many phases, and what is to be recomputed."""

    roots: NDArray[np.int64]
    entries: int
    depth: int
    overflowed: NDArray[np.bool_]


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Reorder the graph (once a graph) and allocate one worker's rows."""
    assert graph.weights is not None
    n, index_type = graph.n, graph.reordered.indices.dtype
    position = np.empty(n, np.int64)
    position[graph.order] = np.arange(n)
    queue, masks = allocate(n, FIRST_ENTRIES, index_type)
    with np.errstate(over="ignore"):  # an infinite width is one, too
        mean = float(np.mean(graph.weights))
    default = (DEEP_WIDTH if graph.has_high_diameter else WIDTH) * mean
    values = np.empty((n, COLUMNS))
    both = plan.sums & PATH_SUMS and plan.sums - PATH_SUMS
    return State(
        graph=graph,
        plan=plan,
        position=position,
        width=default if plan.bucket_width is None else plan.bucket_width,
        count_width=COUNT_WIDTH * mean,
        omega=np.ones(n) if plan.omega is None else plan.omega[graph.order],
        values=values,
        dist=np.empty((n, COLUMNS)) if both else values,
        paths=np.empty((n, COLUMNS)) if "stress" in plan.sums else None,
        bits=np.zeros((2, n), np.uint64),
        nearest=np.empty(n),
        lists=np.empty((2, n), index_type),
        out=_allocate_edges(n, graph.nnz, index_type),
        into=_allocate_edges(n, graph.nnz, index_type),
        queue=queue,
        masks=masks,
    )


def _allocate_edges(n: int, nnz: int, index_type: Any) -> TightEdges:
    return TightEdges(np.zeros(n + 1, np.int64), np.empty(nnz, index_type), np.empty(nnz, np.uint64))


def forward(state: State, roots: NDArray[np.int64]) -> Levels:
    """Find the distances from up to 64 roots, the tight edges, and an order to count shortest paths in; count them."""
    graph, stop = state.graph.reordered, state.plan.stop
    (fresh, _), (now, later) = state.bits, state.lists
    positions = state.position[roots]
    state.dist.fill(np.inf)
    state.bits.fill(0)
    _find_distances(
        graph.indptr,
        graph.indices,
        graph.weights,
        positions,
        state.width,
        state.dist,
        fresh,
        state.nearest,
        now,
        later,
        stop.value,
    )
    stop.check()
    if not state.plan.sums & PATH_SUMS:
        return Levels(roots=roots, entries=0, depth=0, overflowed=np.zeros(len(roots), np.bool_))
    depth, entries, overflowed = _count_paths(state, positions)
    return Levels(roots=roots, entries=entries, depth=depth, overflowed=flags_of(overflowed, len(roots)))


def _count_paths(state: State, positions: NDArray[np.int64]) -> tuple[int, int, np.uint64]:
    """Replace distances by path counts; return how many phases and entries, and the columns to be recomputed."""
    graph, out, into, stop = state.graph.reordered, state.out, state.into, state.plan.stop
    waiting, pushed = state.bits
    _find_tight(
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
    _transpose(out.starts, out.ends, out.masks, into.starts, into.ends, into.masks)
    met = _enqueue_roots(
        out.starts,
        out.ends,
        out.masks,
        positions,
        state.values,
        waiting,
        pushed,
        state.lists[0],
        state.queue,
        state.masks,
    )
    cursor = np.array([0, met, len(positions)], np.int64)  # phase, rows in its list, entries
    overflowed = np.zeros(1, np.uint64)
    while status := _count(
        out.starts,
        out.ends,
        out.masks,
        into.starts,
        into.ends,
        into.masks,
        state.count_width,
        state.values,
        waiting,
        pushed,
        state.nearest,
        state.lists,
        state.queue,
        state.masks,
        cursor,
        overflowed,
        state.plan.sigma_limit,
        stop.value,
    ):
        if status == _STOPPED:
            raise Interrupted
        grow(state.queue, state.masks, state.graph.n)
    return int(cursor[0]), int(cursor[2]), overflowed[0]


def backward(state: State, levels: Levels, sums: Sums) -> None:
    """Add what the roots that did not overflow sum to, to the one row of `sums`."""
    keep = columns_of(~levels.overflowed)
    if state.plan.sums - PATH_SUMS:
        _add_distance_sums(state, levels, keep, sums)
    if state.plan.sums & PATH_SUMS:
        _add_path_sums(state, levels, keep, sums)


def _add_path_sums(state: State, levels: Levels, keep: np.uint64, sums: Sums) -> None:
    out = state.out
    scores = np.zeros(state.graph.n)
    stress = None if sums.stress is None else np.zeros(state.graph.n)
    edges = None if sums.edges is None else np.zeros(out.starts[-1])
    finished = _backward(
        out.starts,
        out.ends,
        out.masks,
        len(levels.roots),
        levels.entries,
        keep,
        state.omega,
        multiplicity_row(state.plan, levels.roots),
        state.values,
        state.paths,
        state.queue,
        state.masks,
        scores,
        stress,
        edges,
        state.plan.stop.value,
    )
    if not finished:
        raise Interrupted
    if state.plan.endpoints:
        add_ends(state.queue, state.masks, len(levels.roots), levels.entries, keep, scores)
    add_to(sums.dependency, state.graph.order, scores)
    add_to(sums.stress, state.graph.order, stress)
    if edges is not None:
        graph = state.graph.reordered
        _add_tight(graph.indptr, graph.indices, out.starts, out.ends, edges, state.graph.edge_order, sums.edges[0])


def _add_distance_sums(state: State, levels: Levels, keep: np.uint64, sums: Sums) -> None:
    reached, distance, inverse = np.zeros((3, state.graph.n))
    deepest = np.zeros((1, COLUMNS))
    _sum_distances(state.dist, keep, reached, distance, inverse, deepest)
    for total, part in ((sums.reached, reached), (sums.distance, distance), (sums.inverse, inverse)):
        add_to(total, state.graph.order, part)
    if sums.depth is not None:
        sums.depth += deepest[0, : len(levels.roots)]


@njit(nogil=True, cache=True, error_model="numpy")
def _find_distances(indptr, indices, lengths, roots, width, dist, fresh, nearest, now, later, stop):
    """Relax edges until dist[w] <= dist[v] + length for every edge v -> w.

    Invariant: `now` and `later` together hold the rows with fresh columns, each once; edges out of the others hold.
    """
    count = 0
    for k in range(len(roots)):
        dist[roots[k], k] = 0.0
        fresh[roots[k]] = uint64(1) << uint64(k)
        now[count] = roots[k]
        count += 1
    while count and not stop[0]:
        reach = np.inf
        for i in range(count):
            v = now[i]
            nearest[v] = minimum_of_row(dist, v, fresh[v])
            reach = min(reach, nearest[v] + width)
        kept = 0
        for i in range(count):
            v = now[i]
            if nearest[v] > reach:
                later[kept] = v
                kept += 1
                continue
            fresh[v] = uint64(0)
            for e in range(indptr[v], indptr[v + 1]):
                w = indices[e]
                nearer = uint64(relax_row(dist, v, w, lengths[e]))
                if nearer != uint64(0):
                    if fresh[w] == uint64(0):
                        later[kept] = w
                        kept += 1
                    fresh[w] |= nearer
        now, later, count = later, now, kept


@njit(nogil=True, cache=True, error_model="numpy")
def _find_tight(indptr, indices, lengths, rtol, dist, reached, nearest, starts, heads, masks, stop):
    """List the edges that are tight in some column, in row order; note the columns that reach each row."""
    end = 0
    for v in range(len(dist)):
        if stop[0]:
            return
        starts[v] = end
        reached[v] = finite_in_row(dist, v)
        nearest[v] = minimum_of_row(dist, v, reached[v])
        for e in range(indptr[v], indptr[v + 1]):
            mask = tight_in_row(dist, v, indices[e], lengths[e], rtol)
            if mask != uint64(0):
                heads[end] = indices[e]
                masks[end] = mask
                end += 1
    starts[len(dist)] = end


@njit(nogil=True, cache=True, error_model="numpy")
def _transpose(starts, heads, masks, in_starts, tails, in_masks):
    """List the same edges by their heads; the tails of each ascend."""
    rows = len(starts) - 1
    in_starts[:] = 0
    for e in range(starts[rows]):
        in_starts[heads[e] + 1] += 1
    for v in range(rows):
        in_starts[v + 1] += in_starts[v]
    # in_starts[w] is the place of the next edge into w, and in the end of the first one into w + 1.
    for v in range(rows):
        for e in range(starts[v], starts[v + 1]):
            place = in_starts[heads[e]]
            tails[place], in_masks[place] = v, masks[e]
            in_starts[heads[e]] += 1
    for v in range(rows, 0, -1):
        in_starts[v] = in_starts[v - 1]
    in_starts[0] = 0


@njit(nogil=True, cache=True, error_model="numpy")
def _push(starts, heads, edge_masks, v, mask, pushed, rows, met):
    """Mark the tight successors of v in the columns of a mask; those not marked yet join `rows`. Return its length."""
    for e in range(starts[v], starts[v + 1]):
        push = edge_masks[e] & mask
        if push != uint64(0):
            w = heads[e]
            if pushed[w] == uint64(0):
                rows[met] = w
                met += 1
            pushed[w] |= push
    return met


@njit(nogil=True, cache=True, error_model="numpy")
def _enqueue_roots(starts, heads, edge_masks, positions, sigma, waiting, pushed, rows, queue, masks):
    met = 0
    for k in range(len(positions)):
        v, column = positions[k], uint64(1) << uint64(k)
        sigma[v, k] = 1.0
        waiting[v] &= ~column
        queue[k], masks[k] = v, column
        met = _push(starts, heads, edge_masks, v, column, pushed, rows, met)
    return met


@njit(nogil=True, cache=True, error_model="numpy")
def _gather(starts, ends, edge_masks, v, wanted, values):
    """Sum where(edge_masks[e] & wanted, values of its other end, 0) over the tight edges e of row v."""
    total = zero_row()
    for e in range(starts[v], starts[v + 1]):
        meet = edge_masks[e] & wanted
        if meet != uint64(0):
            total = add_row(total, values, ends[e], meet)
    return total


@njit(nogil=True, cache=True, error_model="numpy")
def _count(
    starts,
    heads,
    edge_masks,
    in_starts,
    tails,
    in_edge_masks,
    width,
    sigma,
    waiting,
    pushed,
    nearest,
    lists,
    queue,
    masks,
    cursor,
    overflowed,
    sigma_limit,
    stop,
):
    """Count the paths to each row in the columns in which all its tight predecessors have been counted.

    Invariant: `waiting` holds the columns that are reached and not counted, and lists[phase % 2] the rows pushed to
    since they were last looked at, each once. The nearest of them is looked at in every phase.
    """
    phase, count, end = cursor
    status = _DONE
    while count:
        if stop[0] or end + count > len(queue):
            status = _STOPPED if stop[0] else _QUEUE_FULL
            break
        now, later = lists[phase % 2], lists[(phase + 1) % 2]
        reach = np.inf
        for i in range(count):
            reach = min(reach, nearest[now[i]] + width)
        kept = 0
        for i in range(count):
            v = now[i]
            if nearest[v] > reach:
                later[kept] = v
                kept += 1
                continue
            ready = pushed[v] & waiting[v]
            pushed[v] = uint64(0)
            for e in range(in_starts[v], in_starts[v + 1]):
                ready &= ~(in_edge_masks[e] & waiting[tails[e]])
            if ready != uint64(0):
                total = _gather(in_starts, tails, in_edge_masks, v, ready, sigma)
                overflowed[0] |= put_row(sigma, v, ready, total, sigma_limit)
                waiting[v] &= ~ready
                queue[end], masks[end] = v, ready
                end += 1
                kept = _push(starts, heads, edge_masks, v, ready, pushed, later, kept)
        phase, count = phase + 1, kept
    else:
        for v in range(len(sigma)):
            overflowed[0] |= waiting[v]
    cursor[0], cursor[1], cursor[2] = phase, count, end
    return status


@njit(nogil=True, cache=True, error_model="numpy")
def _gather_paths(starts, ends, edge_masks, v, wanted, values, paths, multiplicity, edges):
    """Sum values and paths of the tight successors of v, and add the dot products with them to its edges."""
    total, paths_total = zero_row(), zero_row()
    for e in range(starts[v], starts[v + 1]):
        meet = edge_masks[e] & wanted
        if meet != uint64(0):
            total = add_row(total, values, ends[e], meet)
            if paths is not None:
                paths_total = add_row(paths_total, paths, ends[e], meet)
            if edges is not None:
                edges[e] += dot_rows(values, v, ends[e], meet, multiplicity)
    return total, paths_total


@njit(nogil=True, cache=True, error_model="numpy")
def _backward(
    starts,
    heads,
    edge_masks,
    roots,
    entries,
    keep,
    omega,
    multiplicity,
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
                _gather_paths(starts, heads, edge_masks, v, mask, values, None, times, edges)
            continue
        total, paths_total = _gather_paths(starts, heads, edge_masks, v, mask, values, paths, times, edges)
        if paths is not None:
            stress[v] += finish_paths_row(paths, values, v, mask, paths_total, omega[v], times)
        scores[v] += finish_row(values, v, mask, total, omega[v], times)
    return True


@njit(nogil=True, cache=True, error_model="numpy")
def _add_tight(indptr, indices, starts, heads, sums, order, total):
    """Add the sums of the tight edges to those of all; order[e] is the place of edge e in `total`."""
    for v in range(len(indptr) - 1):
        e = indptr[v]
        for tight in range(starts[v], starts[v + 1]):
            while indices[e] != heads[tight]:
                e += 1
            total[order[e]] += sums[tight]


@njit(nogil=True, cache=True, error_model="numpy")
def _sum_distances(dist, keep, reached, distance, inverse, deepest):
    """Sum 1, d and 1 / d over the columns with 0 < d < infinity, and find the largest such d of each column."""
    largest = zero_row()
    for v in range(len(dist)):
        mask = positive_in_row(dist, v) & finite_in_row(dist, v) & keep
        reached[v] = count_bits(mask)
        distance[v] = sum_row(dist, v, mask)
        inverse[v] = sum_inverse_row(dist, v, mask)
        largest = raise_row(largest, dist, v, mask)
    store_row(deepest, 0, largest)
