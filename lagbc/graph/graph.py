"""The graph that every method reads: immutable, with what is derived from it cached."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from lagbc.graph import tuning
from lagbc.graph.csr import Csr, as_numpy, both_ways, from_entries, module_of, rows_of
from lagbc.graph.order.degree import degree_order
from lagbc.graph.order.proximity import proximity_order
from lagbc.graph.order.search import bfs_extent, weak_components


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
    known_depth : int or None
        The depth to take, of the graph that this one is a part of; None searches for it.

    Notes
    -----
    The arrays are NumPy's, or CuPy's: a graph lives on the host or on a device, and there, too, what is derived from
    it. `order`, `position` and degrees are always NumPy arrays.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[Any]
    directed: bool
    weights: NDArray[np.float64] | None = None
    copied_from: Graph | None = field(default=None, repr=False)
    known_depth: int | None = field(default=None, repr=False)

    @classmethod
    def from_csr(cls, csr: Csr, directed: bool) -> Graph:
        """Take compressed rows, in canonical form, as a graph."""
        indptr, indices, weights = csr
        return cls(indptr, indices, directed, weights)

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

    @property
    def is_on_device(self) -> bool:
        """Whether its arrays are CuPy's."""
        return not isinstance(self.indptr, np.ndarray)

    @cached_property
    def on_device(self) -> Graph:
        """The graph on CuPy's current device; itself if it is on one."""
        import cupy

        if isinstance(self.indptr, cupy.ndarray):
            return self
        weights = None if self.weights is None else cupy.asarray(self.weights)
        return Graph(
            cupy.asarray(self.indptr), cupy.asarray(self.indices), self.directed, weights, self, self.known_depth
        )

    @cached_property
    def on_host(self) -> Graph:
        """The graph in the host's memory; itself if it is there."""
        if isinstance(self.indptr, np.ndarray):
            return self
        if self.copied_from is not None:
            return self.copied_from
        weights = None if self.weights is None else as_numpy(self.weights)
        return Graph(
            as_numpy(self.indptr), as_numpy(self.indices), self.directed, weights, known_depth=self.known_depth
        )

    @property
    def rows(self) -> Any:
        """Tail of each edge."""
        return rows_of(self.indptr, self.indices)

    @cached_property
    def transpose(self) -> Graph:
        """The graph with every edge reversed; the same object if it is symmetric."""
        if not self.directed:
            return self
        reverse = Graph.from_csr(from_entries(self.n, self.indices, self.rows, self.weights), directed=True)
        equal = module_of(self.indptr).array_equal
        alike = equal(reverse.indptr, self.indptr) and equal(reverse.indices, self.indices)
        return self if alike and (self.weights is None or equal(reverse.weights, self.weights)) else reverse

    @cached_property
    def symmetric(self) -> Graph:
        """The pattern with every edge taken in both directions."""
        if not self.directed or (self.weights is None and self.transpose is self):
            return self
        return Graph.from_csr(both_ways(self.n, self.indptr, self.indices, None), directed=False)

    @cached_property
    def components(self) -> Any:
        """Weakly connected component of each vertex, numbered from 0."""
        return weak_components(self.indptr, self.indices)

    @cached_property
    def depth(self) -> int:
        """A lower bound of the diameter: BFS depth from the hub of the largest weak component."""
        if self.known_depth is not None:
            return self.known_depth
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
    def has_high_diameter(self) -> bool:
        """Whether the graph looks like a mesh or a road network, whose diameter is far above log2(n)."""
        return bool(self.depth > tuning.HIGH_DIAMETER * np.log2(max(self.n, 2)))

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The vertex order for sweeps: proximity if the diameter is high, else falling degree; no edges, last."""
        xp, both = module_of(self.indptr), self.symmetric
        degrees = xp.diff(both.indptr)
        if not self.has_high_diameter:
            order = degree_order(degrees)
        else:
            order = proximity_order(both.indptr, both.indices, self.components)
            order = order[xp.argsort(degrees[order] == 0, kind="stable")]
        on_host: NDArray[np.int64] = as_numpy(order)
        return on_host

    @cached_property
    def position(self) -> NDArray[np.int64]:
        """Place of each vertex in sweep order, the inverse of `order`."""
        position = np.empty(self.n, np.int64)
        position[self.order] = np.arange(self.n)
        return position

    @cached_property
    def reordered(self) -> Graph:
        """The graph in sweep order: its vertex i is this graph's vertex ``order[i]``."""
        entries = from_entries(self.n, *self._ends_in_sweep_order(), self.weights)
        return Graph.from_csr(entries, self.directed)

    @cached_property
    def edge_order(self) -> Any:
        """The edges in the order of `reordered`: its edge e is this graph's edge ``edge_order[e]``."""
        xp = module_of(self.indptr)
        return from_entries(self.n, *self._ends_in_sweep_order(), xp.arange(self.nnz))[2]

    def keep(self, kept: Any) -> Graph:
        """Leave out edges, a flag each that says whether it stays; what is left counts as being as deep."""
        xp = module_of(self.indptr)
        before = xp.concatenate([xp.zeros(1, np.int64), xp.cumsum(kept, dtype=np.int64)])
        weights = None if self.weights is None else self.weights[kept]
        depth = (self.copied_from or self).depth
        return Graph(before[self.indptr], self.indices[kept], self.directed, weights, known_depth=depth)

    def _ends_in_sweep_order(self) -> tuple[Any, Any]:
        position = module_of(self.indptr).asarray(self.position)
        return position[self.rows], position[self.indices]
