"""`lagbc estimate`."""

import numpy as np
import pytest
from commands import document, rows_of, run, succeed

import lagbc
from lagbc.interfaces.cli.estimate import _round_printer

GRAPH = "example:ca-GrQc"


@pytest.fixture
def named(write):
    """200 edges between names of two kinds."""
    return write("\n".join(f"a{i % 40},b{i % 39}" for i in range(200)), "named.csv")


def test_rounds_are_told_and_the_highest_are_shown(tmp_path):
    how = {"samples": "roots", "top": 3, "tie": 0.03, "error": 0.05, "threads": 1}
    given = [part for name, value in how.items() for part in (f"--{name}", value)]
    done = run("estimate", GRAPH, *given, "--out", tmp_path / "scores.csv")
    assert done.exit_code == 0, done.output
    found = lagbc.estimate(lagbc.read_graph(GRAPH), rng=0, **how)
    assert "roots: half-width" in done.stderr
    assert found.reason in done.stdout
    assert "a score is the share of all pairs" in done.stdout
    np.testing.assert_array_equal([float(row["upper"]) for row in rows_of(tmp_path / "scores.csv")], found.upper)
    done = run("estimate", GRAPH, "--samples", "paths", "--error", "0.05")
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
    found = document("estimate", GRAPH, "--max-seconds", "1e-6")
    assert "were drawn in --max-seconds 1e-06, which" in found["reason"]
    assert "as --max-roots asks for" in succeed("estimate", GRAPH, "--max-roots", "9")


def test_single_vertices_a_figure_and_a_bar(named, tmp_path, monkeypatch):
    estimate, asked = lagbc.estimate, []
    monkeypatch.setattr(
        lagbc, "estimate", lambda *given, **how: asked.append(how["progress"]) or estimate(*given, **how)
    )
    plot, out = tmp_path / "ranks.png", tmp_path / "scores.csv"
    given = ["estimate", named, "--undirected", "--max-roots", "60", "--vertices", "b3,a7"]
    printed = succeed(*given, "--plot", plot, "--out", out, "--progress")
    found = estimate(lagbc.read_graph(named), directed=False, max_roots=60, vertices=["b3", "a7"], rng=0)
    rows = [(row["vertex"], float(row["score"])) for row in rows_of(out)]
    assert rows == list(zip(["b3", "a7"], found.scores, strict=True))
    assert f"plot: {plot}" in printed
    assert plot.stat().st_size > 1000
    told = document(*given)
    assert told["scores"]["vertex"] == ["b3", "a7"]
    assert told["arguments"]["vertices"] == "b3,a7"
    assert asked == [True, False]


def test_json_has_all_scores_or_the_highest(named):
    given = ["estimate", named, "--max-roots", "60", "--undirected"]
    found = document(*given)
    assert found["command"] == "estimate"
    assert found["estimate"] == {"roots": 60, "paths": 0, "seed": 0}
    assert found["arguments"]["max_roots"] == 60
    assert not found["exact"]
    scores = found["scores"]
    assert set(scores) == {"vertex", "bc", "lower", "upper"}
    assert set(scores["vertex"]) == {f"a{i}" for i in range(40)} | {f"b{i}" for i in range(39)}
    assert all(a <= b <= c for a, b, c in zip(scores["lower"], scores["bc"], scores["upper"], strict=True))
    top = document(*given, "--top", "3")["scores"]
    assert len(top["vertex"]) == len(top["tied"]) == 3
    assert set(top["vertex"]) < set(scores["vertex"])
    edges = document(*given, "--which", "edge-bc")["scores"]
    ends = {frozenset(ends) for ends in zip(edges["source"], edges["target"], strict=True)}
    assert len(ends) == len(edges["edge_bc"]) == 200
