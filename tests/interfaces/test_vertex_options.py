"""Vertices, their names, weights and groups on the command line: as text, and in files."""

import csv

import numpy as np
import pytest
from commands import rows_of, run, succeed

import lagbc


@pytest.fixture
def named(write):
    return write('Ann,Bob\nBob,"Lee, C."\n"Lee, C.",Dan\nDan,Eve\nBob,Eve\n', "people.csv")


@pytest.fixture
def states(write):
    return write("Ann 1\nDan 0.25\n", "states.txt")


def test_sources_and_targets(named, scores_of, write):
    graph = lagbc.read_graph(named)
    expected = lagbc.bc(graph, directed=True, sources=["Ann", "Lee, C."], targets=["Eve", "Dan"])
    assert expected.any()
    who = write("Eve\nDan\n", "who.txt")
    given = ["--sources", 'Ann,"Lee, C."', "--targets", f"@{who}"]
    np.testing.assert_array_equal(scores_of("bc", named, *given), expected)
    expected = lagbc.stress(lagbc.read_graph("example:karate"), sources=[3, 0])
    np.testing.assert_array_equal(scores_of("stress", "example:karate", "--sources", "3,0"), expected)
    assert "standard error" not in succeed("bc", named, *given)


def test_weights_of_vertices(named, scores_of, write, tmp_path):
    graph, table = lagbc.read_graph(named), write("name,people,jobs\nAnn,3,0\nEve,1,2.5\nDan,0,1\n", "places.csv")
    people, jobs = [3, 0, 0, 0, 1], [0, 0, 0, 1, 2.5]
    given = ["--undirected", "--source-weights", f"{table}:people", "--target-weights", f"{table}:3"]
    expected = lagbc.bc(graph, directed=False, source_weights=people, target_weights=jobs)
    assert expected.any()
    np.testing.assert_array_equal(scores_of("bc", named, *given), expected)
    said = run("bc", named, *given).stderr.splitlines()
    assert said[0] == f"lagbc: note: {table} names 3 vertices of 5; the others have 0 (source weights)"
    expected = lagbc.gravity(graph, directed=False, target_weights=jobs, decay=0.5)
    given = ["--undirected", "--decay", 0.5, "--target-weights", f"{table}:jobs"]
    np.testing.assert_array_equal(scores_of("gravity", named, *given), expected)
    np.save(tmp_path / "jobs.npy", jobs)
    expected = lagbc.reach(graph, directed=True, target_weights=jobs)
    np.testing.assert_array_equal(scores_of("reach", named, "--target-weights", tmp_path / "jobs.npy"), expected)


def test_percolation(named, states, scores_of):
    given = ["percolation", named, "--undirected", "--states", states]
    expected = lagbc.percolation(lagbc.read_graph(named), [1, 0, 0, 0.25, 0], directed=False)
    assert expected.any()
    np.testing.assert_array_equal(scores_of(*given, "--threads", 1, "--device", "cpu"), expected)
    printed = succeed(*given, "--top", 1)
    assert f"{expected.max():.8g}" in printed
    assert "standard error" not in printed


def test_groups(named, scores_of, write, tmp_path):
    given = ["group-bc", named, "--undirected", "--group", "Bob"]
    given += ["--groups", write('# two of them\nAnn,Bob\n"Lee, C."\n', "groups.csv")]
    groups = [["Bob"], ["Ann", "Bob"], ["Lee, C."]]
    expected = lagbc.group_bc(lagbc.read_graph(named), groups, directed=False).tolist()
    assert scores_of(*given, "--threads", 1).tolist() == expected
    succeed(*given, "--out", tmp_path / "scores.csv")
    rows = rows_of(tmp_path / "scores.csv")
    assert [next(csv.reader([row["vertices"]])) for row in rows] == groups
    assert [(row["group"], float(row["score"])) for row in rows] == [
        (str(number), score) for number, score in enumerate(expected, 1)
    ]
    assert "rank" not in succeed(*given, "--top", 0)
    shared = lagbc.group_bc(lagbc.read_graph(named), groups, directed=False, normalized=True, endpoints=True)
    assert scores_of(*given, "--normalized", "--endpoints").tolist() == shared.tolist()


@pytest.mark.parametrize("command", ["bc", "centralities", "percolation"])
def test_names_are_drawn(named, states, tmp_path, command):
    """`test_recorded_faces.py` has how they are printed and written."""
    needed = {"centralities": ["--which", "bc"], "percolation": ["--states", states]}.get(command, [])
    succeed(command, named, *needed, "--plot", tmp_path / "scores.svg")
    svg = (tmp_path / "scores.svg").read_text(encoding="utf-8")
    assert "<!-- Bob -->" in svg
    assert ("<!-- percolation -->" in svg) == (command == "percolation")
