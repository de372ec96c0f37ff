"""Tasks for the workers of an executor, and a worker's way to carry them out.

A task names a work by its digest, and has a span of its items. A worker keeps the works that it met, with their
prepared states, within its memory budget. A new work is mapped from a file, if the worker sees the file; else it says
so, and the task comes again with the arrays.
"""

from __future__ import annotations

import os
import pickle
import socket
import traceback
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from threading import Lock

import numpy as np

from lagbc.errors import RunError
from lagbc.limits import host_budget
from lagbc.methods.arrays import bytes_of
from lagbc.methods.contract import Interrupted
from lagbc.planning import memory
from lagbc.planning.devices import gpu_of_worker
from lagbc.reduce.pieces import Chains
from lagbc.room import SMALL_RUN
from lagbc.run.loop import Hands
from lagbc.run.packed import map_work, unpack
from lagbc.run.work import Found, Items, MethodWork, PieceWork, Span


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


@dataclass(slots=True, eq=False)
class Done:
    """The sums of the span of a task."""

    found: list[Found]


@dataclass(slots=True)
class Missing:
    """The worker of this name has not got the work."""

    worker: str


@dataclass(slots=True, eq=False)
class Failed:
    """An error of the task itself, as opposed to an error of its engine."""

    error: BaseException


Outcome = Done | Missing | Failed


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
            # The memory of a message, which is not aligned with some engines, is copied.
            return Missing(here()) if opened is None else Done(opened.run(task.span, np.array(task.items)))
    except Exception as error:
        return Failed(portable(error))


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
            if held is None and (work := _taken_up(task)) is not None:
                held = self._held[task.key] = self._opened(work, task)
            if held is not None:
                self._held.move_to_end(task.key)
                held.users += 1
        try:
            yield held
        finally:
            with self._lock:
                if held is not None:
                    held.users -= 1

    def _opened(self, work: PieceWork, task: Task) -> _Opened:
        """Make room for a work, and open it."""
        size = os.path.getsize(task.file) if task.arrays is None else len(task.arrays)
        needed = size + _bytes_of_states(work)
        for key, held in list(self._held.items()):
            if needed > self._room(task.limit) and not held.users:
                self._held.pop(key).close()
        if isinstance(work, MethodWork):
            growth = max(SMALL_RUN, self._room(task.limit) - needed) // work.hands
            work = work.by(work.sweep, replace(work.plan, growth=growth))
        return _Opened(work, needed)

    def _room(self, limit: int | None) -> int:
        """Return the bytes left beside the kept works."""
        return host_budget() if limit is None else limit - sum(held.bytes for held in self._held.values())

    def drop(self, key: str | None) -> None:
        """Drop one work, or all."""
        with self._lock:
            held = [self._held.pop(one) for one in [*self._held] if key in (None, one)]
        for one in held:
            one.close()


def _taken_up(task: Task) -> PieceWork | None:
    if task.arrays is not None:
        return unpack(memoryview(bytearray(task.arrays)))
    try:
        return map_work(task.file)
    except OSError:
        return None


def _bytes_of_states(work: PieceWork) -> int:
    """Bound the bytes of the states of a work."""
    if not isinstance(work, MethodWork):
        return work.hands * work.bytes_of_sums * len(work.items)
    if isinstance(work.piece, Chains):
        return memory.estimate(work.piece, work.sweep).workspace
    return work.hands * bytes_of(work.module.arrays(work.graph, work.plan))


class _Opened:
    """A work and its hands: more than one set where an engine runs tasks side by side in one process."""

    def __init__(self, work: PieceWork, size: int) -> None:
        self.bytes, self.users, self._work = size, 0, work
        self._idle: list[_Retrying] = []
        self._all: list[_Retrying] = []
        self._closed = False

    def run(self, span: Span, items: Items) -> list[Found]:
        """Sum a span, on the GPU of this worker if the method needs one."""
        if self._closed:
            raise Interrupted
        with gpu_of_worker() if self._work.sweep.device == "cuda" else nullcontext():
            return self._run(span, items)

    def _run(self, span: Span, items: Items) -> list[Found]:
        """Sum a span; hands that meet an error are dropped."""
        try:
            hands = self._idle.pop()
        except IndexError:
            hands = _Retrying(self._work)
            self._all.append(hands)
        try:
            found = hands.run(span, items)
        except BaseException:
            self._all.remove(hands)
            hands.close()
            raise
        self._idle.append(hands)
        return found

    def close(self) -> None:
        """Stop all hands, and drop all states."""
        self._closed = True
        for hands in [*self._all]:
            hands.close()
        self._idle.clear()


class _Retrying:
    """Hands of a work, as many as there are threads; they go on with less where memory runs out."""

    def __init__(self, work: PieceWork) -> None:
        self._work = work.on(lambda graph: graph.on_device) if work.sweep.device == "cuda" else work
        self._hands: Hands | None = None

    def run(self, span: Span, items: Items) -> list[Found]:
        """Sum a span in batches."""
        while True:
            try:
                self._hands = self._hands or Hands(self._work)
                found = list(self._hands.run(self._work.batches(*span), items, span.first))
                return self._work.sent(found, items)
            except MemoryError as error:
                self.close()
                self._work = self._work.smaller(error)

    def close(self) -> None:
        """Drop all states."""
        hands, self._hands = self._hands, None
        if hands is not None:
            hands.close()


_works = OpenWorks()


def _start_anew() -> None:
    """Forget all works in a forked process, where the threads of the other one are missing."""
    global _works
    _works = OpenWorks()


with suppress(AttributeError):  # Windows
    os.register_at_fork(after_in_child=_start_anew)
