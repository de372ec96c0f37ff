"""Unweighted betweenness on the CPU in the GraphBLAS: the algebra, line by line, each call under its own.

b roots are the b rows of one batch. F (the frontier), P (the path counts sigma) and C (the path dependencies c) are
b x n, by row, so that A's values are never read and a row never meets another:

    forward    F<!struct(P), replace> = F plus.first A;   P += F;   the pattern of F is kept as L_l
    backward   C = (omega at L_l) / P + T  with  T<L_l> = C plus.first A^T  on L_{l+1};   delta = T .* P

SuiteSparse holds F and C as lists (sparse) or with a place for every vertex (bitmap), and multiplies a sparse one by
scattering along the rows of A ("push") but a bitmap by gathering along the rows of A^T ("pull"). Which is taken
changes nothing but the time: see `PULL_SHARE`. Vertices are in sweep order, and those without edges are left out.

Batches run side by side with one thread each, so that no call waits for threads to meet.

This method is here to be read, and to be the reference of the others. On R-MAT graphs it is faster than a traversal
root by root, the more so the larger they are. It is no choice for meshes and road networks: every level is a handful
of GraphBLAS calls over few vertices, so it is several times slower than that traversal there.

The formulation is that of LAGraph's `LAGr_Betweenness` (Szarnyas et al., LAGraph: Linear Algebra, Network Analysis
Libraries, and the Study of Graph Algorithms, GrAPL 2021), in the form with one division a vertex.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from graphblas import Matrix, Vector, binary, monoid, semiring, unary
from numpy.typing import NDArray

from lagbc.cpu.graphblas_sweep import (
    Levels,
    accumulate,
    active_vertices,
    ends,
    from_scipy,
    matrices,
    multiplicity,
    one_thread,
)
from lagbc.graph import Graph
from lagbc.plan import Plan
from lagbc.sums import Sums

# Pull from a matrix that fills more than this share of its places: 0.05 to 0.2 were alike, never pulling was slower
# on R-MAT graphs (benchmarks/graphblas_orientation.py, which also has the vertex-major layout that lost).
PULL_SHARE = 0.1


@dataclass(eq=False)
class State:
    """The graph as GraphBLAS matrices."""

    plan: Plan
    vertices: NDArray[np.int64]  # of the caller's graph, in sweep order, those with edges
    position: NDArray[np.int64]  # of each vertex of the caller's in sweep order
    A: Matrix
    AT: Matrix
    omega: Matrix | None  # diagonal


def prepare(graph: Graph, plan: Plan) -> State:
    """Copy the graph, in sweep order, into GraphBLAS."""
    vertices, position = active_vertices(graph)
    n, ordered = len(vertices), graph.reordered
    A = from_scipy(ordered.pattern[:n, :n])
    into = ordered.transpose
    AT = A if into is ordered else from_scipy(into.pattern[:n, :n])
    omega = None if plan.omega is None else Vector.from_dense(plan.omega[vertices]).diag()
    return State(plan, vertices, position, A, AT, omega)


def forward(state: State, roots: NDArray[np.int64]) -> Levels:
    """Find the levels of the roots and count their shortest paths."""
    A, AT = state.A, state.AT
    b, n = len(roots), len(state.vertices)
    with one_thread(), matrices(b, n, float) as (F,):
        P = Matrix(float, b, n)
        P.ss.config["sparsity_control"] = "bitmap"
        # F[i, root i] = 1;   P = F
        start = state.position[roots]
        rows = np.flatnonzero(start < n)
        F.ss.build_scalar(rows, start[rows], 1.0)
        P << F
        patterns = []
        while F.nvals:
            state.plan.stop.check()
            # L_l = struct(F), as a matrix of ones
            patterns.append(unary.one(F).new())
            # F<!struct(P), replace> = F plus.first A
            F(~P.S, replace=True) << semiring.plus_first(F @ (AT.T if _pull(F) else A))
            # P += F
            P(binary.plus) << F
        largest = P.reduce_rowwise(monoid.max).new().to_dense(0.0)
        return Levels(roots, P, patterns, overflowed=largest > state.plan.sigma_limit)


def backward(state: State, levels: Levels, sums: Sums) -> None:
    """Add the dependencies of the roots that did not overflow to ``sums.delta[0]``, in matrix order."""

    def product(C: Matrix) -> Any:
        # C plus.first A^T
        return semiring.plus_first(C @ (state.A.T if _pull(C) else state.AT))

    with one_thread():
        plan, times = state.plan, multiplicity(state.plan, levels)
        if plan.endpoints and levels.patterns:
            into, from_roots = ends(levels, times)
            sums.delta[0, state.vertices] += into
            sums.delta[0, levels.roots] += from_roots
        sums.delta[0, state.vertices] += accumulate(plan, levels, state.omega, times, product).to_dense()


def _pull(X: Matrix) -> bool:
    """Choose the direction in which X is multiplied, and put X into the format for it."""
    pull: bool = X.nvals > PULL_SHARE * X.nrows * X.ncols
    X.ss.config["sparsity_control"] = "bitmap" if pull else "sparse"
    return pull
