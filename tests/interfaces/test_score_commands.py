"""A command for each centrality of the registry, and one for several."""

import click
import numpy as np
import pytest
from commands import document, rows_of, succeed

import lagbc
from lagbc.arguments import OF_THE_SCORES, OF_THE_SUMS
from lagbc.calls import PHASES
from lagbc.interfaces.cli import main
from lagbc.scores.records import shared

OF_VERTICES = [record for record in shared() if not record.of_edges]


@pytest.mark.parametrize("record", OF_VERTICES, ids=lambda record: record.name)
@pytest.mark.parametrize("options", [[], ["--weighted"]], ids=["hops", "lengths"])
def test_scores_are_those_of_the_function(tmp_path, record, options):
    path = tmp_path / "scores.npy"
    command = record.name.replace("_", "-")
    sample = ["--k", 20, "--seed", 3, "--no-error"] if "k" in record.takes else []
    needed = {"decay": 0.5} if record.name == "gravity" else {}
    given = [part for name, value in needed.items() for part in (f"--{name}", value)]
    printed = succeed(command, "example:lesmis", *options, *sample, *given, "--out", path, "--top", 3)
    drawn = ({"k": 20, "rng": 3} if sample else {}) | needed
    expected = getattr(lagbc, record.name)(lagbc.read_graph("example:lesmis"), weighted=bool(options), **drawn)
    np.testing.assert_array_equal(np.load(path), expected)
    assert f"{expected.max():.8g}" in printed


@pytest.mark.parametrize("record", shared(), ids=lambda record: record.name)
def test_a_command_takes_what_its_record_says(record):
    named = {parameter.name for parameter in main.get_command(click.Context(main), record.name).params}
    assert ("seed" in named) == ("rng" in record.takes)
    arguments = {*OF_THE_SUMS, *OF_THE_SCORES} - {"rng"}
    assert named & arguments == record.takes - {"rng", "u", "top"}
    assert ("u" in named) == ("u" in record.takes)
    assert {"method", "device", "memory", "dtype", "threads", "checkpoint", "out"} <= named


@pytest.mark.parametrize("options", [[], ["--weighted"], ["--cutoff", "1,2"]], ids=" ".join)
def test_closeness_of_some_vertices_alone(write, tmp_path, options):
    """Rows are named as the vertices were asked for, in that order."""
    file, out = write('ann,bob,2\nbob,carl,1\ncarl,"Lee, C.",3\n'), tmp_path / "scores.csv"
    command = ["closeness", file, "--undirected", *options, "--vertices", '"Lee, C.",bob']
    g = lagbc.read_graph(file)
    cutoff = [1, 2] if "--cutoff" in options else None
    how = {"directed": False, "weighted": "--weighted" in options, "cutoff": cutoff}
    expected = lagbc.closeness(g, u=["Lee, C.", "bob"], **how)
    succeed(*command, "--out", out)
    rows = [[*row.values()] for row in rows_of(out)]
    assert [row[0] for row in rows] == ["Lee, C.", "bob"]
    np.testing.assert_array_equal(np.array([row[1:] for row in rows], float), expected.reshape(2, -1))
    assert succeed(*command, "--quiet", "--top", 1).splitlines()[-1].split()[:2] == ["1", "bob"]
    shown = document(*command)
    assert shown["scores"]["vertex"] == ["Lee, C.", "bob"]
    assert shown["arguments"]["u"] == '"Lee, C.",bob'


def test_edges(tmp_path):
    path = tmp_path / "edges.csv"
    printed = succeed("edge-bc", "example:karate", "--out", path, "--top", 1)
    scores = lagbc.edge_bc(lagbc.read_graph("example:karate"))
    rows = rows_of(path)
    assert len(rows) == scores.nnz
    for row in rows:
        assert float(row["score"]) == scores[int(row["source"]), int(row["target"])]
    (phases,) = [line for line in printed.splitlines() if line.startswith("phases: check ")]
    assert all(f" {name} " in phases for name in PHASES)


def test_several_from_one_sweep(tmp_path):
    path = tmp_path / "scores.csv"
    succeed("centralities", "example:karate", "--which", "closeness,eccentricity-centrality", "--out", path)
    found = lagbc.centralities(lagbc.read_graph("example:karate"), ("closeness", "eccentricity_centrality"))
    for name, scores in found.items():
        assert [float(row[name]) for row in rows_of(path)] == scores.tolist()


def test_several_cutoffs_give_a_column_each(tmp_path):
    graph, table, edges = lagbc.read_graph("example:karate"), tmp_path / "scores.csv", tmp_path / "edges.csv"
    succeed("bc", "example:karate", "--cutoff", "2,3", "--decay", "0.5", "--out", table)
    expected = lagbc.bc(graph, cutoff=[2, 3], decay=0.5)
    rows = rows_of(table)
    assert [list(map(float, list(row.values())[1:])) for row in rows] == expected.tolist()
    assert list(rows[0]) == ["vertex", "cutoff 2, decay 0.5", "cutoff 3, decay 0.5"]
    succeed("edge-bc", "example:karate", "--cutoff", "2,3", "--out", edges)
    matrices = lagbc.edge_bc(graph, cutoff=[2, 3])
    for row in rows_of(edges):
        ends = int(row["source"]), int(row["target"])
        assert [float(row["cutoff 2"]), float(row["cutoff 3"])] == [matrix[ends] for matrix in matrices]
