"""Parquet files of edges, in Python and by the command, and files of other programs."""

import json
import sys

import pytest
from interfaces.commands import fail, succeed

import lagbc

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROADS = {"name": ["A1", "A2", "A3"], "to": ["bonn", "ulm", "jena"], "from": ["ulm", "jena", "bonn"], "km": [1.5, 2, 4]}


@pytest.fixture
def written(tmp_path):
    def write(columns, name="edges.parquet", **options):
        pq.write_table(pa.table(columns), tmp_path / name, **options)
        return tmp_path / name

    return write


@pytest.mark.parametrize("options", [{}, {"use_dictionary": False}, {"row_group_size": 1}], ids=str)
def test_it_is_the_graph_that_a_csv_file_of_the_same_edges_is(written, tmp_path, options):
    csv = tmp_path / "edges.csv"
    rows = [list(ROADS), *zip(*ROADS.values(), strict=True)]
    csv.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    for columns in ({}, {"ends": ("from", "to"), "length": "km"}, {"ends": (3, 2), "length": 4}):
        graph, expected = lagbc.read_graph(written(ROADS, **options), **columns), lagbc.read_graph(csv, **columns)
        assert graph.labels.tolist() == expected.labels.tolist() == ["ulm", "bonn", "jena"]
        assert (graph.matrix != expected.matrix).nnz == 0
        assert (graph.format, graph.has_values, graph.tells_direction) == ("Parquet", True, False)
    assert graph.said == "names in column 'from' and column 'to', values in column 'km'"
    hops = lagbc.read_graph(written(ROADS, **options), ends=("from", "to"))
    assert (hops.has_values, hops.said) == (False, "names in column 'from' and column 'to'")


def test_the_command_reads_it(written):
    path = written(ROADS)
    told = json.loads(succeed("bc", path, "--undirected", "--weighted", "--json"))  # by 3.5 rather than 4
    assert told["scores"] == {"vertex": ["ulm", "bonn", "jena"], "bc": [1, 0, 0]}
    assert "names in column 'from' and column 'to', values in column 'km'" in succeed("info", path)
    renamed = path.rename(path.with_name("edges.of.roads"))
    assert lagbc.read_graph(renamed).format == "Parquet"


def test_repeated_edges_and_integers(written):
    path = written({"source": [7, 7, 3], "target": [3, 3, 9], "length": [2, 1, 4]})
    with pytest.warns(lagbc.GraphFileWarning, match="1 entry repeats an edge"):
        graph = lagbc.read_graph(path)
    assert (graph.labels.tolist(), graph.matrix.sum()) == ([3, 7, 9], 5)
    assert lagbc.bc(graph, directed=True, weighted=True).tolist() == [1, 0, 0]


def test_damaged_files_and_arguments(written, tmp_path):
    path = written(ROADS)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(lagbc.GraphFormatError, match=r"edges\.parquet: "):
        lagbc.read_graph(path)
    with pytest.raises(ValueError, match="header, names means nothing to the format Parquet"):
        lagbc.read_graph(written(ROADS), header=True, names=True)
    with pytest.raises(MemoryError, match="a table of 3 edges or more needs up to"):
        lagbc.read_graph(written(ROADS), budget=100)


def test_without_pyarrow(written, monkeypatch):
    path = written(ROADS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(lagbc.MissingDependencyError, match="Parquet is read by pyarrow: pip install pyarrow"):
        lagbc.read_graph(path)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("edges.xlsx", b"PK\x03\x04rest", r"edges = pandas\.read_excel\('.*edges\.xlsx'\); graph = lagbc\.graph_from"),
        ("edges.feather", b"ARROW1", r"edges = polars\.read_ipc\('.*'\); graph = lagbc\.graph_from_edges\(edges, dir"),
        ("roads.gpkg", b"SQLite format 3\0", r"lines = geopandas\.read_file\('.*gpkg'\); graph = momepy\.gdf_to_nx"),
        ("g.dot", b"digraph { a -> b }", r"graph = networkx\.nx_pydot\.read_dot\('.*dot'\); scores = lagbc\.bc"),
        ("g.gv", b"graph { a -- b }", r"graph = networkx\.nx_pydot\.read_dot"),
    ],
)
def test_files_of_other_programs_are_read_by_two_lines(tmp_path, name, content, told):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(lagbc.GraphFormatError, match=f"{name}: .* is not read; two lines of Python read it: {told}"):
        lagbc.read_graph(tmp_path / name)
    assert "two lines of Python read it" in fail("bc", tmp_path / name)
