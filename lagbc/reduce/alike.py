"""Classes of vertices with the same edges, lengths and directions, but for those among themselves.

Each vertex gets a key, the sum of 64 random bits for each of its edges. Those of equal keys are compared, edge by edge:
a class is what was compared, whatever the keys are. Arguments that are None are left out of what is compiled: lengths
of hops, and the rows of the transpose where it is the matrix itself.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc,assignment"

from __future__ import annotations

import numpy as np

from lagbc.cpu.compile import njit

# Of the mixing function, the finalizer of splitmix64 (Steele, Lea and Flood 2014); and what tells out from in.
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31 = np.uint64(30), np.uint64(27), np.uint64(31)
_OUT, _IN = np.uint64(0x9E3779B97F4A7C15), np.uint64(0x7F4A7C159E3779B9)


@njit
def find_classes(indptr, indices, lengths, in_indptr, in_indices, in_lengths):
    """Find all classes; O(n + nnz).

    An *open* class has no edge between two of its vertices; a *closed* one has all, both ways and of one length. No
    vertex is in one of either kind: with x, y open and x, z closed, y would be a neighbour of z, and so of x.

    Parameters
    ----------
    indptr, indices, lengths : ndarrays
        Canonical rows; lengths are None in hops.
    in_indptr, in_indices, in_lengths : ndarrays, or None
        Those of the transpose; None where it is the same matrix.

    Returns
    -------
    first : ndarray of the type of `indices`, shape (n,)
        The smallest vertex of the class of each vertex; itself, if it is alone.
    closed : ndarray of bool, shape (n,)
        Whether it is in a closed class of two or more.
    """
    keys = np.zeros(len(indptr) - 1, np.uint64)
    _add_keys(indptr, indices, lengths, _OUT, keys)
    if in_indptr is not None:
        _add_keys(in_indptr, in_indices, in_lengths, _IN, keys)
    first = np.arange(len(keys)).astype(indices.dtype)
    _join_open(indptr, indices, lengths, in_indptr, in_indices, in_lengths, keys, first)
    return first, _join_closed(indptr, indices, lengths, in_indptr, in_indices, in_lengths, keys, first)


@njit
def _mix(x):
    x = (x ^ (x >> _S30)) * _FIRST
    x = (x ^ (x >> _S27)) * _SECOND
    return x ^ (x >> _S31)


@njit
def _bits(v, lengths, e, way):
    """Random bits of an edge to v, or from v, that is as long as edge e."""
    bits = _mix(np.uint64(v) + way)
    return bits if lengths is None else _mix(bits ^ np.float64(lengths[e]).view(np.uint64))


@njit
def _own_bits(v, lengths, e, in_indptr):
    """Return what v adds to the key of a vertex that it has edges with, both ways and as long as edge e."""
    bits = _bits(v, lengths, e, _OUT)
    return bits if in_indptr is None else bits + _bits(v, lengths, e, _IN)


@njit
def _add_keys(indptr, indices, lengths, way, keys):
    for v in range(len(keys)):
        key = keys[v]
        for e in range(indptr[v], indptr[v + 1]):
            key += _bits(indices[e], lengths, e, way)
        keys[v] = key


@njit
def _join_open(indptr, indices, lengths, in_indptr, in_indices, in_lengths, keys, first):
    """Join vertices with equal rows, by a table of the first vertex of each class, in the slots behind its key's."""
    slots = 2
    while slots < 2 * len(keys):
        slots *= 2
    table, mask = np.full(slots, -1, indices.dtype), np.uint64(slots - 1)
    for v in range(len(keys)):
        slot = keys[v] & mask
        u = table[slot]
        while u >= 0 and not (
            keys[u] == keys[v]
            and _are_equal(indptr, indices, lengths, u, v)
            and (in_indptr is None or _are_equal(in_indptr, in_indices, in_lengths, u, v))
        ):
            slot = (slot + np.uint64(1)) & mask
            u = table[slot]
        if u >= 0:
            first[v] = u
        else:
            table[slot] = v


@njit
def _join_closed(indptr, indices, lengths, in_indptr, in_indices, in_lengths, keys, first):
    """Join neighbours whose rows are equal but for each other; return who is in such a class.

    A class is a clique, so that each of its vertices is a neighbour of the first.
    """
    closed = np.zeros(len(keys), np.bool_)
    if lengths is None:
        for v in range(len(keys)):
            keys[v] += _own_bits(v, None, 0, in_indptr)
    for v in range(len(keys)):
        for e in range(indptr[v], indptr[v + 1]):
            u = indices[e]
            if u > v:
                break
            if lengths is None:
                differ = keys[u] != keys[v]
            else:
                ours, theirs = _own_bits(v, lengths, e, in_indptr), _own_bits(u, lengths, e, in_indptr)
                differ = keys[u] + theirs != keys[v] + ours
            if (
                not differ
                and _are_equal_apart(indptr, indices, lengths, u, v)
                and (in_indptr is None or _are_equal_apart(in_indptr, in_indices, in_lengths, u, v))
            ):
                first[v] = first[u]
                closed[u] = closed[v] = True
                break
    return closed


@njit
def _are_equal(indptr, indices, lengths, u, v):
    """Whether two rows are equal."""
    a, b, size = indptr[u], indptr[v], indptr[u + 1] - indptr[u]
    if size != indptr[v + 1] - b:
        return False
    for k in range(size):
        if indices[a + k] != indices[b + k]:
            return False
        if lengths is not None and lengths[a + k] != lengths[b + k]:
            return False
    return True


@njit
def _are_equal_apart(indptr, indices, lengths, u, v):
    """Whether two rows are equal but for u and v, each of which is in the other's row, with one length."""
    a, a_end, b, b_end = indptr[u], indptr[u + 1], indptr[v], indptr[v + 1]
    if a_end - a != b_end - b:
        return False
    to_v = to_u = -1
    while True:
        if a < a_end and indices[a] == v:
            to_v, a = a, a + 1
        if b < b_end and indices[b] == u:
            to_u, b = b, b + 1
        if a == a_end or b == b_end:
            break
        if indices[a] != indices[b]:
            return False
        if lengths is not None and lengths[a] != lengths[b]:
            return False
        a, b = a + 1, b + 1
    if a < a_end or b < b_end or to_v < 0 or to_u < 0:
        return False
    return lengths is None or lengths[to_v] == lengths[to_u]
