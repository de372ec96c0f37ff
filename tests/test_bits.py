"""Method "batched" gives the same bits whatever the threads, the batch and the memory; and its kernels alone."""

import numpy as np
import pytest
import scipy.sparse as sp
from numba import njit
from strategies import adjacency, cycle, diamonds, grid, matrix, oracle, path, scale_free

import lagbc
from lagbc.graph.validate import as_graph
from lagbc.methods import tuning
from lagbc.methods.contract import Interrupted, SweepPlan
from lagbc.methods.cpu.batched import levels as by_levels
from lagbc.methods.cpu.batched import products, rows, waiting
from lagbc.methods.sums import Sums
from lagbc.reference import count_hops

GRAPHS = {
    "mesh": grid(17, 23),
    "scale-free": scale_free(500, 5000, seed=1),
    "sparse scale-free": scale_free(700, 1500, seed=2),
    "long path": path(400),
    "cycle": cycle(300),
}


@pytest.mark.parametrize(
    "options", [{}, {"endpoints": True}, {"sources": np.arange(400)[::-3]}], ids=["all", "endpoints", "sources"]
)
@pytest.mark.parametrize("name", GRAPHS)
def test_same_bits(name, options):
    if "sources" in options:
        options = {"sources": options["sources"][options["sources"] < GRAPHS[name].shape[0]]}
    expected = lagbc.bc(GRAPHS[name], method="batched", device="cpu", threads=1, batch=64, **options)
    for threads in (1, 2, 3, 4):
        for batch in (1, 64, 100, 256, "auto"):
            scores = lagbc.bc(GRAPHS[name], batch, method="batched", device="cpu", threads=threads, **options)
            np.testing.assert_array_equal(scores, expected)


@pytest.mark.parametrize("name", GRAPHS)
def test_order_and_format_of_the_input_do_not_matter(name):
    A = GRAPHS[name].tocsr()
    expected = lagbc.bc(A, method="batched", device="cpu")
    np.testing.assert_array_equal(lagbc.bc(A.tocsc(), method="batched", device="cpu"), expected)
    rng = np.random.default_rng(1)
    shuffled = A.tocoo()
    order = rng.permutation(shuffled.nnz)
    shuffled = sp.coo_array((shuffled.data[order], tuple(c[order] for c in shuffled.coords)), shape=A.shape)
    np.testing.assert_array_equal(lagbc.bc(shuffled, method="batched", device="cpu"), expected)
    roots = rng.permutation(A.shape[0])
    np.testing.assert_array_equal(lagbc.bc(A, sources=roots, method="batched", device="cpu"), expected)


@pytest.mark.parametrize("name", GRAPHS)
def test_push_and_pull_give_the_same_bits(name, monkeypatch):
    expected = lagbc.bc(GRAPHS[name], method="batched", device="cpu")
    for share in (-1.0, 2.0):
        monkeypatch.setattr(tuning, "BATCHED_PULL_SHARE", share)
        np.testing.assert_array_equal(lagbc.bc(GRAPHS[name], method="batched", device="cpu"), expected)


both_ways = pytest.mark.parametrize("way", [by_levels, waiting], ids=["levels", "waiting"])


def state_of(A, way=by_levels, **options):
    graph = as_graph(A)
    return way.prepare(graph, SweepPlan(batch=64, **options))


@pytest.mark.parametrize(
    ("A", "roots"),
    [
        (scale_free(200, 1500, seed=3), np.arange(0, 128, 2)),
        (grid(9, 12), np.arange(20, 84)),
        (path(300), np.arange(100, 164)),
        (diamonds(20, 3), np.arange(5)),
        (matrix(3, [(0, 1)]), np.arange(1)),
    ],
    ids=["scale-free", "mesh", "long path", "diamonds", "one edge"],
)
def test_levels_and_path_counts(A, roots):
    """Every live (vertex, column) of the queue is at the depth of the oracle and holds its sigma, exactly."""
    state = state_of(A)
    (levels,) = by_levels.forward(state, roots)
    searches = [count_hops(*adjacency(A), s) for s in roots]
    assert levels.depth == max(max(depth) for *_, depth in searches)
    assert not levels.overflowed.any()
    vertex = np.argsort(state.graph.position)
    seen = np.zeros((len(roots), A.shape[0]), dtype=int)
    for level in range(levels.depth + 1):
        for i in range(state.starts[level], state.starts[level + 1]):
            v = state.queue[i]
            assert state.masks[i] != 0
            for k in range(len(roots)):
                if int(state.masks[i]) >> k & 1:
                    _, _, sigma, depth = searches[k]
                    assert depth[vertex[v]] == level
                    assert state.values[v, k] == sigma[vertex[v]]
                    seen[k, v] += 1
    for k, (order, *_) in enumerate(searches):
        assert seen[k].sum() == len(order)
        assert seen[k].max() == 1


def test_queue_has_room_for_an_entry_a_column():
    """On a directed cycle no two roots see a vertex at the same distance, so that the queue is filled to its end."""
    state = state_of(matrix(100, [(v, (v + 1) % 100) for v in range(100)]))
    (levels,) = by_levels.forward(state, np.arange(20, 84))
    assert levels.entries == 6400 <= len(state.queue) == len(state.masks)


@both_ways
def test_state_is_as_new_after_every_batch(way):
    """Batches of different size, depth and overflow through one state equal those of fresh states."""
    A = sp.block_diag([diamonds(700, 3), grid(6, 7), path(40)], format="coo")
    n = A.shape[0]
    batches = [np.arange(64), np.arange(n - 64, n), np.arange(2), np.arange(n - 3, n), np.arange(100, 150)]
    used = state_of(A, way)
    for roots in batches:
        ours, theirs = np.zeros((1, n)), np.zeros((1, n))
        for state, out in ((used, ours), (state_of(A, way), theirs)):
            (levels,) = way.forward(state, roots)
            way.backward(state, levels, Sums(dependency=out))
        np.testing.assert_array_equal(ours, theirs)


@both_ways
def test_backward_adds(way):
    state = state_of(grid(4, 4), way)
    out = np.full((1, 16), 10.0)
    way.backward(state, next(way.forward(state, np.arange(16))), Sums(dependency=out))
    np.testing.assert_allclose(out[0], 10 + oracle(grid(4, 4)), rtol=1e-12)


@both_ways
def test_stop_flag(way):
    state = state_of(path(50), way)
    (levels,) = way.forward(state, np.arange(3))
    state.plan.stop.set()
    out = np.zeros((1, 50))
    with pytest.raises(Interrupted):
        way.backward(state, levels, Sums(dependency=out))
    assert not out.any()
    with pytest.raises(Interrupted):
        next(way.forward(state, np.arange(3)))


def test_gather_by_the_bits_of_the_ends():
    rng = np.random.default_rng(4)
    n = 10
    values = rng.integers(1, 100, (n, 64)).astype(float)
    bits = rng.integers(0, 2**64, n, dtype=np.uint64)
    wanted = np.uint64(0x0123_4567_89AB_CDEF)
    indptr, indices = np.array([0, 5, 5]), np.array([1, 3, 4, 8, 9], dtype=np.int32)
    total = np.full((1, 64), np.nan)

    @njit
    def gather(v, total):
        met, row = products.gather(indptr, indices, None, bits, v, wanted, values)
        rows.store_row(total, 0, row)
        return met

    met = gather(0, total)
    expected, expected_met = np.zeros(64), 0
    for k in range(64):
        for u in indices:
            if int(bits[u] & wanted) >> k & 1:
                expected[k] += values[u, k]
                expected_met |= 1 << k
    np.testing.assert_array_equal(total[0], expected)
    assert int(met) == expected_met
    assert gather(1, total) == 0
    assert not total.any()


def test_rows():
    @njit
    def put(values, v, mask, total, limit):
        return rows.put_row(values, v, mask, rows.load_row(total, 0), limit)

    @njit
    def finish(values, v, mask, total, omega, times):
        return rows.finish_row(
            values, v, mask, rows.load_row(total, 0), rows.omega_row(omega, v), rows.load_row(times, 0)
        )

    rng = np.random.default_rng(5)
    values, total, times = rng.random((3, 64)) + 1, rng.random((1, 64)), rng.random((1, 64))
    mask = np.uint64(0xF0F0_1234_0000_FFFF)
    bits = (int(mask) >> np.arange(64, dtype=object)) % 2 == 1
    before = values.copy()
    above = put(values, 1, mask, total, 0.5)
    np.testing.assert_array_equal(values[1], np.where(bits, total[0], before[1]))
    assert int(above) == sum(1 << k for k in range(64) if bits[k] and total[0, k] > 0.5)
    np.testing.assert_array_equal(values[[0, 2]], before[[0, 2]])

    before = values.copy()
    score = finish(values, 2, mask, total, np.array([1.0, 2.0, 3.0]), times)
    np.testing.assert_array_equal(values[2], np.where(bits, 3.0 / before[2] + total[0], before[2]))
    assert score == pytest.approx((before[2] * total[0] * times[0])[bits].sum(), rel=1e-14)


def test_sums_of_rows():
    @njit
    def sums(values, mask, largest):
        rows.store_row(largest, 0, rows.raise_row(rows.load_row(largest, 0), values, 1, mask))
        return rows.sum_row(values, 1, mask), rows.sum_inverse_row(values, 1, mask)

    rng = np.random.default_rng(6)
    values, largest = rng.random((3, 64)), np.full((1, 64), 0.5)
    mask = np.uint64(0xF0F0_1234_0000_FFFF)
    bits = (int(mask) >> np.arange(64, dtype=object)) % 2 == 1
    values[1, ~bits] = 0  # whose inverse is not taken
    total, inverse = sums(values, mask, largest)
    assert total == pytest.approx(values[1].sum(), rel=1e-14)
    assert inverse == pytest.approx((1 / values[1, bits]).sum(), rel=1e-14)
    np.testing.assert_array_equal(largest[0], np.maximum(values[1], 0.5))


@pytest.mark.parametrize("special", [0.0, np.inf])
def test_columns_of_rows(special):
    values = np.arange(1.0, 65).reshape(1, 64)
    values[0, [3, 60]] = special
    which = {0.0: rows.positive_in_row, np.inf: rows.finite_in_row}[special]
    assert int(njit(lambda values: which(values, 0))(values)) == 2**64 - 1 - 2**3 - 2**60
