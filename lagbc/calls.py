"""A call as it runs: its phases, with the seconds of each where somebody records them, and its end by ``stop=``.

Functions mark their phase. Where nobody records, a mark costs a look at a context variable. The end at another thread's
request is polled where Ctrl-C is polled. The plan of a call and its seconds go to the logger "lagbc".
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import wraps
from threading import Lock
from typing import Any, Literal, ParamSpec, TypeVar, get_args

from lagbc.errors import StoppedError

# In order: reading and checking of the graph; directions, orders and groups; plan, upload and states of the workers;
# compiling and loading of kernels; batches; scores from sums.
Phase = Literal["check", "order", "prepare", "compile", "sweep", "finish"]
PHASES: tuple[Phase, ...] = get_args(Phase)

P = ParamSpec("P")
R = TypeVar("R")

# Calls tell their plan, its reasons and their seconds at INFO, to those who ask.
logger = logging.getLogger("lagbc")
logger.addHandler(logging.NullHandler())
_NOTHING = nullcontext()


def running(
    name: str, stop: Callable[[], object] | None = None, checkpoint: str | os.PathLike[str] | None = None
) -> AbstractContextManager[None]:
    """Return the context of a call: `stop` ends it, as in `stopping_by`, and its seconds go to who asks for them."""
    if stop is None and not logger.isEnabledFor(logging.INFO):
        return _NOTHING
    return _running(name, stop, checkpoint)


@contextmanager
def _running(name: str, stop: Callable[[], object] | None, checkpoint: str | os.PathLike[str] | None) -> Iterator[None]:
    begun = time.perf_counter()
    with stopping_by(stop, checkpoint):
        yield
    logger.info("%s: %.3g s", name, time.perf_counter() - begun)


def log_plan(name: str, plan: Any) -> None:
    """Log the first line of the plan of a call: a record that somebody keeps holds no graph."""
    if logger.isEnabledFor(logging.INFO):
        logger.info("%s: %s", name, str(plan).partition("\n")[0])


class Recorder:
    """Seconds by phase.

    At any time the phase that began last has the time: a phase within another is counted once, and so is the phase of
    a worker while the caller waits.

    Attributes
    ----------
    seconds : dict
        For each of `PHASES`, in their order.
    """

    def __init__(self, wait: Callable[[], object], watch: Callable[[Phase | None], object]) -> None:
        self.seconds: dict[Phase, float] = dict.fromkeys(PHASES, 0.0)
        self._wait, self._watch, self._lock = wait, watch, Lock()
        self._open: list[Phase] = []
        self._since = 0.0

    @contextmanager
    def phase(self, name: Phase) -> Iterator[None]:
        """Give the time of a block to a phase."""
        self._begin(name)
        try:
            yield
        finally:
            self._wait()
            self._end(name)

    def _begin(self, name: Phase) -> None:
        with self._lock:
            self._count()
            self._open.append(name)
            self._watch(name)

    def _end(self, name: Phase) -> None:
        with self._lock:
            self._count()
            self._open.reverse()
            self._open.remove(name)  # the last of this name
            self._open.reverse()
            self._watch(self._open[-1] if self._open else None)

    def _count(self) -> None:
        now = time.perf_counter()
        if self._open:
            self.seconds[self._open[-1]] += now - self._since
        self._since = now


_recorder: ContextVar[Recorder | None] = ContextVar("lagbc recorder", default=None)


@contextmanager
def record(
    wait: Callable[[], object] = lambda: None, watch: Callable[[Phase | None], object] = lambda _: None
) -> Iterator[Recorder]:
    """Record the phases of calls in a block: each calls `wait` at its end, `watch` gets the phase that has the time."""
    recorder = Recorder(wait, watch)
    token = _recorder.set(recorder)
    try:
        yield recorder
    finally:
        _recorder.reset(token)


def phase(name: Phase) -> AbstractContextManager[None]:
    """Return a context that is part of a phase."""
    recorder = _recorder.get()
    return _NOTHING if recorder is None else recorder.phase(name)


def in_phase(name: Phase) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function whose calls are part of a phase."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def within(*args: P.args, **kwargs: P.kwargs) -> R:
            if _recorder.get() is None:  # most calls: they do without a context
                return function(*args, **kwargs)
            with phase(name):
                return function(*args, **kwargs)

        return within

    return decorate


_check: ContextVar[Callable[[], None] | None] = ContextVar("lagbc stop", default=None)


def stopping_by(
    is_asked: Callable[[], object] | None, checkpoint: str | os.PathLike[str] | None = None
) -> AbstractContextManager[None]:
    """Return a context whose calls raise `StoppedError`, with the name of the checkpoint, once `is_asked` returns True.

    A call within another call ends for the outer call's reasons, too.
    """
    return _NOTHING if is_asked is None else _checking(is_asked, checkpoint)


@contextmanager
def _checking(is_asked: Callable[[], object], checkpoint: str | os.PathLike[str] | None) -> Iterator[None]:
    outer, kept = _check.get(), "" if checkpoint is None else f"; {os.fspath(checkpoint)} holds what is summed so far"

    def check() -> None:
        if outer is not None:
            outer()
        if is_asked():
            raise StoppedError(f"the run was stopped, as stop= asked for{kept}")

    token = _check.set(check)
    try:
        check()
        yield
    finally:
        _check.reset(token)


def raise_if_stopped() -> None:
    """Raise StoppedError if the current call shall end, in any thread that has its context."""
    if (check := _check.get()) is not None:
        check()


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put Ctrl-C off to the end of a block."""
    came, before = list[Any](), signal.getsignal(signal.SIGINT)
    try:
        if callable(before):
            signal.signal(signal.SIGINT, lambda *given: came.append(given))
    except ValueError:  # Python tells the main thread alone
        before = None
    try:
        yield
    finally:
        if callable(before):
            signal.signal(signal.SIGINT, before)
            if came:
                before(*came[0])


def whole_import(name: str) -> Any:
    """Import a module, and put Ctrl-C meanwhile off to the end.

    Another import follows one that is cut off. Compiled modules and registers do not stand that, and before Python 3.12
    a class that is cut off makes a RuntimeError of Ctrl-C.
    """
    with _NOTHING if name in sys.modules else uninterrupted():
        return __import__(name, fromlist=[""])  # not of `sys.modules`: another thread may be importing it
