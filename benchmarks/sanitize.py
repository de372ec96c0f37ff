"""Every kernel under sanitizers: ``python -m benchmarks.sanitize``, and with ``--native`` those of the CPU.

CUDA kernels run under NVIDIA's compute-sanitizer. Each of its tools watches each group of calls of
`benchmarks.sanitize_calls`, a process at a time, as several at once hang: memcheck (reads and writes out of bounds),
racecheck (races in shared memory), initcheck (reads of memory that nobody wrote), synccheck (barriers that some threads
miss). All but memcheck are slow: they watch the calls that are the first to launch a variant of a kernel, racecheck
one call for each kernel that has shared memory. A run without a tool finds out which these are.

A lane of the batched kernels loads neighbouring columns of a row at once, those that its bits leave out among them, and
initcheck reports these loads. Beside it all calls are therefore made twice, with new memory full of zeros and full of
NaNs (fill): no score may depend on it. How kernels of the CPU run, `benchmarks.sanitize_native` says.

The page tells time, kernels and errors of each, the kernels that no group ran, and what each error said. The command
ends with status 1 if there is an error, a process that failed or was ended, a kernel that did not run, or a planted
error that was not noticed.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import click
import numpy as np

from benchmarks import machine, sanitize_native
from benchmarks.sanitize_calls import GROUPS
from benchmarks.sanitize_page import Heading, Outcome, count_reports, missed, page, run
from lagbc.centrality.compiled import SOURCES

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck", "fill")
FILLS = 0, 255  # bytes: zeros, and NaNs
TOLERANCE = 1e-5  # of scores: traversals add in the order in which threads come
OPTIONS = {
    "initcheck": ("--show-backtrace=no", "--print-limit=0"),
    "memcheck": ("--leak-check=no",),
    "racecheck": ("--racecheck-report=analysis",),
}
RESULTS = machine.ROOT / "benchmarks" / "results"

_KERNEL = re.compile(r"__global__[^{;]*?\b(\w+)\(([^)]*)\)\s*\{")
_SUMMARY = re.compile(r"(?:ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: \d+ hazards? displayed \((\d+) errors?)")
_REPORT = re.compile(
    r"^========= (?:Error: |Warning: )?((?:Invalid|Uninitialized|Race|Barrier|Program hit)[^\n]*)", re.M
)
_PLACE = re.compile(r"^=========\s+at (?:[\w ]+ )?(\w+)(?:\(|\+)", re.M)


def kernels_of_sources() -> frozenset[str]:
    """Name every kernel of every source."""
    return frozenset(name for source in SOURCES for name, _ in _KERNEL.findall(source.text))


def parse(log: str) -> tuple[int, Counter[str]] | None:
    """Return the number of errors, and how often each was reported, as "message in kernel"; None without a summary."""
    counts = [int(errors or hazards) for errors, hazards in _SUMMARY.findall(log)]
    if not counts:
        return None
    reports = count_reports(log, _REPORT, _PLACE, lambda of, at: f"{of[1].strip()} in {at[1] if at else '?'}")
    return sum(counts), reports


def compare_fills(group: str, limit: float) -> Outcome:
    """Make a group of calls with new memory full of one byte, and of another; a score that differs is an error."""
    begun, found = perf_counter(), list[dict[str, Any]]()
    kernels, ended = frozenset[str](), ""
    with TemporaryDirectory() as folder:
        record = Path(folder, "record")
        for byte in FILLS:
            ended = ended or run(
                [sys.executable, "-m", "benchmarks.sanitize_calls", group, str(record), f"--fill={byte}"], limit
            )
            if record.exists():
                kernels |= frozenset(json.loads(record.read_text())["kernels"])
            if not ended:
                found.append(dict(np.load(record.with_suffix(".npz"))))
    if ended:
        return Outcome("fill", group, perf_counter() - begun, kernels, 0, ended)
    zeros, nans = found
    others = [name for name, scores in zeros.items() if not np.allclose(scores, nans[name], rtol=TOLERANCE, atol=0)]
    differing = Counter(f"scores of call {name.partition(' ')[0]}" for name in others)
    return Outcome("fill", group, perf_counter() - begun, kernels, len(others), "", differing)


def watch(tool: str, group: str, limit: float, sanitizer: str = "compute-sanitizer") -> Outcome:
    """Run a group of calls under a tool, at most so many seconds."""
    if tool == "fill":
        return compare_fills(group, limit)
    begun = perf_counter()
    with TemporaryDirectory() as folder:
        log, record = Path(folder, "log"), Path(folder, "record")
        calls = [sys.executable, "-m", "benchmarks.sanitize_calls", group, str(record)]
        options = list(OPTIONS.get(tool, ()))
        if tool != "memcheck":
            if ended := run(calls, limit):
                return Outcome(tool, group, perf_counter() - begun, frozenset(), 0, ended)
            told = json.loads(record.read_text())
            if tool == "racecheck":
                options += [f"--kernel-name=kne={name}" for name in told["shared"]]
            calls += [str(call) for call in told["shared_calls" if tool == "racecheck" else "calls"]]
        ended = run([sanitizer, f"--tool={tool}", *options, f"--log-file={log}", *calls], limit)
        seconds = perf_counter() - begun
        told = json.loads(record.read_text()) if record.exists() else {"kernels": [], "shared": []}
        kernels = frozenset(told["shared" if tool == "racecheck" else "kernels"])
        found = parse(log.read_text(errors="replace")) if log.exists() else None
    if found is None:
        return Outcome(tool, group, seconds, kernels, 0, ended or "no summary")
    return Outcome(tool, group, seconds, kernels, found[0], ended, found[1])


def _device() -> str:
    try:
        import cupy

        found: str = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        return f"{found}, CuPy {cupy.__version__}"
    except Exception:  # without a GPU nothing is launched, and the page says so
        return "no GPU"


@dataclass(frozen=True)
class Run:
    """What is run: groups of calls under tools, and errors that each of these has to notice."""

    heading: Heading
    known: frozenset[str]
    groups: dict[str, tuple[str, ...]]  # of each tool
    watch: Callable[[str, str], Outcome]
    planted: Callable[[str], dict[str, str]]
    out: Path


def _cuda(limit: float, sanitizer: str) -> Run:
    heading = Heading("CUDA kernels under compute-sanitizer", _device(), "python -m benchmarks.sanitize", "launched")
    watching, groups = partial(watch, limit=limit, sanitizer=sanitizer), dict.fromkeys(TOOLS, (*GROUPS,))
    return Run(heading, kernels_of_sources(), groups, watching, lambda tool: {}, RESULTS / "sanitize.md")


def _native(limit: float) -> Run:
    heading = Heading(
        "Kernels of the CPU under sanitizers",
        sanitize_native.describe(),
        "python -m benchmarks.sanitize --native",
        "called",
        by_each=True,
    )
    watching, groups = partial(sanitize_native.watch, limit=limit), sanitize_native.groups_of_tools()
    known, out = frozenset(sanitize_native.kernels()), RESULTS / "sanitize_native.md"
    return Run(heading, known, groups, watching, sanitize_native.notice, out)


@click.command(help=__doc__)
@click.option("--native", is_flag=True, help="Kernels of the CPU, by ASan, UBSan and TSan.")
@click.option("--tools", help="Some of them, between commas.")
@click.option("--groups", help="Some of them, between commas.")
@click.option("--limit", type=float, help="Seconds of a process; 120, or 1800 with --native.")
@click.option("--sanitizer", default="compute-sanitizer", show_default=True, help="The program for CUDA.")
@click.option("--out", type=click.Path(path_type=Path), help="The page; in benchmarks/results if it is left out.")
def main(
    native: bool, tools: str | None, groups: str | None, limit: float | None, sanitizer: str, out: Path | None
) -> None:
    """Run the tools, print a line each, and write the page."""
    what = _native(limit or 1800.0) if native else _cuda(limit or 120.0, sanitizer)
    out = out or what.out
    outcomes, planted = list[Outcome](), dict[tuple[str, str], str]()
    for tool in tools.split(",") if tools else what.groups:
        planted |= {(tool, name): said for name, said in what.planted(tool).items()}
        for group in [group for group in what.groups[tool] if not groups or group in groups.split(",")]:
            outcomes.append(outcome := what.watch(tool, group))
            click.echo(
                f"{tool} {group}: {outcome.seconds:.0f} s, {len(outcome.kernels)} kernels, {outcome.errors} errors, "
                f"{outcome.ended or 'ended well'}"
            )
            more = sanitize_native.planted_lines(planted)
            out.write_text(page(outcomes, what.heading, what.known, more), encoding="utf-8")
    click.echo(out.read_text(encoding="utf-8"))
    is_clean = all(outcome.is_clean for outcome in outcomes) and all(planted.values())
    sys.exit(not is_clean or bool(missed(outcomes, what.known, what.heading.by_each)))


if __name__ == "__main__":
    main()
