"""The command `lagbc compare`: its table, its reasons and its exit status."""

import json
from dataclasses import replace

from commands import document, rows_of, run, succeed

from lagbc.comparison import measure
from lagbc.methods import table as methods
from lagbc.methods.table import METHODS


def test_command(tmp_path):
    printed = succeed("compare", "example:karate", "--roots", 10, "--device", "cpu", "--plot", tmp_path / "karate.svg")
    headline, table, conditions = printed.split("\n\n")
    assert headline == "karate: 34 vertices, 78 undirected edges"
    titles_, *rows = table.splitlines()
    assert titles_.split()[:2] == ["method", "device"]
    assert [row.split()[:2] for row in rows] == [
        [row.name, "cpu"] for row in METHODS if row.device == "cpu" and not row.weighted and row.available
    ]
    assert conditions.startswith("10 roots; ")
    assert (tmp_path / "karate.svg").stat().st_size > 0


def test_command_says_why_it_skips(monkeypatch):
    missing = [replace(METHODS[0], name=name, requires="no_such_library") for name in ("one", "two")]
    monkeypatch.setattr(methods, "METHODS", (METHODS[0], *missing))
    _, table, rest = succeed("compare", "example:karate", "--roots", 2).split("\n\n")
    assert len(table.splitlines()) == 2
    assert "one on cpu, two on cpu not measured: it needs no_such_library, which is not installed" in rest
    _, rest = succeed("compare", "example:karate", "--roots", 2, "--time-limit", 1e-12).split("\n\n")
    assert rest.startswith("2 roots; ")


def test_command_fails_if_scores_are_wrong(monkeypatch):
    given = ["compare", "example:karate", "--roots", 5, "--methods", METHODS[0].name, "--device", "cpu"]
    told = document(*given)
    (row,) = told["methods"]
    assert (told["roots"], row["method"], row["agrees"]) == (5, METHODS[0].name, True)
    monkeypatch.setattr(measure, "_by_reference", lambda task, count: [0.0] * task.graph.n)
    printed, as_json = run(*given), run(*given, "--json")
    assert printed.exit_code == as_json.exit_code == 3
    assert f"{METHODS[0].name} on cpu is WRONG: it differs from lagbc.reference, 5 roots" in printed.stdout
    assert json.loads(as_json.stdout)["methods"][0]["agrees"] is False


def test_command_takes_strengths_and_lengths():
    for option in ("--weighted", "--strength"):
        assert "with lengths" in succeed("compare", "example:lesmis", "--roots", 5, "--device", "cpu", option)


def test_a_table_has_the_main_figures_and_a_file_all(tmp_path):
    printed = succeed("compare", "example:karate", "--roots", 3, "--device", "cpu", "--out", tmp_path / "all.csv")
    titles_, *table = printed.split("\n\n")[1].splitlines()
    assert titles_.split() == ["method", "device", "ms", "per", "root", "GTEPS", "peak", "(MiB)", "difference"]
    assert max(map(len, (titles_, *table))) <= 79
    rows = rows_of(tmp_path / "all.csv")
    assert [row["method"] for row in rows if not row["skipped"]] == [line.split()[0] for line in table]
    assert {"formulation", "gteps", "levels", "bytes_per_state", "agrees"} < rows[0].keys()
