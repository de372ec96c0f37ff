"""How commands end: the exit status says of what kind it was. `test_recorded_faces.py` has wrong command lines."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from commands import run

import lagbc
from lagbc.centrality import compute
from lagbc.errors import CheckpointError, FileError, GraphFormatError, MissingDependencyError, StoppedError
from lagbc.interfaces.process import Terminated

PAGE = Path(__file__).parents[2] / "docs" / "command-line.md"
FAULTS = [
    *((error, 1) for error in (OSError, FileError, MemoryError, OverflowError, MissingDependencyError, StoppedError)),
    *((error, 2) for error in (ValueError, TypeError, GraphFormatError, CheckpointError, FileNotFoundError)),
    *((error, 2) for error in (PermissionError, IsADirectoryError, NotADirectoryError)),
]


def status(*arguments):
    """Return the exit status, what was printed, and the last line on stderr; there is no traceback."""
    result = run(*arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.stderr
    return result.exit_code, result.stdout, (result.stderr.splitlines() or [""])[-1]


@pytest.fixture
def ended(monkeypatch, write):
    """Run a command whose run raises an error; return its exit status, and the last line on stderr."""
    needed = {"group_bc": ["--group", "0"], "percolation": ["--states", write("0 1\n", "states.txt")]}

    def ended(command, error):
        def end(*_, **__):
            raise error

        of, name = (lagbc, command) if command == "group_bc" else (compute, "run_call")
        monkeypatch.setattr(of, name, end)
        code, _, line = status(command, "example:karate", *needed.get(command, []))
        return code, line

    return ended


def test_0():
    assert status("bc", "example:karate")[0] == status("bc", "--help")[0] == 0


@pytest.mark.parametrize(("error", "expected"), FAULTS)
@pytest.mark.parametrize("command", ["bc", "centralities", "group_bc", "percolation"])
def test_1_if_the_run_failed_and_2_if_what_is_given_is_wrong(ended, command, error, expected):
    code, line = ended(command, error("so it is"))
    assert code == expected
    assert re.fullmatch("lagbc: error: (out of memory: )?so it is", line)


@pytest.mark.parametrize("option", ["--out", "--plot"])
def test_2_if_a_folder_takes_no_file(monkeypatch, tmp_path, option):
    monkeypatch.setattr(os, "access", lambda folder, mode: False)  # root may write everywhere
    path = tmp_path / ("scores.csv" if option == "--out" else "scores.png")
    said = f"lagbc: error: {path} cannot be written: this user may make no file in '{tmp_path}'"
    assert status("bc", "example:karate", option, path) == (2, "", said)
    monkeypatch.undo()
    path.mkdir()
    said = f"lagbc: error: {path} cannot be written: it is a folder"
    assert status("bc", "example:karate", option, path) == (2, "", said)


def test_1_if_a_checkpoint_cannot_be_written(monkeypatch, tmp_path):
    def fill(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fill)
    code, _, line = status("bc", "example:karate", "--checkpoint", tmp_path / "run")
    assert (code, "run cannot be used" in line, "No space left on device" in line) == (1, True, True)


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt, 130), (Terminated, 143)])
@pytest.mark.parametrize("command", ["bc", "centralities", "group_bc"])
def test_130_and_143_if_it_is_ended(ended, command, error, code):
    found, line = ended(command, error)
    assert found == code
    assert line.startswith("lagbc: interrupted" if code == 130 else "lagbc: terminated")


def test_a_reader_that_has_gone():
    """As in ``lagbc bc ... | head -1``; Python's own status."""
    code = (
        "import os, sys\n"
        "from lagbc.interfaces.cli import main\n"
        "read, write = os.pipe(); os.close(read); os.dup2(write, 1)\n"
        "main(['info', '--help'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (1, "")


def test_the_page_and_the_help_name_them_all():
    page = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^\| (\d+) \|", page, re.MULTILINE) == ["0", "1", "2", "3", "130", "143"]
    said = run("--help").stdout.partition("Exit status:")[2].partition("Options:")[0]
    assert re.findall(r"\d+", said) == ["0", "1", "2", "3", "130", "143"]
