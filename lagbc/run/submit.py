"""Works carried by an executor: anything with the `submit` of `concurrent.futures.Executor`, MPI ranks among them.

As many tasks are given out at a time as the memory has room for their results, and results are taken in the order of
the work: the loop adds them as in a run of one process, to the same bits. Of a work that may end early, few tasks wait
beside those that run.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future
from contextlib import suppress
from itertools import count, islice
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from lagbc.errors import ExecutorError, StoppedError
from lagbc.limits import host_budget
from lagbc.native.pool import Interrupts
from lagbc.run.tasks import Outcome, Packed, Task, forget, here, pack, run_task, version
from lagbc.run.work import Found, Items, PieceWork, Span

# Seconds between two looks at the main thread's interrupts, and of the wait for running tasks after a run is given up.
_LOOK_SECONDS, _PATIENCE = 0.1, 5.0
# Tasks of a work that may end early which wait beside the running ones, and seconds between two looks at these.
_WAITING, _LOOK_AT_RUNNING = 4, 0.002


class Submit:
    """Carries works by an executor, whose workers are processes in which lagbc can be imported, or threads.

    Each worker, and the results that wait here, may take `limit` bytes; None is the budget of each process. An error
    names the checkpoint.
    """

    def __init__(self, executor: Any, limit: int | None = None, checkpoint: Path | None = None) -> None:
        self.executor, self.limit, self._checkpoint = executor, limit, checkpoint
        self.attempts = count()
        self._files: set[Path] = set()  # of works, by their digests

    def __enter__(self) -> Submit:
        self._folder = Path(tempfile.mkdtemp(prefix="lagbc-"))
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        for file in self._files:
            forget(str(file))  # where the workers are threads of this process

    def carry(self, work: PieceWork, first: int, last: int) -> Generator[Found]:
        """Carry a work, a portion a task; ExecutorError if the executor is broken, or gives a task up.

        Before that or another end is raised, waiting tasks are cancelled, and the results of the next 5 seconds are
        yielded, as far as none is missing.
        """
        packed = pack(work)
        file = self._folder / packed.digest
        if file not in self._files:
            packed.write(file)
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
    """The spans of a work by their numbers, some of them with the executor."""

    def __init__(self, by: Submit, packed: Packed, file: Path, work: PieceWork, spans: Iterator[Span]) -> None:
        self._by, self._packed, self._file = by, packed, file
        self._coming = enumerate((span, work.items[span.place]) for span in spans)
        room = host_budget() if by.limit is None else by.limit
        self._ahead, self._may_end_early = max(2, room // max(1, work.bytes_of_sums)), work.may_end_early
        self._interrupts = Interrupts()
        self._next = 0  # the first that was not yielded
        self._tasks: dict[int, tuple[Span, Items]] = {}  # those that were taken of the work, and not yielded
        self._left = deque[int]()  # those of them to be given out next
        self._held_back: list[int] = []  # those whose worker waits for the arrays
        self._out: dict[Future[Outcome], tuple[int, str]] = {}  # the number, and the worker for which it has the arrays
        self._ended = SimpleQueue[Future[Outcome]]()
        self._found: dict[int, list[Found]] = {}
        self._tells, self._count_ended = False, 0  # whether a task was seen to run, and how many have ended
        self._deadline: float | None = None  # set once the run is given up

    def results(self) -> Iterator[Found]:
        """Yield results in order."""
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
        """Cancel waiting tasks; yield, in order, the results that come within 5 seconds, as far as none is missing."""
        if self._deadline is None:
            self._deadline = time.monotonic() + _PATIENCE
        for future in [*self._out]:
            future.cancel()
        while True:
            for future in [one for one in self._out if one.done()]:  # an interrupt may have lost its call of `_ended`
                number, _ = self._out.pop(future)
                if not future.cancelled() and future.exception() is None:
                    self._keep(number, future.result())
            yield from self._ready()
            left = self._deadline - time.monotonic()
            if not self._out or left <= 0:
                return
            with suppress(Empty):
                self._ended.get(timeout=min(left, _LOOK_SECONDS))

    def _keep(self, number: int, outcome: Outcome) -> None:
        if outcome.found is not None:
            self._found[number] = outcome.found

    def _ready(self) -> Iterator[Found]:
        while (found := self._found.pop(self._next, None)) is not None:
            del self._tasks[self._next]
            self._next += 1
            yield from found

    def _has_task(self) -> bool:
        """Whether there is a task to give out; the next one is cut off the work where its result has room."""
        if not self._left and len(self._tasks) < self._ahead:
            for number, task in islice(self._coming, 1):
                self._tasks[number] = task
                self._left.append(number)
        return bool(self._left)

    def _enough_wait(self) -> bool:
        """Whether as many tasks wait as may, or a result, which may end the work.

        Where an executor tells of no task that it runs, as many may wait as have ended.
        """
        if not self._may_end_early:
            return False
        if not self._ended.empty():
            return True
        self._tells = self._tells or any(future.running() for future in self._out)
        waiting = sum(not future.running() and not future.done() for future in self._out)
        return waiting >= (_WAITING if self._tells else max(_WAITING, self._count_ended))

    def _submit(self, number: int, worker: str = "") -> None:
        """Give a task out, with the arrays if a worker asks for them."""
        task = Task(
            self._packed.digest,
            str(self._file),
            *self._tasks[number],
            self._by.limit,
            next(self._by.attempts),
            version(),
            here(),
            bytes(self._packed) if worker else None,
        )
        try:
            future = self._by.executor.submit(run_task, task)
        except RuntimeError as error:  # it is broken, or was shut down
            raise self._given_up(error) from error
        self._out[future] = number, worker
        future.add_done_callback(self._ended.put)

    def _take(self, future: Future[Outcome]) -> None:
        """Take a task that has ended; one whose worker misses the work goes out again, with one copy for a worker."""
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
        if worker:  # it has the arrays, and those that waited for that go on
            self._left = deque(sorted([*self._left, *self._held_back]))
            self._held_back.clear()
        if not outcome.misses:
            self._keep(number, outcome)
        elif any(outcome.misses == asked for _, asked in self._out.values()):
            self._held_back.append(number)
        else:
            self._submit(number, outcome.misses)

    def _given_up(self, error: object) -> ExecutorError:
        what = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else str(error)
        name, done = type(self._by.executor).__name__, f"tasks of this part done: {self._next}"
        return ExecutorError(f"the executor, {name}, gave up a task ({what}); {done}")
