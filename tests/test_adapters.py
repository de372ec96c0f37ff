"""NetworkX, igraph and python-graphblas graphs as input."""

import re
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from strategies import graphs, oracle, scale_free

import lagbc
from lagbc.graph import adapters
from lagbc.graph.given import Entries, parse_values
from lagbc.graph.validate import as_graph

igraph = pytest.importorskip("igraph")

CLASSES = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


def labelled(kind):
    """Labels that are no numbers in order, a loop, parallel edges where there can be, a vertex without edges."""
    G = kind()
    G.add_nodes_from(["d", 3, ("a", 1), "b", frozenset(), "alone"])
    G.add_edges_from([("d", 3), (3, ("a", 1)), (3, "b"), ("b", "d"), ("b", "b"), ("d", 3), ("b", frozenset())])
    return G


def networkx_scores(G, weight=None):
    return list(nx.betweenness_centrality(G, normalized=False, weight=weight, backend="networkx").values())


@pytest.mark.parametrize("kind", CLASSES)
def test_networkx(bc, kind):
    G = labelled(kind)
    before = (list(G.nodes(data=True)), list(G.edges(data=True)), dict(G.graph))
    scores = bc(G)
    assert type(scores) is np.ndarray
    np.testing.assert_allclose(scores, networkx_scores(G), rtol=1e-12)
    assert scores.any()
    assert (list(G.nodes(data=True)), list(G.edges(data=True)), dict(G.graph)) == before


@pytest.mark.parametrize("kind", CLASSES)
@given(A=graphs(max_n=10))
def test_networkx_of_random_graphs(kind, A):
    G = kind()
    vertices = np.random.default_rng(A.nnz).permutation(A.shape[0]).tolist()
    G.add_nodes_from(vertices)
    G.add_edges_from(zip(A.row.tolist(), A.col.tolist(), strict=True))
    expected = oracle(A, directed=G.is_directed())[vertices]
    np.testing.assert_allclose(lagbc.bc(G), expected, rtol=1e-12)


def test_views_and_subclasses():
    class Streets(nx.MultiDiGraph):
        pass

    G = labelled(nx.DiGraph)
    some = G.subgraph(["b", "d", 3, ("a", 1)])
    for view in (some, G.reverse(copy=False), nx.to_undirected(G), G.to_undirected(as_view=True), Streets(G)):
        np.testing.assert_allclose(lagbc.bc(view), networkx_scores(view), rtol=1e-12)


def test_directed_may_be_said():
    undirected, directed = labelled(nx.Graph), labelled(nx.DiGraph)
    np.testing.assert_allclose(lagbc.bc(undirected, directed=True), 2 * lagbc.bc(undirected), rtol=1e-12)
    np.testing.assert_allclose(lagbc.bc(directed, directed=False), networkx_scores(directed.to_undirected()))
    assert as_graph(undirected).directed is False
    assert as_graph(directed).directed is True
    assert as_graph(nx.to_scipy_sparse_array(undirected)).directed is True


def test_igraph(bc, directed):
    A = scale_free(40, 150, seed=4)
    A.sum_duplicates()  # igraph counts parallel edges as paths of their own
    if not directed:
        A = sp.triu(A + A.T, format="coo")
    graph = igraph.Graph(n=40, edges=np.column_stack([A.row, A.col]), directed=directed)
    np.testing.assert_allclose(bc(graph), graph.betweenness(), rtol=1e-12)
    np.testing.assert_allclose(bc(graph), oracle(A, directed=directed), rtol=1e-12)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float32, np.float64])
def test_graphblas(bc, dtype):
    gb = pytest.importorskip("graphblas")
    A = scale_free(40, 150, seed=5)
    A.sum_duplicates()
    M = gb.Matrix.from_coo(A.row, A.col, A.data.astype(dtype), nrows=40, ncols=40)
    M[A.row[0], A.col[0]] = 0  # stored
    before = M.dup()
    np.testing.assert_allclose(bc(M), oracle(A), rtol=1e-12)
    np.testing.assert_allclose(bc(M.T), oracle(A.T), rtol=1e-12)
    np.testing.assert_allclose(bc(M, directed=False), oracle(A, directed=False), rtol=1e-12)
    assert M.isequal(before, check_dtype=True)
    with pytest.raises(ValueError, match=r"shape \(40, 3\).*square"):
        bc(gb.Matrix(float, 40, 3))
    with pytest.raises(TypeError, match=r"graphblas\.core\.vector\.Vector; lagbc takes"):
        bc(gb.Vector(float, 40))


LENGTHS = {(0, 1): 2, (1, 0): 4, (1, 2): 7, (2, 2): 1, (2, 3): 1}


def lengths_of(G):
    return adapters.to_matrix(G, parse_values(True, False)).toarray()


@pytest.mark.parametrize("kind", CLASSES)
def test_a_graph_with_lengths(kind):
    G = kind()
    G.add_nodes_from(range(4))
    G.add_weighted_edges_from((i, j, length) for (i, j), length in LENGTHS.items() if i != j)
    lengths = nx.to_numpy_array(G, multigraph_weight=min)
    G.add_edge(2, 2, weight=-1)  # loops are no edges
    np.testing.assert_array_equal(as_graph(G, weighted=True).matrix.toarray(), lengths)
    np.testing.assert_array_equal(as_graph(G).matrix.toarray(), lengths != 0)
    G.add_edge(3, 0, weight=0)
    with pytest.raises(ValueError, match=r"\(3, 0\)|\(0, 3\)"):
        as_graph(G, weighted=True)


def test_lengths_of_igraph(directed):
    graph = igraph.Graph(n=4, edges=list(LENGTHS), directed=directed)
    graph.es["weight"] = list(LENGTHS.values())
    G = (nx.DiGraph if directed else nx.MultiGraph)()
    G.add_nodes_from(range(4))
    G.add_weighted_edges_from((i, j, length) for (i, j), length in LENGTHS.items())
    np.testing.assert_array_equal(lengths_of(graph), nx.to_numpy_array(G, multigraph_weight=min))


def test_lengths_of_graphblas():
    gb = pytest.importorskip("graphblas")
    (rows, columns), values = zip(*LENGTHS, strict=True), list(LENGTHS.values())
    M = gb.Matrix.from_coo(rows, columns, values, nrows=4, ncols=4)
    expected = sp.coo_array((values, (rows, columns)), shape=(4, 4)).toarray()
    np.testing.assert_array_equal(lengths_of(M), expected)
    np.testing.assert_array_equal(lengths_of(M.T), expected.T)


@pytest.mark.parametrize("bad", ["far", None, 2**70, 1j, [1.0], (1, 2)], ids=repr)
def test_a_length_that_is_no_number(bad):
    G = nx.Graph([("a", "b", {"weight": 1}), ("b", "c", {"weight": bad})])
    with pytest.raises(TypeError, match=r"edge \('b', 'c'\) has length .*; lengths are floats, or integers"):
        lengths_of(G)
    graph = igraph.Graph(n=3, edges=[(0, 1), (1, 2)])
    graph.es["weight"] = [1, bad]
    with pytest.raises(TypeError, match=r"edge 1, \(1, 2\), has length"):
        lengths_of(graph)
    every = nx.Graph([(0, 1, {"weight": bad}), (1, 2, {"weight": bad})])
    with pytest.raises(TypeError, match=rf"edge \(0, 1\) has length {re.escape(repr(bad))}"):
        lengths_of(every)


def streets(kind=nx.MultiDiGraph):
    """Lengths in the attribute "length", as osmnx has them; the shortest paths are not those of fewest edges."""
    G = kind()
    G.add_edges_from([("a", "b", {"length": 5.0}), ("a", "c", {"length": 1}), ("c", "b", {"length": 2}), ("d", "d")])
    nx.set_edge_attributes(G, "residential", "highway")
    return G


def as_igraph(G):
    graph = igraph.Graph(n=len(G), edges=[(0, 1), (0, 2), (2, 1)], directed=G.is_directed())
    graph.es["length"] = [5.0, 1, 2]
    graph.es["highway"] = "residential"
    return graph


CALLS = {
    **{name: getattr(lagbc, name) for name in ("bc", "edge_bc", "closeness", "harmonic", "eccentricity", "stress")},
    "eccentricity_centrality": lagbc.eccentricity_centrality,
    "centralities": lambda A, weighted: lagbc.centralities(A, weighted=weighted)["closeness"],
    "shortest_path_counts": lambda A, weighted: lagbc.shortest_path_counts(A, [0], weighted=weighted)[0],
    "as_graph": lambda A, weighted: lagbc.as_graph(A, weighted=weighted).matrix,
    "plan": lambda A, weighted: [lagbc.plan(A, weighted=weighted).sweeps[0].weighted],
    "compare": lambda A, weighted: [lagbc.compare(A, [0], weighted=weighted, methods="batched", device="cpu").weighted],
}


def array_of(result):
    return result.toarray() if sp.issparse(result) else np.asarray(result)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_attribute_of_the_lengths_may_be_named(call, monkeypatch):
    monkeypatch.setenv("LAGBC_MEMORY", "100GB")
    G = streets()
    H = nx.relabel_nodes(G, str)
    nx.set_edge_attributes(H, nx.get_edge_attributes(G, "length"), "weight")
    H["d"]["d"][0]["weight"] = 3  # of a loop, which is no edge
    ours = array_of(call(G, weighted="length"))
    np.testing.assert_array_equal(ours, array_of(call(H, weighted=True)))
    assert call in (CALLS["compare"], CALLS["plan"]) or (ours != array_of(call(G, weighted=False))).any()
    for graph in (G, as_igraph(G)):
        with pytest.raises(ValueError, match="Graph have no attribute 'weight'; they have 'highway', 'length', and"):
            call(graph, weighted=True)
        with pytest.raises(ValueError, match="Graph have no attribute 'km'; they have 'highway', 'length', and"):
            call(graph, weighted="km")
    message = r"weighted='length' names an edge attribute of .* graph, but A is a {}; pass weighted=True"
    for matrix, kind in (
        (nx.to_scipy_sparse_array(G), r"scipy\.csr_array"),
        (np.eye(3, k=1), r"numpy\.ndarray"),
        (as_graph(G, weighted="length"), r"lagbc\.Graph"),
    ):
        with pytest.raises(TypeError, match=message.format(kind)):
            call(matrix, weighted="length")
    with pytest.raises(TypeError, match="weighted=1 is neither True nor False nor the name of an edge attribute"):
        call(G, weighted=1)


def test_a_graphblas_matrix_has_no_attributes():
    gb = pytest.importorskip("graphblas")
    for argument, values in (("weighted", "lengths"), ("strength", "strengths")):
        told = rf"{argument}='km' names .* but A is a graphblas\.Matrix; pass {argument}=True .* as {values}"
        with pytest.raises(TypeError, match=told):
            lagbc.bc(gb.Matrix(float, 2, 2), **{argument: "km"})


@pytest.mark.parametrize("kind", CLASSES)
def test_edges_without_a_length(kind):
    G = streets(kind)
    G.add_edge("b", "d")
    G.add_edge("d", "e", length=2)
    G.add_edge("e", "e")  # a loop
    with pytest.warns(UserWarning, match="1 of the 5 edges have no attribute 'length'; they count as 1") as caught:
        scores = lagbc.bc(G, weighted="length")
    assert [warning.filename for warning in caught] == [__file__]
    np.testing.assert_allclose(scores, networkx_scores(G, "length"), rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True, "length", ""])
def test_a_graph_without_edges_needs_no_lengths(weighted):
    for graph in (nx.Graph(), nx.empty_graph(3), nx.DiGraph([(0, 0)]), igraph.Graph(), igraph.Graph(n=2)):
        n = graph.vcount() if isinstance(graph, igraph.Graph) else len(graph)
        np.testing.assert_array_equal(lagbc.bc(graph, weighted=weighted), np.zeros(n))
    with pytest.raises(ValueError, match=r"igraph\.Graph have no attribute 'weight'; they have none; weighted=False"):
        lagbc.bc(igraph.Graph(n=2, edges=[(0, 1)]), weighted=True)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 5)), max_size=30))
def test_the_shortest_parallel_edge_counts(edges):
    tails, heads, lengths = np.array(edges, np.int64).reshape(-1, 3).T
    expected = np.zeros((4, 4))
    for i, j, length in sorted(edges, key=lambda edge: -edge[2]):
        expected[i, j] = length
    np.testing.assert_array_equal(Entries(4, tails, heads, True).matrix(lengths).toarray(), expected)


@pytest.mark.parametrize("loads", ["bc(np.eye(3, k=1))", "edge_bc(nx.path_graph(9))"])
def test_first_calls_of_threads_wait_for_modules_that_another_loads(loads):
    script = f"""
import sys, threading
import networkx as nx, numpy as np, lagbc
begin, failed = threading.Barrier(8), []

def call(other):
    begin.wait()
    try:
        lagbc.{loads} if other else [lagbc.bc(nx.path_graph(9), threads=1) for _ in range(20)]
    except BaseException as error:
        failed.append(error)

if "edge" in {loads!r}:
    lagbc.bc(nx.path_graph(9))
threads = [threading.Thread(target=call, args=[i % 2 == 0]) for i in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
sys.exit("; ".join(map(repr, failed)) or 0)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert not done.returncode, done.stderr


def test_a_file_is_taken_as_it_is_read(tmp_path):
    """A file says itself whether it is directed; its edges come back as the matrix has them."""
    both, one_way = tmp_path / "a.mtx", tmp_path / "b.txt"
    both.write_text("%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n2 1 5\n3 1 1\n4 2 1\n4 3 1\n")
    one_way.write_text("% asym positive\n0 1 2\n1 2 3\n2 2 1\n")
    for path in (both, one_way):
        file = lagbc.read_graph(path)
        for how in ({}, {"weighted": True}, {"directed": False}):
            expected = lagbc.bc(file.matrix, **{"directed": file.directed, **how})
            np.testing.assert_array_equal(lagbc.bc(file, **how), expected)
        edges = lagbc.edge_bc(file.matrix, directed=file.directed)
        np.testing.assert_array_equal(lagbc.edge_bc(file).toarray(), edges.toarray())
        assert lagbc.edge_bc(file).nnz == file.matrix.nnz
    assert lagbc.as_graph(lagbc.read_graph(both)).directed is False
    with pytest.raises(TypeError, match="length"):
        lagbc.bc(lagbc.read_graph(both), weighted="length")
