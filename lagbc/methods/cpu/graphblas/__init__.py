"""Sweeps in calls of SuiteSparse:GraphBLAS, to be read and to check others against: the parts of `hops` and `lengths`.

A matrix of a batch has a row a root and a column a vertex, in sweep order; with lengths, P and its patterns are one row
of all these places. c, of the backward sweep, is (omega + delta) / P.

Matrices of python-graphblas are in reference cycles: all matrices of a batch are cleared after their use, as their
memory else comes back only when the garbage collector runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from graphblas import Matrix, Vector, binary, monoid, semiring, unary
from graphblas.core.ss.context import Context
from graphblas.exceptions import OutOfMemory
from numpy.typing import NDArray
from scipy import sparse

from lagbc.errors import OutOfMemoryError
from lagbc.graph.graph import Graph
from lagbc.methods.contract import BYTE, Array, OfWholeBatch, SweepPlan
from lagbc.methods.sums import PATH_SUMS, Sums


@dataclass(slots=True, eq=False)
class Levels(OfWholeBatch):
    """The levels of a forward sweep."""

    P: Matrix  # the path counts
    patterns: list[Matrix]  # of each level, ones at its vertices; edges on shortest paths lead to deeper levels
    overflowed: NDArray[np.bool_]

    @property
    def depth(self) -> int:
        """Levels beyond the roots'."""
        return max(len(self.patterns) - 1, 0)

    def clear(self) -> None:
        """Give the memory back."""
        for X in (self.P, *self.patterns):
            X.clear()


class State(Protocol):
    """The members that both methods' states have."""

    graph: Graph
    plan: SweepPlan
    vertices: NDArray[np.int64]  # of the caller's graph, in sweep order, those with edges


# Bytes of a place in a bitmap of float64, of an entry in a list of float64, of an entry in a pattern.
BITMAP, ENTRY, PATTERN = 9, 16, 8


def matrix(bytes_of_place: int, *shape: int) -> Array:
    """State the memory of a matrix, so many bytes a place."""
    return Array((*shape, bytes_of_place), BYTE)


def active_vertices(graph: Graph) -> NDArray[np.int64]:
    """Return the vertices with edges, or one vertex, in sweep order."""
    return graph.order[: max(1, graph.active)]


def starts_of(state: State, roots: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the rows of a batch whose roots are there and have edges, and the columns of these roots."""
    n = len(state.vertices)
    columns = np.where(roots < 0, n, state.graph.position[roots])
    rows = np.flatnonzero(columns < n)
    return rows, columns[rows]


def from_scipy(given: sparse.csr_array) -> Matrix:
    """Copy a matrix of lengths, or a pattern of bool, into GraphBLAS."""
    pattern = given.dtype == np.bool_
    return Matrix.ss.import_csr(
        nrows=given.shape[0],
        ncols=given.shape[1],
        indptr=given.indptr.astype(np.uint64),
        col_indices=given.indices.astype(np.uint64),
        values=np.ones(1, np.bool_) if pattern else given.data,
        is_iso=pattern,
        sorted_cols=True,
    )


def accumulate(
    plan: SweepPlan,
    levels: Levels,
    omega: Matrix | None,
    times: Vector,
    product: Callable[[Matrix], Any],
    *,
    beyond: Matrix | None = None,
    stress: bool = False,
) -> Vector:
    """Sum the dependencies of all rows, from the deepest level up: ``times plus.times delta``, with all entries.

    `omega` is diagonal. Rows without an entry in `times` are not read. ``product(C)`` sums c over the successors of
    each vertex, where `C` holds c on the level that was last done, and `beyond`, empty at first, c on all levels that
    are done. For stress c becomes h, in which omega takes the place of omega / P: numbers of paths are summed.
    """
    P = levels.P
    scores = Vector.from_scalar(0.0, P.ncols)
    if beyond is not None:
        beyond.ss.config["sparsity_control"] = "bitmap"
    with matrices(*P.shape, float, float, float) as (C, T, delta):
        for L in reversed(levels.patterns[1:]):
            plan.stop.check()
            # T<L_l, replace> = C plus.first A^T
            T(L.S, replace=True) << product(C)
            # delta = T .* P
            delta << binary.times(T & P)
            # scores += times plus.times delta
            scores(binary.plus) << semiring.plus_times(times @ delta)
            # C = L_l ./ P, or for stress L_l  (times omega)
            C << (L if stress else binary.truediv(L & P))
            if omega is not None:
                C << semiring.plus_times(C @ omega)
            # C += T
            C(binary.plus) << T
            if beyond is not None:
                # beyond<struct(C)> = C
                beyond(C.S) << C
    return scores


def add_sums(
    state: State,
    levels: Any,
    sums: Sums,
    omega: Any,
    *,
    distances: Callable[[Any, Any, Matrix], None],
    dependencies: Callable[..., NDArray[np.float64]],
    edge_scores: Callable[[Any, Any, Vector, Matrix], NDArray[np.float64]],
) -> None:
    """Sweep backward: add the sums of the roots that did not overflow, in matrix order, and clear the levels.

    The functions are those of hops.py or lengths.py; `distances` fills the empty matrix D for `add_distances`. The
    matrix `beyond` of `dependencies` is empty; if edges are summed, it holds c of all levels but the roots' at the end.
    """
    if omega is not None:
        raise NotImplementedError("graphblas takes no target weights per root: batched on the CPU does")
    with one_thread():
        times = weights_of_roots(state.plan, levels)
        if state.plan.sums - PATH_SUMS:
            with matrices(len(levels.roots), len(state.vertices), float) as (D,):
                distances(state, levels, D)
                add_distances(D, times, state.vertices, sums)
        with matrices(*levels.P.shape, float) as (c,):
            if sums.dependency is not None or sums.edges is not None:
                delta = dependencies(state, levels, times, c)
            if sums.dependency is not None:
                if state.plan.endpoints and levels.patterns:
                    add_ends(levels, times, state.vertices, sums)
                sums.dependency[0, state.vertices] += delta
            if sums.edges is not None:
                sums.edges[0, state.graph.edge_order] += edge_scores(state, levels, times, c)
        if sums.stress is not None:
            with matrices(*levels.P.shape, float) as (h,):
                sums.stress[0, state.vertices] += dependencies(state, levels, times, h, stress=True)
        levels.clear()


def add_ends(levels: Levels, times: Vector, vertices: NDArray[np.int64], sums: Sums) -> None:
    """Add the two ends of each path from a root, counted `times`, to ``sums.dependency``."""
    P, start = levels.P, levels.patterns[0]
    with matrices(*P.shape, float) as (R,):
        # R<!L_0, replace> = struct(P)
        R(~start.S, replace=True) << unary.one(P)
        # A row a root, whatever the shape of P.
        R.ss.reshape(len(levels.roots), -1, inplace=True)
        # times plus.times R, of the vertices reached;   times .* (R summed by row), of the roots
        into = semiring.plus_times(times @ R).new()
        reached = R.reduce_rowwise(monoid.plus).new()
        sums.dependency[0, vertices] += into.to_dense(0.0)
        ends, present = binary.times(times & reached).new().to_dense(0.0), levels.roots >= 0
        sums.dependency[0, levels.roots[present]] += ends[present]


def add_distances(D: Matrix, times: Vector, vertices: NDArray[np.int64], sums: Sums) -> None:
    """Add the sums of distances of the roots with an entry in `times`, whose values are not read.

    D has a row of distances for each root, to the other vertices in reach; it may become 1 / D.
    """
    if sums.reached is not None:
        # times plus.pair D
        sums.reached[0, vertices] += semiring.plus_pair(times @ D).new().to_dense(0)
    if sums.distance is not None:
        # times plus.second D
        sums.distance[0, vertices] += semiring.plus_second(times @ D).new().to_dense(0.0)
    if sums.depth is not None:
        # the largest of each row of D, where struct(times)
        deepest = D.reduce_rowwise(monoid.max).new()
        sums.depth += binary.second(times & deepest).new().to_dense(0.0)
    if sums.inverse is not None:
        # D = 1 ./ D;   times plus.second D
        D << unary.minv(D)
        sums.inverse[0, vertices] += semiring.plus_second(times @ D).new().to_dense(0.0)


def weights_of_roots(plan: SweepPlan, levels: Levels) -> Vector:
    """Return how often each root counts; overflowed and absent ones have no entry."""
    times = plan.times_of(levels.roots)
    kept = np.flatnonzero(~levels.overflowed & (levels.roots >= 0))
    return Vector.from_coo(kept, times[kept], size=len(times))


@contextmanager
def matrices(rows: int, columns: int, *types: type) -> Iterator[list[Matrix]]:
    """Make an empty matrix of each type; clear them at the end."""
    made = [Matrix(dtype, rows, columns) for dtype in types]
    try:
        yield made
    finally:
        for X in made:
            X.clear()


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep GraphBLAS to one thread in the calling thread, and translate its out-of-memory error."""
    try:
        with Context(engage=False, nthreads=1):
            yield
    except OutOfMemory:
        raise OutOfMemoryError("GraphBLAS ran out of memory") from None
