"""Shortest-path centralities of large sparse graphs, by linear algebra on batches of roots.

Names are imported on first use, so that ``import lagbc`` takes milliseconds and loads no numerical library.
"""

TYPE_CHECKING = False  # for type checkers it is True; to import `typing` would take longer than all else here
__version__ = "0.1.0"

# Modules, and the names that they hold: at run time one is imported on first use, for type checkers all are.
_HOMES = {
    "api.betweenness": ("bc", "edge_bc", "percolation", "stress"),
    "api.distances": (
        "closeness",
        "distances",
        "eccentricity",
        "eccentricity_centrality",
        "harmonic",
        "shortest_path_counts",
    ),
    "api.groups": ("girvan_newman", "group_bc", "group_closeness", "group_degree", "group_harmonic"),
    "api.plan": ("estimate_memory", "plan", "select_method"),
    "api.reach": ("gravity", "reach", "straightness"),
    "api.together": ("centralities", "merge_parts", "save_part"),
    "centrality.communities": ("Communities",),
    "scores.finish": ("Distances", "Highest"),
    "scores.records": ("Centrality", "register_centrality", "unregister_centrality"),
    "scores.table": ("table",),
    "comparison.compare": ("Comparison", "Measurement", "compare"),
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
    "estimates.estimate": ("Estimate", "estimate"),
    "graph.validate": ("as_graph",),
    "io.edges": ("graph_from_edges",),
    "io.graph_file": ("GraphFile",),
    "io.read": ("read_graph",),
    "io.source": ("example_path",),
    "methods.table": ("METHODS", "Method", "register_method", "unregister_method"),
    "options": ("Options", "Progress", "config"),
    "planning.choose": ("Selection",),
    "planning.plan": ("Plan",),
    "planning.sweep": ("MemoryEstimate",),
}
_MODULES = ("plots", "reference", "types")
__all__ = sorted([*_MODULES, *(name for names in _HOMES.values() for name in names)])
# Names of other packages (igraph, graph-tool, NetworKit, cityseer, momepy) and of NetworkX beside those in the records,
# for the error: in small letters, each with ours.
_ELSEWHERE = {
    "approx_betweenness": "estimate",
    "average_path_length": "distances",
    "betweenness": "bc",
    "community_edge_betweenness": "girvan_newman",
    "edge_betweenness": "edge_bc",
    "estimate_betweenness": "estimate",
    "from_pandas_edgelist": "graph_from_edges",
    "graph": "as_graph",
    "group_betweenness": "group_bc",
    "harmonic_closeness": "harmonic",
    "kadabra_betweenness": "estimate",
    "node_centrality_shortest": "centralities",
    "read_edgelist": "read_graph",
    "straightness_centrality": "straightness",
}

if TYPE_CHECKING:
    from lagbc import plots as plots
    from lagbc import reference as reference
    from lagbc import types as types
    from lagbc.api.betweenness import bc as bc
    from lagbc.api.betweenness import edge_bc as edge_bc
    from lagbc.api.betweenness import percolation as percolation
    from lagbc.api.betweenness import stress as stress
    from lagbc.api.distances import closeness as closeness
    from lagbc.api.distances import distances as distances
    from lagbc.api.distances import eccentricity as eccentricity
    from lagbc.api.distances import eccentricity_centrality as eccentricity_centrality
    from lagbc.api.distances import harmonic as harmonic
    from lagbc.api.distances import shortest_path_counts as shortest_path_counts
    from lagbc.api.groups import girvan_newman as girvan_newman
    from lagbc.api.groups import group_bc as group_bc
    from lagbc.api.groups import group_closeness as group_closeness
    from lagbc.api.groups import group_degree as group_degree
    from lagbc.api.groups import group_harmonic as group_harmonic
    from lagbc.api.plan import estimate_memory as estimate_memory
    from lagbc.api.plan import plan as plan
    from lagbc.api.plan import select_method as select_method
    from lagbc.api.reach import gravity as gravity
    from lagbc.api.reach import reach as reach
    from lagbc.api.reach import straightness as straightness
    from lagbc.api.together import centralities as centralities
    from lagbc.api.together import merge_parts as merge_parts
    from lagbc.api.together import save_part as save_part
    from lagbc.centrality.communities import Communities as Communities
    from lagbc.comparison.compare import Comparison as Comparison
    from lagbc.comparison.compare import Measurement as Measurement
    from lagbc.comparison.compare import compare as compare
    from lagbc.errors import CheckpointError as CheckpointError
    from lagbc.errors import Error as Error
    from lagbc.errors import ExecutorError as ExecutorError
    from lagbc.errors import GraphFileWarning as GraphFileWarning
    from lagbc.errors import GraphFormatError as GraphFormatError
    from lagbc.errors import MemoryWarning as MemoryWarning
    from lagbc.errors import MissingDependencyError as MissingDependencyError
    from lagbc.errors import PartError as PartError
    from lagbc.errors import StoppedError as StoppedError
    from lagbc.errors import TieWarning as TieWarning
    from lagbc.estimates.estimate import Estimate as Estimate
    from lagbc.estimates.estimate import estimate as estimate
    from lagbc.graph.validate import as_graph as as_graph
    from lagbc.io.edges import graph_from_edges as graph_from_edges
    from lagbc.io.graph_file import GraphFile as GraphFile
    from lagbc.io.read import read_graph as read_graph
    from lagbc.io.source import example_path as example_path
    from lagbc.methods.table import METHODS as METHODS
    from lagbc.methods.table import Method as Method
    from lagbc.methods.table import register_method as register_method
    from lagbc.methods.table import unregister_method as unregister_method
    from lagbc.options import Options as Options
    from lagbc.options import Progress as Progress
    from lagbc.options import config as config
    from lagbc.planning.choose import Selection as Selection
    from lagbc.planning.plan import Plan as Plan
    from lagbc.planning.sweep import MemoryEstimate as MemoryEstimate
    from lagbc.scores.finish import Distances as Distances
    from lagbc.scores.finish import Highest as Highest
    from lagbc.scores.records import Centrality as Centrality
    from lagbc.scores.records import register_centrality as register_centrality
    from lagbc.scores.records import unregister_centrality as unregister_centrality
    from lagbc.scores.table import table as table
else:

    def __getattr__(name):
        from lagbc.calls import whole_import

        for home, names in _HOMES.items():
            if name in names:
                value = getattr(whole_import(f"lagbc.{home}"), name)
                if name != "METHODS":  # it may get more rows
                    globals()[name] = value
                return value
        if name in _MODULES:
            return whole_import(f"lagbc.{name}")
        raise AttributeError(f"module 'lagbc' has no attribute {name!r}{_ours(name)}")


def _ours(name: str) -> str:
    """Return the question, for the error of a name, whether one of ours is meant; empty where none is like it."""
    if name.startswith("_"):  # of a protocol that Python looks for
        return ""
    import difflib
    import re

    from lagbc.scores.records import registered

    ours = {one: one for one in __all__}
    ours |= {theirs: record.name for record in registered() for theirs in record.networkx} | _ELSEWHERE
    words = re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower()  # NetworKit's are in camel case
    return "".join(f"; did you mean lagbc.{ours[near]}?" for near in difflib.get_close_matches(words, ours, 1, 0.8))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__} - {"TYPE_CHECKING"})
