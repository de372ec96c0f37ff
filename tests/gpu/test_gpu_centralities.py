"""All sums of a sweep on the GPU, in float64 and float32: against the oracle and the CPU, by both schedules."""

import functools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from batches import EVERYTHING, search
from hypothesis import given, settings
from hypothesis import strategies as st
from states import prepare
from strategies import (
    SPECIAL,
    UNLIKE,
    adjacency,
    diamonds,
    disjoint,
    graphs,
    grid,
    layered,
    matrix,
    path,
    scale_free,
    vertex_weights,
)
from swept import summed

import lagbc
from lagbc import reference
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import Interrupted, SweepPlan
from lagbc.methods.sums import PATH_SUMS, Sums
from lagbc.methods.table import METHODS

SCALE_FREE = scale_free(700, 5000, seed=1)
MESH = grid(30, 31)


def offered(gpu, outputs=EVERYTHING):
    """Stress is counted in float64 alone."""
    return outputs - {"stress"} if gpu.dtype == "float32" else outputs


def sums_of(gpu, A, *, directed=True, sources=None, batch=256, outputs=EVERYTHING, **options):
    """The sums of a run."""
    graph = as_graph(A, directed=directed)
    plan = SweepPlan(batch=batch, dtype=gpu.dtype, sums=offered(gpu, outputs), method=gpu.row.name, **options)
    return summed(graph, np.arange(graph.n) if sources is None else np.array(sources, np.int64), gpu.row, plan)


def by_the_oracle(A, *, directed=True, sources=None, omega=None, root_weights=None):
    """All sums in rationals, a root at a time."""
    n, (indptr, indices) = A.shape[0], adjacency(A, directed=directed)
    total = {name: np.zeros(len(indices) if name == "edges" else n, object) for name in EVERYTHING}
    weights = {"target_weights": None if omega is None else [Fraction(x) for x in omega]}
    depths = reference.eccentricity(indptr, indices)
    for root in range(n) if sources is None else sources:
        times = 1 if root_weights is None else Fraction(root_weights[root])
        one = {"sources": [root]}
        total["dependency"] += times * np.array(reference.brandes(indptr, indices, number=Fraction, **one, **weights))
        total["stress"] += times * np.array(reference.stress(indptr, indices, **one, **weights), object)
        edges = reference.edge_scores(indptr, indices, number=Fraction, **one, **weights)
        total["edges"] += times * np.array(edges, object)
        into = reference.distances_into(indptr, indices, **one)
        total["reached"] += [len(d) for d in into]
        total["distance"] += [sum(d) for d in into]
        total["inverse"] += [sum(Fraction(1, x) for x in d) for d in into]
        total["depth"][root] = depths[root]
    return Sums(**{name: array.astype(float) for name, array in total.items()})


def by_the_cpu(A, *, directed=True, sources=None, outputs=EVERYTHING, **options):
    row = next(row for row in METHODS if (row.name, row.device, row.weighted) == ("batched", "cpu", False))
    graph = as_graph(A, directed=directed)
    roots = np.arange(graph.n) if sources is None else np.array(sources, np.int64)
    return summed(graph, roots, row, SweepPlan(batch=64, sums=outputs, **options))


@functools.cache
def from_first_roots(count):
    """Sums of SCALE_FREE from its first vertices."""
    return by_the_cpu(SCALE_FREE, sources=range(count))


def assert_sums_close(gpu, ours, theirs):
    for name, array in ours:
        gpu.assert_close(array, getattr(theirs, name))


def assert_same_bits(ours, theirs):
    for name, array in ours:
        np.testing.assert_array_equal(array, getattr(theirs, name), err_msg=name)


# How small a level has to be for its rows alone to be visited: none is, or all are.
SMALL = {"launches over all rows": 2**40, "launches over few rows": 0}


@pytest.fixture(params=[*SMALL, "one launch"])
def schedule(request, monkeypatch):
    """Sweep every graph a launch a level (if it has less than 96), or in one launch."""
    monkeypatch.setattr(Graph, "has_high_diameter", property(lambda graph: request.param == "one launch"))
    if request.param in SMALL:
        monkeypatch.setattr("lagbc.tuning.SMALL_LEVEL", SMALL[request.param])
    return request.param


# Agreement


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", SPECIAL)
def test_special_graphs(sums_gpu, schedule, name, directed):
    ours = sums_of(sums_gpu, SPECIAL[name], directed=directed)
    assert {part for part, _ in ours} == offered(sums_gpu)
    assert_sums_close(sums_gpu, ours, by_the_oracle(SPECIAL[name], directed=directed))


@settings(max_examples=25)
@given(st.data())
def test_random_graphs(sums_gpu, data):
    """Some of the sums, from some roots, with weights."""
    A = data.draw(graphs())
    n = A.shape[0]
    options = {
        "directed": data.draw(st.booleans()),
        "sources": data.draw(st.none() | st.permutations(range(n)).map(lambda order: order[: n // 2])),
        "omega": data.draw(st.none() | vertex_weights(n)),
        "root_weights": data.draw(st.none() | vertex_weights(n)),
    }
    outputs = frozenset(data.draw(st.sets(st.sampled_from(sorted(offered(sums_gpu))), min_size=1)))
    deep, small = data.draw(st.booleans()), data.draw(st.sampled_from([*SMALL.values(), 8]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Graph, "has_high_diameter", property(lambda graph: deep))
        patch.setattr("lagbc.tuning.SMALL_LEVEL", small)
        ours = sums_of(sums_gpu, A, outputs=outputs, **options)
    assert {name for name, _ in ours} == outputs
    assert_sums_close(sums_gpu, ours, by_the_oracle(A, **options))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("A", [scale_free(600, 6000, seed=3), grid(19, 20)], ids=["scale-free", "mesh"])
def test_against_the_cpu(sums_gpu, schedule, A, directed):
    """Several groups of roots, the last one ragged."""
    rng = np.random.default_rng(2)
    omega, times = rng.integers(0, 4, (2, A.shape[0])) / 2
    for options in ({}, {"omega": omega, "root_weights": times}):
        options |= {"directed": directed}
        assert_sums_close(sums_gpu, sums_of(sums_gpu, A, batch=1024, **options), by_the_cpu(A, **options))


def test_hubs(sums_gpu, monkeypatch):
    """Rows of many edges, which a block shares, with those of few among them."""
    monkeypatch.setattr("lagbc.tuning.HUB_EDGES", (12, 12))
    for directed in (True, False):
        options = {"directed": directed, "sources": range(300)}
        theirs = by_the_cpu(SCALE_FREE, **options)
        assert_sums_close(sums_gpu, sums_of(sums_gpu, SCALE_FREE, **options), theirs)
        for some in (frozenset({"edges"}), frozenset({"dependency", "stress"}), frozenset({"reached", "depth"})):
            assert_sums_close(sums_gpu, sums_of(sums_gpu, SCALE_FREE, outputs=some, **options), theirs)


def test_a_row_longer_than_a_block(sums_gpu, schedule):
    n = 3000
    edges = [(0, v) for v in range(1, n)] + [(v, 0) for v in range(1, n, 2)] + [(v, v + 1) for v in range(1, n - 1)]
    options = {"sources": [0, 1, 2, 1500, 2999]}
    assert_sums_close(sums_gpu, sums_of(sums_gpu, matrix(n, edges), **options), by_the_cpu(matrix(n, edges), **options))


# Batches


@pytest.mark.parametrize("count", [1, 255, 257, 600])
def test_ragged_batches(sums_gpu, schedule, count):
    for batch in (256, 512):
        ours = sums_of(sums_gpu, SCALE_FREE, batch=batch, sources=range(count))
        assert_sums_close(sums_gpu, ours, from_first_roots(count))


@pytest.mark.parametrize("A", [scale_free(900, 7000, seed=6), grid(28, 30)], ids=["scale-free", "mesh"])
def test_bits(sums_gpu, schedule, A):
    """Neither the batch nor the run changes a bit."""
    expected = sums_of(sums_gpu, A, batch=256)
    for batch in (256, 512, 1024):
        assert_same_bits(sums_of(sums_gpu, A, batch=batch), expected)


def test_small_levels_change_no_bit(sums_gpu, monkeypatch):
    A = scale_free(1500, 12000, seed=6)
    results = []
    for small in (*SMALL.values(), 8):
        monkeypatch.setattr("lagbc.tuning.SMALL_LEVEL", small)
        results.append(sums_of(sums_gpu, A, batch=512))
    for result in results[1:]:
        assert_same_bits(result, results[0])


def test_bits_where_few_roots_see_many_levels(sums_gpu):
    """Some groups are swept again as deep ones, and their edges summed by the other schedule."""
    assert not as_graph(UNLIKE).has_high_diameter
    alone = sums_of(sums_gpu, UNLIKE, batch=256)
    assert_sums_close(sums_gpu, alone, by_the_cpu(UNLIKE))
    for batch in (512, 768):
        assert_same_bits(sums_of(sums_gpu, UNLIKE, batch=batch), alone)


def sums_of_batch(gpu, cupy, state, roots, fill=0.0):
    """What `backward` adds to sums that hold a number."""
    n, nnz = len(state.rows.position), int(state.rows.indices.size)
    sums = Sums.zeros_of_batch(cupy, state.plan.sums, n, nnz, -(-len(roots) // 256), len(roots))
    for _, array in sums:
        array += fill
    gpu.module.backward(state, search(gpu.module, state, roots), sums)
    return sums


def prepared(gpu, A, outputs=EVERYTHING, batch=256):
    plan = SweepPlan(batch=batch, dtype=gpu.dtype, method=gpu.row.name, sums=offered(gpu, outputs))
    return prepare(gpu.module, as_graph(A), plan)


def test_state_is_as_new_after_every_batch(sums_gpu, cupy):
    A = disjoint(path(130), grid(6, 7), scale_free(400, 2000, seed=4), matrix(3, []))
    n = A.shape[0]
    used = prepared(sums_gpu, A)
    for roots in (np.arange(100), np.arange(n - 100, n), np.arange(2), np.arange(60, 200)):
        ours = sums_of_batch(sums_gpu, cupy, used, roots)
        theirs = sums_of_batch(sums_gpu, cupy, prepared(sums_gpu, A), roots)
        for name, array in ours:
            sums_gpu.assert_close(array.get(), getattr(theirs, name).get())


@pytest.mark.parametrize("A", [SPECIAL["layers"], path(110)], ids=["layers", "path"])
def test_backward_adds(sums_gpu, cupy, A):
    roots = np.arange(0, A.shape[0], 3)
    theirs = by_the_oracle(A, sources=roots.tolist())
    for name, array in sums_of_batch(sums_gpu, cupy, prepared(sums_gpu, A), roots, fill=10.0):
        expected = getattr(theirs, name)
        sums_gpu.assert_close(
            (array if name == "depth" else array[0]).get(), 10 + (expected[roots] if name == "depth" else expected)
        )


@pytest.mark.parametrize("outputs", [EVERYTHING, EVERYTHING - PATH_SUMS], ids=["everything", "distances"])
def test_stop_flag(sums_gpu, cupy, schedule, outputs):
    state = prepared(sums_gpu, path(50), outputs)
    levels = search(sums_gpu.module, state, np.arange(3))
    state.plan.stop.set()
    sums = Sums.zeros_of_batch(cupy, state.plan.sums, 50, 98, 1, 3)
    with pytest.raises(Interrupted):
        sums_gpu.module.backward(state, levels, sums)
    with pytest.raises(Interrupted):
        search(sums_gpu.module, state, np.arange(3))


# Overflow


def test_backward_leaves_out_what_overflowed(sums_gpu, cupy):
    """In all sums; far beyond the limit, where counts are infinite."""
    A = diamonds({"float64": 2044, "float32": 252}[sums_gpu.dtype], 2)
    roots = np.array([0, A.shape[0] - 31, 4, A.shape[0] - 61])
    state = prepared(sums_gpu, A)
    np.testing.assert_array_equal(search(sums_gpu.module, state, roots).overflowed, [True, False, True, False])
    theirs = by_the_oracle(diamonds(20, 2), sources=[61 - 31, 0])  # the last 61 vertices
    for name, array in sums_of_batch(sums_gpu, cupy, state, roots):
        if name == "depth":
            np.testing.assert_array_equal(array.get(), [0, theirs.depth[30], 0, theirs.depth[0]])
        else:
            expected = getattr(theirs, name)
            sums_gpu.assert_close(array[0, -len(expected) :].get(), expected)
            assert not array[0, : -len(expected)].any()


def test_groups_are_summed_apart(sums_gpu, cupy, schedule):
    """A row of sums is that of its group alone, to the bit; some roots of the second one overflow."""
    if sums_gpu.dtype == "float64" and schedule == "launches":
        pytest.skip("2**1022 paths take more levels than are swept by launches")
    A = diamonds(1030, 2) if sums_gpu.dtype == "float64" else layered(34, 16)
    parts = np.arange(A.shape[0] - 256, A.shape[0]), np.arange(100)
    state = prepared(sums_gpu, A, batch=512)
    overflowed = search(sums_gpu.module, state, np.concatenate(parts)).overflowed
    assert 0 < overflowed[256:].sum() < 100
    assert not overflowed[:256].any()
    together = sums_of_batch(sums_gpu, cupy, state, np.concatenate(parts))
    for i, part in enumerate(parts):
        for name, array in sums_of_batch(sums_gpu, cupy, prepared(sums_gpu, A), part):
            ours = getattr(together, name)
            ours = ours[256 * i : 256 * i + len(part)] if name == "depth" else ours[i]
            np.testing.assert_array_equal(ours.get(), (array if name == "depth" else array[0]).get(), err_msg=name)


def test_without_path_counts_no_root_overflows(sums_gpu, cupy):
    A = diamonds(1100, 2)
    state = prepared(sums_gpu, A, EVERYTHING - PATH_SUMS)
    assert not search(sums_gpu.module, state, np.arange(9)).overflowed.any()
    depth = sums_of_batch(sums_gpu, cupy, state, np.arange(0, 9, 3)).depth
    np.testing.assert_array_equal(depth.get(), [2200, 2198, 2196])


@pytest.mark.parametrize("count", [90, 700])
def test_overflow_is_recomputed(sums_gpu, count):
    """3**90 is beyond float32, 3**700 beyond float64; roots near the end do not overflow."""
    A = diamonds(count, 3)
    n = A.shape[0]
    sources = [0, 1, 4, n // 2, n - 50, n - 5]
    theirs = by_the_oracle(A, sources=sources) if count == 90 else by_the_cpu(A, sources=sources)
    ours = sums_of(sums_gpu, A, sources=sources)
    for name, array in ours:
        if name == "stress":
            expected = getattr(theirs, name)
            finite = np.isfinite(expected)
            np.testing.assert_allclose(array[finite], expected[finite], rtol=1e-12)
            np.testing.assert_array_equal(np.isfinite(array), finite)
        else:
            sums_gpu.assert_close(array, getattr(theirs, name))


# Public functions


def options_of(gpu):
    return {"method": gpu.row.name, "device": "cuda", "dtype": gpu.dtype}


def test_stress_is_counted_in_float64(sums_gpu):
    """Whatever the dtype asked for; 5**60 is more than float32 holds."""
    exact = reference.stress(*adjacency(diamonds(60, 5)), sources=[0])
    ours = lagbc.stress(diamonds(60, 5), sources=[0], **options_of(sums_gpu))
    np.testing.assert_allclose(ours, [float(x) for x in exact], rtol=1e-13)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("kind", ["csr_matrix", "coo_matrix"])
def test_cupy_in_cupy_out(sums_gpu, cupy, kind, directed):
    from cupyx.scipy import sparse

    for A in (SPECIAL["loops and duplicates"], scale_free(60, 300, seed=8)):
        on_device = getattr(sparse, kind)(sparse.coo_matrix(A.astype(np.float32)))
        options = {"directed": directed, **options_of(sums_gpu)}
        names = ("edge_bc", "closeness", "harmonic", "eccentricity", "stress")
        together, on_host = (lagbc.centralities(X, names, **options) for X in (on_device, A))
        for name in names:
            alone = getattr(lagbc, name)(on_device, **options)
            theirs = getattr(lagbc, name)(A, directed=directed, **options_of(sums_gpu))
            if name == "edge_bc":
                assert sparse.issparse(alone)
                assert alone.format == on_device.format
                assert sp.issparse(on_host[name])
                ours = [X.toarray().get() for X in (alone, together[name])]
                theirs, on_host[name] = theirs.toarray(), on_host[name].toarray()
            else:
                assert isinstance(alone, cupy.ndarray)
                assert type(on_host[name]) is np.ndarray
                ours = [X.get() for X in (alone, together[name])]
            for scores in (*ours, on_host[name]):
                sums_gpu.assert_close(scores, theirs)


@pytest.mark.parametrize("name", ["karate", "lesmis", "power"])
def test_shipped_networks(sums_gpu, example, name):
    network = example(name)
    names = ("bc", "edge_bc", "closeness", "harmonic", "eccentricity", "stress")
    ours = lagbc.centralities(network.matrix, names, directed=False, **options_of(sums_gpu))
    theirs = lagbc.centralities(network.matrix, names, directed=False, method="batched", device="cpu")
    for key in names:
        pair = (ours[key], theirs[key])
        sums_gpu.assert_close(*((X.tocsr().toarray() for X in pair) if key == "edge_bc" else pair))
