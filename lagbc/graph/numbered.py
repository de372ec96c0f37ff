"""Graphs of igraph, rustworkx, NetworKit and graph-tool: their vertices have numbers, and each edge is listed once.

Numbers have gaps where vertices were removed or are filtered out. Then they are the names of the vertices, so that a
number means the same vertex here and in the library.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError
from lagbc.graph.entries import Entries, as_lengths, mirrored
from lagbc.graph.given import Listed
from lagbc.graph.values import BY_NAME, Values, no_attribute


class Numbered(NamedTuple):
    """A graph with the numbers that a library gives its vertices."""

    vertices: NDArray[np.int64]  # (n,): numbers of the vertices, ascending
    ends: NDArray[np.int64]  # (m, 2)
    lengths: Any  # (m,)

    def matrix(self, *, directed: bool, largest: bool) -> Listed:
        """Return the adjacency matrix; of parallel edges the smallest length counts, or the `largest`."""
        lengths = self.lengths
        if lengths is not None:
            lengths = as_lengths(lengths, lambda i: f"edge {i}, {tuple(self.ends[i].tolist())},")
        tails, heads = np.searchsorted(self.vertices, self.ends.T) if _has_gaps(self.vertices) else self.ends.T
        if not directed:
            tails, heads, lengths = mirrored(tails, heads, lengths)
        return Entries(len(self.vertices), tails, heads, directed).matrix(lengths, largest=largest)


def names_or_numbers(vertices: NDArray[np.int64], texts: Any) -> Any:
    """Return the numbers of the vertices if they have gaps, else `texts`."""
    return vertices if _has_gaps(vertices) else texts


def _has_gaps(vertices: NDArray[np.int64]) -> bool:
    return bool(len(vertices)) and int(vertices[-1]) >= len(vertices)


def read_igraph(graph: Any, values: Values) -> Numbered:
    """Read an igraph.Graph."""
    ends, lengths = _as_ends(graph.get_edgelist()), None
    if values.are_taken:
        attribute = values.name
        if len(ends) and attribute not in graph.es.attributes():
            raise no_attribute("igraph.Graph", attribute, graph.es.attributes())
        lengths = graph.es[attribute] if len(ends) else ()
    return Numbered(np.arange(graph.vcount()), ends, lengths)


def igraph_names(graph: Any) -> Any:
    """Return the attribute "name" of the vertices."""
    return graph.vs["name"] if "name" in graph.vs.attributes() else None


def read_rustworkx(graph: Any, values: Values) -> Numbered:
    """Read a rustworkx.PyGraph or PyDiGraph; an edge holds its length, or a dict of attributes."""
    edges, lengths = graph.weighted_edge_list(), None
    if values.are_taken:
        attribute, held = values.name, [value for _, _, value in edges]
        bare = values.attribute is None
        lengths = [value.get(attribute) if isinstance(value, Mapping) else value if bare else None for value in held]
        if lengths and all(length is None for length in lengths):
            there = set[Any]().union(*(value for value in held if isinstance(value, Mapping)))
            raise no_attribute(f"rustworkx.{type(graph).__name__}", attribute, there)
    return Numbered(np.array(graph.node_indices(), np.int64), _as_ends([edge[:2] for edge in edges]), lengths)


def rustworkx_names(graph: Any) -> Any:
    """Return the payloads of the vertices, if they are text."""
    held = graph.nodes()
    texts = held if held and all(isinstance(value, str) for value in held) else None
    return names_or_numbers(np.array(graph.node_indices(), np.int64), texts)


def read_networkit(graph: Any, values: Values) -> Numbered:
    """Read a networkit.Graph: its weights, or an edge attribute of numbers."""
    edges: list[tuple[int, int, float, int]] = []
    graph.forEdges(lambda *edge: edges.append(edge))
    lengths = None
    if values.attribute is not None:
        held = _networkit_attribute(graph, values.attribute) if edges else {}
        lengths = [held.get(edge) for *_, edge in edges]
    elif values.are_taken:
        if edges and not graph.isWeighted():
            raise InvalidValueError(
                f"the networkit.Graph has no weights; {BY_NAME} takes an edge attribute by name, weighted=False counts "
                "hops"
            )
        lengths = [weight for *_, weight, _ in edges]
    return Numbered(_networkit_vertices(graph), _as_ends([edge[:2] for edge in edges]), lengths)


def networkit_names(graph: Any) -> Any:
    """Return the node attribute "name", if all vertices have it."""
    vertices = _networkit_vertices(graph)
    try:
        held = dict(graph.getNodeAttribute("name", str))
    except RuntimeError:  # none of this name, or of another type
        held = {}
    return names_or_numbers(
        vertices, list(map(held.get, vertices.tolist())) if 0 < len(vertices) == len(held) else None
    )


def _networkit_vertices(graph: Any) -> NDArray[np.int64]:
    return np.fromiter(graph.iterNodes(), np.int64, graph.numberOfNodes())


def _networkit_attribute(graph: Any, name: str) -> dict[int, Any]:
    """Return the values of an edge attribute by the ids of the edges."""
    for kind in (float, int):
        try:
            return dict(graph.getEdgeAttribute(name, kind))
        except RuntimeError:  # none of this name, or of another type
            continue
    raise InvalidValueError(
        f"the edges of the networkit.Graph have no attribute {name!r} of numbers; weighted=True takes its weights, "
        "weighted=False counts hops"
    )


def read_graph_tool(graph: Any, values: Values) -> Numbered:
    """Read a graph_tool.Graph, or a view of one."""
    edges, lengths = np.asarray(graph.get_edges([graph.edge_index])).reshape(-1, 3).astype(np.int64), None
    if values.are_taken:
        attribute = values.name
        if len(edges) and attribute not in graph.edge_properties:
            raise no_attribute("graph_tool.Graph", attribute, graph.edge_properties)
        lengths = _graph_tool_values(graph.edge_properties[attribute], attribute)[edges[:, 2]] if len(edges) else ()
    return Numbered(_graph_tool_vertices(graph), edges[:, :2], lengths)


def graph_tool_names(graph: Any) -> Any:
    """Return the vertex property "name"."""
    held = graph.vertex_properties.get("name")
    return names_or_numbers(_graph_tool_vertices(graph), None if held is None else [held[v] for v in graph.vertices()])


def _graph_tool_vertices(graph: Any) -> NDArray[np.int64]:
    return np.asarray(graph.get_vertices()).astype(np.int64)


def _graph_tool_values(values: Any, attribute: str) -> NDArray[Any]:
    """Return the values of an edge property, by the indices of the edges."""
    if values.a is None:
        raise InvalidValueError(
            f"the edge property {attribute!r} of the graph_tool.Graph is of type {values.value_type()}; lengths are "
            "floats or integers"
        )
    return np.asarray(values.a)


def _as_ends(ends: Any) -> NDArray[np.int64]:
    return np.array(ends, np.int64).reshape(-1, 2)
