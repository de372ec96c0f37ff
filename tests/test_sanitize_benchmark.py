"""The run of compute-sanitizer: its output read, its page, and a stand-in for the tool, as there is no GPU."""

import json
import re
import stat
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks import sanitize, sanitize_calls, sanitize_native, sanitize_native_calls
from lagbc.native import core

ROOT = sanitize.machine.ROOT
# What the tools write, of programs in a checkout whose folder is ROOT.
LOGS = Path(__file__).parent / "data" / "logs"
MEMCHECK, RACECHECK, ADDRESS, UNDEFINED, THREAD = (
    (LOGS / f"{tool}.txt").read_text(encoding="utf-8").format(ROOT=ROOT)
    for tool in ("memcheck", "racecheck", "address", "undefined", "thread")
)
CLEAN = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"


@pytest.mark.parametrize(
    ("log", "found"),
    [
        (MEMCHECK, (2, {"Invalid __global__ write of size 8 bytes in sum_roots": 2})),
        (CLEAN, (0, {})),
        ("========= COMPUTE-SANITIZER\n", None),
    ],
)
def test_reports_are_counted_by_kernel(log, found):
    """A log without a summary is not clean, and races are errors."""
    assert sanitize.parse(log) == found
    count, reports = sanitize.parse(RACECHECK)
    assert (count, len(reports)) == (1, 1)


def test_every_source_has_kernels():
    known = sanitize.kernels_of_sources()
    assert {"sum_roots", "delta_backward", "launch_per_level_forward"} <= known
    for source in sanitize.SOURCES:
        found = {name for name, _ in sanitize._KERNEL.findall(source.text)}
        assert len(found) == source.text.count("__global__"), source.path


@pytest.mark.parametrize("group", sorted({*sanitize_calls.GROUPS} - {"graphs"}))
def test_groups_have_calls(group):
    calls = [*sanitize_calls.GROUPS[group]()]
    assert calls
    assert all(isinstance(call, partial) and call.keywords["device"] == "cuda" for call in calls)


def stand_in(folder, log, status=0):
    """A program that takes the tool's options, writes a log, and a record of one kernel."""
    text = f"""#!{sys.executable}
import json, sys
from pathlib import Path
log = next(word for word in sys.argv if word.startswith("--log-file=")).partition("=")[2]
Path(log).write_text({log!r})
record = Path(sys.argv[sys.argv.index("benchmarks.sanitize_calls") + 2])
record.write_text(json.dumps({{"kernels": ["sum_roots"], "shared": ["sum_roots"], "calls": [7], "shared_calls": [7]}}))
print("it ended badly", file=sys.stderr)
sys.exit({status})
"""
    program = folder / "sanitizer"
    program.write_text(text)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def test_page(tmp_path):
    program, out = stand_in(tmp_path, MEMCHECK), tmp_path / "page.md"
    given = ["--tools", "memcheck", "--groups", "hops", "--sanitizer", str(program), "--out", str(out)]
    result = CliRunner().invoke(sanitize.main, given)
    assert result.exit_code == 1
    page = out.read_text()
    assert f"1 of {len(sanitize.kernels_of_sources())} kernels were launched" in page
    assert "- memcheck, hops: Invalid __global__ write of size 8 bytes in sum_roots (2 times)" in page
    assert "delta_backward" in page.partition("Not launched:")[2]


def test_a_process_that_failed_is_not_clean(tmp_path):
    outcome = sanitize.watch("memcheck", "hops", 60, str(stand_in(tmp_path, CLEAN, status=3)))
    assert outcome.errors == 0
    assert outcome.ended == "status 3: it ended badly"
    assert not outcome.is_clean


def test_racecheck_watches_kernels_with_shared_memory(monkeypatch):
    commands = []

    def run(command, limit):
        commands.append(command)
        record = command[command.index("benchmarks.sanitize_calls") + 2]
        told = {"kernels": ["a", "b"], "shared": ["b"], "calls": [1, 2, 5], "shared_calls": [2, 5]}
        Path(record).write_text(json.dumps(told))
        return ""

    monkeypatch.setattr(sanitize, "run", run)
    outcome = sanitize.watch("racecheck", "hops", 60)
    assert outcome.kernels == {"b"}
    plain, watched = commands
    assert plain[0] == sys.executable
    assert watched[0] == "compute-sanitizer"
    assert "--kernel-name=kne=b" in watched
    assert watched[-2:] == ["2", "5"]


@pytest.mark.parametrize(("second", "errors"), [([1.0, 2.0], 0), ([1.0, np.nan], 1)])
def test_scores_must_not_depend_on_new_memory(monkeypatch, second, errors):
    def run(command, limit):
        record = Path(command[4])
        record.write_text(json.dumps({"kernels": ["a"]}))
        np.savez(record.with_suffix(".npz"), **{"0 0": [1.0, 2.0] if command[-1] == "--fill=0" else second})
        return ""

    monkeypatch.setattr(sanitize, "run", run)
    outcome = sanitize.watch("fill", "hops", 60)
    assert outcome.errors == errors
    assert outcome.kernels == {"a"}


REPORTS = {
    "heap-buffer-overflow at lagbc/native/kernels/arrays.h:35": ADDRESS,
    "shift exponent 64 is too large for 64-bit type 'long unsigned int' at benchmarks/planted.cpp:57": UNDEFINED,
    "data race at benchmarks/planted.cpp:73": THREAD,
}


@pytest.mark.parametrize(("report", "log"), REPORTS.items(), ids=["address", "undefined", "thread"])
def test_reports_of_the_host_are_counted_by_place(report, log):
    assert sanitize_native.parse(log + log) == {report: 2}


def test_the_stream_of_errors_is_kept(tmp_path):
    """UndefinedBehaviorSanitizer writes nowhere else."""
    errors, script = tmp_path / "errors", "import sys; sys.exit('a.h:3: runtime error: shift exponent 64')"
    ended = sanitize_native.run([sys.executable, "-c", script], 60, errors=errors)
    assert ended == "status 1: a.h:3: runtime error: shift exponent 64"
    assert sanitize_native.parse(errors.read_text()) == {"shift exponent 64 at ?": 1}


def test_every_planted_error_is_made():
    source = (ROOT / "benchmarks" / "planted.cpp").read_text()
    planted = [name for tool in sanitize_native.TOOLS.values() for name in tool.planted]
    assert {*planted} == {*re.findall(r'def<.*>\(m, "(\w+)"', source)}


def test_groups_name_tests_that_there_are():
    """And all of those of kernels by themselves."""
    named = {word for words in sanitize_native.GROUPS.values() for word in words if word.startswith("tests/")}
    assert all((ROOT / file).exists() for file in named)
    assert {f"tests/native/{file.name}" for file in (ROOT / "tests" / "native").glob("test_*.py")} <= named
    kinds = {kind for kind, *_ in sanitize_native.GROUPS.values()}
    assert kinds | {"planted"} == {*sanitize_native_calls.KINDS}


def test_kernels_are_functions_and_methods_of_the_module():
    kernels = sanitize_native.kernels()
    assert all(callable(getattr(owner, name.rpartition(".")[2])) for name, owner in kernels.items())
    assert {"find_blocks", "LevelSweep32.forward", "LevelSweep64.backward"} <= {*kernels}
    functions = {name for name, of in vars(core).items() if type(of).__name__ == "nb_func"}
    assert functions - {"held_memory"} == {name for name in kernels if "." not in name}


def test_a_kernel_that_one_tool_leaves_out_is_missed():
    outcomes = [
        sanitize.Outcome(tool, "tests", 1.0, frozenset(kernels), 0, "")
        for tool, kernels in (("address", "ab"), ("address", "c"), ("thread", "bc"))
    ]
    assert sanitize.missed(outcomes, frozenset("abcd"), by_each=False) == ["d"]
    assert sanitize.missed(outcomes, frozenset("abcd"), by_each=True) == ["a", "d"]


@pytest.mark.parametrize("noticed", ["data race at benchmarks/planted.cpp:73", ""])
def test_page_of_the_host(tmp_path, monkeypatch, noticed):
    """Every kernel is called, and nothing reported; what decides is whether the planted error was noticed."""
    kernels = frozenset(sanitize_native.kernels())
    outcome = sanitize.Outcome("thread", "threads, 3 calls", 2.0, kernels, 0, "")
    monkeypatch.setattr(sanitize_native, "watch", lambda tool, group, limit: outcome)
    monkeypatch.setattr(sanitize_native, "notice", lambda tool: {"add_to_one_sum": noticed})
    out = tmp_path / "page.md"
    given = ["--native", "--tools", "thread", "--groups", "threads", "--out", str(out)]
    assert CliRunner().invoke(sanitize.main, given).exit_code == (not noticed)
    page = out.read_text()
    assert f"{len(kernels)} of {len(kernels)} kernels were called under each tool." in page
    assert f"## Kernels\n\n{', '.join(sorted(kernels))}.\n" in page
    assert f"| thread | threads, 3 calls | 2 | {len(kernels)} | 0 | well |" in page
    assert f"{int(bool(noticed))} of 1 were noticed." in page
    assert f"| thread | add_to_one_sum | {noticed or 'not noticed'} |" in page
