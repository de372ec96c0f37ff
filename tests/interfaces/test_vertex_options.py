"""Vertices, their weights and groups on the command line: as text, and in files."""

import csv

import numpy as np
import pytest
from commands import run, succeed

import lagbc

NAMES = 'Ann,Bob\nBob,"Lee, C."\n"Lee, C.",Dan\nDan,Eve\nBob,Eve\n'


@pytest.fixture
def named(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(NAMES)
    return path


def scores_of(tmp_path, *arguments):
    succeed(*arguments, "--out", tmp_path / "scores.npy")
    return np.load(tmp_path / "scores.npy").tolist()


def test_sources_and_targets(named, tmp_path):
    graph = lagbc.read_graph(named)
    expected = lagbc.bc(graph, directed=True, sources=["Ann", "Lee, C."], targets=["Eve", "Dan"]).tolist()
    assert any(expected)
    (tmp_path / "who.txt").write_text("Eve\nDan\n")
    given = ["--sources", 'Ann,"Lee, C."', "--targets", f"@{tmp_path / 'who.txt'}"]
    assert scores_of(tmp_path, "bc", named, *given) == expected
    assert (
        scores_of(tmp_path, "stress", "example:karate", "--sources", "3,0")
        == lagbc.stress(lagbc.read_graph("example:karate"), sources=[3, 0]).tolist()
    )
    assert "standard error" not in succeed("bc", named, *given)


def test_ids_of_an_edge_list_are_names(path_graph, tmp_path):
    assert scores_of(tmp_path, "bc", path_graph, "--sources", "20") == [2, 0, 1, 0]


def test_weights_of_vertices(named, tmp_path):
    graph, table = lagbc.read_graph(named), tmp_path / "places.csv"
    table.write_text("name,people,jobs\nAnn,3,0\nEve,1,2.5\nDan,0,1\n")
    people, jobs = [3, 0, 0, 0, 1], [0, 0, 0, 1, 2.5]
    given = ["--undirected", "--source-weights", f"{table}:people", "--target-weights", f"{table}:3"]
    expected = lagbc.bc(graph, directed=False, source_weights=people, target_weights=jobs).tolist()
    assert any(expected)
    assert scores_of(tmp_path, "bc", named, *given) == expected
    said = run("bc", named, *given).stderr.splitlines()
    assert said[0] == f"lagbc: note: {table} names 3 vertices of 5; the others have 0 (source weights)"
    expected = lagbc.gravity(graph, directed=False, target_weights=jobs, decay=0.5).tolist()
    given = ["--undirected", "--decay", 0.5, "--target-weights", f"{table}:jobs"]
    assert scores_of(tmp_path, "gravity", named, *given) == expected
    np.save(tmp_path / "jobs.npy", jobs)
    assert (
        scores_of(tmp_path, "reach", named, "--target-weights", tmp_path / "jobs.npy")
        == lagbc.reach(graph, directed=True, target_weights=jobs).tolist()
    )


def test_percolation(named, tmp_path):
    (tmp_path / "states.txt").write_text("Ann 1\nDan 0.25\n")
    given = ["percolation", named, "--undirected", "--states", tmp_path / "states.txt"]
    expected = lagbc.percolation(lagbc.read_graph(named), [1, 0, 0, 0.25, 0], directed=False)
    assert expected.any()
    assert scores_of(tmp_path, *given, "--threads", 1, "--device", "cpu") == expected.tolist()
    printed = succeed(*given, "--top", 1)
    assert f"{expected.max():.8g}" in printed
    assert "standard error" not in printed


def test_percolation_is_drawn(named, tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "states.txt").write_text("Ann 1\nDan 0.25\n")
    succeed("percolation", named, "--states", tmp_path / "states.txt", "--plot", tmp_path / "scores.svg")
    assert "<!-- percolation -->" in (tmp_path / "scores.svg").read_text()


def test_groups(named, tmp_path):
    (tmp_path / "groups.csv").write_text('# two of them\nAnn,Bob\n"Lee, C."\n')
    given = ["group-bc", named, "--undirected", "--group", "Bob", "--groups", tmp_path / "groups.csv"]
    groups = [["Bob"], ["Ann", "Bob"], ["Lee, C."]]
    expected = lagbc.group_bc(lagbc.read_graph(named), groups, directed=False).tolist()
    assert scores_of(tmp_path, *given, "--threads", 1) == expected
    succeed(*given, "--out", tmp_path / "scores.csv")
    with (tmp_path / "scores.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [next(csv.reader([row["vertices"]])) for row in rows] == groups
    assert [(row["group"], float(row["score"])) for row in rows] == [
        (str(number), score) for number, score in enumerate(expected, 1)
    ]
    lines = succeed(*given, "--top", 2).splitlines()
    assert lines[0] == "people.csv: 5 vertices, 5 undirected edges"
    assert lines[3].split() == ["rank", "group", "score", "vertices"]
    assert lines[4].split() == ["1", "1", f"{expected[0]:.8g}", "Bob"]
    assert lines[6].startswith("phases: ")
    assert "rank" not in succeed(*given, "--top", 0)
    shared = lagbc.group_bc(lagbc.read_graph(named), groups, directed=False, normalized=True, endpoints=True)
    assert scores_of(tmp_path, *given, "--normalized", "--endpoints") == shared.tolist()
