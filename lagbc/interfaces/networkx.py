"""The NetworkX backend: ``networkx.betweenness_centrality(G, backend="lagbc")`` and its kin.

NetworkX converts a graph by `convert_from_nx`, keeps the result in ``G.__networkx_cache__``, and
passes it to the functions below, whose names and arguments are NetworkX's. `can_run` refuses arguments that lagbc does
not take. `should_run` refuses calls in which NetworkX is faster, and lengths and states that lagbc adds up otherwise
than NetworkX. NetworkX then runs the call itself, if it tried the backend by priority. With ``backend="lagbc"`` it asks
`can_run` alone, and the function raises an error that names the length. This is no NotImplementedError, as NetworkX
would replace that by an error without the reason.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sized
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, cast

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import lagbc
from lagbc.centrality.communities import Division, check_run
from lagbc.errors import InvalidTypeError, InvalidValueError, shortened
from lagbc.graph.adapters import networkx_edge_data, networkx_entries
from lagbc.graph.given import Entries, are_no_lengths, as_lengths, shares_of_parallel
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.interfaces.nx_metadata import COMPUTED_BY, RUN_OPTIONS
from lagbc.options import Options
from lagbc.request import parse_vertex_weights
from lagbc.scores.finish import rescale
from lagbc.scores.records import Centrality

Node = Hashable

# Integers from which on float64 no longer tells neighbours apart.
INEXACT = 2.0**53
# Roots times adjacent pairs from which on conversion and computation, about a millisecond, take less than NetworkX; and
# roots below which NetworkX takes less than the conversion. `benchmarks/nx_priority.py` measures both sides of each.
WORTH = 5_000
FEW = 20

# Functions of NetworkX made of eccentricities. They search less with given eccentricities, with bounds, and in trees.
OF_ECCENTRICITIES = ("diameter", "radius", "periphery", "center")
# Functions that NetworkX ends at once where a node does not reach all.
OF_CONNECTED = ("eccentricity", "average_shortest_path_length", "wiener_index")

# How many nodes reach each, and the sum of their distances: in hops, exact.
_REACHED = Centrality("reached", frozenset({"reached"}), lambda result, _: result.sums.reached, frozenset(), "")
_DISTANCE = Centrality("distance", frozenset({"distance"}), lambda result, _: result.sums.distance, frozenset(), "")

# Tests of NetworkX that contradict the formula in its documentation.
EXPECTED_FAILURES = {
    "TestEdgeSubsetBetweennessCentrality::test_diamond_multi_path": (
        "NetworkX divides what leads on to targets equally among predecessors, not by their numbers of shortest paths"
    ),
}


@dataclass(eq=False)
class BackendGraph:
    """A NetworkX graph as arrays; later changes of that graph do not reach it."""

    __networkx_backend__: ClassVar[str] = "lagbc"

    nodes: list[Node]  # in NetworkX's order; vertex i of the arrays is ``nodes[i]``
    entries: Entries  # the edges in NetworkX's order, an undirected one both ways
    keys: list[Any] | None  # the key of each entry of a multigraph
    attributes: dict[Any, list[Any]]  # values of edge attributes, one an entry, by the names of the attributes
    # values of node attributes, one a node, by the names of the attributes
    node_attributes: dict[Any, list[Any]] = field(default_factory=dict)
    __networkx_cache__: dict[str, Any] = field(default_factory=dict, repr=False)
    _graphs: dict[Any, Graph] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.numbers
        except TypeError:  # not hashable
            return False

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def is_directed(self) -> bool:
        """Whether edges go one way."""
        return self.entries.directed

    def is_multigraph(self) -> bool:
        """Whether edges may be parallel."""
        return self.keys is not None

    @cached_property
    def numbers(self) -> dict[Node, int]:
        """The number of each node."""
        return {node: i for i, node in enumerate(self.nodes)}

    def graph(self, weight: Any) -> Graph:
        """Return the graph of lagbc, with the lengths in an attribute; it is validated once for each attribute."""
        if weight not in self._graphs:
            weighted = weight is not None
            matrix = self.entries.matrix(self.lengths(weight) if weighted else None)
            self._graphs[weight] = as_graph(matrix, directed=self.is_directed(), weighted=weighted)
        return self._graphs[weight]

    def __getstate__(self) -> dict[str, Any]:
        # Graphs are left out: they are made of the entries again, and may be on a device.
        return vars(self) | {"_graphs": {}}

    def lengths(self, weight: Any) -> NDArray[Any]:
        """Return the lengths of all entries; TypeError or ValueError if lagbc adds them up otherwise than NetworkX."""
        if weight is None:
            return np.ones(len(self.entries.tails))
        if weight not in self.attributes:
            raise InvalidValueError(f"the graph was converted without the edge attribute {weight!r}")
        return exact_lengths(self.attributes[weight], lambda entry: f"edge {self.edge(entry)!r}")

    def by_node(self, scores: NDArray[Any]) -> dict[Node, Any]:
        """Return scores by node."""
        return dict(zip(self.nodes, scores.tolist(), strict=True))

    def by_edge(self, scores: Any, weight: Any) -> dict[tuple[Any, ...], float]:
        """Return a matrix of scores by edge, in the order of ``G.edges``; the shortest parallel edges share equally."""
        tails, heads = self.entries.tails, self.entries.heads
        values = scores.tocsr()[tails, heads]
        values = np.ravel(values.toarray() if hasattr(values, "toarray") else values)
        if self.keys is not None:  # parallel entries are adjacent
            values = values * shares_of_parallel(self.entries, self.lengths(weight))
        return {self.edge(i): float(values[i]) for i in self.named()}

    def edge(self, entry: int) -> tuple[Any, ...]:
        """Return an edge as NetworkX lists it: its ends, and its key in a multigraph."""
        ends = self.nodes[self.entries.tails[entry]], self.nodes[self.entries.heads[entry]]
        return ends if self.keys is None else (*ends, self.keys[entry])

    def named(self) -> list[int]:
        """Return one entry for each edge; NetworkX lists an undirected edge from its earlier end."""
        named: list[int] = np.flatnonzero((self.entries.heads >= self.entries.tails) | self.is_directed()).tolist()
        return named


def exact_lengths(values: Iterable[Any], name_of: Callable[[int], str]) -> NDArray[Any]:
    """Make an array of lengths with the same sums as in NetworkX; TypeError or ValueError if there is none."""
    lengths = as_lengths(values, name_of)
    if (invalid := are_no_lengths(lengths)).any():
        first = int(np.flatnonzero(invalid)[0])
        raise InvalidValueError(
            f"{name_of(first)} has length {lengths[first]}; lengths are finite and > 0 "
            '(backend="networkx" takes others, too)'
        )
    if lengths.dtype.kind in "iu" and lengths.sum(dtype=np.float64) >= INEXACT:
        raise InvalidValueError(
            "integer lengths add up to 2**53 or more, where float64 is not exact; "
            'make them floats to have them rounded, or take backend="networkx"'
        )
    return lengths


def convert_from_nx(
    graph: Any,
    edge_attrs: dict[Any, Any] | None = None,
    node_attrs: dict[Any, Any] | None = None,
    preserve_edge_attrs: bool = False,
    preserve_node_attrs: bool = False,
    preserve_graph_attrs: bool = False,
    name: str | None = None,
    graph_name: str | None = None,
) -> BackendGraph:
    """Convert a NetworkX graph, with some attributes of edges and of nodes (name: default), but never with all."""
    if preserve_node_attrs or preserve_edge_attrs:
        raise NotImplementedError("lagbc keeps edge attributes that are asked for by name, and no others")
    keys = None
    if graph.is_multigraph():
        keys = [key for _, row in graph.adjacency() for parallel in row.values() for key in parallel]
    return BackendGraph(
        nodes=list(graph),
        entries=networkx_entries(graph),
        keys=keys,
        attributes={
            attribute: [data.get(attribute, default) for data in networkx_edge_data(graph)]
            for attribute, default in (edge_attrs or {}).items()
        },
        node_attributes={
            attribute: [data.get(attribute, default) for data in graph.nodes.values()]
            for attribute, default in (node_attrs or {}).items()
        },
    )


def convert_to_nx(result: Any, *, name: str | None = None) -> Any:
    """Turn a `BackendGraph` into a NetworkX graph with its nodes, edges and attributes; return others unchanged."""
    if not isinstance(result, BackendGraph):
        return result
    kinds = ((nx.Graph, nx.MultiGraph), (nx.DiGraph, nx.MultiDiGraph))
    graph = kinds[result.is_directed()][result.is_multigraph()]()
    graph.add_nodes_from(result.nodes)
    for name, values in result.node_attributes.items():
        nx.set_node_attributes(graph, dict(zip(result.nodes, values, strict=True)), name)
    kept = result.attributes.items()
    graph.add_edges_from((*result.edge(i), {name: values[i] for name, values in kept}) for i in result.named())
    return graph


# ---- Whether a call is taken


def on_start_tests(items: list[Any]) -> None:
    """Mark the tests of NetworkX that fail with this backend, with the reasons; NetworkX's test-suite calls this.

    The suite leaves calls to NetworkX by `can_run` alone, and never asks `should_run`; so `can_run` looks at lengths,
    too, from here on.
    """
    import pytest

    can_run_at_all = can_run

    def can_run_exactly(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        answer = can_run_at_all(name, args, kwargs)
        return answer if answer is not True else _adds_up(name, args, kwargs)

    globals()["can_run"] = can_run_exactly
    for item in items:
        for name, reason in EXPECTED_FAILURES.items():
            if item.nodeid.endswith(name):
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether the backend computes a call as NetworkX does; a string is the reason why not."""
    if name not in COMPUTED_BY:
        return f"lagbc has no function {name}"
    try:
        given = _arguments(name, args, kwargs)
    except TypeError:
        return True  # the call itself raises the error
    weight = _weight_of(given)
    if callable(weight):
        return "edge lengths are given by a function; lagbc takes the name of an edge attribute"
    if name == "betweenness_centrality" and given.get("k") == 1 and not given.get("endpoints"):
        return "k=1 without endpoints leaves the score of the sampled node undefined, which lagbc does not return"
    if given.get("method") not in (None, "unweighted", "dijkstra"):
        return f"method is {given['method']!r}, and lagbc has searches of its own"
    if given.get("most_valuable_edge") is not None:
        return "most_valuable_edge is given, and lagbc removes the edge of the highest betweenness"
    if name == "girvan_newman" and given["G"].is_multigraph():
        return "G is a multigraph, and lagbc removes parallel edges as one"
    for one in ("v", "sp"):
        if given.get(one) is not None:
            return f"{one} is given, and lagbc computes all nodes in one sweep"
    return True


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a call that the backend can run is worth its conversion; a string is the reason why not."""
    given = _arguments(name, args, kwargs)
    G, searches = given["G"], _count_searches(given)
    if name in OF_ECCENTRICITIES:
        return "NetworkX asks for the eccentricities in turn, if it needs them"
    if searches < FEW:
        return f"NetworkX makes {searches} searches; it is faster below {FEW}"
    if name == "harmonic_centrality" and _count_nodes(G, given.get("nbunch")) < searches:
        return "nbunch is the shorter, and NetworkX searches from its nodes alone"
    edges = G.number_of_edges()
    pairs = sum(map(len, G.adj.values())) // (1 if G.is_directed() else 2) if G.is_multigraph() else edges
    if searches * pairs < max(WORTH, FEW * edges):
        return f"roots * edges = {searches * pairs}; NetworkX is faster below {WORTH}, and at parallel edges"
    if name in OF_CONNECTED and len(nx.single_source_shortest_path_length(G, next(iter(G)))) < len(G):
        return "the first node does not reach all, which NetworkX sees at once"
    return _adds_up(name, args, kwargs)


def _count_searches(given: dict[str, Any]) -> int:
    G = given["G"]
    if given.get("u") is not None or "S" in given:
        return 1
    return given.get("k") or _count_nodes(G, given.get("sources"))


def _count_nodes(G: Any, nodes: Any) -> int:
    """Count the nodes in an argument, all for None; 1 for an iterator, which counting would use up."""
    if nodes is None:
        return len(G)
    return len(nodes) if isinstance(nodes, Sized) and nodes not in G else 1


def _adds_up(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether lagbc adds up the lengths and states of a call as NetworkX does; a string is the reason why not."""
    given = _arguments(name, args, kwargs)
    G, weight = given["G"], _weight_of(given)
    try:
        if weight is not None:
            values = (data.get(weight, 1) for data in networkx_edge_data(G))
            exact_lengths(values, lambda entry: f"entry {entry} of the adjacency")
        if name == "percolation_centrality":
            held = G.nodes(data=given.get("attribute", "percolation"), default=1)
            parse_vertex_weights(
                "states", _states_in_order(G, given.get("states"), [state for _, state in held]), len(G)
            )
    except (KeyError, TypeError, ValueError) as error:
        return str(error)
    return True


def _arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    return inspect.signature(globals()[name]).bind(*args, **kwargs).arguments


def _weight_of(given: dict[str, Any]) -> Any:
    return given.get("weight", given.get("distance"))


# ---- The functions of NetworkX


def betweenness_centrality(
    G: BackendGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: Any = None,
    **run: Any,
) -> dict[Node, float]:
    """Compute ``networkx.betweenness_centrality``; `run` is passed to `lagbc.bc`."""
    if k is None or k == len(G):
        scores = _call(lagbc.bc, G, weight, run, normalized=bool(normalized), endpoints=bool(endpoints))
        return G.by_node(scores)
    roots = _draw_nodes(G, k, seed)
    raw = _sum_dependencies(G, weight, run, sources=roots, endpoints=bool(endpoints))
    return G.by_node(rescale(raw, directed=G.is_directed(), normalized=normalized, endpoints=endpoints, sampled=roots))


def betweenness_centrality_subset(
    G: BackendGraph,
    sources: Iterable[Node],
    targets: Iterable[Node],
    normalized: bool = False,
    weight: Any = None,
    **run: Any,
) -> dict[Node, float]:
    """Compute ``networkx.betweenness_centrality_subset``; a source named twice counts twice."""
    times = Counter(G.numbers[source] for source in sources)
    root_weights, omega = np.zeros(len(G)), np.zeros(len(G))
    root_weights[list(times)] = list(times.values())
    omega[_numbers_present(G, targets)] = 1
    raw = _sum_dependencies(G, weight, run, sources=list(times), source_weights=root_weights, target_weights=omega)
    return G.by_node(rescale(raw, directed=G.is_directed(), normalized=normalized, endpoints=False))


def edge_betweenness_centrality(
    G: BackendGraph,
    k: int | None = None,
    normalized: bool = True,
    weight: Any = None,
    seed: Any = None,
    **run: Any,
) -> dict[tuple[Any, ...], float]:
    """Compute ``networkx.edge_betweenness_centrality``; `run` is passed to `lagbc.edge_bc`."""
    roots = np.arange(len(G)) if k is None else _draw_nodes(G, k, seed)
    scores = _call(lagbc.edge_bc, G, weight, run, sources=roots, normalized=bool(normalized))
    # A sample of k roots estimates the sum over all n.
    return G.by_edge(scores if k is None else scores * (len(G) / k), weight)


def edge_betweenness_centrality_subset(
    G: BackendGraph,
    sources: Iterable[Node],
    targets: Iterable[Node],
    normalized: bool = False,
    weight: Any = None,
    **run: Any,
) -> dict[tuple[Any, ...], float]:
    """Compute ``networkx.edge_betweenness_centrality_subset``; a source named twice counts twice."""
    times = Counter(G.numbers[source] for source in sources)
    # Layer i holds the sources that are named more than i times.
    layers = [[v for v, count in times.items() if count > i] for i in range(max(times.values(), default=1))]
    given = {"targets": _numbers_present(G, targets), "normalized": bool(normalized)}
    return G.by_edge(sum(_call(lagbc.edge_bc, G, weight, run, sources=layer, **given) for layer in layers), weight)


def group_betweenness_centrality(
    G: BackendGraph, C: Any, normalized: bool = True, weight: Any = None, endpoints: bool = False, **run: Any
) -> Any:
    """Compute ``networkx.group_betweenness_centrality``, of a group or of several."""
    is_one = any(element in G for element in C)
    groups = [set(group) for group in ([C] if is_one else C)]
    if absent := {node for group in groups for node in group if node not in G}:
        raise nx.NodeNotFound(shortened(f"The node(s) {absent} are in C but not in G."))
    numbers = [sorted(G.numbers[node] for node in group) for group in groups]
    # From 3.7 on, NetworkX takes group betweenness with endpoints as a share of all pairs.
    by_all = normalized and endpoints and tuple(map(int, nx.__version__.split(".")[:2])) >= (3, 7)
    found = lagbc.group_bc(
        G.graph(weight), numbers, normalized=bool(normalized) and not by_all, endpoints=bool(endpoints), **run
    )
    if by_all:
        found *= (1 if G.is_directed() else 2) / (len(G) * (len(G) - 1))
    scores = found.tolist()
    return scores[0] if is_one else scores


def group_closeness_centrality(G: BackendGraph, S: Iterable[Node], weight: Any = None, **run: Any) -> Any:
    """Compute ``networkx.group_closeness_centrality``: nodes that do not reach `S` count, too."""
    group = set(S)
    if not group:
        raise InvalidValueError("sources must not be empty")
    if absent := [node for node in group if node not in G]:
        raise nx.NodeNotFound(shortened(f"Node {absent[0]} not found in graph"))
    graph, groups, others = G.graph(weight), [[G.numbers[node] for node in group]], len(G) - len(group)
    closeness, scaled = (
        float(lagbc.group_closeness(graph, groups, wf_improved=wf_improved, **run)[0]) for wf_improved in (False, True)
    )
    if not closeness:
        return 0
    reached = round(scaled / closeness * others)
    return closeness if reached == others else closeness * others / reached


def group_degree_centrality(G: BackendGraph, S: Any, **run: Any) -> float:
    """Compute ``networkx.group_degree_centrality``, along the edges out of the group."""
    return _group_degree(G, G.graph(None), S, run)


group_out_degree_centrality = group_degree_centrality


def group_in_degree_centrality(G: BackendGraph, S: Any, **run: Any) -> float:
    """Compute ``networkx.group_in_degree_centrality``."""
    return _group_degree(G, G.graph(None).transpose, S, run)


def _group_degree(G: BackendGraph, graph: Graph, S: Any, run: dict[str, Any]) -> float:
    if absent := [node for node in S if node not in G]:
        raise nx.NetworkXError(f"The node {absent[0]} is not in the {'di' * G.is_directed()}graph.")
    degrees = lagbc.group_degree(graph, [[G.numbers[node] for node in set(S)]], **run)
    return float(degrees[0]) / (len(G) - len(S))


def percolation_centrality(
    G: BackendGraph, attribute: Any = "percolation", states: Any = None, weight: Any = None, **run: Any
) -> dict[Node, float]:
    """Compute ``networkx.percolation_centrality``; `run` is passed to `lagbc.percolation`."""
    held = G.node_attributes.get(attribute, [None] * len(G))
    given = _states_in_order(G, states, [1 if state is None else state for state in held])
    return G.by_node(_call(lagbc.percolation, G, weight, run, states=given))


def _states_in_order(G: Any, states: Any, held: list[Any]) -> list[Any]:
    if states is None:
        return held
    if strangers := [node for node in states if node not in G]:
        raise InvalidValueError(f"states names {strangers[0]!r}, which is no node of G; keep the nodes of G alone")
    return [states[node] for node in G]


def closeness_centrality(
    G: BackendGraph, u: Any = None, distance: Any = None, wf_improved: bool = True, *, sp: None = None, **run: Any
) -> Any:
    """Compute ``networkx.closeness_centrality``, which has `sp` from 3.7 on; `run` is passed to `lagbc.closeness`."""
    if u is None:
        return G.by_node(_call(lagbc.closeness, G, distance, run, wf_improved=bool(wf_improved)))
    _require_nodes(G, [u])
    return _call(lagbc.closeness, G, distance, run, u=G.numbers[u], wf_improved=bool(wf_improved))


def _require_nodes(G: BackendGraph, nodes: Iterable[Node]) -> None:
    for node in nodes:
        if node not in G:
            raise nx.NodeNotFound(shortened(f"Source {node} is not in G"))


def bipartite_betweenness_centrality(G: BackendGraph, nodes: Iterable[Node], **run: Any) -> dict[Node, float]:
    """Compute ``networkx.bipartite.betweenness_centrality``, as a share of the most that a node of a side can have."""
    sides = _sides(G, nodes)
    most = {is_top: _most_bipartite(sides[is_top], sides[not is_top]) for is_top in (True, False)}
    scores = G.by_node(_call(lagbc.bc, G, None, run))
    for is_top, side in sides.items():
        for node in side:
            scores[node] /= most[is_top]
    return scores


def bipartite_closeness_centrality(
    G: BackendGraph, nodes: Iterable[Node], normalized: bool = True, **run: Any
) -> dict[Node, float]:
    """Compute ``networkx.bipartite.closeness_centrality``, by the distances out of each node."""
    sides = _sides(G, nodes)
    _require_nodes(G, sides[True])
    _require_options(run)
    sums: Any = lagbc.centralities(G.graph(None).transpose, (_REACHED, _DISTANCE), **run)  # type: ignore[arg-type]
    least = {is_top: len(sides[not is_top]) + 2 * (len(sides[is_top]) - 1) for is_top in (True, False)}
    closeness = dict[Node, float]()
    for node, reached, total in zip(G.nodes, sums["reached"].tolist(), sums["distance"].tolist(), strict=True):
        closeness[node] = least[node in sides[True]] / total if total else 0.0
        if normalized and total:
            closeness[node] *= reached / (len(G) - 1)
    return closeness


def _sides(G: BackendGraph, nodes: Iterable[Node]) -> dict[bool, set[Node]]:
    top = set(nodes)
    return {True: top, False: set(G) - top}


def _most_bipartite(side: Sized, other: Sized) -> float:
    """Return the highest betweenness of a node in a bipartite graph of two sides (Borgatti and Halgin 2011)."""
    n, m = len(side), len(other)
    s, t = divmod(n - 1, m)
    return (m**2 * (s + 1) ** 2 + m * (s + 1) * (2 * t - s - 1) - t * (2 * s - t + 3)) / 2


def harmonic_centrality(
    G: BackendGraph, nbunch: Any = None, distance: Any = None, sources: Any = None, **run: Any
) -> dict[Node, float]:
    """Compute ``networkx.harmonic_centrality``; `run` is passed to `lagbc.harmonic`."""
    roots = None if sources is None else sorted({G.numbers[source] for source in _resolve_nodes(G, sources)})
    scores = G.by_node(_call(lagbc.harmonic, G, distance, run, sources=roots))
    return {node: scores[node] for node in _resolve_nodes(G, nbunch)}


def eccentricity(G: BackendGraph, v: None = None, sp: None = None, weight: Any = None, **run: Any) -> dict[Node, float]:
    """Compute ``networkx.eccentricity``; NetworkXError if some vertex does not reach every other one."""
    if not len(G):
        none: dict[Node, float] = _of_small_graph("eccentricity", G, run)
        return none
    if not _is_connected(G):
        fault = "digraph is not strongly connected" if G.is_directed() else "graph is not connected"
        raise nx.NetworkXError(f"Found infinite path length because the {fault}")
    values = _call(lagbc.eccentricity, G, weight, run)
    return G.by_node(values.astype(np.int64) if _are_integers(G, weight) else values)


def _of_eccentricities(function: str) -> Callable[..., Any]:
    """Make a function of NetworkX that is computed of eccentricities, which are given, or else computed here."""

    def compute(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: Any = None, **run: Any) -> Any:
        if not len(G):
            return _of_small_graph(function, G, run, e=e, usebounds=usebounds, weight=weight)
        return getattr(nx, function).orig_func(G, e=_eccentricities(G, e, usebounds, weight, run))

    return compute


diameter, radius = _of_eccentricities("diameter"), _of_eccentricities("radius")
periphery, center = _of_eccentricities("periphery"), _of_eccentricities("center")


def _eccentricities(G: BackendGraph, e: Any, usebounds: bool, weight: Any, run: dict[str, Any]) -> Any:
    """Return the eccentricities given, or else compute all of them, with bounds or without."""
    _require_options(run)
    if e is not None:
        return e
    if usebounds is True and not G.is_directed() and not _is_connected(G):
        raise nx.NetworkXError("Cannot compute metric because graph is not connected.")
    return eccentricity(G, weight=weight, **run)


def average_shortest_path_length(G: BackendGraph, weight: Any = None, method: Any = None, **run: Any) -> Any:
    """Compute ``networkx.average_shortest_path_length``; NetworkXError if some vertex does not reach every other."""
    if len(G) < 2:
        return _of_small_graph("average_shortest_path_length", G, run, method=method)
    if not _is_connected(G):
        raise nx.NetworkXError(f"Graph is not {'strongly ' if G.is_directed() else ''}connected.")
    return _call(lagbc.distances, G, None if method == "unweighted" else weight, run).average


def wiener_index(G: BackendGraph, weight: Any = None, **run: Any) -> Any:
    """Compute ``networkx.wiener_index``, infinite where some vertex does not reach another."""
    if not len(G):
        return _of_small_graph("wiener_index", G, run)
    if not _is_connected(G):
        return float("inf")
    total = _call(lagbc.distances, G, weight, run).wiener
    return int(total) if G.is_directed() and _are_integers(G, weight) else total


def global_efficiency(G: BackendGraph, **run: Any) -> Any:
    """Compute ``networkx.global_efficiency``; `run` is passed to `lagbc.distances`."""
    return _call(lagbc.distances, G, None, run).efficiency if len(G) > 1 else 0


def _of_small_graph(function: str, G: BackendGraph, run: dict[str, Any], **given: Any) -> Any:
    """Return, or raise, all that the NetworkX at hand does with at most one node; that differs among versions."""
    _require_options(run)
    small = nx.DiGraph() if G.is_directed() else nx.Graph()
    small.add_nodes_from(G)
    return getattr(nx, function).orig_func(small, **given)


def _is_connected(G: BackendGraph) -> bool:
    from scipy.sparse.csgraph import connected_components  # loads half of SciPy, and few calls need it

    pattern = G.graph(None).pattern
    return len(G) == 0 or connected_components(pattern, directed=True, connection="strong")[0] == 1


def _are_integers(G: BackendGraph, weight: Any) -> bool:
    """Whether distances are integers; NetworkX gives a single node the integer 0."""
    return weight is None or len(G) == 1 or G.lengths(weight).dtype.kind in "biu"


def girvan_newman(G: BackendGraph, most_valuable_edge: None = None, **run: Any) -> Iterator[tuple[set[Node], ...]]:
    """Compute ``networkx.community.girvan_newman``, which divides G as far as the communities are asked for."""
    _require_options(run)
    tails, heads = G.entries.tails, G.entries.heads
    graph = as_graph(G.entries.matrix(None), directed=False)
    division = Division(graph, check_run(cast(Options, run), ()))
    # NetworkX lists an edge from its earlier end, in the order in which the adjacency first has it.
    is_edge = tails != heads
    first, last = np.minimum(tails, heads)[is_edge], np.maximum(tails, heads)[is_edge]
    _, place = np.unique(first * len(G) + last, return_index=True)
    division.turns = np.lexsort((place, division.ends[:, 0]))
    return _communities(G, division)


def _communities(G: BackendGraph, division: Division) -> Iterator[tuple[set[Node], ...]]:
    if not len(G.entries.tails):
        yield tuple({node} for node in G)
    for has_split in division.steps():
        if has_split:
            found: list[set[Node]] = [set() for _ in range(division.count)]
            for node, label in zip(G.nodes, division.labels.tolist(), strict=True):
                found[label].add(node)
            yield tuple(found)


def _call(function: Callable[..., Any], G: BackendGraph, weight: Any, run: dict[str, Any], **given: Any) -> Any:
    """Call a function of lagbc; `run` may hold the options of the metadata, and no others."""
    _require_options(run)
    return function(G.graph(weight), directed=G.is_directed(), weighted=weight is not None, **given, **run)


def _require_options(run: dict[str, Any]) -> None:
    if unknown := run.keys() - set(RUN_OPTIONS):
        raise InvalidTypeError(f"{sorted(unknown)}: no such argument; lagbc's own are {', '.join(RUN_OPTIONS)}")


def _sum_dependencies(G: BackendGraph, weight: Any, run: dict[str, Any], **given: Any) -> NDArray[np.float64]:
    """Return the sum of the dependencies of roots over ordered pairs, as `rescale` takes it."""
    scores: NDArray[np.float64] = _call(lagbc.bc, G, weight, run, **given)
    return scores if G.is_directed() else 2 * scores


def _draw_nodes(G: BackendGraph, k: int, seed: Any) -> NDArray[np.int64]:
    drawn = nx.utils.create_py_random_state(seed).sample(G.nodes, k)
    return np.array([G.numbers[node] for node in drawn], np.int64)


def _numbers_present(G: BackendGraph, nodes: Iterable[Node]) -> list[int]:
    return [G.numbers[node] for node in set(nodes) if node in G]


def _resolve_nodes(G: BackendGraph, nbunch: Any) -> list[Node]:
    """Resolve a node, several, or None for all, by NetworkX's rules."""
    vertices = nx.Graph()
    vertices.add_nodes_from(G.nodes)
    return list(vertices.nbunch_iter(nbunch))
