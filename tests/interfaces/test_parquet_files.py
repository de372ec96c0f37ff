"""Scores as Parquet: the columns of the CSV file, with all bits, types and names."""

import csv
import sys

import pytest
from interfaces.commands import fail, succeed

import lagbc

pq = pytest.importorskip("pyarrow.parquet")

EDGES = "from,to,km\nann,bob,1.5\nbob,\N{SNOWMAN},2\n\N{SNOWMAN},dan,0.5\nann,dan,9\n"


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "graph.csv"
    path.write_text(EDGES)
    return path


@pytest.mark.parametrize(
    "command",
    [
        ("bc",),
        ("bc", "--weighted", "--cutoff", "2,4"),
        ("edge-bc",),
        ("centralities", "--which", "bc,closeness"),
        ("estimate", "--which", "closeness"),
    ],
    ids=" ".join,
)
def test_it_has_the_columns_of_the_csv_file(graph, tmp_path, command):
    name, *options = command
    for suffix in ("csv", "parquet"):
        succeed(name, graph, "--undirected", *options, "--out", tmp_path / f"scores.{suffix}")
    with (tmp_path / "scores.csv").open() as file:
        titles, *rows = csv.reader(file)
    table = pq.read_table(tmp_path / "scores.parquet")
    assert table.column_names == titles
    keys = [title for title in titles if title in ("vertex", "source", "target")]
    assert keys
    for title, expected in zip(titles, zip(*rows, strict=True), strict=True):
        kind = str if title in keys else float
        assert table[title].to_pylist() == [kind(value) for value in expected]


def test_groups_and_integers(tmp_path, graph):
    (tmp_path / "groups.txt").write_text("bob\nbob,dan\n")
    succeed("group-bc", graph, "--undirected", "--groups", tmp_path / "groups.txt", "--out", tmp_path / "g.parquet")
    assert pq.read_table(tmp_path / "g.parquet")["vertices"].to_pylist() == ["bob", "bob,dan"]
    succeed("bc", "example:karate", "--out", tmp_path / "k.parquet")
    assert pq.read_table(tmp_path / "k.parquet")["vertex"].to_pylist() == list(range(34))


def test_without_pyarrow_it_is_refused_before_the_run(graph, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    told = fail("bc", graph, "--out", tmp_path / "scores.parquet", status=1)
    assert "scores.parquet: Parquet is written by pyarrow: pip install pyarrow, or write .csv" in told


def test_a_table_of_python_is_arrow(graph):
    pyarrow, pandas = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    g = lagbc.read_graph(graph)
    frame = lagbc.table(g, lagbc.bc(g, directed=False)).reset_index()
    assert isinstance(frame, pandas.DataFrame)
    assert pyarrow.table(frame).to_pydict() == {"vertex": g.labels.tolist(), "score": frame["score"].tolist()}
