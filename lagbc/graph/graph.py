"""The graph that every method reads: validated once, immutable, with what is derived from it cached.

All checks of the caller's matrix are here and nowhere else.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lagbc.graph import adapters
from lagbc.graph.csr import Csr, as_numpy, from_entries, module_of, rows_of
from lagbc.graph.ordering import Order, bfs_extent, degree_order, proximity_order, weak_components

# A BFS deeper than this many times log2(n) marks a mesh or a road network; see `Graph.is_deep`.
DEEP = 2.0
# A graph given on the host, with up to so many edges, is ordered there also for the GPU. The order of 2**18 mesh
# vertices takes 2 s on the host, and 0.3 s on an H100; but there 30 s the first time, when CuPy compiles its kernels.
HOST_EDGES = 2**20
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
    copied_from : Graph or None
        The same graph on the host, if this one is its copy on a device.

    Notes
    -----
    The arrays are NumPy's, or CuPy's: a graph lives on the host or on a device, and there, too, what is derived from
    it. `order` and degrees are always NumPy arrays.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[Any]
    directed: bool
    weights: NDArray[np.float64] | None = None
    copied_from: Graph | None = field(default=None, repr=False)

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
        degrees: NDArray[np.int64] = as_numpy(self.indptr[1:] - self.indptr[:-1])
        return degrees

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
        # SciPy widens both index arrays to the wider of the two.
        fits = self.nnz <= np.iinfo(self.indices.dtype).max
        indptr = self.indptr.astype(self.indices.dtype) if fits else self.indptr
        return sparse.csr_array((np.ones(self.nnz, np.bool_), self.indices, indptr), shape=(self.n, self.n))

    @cached_property
    def matrix(self) -> sparse.csr_array:
        """The lengths as a SciPy matrix; the pattern if there are none."""
        if self.weights is None:
            return self.pattern
        return sparse.csr_array((self.weights, self.pattern.indices, self.pattern.indptr), shape=(self.n, self.n))

    @cached_property
    def on_device(self) -> Graph:
        """The graph on CuPy's current device; itself if it is on one."""
        import cupy

        if isinstance(self.indptr, cupy.ndarray):
            return self
        weights = None if self.weights is None else cupy.asarray(self.weights)
        return Graph(cupy.asarray(self.indptr), cupy.asarray(self.indices), self.directed, weights, self)

    @cached_property
    def on_host(self) -> Graph:
        """The graph in the host's memory; itself if it is there."""
        if isinstance(self.indptr, np.ndarray):
            return self
        if self.copied_from is not None:
            return self.copied_from
        weights = None if self.weights is None else as_numpy(self.weights)
        return Graph(as_numpy(self.indptr), as_numpy(self.indices), self.directed, weights)

    @property
    def rows(self) -> Any:
        """Tail of each edge."""
        return rows_of(self.indptr, self.indices)

    @cached_property
    def transpose(self) -> Graph:
        """The graph with every edge reversed; the same object if it is symmetric."""
        if not self.directed:
            return self
        reverse = _from_csr(from_entries(self.n, self.indices, self.rows, self.weights), directed=True)
        equal = module_of(self.indptr).array_equal
        alike = equal(reverse.indptr, self.indptr) and equal(reverse.indices, self.indices)
        return self if alike and (self.weights is None or equal(reverse.weights, self.weights)) else reverse

    @cached_property
    def symmetric(self) -> Graph:
        """The pattern with every edge taken in both directions."""
        if not self.directed or (self.weights is None and self.transpose is self):
            return self
        return _from_csr(_both_ways(self.n, self.indptr, self.indices, None), directed=False)

    @cached_property
    def components(self) -> Any:
        """Weakly connected component of each vertex, numbered from 0."""
        return weak_components(self.indptr, self.indices)

    @cached_property
    def depth(self) -> int:
        """A lower bound of the diameter: BFS depth from the hub of the largest weak component."""
        if not self.nnz:
            return 0
        xp, both = module_of(self.indptr), self.symmetric
        degrees = xp.diff(both.indptr)
        depth, reached = bfs_extent(both.indptr, both.indices, int(xp.argmax(degrees)))
        if 2 * reached < int(xp.count_nonzero(degrees)):
            # The hub of all is in another component; finding the components takes longer than the search.
            largest = xp.argmax(xp.bincount(self.components))
            hub = int(xp.argmax(xp.where(self.components == largest, degrees, -1)))
            depth, _ = bfs_extent(both.indptr, both.indices, hub)
        return depth

    @property
    def is_deep(self) -> bool:
        """Whether the graph looks like a mesh or a road network, whose diameter is far above log2(n)."""
        return bool(self.depth > DEEP * np.log2(max(self.n, 2)))

    @cached_property
    def order(self) -> Order:
        """The vertex order for sweeps: proximity on deep graphs, falling degree on the others; no edges, last."""
        xp, both = module_of(self.indptr), self.symmetric
        degrees = xp.diff(both.indptr)
        if not self.is_deep:
            order = degree_order(degrees)
        else:
            order = proximity_order(both.indptr, both.indices, self.components)
            order = order[xp.argsort(degrees[order] == 0, kind="stable")]
        on_host: Order = as_numpy(order)
        return on_host

    @cached_property
    def reordered(self) -> Graph:
        """The graph in sweep order: its vertex i is this graph's vertex ``order[i]``."""
        entries = from_entries(self.n, *self._ends_in_sweep_order(), self.weights)
        return _from_csr(entries, self.directed)

    @cached_property
    def edge_order(self) -> Any:
        """The edges in the order of `reordered`: its edge e is this graph's edge ``edge_order[e]``."""
        xp = module_of(self.indptr)
        return from_entries(self.n, *self._ends_in_sweep_order(), xp.arange(self.nnz))[2]

    def keep(self, kept: Any) -> Graph:
        """Leave out edges, a flag each that says whether it stays; what is left counts as deep if this graph does."""
        xp = module_of(self.indptr)
        before = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(kept, dtype=np.int64)])
        weights = None if self.weights is None else self.weights[kept]
        part = Graph(before[self.indptr], self.indices[kept], self.directed, weights)
        vars(part)["depth"] = (self.copied_from or self).depth  # a cached property
        return part

    def _ends_in_sweep_order(self) -> tuple[Any, Any]:
        xp = module_of(self.indptr)
        rank = xp.empty(self.n, np.int64)
        rank[xp.asarray(self.order)] = xp.arange(self.n)
        return rank[self.rows], rank[self.indices]


def _from_csr(csr: Csr, directed: bool) -> Graph:
    indptr, indices, weights = csr
    return Graph(indptr, indices, directed, weights)


def as_graph(A: Any, *, directed: bool | None = None, weighted: bool = False) -> Graph:
    """Validate a matrix and take its pattern, and if asked for its values as lengths.

    Parameters
    ----------
    A : SciPy sparse array or matrix of any format, or dense 2-D ndarray; shape (n, n)
        ``A[i, j]`` stored is the edge i -> j. A stored zero is an edge, except in the DIA and BSR formats, which store
        zeros as padding. In a dense array the nonzeros are the edges. Values are not read otherwise; self loops are
        dropped and duplicates merged. `A` is not changed. A networkx.Graph (vertices in the order of ``list(A)``), an
        igraph.Graph or a graphblas.Matrix is read through `lagbc.graph.adapters`.
    directed : bool, optional
        False takes every edge in both directions. None takes what a graph says of itself; True for a matrix.
    weighted : bool
        Take the values as lengths: finite and > 0. Duplicates are summed, as SciPy does; of two directions that
        `directed` joins the smaller length counts, and of parallel edges of a graph the smallest.

    Returns
    -------
    Graph
        `A` itself if it is a `Graph`; its `directed` and `weighted` must be those asked for.

    Raises
    ------
    TypeError
        `A` is not a matrix or graph that lagbc reads, has object dtype, or is weighted and complex; `directed` is no
        bool.
    ValueError
        `A` is not square, its index arrays are inconsistent, a dense `A` holds NaN or infinity, or `A` is weighted and
        holds a value that is no length.
    """
    if directed is None:
        directed = A.directed if isinstance(A, Graph) else adapters.is_directed(A)
    elif not isinstance(directed, bool | np.bool_):
        raise TypeError(f"directed={directed!r} is neither True nor False")
    if isinstance(A, Graph):
        if (A.directed, A.weighted) != (directed, weighted):
            raise ValueError(
                f"A is a Graph with directed={A.directed} and weighted={A.weighted}, but directed={directed} and "
                f"weighted={weighted} were asked for"
            )
        return A
    if adapters.is_adaptable(A):
        A = adapters.to_matrix(A, weighted=weighted)
    _require_matrix(A)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"A has shape {A.shape}, but an adjacency matrix is square: n rows and n columns")
    if A.dtype == object:
        raise TypeError("A has dtype object; convert it to a numeric or bool dtype first, e.g. A.astype(float)")
    if weighted and A.dtype.kind not in "biuf":
        raise TypeError(f"A has dtype {A.dtype}; lengths are real numbers: pass A.astype(float), or weighted=False")
    n = A.shape[0]
    rows, columns, values = _stored_entries(A)
    lengths = _as_lengths(values) if weighted else None
    edge = rows != columns
    csr = from_entries(n, rows[edge], columns[edge], None if lengths is None else lengths[edge])
    if weighted:
        _require_lengths(*csr)
        _require_finite_paths(n, csr[2])
    if not directed:
        csr = _both_ways(n, *csr)
    return _from_csr(csr, directed)


def stored_loops(A: Any) -> Any:
    """Vertices whose self loop `A` stores, in ascending order; `A` is a matrix or graph that `as_graph` has taken."""
    if isinstance(A, Graph):
        return A.indices[:0]
    rows, columns, _ = _stored_entries(adapters.to_matrix(A) if adapters.is_adaptable(A) else A)
    return module_of(rows).unique(rows[rows == columns])


def is_cupy(A: Any) -> bool:
    """Whether `A` is a CuPy sparse matrix."""
    return type(A).__module__.startswith("cupyx.") and hasattr(A, "get")


def _require_matrix(A: Any) -> None:
    if isinstance(A, np.ma.MaskedArray):
        raise TypeError("A is a masked array; pass A.filled(0), in which a masked entry is no edge")
    if sparse.issparse(A) or isinstance(A, np.ndarray) or is_cupy(A):
        return
    kind = f"{type(A).__module__}.{type(A).__qualname__}"
    if isinstance(A, str):
        raise TypeError(f"A is the string {A!r}; to read a graph file, pass lagbc.read_graph({A!r}).matrix")
    if isinstance(getattr(A, "matrix", None), sparse.sparray):
        raise TypeError(f"A is a {kind}; pass A.matrix, directed=A.directed")
    raise TypeError(
        f"A is a {kind}; lagbc takes a SciPy sparse array or matrix, a dense 2-D numpy.ndarray, a networkx.Graph, an "
        "igraph.Graph or a graphblas.Matrix"
    )


def _stored_entries(A: Any) -> tuple[Any, Any, Any]:
    """Rows, columns and values of the stored entries."""
    if isinstance(A, np.ndarray):
        rows, columns = np.nonzero(_dense_pattern(A))
        return rows, columns, A[rows, columns]
    if is_cupy(A):
        _require_consistent(A)
    elif A.format in ("csr", "csc", "bsr"):
        # The check prunes and recasts the index arrays of what it checks.
        A = copy(A)
        A.check_format(full_check=True)
    coo = A.tocoo()
    rows, columns, values = coo.row, coo.col, coo.data
    if A.format in ("dia", "bsr"):
        rows, columns, values = (part[coo.data != 0] for part in (rows, columns, values))
    if len(rows) and (min(rows.min(), columns.min()) < 0 or max(rows.max(), columns.max()) >= A.shape[0]):
        raise ValueError(f"A stores an index outside 0..{A.shape[0] - 1}; its index arrays are inconsistent")
    return rows, columns, values


def _require_consistent(A: Any) -> None:
    """Check a CuPy matrix's pointers, as SciPy's `check_format` does."""
    if A.format not in ("csr", "csc"):
        return
    indptr, stored = A.indptr, min(len(A.indices), len(A.data))
    if int(indptr[0]) != 0 or int(indptr[-1]) > stored or bool((indptr[1:] < indptr[:-1]).any()):
        raise ValueError(f"A.indptr does not rise from 0 to at most {stored}, the number of stored indices")


def _as_lengths(values: Any) -> Any:
    if values.dtype.kind in "iu" and len(values) and int(values.max()) > EXACT_INTEGERS:
        raise ValueError(
            f"A holds the integer length {values.max()}, above 2**53, which float64 does not hold exactly; "
            "pass A.astype(float) to take the nearest float64 of each, or a larger unit of length"
        )
    return values.astype(np.float64)


def _require_lengths(indptr: Any, indices: Any, lengths: Any) -> None:
    xp = module_of(lengths)
    invalid = ~(xp.isfinite(lengths) & (lengths > 0))
    if not invalid.any():
        return
    first = int(xp.argmax(invalid))
    i = int(xp.searchsorted(indptr, xp.asarray([first]), side="right")[0]) - 1
    raise ValueError(
        f"{int(invalid.sum())} of the {len(lengths)} lengths of A are not finite and > 0, the first at "
        f"({i}, {int(indices[first])}): {float(lengths[first])}. Remove those entries or give them a length; "
        "for strengths w pass 1 / w; weighted=False counts hops"
    )


def _require_finite_paths(n: int, lengths: Any) -> None:
    longest = float(lengths.max()) if len(lengths) else 0.0
    if longest > np.finfo(np.float64).max / max(n, 1):
        raise ValueError(
            f"A holds the length {longest}; a path of {n} such edges is longer than float64 holds; "
            "use a larger unit of length"
        )


def _both_ways(n: int, indptr: Any, indices: Any, lengths: Any) -> Csr:
    """Take every edge in both directions, with the smaller of the two lengths."""
    join, rows = module_of(indices).concatenate, rows_of(indptr, indices)
    both = None if lengths is None else join([lengths, lengths])
    return from_entries(n, join([rows, indices]), join([indices, rows]), both, smallest=lengths is not None)


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
