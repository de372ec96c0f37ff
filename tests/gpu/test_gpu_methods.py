"""Every GPU method, in float64 and float32: against the oracle, the CPU and closed forms, and where it may break."""

import _thread
import functools
import gc
import threading
from fractions import Fraction

import numpy as np
import pytest
from batches import dependency_of, peak_of, search, sweep
from hypothesis import given, settings
from hypothesis import strategies as st
from states import prepare
from strategies import (
    SPECIAL,
    UNLIKE,
    adjacency,
    diamonds,
    disjoint,
    draw_options,
    graphs,
    grid,
    layered,
    matrix,
    oracle,
    path,
    scale_free,
    star,
)

import lagbc
from lagbc.graph.csr import ops_of
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import Interrupted, SweepPlan, bytes_of
from lagbc.methods.roots import order_roots
from lagbc.methods.sums import Sums
from lagbc.methods.table import METHODS
from lagbc.reference import count_hops

SCALE_FREE = scale_free(700, 5000, seed=1)
MESH = grid(30, 31)
# Vertices from which a sum is taken where all of them would take the oracle too long.
FEW = np.arange(0, 990, 33)

# Bytes that a footprint need not tell: flags, and roundings of each array.
SLACK = 2**20

# Path counts above these overflow.
LIMITS = {"float64": 1022, "float32": 126}


def trusted(A, *, directed=True, **options):
    """Scores by the CPU's batched method."""
    return lagbc.bc(A, directed=directed, method="batched", device="cpu", **options)


@functools.cache
def from_first_roots(count):
    """Scores of SCALE_FREE from its first vertices."""
    return oracle(SCALE_FREE, sources=range(count))


def prepared(gpu, A, *, batch=256, directed=True, **options):
    """A method's state for a matrix."""
    plan = SweepPlan(batch=batch, dtype=gpu.dtype, method=gpu.row.name, **options)
    return prepare(gpu.module, as_graph(A, directed=directed), plan)


# Agreement


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", SPECIAL)
def test_special_graphs(gpu, name, directed):
    """Among them graphs of 0, 1 and 2 vertices, isolated vertices, loops, duplicates and components."""
    A = SPECIAL[name]
    for endpoints in (False, True):
        gpu.assert_close(
            gpu.bc(A, directed=directed, endpoints=endpoints), oracle(A, directed=directed, endpoints=endpoints)
        )


@settings(max_examples=15)
@given(st.data())
def test_random_graphs(gpu, data):
    A = data.draw(graphs())
    options = draw_options(data, A.shape[0])
    gpu.assert_close(gpu.bc(A, **options), oracle(A, **options))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("A", [scale_free(1000, 10_000, seed=3), grid(31, 32)], ids=["scale-free", "mesh"])
def test_against_the_cpu(gpu, A, directed):
    rng = np.random.default_rng(2)
    omega, times = rng.integers(0, 4, (2, A.shape[0])) / 2
    for options in ({}, {"endpoints": True}, {"target_weights": omega}, {"source_weights": times}):
        options |= {"directed": directed, "sources": FEW}
        gpu.assert_close(gpu.bc(A, **options), trusted(A, **options))


@pytest.mark.parametrize("name", ["karate", "lesmis", "us-airports", "power", "minnesota", "ca-GrQc"])
def test_shipped_networks(gpu, example, name):
    network = example(name)
    n = network.matrix.shape[0]
    options = {"directed": network.directed, "sources": np.arange(0, n, max(1, n // 60))}
    gpu.assert_close(gpu.bc(network.matrix, **options), trusted(network.matrix, **options))


def test_vertex_weights_out_of_the_range_of_float32(gpu):
    """Scores are proportional to each kind of weight, so a common factor changes them by that factor only."""
    omega = np.random.default_rng(5).integers(0, 4, MESH.shape[0]) / 2
    expected = trusted(MESH, target_weights=omega)
    for factor in (2.0**-300, 2.0**300):
        gpu.assert_close(gpu.bc(MESH, target_weights=omega * factor) / factor, expected)
        gpu.assert_close(
            gpu.bc(MESH, target_weights=omega, source_weights=np.full(len(omega), factor)) / factor, expected
        )


def test_tiny_weights_of_targets(gpu):
    """Where omega / sigma would lose bits, though sigma is small enough for integers of 32 bits."""
    A, factor = layered(8, 24), 2.0**-1020
    sources = range(24)
    ours = gpu.bc(A, sources=sources, target_weights=np.full(A.shape[0], factor))
    gpu.assert_close(ours / factor, trusted(A, sources=sources))


# Batches


@pytest.mark.parametrize("count", [1, 255, 256, 257, 600])
def test_ragged_batches(gpu, count):
    for batch in (256, 512):
        gpu.assert_close(gpu.bc(SCALE_FREE, batch=batch, sources=range(count)), from_first_roots(count))


@pytest.mark.parametrize("batch", [1, 7, 300, 10_000, "auto"])
def test_any_batch(gpu, batch):
    gpu.assert_close(gpu.bc(SCALE_FREE, batch=batch, sources=range(257)), from_first_roots(257))


@pytest.mark.parametrize("larger", [path(300), scale_free(400, 2000, seed=5)], ids=["deep", "shallow"])
def test_state_is_as_new_after_every_batch(gpu, cupy, larger):
    """Batches of different size and depth through one state equal those of fresh states."""
    A = disjoint(larger, grid(6, 7), path(120), matrix(3, []))
    n = A.shape[0]
    used = prepared(gpu, A)
    for roots in (np.arange(150), np.arange(n - 100, n), np.arange(290, 330), np.arange(2), np.arange(100, 356)):
        ours, theirs = (dependency_of(cupy, gpu.module, len(roots), n) for _ in range(2))
        for state, sums in ((used, ours), (prepared(gpu, A), theirs)):
            gpu.module.backward(state, search(gpu.module, state, roots), sums)
        gpu.assert_close(ours.dependency.get(), theirs.dependency.get())


def test_backward_adds(gpu, cupy):
    state = prepared(gpu, MESH)
    out = cupy.full((1, MESH.shape[0]), 10.0)
    gpu.module.backward(state, search(gpu.module, state, np.arange(30)), Sums(dependency=out))
    gpu.assert_close(out[0].get(), 10 + oracle(MESH, sources=range(30)))


@pytest.mark.parametrize(
    "A",
    [scale_free(1500, 12000, seed=6), grid(38, 40), disjoint(layered(30, 12), path(9))],
    ids=["scale-free", "mesh", "counts past 2**53"],
)
def test_bits_of_what_auto_may_take(gpu, A):
    """Neither the batch nor the run changes a bit."""
    if gpu.row.name not in ("batched", "work-efficient"):
        pytest.skip(f"{gpu.row.name} promises 1e-13, not bits")
    expected = gpu.bc(A, batch=256)
    for batch in (256, 512, 1024, "auto"):
        np.testing.assert_array_equal(gpu.bc(A, batch=batch), expected)


def test_counts_past_32_bits(gpu, cupy):
    """From the second batch on paths are counted in float64 from the first."""
    if gpu.row.name != "batched" or gpu.dtype != "float64":
        pytest.skip("only 'batched' in float64 counts in integers at first")
    A = disjoint(scale_free(600, 5000, seed=3), layered(9, 40))
    state = prepared(gpu, A, batch=512)
    n = A.shape[0]
    for roots, small in ((np.arange(500), True), (np.arange(450, n), False), (np.arange(200), False)):
        out = cupy.zeros((2, n))
        gpu.module.backward(state, search(gpu.module, state, roots), Sums(dependency=out))
        gpu.assert_close(out.sum(axis=0).get(), oracle(A, sources=roots))
        assert state.rows.counts_are_small == small


def test_bits_of_counts_in_place(gpu):
    """Where the smallest batch fits without rows for them."""
    if gpu.row.name != "batched" or gpu.dtype != "float64":
        pytest.skip("only 'batched' in float64 has rows for counts")
    how = {"method": "batched", "device": "cuda", "reduce": "none"}
    for A in (SCALE_FREE, disjoint(scale_free(600, 5000, seed=3), layered(9, 40))):
        whole = lagbc.plan(A, batch=256, **how).memory.total
        (less,) = lagbc.plan(A, batch=256, memory=whole - 1, **how).sweeps
        assert whole - less.memory.total == 1024 * as_graph(A).active
        assert (less.batch, less.in_place) == (256, True)
        np.testing.assert_array_equal(lagbc.bc(A, batch=256, memory=whole - 1, **how), lagbc.bc(A, batch=256, **how))


def test_bits_where_few_roots_see_many_levels(gpu):
    if gpu.row.name != "batched":
        pytest.skip("only 'batched' promises bits")
    alone = gpu.bc(UNLIKE, batch=256)
    gpu.assert_close(alone, trusted(UNLIKE))
    for batch in (512, 768, "auto"):
        np.testing.assert_array_equal(gpu.bc(UNLIKE, batch=batch), alone)


def test_groups_of_many_levels_come_apart(gpu, cupy):
    """Behind the others, which are done; each adds to its own row what it adds alone."""
    if gpu.row.name != "batched":
        pytest.skip("the others have no groups")
    graph = as_graph(UNLIKE)
    assert not graph.has_high_diameter
    groups = np.split(graph.order[:768], 3)
    roots = np.concatenate([groups[0], groups[2], groups[1]])
    together = cupy.full((3, graph.n), 10.0)
    first, second = sweep(gpu.module, prepared(gpu, UNLIKE, batch=768), roots, Sums(dependency=together))
    np.testing.assert_array_equal(first.places, np.r_[:256, 512:768])
    np.testing.assert_array_equal(second.places, np.r_[256:512])
    assert len(first.overflowed) == 512
    assert len(second.overflowed) == 256
    assert second.depth == 199
    for row, group in zip(together, np.split(roots, 3), strict=True):
        alone = cupy.full((1, graph.n), 10.0)
        (levels,) = sweep(gpu.module, prepared(gpu, UNLIKE), group, Sums(dependency=alone))
        np.testing.assert_array_equal(levels.places, np.arange(256))
        np.testing.assert_array_equal(row.get(), alone[0].get())


@pytest.mark.parametrize(("batch", "in_place"), [(256, False), (256, True), (1024, False)])
@pytest.mark.parametrize("A", [scale_free(3000, 20_000, seed=6), grid(50, 60)], ids=["scale-free", "mesh"])
def test_footprint_bounds_a_batch(gpu, cupy, monkeypatch, A, batch, in_place):
    """Besides what queues grow by, which the plan is asked for."""
    more = [0]
    monkeypatch.setattr(SweepPlan, "require_growth", lambda plan, size: more.append(size))
    graph = as_graph(A)
    plan = SweepPlan(batch=batch, dtype=gpu.dtype, method=gpu.row.name, endpoints=True, in_place=in_place)
    sums = dependency_of(cupy, gpu.module, batch, graph.n)
    with peak_of(cupy) as peak:
        sweep(gpu.module, prepare(gpu.module, graph, plan), graph.order[:batch], sums)
    assert peak.bytes <= bytes_of(gpu.module.arrays(graph, plan)) + max(more) + SLACK


# The graph on the device


def on_device(cupy, A, kind="csr_matrix", dtype="float64"):
    import cupyx.scipy.sparse

    return getattr(cupyx.scipy.sparse, kind)(A.tocsr().astype(dtype))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", [name for name in SPECIAL if SPECIAL[name].nnz])
def test_graph_of_a_cupy_matrix(cupy, name, directed):
    """Read, ordered and transposed on the device, to the same bits as on the host."""
    A = SPECIAL[name]
    for weighted in (False, True):
        host = as_graph(A, directed=directed, weighted=weighted)
        for graph in (as_graph(on_device(cupy, A), directed=directed, weighted=weighted), host.on_device):
            assert_same_graph(cupy, graph, host)


@pytest.mark.parametrize("A", [SCALE_FREE, MESH, disjoint(grid(9, 30), path(150), matrix(3, []))])
def test_order_on_the_device(cupy, A):
    host = as_graph(A)
    assert_same_graph(cupy, host.on_device, host)
    assert host.on_device.depth == host.depth
    assert host.on_device.on_host is host


@pytest.mark.parametrize("name", SPECIAL)
def test_distances_to_hubs_on_the_device(cupy, name):
    graph = as_graph(SPECIAL[name])
    placed = graph.on_device
    ours = ops_of(placed.indptr).hub_distances(placed.indptr, placed.indices)
    np.testing.assert_array_equal(ours.get(), ops_of(graph.indptr).hub_distances(graph.indptr, graph.indices))


@pytest.mark.parametrize("directed", [True, False])
def test_roots_are_lined_up_alike(cupy, directed):
    graph = as_graph(scale_free(4000, 30000, seed=8), directed=directed)
    gpu, cpu = (next(row for row in METHODS if (row.name, row.device) == ("batched", kind)) for kind in ("cuda", "cpu"))
    expected = order_roots(graph, cpu, np.arange(graph.n))
    for placed in (graph, graph.on_device):
        np.testing.assert_array_equal(order_roots(placed, gpu, np.arange(graph.n)), expected)


def assert_same_graph(cupy, graph, host):
    pairs = [(graph, host), (graph.transpose, host.transpose), (graph.symmetric, host.symmetric)]
    for ours, theirs in [*pairs, (graph.reordered, host.reordered)]:
        for name in ("indptr", "indices", "weights"):
            if getattr(theirs, name) is not None:
                assert isinstance(getattr(ours, name), cupy.ndarray)
                np.testing.assert_array_equal(getattr(ours, name).get(), getattr(theirs, name))
    np.testing.assert_array_equal(graph.order, host.order)
    np.testing.assert_array_equal(graph.out_degrees, host.out_degrees)


def test_invalid_cupy_matrices(cupy):
    A = on_device(cupy, path(5))
    A.indices[0] = 7
    with pytest.raises(ValueError, match=r"index outside 0\.\.4"):
        as_graph(A)
    A = on_device(cupy, path(5))
    A.indptr[1] = 6
    with pytest.raises(ValueError, match="does not rise"):
        as_graph(A)
    A = on_device(cupy, path(5))
    A.data[2] = -1
    with pytest.raises(ValueError, match=r"1 of the 8 lengths of A are not finite and > 0, the first at \(1, 2\): -1"):
        as_graph(A, weighted=True)


def test_cupy_matrix_is_not_copied_to_the_host(gpu, cupy, monkeypatch):
    """No array of a size that grows with the edges leaves the device."""
    A = on_device(cupy, scale_free(300, 6000, seed=4))
    sizes = []
    monkeypatch.setattr("lagbc.graph.graph.as_numpy", lambda array: (sizes.append(array.size), array.get())[1])
    monkeypatch.setattr("lagbc.graph.graph.Graph.on_host", property(lambda graph: pytest.fail("copied to the host")))
    gpu.bc(A)
    assert sizes
    assert max(sizes) <= 301


def test_out_of_memory_halves_the_batch(gpu, cupy):
    """The pool is held to less than the batch takes."""
    pool = cupy.get_default_memory_pool()
    gc.collect()  # arrays of tests before this one that are freed later would make room
    pool.free_all_blocks()
    limit = pool.get_limit()
    pool.set_limit(size=pool.total_bytes() + (64 << 20))
    try:
        with pytest.warns(lagbc.MemoryWarning, match="ran out of memory"):
            scores = gpu.bc(star(5000), batch=5120)
    finally:
        pool.set_limit(size=limit)
    gpu.assert_close(scores, np.append(5000.0 * 4999, np.zeros(5000)))


# Depth


def test_long_path(gpu):
    """Vertex v of a path is between each root before it and all vertices behind it, and the other way round."""
    v = np.arange(3000)
    # A block a root takes all levels for each root.
    roots = v if gpu.row.formulation == "semiring" else v[::100]
    before, behind = np.searchsorted(roots, v), len(roots) - np.searchsorted(roots, v, side="right")
    expected = (before * (2999 - v) + behind * v) / 2
    gpu.assert_close(gpu.bc(path(3000), directed=False, sources=roots), expected)


def test_deeper_than_int16(gpu):
    n = 33_000
    expected = np.append(0, n - 1 - np.arange(1, n))
    gpu.assert_close(gpu.bc(path(n), batch=1, sources=[0]), expected)


def test_deep_grid(gpu):
    options = {"directed": False, "sources": [0, 99, 100, 17_333, 39_999]}
    gpu.assert_close(gpu.bc(grid(100, 400), **options), trusted(grid(100, 400), **options))


def test_hub(gpu):
    """A vertex with more neighbours than a block has threads, among many others of few."""
    n = 5000
    edges = [(0, v) for v in range(1, n)] + [(v, 0) for v in range(1, n)] + [(v, v + 1) for v in range(1, n - 1)]
    options = {"sources": [0, 1, 2, 2500, 4999]}
    gpu.assert_close(gpu.bc(matrix(n, edges), **options), trusted(matrix(n, edges), **options))


# Overflow


@pytest.mark.parametrize("above", [-1, 0, 1, 2])
def test_overflow_is_detected(gpu, above):
    """Chains of two-way diamonds count powers of two, exactly."""
    A = diamonds(LIMITS[gpu.dtype] + above, 2)
    roots = np.arange(0, 9)
    largest = [max(count_hops(*adjacency(A), s)[2]) for s in roots]
    overflowed = search(gpu.module, prepared(gpu, A), roots).overflowed
    assert isinstance(overflowed, np.ndarray)
    np.testing.assert_array_equal(overflowed, [sigma > 2 ** LIMITS[gpu.dtype] for sigma in largest])


def test_backward_leaves_out_what_overflowed(gpu, cupy):
    """Far beyond the limit, where counts are infinite, too."""
    A = diamonds(2 * LIMITS[gpu.dtype], 2)
    roots = np.array([0, A.shape[0] - 31, 4, A.shape[0] - 61])
    state, out = prepared(gpu, A), cupy.zeros((1, A.shape[0]))
    levels = search(gpu.module, state, roots)
    np.testing.assert_array_equal(levels.overflowed, [True, False, True, False])
    gpu.module.backward(state, levels, Sums(dependency=out))
    gpu.assert_close(out[0].get(), oracle(A, sources=roots[[1, 3]].tolist(), number=Fraction))


@pytest.mark.parametrize("count", [90, 700])
@pytest.mark.parametrize("kind", ["plain", "endpoints", "weights"])
def test_overflow_is_recomputed(gpu, count, kind):
    """3**90 is beyond float32, 3**700 beyond float64; roots near the end do not overflow."""
    A = diamonds(count, 3)
    n = A.shape[0]
    options = {
        "plain": {},
        "endpoints": {"endpoints": True},
        "weights": {"target_weights": np.arange(n) % 3 / 2, "source_weights": np.arange(n) % 5 / 2},
    }[kind]
    options["sources"] = [0, 1, 4, n // 2, n - 50, n - 5]
    gpu.assert_close(gpu.bc(A, **options), oracle(A, number=Fraction, **options))


# Arrays in and out


def test_numpy_in_numpy_out(gpu):
    assert type(gpu.bc(SCALE_FREE, sources=[1, 2])) is np.ndarray
    assert type(gpu.bc(matrix(3, []))) is np.ndarray


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("kind", ["csr_matrix", "csc_matrix", "coo_matrix"])
def test_cupy_in_cupy_out(gpu, cupy, kind, directed):
    from cupyx.scipy import sparse

    for A in (SCALE_FREE, SPECIAL["loops and duplicates"], SPECIAL["no edges"]):
        on_device = getattr(sparse, kind)(sparse.coo_matrix(A.astype(np.float32)))
        before = on_device.copy()
        options = {"directed": directed, "sources": range(min(300, A.shape[0]))}
        scores = gpu.bc(on_device, **options)
        assert isinstance(scores, cupy.ndarray)
        gpu.assert_close(scores.get(), oracle(A, **options))
        for name in ("data", "indices", "indptr", "row", "col"):
            if hasattr(before, name):
                np.testing.assert_array_equal(getattr(on_device, name).get(), getattr(before, name).get())


def test_current_stream(gpu, cupy):
    with cupy.cuda.Stream(non_blocking=True):
        gpu.assert_close(gpu.bc(SCALE_FREE, sources=range(257)), from_first_roots(257))


# Interruption


def test_stop_flag(gpu, cupy):
    state = prepared(gpu, path(50))
    levels = search(gpu.module, state, np.arange(3))
    state.plan.stop.set()
    out = cupy.zeros((1, 50))
    with pytest.raises(Interrupted):
        gpu.module.backward(state, levels, Sums(dependency=out))
    assert not out.any()
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
    gpu.assert_close(gpu.bc(SCALE_FREE, sources=range(257)), from_first_roots(257))


def test_checkpoint(gpu, tmp_path):
    """A run that is interrupted after its first batch goes on where it was."""

    def interrupt(progress):
        raise KeyboardInterrupt

    file, done = tmp_path / "run.npz", []
    expected = gpu.bc(SCALE_FREE, batch=256)
    with pytest.raises(KeyboardInterrupt):
        gpu.bc(SCALE_FREE, batch=256, checkpoint=file, progress=interrupt)
    scores = gpu.bc(SCALE_FREE, batch=256, checkpoint=file, progress=lambda progress: done.append(progress.done))
    assert done[0] > 256
    if gpu.row.name == "batched":
        np.testing.assert_array_equal(scores, expected)
    gpu.assert_close(scores, expected)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("directed", [True, False])
def test_products_of_spmm(cupy, dtype, directed):
    from lagbc.methods.gpu import spmm as spmm_hops

    graph = as_graph(SCALE_FREE, directed=directed)
    state = prepare(spmm_hops, graph, SweepPlan(batch=100, dtype=dtype))
    out = cupy.zeros((1, graph.n))
    for first in (0, 100):
        spmm_hops.backward(state, search(spmm_hops, state, np.arange(first, first + 100)), Sums(dependency=out))
    expected = oracle(SCALE_FREE, directed=directed, sources=range(200)) * (1 if directed else 2)
    np.testing.assert_allclose(out[0].get(), expected, rtol=1e-12 if dtype == "float64" else 3e-5, atol=1e-5)


def test_sums_of_too_few_rows_are_refused(gpu, cupy):
    """Before anything is added: kernels write where the rows should be."""
    roots = np.resize(np.arange(30), 512)
    state, sums = prepared(gpu, UNLIKE, batch=512), Sums(dependency=cupy.zeros((0, UNLIKE.shape[0])))
    levels = search(gpu.module, state, roots)
    with pytest.raises(lagbc.Error, match=r"sums\.dependency has 0 rows"):
        gpu.module.backward(state, levels, sums)
