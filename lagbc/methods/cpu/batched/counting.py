"""Shortest paths from 64 roots counted along tight edges, one set of (vertex, columns) after the other, and back.

T is known: the edges that are tight in some column, and the columns in which they are, a word of 64 bits an edge.

    forward    P<L> = T^T plus.second P   for one set L of (vertex, columns) after the other
    backward   c at L = omega / sigma + T plus.second c;   delta = sigma * (that product)   in the reverse order
    stress     t at L = omega + T plus.second t;           stress = sigma * (that product)
    edges      of v -> w in T: the dot product of the rows sigma[v] and c[w]
    members    a row of P, and a row of c, is multiplied by how many vertices v stands for when it is finished

A vertex can be counted in the columns in which all its tight predecessors have been, and waits in the others. Which of
those that can be counted is next changes nothing but the time: it is one whose distance from the nearest root is small.
Rows far from all the roots then wait until they can be counted in nearly all of their columns at once. On meshes and
roads, where the roots of a batch are neighbours, a row is read 1 to 2 times for 64 columns; counting by levels of T,
that is 6 to 35 times.

The queue of (vertex, bit row) entries is the sequence of these sets, and grows on demand. Only the owner of a row
writes it, and it sums in row order, so that the sums depend neither on threads nor on the order of the sets.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,var-annotated"

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.graph.graph import Graph
from lagbc.methods.contract import Interrupted, SweepPlan
from lagbc.methods.cpu.batched.products import gather_onward, scale_dependencies
from lagbc.methods.cpu.batched.queue import (
    Levels,
    add_ends,
    enqueue_roots,
    require_wider,
    widened,
)
from lagbc.methods.cpu.batched.rows import COLUMNS, finish_paths_row, finish_row, load_row, omega_row
from lagbc.methods.cpu.batched.sums import PathSums
from lagbc.methods.cpu.batched.tight import TightEdges, count, push_roots, transpose
from lagbc.methods.sums import Sums


@dataclass(eq=False)
class Counting:
    """One worker's arrays; rows are vertices in sweep order. A search has more, and fills what is marked so.

    Attributes
    ----------
    graph : Graph
    plan : SweepPlan
    count_width : float
        Rows are looked at that are at most so much farther from their nearest root than another one.
    omega, members : ndarrays of float64, shape (n,)
        Members are None where each vertex stands for one.
    values : ndarray of float64, shape (n, 64)
        sigma, then c.
    paths : ndarray of float64, shape (n, 64), or None
        t, for stress.
    bits : ndarray of uint64, shape (2, n)
        The columns in which a row waits, at first those that reach it (filled by the search), and those in which it was
        pushed to (zeros).
    nearest : ndarray of float64, shape (n,)
        Distance from the nearest root (filled).
    lists : ndarray of int, shape (2, n)
        Rows pushed to.
    out : TightEdges
        T (filled); of an edge that is not tight the mask is zero.
    into : TightEdges
        Its transpose.
    queue, masks : ndarrays of int and of uint64
    room : int
        Entries of the queue at first.
    """

    graph: Graph
    plan: SweepPlan
    count_width: float
    omega: NDArray[np.float64]
    members: NDArray[np.float64] | None
    values: NDArray[np.float64]
    paths: NDArray[np.float64] | None
    bits: NDArray[np.uint64]
    nearest: NDArray[np.float64]
    lists: NDArray[Any]
    out: TightEdges
    into: TightEdges
    queue: NDArray[Any]
    masks: NDArray[np.uint64]
    room: int


def bytes_of_counting(graph: Graph, plan: SweepPlan, room: int) -> int:
    """Bytes of the arrays of a `Counting`, but those of `out`, with so much room in the queue."""
    n, index = graph.n, graph.indices.dtype.itemsize
    rows = 1 + ("stress" in plan.sums)  # values and paths
    words = (4 + (plan.members is not None)) * n  # omega, two of bits, nearest; members
    queue = room * (index + 8)  # and masks
    into = 8 * (n + 1) + graph.nnz * (index + 8)  # starts, ends and masks
    return 8 * (words + rows * COLUMNS * n) + 2 * n * index + into + queue


def arrays_of_counting(graph: Graph, plan: SweepPlan, room: int) -> dict[str, Any]:
    """Allocate them; what is missing is the search's."""
    n, index_type = graph.n, graph.reordered.indices.dtype
    return {
        "graph": graph,
        "plan": plan,
        "omega": np.ones(n) if plan.omega is None else plan.omega[graph.order],
        "members": None if plan.members is None else plan.members[graph.order],
        "values": np.empty((n, COLUMNS)),
        "paths": np.empty((n, COLUMNS)) if "stress" in plan.sums else None,
        "bits": np.zeros((2, n), np.uint64),
        "nearest": np.empty(n),
        "lists": np.empty((2, n), index_type),
        "into": TightEdges.empty(n, graph.nnz, index_type),
        "queue": np.empty(room, index_type),
        "masks": np.empty(room, np.uint64),
        "room": room,
    }


def count_paths(state: Counting, positions: NDArray[np.int64]) -> tuple[int, int, np.uint64]:
    """Count the paths from the roots at these positions once a search has found T.

    Return how many phases and entries there are, and the columns to be recomputed.
    """
    out, into, stop = state.out, state.into, state.plan.stop
    waiting, pushed = state.bits
    transpose(out.starts, out.ends, out.masks, into.starts, into.ends, into.masks)
    entered = enqueue_roots(positions, state.values, state.queue, state.masks)
    met = push_roots(
        out.starts, out.ends, out.masks, state.queue, state.masks, entered, waiting, pushed, state.lists[0]
    )
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
        require_wider(state.queue, needed, state.graph.n, state.plan, state.room)
        state.queue, state.masks = (widened(array, needed, state.graph.n) for array in (state.queue, state.masks))


def add_path_sums(
    state: Counting, levels: Levels, sums: Sums, omega: NDArray[np.float64], multiplicity: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Add what the roots that did not overflow sum to over paths; return the sums of the edges of T, if asked for.

    These are in the order of `out`, and are not added.
    """
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
    return edges


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
