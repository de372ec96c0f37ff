"""Method "batched" gives the same bits whatever the threads, the batch and the memory; and its kernels alone."""

import numpy as np
import pytest
import scipy.sparse as sp
from families import cycle, diamonds, disjoint, grid, matrix, path, scale_free, with_lengths
from hypothesis import given
from hypothesis import strategies as st
from states import by_levels, prepare, when_ready
from strategies import ALL_SUMS, TENTHS, adjacency, arrays, graphs, lengths
from test_contract import star_with_a_tail

import lagbc
from lagbc import reference, tuning
from lagbc.graph import csr as graph_csr
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu import batched
from lagbc.methods.sums import Sums
from lagbc.reference import count_lengths

ONE_TO_TEN = np.arange(1, 11)
GRAPHS = {
    "mesh": grid(17, 23),
    "scale-free": scale_free(500, 5000, seed=1),
    "sparse scale-free": scale_free(700, 1500, seed=2),
    "long path": path(400),
    "cycle": cycle(300),
}
# Graphs with lengths, and roots of a batch.
SEARCHED = {
    "scale-free": (with_lengths(scale_free(200, 1500, seed=3), ONE_TO_TEN), np.arange(0, 128, 2)),
    "mesh": (with_lengths(grid(9, 12), TENTHS), np.arange(20, 84)),
    "long path": (with_lengths(path(300), ONE_TO_TEN), np.arange(100, 164)),
    "far apart": (with_lengths(path(300), ONE_TO_TEN), np.array([0, 299])),
    "diamonds": (with_lengths(diamonds(20, 3), [2]), np.arange(5)),
    "one edge": (matrix(3, [(0, 1)]), np.arange(1)),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_same_bits(name, weighted):
    """The tables of `hashed` have more calls, of fewer shapes."""
    given = {"method": "batched", "device": "cpu", "weighted": weighted, "endpoints": name == "cycle"}
    A = with_lengths(GRAPHS[name], TENTHS)
    expected = lagbc.bc(A, threads=1, batch=64, **given)
    for threads, batch in ((1, 1), (2, "auto"), (3, 100), (4, 256)):
        for width in ("auto", 1e-3, 1e3) if weighted else ("auto",):
            scores = lagbc.bc(A, threads=threads, batch=batch, bucket_width=width, **given)
            np.testing.assert_array_equal(scores, expected)
    roots = np.random.default_rng(1).permutation(A.shape[0])
    np.testing.assert_array_equal(lagbc.bc(A, sources=roots, **given), expected)


@pytest.mark.parametrize("name", GRAPHS)
def test_push_and_pull_give_the_same_bits(name, monkeypatch):
    expected = lagbc.bc(GRAPHS[name], method="batched", device="cpu")
    for share in (-1.0, 2.0):
        monkeypatch.setattr(tuning, "BATCHED_PULL_SHARE", share)
        np.testing.assert_array_equal(lagbc.bc(GRAPHS[name], method="batched", device="cpu"), expected)


def state_of(A, way=by_levels, weighted=False, **options):
    return prepare(way, as_graph(A, weighted=weighted), SweepPlan(batch=64, **options))


@pytest.mark.parametrize(
    ("way", "rtol"),
    [(by_levels, 0.0), (when_ready, 0.0), (batched, 0.0), (batched, 0.2)],
    ids=["levels", "ready", "lengths", "rtol"],
)
@pytest.mark.parametrize("name", SEARCHED)
def test_entries_and_path_counts(name, way, rtol):
    """Every reached vertex has one entry a column, after those of its tight predecessors, and its sigma, exactly.

    In hops a level has the entries at its distance.
    """
    (A, roots), weighted = SEARCHED[name], way is batched
    state = state_of(A, way, weighted, rtol=rtol)
    (levels,) = way.forward(state, roots)
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
    searches = [reference._search(*arrays(A, weighted=weighted), root, rtol) for root in roots.tolist()]
    for k, (_, predecessors, expected, _) in enumerate(searches):
        np.testing.assert_array_equal(sigma[:, k], expected)
        np.testing.assert_array_equal(place[:, k] >= 0, np.array(expected) > 0)
        assert all(place[u, k] < place[v, k] for v in range(A.shape[0]) for u in predecessors[v])
    if not weighted:
        depth = np.array([dist for *_, dist in searches]).T
        assert levels.depth == depth.max()
    if way is by_levels:
        ends = state.sweep.array("starts")[1 : levels.depth + 2]
        np.testing.assert_array_equal(np.where(place < 0, -1, np.searchsorted(ends, place, side="right")), depth)


def test_queue_has_room_for_an_entry_a_column(weighted, monkeypatch):
    """On a directed cycle no two roots see a vertex at the same distance, so that the queue is filled to its end."""
    monkeypatch.setattr(tuning, "BATCHED_COUNT_WIDTH", np.inf)  # rows never wait for more of their columns
    way, roots = (batched, np.arange(84, 20, -1)) if weighted else (by_levels, np.arange(20, 84))
    state = state_of(matrix(100, [(v, (v + 1) % 100) for v in range(100)]), way, weighted)
    (levels,) = way.forward(state, roots)
    assert levels.entries == 6400 <= len(state.sweep.queue[0])


def test_rows_are_read_few_times_on_a_mesh():
    """The roots of a batch are neighbours, and rows wait until most of their columns can be counted."""
    A = with_lengths(grid(40, 40), ONE_TO_TEN)

    def entries(way):
        state = state_of(A, way, weighted=way is batched)
        batches = (state.graph.order[i : i + 64] for i in range(0, 1600, 64))
        return sum(next(way.forward(state, roots)).entries for roots in batches)

    assert max(entries(when_ready), entries(batched)) < 4 * 25 * 1600 < entries(by_levels) / 3


@pytest.mark.parametrize(
    ("A", "asked", "schedule"),
    [
        (grid(9, 12), {"dependency"}, batched.READY_ORDER),
        (grid(9, 12), {"dependency", "distance"}, batched.READY_ORDER),
        (grid(9, 12), {"distance"}, batched.LEVEL_ORDER),
        (scale_free(200, 1500, seed=3), {"dependency"}, batched.LEVEL_ORDER),
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
        sums=frozenset({"dependency", "edges"} if has_members else ALL_SUMS),
        omega=rng.integers(0, 5, graph.n) / 2,
        root_weights=rng.integers(1, 5, graph.n) / 2,
        class_sizes=rng.integers(1, 4, graph.n) * 1.0 if has_members else None,
        endpoints=data.draw(st.booleans()) and not has_members,
    )
    found = []
    for way in (by_levels, when_ready):
        state = prepare(way, graph, plan)
        found.append(Sums.zeros_of_batch(np, plan.sums, graph.n, graph.nnz, 1, len(roots)))
        (one,) = way.forward(state, roots)
        way.backward(state, one, found[-1])
    for name in plan.sums:
        np.testing.assert_allclose(*(getattr(sums, name) for sums in found), rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", SEARCHED)
def test_distances_and_path_counts_of_roots(name, index, monkeypatch):
    """Those by levels and those of rows that wait."""
    monkeypatch.setattr(graph_csr, "_MOST_IN_32_BITS", 0 if index is np.int64 else 2**31 - 1)
    monkeypatch.setattr(tuning, "SURVEYED", 0)  # small graphs are surveyed with narrow columns
    A, roots = SEARCHED[name]
    states = [state_of(A, way) for way in (by_levels, when_ready)]
    found = [batched.paths(state, next(batched.forward(state, roots))) for state in states]
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


# With lengths


INFINITE = np.uint16(2**16 - 1)


def state_with_lengths(A, **options):
    return state_of(A, batched, weighted=True, **options)


@pytest.mark.parametrize("infinite", [np.inf, INFINITE], ids=["float64", "uint16"])
@pytest.mark.parametrize("name", SEARCHED)
@pytest.mark.parametrize("delta", [1e-9, 0.5, 1e9])
def test_distances(name, delta, infinite):
    A, roots = SEARCHED[name]
    state = state_with_lengths(A, bucket_width=delta)
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
    state = state_with_lengths(A)
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
    assert state_with_lengths(A).dist.dtype == np.uint16
    assert state_with_lengths(A / 2).dist.dtype == np.float64
    assert state_with_lengths(A * 2**10).dist.dtype == np.float64
    assert state_with_lengths(A, rtol=0.1).dist.dtype == np.float64
    assert state_with_lengths(A, sums=frozenset({"dependency", "distance"})).dist.dtype == np.float64


@pytest.mark.parametrize("name", SEARCHED)
def test_short_distances_change_no_bit(name):
    A = SEARCHED[name][0]
    if (A.data % 1).any():
        pytest.skip("the lengths are no whole numbers")
    assert state_with_lengths(A).dist.dtype == np.uint16
    assert state_with_lengths(A / 16).dist.dtype == np.float64
    ours, theirs = (lagbc.bc(B, weighted=True, method="batched", reduce="none") for B in (A, A / 16))
    np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("scale", [1, 0.5], ids=["uint16", "float64"])
def test_rows_that_no_root_reaches_are_left_alone(scale):
    """What lies there before shows it: a search of few vertices costs no row of others."""
    state = state_with_lengths(disjoint(*[with_lengths(cycle(50), ONE_TO_TEN) * scale] * 3))
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
    state = state_with_lengths(A)
    roots = np.array([0, 1, 3, 3 + 4 * 400])
    assert next(batched.forward(state, roots)).overflowed.tolist() == [True, False, True, False]


def test_words_of_columns():
    flags = np.array([True, False, True] + [False] * 60 + [True])
    columns = 1 + 4 + 2**63
    for roots in (64, 3):
        levels = batched.Levels(np.arange(roots), 3, 0, columns)
        np.testing.assert_array_equal(levels.overflowed, flags[:roots])
    assert not batched.Levels(np.arange(64), 3, 0, 0).overflowed.any()
