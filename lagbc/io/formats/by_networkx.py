"""Formats that NetworkX reads: GraphML, GML, GEXF and Pajek."""

from __future__ import annotations

import io
import re
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import GraphFormatError, MissingDependencyError
from lagbc.graph.coordinates import coordinates_of_attributes
from lagbc.graph.entries import LENGTH
from lagbc.io.columns import Columns
from lagbc.io.formats import reader
from lagbc.io.graph_file import GraphFile, compressed, repeat_notices
from lagbc.io.source import Source

_XML = rb"\s*(<\?xml[^>]*>)?\s*"
# By format: the reader of NetworkX, suffixes, and a pattern of the first bytes.
_READERS = {
    "GraphML": ("read_graphml", (".graphml",), _XML + rb"<graphml\b"),
    "GEXF": ("read_gexf", (".gexf",), _XML + rb"<gexf\b"),
    "GML": ("read_gml", (".gml",), rb"\s*((creator|version|comment)\b[^\n]*\s+)*graph\s*\["),
    "Pajek": ("read_pajek", (".net", ".paj"), rb"\s*\*(network|vertices)\b"),
}

# Peak bytes of reading a byte of the file: NetworkX makes an object of each element.
_BYTES_PER_BYTE = 30


def read_by_networkx(form: str, source: Source, strengths: bool, named: Columns) -> GraphFile:
    """Read a file: the ids or labels of vertices, and one attribute of edges, `named.length` or "weight"."""
    G = _read(form, source)
    numbers = {node: i for i, node in enumerate(G)}
    edges = list(G.edges(data=True))
    tails, heads = (np.array([numbers[edge[end]] for edge in edges], np.int64) for end in (0, 1))
    attribute = LENGTH if named.length is None else named.length
    has_values = any(attribute in held for *_, held in edges)
    lengths = _edge_lengths(source, edges, named.length) if has_values or named.length is not None else None
    matrix, repeats = compressed(len(G), tails, heads, lengths, directed=G.is_directed(), largest=strengths)
    return GraphFile(
        matrix,
        G.is_directed(),
        form,
        np.array([*map(str, G)], np.dtypes.StringDType()) if numbers else np.empty(0, np.dtypes.StringDType()),
        repeat_notices(repeats, largest=strengths),
        said=f"values in attribute {attribute!r}" if has_values else "no values",
        coordinates=coordinates_of_attributes([held for _, held in G.nodes(data=True)], G.graph),
        has_values=has_values,
        length_hint="length= names the attribute",
        repeats=repeats,
    )


for _form, (_, _suffixes, _begins) in _READERS.items():
    reader(_form, suffixes=_suffixes, begins=re.compile(_begins, re.IGNORECASE), takes=("length",))(
        partial(read_by_networkx, _form)
    )


def _read(form: str, source: Source) -> Any:
    data = source.whole()
    source.require(_BYTES_PER_BYTE * len(data), f"a {form} file")
    try:
        import networkx as nx
    except ImportError as error:
        raise MissingDependencyError(
            f"{source.name}: {form} is read by NetworkX: pip install 'lagbc[networkx]'"
        ) from error
    try:
        called = {"label": "label" if b"label" in data else "id"} if form == "GML" else {}
        return getattr(nx, _READERS[form][0])(io.BytesIO(data), **called)
    except Exception as error:  # the XML parser and NetworkX raise almost anything
        raise GraphFormatError(f"{source.name}: {error}; expected {form}") from error


def _edge_lengths(
    source: Source, edges: list[tuple[Any, Any, dict[str, Any]]], named: int | str | None
) -> NDArray[np.float64]:
    """Return an attribute of the edges as floats; of the one by default, NaN where an edge has no number."""
    attribute, lengths = LENGTH if named is None else named, np.full(len(edges), np.nan)
    for e, (tail, head, held) in enumerate(edges):
        try:
            lengths[e] = float(held[attribute])  # type: ignore[index]
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
