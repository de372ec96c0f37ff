"""The columns of ends and lengths in a list or table of edges, as a caller, titles or comments above the edges say."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from itertools import product
from typing import NamedTuple

from lagbc.errors import GraphFormatError, InvalidTypeError, InvalidValueError, did_you_mean
from lagbc.io.scan import is_float
from lagbc.io.source import Source


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
    """Return the pairs of columns that have titles of ends."""
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
