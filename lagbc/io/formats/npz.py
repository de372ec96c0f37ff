"""Sparse matrices written by ``scipy.sparse.save_npz``."""

from __future__ import annotations

import io
import re
import zipfile
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from lagbc.errors import GraphFormatError, InvalidValueError
from lagbc.io.columns import Columns
from lagbc.io.formats import reader
from lagbc.io.graph_file import GraphFile, merge_repeats
from lagbc.io.source import Source
from lagbc.limits import in_units

# Peak bytes of reading: an element of the longest array in the archive, a byte of all of them, and a vertex.
_BYTES_PER_ELEMENT, _BYTES_PER_BYTE, _BYTES_PER_VERTEX = 84, 2, 24
_INTEGERS = {f"{name}.npy" for name in ("indices", "indptr", "row", "col", "offsets", "shape")}


def read_part_of_npz(source: Source, number: int, of: int) -> GraphFile:
    """Read the pattern of a part, a range of the entries, of a matrix in csr, csc or coo."""
    try:
        with zipfile.ZipFile(source.path) as archive:
            form = _read_range(archive, "format").item()
            n, others = _read_range(archive, "shape").tolist()
            if n != others or form not in (b"csr", b"csc", b"coo"):
                raise InvalidValueError(f"{n} x {others} in the format {form.decode()} is not read in parts")
            tails, heads, count, entries = _ends_of_part(archive, form, number, of)
    except Exception as error:
        raise GraphFormatError(
            f"{source.name}: {error}; expected a square csr, csc or coo matrix written by scipy.sparse.save_npz"
        ) from error
    ends = np.concatenate([tails, heads])
    if ((ends < 0) | (ends >= n)).any():
        raise GraphFormatError(f"{source.name}: an entry is outside of the {n} rows and columns")
    if form == b"csc":
        tails, heads = heads, tails
    matrix, _ = merge_repeats(n, tails, heads, None, largest=False)
    counted = count, entries
    return GraphFile(matrix, True, "SciPy npz", None, tells_direction=False, has_values=False, counted=counted)


@reader("SciPy npz", suffixes=(".npz",), begins=re.compile(rb"PK\x03\x04"), read_part=read_part_of_npz)
def read_npz(source: Source, largest: bool, named: Columns) -> GraphFile:
    """Read a sparse matrix of any of SciPy's formats."""
    from scipy import sparse as sp

    data = io.BytesIO(source.whole())
    try:
        _require_honest_headers(source, data)
        _require_small_offsets(data)
        data.seek(0)
        matrix = sp.load_npz(data)
        _require_sound(source, matrix)
        entries = sp.coo_array(matrix)
        if matrix.format in ("bsr", "dia"):
            entries.eliminate_zeros()  # padding of blocks and diagonals
        kept, repeats = merge_repeats(entries.shape[0], entries.row, entries.col, entries.data, largest=largest)
    except (GraphFormatError, MemoryError):
        raise
    except Exception as error:  # a damaged archive makes zipfile, its decoders, NumPy and SciPy raise almost anything
        raise GraphFormatError(
            f"{source.name}: {error}; expected a sparse matrix written by scipy.sparse.save_npz"
        ) from error
    return GraphFile(kept, True, "SciPy npz", None, tells_direction=False, repeats=repeats)


def _ends_of_part(archive: zipfile.ZipFile, form: bytes, number: int, of: int) -> tuple[Any, Any, int, int]:
    """Return both ends of the entries of a part, their number, and the number of all entries."""
    if form == b"coo":
        entries = _array_length(archive, "row")
        first, last = (entries * part // of for part in (number, number + 1))
        return _read_range(archive, "row", first, last), _read_range(archive, "col", first, last), last - first, entries
    indptr, entries = _read_range(archive, "indptr").astype(np.int64), _array_length(archive, "indices")
    if indptr[0] != 0 or indptr[-1] != entries or (np.diff(indptr) < 0).any():
        raise InvalidValueError("indptr falls somewhere, or does not end with the indices")
    first, last = (entries * part // of for part in (number, number + 1))
    counts = np.diff(np.clip(indptr, first, last))
    along, across = np.repeat(np.arange(len(counts)), counts), _read_range(archive, "indices", first, last)
    return along, across, last - first, entries


def _array_length(archive: zipfile.ZipFile, name: str) -> int:
    with archive.open(f"{name}.npy") as file:
        (length,), _ = _read_array_header(file)
    return int(length)


def _read_array_header(file: Any) -> tuple[tuple[int, ...], Any]:
    version = npy.read_magic(file)
    shape, _, dtype = (npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0)(file)
    return shape, dtype


def _read_honest_header(file: Any, member: zipfile.ZipInfo) -> tuple[tuple[int, ...], Any]:
    """Read a header; refuse an array shorter or longer than it says, and ends of edges that are no integers."""
    shape, dtype = _read_array_header(file)
    stored, elements = member.file_size - file.tell(), int(np.prod(shape, dtype=object))
    if dtype.hasobject or elements * dtype.itemsize != stored:
        raise InvalidValueError(f"{member.filename} holds {stored} bytes for {elements} elements of type {dtype}")
    if member.filename in _INTEGERS and dtype.kind not in "iu":
        raise InvalidValueError(f"{member.filename} is of type {dtype}, not of integers")
    return shape, dtype


def _read_range(archive: zipfile.ZipFile, name: str, first: int = 0, last: int | None = None) -> Any:
    """Read items first:last, or all, of an array of an archive."""
    member = archive.getinfo(f"{name}.npy")
    with archive.open(member) as file:
        shape, dtype = _read_honest_header(file, member)
        if last is None:
            return np.frombuffer(file.read(), dtype).reshape(shape)
        file.seek(first * dtype.itemsize, io.SEEK_CUR)
        return np.frombuffer(file.read((last - first) * dtype.itemsize), dtype)


def _require_honest_headers(source: Source, data: BinaryIO) -> None:
    """Refuse arrays that are not as long as their headers say, by which NumPy would allocate."""
    with zipfile.ZipFile(data) as archive:
        members = archive.infolist()
        size, longest = sum(member.file_size for member in members), 0
        for member in members:
            with archive.open(member) as file:
                shape, _ = _read_honest_header(file, member)
            longest = max(longest, int(np.prod(shape, dtype=object)))
        source.require(_BYTES_PER_ELEMENT * longest + _BYTES_PER_BYTE * size, f"an archive of {in_units(size)}")


def _require_small_offsets(data: BinaryIO) -> None:
    """Refuse numbers of diagonals beyond 32 bits: SciPy would wrap them."""
    data.seek(0)
    arrays = np.load(data)
    if "offsets" in arrays:
        offsets, limits = arrays["offsets"], np.iinfo(np.int32)
        if offsets.size and (offsets.min() < limits.min or offsets.max() > limits.max):
            raise InvalidValueError(f"offsets go from {offsets.min()} to {offsets.max()}")


def _require_sound(source: Source, matrix: Any) -> None:
    """Refuse a matrix whose conversion would read outside its arrays."""
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        shape = " x ".join(map(str, matrix.shape))
        raise GraphFormatError(
            f"{source.name}: the matrix is {shape}; expected a square one, a row and a column a vertex"
        )
    if matrix.dtype.kind not in "biufc":
        raise InvalidValueError(f"the values are of type {matrix.dtype}")
    source.require(_BYTES_PER_VERTEX * matrix.shape[0], f"a matrix of {matrix.shape[0]} rows")
    if matrix.format in ("csr", "csc", "bsr"):
        if (matrix.indptr[1:] < matrix.indptr[:-1]).any():  # SciPy does not check this if the last is 0
            raise InvalidValueError("indptr falls somewhere")
        matrix.check_format(full_check=True)
