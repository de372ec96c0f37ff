"""Every CUDA kernel under NVIDIA's compute-sanitizer: ``python -m benchmarks.sanitize``.

Each of its tools watches each group of calls of `benchmarks.sanitize_calls`, a process at a time, as several at once
hang: memcheck (reads and writes out of bounds), racecheck (races in shared memory), initcheck (reads of memory that
nobody wrote), synccheck (barriers that some threads miss). All but memcheck are slow: they watch the calls that are the
first to launch a variant of a kernel, racecheck those of kernels that have shared memory. A run without a tool finds
out which these are. The page tells time, kernels and errors of each, the
kernels that no group launched, and what each error said. The command ends with status 1 if there is an error, a process
that failed or was ended, or a kernel that was not launched.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import click

from benchmarks import machine
from benchmarks.sanitize_calls import GROUPS
from lagbc.run.kernels import SOURCES

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
OPTIONS = {"memcheck": ("--leak-check=no",), "racecheck": ("--racecheck-report=analysis",)}
OUT = machine.ROOT / "benchmarks" / "results" / "sanitize.md"
HEAD = "| tool | calls | seconds | kernels | errors | ended |"

_KERNEL = re.compile(r"__global__[^{;]*?\b(\w+)\(([^)]*)\)\s*\{")
_SUMMARY = re.compile(r"(?:ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: \d+ hazards? displayed \((\d+) errors?)")
_REPORT = re.compile(
    r"^========= (?:Error: |Warning: )?((?:Invalid|Uninitialized|Race|Barrier|Program hit)[^\n]*)", re.M
)
_PLACE = re.compile(r"^=========\s+at (?:[\w ]+ )?(\w+)(?:\(|\+)", re.M)


@dataclass(frozen=True)
class Outcome:
    """What a tool said of a group of calls."""

    tool: str
    group: str
    seconds: float
    kernels: frozenset[str]
    errors: int
    ended: str  # how the process ended, if not well
    reports: Counter[str] = field(default_factory=Counter)

    @property
    def is_clean(self) -> bool:
        """Whether all calls were made, and nothing was reported."""
        return not self.errors and not self.ended


def kernels_of_sources() -> frozenset[str]:
    """Name every kernel of every source."""
    return frozenset(name for source in SOURCES for name, _ in _KERNEL.findall(source.text))


def parse(log: str) -> tuple[int, Counter[str]] | None:
    """Return the number of errors, and how often each was reported, as "message in kernel"; None without a summary."""
    counts = [int(errors or hazards) for errors, hazards in _SUMMARY.findall(log)]
    if not counts:
        return None
    reports = Counter[str]()
    starts = [*_REPORT.finditer(log)]
    ends = [*(found.start() for found in starts), len(log)][1:]
    for report, after in zip(starts, ends, strict=True):
        place = _PLACE.search(log, report.end(), after)
        reports[f"{report[1].strip()} in {place[1] if place else '?'}"] += 1
    return sum(counts), reports


def watch(tool: str, group: str, limit: float, sanitizer: str = "compute-sanitizer") -> Outcome:
    """Run a group of calls under a tool, at most so many seconds."""
    begun = perf_counter()
    with TemporaryDirectory() as folder:
        log, record = Path(folder, "log"), Path(folder, "record")
        calls = [sys.executable, "-m", "benchmarks.sanitize_calls", group, str(record)]
        options = list(OPTIONS.get(tool, ()))
        if tool != "memcheck":
            if ended := _run(calls, limit):
                return Outcome(tool, group, perf_counter() - begun, frozenset(), 0, ended)
            told = json.loads(record.read_text())
            if tool == "racecheck":
                options += [f"--kernel-name=kne={name}" for name in told["shared"]]
            calls += [str(call) for call in told["shared_calls" if tool == "racecheck" else "calls"]]
        ended = _run([sanitizer, f"--tool={tool}", *options, f"--log-file={log}", *calls], limit)
        seconds = perf_counter() - begun
        told = json.loads(record.read_text()) if record.exists() else {"kernels": [], "shared": []}
        kernels = frozenset(told["shared" if tool == "racecheck" else "kernels"])
        found = parse(log.read_text(errors="replace")) if log.exists() else None
    if found is None:
        return Outcome(tool, group, seconds, kernels, 0, ended or "no summary")
    return Outcome(tool, group, seconds, kernels, found[0], ended, found[1])


def _run(command: list[str], limit: float) -> str:
    """Run a command, and tell how it ended, if not well."""
    try:
        done = subprocess.run(command, cwd=machine.ROOT, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return f"stopped after {limit:.0f} s"
    return f"status {done.returncode}: {_last_line(done.stderr or done.stdout)}" if done.returncode else ""


def page(outcomes: Iterable[Outcome], device: str) -> str:
    """Lay out the table, the kernels that were not launched, and the reports."""
    outcomes = list(outcomes)
    launched = frozenset[str]().union(*(outcome.kernels for outcome in outcomes))
    rows = [
        f"| {of.tool} | {of.group} | {of.seconds:.0f} | {len(of.kernels)} | {of.errors} | {of.ended or 'well'} |"
        for of in outcomes
    ]
    missed = sorted(kernels_of_sources() - launched)
    reports = [
        f"- {of.tool}, {of.group}: {text} ({count} times)" for of in outcomes for text, count in of.reports.items()
    ]
    known = len(kernels_of_sources())
    return "\n".join(
        [
            "# CUDA kernels under compute-sanitizer",
            "",
            f"{device}; commit {machine.commit()}. By `python -m benchmarks.sanitize`.",
            f"{known - len(missed)} of {known} kernels were launched.",
            "",
            HEAD,
            "|" + " --- |" * (HEAD.count("|") - 1),
            *rows,
            *(["", "Not launched: " + ", ".join(missed) + "."] if missed else []),
            *(["", "## Reports", "", *reports] if reports else []),
            "",
        ]
    )


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200].replace("|", "/") if lines else ""


def _device() -> str:
    try:
        import cupy

        found: str = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        return f"{found}, CuPy {cupy.__version__}"
    except Exception:  # without a GPU nothing is launched, and the page says so
        return "no GPU"


@click.command(help=__doc__)
@click.option("--tools", default=",".join(TOOLS), show_default=True)
@click.option("--groups", default=",".join(GROUPS), show_default=True)
@click.option("--limit", default=120.0, show_default=True, help="Seconds of a process.")
@click.option("--sanitizer", default="compute-sanitizer", show_default=True, help="The program.")
@click.option("--out", type=click.Path(path_type=Path), default=OUT, show_default=True)
def main(tools: str, groups: str, limit: float, sanitizer: str, out: Path) -> None:
    """Run the tools, print a line each, and write the page."""
    outcomes = list[Outcome]()
    for tool in tools.split(","):
        for group in groups.split(","):
            outcomes.append(outcome := watch(tool, group, limit, sanitizer))
            click.echo(
                f"{tool} {group}: {outcome.seconds:.0f} s, {len(outcome.kernels)} kernels, {outcome.errors} errors, "
                f"{outcome.ended or 'ended well'}"
            )
            out.write_text(page(outcomes, _device()), encoding="utf-8")
    click.echo(out.read_text(encoding="utf-8"))
    launched = frozenset[str]().union(*(outcome.kernels for outcome in outcomes))
    sys.exit(not all(outcome.is_clean for outcome in outcomes) or bool(kernels_of_sources() - launched))


if __name__ == "__main__":
    main()
