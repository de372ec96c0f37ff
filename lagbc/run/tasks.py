"""Tasks for the workers of an executor, and a worker's way to carry them out.

A task names a work by its digest, and has a span of its items. A worker keeps the works that it met, with their states,
within its memory budget. A new work is mapped from a file, so that processes of one machine share its arrays; a worker
that does not see the file says so, and the task comes again with the arrays.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import pickle
import socket
import traceback
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from lagbc.errors import RunError
from lagbc.files import write_whole
from lagbc.limits import SMALL_RUN, host_budget
from lagbc.methods.arrays import bytes_of
from lagbc.methods.contract import Interrupted
from lagbc.planning.devices import gpu_of_worker
from lagbc.planning.sweep import Memory, Sweep, memory_of
from lagbc.reduce.pieces import Chains, Piece, Small, Whole
from lagbc.run.run import work_of
from lagbc.run.sweeps import Within
from lagbc.run.work import Found, Hands, Items, MethodWork, PieceWork, Span

# Bytes at whose multiples the arrays of a packed work begin, as compiled code reads them best.
_ALIGNMENT = 64

# Windows removes no file that is mapped, and workers keep theirs: there each reads a copy.
_FILES_ARE_MAPPED = os.name != "nt"


@dataclass(slots=True, eq=False)
class Task:
    """A span for one worker."""

    digest: str  # digest, file: of the work: its name, and the path of its file, if the worker sees that
    file: str
    span: Span
    items: Items  # the items of the span
    limit: int | None  # bytes that the worker may take; None is its own budget
    attempt: int  # a number unique in the run: engines that keep results of equal calls shall not do so here
    version: str  # of lagbc
    caller: str  # the caller's process, by its name from `here`
    arrays: bytes | None = None  # the work itself, for a worker that has not got it and does not see the file

    @property
    def key(self) -> str:
        """The name under which the work is kept: in the caller's own process it is kept for this run alone."""
        return self.file if self.caller == here() else self.digest


class Outcome(NamedTuple):
    """The end of a task, as opposed to an error of its engine: its sums, its error, or the worker without the work."""

    found: list[Found] | None = None
    error: BaseException | None = None
    misses: str = ""


def here() -> str:
    """Return the name of this process among the processes of all machines."""
    return f"{socket.gethostname()}:{os.getpid()}"


def version() -> str:
    """Return the version of lagbc: another one may add sums in another order."""
    told: str = import_module("lagbc").__version__
    return told


def run_task(task: Task) -> Outcome:
    """Carry out a task in this process."""
    try:
        if task.version != version():
            raise RunError(f"a worker on {socket.gethostname()} has lagbc {version()}, the caller {task.version}")
        with _works.lent(task) as opened:
            if opened is None:
                return Outcome(misses=here())
            items = np.array(task.items)  # those of a message are not aligned with some engines
            return Outcome(opened.run(task.span, items))
    except Exception as error:
        return Outcome(error=portable(error))


def forget(key: str | None = None) -> None:
    """Drop a work in this process, or all works; their hands stop."""
    _works.drop(key)


def portable(error: BaseException) -> BaseException:
    """Return an error that another process can raise, with a note of its place in this one; Ctrl-C as it is."""
    if not isinstance(error, Exception):
        return error
    if not getattr(error, "__notes__", ()):  # it may have come from yet another process
        error.add_note(f"on {socket.gethostname()}:\n{''.join(traceback.format_tb(error.__traceback__))}")
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RunError(f"{type(error).__name__}: {error}")
    return error


class OpenWorks:
    """The works that this process keeps, the last used at the end."""

    def __init__(self) -> None:
        self._lock, self._held = Lock(), OrderedDict[str, _Opened]()

    @contextmanager
    def lent(self, task: Task) -> Iterator[_Opened | None]:
        """Lend the work of a task; None where it is neither kept nor readable."""
        with self._lock:
            held = self._held.get(task.key)
            if held is None and (packed := _packed_of(task)) is not None:
                held = self._held[task.key] = self._opened(unpack(packed), len(packed), task.limit)
            if held is not None:
                self._held.move_to_end(task.key)
                held.users += 1
        try:
            yield held
        finally:
            with self._lock:
                if held is not None:
                    held.users -= 1

    def _opened(self, work: PieceWork, size: int, limit: int | None) -> _Opened:
        """Open a work of this size, in the room of those that nobody uses."""
        needed = size + _bytes_of_states(work)

        def room() -> int:
            return host_budget() if limit is None else limit - sum(held.bytes for held in self._held.values())

        for key, held in list(self._held.items()):
            if needed > room() and not held.users:
                self._held.pop(key).close()
        if isinstance(work, MethodWork):
            growth = max(SMALL_RUN, room() - needed) // work.hands
            work = work.by(work.sweep, replace(work.plan, growth=growth))
        return _Opened(work, needed)

    def drop(self, key: str | None) -> None:
        """Drop one work, or all."""
        with self._lock:
            held = [self._held.pop(one) for one in [*self._held] if key in (None, one)]
        for one in held:
            one.close()


def _bytes_of_states(work: PieceWork) -> int:
    """Bound the bytes of the states of a work."""
    if not isinstance(work, MethodWork):
        return work.hands * work.bytes_of_sums * len(work.items)
    if isinstance(work.piece, Chains):
        return memory_of(work.piece, work.sweep).workspace
    return work.hands * bytes_of(work.module.arrays(work.graph, work.plan))


class _Opened:
    """A work and its hands: several sets of them where an engine runs tasks side by side in one process."""

    def __init__(self, work: PieceWork, size: int) -> None:
        self.bytes, self.users, self._work = size, 0, work
        self._on_gpu, self._placed = work.sweep.device == "cuda", False
        self._idle, self._all = list[Hands](), list[Hands]()
        self._closed = False

    def run(self, span: Span, items: Items) -> list[Found]:
        """Sum a span, on the GPU of this worker if the method needs one; with less at a time where memory runs out."""
        with gpu_of_worker() if self._on_gpu else nullcontext():
            if self._on_gpu and not self._placed:
                self._work, self._placed = self._work.on(lambda graph: graph.on_device), True
            while not self._closed:
                work = self._work
                try:
                    return self._sum(work, span, items)
                except MemoryError as error:
                    if work is self._work:  # else another task has met it, too
                        self._work = work.smaller(error)
                        while (hands := self._idle_hands()) is not None:
                            self._drop(hands)
        raise Interrupted

    def _sum(self, work: PieceWork, span: Span, items: Items) -> list[Found]:
        """Sum a span by idle hands, or by new ones; hands that meet an error are dropped."""
        if (hands := self._idle_hands()) is None:
            hands = Hands(work)
            self._all.append(hands)
        try:
            if self._closed:  # before these hands were among all
                raise Interrupted
            found = work.sent(list(hands.run(work.batches(*span), items, span.first)), items)
        except BaseException:
            self._drop(hands)
            raise
        if work is self._work:
            self._idle.append(hands)
        else:
            self._drop(hands)
        return found

    def _idle_hands(self) -> Hands | None:
        """Take hands that are idle, if there are some, for one task."""
        with suppress(IndexError):
            return self._idle.pop()
        return None

    def _drop(self, hands: Hands) -> None:
        self._all.remove(hands)
        hands.close()

    def close(self) -> None:
        """Stop all hands, and drop all states."""
        self._closed = True
        for hands in [*self._all]:
            hands.close()
        self._idle.clear()


_works = OpenWorks()


def _start_anew() -> None:
    """Forget all works in a forked process, where the threads of the other one are missing."""
    global _works
    _works = OpenWorks()


with suppress(AttributeError):  # Windows
    os.register_at_fork(after_in_child=_start_anew)


class Packed(NamedTuple):
    """A work in bytes."""

    digest: str  # the same for the same work, whoever packs it
    pieces: list[Any]  # the bytes of a file, one behind the other; arrays of the work are not copied

    def write(self, path: Path) -> None:
        """Write a file; nobody sees it before it is whole."""
        with write_whole(path, lasting=False) as file:
            file.writelines(self.pieces)

    def __bytes__(self) -> bytes:
        return b"".join(self.pieces)


def pack(work: PieceWork) -> Packed:
    """Pack a work without its items, and with all cached properties of its graph that workers need."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(
        (_carried(work.piece), _plain(work.sweep), work.panel), protocol=5, buffer_callback=buffers.append
    )
    arrays: list[Any] = [head, *(buffer.raw() for buffer in buffers)]
    sizes = np.array([len(arrays), *map(len, arrays)], np.int64).tobytes()
    digest = hashlib.blake2b(sizes, digest_size=16)
    for array in arrays:
        digest.update(array)
    return Packed(digest.hexdigest(), list(_aligned([sizes, *arrays])))


def unpack(packed: memoryview) -> PieceWork:
    """Make a work whose arrays lie in the given memory, which may be written."""
    count = int(np.frombuffer(packed, np.int64, 1)[0])
    sizes = np.frombuffer(packed, np.int64, 1 + count).tolist()[1:]
    places = list(accumulate(map(_padded, [8 + 8 * count, *sizes])))
    head, *arrays = (packed[place : place + size] for place, size in zip(places, sizes, strict=False))
    piece, sweep, panel = pickle.loads(head, buffers=arrays)
    work = work_of(piece, sweep, None)
    if isinstance(work, Within):
        work.panel = panel  # it depends on all items, which are not here
        work.take(sweep, work.plan)
    return work


def _packed_of(task: Task) -> memoryview | None:
    """Return the bytes of a task's work, writable for this process alone; None where it does not see the file."""
    if task.arrays is not None:
        return memoryview(bytearray(task.arrays))
    try:
        with open(task.file, "rb") as file:
            if _FILES_ARE_MAPPED:
                return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
            return memoryview(bytearray(file.read()))
    except OSError:
        return None


def _aligned(arrays: list[Any]) -> Iterator[Any]:
    """Yield arrays, each filled up to a multiple of the alignment."""
    for array in arrays:
        yield array
        yield bytes(_padded(len(array)) - len(array))


def _padded(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _carried(piece: Piece) -> Piece:
    """Leave out of a piece all that changes from call to call, or that only the caller's process needs."""
    if isinstance(piece, Small):
        return Small(replace(piece.blocks), piece.edges)
    if isinstance(piece, Chains):
        nothing: Any = np.empty(0, np.int64)
        left_out: Any = None
        graph = piece.graph.prepared(edges=True)
        contracted = replace(
            piece.contracted, graph=graph, piece=left_out, arcs=nothing, steps=nothing, first_steps=nothing
        )
        return replace(piece, contracted=contracted, part=left_out)
    nobody = np.empty(0, np.int64)
    graph = piece.graph.on_host.prepared(edges="edges" in piece.request.sums)
    return Whole(graph, piece.request._replace(roots=nobody), lined_up=nobody, drawn=piece.drawn)


def _plain(sweep: Sweep) -> Sweep:
    """Leave out of a sweep the words and predictions, which do not change sums."""
    return sweep._replace(reason="", too_large="", seconds=None, memory=Memory())
