"""A file of sums over some of the items of a call's works: a zip archive of arrays, each checked before it is read.

A checkpoint holds the total of the first items of each work, and replaces its predecessor. A part of a call holds sums
of spans of its items, written one after the other. The head tells the call: digests of the graph, of the roots and of
all else that fixes the sums, and the label and the order of each work. The file ends with a digest of each array, so
that no damaged one is ever read.
"""

from __future__ import annotations

import errno
import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.format import read_array, read_array_header_1_0, read_magic, write_array
from numpy.typing import NDArray

from lagbc.errors import CheckpointError, FileError, InvalidValueError, PartError
from lagbc.files import write_whole
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.methods.sums import OF_ROOTS
from lagbc.request import Request
from lagbc.run.work import Found, Items, PieceWork, Reads, Span

_KIND = "lagbc partial sums "
_FORMAT = f"{_KIND}3"
# The array that has the digests of all others.
_DIGESTS = "digests"
# Most bytes of the head of a file, and of the name and digest of an array.
_MOST_OF_HEAD, _MOST_OF_DIGEST = 2**20, 2**9
MEND = "name another file, or delete it"
_digest = partial(hashlib.blake2b, digest_size=16)


def digests_of(graph: Graph, request: Request, dtype: str, label: str = "") -> dict[str, str]:
    """Digest the graph, the roots and the rest of a request: all that fixes the sums of a call but for its works."""
    rest = _digest_rest(request, dtype, label)
    return {"graph": digest_graph(graph), "options": rest, "roots": digest_roots(request.roots)}


def digest_roots(roots: Items) -> str:
    """Digest roots, in any order."""
    return _digest(np.sort(roots).tobytes()).hexdigest()


def _digest_rest(request: Request, dtype: str, label: str) -> str:
    flags = request.endpoints, request.weighs_pairs, request.is_sample, request.rtol, dtype, label
    digest = _digest(f"{sorted(request.sums)} {flags}".encode())
    bounds, demand = request.bounds, request.demand
    arrays: list[Any] = [request.omega, request.root_weights]
    arrays += [None, None] if bounds is None else [bounds.cutoffs, bounds.decays]
    arrays += [None] if demand is None else [demand.indptr.astype(np.int64), demand.indices.astype(np.int64)]
    arrays += [None] if demand is None else [demand.data]
    arrays += [] if request.xy is None else [request.xy]
    for array in arrays:
        digest.update(b"none" if array is None else f"{array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def digest_graph(graph: Graph) -> str:
    """Digest a graph."""
    digest = _digest(f"{graph.n} {graph.nnz} {graph.directed}".encode())
    for array in (graph.indptr, graph.indices, graph.weights):
        if array is not None:
            digest.update(np.ascontiguousarray(as_numpy(array)).data)
    return digest.hexdigest()


def digest_order(work: PieceWork) -> str:
    """Digest the order in which items are summed, the items of a chunk, and the order of the graph that is swept.

    Sums over edges are in that order, which another version or machine may choose otherwise.
    """
    digest = _digest(work.order.tobytes() + str(work.grain).encode())
    if work.sweep.work != "small":
        digest.update(np.ascontiguousarray(work.graph.order).data)
    return digest.hexdigest()


class Writer(NamedTuple):
    """Arrays written into a file, one after the other."""

    archive: zipfile.ZipFile
    digests: dict[str, str]  # by name

    def add(self, name: str, array: NDArray[Any], *, compressed: bool = False) -> None:
        """Write an array."""
        member, array = zipfile.ZipInfo(f"{name}.npy"), np.asarray(array, order="C")
        member.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
        with self.archive.open(member, "w", force_zip64=True) as file:
            write_array(file, array, version=(1, 0), allow_pickle=False)
        self.digests[name] = _digest_array(array)

    def add_json(self, name: str, value: Any) -> None:
        """Write a value of JSON."""
        self.add(name, np.frombuffer(json.dumps(value).encode(), np.uint8), compressed=True)

    def add_sums(self, number: int, work: PieceWork, span: Span, sums: Any) -> None:
        """Write the sums of a span of the work of this number."""
        for name, array in work.pack(span, sums).items():
            at = f"{number}/{span.first}-{span.last}/{name}"
            self.add(at, array, compressed=name.rpartition("/")[2] in OF_ROOTS)


@contextmanager
def open_writer(path: Path, head: Mapping[str, Any], *, lasting: bool = True) -> Iterator[Writer]:
    """Write a file that appears once it is whole."""
    with write_whole(path, lasting=lasting) as file, zipfile.ZipFile(file, "w") as archive:
        writer = Writer(archive, {})
        writer.add_json("head", {"format": _FORMAT, **head})
        yield writer
        writer.add_json(_DIGESTS, writer.digests)


class PartialFile:
    """A file that is read; a context manager. `damaged` makes the error for one of another kind, or a damaged one."""

    def __init__(self, path: Path, damaged: Callable[[Path], Exception] | None = None) -> None:
        self.path, self._damaged = path, damaged or _damaged_part
        self._digests: dict[str, str] | None = None
        with self.reading():
            self._archive = zipfile.ZipFile(path)
            try:
                self._names = {name.removesuffix(".npy") for name in self._archive.namelist()}
                digests = self.json(_DIGESTS, _MOST_OF_DIGEST * len(self._names))
                if {*digests, _DIGESTS} != self._names:
                    raise InvalidValueError
                self._digests = digests
                self.head = self.json("head", _MOST_OF_HEAD)
                self._require_format(str(self.head["format"]))
            except BaseException:
                self._archive.close()
                raise

    def _require_format(self, kind: str) -> None:
        """Raise an error for a file of another version."""
        if kind.startswith(_KIND) and kind != _FORMAT:
            told = f"{self.path} was written by another version of lagbc, and its sums are of another form"
            raise type(self._damaged(self.path))(f"{told}; go on with that version, or {MEND}")
        if kind != _FORMAT:
            raise InvalidValueError

    def __enter__(self) -> PartialFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    def has(self, name: str) -> bool:
        """Whether the file has an array of this name."""
        return name in self._names

    def json(self, name: str, most: int | None = None) -> Any:
        """Read a value of JSON, of at most `most` bytes."""
        return json.loads(self.array(name, (None,), np.uint8, most).tobytes())

    def array(
        self, name: str, shape: tuple[int | None, ...] = (None,), dtype: Any = float, most: int | None = None
    ) -> NDArray[Any]:
        """Read an array of a dtype and a shape; a length of None may be any, within `most` bytes."""
        with self.reading(), self._archive.open(f"{name}.npy") as file:
            if read_magic(file) != (1, 0):
                raise InvalidValueError
            found, _, kind = read_array_header_1_0(file)
            fits = len(found) == len(shape) and all(b in (None, a) for a, b in zip(found, shape, strict=True))
            is_kind = kind in (np.int32, np.int64) if dtype is np.integer else kind == dtype
            size = int(np.prod(found, dtype=object)) * kind.itemsize
            holds = self._archive.getinfo(f"{name}.npy").file_size if most is None else most
            if not fits or not is_kind or size > holds:
                raise InvalidValueError
        with self.reading(), self._archive.open(f"{name}.npy") as file:
            array: NDArray[Any] = read_array(file, allow_pickle=False)
            if self._digests is not None and self._digests[name] != _digest_array(array):
                raise InvalidValueError
        return array

    def sums(self, number: int, work: PieceWork) -> Iterator[Found]:
        """Read the spans of the work of this number with their sums, in order."""
        with self.reading():
            found = {name.split("/")[1] for name in self._names if name.startswith(f"{number}/")}
            spans = sorted(Span(*map(int, name.split("-"))) for name in found)
        for span in spans:
            with self.reading():
                if not 0 <= span.first < span.last <= len(work.items):
                    raise InvalidValueError
                sums = work.unpack(span, self.below(f"{number}/{span.first}-{span.last}/"))
            yield span, sums

    def below(self, prefix: str) -> Reads:
        """Return the reads of the arrays whose names begin alike."""
        return _Below(self, prefix)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Name the file in an error of its contents."""
        try:
            yield
        except (FileError, MemoryError, PartError, CheckpointError):
            raise
        except Exception as error:  # a damaged archive may raise any error, EINVAL where it points to before the file
            if not isinstance(error, OSError) or error.errno == errno.EINVAL:
                raise self._damaged(self.path) from error
            if error.filename is not None:
                raise
            raise FileError(f"{self.path} cannot be read: {error.strerror}") from error


class _Below(Reads):
    """Reads of the arrays of a file whose names begin alike."""

    def __init__(self, file: PartialFile, prefix: str) -> None:
        self._file, self._prefix = file, prefix

    def __call__(self, name: str, shape: tuple[int | None, ...], dtype: Any = float) -> NDArray[Any]:
        return self._file.array(self._prefix + name, shape, dtype)

    def has(self, name: str) -> bool:
        return self._file.has(self._prefix + name)


def _damaged_part(path: Path) -> Exception:
    return PartError(f"{path} is damaged, or no part of a run of this version of lagbc")


def _digest_array(array: NDArray[Any]) -> str:
    digest = _digest(f"{array.dtype.str} {array.shape}".encode())
    digest.update(array.data)
    return digest.hexdigest()
