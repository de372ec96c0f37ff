"""One line of an edge list, in Python: for the first lines, and for messages. kernels/io/scan.h does so to all."""

from __future__ import annotations

import re

_REAL = re.compile(rb"[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|nan|inf(inity)?)", re.IGNORECASE)
_QUOTED = re.compile(rb'"((?:[^"]|"")*)"')
_BLANKS = b" \t\f\v"


def split_line(text: bytes, separator: bytes, *, glued: bool) -> list[bytes] | str:
    """Return the fields of a line that is an edge, or what is wrong with its quotes.

    Parameters
    ----------
    text : bytes
    separator : bytes
        One byte; a blank stands for any run of blanks.
    glued : bool
        Whether a comment begins anywhere; else, between blanks, where a field begins.
    """
    blanks = _BLANKS.replace(separator, b"") if separator != b" " else _BLANKS
    ends = (_BLANKS if separator == b" " else separator) + (b"#%" if glued else b"")
    plain = re.compile(b"[^" + re.escape(ends) + b"]*")
    fields, rest = [], text.strip(blanks)
    while True:
        quoted = _QUOTED.match(rest)
        if rest.startswith(b'"') and not quoted:
            return "a quote that is not closed"
        match = quoted or plain.match(rest)
        assert match is not None
        fields.append(match[1].replace(b'""', b'"') if quoted else match[0].strip(blanks))
        after = rest[match.end() :]
        rest = after.lstrip(blanks)
        if not rest or (rest[:1] in (b"#", b"%") and (glued or separator == b" ")):
            return fields
        if rest.startswith(separator) and separator != b" ":
            rest = rest[1:].lstrip(blanks)
        elif separator != b" " or rest == after:
            return "text after a closing quote"


def without_quoted(text: bytes) -> bytes:
    """Return a line without what stands in quotes."""
    return _QUOTED.sub(b"", text)


def is_float(field: bytes) -> bool:
    """Whether a field is a number: decimal, nan or inf."""
    return _REAL.fullmatch(field) is not None


def shown(field: bytes, most: int = 20) -> str:
    """Return a field as messages show it: so many characters at most."""
    return repr(field.decode("utf-8", "replace")[:most])


def counted(columns: int) -> str:
    """Return a number of columns in words."""
    return f"{columns} column{'s' * (columns != 1)}"
