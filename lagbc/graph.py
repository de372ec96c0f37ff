"""The graph that every method reads: validated once, immutable, with what is derived from it cached.

All checks of the caller's matrix are here and nowhere else.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from lagbc.ordering import Order, bfs_extent, degree_order, proximity_order

# A BFS deeper than this many times log2(n) marks a mesh or a road network; see `Graph.is_deep`.
DEEP = 2.0


@dataclass(frozen=True, eq=False)
class Graph:
    """A directed pattern in CSR form, without self loops or duplicates, columns ascending in each row.

    Attributes
    ----------
    indptr : ndarray of int64, shape (n + 1,)
    indices : ndarray of int32 (int64 where n needs it), shape (nnz,)
        Row i lists the heads j of the edges i -> j.
    directed : bool
        False: the pattern is symmetric and a pair {s, t} counts once.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[Any]
    directed: bool

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.indptr) - 1

    @property
    def nnz(self) -> int:
        """Number of stored edges; an undirected edge counts twice."""
        return len(self.indices)

    @cached_property
    def out_degrees(self) -> NDArray[np.int64]:
        """Stored edges that leave each vertex."""
        return np.diff(self.indptr)

    @cached_property
    def in_degrees(self) -> NDArray[np.int64]:
        """Stored edges that enter each vertex."""
        return self.transpose.out_degrees

    @cached_property
    def pattern(self) -> sparse.csr_array:
        """The same pattern as a SciPy matrix of ones (bool), sharing `indices` unless nnz needs wider ones."""
        # SciPy widens both index arrays to the wider of the two.
        fits = self.nnz <= np.iinfo(self.indices.dtype).max
        indptr = self.indptr.astype(self.indices.dtype) if fits else self.indptr
        return sparse.csr_array((np.ones(self.nnz, np.bool_), self.indices, indptr), shape=(self.n, self.n))

    @cached_property
    def transpose(self) -> Graph:
        """The graph with every edge reversed; the same object if the pattern is symmetric."""
        if not self.directed:
            return self
        reverse = _from_pattern(self.pattern.T.tocsr(), directed=True)
        if np.array_equal(reverse.indptr, self.indptr) and np.array_equal(reverse.indices, self.indices):
            return self
        return reverse

    @cached_property
    def symmetric_pattern(self) -> sparse.csr_array:
        """The pattern with every edge taken in both directions."""
        if self.transpose is self:
            return self.pattern
        return (self.pattern + self.transpose.pattern).tocsr()

    @cached_property
    def components(self) -> NDArray[np.int32]:
        """Weakly connected component of each vertex, numbered from 0."""
        labels: NDArray[np.int32] = connected_components(self.pattern, directed=self.directed, connection="weak")[1]
        return labels

    @cached_property
    def depth(self) -> int:
        """A lower bound of the diameter: BFS depth from the hub of the largest weak component."""
        if not self.nnz:
            return 0
        degrees = np.diff(self.symmetric_pattern.indptr)
        depth, reached = bfs_extent(self.symmetric_pattern, int(np.argmax(degrees)))
        if 2 * reached < np.count_nonzero(degrees):
            # The hub of all is in another component; finding the components takes longer than the search.
            largest = np.argmax(np.bincount(self.components))
            hub = int(np.argmax(np.where(self.components == largest, degrees, -1)))
            depth, _ = bfs_extent(self.symmetric_pattern, hub)
        return depth

    @property
    def is_deep(self) -> bool:
        """Whether the graph looks like a mesh or a road network, whose diameter is far above log2(n)."""
        return bool(self.depth > DEEP * np.log2(max(self.n, 2)))

    @cached_property
    def order(self) -> Order:
        """The vertex order for sweeps: proximity on deep graphs, falling degree on the others; no edges, last."""
        degrees = np.diff(self.symmetric_pattern.indptr)
        if not self.is_deep:
            return degree_order(degrees)
        order = proximity_order(self.symmetric_pattern, self.components)
        return order[np.argsort(degrees[order] == 0, kind="stable")]

    @cached_property
    def reordered(self) -> Graph:
        """The graph in sweep order: its vertex i is this graph's vertex ``order[i]``."""
        return _from_pattern(self.pattern[self.order][:, self.order].tocsr(), directed=self.directed)


def as_graph(A: Any, *, directed: bool = True) -> Graph:
    """Validate a matrix and take its pattern.

    Parameters
    ----------
    A : SciPy sparse array or matrix of any format, or dense 2-D ndarray; shape (n, n)
        ``A[i, j]`` stored is the edge i -> j. A stored zero is an edge, except in the DIA and BSR formats, which store
        zeros as padding. In a dense array the nonzeros are the edges. Values are not read otherwise; self loops are
        dropped and duplicates merged. `A` is not changed.
    directed : bool
        False takes every edge in both directions.

    Returns
    -------
    Graph
        `A` itself if it is a `Graph`; its `directed` must be the one asked for.

    Raises
    ------
    TypeError
        `A` is not a matrix that lagbc reads, or has object dtype.
    ValueError
        `A` is not square, its index arrays are inconsistent, or a dense `A` holds NaN or infinity.
    """
    if isinstance(A, Graph):
        if A.directed != directed:
            raise ValueError(f"A is a Graph with directed={A.directed}, but directed={directed} was asked for")
        return A
    if is_cupy(A):
        # Validated and ordered on the host.
        A = A.get()
    _require_matrix(A)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"A has shape {A.shape}, but an adjacency matrix is square: n rows and n columns")
    if A.dtype == object:
        raise TypeError("A has dtype object; convert it to a numeric or bool dtype first, e.g. A.astype(float)")
    pattern = _stored_pattern(A)
    pattern = _without_loops(pattern)
    if not directed:
        pattern = (pattern + pattern.T).tocsr()
    return _from_pattern(pattern, directed=directed)


def is_cupy(A: Any) -> bool:
    """Whether `A` is a CuPy sparse matrix."""
    return type(A).__module__.startswith("cupyx.") and hasattr(A, "get")


def _require_matrix(A: Any) -> None:
    if isinstance(A, np.ma.MaskedArray):
        raise TypeError("A is a masked array; pass A.filled(0), in which a masked entry is no edge")
    if sparse.issparse(A) or isinstance(A, np.ndarray):
        return
    kind = f"{type(A).__module__}.{type(A).__qualname__}"
    if kind.startswith("networkx"):
        raise TypeError(f"A is a {kind}; pass networkx.to_scipy_sparse_array(G)")
    if isinstance(A, str):
        raise TypeError(f"A is the string {A!r}; to read a graph file, pass lagbc.read_graph({A!r}).matrix")
    raise TypeError(f"A is a {kind}; lagbc takes a SciPy sparse array or matrix, or a dense 2-D numpy.ndarray")


def _stored_pattern(A: Any) -> sparse.csr_array:
    """Pattern of the stored entries, as a canonical CSR array of ones that shares no memory with `A`."""
    if isinstance(A, np.ndarray):
        return sparse.csr_array(_dense_pattern(A))
    if A.format in ("csr", "csc", "bsr"):
        # The check prunes and recasts the index arrays of what it checks.
        A = copy(A)
        A.check_format(full_check=True)
    coo = A.tocoo(copy=False)
    if A.format in ("dia", "bsr"):
        kept = coo.data != 0
        rows, columns = coo.row[kept], coo.col[kept]
    else:
        rows, columns = coo.row, coo.col
    if len(rows) and (min(rows.min(), columns.min()) < 0 or max(rows.max(), columns.max()) >= A.shape[0]):
        raise ValueError(f"A stores an index outside 0..{A.shape[0] - 1}; its index arrays are inconsistent")
    return sparse.coo_array((np.ones(len(rows), np.bool_), (rows, columns)), shape=A.shape).tocsr()


def _dense_pattern(A: NDArray[Any]) -> NDArray[np.bool_]:
    invalid = ~np.isfinite(A) if A.dtype.kind in "fc" else np.zeros(A.shape, np.bool_)
    if invalid.any():
        i, j = np.argwhere(invalid)[0].tolist()
        raise ValueError(
            f"dense A holds {np.count_nonzero(invalid)} NaN or infinite values, the first at ({i}, {j}); "
            "write 0 where there is no edge"
        )
    if A.dtype.kind not in "biufc":
        raise TypeError(f"dense A has dtype {A.dtype}; lagbc takes bool, integer, float or complex")
    pattern: NDArray[np.bool_] = A != 0
    return pattern


def _without_loops(pattern: sparse.csr_array) -> sparse.csr_array:
    coo = pattern.tocoo(copy=False)
    kept = coo.row != coo.col
    if kept.all():
        return pattern
    return sparse.coo_array((coo.data[kept], (coo.row[kept], coo.col[kept])), shape=pattern.shape).tocsr()


def _from_pattern(pattern: sparse.csr_array, *, directed: bool) -> Graph:
    pattern.sort_indices()
    index_type = np.int32 if pattern.shape[0] <= np.iinfo(np.int32).max else np.int64
    return Graph(
        indptr=pattern.indptr.astype(np.int64),
        indices=pattern.indices.astype(index_type),
        directed=directed,
    )
