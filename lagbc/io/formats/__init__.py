"""The formats of graph files: each registers its reader here, and the modules of this folder are loaded at need."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import PurePath
from pkgutil import iter_modules
from typing import NamedTuple

from lagbc.errors import GraphFormatError
from lagbc.extensions import OF_FORMATS, load_extensions
from lagbc.io.graph_file import GraphFile
from lagbc.io.layout import Columns
from lagbc.io.source import Source

# Reads a graph from a source; arguments are whether repeated edges keep the largest value, and the columns named.
Reader = Callable[[Source, bool, Columns], GraphFile]
# Reads the pattern of a part of a source; arguments are the number of the part, and of parts.
PartReader = Callable[[Source, int, int], GraphFile]

# Bytes at the start of a file that tell its format.
_HEAD = 4096


class Format(NamedTuple):
    """A format of graph files."""

    name: str
    read: Reader
    suffixes: tuple[str, ...]
    begins: re.Pattern[bytes] | None  # matches the first bytes of its files; tried before suffixes
    takes: tuple[str, ...]  # fields of `Columns` that its reader reads
    read_part: PartReader | None = None  # None: the format is not read in parts


FORMATS: dict[str, Format] = {}


def reader(
    name: str,
    *,
    suffixes: tuple[str, ...] = (),
    begins: re.Pattern[bytes] | None = None,
    takes: tuple[str, ...] = (),
    read_part: PartReader | None = None,
) -> Callable[[Reader], Reader]:
    """Register the decorated function as the reader of a `Format`."""

    def register(read: Reader) -> Reader:
        FORMATS[name] = Format(name, read, suffixes, begins, takes, read_part)
        return read

    return register


# Suffixes of edge lists; any other suffix may belong to a format that a package adds.
_EDGE_LISTS = ("", ".csv", ".tsv", ".txt", ".dat", ".edges", ".edgelist", ".el")
# Files of other programs: suffixes, format, and two lines of Python that read one.
_GRAPH_OF_EDGES = "graph = lagbc.graph_from_edges(edges, directed=False)"
_ELSEWHERE = (
    ((".xlsx", ".xls", ".ods"), "a workbook", f"edges = pandas.read_excel({{file}}); {_GRAPH_OF_EDGES}"),
    ((".feather", ".arrow"), "Arrow", f"edges = polars.read_ipc({{file}}); {_GRAPH_OF_EDGES}"),
    (
        (".gpkg", ".shp", ".geojson"),
        "a file of shapes",
        "lines = geopandas.read_file({file}); graph = momepy.gdf_to_nx(lines)",
    ),
    ((".dot", ".gv"), "DOT", "graph = networkx.nx_pydot.read_dot({file}); scores = lagbc.bc(graph)"),
)


def format_of(source: Source) -> Format:
    """Tell the format of a file by its first bytes, else by its suffix; any other file is an edge list."""
    for module in iter_modules(__path__, f"{__name__}."):
        import_module(module.name)
    suffix = PurePath(source.name.removesuffix(".gz")).suffix.lower()
    known = suffix in _EDGE_LISTS or any(suffix in form.suffixes for form in FORMATS.values())
    if not known:
        load_extensions(OF_FORMATS)
    # A Matrix Market file would pass for an edge list under any suffix, as its comments begin with %.
    head = source.head(_HEAD)
    by_suffix = [form for form in FORMATS.values() if suffix in form.suffixes]
    for suffixes, name, lines in () if by_suffix else _ELSEWHERE:
        if suffix in suffixes:
            read = lines.format(file=repr(PurePath(source.name).name))
            raise GraphFormatError(f"{source.name}: {name} is not read; two lines of Python read it: {read}")
    by_content = (form for form in FORMATS.values() if form.begins is not None and form.begins.match(head))
    return next(by_content, None) or next(iter(by_suffix), None) or FORMATS["edge list"]
