"""Communities by Girvan and Newman, beside exact rationals and NetworkX."""

from fractions import Fraction
from itertools import combinations, count, permutations

import networkx as nx
import numpy as np
import pytest
from strategies import adjacency, edges_of, lengths, path

import lagbc
from lagbc import reference
from lagbc.centrality import communities as module
from lagbc.interfaces.networkx import can_run

TIED = 1e-9


def random_graph(seed, n, *, directed=False, longest=1):
    """Of sorted edges, which NetworkX keeps in the order of the matrix; sparse ones have several components."""
    rng = np.random.default_rng(seed)
    G = nx.DiGraph() if directed else nx.Graph()
    G.add_nodes_from(range(n))
    ends = [*(permutations if directed else combinations)(range(n), 2)]
    chosen = np.sort(rng.choice(len(ends), rng.integers(1, min(len(ends), 3 * n)), replace=False))
    G.add_weighted_edges_from((*ends[at], int(rng.integers(1, longest + 1))) for at in chosen.tolist())
    return G


def exact_scores(G):
    """Betweenness of each edge in exact numbers, each ordered pair once."""
    A = nx.to_scipy_sparse_array(G, dtype=int)
    indptr, indices = adjacency(A)
    raw = reference.edge_scores(indptr, indices, lengths(A), number=Fraction)
    of_arcs = dict(zip(sorted(edges_of(A)), raw, strict=True))
    return {(u, v): of_arcs[u, v] + (0 if G.is_directed() else of_arcs[v, u]) for u, v in G.edges}


def parts(G):
    found = nx.weakly_connected_components(G) if G.is_directed() else nx.connected_components(G)
    return sorted(map(sorted, found))


def exact_division(G):
    """The removed edges, and the communities of each level, by exact numbers; of equal ones the first edge."""
    G, removed, levels = G.copy(), [], [parts(G)]
    while G.number_of_edges():
        scores = exact_scores(G)
        removed.append(max(sorted(scores), key=scores.get))
        G.remove_edge(*removed[-1])
        if len(now := parts(G)) > len(levels[-1]):
            levels.append(now)
    return removed, levels


def communities(labels):
    return sorted(np.flatnonzero(labels == one).tolist() for one in range(labels.max() + 1))


def test_divisions_are_those_of_exact_numbers(directed, weighted):
    for seed in range(12):
        G = random_graph(seed, 5 + seed % 5, directed=directed, longest=3 if weighted else 1)
        removed, levels = exact_division(G)
        found = lagbc.girvan_newman(G, weighted=weighted)
        assert found.removed.tolist() == [list(edge) for edge in removed]
        # Else by the kernel of small components.
        by_method = lagbc.girvan_newman(G, weighted=weighted, method="batched")
        np.testing.assert_array_equal(found.removed, by_method.removed)
        assert found.counts.tolist() == [len(level) for level in levels]
        for level, number in zip(levels, found.modularity, strict=True):
            assert communities(found.labels(len(level))) == level
            assert number == pytest.approx(nx.community.modularity(G, level, weight=None), abs=1e-12)


def chosen_by(G, agrees):
    """NetworkX's communities by the first edge of those with equal scores; notes whether its own choice is the same."""

    def choose(left):
        scores = nx.edge_betweenness_centrality(left)
        highest = max(scores.values())
        edge = next(edge for edge, score in scores.items() if score >= highest * (1 - TIED))
        agrees.append(edge == max(scores, key=scores.get))
        return edge

    return list(nx.community.girvan_newman(G, most_valuable_edge=choose))


def test_splits_are_those_of_networkx():
    """On 50 graphs; where rounding never decides among equal scores, they are also those of its own choices."""
    undecided = 0
    for seed in range(50):
        G, agrees = random_graph(seed, 10 + seed % 10), []
        theirs = chosen_by(G, agrees)
        found = lagbc.girvan_newman(G)
        assert f"; the highest modularity, {found.modularity.max():.4g}, is of {found.best}" in str(found)
        assert [communities(found.labels(k)) for k in found.counts.tolist()[1:]] == [
            sorted(map(sorted, level)) for level in theirs
        ]
        if all(agrees):
            undecided += 1
            assert theirs == list(nx.community.girvan_newman(G, backend="networkx"))
    assert undecided > 25


@pytest.mark.filterwarnings("ignore:.*conversions to backend graphs are saved to cache")
def test_the_backend_removes_edges_in_the_order_of_networkx():
    """Whose ties go by the order in which edges were added; directed edges are taken both ways."""
    for seed in range(10):
        rng, kind = np.random.default_rng(seed), (nx.Graph, nx.DiGraph)[seed % 2]
        G = kind([("loop", "loop")])
        edges = [*random_graph(seed, 12, directed=bool(seed % 2)).edges]
        G.add_edges_from(edges[at] for at in rng.permutation(len(edges)))
        assert list(nx.community.girvan_newman(G, backend="lagbc")) == chosen_by(G, [])


@pytest.mark.parametrize("option", [{"dtype": "float32"}, {"bucket_width": 2.0}], ids=str)
def test_options_that_mean_nothing_are_refused_in_small_components_too(option):
    for A in (path(5), path(200)):
        with pytest.raises(ValueError, match=f"{next(iter(option))}="):
            lagbc.girvan_newman(A, directed=False, device="cpu", **option)


@pytest.mark.filterwarnings("ignore:.*conversions to backend graphs are saved to cache")
def test_the_backend_leaves_other_calls_to_networkx():
    G, parallel = nx.path_graph(4), nx.MultiGraph([(0, 1), (0, 1)])
    assert "most_valuable_edge" in can_run("girvan_newman", (G, min), {})
    assert "multigraph" in can_run("girvan_newman", (parallel,), {})
    with pytest.raises(NotImplementedError):
        nx.community.girvan_newman(parallel, backend="lagbc")
    with pytest.raises(TypeError, match="bunch"):
        nx.community.girvan_newman(G, bunch=3, backend="lagbc")
    assert list(nx.community.girvan_newman(nx.empty_graph(2), backend="lagbc")) == [({0}, {1})]
    assert next(nx.community.girvan_newman(G, backend="lagbc", threads=1)) == ({0, 1}, {2, 3})


def test_only_components_that_lost_an_edge_are_searched(monkeypatch):
    sizes, search = [], module.sum_request
    monkeypatch.setattr(module, "sum_request", lambda graph, *given: sizes.append(graph.n) or search(graph, *given))
    two = nx.disjoint_union(nx.complete_graph(4), nx.path_graph(9))
    found = lagbc.girvan_newman(two, until=4, method="batched")
    assert found.removed.tolist() == [[7, 8], [9, 10]]
    assert sorted(sizes[:2]) == [4, 9]
    assert sizes[2:] == [4, 5]  # of the path alone


def test_a_share_of_the_edges_at_once_takes_few_rounds(monkeypatch):
    calls, search = [], module.sum_request
    monkeypatch.setattr(module, "sum_request", lambda *given: calls.append(1) or search(*given))
    G = nx.karate_club_graph()
    found = lagbc.girvan_newman(G, at_once=1, method="batched")
    scores = nx.edge_betweenness_centrality(G)
    assert len(calls) == 1
    assert found.removed[0].tolist() == list(max(scores, key=scores.get))
    removed = [scores[tuple(edge)] for edge in found.removed.tolist()]
    assert (np.diff(removed) < 1e-12).all()
    few = lagbc.girvan_newman(G, at_once=1e-6)
    assert few.removed.tolist() == lagbc.girvan_newman(G).removed.tolist()


def test_known_communities():
    """Of the karate club: five, as Newman and Girvan found them, at a modularity of 0.401."""
    G = nx.karate_club_graph()
    found = lagbc.girvan_newman(G)
    assert (found.best, round(found.modularity.max(), 3)) == (5, 0.401)
    assert communities(found.labels()) == communities(found.labels(5))
    theirs = [sorted(map(sorted, level)) for level in nx.community.girvan_newman(G, backend="networkx")]
    assert communities(found.labels(2)) == theirs[0]


def test_until():
    G = nx.karate_club_graph()
    whole, some = lagbc.girvan_newman(G), lagbc.girvan_newman(G, until=4)
    assert some.counts.tolist() == [1, 2, 3, 4]
    assert some.removed.tolist() == whole.removed[: whole.removals[3]].tolist()
    for k in (1, 2, 3, 4):
        np.testing.assert_array_equal(some.labels(k), whole.labels(k))
    with pytest.raises(ValueError, match="k=5: there are levels of 1 to 4 communities"):
        some.labels(5)
    assert not len(lagbc.girvan_newman(G, until=1).removed)


def test_strengths_weigh_modularity():
    G = random_graph(3, 12, longest=3)
    found = lagbc.girvan_newman(G, strength=True, rtol=1e-9)
    for k, number in zip(found.counts.tolist(), found.modularity, strict=True):
        assert number == pytest.approx(nx.community.modularity(G, communities(found.labels(k))), abs=1e-12)


@pytest.mark.parametrize("n", [0, 1, 3])
def test_graphs_without_edges(n):
    found = lagbc.girvan_newman(np.eye(n))
    assert (found.labels().tolist(), found.removed.shape) == (list(range(n)), (0, 2))
    assert found.modularity.tolist() == [0]


def test_progress_and_stop():
    seen, G = [], nx.karate_club_graph()
    lagbc.girvan_newman(G, progress=seen.append)
    assert [one.done for one in seen] == list(range(1, 79))
    assert (seen[-1].total, seen[-1].share) == (78, 1)
    asked = count()
    with pytest.raises(lagbc.StoppedError):
        lagbc.girvan_newman(G, stop=lambda: next(asked) > 50)
