"""Weights of the vertices of blocks, and how much a cut vertex separates: two passes over the tree of blocks.

A *branch* at v is what lies beyond v through one of its blocks. Seen from inside a block B, v stands for itself and for
its other branches, and the paths between two of its branches go through v and nothing else of B:

    W_B(v) = W(v) + sum over blocks D != B at v of the branch of D
    branch of B at v = sum over the other vertices x of B of W_B(x)
    cut(v) = sum over pairs of blocks B != D at v of (sources in the branch of B) x (targets in the branch of D)

All are sums of terms that are not negative: what is left out of a sum is never taken from it, but prefixes and suffixes
are added. So nothing cancels, and weights that are whole numbers give the exact ones below 2**53.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

import numpy as np

from lagbc.cpu.compile import njit


@njit
def spread(copies, weights):
    """Sum up the weights beyond every vertex of blocks that are connected both ways; O(copies).

    Parameters
    ----------
    copies : Copies
    weights : ndarray of float64, shape (n,)
        W.

    Returns
    -------
    inside : ndarray of float64, shape (copies,)
        W_B of each copy.
    branches : ndarray of float64, shape (copies,)
        The branch of its block there; of no meaning where a vertex is in no other block.
    """
    ptr, vertices, attach, at_attach = copies.ptr, copies.vertices, copies.attach, copies.at_attach
    inside, branches = np.empty(len(vertices)), np.zeros(len(vertices))
    below = weights.copy()  # W and what hangs on a vertex
    carries = np.zeros(len(ptr), np.bool_)  # whether anything hangs on a member of a block; the last is for no block
    for b in range(len(attach)):
        total = 0.0
        for x in range(ptr[b], ptr[b + 1]):
            if x != at_attach[b]:
                inside[x] = below[vertices[x]]
                total += inside[x]
        branches[at_attach[b]] = total
        below[attach[b]] += total
        carries[copies.home[attach[b]]] = True
    weigh_hung(copies.hung_ptr, copies.hung, at_attach, weights, branches, inside)
    for b in range(len(attach) - 1, -1, -1):
        if copies.home[attach[b]] >= 0:
            inside[at_attach[b]] += branches[copies.at_home[attach[b]]]
        if not carries[b]:
            continue
        others = 0.0
        for x in range(ptr[b], ptr[b + 1]):
            if x != at_attach[b]:
                branches[x] = others
            others += inside[x]
        others = 0.0
        for x in range(ptr[b + 1] - 1, ptr[b] - 1, -1):
            if x != at_attach[b]:
                branches[x] += others
            others += inside[x]
    return inside, branches


@njit
def weigh_hung(hung_ptr, hung, at_attach, weights, branches, inside):
    """Set what each attachment is inside its block, but for the branch of its home: W and what else hangs on it."""
    for v in range(len(weights)):
        others = weights[v]
        for k in range(hung_ptr[v], hung_ptr[v + 1]):
            x = at_attach[hung[k]]
            inside[x] = others
            others += branches[x]
        others = 0.0
        for k in range(hung_ptr[v + 1] - 1, hung_ptr[v] - 1, -1):
            x = at_attach[hung[k]]
            inside[x] += others
            others += branches[x]


@njit
def separated(copies, sources, targets):
    """Sum up the demand between different branches at each vertex; O(n + blocks).

    Parameters
    ----------
    copies : Copies
    sources, targets : ndarrays of float64, shape (copies,)
        Branches of sources and of targets, as of `spread`.

    Returns
    -------
    ndarray of float64, shape (n,)
        cut(v).
    """
    n = len(copies.home)
    cut = np.zeros(n)
    for v in range(n):
        first, last = copies.hung_ptr[v], copies.hung_ptr[v + 1]
        total = others = 0.0
        home = copies.at_home[v]
        if home >= 0:
            others = targets[home]
        for k in range(first, last):
            x = copies.at_attach[copies.hung[k]]
            total += sources[x] * others
            others += targets[x]
        others = 0.0
        for k in range(last - 1, first - 1, -1):
            x = copies.at_attach[copies.hung[k]]
            total += sources[x] * others
            others += targets[x]
        if home >= 0:
            total += sources[home] * others
        cut[v] = total
    return cut
