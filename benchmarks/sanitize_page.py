"""Logs and pages of sanitizers: a line for each tool and group of calls, the kernels that were missed, the reports."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from re import Match, Pattern

from benchmarks import machine

HEAD = "| tool | calls | seconds | kernels | errors | ended |"


@dataclass(frozen=True)
class Outcome:
    """The findings of a tool in a group of calls."""

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


@dataclass(frozen=True)
class Heading:
    """The title of a page, the device, the command, the word for kernels that ran, and whether each tool runs all."""

    title: str
    device: str
    command: str
    ran: str
    by_each: bool = False


def run(command: Sequence[str], limit: float, env: Mapping[str, str] | None = None, errors: Path | None = None) -> str:
    """Run a command in the checkout, and tell how it ended, if not well; a file gets its stream of errors."""
    try:
        done = subprocess.run(command, cwd=machine.ROOT, capture_output=True, text=True, timeout=limit, env=env)
    except subprocess.TimeoutExpired:
        return f"stopped after {limit:.0f} s"
    if errors is not None:
        errors.write_text(done.stderr, encoding="utf-8")
    return f"status {done.returncode}: {_last_line(done.stderr or done.stdout)}" if done.returncode else ""


def count_reports(
    log: str, report: Pattern[str], place: Pattern[str], name: Callable[[Match[str], Match[str] | None], str]
) -> Counter[str]:
    """Count the reports of a log by their names; the place of a report stands before the next one."""
    reports = Counter[str]()
    starts = [*report.finditer(log)]
    ends = [*(found.start() for found in starts), len(log)][1:]
    for found, after in zip(starts, ends, strict=True):
        reports[name(found, place.search(log, found.end(), after))] += 1
    return reports


def missed(outcomes: Sequence[Outcome], known: frozenset[str], by_each: bool) -> list[str]:
    """Name the kernels that no group has run: under any tool, or under each of them."""
    of_tools = {(of.tool, kernel) for of in outcomes for kernel in of.kernels}
    tools = Counter(kernel for _, kernel in of_tools)
    wanted = len({of.tool for of in outcomes}) if by_each else 1
    return sorted(kernel for kernel in known if tools[kernel] < max(wanted, 1))


def page(outcomes: Sequence[Outcome], of: Heading, known: frozenset[str], more: Sequence[str] = ()) -> str:
    """Lay out the table, the kernels that did not run, more lines, and the reports."""
    rows = [
        f"| {of.tool} | {of.group} | {of.seconds:.0f} | {len(of.kernels)} | {of.errors} | {of.ended or 'well'} |"
        for of in outcomes
    ]
    left = missed(outcomes, known, of.by_each)
    ran = sorted(known.difference(left))
    reports = [
        f"- {of.tool}, {of.group}: {text} ({count} times)" for of in outcomes for text, count in of.reports.items()
    ]
    return "\n".join(
        [
            f"# {of.title}",
            "",
            f"{of.device}; commit {machine.commit()}. By `{of.command}`.",
            f"{len(ran)} of {len(known)} kernels were {of.ran}{' under each tool' * of.by_each}.",
            "",
            *table(HEAD, rows),
            *(["", f"Not {of.ran}: " + ", ".join(left) + "."] if left else []),
            *more,
            *(["", "## Reports", "", *reports] if reports else []),
            *(["", "## Kernels", "", ", ".join(ran) + "."] if of.by_each and ran else []),
            "",
        ]
    )


def table(head: str, rows: Iterable[str]) -> list[str]:
    """Put a head above rows."""
    return [head, "|" + " --- |" * (head.count("|") - 1), *rows]


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:200].replace("|", "/") if lines else ""
