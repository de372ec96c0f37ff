"""Estimates of a graph in blocks are those of one process, by ranks that are threads of this process."""

import time
from itertools import product

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from on_threads import ESTIMATES, each_on_grid, estimated, on_grid, parts_of, require_estimate_of_one_process
from strategies import disjoint, graphs, grid, matrix, path, scale_free, star

import lagbc
from lagbc.calls import stopping_by
from lagbc.estimates.aim import Aim
from lagbc.graph.validate import as_graph
from lagbc.grid import sweep
from lagbc.grid.grids import Grids
from lagbc.methods.cpu import block
from lagbc.methods.sums import SQUARES


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        *product(ESTIMATES, [(2, 2)]),
        *product(["bc", "closeness"], [(1, 1), (1, 3), (3, 1), (2, 1), (1, 4)]),
        *product(["directed", "mesh"], [(1, 3)]),
        *product(["harmonic", "directed closeness"], [(3, 1)]),
    ],
    ids=str,
)
def test_intervals_of_one_process(kind, shape):
    require_estimate_of_one_process(kind, shape)


WIDE = {"relative_error": 0.4}
GOALS = {"error": 0.06}, WIDE | {"top": 3, "tie": 0.05}, WIDE | {"vertices": [3, 14]}, WIDE | {"guarantee": False}


@pytest.mark.parametrize("goal", GOALS, ids=str)
def test_goals_of_one_process(goal):
    require_estimate_of_one_process("bc", (2, 2), goal)


def test_a_grid_draws_roots(monkeypatch):
    """No rank has the graph, along which paths lead."""
    monkeypatch.setattr("lagbc.estimates.paths._VERTICES", 1)
    found = estimated("bc", (1, 2))
    assert found.paths == 0 < found.roots


def test_the_highest_on_a_grid():
    A = scale_free(90, 300, seed=2)
    found = on_grid((1, 2), A, lambda graph: lagbc.harmonic(graph, top=4), sums=frozenset({"inverse"}))
    expected = lagbc.harmonic(A, top=4)
    np.testing.assert_array_equal(found.vertices, expected.vertices)
    np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-14)


def test_the_linear_estimator(monkeypatch):
    """As in one process, where a pilot takes it."""
    pilot, taken = Aim.pilot, list[bool]()

    def prefer_linear(aim, sequence):
        priced = pilot(aim, sequence)
        aim.foreseen = 0.0 if aim.terms.is_linear else 1e9
        taken.append(aim.terms.is_linear)
        return priced

    monkeypatch.setattr(Aim, "pilot", prefer_linear)
    monkeypatch.setattr(Aim, "may_be_linear", lambda aim, sequence: True)
    require_estimate_of_one_process("sparse", (2, 2))
    assert taken == [False, True] * 2


@pytest.mark.parametrize("kind", ["bc", "closeness"])
def test_the_same_bits(kind):
    """Whoever passes the entries, with more grids, and batches in flight."""
    expected = estimated(kind, (2, 2))
    for given in ({"spread": False}, {"overlap": True}, {"ranks": 8, "overlap": True}):
        found = estimated(kind, (2, 2), **given)
        for name in ("scores", "lower", "upper"):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
        assert found.roots == expected.roots


def test_all_ranks_have_the_estimate():
    A = ESTIMATES["bc"].A
    call = lambda graph: lagbc.estimate(graph, rng=1, max_roots=300)  # noqa: E731
    first, *others = each_on_grid((2, 2), parts_of(A, 4), call, directed=False)
    for other in others:
        np.testing.assert_array_equal(other.upper, first.upper)
        assert str(other) == str(first)


def test_all_roots_where_that_takes_no_longer():
    A = scale_free(300, 2000, seed=2)
    found = on_grid((2, 2), A, lambda graph: lagbc.estimate(graph, rng=1, relative_error=1e-6), directed=False)
    assert found.exact
    expected = lagbc.bc(A, directed=False, reduce="none", normalized=True)
    np.testing.assert_allclose(found.scores, expected, rtol=1e-12, atol=1e-12)


def test_a_checkpoint_goes_on(tmp_path):
    """From the round at hand, to the same bits."""
    file, calls = tmp_path / "rounds", []
    expected = estimated("bc", (1, 2), {"max_roots": 900})

    def interrupted(progress):
        calls.append(progress.done)
        if progress.done >= 448:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        estimated("bc", (1, 2), {"max_roots": 900, "checkpoint": file, "progress": interrupted})
    np.testing.assert_array_equal(estimated("bc", (1, 2), {"max_roots": 900, "checkpoint": file}).upper, expected.upper)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda graph: lagbc.estimate(graph, "edge_bc"), "sums of edges: not available for a graph that is dealt"),
        (lambda graph: lagbc.estimate(graph, endpoints=True), "leave out endpoints, or grid="),
        (lambda graph: lagbc.estimate(graph, "stress"), "stress is not estimated"),
        (lambda graph: lagbc.estimate(graph, reduce="all"), "reduce='all': not available for a graph that is dealt"),
        (lambda graph: lagbc.estimate(graph, "closeness"), "closeness is estimated of connected graphs"),
    ],
)
def test_what_is_not_estimated(call, words):
    with pytest.raises(ValueError, match=words):
        on_grid((1, 2), disjoint(grid(12, 12), path(30)), call, directed=False)


@pytest.mark.parametrize("edges", [[(v, v + 1) for v in range(199)], [(v + 1, v) for v in range(199)]])
def test_closeness_of_graphs_that_are_not_strongly_connected(edges):
    A = matrix(200, edges)
    for call in (lambda graph: lagbc.estimate(graph, "closeness"), lambda graph: lagbc.estimate(A, "closeness")):
        with pytest.raises(ValueError, match="strongly if directed, and no path leads"):
            on_grid((1, 2), A, call)


@pytest.mark.parametrize("A", [matrix(5, [(0, 1)]), matrix(5, [(3, 4)]), matrix(2, []), matrix(2, [(0, 1)]), path(2)])
def test_closeness_of_few_roots(A, directed):
    """It is exact of a connected graph and of one without edges, and refused of any other one, as in one process."""

    def estimate(graph, **given):
        try:
            return lagbc.estimate(graph, "closeness", **given).scores.tolist()
        except ValueError as error:
            return str(error)

    found = on_grid((1, 2), A, estimate, directed=directed)
    assert found == estimate(A, directed=directed)
    is_exact = A.shape[0] == 2 and not (directed and A.nnz == 1)
    assert found == [bool(A.nnz)] * 2 if is_exact else "closeness is estimated of connected graphs" in found


def test_levels_out_of_room(monkeypatch):
    """Of a rank are an error of all."""
    monkeypatch.setattr(sweep.Level, "bytes", property(lambda level: 10**12))
    found = each_on_grid((2, 2), parts_of(grid(9, 9), 4), lambda graph: lagbc.bc(graph, memory=10**8))
    assert all(isinstance(error, MemoryError) for error in found)
    assert "levels of a search" in str(found[0].__cause__)


@pytest.mark.parametrize("ranks", [4, 8])
def test_a_run_goes_on_with_fewer_batches_in_flight(monkeypatch, ranks):
    """After one whose levels have no room, on all ranks of all grids."""
    A, failing, own = scale_free(700, 4200, seed=2), iter([10**12]), sweep.Level.bytes.fget
    monkeypatch.setattr(sweep.Level, "bytes", property(lambda level: next(failing, None) or own(level)))
    opened, open_all = [], Grids._open

    def noted(grids, asked, in_flight):
        opened.append(in_flight)
        return open_all(grids, asked, in_flight)

    monkeypatch.setattr(Grids, "_open", noted)
    call = lambda graph: lagbc.bc(graph, memory=10**9)  # noqa: E731
    with pytest.warns(lagbc.MemoryWarning, match="threads=1"):
        found = on_grid((2, 2), A, call, ranks=ranks, overlap=True, directed=False)
    np.testing.assert_allclose(found, lagbc.bc(A, directed=False), rtol=1e-12, atol=1e-9)
    assert opened == [2] * ranks + [1] * ranks


WHOLE = {
    "mesh": grid(30, 40),
    "scale-free": scale_free(700, 4200, seed=2),
    "apart": disjoint(star(70), grid(9, 11), path(300), path(5)),
    "one way": matrix(60, [(v, v + 1) for v in range(59)]),
    "either way": matrix(90, [(v, v + 1) if v % 3 else (v + 1, v) for v in range(80)] + [(5, 4), (9, 40), (40, 9)]),
}


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (1, 3)])
@pytest.mark.parametrize("A", WHOLE.values(), ids=WHOLE)
def test_the_depth_of_a_dealt_graph(A, directed, shape):
    """By which an estimate leaves the linear estimator out, and tells how long all roots take."""
    call = lambda graph: (graph.depth, graph.has_high_diameter)  # noqa: E731
    found = on_grid(shape, A, call, directed=directed, sums=SQUARES)
    whole = as_graph(A, directed=directed)
    assert found == (whole.depth, whole.has_high_diameter)


@hypothesis.given(graphs(max_n=9), st.booleans())
def test_the_depth_of_any_graph(A, directed):
    found = on_grid((1, 2), A, lambda graph: graph.depth, directed=directed, sums=SQUARES)
    assert found == as_graph(A, directed=directed).depth


def test_a_search_for_the_depth_ends_within_a_level(monkeypatch):
    """Of a path, whose levels are many."""
    levels, settle = [], block._HostRows.settle

    def noted(rows, level):
        levels.append(level)
        settle(rows, level)
        time.sleep(0.001)

    monkeypatch.setattr(block._HostRows, "settle", noted)

    def call(graph):
        with stopping_by(lambda: len(levels) > 20):
            return graph.depth

    with pytest.raises(lagbc.StoppedError):
        on_grid((1, 2), path(9000), call, directed=False, sums=SQUARES)
    assert len(levels) < 3000
