"""Shortest-path centralities of large sparse graphs, by linear algebra on batches of roots.

Names are imported on first use, so that ``import lagbc`` takes milliseconds and loads no numerical library.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lagbc import plots, reference, types
    from lagbc.centrality.betweenness import bc
    from lagbc.centrality.counts import shortest_path_counts
    from lagbc.centrality.distances import closeness, eccentricity, eccentricity_centrality, harmonic
    from lagbc.centrality.edge import edge_bc
    from lagbc.centrality.group import group_bc
    from lagbc.centrality.parts import merge_parts, save_part
    from lagbc.centrality.percolation import percolation
    from lagbc.centrality.preview import estimate_memory, select_method
    from lagbc.centrality.reach import gravity, reach
    from lagbc.centrality.registry import Centrality, register_centrality, unregister_centrality
    from lagbc.centrality.stress import stress
    from lagbc.centrality.table import table
    from lagbc.centrality.together import centralities
    from lagbc.comparison.compare import compare
    from lagbc.comparison.records import Comparison, Measurement
    from lagbc.errors import (
        CheckpointError,
        Error,
        ExecutorError,
        GraphFileWarning,
        GraphFormatError,
        MemoryWarning,
        MissingDependencyError,
        PartError,
        StoppedError,
        TieWarning,
    )
    from lagbc.estimates.estimate import Estimate, estimate
    from lagbc.graph.validate import as_graph
    from lagbc.io.examples import example_path
    from lagbc.io.from_edges import graph_from_edges
    from lagbc.io.graph_file import GraphFile
    from lagbc.io.read import read_graph
    from lagbc.methods.table import METHODS, Method, register_method, unregister_method
    from lagbc.plan.choose import Selection
    from lagbc.plan.memory import MemoryEstimate
    from lagbc.plan.options import Options, Progress, config

__version__ = "0.1.0.dev0"

__all__ = [
    "METHODS",
    "Centrality",
    "CheckpointError",
    "Comparison",
    "Error",
    "Estimate",
    "ExecutorError",
    "GraphFile",
    "GraphFileWarning",
    "GraphFormatError",
    "Measurement",
    "MemoryEstimate",
    "MemoryWarning",
    "Method",
    "MissingDependencyError",
    "Options",
    "PartError",
    "Progress",
    "Selection",
    "StoppedError",
    "TieWarning",
    "as_graph",
    "bc",
    "centralities",
    "closeness",
    "compare",
    "config",
    "eccentricity",
    "eccentricity_centrality",
    "edge_bc",
    "estimate",
    "estimate_memory",
    "example_path",
    "graph_from_edges",
    "gravity",
    "group_bc",
    "harmonic",
    "merge_parts",
    "percolation",
    "plots",
    "reach",
    "read_graph",
    "reference",
    "register_centrality",
    "register_method",
    "save_part",
    "select_method",
    "shortest_path_counts",
    "stress",
    "table",
    "types",
    "unregister_centrality",
    "unregister_method",
]

_HOMES = {
    "centrality.betweenness": ("bc",),
    "comparison.compare": ("compare",),
    "comparison.records": ("Comparison", "Measurement"),
    "errors": (
        "CheckpointError",
        "Error",
        "ExecutorError",
        "GraphFileWarning",
        "GraphFormatError",
        "MemoryWarning",
        "MissingDependencyError",
        "PartError",
        "StoppedError",
        "TieWarning",
    ),
    "graph.validate": ("as_graph",),
    "io.from_edges": ("graph_from_edges",),
    "io.examples": ("example_path",),
    "io.graph_file": ("GraphFile",),
    "io.read": ("read_graph",),
    "centrality.counts": ("shortest_path_counts",),
    "centrality.distances": ("closeness", "eccentricity", "eccentricity_centrality", "harmonic"),
    "centrality.edge": ("edge_bc",),
    "estimates.estimate": ("Estimate", "estimate"),
    "centrality.group": ("group_bc",),
    "centrality.parts": ("merge_parts", "save_part"),
    "centrality.percolation": ("percolation",),
    "centrality.preview": ("estimate_memory", "select_method"),
    "centrality.reach": ("gravity", "reach"),
    "centrality.registry": ("Centrality", "register_centrality", "unregister_centrality"),
    "centrality.stress": ("stress",),
    "centrality.table": ("table",),
    "centrality.together": ("centralities",),
    "plan.options": ("Options", "Progress", "config"),
    "plan.memory": ("MemoryEstimate",),
    "plan.choose": ("Selection",),
    "methods.table": ("METHODS", "Method", "register_method", "unregister_method"),
}
_MODULES = ("plots", "reference", "types")


if not TYPE_CHECKING:  # type checkers would take every name for one of lagbc's

    def __getattr__(name):
        for home, names in _HOMES.items():
            if name in names:
                value = getattr(import_module(f"lagbc.{home}"), name)
                if name != "METHODS":  # it may get more rows
                    globals()[name] = value
                return value
        if name in _MODULES:
            return import_module(f"lagbc.{name}")
        raise AttributeError(f"module 'lagbc' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
