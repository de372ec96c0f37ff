"""GraphML, by NetworkX or else igraph, whichever is installed."""

from __future__ import annotations

import html
import io
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import GraphFormatError, MissingDependencyError
from lagbc.graph.coordinates import of_attributes
from lagbc.io.columns import Columns
from lagbc.io.graph_file import GraphFile, compressed, repeat_notices
from lagbc.io.source import Source

# The attribute that holds lengths, as NetworkX and igraph call it by default.
_USUAL = "weight"
# Peak bytes of reading a byte of the file: both libraries make objects of all that is in it.
_BYTES_PER_BYTE = 30


def read_graphml(source: Source, strengths: bool, said: Columns) -> GraphFile:
    """Read a GraphML file: its vertices' ids, and of the edges one attribute, `said.length` or "weight"."""
    data = source.whole()
    source.require(_BYTES_PER_BYTE * len(data), "a GraphML file")
    try:
        names, ends, attributes, directed, others = _read(data)
    except ImportError as error:
        raise MissingDependencyError(
            f"{source.name}: GraphML is read by NetworkX or igraph: pip install 'lagbc[networkx]' or pip install igraph"
        ) from error
    except Exception as error:  # XML parsers, and what the two libraries make of what they find, raise almost anything
        raise GraphFormatError(f"{source.name}: {error}; expected GraphML") from error
    attribute = _USUAL if said.length is None else said.length
    lengths = _lengths(source, names, ends, attributes, attribute, required=said.length is not None)
    tails, heads = ends.T
    matrix, repeats = compressed(len(names), tails, heads, lengths, directed=directed, largest=strengths)
    is_weighted = any(attribute in held for held in attributes)
    notices = repeat_notices(repeats, largest=strengths) if is_weighted else ()
    values = f"values in attribute {attribute!r}" if is_weighted else "no values"
    labels = np.array(names, np.dtypes.StringDType()) if names else np.empty(0, np.dtypes.StringDType())
    coordinates = of_attributes(others.vertices, others.graph)
    return GraphFile(
        matrix,
        directed,
        "GraphML",
        labels,
        notices,
        said=values,
        coordinates=coordinates,
        has_values=is_weighted,
    )


class _Attributes(NamedTuple):
    """Attributes of each vertex, and of the graph."""

    vertices: list[dict[str, Any]]
    graph: dict[str, Any]


_Read = tuple[list[str], NDArray[np.int64], list[dict[str, Any]], bool, _Attributes]


def _read(data: bytes) -> _Read:
    """Return names of vertices, ends of edges, their attributes, whether they go one way, and other attributes."""
    try:
        import networkx as nx
    except ImportError:
        return _read_with_igraph(data)
    G = nx.read_graphml(io.BytesIO(data))
    numbers = {node: i for i, node in enumerate(G)}
    edges = list(G.edges(data=True))
    ends = ((numbers[tail], numbers[head]) for tail, head, _ in edges)
    others = _Attributes([held for _, held in G.nodes(data=True)], G.graph)
    return list(map(str, G)), _pairs(ends), [attributes for *_, attributes in edges], G.is_directed(), others


def _read_with_igraph(data: bytes) -> _Read:
    import igraph

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "graph.graphml")
        path.write_bytes(data)
        graph = igraph.Graph.Read_GraphML(str(path))
    # igraph leaves an ampersand in an id as the reference &#38;.
    names = [html.unescape(name) for name in graph.vs["id"]] if graph.vcount() else []
    others = _Attributes([v.attributes() for v in graph.vs], {name: graph[name] for name in graph.attributes()})
    return names, _pairs(graph.get_edgelist()), [e.attributes() for e in graph.es], graph.is_directed(), others


def _pairs(ends: Iterable[tuple[int, int]]) -> NDArray[np.int64]:
    return np.array(list(ends), np.int64).reshape(-1, 2)


def _lengths(
    source: Source,
    names: list[str],
    ends: NDArray[np.int64],
    attributes: list[dict[str, Any]],
    attribute: int | str,
    *,
    required: bool,
) -> NDArray[np.float64]:
    """Return an attribute of the edges as floats; ones, if none has it and it need not be there."""
    if not required and not any(attribute in held for held in attributes):
        return np.ones(len(ends))
    lengths = np.empty(len(ends))
    for e, held in enumerate(attributes):
        try:
            lengths[e] = float(held[attribute])  # type: ignore[index]
        except (KeyError, TypeError, ValueError):
            value = f"{attribute!r} = {held[attribute]!r}" if attribute in held else f"no {attribute!r}"
            edge = f"{names[ends[e, 0]]} -> {names[ends[e, 1]]}"
            there = ", ".join(sorted({repr(name) for held in attributes for name in held})) or "none"
            raise GraphFormatError(
                f"{source.name}: the edge {edge} has {value}; expected a number in an attribute of all edges, "
                f"which length= names; there are: {there}"
            ) from None
    return lengths
