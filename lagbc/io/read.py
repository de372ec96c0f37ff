"""Graph files: Matrix Market, SciPy ``.npz``, edge lists and METIS, each plain or gzip-compressed.

The parsing is vectorised; only when it fails is the file gone through line by line, to name the line in the error.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import re
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import NoReturn

import numpy as np
import scipy.io
import scipy.sparse as sp

from lagbc.errors import GraphFormatError

_DATA = Path(__file__).parent.parent / "data"
# Begins the name of a network that comes with lagbc, in place of a path.
EXAMPLE = "example:"
_EXAMPLE_SUFFIX = ".mtx.gz"

_BANNER = b"%%MatrixMarket"
_SUFFIXES = {
    ".mtx": "Matrix Market",
    ".npz": "SciPy npz",
    ".graph": "METIS",
    ".metis": "METIS",
}
_EDGE = "'source target' or 'source target weight', ids being integers (comment out a header line with #)"
_METIS_HEADER = "'vertices edges [fmt [ncon]]', fmt being up to three digits 0 or 1"
_INTEGER = re.compile(rb"[+-]?[0-9]+")


@dataclass(frozen=True)
class GraphFile:
    """A graph as a file gives it.

    Attributes
    ----------
    matrix : scipy.sparse.csr_array, shape (n, n)
        The entry (i, j) is the edge i -> j; an undirected file gives both (i, j) and (j, i). Repeated edges are
        summed, and stored zeros are kept (not those that fill the blocks of a BSR matrix).
    directed : bool
        What the file says: False for METIS and for symmetric, skew-symmetric or hermitian Matrix Market files.
    format : str
        ``"Matrix Market"``, ``"SciPy npz"``, ``"edge list"`` or ``"METIS"``.
    labels : numpy.ndarray of int64, shape (n,), or None
        The ids that the file uses, in matrix order, for edge lists; None where the format numbers the vertices itself.
    """

    matrix: sp.csr_array
    directed: bool
    format: str
    labels: np.ndarray | None


def read_graph(path: str | os.PathLike[str]) -> GraphFile:
    """Read a graph file.

    The format is told by the content for Matrix Market (banner) and ``.npz`` (zip), else by the suffix (``.mtx``,
    ``.npz``, ``.graph`` or ``.metis``); any other file is read as an edge list. gzip is told by the content.

    An edge list has one edge a line, ``source target`` or ``source target weight``, separated by blanks, tabs or
    commas; ``#`` and ``%`` begin a comment. The vertices are the ids that occur, renumbered from 0 in ascending order.

    Parameters
    ----------
    path : path-like
        The file, or ``"example:NAME"`` for a network that comes with lagbc.

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
    """
    name = os.fspath(path)
    file = example_path(name.removeprefix(EXAMPLE)) if name.startswith(EXAMPLE) else Path(name)
    data = _uncompressed(file.read_bytes(), name)
    return _READERS[_format(data, name)](data, name)


def example_names() -> list[str]:
    """Return the names of the networks that come with lagbc, sorted."""
    return sorted(file.name.removesuffix(_EXAMPLE_SUFFIX) for file in _DATA.glob("*" + _EXAMPLE_SUFFIX))


def example_path(name: str) -> Path:
    """Return the path of a network that comes with lagbc.

    Parameters
    ----------
    name : str
        One of `example_names`.

    Returns
    -------
    pathlib.Path
        A Matrix Market file, gzip-compressed, for `read_graph`.

    Raises
    ------
    ValueError
        If there is no network of this name; the message lists those there are.
    """
    names = example_names()
    if name not in names:
        raise ValueError(f"no shipped network is called {name!r}; there are: {', '.join(names)}")
    return _DATA / (name + _EXAMPLE_SUFFIX)


def _uncompressed(data: bytes, name: str) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    try:
        return gzip.decompress(data)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise GraphFormatError(f"{name}: the gzip stream is damaged or cut short ({error})") from error


def _format(data: bytes, name: str) -> str:
    # The content goes before the suffix: with % as its comment mark, a Matrix Market file passes for an edge list.
    if data.startswith(_BANNER):
        return "Matrix Market"
    if data.startswith(b"PK\x03\x04"):
        return "SciPy npz"
    return _SUFFIXES.get(PurePath(name.removesuffix(".gz")).suffix.lower(), "edge list")


def _fail(name: str, line: int, found: str, text: bytes, expected: str) -> NoReturn:
    shown = text.decode("latin-1").strip()
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    raise GraphFormatError(f"{name}, line {line}: {found}: {shown!r}; expected {expected}")


@contextmanager
def _strict() -> Iterator[None]:
    # NumPy before 2.4 only deprecates '1.0' as an integer and text after the last number.
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        yield


def _square(matrix: sp.csr_array, name: str) -> sp.csr_array:
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        shape = " x ".join(map(str, matrix.shape))
        raise GraphFormatError(f"{name}: the matrix is {shape}; expected a square one, a row and a column a vertex")
    return matrix


# ---- Matrix Market


def _read_matrix_market(data: bytes, name: str) -> GraphFile:
    try:
        symmetry = scipy.io.mminfo(io.BytesIO(data))[5]
        matrix = sp.csr_array(scipy.io.mmread(io.BytesIO(data), spmatrix=False))
    except (ValueError, OverflowError) as error:
        _fail_matrix_market(data, name, str(error))
    return GraphFile(_square(matrix, name), symmetry == "general", "Matrix Market", None)


def _fail_matrix_market(data: bytes, name: str, reason: str) -> NoReturn:
    """Turn SciPy's message, which names a line only at times, into ours."""
    lines = [*data.splitlines(), b""]  # an empty one after the last, for a file that ends too early
    size = next((i for i, text in enumerate(lines[1:-1], 2) if text.strip() and not text.startswith(b"%")), len(lines))
    located = re.fullmatch(r"Line (\d+): (.*)", reason)
    if located:
        line, reason = int(located[1]), located[2]
    elif reason.startswith("Truncated"):
        line = len(lines)
    else:
        line = 1 if "Vector" in reason else size
    if line == 1:
        expected = "a banner such as '%%MatrixMarket matrix coordinate real general'"
    elif line <= size:
        expected = "'rows columns entries'"
    else:
        limits = lines[size - 1].decode("latin-1")
        expected = f"entries 'row column [value]', counted from 1, as the size line {limits!r} says"
    _fail(name, line, reason.rstrip("."), lines[line - 1], expected)


# ---- SciPy npz


def _read_npz(data: bytes, name: str) -> GraphFile:
    try:
        stored = sp.load_npz(io.BytesIO(data))
        matrix = sp.csr_array(stored)
        matrix.check_format()
    except (ValueError, KeyError, OSError, EOFError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
        raise GraphFormatError(f"{name}: {error}; expected a sparse matrix written by scipy.sparse.save_npz") from error
    if stored.format == "bsr":
        matrix.eliminate_zeros()  # they fill up the blocks; no edge is meant by them
    return GraphFile(_square(matrix, name), True, "SciPy npz", None)


# ---- edge lists


def _read_edge_list(data: bytes, name: str) -> GraphFile:
    data = data.removeprefix(codecs.BOM_UTF8)
    line, first = next(_edge_lines(data), (0, b""))
    if not line:
        raise GraphFormatError(f"{name}: no edge in the file; expected lines {_EDGE}")
    comma = b"," in first
    columns = len(_fields(first, comma))
    if columns not in (2, 3):
        _fail(name, line, f"{columns} column{'s' * (columns != 1)}", first, _EDGE)
    fields = [("source", np.int64), ("target", np.int64), ("weight", np.float64)][:columns]
    marks = [mark for mark in "#%" if mark.encode() in data]
    try:
        with _strict():
            edges = np.loadtxt(
                io.BytesIO(data),
                dtype=fields,
                # NumPy goes line by line in Python if given more than one mark.
                comments=marks if len(marks) > 1 else "".join(marks) or None,
                delimiter="," if comma else None,
                ndmin=1,
            )
    except (ValueError, DeprecationWarning) as error:
        _fail_edge_list(data, name, comma, columns)
        raise GraphFormatError(f"{name}: {error}; expected lines {_EDGE}") from error
    return _relabelled(edges["source"], edges["target"], edges["weight"] if columns == 3 else np.ones(edges.size))


def _relabelled(source: np.ndarray, target: np.ndarray, weight: np.ndarray) -> GraphFile:
    labels, ends = np.unique(np.concatenate((source, target)), return_inverse=True)
    matrix = sp.csr_array((weight, np.split(ends, 2)), shape=(labels.size, labels.size))
    return GraphFile(matrix, True, "edge list", labels)


def _edge_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the text, without comment, of each line that holds something."""
    for line, text in enumerate(io.BytesIO(data), 1):
        text = re.split(rb"[#%]", text)[0].strip()
        if text:
            yield line, text


def _fields(text: bytes, comma: bool) -> list[bytes]:
    return [field.strip() for field in text.split(b",")] if comma else text.split()


def _fail_edge_list(data: bytes, name: str, comma: bool, columns: int) -> None:
    """Raise for the first line that is not an edge; return if every line looks like one."""
    for line, text in _edge_lines(data):
        fields = _fields(text, comma)
        if len(fields) != columns:
            found = f"{len(fields)} column{'s' * (len(fields) != 1)} where the lines above have {columns}"
            _fail(name, line, found, text, _EDGE)
        for field in fields[:2]:
            if not _is_int64(field):
                _fail(name, line, f"{field.decode('latin-1')[:20]!r} is not an integer id", text, _EDGE)
        if columns == 3 and not _is_float(fields[2]):
            _fail(name, line, f"{fields[2].decode('latin-1')[:20]!r} is not a weight", text, _EDGE)


def _is_int64(field: bytes) -> bool:
    return _INTEGER.fullmatch(field) is not None and -(2**63) <= int(field) < 2**63


def _is_float(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


# ---- METIS


@dataclass(frozen=True)
class _Metis:
    """The lines of a METIS file, comments left out: the header's counts, and one line a vertex."""

    name: str
    n: int
    m: int
    skip: int  # numbers before the first neighbour: a vertex size and the vertex weights
    stride: int  # numbers a neighbour: 2 with edge weights
    header: tuple[int, bytes]
    rows: list[tuple[int, bytes]]

    def fail(self, row: int, found: str, expected: str) -> NoReturn:
        line, text = self.rows[row]
        _fail(self.name, line, found, text, expected)


def _read_metis(data: bytes, name: str) -> GraphFile:
    metis = _metis_lines(data, name)
    tokens, sizes = _metis_tokens(metis)
    row = np.repeat(np.arange(metis.n), sizes)
    place = np.arange(tokens.size) - np.repeat(np.cumsum(sizes) - sizes, sizes) - metis.skip
    listed = (place >= 0) & (place % metis.stride == 0)
    source, target = row[listed], tokens[listed] - 1
    weight = tokens[(place >= 0) & (place % metis.stride == 1)] if metis.stride == 2 else np.ones(source.size)
    _check_metis(metis, source, target, weight)
    matrix = sp.csr_array((weight.astype(np.float64), (source, target)), shape=(metis.n, metis.n))
    return GraphFile(matrix, False, "METIS", None)


def _metis_lines(data: bytes, name: str) -> _Metis:
    lines = [(i, text) for i, text in enumerate(data.splitlines(), 1) if not text.startswith(b"%")]
    header = lines[0] if lines else (1, b"")
    fields = header[1].split()
    fmt = fields[2].rjust(3, b"0") if len(fields) > 2 else b"000"
    counts = fields[:2] + fields[3:]
    if not (2 <= len(fields) <= 4 and all(map(bytes.isdigit, counts)) and re.fullmatch(rb"[01]{3}", fmt)):
        _fail(name, header[0], "not a METIS header", header[1], _METIS_HEADER)
    n, m, constraints = map(int, (*counts, b"1")[:3])
    skip = int(fmt[0:1]) + int(fmt[1:2]) * constraints
    rows, rest = lines[1 : n + 1], lines[n + 1 :]
    if len(rows) < n:
        last = lines[-1]
        _fail(name, last[0], f"the file ends after {len(rows)} of {n} vertex lines", last[1], "a line a vertex")
    for line, text in rest:
        if text.strip():
            _fail(name, line, f"more than the {n} vertex lines of the header", text, "the end of the file")
    return _Metis(name, n, m, skip, 1 + int(fmt[2:3]), header, rows)


def _metis_tokens(metis: _Metis) -> tuple[np.ndarray, np.ndarray]:
    """Return all numbers of the vertex lines, and how many each line has."""
    sizes = np.fromiter((len(text.split()) for _, text in metis.rows), np.int64, metis.n)
    short = np.flatnonzero((sizes < metis.skip) | ((sizes - metis.skip) % metis.stride != 0))
    if short.size:
        pairs = "'neighbour weight' pairs" if metis.stride == 2 else "neighbours"
        metis.fail(short[0], f"{sizes[short[0]]} numbers", f"{metis.skip} for the vertex, then {pairs}")
    if not sizes.any():
        return np.empty(0, np.int64), sizes
    try:
        with _strict():
            tokens = np.fromstring(b" ".join(text for _, text in metis.rows), np.int64, sep=" ")
    except (ValueError, DeprecationWarning):
        tokens = np.empty(0, np.int64)
    # '1-2' is two numbers to NumPy, and a number too large for int64 is the largest there is.
    if tokens.size != sizes.sum() or tokens.max() == np.iinfo(np.int64).max:
        for row, (_, text) in enumerate(metis.rows):
            if not all(map(_is_int64, text.split())):
                metis.fail(row, "not only integers", "neighbours from 1 on, and integer weights")
    return tokens, sizes


def _check_metis(metis: _Metis, source: np.ndarray, target: np.ndarray, weight: np.ndarray) -> None:
    outside = np.flatnonzero((target < 0) | (target >= metis.n))
    if outside.size:
        i = outside[0]
        metis.fail(source[i], f"neighbour {target[i] + 1}", f"neighbours from 1 to {metis.n}")
    edges, edges_back = source * metis.n + target, target * metis.n + source
    order, order_back = np.argsort(edges, kind="stable"), np.argsort(edges_back, kind="stable")
    twice = np.flatnonzero(np.diff(edges[order]) == 0)
    if twice.size:
        i = order[twice[0]]
        metis.fail(source[i], f"neighbour {target[i] + 1} comes twice", "each neighbour once")
    one_sided = np.flatnonzero(np.isin(edges, edges_back, invert=True))
    if one_sided.size:
        i = one_sided[0]
        u, v = source[i] + 1, target[i] + 1
        metis.fail(source[i], f"neighbour {v} of vertex {u} does not list {u}", "each edge at both its ends")
    unequal = np.flatnonzero(weight[order] != weight[order_back])
    if unequal.size:
        i, j = order[unequal[0]], order_back[unequal[0]]
        found = f"edge {source[i] + 1} - {target[i] + 1} weighs {weight[i]} here and {weight[j]} at its other end"
        metis.fail(source[i], found, "one weight")
    if source.size != 2 * metis.m:
        found = f"{metis.m} edges in the header, but {source.size} neighbours in the lists"
        _fail(metis.name, metis.header[0], found, metis.header[1], "twice as many neighbours as edges")


_READERS: dict[str, Callable[[bytes, str], GraphFile]] = {
    "Matrix Market": _read_matrix_market,
    "SciPy npz": _read_npz,
    "edge list": _read_edge_list,
    "METIS": _read_metis,
}
