"""Numbers, tables and what they say as text."""

from __future__ import annotations

from pathlib import Path


def table(rows: list[tuple[str, ...]], *, right: bool) -> str:
    """Align columns, the first row being their titles."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    align = ">" if right else "<"
    lines = ("  ".join(f"{cell:{align}{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


def size(count: float) -> str:
    """Return a number of bytes in the unit that suits it."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} TiB"


def duration(seconds: float) -> str:
    """Return a time with two digits, in the unit that suits it."""
    units = (("days", 86400.0, 2.0), ("h", 3600.0, 2.0), ("min", 60.0, 2.0), ("s", 1.0, 0.1), ("ms", 1e-3, 0.0))
    unit, length = next((unit, length) for unit, length, least in units if seconds >= least * length)
    return f"{float(f'{seconds / length:.2g}'):,g} {unit}"


def left_behind(checkpoint: Path | None) -> str:
    """Say what an interrupted run leaves."""
    if checkpoint is None:
        return "nothing is kept; with --checkpoint a run can go on where it was stopped"
    if checkpoint.exists():
        return f"{checkpoint} keeps the roots that are done; the same command goes on from there"
    return f"no root was done, so {checkpoint} was not written"
