"""Shortest-path centralities of large sparse graphs, by linear algebra on batches of roots.

Names are imported on first use, so that ``import lagbc`` takes milliseconds and loads no numerical library.
"""

__version__ = "0.1.0"

# Names of modules below, and of the modules that hold them; functions of centralities are beside these, by name.
_HOMES = {
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
    "estimates.estimate": ("Estimate", "estimate"),
    "graph.validate": ("as_graph",),
    "io.from_edges": ("graph_from_edges",),
    "io.examples": ("example_path",),
    "io.graph_file": ("GraphFile",),
    "io.read": ("read_graph",),
    "centrality.counts": ("shortest_path_counts",),
    "centrality.parts": ("merge_parts", "save_part"),
    "centrality.preview": ("estimate_memory", "select_method"),
    "centrality.registry": ("Centrality", "register_centrality", "unregister_centrality"),
    "centrality.table": ("table",),
    "centrality.together": ("centralities",),
    "plan.options": ("Options", "Progress", "config"),
    "plan.memory": ("MemoryEstimate",),
    "plan.choose": ("Selection",),
    "methods.table": ("METHODS", "Method", "register_method", "unregister_method"),
}
_MODULES = ("plots", "reference", "types")
# Names of other packages (igraph, graph-tool, NetworKit, cityseer) and of NetworkX beside those in the records, for the
# error: in small letters, each with ours.
_ELSEWHERE = {
    "approx_betweenness": "estimate",
    "betweenness": "bc",
    "edge_betweenness": "edge_bc",
    "estimate_betweenness": "estimate",
    "from_pandas_edgelist": "graph_from_edges",
    "graph": "as_graph",
    "group_betweenness": "group_bc",
    "harmonic_closeness": "harmonic",
    "kadabra_betweenness": "estimate",
    "node_centrality_shortest": "centralities",
    "read_edgelist": "read_graph",
}


def _functions(wanted=None):
    """Return the functions of centralities by their names, those of other packages if one of lagbc's is not wanted."""
    from lagbc.calls import whole_import
    from lagbc.extensions import OF_CENTRALITIES, load_extensions

    whole_import("lagbc.centrality.registry").registered()  # the modules are imported by now
    functions = whole_import("lagbc.centrality.declare").FUNCTIONS
    if wanted is not None and wanted not in functions:
        load_extensions(OF_CENTRALITIES)
    return functions


def __getattr__(name):
    from lagbc.calls import whole_import

    if name == "__all__":
        return sorted([*_MODULES, *_functions(), *(one for names in _HOMES.values() for one in names)])
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(whole_import(f"lagbc.{home}"), name)
            if name != "METHODS":  # it may get more rows
                globals()[name] = value
            return value
    if name in _MODULES:
        return whole_import(f"lagbc.{name}")
    if not name.startswith("_") and name in (functions := _functions(name)):
        if functions[name].__module__.startswith("lagbc."):  # others may be removed again
            globals()[name] = functions[name]
        return functions[name]
    raise AttributeError(f"module 'lagbc' has no attribute {name!r}{_ours(name)}")


def _ours(name):
    """Return the question, for the error of a name, whether one of ours is meant; empty where none is like it."""
    if name.startswith("_"):  # of a protocol that Python looks for
        return ""
    import difflib
    import re

    from lagbc.centrality.registry import registered

    ours = {one: one for one in __getattr__("__all__")}
    ours |= {theirs: record.name for record in registered() for theirs in record.networkx} | _ELSEWHERE
    words = re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower()  # NetworKit's are in camel case
    return "".join(f"; did you mean lagbc.{ours[near]}?" for near in difflib.get_close_matches(words, ours, 1, 0.8))


def __dir__():
    return sorted({*globals(), *__getattr__("__all__")})
