"""Whole processes and first calls: the page, of a few of them, and what an environment holds."""

import json
import sys

import pytest
from click.testing import CliRunner

from benchmarks import first_call

KARATE = "`lagbc bc example:karate`"


def test_page(tmp_path, monkeypatch):
    monkeypatch.setattr(first_call, "PROCESSES", {"nothing": ["-c", "pass"], KARATE: first_call.PROCESSES[KARATE]})
    monkeypatch.setattr(first_call, "CALLS", {"hops": first_call.CALLS["hops"]})
    page = tmp_path / "page.md"
    page.write_text("old\nInstalled with [plot]: 1 MB.\n")
    given = ["--rounds", "1", "--longest", "2", "--former", str(first_call.machine.ROOT), "--out", str(page)]
    done = CliRunner().invoke(first_call.main, given, catch_exceptions=False)
    assert done.exit_code == 0
    lines = page.read_text().splitlines()
    rows = [line.split(" | ") for line in lines if line.startswith(("| nothing", f"| {KARATE}", "| hops", "| `"))]
    assert [len(row) for row in rows] == [5, 5, 7, 2, 2]
    assert "medians of 1 rounds" in lines[0]
    assert lines[-1] == "Installed with [plot]: 1 MB."
    assert "old" not in lines


def test_a_process_that_fails_is_told(tmp_path):
    with pytest.raises(SystemExit, match="ZeroDivisionError"):
        first_call.run(["-c", "1 / 0"], first_call.machine.ROOT)


@pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs are saved to cache:UserWarning")
def test_every_call_is_one(tmp_path, monkeypatch, capsys):
    """In this process, which has loaded most of what they load."""
    case = tmp_path / "case.npz"
    first_call.save_case(case)
    for call in first_call.CALLS.values():
        monkeypatch.setattr(sys, "argv", ["", str(case), call])
        exec(first_call._FIRST_AND_SECOND, {})
        first, second = json.loads(capsys.readouterr().out)
        assert first.keys() == second.keys() == {"wall", "processor"}
