"""GraphML, GML, GEXF and Pajek, by NetworkX."""

import sys

import networkx as nx
import numpy as np
import pytest

import lagbc
from lagbc.errors import GraphFileWarning, GraphFormatError, MissingDependencyError
from lagbc.io.read import read_graph


def streets(kind=nx.MultiDiGraph):
    """Lengths as text, as osmnx writes them; parallel edges where there can be; an edge that is a loop."""
    G = kind()
    G.add_nodes_from(["11", "b", "Zoë & co"])
    G.add_edge("11", "b", length="5.5", lanes=1)
    G.add_edge("11", "b", length="2.5", lanes=2)
    G.add_edge("b", "Zoë & co", length="1e-3", lanes=3)
    G.add_edge("b", "b", length="7", lanes=4)
    return G


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_graphml(tmp_path, kind):
    G = streets(kind)
    nx.write_graphml(G, tmp_path / "g.graphml")
    plain = read_graph(tmp_path / "g.graphml")
    assert (plain.format, plain.directed, plain.labels.tolist()) == ("GraphML", G.is_directed(), list(G))
    assert np.array_equal(plain.matrix.toarray(), nx.to_numpy_array(G, weight=None) > 0)
    if G.is_multigraph():
        with pytest.warns(GraphFileWarning, match="1 entry repeats an edge"):
            file = read_graph(tmp_path / "g.graphml", length="length")
        with pytest.warns(GraphFileWarning, match="largest"):
            strong = read_graph(tmp_path / "g.graphml", length="length", strengths=True)
        assert strong.matrix[0, 1] == 5.5
    else:
        file = read_graph(tmp_path / "g.graphml", length="length")
    expected = np.zeros((3, 3))
    expected[0, 1], expected[1, 2], expected[1, 1] = 2.5, 1e-3, 7
    if not G.is_directed():
        expected = np.maximum(expected, expected.T)
    assert np.array_equal(file.matrix.toarray(), expected)
    assert lagbc.bc(file, weighted=True).tolist() == [0, 1, 0]


@pytest.mark.parametrize("suffix", [None, ".txt", ".txt.gz"])
@pytest.mark.parametrize(
    ("form", "own"), [("GraphML", ".graphml"), ("GML", ".gml"), ("GEXF", ".gexf"), ("Pajek", ".net")]
)
def test_formats_are_told_by_content(tmp_path, form, own, suffix):
    G = nx.DiGraph(
        [("ann", "bob", {"weight": 2.5}), ("bob", "carl", {"weight": 0.5}), ("ann", "carl", {"weight": 4.5})]
    )
    path = tmp_path / f"g{suffix or own}"
    getattr(nx, f"write_{form.lower()}")(G, path)
    file = read_graph(path)
    assert (file.format, file.directed, file.labels.tolist()) == (form, True, ["ann", "bob", "carl"])
    assert lagbc.bc(file, weighted=True).tolist() == [0, 1, 0]
    assert lagbc.bc(file).tolist() == [0, 0, 0]
    if form != "Pajek":
        with pytest.raises(GraphFormatError, match=r"has no 'km'; expected a number .* there are: .*'weight'"):
            read_graph(path, length="km")
    path = tmp_path / f"bad{own}"
    path.write_text("graph [ node [\n")
    with pytest.raises(GraphFormatError, match=rf"bad{own}: .*; expected "):
        read_graph(path)


def test_vertices_of_gml_without_labels(tmp_path):
    path = tmp_path / "g"
    path.write_text('Creator "somebody"\ngraph\n[\n node [ id 7 ]\n node [ id 5 ]\n edge [ source 7 target 5 ]\n]\n')
    file = read_graph(path)
    assert (file.format, file.directed, file.labels.tolist()) == ("GML", False, ["7", "5"])


def test_an_attribute_that_is_no_number(tmp_path):
    G = streets(nx.DiGraph)
    G["b"]["Zoë & co"]["length"] = "far"
    nx.write_graphml(G, tmp_path / "g.graphml")
    message = r"the edge b -> Zoë & co has 'length' = 'far'; expected a number .* there are: 'lanes', 'length'"
    with pytest.raises(GraphFormatError, match=message):
        read_graph(tmp_path / "g.graphml", length="length")
    with pytest.raises(GraphFormatError, match="the edge 11 -> b has no 'km'"):
        read_graph(tmp_path / "g.graphml", length="km")


@pytest.mark.parametrize("weight", [{}, {"weight": "far"}])
def test_lengths_are_missed_where_they_are_used(tmp_path, weight):
    G = nx.DiGraph([("a", "b", {"weight": 2.0}), ("b", "c", weight)])
    nx.write_graphml(G, tmp_path / "g.graphml")
    file = read_graph(tmp_path / "g.graphml")
    assert lagbc.bc(file).tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match=r"the edge b -> c has the length nan; lengths are finite and > 0"):
        lagbc.bc(file, weighted=True)


def test_malformed(tmp_path):
    path = tmp_path / "g.graphml"
    path.write_text("<graphml><graph>")
    with pytest.raises(GraphFormatError, match=r"g\.graphml: .*; expected GraphML"):
        read_graph(path)
    with pytest.raises(ValueError, match="header means nothing to the format GraphML"):
        read_graph(path, header=True)


def test_without_networkx(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    path = tmp_path / "g.graphml"
    path.write_text("<graphml/>")
    with pytest.raises(
        MissingDependencyError, match=r"g\.graphml: GraphML is read by NetworkX: pip install 'lagbc\[networkx\]'"
    ):
        read_graph(path)
