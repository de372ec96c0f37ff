"""Dijkstra's search on the CPU: its two queues, and what it leaves behind."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra
from states import prepare
from strategies import adjacency, diamonds, examples, grid, lengths, path, scale_free, weighted_graphs, with_lengths

import lagbc
from lagbc import reference, tuning
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu import traversal as module
from lagbc.methods.sums import Sums

TENTHS = [0.1, 0.2, 0.3]  # few of their sums are exact
GRAPHS = {
    "scale-free, integers": with_lengths(scale_free(300, 2000, seed=1), [1, 2, 3]),
    "mesh, integers": with_lengths(grid(12, 17), np.arange(1, 11)),
    "mesh, tenths": with_lengths(grid(12, 17), TENTHS),
    "mesh, far apart": with_lengths(grid(12, 17), [1, 10, 500]),
    "path, thirds": with_lengths(path(200), [1 / 3, 1.0]),
}


@pytest.fixture(params=["buckets", "heap"])
def queue(request, monkeypatch):
    """Let searches take one queue, whatever the lengths."""
    monkeypatch.setattr(tuning, "TRAVERSAL_BUCKETS", 1 << 20 if request.param == "buckets" else -1)
    return request.param


def search(graph, roots, **plan):
    """Dist and sigma of some roots in one block, in matrix order, and the state that found them."""
    state = prepare(module, graph, SweepPlan(batch=16, **plan))
    (levels,) = module.forward(state, np.asarray(roots, np.int64))
    dist, sigma = module.paths(state, levels)
    return dist[graph.position], sigma[graph.position], state


def queue_of(state):
    """Tell the queue of a worker by its arrays."""
    try:
        return "buckets" if len(state.sweep.array("last")) else ""
    except AttributeError:
        return "heap" if len(state.sweep.array("keys")) else ""


@pytest.mark.parametrize("name", GRAPHS)
def test_distances_and_counts(queue, name):
    """Distances have the bits of SciPy's search; counts are those of the reference."""
    A = GRAPHS[name]
    graph, roots = as_graph(A, directed=False, weighted=True), [0, 5, 31]
    dist, sigma, state = search(graph, roots)
    assert queue_of(state) == queue
    np.testing.assert_array_equal(dist, dijkstra(graph.matrix, indices=roots).T)
    (levels,) = module.forward(state, np.array(roots))
    np.testing.assert_array_equal(levels.depths, np.where(np.isfinite(dist), dist, 0).max(axis=0))
    for k, root in enumerate(roots):
        *_, counts, _ = reference._search(*adjacency(A, directed=False), lengths(A, directed=False), root)
        np.testing.assert_array_equal(sigma[:, k], counts)


@examples(10)
@given(weighted_graphs((0.1, 0.3, 1.0, 2.5)), st.integers(0, 11), st.booleans())
def test_queues_find_the_same(A, root, directed):
    assume(A.shape[0])
    graph, found = as_graph(A, directed=directed, weighted=True), []
    for most in (-1, 1 << 20):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tuning, "TRAVERSAL_BUCKETS", most)
            found.append(search(graph, [root % graph.n]))
    for ours, theirs in zip(found[0][:2], found[1][:2], strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", GRAPHS)
def test_a_search_leaves_its_arrays_as_they_were(queue, name):
    """Also where it reaches a part, counts overflow, or few roots follow many."""
    parts = sp.block_diag([GRAPHS[name], with_lengths(diamonds(1100, 2), [1])])
    graph = as_graph(parts, weighted=True)
    state = prepare(module, graph, SweepPlan(batch=16))
    arrays = {name: state.sweep.array(name) for name in ("known", "places", *["last"] * (queue == "buckets"))}
    new = {name: np.copy(array) for name, array in arrays.items()}
    overflowed = [levels.overflowed for levels in module.forward(state, np.r_[0:10, GRAPHS[name].shape[0], -1])]
    assert np.concatenate(overflowed).tolist() == [False] * 10 + [True, False]
    for name in arrays:
        np.testing.assert_array_equal(arrays[name], new[name], err_msg=name)


@pytest.mark.parametrize(
    ("values", "rtol", "buckets"),
    [
        *(([1, 10], 0.0, 16), ([3, 3], 0.0, 4), ([0.1, 1], 0.0, 16), ([1, 500], 0.0, 512), ([1, 520], 0.0, 0)),
        *(([1, 10], 1e-12, 0), ([5e-324, 1], 0.0, 0), ([5e-324, 1e-323], 0.0, 0), ([1e307, 2e307], 0.0, 8)),
    ],
)
def test_the_choice_of_a_queue(values, rtol, buckets):
    """The buckets ahead hold the longest edge, two more, and are a power of two; each is narrower than the shortest."""
    A = sp.coo_array((np.array(values, float), ([0, 1], [1, 2])), shape=(3, 3))
    count, per_length = module._choose_buckets(as_graph(A, weighted=True), SweepPlan(batch=1, rtol=rtol))
    assert count == buckets
    if buckets:
        assert 1 < min(values) * per_length < 1.01
        assert max(values) * per_length + 2 <= count


def test_a_graph_without_edges_takes_the_heap():
    assert module._choose_buckets(as_graph(sp.coo_array((3, 3)), weighted=True), SweepPlan(batch=1)) == (0, 0.0)


@pytest.mark.parametrize(("edges", "buckets"), [(2**32 - 2, 8), (2**32 - 1, 0)])
def test_notes_have_numbers_and_none_is_another(edges, buckets):
    """A graph with more edges than 32-bit numbers of notes takes the heap."""
    graph = SimpleNamespace(weighted=True, nnz=edges, weights=np.array([1.0, 3.0]), longest=3.0)
    assert module._choose_buckets(graph, SweepPlan(batch=1))[0] == buckets


@pytest.mark.parametrize("name", ["mesh, tenths", "mesh, far apart"])
def test_bits_depend_on_neither_batch_nor_threads(name):
    """Neighbours in a mesh of tenths have sums that fall otherwise in another order."""
    graph = as_graph(GRAPHS[name], directed=False, weighted=True)
    options = {"directed": False, "weighted": True, "method": "dijkstra", "device": "cpu"}
    first = lagbc.bc(graph, batch=16, threads=1, **options)
    for batch, threads in ((1, 2), (96, 2), (512, 3)):
        np.testing.assert_array_equal(lagbc.bc(graph, batch=batch, threads=threads, **options), first)


def test_absorbed_lengths_overflow_by_the_heap_alone():
    """1 + 1e-17 is 1: the last vertex is as near as the one before it, and no edge into it is tight."""
    A = sp.coo_array(([1.0, 1e-17], ([0, 1], [1, 2])), shape=(3, 3))
    graph = as_graph(A, weighted=True)
    for sums, overflowed in (({"dependency"}, [True, False]), ({"distance"}, [False, False])):
        state = prepare(module, graph, SweepPlan(batch=16, sums=frozenset(sums)))
        assert queue_of(state) == "heap"
        (levels,) = module.forward(state, np.array([0, 1]))
        assert levels.overflowed.tolist() == overflowed
        module.backward(state, levels, Sums(**{name: np.zeros((1, 3)) for name in sums}))
