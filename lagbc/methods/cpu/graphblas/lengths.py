"""Weighted centralities on the CPU in the GraphBLAS: min-plus Delta-stepping, then the sweep over tight edges.

A batch of b roots has b rows. All distances are settled first. D (the least lengths found so far, infinite at first)
and N (the entries of D still to be relaxed) are b x n. A_L holds the light edges, whose lengths are at most the width
of a bucket, A_H the heavy ones. Row i works on a bucket of its own, N_i below limit_i = min N_i + width:

    light      Q = F min.plus A_L;   Q = Q<Q < D>;   D = D min Q;   N = N min Q;   F = Q<Q < limit>,   until F is empty
    heavy      Q = S min.plus A_H, and D and N as above, where S is all that was in F;   N = N<!struct(S)>

An edge is tight for root i if D_iu + A_uv = D_iv and D_iu < D_iv. The tight edges of a root form a graph without
cycles; G, of bn x bn, is the disjoint union of these b graphs. From here on the batch is one row of bn columns. A
vertex is on level l if the last of its tight in-edges comes from level l - 1. W counts the in-edges still to come:

    forward    Q = F plus.first G;   P += Q;   W -= F plus.pair G;   the next F is P where W has come down to 0
    backward   C = (omega at L_l) / P + T  with  T<L_l> = C plus.first G^T  on all levels beyond l;   delta = T .* P
    stress     H = omega at L_l + T        with  T<L_l> = H plus.first G^T  on all levels beyond l;   stress = T .* P
    edges      E += (P_i any.first G_i) any.times C_i  over the roots i, with diagonal P_i and C_i, n x n
    distances  times plus.pair D,  times plus.second D,  times plus.second 1 / D,  the largest of each row

`times` says how often each root counts; overflowed roots have no entry. plus.pair and plus.second do not read its
values. Where distances are enough, G is not made.

This method is to be read, and is the reference of the others: it shares no code with `batched`, which is 15 to 40 times
faster. Delta-stepping is Meyer and Sanders' (J. Algorithms 49, 2003), in the GraphBLAS formulation of
Sridhar et al. (Delta-stepping SSSP: from vertices and edges to GraphBLAS implementations, IPDPSW 2019), for many roots
at once. Solomonik et al. (Scaling betweenness centrality using communication-efficient sparse matrix multiplication, SC
2017) keep distance and count in one element, the multipath monoid, and subtract lengths on the way back. An edge is
then tight by D_iv - A_uv, which in floating point makes another set of edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from graphblas import Matrix, Vector, binary, monoid, select, semiring, unary
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.graph.graph import Graph
from lagbc.methods.contract import INTEGER, WORD, Array, Batching, Counted, SweepPlan, allocate, bytes_of
from lagbc.methods.cpu import graphblas
from lagbc.methods.cpu.graphblas import (
    BITMAP,
    ENTRY,
    PATTERN,
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

batching = Batching(block=1, auto=128, concurrent=True)


@dataclass(slots=True, eq=False)
class State:
    """The graph, its light and heavy edges as GraphBLAS matrices, and all its edges as arrays, by row."""

    graph: Graph
    plan: SweepPlan
    vertices: NDArray[np.int64]  # of the caller's graph, in sweep order, those with edges
    width: float  # of a bucket
    light: Matrix
    heavy: Matrix
    tails: NDArray[Any]
    heads: NDArray[np.uint64]
    lengths: NDArray[np.float64]


@dataclass(slots=True, eq=False)
class Levels(graphblas.Levels):
    """Path counts and levels as one row of b * n columns."""

    G: Matrix  # the tight edges of all roots
    dist: NDArray[np.float64]  # (b, n)

    def clear(self) -> None:
        """Give the memory back."""
        graphblas.Levels.clear(self)  # no super(): slots make the class anew
        self.G.clear()


def arrays(graph: Graph, plan: SweepPlan) -> dict[str, Any]:
    """Bound a worker's arrays; GraphBLAS holds a matrix in one of several forms, and in two while it changes."""
    n, nnz, batch = graph.n, graph.nnz, plan.batch
    has_edges = "edges" in plan.sums
    distances: dict[str, Array] = {
        "dist and D": matrix(8 + 8, batch, n),
        "S": matrix(BITMAP, batch, n),
        "inside, in two forms": matrix(2 * BITMAP, batch, n),
        "N, F and Q, in two forms": matrix(3 * 2 * ENTRY, batch, n),
    }
    counts: dict[str, Array] = {
        "dist and sigma": matrix(8 + 8, batch, n),
        "P, W and c": matrix(3 * BITMAP, batch, n),
        "patterns": matrix(PATTERN, batch, n),
        "pointers of G": matrix(2 * 8, batch, n),
        "F, Q and Z, or C, T and delta": matrix(3 * ENTRY, batch, n),
        "the second form of one of them": matrix(BITMAP + ENTRY, batch, n),
    }
    bounds = {
        "graph": {
            "vertices": Array((n,), INTEGER),
            "pointers of A_L and A_H": Array((2, n), INTEGER),
            "A_L and A_H": matrix(ENTRY, nnz),
        },
        "batch": max(distances, counts, key=bytes_of),
        "heads of G, as parts, put together and as given to GraphBLAS": matrix(3 * 8, batch, nnz),
        "tests of the edges of one root": None if has_edges else matrix(50, nnz),
        # The arrays that test the edges are gone by then.
        "E and X, in two forms, and the tight edges of one root": (
            matrix(4 * ENTRY + BITMAP + 1, nnz) if has_edges else None
        ),
    }
    ends = {"tails": Array((nnz,), graph.indices.dtype), "heads": Array((nnz,), WORD)}
    return {"ends": ends, "GraphBLAS": Counted(bounds)}


def prepare(graph: Graph, plan: SweepPlan) -> State:
    """Copy the graph, in sweep order, into GraphBLAS."""
    vertices = active_vertices(graph)
    n, ordered = len(vertices), graph.reordered
    assert ordered.weights is not None
    width = plan.bucket_width or choose_width(n, ordered.weights)
    A = from_scipy(ordered.matrix[:n, :n])
    light, heavy = select.valuele(A, width).new(), select.valuegt(A, width).new()
    A.clear()
    ends = allocate(np, arrays(graph, plan)["ends"])
    ends["tails"][:], ends["heads"][:] = ordered.rows, ordered.indices
    return State(graph, plan, vertices, width, light, heavy, lengths=ordered.weights, **ends)


def choose_width(n: int, lengths: NDArray[np.float64]) -> float:
    """Return the width of the buckets for n vertices and edges of these lengths."""
    return tuning.GRAPHBLAS_WIDTH_FACTOR * n * float(lengths.mean()) / len(lengths) if len(lengths) else 1.0


def forward(state: State, roots: NDArray[np.int64]) -> Iterator[Levels]:
    """Find the distances from the roots and, if a sum needs them, levels and counts of their shortest paths."""
    yield _search(state, roots)


def _search(state: State, roots: NDArray[np.int64]) -> Levels:
    with one_thread():
        rows, columns = starts_of(state, roots)
        dist = _settle(state, len(roots), rows, columns)
        if not state.plan.counts_paths:
            P, G = Matrix(float, 1, dist.size), Matrix(bool, dist.size, dist.size)
            return Levels(roots, P, [], np.zeros(len(roots), np.bool_), G, dist)
        G = _tight_edges(state, dist)
        P, patterns = _count(state, G, rows * len(state.vertices) + columns)
        sigma = P.to_dense(0.0).reshape(dist.shape)
        # Where rounding absorbs a length, a reached vertex may have no tight in-edge, and no path.
        pathless = (np.isfinite(dist) & (sigma == 0)).any(axis=1)
        return Levels(roots, P, patterns, pathless | (sigma.max(axis=1) > state.plan.sigma_limit), G, dist)


def backward(state: State, levels: Levels, sums: Sums, omega: Any = None) -> None:
    """Add the sums of the roots that did not overflow, in matrix order."""
    add_sums(state, levels, sums, omega, distances=_distances, dependencies=_dependencies, edge_scores=_edge_scores)


def _distances(state: State, levels: Levels, D: Matrix) -> None:
    # D = D<D < infinity>;   D = D<D > 0>
    D.ss.pack_fullr(levels.dist)
    D << select.valuelt(D, np.inf)
    D << select.valuegt(D, 0.0)


def _dependencies(
    state: State, levels: Levels, times: Vector, beyond: Matrix, *, stress: bool = False
) -> NDArray[np.float64]:
    plan, (b, n) = state.plan, levels.dist.shape

    def product(C: Matrix) -> Any:
        # (c on all levels beyond) plus.first G^T
        return semiring.plus_first(beyond @ levels.G.T)

    omega = None if plan.omega is None else Vector.from_dense(np.tile(plan.omega[state.vertices], b)).diag()
    one = Vector.from_scalar(1.0, 1)
    # times plus.times delta, which is b x n again
    delta = accumulate(plan, levels, omega, one, product, beyond=beyond, stress=stress).ss.reshape(b, n)
    scores = semiring.plus_times(times @ delta).new()
    delta.clear()
    return scores.to_dense(0.0)


def _edge_scores(state: State, levels: Levels, times: Vector, c: Matrix) -> NDArray[np.float64]:
    """Sum sigma(v) c(w) over the roots for which the edge v -> w is tight, in sweep order."""
    P, G, n = levels.P, levels.G, len(state.vertices)
    with matrices(n, n, float, float, float, bool) as (E, X, diagonal, block):
        # E<struct(A_L)> = 0;   E<struct(A_H)> = 0
        E(state.light.S) << 0.0
        E(state.heavy.S) << 0.0
        for i, weight in zip(*times.to_coo(), strict=True):
            state.plan.stop.check()
            root = slice(i * n, (i + 1) * n)
            # X = P_i any.first G_i
            diagonal.ss.build_diag(P[0, root].new())
            block << G[root, root]
            X << semiring.any_first(diagonal @ block)
            # X = X any.times C_i
            diagonal.ss.build_diag(c[0, root].new())
            X << semiring.any_times(X @ diagonal)
            # E += times_i X
            E(binary.plus) << binary.times(X, weight)
        return E.to_coo(rows=False, columns=False)[2]


def _settle(state: State, b: int, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """Find all distances from the root of each row, by Delta-stepping."""
    with matrices(b, len(state.vertices), float, float, float, float, float, bool) as (D, N, F, Q, S, inside):
        S.ss.config["sparsity_control"] = "bitmap"
        # D = infinity but at the roots;   N = the roots
        D[:, :] = np.inf
        N.ss.build_scalar(rows, columns, 0.0)
        D(N.S) << N

        def bucket(X: Matrix) -> None:
            # F = X<X < limit>
            inside << semiring.any_gt(limit @ X)
            F(inside.V, replace=True) << X

        def relax(X: Matrix, lengths: Matrix) -> None:
            state.plan.stop.check()
            # Q = X min.plus A;   Q = Q<Q < D>
            Q << semiring.min_plus(X @ lengths)
            inside << binary.lt(Q & D)
            Q(inside.V, replace=True) << Q
            # D = D min Q;   N = N min Q
            D(Q.S) << Q
            N(binary.min) << Q

        while N.nvals:
            # limit_i = (the least of N_i) + width, or if rounding absorbs that, next to the least
            least = N.reduce_rowwise(monoid.min).new().to_dense(np.inf)
            limit = Vector.from_dense(np.maximum(least + state.width, np.nextafter(least, np.inf))).diag()
            bucket(N)
            S.clear()
            while F.nvals:
                # S<struct(F)> = F
                S(F.S) << F
                relax(F, state.light)
                bucket(Q)
            relax(S, state.heavy)
            # N = N<!struct(S)>
            N(~S.S, replace=True) << N
        return D.to_dense()


def _tight_edges(state: State, dist: NDArray[np.float64]) -> Matrix:
    """Make G, block diagonal: block i holds the tight edges of root i.

    The test compares three numbers, and a product of matrices only two; five products by diagonal matrices took 0.9 to
    1.8 times as long.
    """
    n, heads, degrees = len(state.vertices), [], []
    for i, d in enumerate(dist):
        state.plan.stop.check()
        near, far = d[state.tails], d[state.heads]
        edges = np.flatnonzero(near < far)
        near, far = near[edges], far[edges]
        edges = edges[np.abs(near + state.lengths[edges] - far) <= state.plan.rtol * far]
        heads.append(state.heads[edges] + np.uint64(i * n))
        degrees.append(np.bincount(state.tails[edges], minlength=n))
    return Matrix.ss.import_csr(
        nrows=dist.size,
        ncols=dist.size,
        indptr=np.append(0, np.cumsum(np.concatenate(degrees))).astype(np.uint64),
        col_indices=np.concatenate(heads),
        values=np.ones(1, np.bool_),
        is_iso=True,
        sorted_cols=True,
    )


def _count(state: State, G: Matrix, start: NDArray[np.int64]) -> tuple[Matrix, list[Matrix]]:
    """Return path counts, and the patterns of the levels."""
    P, patterns = Matrix(float, 1, G.nrows), []
    with matrices(1, G.nrows, float, float, int, int) as (F, Q, W, Z):
        for X in (P, W):
            X.ss.config["sparsity_control"] = "bitmap"
        # W = 1 plus.pair G
        W << semiring.plus_pair(Matrix.from_scalar(True, 1, G.nrows) @ G)
        # F = 1 at the roots;   P = F
        F.ss.build_scalar(np.zeros_like(start), start, 1.0)
        P << F
        while F.nvals:
            state.plan.stop.check()
            # L_l = struct(F), as a matrix of ones
            patterns.append(unary.one(F).new())
            # Q = F plus.first G;   P += Q
            Q << semiring.plus_first(F @ G)
            P(binary.plus) << Q
            # Z = F plus.pair G;   W -= Z
            Z << semiring.plus_pair(F @ G)
            W(binary.minus) << Z
            # F = P at struct(Z)<W == 0>
            Z << binary.second(Z & W)
            Z << select.valueeq(Z, 0)
            F << binary.second(Z & P)
    return P, patterns
