"""Graphs of rustworkx, NetworKit and graph-tool as input: their vertices have numbers, with gaps where some are gone.

graph-tool is not to be had from pip: a class stands in for it that has the part of its interface that is read.
"""

import networkx as nx
import numpy as np
import pytest

import lagbc

# Roads between twelve places, some of them parallel, some loops; 1 / w is exact for each w.
N, GONE = 12, [0, 5]


def roads(seed, directed):
    """A NetworkX graph and the numbers of its edges; "slow" takes other ways than "km"."""
    rng = np.random.default_rng(seed)
    G = (nx.MultiDiGraph if directed else nx.MultiGraph)()
    G.add_nodes_from(range(N))
    for u, v, km in zip(*rng.integers(0, N, (2, 40)).tolist(), rng.choice([1.0, 2.0, 4.0], 40).tolist(), strict=True):
        G.add_edge(u, v, km=km, slow=int(7 - km), inverse=1 / km)
    return G


def as_rustworkx(G, gone=()):
    rx = pytest.importorskip("rustworkx")
    graph = (rx.PyDiGraph if G.is_directed() else rx.PyGraph)()
    graph.add_nodes_from([held.get("name", v) for v, held in G.nodes(data=True)])
    graph.add_edges_from(list(G.edges(data=True)))
    graph.remove_nodes_from(list(gone))
    return graph


def as_networkit(G, gone=()):
    nk = pytest.importorskip("networkit")
    graph = nk.Graph(len(G), weighted=True, directed=G.is_directed())
    graph.indexEdges()
    km, slow = graph.attachEdgeAttribute("km", float), graph.attachEdgeAttribute("slow", int)
    for number, (u, v, held) in enumerate(G.edges(data=True)):
        graph.addEdge(u, v, held["km"])
        km[number], slow[number] = held["km"], held["slow"]
    if nx.get_node_attributes(G, "name"):
        names = graph.attachNodeAttribute("name", str)
        for v, name in G.nodes(data="name"):
            names[v] = name
    for v in gone:
        graph.removeNode(v)
    return graph


class Graph:
    """What is read of a graph_tool.Graph, or of a view that leaves out some vertices."""

    def __init__(self, G, gone=()):
        self._directed, self._vertices = G.is_directed(), [v for v in range(len(G)) if v not in gone]
        edges = [(u, v, number) for number, (u, v) in enumerate(G.edges())]
        self._edges = [edge for edge in edges if not {*edge[:2]} & {*gone}]
        self.edge_index = object()
        attributes = {name: [held[name] for *_, held in G.edges(data=True)] for name in ("km", "slow")}
        self.edge_properties = {name: Property(np.array(values)) for name, values in attributes.items()}
        self.edge_properties["kind"] = Property(None)
        self.vertex_properties = {}
        if all(nx.get_node_attributes(G, "name", default=None).values()):
            self.vertex_properties["name"] = {("vertex", v): name for v, name in G.nodes(data="name")}

    def is_directed(self):
        return self._directed

    def get_vertices(self):
        return np.array(self._vertices, np.uint64)

    def vertices(self):
        return (("vertex", v) for v in self._vertices)

    def get_edges(self, eprops):
        assert eprops == [self.edge_index]
        return np.array(self._edges, np.uint64).reshape(-1, 3)


Graph.__module__ = "graph_tool"


class Property:
    def __init__(self, a):
        self.a = a

    def value_type(self):
        return "string"


class GraphView(Graph):
    pass


def as_graph_tool(G, gone=()):
    return (GraphView if gone else Graph)(G, gone)


LIBRARIES = {"rustworkx": as_rustworkx, "networkit": as_networkit, "graph_tool": as_graph_tool}


@pytest.fixture(params=LIBRARIES.values(), ids=LIBRARIES)
def make(request):
    return request.param


def expected(G, **options):
    return list(nx.betweenness_centrality(G, normalized=False, backend="networkx", **options).values())


@pytest.mark.parametrize("gone", [[], GONE], ids=["whole", "gaps"])
@pytest.mark.parametrize("seed", range(3))
def test_scores_are_those_of_networkx(make, seed, gone, directed):
    G = roads(seed, directed)
    graph = make(G, gone)
    G.remove_nodes_from(gone)
    lengths = {"weighted": "km"}, {"weighted": "slow"}, {"strength": "km"}
    for options, weight in zip(({}, *lengths), (None, "km", "slow", "inverse"), strict=True):
        scores = lagbc.bc(graph, **options)
        np.testing.assert_allclose(scores, expected(G, weight=weight), rtol=1e-12)
        assert scores.any()
    taken = lagbc.as_graph(graph, weighted="km")
    assert taken.directed is directed
    assert taken.nnz == sum(u != v for u, v in set(G.to_directed().edges()))


def test_every_function_takes_them(make, directed):
    G = roads(5, directed)
    A = nx.to_scipy_sparse_array(G)
    for name in ("closeness", "harmonic", "eccentricity", "stress", "reach", "edge_bc"):
        ours, theirs = (getattr(lagbc, name)(graph, directed=directed) for graph in (make(G), A))
        if name == "edge_bc":
            ours, theirs = ours.toarray(), theirs.toarray()
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    np.testing.assert_allclose(lagbc.bc(make(G), directed=not directed), lagbc.bc(A, directed=not directed))
    assert len(lagbc.table(make(G), lagbc.bc(make(G)))) == N


def test_a_number_means_the_vertex_of_the_library(make):
    G = roads(7, True)
    graph = make(G, GONE)
    G.remove_nodes_from(GONE)
    left = [v for v in range(N) if v not in GONE]
    only = nx.betweenness_centrality_subset(G, sources=[6, 11], targets=left)
    scores = lagbc.bc(graph, sources=[6, 11])
    np.testing.assert_allclose(scores, list(only.values()), rtol=1e-12)
    assert scores.any()
    assert lagbc.table(graph, scores).index.tolist() == left
    with pytest.raises(ValueError, match="sources holds 5, which no vertex is called"):
        lagbc.bc(graph, sources=[5])


def named(directed=False):
    G = roads(3, directed)
    nx.set_node_attributes(G, {v: chr(ord("a") + v) for v in G}, "name")
    return G


def test_names(make):
    graph, numbers = make(named()), lagbc.bc(roads(3, False), sources=[2, 9])
    np.testing.assert_array_equal(lagbc.bc(graph, sources=["c", "j"]), numbers)
    np.testing.assert_array_equal(lagbc.bc(graph, sources=[2, 9]), numbers)
    assert lagbc.table(graph, numbers).index.tolist() == list("abcdefghijkl")
    with pytest.raises(ValueError, match="sources holds 'z', which no vertex is called; they are called 'a', 'b', 'c'"):
        lagbc.bc(graph, sources=["z"])


@pytest.mark.parametrize("make", [as_rustworkx, as_graph_tool])
def test_where_numbers_have_gaps_vertices_are_called_by_them(make):
    graph = make(named(), GONE)
    assert lagbc.as_graph(graph).names.tolist() == [1, 2, 3, 4, 6, 7, 8, 9, 10, 11]


def test_some_names_are_none():
    graph = as_rustworkx(named())
    graph[4] = 7
    assert lagbc.as_graph(graph).names is None
    nk = as_networkit(roads(3, False))
    nk.attachNodeAttribute("name", str)[4] = "e"
    assert lagbc.as_graph(nk).names is None


@pytest.mark.parametrize("n", [0, 3])
def test_no_edges_and_no_vertices(make, n, directed):
    graph = make(nx.empty_graph(n, create_using=nx.DiGraph if directed else nx.Graph))
    for weighted in ("km", True):
        np.testing.assert_array_equal(lagbc.bc(graph, weighted=weighted), np.zeros(n))


ABSENT = {
    "rustworkx": r"rustworkx\.Py.* no attribute 'miles'; they have 'inverse', 'km', 'slow', and weighted= or",
    "networkit": r"networkit\.Graph have no attribute 'miles' of numbers; weighted=True takes its weights",
    "graph_tool": r"graph_tool\.Graph have no attribute 'miles'; they have 'kind', 'km', 'slow', and",
}


@pytest.mark.parametrize("name", LIBRARIES)
def test_an_attribute_that_no_edge_has(name, directed):
    graph = LIBRARIES[name](roads(1, directed))
    for argument in ("weighted", "strength"):
        with pytest.raises(ValueError, match=ABSENT[name]):
            lagbc.bc(graph, **{argument: "miles"})


def test_attributes_that_are_no_numbers():
    with pytest.raises(ValueError, match=r"property 'kind' of the graph_tool\.Graph is of type string; lengths are"):
        lagbc.bc(as_graph_tool(roads(1, True)), weighted="kind")
    with pytest.raises(ValueError, match=r"graph_tool\.Graph have no attribute 'weight'"):
        lagbc.bc(as_graph_tool(roads(1, True)), weighted=True)


def test_what_edges_of_rustworkx_hold():
    rx = pytest.importorskip("rustworkx")
    ends = [(0, 1), (0, 2), (2, 1), (1, 3)]
    for held in ([5, 1.0, 2, 1], [{"weight": length} for length in (5, 1, 2, 1)]):
        graph = rx.PyDiGraph()
        graph.add_nodes_from(range(4))
        graph.add_edges_from([(*pair, value) for pair, value in zip(ends, held, strict=True)])
        np.testing.assert_array_equal(lagbc.bc(graph, weighted=True), [0, 2, 2, 0])
    graph.update_edge(2, 1, None)
    with pytest.raises(TypeError, match=r"edge 2, \(2, 1\), has length None; lengths are floats"):
        lagbc.bc(graph, weighted=True)
    graph.update_edge(2, 1, "far")
    with pytest.raises(TypeError, match=r"edge 2, \(2, 1\), has length 'far'"):
        lagbc.bc(graph, weighted=True)
    graph.update_edge(2, 1, -3)
    with pytest.raises(ValueError, match=r"1 of the 4 lengths of A are not finite and > 0, the first at \(2, 1\): -3"):
        lagbc.bc(graph, weighted=True)
    bare = rx.PyGraph()
    bare.extend_from_edge_list(ends)
    with pytest.raises(ValueError, match=r"rustworkx\.PyGraph have no attribute 'weight'; they have none"):
        lagbc.bc(bare, weighted=True)


def test_weights_of_networkit():
    nk = pytest.importorskip("networkit")
    graph = as_networkit(roads(2, True))
    np.testing.assert_array_equal(lagbc.bc(graph, weighted=True), lagbc.bc(graph, weighted="km"))
    np.testing.assert_array_equal(lagbc.bc(graph, strength=True), lagbc.bc(graph, strength="km"))
    graph.addEdge(3, 4, 1.0)
    with pytest.raises(TypeError, match=r"edge \d+, \(3, 4\), has length None; lengths are floats"):
        lagbc.bc(graph, weighted="km")
    bare = nk.Graph(2)
    bare.addEdge(0, 1)
    with pytest.raises(ValueError, match=r"networkit\.Graph has no weights; weighted= or strength= takes an edge"):
        lagbc.bc(bare, weighted=True)


def test_classes_that_derive_from_theirs():
    rx = pytest.importorskip("rustworkx")

    class Streets(rx.PyDiGraph):
        pass

    graph = Streets()
    graph.add_nodes_from("abc")
    graph.add_edges_from_no_data([(0, 1), (1, 2)])
    np.testing.assert_array_equal(lagbc.bc(graph), [0, 1, 0])
    np.testing.assert_array_equal(lagbc.bc(graph, directed=False), [0, 1, 0])
