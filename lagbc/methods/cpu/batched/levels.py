"""Hops by levels: a row is counted as it is found, at each level at which it is live in some column.

State is a row of 64 numbers a vertex, and rows of 64 bits that say in which columns it is on the frontier or visited:

    forward    F<!struct(P), replace> = A^T plus.second F;   P += F;   the pattern of F is kept a level
    backward   c at level l = omega / sigma + (A plus.second c)<L_l> on L_{l+1};   delta = sigma * (that product)
    stress     t at level l = omega + (A plus.second t)<L_l> on L_{l+1};   stress = sigma * (that product)
    edges      of v -> w from level l to level l + 1: the dot product of the rows sigma[v] and c[w]
    members    a row of F, and a row of c, is multiplied by how many vertices v stands for when it is finished

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

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.errors import InvalidValueError
from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.contract import Interrupted, SweepPlan
from lagbc.methods.cpu.batched.distances import add_level_sums
from lagbc.methods.cpu.batched.products import gather, gather_onward, put_paths, scale_dependencies
from lagbc.methods.cpu.batched.queue import (
    Levels,
    add_ends,
    enqueue_roots,
    flags_of,
    require_wider,
    room_of_hops,
    widened,
)
from lagbc.methods.cpu.batched.rows import (
    COLUMNS,
    finish_paths_row,
    finish_row,
    load_row,
    omega_row,
    zero_row,
)
from lagbc.methods.cpu.batched.sums import (
    PathSums,
    bytes_of_sums,
    rows_of_roots,
    weights_of_columns,
)
from lagbc.methods.cpu.in_order import add_in_order
from lagbc.methods.sums import PATH_SUMS, Sums


@dataclass(eq=False)
class State:
    """One worker's arrays; vertices are numbered in sweep order.

    `bits[l % 3]` holds the frontier of level l as bit rows while the sweep is at levels l - 1, l or l + 1.
    """

    graph: Graph
    sweep_graph: Graph
    reverse: Graph  # its transpose
    plan: SweepPlan
    active: int  # vertices with edges; they come first
    omega: NDArray[np.float64]  # in sweep order
    members: NDArray[np.float64] | None  # the same
    values: NDArray[np.float64] | None  # (n, 64): sigma, then c; None if distances are enough
    paths: NDArray[np.float64] | None  # (n, 64): t, for stress
    bits: NDArray[np.uint64]  # (3, n)
    visited: NDArray[np.uint64]  # (n,)
    queue: NDArray[Any]
    masks: NDArray[np.uint64]
    starts: NDArray[np.int64]  # (n + 2,): entries of level l are starts[l]:starts[l + 1]


def footprint(graph: Graph, plan: SweepPlan) -> int:
    """Return the bytes of a worker: the arrays of its `State`, the queue as it is at first, and a batch's sums."""
    n, index = graph.n, graph.indices.dtype.itemsize
    rows = bool(plan.sums & PATH_SUMS) + ("stress" in plan.sums)  # values and paths
    words = (6 + (plan.members is not None)) * n + 2  # omega, three of bits, visited, starts; members
    queue = room_of_hops(graph, plan) * (index + 8)  # and masks
    return 8 * (words + rows * COLUMNS * n) + queue + bytes_of_sums(graph, plan)


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Reorder the graph (once a graph) and allocate one worker's rows."""
    n, ordered, room = graph.n, graph.reordered, room_of_hops(graph, plan)
    return State(
        graph=graph,
        sweep_graph=ordered,
        reverse=ordered.transpose,
        plan=plan,
        active=graph.active,
        omega=np.ones(n) if plan.omega is None else plan.omega[graph.order],
        members=None if plan.members is None else plan.members[graph.order],
        values=np.empty((n, COLUMNS)) if plan.sums & PATH_SUMS else None,
        paths=np.empty((n, COLUMNS)) if "stress" in plan.sums else None,
        bits=np.zeros((3, n), np.uint64),
        visited=np.zeros(n, np.uint64),
        queue=np.empty(room, ordered.indices.dtype),
        masks=np.empty(room, np.uint64),
        starts=np.zeros(n + 2, np.int64),
    )


def forward(state: State, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Find the levels of up to 64 roots and count their shortest paths."""
    positions = rows_of_roots(state.graph, roots)
    everything = _begin(positions, state.values, state.bits, state.visited, state.queue, state.masks, state.starts)
    depth, overflowed = _search(state, np.uint64(everything))
    state.plan.stop.check()
    yield Levels(roots=roots, entries=int(state.starts[depth + 1]), depth=depth, beyond=overflowed)


def _search(state: State, everything: np.uint64) -> tuple[int, np.uint64]:
    """Run all levels, widening the queue where it is full; return the deepest, and the columns that overflowed."""
    out, into = state.sweep_graph, state.reverse
    level, counted, overflowed = 0, True, np.uint64(0)
    while True:
        level, counted, beyond, needed = _forward(
            out.indptr,
            out.indices,
            into.indptr,
            into.indices,
            state.active,
            everything,
            state.members,
            state.values,
            state.bits,
            state.visited,
            state.queue,
            state.masks,
            state.starts,
            tuning.BATCHED_PULL_SHARE,
            state.plan.sigma_limit,
            state.plan.stop.value,
            level,
            counted,
            overflowed,
        )
        overflowed = np.uint64(beyond)
        if not needed:
            return level, overflowed
        require_wider(state.queue, needed, state.graph.n, state.plan, room_of_hops(state.graph, state.plan))
        state.queue, state.masks = (widened(array, needed, state.graph.n) for array in (state.queue, state.masks))


def paths(state: State, levels: Levels) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return dist and sigma of the roots, shape (n, columns), rows being vertices in sweep order.

    dist is inf where a vertex is not reached, and sigma is 0. They are copies.

    Raises
    ------
    ValueError
        The plan asks for no sum over paths, so that they are not counted.
    """
    if state.values is None:
        raise InvalidValueError("sigma is not there: no sum that the plan asks for needs path counts")
    dist = np.full((state.graph.n, len(levels.roots)), np.inf)
    for level, (first, last) in enumerate(pairwise(state.starts[: levels.depth + 2])):
        for i in range(first, last):
            dist[state.queue[i], flags_of(state.masks[i], len(levels.roots))] = level
    return dist, np.where(np.isfinite(dist), state.values[:, : len(levels.roots)], 0)


def backward(state: State, levels: Levels, sums: Sums, omega: NDArray[np.float64] | None = None) -> None:
    """Add what the roots that did not overflow sum to, to the one row of `sums`."""
    if state.values is not None:
        _add_path_sums(state, levels, sums, *weights_of_columns(state.plan, levels.roots, state.omega, omega))
    if state.plan.sums - PATH_SUMS:
        add_level_sums(state.graph, state.queue, state.masks, state.starts, levels, sums)


def _add_path_sums(
    state: State, levels: Levels, sums: Sums, omega: NDArray[np.float64], multiplicity: NDArray[np.float64]
) -> None:
    parts = PathSums.zeros(state.graph.n, sums)
    edges = None if sums.edges is None else np.zeros(state.graph.nnz)
    finished = _backward(
        state.sweep_graph.indptr,
        state.sweep_graph.indices,
        levels.depth,
        levels.kept,
        omega,
        multiplicity,
        state.members,
        state.values,
        state.paths,
        state.bits,
        state.queue,
        state.masks,
        state.starts,
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
    if edges is not None:  # the order is made on its first use
        add_in_order(sums.edges[0], edges, state.graph.edge_order)


@njit
def _begin(positions, values, bits, visited, queue, masks, starts):
    """Put the roots on the frontier of level 0, and clear all else; return the columns that have one."""
    bits[:] = uint64(0)
    visited[:] = uint64(0)
    starts[0], starts[1] = 0, enqueue_roots(positions, values, queue, masks)
    everything = uint64(0)
    for i in range(starts[1]):
        bits[0, queue[i]] = visited[queue[i]] = masks[i]
        everything |= masks[i]
    return everything


@njit
def _meet(indptr, indices, v, wanted, bits):
    """Return the columns that `gather` meets."""
    met = uint64(0)
    for e in range(indptr[v], indptr[v + 1]):
        met |= bits[indices[e]] & wanted
        if met == wanted:
            break
    return met


@njit
def _forward(
    indptr,
    indices,
    in_indptr,
    in_indices,
    active,
    everything,
    members,
    values,
    bits,
    visited,
    queue,
    masks,
    starts,
    pull_share,
    sigma_limit,
    stop,
    level,
    counted,
    overflowed,
):
    """Run levels until the frontier is empty, or the queue may have no room for the next.

    Level l + 1 is found from level l either by a pull, which counts its paths at once, or by a push of bits, after
    which the visits of level l + 1 count before they push on: `counted` tells which. Invariant at the top of the loop:
    bits[l % 3] is the frontier, bits[(l + 1) % 3] is zero, and bits[(l - 1) % 3] is the last frontier.
    Without `values` nothing is counted. Return the deepest level, `counted`, the columns that overflowed, and how many
    entries there has to be room for to go on from there; 0 where nothing is left to do.
    """
    while not stop[0]:
        first, last = starts[level], starts[level + 1]
        before, here, after = bits[(level + 2) % 3], bits[level % 3], bits[(level + 1) % 3]
        edges = 0
        for i in range(first, last):
            edges += indptr[queue[i] + 1] - indptr[queue[i]]
        if last + min(edges, active) > len(queue):
            return level, counted, overflowed, last + min(edges, active)
        pull = edges > pull_share * indptr[active]
        end = last
        if not (pull and counted):
            for i in range(first, last):
                v, mask = queue[i], masks[i]
                if values is not None and not counted:
                    _, total = gather(in_indptr, in_indices, None, before, v, mask, values)
                    overflowed |= put_paths(values, v, mask, total, members, sigma_limit)
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
                        new, total = gather(in_indptr, in_indices, None, here, v, wanted, values)
                    else:
                        new = _meet(in_indptr, in_indices, v, wanted, here)
                    if new != uint64(0):
                        if values is not None:
                            overflowed |= put_paths(values, v, new, total, members, sigma_limit)
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
    return level, counted, overflowed, 0


@njit
def _backward(
    indptr,
    indices,
    depth,
    keep,
    omega,
    multiplicity,
    members,
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
                total, paths_total = gather_onward(indptr, indices, None, beyond, v, mask, values, paths, times, edges)
            own = omega_row(omega, v)
            if paths is not None:
                stress[v] += finish_paths_row(paths, values, v, mask, paths_total, own, times)
            scores[v] += finish_row(values, v, mask, total, own, times)
            scale_dependencies(values, v, mask, members)
    if edges is not None:
        for i in range(starts[0], starts[1]):
            v, mask = queue[i], masks[i] & keep
            gather_onward(indptr, indices, None, bits[1], v, mask, values, None, times, edges)
    return True
