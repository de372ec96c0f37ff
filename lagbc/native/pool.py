"""Threads that the system starts, and a wait for them that heeds Ctrl-C and ``stop=``."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from math import inf
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from lagbc.calls import raise_if_stopped
from lagbc.errors import OutOfMemoryError

Item = TypeVar("Item")
Result = TypeVar("Result")

# Seconds between two looks at the main thread's interrupts.
_LOOK_SECONDS = 0.1


def _errors_of_main_thread() -> list[Any]:
    """Return the error that the main thread handles, and the last uncaught one that Python printed."""
    handled: Any = sys._current_exceptions().get(threading.main_thread().ident or 0)
    # Python 3.11 gives a tuple of type, error and traceback.
    return [handled[1] if isinstance(handled, tuple) else handled, getattr(sys, "last_value", None)]


@dataclass(slots=True, eq=False)
class Interrupts:
    """The ends of a thread's call: ``stop=``, and Ctrl-C, which Python tells the main thread alone.

    Another thread that waits looks whether the main thread has met a KeyboardInterrupt meanwhile: the main thread
    handles it, or was ended by it and waits for the other threads.
    """

    errors_before: list[Any] = field(default_factory=_errors_of_main_thread)

    def raise_if_interrupted(self) -> None:
        """Raise StoppedError if ``stop=`` asks for it, or KeyboardInterrupt if the main thread has met one."""
        raise_if_stopped()
        if threading.current_thread() is not threading.main_thread():
            for error in _errors_of_main_thread():
                if isinstance(error, KeyboardInterrupt) and all(error is not other for other in self.errors_before):
                    raise KeyboardInterrupt from None


class Pool(ThreadPoolExecutor):
    """A pool that makes do with the threads that the system starts, at least one; it heeds Ctrl-C and ``stop=``."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._most, self._interrupts = most, Interrupts()

    def in_order(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
        """Yield each item with the result of its call, in order, two a thread ahead; a close cancels waiting calls."""
        left = iter(items)
        pending: deque[tuple[Item, Future[Result]]] = deque()
        try:
            while True:
                while len(pending) < 2 * self._most and (item := next(left, None)) is not None:
                    pending.append((item, self.submit(work, item)))
                if not pending:
                    return
                # No name holds a result, which would stay during the wait for the next one.
                yield pending[0][0], self.wait_for(pending.popleft()[1])
        finally:
            for _, future in pending:
                future.cancel()

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Submit a call with a copy of this context; KeyboardInterrupt where one ends the process."""
        try:
            return super().submit(copy_context().run, fn, *args, **kwargs)
        except RuntimeError:
            self._interrupts.raise_if_interrupted()
            raise

    def wait_for(self, future: Future[Result], look: Callable[[], object] = lambda: None) -> Result:
        """Return the result of a call, or raise its error, or an interrupt of the wait; `look` is called meanwhile.

        The wait is one of a queue: two interrupts in turn can leave the lock of a future that is waited for held.
        """
        ended = SimpleQueue[Future[Result]]()
        future.add_done_callback(ended.put)
        # Else its error would hold it by this frame, in a circle: states would stay until the garbage collection.
        del future
        while True:
            self._interrupts.raise_if_interrupted()
            look()
            try:
                return ended.get(timeout=_LOOK_SECONDS).result()
            except Empty:
                pass

    def _adjust_thread_count(self) -> None:
        try:
            super()._adjust_thread_count()  # type: ignore[misc]
        except RuntimeError as error:  # "can't start new thread"
            if not self._threads:
                raise OutOfMemoryError("the system starts no thread") from error


def polled(kernel: Callable[[NDArray[np.uint8]], Result], seconds: float = inf) -> Result:
    """Call a kernel with the flag that it polls, on a thread; Ctrl-C and ``stop=`` end the wait, and set it.

    After so many seconds it is set, too, and the result is that of a kernel that was stopped.
    """
    flag, end = np.zeros(1, np.uint8), monotonic() + seconds

    def look() -> None:
        flag[0] = monotonic() > end

    look()
    with Pool(1) as pool:
        try:
            return pool.wait_for(pool.submit(kernel, flag), look)
        finally:
            flag[0] = 1
