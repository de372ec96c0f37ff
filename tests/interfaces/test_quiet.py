"""`--quiet` means the same in every command: the result alone, and nothing if it is in a file."""

import click
import pytest
from commands import run

from lagbc.centrality import compiled
from lagbc.interfaces.cli import main

# What a command needs besides its graph, and what its result begins with.
NEEDED = {
    "compare": "--roots 2 --device cpu",
    "gravity": "--decay 0.5",
    **dict.fromkeys(("group-bc", "group-closeness", "group-degree", "group-harmonic"), "--group 1"),
    "percolation": "--states states.csv",
    "straightness": "--coordinates xy.csv",
}
BEGINS = {
    "centralities": "ranked by bc",
    "compare": "method ",
    "compile": "",
    "distances": "     pairs  ",
    "girvan-newman": "2 communities: modularity ",
    "info": "edges.txt: ",
}
# Cases beside one a command: roots that are drawn, and trips that no path takes.
MORE = ["bc --k 3", "bc --demand trips.csv"]
FILES = {
    "edges.txt": "0 1\n1 2\n2 3\n4 3\n",
    "xy.csv": "vertex,x,y\n0,0,0\n1,1,0\n2,1,1\n3,0,1\n4,0,0\n",
    "states.csv": "0,1\n1,0.5\n2,0.2\n3,0.1\n",
    "trips.csv": "origin,destination,trips\n0,3,2\n3,0,5\n",
}


@pytest.mark.parametrize("case", [*(name for name in main.list_commands(None) if name != "completion"), *MORE])
def test_a_quiet_command_prints_its_result_alone(tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compiled, "compile_kernels", lambda: compiled.Compiled("20 modules", 3.0, "/folder"))
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    for part in (1, 2) if case == "merge" else ():
        assert run("bc", "edges.txt", "--quiet", "--part", f"{part}/2", "--out", f"{part}.npz").output == ""
    command, *more = f"{case} {NEEDED.get(case, '')}".split()
    given = [command, *{"merge": ["1.npz", "2.npz"], "compile": []}.get(command, ["edges.txt"]), *more]
    loud, quiet = run(*given), run(*given, "--quiet")
    assert (loud.exit_code, quiet.exit_code, quiet.stderr) == (0, 0, "")
    assert loud.output != quiet.output
    assert quiet.stdout.startswith(BEGINS.get(case, "rank "))
    if command not in ("compare", "info"):  # these print times, of two runs
        lines = quiet.stdout.splitlines()
        assert {*lines} <= {*loud.stdout.splitlines()}
        assert not any(line.startswith(("lagbc", "time: ", "standard error: ", "a score ")) for line in lines)
    if any("--out" in option.opts for option in main.get_command(click.Context(main), command).params):
        written = run(*given, "--quiet", "--out", "scores.csv")
        assert (written.exit_code, written.output) == (0, "")
        assert (tmp_path / "scores.csv").stat().st_size
