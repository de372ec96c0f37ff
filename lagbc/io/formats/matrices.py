"""Matrices: Matrix Market files, read by compiled loops over their bytes, and archives of ``scipy.sparse.save_npz``."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any, BinaryIO, NamedTuple, NoReturn

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from lagbc.errors import GraphFormatError, InvalidValueError
from lagbc.graph.csr import index_type
from lagbc.io.formats import reader
from lagbc.io.graph_file import BadLength, GraphFile, bad_lengths, merge_repeats
from lagbc.io.layout import Columns
from lagbc.io.scan import Lines, lines_beside_comments
from lagbc.io.source import Source
from lagbc.limits import in_units

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
# The compiled loops would take these bytes, which no entry holds, for a comment or a quote.
_FOREIGN = (b"%", b"#", b'"')
# The value at (j, i), which the file omits, as a function of the value at (i, j).
_MIRRORED = {"symmetric": np.positive, "skew-symmetric": np.negative, "hermitian": np.conjugate}
# Peak bytes of reading an entry of a coordinate file, stored once or mirrored; a cell of a dense file; a vertex.
_BYTES_PER_ENTRY, _BYTES_PER_MIRRORED_ENTRY, _BYTES_PER_CELL, _BYTES_PER_VERTEX = 70, 130, 60, 24
# Rows and columns of entries, from 0 on; their values, or None; the first value that is no length.
_Entries = tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None, BadLength | None]
# Peak bytes of reading an archive: an element of its longest array, and a byte of all arrays.
_BYTES_PER_ELEMENT, _BYTES_PER_BYTE = 84, 2
_INTEGERS = {f"{name}.npy" for name in ("indices", "indptr", "row", "col", "offsets", "shape")}


def read_part_of_matrix_market(source: Source, number: int, of: int) -> GraphFile:
    """Read the pattern of the lines in a range of bytes of a sparse file."""
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


class _Header(NamedTuple):
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
    """Refuse, before arrays are allocated, sizes that the file or the budget cannot hold."""
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
    if not len(bad := bad_lengths(rows, columns, values)):
        return None
    e = bad[0]
    edge = f"the edge {rows[e]} -> {columns[e]} (vertices are counted from 0)"
    return BadLength(line + int(lines.numbers[e]), edge, float(values[e]))


def _listed_cells(header: _Header, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows and columns of cells of a dense file, which lists columns whole, or from the diagonal on."""
    n = header.n
    if header.symmetry == "general":
        return places % max(n, 1), places // max(n, 1)
    columns, rows = np.triu_indices(n, 1 if header.symmetry == "skew-symmetric" else 0)
    return rows[places], columns[places]


def _numbers_of_lines(
    source: Source, header: _Header, line: int, piece: bytes, lines: Lines
) -> tuple[NDArray[Any], ...]:
    """Read rows and columns, from 0 on, of a sparse file, and values; `line` numbers the first line."""
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


@reader("SciPy npz", suffixes=(".npz",), begins=re.compile(rb"PK\x03\x04"))
def read_npz(source: Source, largest: bool, named: Columns) -> GraphFile:
    """Read a sparse matrix of any of SciPy's formats."""
    from scipy import sparse as sp

    data = io.BytesIO(source.whole())
    try:
        _require_honest_headers(source, data)
        _require_small_offsets(data)
        data.seek(0)
        matrix = sp.load_npz(data)
        _require_sound(source, matrix)
        entries = sp.coo_array(matrix)
        if matrix.format in ("bsr", "dia"):
            entries.eliminate_zeros()  # padding of blocks and diagonals
        kept, repeats = merge_repeats(entries.shape[0], entries.row, entries.col, entries.data, largest=largest)
    except (GraphFormatError, MemoryError):
        raise
    except Exception as error:  # a damaged archive makes zipfile, its decoders, NumPy and SciPy raise almost anything
        raise GraphFormatError(
            f"{source.name}: {error}; expected a sparse matrix written by scipy.sparse.save_npz"
        ) from error
    return GraphFile(kept, True, "SciPy npz", None, tells_direction=False, repeats=repeats)


def _require_honest_headers(source: Source, data: BinaryIO) -> None:
    """Refuse arrays of other sizes than their headers say, by which NumPy allocates, and indices not of integers."""
    with zipfile.ZipFile(data) as archive:
        members = archive.infolist()
        size, longest = sum(member.file_size for member in members), 0
        for member in members:
            with archive.open(member) as file:
                version = npy.read_magic(file)
                read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
                shape, _, dtype = read_header(file)
                stored, elements = member.file_size - file.tell(), int(np.prod(shape, dtype=object))
            if dtype.hasobject or elements * dtype.itemsize != stored:
                raise InvalidValueError(
                    f"{member.filename} holds {stored} bytes for {elements} elements of type {dtype}"
                )
            if member.filename in _INTEGERS and dtype.kind not in "iu":
                raise InvalidValueError(f"{member.filename} is of type {dtype}, not of integers")
            longest = max(longest, elements)
        source.require(_BYTES_PER_ELEMENT * longest + _BYTES_PER_BYTE * size, f"an archive of {in_units(size)}")


def _require_small_offsets(data: BinaryIO) -> None:
    """Refuse numbers of diagonals beyond 32 bits: SciPy would wrap them."""
    data.seek(0)
    arrays = np.load(data)
    if "offsets" in arrays:
        offsets, limits = arrays["offsets"], np.iinfo(np.int32)
        if offsets.size and (offsets.min() < limits.min or offsets.max() > limits.max):
            raise InvalidValueError(f"offsets go from {offsets.min()} to {offsets.max()}")


def _require_sound(source: Source, matrix: Any) -> None:
    """Refuse a matrix whose conversion would read outside its arrays."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        shape = " x ".join(map(str, matrix.shape))
        raise GraphFormatError(
            f"{source.name}: the matrix is {shape}; expected a square one, a row and a column a vertex"
        )
    if matrix.dtype.kind not in "biufc":
        raise InvalidValueError(f"the values are of type {matrix.dtype}")
    source.require(_BYTES_PER_VERTEX * matrix.shape[0], f"a matrix of {matrix.shape[0]} rows")
    if matrix.format in ("csr", "csc", "bsr"):
        if (matrix.indptr[1:] < matrix.indptr[:-1]).any():  # SciPy does not check this if the last is 0
            raise InvalidValueError("indptr falls somewhere")
        matrix.check_format(full_check=True)
