"""The command `lagbc compare`: its table, its reasons and its exit status."""

import csv
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace

import pytest
from click.testing import CliRunner

from lagbc.comparison import measure
from lagbc.interfaces.cli import main
from lagbc.methods import table as methods
from lagbc.methods.table import METHODS


def run(*arguments):
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


def test_command(tmp_path):
    pytest.importorskip("matplotlib")
    result = run("example:karate", "--roots", 10, "--device", "cpu", "--plot", tmp_path / "karate.svg")
    assert result.exit_code == 0, result.output
    headline, table, conditions = result.stdout.split("\n\n")
    assert headline == "karate: 34 vertices, 78 undirected edges"
    titles_, *rows = table.splitlines()
    assert titles_.split()[:3] == ["method", "formulation", "device"]
    assert [row.split()[:3] for row in rows] == [
        [row.name, row.formulation, "cpu"]
        for row in METHODS
        if row.device == "cpu" and not row.weighted and row.available
    ]
    assert conditions.startswith("10 roots; ")
    assert (tmp_path / "karate.svg").stat().st_size > 0


def test_command_says_why_it_skips(monkeypatch):
    missing = [replace(METHODS[0], name=name, requires="no_such_library") for name in ("one", "two")]
    monkeypatch.setattr(methods, "METHODS", (METHODS[0], *missing))
    result = run("example:karate", "--roots", 2)
    assert result.exit_code == 0
    _, table, rest = result.stdout.split("\n\n")
    assert len(table.splitlines()) == 2
    assert "one on cpu, two on cpu not measured: it needs no_such_library, which is not installed" in rest
    monkeypatch.setattr(methods, "METHODS", tuple(missing))
    _, rest = run("example:karate", "--roots", 2).stdout.split("\n\n")
    assert rest.startswith("2 roots; ")


def test_command_fails_if_scores_are_wrong(monkeypatch):
    monkeypatch.setattr(measure, "_by_reference", lambda task, count: [0.0] * task.graph.n)
    result = run("example:karate", "--roots", 5, "--methods", METHODS[0].name, "--device", "cpu")
    assert result.exit_code == 3
    assert f"{METHODS[0].name} on cpu is WRONG: it differs from lagbc.reference, 5 roots" in result.stdout


def test_command_takes_strengths_and_lengths():
    for option in ("--weighted", "--strength"):
        result = run("example:lesmis", "--roots", 5, "--device", "cpu", option)
        assert result.exit_code == 0, result.output
        assert "with lengths" in result.stdout


def test_command_ends_with_one_line_if_an_argument_is_wrong():
    result = run("example:karate", "--methods", "slow,fast")
    assert result.exit_code == 2
    assert result.stderr.startswith("lagbc: error: methods: there is no 'slow'")


@pytest.mark.parametrize("weighted", [[], ["--weighted"]])
def test_command_drops_no_name_that_is_asked_for(weighted):
    result = run("example:lesmis", "--methods", "batched, active-edge", "--device", "cpu", *weighted)
    assert result.exit_code == 2
    assert result.stdout.splitlines()[1:] == [""]
    assert "there is no 'active-edge' on cpu" in result.stderr
    assert "there are 'all' and batched on cpu" in result.stderr


def compare_in_terminal(width, out):
    """Return what a terminal of so many characters shows, line by line."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    given = ["example:karate", "--roots", "3", "--device", "cpu", "--out", str(out), "--no-progress"]
    with os.fdopen(ours, "rb", 0) as shown:
        environment = {**os.environ, "COLUMNS": str(width)}
        subprocess.run([sys.executable, "-m", "lagbc", "compare", *given], stdout=theirs, env=environment, check=True)
        os.close(theirs)
        lines = []
        with suppress(OSError):  # the end of a terminal, to Linux
            while read := shown.read(4096):
                lines.append(read)
    return b"".join(lines).decode().splitlines()


@pytest.mark.parametrize("width", [50, 120])
def test_tables_fit_into_the_terminal(tmp_path, width):
    _, _, titles, *rest = compare_in_terminal(width, tmp_path / "all.csv")
    table = [titles, *rest[: rest.index("")]]
    assert len(table) > 2
    assert max(map(len, table)) <= width
    assert titles.split()[:2] == (["method", "device"] if width < 120 else ["method", "formulation"])
    missing = " ".join(rest).partition("columns that do not fit into the terminal: ")[2]
    assert all((title in titles) != (f"{title}," in missing) for title in ("GTEPS", "levels", "bytes a state"))
    with (tmp_path / "all.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows if not row["skipped"]] == [line.split()[0] for line in table[1:]]
    assert {"formulation", "gteps", "levels", "bytes_per_state", "agrees"} < rows[0].keys()


def test_figures_go_to_csv_alone(tmp_path):
    result = run("example:karate", "--out", tmp_path / "figures.npy")
    assert (result.exit_code, result.stderr.endswith("figures are written to a .csv file\n")) == (2, True)
