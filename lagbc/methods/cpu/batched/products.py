"""Masked products on bit rows, a row at a time: a row gathers from the other ends of its edges, in row order.

An edge leads on in some of the 64 columns, which a word of bits says: of each edge by itself (`by_edge`), or of the
vertex at its other end (`by_end`). One of the two is None, and numba compiles a version for each of the two.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,var-annotated"

from __future__ import annotations

import numpy as np
from numba import uint64

from lagbc.cpu.compile import njit
from lagbc.methods.cpu.batched.rows import add_row, dot_rows, load_row, put_row, scale_row, zero_row


@njit
def gather(starts, ends, by_edge, by_end, v, wanted, values):
    """Return the columns met, and the sum of where(meet, values[w], 0) over the edges v -> w or w -> v."""
    met, total = uint64(0), zero_row()
    for e in range(starts[v], starts[v + 1]):
        w = ends[e]
        meet = wanted
        if by_edge is not None:
            meet &= by_edge[e]
        if by_end is not None:
            meet &= by_end[w]
        if meet != uint64(0):
            met |= meet
            total = add_row(total, values, w, meet)
    return met, total


@njit
def gather_onward(starts, ends, by_edge, by_end, v, wanted, values, paths, multiplicity, edges):
    """Sum values and paths of the tight successors of v, and add the dot products with them to its edges."""
    total, paths_total = zero_row(), zero_row()
    for e in range(starts[v], starts[v + 1]):
        w = ends[e]
        meet = wanted
        if by_edge is not None:
            meet &= by_edge[e]
        if by_end is not None:
            meet &= by_end[w]
        if meet != uint64(0):
            total = add_row(total, values, w, meet)
            if paths is not None:
                paths_total = add_row(paths_total, paths, w, meet)
            if edges is not None:
                edges[e] += dot_rows(values, v, w, meet, multiplicity)
    return total, paths_total


@njit
def put_paths(values, v, wanted, total, members, limit):
    """Write the paths to all members of v, `total` of them to each; return the columns in which they are too many."""
    if members is not None:
        total = scale_row(total, members[v])
    return put_row(values, v, wanted, total, limit)


@njit
def scale_dependencies(values, v, wanted, members):
    """Multiply c[v], once it is written, by the number of members of v."""
    if members is not None:
        put_row(values, v, wanted, scale_row(load_row(values, v), members[v]), np.inf)
