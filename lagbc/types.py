"""The types of public arguments and results, for annotations and type checkers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal, Protocol, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

DeviceName: TypeAlias = Literal["cpu", "cuda"]
# The reductions before the sweeps: those that pay, none, or all that apply.
ReduceName: TypeAlias = Literal["auto", "none", "all"]
# The type of path counts; scores are always float64.
DTypeName: TypeAlias = Literal["float64", "float32"]
# `Auto` leaves the choice to lagbc, as in ``device: DeviceName | Auto = "auto"``; `All` takes all methods or devices.
Auto: TypeAlias = Literal["auto"]
All: TypeAlias = Literal["all"]
# The devices of a run: one kind, lagbc's choice, all GPUs, or GPUs by their numbers.
Devices: TypeAlias = DeviceName | Auto | All | int | Sequence[int]


# The centralities that may share a sweep, and their scores.
CentralityName: TypeAlias = Literal[
    "bc", "edge_bc", "closeness", "harmonic", "eccentricity", "eccentricity_centrality", "stress", "reach", "gravity"
]


class _ScoresOfVertices(TypedDict):
    bc: NDArray[np.float64]
    closeness: NDArray[np.float64]
    harmonic: NDArray[np.float64]
    eccentricity: NDArray[np.float64]
    eccentricity_centrality: NDArray[np.float64]
    stress: NDArray[np.float64]
    reach: NDArray[np.float64]
    gravity: NDArray[np.float64]


class Scores(_ScoresOfVertices):
    """The scores from `lagbc.centralities` that were asked for, each the result of the function with its name."""

    edge_bc: EdgeScores


class ColumnsOfScores(_ScoresOfVertices):
    """The scores from `lagbc.centralities` with several cutoffs or decays: (n, columns), or a matrix a column."""

    edge_bc: list[EdgeScores]


# Graphs and matrices of other libraries. Each protocol names a few attributes, so that no library has to be imported.


class SparseMatrix(Protocol):
    """A sparse array or matrix of SciPy or CuPy, in any format: by methods, as SciPy's sources tell no types."""

    def tocoo(self) -> Any: ...
    def tocsr(self) -> Any: ...
    def toarray(self) -> Any: ...


class EdgeScores(Protocol):
    """Scores of edges: a sparse array or matrix of SciPy or CuPy, in the format of the call's matrix, CSR of others."""

    data: NDArray[np.float64]

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def format(self) -> str: ...
    @property
    def dtype(self) -> np.dtype[np.float64]: ...
    @property
    def nnz(self) -> int: ...
    @property
    def T(self) -> Any: ...  # noqa: N802
    def tocoo(self) -> Any: ...
    def tocsr(self) -> Any: ...
    def toarray(self) -> NDArray[np.float64]: ...
    def sum(self, axis: int | None = None) -> Any: ...
    def max(self, axis: int | None = None) -> Any: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __add__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...


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


class ArrowData(Protocol):
    """A column or table of pyarrow, polars, DuckDB or any library that hands over Arrow."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


class PreparedGraph(Protocol):
    """A graph from `lagbc.as_graph`."""

    @property
    def n(self) -> int: ...
    @property
    def nnz(self) -> int: ...
    @property
    def directed(self) -> bool: ...
    @property
    def weighted(self) -> bool: ...


class ReadGraph(Protocol):
    """A graph from `lagbc.read_graph`."""

    @property
    def matrix(self) -> Any: ...
    @property
    def directed(self) -> bool: ...
    @property
    def labels(self) -> Any: ...


class AdjacencyFrame(Protocol):
    """A data frame of pandas whose index and columns are the vertices."""

    @property
    def index(self) -> Any: ...
    @property
    def columns(self) -> Any: ...
    def to_numpy(self) -> Any: ...


ScoresAndErrors: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64]]
"""The result with ``standard_error=True``, for vertices: estimates and their standard errors."""


class Event(Protocol):
    """A threading.Event, or one of another library."""

    def is_set(self) -> bool: ...


Stop: TypeAlias = Event | Callable[[], bool]
"""An event or a function that asks a run to end."""


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
    | AdjacencyFrame
)
"""All forms of a graph that lagbc reads."""
Vertices: TypeAlias = ArrayLike | AbstractSet[Any]
"""Some vertices, by their numbers or names."""
One: TypeAlias = float | np.floating[Any] | np.integer[Any]
"""One cutoff (hops or lengths), or one decay (per hop or unit of length)."""
Several: TypeAlias = Sequence[float] | NDArray[np.floating[Any] | np.integer[Any]]
"""Several cutoffs or decays; scores have a column for each."""
DemandLike: TypeAlias = (
    NDArray[Any]
    | SparseMatrix
    | tuple[Sequence[Any] | NDArray[Any], NDArray[Any] | SparseMatrix]
    | Mapping[Any, Mapping[Any, float]]
    | DataFrame
)
"""Trips from vertex to vertex: a matrix (n, n), names with a matrix of those vertices, a dict of dicts, or a table."""
