"""Vertices and edges by their names: sources and targets, tables, graphs as osmnx has them; strengths."""

import sys
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import lagbc
from lagbc.errors import MissingDependencyError


def streets(kind=nx.MultiDiGraph):
    """A street network as osmnx has it: large integers for names, lengths, parallel and one-way edges."""
    G = kind()
    G.add_edge(53098262, 53099275, length=20.5, name="Main")
    ends = [(53098262, 53099275)] * 2 + [(53099275, 7), (7, 53098262), (53099275, 8), (8, 7), (7, 7)]
    for (u, v), length in zip(ends, [7.5, 7.5, 4.0, 30.0, 1.0, 3.0, 1.0], strict=True):
        G.add_edge(u, v, length=length)
    return G


@pytest.fixture(params=["networkx", "igraph", "file", "graph"])
def named(request, tmp_path):
    """The path ann -> bob -> carl -> dora, in four forms."""
    G = nx.DiGraph([("ann", "bob"), ("bob", "carl"), ("carl", "dora")])
    if request.param == "igraph":
        return pytest.importorskip("igraph").Graph.from_networkx(nx.relabel_nodes(G, str), vertex_attr_hashable="name")
    if request.param == "file":
        (tmp_path / "g").write_text("% asym unweighted\nann bob\nbob carl\ncarl dora\n")
        return lagbc.read_graph(tmp_path / "g")
    return lagbc.as_graph(G) if request.param == "graph" else G


def test_sources_and_targets_may_be_names(named):
    for given in (["ann"], np.array(["ann"]), ("ann",), [0]):
        assert lagbc.bc(named, sources=given).tolist() == [0, 2, 1, 0]
    assert lagbc.bc(named, sources=["bob", "ann"], targets=["dora"]).tolist() == [0, 1, 2, 0]
    assert lagbc.edge_bc(named, sources=["carl"]).sum() == 1
    assert lagbc.shortest_path_counts(named, ["carl"])[0].tolist() == [[np.inf, np.inf, 0, 1]]
    with pytest.raises(ValueError, match="sources holds 'eve', which no vertex is called; they are called 'ann', 'b"):
        lagbc.bc(named, sources=["ann", "eve"])


@pytest.mark.parametrize("given", [{0, 1}, frozenset([1, 0]), [0.0, 1.0], np.array([1, 0], float), np.uint8([1, 0])])
def test_sets_and_whole_floats_are_numbers_of_vertices(named, given):
    for A in (named, np.eye(4, k=1)):
        assert lagbc.bc(A, sources=given).tolist() == [0, 2, 2, 0]
        assert lagbc.edge_bc(A, targets=given).sum() == 1


def test_sets_of_names(named, tmp_path):
    assert lagbc.bc(named, sources={"bob", "ann"}).tolist() == [0, 2, 2, 0]
    assert lagbc.bc(nx.DiGraph([(1.0, 0.0), (0.0, 2.5)]), sources={1.0}).tolist() == [0, 1, 0], "names that are floats"
    lagbc.save_part(tmp_path / "part", (1, 1), named, sources={"bob", "ann"}, directed=True)
    assert lagbc.merge_parts([tmp_path / "part"])["bc"].tolist() == [0, 2, 2, 0]


def test_integers_are_names_where_names_are_integers(tmp_path):
    G = nx.DiGraph([(2, 0), (0, 1)])
    assert lagbc.bc(G, sources=[2]).tolist() == [0, 1, 0]
    (tmp_path / "g").write_text("30 10\n10 20\n")
    file = lagbc.read_graph(tmp_path / "g")
    assert lagbc.bc(file, sources=[30], directed=True).tolist() == [1, 0, 0]
    assert lagbc.bc(file.matrix, sources=[2]).tolist() == [1, 0, 0]


def test_integers_are_names_where_names_are_floats():
    G = nx.DiGraph([(1.0, 2.5), (2.5, 0.0), (0.0, "end")])
    for given in ([1], [1.0], np.array([1])):
        assert lagbc.bc(G, sources=given).tolist() == [0, 2, 1, 0], "name 1.0 is vertex number 0"


def test_names_of_digits_are_names_as_text():
    G = nx.DiGraph([("2", "0"), ("0", "1"), ("1", "10")])
    assert lagbc.bc(G, sources=["2"]).tolist() == [0, 2, 1, 0]
    assert lagbc.bc(nx.path_graph(map(str, range(3))), sources=[0]).tolist() == [0, 0.5, 0], "one vertex either way"


def test_a_graph_without_its_names_keeps_what_was_worked_out():
    graph = lagbc.as_graph(nx.DiGraph([(2, 0), (0, 1)]))
    order = graph.order
    unnamed = graph.with_names(None)
    assert (graph.names, unnamed.names) == ([2, 0, 1], None)
    assert unnamed.order is order
    assert lagbc.bc(unnamed, sources=[0]).tolist() == [0, 1, 0]


SHOWN = {
    "Graph: 3 vertices, 2 undirected edges, without lengths": lambda: lagbc.as_graph(nx.path_graph(3)),
    "Graph: 2 vertices, 1 directed edge, with lengths": lambda: lagbc.graph_from_edges([0], [1], [2.5], directed=True),
    "GraphFile example:karate: Matrix Market, 34 vertices, 78 undirected edges, without values": lambda: (
        lagbc.read_graph("example:karate")
    ),
}


@pytest.mark.parametrize("shown", SHOWN)
def test_graphs_are_shown_in_a_line(shown):
    assert repr(SHOWN[shown]()) == f"<lagbc.{shown}>"


@pytest.mark.parametrize("read", [lambda file: file, lambda file: lagbc.as_graph(file, directed=True)])
def test_a_file_and_a_graph_have_the_same_words(tmp_path, read):
    (tmp_path / "g").write_text("% asym unweighted\nann bob\nbob carl\n")
    graph = read(lagbc.read_graph(tmp_path / "g"))
    assert (graph.n, len(graph), graph.shape, graph.names.tolist()) == (3, 3, (3, 3), ["ann", "bob", "carl"])
    assert (graph.matrix.shape, graph.directed) == (graph.shape, True)


def test_names_may_be_anything():
    G = nx.Graph([(("a", 1), frozenset()), (frozenset(), 2.5)])
    assert lagbc.bc(G, sources=[("a", 1)]).tolist() == [0, 0.5, 0]


def strengths():
    return np.array([[0, 2.0, 8, 0], [0, 5, 0, 4], [0, 0, 0, 1], [0, 0, 0, 0]])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_matrix, sp.coo_array, sp.dia_array, sp.bsr_array])
def test_strengths(form):
    W = strengths()
    lengths = np.divide(1, W, out=np.zeros_like(W), where=W > 0)
    A, lengths = form(W), sp.csr_array(lengths)
    for given in ({"directed": True}, {"directed": False}):
        expected = lagbc.bc(lengths, weighted=True, **given)
        assert expected.any()
        np.testing.assert_array_equal(lagbc.bc(A, strength=True, **given), expected)
        np.testing.assert_array_equal(lagbc.bc(A, strength=True, weighted=True, **given), expected)
    closeness = lagbc.centralities(A, "closeness", strength=True)["closeness"]
    np.testing.assert_array_equal(closeness, lagbc.closeness(lengths, weighted=True))
    assert lagbc.as_graph(A, strength=True).matrix[0, 2] == 1 / 8


def test_strengths_add_up_in_a_matrix_and_the_largest_counts_in_a_graph():
    A = sp.coo_array(([1.0, 3.0], ([0, 0], [1, 1])), shape=(2, 2))
    assert lagbc.as_graph(A, strength=True).matrix[0, 1] == 1 / 4
    G = nx.MultiDiGraph([(0, 1, {"calls": 1}), (0, 1, {"calls": 3})])
    assert lagbc.as_graph(G, weighted="calls", strength=True).matrix[0, 1] == 1 / 3


@pytest.mark.parametrize("kind", [bool, np.uint8, np.int8, np.float32])
def test_strengths_of_an_attribute_are_of_any_type_of_real_numbers(kind):
    """Flags and unsigned integers have no negatives by which they could be ordered."""
    G = nx.MultiDiGraph([(0, 1, {"calls": kind(calls)}) for calls in (0, 1)])
    assert lagbc.as_graph(G, strength="calls").matrix[0, 1] == 1


def test_strengths_of_a_file(tmp_path):
    (tmp_path / "g").write_text("0 1 4\n0 1 2\n")
    with pytest.warns(lagbc.GraphFileWarning):
        file = lagbc.read_graph(tmp_path / "g")
    with pytest.raises(ValueError, match=r"the smallest value was kept; pass read_graph\(strengths=True\)"):
        lagbc.bc(file, strength=True, directed=True)
    with pytest.warns(lagbc.GraphFileWarning):
        file = lagbc.read_graph(tmp_path / "g", strengths=True)
    assert lagbc.as_graph(file, strength=True, directed=True).matrix[0, 1] == 1 / 4
    (tmp_path / "g").write_text("x y\nc d\nd e\nc e\n")  # a first line that may be titles
    with pytest.warns(lagbc.GraphFileWarning):
        file = lagbc.read_graph(tmp_path / "g")
    with pytest.raises(ValueError, match="values") as refused:
        lagbc.bc(file, strength=True, directed=True)
    assert "repeated" not in str(refused.value)
    (tmp_path / "g").write_text("0 1 4\n1 0 -2\n")
    with pytest.raises(ValueError, match=r"line 2: the edge 1 -> 0 has the strength -2\.0"):
        lagbc.bc(lagbc.read_graph(tmp_path / "g"), strength=True, directed=True)


# ---- tables


@pytest.fixture
def pandas():
    return pytest.importorskip("pandas")


def test_table_of_vertices(pandas, named):
    frame = lagbc.table(named, lagbc.bc(named))
    assert (list(frame.columns), frame.index.name) == (["score"], "vertex")
    assert frame["score"].to_dict() == {"ann": 0, "bob": 2, "carl": 2, "dora": 0}
    frame = lagbc.table(named, lagbc.centralities(named, ("bc", "eccentricity")))
    assert frame.loc["ann"].to_dict() == {"bc": 0, "eccentricity": 3}


def test_table_of_edges(pandas, named):
    frame = lagbc.table(named, lagbc.edge_bc(named))
    assert frame.index.names == (["u", "v"] if isinstance(named, nx.Graph) else ["source", "target"])
    assert frame["score"].to_dict() == {("ann", "bob"): 3, ("bob", "carl"): 4, ("carl", "dora"): 3}


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("weight", [None, "length"])
def test_edges_of_networkx_come_back_by_their_names(pandas, kind, weight):
    """As of osmnx, whose table they join: the shortest of parallel edges, one way each."""
    G = streets(kind)
    how = {"weighted": weight or False}
    frame = lagbc.table(G, lagbc.edge_bc(G, **how), **how)
    index = pandas.MultiIndex.from_tuples(G.edges, names=["u", "v", "key"][: 3 if G.is_multigraph() else 2])
    theirs = pandas.DataFrame({"length": [length for *_, length in G.edges(data="length")]}, index=index)
    pandas.testing.assert_frame_equal(theirs.join(frame)[["score"]], frame, check_names=False)
    expected = nx.edge_betweenness_centrality(G, normalized=False, weight=weight, backend="networkx")
    assert list(frame.index) == list(G.edges) == list(expected)
    np.testing.assert_allclose(frame["score"], list(expected.values()), rtol=1e-12)
    assert frame["score"].any()
    vertices = lagbc.table(G, lagbc.bc(G, **how))["score"].to_dict()
    assert vertices == pytest.approx(nx.betweenness_centrality(G, normalized=False, weight=weight, backend="networkx"))


@pytest.mark.parametrize("how", [{"weighted": "length"}, {"weighted": False}])
def test_which_of_parallel_edges_are_shortest_is_asked_where_their_numbers_differ(pandas, how):
    G = streets()
    scores = lagbc.edge_bc(G, **how)
    shares = {True: [0, 1.5, 1.5], False: [1, 1, 1]}[bool(how["weighted"])]
    found = lagbc.table(G, scores, **how)["score"]
    assert found.tolist()[:3] == [share * scores.max() / 3 for share in shares]
    first = {"weight": 2, "name": "x", "osmid": 1, "oneway": True, "grade": float("nan")}
    second = {"weight": 2, "name": "y", "osmid": 2, "oneway": False, "grade": 0.5}
    alike = nx.MultiGraph([("a", "b", first), ("a", "b", second)])
    assert lagbc.table(alike, lagbc.edge_bc(alike, weighted=True))["score"].tolist() == [0.5, 0.5]


def test_weights_of_vertices_go_by_their_names(pandas):
    G = nx.path_graph(["ann", "bob", "carl"])
    weights = {"carl": 0.2, "ann": 0.5, "bob": 0.1}
    numbered, in_order = pandas.Series([0.5, 0.1, 0.2]), [0.5, 0.1, 0.2]
    for name in ("target_weights", "source_weights"):
        expected = lagbc.bc(G, **{name: in_order})
        assert expected.tolist() == [0, 0.35, 0]
        for given in (weights, pandas.Series(weights), numbered):
            assert lagbc.bc(G, **{name: given}).tolist() == expected.tolist()
        for some in (pandas.Series({"carl": 0.5, "bob": 1}), {"carl": 0.5, "bob": 1}):
            with pytest.warns(UserWarning, match=f"^{name} names 2 vertices of 3; the others have 0$"):
                assert lagbc.bc(G, **{name: some}).tolist() == [0, 0.25, 0]
    assert lagbc.bc(np.eye(3, k=1), target_weights={2: 5, 1: 1, 0: 1}).tolist() == [0, 5, 0]


def test_a_table_of_a_matrix(pandas):
    """With a loop; scores of edges both ways tell that a matrix whose edges go one way was taken so."""
    A = sp.csr_array((np.ones(3), ([0, 1, 1], [1, 1, 2])), shape=(3, 3))
    assert lagbc.table(A, lagbc.bc(A)).index.tolist() == [0, 1, 2]
    one_way, both_ways = (lagbc.edge_bc(A, directed=directed) for directed in (True, False))
    for graph, scores in ((A, one_way), (A, both_ways), (lagbc.as_graph(A, directed=False), both_ways)):
        assert lagbc.table(graph, {"score": scores})["score"].to_dict() == {(0, 1): 2, (1, 1): 0, (1, 2): 2}
    mixed = sp.csr_array(A.T), {"both": both_ways, "one": lagbc.edge_bc(sp.csr_array(A.T))}
    assert lagbc.table(*mixed).sum().tolist() == [8, 4], "an edge that goes one way is not lost"
    assert len(lagbc.table(sp.csr_array((2, 2)), {"score": lagbc.edge_bc(sp.csr_array((2, 2)))})) == 0


def test_names_that_are_tuples_stay_whole(pandas):
    G = nx.grid_2d_graph(2, 2)
    assert lagbc.table(G, lagbc.bc(G)).index.tolist() == list(G)
    assert lagbc.table(G, lagbc.edge_bc(G)).index.tolist() == list(G.edges)


def test_a_table_needs_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingDependencyError, match=r"tables need pandas: .*lagbc\[pandas\]"):
        lagbc.table(nx.path_graph(3), np.zeros(3))


def test_a_name_of_several_vertices_is_refused():
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph([(0, 1), (1, 2), (2, 3), (3, 4)])
    graph.vs["name"] = ["a", "b", "a", "c", "d"]
    for call in (
        lambda: lagbc.bc(graph, sources=["b", "a"]),
        lambda: lagbc.bc(graph, targets=["a"]),
        lambda: lagbc.group_bc(graph, [["a"]]),
    ):
        with pytest.raises(ValueError, match="'a', which 2 vertices are called, 0 and 2 among them"):
            call()
    np.testing.assert_array_equal(lagbc.bc(graph, sources=["b"]), [0, 0, 1, 0.5, 0])


def test_a_table_of_another_direction_has_the_edges_of_the_scores(pandas):
    path = nx.path_graph(4)
    scores = lagbc.edge_bc(path, directed=True, sources=[0, 1])
    found = lagbc.table(path, scores, directed=True)["score"]
    assert found.to_dict() == {(i, j): scores[i, j] for i in range(4) for j in range(4) if abs(i - j) == 1}
    assert found[1, 0] == 1
    G = nx.DiGraph([(0, 1), (1, 0), (1, 2)])
    assert lagbc.table(G, lagbc.edge_bc(G, directed=False), directed=False)["score"].to_dict() == {(0, 1): 2, (1, 2): 2}
    assert [*lagbc.table(path, scores).index] == [*path.edges], "as without a direction of its own"


def test_a_table_of_strengths_shares_among_the_strongest_of_parallel_edges(pandas):
    G = nx.MultiGraph()
    G.add_edges_from([("a", "b", {"often": often}) for often in (1, 4, 4)])
    scores = lagbc.edge_bc(G, strength="often", rtol=0)
    for given in ({"strength": "often"}, {"strength": True, "weighted": "often"}):
        assert lagbc.table(G, scores, **given)["score"].tolist() == [0, 0.5, 0.5]


def test_columns_of_a_table_are_called_by_cutoffs_and_decays(pandas, named):
    bounds = {"cutoff": [1, 2.5, np.inf], "decay": [0, 0.5]}
    scores = lagbc.bc(named, **bounds)
    frame = lagbc.table(named, scores, **bounds)
    assert [*frame] == [f"cutoff {c}, decay {d}" for c in ("1", "2.5", "inf") for d in ("0", "0.5")]
    np.testing.assert_array_equal(frame, scores)
    for cutoff in ([2], np.array([2])):
        assert [*lagbc.table(named, lagbc.bc(named, cutoff=cutoff), cutoff=cutoff)] == ["cutoff 2"]
    assert [*lagbc.table(named, lagbc.bc(named, cutoff=2), cutoff=2)] == ["score"]
    edges = lagbc.edge_bc(named, cutoff=[1, 2])
    frame = lagbc.table(named, edges, cutoff=[1, 2])
    assert [*frame] == ["cutoff 1", "cutoff 2"]
    assert frame.loc[("bob", "carl")].tolist() == [1, 3]


def test_columns_of_several_centralities(pandas, named):
    """One decay makes no more columns; closeness takes none."""
    found = lagbc.centralities(named, ("bc", "closeness"), cutoff=[1, 2])
    frame = lagbc.table(named, found, cutoff=[1, 2], decay=0.5)
    of_closeness = ["closeness, cutoff 1", "closeness, cutoff 2"]
    assert [*frame] == ["bc, cutoff 1, decay 0.5", "bc, cutoff 2, decay 0.5", *of_closeness]
    np.testing.assert_array_equal(frame["closeness, cutoff 2"], found["closeness"][:, 1])


@pytest.mark.parametrize("centrality", ["bc", "edge_bc"])
def test_a_table_of_an_estimate_has_its_intervals(pandas, centrality):
    G = nx.karate_club_graph()
    estimate = lagbc.estimate(G, centrality, max_roots=20, rng=1)
    table = lagbc.table(G, estimate)
    assert [*table] == ["score", "lower", "upper"]
    assert [*lagbc.table(G, {"bc": estimate})] == ["bc", "bc, lower", "bc, upper"]
    assert (table["lower"] < table["score"]).any()
    for name, scores in zip(table, (estimate.scores, estimate.lower, estimate.upper), strict=True):
        pandas.testing.assert_series_equal(table[name], lagbc.table(G, {name: scores})[name])


def test_tables_of_communities_and_of_errors(pandas):
    G = nx.path_graph(4)
    found = lagbc.girvan_newman(G)
    assert lagbc.table(G, {"community": found.labels()})["community"].tolist() == found.labels().tolist()
    scores, errors = lagbc.bc(G, k=3, rng=1, standard_error=True)
    assert [*lagbc.table(G, {"score": scores, "error": errors})] == ["score", "error"]


# ---- names that are given to a matrix, or are those of a data frame

PATH = np.eye(4, k=1)
FOUR = ["ann", "bob", "carl", "dora"]
NAN = float("nan")


@pytest.mark.parametrize("names", [FOUR, tuple(FOUR), np.array(FOUR), "index", {}.fromkeys(FOUR).keys()])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.coo_matrix, lagbc.as_graph])
def test_names_of_a_matrix(pandas, form, names):
    names = pandas.Index(FOUR) if isinstance(names, str) else names
    graph = lagbc.as_graph(form(PATH), names=names)
    assert graph.names == FOUR
    assert lagbc.bc(graph, sources=["ann"]).tolist() == [0, 2, 1, 0]
    assert lagbc.table(graph, lagbc.bc(graph))["score"].to_dict() == {"ann": 0, "bob": 2, "carl": 2, "dora": 0}
    scores = lagbc.bc(PATH), lagbc.edge_bc(PATH)
    assert lagbc.table(form(PATH), scores[0], names=names).index.tolist() == FOUR
    assert lagbc.table(form(PATH), {"score": scores[1]}, names=names).index.tolist() == [*pairwise(FOUR)]


def test_names_take_the_place_of_a_graphs_own_and_keep_what_was_worked_out(pandas):
    graph = lagbc.as_graph(nx.DiGraph([(2, 0), (0, 1)]))
    renamed = lagbc.as_graph(graph, names=[("a", 1), 2.5, ("a", None)])
    assert (graph.names, renamed.names) == ([2, 0, 1], [("a", 1), 2.5, ("a", None)])
    assert renamed.indices is graph.indices
    assert lagbc.table(nx.path_graph(2), np.zeros(2), names=["x", ""]).index.tolist() == ["x", ""]


@pytest.mark.parametrize("default", [None, 0, 1])
def test_a_data_frame_is_a_matrix_with_names(pandas, default):
    lengths = PATH * [0, 1, 2, 3] + np.eye(4)  # with loops
    frame = pandas.DataFrame(lengths, FOUR, FOUR)
    frame = frame if default is None else frame.astype(pandas.SparseDtype("float64", default))
    assert lagbc.as_graph(frame).names == FOUR
    assert lagbc.bc(frame, sources=["ann"]).tolist() == [0, 2, 1, 0]
    assert lagbc.closeness(frame, weighted=True).tolist() == lagbc.closeness(lengths, weighted=True).tolist()
    assert lagbc.bc(frame, strength=True, rtol=0).tolist() == [0, 2, 2, 0]
    assert (lagbc.edge_bc(frame) != lagbc.edge_bc(lengths)).nnz == 0
    assert lagbc.table(frame, lagbc.edge_bc(frame, directed=False), directed=False)["score"]["ann", "bob"] == 3
    assert lagbc.bc(frame, target_weights=pandas.Series([1, 2, 3, 4], FOUR)).tolist() == [0, 7, 8, 0]


# Errors call vertices as the user does


@pytest.mark.parametrize(("given", "what"), [("weighted", "lengths"), ("strength", "strengths")])
def test_errors_of_lengths_call_edges_by_the_names_of_their_ends(given, what):
    """Of igraph; `test_error_texts.py` has those of NetworkX."""
    G = nx.DiGraph([("ann", "bob", {"w": 1.0}), ("bob", "carl", {"w": -1.0})])
    G = pytest.importorskip("igraph").Graph.from_networkx(G, vertex_attr_hashable="name")
    with pytest.raises(ValueError, match=rf"{what} of A .* the first at \('bob', 'carl'\): -1.0. Remove"):
        lagbc.bc(G, **{given: "w"})


# Strengths by the name of an attribute


@pytest.mark.parametrize("library", ["networkx", "igraph"])
def test_strengths_of_an_attribute(library):
    G = nx.Graph()
    G.add_weighted_edges_from([("a", "b", 4), ("b", "c", 4), ("a", "c", 1)], weight="often")
    if library == "igraph":
        G = pytest.importorskip("igraph").Graph.from_networkx(G, vertex_attr_hashable="name")
    expected = lagbc.bc(G, weighted="often", strength=True, rtol=0)
    assert expected.tolist() == [0, 1, 0]
    for given in ({}, {"weighted": True}, {"weighted": "often"}):
        assert lagbc.bc(G, strength="often", rtol=0, **given).tolist() == [0, 1, 0]
    assert lagbc.as_graph(G, strength="often").weighted
    assert lagbc.edge_bc(G, strength="often", rtol=0).sum() == 8
