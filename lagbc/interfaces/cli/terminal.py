"""The terminal of a command: numbers, tables and notes as text, and the steps of the command."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from lagbc.calls import Phase


# Arguments whose options have another name.
_OPTIONS = {"rng": "seed", "standard_error": "error"}
_QUOTES = "'\""
# Characters of a line.
_WIDTH = 100


def table(rows: list[tuple[str, ...]], *, right: bool) -> str:
    """Align columns below their titles, the first row."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    align = ">" if right else "<"
    lines = ("  ".join(f"{cell:{align}{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def wrapped(text: str) -> str:
    """Break a sentence into lines that a terminal holds; its words stay whole."""
    return textwrap.fill(text, _WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def note(text: str) -> None:
    """Print a note on stderr, unless the command is to be quiet."""
    context = click.get_current_context(silent=True)
    if context is None or not context.params.get("quiet"):
        click.echo(f"lagbc: note: {text}", err=True)


def duration(seconds: float) -> str:
    """Return a time with two digits, in a suitable unit."""
    units = (("days", 86400.0, 2.0), ("h", 3600.0, 2.0), ("min", 60.0, 2.0), ("s", 1.0, 0.1), ("ms", 1e-3, 0.0))
    unit, length = next((unit, length) for unit, length, least in units if seconds >= least * length)
    return f"{float(f'{seconds / length:.2g}'):,g} {unit}"


def timing(total: float, phases: Mapping[Phase, float]) -> str:
    """Return the seconds of the phases of a call, if there are any, and of the whole call."""
    parts = ", ".join(f"{name} {duration(seconds)}" for name, seconds in phases.items())
    return f"phases: {parts}\ntime: {total:.3g} s" if parts else f"time: {total:.3g} s"


def left_behind(checkpoint: Path | None) -> str:
    """Describe the remains of an interrupted run."""
    if checkpoint is None:
        return "nothing is kept; with --checkpoint a run can go on where it was stopped"
    if checkpoint.exists():
        return f"{checkpoint} keeps the roots that are done; the same command goes on from there"
    return f"no root was done, so {checkpoint} was not written"


def _options_of(command: click.Command) -> dict[str, click.Option]:
    """Return the options of a command by the arguments of its function."""
    options = {param.name: param for param in command.params if isinstance(param, click.Option) and param.name}
    return options | {name: options[option] for name, option in _OPTIONS.items() if option in options}


def argument_among(typed: Iterable[str], command: click.Command) -> tuple[str, str] | None:
    """Return what was typed as an option if it is an argument of the function, such as --rng, and the option."""
    options = _options_of(command)
    named = {name for option in options.values() for name in (*option.opts, *option.secondary_opts)}
    for flag in typed:
        name = flag.partition("=")[0]
        option = options.get(name.removeprefix("--").replace("-", "_"))
        if name.startswith("--") and name not in named and option is not None:
            return name, option.opts[0]
    return None


def in_options(message: str, command: click.Command | None) -> str:
    """Replace arguments of Python in a message by options of a command, memory= by --memory, but not within calls."""
    options = _options_of(command) if command else {}
    if not options:
        return message

    def flag(found: re.Match[str]) -> str:
        if found["call"]:
            return found["call"]
        option, value = options[found["name"]], found["value"]
        name = option.opts[0]
        if value is None or value == "True":
            return name
        if value == "False":
            return option.secondary_opts[0] if option.secondary_opts else f"leaving out {name}"
        if value[0] == "(":
            return f"{name} {value[1:-1].replace(', ', ',')}"
        return f"{name} {value.strip(_QUOTES)}"

    names = "|".join(map(re.escape, options))
    value = r"(?P<value>'[^']*'|\"[^\"]*\"|\([^()]*\)|[^\s,;:()]+)"
    return re.sub(rf"(?P<call>\w\([^()]*\))|(?<![\w/.-])(?P<name>{names})={value}?", flag, message)


# Seconds until a step is shown, between two looks, and at most between two phases of one step.
_AFTER, _EVERY, _PAUSE = 2.0, 0.2, 0.1
# The steps of phases. Sweeps are not among them, as their batches have a bar.
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
        """Be in a step; `progress` may report its advance in the unit."""
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
        """Enter a step, whose time begins `anew` or goes on; leave all by no title."""
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
        """Show the step once it has taken long enough."""
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
