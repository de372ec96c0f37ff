"""Strong components of the blocks of a directed graph, and the arcs between them.

No arc leaves a block, so that the components of a block are numbered one after the other.

References
----------
R. Tarjan, Depth-first search and linear graph algorithms, SIAM Journal on Computing 1 (1972) 146-160.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from lagbc.cpu.compile import njit


class Strong(NamedTuple):
    """The strong components of all blocks.

    Attributes
    ----------
    component : ndarray of int32 or int64, shape (copies,)
        That of each copy. An arc leads to the same component or to one of a smaller number.
    of_block : ndarray of int64, shape (blocks + 1,)
        The components of block b are ``of_block[b]`` to ``of_block[b + 1]``.
    member_ptr, members : ndarrays, shapes (components + 1,) and (copies,)
        The copies of each component, ascending.
    """

    component: Any
    of_block: Any
    member_ptr: Any
    members: Any


@njit
def find_strong(ptr, indptr, indices):
    """Find the strong components of all blocks; O(copies + nnz), without recursion.

    Parameters
    ----------
    ptr, indptr, indices : ndarrays
        As of `lagbc.reduce.layout.Rows`.
    """
    copies, none = len(indptr) - 1, indices.dtype.type(-1)
    component, found = np.full(copies, none, indices.dtype), np.full(copies, none, indices.dtype)
    low, of_block = np.empty(copies, indices.dtype), np.zeros(len(ptr), np.int64)
    path, waiting = np.empty(copies, indices.dtype), np.empty(copies, indices.dtype)
    place = np.empty(copies, np.int64)  # of the entry at which a vertex of the path goes on
    time = count = top = 0
    for b in range(len(ptr) - 1):
        for root in range(ptr[b], ptr[b + 1]):
            if found[root] >= 0:
                continue
            depth, path[0] = 1, root
            found[root] = low[root] = time
            time += 1
            place[root], waiting[top] = indptr[root], root
            top += 1
            while depth > 0:
                v = path[depth - 1]
                if place[v] < indptr[v + 1]:
                    w = indices[place[v]]
                    place[v] += 1
                    if found[w] < 0:
                        found[w] = low[w] = time
                        time += 1
                        place[w], waiting[top], path[depth] = indptr[w], w, w
                        top += 1
                        depth += 1
                    elif component[w] < 0:
                        low[v] = min(low[v], found[w])
                    continue
                depth -= 1
                if depth > 0:
                    u = path[depth - 1]
                    low[u] = min(low[u], low[v])
                if low[v] == found[v]:
                    while component[v] < 0:
                        top -= 1
                        component[waiting[top]] = count
                    count += 1
        of_block[b + 1] = count
    member_ptr, members = _group(component, count)
    return Strong(component, of_block, member_ptr, members)


@njit
def _group(numbers, count):
    """Put places under their numbers, in order."""
    ptr, places = np.zeros(count + 1, np.int64), np.empty(len(numbers), numbers.dtype)
    for x in range(len(numbers)):
        ptr[numbers[x] + 1] += 1
    for c in range(count):
        ptr[c + 1] += ptr[c]
    ends = ptr[:-1].copy()
    for x in range(len(numbers)):
        places[ends[numbers[x]]] = x
        ends[numbers[x]] += 1
    return ptr, places


@njit
def condense(indptr, indices, strong):
    """Return the arcs between components, each once, and those reversed: ``(indptr, heads), (indptr, tails)``."""
    component, count = strong.component, len(strong.member_ptr) - 1
    ends, heads = np.zeros(count + 1, np.int64), np.empty(len(indices), indices.dtype)
    tails = np.empty(len(indices), indices.dtype)
    last = np.full(count, -1, np.int64)  # the last component with an arc to each
    arcs = 0
    for c in range(count):
        for k in range(strong.member_ptr[c], strong.member_ptr[c + 1]):
            x = strong.members[k]
            for e in range(indptr[x], indptr[x + 1]):
                d = component[indices[e]]
                if d != c and last[d] != c:
                    last[d], tails[arcs], heads[arcs] = c, c, d
                    arcs += 1
        ends[c + 1] = arcs
    back, places = _group(heads[:arcs], count)
    return (ends, heads[:arcs].copy()), (back, tails[places])
