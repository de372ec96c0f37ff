"""Types of the public names; made by ``python -m lagbc.interfaces.stub``."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lagbc.run.shares import Written
from lagbc import plots as plots, reference as reference, types as types
from lagbc.centrality.counts import shortest_path_counts as shortest_path_counts
from lagbc.centrality.parts import merge_parts as merge_parts
from lagbc.centrality.preview import estimate_memory as estimate_memory, select_method as select_method
from lagbc.centrality.registry import Centrality as Centrality, register_centrality as register_centrality, unregister_centrality as unregister_centrality
from lagbc.centrality.table import table as table
from lagbc.comparison.compare import compare as compare
from lagbc.comparison.records import Comparison as Comparison, Measurement as Measurement
from lagbc.errors import CheckpointError as CheckpointError, Error as Error, ExecutorError as ExecutorError, GraphFileWarning as GraphFileWarning, GraphFormatError as GraphFormatError, MemoryWarning as MemoryWarning, MissingDependencyError as MissingDependencyError, PartError as PartError, StoppedError as StoppedError, TieWarning as TieWarning
from lagbc.estimates.estimate import Estimate as Estimate, estimate as estimate
from lagbc.graph.validate import as_graph as as_graph
from lagbc.io.examples import example_path as example_path
from lagbc.io.from_edges import graph_from_edges as graph_from_edges
from lagbc.io.graph_file import GraphFile as GraphFile
from lagbc.io.read import read_graph as read_graph
from lagbc.methods.table import METHODS as METHODS, Method as Method, register_method as register_method, unregister_method as unregister_method
from lagbc.plan.choose import Selection as Selection
from lagbc.plan.memory import MemoryEstimate as MemoryEstimate
from lagbc.plan.options import Options as Options, Progress as Progress, config as config
from lagbc.types import Auto, CentralityName, ColumnsOfScores, DemandLike, EdgeScores, GraphLike, One, Scores, ScoresAndErrors, Several, Vertices

__version__: str
__all__ = ['Centrality', 'CheckpointError', 'Comparison', 'Error', 'Estimate', 'ExecutorError', 'GraphFile', 'GraphFileWarning', 'GraphFormatError', 'METHODS', 'Measurement', 'MemoryEstimate', 'MemoryWarning', 'Method', 'MissingDependencyError', 'Options', 'PartError', 'Progress', 'Selection', 'StoppedError', 'TieWarning', 'as_graph', 'bc', 'centralities', 'closeness', 'compare', 'config', 'eccentricity', 'eccentricity_centrality', 'edge_bc', 'estimate', 'estimate_memory', 'example_path', 'graph_from_edges', 'gravity', 'group_bc', 'harmonic', 'merge_parts', 'percolation', 'plots', 'reach', 'read_graph', 'reference', 'register_centrality', 'register_method', 'save_part', 'select_method', 'shortest_path_counts', 'stress', 'table', 'types', 'unregister_centrality', 'unregister_method']

class _OfBc(Options, total=False):
    batch: int | Auto
    directed: bool | None
    weighted: bool | str | None
    strength: bool | str
    sources: Vertices | None
    targets: Vertices | None
    source_weights: ArrayLike | Mapping[Any, float] | None
    target_weights: ArrayLike | Mapping[Any, float] | None
    demand: DemandLike | None
    cutoff: ArrayLike | None
    decay: ArrayLike | None
    rtol: float | None
    k: int | None
    rng: int | np.random.Generator | None
    normalized: bool
    endpoints: bool
@overload
def bc(A: GraphLike, *, standard_error: Literal[False] = ..., **others: Unpack[_OfBc]) -> NDArray[np.float64]: ...
@overload
def bc(A: GraphLike, *, standard_error: Literal[True], **others: Unpack[_OfBc]) -> ScoresAndErrors: ...
class _OfCloseness(Options, total=False):
    batch: int | Auto
    directed: bool | None
    weighted: bool | str | None
    strength: bool | str
    sources: Vertices | None
    cutoff: ArrayLike | None
    k: int | None
    rng: int | np.random.Generator | None
    wf_improved: bool
@overload
def closeness(A: GraphLike, *, standard_error: Literal[False] = ..., **others: Unpack[_OfCloseness]) -> NDArray[np.float64]: ...
@overload
def closeness(A: GraphLike, *, standard_error: Literal[True], **others: Unpack[_OfCloseness]) -> ScoresAndErrors: ...
def eccentricity(A: GraphLike, *, batch: int | Auto = ..., directed: bool | None = ..., weighted: bool | str | None = ..., strength: bool | str = ..., cutoff: ArrayLike | None = ..., **options: Unpack[Options]) -> NDArray[np.float64]: ...
def eccentricity_centrality(A: GraphLike, *, batch: int | Auto = ..., directed: bool | None = ..., weighted: bool | str | None = ..., strength: bool | str = ..., cutoff: ArrayLike | None = ..., **options: Unpack[Options]) -> NDArray[np.float64]: ...
class _OfEdgeBc(Options, total=False):
    batch: int | Auto
    directed: bool | None
    weighted: bool | str | None
    strength: bool | str
    sources: Vertices | None
    targets: Vertices | None
    source_weights: ArrayLike | Mapping[Any, float] | None
    target_weights: ArrayLike | Mapping[Any, float] | None
    demand: DemandLike | None
    rtol: float | None
    k: int | None
    rng: int | np.random.Generator | None
    normalized: bool
@overload
def edge_bc(A: GraphLike, *, cutoff: One | None = ..., decay: One | None = ..., standard_error: Literal[False] = ..., **others: Unpack[_OfEdgeBc]) -> EdgeScores: ...
@overload
def edge_bc(A: GraphLike, *, cutoff: Several, decay: ArrayLike | None = ..., standard_error: Literal[False] = ..., **others: Unpack[_OfEdgeBc]) -> list[EdgeScores]: ...
@overload
def edge_bc(A: GraphLike, *, cutoff: One | None = ..., decay: Several, standard_error: Literal[False] = ..., **others: Unpack[_OfEdgeBc]) -> list[EdgeScores]: ...
@overload
def edge_bc(A: GraphLike, *, cutoff: One | None = ..., decay: One | None = ..., standard_error: Literal[True], **others: Unpack[_OfEdgeBc]) -> tuple[EdgeScores, EdgeScores]: ...
@overload
def edge_bc(A: GraphLike, *, cutoff: Several, decay: ArrayLike | None = ..., standard_error: Literal[True], **others: Unpack[_OfEdgeBc]) -> tuple[list[EdgeScores], list[EdgeScores]]: ...
@overload
def edge_bc(A: GraphLike, *, cutoff: One | None = ..., decay: Several, standard_error: Literal[True], **others: Unpack[_OfEdgeBc]) -> tuple[list[EdgeScores], list[EdgeScores]]: ...
def gravity(A: GraphLike, *, batch: int | Auto = ..., directed: bool | None = ..., weighted: bool | str | None = ..., strength: bool | str = ..., targets: Vertices | None = ..., target_weights: ArrayLike | Mapping[Any, float] | None = ..., cutoff: ArrayLike | None = ..., decay: ArrayLike | None = ..., **options: Unpack[Options]) -> NDArray[np.float64]: ...
def group_bc(A: GraphLike, groups: Iterable[Vertices], *, directed: bool | None = ..., weighted: bool | str | None = ..., strength: bool | str = ..., rtol: float | None = ..., normalized: bool = ..., endpoints: bool = ..., **options: Unpack[Options]) -> NDArray[np.float64]: ...
class _OfHarmonic(Options, total=False):
    batch: int | Auto
    directed: bool | None
    weighted: bool | str | None
    strength: bool | str
    sources: Vertices | None
    cutoff: ArrayLike | None
    k: int | None
    rng: int | np.random.Generator | None
@overload
def harmonic(A: GraphLike, *, standard_error: Literal[False] = ..., **others: Unpack[_OfHarmonic]) -> NDArray[np.float64]: ...
@overload
def harmonic(A: GraphLike, *, standard_error: Literal[True], **others: Unpack[_OfHarmonic]) -> ScoresAndErrors: ...
def percolation(A: GraphLike, states: ArrayLike | Mapping[Any, float], *, batch: int | Auto = ..., directed: bool | None = ..., weighted: bool | str | None = ..., strength: bool | str = ..., rtol: float | None = ..., **options: Unpack[Options]) -> NDArray[np.float64]: ...
def reach(A: GraphLike, *, batch: int | Auto = ..., directed: bool | None = ..., weighted: bool | str | None = ..., strength: bool | str = ..., targets: Vertices | None = ..., target_weights: ArrayLike | Mapping[Any, float] | None = ..., cutoff: ArrayLike | None = ..., **options: Unpack[Options]) -> NDArray[np.float64]: ...
class _OfStress(Options, total=False):
    batch: int | Auto
    directed: bool | None
    weighted: bool | str | None
    strength: bool | str
    sources: Vertices | None
    targets: Vertices | None
    cutoff: ArrayLike | None
    rtol: float | None
    k: int | None
    rng: int | np.random.Generator | None
    log2: bool
@overload
def stress(A: GraphLike, *, standard_error: Literal[False] = ..., **others: Unpack[_OfStress]) -> NDArray[np.float64]: ...
@overload
def stress(A: GraphLike, *, standard_error: Literal[True], **others: Unpack[_OfStress]) -> ScoresAndErrors: ...
class _OfCentralities(Options, total=False):
    batch: int | Auto
    directed: bool | None
    weighted: bool | str | None
    strength: bool | str
    sources: Vertices | None
    targets: Vertices | None
    source_weights: ArrayLike | Mapping[Any, float] | None
    target_weights: ArrayLike | Mapping[Any, float] | None
    demand: DemandLike | None
    rtol: float | None
    k: int | None
    rng: int | np.random.Generator | None
    normalized: bool
    endpoints: bool
    wf_improved: bool
    log2: bool
@overload
def centralities(A: GraphLike, which: CentralityName | Iterable[CentralityName] | None = ..., *, cutoff: One | None = ..., decay: One | None = ..., standard_error: Literal[False] = ..., **others: Unpack[_OfCentralities]) -> Scores: ...
@overload
def centralities(A: GraphLike, which: CentralityName | Iterable[CentralityName] | None = ..., *, cutoff: Several, decay: ArrayLike | None = ..., standard_error: Literal[False] = ..., **others: Unpack[_OfCentralities]) -> ColumnsOfScores: ...
@overload
def centralities(A: GraphLike, which: CentralityName | Iterable[CentralityName] | None = ..., *, cutoff: One | None = ..., decay: Several, standard_error: Literal[False] = ..., **others: Unpack[_OfCentralities]) -> ColumnsOfScores: ...
@overload
def centralities(A: GraphLike, which: CentralityName | Iterable[CentralityName] | None = ..., *, cutoff: One | None = ..., decay: One | None = ..., standard_error: Literal[True], **others: Unpack[_OfCentralities]) -> tuple[Scores, Scores]: ...
@overload
def centralities(A: GraphLike, which: CentralityName | Iterable[CentralityName] | None = ..., *, cutoff: Several, decay: ArrayLike | None = ..., standard_error: Literal[True], **others: Unpack[_OfCentralities]) -> tuple[ColumnsOfScores, ColumnsOfScores]: ...
@overload
def centralities(A: GraphLike, which: CentralityName | Iterable[CentralityName] | None = ..., *, cutoff: One | None = ..., decay: Several, standard_error: Literal[True], **others: Unpack[_OfCentralities]) -> tuple[ColumnsOfScores, ColumnsOfScores]: ...
def save_part(path: str | os.PathLike[str], part: tuple[int, int], A: GraphLike, which: CentralityName | Iterable[CentralityName] = ..., *, batch: int | Auto = ..., directed: bool | None = ..., weighted: bool | str | None = ..., strength: bool | str = ..., sources: Vertices | None = ..., targets: Vertices | None = ..., source_weights: ArrayLike | Mapping[Any, float] | None = ..., target_weights: ArrayLike | Mapping[Any, float] | None = ..., demand: DemandLike | None = ..., cutoff: ArrayLike | None = ..., decay: ArrayLike | None = ..., rtol: float | None = ..., k: int | None = ..., rng: int | None = ..., normalized: bool = ..., endpoints: bool = ..., wf_improved: bool = ..., log2: bool = ..., **options: Unpack[Options]) -> Written: ...
