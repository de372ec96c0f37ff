"""Searches by Dijkstra's rule on the GPU: every variant and width of virtual warps, races, lengths that vanish."""

import gzip
import itertools
import json
import threading
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from batches import OnDevice, search
from families import complete_bipartite, diamonds, disjoint, grid, layered, path, scale_free, star, with_lengths
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.io import mmwrite
from states import prepare
from strategies import adjacency, lengths, oracle, weighted_graphs

import lagbc
from lagbc import reference
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import Interrupted, SweepPlan

VARIANTS = ("work-efficient", "node-parallel")
WIDTHS = (1, 4, 8, 16, 32)
WAYS = list(itertools.product(VARIANTS, WIDTHS))
DIJKSTRA = next(row for row in lagbc.METHODS if row.key == ("dijkstra", "cuda", True))


def paths_of(state):
    """Path counts, then c, of each root and row."""
    values = state.arrays.found.view(state.plan.dtype)
    return values[:, :, values.shape[2] // 2].get()


@pytest.fixture(scope="module")
def dijkstra(cupy):
    """The method's module."""
    return DIJKSTRA.load()


@pytest.fixture(params=VARIANTS)
def variant(request, cupy):
    return request.param


def fan(n):
    """Vertex 0 reaches all others at once, which then settle a few at a time, as each leads on to the next."""
    v = np.arange(1, n)
    i, j = np.concatenate([np.zeros(n - 1, int), v[:-1]]), np.concatenate([v, v[1:]])
    lengths = np.concatenate([100.0 + np.random.default_rng(2).permutation(n - 1), np.full(n - 2, 30.0)])
    return sp.csr_array((lengths, (i, j)), shape=(n, n))


def raw(A, *, directed=True, sources=None, **options):
    """Raw sums by the oracle."""
    return oracle(A, directed=directed, weighted=True, sources=sources, **options) * (1 if directed else 2)


def run(A, *, directed=True, roots=None, state=None, dtype="float64", **plan):
    """Raw sums by the kernels alone, with the state and the levels they leave; A is a matrix or a Graph."""
    gpu, roots = OnDevice(DIJKSTRA, dtype), np.arange(A.shape[0]) if roots is None else np.asarray(roots)
    graph, new = gpu.prepared(A, directed=directed, batch=max(1, len(roots)), **plan)
    state = new if state is None else state
    sums, levels = gpu.batch(graph, state, roots)
    return sums.dependency.sum(axis=0).get(), state, levels


def assert_close(ours, theirs, tolerance=1e-12):
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


# Many paths tie; few do; hubs; many levels; components and vertices without edges.
GRAPHS = {
    "scale-free, few lengths": with_lengths(scale_free(120, 700, seed=2), [1, 2, 3]),
    "scale-free, lengths to 10": with_lengths(scale_free(120, 700, seed=3), np.arange(1, 11)),
    "scale-free, real lengths": with_lengths(scale_free(120, 700, seed=4), np.random.default_rng(1).random(700) + 0.01),
    "grid of ones": with_lengths(grid(7, 9), [1]),
    "grid": with_lengths(grid(9, 9), [1, 2]),
    "path": with_lengths(path(70), [1, 5, 0.5]),
    "hub": with_lengths(star(300), [3]),
    "two hubs": with_lengths(complete_bipartite(2, 150), [1, 2]),
    "fan": fan(700),
    "components": with_lengths(disjoint(path(5), sp.coo_array((3, 3)), grid(3, 4), star(9)), [2, 3]),
}
GRAPHS = {name: A.tocsr() for name, A in GRAPHS.items()}


@pytest.mark.parametrize(("variant", "width"), WAYS)
@pytest.mark.parametrize("name", GRAPHS)
def test_every_way_agrees_with_the_oracle(dijkstra, name, variant, width):
    A = GRAPHS[name]
    roots = np.arange(0, A.shape[0], max(1, A.shape[0] // 12))
    for directed in (True, False):
        ours, _, levels = run(A, directed=directed, roots=roots, variant=variant, virtual_warp=width)
        assert not levels.overflowed.any()
        assert_close(ours, raw(A, directed=directed, sources=roots.tolist(), number=float))


@pytest.mark.parametrize(("variant", "width"), WAYS)
def test_distances_and_counts(dijkstra, variant, width):
    """Row by row; the root of a block is the root of the batch at its place."""
    A = GRAPHS["scale-free, few lengths"]
    roots = np.flatnonzero(np.diff(A.indptr))[:20]
    graph = as_graph(A, weighted=True)
    state = prepare(dijkstra, graph, SweepPlan(batch=len(roots), variant=variant, virtual_warp=width))
    search(dijkstra, state, roots)
    order, dist, counts = state.rows.order.get(), state.arrays.found[:, :, 0].get(), paths_of(state)
    for block, root in enumerate(roots):
        _, _, sigma, expected = reference.count_lengths(*adjacency(A), lengths(A), int(root))
        np.testing.assert_array_equal(dist[block], np.array(expected)[order])
        reached = np.isfinite(dist[block])
        np.testing.assert_array_equal(counts[block][reached], np.array(sigma)[order][reached])


@settings(max_examples=40)
@given(st.data())
def test_random_graphs(dijkstra, data):
    A = data.draw(weighted_graphs((0.5, 1.0, 2.0, 3.0), min_n=1))
    directed, endpoints = data.draw(st.booleans()), data.draw(st.booleans())
    way = {"variant": data.draw(st.sampled_from(VARIANTS)), "virtual_warp": data.draw(st.sampled_from(WIDTHS))}
    ours, _, _ = run(A, directed=directed, endpoints=endpoints, **way)
    assert_close(ours, raw(A, directed=directed, endpoints=endpoints))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_vertex_weights(dijkstra, variant, dtype):
    A = GRAPHS["grid"]
    omega, times = np.random.default_rng(5).integers(0, 4, (2, A.shape[0])) / 2
    ours, _, _ = run(A, variant=variant, dtype=dtype, omega=omega, root_weights=times)
    assert_close(ours, raw(A, target_weights=omega, source_weights=times), 1e-12 if dtype == "float64" else 3e-5)


# Levels


def test_lengths_of_one_make_levels_of_hops(dijkstra, variant):
    _, _, levels = run(with_lengths(grid(6, 11), [1]), variant=variant, roots=[0, 1])
    assert levels.depth == 15


def test_a_vertex_at_the_threshold_waits(dijkstra, variant):
    """0 -> 1 -> 2 and 0 -> 2 tie: 2 is at the distance at which 1 may still reach it, and settles one level later."""
    A = sp.csr_array(([1.0, 2.0, 1.0], ([0, 0, 1], [1, 2, 2])), shape=(3, 3))
    _, state, levels = run(A, variant=variant, roots=[0])
    assert levels.depth == 2
    search(dijkstra, state, np.array([0]))
    row = int(np.flatnonzero(state.rows.order.get() == 2)[0])
    assert paths_of(state)[0, row] == 2


def test_many_vertices_settle_in_one_phase(dijkstra, variant):
    """All leaves lie nearer than any path on from one of them, whatever their lengths."""
    A = sp.csr_array((1 + np.arange(200) / 200, (np.zeros(200, int), np.arange(1, 201))), shape=(201, 201))
    _, _, levels = run(A, variant=variant, roots=[0])
    assert levels.depth == 1


def test_no_tight_edge_joins_vertices_of_a_level(dijkstra):
    A = GRAPHS["scale-free, real lengths"]
    _, state, levels = run(A, variant="work-efficient", roots=[int(np.argmax(np.diff(A.indptr)))])
    ends, settled, order = *(state.arrays.lists[name].get()[0] for name in ("ends", "settled")), state.rows.order.get()
    _, predecessors, _, dist = reference.count_lengths(*adjacency(A), lengths(A), int(levels.roots[0]))
    level = {int(order[v]): i for i in range(levels.depth + 1) for v in settled[ends[i] : ends[i + 1]]}
    assert level.keys() == {v for v, d in enumerate(dist) if np.isfinite(d)}
    assert all(level[u] < level[v] for v in level for u in predecessors[v])
    assert levels.depth < len(level) - 1


# Races


@pytest.mark.parametrize("width", WIDTHS)
def test_bits_depend_on_the_width_alone(dijkstra, width):
    """Every vertex of a layer is offered each distance many times at once, and the counts grow to 12**9."""
    A = with_lengths(layered(10, 12), [1])
    results = [run(A, variant=variant, virtual_warp=width)[0] for variant in (*VARIANTS, *VARIANTS, *VARIANTS)]
    assert_close(results[0], raw(A))
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])


@pytest.mark.parametrize("width", [1, 32])
def test_distances_fall_while_others_are_counted(dijkstra, variant, width):
    """Each of a chain offers all later vertices a distance that the next of the chain lowers, to a tie with others."""
    n = 90
    i, j = np.triu_indices(n, 1)
    for longer in (j - i, (j - i) + (j - i > 1), (j - i) * (j - i)):
        A = sp.csr_array((longer.astype(float), (i, j)), shape=(n, n))
        ours, _, _ = run(A, variant=variant, virtual_warp=width, roots=[0, 1, 40])
        assert_close(ours, raw(A, sources=[0, 1, 40], number=Fraction))


@pytest.mark.parametrize("n", [60, 400])
def test_the_queue_of_what_waits_grows(dijkstra, n):
    """Each vertex of a chain offers all later ones a shorter path, so that nearly all edges wait for long."""
    i, j = np.triu_indices(n, 1)
    A = sp.csr_array(((n + 1.0) * (j - i) ** 2 + 1, (i, j)), shape=(n, n))
    ours, state, levels = run(A, roots=[0, 3])
    assert state.arrays.waiting["most"] > n
    assert not levels.overflowed.any()
    assert_close(ours, raw(A, sources=[0, 3], number=float))


# State


def test_state_is_as_new_after_every_batch(dijkstra, variant):
    """Also after searches that were given up, for a count or for a length that vanished."""
    deep, lost = with_lengths(diamonds(1030, 2), [1]), sp.csr_array(([1e20, 1.0], ([0, 1], [1, 2])), shape=(3, 3))
    A = disjoint(deep, lost, with_lengths(scale_free(80, 400, seed=4), [1, 2]), sp.coo_array((2, 2))).tocsr()
    n, first = A.shape[0], deep.shape[0]
    graph = as_graph(A, weighted=True)
    used = prepare(dijkstra, graph, SweepPlan(batch=90, variant=variant))
    for roots in ([0, 4], range(first, n), [first, first + 9, n - 1], range(first + 2, n - 2), [first - 60]):
        ours, _, levels = run(graph, roots=list(roots), state=used)
        theirs, _, fresh = run(graph, roots=list(roots), variant=variant)
        np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(levels.overflowed, fresh.overflowed)


# What a search cannot finish


@pytest.mark.parametrize(("dtype", "limit"), [("float64", 1022), ("float32", 126)])
def test_overflow_is_detected(dijkstra, variant, dtype, limit):
    """A chain of two-way diamonds counts powers of two, exactly; every third vertex is a joint."""
    graph = as_graph(with_lengths(diamonds(limit + 2, 2), [3]), weighted=True)
    _, _, levels = run(graph, variant=variant, dtype=dtype, roots=[0, 3, 6, 9])
    assert levels.overflowed.tolist() == [True, True, False, False]


# On the path 0 -> 1 -> 2 -> 3 -> 4 the third length is lost beside the second, so that 3 is no farther than 2.
ABSORBED = sp.csr_array(([1.0, 1e20, 1.0, 5.0], (range(4), range(1, 5))), shape=(5, 5))


def test_an_absorbed_length_ends_the_search(dijkstra, variant):
    """What the search settled before adds nothing, and the other roots of the batch are not the worse for it."""
    ours, _, levels = run(ABSORBED, variant=variant)
    assert levels.overflowed.tolist() == [True, True, False, False, False]
    assert_close(ours, raw(ABSORBED, sources=[2, 3, 4]))


def test_extreme_lengths(dijkstra, variant):
    """Distances next to the largest float64 are finite; lengths below the normal numbers add up exactly."""
    tiny, huge = float(np.finfo(float).smallest_subnormal), float(np.finfo(float).max) / 3
    for pair in ([huge, huge], [tiny, 3 * tiny]):
        A = sp.csr_array((pair, ([0, 1], [1, 2])), shape=(3, 3))
        ours, _, levels = run(A, variant=variant, roots=[0], endpoints=True)
        assert not levels.overflowed.any()
        assert ours.tolist() == [2, 2, 1]


# Options


def test_a_small_graph_is_ordered_on_the_host(dijkstra):
    """On the device that takes half a minute the first time, in which CuPy compiles its kernels."""
    graph = as_graph(GRAPHS["grid"], directed=False, weighted=True)
    state = prepare(dijkstra, graph, SweepPlan(batch=1))
    assert "on_device" not in vars(graph)
    assert state.rows.indptr.tolist() == graph.reordered.indptr[: state.rows.rows + 1].tolist()


@pytest.mark.parametrize(("degree", "width"), [(1, 1), (3, 4), (8, 8), (20, 32), (70, 32)])
def test_width_of_virtual_warps(dijkstra, degree, width):
    """As wide as the mean degree."""
    graph = as_graph(with_lengths(complete_bipartite(degree, degree), [1]), weighted=True)
    assert dijkstra.choose_width(graph) == width
    assert prepare(dijkstra, graph, SweepPlan(batch=1)).arrays.width == width


# Interruption


def test_stop_in_the_middle_of_a_search(dijkstra):
    """Of 2**17 vertices one settles in a phase, which looks at all of them; that would take seconds."""
    n = 1 << 17
    v = np.arange(2, n)
    i, j = np.concatenate([np.zeros(n - 2, int), v]), np.concatenate([v, np.ones(n - 2, int)])
    lengths = np.concatenate([v.astype(float), np.full(n - 2, 0.5)])
    graph = as_graph(sp.csr_array((lengths, (i, j)), shape=(n, n)), weighted=True)
    state = prepare(dijkstra, graph, SweepPlan(batch=1, variant="node-parallel"))
    timer = threading.Timer(0.5, state.plan.stop.set)
    timer.start()
    try:
        with pytest.raises(Interrupted):
            search(dijkstra, state, np.array([0]))
    finally:
        timer.cancel()


# The benchmark


def test_from_graphs_to_a_report(dijkstra, tmp_path):
    fan2017 = pytest.importorskip("benchmarks.fan2017")
    with gzip.open(tmp_path / "WormNet-v3-benchmark.mtx.gz", "wb") as file:
        mmwrite(file, grid(5, 6))
    graphs = "--graphs WormNet-v3-benchmark,higgs-mention"
    fan2017.main(f"--data {tmp_path} {graphs} --roots 4 --out {tmp_path}".split())
    rows = [json.loads(line) for line in (tmp_path / "fan2017.jsonl").read_text().splitlines()]
    ways = [(row["variant"], row["virtual_warp"]) for row in rows if row["status"] == "ok"]
    assert sorted(ways) == sorted(WAYS)
    assert [row["graph"] for row in rows if row["status"].startswith("absent")] == ["higgs-mention"]
    assert "| WormNet-v3-benchmark |" in (tmp_path / "fan2017.md").read_text()
