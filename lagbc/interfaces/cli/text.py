"""Numbers, tables and messages as text."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from pathlib import Path

import click

from lagbc.calls import Phase

# Arguments whose options have another name.
_OPTIONS = {"rng": "seed"}
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


def in_options(message: str, command: click.Command | None) -> str:
    """Replace arguments of a function in a message by options of a command: memory= by --memory; calls stay Python."""
    options = {param.name: param for param in command.params if isinstance(param, click.Option)} if command else {}
    options |= {name: options[option] for name, option in _OPTIONS.items() if option in options}
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
