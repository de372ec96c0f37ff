"""All sums of Delta-stepping on the GPU, in float64 and float32: every schedule against the oracle and the CPU."""

import functools
import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
import swept
from batches import EVERYTHING, search, sweep
from hypothesis import given, settings
from hypothesis import strategies as st
from states import prepare
from strategies import (
    SPECIAL,
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
from test_gpu_weighted import ABSORBED, UNLIKE, csr, integers, reals, with_lengths

import lagbc
from lagbc import reference
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import Interrupted, SweepPlan
from lagbc.methods.sums import PATH_SUMS, Sums
from lagbc.methods.table import METHODS

DISTANCES = EVERYTHING - PATH_SUMS
ROW = next(row for row in METHODS if row.name == "delta-stepping" and row.device == "cuda")
SCHEDULES = ("window", "one launch")
TOLERANCES = {"float64": 1e-12, "float32": 3e-5}


@pytest.fixture(params=SCHEDULES)
def schedule(request, cupy):
    return request.param


@pytest.fixture(params=TOLERANCES)
def dtype(request):
    return request.param


def offered(dtype, outputs):
    """Stress is counted in float64 alone."""
    return outputs - {"stress"} if dtype == "float32" else outputs


def prepared(A, schedule, *, batch=256, dtype="float64", outputs=EVERYTHING, directed=True, **options):
    plan = SweepPlan(batch=batch, dtype=dtype, sums=offered(dtype, outputs), method=ROW.name, **options)
    return prepare(ROW.load(), as_graph(A, directed=directed, weighted=True), plan, schedule)


def zeros(state, roots):
    """The sums of a batch."""
    n, nnz = len(state.rows.position), int(state.rows.indices.size)
    return Sums.zeros_of_batch(ROW.arrays, state.plan.sums, n, nnz, -(-len(roots) // 256), len(roots))


def add_batch(state, roots, fill=0.0):
    """What `backward` adds to sums that hold a number, and the levels."""
    sums = zeros(state, roots)
    for _, array in sums:
        array += fill
    levels = search(ROW.load(), state, np.asarray(roots))
    ROW.load().backward(state, levels, sums)
    return sums, levels


def summed(A, schedule, *, roots=None, batch=256, **options):
    """The sums of all batches by one schedule, on the host."""
    n = A.shape[0]
    state = prepared(A, schedule, batch=batch, **options)
    roots = np.arange(n) if roots is None else np.asarray(roots, np.int64)
    total = Sums.zeros(np, state.plan.sums, n, int(state.rows.indices.size))
    for first in range(0, len(roots), batch):
        part, levels = add_batch(state, roots[first : first + batch])
        assert not levels.overflowed.any()
        on_host = Sums(**{name: array.get() for name, array in part})
        total = on_host.added_to(total, n, roots[first : first + batch])
    assert state.schedule == schedule
    return total


def by_the_oracle(A, *, directed=True, roots=None, omega=None, root_weights=None, number=Fraction):
    """All sums, a root at a time; in rationals, unless `number` says otherwise."""
    n, (indptr, indices, lengths) = A.shape[0], csr(A, directed=directed)
    graph = indptr, indices, [number(x) for x in lengths]
    total = {name: np.zeros(len(indices) if name == "edges" else n, object) for name in EVERYTHING}
    weights = {"target_weights": None if omega is None else [number(x) for x in omega]}
    for root in range(n) if roots is None else map(int, roots):
        times = 1 if root_weights is None else number(root_weights[root])
        one = {"sources": [root]}
        total["dependency"] += times * np.array(reference.brandes(*graph, number=number, **one, **weights), object)
        total["stress"] += times * np.array(reference.stress(*graph, **one, **weights), object)
        total["edges"] += times * np.array(reference.edge_scores(*graph, number=number, **one, **weights), object)
        into = reference.distances_into(*graph, **one)
        total["reached"] += [len(d) for d in into]
        total["distance"] += np.array([sum(d) for d in into], object)
        total["inverse"] += np.array([sum(1 / x for x in d) for d in into], object)
        total["depth"][root] = max((x for d in into for x in d), default=0)
    return Sums(**{name: array.astype(float) for name, array in total.items()})


@functools.cache
def from_first_roots(name, count):
    """Sums of a graph from its first vertices, in float64."""
    return by_the_oracle(LARGE[name], roots=range(count), number=float)


def assert_close(ours, theirs, dtype="float64"):
    for name, array in ours:
        assert array.dtype == np.float64
        tolerance = TOLERANCES[dtype]
        np.testing.assert_allclose(array, getattr(theirs, name), rtol=tolerance, atol=tolerance, err_msg=name)


def assert_same_bits(ours, theirs):
    for name, array in ours:
        np.testing.assert_array_equal(array, getattr(theirs, name), err_msg=name)


LARGE = {
    "scale-free": with_lengths(scale_free(300, 2200, seed=1), integers(3)),
    "mesh": with_lengths(grid(5, 60), integers(1)),
}


# Agreement


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", [name for name, A in SPECIAL.items() if A.nnz])
def test_special_graphs(schedule, name, directed):
    """Among them isolated vertices, loops, duplicates and components."""
    A = SPECIAL[name].tocoo(copy=True)
    A.data = 1.0 + np.arange(A.nnz) % 3
    graph = as_graph(A, directed=directed, weighted=True)
    if not graph.nnz:
        pytest.skip("there is no edge but loops, which are dropped")
    ours = summed(A, schedule, directed=directed)
    assert {part for part, _ in ours} == EVERYTHING
    assert_close(ours, by_the_oracle(A, directed=directed))


@settings(max_examples=30)
@given(st.data())
def test_random_graphs(cupy, data):
    """Some of the sums, from some roots, with weights, by any schedule."""
    A = data.draw(graphs(min_n=2))
    n = A.shape[0]
    unit = data.draw(st.sampled_from([1.0, 3.0, 0.25]))
    values = st.sampled_from([unit, 2 * unit, 3 * unit])
    A.data = np.array(data.draw(st.lists(values, min_size=A.nnz, max_size=A.nnz)))
    options = {
        "directed": data.draw(st.booleans()),
        "roots": data.draw(st.none() | st.permutations(range(n)).map(lambda order: order[: n // 2])),
        "omega": data.draw(st.none() | vertex_weights(n)),
        "root_weights": data.draw(st.none() | vertex_weights(n)),
    }
    dtype = "float64" if options["omega"] is not None else data.draw(st.sampled_from(["float64", "float32"]))
    outputs = frozenset(data.draw(st.sets(st.sampled_from(sorted(offered(dtype, EVERYTHING))), min_size=1)))
    ours = summed(A, data.draw(st.sampled_from(SCHEDULES)), outputs=outputs, dtype=dtype, **options)
    assert {name for name, _ in ours} == outputs
    assert_close(ours, by_the_oracle(A, **options), dtype)


@settings(max_examples=15)
@given(st.data())
def test_ties_are_as_the_sums_fall(cupy, data):
    """0.1 + 0.2 is not 0.3; the oracle adds in float64, too."""
    A = data.draw(graphs(min_n=2))
    A.data = np.array(data.draw(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.6]), min_size=A.nnz, max_size=A.nnz)))
    assert_close(summed(A, data.draw(st.sampled_from(SCHEDULES))), by_the_oracle(A, number=float))


@pytest.mark.parametrize("weights", [False, True], ids=["plain", "weights"])
@pytest.mark.parametrize("name", LARGE)
def test_several_groups(schedule, dtype, name, weights):
    """The last one ragged."""
    n = LARGE[name].shape[0]
    omega, times = np.random.default_rng(2).integers(0, 4, (2, n)) / 2
    options = {"omega": omega, "root_weights": times} if weights else {}
    if name == "mesh" and schedule != "one launch":
        pytest.skip("it is too deep")
    theirs = by_the_oracle(LARGE[name], number=float, **options)
    assert_close(summed(LARGE[name], schedule, batch=512, dtype=dtype, **options), theirs, dtype)


@pytest.mark.parametrize("length", [0.1, 1.0])
def test_hubs(schedule, monkeypatch, length):
    """Rows of many edges, which a block shares, with those of few among them."""
    monkeypatch.setattr("lagbc.tuning.HUB_EDGES", (12, 12))
    A, roots = LARGE["scale-free"] * length, range(0, 300, 7)
    theirs = by_the_oracle(A, directed=False, roots=roots, number=float)
    for some in (
        EVERYTHING,
        frozenset({"edges"}),
        frozenset({"dependency", "stress"}),
        frozenset({"reached", "depth"}),
    ):
        assert prepared(A, schedule, outputs=some, directed=False).rows.hubs > 3
        assert_close(summed(A, schedule, roots=roots, outputs=some, directed=False), theirs)


def test_a_row_longer_than_a_block(schedule):
    n = 2400
    edges = [(0, v) for v in range(1, n)] + [(v, 0) for v in range(1, n, 2)] + [(v, v % 50 + 1) for v in range(51, n)]
    A = matrix(n, edges).tocoo()
    A.data = 1.0 + np.arange(A.nnz) % 3
    roots = [0, 1, 2399]
    assert_close(summed(A, schedule, roots=roots), by_the_oracle(A, roots=roots, number=float))


def test_ties_within_and_across_rounds(schedule):
    """Complete bipartite layers with two lengths."""
    A = layered(7, 6)
    A = sp.coo_array((np.random.default_rng(3).choice([1.0, 2.0], A.nnz), (A.row, A.col)), shape=A.shape)
    for directed in (True, False):
        assert_close(summed(A, schedule, directed=directed), by_the_oracle(A, directed=directed))


# Batches


@pytest.mark.parametrize("count", [1, 255, 257, 300])
def test_ragged_batches(schedule, count):
    for batch in (256, 512):
        ours = summed(LARGE["scale-free"], schedule, batch=batch, roots=range(count))
        assert_close(ours, from_first_roots("scale-free", count))


def test_bits(schedule):
    """Neither the batch nor the run changes a bit."""
    A = disjoint(*[with_lengths(grid(5, 7), integers(3))] * 18) if schedule == "one launch" else LARGE["scale-free"]
    A = disjoint(A, with_lengths(scale_free(300, 1800, seed=4), integers(3)))
    expected = summed(A, schedule, batch=256)
    for batch in (512, 768, 256):
        assert_same_bits(summed(A, schedule, batch=batch), expected)


def test_state_is_as_new_after_every_batch(schedule):
    A = disjoint(grid(6, 7), scale_free(80, 400, seed=4), matrix(3, []))
    A = with_lengths(A, integers(2))
    n = A.shape[0]
    used = prepared(A, schedule)
    for roots in (np.arange(100), np.arange(n - 50, n), np.arange(2), np.arange(40, 120)):
        ours, _ = add_batch(used, roots)
        theirs, _ = add_batch(prepared(A, schedule), roots)
        for name, array in ours:
            np.testing.assert_allclose(array.get(), getattr(theirs, name).get(), rtol=1e-12, err_msg=name)


def test_backward_adds(schedule):
    A = with_lengths(grid(4, 9), integers(3))
    roots = np.arange(0, 36, 3)
    theirs = by_the_oracle(A, roots=roots)
    for name, array in add_batch(prepared(A, schedule), roots, fill=10.0)[0]:
        ours, expected = array.get().reshape(-1), getattr(theirs, name)
        np.testing.assert_allclose(ours, 10 + (expected[roots] if name == "depth" else expected), rtol=1e-12)


@pytest.mark.parametrize("outputs", [EVERYTHING, DISTANCES], ids=["everything", "distances"])
def test_deeper_groups(cupy, outputs):
    """The window gives up on groups that have too many levels for it, among batches that it takes."""
    state = prepared(UNLIKE, "window", batch=512, outputs=outputs)
    for roots, taken in (
        (np.arange(200, 260), "window"),
        (np.arange(40), "one launch"),
        (np.arange(300, 340), "window"),
    ):
        ours, _ = add_batch(state, roots)
        assert state.schedule == taken
        theirs = by_the_oracle(UNLIKE, roots=roots, number=float)
        for name, array in ours:
            expected = getattr(theirs, name)
            within = array.get() if name == "depth" else array.get().sum(axis=0)
            np.testing.assert_allclose(
                within, expected[roots] if name == "depth" else expected, rtol=1e-12, atol=1e-12, err_msg=name
            )
    groups = np.concatenate([np.arange(100), np.arange(300, 456)]), np.arange(200, 300)
    roots = np.concatenate(groups)
    together = zeros(state, roots)
    shallow, deep = sweep(ROW.load(), state, roots, together)
    np.testing.assert_array_equal(np.concatenate([deep.places, shallow.places]), np.arange(356))
    for i, group in enumerate(groups):
        for name, array in add_batch(prepared(UNLIKE, "window", outputs=outputs), group)[0]:
            ours = getattr(together, name)
            ours = ours[256 * i : 256 * i + len(group)] if name == "depth" else ours[i : i + 1]
            np.testing.assert_array_equal(ours.get(), array.get(), err_msg=name)


def test_unlike_groups_come_apart(cupy):
    """And the batch changes no bit."""
    graph, roots = as_graph(UNLIKE, weighted=True), np.arange(150, 600)
    results = []
    for batch in (256, 512):
        plan = SweepPlan(batch=batch, sums=EVERYTHING, method=ROW.name)
        results.append(swept.summed(graph, roots, ROW, plan))
    assert_same_bits(results[1], results[0])
    assert_close(results[0], by_the_oracle(UNLIKE, roots=roots, number=float))


@pytest.mark.parametrize("outputs", [EVERYTHING, DISTANCES], ids=["everything", "distances"])
def test_stop_flag(schedule, outputs):
    A = with_lengths(grid(3, 9), integers(3))
    state = prepared(A, schedule, outputs=outputs)
    levels = search(ROW.load(), state, np.arange(3))
    state.plan.stop.set()
    sums = Sums.zeros_of_batch(ROW.arrays, state.plan.sums, 27, A.nnz, 1, 3)
    with pytest.raises(Interrupted):
        ROW.load().backward(state, levels, sums)
    assert not any(array.any() for _, array in sums)
    with pytest.raises(Interrupted):
        search(ROW.load(), state, np.arange(3))


# What a search cannot finish


@pytest.mark.parametrize("schedule", ["one launch"])
def test_backward_leaves_out_what_overflowed(cupy, schedule, dtype):
    """In all sums; far beyond the limit, where counts are infinite."""
    A = with_lengths(diamonds({"float64": 2044, "float32": 252}[dtype], 2), lambda count: np.full(count, 3.0))
    last = with_lengths(diamonds(20, 2), lambda count: np.full(count, 3.0))
    roots = np.array([0, A.shape[0] - 31, 4, A.shape[0] - 61])
    ours, levels = add_batch(prepared(A, schedule, dtype=dtype), roots)
    np.testing.assert_array_equal(levels.overflowed, [True, False, True, False])
    theirs = by_the_oracle(last, roots=[61 - 31, 0])  # the last 61 vertices
    for name, array in ours:
        if name == "depth":
            np.testing.assert_array_equal(array.get(), [0, theirs.depth[30], 0, theirs.depth[0]])
        elif name != "edges":
            expected = getattr(theirs, name)
            np.testing.assert_allclose(array[0, -61:].get(), expected, rtol=TOLERANCES[dtype])
            assert not array[0, :-61].any()


def dense_chain(layers, width):
    """Complete bipartite layers: width**(layers - 1) paths along few levels."""
    return with_lengths(layered(layers, width), lambda count: np.full(count, 2.0))


def test_few_levels_of_many_paths(schedule):
    """40**24 is beyond float32; the last layers are not."""
    A = dense_chain(26, 40)
    n = A.shape[0]
    roots = np.array([0, 5, n - 100, n - 45])
    ours, levels = add_batch(prepared(A, schedule, dtype="float32"), roots)
    assert levels.overflowed.tolist() == [True, True, False, False]
    theirs = by_the_oracle(A, roots=roots[2:], number=float)
    for name, array in ours:
        expected = theirs.depth[roots] if name == "depth" else getattr(theirs, name)
        np.testing.assert_allclose(array.get().reshape(-1), expected, rtol=3e-5, atol=3e-5, err_msg=name)
    ours, levels = add_batch(prepared(A, schedule, dtype="float32", outputs=DISTANCES), roots)
    assert not levels.overflowed.any()
    theirs = by_the_oracle(A, roots=roots, number=float)
    for name, array in ours:
        expected = theirs.depth[roots] if name == "depth" else getattr(theirs, name)
        np.testing.assert_allclose(array.get().reshape(-1), expected, rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("name", ["bc", "edge_bc", "harmonic"])
def test_overflow_is_recomputed(cupy, dtype, name):
    """3**90 is beyond float32, 3**700 beyond float64; roots near the end do not overflow."""
    A = with_lengths(diamonds({"float64": 700, "float32": 90}[dtype], 3), lambda count: np.full(count, 0.5))
    n = A.shape[0]
    options = {"weighted": True, "sources": [0, 4, n - 50, n - 5]}
    ours = getattr(lagbc, name)(A, method=ROW.name, device="cuda", dtype=dtype, **options)
    theirs = getattr(lagbc, name)(A, method="batched", device="cpu", **options)
    ours, theirs = (x.tocsr().data if sp.issparse(x) else x for x in (ours, theirs))
    np.testing.assert_allclose(ours, theirs, rtol=TOLERANCES[dtype], atol=TOLERANCES[dtype])


def test_an_absorbed_length(schedule):
    """The other roots of the batch are not the worse for it; distances are what they are."""
    ours, levels = add_batch(prepared(ABSORBED, schedule), range(4))
    assert levels.overflowed.tolist() == [True, False, False, False]
    theirs = by_the_oracle(ABSORBED, roots=[1, 2, 3])
    for name, array in ours:
        np.testing.assert_allclose(array.get().reshape(-1), getattr(theirs, name), err_msg=name)
    ours, levels = add_batch(prepared(ABSORBED, schedule, outputs=DISTANCES), range(4))
    assert not levels.overflowed.any()
    assert_close(Sums(**{name: array.get().reshape(-1) for name, array in ours}), by_the_oracle(ABSORBED, number=float))


# Options


def test_stress_is_not_counted_in_float32(cupy, schedule):
    graph = as_graph(with_lengths(path(4), integers(2)), weighted=True)
    with pytest.raises(ValueError, match="stress: counted in float64"):
        prepare(ROW.load(), graph, SweepPlan(batch=256, dtype="float32", sums=EVERYTHING), schedule)


@pytest.mark.parametrize("schedule", ["window", "one launch"])
def test_tolerance(cupy, schedule):
    """0.1 + 0.2 is more than 0.3 by rounding alone; with rtol there are three shortest paths from 0 to 3."""
    A = sp.coo_array(([0.1, 0.2, 0.2, 0.1, 0.3], ([0, 1, 0, 2, 0], [1, 3, 2, 3, 3])), shape=(4, 4))
    exact, wide = (summed(A, schedule, roots=[0], rtol=rtol) for rtol in (0.0, 1e-9))
    assert exact.stress.tolist() == [0, 0, 0, 0]
    assert wide.stress.tolist() == [0, 1, 1, 0]
    np.testing.assert_allclose(wide.edges, [4 / 3, 4 / 3, 1 / 3, 1 / 3, 1 / 3], rtol=1e-15)
    np.testing.assert_array_equal(wide.distance, exact.distance)


@pytest.mark.parametrize("kind", ["reals", "tenths"])
def test_public_functions(cupy, kind):
    """Whatever schedule is taken, with many and with one sum."""
    draw = reals(0.1, 1) if kind == "reals" else lambda count: np.resize([0.1, 0.2, 0.3, 0.6], count)
    A = with_lengths(scale_free(90, 500, seed=7), draw)
    names = ("bc", "edge_bc", "closeness", "harmonic", "eccentricity", "stress")
    options = {"weighted": True, "method": ROW.name, "device": "cuda"}
    together = lagbc.centralities(A, names, **options)
    summed = by_the_oracle(A, number=float)
    for name, key in (("bc", "dependency"), ("harmonic", "inverse"), ("eccentricity", "depth"), ("stress", "stress")):
        for ours in (together[name], getattr(lagbc, name)(A, **options)):
            np.testing.assert_allclose(ours, getattr(summed, key), rtol=1e-12, atol=1e-12, err_msg=name)
    for ours in (together["edge_bc"], lagbc.edge_bc(A, **options)):
        np.testing.assert_allclose(ours.tocsr().data, summed.edges, rtol=1e-12, atol=1e-12)


def test_every_sum_alone_is_one_of_all(schedule):
    A = with_lengths(scale_free(60, 300, seed=8), integers(3))
    together = summed(A, schedule)
    for name in EVERYTHING:
        assert_close(summed(A, schedule, outputs=frozenset({name})), together)
    for pair in itertools.combinations(("dependency", "edges", "inverse"), 2):
        assert_close(summed(A, schedule, outputs=frozenset(pair)), together)
