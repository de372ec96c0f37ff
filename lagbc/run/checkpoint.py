"""A file that lets a killed run go on where it was, to the same bits."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.format import read_array, read_array_header_1_0, read_magic
from numpy.typing import NDArray

from lagbc.errors import CheckpointError, FileError, InvalidValueError, warn
from lagbc.files import remove_unfinished, written
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.methods.sums import Sums
from lagbc.plan.options import Options, value_of
from lagbc.plan.step import Begun, Resumed, Step
from lagbc.run.workers import Summed

if TYPE_CHECKING:
    import hashlib
    import zipfile

_FORMAT = "lagbc checkpoint 7"
# Before the names of the sums in the file: of whole chunks, and of the chunk in work.
_SUM, _CHUNK = "sum_", "chunk_"
_DIGEST_BYTES = 16
# Bytes of the names of the methods in the file.
_MOST_OF_NAMES = 2**20
# What a file belongs to where one of its arrays differs.
_OWNERS = {
    "graph": "another graph or direction, or to another version's order of it, or to options by which it is reduced "
    "otherwise",
    "options": "other options (method, reduce, scores, dtype, endpoints, rtol, cutoff, decay, weights of pairs, or "
    "k for sources)",
}


@dataclass(eq=False)
class Progressed:
    """What a checkpoint holds of one part of a plan; the loop over the part's roots keeps it up to date.

    Attributes
    ----------
    file : Checkpoint
        Of all parts.
    state : Summed
        Raw sums over a prefix of the roots in sweep order, on the host. One attribute, so that an interrupt between two
        assignments cannot part what belongs together.
    order_digest : str
        Of the order in which the roots are summed, and of the length of chunks; empty before `require_order`.
    """

    file: Checkpoint
    state: Summed
    order_digest: str = ""

    def require_order(self, ordered: NDArray[np.int64], length: int) -> None:
        """Note in which order roots are summed, and how many make a chunk: what is done is a prefix of them.

        Raises
        ------
        CheckpointError
            Those that are done were summed in another order, as by another version.
        """
        digest = digest_order(ordered, length)
        if self.state.done and self.order_digest != digest:
            raise CheckpointError(
                f"checkpoint {self.file.path} belongs to another version's order of the roots; name another file, or "
                "delete it"
            )
        self.order_digest = digest

    def save(self) -> None:
        """Write the file, as `Checkpoint.save` does."""
        self.file.save()


@dataclass(eq=False)
class Checkpoint:
    """What is summed of a run, and what it belongs to.

    Attributes
    ----------
    path : Path
    methods : str
        Name and device of the method of each part.
    graph_digest, options_digest : str
        Of the patterns, and of all options that change the raw sums.
    roots : ndarray of int64
        All roots of the call, as they were drawn or given.
    parts : list of Progressed
        They are summed one after the other.
    """

    path: Path
    methods: str
    graph_digest: str
    options_digest: str
    roots: NDArray[np.int64]
    parts: list[Progressed] = field(default_factory=list)
    _written: int | None = None

    @property
    def done(self) -> int:
        """Roots that are summed, of all parts."""
        return sum(part.state.done for part in self.parts)

    def save(self) -> None:
        """Write the file, unless it holds as much; a RuntimeWarning where that fails, since the sums are not lost."""
        if self.done == self._written:
            return
        try:
            self.write()
        except FileError as error:
            warn(f"checkpoint {error}", RuntimeWarning)

    def write(self) -> None:
        """Write the file in one step: a reader sees the old one or the new one, whenever the process dies."""
        done = self.done
        with written(self.path) as file:
            np.savez(file, **self.arrays())  # type: ignore[arg-type]
        self._written = done

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays of the file, by their names; the sums of the parts are one behind the other."""
        names = [name for name, _ in self.parts[0].state.total]
        order = "".join(f"{part.order_digest:{2 * _DIGEST_BYTES}}" for part in self.parts)
        return {
            "format": np.array(_FORMAT),
            "method": np.array(self.methods),
            "graph": np.array(self.graph_digest),
            "options": np.array(self.options_digest),
            "roots": self.roots,
            "order": np.array(order, f"U{len(order)}"),
            "done": np.array(self.done, np.int64),
            **{f"{_SUM}{name}": np.concatenate([getattr(p.state.total, name) for p in self.parts]) for name in names},
            **{f"{_CHUNK}{name}": np.concatenate([getattr(p.state.part, name) for p in self.parts]) for name in names},
        }

    def take(self, arrays: dict[str, NDArray[Any]], swept: Sequence[int]) -> None:
        """Take what the arrays of a file hold, whose parts have so many roots to sweep."""
        left, order = int(arrays["done"]), str(arrays["order"])
        places = dict.fromkeys(arrays, 0)

        def following(prefix: str, like: Sums) -> Sums:
            held = {}
            for name, zeros in like:
                first = places[prefix + name]
                places[prefix + name] = last = first + len(zeros)
                held[name] = arrays[prefix + name][first:last].copy()
            return Sums(**held)

        for number, (part, roots) in enumerate(zip(self.parts, swept, strict=True)):
            done = min(left, roots)
            left -= done
            part.state = Summed(done, following(_SUM, part.state.total), following(_CHUNK, part.state.part))
            digits = 2 * _DIGEST_BYTES
            part.order_digest = order[number * digits : (number + 1) * digits].strip()


def open_checkpoint(
    path: str | os.PathLike[str], parts: Sequence[Step], roots: NDArray[np.int64], *, sampled: bool
) -> Checkpoint:
    """Read a checkpoint, or start one at no roots done, and write it, so that a run does not begin that cannot.

    Parameters
    ----------
    path : path of the file
        Its folder must exist. A symlink is followed.
    parts : sequence of Step
        Of the plan.
    roots : ndarray of int64
        The roots of this call.
    sampled : bool
        Whether `roots` are a random sample.

    Raises
    ------
    CheckpointError
        The file is no checkpoint, belongs to another graph, other options or other roots, or cannot be written.
    """
    opened = Checkpoint(
        _followed(Path(path)),
        ";".join(part.label for part in parts),
        digest_graphs(parts),
        digest_options(parts, sampled),
        roots,
    )
    opened.parts = [Progressed(opened, _nothing(part)) for part in parts]
    swept = [part.swept for part in parts]
    try:
        if opened.path.exists():
            _read(opened, swept)
        if opened._written is None or opened.done < sum(swept):
            remove_unfinished(opened.path)
            opened.write()
    except OSError as error:
        raise CheckpointError(f"checkpoint {path} cannot be used: {error}") from error
    return opened


def resumed_by(options: Options) -> Resumed:
    """Tell how the run of the checkpoint among some options was planned; of none that can be read, nothing.

    `open_checkpoint` says what is wrong with a file.
    """
    path = value_of("checkpoint", options)
    if path is None or not path.is_file():  # to open a pipe would wait for somebody to write
        return Resumed()
    from zipfile import ZipFile

    try:
        with ZipFile(path) as archive:
            shape, dtype = _header(archive, "method")
            if shape or dtype.kind != "U" or dtype.itemsize > _MOST_OF_NAMES:
                return Resumed()
            with archive.open("method.npy") as file:
                labels = str(read_array(file, allow_pickle=False)).split(";")
            shape, _ = _header(archive, "roots")
            is_whole = archive.getinfo("roots.npy").file_size >= 8 * math.prod(shape)
            roots = _unpack(archive, "roots", np.empty(shape, np.int64)) if is_whole else None
    except Exception:  # a damaged archive may raise any error
        return Resumed()
    return Resumed(tuple(map(Begun.of, labels)), roots)


def _followed(path: Path) -> Path:
    """Return the file that is to be written, which is not a symlink to it."""
    followed = Path(os.path.realpath(path)) if path.is_symlink() else path
    if not followed.parent.is_dir():
        raise CheckpointError(f"checkpoint {path} cannot be written: there is no folder {followed.parent}")
    if followed.exists() and not followed.is_file():
        raise CheckpointError(f"checkpoint {path} is a folder, a pipe or a device; name a file")
    return followed


def _read(opened: Checkpoint, swept: Sequence[int]) -> None:
    """Read the file of a checkpoint, nothing of which is unpacked before it is known to fit."""
    from zipfile import ZipFile

    try:
        with ZipFile(opened.path) as archive:
            _take(archive, opened, swept)
    except (CheckpointError, OSError, MemoryError):
        raise
    except Exception as error:  # what a damaged archive raises can be anything
        problem = f"{opened.path} is not a lagbc checkpoint of this version"
        raise CheckpointError(f"{problem}; name another file, or delete it") from error


def _take(archive: zipfile.ZipFile, opened: Checkpoint, swept: Sequence[int]) -> None:
    expected = opened.arrays()

    def found(name: str) -> NDArray[Any]:
        return _unpack(archive, name, expected[name])

    if found("format") != expected["format"]:
        raise InvalidValueError
    for name, what in _OWNERS.items():
        if found(name) != expected[name]:
            raise CheckpointError(f"checkpoint {opened.path} belongs to {what}; name another file, or delete it")
    # Sums are as many as the graph and the options say.
    if _header(archive, "roots") != _header_of(opened.roots) or not _are_same(found("roots"), opened.roots):
        raise CheckpointError(f"checkpoint {opened.path} belongs to other roots; name another file, or delete it")
    if not 0 <= int(found("done")) <= sum(swept):
        raise InvalidValueError
    opened.take({name: found(name) for name in expected if name not in ("format", "method", *_OWNERS)}, swept)
    opened._written = opened.done


def _unpack(archive: zipfile.ZipFile, name: str, like: NDArray[Any]) -> NDArray[Any]:
    """Read an array of the shape and type that are expected; ValueError, before it is read, where it has others."""
    if _header(archive, name) != _header_of(like):
        raise InvalidValueError
    with archive.open(f"{name}.npy") as file:
        array: NDArray[Any] = read_array(file, allow_pickle=False)
    return array


def _header(archive: zipfile.ZipFile, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of an array."""
    with archive.open(f"{name}.npy") as file:
        if read_magic(file) != (1, 0):
            raise InvalidValueError
        shape, _, dtype = read_array_header_1_0(file)
    return shape, dtype


def _header_of(array: NDArray[Any]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    return array.shape, array.dtype


def _are_same(roots: NDArray[np.int64], others: NDArray[np.int64]) -> bool:
    return np.array_equal(np.sort(roots), np.sort(others))


def digest_order(ordered: NDArray[np.int64], length: int) -> str:
    """Digest the order in which roots are summed, and how many make a chunk."""
    return _begun(ordered.tobytes() + str(length).encode()).hexdigest()


def _begun(data: bytes = b"") -> hashlib.blake2b:
    import hashlib

    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES)


def digest_graph(graph: Graph) -> str:
    """Digest a graph."""
    digest = _begun()
    _add_graph(digest, graph)
    return digest.hexdigest()


def digest_graphs(parts: Sequence[Step]) -> str:
    """Digest the graphs that are swept, and those whose chains are their edges."""
    digest = _begun()
    for part in parts:
        _add_graph(digest, part.graph)
        # Sums over edges are in the sweep order, which another version or machine may choose otherwise.
        digest.update(np.ascontiguousarray(part.graph.order).data)
        if part.contracted is not None:
            _add_graph(digest, part.contracted.piece.graph)
    return digest.hexdigest()


def _add_graph(digest: hashlib.blake2b, graph: Graph) -> None:
    digest.update(f"{graph.n} {graph.nnz} {graph.directed}".encode())
    for array in (graph.indptr, graph.indices, graph.weights):
        if array is not None:
            digest.update(np.ascontiguousarray(as_numpy(array)).data)


def digest_options(parts: Sequence[Step], sampled: bool) -> str:
    """Digest all that changes raw sums."""
    digest = _begun()
    for part in parts:
        method, plan = part.method, part.sweep
        digest.update(
            f"{method.name} {method.device} {method.weighted} {plan.dtype} {plan.endpoints} {plan.exponent} "
            f"{plan.rtol} {sampled} {sorted(plan.sums)}".encode()
        )
        for weights in (plan.omega, plan.multiplicity):
            digest.update(b"none" if weights is None else weights.tobytes())
        if plan.members is not None:
            digest.update(b"members" + plan.members.tobytes())
        if part.contracted is not None:
            piece = part.contracted.piece
            for weights in (piece.sources, piece.targets, piece.members):
                digest.update(b"none" if weights is None else weights.tobytes())
        if plan.bounds is not None:
            for numbers in (plan.bounds.cutoffs, plan.bounds.decays):
                digest.update(b"bounds" + numbers.tobytes())
        if plan.demand is not None:
            for numbers in (plan.demand.indptr, plan.demand.indices):
                digest.update(numbers.astype(np.int64).tobytes())
            digest.update(plan.demand.data.tobytes())
    return digest.hexdigest()


def _nothing(part: Step) -> Summed:
    """Make the sums, on the host, of which no root is done.

    Of a contracted block one array has all that is kept, under the first name.
    """
    if part.contracted is None:
        return Summed.nothing(np, part.sweep, part.graph)
    first, *others = sorted(part.asked)
    none = dict.fromkeys(others, np.empty(0))
    return Summed(0, Sums(**none | {first: np.zeros(part.contracted.held)}), Sums(**none | {first: np.empty(0)}))
