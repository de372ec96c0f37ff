"""A pool of threads, and waits for them that heed Ctrl-C and ``stop=``."""

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
    """Return the error that the main thread is handling, and the last uncaught one that Python printed."""
    handled: Any = sys._current_exceptions().get(threading.main_thread().ident or 0)
    # Python 3.11 gives a tuple of type, error and traceback.
    return [handled[1] if isinstance(handled, tuple) else handled, getattr(sys, "last_value", None)]


@dataclass(slots=True, eq=False)
class Interrupts:
    """The interrupts of a call: ``stop=``, and Ctrl-C, which Python raises in the main thread alone.

    Another thread looks whether the main thread has met a KeyboardInterrupt since the call began: it is handling it, or
    was ended by it and waits for the other threads.
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
    """A pool that is content with fewer threads, at least one, and whose waits heed Ctrl-C and ``stop=``."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._most, self._interrupts = most, Interrupts()

    def in_order(self, work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[tuple[Item, Result]]:
        """Yield each item with its result, in order, two calls a thread ahead; closing it cancels calls not begun."""
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
        """Submit a call with a copy of this context; KeyboardInterrupt if Ctrl-C has shut the pool down."""
        try:
            return super().submit(copy_context().run, fn, *args, **kwargs)
        except RuntimeError:
            self._interrupts.raise_if_interrupted()
            raise

    def wait_for(self, future: Future[Result], look: Callable[[], object] | None = None) -> Result:
        """Return the result of a call, or raise its error or an interrupt; `look` is called again and again meanwhile.

        It waits on a queue: two interrupts in turn during a wait on the future itself can leave its lock held.
        """
        ended = SimpleQueue[Future[Result]]()
        future.add_done_callback(ended.put)
        # Its error would hold this frame, and the frame the future: states would stay until the garbage collection.
        del future
        while True:
            self._interrupts.raise_if_interrupted()
            if look is not None:
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
    """Call a kernel on a thread with a flag that it polls; Ctrl-C and ``stop=`` set it, and are raised.

    The end of the seconds sets it, too: the result is then that of a stopped kernel.
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
