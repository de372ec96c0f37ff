"""The layout of a list or table of edges: its separator, titles and columns.

A caller names columns; titles, comments above the edges and the first two lines tell all else.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import islice, product
from typing import Any, NamedTuple, NoReturn

from lagbc.errors import GraphFormatError, InvalidTypeError, InvalidValueError, did_you_mean, quantity
from lagbc.graph.given import LENGTH
from lagbc.io.scan import integer_of, is_float, is_without_content, quoted, split_line
from lagbc.io.source import Source

_SEPARATORS = {b",": "commas", b";": "semicolons", b"\t": "tabs", b" ": "blanks"}
_COMMENTS = (b"#", b"%")
# A number with a comma for its point, between other separators.
_DECIMAL_COMMA = re.compile(rb"[+-]?[0-9]+,[0-9]+")
_QUOTED = re.compile(rb'"((?:[^"]|"")*)"')
# The form of attributes of an edge at the end of its line.
_EXPECTED = "attributes as networkx.write_edgelist writes them, such as {'weight': 1.5}"


# ---- Columns, by names, titles and comments


@dataclass(slots=True)
class Columns:
    """Columns that a caller names; the first lines of the file tell the others, which are None."""

    ends: tuple[int | str, int | str] | None = None  # of tails and heads, counted from 1, or their titles
    length: int | str | None = None  # of lengths; or the attribute of edges that holds them
    header: bool | None = None  # whether titles stand above the edges
    names: bool | None = None  # True: vertices are names, even if they look like integers

    def __post_init__(self) -> None:
        is_one = isinstance(self.ends, str | int)
        if self.ends is not None and (is_one or len(tuple(self.ends)) != 2):
            raise InvalidTypeError(f"ends={self.ends!r}: it is a pair of columns, e.g. (1, 2) or ('from', 'to')")
        for name, column in (("ends", end) for end in self.ends or ()):
            _require_column(name, column)
        if self.length is not None:
            _require_column("length", self.length)
        for name in ("header", "names"):
            if getattr(self, name) not in (None, True, False):
                raise InvalidTypeError(f"{name}={getattr(self, name)!r} is neither True nor False")

    @property
    def given(self) -> list[str]:
        """Names of the fields given."""
        return [field.name for field in fields(self) if getattr(self, field.name) is not None]


def _require_column(name: str, column: object) -> None:
    if isinstance(column, bool) or not isinstance(column, int | str):
        raise InvalidTypeError(f"{name} holds {column!r}, which is neither the title of a column nor its place")
    if isinstance(column, int) and column < 1:
        raise InvalidValueError(f"{name} holds {column}; columns are counted from 1")


# Titles of ends are these words with 1 and 2, or a and b, behind them.
_NUMBERED = (
    *("node", "nodeid", "vertex", "id", "gene", "geneid", "protein", "proteinid", "interactor", "person", "user"),
    *("author", "actor", "name", "entity", "item", "symbol"),
)
# Usual titles of ends: they tell a header line from an edge between two names, and choose the columns.
_ENDS = (
    *(("source", "target"), ("sourceid", "targetid"), ("src", "dst"), ("src", "dest"), ("tail", "head")),
    *(("from", "to"), ("fromid", "toid"), ("fromnode", "tonode"), ("fromnodeid", "tonodeid")),
    *(("origin", "destination"), ("sender", "receiver"), ("parent", "child"), ("citing", "cited"), ("u", "v")),
    *((word + tail, word + head) for word in _NUMBERED for tail, head in ("12", "ab")),
)
# Titles of numbers of edges or rows, which are lengths only if a caller says so.
_IDENTIFIERS = ("#", "id", "fid", "gid", "osmid", "objectid", "edgeid", "linkid", "index", "row", "number")


class Content(NamedTuple):
    """The lines of a list: their words in messages, and the usual titles of a column of values."""

    row: str
    form: str  # of a row
    value: str
    values: tuple[str, ...]
    columns: str  # the advice for a list of more than three columns
    named: bool  # whether a caller may name columns


MATRIX = "of a matrix, numpy.loadtxt makes an array that functions take"
EDGES = Content(
    row="edge",
    form="'source target' or 'source target weight'",
    value="weight",
    values=("length", "weight", "distance", "km", "miles", "meters", "metres"),
    columns=f"ends=(1, 2) and length=3 say which are meant; {MATRIX}",
    named=True,
)
TRIPS = Content(
    row="trip",
    form="'origin destination trips'",
    value="number of trips",
    values=("trips", "demand", "flow", "flows", "volume"),
    columns="titles such as origin, destination and trips say which are meant, in any order",
    named=False,
)
# The titles of a column of trips, in words.
TITLES_OF_TRIPS = f"one column called {', '.join(TRIPS.values[:-1])} or {TRIPS.values[-1]}"
# A comment of KONECT or SNAP that tells the direction. It has one of the words below, which are found faster.
_MARK = re.compile(
    rb"^[ \t\f\v]*(%[ \t\f\v]*(?:sym|asym|bip)[ \t\f\v]+\w+|#[ \t\f\v]*(?:Undirected|Directed) graph\b)", re.MULTILINE
)
_MARKED_BY = (b"sym", b"bip", b"irected graph")


def find_mark(piece: bytes) -> list[bytes]:
    """Return the first comment in a piece of a file that tells the direction, in a list, which is empty without one."""
    found = _MARK.search(piece) if any(word in piece for word in _MARKED_BY) else None
    return [] if found is None else [found[1]]


def direction_mark(source: Source, comments: list[bytes]) -> tuple[str, bool]:
    """Return the name of the comment that tells the direction, or "", and whether edges go one way."""
    for text in comments:
        if found := re.match(rb"%\s*(sym|asym|bip)\s+\w+", text):
            if found[1] == b"bip":
                raise GraphFormatError(
                    f"{source.name}: KONECT's two-mode network (bip), where 1 is one vertex in the first column and "
                    "another in the second; give the second other names, in a file without this comment"
                )
            return f"KONECT {found[1].decode()}", found[1] == b"asym"
        if found := re.match(rb"#\s*(Undirected|Directed) graph\b", text):
            return f"SNAP {found[1].decode().lower()}", found[1] == b"Directed"
    return "", True


def is_header(fields: list[bytes], below: list[bytes], named: Columns, content: Content = EDGES) -> bool:
    """Whether the first line holds titles: they are no numbers, and are usual ones or have numbers below."""
    if named.header is not None:
        return named.header
    if any(isinstance(column, str) for column in (*(named.ends or ()), named.length)):
        return True
    if any(map(is_float, fields)):
        return False
    plain = plain_titles(fields)
    if pairs := _usual_ends(plain):
        return len(below) != len(fields) or not all(
            _is_numbered_alike(plain[end], plain_titles(below)[end]) for end in pairs[0]
        )
    if len(below) != len(fields):
        return False
    are_integers = len(fields) > 1 and all(end.lstrip(b"+-").isdigit() for end in below[:2])
    of_values = len(fields) > 2 and any(title in content.values for title in plain)
    return are_integers or (len(fields) == 3 and is_float(below[2])) or (of_values and any(map(is_float, below)))


def is_in_doubt(titles: list[bytes], named: Columns) -> bool:
    """Whether the first two lines, of names, leave open whether the first one holds titles or an edge."""
    told = named.header is not None or any(isinstance(end, str) for end in named.ends or ())
    return not told and (not titles or len(titles) == 2 or named.ends is not None)


def choose_columns(
    name: str,
    titles: list[bytes],
    are_numbers: list[bool],
    named: Columns,
    *,
    mark: str = "",
    content: Content = EDGES,
) -> tuple[tuple[int, int], int | None] | None:
    """Return the columns of ends and length, counted from 0; None if neither titles nor the number of columns tells.

    `are_numbers` says for each column whether the first edge has a number there. Titles tell nothing unless each column
    has one; empty titles at the end do not count. Of several pairs of usual titles the first in the order above is
    taken; GraphFormatError names them if the caller cannot choose.
    """
    columns = len(are_numbers)
    is_by_number = named.ends is not None and all(isinstance(one, int | None) for one in (*named.ends, named.length))
    if titles and not is_by_number and (len(titles) < columns or any(titles[columns:])):
        return None
    plain = plain_titles(titles)
    pairs, values = _usual_ends(plain), [place for place, title in enumerate(plain) if title in content.values]
    if not content.named:
        _refuse_several(name, titles, pairs, values, content)
    usual = next(iter(pairs), None)
    ends = usual or (0, 1)
    if named.ends is not None:
        tail, head = ends = (_column_place(name, titles, named.ends[0]), _column_place(name, titles, named.ends[1]))
        if tail == head:
            raise GraphFormatError(
                f"{name}: ends={named.ends} are one column; each end of an edge has a column of its own"
            )
    length = None if named.length is None else _column_place(name, titles, named.length)
    if length in ends:
        raise GraphFormatError(f"{name}: length={named.length!r} is a column of ends; ends= says which two others are")
    if named.ends is not None or length is not None:
        return ends, length
    if mark.startswith("KONECT"):
        return ends, 2 if len(are_numbers) > 2 else None
    if len(values) == 1 and (usual or len(are_numbers) == 3):
        tail, head = usual or sorted({0, 1, 2}.difference(values))
        return (tail, head), values[0]
    if usual is None and len(are_numbers) > 2 and any(not title or title in _IDENTIFIERS for title in plain[:2]):
        return None  # a number of the edge, and no end
    if len(are_numbers) == 3:
        (rest,) = {0, 1, 2}.difference(ends)
        # Before the ends a column without a title is the index of a table.
        is_identifier = bool(titles) and (plain[rest] in _IDENTIFIERS or not (plain[rest] or rest == 2))
        has_lengths = not titles or (content.named and are_numbers[rest] and not is_identifier)
        return ends, rest if has_lengths else None
    return (ends, None) if usual or len(are_numbers) == 2 else None


def type_column(titles: list[bytes], fields: list[bytes]) -> int | None:
    """Return the column in which Gephi says whether each edge is directed; None without it."""
    place = next((place for place, title in enumerate(plain_titles(titles)) if title == "type"), None)
    return place if place is not None and fields[place : place + 1] in ([b"Directed"], [b"Undirected"]) else None


def _column_place(name: str, titles: list[bytes], column: int | str) -> int:
    if isinstance(column, int):
        return column - 1
    known = [title.decode("utf-8", "replace") for title in titles]
    if column not in known:
        there = f"there are {', '.join(map(repr, known))}" if known else "there is no header line"
        raise GraphFormatError(f"{name}: no column is called {column!r}; {did_you_mean(column, known, there)}")
    if known.count(column) > 1:
        raise GraphFormatError(f"{name}: several columns are called {column!r}; tell it by its number, from 1 on")
    return known.index(column)


def _usual_ends(plain: list[str]) -> list[tuple[int, int]]:
    places: dict[str, list[int]] = {}
    for place, title in enumerate(plain):
        places.setdefault(title, []).append(place)
    return [pair for a, b in _ENDS for pair in product(places.get(a, ()), places.get(b, ()))]


def _refuse_several(
    name: str, titles: list[bytes], pairs: list[tuple[int, int]], values: list[int], content: Content
) -> None:
    """Raise GraphFormatError if several pairs of titles may be the ends, or several titles the values."""
    called = [repr(title.decode("utf-8", "replace")) for title in titles]
    for what, several in (
        ("the ends", [f"{called[tail]} and {called[head]}" for tail, head in pairs]),
        (f"the {content.value}", [called[place] for place in values]),
    ):
        if len(several) > 1:
            raise GraphFormatError(f"{name}: {what} may be {', or '.join(several)}; leave out the others")


def _is_numbered_alike(title: str, name: str) -> bool:
    """Whether a title and a name are the same word with a number or letter behind it, such as gene1 and gene3."""
    word = next((word for word in _NUMBERED if title[:-1] == word), None)
    return word is not None and re.fullmatch(word + "([0-9]+|[a-z])", name) is not None


def plain_titles(titles: list[bytes]) -> list[str]:
    """Return titles in small letters and digits; a title in another alphabet is kept."""
    texts = [title.decode("utf-8", "replace").strip().lower() for title in titles]
    return [re.sub("[^a-z0-9]", "", text) or text for text in texts]


# ---- Lines


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
    line, text = next((one for one in lines if _split_braces(one[1])), lines[0])
    in_braces = _split_braces(text) is not None
    attribute = attribute_of(source, line, text, named.length) if in_braces else None
    if in_braces:
        named = Columns(named.ends or (1, 2), None, named.header, named.names)
        lines = [(number, with_attribute(source, number, text, attribute)) for number, text in lines]

    def split(line: int, text: bytes, *, by: bytes, glued: bool) -> list[bytes]:
        return _split_or_fail(source, line, text, by, content, glued=glued)

    separator = separator_of(source, *lines[0])
    titles: list[bytes] = []
    first = split(*lines[0], by=separator, glued=False)
    below = split(*lines[1], by=separator, glued=True) if len(lines) > 1 else []
    if is_header(first, below, named, content):
        titles, lines = first, lines[1:]
        if not lines:
            one_line = " (header=False takes the one line for an edge)" if content.named else ""
            none = f"no {content.row} below the header line"
            raise GraphFormatError(f"{source.name}: {none}; expected lines {content.form}{one_line}")
    elif all(map(is_float, first)) and not named.given and not mark:
        _refuse_matrix(source, [*lines, *islice(rest, 2)], separator, content)
    line, text = lines[0]
    fields = split(line, text, by=separator, glued=True)
    found = choose_columns(source.name, titles, [*map(is_float, fields)], named, mark=mark, content=content)
    ends = found[0] if found else (0, 1)
    are_integers = all(end < len(fields) and integer_of(fields[end]) is not None for end in ends)
    names = bool(named.names) or not are_integers
    if names:
        fields = split(line, text, by=separator, glued=False)
        found = choose_columns(source.name, titles, [*map(is_float, fields)], named, mark=mark, content=content)
    elif separator == b"\t" and len(spread := split(line, text, by=b" ", glued=True)) == len(fields):
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
    if (last := max(*ends, length or 0)) >= len(fields):
        source.fail(line, f"{quantity(len(fields), 'column')}, and column {last + 1} is asked for", text, columns)
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
            found = f"{quantity(len(fields), 'column')} where the lines above have {self.columns}"
            source.fail(line, found, text, expected)
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
    """Yield numbers and texts of lines of content; put the first comment that tells the direction into `marks`."""
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


def _split_braces(text: bytes) -> tuple[bytes, bytes] | None:
    """Split a line that ends in attributes before their first brace; return None of any other."""
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
