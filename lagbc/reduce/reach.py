"""Weights of the vertices of blocks in which not every vertex reaches every other.

As in `lagbc.reduce.weights`, but a branch has only what is reached: of targets, what v reaches inside B; of sources,
what reaches v there, which is the same against the arcs.

    branch of B at v = sum over the other vertices x of B that v reaches in B of W_B(x)

Shortest paths between vertices of a block never leave it. All of a strong component reach the same, so that one walk
over the arcs between components is enough for 64 of them: bit k of a component says whether the k-th reaches it.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,call-arg"

from __future__ import annotations

from typing import Any

import numpy as np

from lagbc.cpu.compile import njit
from lagbc.methods.cpu.batched.rows import count_bits
from lagbc.reduce.weights import weigh_hung

_ONE = np.uint64(1)


def most_steps(copies: Any, strong: Any, ends: Any) -> float:
    """Bound the steps of `spread_along` beyond O(copies + arcs).

    In a block each component with a cut vertex goes through all components, and 64 at a time through the arcs.
    """
    sizes, components = np.diff(copies.ptr), np.diff(strong.of_block)
    hangs = np.diff(copies.hung_ptr)[copies.vertices] > 0
    seeds = np.bincount(np.repeat(np.arange(len(sizes)), sizes), hangs, len(sizes))
    seeds = np.minimum(seeds, components)
    arcs = np.diff(ends[strong.of_block])
    return float((seeds * components + np.ceil(seeds / 64) * arcs).sum())


@njit
def spread_along(copies, strong, ends, heads, rising, weights):
    """Sum up the weights that are reached beyond every vertex.

    Parameters
    ----------
    copies : Copies
    strong : Strong
    ends, heads : ndarrays
        The arcs between components, as of `lagbc.reduce.strong.condense`; reversed, they give what reaches a vertex.
    rising : bool
        Whether they lead to larger numbers, as the reversed ones do.
    weights : ndarray of float64, shape (n,)
        W.

    Returns
    -------
    inside, branches : ndarrays of float64, shape (copies,)
        As of `lagbc.reduce.weights.spread`.

    Notes
    -----
    O(copies + arcs), and O(components + arcs + what is reached) for 64 components with cut vertices of a block.
    """
    ptr, vertices, at_attach, component = copies.ptr, copies.vertices, copies.at_attach, strong.component
    inside, branches = np.empty(len(vertices)), np.zeros(len(vertices))
    below = weights.copy()  # W and what hangs on a vertex
    carries = np.zeros(len(ptr), np.bool_)  # whether anything hangs on a member of a block; the last is for no block
    count = len(strong.member_ptr) - 1
    total = np.zeros(count)  # of the copies of a component
    seen, queue = np.zeros(count, np.bool_), np.empty(count, np.int64)
    for b in range(len(ptr) - 1):
        for x in range(ptr[b], ptr[b + 1]):
            if x != at_attach[b]:
                inside[x] = below[vertices[x]]
                total[component[x]] += inside[x]
        reached = _reached(ends, heads, component[at_attach[b]], total, seen, queue)
        branches[at_attach[b]] = reached
        below[copies.attach[b]] += reached
        carries[copies.home[copies.attach[b]]] = True
    weigh_hung(copies.hung_ptr, copies.hung, at_attach, weights, branches, inside)
    bits, beyond, marked = np.zeros(count, np.uint64), np.zeros(count), np.zeros(count, np.bool_)
    for b in range(len(ptr) - 2, -1, -1):
        attachment, home = at_attach[b], copies.at_home[copies.attach[b]]
        if home >= 0:
            inside[attachment] += branches[home]
        total[component[attachment]] += inside[attachment]
        if not carries[b]:
            continue
        found = 0
        for x in range(ptr[b], ptr[b + 1]):
            v = vertices[x]
            if x != attachment and copies.hung_ptr[v] < copies.hung_ptr[v + 1]:
                marked[component[x]] = True
        first, last = strong.of_block[b], strong.of_block[b + 1]
        for c in range(first, last):  # near ones together, as those mostly reach the same
            if marked[c]:
                queue[found], marked[c] = c, False
                found += 1
        for k in range(0, found, 64):
            _sum_beyond(first, last, ends, heads, rising, queue[k : min(found, k + 64)], total, bits, beyond)
        for k in range(found):
            _fill_branches(strong, queue[k], attachment, beyond[queue[k]], inside, branches)
    return inside, branches


@njit
def _reached(ends, heads, start, total, seen, queue):
    """Sum up the components that are reached from one, itself included."""
    queue[0], seen[start] = start, True
    reached, count, k = total[start], 1, 0
    while k < count:
        c = queue[k]
        k += 1
        for e in range(ends[c], ends[c + 1]):
            d = heads[e]
            if not seen[d]:
                seen[d] = True
                reached += total[d]
                queue[count] = d
                count += 1
    for k in range(count):
        seen[queue[k]] = False
    return reached


@njit
def _sum_beyond(first, last, ends, heads, rising, seeds, total, bits, beyond):
    """Sum up the components that are reached from each of at most 64, which ascend, but for itself.

    Invariant: `bits` are 0 before and after.
    """
    for k in range(len(seeds)):
        beyond[seeds[k]] = 0.0
        bits[seeds[k]] = _ONE << np.uint64(k)
    begin, steps, step = (seeds[0], last - seeds[0], 1) if rising else (seeds[-1], seeds[-1] - first + 1, -1)
    own = 0 if rising else len(seeds) - 1  # the next of the seeds on the way
    for i in range(steps):
        c = begin + step * i
        reaching = bits[c]
        if reaching == 0:
            continue
        bits[c] = 0
        for e in range(ends[c], ends[c + 1]):
            bits[heads[e]] |= reaching
        if 0 <= own < len(seeds) and seeds[own] == c:
            reaching &= ~(_ONE << np.uint64(own))
            own += step
        if total[c] > 0.0:
            while reaching:
                lowest = reaching & (~reaching + _ONE)
                beyond[seeds[count_bits(lowest - _ONE)]] += total[c]
                reaching ^= lowest


@njit
def _fill_branches(strong, component, attachment, beyond, inside, branches):
    """Set the branches of the copies of a component: what is beyond it, and all of it but the copy itself."""
    first, last = strong.member_ptr[component], strong.member_ptr[component + 1]
    others = beyond
    for k in range(first, last):
        x = strong.members[k]
        if x != attachment:
            branches[x] = others
        others += inside[x]
    others = 0.0
    for k in range(last - 1, first - 1, -1):
        x = strong.members[k]
        if x != attachment:
            branches[x] += others
        others += inside[x]
