"""A carrier by an executor: anything with the `submit` of `concurrent.futures.Executor`, MPI ranks among them.

The caller packs a work into a file, and submits tasks. A task has the path of the file and a span of items. The caller
submits as many tasks as its memory holds results, and yields results in order: the loop adds them to the bits of a run
in one process. If the work may end early, few tasks wait beside the running ones.

A worker maps the file into its memory, so that processes of a machine share the arrays, and keeps the work and its
states for the next task, within its memory budget. A worker that does not see the file answers with its name, and the
task is submitted again with the arrays.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import pickle
import shutil
import socket
import tempfile
import time
import traceback
from collections import OrderedDict, deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import accumulate, count
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from lagbc.errors import ExecutorError, RunError, StoppedError
from lagbc.files import write_whole
from lagbc.limits import TINY_RUN, budget
from lagbc.methods.contract import Interrupted, bytes_of
from lagbc.native.pool import Interrupts
from lagbc.planning.devices import gpu_of_worker
from lagbc.planning.sweep import Memory, memory_of
from lagbc.reduce.pieces import Chains, Piece, Small, Whole
from lagbc.run.run import work_of
from lagbc.run.sweeps import Within
from lagbc.run.work import Found, Hands, Items, MethodWork, PieceWork, Span

# Seconds between two looks for Ctrl-C, and seconds of patience with running tasks once a run is given up.
_LOOK_SECONDS, _PATIENCE = 0.1, 5.0
# If a work may end early: how many tasks wait beside the running ones, and seconds between two looks at them.
_WAITING, _LOOK_AT_RUNNING = 4, 0.002
# The arrays of a packed work begin at multiples of so many bytes, a cache line.
_ALIGNMENT = 64

# Windows removes no mapped file: there workers, which keep their works, read a copy.
_FILES_ARE_MAPPED = os.name != "nt"


@dataclass(slots=True, eq=False)
class Task:
    """A span for one worker."""

    digest: str  # of the work
    file: str  # path of the packed work, which a worker on another machine may not see
    span: Span
    items: Items  # of the span
    limit: int | None  # bytes that the worker may take; None is its own budget
    attempt: int  # unique in the run, so that no engine answers with the stored result of an equal call
    version: str  # of lagbc
    caller: str  # `here` in the caller's process
    arrays: bytes | None = None  # the packed work, for a worker that does not see the file

    @property
    def key(self) -> str:
        """The name under which a worker keeps the work; in the caller's own process it is kept for this run alone."""
        return self.file if self.caller == here() else self.digest


class Outcome(NamedTuple):
    """The end of a task: its sums, its error, or the name of a worker that does not see the file of the work."""

    found: list[Found] | None = None
    error: BaseException | None = None
    blind: str = ""


class Submit:
    """Carries works by an executor, whose workers are threads, or processes that can import lagbc.

    Each worker may take `limit` bytes, and so may the results that wait here; None is the budget of each process. An
    ExecutorError names the checkpoint.
    """

    def __init__(self, executor: Any, limit: int | None = None, checkpoint: Path | None = None) -> None:
        self.executor, self.limit, self._checkpoint = executor, limit, checkpoint
        self.attempts = count()
        self._files: set[Path] = set()  # of packed works, named by their digests

    def __enter__(self) -> Submit:
        self._folder = Path(tempfile.mkdtemp(prefix="lagbc-"))
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the files, and the works that this process kept under their names, as one of the workers."""
        shutil.rmtree(self._folder, ignore_errors=True)
        for file in self._files:
            forget(str(file))

    def carry(self, work: PieceWork, first: int, last: int) -> Generator[Found]:
        """Carry a work, a portion a task; ExecutorError if the executor is broken, or gives a task up.

        Before this error, Ctrl-C or ``stop=`` is raised, waiting tasks are cancelled, and results that come within 5
        seconds are yielded, up to the first gap.
        """
        packed = pack(work)
        file = self._folder / packed.digest
        if file not in self._files:
            with write_whole(file, lasting=False) as out:
                out.writelines(packed.parts)
            self._files.add(file)
        run = _Run(self, packed, file, work, work.spans(first, last, work.portion))
        try:
            yield from run.results()
        except (KeyboardInterrupt, StoppedError, ExecutorError) as error:
            yield from run.end()
            if isinstance(error, ExecutorError) and self._checkpoint is not None:
                raise ExecutorError(f"{error}; {self._checkpoint} holds what is summed so far") from error.__cause__
            raise
        finally:
            for _ in run.end():
                pass


class _Run:
    """The tasks of a work, by their numbers: each is to be submitted, submitted, or done and waiting for its turn."""

    def __init__(self, by: Submit, packed: Packed, file: Path, work: PieceWork, spans: Iterator[Span]) -> None:
        self._by, self._packed, self._file = by, packed, file
        self._coming = enumerate((span, work.items[span.place]) for span in spans)
        room = budget("cpu") if by.limit is None else by.limit
        self._ahead, self._may_end_early = max(2, room // max(1, work.bytes_of_sums)), work.may_end_early
        self._interrupts = Interrupts()
        self._next = 0  # the first one that was not yielded
        self._tasks: dict[int, tuple[Span, Items]] = {}  # cut off the work, and not yielded
        self._left = deque[int]()  # to be submitted
        self._held_back: list[int] = []  # to be submitted once their worker has the arrays
        self._out: dict[Future[Outcome], tuple[int, str]] = {}  # submitted; for which worker with the arrays, or ""
        self._ended = SimpleQueue[Future[Outcome]]()
        self._found: dict[int, list[Found]] = {}
        self._tells, self._count_ended = False, 0  # whether the executor tells of running tasks; how many have ended
        self._deadline: float | None = None  # once the run is given up

    def results(self) -> Iterator[Found]:
        while True:
            yield from self._ready()
            while not (is_held := self._enough_wait()) and self._has_task():
                self._submit(self._left.popleft())
            if not self._tasks:
                return
            self._interrupts.raise_if_interrupted()
            with suppress(Empty):
                self._take(self._ended.get(timeout=_LOOK_AT_RUNNING if is_held else _LOOK_SECONDS))

    def end(self) -> Iterator[Found]:
        """Cancel waiting tasks; yield, in order, results that come within 5 seconds, up to the first gap."""
        if self._deadline is None:
            self._deadline = time.monotonic() + _PATIENCE
        for future in [*self._out]:
            future.cancel()
        while True:
            for future in [one for one in self._out if one.done()]:  # an interrupt may have kept it from `_ended`
                number, _ = self._out.pop(future)
                has_ended = not future.cancelled() and future.exception() is None
                if has_ended and (found := future.result().found) is not None:
                    self._found[number] = found
            yield from self._ready()
            left = self._deadline - time.monotonic()
            if not self._out or left <= 0:
                return
            with suppress(Empty):
                self._ended.get(timeout=min(left, _LOOK_SECONDS))

    def _ready(self) -> Iterator[Found]:
        while (found := self._found.pop(self._next, None)) is not None:
            del self._tasks[self._next]
            self._next += 1
            yield from found

    def _has_task(self) -> bool:
        """Whether there is a task to submit; one is cut off the work if there is room for its result."""
        if not self._left and len(self._tasks) < self._ahead and (cut := next(self._coming, None)) is not None:
            number, task = cut
            self._tasks[number] = task
            self._left.append(number)
        return bool(self._left)

    def _enough_wait(self) -> bool:
        """Whether no task is submitted now, as the work may end early: a result is there, or enough tasks wait.

        An executor that tells of no running task is given as many tasks as have ended.
        """
        if not self._may_end_early:
            return False
        if not self._ended.empty():
            return True
        self._tells = self._tells or any(future.running() for future in self._out)
        waiting = sum(not future.running() and not future.done() for future in self._out)
        return waiting >= (_WAITING if self._tells else max(_WAITING, self._count_ended))

    def _submit(self, number: int, worker: str = "") -> None:
        """Submit a task, with the arrays for a worker that does not see the file."""
        arrays, limit, attempt = bytes(self._packed) if worker else None, self._by.limit, next(self._by.attempts)
        asked = self._packed.digest, str(self._file), *self._tasks[number], limit, attempt
        task = Task(*asked, version(), here(), arrays)
        try:
            future = self._by.executor.submit(run_task, task)
        except RuntimeError as error:  # it is broken, or was shut down
            raise self._given_up(error) from error
        self._out[future] = number, worker
        future.add_done_callback(self._ended.put)

    def _take(self, future: Future[Outcome]) -> None:
        """Take a task that has ended; if its worker does not see the file, submit it again with the arrays, once."""
        number, worker = self._out.pop(future)
        self._count_ended += 1
        if future.cancelled():
            raise self._given_up("a task was cancelled")
        error = future.exception()
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        if error is not None:
            raise self._given_up(error) from error
        outcome = future.result()
        if outcome.error is not None:
            raise outcome.error
        if worker:  # it has the arrays now
            self._left = deque(sorted([*self._left, *self._held_back]))
            self._held_back.clear()
        if outcome.found is not None:
            self._found[number] = outcome.found
        elif any(outcome.blind == other for _, other in self._out.values()):
            self._held_back.append(number)
        else:
            self._submit(number, outcome.blind)

    def _given_up(self, error: object) -> ExecutorError:
        reason = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else str(error)
        name, done = type(self._by.executor).__name__, f"tasks of this part done: {self._next}"
        return ExecutorError(f"the executor, {name}, gave up a task ({reason}); {done}")


def run_task(task: Task) -> Outcome:
    """Carry out a task in this process."""
    try:
        if task.version != version():
            raise RunError(f"a worker on {socket.gethostname()} has lagbc {version()}, the caller {task.version}")
        with _works.lent(task) as opened:
            if opened is None:
                return Outcome(blind=here())
            items = np.array(task.items)  # aligned, as the items of a message may not be
            return Outcome(opened.run(task.span, items))
    except Exception as error:
        return Outcome(error=portable(error))


def forget(key: str | None = None) -> None:
    """Drop a work in this process, or all works; their hands stop."""
    _works.drop(key)


def portable(error: BaseException) -> BaseException:
    """Return an error that another process can raise, with a note of its traceback here; Ctrl-C as it is."""
    if not isinstance(error, Exception):
        return error
    if not getattr(error, "__notes__", ()):  # a third process may have noted it
        error.add_note(f"on {socket.gethostname()}:\n{''.join(traceback.format_tb(error.__traceback__))}")
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RunError(f"{type(error).__name__}: {error}")
    return error


class OpenWorks:
    """The works that this process keeps, the last used one at the end."""

    def __init__(self) -> None:
        self._lock, self._held = Lock(), OrderedDict[str, _Opened]()

    @contextmanager
    def lent(self, task: Task) -> Iterator[_Opened | None]:
        """Lend the work of a task; None if it is neither kept nor readable."""
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
        """Open a work of this size; works that nobody uses are dropped, the oldest first, until it has room."""
        needed = size + _bytes_of_states(work)

        def room() -> int:
            return budget("cpu") if limit is None else limit - sum(held.bytes for held in self._held.values())

        for key, held in list(self._held.items()):
            if needed > room() and not held.users:
                self._held.pop(key).close()
        if isinstance(work, MethodWork):
            growth = max(TINY_RUN, room() - needed) // work.hands
            work = work.by(work.sweep, replace(work.plan, growth=growth))
        return _Opened(work, needed)

    def drop(self, key: str | None) -> None:
        with self._lock:
            held = [self._held.pop(one) for one in [*self._held] if key in (None, one)]
        for one in held:
            one.close()


def _bytes_of_states(work: PieceWork) -> int:
    if not isinstance(work, MethodWork):
        return work.hands * work.bytes_of_sums * len(work.items)
    if isinstance(work.piece, Chains):
        return memory_of(work.piece, work.sweep).workspace
    return work.hands * bytes_of(work.module.arrays(work.graph, work.plan))


class _Opened:
    """A kept work, and its hands: a set of them for each task at work, as an engine may run tasks side by side."""

    def __init__(self, work: PieceWork, size: int) -> None:
        self.bytes, self.users, self._work = size, 0, work
        self._on_gpu, self._placed = work.sweep.device == "cuda", False
        self._idle, self._all = list[Hands](), list[Hands]()
        self._closed = False

    def run(self, span: Span, items: Items) -> list[Found]:
        """Sum a span, on the GPU of this worker if the method needs one; take less at a time if memory runs out."""
        with gpu_of_worker() if self._on_gpu else nullcontext():
            if self._on_gpu and not self._placed:
                self._work, self._placed = self._work.on(lambda graph: graph.on_device), True
            while not self._closed:
                work = self._work
                try:
                    return self._sum(work, span, items)
                except MemoryError as error:
                    if work is self._work:  # else another task has made it smaller
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
            if self._closed:  # before `close` could find these hands
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
        """Take idle hands; None if all are at work."""
        with suppress(IndexError):
            return self._idle.pop()
        return None

    def _drop(self, hands: Hands) -> None:
        self._all.remove(hands)
        hands.close()

    def close(self) -> None:
        """Stop all hands, and wait until none is at work; `run` raises Interrupted from now on.

        The states are freed with this object, which a task at work may keep for a moment.
        """
        self._closed = True
        for hands in [*self._all]:  # a copy, as tasks drop their hands meanwhile
            hands.close()
        self._idle.clear()


_works = OpenWorks()


def _start_anew() -> None:
    """Forget all works in a forked process, which has none of the threads."""
    global _works
    _works = OpenWorks()


with suppress(AttributeError):  # Windows
    os.register_at_fork(after_in_child=_start_anew)


def _packed_of(task: Task) -> memoryview | None:
    """Return the packed work of a task, writable for this process alone; None if it does not see the file."""
    if task.arrays is not None:
        return memoryview(bytearray(task.arrays))
    try:
        with open(task.file, "rb") as file:
            if _FILES_ARE_MAPPED:
                return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
            return memoryview(bytearray(file.read()))
    except OSError:
        return None


def here() -> str:
    """Return a name of this process, unique among all machines."""
    return f"{socket.gethostname()}:{os.getpid()}"


def version() -> str:
    """Return the version of lagbc; another version may add in another order."""
    told: str = import_module("lagbc").__version__
    return told


class Packed(NamedTuple):
    """A work in bytes."""

    digest: str  # equal works have equal digests, in any process
    parts: list[Any]  # bytes that follow each other in a file; the arrays of the work are not copied

    def __bytes__(self) -> bytes:
        return b"".join(self.parts)


def pack(work: PieceWork) -> Packed:
    """Pack a work: without its items, but with all cached properties of its graph that workers need."""
    buffers: list[pickle.PickleBuffer] = []
    # Words and predictions fix no sum.
    sweep = work.sweep._replace(reason="", too_large="", seconds=None, memory=Memory())
    head = pickle.dumps((_carried(work.piece), sweep, work.panel), protocol=5, buffer_callback=buffers.append)
    arrays: list[Any] = [head, *(buffer.raw() for buffer in buffers)]
    sizes = np.array([len(arrays), *map(len, arrays)], np.int64).tobytes()
    digest = hashlib.blake2b(sizes, digest_size=16)
    parts: list[Any] = [sizes, bytes(_padded(len(sizes)) - len(sizes))]
    for array in arrays:
        digest.update(array)
        parts += [array, bytes(_padded(len(array)) - len(array))]
    return Packed(digest.hexdigest(), parts)


def unpack(packed: memoryview) -> PieceWork:
    """Make a work with its arrays in the given memory, which has to be writable."""
    count = int(np.frombuffer(packed, np.int64, 1)[0])
    sizes = np.frombuffer(packed, np.int64, 1 + count).tolist()[1:]
    places = list(accumulate(map(_padded, [8 + 8 * count, *sizes])))
    head, *arrays = (packed[place : place + size] for place, size in zip(places, sizes, strict=False))
    piece, sweep, panel = pickle.loads(head, buffers=arrays)
    work = work_of(piece, sweep, None)
    if isinstance(work, Within):
        work.panel = panel  # depends on all items, and only the caller has them
        work.take(sweep, work.plan)
    return work


def _padded(size: int) -> int:
    """Round up to a multiple of the alignment."""
    return -(-size // _ALIGNMENT) * _ALIGNMENT


def _carried(piece: Piece) -> Piece:
    """Return a piece without the parts that change from call to call, or that only the caller's process needs."""
    if isinstance(piece, Small):
        return Small(replace(piece.blocks), piece.edges)
    empty: Any = np.empty(0, np.int64)
    if isinstance(piece, Chains):
        none: Any = None
        graph = piece.graph.prepared(edges=True)
        contracted = replace(piece.contracted, graph=graph, piece=none, arcs=empty, steps=empty)
        return replace(piece, contracted=contracted, part=none)
    graph = piece.graph.on_host.prepared(edges="edges" in piece.request.sums)
    return Whole(graph, piece.request._replace(roots=empty), lined_up=empty, drawn=piece.drawn)
