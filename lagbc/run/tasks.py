"""What is given to the workers of an executor, and what a worker makes of it.

A task names a part of a plan by its digest, and has some units of its work: chunks of roots, blocks of them where the
run has bounds, or groups where chains are contracted. A worker keeps the parts that it met, with the states that were
prepared for them, as far as its memory budget goes. What it has not got it maps from a file, if it sees the file; else
it says so, and the task comes again with the arrays.
"""

from __future__ import annotations

import os
import pickle
import socket
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from importlib import import_module
from threading import Lock
from typing import Any, Protocol

from lagbc.budget import host_budget, stated_budget
from lagbc.errors import RunError
from lagbc.graph.csr import as_numpy
from lagbc.methods.contract import Interrupted, StopFlag
from lagbc.methods.sums import Sums
from lagbc.plan import memory
from lagbc.plan.devices import gpu_of_worker
from lagbc.plan.step import Step
from lagbc.run.packed import map_part, unpack
from lagbc.run.pool import Threads
from lagbc.run.sweep import with_less_memory
from lagbc.run.threads import Lender
from lagbc.run.within import BlockWorker, blocks_of, with_less
from lagbc.run.workers import Roots, Workers


@dataclass(frozen=True, eq=False)
class Task:
    """Work for one worker.

    Attributes
    ----------
    digest, file : str
        Of the part: how it is called, and where it lies if the worker sees that.
    units : tuple
        Of its work; one for each thread, chunks of roots one by one.
    limit : int or None
        Bytes that the worker may take; None is its own budget.
    attempt : int
        No two tasks of a run have the same: engines that keep results of equal calls shall not do so here.
    version : str
        Of lagbc.
    caller : str
        The process that gives the task, as `here` calls it.
    arrays : bytes or None
        The part itself, for a worker that has not got it and does not see the file.
    """

    digest: str
    file: str
    units: tuple[Any, ...]
    limit: int | None
    attempt: int
    version: str
    caller: str
    arrays: bytes | None = None

    @property
    def key(self) -> str:
        """What the part is kept under: in the caller's own process it is kept for this run alone."""
        return self.file if self.caller == here() else self.digest


@dataclass(frozen=True, eq=False)
class Done:
    """What the units of a task sum to, in their order."""

    results: list[Any]


@dataclass(frozen=True)
class Missing:
    """The worker of this name has not got the part."""

    worker: str


@dataclass(frozen=True, eq=False)
class Failed:
    """An error of the task itself, as opposed to one of the engine that carries it."""

    error: Exception


Outcome = Done | Missing | Failed


def here() -> str:
    """Name this process among those of all machines."""
    return f"{socket.gethostname()}:{os.getpid()}"


def version() -> str:
    """Tell the version of lagbc: another one may add sums up in another order."""
    told: str = import_module("lagbc").__version__
    return told


def run_task(task: Task) -> Outcome:
    """Carry out a task in this process."""
    try:
        if task.version != version():
            raise RunError(f"a worker on {socket.gethostname()} has lagbc {version()}, the caller {task.version}")
        with _shelf.lent(task) as prepared:
            return Missing(here()) if prepared is None else Done(prepared.run(task.units))
    except Exception as error:
        return Failed(portable(error))


def forget(key: str | None = None) -> None:
    """Let go of a part in this process, or of all of them; what sweeps it stops."""
    _shelf.drop(key)


def portable(error: Exception) -> Exception:
    """Return an error that another process can raise, with a note of where it arose in this one."""
    if not getattr(error, "__notes__", ()):  # it may have come from yet another process
        error.add_note(f"on {socket.gethostname()}:\n{''.join(traceback.format_tb(error.__traceback__))}")
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RunError(f"{type(error).__name__}: {error}")
    return error


class _Runner(Protocol):
    """Sums units in states of its own, for one task at a time."""

    def run(self, units: Sequence[Any]) -> list[Any]: ...
    def close(self) -> None: ...


class _Shelf:
    """The parts that this process keeps, those that were asked for last at the end."""

    def __init__(self) -> None:
        self._lock, self._held = Lock(), OrderedDict[str, _Prepared]()

    @contextmanager
    def lent(self, task: Task) -> Iterator[_Prepared | None]:
        """Lend the part of a task; None where it is neither here nor to be seen."""
        with self._lock:
            held = self._held.get(task.key)
            if held is None and (part := _taken_up(task)) is not None:
                held = self._held[task.key] = self._prepared(part, task)
            if held is not None:
                self._held.move_to_end(task.key)
                held.users += 1
        try:
            yield held
        finally:
            with self._lock:
                if held is not None:
                    held.users -= 1

    def _prepared(self, part: Step, task: Task) -> _Prepared:
        """Make room for a part."""
        size = os.path.getsize(task.file) if task.arrays is None else len(task.arrays)
        needed = size + _bytes_of_states(part)
        for key, held in list(self._held.items()):
            if needed > self._room(task.limit) and not held.users:
                self._held.pop(key).close()
        room = self._room(task.limit)
        workers = part.sweep.threads if part.method.load().batching.concurrent else 1
        growth = max(memory.SMALL_RUN, room - needed) // workers
        return _Prepared(replace(part, sweep=replace(part.sweep, growth=growth)), needed)

    def _room(self, limit: int | None) -> int:
        """Bytes that may be taken beside what is held."""
        stated = stated_budget() if limit is None else limit
        return host_budget() if stated is None else stated - sum(held.bytes for held in self._held.values())

    def drop(self, key: str | None) -> None:
        """Let go of one part, or of all."""
        with self._lock:
            held = [self._held.pop(one) for one in [*self._held] if key in (None, one)]
        for one in held:
            one.close()


def _taken_up(task: Task) -> Step | None:
    if task.arrays is not None:
        return unpack(memoryview(bytearray(task.arrays)))
    try:
        return map_part(task.file)
    except OSError:
        return None


def _bytes_of_states(part: Step) -> int:
    """Bound what is prepared for a part beside its arrays."""
    method, sweep = part.method, part.sweep
    if part.contracted is not None:
        return memory.estimate(part, 0).workspace
    workers = sweep.threads if method.load().batching.concurrent else 1
    return workers * method.load().footprint(part.graph, sweep)


class _Prepared:
    """A part and its runners: one, or more where an engine runs tasks side by side in one process."""

    def __init__(self, part: Step, size: int) -> None:
        self.bytes, self.users, self._part = size, 0, part
        self._idle: list[_Runner] = []
        self._all: list[_Runner] = []
        self._closed = False

    def run(self, units: Sequence[Any]) -> list[Any]:
        """Sum units, on the GPU of this worker if the method needs one."""
        if self._closed:
            raise Interrupted
        with gpu_of_worker() if self._part.method.device == "cuda" else nullcontext():
            return self._run(units)

    def _run(self, units: Sequence[Any]) -> list[Any]:
        """Sum units; a runner that meets an error is thrown away."""
        try:
            runner = self._idle.pop()
        except IndexError:
            runner = _runner_of(self._part)
            self._all.append(runner)
        try:
            results = runner.run(units)
        except BaseException:
            self._all.remove(runner)
            runner.close()
            raise
        self._idle.append(runner)
        return results

    def close(self) -> None:
        """Stop what runs, and let go of all states."""
        self._closed = True
        for runner in [*self._all]:
            runner.close()
        self._idle.clear()


def _runner_of(part: Step) -> _Runner:
    stop = StopFlag()
    if (contracted := part.contracted) is not None:
        from lagbc.run.chains import GroupWorker

        return _SideBySide(part, stop, lambda: GroupWorker(contracted, part.method, part.sweep.batch, stop))
    if part.sweep.bounds is not None:
        return _Blocks(part, stop)
    return _Chunks(part)


class _Chunks:
    """Sums chunks of roots one after the other, each by all threads."""

    def __init__(self, part: Step) -> None:
        self._part, self._sweep = part, part.sweep
        self._workers: Workers | None = None

    def run(self, units: Sequence[Any]) -> list[Any]:
        return [self._sum(*unit) for unit in units]

    def _sum(self, chunk: Roots, done: int, begun: Sums | None) -> Sums:
        """Sum a chunk, of which so many roots are done; with less memory where it runs out."""
        method = self._part.method
        begun = None if begun is None else begun.moved(method.arrays.asarray)
        while True:
            try:
                *_, last = self._opened().sum([chunk], done, begun)
                return last.sums.moved(as_numpy)
            except MemoryError as error:
                self.close()
                self._sweep = with_less_memory(self._graph, method, self._sweep, error)

    @property
    def _graph(self) -> Any:
        return self._part.graph.on_device if self._part.method.device == "cuda" else self._part.graph

    def _opened(self) -> Workers:
        if self._workers is None:
            self._workers = Workers(self._graph, self._part.method, self._sweep)
            self._workers.__enter__()
        return self._workers

    def close(self) -> None:
        workers, self._workers = self._workers, None
        if workers is not None:
            workers.__exit__()


class _Sums(Protocol):
    def run(self, unit: Any) -> Any: ...


class _SideBySide:
    """Sums units side by side, each by a worker of its own that sums one after the other."""

    def __init__(self, part: Step, stop: StopFlag, make: Callable[[], _Sums]) -> None:
        self._stop, self._context, self._workers = stop, part.method.context(), Lender(make)
        self._pool = Threads(part.sweep.threads if part.method.load().batching.concurrent else 1)

    def run(self, units: Sequence[Any]) -> list[Any]:
        return [result for _, result in self._pool.in_order(self._sum, units)]

    def _sum(self, unit: Any) -> Any:
        with self._context:
            return self._workers.use(lambda worker: worker.run(unit))

    def end(self) -> None:
        """End the threads; what waits is not run."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def close(self) -> None:
        self._stop.set()
        self.end()


class _Blocks:
    """Sums blocks of roots within bounds, as many in a call as the method takes; with less where memory runs out."""

    def __init__(self, part: Step, stop: StopFlag) -> None:
        self._part, self._stop = replace(part, sweep=replace(part.sweep, stop=stop)), stop
        self._at_once = blocks_of(part.method).at_once
        self._workers: _SideBySide | None = None

    def run(self, units: Sequence[Any]) -> list[Any]:
        several = [list(units[first : first + self._at_once]) for first in range(0, len(units), self._at_once)]
        while True:
            try:
                return [result for results in self._opened().run(several) for result in results]
            except MemoryError as error:
                self._end()
                part = self._part
                self._part = replace(part, sweep=with_less(part.graph, part.method, part.sweep, error))

    def _opened(self) -> _SideBySide:
        if self._workers is None:
            part = self._part
            self._workers = _SideBySide(part, self._stop, lambda: BlockWorker(part.graph, part.method, part.sweep))
        return self._workers

    def _end(self) -> None:
        if self._workers is not None:
            self._workers.end()
        self._workers = None

    def close(self) -> None:
        self._stop.set()
        self._end()


_shelf = _Shelf()


def _start_anew() -> None:
    """In a process that was forked: the threads of what the other one keeps are not here."""
    global _shelf
    _shelf = _Shelf()


with suppress(AttributeError):  # Windows
    os.register_at_fork(after_in_child=_start_anew)
