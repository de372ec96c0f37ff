"""The steps of a command, shown on stderr if they take more than two seconds, with the time left if it is known."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lagbc.calls import Phase

# Seconds until a step is shown, between two looks, and between two phases that are one step.
_AFTER, _EVERY, _PAUSE = 2.0, 0.2, 0.1
# Steps of phases; the sweeps are missing, as batches have a bar of their own.
_PHASES: dict[Phase, str] = {
    "check": "checking the graph",
    "order": "putting the graph in order",
    "prepare": "preparing the run",
    "compile": "compiling",
    "finish": "finishing the scores",
}


class Steps:
    """The present step of a command."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._title, self._unit = "", ""
        self._since, self._left = 0.0, 0.0
        self._done, self._total = 0, 0
        self._bar: Any = None

    @contextmanager
    def step(self, title: str, unit: str = "") -> Iterator[None]:
        """Be in a step; `progress` may report its advance, in some unit."""
        self._change(title, unit, anew=True)
        try:
            yield
        finally:
            self._change("")

    def phase(self, name: Phase | None) -> None:
        """Enter a phase of a call, or leave it by None."""
        title = "" if name is None else _PHASES.get(name, "")
        if title != self._title:
            self._change(title, anew=not self._title and monotonic() > self._left + _PAUSE)

    def progress(self, done: int, total: int) -> None:
        """Report the advance of the step."""
        self._done, self._total = done, total

    def _change(self, title: str, unit: str = "", *, anew: bool = False) -> None:
        with self._lock:
            if self._bar is not None:
                self._bar.close()
            if anew:
                self._since = monotonic()
            if not title:
                self._left = monotonic()
            self._title, self._unit, self._bar = title, unit, None
            self._done, self._total = 0, 0

    def draw(self) -> None:
        """Show the step, if it has taken long enough."""
        with self._lock:
            if self._title and monotonic() >= self._since + _AFTER:
                self._bar = self._new_bar() if self._bar is None else self._bar
                self._bar.n = self._done
                self._bar.refresh()

    def _new_bar(self) -> Any:
        from tqdm import tqdm

        shape = {"total": self._total} if self._total else {"bar_format": "{desc}: {elapsed}"}
        title = f"lagbc: {self._title}"
        # The delay keeps it from being drawn before its start is set.
        bar = tqdm(desc=title, unit=self._unit, unit_scale=True, leave=False, delay=1e-9, file=sys.stderr, **shape)
        bar.start_t -= monotonic() - self._since
        return bar


@contextmanager
def shown_steps(wanted: bool) -> Iterator[Steps]:
    """Yield the steps of a command, and show them if `wanted`."""
    steps, closed = Steps(), Event()

    def watch() -> None:
        while not closed.wait(_EVERY):
            steps.draw()

    thread = Thread(target=watch, daemon=True)
    if wanted:
        thread.start()
    try:
        yield steps
    finally:
        closed.set()
        if wanted:
            thread.join()
        steps.phase(None)
