"""The layout of an edge list, as its first lines and the columns that a caller names tell it."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple, NoReturn

from lagbc.errors import GraphFormatError, quantity
from lagbc.graph.given import LENGTH
from lagbc.io.columns import (
    EDGES,
    MATRIX,
    Columns,
    Content,
    choose_columns,
    direction_mark,
    find_mark,
    is_header,
    is_in_doubt,
    type_column,
)
from lagbc.io.scan import integer_of, is_float, is_without_content, quoted, split_line
from lagbc.io.source import Source

_SEPARATORS = {b",": "commas", b";": "semicolons", b"\t": "tabs", b" ": "blanks"}
_COMMENTS = (b"#", b"%")
# A number with a comma for its point, between other separators.
_DECIMAL_COMMA = re.compile(rb"[+-]?[0-9]+,[0-9]+")
_QUOTED = re.compile(rb'"((?:[^"]|"")*)"')
# The form of attributes of an edge at the end of its line.
_EXPECTED = "attributes as networkx.write_edgelist writes them, such as {'weight': 1.5}"


def recognise(source: Source, named: Columns, content: Content = EDGES) -> Layout:
    """Tell the layout of all lines by the comments above the first two lines, and by these."""
    marks: list[bytes] = []
    rest = content_of(source, marks)
    lines = list(islice(rest, 1))
    if not lines:
        raise GraphFormatError(f"{source.name}: no {content.row} in the file; expected lines {content.form}")
    if source.name.endswith(".json") or lines[0][1].lstrip().startswith(b'{"'):
        raise GraphFormatError(
            f"{source.name}: JSON is not read; functions take the graph that networkx.node_link_graph(json.load(file)) "
            "makes, and graph_from_edges takes lists of ends"
        )
    mark, directed = direction_mark(source, marks)
    lines += islice(rest, 1)
    line, text = next((one for one in lines if end_in_braces(one[1])), lines[0])
    in_braces = end_in_braces(text)
    attribute = attribute_of(source, line, text, named.length) if in_braces else None
    if in_braces:
        named = Columns(named.ends or (1, 2), None, named.header, named.names)
        lines = [(number, with_attribute(source, number, text, attribute)) for number, text in lines]
    separator = separator_of(source, *lines[0])
    titles: list[bytes] = []
    first = _split_or_fail(source, *lines[0], separator, content, glued=False)
    below = _split_or_fail(source, *lines[1], separator, content, glued=True) if len(lines) > 1 else []
    if is_header(first, below, named, content):
        titles, lines = first, lines[1:]
        if not lines:
            one_line = " (header=False takes the one line for an edge)" if content.named else ""
            none = f"no {content.row} below the header line"
            raise GraphFormatError(f"{source.name}: {none}; expected lines {content.form}{one_line}")
    elif all(map(is_float, first)) and not named.given and not mark:
        _refuse_matrix(source, [*lines, *islice(rest, 2)], separator, content)
    line, text = lines[0]
    fields = _split_or_fail(source, line, text, separator, content, glued=True)
    found = choose_columns(source.name, titles, [*map(is_float, fields)], named, mark=mark, content=content)
    ends = found[0] if found else (0, 1)
    are_integers = all(end < len(fields) and integer_of(fields[end]) is not None for end in ends)
    names = bool(named.names) or not are_integers
    if names:
        fields = _split_or_fail(source, line, text, separator, content, glued=False)
        found = choose_columns(source.name, titles, [*map(is_float, fields)], named, mark=mark, content=content)
    elif separator == b"\t" and len(spread := _split_or_fail(source, line, text, b" ", content, glued=True)) == len(
        fields
    ):
        separator, fields = b" ", spread
    if named.ends is None:
        _refuse_decimal_comma(source, line, text, fields[2:])
    if found is None and titles and len(titles) != len(fields):
        found_there = f"{quantity(len(fields), 'column')} below {quantity(len(titles), 'title')}"
        by_number = ", or the columns by number, as in ends=(1, 2)" if content.named else ""
        source.fail(line, found_there, text, f"a title a column{by_number}{_split_number(separator, titles, fields)}")
    columns = f"{content.form}; of more columns, {content.columns}{_split_number(separator, [], fields)}"
    if found is None:
        source.fail(line, quantity(len(fields), "column"), text, columns)
    ends, length = found
    length = len(fields) - 1 if attribute is not None else length
    if max(*ends, length or 0) >= len(fields):
        source.fail(
            line,
            f"{quantity(len(fields), 'column')}, and column {max(*ends, length or 0) + 1} is asked for",
            text,
            columns,
        )
    if (kind := type_column(titles, fields)) is not None:
        mark, directed = "Gephi's column Type", fields[kind] == b"Directed"
    return Layout(
        source=source,
        content=content,
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
        type=kind,
        in_doubt=names and length is None and not in_braces and is_in_doubt(titles, named),
    )


class Layout(NamedTuple):
    """The layout of the lines of an edge list; columns are counted from 0."""

    source: Source
    content: Content
    separator: bytes  # one byte; a blank stands for any run of blanks
    columns: int
    ends: tuple[int, int]  # columns of tail and head
    length: int | None  # column of lengths
    names: bool  # whether vertices are names; else they are integers, and comments begin anywhere
    begin: int  # line of the first edge
    titles: tuple[bytes, ...]  # empty without a header line
    attribute: str | None  # the attribute of lengths, where lines end in attributes
    in_braces: bool  # whether lines end in attributes
    mark: str  # name of the comment or column that tells the direction
    directed: bool
    type: int | None  # column in which each edge tells its direction
    in_doubt: bool  # whether the first two lines leave open if the first is an edge

    def said(self, comments: int) -> str:
        """Describe the layout in one line."""
        tail, head = (end + 1 for end in self.ends)
        parts = [f"{'names' if self.names else 'integers'} in columns {tail} and {head}"]
        if self.attribute is not None:
            parts.append(f"values in attribute {self.attribute!r}")
        elif self.length is not None:
            parts.append(f"values in column {self.length + 1}")
        parts.append(f"separated by {_SEPARATORS[self.separator]}")
        if self.titles:
            parts.append(f"below a header line {quoted(b','.join(self.titles), 40)}")
        if self.mark:
            parts.append(f"{'directed' if self.directed else 'undirected'} ({self.mark})")
        if comments:
            parts.append(f"{quantity(comments, 'line')} of comments left out")
        return ", ".join(parts)

    def prepared(self, line: int, piece: bytes) -> bytes:
        """Return lines, the first with number `line`, without titles, and with a column in place of braces."""
        if self.titles and line < self.begin:
            # Only comments, blanks and the titles stand above the first edge.
            lines = piece.split(b"\n")
            above = min(self.begin - line, len(lines) - 1)
            lines[:above] = [text if text.lstrip()[:1] in _COMMENTS else b"" for text in lines[:above]]
            piece = b"\n".join(lines)
        return with_attribute(self.source, line, piece, self.attribute) if self.in_braces else piece

    def refuse(self, line: int, text: bytes) -> NoReturn:
        """Raise the error of a wrong line among the lines of `prepared`."""
        source, content = self.source, self.content
        expected = f'{content.form}; write names that hold a separator or quotes in quotes: "a ""b"" c"'
        fields = split_line(text, self.separator, glued=not self.names)
        if not self.names:
            expected, text = f"{content.form}, ids being integers", re.split(rb"[#%]", text, maxsplit=1)[0]
        if isinstance(fields, str):
            source.fail(line, fields, text, expected)
        if len(fields) != self.columns:
            source.fail(
                line, f"{quantity(len(fields), 'column')} where the lines above have {self.columns}", text, expected
            )
        for end in self.ends:
            if not fields[end] and self.names:
                source.fail(line, "a name is empty", text, expected)
            if not self.names and integer_of(fields[end]) is None:
                remedy = f"{expected} as in the first {content.row}"
                remedy += "; names=True takes all ids for names" if content.named else ""
                source.fail(line, f"{quoted(fields[end])} is not an integer id", text, remedy)
        if self.type is not None and fields[self.type] != (b"Directed" if self.directed else b"Undirected"):
            remedy = "the Type of the first edge; an undirected edge is two directed ones"
            source.fail(line, f"the Type is {quoted(fields[self.type])}", text, remedy)
        assert self.length is not None
        _refuse_decimal_comma(source, line, text, [fields[self.length]])
        if content.named:
            expected += f"; ends=({self.ends[0] + 1}, {self.ends[1] + 1}) alone reads no weights"
        source.fail(line, f"{quoted(fields[self.length])} is not a {content.value}", text, expected)


def _refuse_matrix(source: Source, lines: list[tuple[int, bytes]], separator: bytes, content: Content) -> None:
    """Raise GraphFormatError if three rows of numbers may be edges or a matrix: there are zeros on the diagonal."""
    rows = [_split_or_fail(source, *line, separator, content, glued=True) for line in lines]
    if list(map(len, rows)) == [3, 3, 3] and all(is_float(rows[i][i]) and not float(rows[i][i]) for i in range(3)):
        remedy = "titles above"
        if content.named:
            remedy = f"more edges than three, or header=False, which takes these for edges; {MATRIX}"
        found = f"three {content.row}s or a matrix of 3 x 3, with zeros on its diagonal"
        source.fail(lines[0][0], found, lines[0][1], remedy)


def content_of(source: Source, marks: list[bytes] | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the numbers and texts of lines that are neither blank nor comments.

    On the way, put the first comment that tells the direction into `marks`.
    """
    for first, piece in source.pieces():
        if is_without_content(piece):
            if marks == []:
                marks += find_mark(piece)
            continue
        for line, text in enumerate(piece.splitlines(), first):
            if text.strip(b" \t\f\v") and text.lstrip(b" \t\f\v")[:1] not in _COMMENTS:
                yield line, text
            elif marks == []:
                marks += find_mark(text)


def separator_of(source: Source, line: int, text: bytes) -> bytes:
    """Tell the separator of columns by a line, from the text outside quotes and, if it has one, before a comment."""
    bare = _QUOTED.sub(b"", text)
    for part in (re.split(rb"[#%]", bare, maxsplit=1)[0], bare):
        spread = _split_beside_commas(source, part.strip())[2:]
        if part.count(b",") == sum(_DECIMAL_COMMA.fullmatch(field) is not None for field in spread):
            _refuse_decimal_comma(source, line, text, spread)
        found = [byte for byte in (b",", b";") if byte in part]
        if len(found) > 1:
            source.fail(
                line, "both , and ; in a line", text, "one of them between columns, and names with it in quotes"
            )
        if found:
            return found[0]
    return b"\t" if b"\t" in bare.strip(b" \t\f\v") else b" "


def _split_beside_commas(source: Source, text: bytes) -> list[bytes]:
    """Split a line by other separators than commas, which may be decimal; by blanks not in a file named .csv."""
    separator = next((byte for byte in (b";", b"\t") if byte in text), None)
    if separator is None and ".csv" in source.name.lower():
        return [text]
    return [field.strip() for field in text.split(separator)]


def _refuse_decimal_comma(source: Source, line: int, text: bytes, fields: list[bytes]) -> None:
    """Raise GraphFormatError if a field is a number with a decimal comma."""
    for field in filter(_DECIMAL_COMMA.fullmatch, fields):
        point = field.replace(b",", b".").decode()
        source.fail(line, f"{quoted(field)} has a decimal comma", text, f"a decimal point in all lines, as {point}")


def _split_number(separator: bytes, titles: list[bytes], fields: list[bytes]) -> str:
    """Return a hint if the last number of a line may have been split at its decimal comma, else ""."""
    *_, whole, part = [b"", b"", *fields]
    is_split = separator == b"," and len(fields) == (len(titles) or 3) + 1 and whole.isdigit() and part.isdigit()
    return f"; a decimal comma is a point, as {whole.decode()}.{part.decode()}" if is_split else ""


def _split_or_fail(
    source: Source, line: int, text: bytes, separator: bytes, content: Content, *, glued: bool
) -> list[bytes]:
    fields = split_line(text, separator, glued=glued)
    if isinstance(fields, str):
        source.fail(line, fields, text, content.form)
    return fields


def end_in_braces(text: bytes) -> bool:
    """Whether a line ends in attributes."""
    return _split_braces(text) is not None


def _split_braces(text: bytes) -> tuple[bytes, bytes] | None:
    """Split a line at its first brace if it ends in a brace; else return None."""
    before, brace, inside = text.rstrip(b" \t").partition(b"{")
    return (before, brace + inside) if inside.endswith(b"}") else None


def attribute_of(source: Source, line: int, text: bytes, wanted: int | str | None) -> str | None:
    """Return the attribute of lengths: the `wanted` one, else "weight" if the first edge has it, else None."""
    there = _parsed_attributes(source, line, text)
    if wanted is not None and wanted not in there:
        source.fail(line, f"no attribute {wanted!r}", text, f"length= to be one of {', '.join(map(repr, there))}")
    return str(wanted) if wanted is not None else LENGTH if LENGTH in there else None


def with_attribute(source: Source, line: int, piece: bytes, attribute: str | None) -> bytes:
    """Replace the braces of each line by the value of an attribute, NaN if it is missing, or by nothing."""
    if attribute is not None:
        alone = re.escape(repr(attribute).encode())
        piece = re.sub(rb"\{" + alone + rb": ([-+.0-9e]+)\}(?=[ \t]*\n)", rb"\1", piece)
    if b"{" not in piece:
        return piece
    lines = enumerate(piece.split(b"\n"), line)
    return b"\n".join(_line_with_value(source, number, text, attribute) for number, text in lines)


def _line_with_value(source: Source, line: int, text: bytes, attribute: str | None) -> bytes:
    found = _split_braces(text)
    if found is None or text.lstrip()[:1] in (b"#", b"%"):
        return text
    before, _ = found
    if attribute is None:
        return before.rstrip(b" \t,;")
    value = _parsed_attributes(source, line, text).get(attribute, math.nan)
    if not isinstance(value, int | float):
        source.fail(line, f"attribute {attribute!r} is {value!r}, not a number", text, _EXPECTED)
    return before + repr(float(value) if isinstance(value, bool) else value).encode()


def _parsed_attributes(source: Source, line: int, text: bytes) -> dict[Any, Any]:
    found = _split_braces(text)
    assert found is not None
    try:
        attributes = ast.literal_eval(found[1].decode("utf-8"))
    except (ValueError, SyntaxError, UnicodeDecodeError, RecursionError, MemoryError):
        attributes = None
    if not isinstance(attributes, dict):
        source.fail(line, "the text in braces is no dict of values", text, _EXPECTED)
    return attributes
