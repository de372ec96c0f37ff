"""Measure the first call ever on a machine, which compiles what it calls: ``python -m benchmarks.first_call --help``.

Each round is a process of its own with an empty cache of compiled functions.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import click
from numba.core import event as events

import lagbc
from benchmarks import machine

Row = dict[str, Any]
_OF_NUMBA = "functions of numba"


@click.command()
@click.option("--graph", default="example:ca-GrQc", show_default=True, help="A file, or a network that lagbc ships.")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True)
@click.option("--dearest", default=12, show_default=True, help="How many functions to list.")
@click.option("--here", is_flag=True, hidden=True)
def main(graph: str, rounds: int, dearest: int, here: bool) -> None:
    """Print what `lagbc.bc` of a graph took with nothing compiled: the round of least processor time."""
    if here:
        click.echo(json.dumps(_first_call(graph)))
        return
    row = min((_in_a_process(graph) for _ in range(rounds)), key=lambda row: row["processor"])
    click.echo(markdown(graph, row, rounds, dearest))


def _in_a_process(graph: str) -> Row:
    """Run a call in a process of its own, and time that from its start to its end."""
    command = [sys.executable, "-m", "benchmarks.first_call", "--here", "--graph", graph]
    with tempfile.TemporaryDirectory() as empty:
        begun = time.perf_counter()
        environment = os.environ | {"NUMBA_CACHE_DIR": empty}
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        wall = time.perf_counter() - begun
        size = sum(file.stat().st_size for file in Path(empty).rglob("*") if file.is_file())
    row: Row = json.loads(done.stdout)
    return row | {"wall": wall, "bytes": size}


def _first_call(graph: str) -> Row:
    """Call, and say what this process has taken, and each function that was compiled."""
    compiling = _Compiling()
    events.register("numba:compile", compiling)  # type: ignore[no-untyped-call]
    lagbc.bc(lagbc.read_graph(graph))
    return {"processor": time.process_time(), "compiled": compiling.compiled, "seconds": compiling.seconds}


class _Compiling(events.Listener):  # type: ignore[misc]
    """Processor seconds of what is compiled, by name, each without what it calls; functions of lagbc are counted."""

    def __init__(self) -> None:
        self.compiled = 0
        self.seconds: dict[str, float] = defaultdict(float)
        self._of_thread = threading.local()

    @property
    def _nested(self) -> list[list[float]]:
        """When each function that this thread is compiling was begun, the outermost first, and what others took."""
        nested: list[list[float]] = self._of_thread.__dict__.setdefault("nested", [])
        return nested

    def on_start(self, event: Any) -> None:
        """Begin a function."""
        self._nested.append([time.thread_time(), 0.0])

    def on_end(self, event: Any) -> None:
        """End the function that was begun last."""
        begun, of_others = self._nested.pop()
        taken = time.thread_time() - begun
        if self._nested:
            self._nested[-1][1] += taken
        function = event.data["dispatcher"].py_func
        is_ours = function.__module__.startswith("lagbc.")
        self.compiled += is_ours
        name = f"{function.__module__.removeprefix('lagbc.')}.{function.__name__}" if is_ours else _OF_NUMBA
        self.seconds[name] += taken - of_others


def markdown(graph: str, row: Row, rounds: int, dearest: int) -> str:
    """Lay out what the call took, and the functions that took longest."""
    about, seconds, megabytes = machine.describe(), row["seconds"], row["bytes"] / 1e6
    total, listed = sum(seconds.values()), sorted(seconds.items(), key=lambda item: -item[1])[:dearest]
    return "\n".join(
        [
            f"`lagbc.bc` of {graph} in a new process with nothing compiled; {about['cpu']}, {about['cores']} cores,",
            f"commit {about['commit']}; of {rounds} rounds that of least processor time, from its start.",
            "",
            "| wall (s) | processor (s) | of it compiling | functions of lagbc | kept on disk (MB) |",
            "|---|---|---|---|---|",
            f"| {row['wall']:.1f} | {row['processor']:.1f} | {total:.1f} | {row['compiled']} | {megabytes:.1f} |",
            "",
            "| compiled, without what it calls | processor (s) |",
            "|---|---|",
            *(f"| {f'`{name}`' if name != _OF_NUMBA else name} | {taken:.2f} |" for name, taken in listed),
            f"| {len(seconds) - len(listed)} others | {total - sum(taken for _, taken in listed):.2f} |",
        ]
    )


if __name__ == "__main__":
    main()
