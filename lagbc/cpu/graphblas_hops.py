"""Unweighted betweenness on the CPU in the GraphBLAS: the algebra, line by line, each call under its own.

b roots are the b rows of one batch. F (the frontier), P (the path counts sigma) and C (the path dependencies c) are
b x n, by row, so that A's values are never read and a row never meets another:

    forward    F<!struct(P), replace> = F plus.first A;   P += F;   the pattern of F is kept as L_l
    backward   C = (omega at L_l) / P + T  with  T<L_l> = C plus.first A^T  on L_{l+1};   delta = T .* P
    stress     H = (omega at L_l) + T      with  T<L_l> = H plus.first A^T  on L_{l+1};   stress = T .* P
    edges      E<A> += (P at L_l)^T plus.times C  on L_{l+1}

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

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from graphblas import Matrix, Vector, binary, monoid, semiring, unary
from graphblas.core.ss.context import Context
from graphblas.exceptions import OutOfMemory
from numpy.typing import NDArray
from scipy import sparse

from lagbc.graph import Graph
from lagbc.plan import Plan
from lagbc.sums import PATH_SUMS, Sums

# Pull from a matrix that fills more than this share of its places: 0.05 to 0.2 were alike, never pulling was slower
# on R-MAT graphs (benchmarks/graphblas_orientation.py, which also has the vertex-major layout that lost).
PULL_SHARE = 0.1


@dataclass(eq=False)
class State:
    """The graph as GraphBLAS matrices, and the matrices that every batch uses again.

    python-graphblas objects lie in reference cycles: memory comes back at once if they are cleared, else when the
    garbage collector runs.
    """

    graph: Graph
    plan: Plan
    vertices: NDArray[np.int64]  # of the caller's graph, in sweep order, those with edges
    position: NDArray[np.int64]  # of each vertex of the caller's in sweep order
    A: Matrix
    AT: Matrix
    omega: Matrix | None  # diagonal
    P: Matrix
    F: Matrix
    C: Matrix
    T: Matrix
    delta: Matrix


@dataclass(frozen=True, eq=False)
class Levels:
    """What a forward sweep leaves besides P: the pattern of each level, and which rows left the range of float64."""

    roots: NDArray[np.int64]
    patterns: list[Matrix]
    overflowed: NDArray[np.bool_]


def prepare(graph: Graph, plan: Plan) -> State:
    """Copy the graph, in sweep order, into GraphBLAS."""
    active = max(1, np.count_nonzero((graph.out_degrees > 0) | (graph.in_degrees > 0)))
    position = np.empty(graph.n, np.int64)
    position[graph.order] = np.arange(graph.n)
    vertices = graph.order[:active]
    ordered = graph.reordered
    A = _to_graphblas(ordered.pattern[:active, :active])
    into = ordered.transpose
    AT = A if into is ordered else _to_graphblas(into.pattern[:active, :active])
    omega = None if plan.omega is None else Vector.from_dense(plan.omega[vertices]).diag()
    P, F, C, T, delta = (Matrix(float, plan.batch, active) for _ in range(5))
    P.ss.config["sparsity_control"] = "bitmap"
    return State(graph, plan, vertices, position, A, AT, omega, P, F, C, T, delta)


def forward(state: State, roots: NDArray[np.int64]) -> Levels:
    """Find the levels of the roots and count their shortest paths."""
    with _one_thread():
        P, F, A, AT = state.P, state.F, state.A, state.AT
        for workspace in (P, F, state.C, state.T, state.delta):
            workspace.clear()
            workspace.resize(len(roots), len(state.vertices))
        # F[i, root i] = 1;   P = F
        start = state.position[roots]
        rows = np.flatnonzero(start < len(state.vertices))
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
        counted = bool(state.plan.outputs & PATH_SUMS)
        return Levels(roots, patterns, overflowed=counted & (largest > state.plan.sigma_limit))


def backward(state: State, levels: Levels, sums: Sums) -> None:
    """Add what the roots that did not overflow sum to, to the one row of `sums`."""
    with _one_thread():
        if state.plan.outputs - PATH_SUMS:
            _add_distance_sums(state, levels, sums)
        times = _multiplicity(state.plan, levels)
        if sums.stress is not None:
            sums.stress[0, state.vertices] += _stress(state, levels, times)
        if sums.delta is None and sums.edges is None:
            return
        scores = Vector(float, len(state.vertices))
        edges = None if sums.edges is None else _no_edge_scores(state)
        if state.plan.endpoints and sums.delta is not None:
            sums.delta[0, levels.roots] += _add_ends(levels, times, scores)
        _accumulate(state, levels, times, scores, edges)
        if sums.delta is not None:
            sums.delta[0, state.vertices] += scores.to_dense(0.0)
        if edges is not None:
            sums.edges[0, state.graph.edge_order] += edges.to_coo()[2]
            edges.clear()


def _accumulate(state: State, levels: Levels, times: Vector, scores: Vector, edges: Matrix | None) -> None:
    """Add the dependencies on vertices to `scores`, and on edges to `edges`, and clear the levels."""
    P, C, T, delta, A, AT = state.P, state.C, state.T, state.delta, state.A, state.AT
    while levels.patterns:
        state.plan.stop.check()
        L = levels.patterns.pop()
        if edges is not None:
            # E<A> += (times, P at L_l)^T plus.times C
            delta << binary.second(L & P)
            T << semiring.plus_times(times.diag() @ delta)
            edges(A.S, binary.plus) << semiring.plus_times(T.T @ C)
        if not levels.patterns:
            return
        # T<L_l, replace> = C plus.first A^T
        T(L.S, replace=True) << semiring.plus_first(C @ (A.T if _pull(C) else AT))
        # delta = T .* P
        delta << binary.times(T & P)
        # scores += times plus.times delta
        scores(binary.plus) << semiring.plus_times(times @ delta)
        # C = L_l ./ P  (times omega)
        C << binary.truediv(L & P)
        if state.omega is not None:
            C << semiring.plus_times(C @ state.omega)
        # C += T
        C(binary.plus) << T
        L.clear()


def _stress(state: State, levels: Levels, times: Vector) -> NDArray[np.float64]:
    """Shortest paths through every vertex. `state.C` holds H, and is left empty."""
    P, H, T, through, A, AT = state.P, state.C, state.T, state.delta, state.A, state.AT
    scores = Vector(float, len(state.vertices))
    for L in reversed(levels.patterns[1:]):
        state.plan.stop.check()
        # T<L_l, replace> = H plus.first A^T
        T(L.S, replace=True) << semiring.plus_first(H @ (A.T if _pull(H) else AT))
        # stress += times plus.times (T .* P)
        through << binary.times(T & P)
        scores(binary.plus) << semiring.plus_times(times @ through)
        # H = L_l (times omega) + T
        H << (L if state.omega is None else semiring.plus_times(L @ state.omega))
        H(binary.plus) << T
    H.clear()
    return scores.to_dense(0.0)  # type: ignore[no-any-return]


def _no_edge_scores(state: State) -> Matrix:
    """Make a zero for every edge."""
    E = Matrix(float, *state.A.shape)
    E(state.A.S) << 0.0
    return E


def _add_distance_sums(state: State, levels: Levels, sums: Sums) -> None:
    kept = np.flatnonzero(~levels.overflowed)
    once = Vector.from_coo(kept, 1.0, size=len(levels.roots))
    for level, L in enumerate(levels.patterns[1:], 1):
        # roots = once plus.first L_l
        roots = semiring.plus_first(once @ L).new().to_dense(0.0)
        for total, term in ((sums.reached, 1.0), (sums.distance, level), (sums.inverse, 1 / level)):
            if total is not None:
                total[0, state.vertices] += term * roots
        if sums.depth is not None:
            live = L.reduce_rowwise(monoid.any).new().to_coo()[0].astype(np.int64)
            sums.depth[np.intersect1d(live, kept)] = level


def _add_ends(levels: Levels, times: Vector, scores: Vector) -> NDArray[np.float64]:
    """Add one to `scores` at each reached vertex for every root that reaches it; return the same for the roots."""
    reached = Vector(float, len(levels.roots))
    for L in levels.patterns[1:]:
        # scores += times plus.times L_l;   reached += L_l summed by row
        scores(binary.plus) << semiring.plus_times(times @ L)
        reached(binary.plus) << L.reduce_rowwise(monoid.plus)
    ends: NDArray[np.float64] = binary.times(times & reached).new().to_dense(0.0)
    return ends


def _multiplicity(plan: Plan, levels: Levels) -> Vector:
    """How often each row counts; those that overflowed have no entry, so that nothing of them is read."""
    times = np.ones(len(levels.roots)) if plan.multiplicity is None else plan.multiplicity[levels.roots]
    kept = np.flatnonzero(~levels.overflowed)
    return Vector.from_coo(kept, times[kept], size=len(times))


def _pull(X: Matrix) -> bool:
    """Choose the direction in which X is multiplied, and put X into the format for it."""
    pull: bool = X.nvals > PULL_SHARE * X.nrows * X.ncols
    X.ss.config["sparsity_control"] = "bitmap" if pull else "sparse"
    return pull


def _to_graphblas(pattern: sparse.csr_array) -> Matrix:
    return Matrix.ss.import_csr(
        nrows=pattern.shape[0],
        ncols=pattern.shape[1],
        indptr=pattern.indptr.astype(np.uint64),
        col_indices=pattern.indices.astype(np.uint64),
        values=np.ones(1, np.bool_),
        is_iso=True,
        sorted_cols=True,
    )


@contextmanager
def _one_thread() -> Iterator[None]:
    """Keep GraphBLAS to one thread in the calling thread, and translate its out-of-memory error."""
    try:
        with Context(engage=False, nthreads=1):
            yield
    except OutOfMemory:
        raise MemoryError("GraphBLAS ran out of memory") from None
