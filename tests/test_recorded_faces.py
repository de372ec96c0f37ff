"""Signatures of the public functions, help of the commands, and output of commands, to the letter.

`data/faces.json` holds them; ``python tests/test_recorded_faces.py`` writes them anew, which a commit that
means to show something else does. Times, sizes of files and reasons of the method are left out.
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


def given(command, *options):
    """The command with each of the options."""
    return [f"{command} {option}".strip() for option in options]


# Lines that are given to a shell, one after the other in one folder.
LINES = (
    *given("bc path.txt", "", "--undirected --top 2 --normalized --endpoints", "--undirected --json"),
    "bc path.txt --undirected --json --top 1 --cutoff 1,2",
    "bc path.txt --undirected --cutoff 1,2 --decay 0.5 --out columns.csv",
    "bc path.txt --undirected --out bc.npy --top 0",
    "bc named.csv --strength --undirected --sources ann,bob",
    "bc named.csv --weighted --undirected --target-weights weights.csv:jobs",
    "bc path.txt --demand trips.mtx --json",
    *given("bc example:karate", "--k 10 --seed 3", "--k 10 --seed 3 --no-error --top 3", "--k 10 --json --top 2"),
    *given("bc example:karate", "--k 10 --cutoff 1,2 --top 2", "--plot bc.png --top 1"),
    *given("bc path.txt", "--plot-map map.png --coordinates xy.csv --top 1", "--part 1/2 --out part1.npz"),
    "bc path.txt --part 2/2 --out part2.npz",
    *given("merge part1.npz", "part2.npz --out merged.csv", ""),
    "edge-bc named.csv --undirected --out edges.csv",
    *given("edge-bc path.txt", "--json", "--cutoff 1,2 --out edges.npy", "--part 1/1 --out edges.npz"),
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
    *given("gravity path.txt", "--decay 0.5 --json", ""),
    "straightness named.csv --coordinates places.csv --weighted --undirected --cutoff 2,9 --json",
    *given("straightness path.txt", "--coordinates xy.csv", ""),
    *given("percolation path.txt", "--states states.txt --undirected", "--states states.txt --json"),
    *given("percolation path.txt", "--states states.txt --part 1/2 --out states.npz", ""),
    *given("centralities path.txt", "--undirected", "--which bc,stress --out both.csv --plot both.png --top 2"),
    "centralities path.txt --which bc,closeness --cutoff 1,2 --json",
    "centralities path.txt --which bc,eccentricity --part 1/1 --out both.npz",
    "merge both.npz --out both.npy",
    *given("centralities path.txt", "--which edge-bc", "--which fame", "--sources 10 --targets 30"),
    *given("group-bc path.txt", "--group 10,30 --group 20 --undirected", "--groups groups.txt --json --normalized"),
    *given("group-bc path.txt", "--groups groups.txt --out groups.csv --top 1", ""),
    *given("distances path.txt", "--undirected --k 2 --cutoff 1,2", "--json"),
    *given("girvan-newman path.txt", "--undirected --communities 2", "--json --communities 9"),
    "group-bc path.txt --group 10,11",
    "bc absent.txt",
    *given("bc path.txt", "--out scores.txt", "--cutoff 1,2 --plot columns.png", "--part 1/2"),
    *given("bc path.txt", "--part 1/2 --out part.npz --json", "--coordinates xy.csv", "--seed 1", "--sources 99"),
    *given("bc path.txt", "--cutoff 1,1", "--rtol 2"),
    "compile --fast",
    # Lengths and strengths.
    *given("bc detour.txt", "", "--weighted", "--weighted --undirected", "--strength --undirected"),
    *given("bc detour.txt", "--weighted --strength", "--strength --weighted", "--weighted --bucket-width 0"),
    "bc detour.txt --weighted --bucket-width wide",
    *(f"bc {name}.txt --{values}" for name in ("same", "repeated", "negative") for values in ("weighted", "strength")),
    *given(
        "bc", "tie.txt --strength", "zero.txt --weighted", "absorbed.txt --weighted", "path.txt --weighted --directed"
    ),
    *given("bc", "example:us-airports --top 1", "example:lesmis --weighted --top 1"),
    *given("info", "negative.txt --weighted", "zero.txt --strength", "example:karate --strength"),
    *given("compare", "negative.txt --strength", "example:karate --weighted"),
    "centralities example:karate --weighted",
    # Samples, directions and titles.
    *given("bc example:karate", "--directed --top 2", "--k 34 --seed 1 --top 1", "--k 1 --seed 1 --endpoints --top 1"),
    "closeness path.txt --seed 3",
    "centralities path.txt --seed 3",
    "centralities example:lesmis --which bc,closeness --k 20 --seed 3 --top 1",
    *given("bc calls.txt", "", "--ends 2,3 --length 4 --weighted --names", "--ends 2"),
    *given("bc doubt.csv", "--directed", "--directed --header", "--directed --no-header"),
    # Vertices, edges and groups by their names.
    *given("bc people.csv", "--json --top 1", "--json --top 0", "--sources 'Lee C'", "--sources 'Lee, C.'"),
    *given("bc people.csv", "--sources Bob,Lee", "--sources Joe"),
    "edge-bc people.csv --top 1 --sources Ann --json",
    *given("closeness path.txt --vertices", "30,20 --json", "30 --plot a.png", "30 --part 1/2 --out a.npz", "30 --k 3"),
    "closeness path.txt --vertices 30 --checkpoint a.npz",
    """bc people.csv --directed --sources 'Ann,"Lee, C."' --targets @who.txt""",
    "bc path.txt --json --sources 1",
    "centralities people.csv --which closeness --targets Ann",
    "gravity people.csv --undirected --decay 0.5 --target-weights jobs.csv:jobs",
    *given("reach people.csv --directed", "--cutoff 2 --target-weights jobs.csv", "--target-weights nothing.csv"),
    *given("group-bc people.csv", "--undirected --group Bob --group Ann,Eve --top 2", "--groups nobody.csv"),
    "group-bc people.csv --group Bob,Bob",
    "group-bc path.txt --group 40 --group 10 --top 1 --json",
    *(f"group-{name} path.txt --group 10 --group 30,40 --json" for name in ("closeness", "harmonic", "degree")),
    f"group-bc example:karate --group {','.join(map(str, range(30)))}",
    # Columns.
    *given("bc path.txt", "--directed --cutoff 0,inf --decay 0 --json", "--cutoff 2,2.0", "--cutoff far"),
    "stress path.txt --directed --log2 --json",
    "centralities example:karate --which bc,reach --cutoff 1,2 --decay 0.5 --json --top 1",
    *given("centralities path.txt --which", "closeness,eccentricity-centrality", "bc,reach --cutoff 1,2"),
    *given("centralities path.txt --which", "bc,reach --decay 0.25,1e-9", "bc,edge_bc", "bc,bc"),
    # Trips.
    *given("bc path.txt --demand", "negative.mtx", "small.mtx", "twice.mtx", "trips.graph", "trips.csv", "padded.csv"),
    *given("bc path.txt --demand", "nothing.npz", "trips.mtx --k 3"),
    # Parts and maps.
    *given("bc path.txt --part 1/2 --out", "scores.csv", "none/part.npz", "part.npz --plot a.png"),
    *given("bc path.txt --part 1/2 --out", "part.npz --plot-map a.png", "part.npz --checkpoint run"),
    *given("bc path.txt --part", "0/2", "3/2", "2", "a/b", "1/2/3"),
    "merge part2.npz",
    *given("merge part1.npz", "part2.npz part2.npz", "none.npz", "part2.npz --out scores.npz"),
    *given("bc named.csv --plot-map", "map.png", "map.png --coordinates xy.csv", "map.png --coordinates nothing.csv"),
    "bc named.csv --plot-map nowhere/map.png",
    *given("estimate path.txt", "--confidence 2", "--which stress", "--which edge-bc --samples paths"),
    *given("estimate path.txt", "--which edge-bc --out edges.csv", "--out scores.txt"),
    # Files and command lines that are wrong.
    *given("info", "example:nope", "bad.txt", "path.txt --no-header --header"),
    *given("bc path.txt", "--target-weights /nope:2", "--sources @nope", "--sources @.", "--demand .", "--nonsense"),
    *given("bc path.txt", "--k many", "--reduce some", "--dtype float16", "--overlap", "--directed --undirected"),
    "bc path.txt --rng 3",
    *given("group-bc path.txt", "--groups .", "--rng 3"),
    "percolation path.txt --states path.txt/states",
    *given("merge", "nope.part", ".", "path.txt/part"),
    "edge_bc path.txt --k 50",
    *(f"{command} path.txt" for command in ("between", "edge-betweenness", "closenes", "estimat", "fame")),
    *given("bc path.txt --batch", "0", "-3", "many", "1.5", "1e1"),
    *given("bc path.txt --device", "-1", "0,-1", "tpu"),
    *given("bc", "", "-", "example:nope", "named.csv --out named.csv", "--directed -- --undirected"),
    *given("closeness path.txt", "--u=3", "--normalized", "--undirected --wf-improved --no-wf-improved"),
    "centralities path.txt --which bc --k 2 --no-error",
    "edge-bc path.txt --k 2 --no-error",
    "compare path.txt --device tpu",
    "estimate path.txt --overlap",
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
