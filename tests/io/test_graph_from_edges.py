"""Graphs of columns of edges: of every library, with names or integers, and what is wrong with some."""

import networkx as nx
import numpy as np
import pytest
from columns import FORMS, OF_TEXTS

import lagbc

pandas = pytest.importorskip("pandas")

N, M = 20, 70


def edges(seed, names):
    """Columns of a table, some edges parallel, some of them loops; vertices in the order in which they first occur."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, N, (2, M)) * 10**12
    lengths = rng.choice([1.0, 2.0, 4.0], M)
    source, target = ([f"vertex {v}" for v in end] if names else end.tolist() for end in ends)
    return source, target, lengths.tolist()


@pytest.mark.parametrize(
    ("form", "names"), [*((form, True) for form in FORMS), *((form, False) for form in FORMS if form not in OF_TEXTS)]
)
def test_scores_are_those_of_networkx(form, names, directed):
    source, target, length = edges(1, names)
    made, made_of_lengths = FORMS[form], FORMS["list" if form in OF_TEXTS else form]
    G = (nx.MultiDiGraph if directed else nx.MultiGraph)()
    met = dict.fromkeys(v for edge in zip(source, target, strict=True) for v in edge)
    G.add_nodes_from(met if names else sorted(met))
    G.add_weighted_edges_from(zip(source, target, length, strict=True))
    hops = lagbc.graph_from_edges(made(source), made(target), directed=directed)
    with pytest.warns(lagbc.GraphFileWarning, match=r"^\d+ entries repeat an edge; of each edge the smallest value"):
        weighted = lagbc.graph_from_edges(made(source), made(target), made_of_lengths(length), directed=directed)
    for graph, weight in ((hops, None), (weighted, "weight")):
        expected = nx.betweenness_centrality(G, normalized=False, weight=weight, backend="networkx")
        frame = lagbc.table(graph, lagbc.bc(graph))
        assert frame.index.tolist() == list(expected)
        np.testing.assert_allclose(frame["score"], list(expected.values()), rtol=1e-12)
        assert frame["score"].any()
        assert (graph.directed, graph.weighted) == (directed, weight is not None)


def test_every_function_takes_it():
    graph = lagbc.graph_from_edges(["a", "b", "c"], ["b", "c", "d"], [1, 2, 1], directed=False)
    assert lagbc.centralities(graph, ("bc", "closeness"))["bc"].tolist() == [0, 2, 2, 0]
    assert lagbc.bc(graph, sources=["a"], targets=["d"]).tolist() == [0, 0.5, 0.5, 0]
    assert lagbc.bc(graph, demand={"a": {"d": 3}}).tolist() == [0, 3, 3, 0]
    assert lagbc.table(graph, lagbc.edge_bc(graph))["score"].to_dict() == {("a", "b"): 3, ("b", "c"): 4, ("c", "d"): 3}
    assert lagbc.group_bc(graph, [["b"]]).shape == (1,)
    assert lagbc.plan(graph).memory.total > 0


def test_integers_are_names():
    for dtype in (np.int8, np.uint8, np.int32, np.uint64):
        graph = lagbc.graph_from_edges(np.array([9, 5], dtype), np.array([5, 100], dtype), directed=True)
        assert graph.names.tolist() == [5, 9, 100]
        assert lagbc.bc(graph, sources=[9]).tolist() == [1, 0, 0]


def test_columns_are_not_changed_and_not_followed():
    source, target, length = np.array([0, 1]), np.array([1, 2]), np.array([1.0, 2.0])
    graph = lagbc.graph_from_edges(source, target, length, directed=True)
    assert [source.tolist(), target.tolist(), length.tolist()] == [[0, 1], [1, 2], [1, 2]]
    source[:], target[:], length[:] = 7, 7, 7
    assert lagbc.bc(graph).tolist() == [0, 1, 0]
    assert graph.weights.tolist() == [1, 2]
    assert lagbc.graph_from_edges([0], [1], directed=np.True_).directed is True


def test_no_edges():
    for empty in ([], np.array([]), np.array([], "U1"), pandas.Series([], dtype=object)):
        for length in (None, empty if not isinstance(empty, np.ndarray) else []):
            graph = lagbc.graph_from_edges(empty, empty, length, directed=True)
            assert (graph.n, graph.nnz) == (0, 0)
            assert lagbc.bc(graph).tolist() == []


def test_many_names():
    """More than are numbered at a time."""
    source = [f"v{7 * i % 50_021}" for i in range(100_000)]
    target = [f"v{11 * i % 50_021}" for i in range(100_000)]
    graph = lagbc.graph_from_edges(source, target, directed=True)
    assert graph.names.tolist() == list(dict.fromkeys(v for edge in zip(source, target, strict=True) for v in edge))
    number = {name: i for i, name in enumerate(graph.names.tolist())}
    A = graph.matrix
    assert all(A[number[u], number[v]] for u, v in zip(source[60_000:60_100], target[60_000:60_100], strict=True))


def test_strengths_are_inverse_lengths():
    with pytest.warns(lagbc.GraphFileWarning, match="1 entry repeats an edge; of each edge the largest value"):
        graph = lagbc.graph_from_edges([0, 1, 0], [1, 2, 1], directed=True, strength=[2, 1, 4])
    assert graph.weights.tolist() == [0.25, 1]


def test_repeated_edges():
    with pytest.warns(lagbc.GraphFileWarning, match="1 entry repeats an edge; of each edge the smallest value"):
        graph = lagbc.graph_from_edges([0, 1, 0], [1, 2, 1], [5, 1, 3], directed=True)
    assert graph.weights.tolist() == [3, 1]
    with pytest.warns(lagbc.GraphFileWarning, match="1 entry repeats an edge"):
        graph = lagbc.graph_from_edges([0, 1], [1, 0], [5, 3], directed=False)
    assert graph.weights.tolist() == [3, 3]
    assert lagbc.graph_from_edges([0, 0], [1, 1], directed=True).nnz == 1


def test_a_loop_needs_no_length():
    graph = lagbc.graph_from_edges([0, 1, 1], [1, 1, 2], [1.0, np.nan, 2.0], directed=True)
    assert graph.weights.tolist() == [1, 2]
