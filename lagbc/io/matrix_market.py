"""Matrix Market files, read by SciPy out of a stream that has been checked.

SciPy's parser takes what follows a number, such as the ``.7`` of an index ``2.7``, for the next number or skips it, and
fills up a dense file that is cut short with zeros. It reads past the end of text that does not end in a newline.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import scipy.io
import scipy.sparse as sp

from lagbc.io.graph_file import BadLength, GraphFile, merge_repeats, repeat_notices
from lagbc.io.source import Source

_INDEX = rb"[0-9]+"
_INTEGER = rb"-?[0-9]+"
_REAL = rb"-?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:nan|inf|infinity))"
_VALUES = {
    "pattern": [],
    "integer": [_INTEGER],
    "unsigned-integer": [_INDEX],
    "real": [_REAL],
    "complex": [_REAL, _REAL],
}
_DIGITS = b"0123456789"
# A line's shape: all its digits become 0. Files of millions of lines have some hundreds of shapes.
_SHAPE = bytes.maketrans(_DIGITS, b"0" * 10)
# What stands between the digits of an unsigned value. Blanks and exponents are written in two ways.
_POINTS = {
    "pattern": [b""],
    "integer": [b""],
    "unsigned-integer": [b""],
    "real": [b"", b".", b".e", b"e"],
    "complex": [],
}
_ONE_WAY = bytes.maketrans(b"\tE", b" e")
# Peak bytes of reading: an entry of a coordinate file, as stored and mirrored; a cell of a dense one; a vertex.
_BYTES_PER_ENTRY, _BYTES_PER_MIRRORED_ENTRY, _BYTES_PER_CELL, _BYTES_PER_VERTEX = 60, 120, 60, 24


@dataclass(frozen=True)
class _Header:
    """The banner and the size line, and what they say."""

    banner: bytes
    size: bytes
    line: int  # number of the size line
    n: int
    entries: int  # lines that have to follow
    dense: bool
    field: str
    symmetry: str

    @property
    def columns(self) -> int:
        """Numbers in a line."""
        return len(_VALUES[self.field]) + (0 if self.dense else 2)

    @property
    def entry(self) -> str:
        """What a line has to look like, in words."""
        return "[value]" if self.dense else "'row column [value]', counted from 1,"


def read_matrix_market(source: Source, strengths: bool) -> GraphFile:
    """Read a Matrix Market file, sparse or dense."""
    header = _read_header(source)
    _require_room(source, header)
    if header.n == 0:
        entries = sp.coo_array((0, 0))
        _Entries(source, header).finish()
    else:
        entries = sp.coo_array(_read_entries(source, header))
    mirrored = header.symmetry != "general"
    matrix, repeats = merge_repeats(entries, largest=strengths, mirrored=mirrored)
    notices = repeat_notices(repeats if header.field != "pattern" else 0, largest=strengths)
    bad_length = _first_bad_length(source, header, entries)
    return GraphFile(
        matrix,
        not mirrored,
        "Matrix Market",
        None,
        notices,
        bad_length=bad_length,
        has_values=header.field != "pattern",
    )


def _first_bad_length(source: Source, header: _Header, entries: sp.coo_array) -> BadLength | None:
    """Return the first value of an edge that is no length, where a line has its ends."""
    values = entries.data
    if header.dense or header.field not in ("integer", "unsigned-integer", "real"):
        return None
    if not (~(np.isfinite(values) & (values > 0)) & (entries.row != entries.col)).any():
        return None
    for line, text in source.lines():
        if line > header.line and (fields := text.split()):
            row, column, value = int(fields[0]) - 1, int(fields[1]) - 1, float(fields[2])
            if row != column and not 0 < value < np.inf:
                return BadLength(line, f"the edge {row} -> {column} (vertices are counted from 0)", value)
    return None


def _read_header(source: Source) -> _Header:
    lines = source.lines()
    line, banner = next(lines, (1, b""))
    size = b""
    for line, text in lines:  # noqa: B007
        if text.strip() and not text.startswith(b"%"):
            size = text
            break
    else:
        line += 1
    expected = "a banner such as '%%MatrixMarket matrix coordinate real general'"
    if b"vector" in banner.lower().split():
        source.fail(1, "Vector Matrix Market files hold no graph", banner, expected)
    try:
        rows, columns, stored, kind, field, symmetry = scipy.io.mminfo(io.BytesIO(banner + b"\n" + size + b"\n"))
    except (ValueError, OverflowError) as error:
        place, reason = _located(str(error))
        if place == 1:
            source.fail(1, reason, banner, expected)
        source.fail(line, reason, size, "'rows columns entries'")
    if rows != columns:
        square = "a square one, a row and a column a vertex"
        source.fail(line, f"the matrix is {rows} x {columns}", size, square)
    dense = kind == "array"
    entries = _cells(rows, symmetry) if dense else stored
    return _Header(banner, size, line, rows, entries, dense, field, symmetry)


def _cells(n: int, symmetry: str) -> int:
    """How many of the n x n cells a dense file lists."""
    if symmetry == "general":
        return n * n
    return n * (n - 1) // 2 if symmetry == "skew-symmetric" else n * (n + 1) // 2


def _require_room(source: Source, header: _Header) -> None:
    """Refuse sizes that the file or the budget cannot hold, before anything of the kind is allocated."""
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


def _read_entries(source: Source, header: _Header) -> sp.coo_array | np.ndarray:
    checked = _Entries(source, header)
    try:
        read = scipy.io.mmread(io.BufferedReader(checked), spmatrix=False)
    except (ValueError, OverflowError) as error:
        checked.reraise()
        _fail_at_entry(source, header, checked, str(error))
    checked.finish()
    return read


class _Entries(io.RawIOBase):
    """Banner, size line and entries as a stream for SciPy, in which every line is what the header says.

    SciPy would take an exception for the end of the file, so the first is kept, to be raised when SciPy has returned.
    """

    def __init__(self, source: Source, header: _Header) -> None:
        self._source, self._header = source, header
        self._pieces = self._checked_pieces()
        self._rest = memoryview(b"")
        self._failure: Exception | None = None
        self.count = 0
        self.line = header.line  # the last that was checked
        numbers = ([] if header.dense else [_INDEX, _INDEX]) + _VALUES[header.field]
        self._pattern = re.compile(rb"[ \t]*(?:" + rb"[ \t]+".join(numbers) + rb"[ \t]*)?")
        gaps = b" " * (header.columns - 1)
        points = [] if header.dense else _POINTS.get(header.field, [b""])
        self._skeletons = [gaps + point + b"\n" for point in points]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._rest:
            self._rest = memoryview(self._next())
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def _next(self) -> bytes:
        try:
            return next(self._pieces, b"")
        except Exception as error:
            self._failure = error
            return b""

    def reraise(self) -> None:
        """Raise what made the stream end too early, if anything did."""
        if self._failure is not None:
            raise self._failure

    def finish(self) -> None:
        """Check what SciPy has not asked for, and that there were as many entries as the header says."""
        while self._next():
            pass
        self.reraise()
        if self.count != self._header.entries:
            found = f"Truncated file, {self.count} of {self._header.entries} entries"
            if self.count > self._header.entries:
                found = f"{self.count} entries in the file, {self._header.entries} in the header"
            _fail_entry(self._source, self._header, self.line + 1, found, b"")

    def _checked_pieces(self) -> Iterator[bytes]:
        header = self._header
        yield header.banner + b"\n" + header.size + b"\n"
        for first, piece in self._source.pieces():
            skipped = max(header.line + 1 - first, 0)  # lines of the header
            body = piece.split(b"\n", skipped)[-1] if skipped else piece
            if body:
                self._check(first + skipped, body)
                yield body

    def _check(self, first: int, piece: bytes) -> None:
        """Refuse lines that are no entries.

        Most files have numbers without a sign, and one blank between two of them. That is found out eight times as fast
        as any other shape of a line.
        """
        lines = piece.count(b"\n")
        self.line = first + lines - 1
        if self._is_simple(piece):
            self.count += lines
            return
        if not all(map(self._pattern.fullmatch, set(piece.translate(_SHAPE).split(b"\n")))):
            for line, text in enumerate(piece.splitlines(), first):
                if not self._pattern.fullmatch(text):
                    _fail_entry(self._source, self._header, line, f"not an entry of {self._header.field!r}", text)
        self.count += sum(map(bool, map(bytes.strip, piece.splitlines())))

    def _is_simple(self, piece: bytes) -> bool:
        """Whether each line, without its digits, is a skeleton, and digits stand before, between and after its bytes.

        A skeleton has its gaps at the front and one newline, at the end. So no two of them overlap in the text, and if
        their lengths add up to all of it, there is nothing but skeletons.
        """
        text = piece.replace(b"e-", b"e") if b"e" in piece else piece
        is_digit = np.frombuffer(text, np.uint8) - np.uint8(ord("0")) < len(_DIGITS)
        if not is_digit[0] or not (is_digit[1:] | is_digit[:-1]).all():
            return False
        left = text.translate(_ONE_WAY, _DIGITS)
        return sum(len(skeleton) * left.count(skeleton) for skeleton in self._skeletons) == len(left)


def _located(message: str) -> tuple[int, str]:
    """Line and reason of a message of SciPy's, which names a line only at times, else 0."""
    match = re.fullmatch(r"Line (\d+): (.*)", message)
    line, reason = (int(match[1]), match[2]) if match else (0, message)
    return line, reason.rstrip(".")


def _fail_at_entry(source: Source, header: _Header, checked: _Entries, message: str) -> NoReturn:
    line, reason = _located(message)
    if not line:  # the file is too short
        _fail_entry(source, header, checked.line + 1, reason, b"")
    line += header.line - 2  # SciPy has seen two lines before the entries
    text = next((text for number, text in source.lines() if number == line), b"")
    _fail_entry(source, header, line, reason, text)


def _fail_entry(source: Source, header: _Header, line: int, found: str, text: bytes) -> NoReturn:
    size = header.size.decode("latin-1")
    source.fail(line, found, text, f"entries {header.entry} as the size line {size!r} says")
