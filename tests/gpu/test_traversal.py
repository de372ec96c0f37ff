"""What the traversal kernels have besides what every GPU method has: see test_gpu_methods.py for that."""

import functools

import numpy as np
import pytest
from batches import search, zeros_of
from states import prepare
from strategies import adjacency, disjoint, grid, matrix, oracle, path, scale_free, star

import lagbc
from lagbc import tuning
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import Interrupted, SweepPlan
from lagbc.methods.sums import Sums
from lagbc.reference import count_hops

ROWS = [row for row in lagbc.METHODS if row.formulation == "traversal" and not row.weighted and row.device == "cuda"]
SCALE_FREE = scale_free(300, 2500, seed=8)
GRAPHS = {
    "scale-free": SCALE_FREE,
    "mesh": grid(11, 12),
    "parts": disjoint(path(9), matrix(2, []), star(40), scale_free(60, 200, seed=2)),
}


@pytest.fixture(params=ROWS, ids=lambda row: row.name)
def row(request, cupy):
    """Every traversal row; the device is there."""
    return request.param


@pytest.fixture
def hops(cupy):
    """The module of all rows, which cannot be imported without CuPy."""
    return ROWS[0].load()


@functools.cache
def searches(name, directed):
    """(sigma, depth) from every vertex of a graph."""
    edges = adjacency(GRAPHS[name], directed=directed)
    return [count_hops(*edges, s)[2:] for s in range(GRAPHS[name].shape[0])]


def prepared(hops, A, method, *, directed=True, batch=64, **options):
    return prepare(hops, as_graph(A, directed=directed), SweepPlan(batch=batch, method=method, **options))


def check(hops, cupy, state, A, roots, *, directed=True, seen=lambda: None):
    """Compare sums over some roots, in batches; `seen` is called after each."""
    sums = zeros_of(cupy, hops, state.plan.batch, state.arrays.graph)
    for first in range(0, len(roots), state.plan.batch):
        hops.backward(state, search(hops, state, roots[first : first + state.plan.batch]), sums)
        seen()
    expected = oracle(A, directed=directed, sources=roots.tolist()) * (1 if directed else 2)
    np.testing.assert_allclose(sums.dependency.sum(axis=0).get(), expected, rtol=1e-12, atol=1e-12)


# One search


@pytest.mark.parametrize("name", GRAPHS)
def test_depths_and_counts(hops, row, name, directed):
    """Every entry of the rows, after a first batch and after one that finds them used."""
    n = GRAPHS[name].shape[0]
    state = prepared(hops, GRAPHS[name], row.name, directed=directed, batch=n)
    for roots in (np.arange(n), np.arange(n)[::-1][: n // 2]):
        levels = search(hops, state, roots)
        depths, values = (array.get()[:, : state.rows.rows] for array in (state.arrays.depths, state.arrays.values))
        order = state.rows.order.get()
        deepest = 0
        for place, i in enumerate(levels.found.places):
            sigma, depth = searches(name, directed)[roots[i]]
            np.testing.assert_array_equal(depths[place], 1 + np.array(depth)[order])
            np.testing.assert_array_equal(values[place], np.array(sigma)[order])
            assert levels.found.deepest[place] == max(depth)
            deepest = max(deepest, *depth)
        assert levels.depth == deepest
        without_edges = set(np.flatnonzero(state.rows.position[roots] >= state.rows.rows))
        assert without_edges == set(range(len(roots))) - set(levels.found.places)


@pytest.mark.parametrize("method", ["work-efficient", "active-edge"])
def test_queue(hops, method):
    """The queue holds each level once, in one piece; active-edge numbers its edges without a gap."""
    state = prepared(hops, SCALE_FREE, method, batch=100)
    roots = np.arange(100)
    levels = search(hops, state, roots)
    queues, ends, reached = (state.arrays.own[name].get() for name in ("queues", "ends", "reached"))
    degrees = state.arrays.graph.out_degrees
    for place, i in enumerate(levels.found.places):
        depth = np.array(searches("scale-free", True)[roots[i]][1])[state.rows.order.get()]
        assert reached[place] == np.count_nonzero(depth >= 0)
        for level in range(depth.max() + 1):
            entries = queues[place, ends[place, level] : ends[place, level + 1]]
            np.testing.assert_array_equal(np.sort(entries), np.flatnonzero(depth == level))
        if method == "active-edge":
            offsets = state.arrays.own["offsets"].get()[place, : reached[place]]
            before = np.cumsum(degrees[queues[place, : reached[place]]])
            np.testing.assert_array_equal(offsets, np.append(0, before[:-1]))


# Virtual warps, blocks


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32])
@pytest.mark.parametrize("method", ["warp-centric", "work-efficient"])
def test_virtual_warps(hops, cupy, method, width, name):
    A = GRAPHS[name]
    state = prepared(hops, A, method, virtual_warp=width)
    assert state.arrays.width == width
    check(hops, cupy, state, A, np.arange(0, A.shape[0], 3))


def test_width_follows_the_degree_of_the_tail_of_an_edge(hops, cupy):
    def width(method, degree):
        circulant = matrix(50, [(v, (v + step) % 50) for v in range(50) for step in range(1, degree + 1)])
        return prepared(hops, circulant, method).arrays.width

    assert [width("work-efficient", degree) for degree in (1, 2, 3, 4, 15, 16, 40)] == [1, 2, 2, 4, 8, 16, 32]
    assert [width("warp-centric", degree) for degree in (1, 3, 9, 40)] == [4, 4, 8, 32]
    assert width("node-parallel", 40) == 1
    assert prepared(hops, star(100), "work-efficient").arrays.width == 32


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("method", ["node-parallel", "warp-centric", "edge-parallel"])
def test_all_blocks_on_one_root(hops, cupy, method, name, directed):
    """One root after the other, in one launch."""
    A = GRAPHS[name]
    state = prepared(hops, A, method, directed=directed, batch=20, variant="all-blocks")
    check(hops, cupy, state, A, np.arange(0, A.shape[0], 4), directed=directed)


def require_stop(hops, cupy, state, roots):
    """By the flag alone, as if it were set while kernels run; return the levels that were found before."""
    levels = search(hops, state, roots)
    state.rows.stop[0] = 1
    out = cupy.zeros((1, state.arrays.graph.n))
    with pytest.raises(Interrupted):
        hops.backward(state, levels, Sums(dependency=out))
    assert not out.any()
    with pytest.raises(Interrupted):
        search(hops, state, roots)
    return levels


@pytest.mark.parametrize("method", ["node-parallel", "edge-parallel"])
def test_all_blocks_stop(hops, cupy, method):
    require_stop(hops, cupy, prepared(hops, path(40), method, batch=5, variant="all-blocks"), np.arange(5))


@pytest.mark.parametrize("count", [1, 15, 16, 17, 64])
def test_kernels_see_the_stop_flag(hops, cupy, row, count):
    """Nothing but the kernels looks at it. Some search reads it at its first level, and tells all."""
    state, roots = prepared(hops, path(60), row.name), np.arange(60)[:count]
    levels = require_stop(hops, cupy, state, roots)
    # What was left in the middle is cleared.
    state.rows.stop[0] = 0
    again = search(hops, state, roots)
    np.testing.assert_array_equal(again.found.deepest.get(), levels.found.deepest.get())


# Depth


def path_with_ways_back(n):
    """A directed path that looks shallow: taken both ways all vertices are near the first one."""
    return matrix(n, [(v, v + 1) for v in range(n - 1)] + [(v, 0) for v in range(1, n)])


@pytest.mark.parametrize("n", [253, 254, 255, 256, 257, 300])
def test_a_byte_of_depth_becomes_two(hops, cupy, row, n):
    A = path_with_ways_back(n)
    state = prepared(hops, A, row.name)
    assert state.arrays.depth_bytes == 1
    roots = np.array([0, 1, n - 2, n - 1])
    for _ in range(2):
        check(hops, cupy, state, A, roots)
    assert state.arrays.depth_bytes == (1 if n <= 254 else 2)


def test_wider_depths_are_asked_for(hops, cupy, row, monkeypatch):
    """They are no part of the footprint: a run that may take no more than that ends before they are allocated."""
    A, more = path_with_ways_back(300), []
    with monkeypatch.context() as patch:
        patch.setattr(SweepPlan, "require_growth", lambda plan, size: more.append(size))
        search(hops, prepared(hops, A, row.name), np.array([0, 1]))
    assert more
    assert more[-1] >= 64 * 300
    state = prepared(hops, A, row.name, growth=more[-1] - 1)
    with pytest.raises(MemoryError, match="bytes more than was counted"):
        search(hops, state, np.array([0, 1]))


def test_depth_is_as_wide_as_the_graph_is_deep(hops, cupy):
    assert [prepared(hops, path(n), "work-efficient", batch=1).arrays.depth_bytes for n in (50, 120, 300)] == [1, 1, 2]


# Hybrid


@pytest.mark.parametrize(("A", "expected"), [(SCALE_FREE, "edge_parallel"), (path(200), "work_efficient")])
def test_hybrid_decides_by_the_sample(hops, cupy, monkeypatch, A, expected):
    """Shallow graphs go on with all edges, deep ones with the queue, once the sample is complete."""
    monkeypatch.setattr(tuning, "SAMPLE", 100)
    monkeypatch.setattr(tuning, "GAMMA", 1.0)
    state, used = prepared(hops, A, "hybrid"), []
    check(hops, cupy, state, A, np.arange(A.shape[0]), seen=lambda: used.append(state.arrays.source))
    assert used[:2] == ["work_efficient"] * 2
    assert set(used[2:]) == {expected}


def test_hybrid_compares_with_gamma_log_n(hops, cupy, monkeypatch):
    """Roots at the end of a path of n vertices are n - 1 deep: that is compared with gamma * log2(n)."""
    n = 64  # log2(n) = 6
    for gamma, expected in ((10.4, "work_efficient"), (10.6, "edge_parallel")):
        monkeypatch.setattr(tuning, "SAMPLE", 1)
        monkeypatch.setattr(tuning, "GAMMA", gamma)
        state = prepared(hops, path(n), "hybrid", batch=1)
        search(hops, state, np.array([0]))
        search(hops, state, np.array([n // 2]))
        assert state.arrays.source == expected
