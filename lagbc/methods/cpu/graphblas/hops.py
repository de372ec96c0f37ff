"""Unweighted centralities on the CPU in the GraphBLAS: each call stands under its line of algebra.

A batch of b roots has b rows. F (the frontier), P (the path counts sigma) and C (the path dependencies c) are b x n, by
row. A's values are never read:

    forward    F<!struct(P), replace> = F plus.first A;   P += F;   the pattern of F is kept as L_l
    backward   C = (omega at L_l) / P + T  with  T<L_l> = C plus.first A^T  on L_{l+1};   delta = T .* P
    stress     H = omega at L_l + T        with  T<L_l> = H plus.first A^T  on L_{l+1};   stress = T .* P
    edges      E<struct(A)> += (P at L_l)^T plus.times (C at L_{l+1}),   n x n, a sum over the roots
    distances  D += l L_l;   times plus.pair D,  times plus.second D,  times plus.second 1 / D,  the largest of each row

SuiteSparse holds F and C as lists (sparse) or with a place for every vertex (bitmap). It multiplies a sparse one by
scattering along the rows of A ("push"), a bitmap by gathering along the rows of A^T ("pull"); the choice
(`tuning.GRAPHBLAS_PULL_SHARE`) changes the time alone. Vertices are in sweep order, without those that have no edges.
`times` says how often each root counts; overflowed roots have no entry. plus.pair and plus.second do not read its
values. Where distances are enough, F and P are patterns, and the product is any.pair.

Batches run side by side with one thread each, so that no call waits for threads to meet.

This method is to be read, and is the reference of the others. On R-MAT graphs it is faster than a traversal root by
root, the more so the larger they are. On meshes and road networks it is several times slower: every level is a handful
of calls over few vertices.

The formulation is LAGraph's `LAGr_Betweenness` (Szarnyas et al., LAGraph: Linear Algebra, Network Analysis Libraries,
and the Study of Graph Algorithms, GrAPL 2021), with one division a vertex.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from graphblas import Matrix, Vector, binary, monoid, semiring, unary
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.graph.graph import Graph
from lagbc.methods.contract import INTEGER, Array, Batching, Counted, SweepPlan
from lagbc.methods.cpu.graphblas import (
    BITMAP,
    ENTRY,
    PATTERN,
    Levels,
    accumulate,
    active_vertices,
    add_sums,
    from_scipy,
    matrices,
    matrix,
    one_thread,
    starts_of,
)
from lagbc.methods.sums import Sums

batching = Batching(block=1, auto=64, concurrent=True)


@dataclass(slots=True, eq=False)
class State:
    """The graph, also as GraphBLAS matrices."""

    graph: Graph
    plan: SweepPlan
    vertices: NDArray[np.int64]  # of the caller's graph, in sweep order, those with edges
    A: Matrix
    AT: Matrix
    omega: Matrix | None  # diagonal

    def product(self, C: Matrix) -> Any:
        """Return the expression that sums C over the successors of each vertex."""
        # C plus.first A^T
        return semiring.plus_first(C @ (self.A.T if _pull(C) else self.AT))


def arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """Bound a worker's arrays; GraphBLAS holds a matrix in one of several forms, and in two while it changes."""
    n, nnz, batch = graph.n, graph.nnz, plan.batch
    bounds = {
        "graph": {
            "vertices": Array((n,), INTEGER),
            "pointers of A and AT": Array((2, n), INTEGER),
            "A and AT": matrix(2 * PATTERN, nnz),
            "indices and values to copy one from": matrix(5, nnz),
        },
        "batch": {
            "P": matrix(BITMAP, batch, n),
            "patterns": matrix(PATTERN, batch, n),
            "c of all levels": matrix(BITMAP, batch, n),  # D, and 1 / D in its place, is gone before
            "C, T and delta, or S, X and Y": matrix(3 * ENTRY, batch, n),
            "the second form of one of them": matrix(BITMAP + ENTRY, batch, n),
        },
        "E, its successor and what is added to it": matrix(3 * ENTRY, nnz) if "edges" in plan.sums else None,
    }
    return {"GraphBLAS": Counted(bounds)}


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Copy the graph, in sweep order, into GraphBLAS."""
    vertices = active_vertices(graph)
    n, ordered = len(vertices), graph.reordered
    A = from_scipy(ordered.pattern[:n, :n])
    into = ordered.transpose
    AT = A if into is ordered else from_scipy(into.pattern[:n, :n])
    omega = None if plan.omega is None else Vector.from_dense(plan.omega[vertices]).diag()
    return State(graph, plan, vertices, A, AT, omega)


def forward(state: State, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Find the levels of the roots and, if a sum needs them, count their shortest paths."""
    yield _search(state, roots)


def _search(state: State, roots: NDArray[np.int64]) -> Levels:
    A, AT = state.A, state.AT
    b, n = len(roots), len(state.vertices)
    counted = state.plan.counts_paths
    number, step = (float, semiring.plus_first) if counted else (bool, semiring.any_pair)
    with one_thread(), matrices(b, n, number) as (F,):
        P = Matrix(number, b, n)
        P.ss.config["sparsity_control"] = "bitmap"
        # F[i, root i] = 1;   P = F
        F.ss.build_scalar(*starts_of(state, roots), number(1))
        P << F
        patterns = []
        while F.nvals:
            state.plan.stop.check()
            # L_l = struct(F), as a matrix of ones
            patterns.append(unary.one(F).new())
            # F<!struct(P), replace> = F plus.first A
            F(~P.S, replace=True) << step(F @ (AT.T if _pull(F) else A))
            # P += F
            P(binary.plus) << F
        largest = P.reduce_rowwise(monoid.max).new().to_dense(0.0)
        return Levels(roots, P, patterns, overflowed=counted & (largest > state.plan.sigma_limit))


def backward(state: State, levels: Levels, sums: Sums, omega: Any = None) -> None:
    """Add the sums of the roots that did not overflow, in matrix order."""
    add_sums(state, levels, sums, omega, distances=_distances, dependencies=_dependencies, edge_scores=_edge_scores)


def _distances(state: State, levels: Levels, D: Matrix) -> None:
    D.ss.config["sparsity_control"] = "bitmap"
    for level, L in enumerate(levels.patterns[1:], start=1):
        state.plan.stop.check()
        # D += l L_l
        D(binary.plus) << binary.times(L, float(level))


def _dependencies(
    state: State, levels: Levels, times: Vector, beyond: Matrix, *, stress: bool = False
) -> NDArray[np.float64]:
    """Sum dependencies, or for stress numbers of paths; `beyond` is filled only if edges are summed."""
    onward = beyond if "edges" in state.plan.sums and not stress else None
    scores = accumulate(state.plan, levels, state.omega, times, state.product, beyond=onward, stress=stress)
    return scores.to_dense()


def _edge_scores(state: State, levels: Levels, times: Vector, c: Matrix) -> NDArray[np.float64]:
    """Sum sigma(v) c(w) over the roots for every edge v -> w to the next level, in sweep order.

    A root weight above 1 multiplies c, which is at most the number of targets, and one below 1 sigma, which is at least
    1: no factor leaves the range of float64.
    """
    A, P = state.A, levels.P
    less, more = (weigh(times, 1.0).new().diag() for weigh in (binary.min, binary.max))
    with matrices(*A.shape, float) as (E,), matrices(*P.shape, float, float, float) as (S, X, Y):
        # By column, so that an entry of E is the dot product of two columns.
        for Z in (X, Y):
            Z.ss.config["format"] = "by_col"
        # S = min(times, 1) any.times P;   c = max(times, 1) any.times c
        S << semiring.any_times(less @ P)
        c << semiring.any_times(more @ c)
        # E<struct(A)> = 0
        E(A.S) << 0.0
        for L, onward in pairwise(levels.patterns):
            state.plan.stop.check()
            # X = S at L_l;   Y = c at L_{l+1};   E<struct(A)> += X^T plus.times Y
            X << binary.second(L & S)
            Y << binary.second(onward & c)
            E(A.S, binary.plus) << semiring.plus_times(X.T @ Y)
        return E.to_coo(rows=False, columns=False)[2]


def _pull(X: Matrix) -> bool:
    """Return whether X is multiplied by pulling, and give X the form for that direction."""
    pull: bool = X.nvals > tuning.GRAPHBLAS_PULL_SHARE * X.nrows * X.ncols
    X.ss.config["sparsity_control"] = "bitmap" if pull else "sparse"
    return pull
