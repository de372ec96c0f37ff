"""METIS files: a header, then a line of neighbours for each vertex."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from lagbc.io.columns import Columns
from lagbc.io.formats import reader
from lagbc.io.graph_file import GraphFile, merge_repeats
from lagbc.io.scan import lines_beside_comments
from lagbc.io.source import Source
from lagbc.native import core

_HEADER = "'vertices edges [fmt [ncon]]', fmt being up to three digits 0 or 1"
_COUNT = re.compile(rb"[0-9]{1,18}")
# Peak bytes of reading a number, and a vertex.
_BYTES_PER_NUMBER, _BYTES_PER_VERTEX = 200, 40


class _Header(NamedTuple):
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
    header = _read_header(source)
    numbers, sizes = _read_rows(source, header)
    row = np.repeat(np.arange(header.n), sizes)
    place = np.arange(numbers.size) - np.repeat(np.cumsum(sizes) - sizes, sizes) - header.skip
    listed = (place >= 0) & (place % header.stride == 0)
    ends = row[listed], numbers[listed] - 1
    weight = numbers[(place >= 0) & (place % 2 == 1)] if header.stride == 2 else np.ones(ends[0].size)
    _require_same_edges(source, header, *ends, weight)
    matrix, _ = merge_repeats(header.n, *ends, weight.astype(np.float64), largest=largest)
    return GraphFile(matrix, False, "METIS", None, has_values=header.stride == 2)


def _read_header(source: Source) -> _Header:
    lines = lines_beside_comments(source)
    line, text = next(((line, text) for line, text in lines if not text.startswith(b"%")), (1, b""))
    fields = text.split()
    fmt = fields[2].rjust(3, b"0") if len(fields) > 2 else b"000"
    counts = fields[:2] + fields[3:]
    if not (2 <= len(fields) <= 4 and all(map(_COUNT.fullmatch, counts)) and re.fullmatch(rb"[01]{3}", fmt)):
        source.fail(line, "not a METIS header", text, _HEADER)
    n, m, constraints = map(int, (*counts, b"1")[:3])
    return _Header(line, text, n, m, int(fmt[0:1]) + int(fmt[1:2]) * constraints, 1 + int(fmt[2:3]))


def _read_rows(source: Source, header: _Header) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
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
    source: Source, header: _Header, u: NDArray[np.int64], v: NDArray[np.int64], weight: NDArray[Any]
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
