"""Method "batched" gives the same bits whatever the threads, the batch and the memory; and its kernels alone."""

import numpy as np
import pytest
import scipy.sparse as sp
from states import by_levels, prepare
from strategies import TENTHS, adjacency, cycle, diamonds, grid, matrix, path, scale_free, with_lengths

import lagbc
from lagbc import tuning
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan
from lagbc.reference import count_hops

GRAPHS = {
    "mesh": grid(17, 23),
    "scale-free": scale_free(500, 5000, seed=1),
    "sparse scale-free": scale_free(700, 1500, seed=2),
    "long path": path(400),
    "cycle": cycle(300),
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


def state_of(A, way=by_levels, **options):
    graph = as_graph(A)
    return prepare(way, graph, SweepPlan(batch=64, **options))


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
    vertex, (queue, masks) = np.argsort(state.graph.position), state.sweep.queue
    starts, values = state.sweep.array("starts"), state.sweep.array("values")
    seen = np.zeros((len(roots), A.shape[0]), dtype=int)
    for level in range(levels.depth + 1):
        for i in range(starts[level], starts[level + 1]):
            v = queue[i]
            assert masks[i] != 0
            for k in range(len(roots)):
                if int(masks[i]) >> k & 1:
                    _, _, sigma, depth = searches[k]
                    assert depth[vertex[v]] == level
                    assert values[v, k] == sigma[vertex[v]]
                    seen[k, v] += 1
    for k, (order, *_) in enumerate(searches):
        assert seen[k].sum() == len(order)
        assert seen[k].max() == 1


def test_queue_has_room_for_an_entry_a_column():
    """On a directed cycle no two roots see a vertex at the same distance, so that the queue is filled to its end."""
    state = state_of(matrix(100, [(v, (v + 1) % 100) for v in range(100)]))
    (levels,) = by_levels.forward(state, np.arange(20, 84))
    assert levels.entries == 6400 <= len(state.sweep.queue[0])
