"""Formats of programs for graphs: METIS, and GraphML, GML, GEXF and Pajek, which NetworkX reads."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import GraphFormatError, needed
from lagbc.graph.coordinates import coordinates_of_attributes
from lagbc.graph.given import LENGTH
from lagbc.io.formats import reader
from lagbc.io.graph_file import GraphFile, compressed, merge_repeats
from lagbc.io.layout import Columns
from lagbc.io.scan import lines_beside_comments
from lagbc.io.source import Source
from lagbc.native import core

_XML = rb"\s*(<\?xml[^>]*>)?\s*"
_GML = rb"\s*(?:(?:creator|version|comment)\b[^\n]*\n\s*)*graph\s*\[\s*(?:[a-z]\w*\s|\]|$)"
_PAJEK = rb"(?:\s*%[^\n]*\n)*\s*\*(?:network|vertices)\b"
# Makes a graph of NetworkX; arguments are that module and the content of a file.
_Parser = Callable[[Any, bytes], Any]
# Peak bytes of a byte of the file: NetworkX makes an object of each element.
_BYTES_PER_BYTE = 30
_METIS_HEADER = "'vertices edges [fmt [ncon]]', fmt being up to three digits 0 or 1"
_COUNT = re.compile(rb"[0-9]{1,18}")
# Peak bytes of reading a number of METIS, and a vertex.
_BYTES_PER_NUMBER, _BYTES_PER_VERTEX = 200, 40


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
    with needed(f"{source.name}: {form} is read by NetworkX", "networkx", "networkx"):
        import networkx as nx
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


class _MetisHeader(NamedTuple):
    """The header, and the number and text of its line."""

    line: int
    text: bytes
    n: int
    m: int
    skip: int  # numbers before the first neighbour: a vertex size and the vertex weights
    stride: int  # numbers a neighbour: 2 with edge weights


@reader("METIS", suffixes=(".graph", ".metis"))
def read_metis(source: Source, largest: bool, named: Columns) -> GraphFile:
    """Read a METIS file; no edge is repeated in one."""
    header = _read_metis_header(source)
    numbers, sizes = _read_rows(source, header)
    row = np.repeat(np.arange(header.n), sizes)
    place = np.arange(numbers.size) - np.repeat(np.cumsum(sizes) - sizes, sizes) - header.skip
    listed = (place >= 0) & (place % header.stride == 0)
    ends = row[listed], numbers[listed] - 1
    weight = numbers[(place >= 0) & (place % 2 == 1)] if header.stride == 2 else np.ones(ends[0].size)
    _require_same_edges(source, header, *ends, weight)
    matrix, _ = merge_repeats(header.n, *ends, weight.astype(np.float64), largest=largest)
    return GraphFile(matrix, False, "METIS", None, has_values=header.stride == 2)


def _read_metis_header(source: Source) -> _MetisHeader:
    lines = lines_beside_comments(source)
    line, text = next(((line, text) for line, text in lines if not text.startswith(b"%")), (1, b""))
    fields = text.split()
    fmt = fields[2].rjust(3, b"0") if len(fields) > 2 else b"000"
    counts = fields[:2] + fields[3:]
    if not (2 <= len(fields) <= 4 and all(map(_COUNT.fullmatch, counts)) and re.fullmatch(rb"[01]{3}", fmt)):
        source.fail(line, "not a METIS header", text, _METIS_HEADER)
    n, m, constraints = map(int, (*counts, b"1")[:3])
    return _MetisHeader(line, text, n, m, int(fmt[0:1]) + int(fmt[1:2]) * constraints, 1 + int(fmt[2:3]))


def _read_rows(source: Source, header: _MetisHeader) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return all numbers of the vertex lines, and their count in each line."""
    numbers, sizes = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    rows = entries = 0
    last = header.line, header.text
    for first, piece in source.pieces(below=header.line):
        found, found_sizes, wrong = core.parse_rows(np.frombuffer(piece, np.uint8))

        def fail(place: int, found_there: str, expected: str, first: int = first, piece: bytes = piece) -> NoReturn:
            source.fail(first + place, found_there, piece.split(b"\n")[place], expected)

        lines = np.flatnonzero(found_sizes >= 0)
        lines, more = np.split(lines, [header.n - rows])
        if (filled := more[found_sizes[more] > 0]).size:
            fail(filled[0], f"more than the {header.n} vertex lines of the header", "the end of the file")
        if not lines.size:
            continue
        sizes.append(found_sizes[lines])
        short = np.flatnonzero((sizes[-1] < header.skip) | ((sizes[-1] - header.skip) % header.stride != 0))
        if short.size:
            pairs = "'neighbour weight' pairs" if header.stride == 2 else "neighbours"
            fail(lines[short[0]], f"{sizes[-1][short[0]]} numbers", f"{header.skip} for the vertex, then {pairs}")
        if wrong >= 0:
            fail(wrong, "not only integers", "neighbours from 1 on, and integer weights")
        numbers.append(found)
        last = first + int(lines[-1]), piece.split(b"\n")[lines[-1]]
        rows, entries = rows + len(lines), entries + found.size
        source.require(_BYTES_PER_NUMBER * entries + _BYTES_PER_VERTEX * rows, f"{rows:,} vertex lines or more")
    if rows < header.n:
        line, text = last
        source.fail(line, f"the file ends after {rows} of {header.n} vertex lines", text, "a line a vertex")
    return np.concatenate(numbers), np.concatenate(sizes)


def _require_same_edges(
    source: Source, header: _MetisHeader, u: NDArray[np.int64], v: NDArray[np.int64], weight: NDArray[Any]
) -> None:
    """Refuse neighbours outside the graph, and edges on which their ends disagree."""

    def fail(row: int, found: str, expected: str) -> NoReturn:
        vertex_lines = (at for at in source.lines() if at[0] > header.line and not at[1].startswith(b"%"))
        line, text = next(at for i, at in enumerate(vertex_lines) if i == row)
        source.fail(line, found, text, expected)

    outside = np.flatnonzero((v < 0) | (v >= header.n))
    if outside.size:
        i = outside[0]
        fail(u[i], f"neighbour {v[i] + 1}", f"neighbours from 1 to {header.n}")
    edges, edges_back = u * header.n + v, v * header.n + u
    order, order_back = np.argsort(edges, kind="stable"), np.argsort(edges_back, kind="stable")
    twice = np.flatnonzero(np.diff(edges[order]) == 0)
    if twice.size:
        i = order[twice[0]]
        fail(u[i], f"neighbour {v[i] + 1} comes twice", "each neighbour once")
    one_sided = np.flatnonzero(np.isin(edges, edges_back, invert=True))
    if one_sided.size:
        i = one_sided[0]
        found = f"neighbour {v[i] + 1} of vertex {u[i] + 1} does not list {u[i] + 1}"
        fail(u[i], found, "each edge at both its ends")
    unequal = np.flatnonzero(weight[order] != weight[order_back])
    if unequal.size:
        i, j = order[unequal[0]], order_back[unequal[0]]
        found = f"edge {u[i] + 1} - {v[i] + 1} weighs {weight[i]} here and {weight[j]} at its other end"
        fail(u[i], found, "one weight")
    if u.size != 2 * header.m:
        found = f"{header.m} edges in the header, but {u.size} neighbours in the lists"
        source.fail(header.line, found, header.text, "twice as many neighbours as edges")
