"""Graph files of all formats, each plain or gzip-compressed."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Never

from lagbc import limits
from lagbc.errors import GraphFileWarning, InvalidTypeError, InvalidValueError, MissingFileError, unknown_argument, warn
from lagbc.io.edges import is_table
from lagbc.io.formats import format_of
from lagbc.io.graph_file import GraphFile, repeat_notices
from lagbc.io.layout import Columns
from lagbc.io.source import (
    EXAMPLE,
    Reporter,
    Source,
    example_coordinates,
    example_names,
    example_path,
    find_source,
    gzip_errors_named,
)


def read_graph(
    path: str | os.PathLike[str],
    *,
    ends: tuple[int | str, int | str] | None = None,
    length: int | str | None = None,
    header: bool | None = None,
    names: bool | None = None,
    strengths: bool = False,
    budget: int | None = None,
    progress: bool | Reporter = False,
    part: tuple[int, int] | None = None,
    **others: Never,
) -> GraphFile:
    """Read a graph file.

    The content tells Matrix Market (banner), ``.npz`` (zip) and the formats that NetworkX reads; else the suffix tells
    the format (``.mtx``, ``.npz``, ``.parquet``, ``.graph`` and ``.metis`` for METIS, ``.graphml``, ``.gml``,
    ``.gexf``); any other file is read as an edge list. The content also tells gzip. Packages may add formats, of other
    suffixes.

    An **edge list** has one edge a line, ``source target`` or ``source target weight``, separated by commas,
    semicolons, tabs or blanks; ``#`` and ``%`` begin a comment. Its first lines tell its layout, and ``.said`` of the
    result describes the layout in a line:

    - Vertices are integers if the ends of the first edge are (7, but not 007); they are renumbered from 0 in ascending
      order. Else they are names, text in UTF-8, numbered as they first occur; a name with a separator stands in double
      quotes.
    - A header line is left out. It holds no number; its titles are usual ones (source and target, from and to, node1
      and node2, ...) or have numbers below. Usual titles choose the columns where there are more than three. Over names
      alone, titles name no vertex: a first line whose names occur again is an edge. In doubt it is taken for an edge,
      with a warning.
    - A comment of KONECT (``% sym positive``) or SNAP (``# Undirected graph``) tells whether edges go both ways, or the
      column Type of Gephi, which is the same for all edges.
    - Three lines that may be edges, or a matrix with zeros on its diagonal, are refused unless an argument tells.
    - Lines may end in attributes in braces, as ``networkx.write_edgelist`` writes them.

    **Parquet** is read by pyarrow, which has to be installed. It is a table with a row for each edge; titles choose the
    columns as in an edge list.

    **GraphML**, GML, GEXF and Pajek are read by NetworkX, which has to be installed. Vertices keep their ids or labels
    as names. Of Pajek, labelled vertices and one section of links are read; other files are refused.

    For a file without values, functions refuse ``weighted=True`` and ``strength=True``.

    ``.npz``, and an edge list without such a comment, do not tell whether edges go both ways. Edges are then taken one
    way; the first function that gets the graph without ``directed=`` warns.

    A file may repeat an edge. Values are taken for lengths, so the smallest is kept, the shortest of parallel edges;
    they are never summed. (Repeated entries of a matrix in memory are summed, as SciPy does.)

    Parameters
    ----------
    path : path-like
        The file or pipe, or ``"example:NAME"`` for a network that comes with lagbc; vertices of these have no names.
    ends : pair of int or str, optional
        The columns of source and target in an edge list or table, counted from 1, or their titles. Without `length`
        then no lengths are read.
    length : int or str, optional
        The column of lengths, or its title; in formats that NetworkX reads, and where lines end in attributes, the name
        of the attribute, by default "weight".
    header : bool, optional
        Whether the first line of an edge list holds titles; by default its first lines tell.
    names : bool, optional
        True takes the vertices of an edge list for names, whatever they look like.
    strengths : bool, default False
        Values are strengths w, that is, lengths 1 / w: a repeated edge keeps the largest. The graph has the values of
        the file.
    budget : int, optional
        The most bytes of memory for reading; by default half of the free memory or, with the environment variable
        ``LAGBC_MEMORY`` (such as 8GB), the part of it that the process has not taken yet.
    progress : bool or callable, default False
        True draws a bar with the time left; a callable gets the number of bytes read, as stored, and of all bytes of
        the file. Bytes from a pipe are not reported. Some formats are read twice.
    part : (int, int), optional
        The number of a part of the file, from 0 on, and the number of parts: reads the pattern of that part alone, in a
        matrix of the shape of the whole. Ranks of a `grid` pass a part each. The part is a range of bytes of a sparse
        Matrix Market file; other formats are refused.

    Returns
    -------
    GraphFile
        The matrix, its direction and format, names of vertices in ``.names``, and coordinates, if there are any, in
        ``.coordinates``.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TypeError, ValueError
        If no network of that name comes with lagbc, or an argument is wrong or means nothing to the format.
    MissingDependencyError
        If NetworkX or pyarrow has to read the file, and is not installed.
    GraphFormatError
        If the file is malformed; the message names the file, the line, its text and the text expected.
    MemoryError
        If reading it would take more than the budget.

    Warns
    -----
    GraphFileWarning
        If values of repeated edges were left out; the message gives their number. If it is in doubt whether the first
        line of an edge list holds titles; the message names the choice.
    """
    for other in others:
        raise _unknown(other)
    if not isinstance(path, str | os.PathLike):
        what = type(path).__qualname__ if is_table(path) else repr(path)
        there = "the path of a file, or 'example:' and the name of a network; lagbc.graph_from_edges takes a table"
        raise InvalidTypeError(f"path is {what}; it is {there}")
    name, named = os.fspath(path), Columns(ends, length, header, names)
    file = example_path(name.removeprefix(EXAMPLE)) if name.startswith(EXAMPLE) else Path(name)
    with _reporter(name, progress) as report, gzip_errors_named(name):
        if not file.exists():
            shipped = ", ".join(EXAMPLE + example for example in example_names())
            stdin = "; standard input is /dev/stdin" if name == "-" else ""
            raise MissingFileError(f"there is no file {name!r}{stdin}; networks that come with lagbc: {shipped}")
        source = find_source(file, name, limits.budget("cpu") if budget is None else budget, report)
        read = _read(source, strengths, named, part)
        notices = *read.notices, *repeat_notices(read.repeats * read.has_values, largest=strengths)
        graph = replace(read, name=name, strengths=strengths, notices=notices)
    if name.startswith(EXAMPLE) and (places := example_coordinates(name.removeprefix(EXAMPLE))):
        from lagbc.io.tables import read_coordinates

        graph = replace(graph, coordinates=read_coordinates(places, graph.rows.shape[0], graph.labels))
    for notice in graph.notices:
        warn(f"{name}: {notice}", GraphFileWarning)
    return graph


def _unknown(name: str) -> InvalidTypeError:
    """Make the error of an argument that `read_graph` lacks, and functions of its graph may have."""
    taken = [*inspect.signature(read_graph).parameters][1:-1]
    of_the_graph = name in ("directed", "weighted", "strength")
    call = f"functions of the graph take it, such as lagbc.bc(graph, {name}=...)"
    otherwise = call if of_the_graph else f"there are {', '.join(taken)}"
    return unknown_argument(name, [] if of_the_graph else taken, None, otherwise)


@contextmanager
def _reporter(name: str, progress: bool | Reporter) -> Iterator[Reporter | None]:
    """Yield the function that gets the bytes read so far: the caller's, or one that draws a bar."""
    if not isinstance(progress, bool) and not callable(progress):
        raise InvalidTypeError(f"progress={progress!r} is neither True nor False nor a function")
    if not progress or callable(progress):
        yield progress or None
        return
    from tqdm.auto import tqdm

    with tqdm(desc=f"lagbc: reading {name}", unit="B", unit_scale=True) as bar:

        def draw(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield draw


def _read(source: Source, largest: bool, named: Columns, part: tuple[int, int] | None) -> GraphFile:
    form = format_of(source)
    if part is None:
        if unknown := [name for name in named.given if name not in form.takes]:
            names = ", ".join(unknown)
            raise InvalidValueError(f"{source.name}: {names} means nothing to the format {form.name}; leave it out")
        return form.read(source, largest, named)
    if form.read_part is None or named.given:
        raise InvalidValueError(
            f"{source.name}: {form.name} is not read in parts; write it as Matrix Market, or read all on rank 0"
        )
    number, of = part
    if not 0 <= number < of:
        raise InvalidValueError(f"part=({number}, {of}): parts are counted from 0, before their number")
    return form.read_part(source, number, of)
