"""Signatures of the public functions, help of the commands, and output of commands, to the letter.

`data/lines.txt` lists the command lines, `data/files` has the files that they read, and `data/faces.json` holds what is
shown; ``python tests/test_recorded_faces.py`` writes that anew, which a commit that means to show something else does.
Times, sizes of files and reasons of the method are left out.
"""

import inspect
import json
import re
import shlex
import shutil
import tempfile
from contextlib import chdir
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import recorded
from click.testing import CliRunner

import lagbc
from lagbc.interfaces.cli import main

FUNCTIONS = [name for name in lagbc.__all__ if inspect.isfunction(getattr(lagbc, name))]
COMMANDS = ("", *main.list_commands(None))

FILES = recorded.DATA / "files"
# Given to a shell, one after the other in a folder of these files.
LISTED = (recorded.DATA / "lines.txt").read_text(encoding="utf-8").splitlines()
LINES = [line for line in LISTED if line and not line.startswith("#")]


def signature(name):
    """Say what a function takes: of each parameter its kind, annotation and default."""
    return [
        f"{parameter.kind.name.lower()} {parameter}"
        for parameter in inspect.signature(getattr(lagbc, name)).parameters.values()
    ]


def shown(line):
    """Run a line; return its exit status, and what it prints, line by line, without what differs from run to run."""
    # Of a fixed width, whatever terminal there is.
    result = CliRunner().invoke(main, shlex.split(line), terminal_width=100, max_content_width=100)
    assert result.exception is None or isinstance(result.exception, SystemExit), f"{line}: a traceback"
    return [result.exit_code, *map(settled, result.output.splitlines())]


def settled(line):
    if line.startswith("{"):
        told = json.loads(line)
        told.pop("seconds", None)
        told.get("method", {}).pop("reason", None)
        return json.dumps(told | {"version": ""})
    line = re.sub(r"^(time|phases): .*", r"\1: ...", line.replace(str(Path.cwd()), "..."))
    line = re.sub(r"\(\d[\d.]* [kMG]?B\)", "(...)", line)
    return re.sub(r"^  [^ \d].*", "  ...", line)


def written():
    """Return what lies in the files that lines have written."""
    return {
        path.name: path.read_text() if path.suffix == ".csv" else np.load(path).tolist()
        for path in sorted(Path.cwd().iterdir())
        if path.suffix in (".csv", ".npy") and not (FILES / path.name).exists()
    }


def everything():
    """Return all that is recorded, by what it is."""
    found = {f"signature of {name}": signature(name) for name in FUNCTIONS}
    found |= {f"help of {name or 'lagbc'}": shown(f"{name} --help") for name in COMMANDS}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        shutil.copytree(FILES, folder, dirs_exist_ok=True)
        found |= {line: shown(line) for line in LINES}
        found["files"] = written()
    return found


@pytest.fixture(scope="module")
def found():
    return json.loads(json.dumps(everything()))


def test_faces_are_as_recorded(found):
    before = recorded.read("faces")
    assert found.keys() == before.keys()
    for name, one in before.items():
        assert found[name] == one, name


if __name__ == "__main__":
    recorded.write("faces", lambda device: {name: partial(lambda one: one, one) for name, one in everything().items()})
