"""Hops with rows that wait: the sets that are counted, and the sums, which are those of a sweep by levels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from states import prepare, scheduled
from strategies import adjacency, diamonds, graphs, grid, matrix, path, scale_free

from lagbc import tuning
from lagbc.graph import csr as graph_csr
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu import batched
from lagbc.methods.cpu.batched import LEVEL_ORDER, READY_ORDER
from lagbc.methods.sums import Sums
from lagbc.reference import count_hops

GRAPHS = {
    "scale-free": (scale_free(200, 1500, seed=3), np.arange(0, 128, 2)),
    "mesh": (grid(9, 12), np.arange(20, 84)),
    "long path": (path(300), np.arange(100, 164)),
    "far apart": (path(300), np.array([0, 299])),
    "diamonds": (diamonds(20, 3), np.arange(5)),
    "cycle": (matrix(100, [(v, (v + 1) % 100) for v in range(100)]), np.arange(84, 20, -1)),
    "one edge": (matrix(3, [(0, 1)]), np.arange(1)),
}
EVERY = frozenset({"dependency", "stress", "edges", "reached", "distance", "inverse", "depth"})
WITH_MEMBERS = frozenset({"dependency", "edges"})


def state_of(A, **options):
    return prepare(scheduled(READY_ORDER), as_graph(A), SweepPlan(batch=64, **options))


def columns_of(mask):
    return [k for k in range(64) if int(mask) >> k & 1]


@pytest.mark.parametrize("name", GRAPHS)
def test_entries_and_path_counts(name):
    """Every reached vertex has one entry a column, after those of its tight predecessors, and its sigma, exactly."""
    A, roots = GRAPHS[name]
    state = state_of(A)
    (found,) = batched.forward(state, roots)
    assert not found.overflowed.any()
    (queue, masks), values = state.sweep.queue, state.sweep.array("values")
    place, sigma = np.full((A.shape[0], len(roots)), -1), np.zeros((A.shape[0], len(roots)))
    for i in range(found.entries):
        row, mask = queue[i], masks[i]
        assert mask
        for k in columns_of(mask):
            v = state.graph.order[row]
            assert place[v, k] == -1
            place[v, k], sigma[v, k] = i, values[row, k]
    deepest = 0
    for k, root in enumerate(roots):
        order, predecessors, expected, depth = count_hops(*adjacency(A), root)
        np.testing.assert_array_equal(sigma[:, k], expected)
        assert np.count_nonzero(place[:, k] >= 0) == len(order)
        assert all(place[u, k] < place[v, k] for v in range(A.shape[0]) for u in predecessors[v])
        deepest = max(deepest, *depth)
    assert found.depth == deepest


@pytest.mark.parametrize("name", GRAPHS)
def test_levels_are_kept_where_distances_are_summed(name):
    A, roots = GRAPHS[name]
    state = state_of(A, sums=EVERY)
    sums = Sums.zeros_of_batch(np, EVERY, state.graph.n, state.graph.nnz, 1, len(roots))
    (found,) = batched.forward(state, roots)
    batched.backward(state, found, sums)
    depth = np.array([count_hops(*adjacency(A), root)[3] for root in roots])
    np.testing.assert_array_equal(sums.reached[0], (depth > 0).sum(axis=0))
    np.testing.assert_array_equal(sums.distance[0], np.maximum(depth, 0).sum(axis=0))
    np.testing.assert_array_equal(sums.depth, depth.max(axis=1))


def test_rows_are_read_few_times_on_a_mesh():
    """The roots of a batch are neighbours, and rows wait until most of their columns can be counted."""
    entries = {}
    for schedule in (LEVEL_ORDER, READY_ORDER):
        state = prepare(scheduled(schedule), as_graph(grid(40, 40)), SweepPlan(batch=64))
        batches = (state.graph.order[i : i + 64] for i in range(0, 1600, 64))
        entries[schedule] = sum(next(batched.forward(state, roots)).entries for roots in batches)
    assert entries[READY_ORDER] < 4 * 25 * 1600 < entries[LEVEL_ORDER] / 3


@pytest.mark.parametrize(
    ("A", "asked", "schedule"),
    [
        (grid(9, 12), {"dependency"}, READY_ORDER),
        (grid(9, 12), {"dependency", "distance"}, READY_ORDER),
        (grid(9, 12), {"distance"}, LEVEL_ORDER),
        (scale_free(200, 1500, seed=3), {"dependency"}, LEVEL_ORDER),
    ],
    ids=["mesh", "mesh, several", "no paths", "scale-free"],
)
def test_which_schedule_is_taken(A, asked, schedule):
    assert batched.schedule_of(as_graph(A), SweepPlan(batch=64, sums=frozenset(asked))) is schedule


@given(graphs(min_n=1), st.data())
def test_sums_are_those_by_levels(A, data):
    graph = as_graph(A)
    roots = np.array(data.draw(st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=64, unique=True)))
    roots[data.draw(st.lists(st.integers(0, len(roots) - 1)))] = -1
    rng, has_members = np.random.default_rng(data.draw(st.integers(0, 9))), data.draw(st.booleans())
    plan = SweepPlan(
        batch=64,
        sums=WITH_MEMBERS if has_members else EVERY,
        omega=rng.integers(0, 5, graph.n) / 2,
        root_weights=rng.integers(1, 5, graph.n) / 2,
        class_sizes=rng.integers(1, 4, graph.n) * 1.0 if has_members else None,
        endpoints=data.draw(st.booleans()) and not has_members,
    )
    found = []
    for schedule in (LEVEL_ORDER, READY_ORDER):
        state = prepare(scheduled(schedule), graph, plan)
        found.append(Sums.zeros_of_batch(np, plan.sums, graph.n, graph.nnz, 1, len(roots)))
        (one,) = batched.forward(state, roots)
        batched.backward(state, one, found[-1])
    for name in plan.sums:
        np.testing.assert_allclose(*(getattr(sums, name) for sums in found), rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("most", [2**31 - 1, 0], ids=["int32", "int64"])
@pytest.mark.parametrize("name", GRAPHS)
def test_distances_and_path_counts_of_roots(name, most, monkeypatch):
    monkeypatch.setattr(graph_csr, "_MOST_IN_32_BITS", most)
    monkeypatch.setattr(tuning, "SURVEYED", 0)  # small graphs are surveyed with narrow columns
    A, roots = GRAPHS[name]
    graph = as_graph(A)
    states = [prepare(scheduled(schedule), graph, SweepPlan(batch=64)) for schedule in (READY_ORDER, LEVEL_ORDER)]
    found = [batched.paths(state, next(batched.forward(state, roots))) for state in states]
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)
