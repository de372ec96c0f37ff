"""The NetworkX backend: ``networkx.betweenness_centrality(G, backend="lagbc")`` and its kin.

NetworkX converts a graph by `convert_from_nx` (in nx_graph.py), keeps the result in ``G.__networkx_cache__``, and
passes it to the functions below, whose names and arguments are NetworkX's. `can_run` refuses arguments that lagbc does
not take, and `should_run` lengths that it does not add up as NetworkX does: NetworkX then runs the call itself, if it
tried the backend by priority. Of a backend that is named, as by ``backend="lagbc"``, it asks `can_run` alone, and the
function raises an error that names the length. That is no NotImplementedError, which NetworkX would replace by one
without the reason.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

import lagbc
from lagbc.centrality.rescale import rescale
from lagbc.graph.adapters import networkx_edge_data
from lagbc.interfaces.nx_graph import BackendGraph, Node, exact_lengths
from lagbc.interfaces.nx_graph import convert_from_nx as convert_from_nx  # NetworkX looks for both in this module
from lagbc.interfaces.nx_graph import convert_to_nx as convert_to_nx
from lagbc.interfaces.nx_metadata import COMPUTED_BY, RUN_OPTIONS

# Roots times edges from which on converting and computing takes less than NetworkX: 2 to 5 ms each on random graphs of
# 20 to 50 nodes. The first call of a process takes a second more, which loads the compiled loops.
WORTH = 5_000


# Tests of NetworkX that ask for what the formula in its documentation does not give.
EXPECTED_FAILURES = {
    "TestEdgeSubsetBetweennessCentrality::test_diamond_multi_path": (
        "NetworkX divides what leads on to targets equally among predecessors, not by their numbers of shortest paths"
    ),
}


def on_start_tests(items: list[Any]) -> None:
    """Mark the tests of NetworkX that fail with this backend, and say why; NetworkX's test-suite calls this.

    The suite leaves a call to NetworkX where `can_run` says so, and never asks `should_run`; so `can_run` then looks at
    the lengths, too.
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
        return True  # and the call says what is wrong
    weight = _weight_of(given)
    if callable(weight):
        return "edge lengths are given by a function; lagbc takes the name of an edge attribute"
    if name == "betweenness_centrality" and given.get("k") == 1 and not given.get("endpoints"):
        return "k=1 without endpoints leaves the score of the sampled node undefined, which lagbc does not return"
    for one in ("u", "v", "sp"):
        if given.get(one) is not None:
            return f"{one} is given, and lagbc computes all nodes in one sweep"
    return True


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a call that the backend can run is worth its conversion; a string is the reason why not."""
    given = _arguments(name, args, kwargs)
    roots = given.get("k") or len(given["G"])
    work = roots * given["G"].number_of_edges()
    return (
        _adds_up(name, args, kwargs) if work >= WORTH else f"roots * edges = {work}; NetworkX is faster below {WORTH}"
    )


def _adds_up(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether lagbc adds up the lengths of a call as NetworkX does; a string is the reason why not."""
    given = _arguments(name, args, kwargs)
    weight = _weight_of(given)
    if weight is None:
        return True
    values = (data.get(weight, 1) for data in networkx_edge_data(given["G"]))
    try:
        exact_lengths(values, lambda entry: f"entry {entry} of the adjacency")
    except (TypeError, ValueError) as error:
        return str(error)
    return True


def _arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    return inspect.signature(globals()[name]).bind(*args, **kwargs).arguments


def _weight_of(given: dict[str, Any]) -> Any:
    return given.get("weight", given.get("distance"))


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
        scores = _compute(lagbc.bc, G, weight, run, normalized=bool(normalized), endpoints=bool(endpoints))
        return G.by_node(scores)
    roots = _sample(G, k, seed)
    raw = _raw(G, weight, run, sources=roots, endpoints=bool(endpoints))
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
    multiplicity, omega = np.zeros(len(G)), np.zeros(len(G))
    multiplicity[list(times)] = list(times.values())
    omega[_present(G, targets)] = 1
    raw = _raw(G, weight, run, sources=list(times), source_weights=multiplicity, target_weights=omega)
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
    roots = np.arange(len(G)) if k is None else _sample(G, k, seed)
    scores = _compute(lagbc.edge_bc, G, weight, run, sources=roots, normalized=bool(normalized))
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
    # Those that are named at all, those that are named twice or more, and so on.
    layers = [[v for v, count in times.items() if count > i] for i in range(max(times.values(), default=1))]
    given = {"targets": _present(G, targets), "normalized": bool(normalized)}
    return G.by_edge(sum(_compute(lagbc.edge_bc, G, weight, run, sources=layer, **given) for layer in layers), weight)


def group_betweenness_centrality(
    G: BackendGraph, C: Any, normalized: bool = True, weight: Any = None, endpoints: bool = False, **run: Any
) -> Any:
    """Compute ``networkx.group_betweenness_centrality``, of a group or of several."""
    _require_options(run)
    is_one = any(element in G for element in C)
    groups = [set(group) for group in ([C] if is_one else C)]
    if absent := {node for group in groups for node in group if node not in G}:
        raise nx.NodeNotFound(f"The node(s) {absent} are in C but not in G.")
    numbers = [sorted(G.numbers[node] for node in group) for group in groups]
    scores = lagbc.group_bc(G.graph(weight), numbers, normalized=bool(normalized), endpoints=bool(endpoints)).tolist()
    return scores[0] if is_one else scores


def percolation_centrality(
    G: BackendGraph, attribute: Any = "percolation", states: Any = None, weight: Any = None, **run: Any
) -> dict[Node, float]:
    """Compute ``networkx.percolation_centrality``; `run` is passed to `lagbc.percolation`."""
    if states is None:
        held = G.node_attributes.get(attribute, [None] * len(G))
        given = [1 if state is None else state for state in held]
    else:
        given = [states[node] for node in G.nodes]
    return G.by_node(_compute(lagbc.percolation, G, weight, run, states=given))


def closeness_centrality(
    G: BackendGraph, u: None = None, distance: Any = None, wf_improved: bool = True, **run: Any
) -> dict[Node, float]:
    """Compute ``networkx.closeness_centrality``; `run` is passed to `lagbc.closeness`."""
    return G.by_node(_compute(lagbc.closeness, G, distance, run, wf_improved=bool(wf_improved)))


def harmonic_centrality(
    G: BackendGraph, nbunch: Any = None, distance: Any = None, sources: Any = None, **run: Any
) -> dict[Node, float]:
    """Compute ``networkx.harmonic_centrality``; `run` is passed to `lagbc.harmonic`."""
    roots = None if sources is None else sorted({G.numbers[source] for source in _bunch(G, sources)})
    scores = G.by_node(_compute(lagbc.harmonic, G, distance, run, sources=roots))
    return {node: scores[node] for node in _bunch(G, nbunch)}


def eccentricity(G: BackendGraph, v: None = None, sp: None = None, weight: Any = None, **run: Any) -> dict[Node, float]:
    """Compute ``networkx.eccentricity``; `run` is passed to `lagbc.eccentricity`.

    Raises
    ------
    networkx.NetworkXError
        Some vertex does not reach every other one.
    """
    if len(G) and connected_components(G.graph(None).pattern, directed=True, connection="strong")[0] > 1:
        what = "digraph is not strongly connected" if G.is_directed() else "graph is not connected"
        raise nx.NetworkXError(f"Found infinite path length because the {what}")
    values = _compute(lagbc.eccentricity, G, weight, run)
    return G.by_node(values.astype(np.int64) if weight is None else values)


def _compute(function: Callable[..., Any], G: BackendGraph, weight: Any, run: dict[str, Any], **given: Any) -> Any:
    """Call a function of lagbc; `run` may hold the options of the metadata, and no others."""
    _require_options(run)
    return function(G.graph(weight), directed=G.is_directed(), weighted=weight is not None, **given, **run)


def _require_options(run: dict[str, Any]) -> None:
    if unknown := run.keys() - RUN_OPTIONS.keys():
        raise TypeError(f"{sorted(unknown)}: no such argument; lagbc's own are {', '.join(RUN_OPTIONS)}")


def _raw(G: BackendGraph, weight: Any, run: dict[str, Any], **given: Any) -> NDArray[np.float64]:
    """Sum of the dependencies of roots, as `rescale` takes it: each ordered pair counts."""
    scores: NDArray[np.float64] = _compute(lagbc.bc, G, weight, run, **given)
    return scores if G.is_directed() else 2 * scores


def _sample(G: BackendGraph, k: int, seed: Any) -> NDArray[np.int64]:
    """Draw the k nodes that NetworkX draws."""
    drawn = nx.utils.create_py_random_state(seed).sample(G.nodes, k)
    return np.array([G.numbers[node] for node in drawn], np.int64)


def _present(G: BackendGraph, nodes: Iterable[Node]) -> list[int]:
    """Numbers of those nodes that are in the graph."""
    return [G.numbers[node] for node in set(nodes) if node in G]


def _bunch(G: BackendGraph, nbunch: Any) -> list[Node]:
    """Resolve a node, several, or None for all, by NetworkX's rules."""
    vertices = nx.Graph()
    vertices.add_nodes_from(G.nodes)
    return list(vertices.nbunch_iter(nbunch))
