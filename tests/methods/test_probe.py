"""A probe counts what searches from its single roots do, and ends where it is told to."""

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path
from strategies import grid, path, scale_free

from lagbc import native, tuning
from lagbc.calls import stopping_by
from lagbc.errors import StoppedError
from lagbc.graph.validate import as_graph
from lagbc.methods.probe import COLUMNS, Probe, probe
from lagbc.native import core, csr
from lagbc.planning import choose

GRAPHS = {
    "directed": as_graph(scale_free(400, 1500, seed=3), directed=True),
    "undirected": as_graph(scale_free(300, 900, seed=1), directed=False),
    "grid": as_graph(grid(20, 25), directed=False),
    "path": as_graph(path(300), directed=True),
    "few": as_graph(path(5), directed=True),
}


def set_tuning(monkeypatch, **constants):
    for name, value in constants.items():
        monkeypatch.setattr(tuning, name, value)


def counted(graph, ordered, most, searches=1):
    """The counts, from the distances of each root by itself."""
    counts = np.zeros(6, np.int64)
    for place in range(searches):
        first = (2 * place + 1) * len(ordered) // (2 * searches) // COLUMNS * COLUMNS
        counts += of_search(graph, ordered[first : first + COLUMNS], most)
    return Probe(len(ordered), int(counts[0]), searches, *map(int, counts[1:]), counts[2] > searches * most)


def of_search(graph, roots, most):
    distances = shortest_path(graph.pattern, unweighted=True, indices=roots).reshape(len(roots), graph.n)
    visits = edges = pairs = pair_edges = level = 0
    while edges <= most and (distances == level).any():
        live = (distances == level).sum(axis=0)
        visits += (live > 0).sum()
        edges += graph.out_degrees[live > 0].sum()
        pairs += live.sum()
        pair_edges += live @ graph.out_degrees
        level += 1
    return np.array([len(roots), visits, edges, pairs, pair_edges, level], np.int64)


@pytest.mark.parametrize("share", [np.inf, 0.05, 0.0])
@pytest.mark.parametrize("name", GRAPHS)
def test_counts_are_those_of_single_searches(monkeypatch, name, share):
    graph = GRAPHS[name]
    monkeypatch.setattr(tuning, "PROBE_SHARE", min(share, 1e6))
    for ordered in (graph.order[:200], graph.order[:3]):
        assert probe(graph, ordered) == counted(graph, ordered, tuning.PROBE_SHARE * graph.nnz * len(ordered))


@pytest.mark.parametrize("name", ["directed", "grid"])
def test_of_many_roots_several_places_are_searched(monkeypatch, name):
    graph = GRAPHS[name]
    set_tuning(monkeypatch, PROBE_ROOTS=len(graph.order) // 3, PROBE_SEARCHES=5)
    found, middle = probe(graph, graph.order), counted(graph, graph.order, np.inf)
    assert found == counted(graph, graph.order, np.inf, searches=3)
    assert found.pairs != 3 * middle.pairs or found.visits != 3 * middle.visits, "other places than the middle"
    monkeypatch.setattr(tuning, "PROBE_SEARCHES", 2)
    assert probe(graph, graph.order).searches == 2, "no more, however many roots"
    monkeypatch.setattr(tuning, "PROBE_ROOTS", len(graph.order) + 1)
    assert probe(graph, graph.order) == middle
    each = choose.terms(graph, found)
    assert each["pair"] == pytest.approx(len(graph.order) * found.pairs / found.roots)
    assert each["batch_level"] == pytest.approx(found.levels / 3)


def test_no_roots_are_no_work():
    graph = as_graph(path(5))
    nothing = probe(graph, np.zeros(0, np.int64))
    assert nothing == Probe(0, 0, 1, 0, 0, 0, 0, 0)
    assert sum(choose.terms(graph, nothing).values()) == 1, "the run itself"


def test_a_search_that_is_ended_counts_as_if_each_root_reached_all(monkeypatch):
    graph = as_graph(grid(30, 30), directed=False)
    roots = graph.order[:128]
    whole = choose.terms(graph, probe(graph, roots))
    monkeypatch.setattr(tuning, "PROBE_SHARE", 1 / 64)
    found = probe(graph, roots)
    ended = choose.terms(graph, found)
    assert found.levels < graph.depth == ended["batch_level"], "at least those from the hub"
    assert ended["pair"] == pytest.approx(whole["pair"])
    assert tuple(whole) == choose.TERMS


@pytest.mark.parametrize(("n", "is_launched"), [(4, True), (200, False)])
def test_levels_are_launched_unless_the_diameter_is_high(n, is_launched):
    graph = as_graph(path(n), directed=False)
    counted = choose.terms(graph, probe(graph, graph.order))
    assert counted["batch_level"] > 0
    assert counted["launch_level"] == is_launched * counted["batch_level"]


@pytest.mark.parametrize("is_high", [False, True])
@pytest.mark.parametrize(("weighted", "edges", "roots"), [(True, 0, 0), (False, 0, 0), (True, 1, 0), (True, 0, 1)])
def test_edges_are_pruned_with_lengths_of_many_edges_and_roots(monkeypatch, weighted, edges, roots, is_high):
    """But where the diameter is high."""
    A = path(200) if is_high else scale_free(300, 900, seed=1)
    graph = as_graph(A.astype(float), directed=False, weighted=weighted)
    assert graph.has_high_diameter == is_high
    set_tuning(monkeypatch, PRUNING_LEAST_EDGES=graph.nnz + edges, PRUNING_LEAST_ROOTS=100 + roots)
    is_pruned = (weighted, edges, roots, is_high) == (True, 0, 0, False)
    assert choose.terms(graph, probe(graph, graph.order[:100]))["pruned"] == is_pruned


@pytest.mark.parametrize("shared_from", [1, native.SHARED_FROM], ids=["on a thread", "few entries"])
def test_a_probe_ends_with_its_time(monkeypatch, shared_from):
    """In the middle of its searches, whose counts are then those of parts."""
    monkeypatch.setattr(native, "SHARED_FROM", shared_from)
    set_tuning(monkeypatch, PROBE_ROOTS=100, PROBE_SHARE=1e6)
    graph = as_graph(path(300), directed=False)
    whole, none = probe(graph, graph.order, 1e6), probe(graph, graph.order, -1.0)
    assert (whole.searches, whole.is_cut) == (3, False)
    assert (none.searches, none.is_cut) == (3, True)
    assert none.pairs == 0
    assert all(np.isfinite(count) for count in choose.terms(graph, none).values())


def test_a_search_ends_at_its_flag_and_a_probe_at_a_stop(monkeypatch):
    monkeypatch.setattr(native, "SHARED_FROM", 1)  # of few entries it ends before anyone waits for it
    graph = as_graph(path(300), directed=True)
    arguments = csr(graph.indptr, graph.indices), np.arange(1), graph.nnz
    assert core.probe_hops(*arguments, np.zeros(1, np.uint8)) == (300, graph.nnz, 300, graph.nnz, 300)
    assert core.probe_hops(*arguments, np.ones(1, np.uint8))[0] == 0
    asked = iter([False, True])
    with pytest.raises(StoppedError), stopping_by(lambda: next(asked)):
        probe(graph, graph.order)


@pytest.mark.parametrize("at_once", [1, 3])
def test_a_probe_takes_the_memory_of_its_searches(monkeypatch, at_once):
    monkeypatch.setattr(tuning, "PROBE_ROOTS", 100)
    graph = as_graph(path(2000), directed=False)
    one = probe(graph, graph.order)
    before, _ = core.held_memory()
    assert probe(graph, graph.order, at_once=at_once) == one
    taken = core.held_memory()[1] - before
    assert 36 * graph.n <= taken <= 40 * graph.n * at_once
