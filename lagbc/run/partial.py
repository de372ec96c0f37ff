"""Files of sums over some of the items of a call's works, the checkpoint of a call among them.

A file is a zip archive of arrays, each checked before it is read. The head tells the call: digests of the graph, of the
roots and of all else that fixes the sums, and the label and the order of each work. The file ends with a digest of each
array, so that no damaged one is ever read. A part of a call holds sums of spans of its items, written one after the
other (`lagbc.run.shares`).

A checkpoint holds the total of the first items of each work, and replaces its predecessor. It belongs to a call: to its
graph, its roots and the rest of its request. A work goes on from its total where label and order are those of the work
that made the total; a piece that could not be summed from its junctions begins anew.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.format import read_array, read_array_header_1_0, read_magic, write_array
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.errors import CheckpointError, FileError, InvalidValueError, PartError, warn
from lagbc.files import remove_unfinished, write_whole
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.methods.sums import OF_ROOTS
from lagbc.request import Request
from lagbc.run.work import NONE_DONE, Found, Items, PieceWork, Reads, Span, Total

_KIND = "lagbc partial sums "
_FORMAT = f"{_KIND}3"
# The array that has the digests of all others.
_DIGESTS = "digests"
# Most bytes of the head of a file, and of the name and digest of an array.
_MOST_OF_HEAD, _MOST_OF_DIGEST = 2**20, 2**9
MEND = "name another file, or delete it"
# The owner of the sums of a checkpoint where a digest differs.
_OWNERS = {
    "graph": "another graph or direction",
    "options": "other options (scores, dtype, endpoints, rtol, cutoff, decay, weights of pairs, or k for sources)",
    "roots": "other roots",
    "order": "another version's order of the roots, or to options by which the graph is reduced otherwise",
}
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


class Checkpoint:
    """The totals of a call, and the file that follows them; it is read before the call is planned."""

    def __init__(self, path: Path) -> None:
        self.path = _followed(path)
        self.labels: list[str] = []  # of the works in the file
        self.roots: NDArray[np.int64] | None = None  # of the file, and then of the call
        self._before: Mapping[str, str] = {}  # the digests in the file
        self._digests: Mapping[str, str] = {}  # of the call
        self._works: Sequence[PieceWork] = ()
        self._orders: list[str] = []
        self._totals: list[Total] = []  # each is replaced as one object, so that no interrupt splits it
        self._saved, self._held = time.perf_counter(), -1
        if self.path.exists():
            with self._open() as file, file.reading():
                self.labels, self.roots = list(map(str, file.head["labels"])), file.array("roots", (None,), np.int64)
                self._before = file.head["digests"] | {"roots": digest_roots(self.roots)}

    def _open(self) -> PartialFile:
        try:
            return PartialFile(self.path, _damaged_checkpoint)
        except FileError as error:
            raise FileError(f"checkpoint {self.path} cannot be used: {error}") from error

    def sample(self, count: int, n: int) -> NDArray[np.int64] | None:
        """Return the roots of the file if they are `count` distinct vertices of n: as good as another sample."""
        roots = self.roots
        if roots is None or len(roots) != count or not ((roots >= 0) & (roots < n)).all():
            return None
        return roots if len(np.unique(roots)) == count else None

    def belong(self, digests: Mapping[str, str], roots: NDArray[np.int64]) -> None:
        """Set the call of the file; CheckpointError if the file is of another one."""
        self._digests = digests
        for name, digest in digests.items() if self._before else ():
            if self._before.get(name) != digest:
                raise self._of_other(name)
        self.roots = roots

    def _of_other(self, name: str) -> CheckpointError:
        return CheckpointError(f"checkpoint {self.path} belongs to {_OWNERS[name]}; {MEND}")

    def _of_other_works(self, works: Sequence[PieceWork]) -> CheckpointError:
        before, now = (_in_words(labels) for labels in (self.labels, [work.label for work in works]))
        return CheckpointError(
            f"checkpoint {self.path} belongs to a run of {before}, and this is one of {now}; pass method, device, "
            f"reduce and memory as they were, or {MEND}"
        )

    def begin(self, works: Sequence[PieceWork], totals: list[Total]) -> list[Total]:
        """Take the works of the call; return the given totals, with those in the file in place of none.

        The file is written at once: FileError says that it cannot be, before anything is summed.
        """
        is_first, orders = not self._works, list(map(digest_order, works))
        if self._before:
            totals = self._read(works, orders, totals, anew=not is_first)
        self._works, self._orders, self._totals, self._held = list(works), orders, list(totals), -1
        if self._before and self._done == sum(len(work.items) for work in works):
            self._held = self._done
            return totals
        if not is_first:
            self.save()
            return totals
        remove_unfinished(self.path)
        try:
            self._write()
        except FileError as error:
            raise FileError(f"checkpoint {self.path} cannot be used: {error}") from error
        return totals

    def require(self, works: Sequence[PieceWork]) -> None:
        """Refuse works that are not those of the file, if there is one; as `begin` does, without writing."""
        if self._before:
            self._read(works, list(map(digest_order, works)), [NONE_DONE] * len(works))

    def _read(
        self, works: Sequence[PieceWork], orders: list[str], totals: Sequence[Total], *, anew: bool = False
    ) -> list[Total]:
        """Take totals of the file in place of none; `anew`, one piece may be planned anew in place of its chains."""
        found = list(totals)
        with self._open() as file, file.reading():
            before_orders, counts = file.head["orders"], file.array("done", (len(self.labels),), np.int64).tolist()
            if len(self.labels) != len(works):
                raise self._of_other_works(works)
            for number, work in enumerate(works):
                before, done = self.labels[number], counts[number]
                if before != work.label:
                    if not (anew and before.startswith("chains ")):
                        raise self._of_other_works(works)
                    continue
                if done and before_orders[number] != orders[number]:
                    raise self._of_other("order")
                if not 0 <= done <= len(work.items):
                    raise InvalidValueError
                if not found[number].done:
                    found[number] = work.unpack_total(done, file.below(f"{number}/"))
        return found

    def keep(self, number: int, total: Total) -> None:
        """Take the total of a work; the file follows every few seconds."""
        self._totals[number] = total
        if time.perf_counter() - self._saved > tuning.CHECKPOINT_SECONDS:
            self.save()

    def save(self) -> None:
        """Write the file, unless it holds as much; a failure is a RuntimeWarning, since the sums are not lost."""
        if not self._works or self._done == self._held:
            return
        try:
            self._write()
        except FileError as error:
            warn(f"checkpoint {error}", RuntimeWarning)
        self._saved = time.perf_counter()

    @property
    def _done(self) -> int:
        return sum(total.done for total in self._totals)

    def _write(self) -> None:
        totals, works = list(self._totals), self._works
        labels = [work.label for work in works]
        head = {"share": [1, 1], "digests": dict(self._digests), "labels": labels, "orders": self._orders}
        assert self.roots is not None
        with open_writer(self.path, head) as file:
            file.add("roots", self.roots)
            file.add("done", np.array([total.done for total in totals], np.int64))
            for number, (work, total) in enumerate(zip(works, totals, strict=True)):
                for name, array in work.pack_total(total).items():
                    file.add(f"{number}/{name}", array)
        self.labels, self._before = labels, self._digests
        self._held, self._saved = sum(total.done for total in totals), time.perf_counter()


def _in_words(labels: Sequence[str]) -> str:
    """Name the methods of up to three works, as "batched on cpu (chains)", and count the rest."""
    named = [f"{method} on {device} ({work})" for work, method, device in (label.split(" ") for label in labels[:3])]
    rest = [f"{len(labels) - 3} more pieces"] if len(labels) > 3 else []
    return ", ".join(named + rest)


def _damaged_checkpoint(path: Path) -> Exception:
    return CheckpointError(f"{path} is not a lagbc checkpoint of this version; name another file")


def _followed(path: Path) -> Path:
    """Return the file to write, behind symlinks."""
    followed = Path(os.path.realpath(path)) if path.is_symlink() else path
    if not followed.parent.is_dir():
        raise CheckpointError(f"checkpoint {path} cannot be written: there is no folder {followed.parent}")
    if followed.exists() and not followed.is_file():
        raise CheckpointError(f"checkpoint {path} is a folder, a pipe or a device; name a file")
    return followed
