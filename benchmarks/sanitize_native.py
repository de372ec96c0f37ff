"""Kernels of the CPU under AddressSanitizer with UndefinedBehaviorSanitizer, and under ThreadSanitizer.

Each tool has a build of its own in build/sanitize, of the level of this machine. A process of
`benchmarks.sanitize_native_calls` a group loads it: tests of kernels by family, calls on several threads, malformed
graphs, arguments and files, which have to be refused, and Python that ends while kernels run. Before, each error of
benchmarks/planted.cpp is made in a process of its own, which the tool has to report. Each tool has to see every kernel.

Needs GCC, and nanobind, cmake and ninja in the environment (``pip install cmake ninja``). Leaks are not looked for:
CPython has its own.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from benchmarks import machine
from benchmarks.sanitize_native_calls import kernels
from benchmarks.sanitize_page import Outcome, count_reports, run, table

__all__ = ["describe", "groups_of_tools", "kernels", "notice", "planted_lines", "watch"]


@dataclass(frozen=True)
class Tool:
    """A build: its sanitizers, the libraries loaded before Python, options, and errors that it has to notice."""

    sanitize: str
    libraries: tuple[str, ...]
    options: Mapping[str, str]
    planted: tuple[str, ...]


TOOLS = {
    "address": Tool(
        "address,undefined,float-cast-overflow",
        ("libasan.so", "libubsan.so"),
        {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1", "UBSAN_OPTIONS": "print_stacktrace=1"},
        (
            *("read_past_the_end", "write_before_the_start", "read_row_that_is_not_there", "read_buffer_that_moved"),
            *("read_freed_buffer", "read_none", "shift_by_all_bits", "count_beyond_32_bits", "read_misaligned"),
            *("read_column_64", "cast_beyond_64_bits"),
        ),
    ),
    "thread": Tool(
        "thread",
        ("libtsan.so",),
        {"TSAN_OPTIONS": f"suppressions={machine.ROOT / 'benchmarks' / 'thread_sanitizer.supp'}"},
        ("add_to_one_sum", "read_flag_plainly"),
    ),
}


def _tests(*files: str) -> tuple[str, ...]:
    return ("tests", *(f"tests/{file}.py" for file in files))


# The arguments of a process of `sanitize_native_calls`.
GROUPS = {
    "batched": _tests("native/test_stop_flag", "test_bits"),
    "traversal": _tests(
        "native/test_traversals", "methods/cpu/test_traversal_hops", "methods/cpu/test_traversal_lengths"
    ),
    "within": _tests("methods/cpu/test_within"),
    "highest": (*_tests("centrality/test_highest"), "-k", "not full"),
    "extended": (*_tests("test_overflow"), "-k", "extended"),
    "reduce": _tests(
        "native/test_reductions",
        "reduce/test_blocks",
        "reduce/test_twins",
        "reduce/test_chains",
    ),
    "graph": _tests("graph/test_host", "graph/test_order"),
    "paths": _tests("native/test_sampler"),
    "io": _tests("native/test_edge_lists", "io/test_edge_list", "io/test_vertices"),
    "methods": _tests(
        "methods/cpu/test_columns",
        "methods/cpu/test_members",
        "methods/test_probe",
        "centrality/test_searches",
    ),
    "grid": _tests("grid/test_grid_sweep", "grid/test_edges_of_rank"),
    "records": _tests("native/test_native", "native/test_shapes"),
    "malformed graphs": ("graphs",),
    "wrong arguments": ("arguments",),
    "malformed files": ("files",),
    "threads": ("threads",),
    "runs": _tests("run/test_threads", "run/test_works", "native/test_native"),
    "ending": ("ending",),
}
# Under ThreadSanitizer they take minutes; "threads" has the kernels of reductions, and what is malformed no threads.
_ADDRESS_ALONE = {"reduce", "malformed graphs", "wrong arguments", "malformed files"}
_REPORT = re.compile(
    r"(?:ERROR: AddressSanitizer: (?P<address>[\w-]+)|runtime error: (?P<undefined>[^\n]+)"
    r"|WARNING: ThreadSanitizer: (?P<thread>[^\n(]+))"
)
_PLACE = re.compile(r"#\d+ .*?((?:lagbc/native|benchmarks)/[\w/.]+:\d+)")


def groups_of_tools() -> dict[str, tuple[str, ...]]:
    """Name the groups that each tool watches, which together call every kernel."""
    return {"address": (*GROUPS,), "thread": tuple(name for name in GROUPS if name not in _ADDRESS_ALONE)}


def describe() -> str:
    """Name the processor, the compiler and Python."""
    version = subprocess.run(["c++", "-dumpfullversion"], capture_output=True, text=True, check=True).stdout.strip()
    return f"{machine.cpu_model()}, GCC {version}, Python {platform.python_version()}"


@cache
def built(tool: str) -> Path:
    """Build the modules that a tool watches, as far as they have changed; return their folder."""
    folder = machine.ROOT / "build" / "sanitize" / tool
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    cmake, ninja = (shutil.which(name, path=programs) or name for name in ("cmake", "ninja"))
    nanobind = subprocess.run([sys.executable, "-m", "nanobind", "--cmake_dir"], capture_output=True, check=True)
    given = {
        "CMAKE_BUILD_TYPE": "Release",
        "CMAKE_MAKE_PROGRAM": ninja,
        "LAGBC_LEVELS": "native",
        "LAGBC_SANITIZE": TOOLS[tool].sanitize,
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": nanobind.stdout.decode().strip(),
    }
    options = [f"-D{name}={value}" for name, value in given.items()]
    subprocess.run([cmake, "-G", "Ninja", "-S", str(machine.ROOT), "-B", str(folder), *options], check=True)
    subprocess.run([cmake, "--build", str(folder)], check=True)
    return folder


def parse(log: str) -> Counter[str]:
    """Tell how often each error was reported, as "message at place"."""
    return count_reports(
        log,
        _REPORT,
        _PLACE,
        lambda of, at: f"{next(filter(None, of.groups())).strip()} at {os.path.normpath(at[1]) if at else '?'}",
    )


def _run(tool: str, words: tuple[str, ...], limit: float) -> tuple[str, frozenset[str], int, Counter[str]]:
    """Run a process under a tool; tell how it ended, the kernels and the count that it recorded, and the reports."""
    of, folder = TOOLS[tool], built(tool)
    with TemporaryDirectory() as kept:
        record, log = Path(kept, "record"), Path(kept, "log")
        libraries = [
            subprocess.run(["c++", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout
            for name in of.libraries
        ]
        options = {name: f"{value}:log_path={log}".lstrip(":") for name, value in of.options.items()}
        env = os.environ | options | {"LD_PRELOAD": " ".join(map(str.strip, libraries)), "HYPOTHESIS_PROFILE": "lagbc"}
        calls = [sys.executable, "-m", "benchmarks.sanitize_native_calls", str(folder), str(record), *words]
        ended = run(calls, limit, env, Path(f"{log}.stderr"))  # where UndefinedBehaviorSanitizer reports
        told: dict[str, Any] = json.loads(record.read_text()) if record.exists() else {"kernels": [], "count": 0}
        reports = sum((parse(file.read_text(errors="replace")) for file in Path(kept).glob("log.*")), Counter[str]())
    return ended, frozenset(told["kernels"]), told["count"], reports


def watch(tool: str, group: str, limit: float) -> Outcome:
    """Run a group under a tool, at most so many seconds."""
    built(tool)
    begun = perf_counter()
    ended, kernels, count, reports = _run(tool, GROUPS[group], limit)
    what = "tests" if GROUPS[group][0] == "tests" else "calls"
    return Outcome(tool, f"{group}, {count} {what}", perf_counter() - begun, kernels, reports.total(), ended, reports)


def notice(tool: str) -> dict[str, str]:
    """Make each planted error, and return the report of the tool; "" if it is not noticed."""
    return {name: "; ".join(_run(tool, ("planted", name), 120.0)[-1]) for name in TOOLS[tool].planted}


def planted_lines(planted: Mapping[tuple[str, str], str]) -> list[str]:
    """Lay out planted errors, and the reports of them."""
    if not planted:
        return []
    noticed = sum(bool(report) for report in planted.values())
    rows = [f"| {tool} | {name} | {report or 'not noticed'} |" for (tool, name), report in planted.items()]
    count = f"{noticed} of {len(planted)} were noticed."
    return ["", "## Planted errors", "", count, "", *table("| tool | error | report |", rows)]
