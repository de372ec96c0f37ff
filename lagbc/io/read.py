"""Graph files: Matrix Market, SciPy ``.npz``, edge lists and METIS, each plain or gzip-compressed.

The parsing is vectorised; only when it fails are lines gone through one by one, to name the line in the error.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePath

from lagbc.budget import host_budget
from lagbc.errors import GraphFileWarning, warn
from lagbc.io.edge_list import read_edge_list
from lagbc.io.examples import EXAMPLE, example_path
from lagbc.io.graph_file import GraphFile
from lagbc.io.matrix_market import read_matrix_market
from lagbc.io.metis import read_metis
from lagbc.io.npz import read_npz
from lagbc.io.source import Source, find_source, gzip_errors_named

_SUFFIXES = {
    ".mtx": "Matrix Market",
    ".npz": "SciPy npz",
    ".graph": "METIS",
    ".metis": "METIS",
}
_READERS: dict[str, Callable[[Source, bool], GraphFile]] = {
    "Matrix Market": read_matrix_market,
    "SciPy npz": read_npz,
    "edge list": read_edge_list,
    "METIS": read_metis,
}


def read_graph(path: str | os.PathLike[str], *, strengths: bool = False, budget: int | None = None) -> GraphFile:
    """Read a graph file.

    The format is told by the content for Matrix Market (banner) and ``.npz`` (zip), else by the suffix (``.mtx``,
    ``.npz``, ``.graph`` or ``.metis``); any other file is read as an edge list. gzip is told by the content.

    An edge list has one edge a line, ``source target`` or ``source target weight``, separated by blanks, tabs or
    commas; ``#`` and ``%`` begin a comment. The vertices are the ids that occur, renumbered from 0 in ascending order.

    A file may list an edge more than once. Values are taken for lengths, so that the smallest is kept, as the shortest
    of parallel edges is; they are never summed. (Repeated entries of a matrix that is passed on without a file are
    summed, as SciPy does.)

    Parameters
    ----------
    path : path-like
        The file or pipe, or ``"example:NAME"`` for a network that comes with lagbc.
    strengths : bool, default False
        Values are strengths w, that is, lengths 1 / w: of a repeated edge the largest is kept. They are returned as
        they are in the file.
    budget : int, optional
        Bytes that reading may take; by default half of what is free, or what the environment variable ``LAGBC_MEMORY``
        (such as 8GB) says.

    Returns
    -------
    GraphFile
        The matrix, whether the file calls it directed, the format, and the original ids if there are any.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If no network of that name comes with lagbc.
    GraphFormatError
        If the file is malformed; the message names the file, the line, what stands there and what was expected.
    MemoryError
        If reading it would take more than the budget.

    Warns
    -----
    GraphFileWarning
        If values of repeated edges were left out; the message says how many.
    """
    name = os.fspath(path)
    file = example_path(name.removeprefix(EXAMPLE)) if name.startswith(EXAMPLE) else Path(name)
    source = find_source(file, name, host_budget() if budget is None else budget)
    with gzip_errors_named(name):
        graph = replace(_READERS[_format(source)](source, strengths), name=name)
    for notice in graph.notices:
        warn(f"{name}: {notice}", GraphFileWarning)
    return graph


def _format(source: Source) -> str:
    # The content goes before the suffix: with % as its comment mark, a Matrix Market file passes for an edge list.
    head = source.head(64)
    if re.match(rb"\s*%%?MatrixMarket\b", head, re.IGNORECASE):
        return "Matrix Market"
    if head.startswith(b"PK\x03\x04"):
        return "SciPy npz"
    return _SUFFIXES.get(PurePath(source.name.removesuffix(".gz")).suffix.lower(), "edge list")
