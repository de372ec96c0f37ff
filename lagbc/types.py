"""The types of public arguments and results, for annotations and type checkers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

MethodName: TypeAlias = Literal[
    "batched",
    "graphblas",
    "spmm",
    "delta-stepping",
    "dijkstra",
    "node-parallel",
    "warp-centric",
    "edge-parallel",
    "work-efficient",
    "active-edge",
    "hybrid",
]
DeviceName: TypeAlias = Literal["cpu", "cuda"]
# What is taken off a graph before it is swept: what pays, nothing, or all that can be.
ReduceName: TypeAlias = Literal["auto", "none", "all"]
DTypeName: TypeAlias = Literal["float64", "float32"]
CentralityName: TypeAlias = Literal[
    "bc", "edge_bc", "closeness", "harmonic", "eccentricity", "eccentricity_centrality", "stress", "reach", "gravity"
]
# An argument that lagbc chooses, and one that stands for all there are: ``method: MethodName | Auto = "auto"``.
Auto: TypeAlias = Literal["auto"]
All: TypeAlias = Literal["all"]
# Where a run is computed: a kind of device, or GPUs by their numbers.
Devices: TypeAlias = DeviceName | Auto | All | int | Sequence[int]


class _ScoresOfVertices(TypedDict, total=False):
    bc: NDArray[np.float64]
    closeness: NDArray[np.float64]
    harmonic: NDArray[np.float64]
    eccentricity: NDArray[np.float64]
    eccentricity_centrality: NDArray[np.float64]
    stress: NDArray[np.float64]
    reach: NDArray[np.float64]
    gravity: NDArray[np.float64]


class Scores(_ScoresOfVertices, total=False):
    """What `lagbc.centralities` returns: for each centrality asked for, what the function of its name returns."""

    edge_bc: SparseMatrix


class ColumnsOfScores(_ScoresOfVertices, total=False):
    """What `lagbc.centralities` returns with several cutoffs or decays: a column each, of edges a matrix each."""

    edge_bc: list[SparseMatrix]


# Libraries that need not be installed, and have no types for the most part, are told by what their objects have.


class SparseMatrix(Protocol):
    """A sparse array or matrix of SciPy or CuPy, in any format."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def format(self) -> str: ...
    @property
    def nnz(self) -> int: ...
    def tocoo(self) -> Any: ...
    def tocsr(self) -> Any: ...
    def toarray(self) -> NDArray[Any]: ...


class NetworkXGraph(Protocol):
    """A networkx.Graph or a subclass of it."""

    def is_directed(self) -> bool: ...
    def is_multigraph(self) -> bool: ...
    def adjacency(self) -> Any: ...


class IgraphGraph(Protocol):
    """An igraph.Graph."""

    def is_directed(self) -> bool: ...
    def vcount(self) -> int: ...
    def get_edgelist(self) -> Any: ...


class RustworkxGraph(Protocol):
    """A rustworkx.PyGraph or PyDiGraph."""

    def node_indices(self) -> Any: ...
    def weighted_edge_list(self) -> Any: ...


class NetworkitGraph(Protocol):
    """A networkit.Graph."""

    def isDirected(self) -> Any: ...  # noqa: N802
    def iterNodes(self) -> Any: ...  # noqa: N802


class GraphToolGraph(Protocol):
    """A graph_tool.Graph, or a view of one."""

    def is_directed(self) -> bool: ...
    def get_vertices(self) -> Any: ...
    def get_edges(self) -> Any: ...


class GraphblasMatrix(Protocol):
    """A graphblas.Matrix, or the transpose of one."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    def to_coo(self) -> Any: ...


class PreparedGraph(Protocol):
    """What `lagbc.as_graph` returns."""

    @property
    def n(self) -> int: ...
    @property
    def nnz(self) -> int: ...
    @property
    def directed(self) -> bool: ...
    @property
    def weighted(self) -> bool: ...


class ReadGraph(Protocol):
    """What `lagbc.read_graph` returns."""

    @property
    def matrix(self) -> Any: ...
    @property
    def directed(self) -> bool: ...
    @property
    def labels(self) -> Any: ...


ScoresAndErrors: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]
"""What ``standard_error=True`` returns for vertices: estimates, and how far each may be off."""


class Event(Protocol):
    """A threading.Event, or one of another library."""

    def is_set(self) -> bool: ...


Stop: TypeAlias = Event | Callable[[], bool]
"""What tells a run that it shall end."""


class DataFrame(Protocol):
    """A data frame of pandas or polars, or a table of Arrow."""

    @property
    def columns(self) -> Any: ...
    def __getitem__(self, key: Any, /) -> Any: ...


CsrArrays: TypeAlias = tuple[NDArray[Any], NDArray[Any]] | tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""The arrays of a CSR matrix: (indptr, indices), or (data, indices, indptr) as SciPy takes them."""
GraphLike: TypeAlias = (
    NDArray[Any]
    | SparseMatrix
    | CsrArrays
    | NetworkXGraph
    | IgraphGraph
    | RustworkxGraph
    | NetworkitGraph
    | GraphToolGraph
    | GraphblasMatrix
    | PreparedGraph
    | ReadGraph
)
"""All that lagbc reads a graph from."""
One: TypeAlias = float | np.floating[Any] | np.integer[Any]
"""One cutoff or decay."""
Several: TypeAlias = Sequence[float] | NDArray[np.floating[Any] | np.integer[Any]]
"""Several cutoffs or decays, a column each."""
DemandLike: TypeAlias = (
    NDArray[Any]
    | SparseMatrix
    | tuple[Sequence[Any] | NDArray[Any], NDArray[Any] | SparseMatrix]
    | Mapping[Any, Mapping[Any, float]]
    | DataFrame
)
"""Trips between pairs of vertices: a matrix of all or of those named, a dict of dicts, or a table."""
