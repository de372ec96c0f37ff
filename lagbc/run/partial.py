"""The file of sums over some of the items of a run's works: a zip archive of arrays, each checked before it is read.

A checkpoint holds the total of the first items of each work, and replaces its predecessor. A share of a run holds
pieces of its items, written one after the other. Digests in the head tell the run of the sums; the file ends with a
digest of each array, so that no damaged one is ever read.
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
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.format import read_array, read_array_header_1_0, read_magic, write_array
from numpy.typing import NDArray

from lagbc.errors import CheckpointError, FileError, InvalidValueError, PartError, warn
from lagbc.files import remove_unfinished, write_whole
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.methods import tuning
from lagbc.methods.sums import OF_ROOTS
from lagbc.plan.plan import Plan
from lagbc.plan.step import Resumed, ResumedStep, Step
from lagbc.run.work import Items, Piece, Reads, Span, StepWork, Total

_FORMAT = "lagbc partial sums 2"
# The array that has the digests of all others.
_DIGESTS = "digests"
# Most bytes of the head of a file, and of the name and digest of an array.
_MOST_OF_HEAD, _MOST_OF_DIGEST = 2**20, 2**9
# The owner of the sums of a checkpoint where a digest differs, and the mend.
_OWNERS = {
    "pieces": "another graph or direction, or to another version's order of it, or to options by which it is reduced "
    "otherwise",
    "options": "other options (method, reduce, scores, dtype, endpoints, rtol, cutoff, decay, weights of pairs, or "
    "k for sources)",
    "roots": "other roots",
}
_MEND = "name another file, or delete it"
_DONE = attrgetter("done")
_digest = partial(hashlib.blake2b, digest_size=16)


def digests_of(plan: Plan) -> dict[str, str]:
    """Digest all that fixes the sums of a run, but for the order of its items."""
    return {
        "options": digest_options(plan.steps, plan.request.is_sample),
        "roots": _digest(np.sort(plan.request.roots).tobytes()).hexdigest(),
        "methods": ";".join(map(attrgetter("label"), plan.steps)),
        "pieces": _digest_pieces(plan.steps),
    }


def digest_order(work: StepWork) -> str:
    """Digest the order in which items are summed, and the items of a chunk."""
    return _digest(work.in_order.tobytes() + str(work.chunk).encode()).hexdigest()


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

    def add_piece(self, number: int, work: StepWork, piece: Piece) -> None:
        """Write a piece of the work of this number."""
        for name, array in work.pack(piece).items():
            at = f"{number}/{piece.span.first}-{piece.span.last}/{name}"
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
                if self.head["format"] != _FORMAT:
                    raise InvalidValueError
            except BaseException:
                self._archive.close()
                raise

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

    def pieces(self, number: int, work: StepWork) -> Iterator[Piece]:
        """Read the pieces of the work of this number, in order."""
        with self.reading():
            found = {name.split("/")[1] for name in self._names if name.startswith(f"{number}/")}
            spans = sorted(Span(*map(int, name.split("-"))) for name in found)
        for span in spans:
            with self.reading():
                if not 0 <= span.first < span.last <= len(work.items):
                    raise InvalidValueError
                piece = work.unpack(span, _Below(self, f"{number}/{span.first}-{span.last}/"))
            yield piece

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


def _damaged_checkpoint(path: Path) -> Exception:
    return CheckpointError(f"{path} is not a lagbc checkpoint of this version; name another file")


class Checkpoint:
    """The totals of the works of a plan, each of its first items, kept up to date in a file."""

    def __init__(self, path: Path, plan: Plan, works: Sequence[StepWork]) -> None:
        self.path, self._works, self._roots = path, list(works), plan.request.roots
        self.totals = [Total(0)] * len(works)  # each is replaced as one object, so that no interrupt splits it
        self._digests, self._orders = digests_of(plan), list(map(digest_order, works))
        self._saved, self._held = time.perf_counter(), -1

    @classmethod
    def open(cls, path: Path, plan: Plan, works: Sequence[StepWork]) -> Checkpoint:
        """Read a checkpoint, or start one, and write it before the run; FileError if that fails."""
        opened = cls(_followed(path), plan, works)
        try:
            if opened.path.exists():
                opened._read()
            if opened._held < 0 or opened.done < sum(len(work.items) for work in works):
                remove_unfinished(opened.path)
                opened._write()
        except FileError as error:
            raise FileError(f"checkpoint {path} cannot be used: {error}") from error
        return opened

    @property
    def done(self) -> int:
        """The items summed so far, of all works."""
        return sum(map(_DONE, self.totals))

    def keep(self, number: int, total: Total) -> None:
        """Take the total of a work; the file follows every few seconds."""
        self.totals[number] = total
        if time.perf_counter() - self._saved > tuning.CHECKPOINT_SECONDS:
            self.save()

    def save(self) -> None:
        """Write the file, unless it holds as much; a failure is a RuntimeWarning, since the sums are not lost."""
        if self.done == self._held:
            return
        try:
            self._write()
        except FileError as error:
            warn(f"checkpoint {error}", RuntimeWarning)
        self._saved = time.perf_counter()

    def drop(self, number: int, plan: Plan, work: StepWork) -> None:
        """Replace one work, whose sum begins anew; the sums of the others stay."""
        self.totals[number], self._works[number], self._orders[number] = Total(0), work, digest_order(work)
        self._digests, self._held = digests_of(plan), -1
        self.save()

    def _write(self) -> None:
        head = {"share": [1, 1], "digests": self._digests, "orders": self._orders}
        done = self.done
        with open_writer(self.path, head) as file:
            file.add("roots", self._roots)
            file.add("done", np.array(list(map(_DONE, self.totals)), np.int64))
            for number, (work, total) in enumerate(zip(self._works, self.totals, strict=True)):
                for name, array in work.pack_total(total).items():
                    file.add(f"{number}/{name}", array)
        self._held = done

    def _read(self) -> None:
        with PartialFile(self.path, _damaged_checkpoint) as file, file.reading():
            digests, orders = file.head["digests"], file.head["orders"]
            for name, owner in _OWNERS.items():
                is_other = name == "roots" and not _are_same(file.array("roots", (None,), np.int64), self._roots)
                if digests[name] != self._digests[name] or is_other:
                    raise CheckpointError(f"checkpoint {self.path} belongs to {owner}; {_MEND}")
            counts = file.array("done", (len(self._works),), np.int64).tolist()
            totals = list[Total]()
            for number, (work, done) in enumerate(zip(self._works, counts, strict=True)):
                if not 0 <= done <= len(work.items):
                    raise InvalidValueError
                if done and orders[number] != self._orders[number]:
                    owner = "another version's order of the roots"
                    raise CheckpointError(f"checkpoint {self.path} belongs to {owner}; {_MEND}")
                totals.append(work.unpack_total(done, _Below(file, f"{number}/")))
        self.totals = totals
        self._held = self.done


def resumed_from(path: Path) -> Resumed:
    """Return the methods and roots in a checkpoint; none of an unreadable file, which `Checkpoint.open` refuses."""
    if not path.is_file():  # opening a pipe would wait for a writer
        return Resumed()
    try:
        with PartialFile(path, _damaged_checkpoint) as file:
            return Resumed(steps_in(file), file.array("roots", (None,), np.int64))
    except Exception:
        return Resumed()


def steps_in(file: PartialFile) -> tuple[ResumedStep, ...]:
    """Return the methods of the steps of a file's plan."""
    with file.reading():
        labels: str = file.head["digests"]["methods"]
        return tuple(map(ResumedStep.of, labels.split(";"))) if labels else ()


def _followed(path: Path) -> Path:
    """Return the file to write, behind symlinks."""
    followed = Path(os.path.realpath(path)) if path.is_symlink() else path
    if not followed.parent.is_dir():
        raise CheckpointError(f"checkpoint {path} cannot be written: there is no folder {followed.parent}")
    if followed.exists() and not followed.is_file():
        raise CheckpointError(f"checkpoint {path} is a folder, a pipe or a device; name a file")
    return followed


def _are_same(roots: Items, others: Items) -> bool:
    return np.array_equal(np.sort(roots), np.sort(others))


def _digest_array(array: NDArray[Any]) -> str:
    digest = _digest(f"{array.dtype.str} {array.shape}".encode())
    digest.update(array.data)
    return digest.hexdigest()


def digest_graph(graph: Graph) -> str:
    """Digest a graph."""
    digest = _digest()
    _add_graph(digest, graph)
    return digest.hexdigest()


def _digest_pieces(steps: Sequence[Step]) -> str:
    """Digest the swept graphs, and the graphs whose chains are their edges."""
    digest = _digest()
    for step in steps:
        _add_graph(digest, step.graph)
        # Sums over edges are in the sweep order, which another version or machine may choose otherwise.
        digest.update(np.ascontiguousarray(step.graph.order).data)
        if step.contracted is not None:
            _add_graph(digest, step.contracted.piece.graph)
    return digest.hexdigest()


def _add_graph(digest: hashlib.blake2b, graph: Graph) -> None:
    digest.update(f"{graph.n} {graph.nnz} {graph.directed}".encode())
    for array in (graph.indptr, graph.indices, graph.weights):
        if array is not None:
            digest.update(np.ascontiguousarray(as_numpy(array)).data)


def digest_options(steps: Sequence[Step], sampled: bool) -> str:
    """Digest all settings that change raw sums."""
    digest = _digest()
    for step in steps:
        method, plan = step.method, step.sweep
        digest.update(
            f"{method.name} {method.device} {method.weighted} {plan.dtype} {plan.endpoints} {plan.exponent} "
            f"{plan.rtol} {sampled} {sorted(plan.sums)}{' linear' * plan.linear}"
            f"{'' if step.drawn is None else step.drawn.label}".encode()
        )
        for weights in (plan.omega, plan.root_weights):
            digest.update(b"none" if weights is None else weights.tobytes())
        if plan.class_sizes is not None:
            digest.update(b"members" + plan.class_sizes.tobytes())
        if step.contracted is not None:
            piece = step.contracted.piece
            for weights in (piece.sources, piece.targets, piece.class_sizes):
                digest.update(b"none" if weights is None else weights.tobytes())
        if plan.bounds is not None:
            for numbers in (plan.bounds.cutoffs, plan.bounds.decays):
                digest.update(b"bounds" + numbers.tobytes())
        if plan.demand is not None:
            for numbers in (plan.demand.indptr, plan.demand.indices):
                digest.update(numbers.astype(np.int64).tobytes())
            digest.update(plan.demand.data.tobytes())
    return digest.hexdigest()
