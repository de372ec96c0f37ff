"""SIGTERM, which batch systems send before they kill, as an exception like KeyboardInterrupt; neither is lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


class Terminated(KeyboardInterrupt):
    """The process was asked to end; files are closed and checkpoints written, as at Ctrl-C."""


@contextmanager
def signals_raise() -> Iterator[None]:
    """Let SIGINT and SIGTERM raise in the main thread, unless they have other handlers; a second SIGTERM is ignored.

    A signal that a library loses, or makes an ImportError of while it is loaded, is raised at the end.
    """
    received: list[KeyboardInterrupt] = []

    def handle(number: int, _: object) -> NoReturn:
        received.append(Terminated() if number == signal.SIGTERM else KeyboardInterrupt())
        if number == signal.SIGTERM:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise received[-1]

    before: dict[int, Any] = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    in_main = threading.current_thread() is threading.main_thread()
    taken = [number for number, handler in before.items() if in_main and signal.getsignal(number) is handler]
    for number in taken:
        signal.signal(number, handle)
    try:
        yield
    except Exception:
        if not received:
            raise
    finally:
        for number in taken:
            signal.signal(number, before[number])
    if received:
        raise received[-1]
