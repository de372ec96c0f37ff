"""NetworkX graphs as arrays, with the attributes that NetworkX asks for, and back."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from lagbc.errors import InvalidValueError
from lagbc.graph.adapters import networkx_edge_data, networkx_entries
from lagbc.graph.given import Entries, are_no_lengths, as_lengths, shares_of_parallel
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph

Node = Hashable

# Integers from which on float64 no longer tells neighbours apart.
INEXACT = 2.0**53


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
        return exact_lengths(self.attributes[weight], self._name_of)

    def by_node(self, scores: NDArray[Any]) -> dict[Node, Any]:
        """Return scores by node."""
        return dict(zip(self.nodes, scores.tolist(), strict=True))

    def by_edge(self, scores: Any, weight: Any) -> dict[tuple[Any, ...], float]:
        """Return a matrix of scores by edge, in the order of ``G.edges``; the shortest parallel edges share equally."""
        tails, heads = self.entries.tails, self.entries.heads
        values = scores.tocsr()[tails, heads]
        values = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
        values = values.ravel() * self._shares(weight)
        return {self.edge(i): float(values[i]) for i in self.named()}

    def _shares(self, weight: Any) -> NDArray[np.float64]:
        """Return the share of each entry in the score of its pair of vertices; parallel entries are adjacent."""
        if self.keys is None:
            return np.ones(len(self.entries.tails))
        return shares_of_parallel(self.entries, self.lengths(weight))

    def edge(self, entry: int) -> tuple[Any, ...]:
        """Return an edge as NetworkX lists it: its ends, and its key in a multigraph."""
        ends = self.nodes[self.entries.tails[entry]], self.nodes[self.entries.heads[entry]]
        return ends if self.keys is None else (*ends, self.keys[entry])

    def named(self) -> list[int]:
        """Return one entry for each edge; NetworkX lists an undirected edge from its earlier end."""
        named: list[int] = np.flatnonzero((self.entries.heads >= self.entries.tails) | self.is_directed()).tolist()
        return named

    def _name_of(self, entry: int) -> str:
        return f"edge {self.edge(entry)!r}"


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
    """Convert a NetworkX graph, with some attributes of edges and of nodes (name: default).

    Raises
    ------
    NotImplementedError
        All attributes of nodes or edges are to be kept.
    """
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
