"""Distances, path counts and what lies beyond in all lanes of a ball, each the solution of a system over a semiring.

    dist = e + A^T min.plus dist        sigma = e + T^T plus.second sigma        c = own + T plus.second c

T are the tight edges of a lane, those u -> v with dist[u] + l == dist[v]. Sweeps go over the rows, forwards and
backwards in turn, and make those anew that wait: of which something changed, in any lane, that they are made of. When
none waits, it is solved. Tight edges have no circle, so that there is one solution; each entry of it is made, at last,
of final ones, in the order of the edges, however it was come by: the bits depend on nothing else.

Loops over the lanes have their number as a constant and no branches, so that a compiler makes vector instructions of
them.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

import numpy as np

from lagbc.cpu.compile import njit
from lagbc.methods.cpu.traversal.dependencies import ONE, ZERO
from lagbc.methods.cpu.within import block as blocks

LANES = np.uint64(blocks.LANES)
_STRIDE = np.uint64(8)


@njit
def search(block, rows, far, stop):
    """Find all distances up to the radius. A row whose distances have fallen pushes them on.

    What is not nearer than `far` changes nothing, so that the search ends at the radius.
    """
    indptr, heads, lengths = block.out
    dist, waits = block.dist, block.waits
    for i in range(ZERO, rows):
        waits[i] = 0
        for j in range(ZERO, LANES):
            dist[i, j] = far
    for j in range(ZERO, LANES):
        if block.roots[j] >= 0:
            dist[np.uint64(block.roots[j]), j] = 0
            waits[np.uint64(block.roots[j])] = 1
    again, forwards = True, False
    while again and not stop[0]:
        again, forwards = False, not forwards
        for step in range(ZERO, rows):
            i = step if forwards else rows - ONE - step
            if not waits[i]:
                continue
            waits[i] = 0
            for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):
                head, length, is_nearer = np.uint64(heads[e]), lengths[e], False
                for j in range(ZERO, LANES):
                    through, known = dist.dtype.type(dist[i, j] + length), dist[head, j]
                    is_nearer |= through < known
                    dist[head, j] = min(through, known)
                waits[head] |= is_nearer
                again |= is_nearer


@njit
def count(block, rows, far, stop):
    """Count paths, and find which of the edges that enter are tight; return the largest count of each lane.

    All counts are 1 before, which no count is less than: they rise until they are final. Those of a root, and of what
    it does not reach, stay 1. Where lengths do not tie, the first sweep is enough.
    """
    indptr, tails, lengths = block.into
    dist, sigma, waits, tight = block.dist, block.sigma, block.waits, block.tight
    for i in range(ZERO, rows):
        waits[i] = block.plain[i] = 1
        for j in range(ZERO, LANES):
            sigma[i, j] = 1.0
    new, largest = block.spare[0], np.ones(LANES)
    again, forwards = True, False
    while again and not stop[0]:
        again, forwards = False, not forwards
        for step in range(ZERO, rows):
            i = step if forwards else rows - ONE - step
            if not waits[i]:
                continue
            waits[i] = 0
            for j in range(ZERO, LANES):
                new[j] = 0.0
            for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):
                tail, length, is_tight = np.uint64(tails[e]), lengths[e], False
                for j in range(ZERO, LANES):
                    leads = dist.dtype.type(dist[tail, j] + length) == dist[i, j]
                    is_tight |= leads
                    paths = sigma[tail, j]
                    new[j] += paths if leads else 0.0
                tight[e] = is_tight
            changed = False
            for j in range(ZERO, LANES):
                new[j] = new[j] if (dist[i, j] > 0) & (dist[i, j] < far) else 1.0
                changed |= new[j] != sigma[i, j]
            if changed:
                again, block.plain[i] = True, 0
                for j in range(ZERO, LANES):
                    sigma[i, j] = new[j]
                    largest[j] = new[j] if new[j] > largest[j] else largest[j]
                for e in range(np.uint64(block.out.indptr[i]), np.uint64(block.out.indptr[i + ONE])):
                    waits[np.uint64(block.out.indices[e])] = 1
    return largest


@njit
def sum_back(block, rows, times, stop):
    """Make c of `own`, into `beyond`, and sum sigma * (what lies beyond) * times over the lanes, into `totals`.

    Rows wait that have something of their own; all others begin, and may stay, at 0. The root of a lane has no total.
    """
    indptr, heads, lengths = block.out
    dist, sigma, own, c = block.dist, block.sigma, block.own, block.beyond
    waits, totals = block.waits, block.totals
    for i in range(ZERO, rows):
        counts = False
        for j in range(ZERO, LANES):
            c[i, j] = 0.0
            counts |= own[i, j] > 0.0
        waits[i], totals[i] = counts, 0.0
    onward, shares = block.spare[0], block.spare[1]
    again, forwards = True, True
    while again and not stop[0]:
        again, forwards = False, not forwards
        for step in range(ZERO, rows):
            i = step if forwards else rows - ONE - step
            if not waits[i]:
                continue
            waits[i] = 0
            for j in range(ZERO, LANES):
                onward[j] = 0.0
            for e in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):
                head, length = np.uint64(heads[e]), lengths[e]
                for j in range(ZERO, LANES):
                    more = c[head, j]
                    onward[j] += more if dist.dtype.type(dist[i, j] + length) == dist[head, j] else 0.0
            changed = False
            for j in range(ZERO, LANES):
                more = own[i, j] + onward[j]
                changed |= more != c[i, j]
                c[i, j] = more
            # Also where c is as before: what lies beyond may have changed by less than rounding leaves of it in c.
            for j in range(ZERO, LANES):
                shares[j] = onward[j] * times[j] if dist[i, j] > 0 else 0.0
            if not block.plain[i]:
                for j in range(ZERO, LANES):
                    shares[j] *= sigma[i, j]
            totals[i] = sum_of(shares)
            if changed:
                again = True
                for e in range(np.uint64(block.into.indptr[i]), np.uint64(block.into.indptr[i + ONE])):
                    waits[np.uint64(block.into.indices[e])] |= block.tight[e]


@njit
def sum_of(lanes):
    """Sum over the lanes, in a fixed order; the array is used up."""
    for first in range(_STRIDE, LANES, _STRIDE):
        for j in range(ZERO, _STRIDE):
            lanes[j] += lanes[first + j]
    total = lanes[ZERO]
    for j in range(ONE, _STRIDE):
        total += lanes[j]
    return total
