"""Formats that NetworkX reads: GraphML, GML, GEXF and Pajek."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import GraphFormatError, MissingDependencyError
from lagbc.graph.coordinates import coordinates_of_attributes
from lagbc.graph.given import LENGTH
from lagbc.io.formats import reader
from lagbc.io.graph_file import GraphFile, compressed
from lagbc.io.layout import Columns
from lagbc.io.source import Source

_XML = rb"\s*(<\?xml[^>]*>)?\s*"
_GML = rb"\s*(?:(?:creator|version|comment)\b[^\n]*\n\s*)*graph\s*\[\s*(?:[a-z]\w*\s|\]|$)"
_PAJEK = rb"(?:\s*%[^\n]*\n)*\s*\*(?:network|vertices)\b"
# Makes a graph of NetworkX; arguments are that module and the content of a file.
_Parser = Callable[[Any, bytes], Any]
# Peak bytes of a byte of the file: NetworkX makes an object of each element.
_BYTES_PER_BYTE = 30


def read_by_networkx(form: str, parse: _Parser, source: Source, largest: bool, named: Columns) -> GraphFile:
    """Read the ids or labels of vertices, and the attribute `named.length`, or "weight", of edges."""
    G = _read(form, parse, source)
    numbers = {node: i for i, node in enumerate(G)}
    edges = list(G.edges(data=True))
    tails, heads = (np.array([numbers[edge[end]] for edge in edges], np.int64) for end in (0, 1))
    attribute = LENGTH if named.length is None else named.length
    has_values = any(attribute in held for *_, held in edges)
    lengths = _edge_lengths(source, edges, named.length) if has_values or named.length is not None else None
    matrix, repeats = compressed(len(G), tails, heads, lengths, directed=G.is_directed(), largest=largest)
    return GraphFile(
        matrix,
        G.is_directed(),
        form,
        np.array([*map(str, G)], np.dtypes.StringDType()) if numbers else np.empty(0, np.dtypes.StringDType()),
        said=f"values in attribute {attribute!r}" if has_values else "no values",
        coordinates=coordinates_of_attributes([held for _, held in G.nodes(data=True)], G.graph),
        has_values=has_values,
        length_hint="length= names the attribute",
        repeats=repeats,
    )


def _read(form: str, parse: _Parser, source: Source) -> Any:
    data = source.whole().removeprefix(codecs.BOM_UTF8)
    source.require(_BYTES_PER_BYTE * len(data), f"a {form} file")
    try:
        import networkx as nx
    except ImportError as error:
        raise MissingDependencyError(
            f"{source.name}: {form} is read by NetworkX: pip install networkx; or pip install 'lagbc[networkx]'"
        ) from error
    try:
        return parse(nx, data)
    except Exception as error:  # the XML parser and NetworkX raise almost anything
        raise GraphFormatError(f"{source.name}: {error}; expected {form}") from error


def _parse_gml(nx: Any, data: bytes) -> Any:
    """Parse GML; vertices are called by their labels if all have different ones, else by their ids."""
    G = nx.read_gml(io.BytesIO(data), label="id")
    labels = {node: str(held["label"]) for node, held in G.nodes(data=True) if "label" in held}
    return nx.relabel_nodes(G, labels) if len({*labels.values()}) == len(G) else G


def _parse_pajek(nx: Any, data: bytes) -> Any:
    """Parse labelled vertices and links of one kind; NetworkX takes any other section for links of that kind."""
    stripped = enumerate(map(str.strip, data.decode().split("\n")), 1)
    numbered = [(at, line) for at, line in stripped if line and not line.lower().startswith(("%", "*network"))]
    numbers, lines = [at for at, _ in numbered], [line for _, line in numbered]
    starts = [at for at, line in enumerate(lines) if line.startswith("*")]
    match [lines[at].lower().split() for at in starts]:
        case [["*vertices", count], ["*arcs" | "*edges" | "*matrix" as kind, *_]]:
            vertices, links = (lines[at + 1 : end] for at, end in pairwise([*starts, len(lines)]))
        case _:
            found = ", ".join(lines[at] for at in starts)
            raise GraphFormatError(
                f"it has the sections {found}, and NetworkX reads one *Vertices N with one *Arcs, *Edges or *Matrix; "
                "write it so, or as GraphML"
            )
    labelled = sum(len(line.split()) > 1 for line in vertices)
    if not int(count) == labelled == len(vertices):
        raise GraphFormatError(f"*Vertices {count} has {len(vertices)} lines below, {labelled} of them with labels")
    alone = next((at for at, link in enumerate(links, starts[1] + 1) if len(link.split()) == 1), None)
    if kind != "*matrix" and alone is not None:
        raise GraphFormatError(f"line {numbers[alone]}: {lines[alone]!r} has one end of an edge; an edge has two")
    if kind == "*matrix" and len(links) != labelled:
        raise GraphFormatError(f"*Matrix has {len(links)} lines below, for {count} vertices")
    G = nx.parse_pajek(lines)
    if len(G) != labelled:
        raise GraphFormatError(f"*Vertices {count} is followed by {len(G)} different labels and ends of edges")
    return G


def _edge_lengths(
    source: Source, edges: list[tuple[Any, Any, dict[str, Any]]], named: int | str | None
) -> NDArray[np.float64]:
    """Return an attribute of the edges as floats; by default "weight", NaN for an edge that has no number."""
    attribute, lengths = LENGTH if named is None else named, np.full(len(edges), np.nan)
    for e, (tail, head, held) in enumerate(edges):
        try:
            lengths[e] = float(held[attribute])  # type: ignore[index]
        except OverflowError:  # an integer beyond float64
            lengths[e] = np.inf
        except (KeyError, TypeError, ValueError):
            if named is None:
                continue
            value = f"{attribute!r} = {held[attribute]!r}" if attribute in held else f"no {attribute!r}"
            there = ", ".join(sorted({repr(name) for *_, others in edges for name in others})) or "none"
            raise GraphFormatError(
                f"{source.name}: the edge {tail} -> {head} has {value}; expected a number in an attribute of all "
                f"edges, which length= names; there are: {there}"
            ) from None
    return lengths


# Pajek has suffixes of edge lists, and is told by its content.
for _form, _suffixes, _begins, _parse in (
    ("GraphML", (".graphml",), _XML + rb"<graphml\b", lambda nx, data: nx.read_graphml(io.BytesIO(data))),
    ("GEXF", (".gexf",), _XML + rb"<gexf\b", lambda nx, data: nx.read_gexf(io.BytesIO(data))),
    ("GML", (".gml",), _GML, _parse_gml),
    ("Pajek", (), _PAJEK, _parse_pajek),
):
    reader(_form, suffixes=_suffixes, begins=re.compile(_begins, re.IGNORECASE), takes=("length",))(
        partial(read_by_networkx, _form, _parse)
    )
