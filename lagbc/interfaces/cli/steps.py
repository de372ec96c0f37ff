"""What a command is doing, on stderr, where it takes more than two seconds: with the time left where it can be told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lagbc.phases import Phase

# Seconds until a step is shown, and between two looks. Phases with no more between them are one step.
_AFTER, _EVERY, _PAUSE = 2.0, 0.2, 0.1
# Batches have a bar of their own.
_PHASES: dict[Phase, str] = {
    "check": "checking the graph",
    "order": "putting the graph in order",
    "prepare": "preparing the run",
    "compile": "compiling",
    "finish": "finishing the scores",
}


class Steps:
    """The step that a command is in."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._what, self._unit = "", ""
        self._since, self._left = 0.0, 0.0
        self._done, self._total = 0, 0
        self._bar: Any = None

    @contextmanager
    def step(self, what: str, unit: str = "") -> Iterator[None]:
        """Be in a step; what is done of it, in some unit, may be told by `progress`."""
        self._change(what, unit, anew=True)
        try:
            yield
        finally:
            self._change("")

    def phase(self, name: Phase | None) -> None:
        """Be in a phase of a call, or in none."""
        what = "" if name is None else _PHASES.get(name, "")
        if what != self._what:
            self._change(what, anew=not self._what and monotonic() > self._left + _PAUSE)

    def progress(self, done: int, total: int) -> None:
        """Tell how much of the step is done."""
        self._done, self._total = done, total

    def _change(self, what: str, unit: str = "", *, anew: bool = False) -> None:
        with self._lock:
            if self._bar is not None:
                self._bar.close()
            if anew:
                self._since = monotonic()
            if not what:
                self._left = monotonic()
            self._what, self._unit, self._bar = what, unit, None
            self._done, self._total = 0, 0

    def draw(self) -> None:
        """Show the step, if it has taken long enough."""
        with self._lock:
            if self._what and monotonic() >= self._since + _AFTER:
                self._bar = self._new_bar() if self._bar is None else self._bar
                self._bar.n = self._done
                self._bar.refresh()

    def _new_bar(self) -> Any:
        from tqdm import tqdm

        shape = {"total": self._total} if self._total else {"bar_format": "{desc}: {elapsed}"}
        title = f"lagbc: {self._what}"
        # With a delay it is not drawn before its time is set.
        bar = tqdm(desc=title, unit=self._unit, unit_scale=True, leave=False, delay=1e-9, file=sys.stderr, **shape)
        bar.start_t -= monotonic() - self._since
        return bar


@contextmanager
def shown_steps(wanted: bool) -> Iterator[Steps]:
    """Yield the steps of a command, which are shown if that is wanted."""
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
