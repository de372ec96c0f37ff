"""Method "batched" with lengths on the CPU: its steps and kernels alone."""

import numpy as np
import pytest
import scipy.sparse as sp
from families import cycle, diamonds, disjoint, grid, matrix, path, scale_free, with_lengths
from states import prepare
from strategies import TENTHS, adjacency, lengths
from test_contract import star_with_a_tail

import lagbc
from lagbc import tuning
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu import batched
from lagbc.methods.sums import Sums
from lagbc.reference import count_lengths

ONE_TO_TEN = np.arange(1, 11)
INFINITE = np.uint16(2**16 - 1)
GRAPHS = {
    "scale-free": (with_lengths(scale_free(200, 1500, seed=3), ONE_TO_TEN), np.arange(0, 128, 2)),
    "mesh": (with_lengths(grid(9, 12), TENTHS), np.arange(20, 84)),
    "long path": (with_lengths(path(300), ONE_TO_TEN), np.arange(100, 164)),
    "far apart": (with_lengths(path(300), ONE_TO_TEN), np.array([0, 299])),
    "diamonds": (with_lengths(diamonds(20, 3), [2]), np.arange(5)),
    "one edge": (matrix(3, [(0, 1)]), np.arange(1)),
}


def state_of(A, **options):
    return prepare(batched, as_graph(A, weighted=True), SweepPlan(batch=64, **options))


@pytest.mark.parametrize("rtol", [0.0, 0.2])
@pytest.mark.parametrize("name", GRAPHS)
def test_entries_and_path_counts(name, rtol):
    """Every reached vertex has one entry a column, after those of its tight predecessors, and its sigma, exactly."""
    A, roots = GRAPHS[name]
    state = state_of(A, rtol=rtol)
    (levels,) = batched.forward(state, roots)
    assert not levels.overflowed.any()
    place = np.full((A.shape[0], len(roots)), -1)
    sigma = np.zeros((A.shape[0], len(roots)))
    (queue, masks), values = state.sweep.queue, state.sweep.array("values")
    for i in range(levels.entries):
        row, mask = queue[i], int(masks[i])
        assert mask
        for k in (k for k in range(len(roots)) if mask >> k & 1):
            v = state.graph.order[row]
            assert place[v, k] == -1
            place[v, k], sigma[v, k] = i, values[row, k]
    for k, root in enumerate(roots):
        _, predecessors, expected, _ = count_lengths(*adjacency(A), lengths(A), root, rtol)
        np.testing.assert_array_equal(sigma[:, k], expected)
        assert all(place[u, k] < place[v, k] for v in range(A.shape[0]) for u in predecessors[v])


@pytest.mark.parametrize("infinite", [np.inf, INFINITE], ids=["float64", "uint16"])
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("delta", [1e-9, 0.5, 1e9])
def test_distances(name, delta, infinite):
    A, roots = GRAPHS[name]
    state = state_of(A, bucket_width=delta)
    if infinite == np.inf:
        values = np.empty((A.shape[0], 64))
        state.sweep.write_distances(roots, values)
    elif (state.graph.weights % 1).any():
        pytest.skip("the lengths are no whole numbers")
    else:
        state.sweep.forward(roots)
        values = state.dist
        assert values.dtype == np.uint16
    assert not state.sweep.array("waiting").any()
    assert (values[:, len(roots) :] == infinite).all()
    for k, root in enumerate(roots):
        *_, dist = count_lengths(*adjacency(A), lengths(A), root)
        expected = np.array(dist)[state.graph.order]
        np.testing.assert_array_equal(values[:, k], np.where(np.isinf(expected), infinite, expected))


def test_distances_that_are_not_as_short_as_expected():
    A = star_with_a_tail()
    state = state_of(A)
    assert state.dist.dtype == np.uint16
    (levels,) = batched.forward(state, np.array([30, 40]))
    assert np.shares_memory(state.dist, state.sweep.array("values"))
    assert state.dist.dtype == np.float64
    dist, sigma = batched.paths(state, levels)
    expected = [count_lengths(*adjacency(A), lengths(A), root)[-1] for root in (30, 40)]
    np.testing.assert_array_equal(dist, np.array(expected).T[state.graph.order])
    assert dist.max() == 90001
    assert (sigma == 1).all()


def test_which_distances_are_short():
    A = with_lengths(grid(6, 7), ONE_TO_TEN)
    assert state_of(A).dist.dtype == np.uint16
    assert state_of(A / 2).dist.dtype == np.float64
    assert state_of(A * 2**10).dist.dtype == np.float64
    assert state_of(A, rtol=0.1).dist.dtype == np.float64
    assert state_of(A, sums=frozenset({"dependency", "distance"})).dist.dtype == np.float64


@pytest.mark.parametrize("name", GRAPHS)
def test_short_distances_change_no_bit(name):
    A = GRAPHS[name][0]
    if (A.data % 1).any():
        pytest.skip("the lengths are no whole numbers")
    assert state_of(A).dist.dtype == np.uint16
    assert state_of(A / 16).dist.dtype == np.float64
    ours, theirs = (lagbc.bc(B, weighted=True, method="batched", reduce="none") for B in (A, A / 16))
    np.testing.assert_array_equal(ours, theirs)


def test_rows_are_read_few_times_on_a_mesh():
    """The roots of a batch are neighbours, and rows wait until most of their columns can be counted."""
    A = with_lengths(grid(40, 40), ONE_TO_TEN)
    state = state_of(A)
    entries = sum(next(batched.forward(state, state.graph.order[i : i + 64])).entries for i in range(0, 1600, 64))
    assert entries < 4 * 25 * 1600


def test_queue_has_room_for_an_entry_a_column(monkeypatch):
    """On a directed cycle, rows that never wait for more of their columns are counted one column a time."""
    monkeypatch.setattr(tuning, "BATCHED_COUNT_WIDTH", np.inf)
    state = state_of(matrix(100, [(v, (v + 1) % 100) for v in range(100)]))
    (levels,) = batched.forward(state, np.arange(84, 20, -1))
    assert levels.entries == 6400 <= len(state.sweep.queue[0])


@pytest.mark.parametrize("scale", [1, 0.5], ids=["uint16", "float64"])
def test_rows_that_no_root_reaches_are_left_alone(scale):
    """What lies there before shows it: a search of few vertices costs no row of others."""
    state = state_of(disjoint(*[with_lengths(cycle(50), ONE_TO_TEN) * scale] * 3))
    others = state.graph.position[100:]
    for begin in (0, 50):
        (levels,) = batched.forward(state, np.arange(begin, begin + 50))
        batched.backward(state, levels, Sums(dependency=np.zeros((1, 150))))
        if begin == 0:
            state.dist[others] = 7
    assert (state.dist[others] == 7).all()


def test_marks_of_columns():
    """Columns whose counts overflow or whose lengths are absorbed, and no others."""
    absorbed = sp.coo_array(([1e18, 1.0], ([0, 1], [1, 2])), shape=(3, 3))
    A = disjoint(absorbed, diamonds(700, 3))
    state = state_of(A)
    roots = np.array([0, 1, 3, 3 + 4 * 400])
    assert next(batched.forward(state, roots)).overflowed.tolist() == [True, False, True, False]


def test_words_of_columns():
    flags = np.array([True, False, True] + [False] * 60 + [True])
    columns = 1 + 4 + 2**63
    for roots in (64, 3):
        levels = batched.Levels(np.arange(roots), 3, 0, columns)
        np.testing.assert_array_equal(levels.overflowed, flags[:roots])
    assert not batched.Levels(np.arange(64), 3, 0, 0).overflowed.any()
