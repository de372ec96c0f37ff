"""The highest closeness and harmonic centralities are those of all scores, sorted, bit for bit."""

import json
import logging

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from strategies import cycle, disjoint, examples, grid, path, scale_free, star, with_lengths

import lagbc
from lagbc import tuning
from lagbc.centrality import highest as module
from lagbc.interfaces.cli import main
from lagbc.native import classes_of, core, csr


@pytest.fixture(scope="module", params=["closeness", "harmonic"])
def name(request):
    return request.param


@pytest.fixture(scope="module")
def pruned():
    """Have every graph that can be pruned be pruned, however small it is; return the count of those that were."""
    searched = []

    def search(call, count):
        found = searching(call, count)
        searched.append(found is not None)
        return found

    with pytest.MonkeyPatch.context() as patch:
        searching = module.search_highest
        patch.setattr(module, "_may_pay", lambda call: True)
        patch.setattr(module, "search_highest", search)
        patch.setattr(tuning, "PRUNED_SHARE", np.inf)
        patch.setattr(tuning, "LANDMARKS_SHARE", np.inf)
        yield searched


@pytest.fixture
def races(monkeypatch):
    """The races that are made; each notes its landmarks."""
    made = []

    class Watched(module.Race):
        def __init__(self, *given):
            super().__init__(*given)
            self.landmarks = []
            made.append(self)

        def put_landmark(self, vertex, *given):
            self.landmarks.append(vertex)
            super().put_landmark(vertex, *given)

    monkeypatch.setattr(module, "Race", Watched)
    return made


def require_highest(name, A, count, **how):
    all_scores = getattr(lagbc, name)(A, **how)
    found = getattr(lagbc, name)(A, top=count, **how)
    expected = np.argsort(-all_scores, kind="stable")[:count]
    assert found.vertices.tolist() == expected.tolist() == found.names
    assert found.scores.tobytes() == all_scores[expected].tobytes()


@examples(20)
@given(
    st.sets(st.tuples(st.integers(0, 19), st.integers(0, 19)), max_size=70),
    st.booleans(),
    st.integers(1, 24),
    st.booleans(),
)
def test_random_graphs(pruned, name, edges, directed, count, wf_improved):
    """Disconnected graphs, isolated vertices and loops among them, and more asked for than there are."""
    rows, columns = np.array([*edges], int).reshape(-1, 2).T
    A = sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(20, 20))
    how = {"wf_improved": wf_improved} if name == "closeness" else {}
    require_highest(name, A, count, directed=directed, **how)
    assert pruned[-1]


@pytest.mark.parametrize("method", ["auto", "work-efficient"])
def test_many_batches_and_threads(pruned, name, directed, method):
    A = disjoint(scale_free(700, 2800, seed=3), star(90), path(40))
    for threads, count in ((1, 10), (3, 10), (1, 1), (2, 100)):
        require_highest(name, A, count, directed=directed, threads=threads, method=method)
        assert pruned[-1]


def test_searches_end_early(pruned, name, races):
    """In all, searches find the end of fewer vertices than there are, and look at fewer edges than a sweep."""
    A = scale_free(3000, 12000, seed=1)
    require_highest(name, A, 5, directed=False)
    (race,) = races
    assert np.count_nonzero(race.scores) < 300
    whole = race.searches()
    for first in range(0, race.graph.n, 64):
        whole.search(np.arange(first, min(first + 64, race.graph.n)), -np.inf, True, np.zeros(1, np.uint8))
    assert race.edges < whole.edges / 4


@pytest.mark.parametrize("wf_improved", [True, False], ids=["share", "component"])
@pytest.mark.parametrize("threads", [1, 3])
def test_distances_from_landmarks_rule_out_most_of_a_grid(pruned, races, threads, wf_improved):
    """Components of other sizes, and isolated vertices, too."""
    A = disjoint(grid(20, 30), path(150), star(4), sp.coo_array((3, 3)))
    for count in (1, 7, 700, 900):
        require_highest("closeness", A, count, directed=False, threads=threads, wf_improved=wf_improved)
        assert pruned[-1]
        assert len(races[-1].landmarks) < 250 or count >= 700
    require_highest("harmonic", A, 7, directed=False, threads=threads)
    assert pruned[-1]
    assert not races[-1].landmarks


@pytest.mark.parametrize("A", [grid(7, 9), path(20), star(6), cycle(9)], ids=["grid", "path", "star", "cycle"])
def test_sums_are_least_by_distances_from_a_landmark(A):
    distances = lagbc.shortest_path_counts(A, range(A.shape[0]))[0].astype(int)
    for row in distances:
        least = module.least_sums(np.bincount(row))
        assert least[0] == row.sum()
        assert (least[row] <= distances.sum(axis=1)).all()


@pytest.mark.parametrize(
    "how",
    [
        *({"weighted": True}, {"sources": [3, 5, 8]}, {"k": 9, "rng": 1}, {"cutoff": 2}, {"method": "graphblas"}),
        *({"cutoff": 4.5, "weighted": True}, {"directed": False}),
    ],
    ids=str,
)
def test_all_else_is_summed_in_full(name, how):
    pytest.importorskip("graphblas")
    require_highest(name, with_lengths(grid(5, 6), [1, 2.5]), 7, **how)


def test_a_plan_is_logged(pruned, caplog):
    with caplog.at_level(logging.INFO, "lagbc"):
        lagbc.closeness(grid(9, 9), top=2)
    assert caplog.messages[0].startswith("closeness: searches for the 2 highest, or else: 81 vertices")


def test_searches_that_do_not_pay_are_given_up(name, monkeypatch):
    """Of landmarks, too: on a circle all scores are equal."""
    monkeypatch.setattr(module, "_may_pay", lambda call: True)
    require_highest(name, cycle(200), 4, directed=False)
    monkeypatch.setattr(tuning, "PRUNED_SHARE", 1e-9)
    require_highest(name, scale_free(300, 1200, seed=2), 4, directed=False)


def test_searches_are_given_up_once_too_many_edges_are_foreseen(monkeypatch, races):
    """In a grid bounds of inverse distances tell little, and the first of 16 turns tells that."""
    monkeypatch.setattr(module, "_may_pay", lambda call: True)
    monkeypatch.setattr(tuning, "PRUNED_SHARE", 1 / 3)
    require_highest("harmonic", grid(40, 40), 4, directed=False, threads=1)
    (race,) = races
    assert race.edges < race.most_edges < race.foreseen


def test_names_are_those_of_the_graph():
    g = lagbc.graph_from_edges(["ann", "bob", "carl"], ["bob", "carl", "dora"], directed=False)
    found = lagbc.closeness(g, top=2)
    assert (found.names, found.vertices.tolist(), found.scores.tolist()) == (["bob", "carl"], [1, 2], [0.75, 0.75])


def test_a_table_has_the_highest_first_by_name():
    G = nx.relabel_nodes(nx.path_graph(4), dict(enumerate("abcd")))
    found = lagbc.closeness(G, top=3)
    for graph, names, called in ((G, None, "bca"), (G, "wxyz", "xyw"), (lagbc.as_graph(G), None, "bca")):
        frame = lagbc.table(graph, found, names=None if names is None else [*names])
        assert (frame.index.name, frame.index.tolist()) == ("vertex", [*called])
        assert frame["score"].tolist() == found.scores.tolist()
    with pytest.raises(ValueError, match="scores has vertex 2, but the graph has 2 vertices"):
        lagbc.table(nx.path_graph(2), found)
    with pytest.raises(TypeError, match="closeness has the highest scores alone"):
        lagbc.table(G, {"closeness": found})


def test_a_stop_ends_the_searches(pruned):
    with pytest.raises(lagbc.StoppedError):
        lagbc.closeness(scale_free(200, 800, seed=1), top=3, directed=False, stop=lambda: True)


def test_a_command_searches_for_what_it_shows(pruned, name, tmp_path, capsys):
    """All scores are computed where all are written, or where as many are shown as there are."""
    A, file = scale_free(200, 800, seed=9), tmp_path / "a.npz"
    sp.save_npz(file, A.tocsr())
    scores = getattr(lagbc, name)(A)
    highest = np.argsort(-scores, kind="stable")
    for options, count, searched in (
        (["--top", "3"], 3, 1),
        ([], 200, 0),
        (["--top", "4", "--out", str(tmp_path / "scores.npy")], 4, 0),
        (["--top", "5", "--cutoff", "3,4"], 5, 0),
    ):
        before = len(pruned)
        main.main([name, str(file), "--directed", "--json", *options], standalone_mode=False)
        document = json.loads(capsys.readouterr().out)
        assert document["method"]["reason"].startswith("searches end early") == bool(searched)
        main.main([name, str(file), "--directed", *(options or ["--top", "200"])], standalone_mode=False)
        assert ("method: searches that end early; if they" in capsys.readouterr().out) == bool(searched)
        assert len(pruned) - before == 2 * searched
        shown = document["scores"]
        assert len(shown["vertex"]) == count
        if "--cutoff" not in options and options:
            assert shown["vertex"] == highest[:count].tolist()
            assert shown[name] == scores[highest[:count]].tolist()
    np.testing.assert_array_equal(np.load(tmp_path / "scores.npy"), scores)


def test_searches_take_less_memory_than_the_sweep_that_is_planned():
    """So a call that fits into its memory as a sweep does so as searches: of a thread, and bounds of all vertices."""
    graph = lagbc.as_graph(scale_free(20000, 80000, seed=6), directed=False)
    sweep = lagbc.plan(graph, "closeness", threads=1).memory.workspace
    search = searches_of(graph, np.full(graph.n, graph.n - 1), np.int32, inverse=False)
    assert sum(search.array(name).nbytes for name in ("visited", "here", "following", "lists", "touched")) == (
        core.BoundedSearch32.bytes(graph.n)
    )
    assert core.BoundedSearch32.bytes(graph.n) + 8 * 9 * graph.n < sweep


# The kernels by themselves


def searches_of(graph, reach, kind, *, inverse):
    out, into = graph.reordered.transpose, graph.reordered
    rows = [csr(one.indptr, one.indices.astype(kind)) for one in (out, into)]
    both = rows if graph.directed else rows[:1] * 2
    return classes_of("BoundedSearch")[np.dtype(kind)](*both, reach, not graph.directed, inverse, True, 0.1)


@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_bounds_are_above_the_scores(name, directed, kind):
    graph = lagbc.as_graph(disjoint(scale_free(150, 500, seed=4), path(9), star(5)), directed=directed)
    scores = getattr(lagbc, name)(graph)[graph.order]
    reached = np.array([np.isfinite(row).sum() - 1 for row in lagbc.shortest_path_counts(graph, range(graph.n))[0].T])
    reach = reached[graph.order]
    for bound in [reach, np.minimum(reach + 20, graph.n - 1)] if directed else [reach]:
        search = searches_of(graph, bound, kind, inverse=name == "harmonic")
        for depth in (2, 3, 4):
            assert (search.bound_scores(depth) >= scores * (1 - 1e-12)).all()
        least = np.sort(scores)[-20]
        for first in range(0, graph.n, 64):
            roots = np.arange(first, min(first + 64, graph.n))
            found, _, ended, again = search.search(roots, least * (1 - 1e-12), True, np.zeros(1, np.uint8))
            assert not again.any()
            assert ended[scores[roots] >= least].all()
            assert (found[ended] == reach[roots[ended]]).all()
    for array in ("visited", "here", "following"):
        assert not search.array(array).any()


def test_a_component_is_counted_once_below_the_largest():
    """Component 3 is the largest, 1 and 0 are below, 4 above; arcs lead to smaller numbers."""
    members = np.array([0, 1, 3, 4, 9, 10], np.int64)
    component = np.repeat(np.arange(5), np.diff(members)).astype(np.int32)
    arcs = [[], [0], [0], [1, 0], [3, 2, 1]]
    ends = np.cumsum([0, *map(len, arcs)])
    heads = np.concatenate(arcs).astype(np.int32)
    found = core.bound_reach(component, members, ends, heads)
    assert found[members[:-1]].tolist() == [1, 3, 2, 8, 10]


@pytest.mark.parametrize("roots", [[-1], [9], range(65)], ids=["below", "beyond", "too many"])
def test_roots_are_vertices(roots):
    graph = lagbc.as_graph(grid(3, 3) if len([*roots]) == 1 else path(70), directed=False)
    search = searches_of(graph, np.full(graph.n, graph.n - 1), np.int32, inverse=False)
    with pytest.raises((ValueError, IndexError)):
        search.search(np.array([*roots]), 0.0, True, np.zeros(1, np.uint8))
