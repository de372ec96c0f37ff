"""The description of the backend that NetworkX reads at its import, without lagbc's methods and NumPy."""

from __future__ import annotations

from typing import Any

from lagbc.scores.records import registered

# Functions of NetworkX that the backend runs, with their functions in lagbc.
COMPUTED_BY = {function: record.name for record in registered() for function in record.networkx} | {
    "bipartite_betweenness_centrality": "bc",
    "bipartite_closeness_centrality": "closeness",
    "group_in_degree_centrality": "group_degree",
    "group_out_degree_centrality": "group_degree",
    "girvan_newman": "girvan_newman",
}

# Differences of the results from NetworkX.
DIFFERENCES = {
    "betweenness_centrality": (
        "The same `seed` draws the same sample of `k` nodes as in NetworkX. Path counts beyond the range of float64 do "
        "not lead to NaN. Lengths have to be finite and > 0; other calls are left to NetworkX, and are an error if the "
        "backend is named."
    ),
    "edge_betweenness_centrality": "The same `seed` draws the same sample of `k` nodes as in NetworkX.",
    "edge_betweenness_centrality_subset": (
        "Follows the formula above also where the predecessors of a node outside `targets` are reached by unequal "
        "numbers of shortest paths; NetworkX 3.6 divides equally among them."
    ),
    "group_betweenness_centrality": (
        "Follows the formula above for groups of any size in any graph. NetworkX 3.6 does for groups of one or two in "
        "connected graphs; larger ones may score too much (its issue 8827: 0.125 in place of 0), and in digraphs that "
        "are not strongly connected scores may be negative or a KeyError (8559). 0 for a group that leaves fewer than "
        "two other nodes, where NetworkX divides by zero. It searches from each node, on the CPU, and takes the "
        "arguments below that `lagbc.group_bc` has."
    ),
    **dict.fromkeys(
        ("group_closeness_centrality", *(f"group_{way}degree_centrality" for way in ("", "in_", "out_"))),
        "Runs on the CPU, and takes the arguments below that `lagbc.group_closeness` has, which computes many groups "
        "at a time. By priority NetworkX computes this, by a single search.",
    ),
    "percolation_centrality": (
        "0 where no other node is percolated, and in a graph of two nodes, where NetworkX divides by zero. States are "
        "finite and >= 0, and of nodes of `G`; other calls are left to NetworkX, and are an error if the backend is "
        "named."
    ),
    "closeness_centrality": (
        "With `u` it searches on the CPU, and takes the arguments below that `lagbc.closeness` has with `u`."
    ),
    "harmonic_centrality": "Computes all nodes, also where `nbunch` names some.",
    "eccentricity": (
        "Computes all nodes; a call with `v` or `sp` is left to NetworkX. If some lengths are "
        "integers and some floats, the results are floats."
    ),
    "average_shortest_path_length": (
        "A call with another `method` than 'unweighted' or 'dijkstra' is left to NetworkX. `lagbc.distances` has this, "
        "and more, of graphs that are not connected, too."
    ),
    "global_efficiency": "Of hops alone, as in NetworkX; `lagbc.distances` takes lengths and directed graphs, too.",
    "girvan_newman": (
        "Edges whose scores differ by less than 1e-9 of the highest are equal, and of them the first in `G.edges` is "
        "removed; NetworkX breaks ties by rounding. A component is searched only when it has lost an edge. A call with "
        "`most_valuable_edge`, or of a multigraph, is left to NetworkX."
    ),
} | dict.fromkeys(
    ("diameter", "radius", "periphery", "center"),
    "Searches from all nodes, also with `usebounds`, which spares NetworkX most searches. By priority NetworkX "
    "computes this, and lagbc the eccentricities that it needs.",
)

# Arguments that NetworkX does not have, of all functions.
RUN_OPTIONS = ("batch", "method", "device", "reduce", "dtype", "threads", "memory", "bucket_width", "progress")


def get_info() -> dict[str, Any]:
    """Describe the backend, for the entry point group ``networkx.backend_info``."""
    parameters = {f"{', '.join(RUN_OPTIONS)} : optional": "How a run is carried out: `help(lagbc.Options)`."}
    return {
        "backend_name": "lagbc",
        "project": "lagbc",
        "package": "lagbc",
        "short_summary": "Shortest-path centralities by linear algebra on batches of roots, on CPU and NVIDIA GPU.",
        "functions": {
            name: {"additional_docs": DIFFERENCES.get(name, ""), "additional_parameters": parameters}
            for name in COMPUTED_BY
        },
    }
