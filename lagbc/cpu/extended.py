"""Betweenness of single roots with path counts of any size.

A number is a pair (mantissa, exponent) that stands for mantissa * 2**exponent, with the mantissa in [0.5, 1) or zero
and the exponent an int64, which no number of paths in a graph that fits in memory can overflow.
The sweep is Brandes' (2001) in the one-division form, on the levels of a breadth-first search. Every method hands the
roots whose counts leave its range to this one.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from math import frexp, ldexp

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lagbc.graph import Graph
from lagbc.plan import Interrupted, Plan

# A term this many powers of two below another does not change their float64 sum.
_NEGLIGIBLE = 64


def add_root(graph: Graph, plan: Plan, root: int, out: NDArray[np.float64]) -> None:
    """Add the dependencies of one root to `out`, in matrix order.

    Parameters
    ----------
    graph : Graph
    plan : Plan
        Its omega, multiplicity, endpoints and stop flag are used.
    root : int
    out : ndarray of float64, shape (n,)

    Raises
    ------
    Interrupted
        The stop flag was set; `out` is unchanged.
    """
    omega = np.ones(graph.n) if plan.omega is None else plan.omega
    times = 1.0 if plan.multiplicity is None else float(plan.multiplicity[root])
    into = graph.transpose
    delta, reached = _dependencies(graph.indptr, graph.indices, into.indptr, into.indices, root, omega, plan.stop.value)
    if plan.stop.value[0]:
        raise Interrupted
    out += times * delta
    if plan.endpoints:
        out[reached[1:]] += 1.0
        out[root] += len(reached) - 1


@njit(nogil=True, cache=True, error_model="numpy")
def _add(a, a_power, b, b_power):
    """Add a * 2**a_power + b * 2**b_power, as (mantissa, exponent); the exponent of a zero means nothing."""
    if b == 0.0 or (a != 0.0 and a_power - b_power > _NEGLIGIBLE):
        return a, a_power
    if a == 0.0 or b_power - a_power > _NEGLIGIBLE:
        return b, b_power
    mantissa, shift = frexp(a + ldexp(b, b_power - a_power))
    return mantissa, a_power + shift


@njit(nogil=True, cache=True, error_model="numpy")
def _sum_at_depth(indptr, indices, v, depth, wanted, mantissas, powers):
    """Sum of the numbers of the neighbours of v at one depth."""
    total, total_power = 0.0, 0
    for e in range(indptr[v], indptr[v + 1]):
        u = indices[e]
        if depth[u] == wanted:
            total, total_power = _add(total, total_power, mantissas[u], powers[u])
    return total, total_power


@njit(nogil=True, cache=True, error_model="numpy")
def _dependencies(indptr, indices, in_indptr, in_indices, root, omega, stop):
    """Delta of one root, and the vertices it reaches in the order of their depth."""
    n = len(indptr) - 1
    depth = np.full(n, -1, np.int64)
    queue = np.empty(n, np.int64)
    mantissas, powers = np.zeros(n), np.zeros(n, np.int64)

    depth[root], queue[0], mantissas[root], powers[root] = 0, root, 0.5, 1
    head, end = 0, 1
    while head < end and not stop[0]:
        v = queue[head]
        head += 1
        if v != root:
            mantissas[v], powers[v] = _sum_at_depth(in_indptr, in_indices, v, depth, depth[v] - 1, mantissas, powers)
        for e in range(indptr[v], indptr[v + 1]):
            w = indices[e]
            if depth[w] < 0:
                depth[w] = depth[v] + 1
                queue[end] = w
                end += 1

    # c[v] = omega[v] / sigma[v] + sum of c[w] over tight successors w, written over sigma; delta = sigma * that sum.
    delta = np.zeros(n)
    for i in range(end - 1, 0, -1):
        if stop[0]:
            break
        v = queue[i]
        sigma, power = mantissas[v], powers[v]
        total, total_power = _sum_at_depth(indptr, indices, v, depth, depth[v] + 1, mantissas, powers)
        delta[v] = ldexp(sigma * total, power + total_power)
        own, shift = frexp(omega[v] / sigma)
        mantissas[v], powers[v] = _add(own, shift - power, total, total_power)
    return delta, queue[:end]
