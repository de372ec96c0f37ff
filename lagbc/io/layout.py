"""How the lines of an edge list are written, told by the first of them and by what the caller says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NoReturn

from lagbc.errors import GraphFormatError
from lagbc.io.attributes import attribute_of, end_in_braces, with_attribute
from lagbc.io.columns import Columns
from lagbc.io.scan import counted, is_int64, shown, split_line
from lagbc.io.source import Source
from lagbc.io.titles import columns_of, is_header, is_in_doubt, mark_of

_EDGE = "'source target' or 'source target weight'"
_SAY = f"{_EDGE}; of more columns, ends=(1, 2) and length=3 say which are meant"
_ALONE = " (header=False takes the one line for an edge)"
_SEPARATORS = {b",": "commas", b";": "semicolons", b"\t": "tabs", b" ": "blanks"}
_COMMENTS = (b"#", b"%")
_QUOTED = re.compile(rb'"((?:[^"]|"")*)"')


@dataclass(frozen=True)
class Layout:
    """How the lines of a list are written."""

    source: Source
    separator: bytes  # one byte; a blank stands for any run of blanks
    columns: int
    ends: tuple[int, int]  # columns of tail and head, counted from 0
    length: int | None  # column of lengths
    names: bool  # vertices are names; else integers, and comments begin anywhere
    begin: int  # line of the first edge
    titles: tuple[bytes, ...]  # empty without a header line
    attribute: str | None  # holds lengths, where lines end in attributes
    in_braces: bool  # lines end in attributes
    mark: str  # of a comment that tells the direction
    directed: bool
    in_doubt: bool  # by the first two lines, the first may be titles or an edge

    def said(self, comments: int) -> str:
        """Say in one line what was recognised."""
        tail, head = (end + 1 for end in self.ends)
        parts = [f"{'names' if self.names else 'integers'} in columns {tail} and {head}"]
        if self.attribute is not None:
            parts.append(f"values in attribute {self.attribute!r}")
        elif self.length is not None:
            parts.append(f"values in column {self.length + 1}")
        parts.append(f"separated by {_SEPARATORS[self.separator]}")
        if self.titles:
            parts.append(f"below a header line {shown(b','.join(self.titles), 40)}")
        if self.mark:
            parts.append(f"{'directed' if self.directed else 'undirected'} ({self.mark})")
        if comments:
            parts.append(f"{comments:,} line{'s' * (comments != 1)} of comments left out")
        return ", ".join(parts)

    def prepared(self, line: int, piece: bytes) -> bytes:
        """Return lines, the first of which has this number, with titles blanked out and braces made a column."""
        if self.titles and line < self.begin:
            # Above the first edge there are comments, blanks and the titles.
            lines = piece.split(b"\n")
            above = min(self.begin - line, len(lines) - 1)
            lines[:above] = [text if text.lstrip()[:1] in _COMMENTS else b"" for text in lines[:above]]
            piece = b"\n".join(lines)
        return with_attribute(self.source, line, piece, self.attribute) if self.in_braces else piece

    def refuse(self, line: int, text: bytes) -> NoReturn:
        """Say what is wrong with a line that `prepared` returned."""
        source, expected = self.source, f'{_EDGE}; write names that hold a separator or quotes in quotes: "a ""b"" c"'
        fields = split_line(text, self.separator, glued=not self.names)
        if not self.names:
            expected, text = f"{_EDGE}, ids being integers", re.split(rb"[#%]", text, maxsplit=1)[0]
        if isinstance(fields, str):
            source.fail(line, fields, text, expected)
        if len(fields) != self.columns:
            source.fail(line, f"{counted(len(fields))} where the lines above have {self.columns}", text, expected)
        for end in self.ends:
            if not fields[end] and self.names:
                source.fail(line, "a name is empty", text, expected)
            if not self.names and not is_int64(fields[end]):
                remedy = f"{expected} as in the first edge; names=True takes all ids for names"
                source.fail(line, f"{shown(fields[end])} is not an integer id", text, remedy)
        assert self.length is not None
        remedy = f"{expected}; ends=({self.ends[0] + 1}, {self.ends[1] + 1}) alone reads no weights"
        source.fail(line, f"{shown(fields[self.length])} is not a weight", text, remedy)


def recognise(source: Source, said: Columns) -> Layout:
    """Tell from the comments above and the first two lines how all are written."""
    comments: list[bytes] = []
    content = content_of(source, comments)
    lines = list(islice(content, 1))
    if not lines:
        raise GraphFormatError(f"{source.name}: no edge in the file; expected lines {_EDGE}")
    mark, directed = mark_of(source, comments)
    lines += islice(content, 1)
    line, text = next((one for one in lines if end_in_braces(one[1])), lines[0])
    in_braces = end_in_braces(text)
    attribute = attribute_of(source, line, text, said.length) if in_braces else None
    if in_braces:
        said = Columns(said.ends or (1, 2), None, said.header, said.names)
        lines = [(number, with_attribute(source, number, text, attribute)) for number, text in lines]
    separator = separator_of(source, *lines[0])
    titles: list[bytes] = []
    first = _split(source, *lines[0], separator, glued=False)
    below = _split(source, *lines[1], separator, glued=True) if len(lines) > 1 else []
    if is_header(first, below, said):
        titles, lines = first, lines[1:]
        if not lines:
            raise GraphFormatError(f"{source.name}: no edge below the header line; expected lines {_EDGE}{_ALONE}")
    line, text = lines[0]
    fields = _split(source, line, text, separator, glued=True)
    found = columns_of(source, titles, fields, said, mark=mark)
    names = bool(said.names) or not _are_integers(fields, found[0] if found else (0, 1))
    if names:
        fields = _split(source, line, text, separator, glued=False)
        found = columns_of(source, titles, fields, said, mark=mark)
    elif separator == b"\t" and len(spread := _split(source, line, text, b" ", glued=True)) == len(fields):
        separator, fields = b" ", spread
    if found is None:
        source.fail(line, counted(len(fields)), text, _SAY)
    ends, length = found
    length = len(fields) - 1 if attribute is not None else length
    if max(*ends, length or 0) >= len(fields):
        source.fail(line, f"{counted(len(fields))}, and column {max(*ends, length or 0) + 1} is asked for", text, _SAY)
    return Layout(
        source=source,
        separator=separator,
        columns=len(fields),
        ends=ends,
        length=length,
        names=names,
        begin=line,
        titles=tuple(titles),
        attribute=attribute,
        in_braces=in_braces,
        mark=mark,
        directed=directed,
        in_doubt=names and length is None and not in_braces and is_in_doubt(titles, said),
    )


def content_of(source: Source, comments: list[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the numbers and texts of lines that are neither blank nor comments, which are put aside."""
    for line, text in source.lines():
        stripped = text.strip(b" \t\f\v")
        if stripped[:1] in _COMMENTS:
            comments.append(stripped)
        elif stripped:
            yield line, text


def separator_of(source: Source, line: int, text: bytes) -> bytes:
    """Tell what separates columns by a line, outside quotes, and before a comment if there is anything."""
    bare = _QUOTED.sub(b"", text)
    for part in (re.split(rb"[#%]", bare, maxsplit=1)[0], bare):
        found = [byte for byte in (b",", b";") if byte in part]
        if len(found) > 1:
            source.fail(
                line, "both , and ; in a line", text, "one of them between columns, and names with it in quotes"
            )
        if found:
            return found[0]
    return b"\t" if b"\t" in bare.strip(b" \t\f\v") else b" "


def _split(source: Source, line: int, text: bytes, separator: bytes, *, glued: bool) -> list[bytes]:
    fields = split_line(text, separator, glued=glued)
    if isinstance(fields, str):
        source.fail(line, fields, text, _EDGE)
    return fields


def _are_integers(fields: list[bytes], ends: tuple[int, int]) -> bool:
    return all(end < len(fields) and is_int64(fields[end]) for end in ends)
