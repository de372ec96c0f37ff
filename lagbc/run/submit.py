"""Works carried by an executor: anything with the `submit` of `concurrent.futures.Executor`.

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
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from lagbc.errors import ExecutorError, StoppedError
from lagbc.limits import host_budget
from lagbc.native.pool import Interrupts
from lagbc.run.packed import Packed, pack
from lagbc.run.tasks import Done, Failed, Missing, Outcome, Task, forget, here, run_task, version
from lagbc.run.work import Found, Items, PieceWork, Span

# Seconds between two looks at the main thread's interrupts, and of the wait for running tasks after a run is given up.
_LOOK_SECONDS, _PATIENCE = 0.1, 5.0
# Tasks of a work that may end early which wait beside the running ones, and seconds between two looks at these.
_WAITING, _LOOK_AT_RUNNING = 4, 0.002

Spans = Iterator[Span]


class Submit:
    """Carries works by an executor, whose workers are processes in which lagbc can be imported, or threads.

    Each worker, and the results that wait here, may take `limit` bytes; None is the budget of each process. An error
    names the checkpoint.
    """

    def __init__(self, executor: Any, limit: int | None = None, checkpoint: Path | None = None) -> None:
        self._executor, self._limit, self._checkpoint = executor, limit, checkpoint
        self._packed: dict[str, Packed] = {}

    def __enter__(self) -> Submit:
        self._folder = Path(tempfile.mkdtemp(prefix="lagbc-"))
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
        for digest in self._packed:
            forget(str(self._folder / digest))  # where the workers are threads of this process

    def carry(self, work: PieceWork, first: int, last: int) -> Generator[Found]:
        """Carry a work, a portion a task; ExecutorError if the executor is broken, or gives a task up.

        Before that or another end is raised, waiting tasks are cancelled, and the results of the next 5 seconds are
        yielded, as far as none is missing.
        """
        packed = pack(work)
        file = self._folder / packed.digest
        if packed.digest not in self._packed:
            packed.write(file)
            self._packed[packed.digest] = packed
        room = host_budget() if self._limit is None else self._limit
        ahead = max(2, room // max(1, work.bytes_of_sums))
        spans = work.spans(first, last, work.portion)
        run = _Run(self._executor, packed, file, self._limit, ahead, work, spans)
        try:
            for found in run.results():
                yield from found
                del found
        except (KeyboardInterrupt, StoppedError, ExecutorError) as error:
            run.cancel()
            for found in run.finished_in_time():
                yield from found
            if isinstance(error, ExecutorError) and self._checkpoint is not None:
                raise ExecutorError(f"{error}; {self._checkpoint} holds what is summed so far") from error.__cause__
            raise
        finally:
            run.cancel()
            run.wait()


class _Run:
    """The spans of a work, some of them with the executor."""

    def __init__(
        self, executor: Any, packed: Packed, file: Path, limit: int | None, ahead: int, work: PieceWork, spans: Spans
    ) -> None:
        self._executor, self._packed, self._file, self._limit = executor, packed, file, limit
        self._coming = ((span, work.items[span.place]) for span in spans)
        self._ahead, self._waiting = ahead, _WAITING if work.may_end_early else None
        self._interrupts = Interrupts()
        self._attempts = count()
        self._next = 0  # the first that was not yielded
        self._tasks: dict[int, tuple[Span, Items]] = {}  # those that were taken of the work, and not yielded
        self._taken, self._is_whole = 0, False  # how many were, and whether these are all
        self._left = deque[int]()  # those to be given out next
        self._tells, self._count_ended = False, 0  # whether a task was seen to run, and how many have ended
        self._out: dict[Future[Outcome], tuple[int, bool]] = {}  # the number of the task, and whether it carries arrays
        self._ended = SimpleQueue[Future[Outcome]]()
        self._results: dict[int, list[Found]] = {}
        self._asked: set[str] = set()  # workers that arrays were sent out for
        self._held_back: list[int] = []
        self._deadline: float | None = None  # set once the run is given up

    def results(self) -> Iterator[list[Found]]:
        """Yield results in order."""
        while True:
            yield from self._ready()
            while not (is_held := self._enough_wait()) and self._has_task():
                self._submit(self._left.popleft())
            if self._is_whole and self._next == self._taken:
                return
            self._interrupts.raise_if_interrupted()
            with suppress(Empty):
                self._take(self._ended.get(timeout=_LOOK_AT_RUNNING if is_held else _LOOK_SECONDS))

    def _has_task(self) -> bool:
        """Whether there is a task to give out; the next one is cut off the work where its result has room."""
        if not self._left and not self._is_whole and self._taken < self._next + self._ahead:
            task = next(self._coming, None)
            self._is_whole = task is None
            if task is not None:
                self._tasks[self._taken] = task
                self._left.append(self._taken)
                self._taken += 1
        return bool(self._left)

    def _enough_wait(self) -> bool:
        """Whether as many tasks wait as may, or a result, which may end the work.

        Where an executor tells of no task that it runs, as many may wait as have ended.
        """
        if self._waiting is None:
            return False
        if not self._ended.empty():
            return True
        self._tells = self._tells or any(future.running() for future in self._out)
        waiting = sum(not future.running() and not future.done() for future in self._out)
        return waiting >= (self._waiting if self._tells else max(self._waiting, self._count_ended))

    def finished_in_time(self) -> Iterator[list[Found]]:
        """Yield, in order, the results that come before the deadline of a run that is given up."""
        yield from self._ready()
        for future in self._until_all_ended():
            number, _ = self._out.pop(future)
            outcome = None if future.cancelled() or future.exception() is not None else future.result()
            if isinstance(outcome, Done):
                self._results[number] = outcome.found
            yield from self._ready()

    def cancel(self) -> None:
        """Cancel the tasks that wait."""
        self._left.clear()
        self._is_whole = True
        if self._deadline is None:
            self._deadline = time.monotonic() + _PATIENCE
        for future in [*self._out]:
            future.cancel()

    def wait(self) -> None:
        """Wait for running tasks, up to the deadline."""
        for future in self._until_all_ended():
            self._out.pop(future, None)

    def _until_all_ended(self) -> Iterator[Future[Outcome]]:
        assert self._deadline is not None
        while any(not future.cancelled() for future in self._out) and (left := self._deadline - time.monotonic()) > 0:
            with suppress(Empty):
                yield self._ended.get(timeout=left)

    def _ready(self) -> Iterator[list[Found]]:
        while (results := self._results.pop(self._next, None)) is not None:
            self._next += 1
            del self._tasks[self._next - 1]
            yield results

    def _submit(self, number: int, *, arrays: bool = False) -> None:
        task = Task(
            self._packed.digest,
            str(self._file),
            *self._tasks[number],
            self._limit,
            next(self._attempts),
            version(),
            here(),
            bytes(self._packed) if arrays else None,
        )
        try:
            future = self._executor.submit(run_task, task)
        except RuntimeError as error:  # it is broken, or was shut down
            raise self._given_up(error) from error
        self._out[future] = number, arrays
        future.add_done_callback(self._ended.put)

    def _take(self, future: Future[Outcome]) -> None:
        """Take a task that has ended."""
        number, had_arrays = self._out.pop(future)
        self._count_ended += 1
        if future.cancelled():
            raise self._given_up("a task was cancelled")
        error = future.exception()
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        if error is not None:
            raise self._given_up(error) from error
        outcome = future.result()
        if isinstance(outcome, Failed):
            raise outcome.error
        if had_arrays:
            self._arrived()
        if isinstance(outcome, Missing):
            self._send_again(number, outcome.worker)
        elif isinstance(outcome, Done):
            self._results[number] = outcome.found

    def _send_again(self, number: int, worker: str) -> None:
        """Send a task with the arrays: one for each worker that asks, while its other tasks wait."""
        if worker in self._asked:
            self._held_back.append(number)
            return
        self._asked.add(worker)
        self._submit(number, arrays=True)

    def _arrived(self) -> None:
        """Release held-back tasks, as a worker has its arrays; once all have arrived, workers may ask again."""
        self._left = deque(sorted([*self._left, *self._held_back]))
        self._held_back.clear()
        if not any(arrays for _, arrays in self._out.values()):
            self._asked.clear()

    def _given_up(self, error: object) -> ExecutorError:
        what = f"{type(error).__name__}: {error}" if isinstance(error, BaseException) else str(error)
        name, done = type(self._executor).__name__, f"tasks of this part done: {self._next}"
        return ExecutorError(f"the executor, {name}, gave up a task ({what}); {done}")
