"""A file that lets a killed run go on where it was, to the same bits."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import zipfile
from dataclasses import dataclass, replace
from glob import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.format import read_array, read_array_header_1_0, read_magic
from numpy.typing import NDArray

from lagbc.errors import CheckpointError, warn
from lagbc.graph.csr import as_numpy
from lagbc.graph.graph import Graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import Sums
from lagbc.methods.table import Method
from lagbc.run.workers import Summed

_FORMAT = "lagbc checkpoint 6"
# Before the names of the sums in the file: of whole chunks, and of the chunk in work.
_SUM, _CHUNK = "sum_", "chunk_"
_DIGEST_BYTES = 16
# Bytes of the name of a method in the file.
_MOST_OF_A_NAME = 1024
# At the end of the name of a file that is being written.
_PART = ".lagbc-part"
# What a file belongs to where one of its arrays differs.
_OWNERS = {
    "graph": "another graph or direction, or to another version's order of it",
    "options": "other options (method, scores, dtype, endpoints, rtol, weights of vertices, or k in place of sources)",
}


@dataclass(eq=False)
class Checkpoint:
    """Raw sums over a prefix of the roots in sweep order, and what they belong to.

    Attributes
    ----------
    path : Path
    method : str
        Name and device of the method.
    graph_digest, options_digest : str
        Of the pattern, and of all options that change the raw sums.
    roots : ndarray of int64
        All roots of the run, as they were drawn or given.
    state : Summed
        On the host. One attribute, so that an interrupt between two assignments cannot part what belongs together.
    order_digest : str
        Of the order in which the roots are summed, and of the length of chunks; empty before `require_order`.
    """

    path: Path
    method: str
    graph_digest: str
    options_digest: str
    roots: NDArray[np.int64]
    state: Summed
    order_digest: str = ""
    _written: int | None = None

    def require_order(self, ordered: NDArray[np.int64], length: int) -> None:
        """Note in which order roots are summed, and how many make a chunk: what is done is a prefix of them.

        Raises
        ------
        CheckpointError
            Those that are done were summed in another order, as by another version.
        """
        digest = hashlib.blake2b(ordered.tobytes() + str(length).encode(), digest_size=_DIGEST_BYTES).hexdigest()
        if self.state.done and self.order_digest != digest:
            raise CheckpointError(
                f"checkpoint {self.path} belongs to another version's order of the roots; name another file, or delete "
                "it"
            )
        self.order_digest = digest

    def save(self) -> None:
        """Write the file, unless it holds as much; a RuntimeWarning where that fails, since the sums are not lost."""
        if self.state.done == self._written:
            return
        try:
            self.write()
        except OSError as error:
            warn(
                f"checkpoint {self.path} could not be written: {error}; it holds what it held before",
                RuntimeWarning,
            )

    def write(self) -> None:
        """Write the file in one step: a reader sees the old one or the new one, whenever the process dies."""
        done = self.state.done
        temporary = self.path.with_name(f"{self.path.name}.{secrets.token_hex(4)}{_PART}")
        try:
            with temporary.open("xb") as file:
                np.savez(file, **self.arrays())  # type: ignore[arg-type]
                file.flush()
                os.fsync(file.fileno())
            if self.path.exists():
                shutil.copymode(self.path, temporary)
            temporary.replace(self.path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        self._written = done

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays of the file, by their names."""
        return {
            "format": np.array(_FORMAT),
            "method": np.array(self.method),
            "graph": np.array(self.graph_digest),
            "options": np.array(self.options_digest),
            "roots": self.roots,
            "order": np.array(self.order_digest, f"U{2 * _DIGEST_BYTES}"),
            "done": np.array(self.state.done, np.int64),
            **{f"{_SUM}{name}": array for name, array in self.state.total},
            **{f"{_CHUNK}{name}": array for name, array in self.state.part},
        }


def open_checkpoint(
    path: str | os.PathLike[str],
    graph: Graph,
    method: Method,
    plan: SweepPlan,
    roots: NDArray[np.int64],
    *,
    sampled: bool,
    redraw: bool,
) -> Checkpoint:
    """Read a checkpoint, or start one at no roots done, and write it, so that a run does not begin that cannot.

    Parameters
    ----------
    path : path of the file
        Its folder must exist. A symlink is followed.
    roots : ndarray of int64
        The roots of this call.
    sampled : bool
        Whether `roots` are a random sample.
    redraw : bool
        Whether they were drawn without a seed, so that the sample of the file is as good and is to be used.

    Raises
    ------
    CheckpointError
        The file is no checkpoint, belongs to another graph, other options or other roots, or cannot be written.
    """
    fresh = Checkpoint(
        _followed(Path(path)),
        f"{method.name} {method.device}",
        _digest_graph(graph),
        _digest_options(method, plan, sampled),
        roots,
        Summed.nothing(np, plan, graph),
    )
    try:
        opened = _read(fresh, graph, redraw=redraw) if fresh.path.exists() else fresh
        if opened is fresh or opened.state.done < _swept(graph, opened.roots):
            _remove_parts(fresh.path)
            opened.write()
    except OSError as error:
        raise CheckpointError(f"checkpoint {path} cannot be used: {error}") from error
    return opened


def method_of(path: Path) -> tuple[str, str] | None:
    """Tell name and device of the method that a checkpoint was begun with; None where that cannot be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            shape, dtype = _header(archive, "method")
            if shape or dtype.kind != "U" or dtype.itemsize > _MOST_OF_A_NAME:
                return None
            with archive.open("method.npy") as file:
                name, _, device = str(read_array(file, allow_pickle=False)).rpartition(" ")
    except Exception:  # what a damaged archive raises can be anything; `open_checkpoint` says what is wrong
        return None
    return name, device


def _followed(path: Path) -> Path:
    """Return the file that is to be written, which is not a symlink to it."""
    followed = Path(os.path.realpath(path)) if path.is_symlink() else path
    if not followed.parent.is_dir():
        raise CheckpointError(f"checkpoint {path} cannot be written: there is no folder {followed.parent}")
    if followed.exists() and not followed.is_file():
        raise CheckpointError(f"checkpoint {path} is a folder, a pipe or a device; name a file")
    return followed


def _remove_parts(path: Path) -> None:
    """Remove what runs that were killed while they wrote have left."""
    for part in path.parent.glob(f"{escape(path.name)}.{'?' * 8}{_PART}"):
        part.unlink(missing_ok=True)


def _read(fresh: Checkpoint, graph: Graph, *, redraw: bool) -> Checkpoint:
    """Read the file of a checkpoint, nothing of which is unpacked before it is known to fit."""
    try:
        with zipfile.ZipFile(fresh.path) as archive:
            return _checked(archive, fresh, graph, redraw=redraw)
    except (CheckpointError, OSError, MemoryError):
        raise
    except Exception as error:  # what a damaged archive raises can be anything
        problem = f"{fresh.path} is not a lagbc checkpoint of this version"
        raise CheckpointError(f"{problem}; name another file, or delete it") from error


def _checked(archive: zipfile.ZipFile, fresh: Checkpoint, graph: Graph, *, redraw: bool) -> Checkpoint:
    expected = fresh.arrays()

    def found(name: str) -> NDArray[Any]:
        return _unpack(archive, name, expected[name])

    if found("format") != expected["format"]:
        raise ValueError
    for name, what in _OWNERS.items():
        if found(name) != expected[name]:
            raise CheckpointError(f"checkpoint {fresh.path} belongs to {what}; name another file, or delete it")
    # Sums are as many as the graph and the options say.
    roots = found("roots") if _header(archive, "roots") == _header_of(fresh.roots) else None
    if roots is None or not (_are_vertices(roots, graph.n) if redraw else _are_same(roots, fresh.roots)):
        raise CheckpointError(f"checkpoint {fresh.path} belongs to other roots; name another file, or delete it")
    done = int(found("done"))
    if not 0 <= done <= _swept(graph, roots):
        raise ValueError
    total, part = (
        Sums(**{name.removeprefix(which): found(name) for name in expected if name.startswith(which)})
        for which in (_SUM, _CHUNK)
    )
    order = str(found("order"))
    return replace(fresh, roots=roots, state=Summed(done, total, part), order_digest=order, _written=done)


def _unpack(archive: zipfile.ZipFile, name: str, like: NDArray[Any]) -> NDArray[Any]:
    """Read an array of the shape and type that are expected; ValueError, before it is read, where it has others."""
    if _header(archive, name) != _header_of(like):
        raise ValueError
    with archive.open(f"{name}.npy") as file:
        array: NDArray[Any] = read_array(file, allow_pickle=False)
    return array


def _header(archive: zipfile.ZipFile, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of an array."""
    with archive.open(f"{name}.npy") as file:
        if read_magic(file) != (1, 0):
            raise ValueError
        shape, _, dtype = read_array_header_1_0(file)
    return shape, dtype


def _header_of(array: NDArray[Any]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    return array.shape, array.dtype


def _are_vertices(roots: NDArray[np.int64], n: int) -> bool:
    """Whether roots could have been drawn: they are distinct vertices."""
    return bool(((roots >= 0) & (roots < n)).all()) and len(np.unique(roots)) == len(roots)


def _are_same(roots: NDArray[np.int64], others: NDArray[np.int64]) -> bool:
    return np.array_equal(np.sort(roots), np.sort(others))


def _swept(graph: Graph, roots: NDArray[np.int64]) -> int:
    """How many roots are swept; one without out-edges is not."""
    return int(np.count_nonzero(graph.out_degrees[roots]))


def _digest_graph(graph: Graph) -> str:
    digest = hashlib.blake2b(f"{graph.n} {graph.nnz} {graph.directed}".encode(), digest_size=_DIGEST_BYTES)
    digest.update(np.ascontiguousarray(as_numpy(graph.indptr)).data)
    # Sums over edges are in the sweep order, which another version or machine may choose otherwise.
    digest.update(np.ascontiguousarray(graph.order).data)
    digest.update(np.ascontiguousarray(as_numpy(graph.indices)).data)
    if graph.weights is not None:
        digest.update(np.ascontiguousarray(as_numpy(graph.weights)).data)
    return digest.hexdigest()


def _digest_options(method: Method, plan: SweepPlan, sampled: bool) -> str:
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    digest.update(
        f"{method.name} {method.device} {method.weighted} {plan.dtype} {plan.endpoints} {plan.exponent} {plan.rtol} "
        f"{sampled} {sorted(plan.sums)}".encode()
    )
    for weights in (plan.omega, plan.multiplicity):
        digest.update(b"none" if weights is None else weights.tobytes())
    if plan.members is not None:
        digest.update(b"members" + plan.members.tobytes())
    return digest.hexdigest()
