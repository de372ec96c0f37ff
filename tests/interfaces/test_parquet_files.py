"""Scores as Parquet: the columns of the CSV file, with all bits, types and names."""

import sys

import pytest
from commands import fail, rows_of, succeed

import lagbc

pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def graph(write):
    return write("from,to,km\nann,bob,1.5\nbob,\N{SNOWMAN},2\n\N{SNOWMAN},dan,0.5\nann,dan,9\n", "graph.csv")


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
    rows, table = rows_of(tmp_path / "scores.csv"), pq.read_table(tmp_path / "scores.parquet")
    assert table.column_names == [*rows[0]]
    keys = {*rows[0]} & {"vertex", "source", "target"}
    assert keys
    for title in rows[0]:
        kind = str if title in keys else float
        assert table[title].to_pylist() == [kind(row[title]) for row in rows]


def test_groups_and_integers(write, tmp_path, graph):
    groups = write("bob\nbob,dan\n", "groups.txt")
    succeed("group-bc", graph, "--undirected", "--groups", groups, "--out", tmp_path / "g.parquet")
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
