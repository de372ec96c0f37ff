"""Every GPU method, in hops and with lengths, in float64 and float32: against the oracle and the CPU, and closed forms.

Graphs have lengths, which methods in hops do not look at.
"""

import _thread
import functools
import gc
import threading
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from batches import DISTANCES, EVERYTHING, by_the_cpu, by_the_oracle, peak_of, search, sweep, zeros_of
from families import diamonds, disjoint, grid, layered, matrix, path, scale_free, star, with_lengths
from gmpy2 import mpq as rational
from hypothesis import given, settings
from hypothesis import strategies as st
from killed import Killed, stop
from states import prepare
from strategies import SPECIAL, UNLIKE, adjacency, draw_options, oracle, vertex_weights, weighted_graphs
from swept import assert_same_sums

import lagbc
from lagbc import reference
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import Interrupted, SweepPlan, bytes_of
from lagbc.methods.sums import DEPENDENCY, Sums

SCALE_FREE = with_lengths(scale_free(700, 5000, seed=1), [1, 2, 3])
MESH = with_lengths(grid(30, 31), [1, 2, 3])
UNLIKE = with_lengths(UNLIKE, [1])
# Vertices from which a sum is taken where all of them would take the oracle too long.
FEW = np.arange(0, 990, 33)
EVERY = ("bc", "edge_bc", "closeness", "harmonic", "eccentricity", "stress")
# Bytes that a footprint need not tell: flags, and roundings of each array.
SLACK = 2**20
# Path counts above 2 to these overflow.
LIMITS = {"float64": 1022, "float32": 126}


def special(name):
    """Lengths of duplicates add up."""
    A = SPECIAL[name].tocoo(copy=True)
    A.data = 1.0 + np.arange(A.nnz) % 3
    return A


def trusted(gpu, A, *, directed=True, **options):
    """Scores by the CPU's batched method."""
    return lagbc.bc(A, directed=directed, weighted=gpu.row.weighted, method="batched", device="cpu", **options)


@functools.cache
def from_first_roots(count, weighted):
    """Sums of SCALE_FREE from its first vertices."""
    return by_the_cpu(SCALE_FREE, weighted=weighted, roots=range(count))


# Agreement


@pytest.mark.parametrize("name", SPECIAL)
def test_special_graphs(summing_gpu, name, directed):
    """Among them graphs of 0, 1 and 2 vertices, isolated vertices, loops, duplicates and components."""
    gpu, A, given = summing_gpu, special(name), {"directed": directed, "weighted": summing_gpu.row.weighted}
    ours = gpu.summed(A, directed=directed)
    assert {part for part, _ in ours} == gpu.sums
    gpu.assert_close(ours, by_the_oracle(A, gpu.sums, **given))
    if gpu.asked == DEPENDENCY:
        for endpoints in (False, True):
            gpu.assert_close(gpu.bc(A, directed=directed, endpoints=endpoints), oracle(A, endpoints=endpoints, **given))


@settings(max_examples=15)
@given(st.data())
def test_random_graphs(gpu, data):
    values = data.draw(st.sampled_from([(0.5, 1.0, 1.0, 2.0, 3.0), (0.1, 0.2, 0.3, 0.6)]))
    A = data.draw(weighted_graphs(values))
    options = draw_options(data, A.shape[0])
    gpu.assert_close(gpu.bc(A, **options), oracle(A, weighted=gpu.row.weighted, **options))


@settings(max_examples=25)
@given(st.data())
def test_random_sums(all_sums_gpu, data):
    """Some of the sums, from some roots, with weights, by any schedule; 0.1 + 0.2 is not 0.3 for the oracle, too."""
    gpu, A = (
        all_sums_gpu,
        data.draw(weighted_graphs(data.draw(st.sampled_from([(1.0, 2.0, 3.0), (0.25, 0.5), (0.1, 0.2, 0.3, 0.6)])))),
    )
    n = A.shape[0]
    options = {
        "directed": data.draw(st.booleans()),
        "roots": data.draw(st.none() | st.permutations(range(n)).map(lambda order: order[: n // 2])),
        "omega": data.draw(st.none() | vertex_weights(n)),
        "root_weights": data.draw(st.none() | vertex_weights(n)),
    }
    offered = replace(gpu, asked=EVERYTHING).sums
    asked = frozenset(data.draw(st.sets(st.sampled_from(sorted(offered)), min_size=1)))
    deep, small = data.draw(st.booleans()), data.draw(st.sampled_from([2**40, 0, 8]))
    schedule = data.draw(st.sampled_from(["window", "one launch"])) if gpu.row.weighted else None
    with pytest.MonkeyPatch.context() as patch:
        if not gpu.row.weighted:
            patch.setattr(Graph, "has_high_diameter", property(lambda graph: deep))
        patch.setattr("lagbc.tuning.SMALL_LEVEL", small)
        ours = replace(gpu, asked=asked, schedule=schedule).summed(A, **options)
    assert {name for name, _ in ours} == asked
    gpu.assert_close(ours, by_the_oracle(A, asked, weighted=gpu.row.weighted, **options))


@pytest.mark.parametrize("A", [scale_free(600, 6000, seed=3), grid(19, 20)], ids=["scale-free", "mesh"])
def test_against_the_cpu(summing_gpu, A, directed):
    """Several groups of roots, the last one ragged."""
    gpu, A = summing_gpu, with_lengths(A, [1, 2, 3])
    omega, times = np.random.default_rng(2).integers(0, 4, (2, A.shape[0])) / 2
    for options in ({}, {"omega": omega}, {"root_weights": times}, {"omega": omega, "root_weights": times}):
        theirs = by_the_cpu(A, gpu.sums, weighted=gpu.row.weighted, directed=directed, **options)
        gpu.assert_close(gpu.summed(A, batch=1024, directed=directed, **options), theirs)
    if gpu.asked == DEPENDENCY:
        options = {"endpoints": True, "directed": directed}
        gpu.assert_close(gpu.bc(A, **options), trusted(gpu, A, **options))


@pytest.mark.parametrize("name", ["karate", "lesmis", "us-airports", "power", "minnesota", "ca-GrQc"])
def test_shipped_networks(gpu, example, name):
    network = example(name)
    options = {"directed": network.directed, "sources": np.arange(0, network.n, max(1, network.n // 60))}
    gpu.assert_close(gpu.bc(network.matrix, **options), trusted(gpu, network.matrix, **options))
    if "stress" not in gpu.row.sums or name not in ("karate", "lesmis", "power"):
        return
    of_all = functools.partial(lagbc.centralities, network.matrix, EVERY, directed=False)
    ours = of_all(**gpu.options)
    for key, theirs in of_all(weighted=gpu.row.weighted, method="batched", device="cpu").items():
        gpu.assert_close(*(X.tocsr().toarray() if sp.issparse(X) else X for X in (ours[key], theirs)))


def test_hubs(summing_gpu, monkeypatch):
    """Rows of many edges, which a block shares, with those of few among them."""
    monkeypatch.setattr("lagbc.tuning.HUB_EDGES", (12, 12))
    gpu = summing_gpu
    parts = ({"edges"}, {"dependency", "stress"}, {"reached", "depth"}) if gpu.asked == EVERYTHING else ()
    for directed in (True, False):
        options = {"directed": directed, "roots": range(300)}
        theirs = by_the_cpu(SCALE_FREE, gpu.sums, weighted=gpu.row.weighted, **options)
        for some in (gpu.asked, *map(frozenset, parts)):
            gpu.assert_close(replace(gpu, asked=some).summed(SCALE_FREE, **options), theirs)
    if gpu.row.formulation == "semiring" and gpu.asked == EVERYTHING:
        assert gpu.prepared(SCALE_FREE, directed=False)[1].rows.hubs > 3


def test_a_row_longer_than_a_block(summing_gpu):
    n = 3000
    edges = [(0, v) for v in range(1, n)] + [(v, 0) for v in range(1, n, 2)] + [(v, v % 50 + 1) for v in range(51, n)]
    A, roots = with_lengths(matrix(n, edges), [1, 2, 3]), [0, 1, 2, 1500, 2999]
    theirs = by_the_cpu(A, summing_gpu.sums, weighted=summing_gpu.row.weighted, roots=roots)
    summing_gpu.assert_close(summing_gpu.summed(A, roots=roots), theirs)


def test_vertex_weights_out_of_the_range_of_float32(gpu):
    """Scores are proportional to each kind of weight, so a common factor changes them by that factor only."""
    omega = np.random.default_rng(5).integers(0, 4, MESH.shape[0]) / 2
    expected = trusted(gpu, MESH, target_weights=omega)
    for factor in (2.0**-300, 2.0**300):
        often = {"target_weights": omega, "source_weights": np.full(len(omega), factor)}
        for options in ({"target_weights": omega * factor}, often):
            gpu.assert_close(gpu.bc(MESH, **options) / factor, expected)


def test_tiny_weights_of_targets(gpu):
    """Where omega / sigma would lose bits, though sigma is small enough for integers of 32 bits."""
    A, factor = layered(8, 24), 2.0**-1020
    ours = gpu.bc(A, sources=range(24), target_weights=np.full(A.shape[0], factor))
    gpu.assert_close(ours / factor, trusted(gpu, A, sources=range(24)))


# Batches


@pytest.mark.parametrize("count", [1, 255, 256, 257, 600])
def test_ragged_batches(summing_gpu, count):
    for batch in (256, 512):
        ours = summing_gpu.summed(SCALE_FREE, batch=batch, roots=range(count))
        summing_gpu.assert_close(ours, from_first_roots(count, summing_gpu.row.weighted))


@pytest.mark.parametrize("batch", [1, 7, 300, 10_000, "auto"])
def test_any_batch(gpu, batch):
    expected = from_first_roots(257, gpu.row.weighted).dependency
    gpu.assert_close(gpu.bc(SCALE_FREE, batch=batch, sources=range(257)), expected)


@pytest.mark.parametrize("larger", [path(300), scale_free(400, 2000, seed=5)], ids=["deep", "shallow"])
def test_state_is_as_new_after_every_batch(summing_gpu, larger):
    """Batches of different size and depth through one state equal those of fresh states."""
    gpu, A = summing_gpu, with_lengths(disjoint(larger, grid(6, 7), path(120), matrix(3, [])), [1, 2])
    n = A.shape[0]
    graph, used = gpu.prepared(A)
    for roots in (np.arange(150), np.arange(n - 100, n), np.arange(290, 330), np.arange(2), np.arange(100, 356)):
        (ours, _), (theirs, _) = gpu.batch(graph, used, roots), gpu.batch(graph, gpu.prepared(A)[1], roots)
        for name, array in ours:
            gpu.assert_close(array.get(), getattr(theirs, name).get())


@pytest.mark.parametrize("A", [SPECIAL["layers"], path(110), grid(4, 9)], ids=["layers", "path", "mesh"])
def test_backward_adds(summing_gpu, A):
    gpu, A = summing_gpu, with_lengths(A, [1, 2, 3])
    roots = np.arange(0, A.shape[0], 3)
    sums, _ = gpu.batch(*gpu.prepared(A), roots, fill=10.0)
    for _, array in sums:
        array -= 10
    gpu.assert_batch_close(sums, by_the_oracle(A, gpu.sums, weighted=gpu.row.weighted, roots=roots.tolist()), roots)


OF_BITS = {
    "scale-free": scale_free(900, 7000, seed=6),
    "mesh": disjoint(grid(28, 30), scale_free(300, 1800, seed=4)),
    "counts past 2**53": disjoint(layered(30, 12), path(9)),
}


@pytest.mark.parametrize("name", OF_BITS)
def test_bits_of_what_auto_may_take(summing_gpu, name):
    """Neither the batch nor the run changes a bit."""
    gpu, A = summing_gpu, with_lengths(OF_BITS[name], [1, 2, 3])
    if gpu.row.name not in ("batched", "work-efficient", "delta-stepping", "dijkstra"):
        pytest.skip(f"{gpu.row.name} promises 1e-13, not bits")
    expected = gpu.summed(A, batch=256)
    for batch in (256, 512, 768, 1024):
        assert_same_sums(gpu.summed(A, batch=batch), expected)


@pytest.fixture
def of_groups(summing_gpu):
    """A method that sweeps roots in groups of 256."""
    if summing_gpu.row.name not in ("batched", "delta-stepping"):
        pytest.skip("the others have no groups")
    return summing_gpu


def test_bits_where_few_roots_see_many_levels(of_groups):
    """Some groups are swept again as deep ones, and their edges summed by the other schedule."""
    assert not as_graph(UNLIKE).has_high_diameter or of_groups.schedule == "one launch"
    alone = of_groups.summed(UNLIKE, batch=256)
    of_groups.assert_close(alone, by_the_cpu(UNLIKE, of_groups.sums, weighted=of_groups.row.weighted))
    for batch in (512, 768, 1024):
        assert_same_sums(of_groups.summed(UNLIKE, batch=batch), alone)


def test_groups_of_many_levels_come_apart(batched_gpu, cupy):
    """Behind the others, which are done; each adds to its own row what it adds alone."""
    graph, state = batched_gpu.prepared(UNLIKE, batch=768)
    assert not graph.has_high_diameter
    groups = np.split(graph.order[:768], 3)
    roots = np.concatenate([groups[0], groups[2], groups[1]])
    together = cupy.full((3, graph.n), 10.0)
    first, second = sweep(batched_gpu.module, state, roots, Sums(dependency=together))
    np.testing.assert_array_equal(first.places, np.r_[:256, 512:768])
    np.testing.assert_array_equal(second.places, np.r_[256:512])
    assert (len(first.overflowed), len(second.overflowed), second.depth) == (512, 256, 199)
    for row, group in zip(together, np.split(roots, 3), strict=True):
        alone = cupy.full((1, graph.n), 10.0)
        (levels,) = sweep(batched_gpu.module, batched_gpu.prepared(UNLIKE)[1], group, Sums(dependency=alone))
        np.testing.assert_array_equal(levels.places, np.arange(256))
        np.testing.assert_array_equal(row.get(), alone[0].get())


def test_small_levels_change_no_bit(batched_gpu, monkeypatch):
    gpu, A, results = replace(batched_gpu, asked=EVERYTHING), scale_free(1500, 12000, seed=6), []
    for small in (2**40, 0, 8):
        monkeypatch.setattr("lagbc.tuning.SMALL_LEVEL", small)
        results.append(gpu.summed(A, batch=512))
    for result in results[1:]:
        assert_same_sums(result, results[0])


@pytest.fixture
def batched(batched_gpu):
    if batched_gpu.dtype != "float64":
        pytest.skip("only in float64 it counts in integers at first, and has rows for counts")
    return batched_gpu


def test_counts_past_32_bits(batched):
    """From the second batch on paths are counted in float64 from the first."""
    A = disjoint(scale_free(600, 5000, seed=3), layered(9, 40))
    graph, state = batched.prepared(A, batch=512)
    for roots, small in ((range(500), True), (range(450, graph.n), False), (range(200), False)):
        sums, _ = batched.batch(graph, state, roots)
        batched.assert_close(sums.dependency.sum(axis=0).get(), oracle(A, sources=roots))
        assert state.rows.counts_are_small == small


def test_bits_of_counts_in_place(batched):
    """Where the smallest batch fits without rows for them."""
    how = {"method": "batched", "device": "cuda", "reduce": "none"}
    for A in (SCALE_FREE, disjoint(scale_free(600, 5000, seed=3), layered(9, 40))):
        whole = lagbc.plan(A, batch=256, **how).memory.total
        (less,) = lagbc.plan(A, batch=256, memory=whole - 1, **how).sweeps
        assert whole - less.memory.total == 1024 * as_graph(A).active
        assert (less.batch, less.in_place) == (256, True)
        np.testing.assert_array_equal(lagbc.bc(A, batch=256, memory=whole - 1, **how), lagbc.bc(A, batch=256, **how))


@pytest.mark.parametrize(("batch", "in_place"), [(256, False), (256, True), (1024, False)])
@pytest.mark.parametrize("A", [scale_free(3000, 20_000, seed=6), grid(50, 60)], ids=["scale-free", "mesh"])
def test_footprint_bounds_a_batch(gpu, cupy, monkeypatch, A, batch, in_place):
    """Besides what queues grow by, which the plan is asked for."""
    more = []
    monkeypatch.setattr(SweepPlan, "require_growth", lambda plan, size: more.append(size))
    plan = gpu.plan(batch=batch, endpoints=True, in_place=in_place)
    reals = np.random.default_rng(1).random(997)
    for values in (np.arange(1, 6), reals, 0.1 + reals) if gpu.row.weighted else ([1],):
        graph = as_graph(with_lengths(A, values), weighted=gpu.row.weighted)
        sums, more[:] = zeros_of(cupy, gpu.module, batch, graph), [0]
        with peak_of(cupy) as peak:
            sweep(gpu.module, prepare(gpu.module, graph, plan), np.resize(graph.order, batch), sums)
        assert peak.bytes <= bytes_of(gpu.module.arrays(graph, plan)) + max(more) + SLACK


def test_out_of_memory_halves_the_batch(gpu, cupy):
    """The pool is held to less than the batch takes."""
    leaves, room = (3000, 48 << 20) if gpu.row.weighted else (5000, 64 << 20)
    pool = cupy.get_default_memory_pool()
    gc.collect()  # arrays of tests before this one that are freed later would make room
    pool.free_all_blocks()
    limit = pool.get_limit()
    pool.set_limit(size=pool.total_bytes() + room)
    try:
        with pytest.warns(lagbc.MemoryWarning, match="ran out of memory"):
            scores = gpu.bc(star(leaves), batch=5120)
    finally:
        pool.set_limit(size=limit)
    gpu.assert_close(scores, np.append(float(leaves) * (leaves - 1), np.zeros(leaves)))


# Depth


def test_long_path(gpu):
    """Vertex v of a path is between each root before it and all vertices behind it, and the other way round."""
    v = np.arange(3000)
    # A block a root takes all levels for each root.
    roots = v if gpu.row.formulation == "semiring" else v[::100]
    before, behind = np.searchsorted(roots, v), len(roots) - np.searchsorted(roots, v, side="right")
    expected = (before * (2999 - v) + behind * v) / 2
    gpu.assert_close(gpu.bc(path(3000), directed=False, sources=roots), expected)


def test_deeper_than_int16(hop_gpu):
    n = 33_000
    expected = np.append(0, n - 1 - np.arange(1, n))
    hop_gpu.assert_close(hop_gpu.bc(path(n), batch=1, sources=[0]), expected)


def test_deep_grid(gpu):
    options = {"directed": False, "sources": [0, 99, 100, 17_333, 39_999]}
    gpu.assert_close(gpu.bc(grid(100, 400), **options), trusted(gpu, grid(100, 400), **options))


# Overflow


@pytest.mark.parametrize("above", [-1, 0, 1, 2])
def test_overflow_is_detected(gpu, above):
    """Chains of two-way diamonds count powers of two, exactly."""
    A = with_lengths(diamonds(LIMITS[gpu.dtype] + above, 2), [3])
    roots = np.arange(9)
    largest = [max(reference.count_hops(*adjacency(A), s)[2]) for s in roots]
    overflowed = search(gpu.module, gpu.prepared(A)[1], roots).overflowed
    assert isinstance(overflowed, np.ndarray)
    np.testing.assert_array_equal(overflowed, [sigma > 2 ** LIMITS[gpu.dtype] for sigma in largest])


def test_backward_leaves_out_what_overflowed(summing_gpu):
    """In all sums; far beyond the limit, where counts are infinite."""
    gpu, A = summing_gpu, with_lengths(diamonds(2 * LIMITS[summing_gpu.dtype], 2), [3])
    roots = np.array([0, A.shape[0] - 31, 4, A.shape[0] - 61])
    sums, levels = gpu.batch(*gpu.prepared(A), roots)
    np.testing.assert_array_equal(levels.overflowed, [True, False, True, False])
    last = with_lengths(diamonds(20, 2), [3])  # the last 61 vertices
    theirs = by_the_oracle(last, gpu.sums, weighted=gpu.row.weighted, roots=[61 - 31, 0])
    for name, array in sums:
        if name == "depth":
            np.testing.assert_array_equal(array.get(), [0, theirs.depth[30], 0, theirs.depth[0]])
        else:
            expected = getattr(theirs, name)
            gpu.assert_close(array[0, -len(expected) :].get(), expected)
            assert not array[0, : -len(expected)].any()


def test_groups_are_summed_apart(of_groups):
    """Some roots of the second one overflow."""
    A = with_lengths(diamonds(1030, 2) if of_groups.dtype == "float64" else layered(34, 16), [1])
    parts = np.arange(A.shape[0] - 256, A.shape[0]), np.arange(100)
    graph, state = of_groups.prepared(A, batch=512)
    together, levels = of_groups.batch(graph, state, np.concatenate(parts))
    assert 0 < levels.overflowed[256:].sum() < 100
    assert not levels.overflowed[:256].any()
    of_groups.assert_groups_alone(A, graph, together, parts)


def test_without_path_counts_no_root_overflows(all_sums_gpu):
    gpu, A = replace(all_sums_gpu, asked=DISTANCES), with_lengths(diamonds(1100, 2), [1])
    sums, levels = gpu.batch(*gpu.prepared(A), np.arange(0, 9, 3))
    assert not levels.overflowed.any()
    np.testing.assert_array_equal(sums.depth.get(), [2200, 2198, 2196])


@pytest.mark.parametrize("count", [90, 700])
@pytest.mark.parametrize("kind", ["plain", "endpoints", "weights"])
def test_overflow_is_recomputed(gpu, count, kind):
    """3**90 is beyond float32, 3**700 beyond float64; roots near the end do not overflow."""
    A = with_lengths(diamonds(count, 3), [0.5])
    n = A.shape[0]
    options = {"sources": [0, 1, 4, n // 2, n - 50, n - 5]}
    if kind == "endpoints":
        options["endpoints"] = True
    elif kind == "weights":
        options |= {"target_weights": np.arange(n) % 3 / 2, "source_weights": np.arange(n) % 5 / 2}
    gpu.assert_close(gpu.bc(A, **options), oracle(A, weighted=gpu.row.weighted, number=rational, **options))
    if kind != "plain" or "stress" not in gpu.row.sums:
        return
    gpu = replace(gpu, asked=EVERYTHING)
    theirs = by_the_cpu(A, gpu.sums, weighted=gpu.row.weighted, roots=options["sources"])
    for name, array in gpu.summed(A, roots=options["sources"]):
        expected = getattr(theirs, name)
        finite = np.isfinite(expected)
        gpu.assert_close(array[finite], expected[finite])
        np.testing.assert_array_equal(np.isfinite(array), finite)


# Arrays in and out


def test_numpy_in_numpy_out(gpu):
    assert type(gpu.bc(SCALE_FREE, sources=[1, 2])) is np.ndarray
    assert type(gpu.bc(matrix(3, []))) is np.ndarray


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_matrix", "coo_matrix"])
def test_cupy_in_cupy_out(gpu, cupy, kind, directed):
    """One by one and together; the matrix stays as it is."""
    from cupyx.scipy import sparse

    for A in (scale_free(60, 300, seed=8), SPECIAL["loops and duplicates"], SPECIAL["no edges"]):
        names = EVERY if "stress" in gpu.row.sums and A.nnz else ("bc",)
        A, options = A.astype(np.float32), {"directed": directed, **gpu.options}
        on_device = getattr(sparse, kind)(sparse.coo_matrix(A))
        before = on_device.copy()
        together, on_host = (lagbc.centralities(X, names, **options) for X in (on_device, A))
        for name in names:
            alone = getattr(lagbc, name)(on_device, **options)
            found = [alone, together[name], on_host[name]]
            if name == "edge_bc":
                assert sparse.issparse(alone)
                assert alone.format == on_device.format
                found = [X.toarray() for X in found]
            assert all(isinstance(X, cupy.ndarray) for X in found[:2])
            assert type(found[2]) is np.ndarray
            for scores in found[:2]:
                gpu.assert_close(scores.get(), found[2])
        gpu.assert_close(on_host["bc"], trusted(gpu, A, directed=directed))
        for name in ("data", "indices", "indptr", "row", "col"):
            if hasattr(before, name):
                np.testing.assert_array_equal(getattr(on_device, name).get(), getattr(before, name).get())


def test_cupy_matrix_is_not_copied_to_the_host(gpu, cupy, monkeypatch):
    """No array of a size that grows with the edges leaves the device."""
    from cupyx.scipy import sparse

    A, sizes = sparse.csr_matrix(scale_free(300, 6000, seed=4).tocsr()), []
    monkeypatch.setattr("lagbc.graph.graph.as_numpy", lambda array: (sizes.append(array.size), array.get())[1])
    monkeypatch.setattr("lagbc.graph.graph.Graph.on_host", property(lambda graph: pytest.fail("copied to the host")))
    gpu.bc(A)
    assert sizes
    assert max(sizes) <= 301


def test_current_stream(gpu, cupy):
    with cupy.cuda.Stream(non_blocking=True):
        gpu.assert_close(gpu.bc(SCALE_FREE, sources=range(257)), from_first_roots(257, gpu.row.weighted).dependency)


@pytest.mark.parametrize("A", [diamonds(60, 5), with_lengths(diamonds(60, 5), [2])], ids=["ones", "lengths"])
def test_stress_is_counted_in_float64(all_sums_gpu, A):
    """Whatever the dtype asked for; 5**60 is more than float32 holds."""
    exact = reference.stress(*adjacency(A), sources=[0])
    ours = lagbc.stress(A, sources=[0], **all_sums_gpu.options)
    np.testing.assert_allclose(ours, [float(x) for x in exact], rtol=1e-13)
    with pytest.raises(ValueError, match="stress: counted in float64"):
        all_sums_gpu.prepared(A, sums=EVERYTHING, dtype="float32")


# Interruption


@pytest.mark.parametrize("distances", [False, True])
def test_stop_flag(summing_gpu, cupy, distances):
    gpu = replace(summing_gpu, asked=DISTANCES) if distances else summing_gpu
    if distances and summing_gpu.asked == DEPENDENCY:
        pytest.skip("it is asked for all sums, too")
    graph, state = gpu.prepared(with_lengths(path(50), [1, 2]))
    levels = search(gpu.module, state, np.arange(3))
    state.plan.stop.set()
    sums = zeros_of(cupy, gpu.module, 3, graph, gpu.sums)
    with pytest.raises(Interrupted):
        gpu.module.backward(state, levels, sums)
    assert sums.dependency is None or not sums.dependency.any()
    with pytest.raises(Interrupted):
        search(gpu.module, state, np.arange(3))


def test_keyboard_interrupt(gpu):
    """Ctrl-C in the middle of a long run ends it, and the next run is not the worse for it."""
    A = grid(300, 300)
    gpu.bc(A, batch=256, sources=[0])
    timer = threading.Timer(1.0, _thread.interrupt_main)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            gpu.bc(A, batch=256)
    finally:
        timer.cancel()
    gpu.assert_close(gpu.bc(SCALE_FREE, sources=range(257)), from_first_roots(257, gpu.row.weighted).dependency)


def test_checkpoint(gpu, tmp_path):
    """A run that is interrupted after its first batch goes on where it was."""
    file, done = tmp_path / "run.npz", []
    expected = gpu.bc(SCALE_FREE, batch=256)
    with pytest.raises(Killed):
        gpu.bc(SCALE_FREE, batch=256, checkpoint=file, progress=stop)
    scores = gpu.bc(SCALE_FREE, batch=256, checkpoint=file, progress=lambda progress: done.append(progress.done))
    assert done[0] > 256
    if gpu.row.name in ("batched", "delta-stepping"):
        np.testing.assert_array_equal(scores, expected)
    gpu.assert_close(scores, expected)


def test_products_of_spmm(hop_gpu, directed):
    if hop_gpu.row.name != "spmm":
        pytest.skip("the others make none")
    graph, state = hop_gpu.prepared(SCALE_FREE, directed=directed, batch=100)
    ours = sum(hop_gpu.batch(graph, state, np.arange(first, first + 100))[0].dependency[0] for first in (0, 100))
    hop_gpu.assert_close(
        ours.get(), by_the_cpu(SCALE_FREE, weighted=False, directed=directed, roots=range(200)).dependency
    )


def test_sums_of_too_few_rows_are_refused(gpu, cupy):
    """Before anything is added: kernels write where the rows should be."""
    roots = np.resize(np.arange(30), 256 if gpu.row.weighted else 512)
    graph, state = gpu.prepared(UNLIKE, batch=len(roots))
    levels = search(gpu.module, state, roots)
    with pytest.raises(lagbc.Error, match=r"sums\.dependency has 0 rows"):
        gpu.module.backward(state, levels, Sums(dependency=cupy.zeros((0, graph.n))))


@pytest.mark.parametrize("A", [scale_free(300, 1800, seed=7), grid(9, 31)], ids=["scale-free", "mesh"])
def test_equal_lengths_are_hops(weighted_gpu, A):
    expected = lagbc.bc(A, method="batched", device="cuda", dtype=weighted_gpu.dtype)
    for length in (1.0, 3.0, 0.25):
        weighted_gpu.assert_close(weighted_gpu.bc(with_lengths(A, [length])), expected)
