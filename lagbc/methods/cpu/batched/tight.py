"""The edges that are tight in some of 64 columns, and shortest paths counted along them."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,var-annotated"

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.methods.cpu.batched.products import gather, put_paths
from lagbc.methods.cpu.batched.rows import finite_in_row, minimum_of_row, tight_in_row


@dataclass(frozen=True, eq=False)
class TightEdges:
    """Edges, and the columns in which they are tight, by row: row v has starts[v]:starts[v + 1]."""

    starts: NDArray[np.int64]
    ends: NDArray[Any]
    masks: NDArray[np.uint64]

    @classmethod
    def empty(cls, n: int, nnz: int, index_type: Any) -> TightEdges:
        """Make room for as many as there are edges."""
        return cls(np.zeros(n + 1, np.int64), np.empty(nnz, index_type), np.empty(nnz, np.uint64))


@njit
def find_tight(indptr, indices, lengths, rtol, dist, reached, nearest, starts, heads, masks, stop):
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


@njit
def transpose(starts, heads, masks, in_starts, tails, in_masks):
    """List the edges that are tight in some column by their heads; the tails of each ascend."""
    rows = len(starts) - 1
    in_starts[:] = 0
    for e in range(starts[rows]):
        in_starts[heads[e] + 1] += masks[e] != uint64(0)
    for v in range(rows):
        in_starts[v + 1] += in_starts[v]
    # in_starts[w] is the place of the next edge into w, and in the end of the first one into w + 1.
    for v in range(rows):
        for e in range(starts[v], starts[v + 1]):
            if masks[e] != uint64(0):
                place = in_starts[heads[e]]
                tails[place], in_masks[place] = v, masks[e]
                in_starts[heads[e]] += 1
    for v in range(rows, 0, -1):
        in_starts[v] = in_starts[v - 1]
    in_starts[0] = 0


@njit
def push(starts, heads, edge_masks, v, mask, pushed, rows, met):
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


@njit
def push_roots(starts, heads, edge_masks, queue, masks, roots, waiting, pushed, rows):
    """Mark the tight successors of the first entries, the roots', which wait no more; return how many rows there are.

    A root that is absent has no entry.
    """
    met = 0
    for i in range(roots):
        waiting[queue[i]] &= ~masks[i]
        met = push(starts, heads, edge_masks, queue[i], masks[i], pushed, rows, met)
    return met


@njit
def count(
    starts,
    heads,
    edge_masks,
    in_starts,
    tails,
    in_edge_masks,
    width,
    members,
    sigma,
    waiting,
    pushed,
    nearest,
    lists,
    queue,
    masks,
    phase,
    met,
    end,
    overflowed,
    sigma_limit,
    stop,
):
    """Count the paths to each row in the columns in which all its tight predecessors have been counted.

    Invariant: `waiting` holds the columns that are reached and not counted, and lists[phase % 2] the rows pushed to
    since they were last looked at, each once; these are `met`, and `end` is the number of entries. The nearest of the
    rows is looked at in every phase. Return how many phases there were, how many rows are left, 0 unless the queue may
    have no room for another phase, how many entries there are, and the columns that overflowed or in which a row waits
    for ever.
    """
    while met and not stop[0]:
        if end + met > len(queue):
            return phase, met, end, overflowed
        now, later = lists[phase % 2], lists[(phase + 1) % 2]
        reach = np.inf
        for i in range(met):
            reach = min(reach, nearest[now[i]] + width)
        kept = 0
        for i in range(met):
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
                _, total = gather(in_starts, tails, in_edge_masks, None, v, ready, sigma)
                overflowed |= put_paths(sigma, v, ready, total, members, sigma_limit)
                waiting[v] &= ~ready
                queue[end], masks[end] = v, ready
                end += 1
                kept = push(starts, heads, edge_masks, v, ready, pushed, later, kept)
        phase, met = phase + 1, kept
    for v in range(len(sigma)):
        overflowed |= waiting[v]
    return phase, met, end, overflowed


@njit
def add_tight(indptr, indices, starts, heads, sums, order, total):
    """Add the sums of the tight edges to those of all; order[e] is the place of edge e in `total`."""
    for v in range(len(indptr) - 1):
        e = indptr[v]
        for tight in range(starts[v], starts[v + 1]):
            while indices[e] != heads[tight]:
                e += 1
            total[order[e]] += sums[tight]
