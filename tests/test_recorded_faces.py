"""Signatures of the public functions, help of the commands, and output of commands, to the letter.

`data/faces.json` holds them; ``python tests/test_recorded_faces.py`` writes them anew, which a commit that
means to show something else does. Times, sizes of files and reasons of the method are left out.
"""

import inspect
import json
import re
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

PATH = "path.txt"
FILES = {
    PATH: "20 10\n10 30\n30 40\n",
    "named.csv": "from;to;km\nann;bob;1.5\nbob;cy;2\ncy;dan;0.5\nann;dan;9\n",
    "weights.csv": "vertex,jobs\nann,2\nbob,1\ncy,3\n",
    "states.txt": "20 0.5\n10 0.25\n30 1\n",
    "groups.txt": "10,30\n20\n",
    "xy.csv": "vertex,x,y\n20,0,0\n10,1,0\n30,2,1\n40,3,1\n",
    "places.csv": "vertex,x,y\nann,0,0\nbob,1,0.5\ncy,2,1\ndan,2,1.5\n",
    "trips.mtx": "%%MatrixMarket matrix coordinate real general\n4 4 2\n1 3 2\n2 4 5\n",
}
# Lines that are given to a shell, one after the other in one folder.
LINES = (
    "bc path.txt",
    "bc path.txt --undirected --top 2 --normalized --endpoints",
    "bc path.txt --undirected --json",
    "bc path.txt --undirected --json --top 1 --cutoff 1,2",
    "bc path.txt --undirected --cutoff 1,2 --decay 0.5 --out columns.csv",
    "bc path.txt --undirected --out bc.npy --top 0",
    "bc named.csv --strength --undirected --sources ann,bob",
    "bc named.csv --weighted --undirected --target-weights weights.csv:jobs",
    "bc path.txt --demand trips.mtx --json",
    "bc example:karate --k 10 --seed 3",
    "bc example:karate --k 10 --seed 3 --no-error --top 3",
    "bc example:karate --k 10 --json --top 2",
    "bc example:karate --k 10 --cutoff 1,2 --top 2",
    "bc example:karate --plot bc.png --top 1",
    "bc path.txt --plot-map map.png --coordinates xy.csv --top 1",
    "bc path.txt --part 1/2 --out part1.npz",
    "bc path.txt --part 2/2 --out part2.npz",
    "merge part1.npz part2.npz --out merged.csv",
    "merge part1.npz",
    "edge-bc named.csv --undirected --out edges.csv",
    "edge-bc path.txt --json",
    "edge-bc path.txt --cutoff 1,2 --out edges.npy",
    "edge-bc path.txt --part 1/1 --out edges.npz",
    "merge edges.npz --top 2 --out merged.npy",
    "edge-bc named.csv --out names.npy",
    "edge-bc path.txt --plot edges.png",
    "closeness path.txt --no-wf-improved",
    "closeness example:karate --k 9 --top 2",
    "harmonic named.csv --weighted",
    "eccentricity path.txt --json",
    "eccentricity-centrality path.txt",
    "stress path.txt --log2 --undirected",
    "stress example:karate --k 9 --top 1 --log2",
    "reach path.txt --cutoff 1,2",
    "gravity path.txt --decay 0.5 --json",
    "gravity path.txt",
    "straightness named.csv --coordinates places.csv --weighted --undirected --cutoff 2,9 --json",
    "straightness path.txt --coordinates xy.csv",
    "straightness path.txt",
    "percolation path.txt --states states.txt --undirected",
    "percolation path.txt --states states.txt --json",
    "percolation path.txt --states states.txt --part 1/2 --out states.npz",
    "percolation path.txt",
    "centralities path.txt --undirected",
    "centralities path.txt --which bc,stress --out both.csv --plot both.png --top 2",
    "centralities path.txt --which bc,closeness --cutoff 1,2 --json",
    "centralities path.txt --which bc,eccentricity --part 1/1 --out both.npz",
    "merge both.npz --out both.npy",
    "centralities path.txt --which edge-bc",
    "centralities path.txt --which fame",
    "centralities path.txt --sources 10 --targets 30",
    "group-bc path.txt --group 10,30 --group 20 --undirected",
    "group-bc path.txt --groups groups.txt --json --normalized",
    "group-bc path.txt --groups groups.txt --out groups.csv --top 1",
    "group-bc path.txt",
    "distances path.txt --undirected --k 2 --cutoff 1,2",
    "distances path.txt --json",
    "girvan-newman path.txt --undirected --communities 2",
    "girvan-newman path.txt --json --communities 9",
    "group-bc path.txt --group 10,11",
    "bc absent.txt",
    "bc path.txt --out scores.txt",
    "bc path.txt --cutoff 1,2 --plot columns.png",
    "bc path.txt --part 1/2",
    "bc path.txt --part 1/2 --out part.npz --json",
    "bc path.txt --coordinates xy.csv",
    "bc path.txt --seed 1",
    "bc path.txt --sources 99",
    "bc path.txt --cutoff 1,1",
    "bc path.txt --rtol 2",
    "compile --fast",
)


def signature(name):
    """Say what a function takes: of each parameter its kind, annotation and default."""
    return [
        f"{parameter.kind.name.lower()} {parameter}"
        for parameter in inspect.signature(getattr(lagbc, name)).parameters.values()
    ]


def shown(line):
    """Run a line; return its exit status, and what it prints, line by line, without what differs from run to run."""
    # Of a fixed width, whatever terminal there is.
    result = CliRunner().invoke(main, line.split(), terminal_width=100, max_content_width=100)
    return [result.exit_code, *map(settled, result.output.splitlines())]


def settled(line):
    if line.startswith("{"):
        told = json.loads(line)
        told.pop("seconds", None)
        told.get("method", {}).pop("reason", None)
        return json.dumps(told | {"version": ""})
    line = re.sub(r"^(time|phases): .*", r"\1: ...", line)
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
