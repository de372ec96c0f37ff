"""Matrix Market files, read a piece at a time by compiled loops over their bytes."""

from __future__ import annotations

import re
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from lagbc.graph.csr import index_type
from lagbc.io.columns import Columns
from lagbc.io.formats import reader
from lagbc.io.graph_file import BadLength, GraphFile, bad_lengths, merge_repeats
from lagbc.io.scan import Lines, lines_beside_comments
from lagbc.io.source import Source

_BEGINS = re.compile(rb"\s*%%?MatrixMarket\b", re.IGNORECASE)
_BANNER = re.compile(
    _BEGINS.pattern + rb"\s+matrix\s+(array|coordinate)\s+(pattern|integer|unsigned-integer|real|double|complex)\s+"
    rb"(general|symmetric|skew-symmetric|hermitian)(\s.*)?",
    re.IGNORECASE,
)
_INTEGER = re.compile(rb"-?[0-9]{1,40}")
# Numbers in a value.
_PARTS = {"pattern": 0, "complex": 2}
_TYPES: dict[str, list[Any]] = {"pattern": [], "real": [np.float64], "complex": [np.complex128]}
# Bytes that no entry holds: the compiled loops would take them for a comment or a quote.
_FOREIGN = (b"%", b"#", b'"')
# The value at (j, i), which the file leaves out, as a function of the value at (i, j).
_MIRRORED = {"symmetric": np.positive, "skew-symmetric": np.negative, "hermitian": np.conjugate}
# Peak bytes of reading an entry of a coordinate file, stored once or mirrored; a cell of a dense file; a vertex.
_BYTES_PER_ENTRY, _BYTES_PER_MIRRORED_ENTRY, _BYTES_PER_CELL, _BYTES_PER_VERTEX = 70, 130, 60, 24

# Rows and columns of entries, from 0 on; their values, or None; the first value that is no length.
_Entries = tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None, BadLength | None]


class _Header(NamedTuple):
    """The banner and the size line."""

    size: bytes
    line: int  # number of the size line
    n: int
    entries: int  # number of lines that follow
    dense: bool
    field: str
    symmetry: str

    @property
    def columns(self) -> int:
        """The count of numbers in a line."""
        return _PARTS.get(self.field, 1) + (0 if self.dense else 2)

    @property
    def entry(self) -> str:
        """The form of a line, in words."""
        return "[value]" if self.dense else "'row column [value]', counted from 1,"


def read_part_of_matrix_market(source: Source, number: int, of: int) -> GraphFile:
    """Read the pattern of a part of a sparse file: the lines of a range of its bytes."""
    header = _read_header(source)
    if header.dense:
        source.fail(header.line, "a dense matrix is not read in parts", header.size, "a sparse one (coordinate)")
    ends = [np.zeros((2, 0), np.int64)]
    for line, piece in source.pieces_of_part(below=header.line, number=number, of=of):
        lines = Lines(piece, b" ", header.columns, list(range(header.columns)), glued=False)
        ends.append(np.stack(_numbers_of_lines(source, header, line, piece, lines)[:2]))
    rows, columns = np.concatenate(ends, axis=1)
    count, mirrored = len(rows), header.symmetry != "general"
    if mirrored:
        rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    matrix, _ = merge_repeats(header.n, rows, columns, None, largest=False)
    counted = count, header.entries
    return GraphFile(matrix, not mirrored, "Matrix Market", None, has_values=False, counted=counted)


@reader("Matrix Market", suffixes=(".mtx",), begins=_BEGINS, read_part=read_part_of_matrix_market)
def read_matrix_market(source: Source, largest: bool, named: Columns) -> GraphFile:
    """Read a Matrix Market file, sparse or dense."""
    header = _read_header(source)
    _require_room(source, header)
    rows, columns, values, bad_length = _read_entries(source, header)
    mirrored = header.symmetry != "general"
    if mirrored:
        back = rows != columns
        rows, columns = np.concatenate([rows, columns[back]]), np.concatenate([columns, rows[back]])
        if values is not None:
            values = np.concatenate([values, _MIRRORED[header.symmetry](values[back])])
    matrix, repeats = merge_repeats(header.n, rows, columns, values, largest=largest, mirrored=mirrored)
    return GraphFile(
        matrix,
        not mirrored,
        "Matrix Market",
        None,
        bad_length=bad_length,
        has_values=values is not None,
        repeats=repeats,
    )


def _read_header(source: Source) -> _Header:
    line, banner = next(source.lines(), (1, b""))
    size = b""
    for line, text in lines_beside_comments(source):
        if line > 1 and text.strip() and not text.startswith(b"%"):
            size = text
            break
    else:
        line += 1
    expected = "a banner such as '%%MatrixMarket matrix coordinate real general'"
    if b"vector" in banner.lower().split():
        source.fail(1, "Vector Matrix Market files hold no graph", banner, expected)
    match = _BANNER.fullmatch(banner)
    layout, field, symmetry = (word.decode().lower() for word in match.groups()[:3]) if match else ("", "", "")
    if match is None or (layout, field) == ("array", "pattern"):
        source.fail(1, "no banner of a matrix", banner, expected)
    dense = layout == "array"
    rows, *others = _read_sizes(source, line, size, 2 if dense else 3)
    if others[0] != rows:
        square = "a square one, a row and a column a vertex"
        source.fail(line, f"the matrix is {rows} x {others[0]}", size, square)
    entries = _count_cells(rows, symmetry) if dense else others[1]
    return _Header(size, line, rows, entries, dense, "real" if field == "double" else field, symmetry)


def _read_sizes(source: Source, line: int, text: bytes, count: int) -> list[int]:
    expected = "'rows columns entries'" if count == 3 else "'rows columns'"
    words = text.split()
    if not words:
        source.fail(line, "Premature EOF", text, expected)
    if len(words) != count or not all(map(_INTEGER.fullmatch, words)):
        source.fail(line, f"not {count} numbers", text, expected)
    sizes = [int(word) for word in words]
    for found, wrong in (("a number is negative", min(sizes) < 0), ("a number is out of range", max(sizes) >= 2**63)):
        if wrong:
            source.fail(line, found, text, expected)
    return sizes


def _count_cells(n: int, symmetry: str) -> int:
    """Count the cells that a dense file lists."""
    if symmetry == "general":
        return n * n
    return n * (n - 1) // 2 if symmetry == "skew-symmetric" else n * (n + 1) // 2


def _require_room(source: Source, header: _Header) -> None:
    """Refuse sizes that the file or the budget cannot hold, before arrays are allocated."""
    most = source.most_bytes()
    if 2 * header.columns * header.entries > most + 1:  # a digit and a blank a number; the last newline may be missing
        found = f"{header.entries} entries do not fit into {most} bytes"
        source.fail(header.line, found, header.size, "the number of entries in the file")
    if header.dense:
        needed = _BYTES_PER_CELL * header.n**2
    else:
        mirrored = header.symmetry != "general"
        needed = header.entries * (_BYTES_PER_MIRRORED_ENTRY if mirrored else _BYTES_PER_ENTRY)
    source.require(needed + _BYTES_PER_VERTEX * header.n, f"a matrix of size {header.size.decode('latin-1').strip()!r}")


def _read_entries(source: Source, header: _Header) -> _Entries:
    kinds: list[Any] = [] if header.dense else [index_type(header.n)] * 2
    columns = [np.empty(header.entries, kind) for kind in kinds + _TYPES.get(header.field, [np.int64])]
    count, line = 0, header.line + 1
    bad_length = None
    for line, piece in source.pieces(below=header.line):
        lines = Lines(piece, b" ", header.columns, list(range(header.columns)), glued=False)
        numbers = _numbers_of_lines(source, header, line, piece, lines)
        begun, count = count, count + len(lines.numbers)
        if count > header.entries:
            _fail_entry(source, header, line, int(lines.numbers[header.entries - begun]), "Too many lines", piece)
        for column, part in zip(columns, numbers, strict=True):
            column[begun:count] = part
        if bad_length is None and len(numbers) == 3 and header.field != "complex":
            bad_length = _bad_length(line, lines, *numbers)
        line += piece.count(b"\n")
    if count < header.entries:
        _fail_entry(source, header, line, 0, f"Truncated file, {count} of {header.entries} entries", b"")
    if not header.dense:
        return columns[0], columns[1], columns[2] if len(columns) > 2 else None, bad_length
    (values,) = columns
    places = np.flatnonzero(values)
    return *_listed_cells(header, places), values[places], None


def _bad_length(
    line: int, lines: Lines, rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any]
) -> BadLength | None:
    """Return the first entry whose value is no length; None if there is none."""
    if not len(bad := bad_lengths(rows, columns, values)):
        return None
    e = bad[0]
    edge = f"the edge {rows[e]} -> {columns[e]} (vertices are counted from 0)"
    return BadLength(line + int(lines.numbers[e]), edge, float(values[e]))


def _listed_cells(header: _Header, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows and columns of cells of a dense file: it lists columns, or their parts from the diagonal on."""
    n = header.n
    if header.symmetry == "general":
        return places % max(n, 1), places // max(n, 1)
    columns, rows = np.triu_indices(n, 1 if header.symmetry == "skew-symmetric" else 0)
    return rows[places], columns[places]


def _numbers_of_lines(
    source: Source, header: _Header, line: int, piece: bytes, lines: Lines
) -> tuple[NDArray[Any], ...]:
    """Read rows and columns, from 0 on, unless dense, and values, if any; `line` numbers the first line."""
    for byte in _FOREIGN:
        if byte in piece:
            lines.refuse_line(piece.count(b"\n", 0, piece.find(byte)))
    ends = [lines.integers(column) for column in range(0 if header.dense else 2)]
    read = lines.floats if header.field in ("real", "complex") else lines.integers
    values = [read(column) for column in range(len(ends), header.columns)]
    if header.field == "unsigned-integer" and (values[0] < 0).any():
        lines.refuse(int(np.argmax(values[0] < 0)))
    if lines.wrong >= 0:
        _fail_entry(source, header, line, lines.wrong, f"not an entry of {header.field!r}", piece)
    for axis, end in zip(("Row", "Column"), ends, strict=False):
        outside = np.flatnonzero((end < 1) | (end > header.n))
        if len(outside):
            _fail_entry(source, header, line, int(lines.numbers[outside[0]]), f"{axis} index out of bounds", piece)
    if header.field == "complex":
        real, imaginary = values
        values = [real + 1j * imaginary]
    return (*(end - 1 for end in ends), *values)


def _fail_entry(source: Source, header: _Header, line: int, place: int, found: str, piece: bytes) -> NoReturn:
    size = header.size.decode("latin-1")
    expected = f"entries {header.entry} as the size line {size!r} says"
    source.fail(line + place, found, piece.split(b"\n")[place], expected)
