"""The end of a run at another thread's request, by ``stop=``; polled where Ctrl-C is polled."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from lagbc.errors import StoppedError

_check: ContextVar[Callable[[], None] | None] = ContextVar("lagbc stop", default=None)


def stopping_by(
    is_asked: Callable[[], object] | None, checkpoint: str | os.PathLike[str] | None = None
) -> AbstractContextManager[None]:
    """Return a context whose calls raise `StoppedError`, with the name of the checkpoint, once `is_asked` returns True.

    A call within another call ends for the outer call's reasons, too.
    """
    return nullcontext() if is_asked is None else _checking(is_asked, checkpoint)


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
