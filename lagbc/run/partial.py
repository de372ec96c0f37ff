"""Files of sums: the checkpoint of a call, and the parts of a run (`lagbc.run.shares`).

A file is a zip archive of arrays. Its head names the call by digests of the graph, the roots and everything else that
fixes the sums, and each work by its label and the order of its items. The last array has a digest of every other one,
so that a damaged array is never used.

A part has the sums of spans of items, one after the other. A checkpoint has the total of the first items of each work,
and once all are summed the standard errors of the scores, if they are asked for.
A work goes on from its total if label and order are the same; a piece that was swept whole, as its chains could not be
summed, begins anew.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter
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
from lagbc.run.work import NONE_DONE, Found, PieceWork, Span, Total

_LABEL, _DONE = attrgetter("sweep.label"), attrgetter("done")
_KIND = "lagbc partial sums "
_FORMAT = f"{_KIND}3"
_DIGESTS = "digests"  # name of the last array
_ERRORS = "errors/"  # prefix of the names of standard errors
# Limits in bytes: the head of a file; the name and digest of one array.
_MOST_OF_HEAD, _MOST_OF_DIGEST = 2**20, 2**9
MEND = "name another file, or delete it"
# The owner of a checkpoint, by the digest that differs from the call's.
_OWNERS = {
    "graph": "another graph, direction or lengths",
    "options": "other options (scores, dtype, endpoints, rtol, cutoff, decay, weights of pairs, or k for sources)",
    "roots": "other roots",
    "order": "another version's order of the roots, or to options by which the graph is reduced otherwise",
}


def _digest(*parts: Any) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def digests_of(graph: Graph, request: Request, dtype: str, label: str = "") -> dict[str, str]:
    """Digest the graph, the roots, and the rest of a request: together with the works they fix the sums of a call."""
    flags = request.endpoints, request.weighs_pairs, request.is_sample, request.rtol, dtype, label
    bounds, demand = request.bounds, request.demand
    arrays: list[Any] = [request.omega, request.root_weights]
    arrays += [None, None] if bounds is None else [bounds.cutoffs, bounds.decays]
    places = () if demand is None else (demand.indptr.astype(np.int64), demand.indices.astype(np.int64))
    arrays += [None, None] if demand is None else [*places, demand.data]
    arrays += [] if request.xy is None else [request.xy]
    options = [b"none" if array is None else f"{array.shape}".encode() + array.tobytes() for array in arrays]
    csr = graph.indptr, graph.indices, graph.weights
    of_graph = [np.ascontiguousarray(as_numpy(array)).data for array in csr if array is not None]
    return {
        "graph": _digest(f"{graph.n} {graph.nnz} {graph.directed}".encode(), *of_graph),
        "options": _digest(f"{sorted(request.sums)} {flags}".encode(), *options),
        "roots": _digest(np.sort(request.roots).data),
    }


def digest_of_order(work: PieceWork) -> str:
    """Digest the order in which a work adds: its items, the items of a chunk, and the vertices in sweep order.

    Sums of edges are in the sweep order, which may differ between versions and machines.
    """
    order = [] if work.sweep.work == "small" else [np.ascontiguousarray(work.graph.order).data]
    return _digest(work.order.tobytes(), f"{work.grain}".encode(), *order)


def _digest_of_array(array: NDArray[Any]) -> str:
    return _digest(f"{array.dtype.str} {array.shape}".encode(), array.data)


class Writer(NamedTuple):
    """A file that is being written, array by array."""

    archive: zipfile.ZipFile
    digests: dict[str, str]  # by name of the array

    def add(self, name: str, array: NDArray[Any], *, compressed: bool = False) -> None:
        member, array = zipfile.ZipInfo(f"{name}.npy"), np.asarray(array, order="C")
        member.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
        with self.archive.open(member, "w", force_zip64=True) as file:
            write_array(file, array, version=(1, 0), allow_pickle=False)
        self.digests[name] = _digest_of_array(array)

    def add_json(self, name: str, value: Any) -> None:
        self.add(name, np.frombuffer(json.dumps(value).encode(), np.uint8), compressed=True)

    def add_sums(self, number: int, work: PieceWork, span: Span, sums: Any) -> None:
        """Write the sums of a span as arrays `NUMBER/FIRST-LAST/NAME`; `number` is that of the work in its call.

        Sums with an entry for each root are compressed: over all vertices they are 0 except at the roots of the span.
        """
        for name, array in work.pack(span, sums).items():
            at = f"{number}/{span.first}-{span.last}/{name}"
            self.add(at, array, compressed=name.rpartition("/")[2] in OF_ROOTS)


@contextmanager
def open_writer(path: Path, head: Mapping[str, Any]) -> Iterator[Writer]:
    """Write a file, which appears once it is whole."""
    with write_whole(path) as file, zipfile.ZipFile(file, "w") as archive:
        writer = Writer(archive, {})
        writer.add_json("head", {"format": _FORMAT, **head})
        yield writer
        writer.add_json(_DIGESTS, writer.digests)


class PartialFile:
    """A file of sums that is read; a context manager. A damaged or foreign file is a PartError or CheckpointError."""

    def __init__(self, path: Path, *, is_checkpoint: bool = False) -> None:
        self.path, self._is_checkpoint = path, is_checkpoint
        self._digests: dict[str, str] | None = None
        with self.reading():
            self._archive = zipfile.ZipFile(path)
            try:
                self.names = {name.removesuffix(".npy") for name in self._archive.namelist()}
                digests = self.json(_DIGESTS, _MOST_OF_DIGEST * len(self.names))
                if {*digests, _DIGESTS} != self.names:
                    raise InvalidValueError
                self._digests = digests
                self.head = self.json("head", _MOST_OF_HEAD)
                if not (kind := str(self.head["format"])).startswith(_KIND):
                    raise InvalidValueError
                if kind != _FORMAT:
                    raise self._error(
                        "was written by another version of lagbc, and its sums are of another form; go on with that "
                        f"version, or {MEND}"
                    )
            except BaseException:
                self._archive.close()
                raise

    def __enter__(self) -> PartialFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._archive.close()

    def json(self, name: str, most: int | None = None) -> Any:
        """Read a value of JSON, of at most `most` bytes."""
        return json.loads(self.array(name, (None,), np.uint8, most).tobytes())

    def array(
        self, name: str, shape: tuple[int | None, ...] = (None,), dtype: Any = float, most: int | None = None
    ) -> NDArray[Any]:
        """Read an array of this dtype and shape; None is any length that fits into `most` bytes."""
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
            if self._digests is not None and self._digests[name] != _digest_of_array(array):
                raise InvalidValueError
        return array

    def sums(self, number: int, work: PieceWork) -> Iterator[Found]:
        """Read the spans of a work with their sums, in order; `number` is that of the work."""
        with self.reading():
            found = {name.split("/")[1] for name in self.names if name.startswith(f"{number}/")}
            spans = sorted(Span(*map(int, name.split("-"))) for name in found)
        for span in spans:
            with self.reading():
                if not 0 <= span.first < span.last <= len(work.items):
                    raise InvalidValueError
                sums = work.unpack(span, _Below(self, f"{number}/{span.first}-{span.last}/"))
            yield span, sums

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn any error of a block that reads into one that names the file."""
        try:
            yield
        except (FileError, MemoryError, PartError, CheckpointError):
            raise
        except Exception as error:  # a damaged archive may raise any error, EINVAL where it points to before the file
            if not isinstance(error, OSError) or error.errno == errno.EINVAL:
                told = "is not a lagbc checkpoint of this version; name another file"
                of_part = "is damaged, or no part of a run of this version of lagbc"
                raise self._error(told if self._is_checkpoint else of_part) from error
            if error.filename is not None:
                raise
            raise FileError(f"{self.path} cannot be read: {error.strerror}") from error

    def _error(self, told: str) -> Exception:
        return (CheckpointError if self._is_checkpoint else PartError)(f"{self.path} {told}")


class _Below(NamedTuple):
    """A reader of the arrays of a file whose names begin with a prefix."""

    file: PartialFile
    prefix: str

    def __call__(self, name: str, shape: tuple[int | None, ...], dtype: Any = float) -> NDArray[Any]:
        return self.file.array(self.prefix + name, shape, dtype)

    def has(self, name: str) -> bool:
        return self.prefix + name in self.file.names


class Checkpoint:
    """The totals of a call, and a file that is written from them every few seconds.

    An existing file is read at once, as the call is planned by its labels and roots. `belong` compares its call with
    this one, `begin` its works.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.realpath(path)) if path.is_symlink() else path
        if not self.path.parent.is_dir():
            raise CheckpointError(f"checkpoint {path} cannot be written: there is no folder {self.path.parent}")
        if self.path.exists() and not self.path.is_file():
            raise CheckpointError(f"checkpoint {path} is a folder, a pipe or a device; name a file")
        self.labels: list[str] = []  # of the works in the file
        self.roots: NDArray[np.int64] | None = None  # in the file, and later of the call
        self._before: Mapping[str, str] = {}  # digests in the file
        self._digests: Mapping[str, str] = {}  # digests of the call
        self._works: Sequence[PieceWork] = ()
        self._orders: list[str] = []
        self._totals: list[Total] = []  # each is replaced as one object, so that no interrupt splits it
        self._errors_in_file: object = None  # the label of the errors that the file has
        self._errors: tuple[str, Mapping[str, NDArray[np.float64]]] = "", {}  # of the call, with their label
        self._saved, self._is_new = time.perf_counter(), False  # when the file was written; if there are newer totals
        if self.path.exists():
            with self._open() as file, file.reading():
                self.labels, self.roots = list(map(str, file.head["labels"])), file.array("roots", (None,), np.int64)
                self._before = file.head["digests"] | {"roots": _digest(np.sort(self.roots).data)}
                self._errors_in_file = file.head.get("errors")

    def _open(self) -> PartialFile:
        try:
            return PartialFile(self.path, is_checkpoint=True)
        except FileError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: FileError) -> FileError:
        return FileError(f"checkpoint {self.path} cannot be used: {error}")

    def sample(self, count: int, n: int) -> NDArray[np.int64] | None:
        """Return the roots in the file if they are `count` distinct vertices of n: as good as a new sample."""
        roots = self.roots
        if roots is None or len(roots) != count or not ((roots >= 0) & (roots < n)).all():
            return None
        return roots if len(np.unique(roots)) == count else None

    def belong(self, digests: Mapping[str, str], roots: NDArray[np.int64]) -> None:
        """Take the digests and roots of the call; CheckpointError if the file is of another call."""
        self._digests = digests
        for name, digest in digests.items() if self._before else ():
            if self._before.get(name) != digest:
                raise self._of_other(name)
        self.roots = roots

    def _of_other(self, name: str) -> CheckpointError:
        return CheckpointError(f"checkpoint {self.path} belongs to {_OWNERS[name]}; {MEND}")

    def _of_other_works(self, works: Sequence[PieceWork]) -> CheckpointError:
        before, now = (_in_words(labels) for labels in (self.labels, [work.sweep.label for work in works]))
        return CheckpointError(
            f"checkpoint {self.path} belongs to a run of {before}, and this is one of {now}; pass method, device, "
            f"reduce and memory as they were, or {MEND}"
        )

    def begin(self, works: Sequence[PieceWork], totals: list[Total]) -> list[Total]:
        """Take the works of the call; return the totals, with totals of the file where there are none.

        The first time the file is written at once: FileError says that it cannot be, before anything is summed.
        """
        is_first, orders = not self._works, list(map(digest_of_order, works))
        if self._before:
            totals = self._read(works, orders, totals, anew=not is_first)
        self._works, self._orders, self._totals, self._is_new = list(works), orders, list(totals), True
        if self._before and all(total.done == len(work.items) for work, total in zip(works, totals, strict=True)):
            self._is_new = False
        elif not is_first:
            self.save()
        else:
            remove_unfinished(self.path)
            try:
                self._write()
            except FileError as error:
                raise self._unusable(error) from error
        return totals

    def require(self, works: Sequence[PieceWork]) -> None:
        """Raise CheckpointError, as `begin` does, if the file is of other works; nothing is written."""
        if self._before:
            self._read(works, list(map(digest_of_order, works)), [NONE_DONE] * len(works))

    def _read(
        self, works: Sequence[PieceWork], orders: list[str], totals: Sequence[Total], *, anew: bool = False
    ) -> list[Total]:
        """Return the totals, with totals of the file where there are none.

        If the works are planned `anew`, one may be whole where the file has chains; it begins from nothing.
        """
        found = list(totals)
        with self._open() as file, file.reading():
            before_orders, counts = file.head["orders"], file.array("done", (len(self.labels),), np.int64).tolist()
            if len(self.labels) != len(works):
                raise self._of_other_works(works)
            for number, work in enumerate(works):
                before, done = self.labels[number], counts[number]
                if before != work.sweep.label:
                    if not (anew and before.startswith("chains ")):
                        raise self._of_other_works(works)
                    continue
                if done and before_orders[number] != orders[number]:
                    raise self._of_other("order")
                if not 0 <= done <= len(work.items):
                    raise InvalidValueError
                if not found[number].done:
                    found[number] = work.unpack_total(done, _Below(file, f"{number}/"))
        return found

    def keep(self, number: int, total: Total) -> None:
        """Take a new total of a work; write the file if the last time was long ago."""
        self._is_new = True  # first, as an interrupt may come between
        self._totals[number] = total
        if time.perf_counter() - self._saved > tuning.CHECKPOINT_SECONDS:
            self.save()

    def errors(self, label: str, names: Sequence[str]) -> dict[str, NDArray[np.float64]] | None:
        """Return the standard errors of the file by the names of their scores; None if it has none by this label."""
        if self._errors_in_file != label:
            return None
        with self._open() as file:
            return {name: file.array(f"{_ERRORS}{name}", (None, None)) for name in names}

    def keep_errors(self, label: str, errors: Mapping[str, NDArray[np.float64]]) -> None:
        """Write standard errors, by the names of their scores; `label` tells all that fixes them but for the sums."""
        self._errors, self._is_new = (label, errors), True
        self.save()

    def save(self) -> None:
        """Write the file if there are new sums; a failure is a RuntimeWarning, as the sums are not lost."""
        if not self._is_new:
            return
        try:
            self._write()
        except FileError as error:
            warn(f"checkpoint {error}", RuntimeWarning)
        self._saved = time.perf_counter()

    def end(self, kind: object, error: BaseException | None, _: object) -> None:
        """Save the sums at the end of a run; Ctrl-C is given a note of the file."""
        self.save()
        if isinstance(error, KeyboardInterrupt) and not self._is_new:
            error.add_note(f"{self.path} holds what is summed so far; the same call goes on from it")

    def _write(self) -> None:
        totals, works = list(self._totals), self._works
        labels = list(map(_LABEL, works))
        label, errors = self._errors
        head = {"digests": dict(self._digests), "labels": labels, "orders": self._orders, "errors": label}
        assert self.roots is not None
        with open_writer(self.path, head) as file:
            file.add("roots", self.roots)
            file.add("done", np.array(list(map(_DONE, totals)), np.int64))
            for number, (work, total) in enumerate(zip(works, totals, strict=True)):
                for name, array in work.pack_total(total).items():
                    file.add(f"{number}/{name}", array)
            for name, errors_of_scores in errors.items():
                file.add(f"{_ERRORS}{name}", errors_of_scores)
        self.labels, self._before, self._errors_in_file = labels, self._digests, label
        self._is_new = False


def _in_words(labels: Sequence[str]) -> str:
    """Name the methods of up to three works, as "batched on cpu (chains)", and count the rest."""
    named = [f"{method} on {device} ({work})" for work, method, device in (label.split(" ") for label in labels[:3])]
    rest = [f"{len(labels) - 3} more pieces"] if len(labels) > 3 else []
    return ", ".join(named + rest) or "no sweep"
