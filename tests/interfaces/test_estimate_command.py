"""`lagbc estimate`."""

import csv
import json

import numpy as np
from click.testing import CliRunner

import lagbc
from lagbc.interfaces.cli import main
from lagbc.interfaces.cli.estimate import _round_printer

GRAPH = "example:ca-GrQc"


def run(*arguments):
    return CliRunner().invoke(main, ["estimate", *arguments])


def test_rounds_are_told_and_the_highest_are_shown(tmp_path):
    out = tmp_path / "scores.csv"
    given = ("--samples", "roots", "--top", "3", "--tie", "0.03", "--error", "0.05", "--threads", "1")
    done = run(GRAPH, *given, "--out", str(out))
    assert done.exit_code == 0, done.output
    found = lagbc.estimate(
        lagbc.read_graph(lagbc.example_path("ca-GrQc")).matrix,
        directed=False,
        samples="roots",
        top=3,
        tie=0.03,
        error=0.05,
        rng=0,
        threads=1,
    )
    assert "roots: half-width" in done.stderr
    assert found.reason in done.stdout
    assert "a score is the share of all pairs" in done.stdout
    with out.open() as file:
        rows = list(csv.DictReader(file))
    np.testing.assert_array_equal([float(row["upper"]) for row in rows], found.upper)
    done = run(GRAPH, "--samples", "paths", "--error", "0.05")
    assert "paths: half-width" in done.stderr
    assert "paths every score is within" in done.stdout


def test_a_half_width_above_all_scores_is_not_told(capsys):
    tell = _round_printer(0.0)
    tell("roots", 10, 40.8, 0.01, 100.0)
    tell("roots", 20, 0.8, 0.01, 100.0)
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("      10 roots: asked 0.01, some ")
    assert second.startswith("      20 roots: half-width 0.8, asked 0.01, some ")


def test_limits_are_called_as_they_were_typed():
    done = run(GRAPH, "--max-seconds", "1e-6", "--json")
    assert "were drawn in --max-seconds 1e-06, which" in json.loads(done.stdout)["reason"]
    assert "as --max-roots asks for" in run(GRAPH, "--max-roots", "9").stdout


def test_the_highest_edges_are_printed():
    rows = run(GRAPH, "--which", "edge-bc").stdout.split("rank  source  target")[1].splitlines()
    assert rows[0].split() == ["edge_bc", "lower", "upper"]
    assert [row.split()[0] for row in rows[1:11]] == [str(rank) for rank in range(1, 11)]
    assert rows[12].startswith("a score is")


def test_single_vertices_a_figure_and_a_bar(tmp_path, monkeypatch):
    estimate, asked = lagbc.estimate, []
    monkeypatch.setattr(
        lagbc, "estimate", lambda *given, **how: asked.append(how["progress"]) or estimate(*given, **how)
    )
    names = tmp_path / "named.csv"
    names.write_text("\n".join(f"a{i % 40},b{i % 39}" for i in range(200)))
    plot, out = tmp_path / "ranks.png", tmp_path / "scores.csv"
    given = [str(names), "--undirected", "--max-roots", "60", "--vertices", "b3,a7"]
    done = run(*given, "--plot", str(plot), "--out", str(out), "--progress")
    assert done.exit_code == 0, done.output
    found = estimate(lagbc.read_graph(names), directed=False, max_roots=60, vertices=["b3", "a7"], rng=0)
    with out.open() as file:
        rows = [(row["vertex"], float(row["score"])) for row in csv.DictReader(file)]
    assert rows == list(zip(["b3", "a7"], found.scores, strict=True))
    assert f"plot: {plot}" in done.stdout
    assert plot.stat().st_size > 1000
    told = json.loads(run(*given, "--json").stdout)
    assert told["scores"]["vertex"] == ["b3", "a7"]
    assert told["arguments"]["vertices"] == "b3,a7"
    assert asked == [True, False]


def test_json_has_all_scores_or_the_highest(tmp_path):
    names = tmp_path / "named.csv"
    names.write_text("\n".join(f"a{i % 40},b{i % 39}" for i in range(200)))
    given = ["--json", "--max-roots", "60", "--undirected"]
    found = json.loads(run(str(names), *given).stdout)
    assert found["command"] == "estimate"
    assert found["estimate"] == {"roots": 60, "paths": 0, "seed": 0}
    assert found["arguments"]["max_roots"] == 60
    assert not found["exact"]
    scores = found["scores"]
    assert set(scores) == {"vertex", "bc", "lower", "upper"}
    assert set(scores["vertex"]) == {f"a{i}" for i in range(40)} | {f"b{i}" for i in range(39)}
    assert all(a <= b <= c for a, b, c in zip(scores["lower"], scores["bc"], scores["upper"], strict=True))
    top = json.loads(run(str(names), *given, "--top", "3").stdout)["scores"]
    assert len(top["vertex"]) == len(top["tied"]) == 3
    assert set(top["vertex"]) < set(scores["vertex"])
    edges = json.loads(run(str(names), *given, "--which", "edge-bc").stdout)["scores"]
    ends = {frozenset(ends) for ends in zip(edges["source"], edges["target"], strict=True)}
    assert len(ends) == len(edges["edge_bc"]) == 200
