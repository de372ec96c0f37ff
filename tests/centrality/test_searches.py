"""Betweenness of groups against its definition, by brute force; against NetworkX where that is right."""

import threading
from fractions import Fraction
from itertools import permutations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from strategies import diamonds, examples, scale_free

import lagbc
from lagbc.centrality import searches as group_module
from lagbc.methods.cpu import searches as searches_module

RANDOM = [[nx.gnp_random_graph(n, 1.7 / n, seed=n, directed=directed) for n in (2, 5, 9, 14)] for directed in (0, 1)]


def brute_force(G, group, weight=None, *, endpoints=False):
    """Sum over ordered pairs of the share of all shortest paths, listed one by one, that meet the group."""
    total = Fraction(0)
    for s, t in permutations(G, 2):
        if not nx.has_path(G, s, t):
            continue
        if s in group or t in group:
            total += endpoints
            continue
        paths = list(nx.all_shortest_paths(G, s, t, weight=weight))
        total += Fraction(sum(not group.isdisjoint(path) for path in paths), len(paths))
    return float(total) / (1 if G.is_directed() else 2)


@examples(10)
@given(
    st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=24),
    st.lists(st.sets(st.integers(0, 7), max_size=8), max_size=4),
    st.booleans(),
    st.sampled_from([None, "weight"]),
    st.booleans(),
)
def test_groups_of_any_size(edges, groups, directed, weight, endpoints):
    G = (nx.DiGraph if directed else nx.Graph)()
    G.add_nodes_from(range(8))
    G.add_weighted_edges_from((u, v, 1 + (3 * u + 5 * v) % 3) for u, v in sorted(edges) if u != v)
    found = lagbc.group_bc(G, groups, weighted=weight is not None, endpoints=endpoints)
    assert found.shape == (len(groups),)
    expected = [brute_force(G, group, weight, endpoints=endpoints) for group in groups]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    shared = lagbc.group_bc(G, groups, weighted=weight is not None, normalized=True)
    for share, group in zip(shared, groups, strict=True):
        pairs = (8 - len(group)) * (7 - len(group))
        raw = brute_force(G, group, weight) * (1 if directed else 2)
        assert share == pytest.approx(raw / pairs if pairs else 0, rel=1e-12)


def test_a_group_that_leaves_no_pair_has_no_share_of_pairs_that_end_in_it():
    """NetworkX divides by zero."""
    path = np.eye(4, k=1)
    assert lagbc.group_bc(path, [[0, 3], [1, 2]], normalized=True, endpoints=True).tolist() == [2.5, 3]
    assert lagbc.group_bc(path, [[1, 2, 3]], endpoints=True).tolist() == [6]


def test_counts_past_float64():
    """Between the ends of 1100 diamonds in a row lead 2**1100 shortest paths, half by each side of the middle."""
    count = 1100
    middle = 3 * (count // 2)
    found = lagbc.group_bc(diamonds(count, 2), [[middle + 1], [middle + 1, middle + 2]])
    before, after = middle + 1, 3 * count - middle - 2
    np.testing.assert_allclose(found, [before * after / 2, before * after], rtol=1e-10)


def test_roots_are_searched_together_and_by_themselves_where_counts_overflow(monkeypatch):
    """Of 1100 diamonds in a row the first 78 see the last one past more paths than float64 holds."""
    alone, together, search = [], [], searches_module.core.add_batch_shares

    def count(graph, plan, root, *, log2):
        alone.append(root)
        return count_paths(graph, plan, root, log2=log2)

    def batch(sweep, groups, first, last, *given):
        together.append(last - first)
        search(sweep, groups, first, last, *given)

    count_paths = searches_module.extended.count_paths
    monkeypatch.setattr(searches_module.extended, "count_paths", count)
    monkeypatch.setattr(searches_module.core, "add_batch_shares", batch)
    found = lagbc.group_bc(nx.cycle_graph(150), [[0], [3, 70]], threads=1)
    assert (alone, together) == ([], [64, 64, 22])
    assert found[0] == pytest.approx(lagbc.bc(nx.cycle_graph(150))[0])
    A = diamonds(1100, 2).tocsr()
    lagbc.group_bc(A, [[0]], threads=1)
    n = A.shape[0]
    assert 0 < len(set(alone)) < n
    assert sum(together) == 150 + np.count_nonzero(np.diff(A.indptr)) - len(set(alone))


def test_names_and_what_is_no_group():
    G = nx.path_graph(["a", "b", "c", "d"])
    assert lagbc.group_bc(G, [["b"], ["b", "c"], []]).tolist() == [2, 1, 0]
    assert lagbc.group_bc(G, []).shape == (0,)


@pytest.fixture
def no_small_run(monkeypatch):
    """Threads are started, and memory is looked up, however small the graph."""
    monkeypatch.setattr(group_module, "TINY_RUN", 0)


def test_threads_and_progress(no_small_run):
    G, groups, seen = nx.cycle_graph(100), [[0, 1], [5]], []
    scores = lagbc.group_bc(G, groups)
    for threads in (1, 3):
        np.testing.assert_array_equal(lagbc.group_bc(G, groups, threads=threads), scores)
    lagbc.group_bc(G, groups, progress=seen.append, threads=2)
    assert [(progress.done, progress.total) for progress in seen] == [(64, 100), (100, 100)]
    with lagbc.config(threads=2, progress=seen.append):
        lagbc.group_bc(G, groups)
        lagbc.group_bc(G, groups, progress=False)
    assert len(seen) == 2 * 2


def test_memory(monkeypatch, no_small_run):
    """Fewer groups at once, then fewer threads, and the same bits; less than one of each takes is an error."""
    G, groups = nx.gnp_random_graph(200, 0.03, seed=1), [[v, v + 1] for v in range(0, 100, 2)]
    counted, scores = [], lagbc.group_bc(G, groups)
    summed = searches_module.sum_groups

    def watched(state, roots, panel):
        counted.append((state.in_group.shape[1], threading.current_thread()))
        return summed(state, roots, panel)

    monkeypatch.setattr(searches_module, "sum_groups", watched)
    monkeypatch.setattr(group_module, "most_threads", lambda threads: 3)
    for memory in ("1GB", 1_050_000, 400_000):
        counted.clear()
        np.testing.assert_array_equal(lagbc.group_bc(G, groups, memory=memory), scores)
        at_once, threads = max(count for count, _ in counted), {who for _, who in counted}
        assert (at_once == 50) == (memory == "1GB")
        assert len(threads) == 1 or memory != 400_000
    with pytest.raises(MemoryError, match=r"group_bc .* but the budget is 1 kB; raise it by memory="):
        lagbc.group_bc(G, groups, memory="1kB")
    monkeypatch.setenv("LAGBC_MEMORY", "1kB")
    with pytest.raises(MemoryError, match="the budget is"):
        lagbc.group_bc(G, groups)


def test_one_thread_is_that_of_the_call(no_small_run):
    seen = set()
    lagbc.group_bc(nx.cycle_graph(1000), [[0]], threads=1, progress=lambda _: seen.add(threading.current_thread()))
    assert seen == {threading.current_thread()}


def test_progress_counts_each_pass_over_the_groups(monkeypatch):
    """In which some are counted apart from others."""
    G, groups, seen = nx.karate_club_graph(), [[v, v + 1] for v in range(9)], []
    together = lagbc.group_bc(G, groups)
    monkeypatch.setattr(group_module, "_MOST_AT_ONCE", 4)
    assert lagbc.group_bc(G, groups, progress=seen.append).tolist() == together.tolist()
    assert [(progress.done, progress.total) for progress in seen] == [(34, 102), (68, 102), (102, 102)]


def test_an_interruption_stops_all_threads(no_small_run):
    """None begins another batch; 1,000 roots are in 16, which threads take one after the other."""
    before, done = set(threading.enumerate()), []

    def interrupt(progress):
        done.append(progress.done)
        if progress.done == 128:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lagbc.group_bc(nx.cycle_graph(1000), [[0]], progress=interrupt, threads=4)
    assert done == [64, 128]
    assert set(threading.enumerate()) == before


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
@given(data=st.data())
def test_distances_and_neighbours_by_their_definitions(kind, data):
    G = data.draw(st.sampled_from(RANDOM[kind is nx.DiGraph]))
    lengths = st.sampled_from([1, 2, 3, 0.5])
    nx.set_edge_attributes(G, {edge: data.draw(lengths) for edge in G.edges}, "weight")
    weight = data.draw(st.sampled_from([None, "weight"]))
    groups = data.draw(st.lists(st.lists(st.sampled_from(list(G)), unique=True), max_size=4))
    how = {"weighted": weight is not None}
    dist = dict(nx.all_pairs_dijkstra_path_length(G, weight=weight))
    expected = []
    for group in groups:
        outside = set(G) - set(group)
        into = [
            Fraction(min(dist[v][c] for c in group if c in dist[v])) for v in outside if dist[v].keys() & set(group)
        ]
        closeness = len(into) / sum(into) if into else Fraction(0)
        heads = {w for v in group for w in G.adj[v]} & outside
        share = Fraction(len(into), max(len(outside), 1))
        inverse, degree = sum(1 / d for d in into), Fraction(len(heads), max(len(outside), 1))
        expected.append((closeness, closeness * share, inverse, len(heads), degree))
    found = (
        lagbc.group_closeness(G, groups, wf_improved=False, **how),
        lagbc.group_closeness(G, groups, **how),
        lagbc.group_harmonic(G, groups, **how),
        lagbc.group_degree(G, groups, **how),
        lagbc.group_degree(G, groups, normalized=True, **how),
    )
    assert {scores.shape for scores in found} == {(len(groups),)}
    for scores, column in zip(found, zip(*expected, strict=True), strict=False):
        np.testing.assert_allclose(scores, np.array(column, float), rtol=1e-14)


def test_distances_of_groups_of_one_are_those_of_vertices(directed):
    A = scale_free(90, 250, seed=4)
    single = [[v] for v in range(90)]
    for weighted in (True, False):
        how = {"directed": directed, "weighted": weighted}
        np.testing.assert_allclose(lagbc.group_closeness(A, single, **how), lagbc.closeness(A, **how), rtol=1e-14)
        np.testing.assert_allclose(lagbc.group_harmonic(A, single, **how), lagbc.harmonic(A, **how), rtol=1e-13)
    degrees = lagbc.as_graph(A, directed=directed).out_degrees
    np.testing.assert_array_equal(lagbc.group_degree(A, single, directed=directed), degrees)
    # a copy beside the graph changes no distance into a group, but the share of vertices that reach it
    twice, groups = sp.block_diag([A, A]), [[0, 5, 7], [1], []]
    alone = lagbc.group_harmonic(A, groups, directed=directed)
    np.testing.assert_array_equal(lagbc.group_harmonic(twice, groups, directed=directed), alone)
    for threads in (1, 3):
        again = lagbc.group_harmonic(A, groups * 50, directed=directed, threads=threads)
        np.testing.assert_array_equal(again, np.tile(alone, 50))


def test_groups_on_a_gpu(monkeypatch, weighted):
    """tests/gpu/test_gpu_searches.py has the scores; here is none."""
    monkeypatch.setattr(lagbc.Method, "available", False)
    for score in (lagbc.group_closeness, lagbc.group_harmonic):
        with pytest.raises(lagbc.MissingDependencyError, match="on cuda needs an NVIDIA GPU"):
            score(np.ones((3, 3)), [[1]], device="cuda", weighted=weighted)
