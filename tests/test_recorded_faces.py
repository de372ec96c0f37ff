"""Signatures of the public functions, help of the commands, and output of commands, to the letter.

`data/lines.txt` lists the command lines, and `data/faces.json` holds all of it; ``python tests/test_recorded_faces.py``
writes that anew, which a commit that means to show something else does. Times, sizes of files and reasons of the method
are left out.
"""

import inspect
import json
import re
import shlex
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

FILES = {
    "path.txt": "20 10\n10 30\n30 40\n",
    "named.csv": "from;to;km\nann;bob;1.5\nbob;cy;2\ncy;dan;0.5\nann;dan;9\n",
    "weights.csv": "vertex,jobs\nann,2\nbob,1\ncy,3\n",
    "states.txt": "20 0.5\n10 0.25\n30 1\n",
    "groups.txt": "10,30\n20\n",
    "xy.csv": "vertex,x,y\n20,0,0\n10,1,0\n30,2,1\n40,3,1\n",
    "places.csv": "vertex,x,y\nann,0,0\nbob,1,0.5\ncy,2,1\ndan,2,1.5\n",
    "trips.mtx": "%%MatrixMarket matrix coordinate real general\n4 4 2\n1 3 2\n2 4 5\n",
    "negative.mtx": "%%MatrixMarket matrix coordinate real general\n4 4 1\n1 2 -1\n",
    "small.mtx": "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1\n",
    "twice.mtx": "%%MatrixMarket matrix coordinate real general\n4 4 2\n1 2 1\n1 2 2\n",
    "trips.graph": "2 1\n2\n1\n",
    "trips.csv": "from,to,trips\n20,77,1\n",
    "padded.csv": "from,to,trips\n20,010,1\n",
    # By lengths the way over 1 is shorter; that over 2 is as short where these are strengths; all edges are alike.
    "detour.txt": "0 1 1\n1 2 1\n0 2 3\n",
    "tie.txt": "0 1 1\n1 2 1\n0 2 0.5\n",
    "same.txt": "0 1 2\n1 2 2\n0 2 2\n",
    "repeated.txt": "0 2 0.25\n0 1 1\n1 2 1\n0 2 5\n",
    "negative.txt": "10 20 1\n30 20 -2\n20 20 -1\n10 30 3\n",
    "zero.txt": "10 20 1\n30 20 0\n20 20 -1\n10 30 3\n",
    "absorbed.txt": "0 1 1e18\n1 2 1\n",
    "bad.txt": "1 2\n3\n",
    "calls.txt": "1 7 8 3\n2 8 9 5\n",
    "doubt.csv": "who,whom\nann,bob\nbob,carl\n",
    "people.csv": 'From,To\nAnn,Bob\nBob,"Lee, C."\n"Lee, C.",Zoë\nZoë,Eve\nBob,Eve\n',
    "who.txt": "Eve\nZoë\n",
    "jobs.csv": "name,people,jobs\nAnn,3,0\nEve,1,2.5\nZoë,0,1\n",
    "nobody.csv": "Ann,Bob\nBob,Joe\n",
}
# Given to a shell, one after the other in one folder.
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
        if path.suffix in (".csv", ".npy") and path.name not in FILES
    }


def everything():
    """Return all that is recorded, by what it is."""
    found = {f"signature of {name}": signature(name) for name in FUNCTIONS}
    found |= {f"help of {name or 'lagbc'}": shown(f"{name} --help") for name in COMMANDS}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for name, text in FILES.items():
            Path(name).write_text(text)
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
