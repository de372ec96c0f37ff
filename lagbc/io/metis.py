"""METIS files: a header, then the neighbours of each vertex on a line of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np

from lagbc.io.graph_file import GraphFile, merge_repeats
from lagbc.io.integers import integers_read_strictly, is_int64
from lagbc.io.source import Source

_HEADER = "'vertices edges [fmt [ncon]]', fmt being up to three digits 0 or 1"
_COUNT = re.compile(rb"[0-9]{1,18}")
# Peak bytes of reading a number, and a vertex.
_BYTES_PER_NUMBER, _BYTES_PER_VERTEX = 200, 40


@dataclass(frozen=True)
class _Header:
    """What the header says, and where it stands."""

    line: int
    text: bytes
    n: int
    m: int
    skip: int  # numbers before the first neighbour: a vertex size and the vertex weights
    stride: int  # numbers a neighbour: 2 with edge weights


def read_metis(source: Source, strengths: bool) -> GraphFile:
    """Read a METIS file; an edge cannot be repeated in one, so that strengths are read as lengths are."""
    header = _read_header(source)
    numbers, sizes = _read_rows(source, header)
    row = np.repeat(np.arange(header.n), sizes)
    place = np.arange(numbers.size) - np.repeat(np.cumsum(sizes) - sizes, sizes) - header.skip
    listed = (place >= 0) & (place % header.stride == 0)
    ends = row[listed], numbers[listed] - 1
    weight = numbers[(place >= 0) & (place % 2 == 1)] if header.stride == 2 else np.ones(ends[0].size)
    _check(source, header, *ends, weight)
    matrix, _ = merge_repeats(header.n, *ends, weight.astype(np.float64), largest=strengths)
    return GraphFile(matrix, False, "METIS", None, has_values=header.stride == 2)


def _content(source: Source) -> Iterator[tuple[int, bytes]]:
    """Lines that are no comments; the first is the header, those after it are the vertices."""
    return ((line, text) for line, text in source.lines() if not text.startswith(b"%"))


def _read_header(source: Source) -> _Header:
    line, text = next(_content(source), (1, b""))
    fields = text.split()
    fmt = fields[2].rjust(3, b"0") if len(fields) > 2 else b"000"
    counts = fields[:2] + fields[3:]
    if not (2 <= len(fields) <= 4 and all(map(_COUNT.fullmatch, counts)) and re.fullmatch(rb"[01]{3}", fmt)):
        source.fail(line, "not a METIS header", text, _HEADER)
    n, m, constraints = map(int, (*counts, b"1")[:3])
    return _Header(line, text, n, m, int(fmt[0:1]) + int(fmt[1:2]) * constraints, 1 + int(fmt[2:3]))


def _read_rows(source: Source, header: _Header) -> tuple[np.ndarray, np.ndarray]:
    """Return all numbers of the vertex lines, and how many each line has."""
    numbers, sizes = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    rows = entries = 0
    line, text = header.line, header.text
    for first, piece in source.pieces():
        lines = [
            (line, text)
            for line, text in enumerate(piece.splitlines(), first)
            if line > header.line and not text.startswith(b"%")
        ]
        for line, text in lines[header.n - rows :]:
            if text.strip():
                found = f"more than the {header.n} vertex lines of the header"
                source.fail(line, found, text, "the end of the file")
        lines = lines[: header.n - rows]
        if not lines:
            continue
        line, text = lines[-1]
        sizes.append(_sizes(source, header, lines))
        numbers.append(_numbers(source, lines, int(sizes[-1].sum())))
        rows, entries = rows + len(lines), entries + numbers[-1].size
        source.require(_BYTES_PER_NUMBER * entries + _BYTES_PER_VERTEX * rows, f"{rows:,} vertex lines or more")
    if rows < header.n:
        source.fail(line, f"the file ends after {rows} of {header.n} vertex lines", text, "a line a vertex")
    return np.concatenate(numbers), np.concatenate(sizes)


def _sizes(source: Source, header: _Header, lines: list[tuple[int, bytes]]) -> np.ndarray:
    sizes = np.fromiter((len(text.split()) for _, text in lines), np.int64, len(lines))
    short = np.flatnonzero((sizes < header.skip) | ((sizes - header.skip) % header.stride != 0))
    if short.size:
        pairs = "'neighbour weight' pairs" if header.stride == 2 else "neighbours"
        line, text = lines[short[0]]
        source.fail(line, f"{sizes[short[0]]} numbers", text, f"{header.skip} for the vertex, then {pairs}")
    return sizes


def _numbers(source: Source, lines: list[tuple[int, bytes]], count: int) -> np.ndarray:
    if count == 0:
        return np.empty(0, np.int64)
    try:
        with integers_read_strictly():
            numbers = np.fromstring(b" ".join(text for _, text in lines), np.int64, sep=" ")
    except (ValueError, DeprecationWarning):
        numbers = np.empty(0, np.int64)
    # '1-2' is two numbers to NumPy, and a number too large for int64 is the largest there is.
    limits = np.iinfo(np.int64)
    if numbers.size != count or numbers.max() == limits.max or numbers.min() == limits.min:
        for line, text in lines:
            if not all(map(is_int64, text.split())):
                source.fail(line, "not only integers", text, "neighbours from 1 on, and integer weights")
    return numbers


def _check(source: Source, header: _Header, u: np.ndarray, v: np.ndarray, weight: np.ndarray) -> None:
    """Refuse neighbours that are none, and edges that their two ends do not agree on."""

    def fail(row: int, found: str, expected: str) -> NoReturn:
        vertex_lines = (numbered for numbered in _content(source) if numbered[0] > header.line)
        line, text = next(numbered for i, numbered in enumerate(vertex_lines) if i == row)
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
