"""Unweighted betweenness on the CPU by masked sparse matrix products on bit rows.

64 roots are the 64 columns of one batch. Every vertex has a row of 64 numbers (its path counts sigma, later its path
dependencies c, in the same place) and rows of 64 bits that say in which columns it is on the frontier or visited:

    forward    F<!struct(P), replace> = A^T plus.second F;   P += F;   the pattern of F is kept a level
    backward   c at level l = omega / sigma + (A plus.second c)<L_l> on L_{l+1};   delta = sigma * (that product)
    stress     t at level l = omega + (A plus.second t)<L_l> on L_{l+1};   stress = sigma * (that product)
    edges      of v -> w from level l to level l + 1: the dot product of the rows sigma[v] and c[w]

One edge costs one word to inspect; a row of numbers is read only where the bits of its vertex and those still wanted
meet. That is a masked product whose mask is tested before any number is loaded.

The two products are pulls: a row gathers from its neighbours in row order, and only the owner of a row writes it. So
the sums do not depend on the direction taken, on threads or on memory. Bits alone are pushed, on levels whose frontier
is a small part of the graph (Beamer et al. 2012 switch in the same way); on the others every unvisited row pulls.

The queue of (vertex, bit row) entries is the level structure: entry i of level l is live in the columns `masks[i]`.
Sums of distances are sums over the entries of bits counted; where no more is asked for, the sweep is of bits alone.

Compiled functions leave out what belongs to an argument that is None: numba compiles one version for each combination,
so that betweenness alone does not pay for the others.
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
    load_row,
    put_row,
    zero_row,
)
from lagbc.methods.sums import PATH_SUMS, Sums

# Pull once the edges out of the frontier are more than this share of all. On scale-free graphs 0.03 to 0.12 were alike,
# and 0.2 took 5 % longer on one; on meshes and grids 0.12 took up to 19 % longer than 0.2.
PULL_SHARE, DEEP_PULL_SHARE = 0.1, 0.2
# Queue entries a vertex that are allocated at first; it grows on demand, up to COLUMNS a vertex.
FIRST_ENTRIES = 4

_DONE, _QUEUE_FULL, _STOPPED = 0, 1, 2


@dataclass(eq=False)
class State:
    """One worker's arrays; vertices are numbered in sweep order.

    `bits[l % 3]` holds the frontier of level l as bit rows while the sweep is at levels l - 1, l or l + 1.
    """

    graph: Graph
    sweep_graph: Graph
    reverse: Graph  # its transpose
    plan: SweepPlan
    position: NDArray[np.int64]  # of each vertex of the caller's in sweep order
    active: int  # vertices with edges; they come first
    omega: NDArray[np.float64]  # in sweep order
    values: NDArray[np.float64] | None  # (n, 64): sigma, then c; None if distances are enough
    paths: NDArray[np.float64] | None  # (n, 64): t, for stress
    bits: NDArray[np.uint64]  # (3, n)
    visited: NDArray[np.uint64]  # (n,)
    queue: NDArray[Any]
    masks: NDArray[np.uint64]
    starts: NDArray[np.int64]  # (n + 2,): entries of level l are starts[l]:starts[l + 1]


@dataclass(frozen=True, eq=False)
class Levels:
    """What a forward sweep leaves in its state: how many levels, and which columns left the range of float64."""

    roots: NDArray[np.int64]
    depth: int
    overflowed: NDArray[np.bool_]


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Reorder the graph (once a graph) and allocate one worker's rows."""
    n, ordered = graph.n, graph.reordered
    position = np.empty(n, np.int64)
    position[graph.order] = np.arange(n)
    omega = np.ones(n) if plan.omega is None else plan.omega[graph.order]
    queue, masks = allocate(n, FIRST_ENTRIES, ordered.indices.dtype)
    return State(
        graph=graph,
        sweep_graph=ordered,
        reverse=ordered.transpose,
        plan=plan,
        position=position,
        active=int(np.count_nonzero((graph.out_degrees > 0) | (graph.in_degrees > 0))),
        omega=omega,
        values=np.empty((n, COLUMNS)) if plan.sums & PATH_SUMS else None,
        paths=np.empty((n, COLUMNS)) if "stress" in plan.sums else None,
        bits=np.zeros((3, n), np.uint64),
        visited=np.zeros(n, np.uint64),
        queue=queue,
        masks=masks,
        starts=np.zeros(n + 2, np.int64),
    )


def forward(state: State, roots: NDArray[np.int64]) -> Levels:
    """Find the levels of up to 64 roots and count their shortest paths."""
    out, into = state.sweep_graph, state.reverse
    everything = np.uint64(2 ** len(roots) - 1)
    state.bits[:] = 0
    state.visited[:] = 0
    _enqueue_roots(state.position[roots], state.values, state.bits, state.visited, state.queue, state.masks)
    state.starts[:2] = 0, len(roots)
    cursor = np.array([0, 1, 0], np.int64)  # level, whether its paths are counted, overflowed columns
    while True:
        status = _forward(
            out.indptr,
            out.indices,
            into.indptr,
            into.indices,
            state.active,
            everything,
            state.values,
            state.bits,
            state.visited,
            state.queue,
            state.masks,
            state.starts,
            cursor,
            DEEP_PULL_SHARE if state.graph.has_high_diameter else PULL_SHARE,
            state.plan.sigma_limit,
            state.plan.stop.value,
        )
        if status == _DONE:
            break
        if status == _STOPPED:
            raise Interrupted
        grow(state.queue, state.masks, state.graph.n)
    return Levels(roots=roots, depth=int(cursor[0]), overflowed=flags_of(cursor[2].astype(np.uint64), len(roots)))


def backward(state: State, levels: Levels, sums: Sums) -> None:
    """Add what the roots that did not overflow sum to, to the one row of `sums`."""
    keep = columns_of(~levels.overflowed)
    if state.values is not None:
        _add_path_sums(state, levels, keep, sums)
    if state.plan.sums - PATH_SUMS:
        _add_distance_sums(state, levels, keep, sums)


def _add_path_sums(state: State, levels: Levels, keep: np.uint64, sums: Sums) -> None:
    scores = np.zeros(state.graph.n)
    stress = None if sums.stress is None else np.zeros(state.graph.n)
    edges = None if sums.edges is None else np.zeros(state.graph.nnz)
    finished = _backward(
        state.sweep_graph.indptr,
        state.sweep_graph.indices,
        levels.depth,
        keep,
        state.omega,
        multiplicity_row(state.plan, levels.roots),
        state.values,
        state.paths,
        state.bits,
        state.queue,
        state.masks,
        state.starts,
        scores,
        stress,
        edges,
        state.plan.stop.value,
    )
    if not finished:
        raise Interrupted
    if state.plan.endpoints:
        add_ends(state.queue, state.masks, len(levels.roots), state.starts[levels.depth + 1], keep, scores)
    add_to(sums.dependency, state.graph.order, scores)
    add_to(sums.stress, state.graph.order, stress)
    if edges is not None:  # the order is made on its first use
        add_to(sums.edges, state.graph.edge_order, edges)


def _add_distance_sums(state: State, levels: Levels, keep: np.uint64, sums: Sums) -> None:
    reached, distance, inverse = np.zeros((3, state.graph.n))
    deepest = np.zeros(len(levels.roots))
    _sum_distances(state.queue, state.masks, state.starts, levels.depth, keep, reached, distance, inverse, deepest)
    for total, part in ((sums.reached, reached), (sums.distance, distance), (sums.inverse, inverse)):
        add_to(total, state.graph.order, part)
    if sums.depth is not None:
        sums.depth += deepest


@njit(nogil=True, cache=True, error_model="numpy")
def _enqueue_roots(positions, values, bits, visited, queue, masks):
    for k in range(len(positions)):
        v = positions[k]
        if values is not None:
            values[v, k] = 1.0
        bits[0, v] = visited[v] = masks[k] = uint64(1) << uint64(k)
        queue[k] = v


@njit(nogil=True, cache=True, error_model="numpy")
def _gather(indptr, indices, v, wanted, bits, values):
    """Return the columns met, and the sum of where(bits[u] & wanted, values[u], 0) over neighbours u in row order."""
    met, total = uint64(0), zero_row()
    for e in range(indptr[v], indptr[v + 1]):
        u = indices[e]
        meet = bits[u] & wanted
        if meet != uint64(0):
            met |= meet
            total = add_row(total, values, u, meet)
    return met, total


@njit(nogil=True, cache=True, error_model="numpy")
def _meet(indptr, indices, v, wanted, bits):
    """Return the columns that `_gather` meets."""
    met = uint64(0)
    for e in range(indptr[v], indptr[v + 1]):
        met |= bits[indices[e]] & wanted
        if met == wanted:
            break
    return met


@njit(nogil=True, cache=True, error_model="numpy")
def _gather_paths(indptr, indices, v, wanted, bits, values, paths, multiplicity, edges):
    """Sum values and paths of the tight successors of v, and add the dot products with them to its edges."""
    total, paths_total = zero_row(), zero_row()
    for e in range(indptr[v], indptr[v + 1]):
        w = indices[e]
        meet = bits[w] & wanted
        if meet != uint64(0):
            total = add_row(total, values, w, meet)
            if paths is not None:
                paths_total = add_row(paths_total, paths, w, meet)
            if edges is not None:
                edges[e] += dot_rows(values, v, w, meet, multiplicity)
    return total, paths_total


@njit(nogil=True, cache=True, error_model="numpy")
def _forward(
    indptr,
    indices,
    in_indptr,
    in_indices,
    active,
    everything,
    values,
    bits,
    visited,
    queue,
    masks,
    starts,
    cursor,
    pull_share,
    sigma_limit,
    stop,
):
    """Run levels until the frontier is empty.

    Level l + 1 is found from level l either by a pull, which counts its paths at once, or by a push of bits, after
    which the visits of level l + 1 count before they push on: `counted` tells which. Invariant at the top of the loop:
    bits[l % 3] is the frontier, bits[(l + 1) % 3] is zero, and bits[(l - 1) % 3] is the last frontier.
    Without `values` nothing is counted.
    """
    level, counted, overflowed = cursor[0], cursor[1] != 0, uint64(cursor[2])
    status = _DONE
    while True:
        first, last = starts[level], starts[level + 1]
        if stop[0] or last + active > len(queue):
            status = _STOPPED if stop[0] else _QUEUE_FULL
            break
        before, here, after = bits[(level + 2) % 3], bits[level % 3], bits[(level + 1) % 3]
        edges = 0
        for i in range(first, last):
            edges += indptr[queue[i] + 1] - indptr[queue[i]]
        pull = edges > pull_share * indptr[active]
        end = last
        if not (pull and counted):
            for i in range(first, last):
                v, mask = queue[i], masks[i]
                if values is not None and not counted:
                    _, total = _gather(in_indptr, in_indices, v, mask, before, values)
                    overflowed |= put_row(values, v, mask, total, sigma_limit)
                if not pull:
                    for e in range(indptr[v], indptr[v + 1]):
                        w = indices[e]
                        new = mask & ~visited[w]
                        if new != uint64(0):
                            if after[w] == uint64(0):
                                queue[end] = w
                                end += 1
                            after[w] |= new
                            visited[w] |= new
        if pull:
            for v in range(active):
                wanted = everything & ~visited[v]
                if wanted != uint64(0):
                    if values is not None:
                        new, total = _gather(in_indptr, in_indices, v, wanted, here, values)
                    else:
                        new = _meet(in_indptr, in_indices, v, wanted, here)
                    if new != uint64(0):
                        if values is not None:
                            overflowed |= put_row(values, v, new, total, sigma_limit)
                        after[v] = new
                        visited[v] |= new
                        queue[end] = v
                        end += 1
        for i in range(last, end):
            masks[i] = after[queue[i]]
        if level > 0:
            for i in range(starts[level - 1], first):
                before[queue[i]] = uint64(0)
        if end == last:
            break
        level += 1
        counted = pull or values is None
        starts[level + 1] = end
    cursor[0], cursor[1], cursor[2] = level, counted, overflowed
    return status


@njit(nogil=True, cache=True, error_model="numpy")
def _backward(
    indptr,
    indices,
    depth,
    keep,
    omega,
    multiplicity,
    values,
    paths,
    bits,
    queue,
    masks,
    starts,
    scores,
    stress,
    edges,
    stop,
):
    """Turn sigma into c level by level from the deepest, adding sigma * (sum of c over tight successors) to scores.

    With `paths`, which becomes t, `stress` is summed, too; with `edges`, their sums in sweep order.

    Invariant: at level l, bits[(l + 1) % 3] is the frontier of level l + 1 and bits[l % 3] is being set. Bits of level
    l + 4 that are left in the first do no harm: no edge leads from level l there.
    Return whether the sweep was finished.
    """
    times = load_row(multiplicity, 0)
    for level in range(depth, 0, -1):
        if stop[0]:
            return False
        here, beyond = bits[level % 3], bits[(level + 1) % 3]
        for i in range(starts[level], starts[level + 1]):
            v, mask = queue[i], masks[i] & keep
            here[v] = mask
            total, paths_total = zero_row(), zero_row()
            if level < depth:
                total, paths_total = _gather_paths(indptr, indices, v, mask, beyond, values, paths, times, edges)
            if paths is not None:
                stress[v] += finish_paths_row(paths, values, v, mask, paths_total, omega[v], times)
            scores[v] += finish_row(values, v, mask, total, omega[v], times)
    if edges is not None:
        for i in range(starts[0], starts[1]):
            _gather_paths(indptr, indices, queue[i], masks[i] & keep, bits[1], values, None, times, edges)
    return True


@njit(nogil=True, cache=True, error_model="numpy")
def _sum_distances(queue, masks, starts, depth, keep, reached, distance, inverse, deepest):
    """Sum 1, d and 1 / d over the entries of all levels d, and find the deepest level of each column."""
    for level in range(1, depth + 1):
        live = uint64(0)
        for i in range(starts[level], starts[level + 1]):
            mask = masks[i] & keep
            live |= mask
            v = queue[i]
            columns: int = count_bits(mask)
            reached[v] += columns
            distance[v] += columns * level
            inverse[v] += columns / level
        for k in range(len(deepest)):
            if live >> uint64(k) & uint64(1) != uint64(0):
                deepest[k] = level
