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
# float64 holds all integers up to here.
EXACT_INTEGERS = 2**53


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
    weights : ndarray of float64, shape (nnz,), or None
        Lengths of the edges, finite and > 0, symmetric if the pattern has to be; None counts hops.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[Any]
    directed: bool
    weights: NDArray[np.float64] | None = None

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

    @property
    def weighted(self) -> bool:
        """Whether edges have lengths."""
        return self.weights is not None

    @cached_property
    def pattern(self) -> sparse.csr_array:
        """The same pattern as a SciPy matrix of ones (bool), sharing `indices` unless nnz needs wider ones."""
        return self._as_matrix(np.ones(self.nnz, np.bool_))

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """The lengths as a SciPy matrix; the pattern if there are none."""
        return self.pattern if self.weights is None else self._as_matrix(self.weights)

    def _as_matrix(self, data: NDArray[Any]) -> sparse.csr_array:
        # SciPy widens both index arrays to the wider of the two.
        fits = self.nnz <= np.iinfo(self.indices.dtype).max
        indptr = self.indptr.astype(self.indices.dtype) if fits else self.indptr
        return sparse.csr_array((data, self.indices, indptr), shape=(self.n, self.n))

    @cached_property
    def transpose(self) -> Graph:
        """The graph with every edge reversed; the same object if it is symmetric."""
        if not self.directed:
            return self
        reverse = _from_matrix(self.matrix.T.tocsr(), directed=True, weighted=self.weighted)
        return self if _are_equal(self.matrix, reverse.matrix) else reverse

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
        matrix = self.matrix[self.order][:, self.order].tocsr()
        return _from_matrix(matrix, directed=self.directed, weighted=self.weighted)


def as_graph(A: Any, *, directed: bool = True, weighted: bool = False) -> Graph:
    """Validate a matrix and take its pattern, and if asked for its values as lengths.

    Parameters
    ----------
    A : SciPy sparse array or matrix of any format, or dense 2-D ndarray; shape (n, n)
        ``A[i, j]`` stored is the edge i -> j. A stored zero is an edge, except in the DIA and BSR formats, which store
        zeros as padding. In a dense array the nonzeros are the edges. Values are not read otherwise; self loops are
        dropped and duplicates merged. `A` is not changed.
    directed : bool
        False takes every edge in both directions.
    weighted : bool
        Take the values as lengths: finite and > 0. Duplicates are summed, as SciPy does; of two directions that
        `directed` joins the smaller length counts.

    Returns
    -------
    Graph
        `A` itself if it is a `Graph`; its `directed` and `weighted` must be those asked for.

    Raises
    ------
    TypeError
        `A` is not a matrix that lagbc reads, has object dtype, or is weighted and complex.
    ValueError
        `A` is not square, its index arrays are inconsistent, a dense `A` holds NaN or infinity, or `A` is weighted and
        holds a value that is no length.
    """
    if isinstance(A, Graph):
        if (A.directed, A.weighted) != (directed, weighted):
            raise ValueError(
                f"A is a Graph with directed={A.directed} and weighted={A.weighted}, but directed={directed} and "
                f"weighted={weighted} were asked for"
            )
        return A
    if is_cupy(A):
        # Validated and ordered on the host.
        A = A.get()
    _require_matrix(A)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"A has shape {A.shape}, but an adjacency matrix is square: n rows and n columns")
    if A.dtype == object:
        raise TypeError("A has dtype object; convert it to a numeric or bool dtype first, e.g. A.astype(float)")
    if weighted and A.dtype.kind not in "biuf":
        raise TypeError(f"A has dtype {A.dtype}; lengths are real numbers: pass A.astype(float), or weighted=False")
    matrix = _without_loops(_stored_entries(A, weighted)).tocsr()
    if weighted:
        _require_lengths(matrix)
        _require_finite_paths(matrix)
    if not directed:
        matrix = _smaller_of_both(matrix) if weighted else (matrix + matrix.T).tocsr()
    return _from_matrix(matrix, directed=directed, weighted=weighted)


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


def _stored_entries(A: Any, weighted: bool) -> sparse.coo_array:
    """Take the stored entries as ones, or as float64 lengths; the result shares no memory with `A`."""
    if isinstance(A, np.ndarray):
        rows, columns = np.nonzero(_dense_pattern(A))
        values = A[rows, columns]
    else:
        if A.format in ("csr", "csc", "bsr"):
            # The check prunes and recasts the index arrays of what it checks.
            A = copy(A)
            A.check_format(full_check=True)
        coo = A.tocoo(copy=False)
        rows, columns, values = coo.row, coo.col, coo.data
        if A.format in ("dia", "bsr"):
            rows, columns, values = (part[coo.data != 0] for part in (rows, columns, values))
    if len(rows) and (min(rows.min(), columns.min()) < 0 or max(rows.max(), columns.max()) >= A.shape[0]):
        raise ValueError(f"A stores an index outside 0..{A.shape[0] - 1}; its index arrays are inconsistent")
    data = _as_lengths(values) if weighted else np.ones(len(rows), np.bool_)
    return sparse.coo_array((data, (rows, columns)), shape=A.shape)


def _as_lengths(values: NDArray[Any]) -> NDArray[np.float64]:
    if values.dtype.kind in "iu" and len(values) and values.max() > EXACT_INTEGERS:
        raise ValueError(
            f"A holds the integer length {values.max()}, above 2**53, which float64 does not hold exactly; "
            "pass A.astype(float) to take the nearest float64 of each, or a smaller unit of length"
        )
    return values.astype(np.float64)


def _require_lengths(matrix: sparse.csr_array) -> None:
    matrix.sort_indices()
    invalid = ~(np.isfinite(matrix.data) & (matrix.data > 0))
    if not invalid.any():
        return
    first = int(np.argmax(invalid))
    i = int(np.searchsorted(matrix.indptr, first, side="right")) - 1
    raise ValueError(
        f"{np.count_nonzero(invalid)} of the {matrix.nnz} lengths of A are not finite and > 0, the first at "
        f"({i}, {matrix.indices[first]}): {matrix.data[first]}. Remove those entries or give them a length; "
        "for strengths w pass 1 / w; weighted=False counts hops"
    )


def _require_finite_paths(matrix: sparse.csr_array) -> None:
    longest = matrix.data.max(initial=0)
    if longest > np.finfo(np.float64).max / max(matrix.shape[0], 1):
        raise ValueError(
            f"A holds the length {longest}; a path of {matrix.shape[0]} such edges is longer than float64 holds; "
            "use a larger unit of length"
        )


def _smaller_of_both(matrix: sparse.csr_array) -> sparse.csr_array:
    """Take every edge in both directions, with the smaller of the two lengths; SciPy drops what becomes zero."""
    reverse = matrix.T.tocsr()
    if _are_equal(matrix, reverse):
        return matrix
    smaller, larger = matrix.minimum(reverse), matrix.maximum(reverse)
    # An edge that is stored one way has no entry in `smaller`, as its other length counts as zero.
    return (larger - larger.multiply(smaller.astype(np.bool_)) + smaller).tocsr()


def _are_equal(first: sparse.csr_array, second: sparse.csr_array) -> bool:
    """Whether two matrices with sorted indices store the same."""
    return all(np.array_equal(getattr(first, part), getattr(second, part)) for part in ("indptr", "indices", "data"))


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


def _without_loops(coo: sparse.coo_array) -> sparse.coo_array:
    kept = coo.row != coo.col
    return sparse.coo_array((coo.data[kept], (coo.row[kept], coo.col[kept])), shape=coo.shape)


def _from_matrix(matrix: sparse.csr_array, *, directed: bool, weighted: bool) -> Graph:
    matrix.sort_indices()
    index_type = np.int32 if matrix.shape[0] <= np.iinfo(np.int32).max else np.int64
    return Graph(
        indptr=matrix.indptr.astype(np.int64),
        indices=matrix.indices.astype(index_type),
        directed=directed,
        weights=matrix.data if weighted else None,
    )
