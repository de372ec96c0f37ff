"""GraphML, GML, GEXF and Pajek, by NetworkX."""

import sys

import networkx as nx
import numpy as np
import pytest

import lagbc
from lagbc.errors import GraphFileWarning, GraphFormatError, MissingDependencyError
from lagbc.io.read import read_graph


def graphml(folder, G):
    nx.write_graphml(G, folder / "g.graphml")
    return folder / "g.graphml"


def streets(kind):
    """Lengths as text, as osmnx writes them; parallel edges where there can be; an edge that is a loop."""
    G = kind()
    G.add_nodes_from(["11", "b", "Zoë & co"])
    ends = [("11", "b", "5.5"), ("11", "b", "2.5"), ("b", "Zoë & co", "1e-3"), ("b", "b", "7")]
    for lanes, (u, v, length) in enumerate(ends, 1):
        G.add_edge(u, v, length=length, lanes=lanes)
    return G


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_graphml(tmp_path, kind):
    G = streets(kind)
    path = graphml(tmp_path, G)
    plain = read_graph(path)
    assert (plain.format, plain.directed, plain.labels.tolist()) == ("GraphML", G.is_directed(), list(G))
    assert np.array_equal(plain.matrix.toarray(), nx.to_numpy_array(G, weight=None) > 0)
    if G.is_multigraph():
        with pytest.warns(GraphFileWarning, match="1 entry repeats an edge"):
            file = read_graph(path, length="length")
        with pytest.warns(GraphFileWarning, match="largest"):
            assert read_graph(path, length="length", strengths=True).matrix[0, 1] == 5.5
    else:
        file = read_graph(path, length="length")
    expected = np.zeros((3, 3))
    expected[0, 1], expected[1, 2], expected[1, 1] = 2.5, 1e-3, 7
    if not G.is_directed():
        expected = np.maximum(expected, expected.T)
    assert np.array_equal(file.matrix.toarray(), expected)
    assert lagbc.bc(file, weighted=True).tolist() == [0, 1, 0]


@pytest.mark.parametrize("suffix", [None, ".txt", ".txt.gz"])
@pytest.mark.parametrize(
    ("form", "own"), [("GraphML", ".graphml"), ("GML", ".gml"), ("GEXF", ".gexf"), ("Pajek", ".net"), ("Pajek", ".paj")]
)
def test_formats_are_told_by_content(write, tmp_path, form, own, suffix):
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
    with pytest.raises(GraphFormatError, match=rf"bad{own}: .*; expected "):
        read_graph(write("graph [ node [\n", f"bad{own}"))


@pytest.mark.parametrize(
    ("seven", "five", "called"),
    [
        ("", "", ["7", "5"]),
        ("", 'label "b"', ["7", "5"]),
        ('label "a"', 'label "a"', ["7", "5"]),
        ('note "no label"', "", ["7", "5"]),
        ('label "5"', 'label "7"', ["5", "7"]),
        ("label 1", 'label "b"', ["1", "b"]),
    ],
)
def test_vertices_of_gml_are_called_by_labels_that_tell_all_apart(write, seven, five, called):
    text = 'Creator "the graph [ maker"\nVersion 1\n\ngraph\n[\n'
    text += f' node [ id 7 {seven} ]\n node [ id 5 {five} ]\n edge [ source 7 target 5 value 2 label "e" ]\n]\n'
    file = read_graph(write(text))
    assert (file.format, file.directed, file.labels.tolist()) == ("GML", False, called)


@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("name", ["road.net", "road.paj", "road"])
@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("1 2\n2 3\n", "edge list"),
        ("% made of roads\n1 2\n", "edge list"),
        ("graph [a]\n[a] b\n", "edge list"),
        ("comment comment comment comment graph\na b c d e\n", "edge list"),
        ("graph [ ]\n", "GML"),
        ('comment "graph [a]"\nversion 2\n graph\n[\n directed 1 ]\n', "GML"),
        ("% by somebody\n\n %\n*Vertices 2\n1 a\n2 b\n*Edges\n1 2\n", "Pajek"),
        (f'% {"long " * 100}\n*NETWORK x\n*vertices 2\n1 a\n2 b\n*ARCS :1 "road"\n1 2\n', "Pajek"),
    ],
)
def test_content_tells_the_format(write, name, text, form, mark):
    ends = {"ends": (1, 2), "header": False} if "comment comment" in text else {}
    assert read_graph(write(mark + text, name), **ends).format == form


def test_words_of_gml_are_told_in_linear_time(write):
    path = write("comment " * 500 + "\n" + "a " * 500 + "\n")
    assert read_graph(path, ends=(1, 2), header=False).format == "edge list"


LABELS = '1 "a"\n2 "b"\n3 "c d"\n'


@pytest.mark.parametrize(
    ("links", "expected", "directed"),
    [
        ("*Arcs\n1 2 2.5\n3 1 1\n", [[0, 2.5, 0], [0, 0, 0], [1, 0, 0]], True),
        ("*Edges\n% a comment\n\n1 2 2.5\n", [[0, 2.5, 0], [2.5, 0, 0], [0, 0, 0]], False),
        ("*Matrix\n0 2 0\n\n0 0 3\n4 0 0\n", [[0, 2, 0], [0, 0, 3], [4, 0, 0]], True),
    ],
)
def test_pajek(write, links, expected, directed):
    text = f"\ufeff*Network roads\n*Vertices 3\n{LABELS}\n{links}".replace("\n", "\r\n")
    file = read_graph(write(text, "g.net"))
    assert (file.directed, file.labels.tolist()) == (directed, ["a", "b", "c d"])
    assert file.matrix.toarray().tolist() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("*Vertices many\n1 a\n*Edges\n", "'many'"),
        ("*Vertices 2\n1 O'Hara\n2 b\n*Edges\n1 2\n", "No closing quotation"),
        ("*Vertices 1\n1 a\n*Matrix\n0 1\n", "list index out of range"),
    ],
)
def test_pajek_that_networkx_does_not_read(write, text, message):
    with pytest.raises(GraphFormatError, match=rf"g\.net: .*{message}.*; expected Pajek"):
        read_graph(write(text, "g.net"))


@pytest.mark.parametrize("weight", [{}, {"weight": "far"}])
def test_lengths_are_missed_where_they_are_used(tmp_path, weight):
    file = read_graph(graphml(tmp_path, nx.DiGraph([("a", "b", {"weight": 2.0}), ("b", "c", weight)])))
    assert lagbc.bc(file).tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match=r"the edge b -> c has the length nan; lengths are finite and > 0"):
        lagbc.bc(file, weighted=True)


def test_malformed(write):
    with pytest.raises(GraphFormatError, match=r"g\.graphml: .*; expected GraphML"):
        read_graph(write("<graphml><graph>", "g.graphml"))


def test_without_networkx(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    message = r"g\.graphml: GraphML is read by NetworkX: pip install networkx; or pip install 'lagbc\[networkx\]'"
    with pytest.raises(MissingDependencyError, match=message):
        read_graph(write("<graphml/>", "g.graphml"))
