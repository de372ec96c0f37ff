"""Lines that end in the attributes of an edge, a dict in braces, as ``networkx.write_edgelist`` writes them."""

from __future__ import annotations

import ast
import math
import re
from typing import Any

from lagbc.graph.values import LENGTH
from lagbc.io.source import Source

_EXPECTED = "attributes as networkx.write_edgelist writes them, such as {'weight': 1.5}"


def end_in_braces(text: bytes) -> bool:
    """Whether a line ends in attributes."""
    return _split_braces(text) is not None


def _split_braces(text: bytes) -> tuple[bytes, bytes] | None:
    """Return a line up to its first brace, and from there on if that ends in a brace; else None."""
    before, brace, inside = text.rstrip(b" \t").partition(b"{")
    return (before, brace + inside) if inside.endswith(b"}") else None


def attribute_of(source: Source, line: int, text: bytes, wanted: int | str | None) -> str | None:
    """Return the attribute that holds lengths: the one wanted, else "weight" if the first edge has it, else None."""
    there = _parsed_attributes(source, line, text)
    if wanted is not None and wanted not in there:
        source.fail(line, f"no attribute {wanted!r}", text, f"length= to be one of {', '.join(map(repr, there))}")
    return str(wanted) if wanted is not None else LENGTH if LENGTH in there else None


def with_attribute(source: Source, line: int, piece: bytes, attribute: str | None) -> bytes:
    """Replace the braces of each line by the value of one attribute, NaN where it is missing, or by nothing."""
    if attribute is not None:
        alone = re.escape(repr(attribute).encode())
        piece = re.sub(rb"\{" + alone + rb": ([-+.0-9e]+)\}(?=[ \t]*\n)", rb"\1", piece)
    if b"{" not in piece:
        return piece
    lines = enumerate(piece.split(b"\n"), line)
    return b"\n".join(_with_value(source, number, text, attribute) for number, text in lines)


def _with_value(source: Source, line: int, text: bytes, attribute: str | None) -> bytes:
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
        source.fail(line, "what stands in braces is no dict of values", text, _EXPECTED)
    return attributes
