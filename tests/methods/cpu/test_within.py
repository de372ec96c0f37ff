"""Blocks of neighbouring roots on the CPU: the same sums as root by root, when they are taken, and what they hold."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from states import prepare
from strategies import diamonds, grid, path, scale_free, with_lengths

from lagbc import tuning
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import Interrupted, SweepPlan
from lagbc.methods.cpu import traversal as module
from lagbc.methods.sums import OF_BOUNDS, OF_ROOTS, Bounds

EVERY = frozenset({"dependency", "stress", "edges", "reached", "distance", "inverse", "depth"}) | OF_BOUNDS
ALONE, TOGETHER = 0.0, 1e9
# Lengths, the larger of two cutoffs, and the type of distances that is to be.
KINDS = {
    "ties": ([1.0, 2.0], 11.0, np.uint16),
    "whole": (np.arange(20.0, 201.0), 900.5, np.uint16),
    "large": (np.arange(20_000.0, 200_001.0, 1000.0), 900_000.0, np.float64),
    "tenths": ([0.1, 0.2, 0.3], 1.9, np.float64),
    "huge": ([2.0**40, 2.0**41], 2.0**43, np.float64),
}


def mesh(values, *, directed):
    """A mesh with lengths; if it is directed, a third of its edges lead one way only."""
    A = sp.coo_array(with_lengths(grid(23, 24), values))
    kept = np.random.default_rng(2).random(A.nnz) < (0.8 if directed else 1)
    A = sp.coo_array((A.data[kept], (A.row[kept], A.col[kept])), shape=A.shape)
    return as_graph(A, weighted=True, directed=directed)


def plan_of(*cutoffs, decays=(0.0,), **options):
    bounds = Bounds(np.array(cutoffs, float), np.array(decays))
    return SweepPlan(batch=64, bounds=bounds, method="dijkstra", **options)


def mapped(graph, plan):
    """The same plan, with a place for each vertex."""
    return replace(plan, xy=np.random.default_rng(1).random((2, graph.n)))


def summed(graph, plan, roots, together, monkeypatch):
    """What blocks of roots sum to, with their overflows, and whether no root was searched alone."""
    monkeypatch.setattr(tuning, "WITHIN_TOGETHER", together)
    state, found = prepare(module, graph, mapped(graph, plan)), []
    dist = state.sweep.array("dist")
    dist.fill(-1)
    for near, overflowed in module.sum_within(state, roots):
        for name, array in near.sums:
            names = near.edges if name == "edges" else near.roots if name in OF_ROOTS else near.vertices
            dense = np.zeros((max(graph.n, graph.nnz), array.shape[1]))
            dense[names] = array
            found.append(dense)
        found.append(overflowed)
    return found, bool((dist == -1).all())


def assert_same(graph, plan, roots, monkeypatch):
    alone, _ = summed(graph, plan, roots, ALONE, monkeypatch)
    found, is_together = summed(graph, plan, roots, TOGETHER, monkeypatch)
    for ours, theirs in zip(found, alone, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-300)
    return is_together


@pytest.mark.parametrize("kind", KINDS)
def test_all_sums_are_those_of_root_by_root(kind, directed, monkeypatch):
    values, cutoff, number = KINDS[kind]
    graph = mesh(values, directed=directed)
    omega, times = np.arange(graph.n) % 3 + 0.5, np.arange(graph.n) % 2 + 0.25
    plan = plan_of(cutoff / 3, cutoff, decays=(0.0, 2 / cutoff), sums=EVERY)
    roots = [graph.order[100:330], np.where(graph.order[:100] % 7 == 0, -1, graph.order[:100])]
    assert prepare(module, graph, mapped(graph, plan)).ball.array("dist").dtype == number
    assert assert_same(graph, plan, roots, monkeypatch)
    assert assert_same(graph, replace(plan, omega=omega, root_weights=times), roots, monkeypatch)
    assert assert_same(graph, replace(plan, endpoints=True, omega=omega, root_weights=times), roots, monkeypatch)


def test_targets_that_count_next_to_nothing_are_not_lost(monkeypatch):
    """What lies beyond a vertex is less than rounding leaves of it beside the vertex, and yet what it is scored by."""
    graph = mesh([1.0, 2.0], directed=True)
    plan = plan_of(6, decays=(40.0,), sums=frozenset({"dependency", "edges"}))
    assert assert_same(graph, plan, [graph.order[:256]], monkeypatch)


@pytest.mark.parametrize(
    "sums", [{"dependency"}, {"edges"}, {"reached", "depth"}, {"gravity"}, {"stress"}, {"straight"}], ids=sorted
)
def test_some_sums_alone(sums, monkeypatch):
    graph = mesh([1.0, 2.0, 2.5], directed=True)
    assert assert_same(graph, plan_of(9, sums=frozenset(sums)), [graph.order[:200]], monkeypatch)


def test_roots_far_apart_are_searched_alone(monkeypatch):
    """By the rule itself: neighbours go together, and roots whose balls hardly meet do not."""
    graph = as_graph(with_lengths(path(3000), [1.0, 2.0]), weighted=True)
    plan = plan_of(60)
    for roots, expected in ((graph.order[:128], True), (graph.order[::47].copy(), False), (graph.order[:4], False)):
        _, is_together = summed(graph, plan, [roots], tuning.WITHIN_TOGETHER, monkeypatch)
        assert is_together == expected


@pytest.mark.parametrize(("limit", "most"), [("MOST_ROWS", 150), ("MOST_EDGES", 400)])
def test_a_ball_that_has_no_room(limit, most, directed, monkeypatch):
    """Some blocks have room and some have not; those are summed root by root."""
    monkeypatch.setattr(module, limit, most)
    A = with_lengths(scale_free(400, 1500, seed=3), [1.0, 3.0, 4.0])
    for graph, cutoff in ((mesh([1.0, 2.0], directed=directed), 5), (as_graph(A, weighted=True, directed=directed), 3)):
        assert not assert_same(graph, plan_of(cutoff, sums=EVERY), [graph.order[:300]], monkeypatch)


def test_counts_beyond_the_limit(monkeypatch):
    """3**50 paths are more than a limit of 2**60: these roots are in no sum, and the others of their block in all."""
    graph = as_graph(with_lengths(diamonds(50, 3), [2.0]), weighted=True)
    monkeypatch.setattr(SweepPlan, "sigma_limit", 2.0**60)
    plan = plan_of(400, sums=EVERY)
    assert assert_same(graph, plan, [graph.order[:190]], monkeypatch)
    *_, overflowed = summed(graph, plan, [graph.order[:190]], TOGETHER, monkeypatch)[0]
    assert 0 < overflowed.sum() < len(overflowed)


@pytest.mark.parametrize(
    ("values", "cutoff", "options", "expected"),
    [
        ([1.0, 2.0], 7.0, {}, True),
        ([1.0, 2.0], np.inf, {}, False),
        ([1.0, 2.0], 7.0, {"rtol": 0.1}, False),
        ([1.0, 2.0], 7.0, {"class_sizes": np.full(552, 2.0)}, False),
        ([1e-17, 1.0], 7.0, {}, False),
    ],
)
def test_which_runs_take_blocks(values, cutoff, options, expected):
    assert (module.form_of_ball(mesh(values, directed=False), plan_of(cutoff, **options)) is not None) == expected


def test_runs_without_bounds_or_edges_take_none():
    assert module.form_of_ball(mesh([1.0], directed=False), SweepPlan(batch=16)) is None
    assert module.form_of_ball(as_graph(sp.coo_array((3, 3)), weighted=True), plan_of(1)) is None


def test_a_stopped_run_is_interrupted(monkeypatch):
    monkeypatch.setattr(tuning, "WITHIN_TOGETHER", TOGETHER)
    graph, plan = mesh([1.0, 2.0], directed=False), plan_of(9)
    state = prepare(module, graph, plan)
    plan.stop.set()
    with pytest.raises(Interrupted):
        next(module.sum_within(state, [graph.order[:100]]))
