"""Edge lists: an edge a line, ids being any integers."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from lagbc.errors import GraphFormatError
from lagbc.io.graph_file import GraphFile, merge_repeats, repeat_notices
from lagbc.io.integers import integers_read_strictly, is_int64
from lagbc.io.source import Source

_EDGE = "'source target' or 'source target weight', ids being integers"
_NUMBERS_ONLY = (
    f"{_EDGE}; comment out a header line with #, and if vertices have names, number them first "
    "(numpy.unique(names, return_inverse=True) does)"
)
# All that edges are written with; NumPy takes more than this for blanks.
_CHARACTERS = b"0123456789+-.,eEnNaAiIfFtTyY \t\n"
_FIELDS = (("source", np.int64), ("target", np.int64), ("weight", np.float64))
# Peak bytes of reading an edge.
_BYTES_PER_EDGE = 150


def read_edge_list(source: Source, strengths: bool) -> GraphFile:
    """Read an edge list, with weights or without."""
    layout = _layout(source)
    parts, edges = [np.empty(0, layout.dtype)], 0
    for line, piece in source.pieces():
        parts.append(layout.parse(line, piece))
        edges += parts[-1].size
        source.require(_BYTES_PER_EDGE * edges, f"a list of {edges:,} edges or more")
    table = np.concatenate(parts)
    del parts
    labels, ends = np.unique(np.concatenate((table["source"], table["target"])), return_inverse=True)
    weights = table["weight"] if layout.weighted else np.ones(table.size)
    entries = sp.coo_array((weights, np.split(ends, 2)), shape=(labels.size, labels.size))
    matrix, repeats = merge_repeats(entries, largest=strengths)
    notices = repeat_notices(repeats, largest=strengths) if layout.weighted else ()
    return GraphFile(matrix, True, "edge list", labels, notices)


@dataclass(frozen=True)
class _Layout:
    """How the lines of a list are written."""

    source: Source
    comma: bool
    columns: int

    @property
    def weighted(self) -> bool:
        return self.columns == len(_FIELDS)

    @property
    def dtype(self) -> np.dtype[np.void]:
        return np.dtype(list(_FIELDS[: self.columns]))

    def parse(self, line: int, piece: bytes) -> np.ndarray:
        """Return the edges of some lines, the first of which has this number."""
        text = re.sub(rb"[#%][^\n]*", b"", piece) if b"#" in piece or b"%" in piece else piece
        if self.comma:
            # To NumPy a blank line is an empty field.
            text = b"\n".join(edge for edge in text.split(b"\n") if edge.strip())
        if not text.strip():
            return np.empty(0, self.dtype)
        try:
            if text.translate(None, _CHARACTERS):
                raise ValueError("there is something that is no number")
            with integers_read_strictly():
                return np.loadtxt(
                    io.BytesIO(text), self.dtype, comments=None, delimiter="," if self.comma else None, ndmin=1
                )
        except (ValueError, OverflowError, DeprecationWarning) as error:
            for number, edge in _edge_lines(enumerate(piece.splitlines(), line)):
                self.require_edge(number, edge)
            last = line + len(piece.splitlines()) - 1
            raise GraphFormatError(f"{self.source.name}, lines {line} to {last}: {error}; expected {_EDGE}") from error

    def require_edge(self, line: int, text: bytes) -> None:
        """Raise if a line is not an edge."""
        fields = _fields(text, self.comma)
        if len(fields) != self.columns:
            self.source.fail(line, f"{_count(fields)} where the lines above have {self.columns}", text, _EDGE)
        for field in fields[:2]:
            if not is_int64(field):
                found = f"{field.decode('latin-1')[:20]!r} is not an integer id"
                self.source.fail(line, found, text, _NUMBERS_ONLY)
        if self.weighted and not _is_float(fields[2]):
            self.source.fail(line, f"{fields[2].decode('latin-1')[:20]!r} is not a weight", text, _EDGE)


def _layout(source: Source) -> _Layout:
    """Take the first edge for an example of all."""
    for line, text in _edge_lines(source.lines()):
        comma = b"," in text
        fields = _fields(text, comma)
        if len(fields) not in (2, 3):
            source.fail(line, _count(fields), text, _EDGE)
        return _Layout(source, comma, len(fields))
    raise GraphFormatError(f"{source.name}: no edge in the file; expected lines {_EDGE}")


def _edge_lines(lines: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Leave out comments, and lines without an edge."""
    for line, text in lines:
        text = re.split(rb"[#%]", text, maxsplit=1)[0].strip()
        if text:
            yield line, text


def _fields(text: bytes, comma: bool) -> list[bytes]:
    return [field.strip() for field in text.split(b",")] if comma else text.split()


def _count(fields: list[bytes]) -> str:
    return f"{len(fields)} column{'s' * (len(fields) != 1)}"


def _is_float(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return not field.translate(None, _CHARACTERS)
