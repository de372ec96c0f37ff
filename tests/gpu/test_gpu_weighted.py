"""Every GPU method that takes lengths, in float64 and float32: against the oracle, and where it may break."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from batches import dependency_of, peak_of, search, sweep
from hypothesis import given, settings
from hypothesis import strategies as st
from states import prepare
from strategies import (
    SPECIAL,
    both_ways,
    diamonds,
    disjoint,
    draw_options,
    graphs,
    grid,
    layered,
    matrix,
    path,
    scale_free,
    star,
)
from strategies import UNLIKE as UNLIKE_HOPS

import lagbc
from lagbc import reference, tuning
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import Interrupted, SweepPlan, bytes_of
from lagbc.methods.sums import Sums


def with_lengths(pattern, draw):
    """A COO matrix whose edges have lengths draw(count), alike both ways; loops and duplicates are dropped."""
    A = sp.csr_array((pattern.tocsr() != 0).astype(float)).tocoo()
    kept = A.row != A.col
    row, col = A.row[kept], A.col[kept]
    n = A.shape[0]
    pairs, index = np.unique(np.minimum(row, col) * n + np.maximum(row, col), return_inverse=True)
    return sp.coo_array((np.asarray(draw(len(pairs)), float)[index], (row, col)), shape=A.shape)


def integers(largest, seed=1):
    return lambda count: np.random.default_rng(seed).integers(1, largest + 1, count)


def reals(least, most, seed=1):
    return lambda count: np.random.default_rng(seed).uniform(least, most, count)


def powers(seed=1):
    """Lengths of which some are 2**40 times as long as others."""
    return lambda count: 2.0 ** np.random.default_rng(seed).integers(-20, 21, count)


# With the schedule that `choose_schedule` should take.
GRAPHS = {
    "scale-free, 1 to 10": (with_lengths(scale_free(400, 2500, seed=1), integers(10)), "window"),
    "scale-free, 1 to 5": (with_lengths(scale_free(400, 2500, seed=1), integers(5)), "window"),
    "scale-free, 0.1 to 1": (with_lengths(scale_free(400, 2500, seed=2), reals(0.1, 1)), "window"),
    "scale-free, 0 to 1": (with_lengths(scale_free(400, 2500, seed=3), reals(0, 1)), "window"),
    "scale-free, 1 to 1000": (with_lengths(scale_free(400, 2500, seed=4), integers(1000)), "window"),
    "star": (with_lengths(star(1500), integers(4)), "window"),
    "grid, 1 to 10": (with_lengths(grid(11, 40), integers(10)), "one launch"),
    "grid, reals": (with_lengths(grid(11, 40), reals(0.1, 1)), "one launch"),
    "grid, powers": (with_lengths(grid(11, 40), powers()), "one launch"),
    "path": (with_lengths(path(150), reals(0, 3)), "one launch"),
    "components": (
        with_lengths(disjoint(path(9), grid(5, 6), matrix(3, []), scale_free(60, 300, seed=5)), integers(3)),
        "window",
    ),
}


def csr(A, *, directed=True):
    """``(indptr, indices, lengths)`` as lists, by means other than lagbc's: duplicates add up, loops are dropped."""
    added, shortest = {}, {}
    coo = sp.coo_array(A)
    for i, j, length in zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True):
        if i != j:
            added[i, j] = added.get((i, j), 0) + length
    for (i, j), length in added.items():
        for edge in ((i, j),) if directed else ((i, j), (j, i)):
            shortest[edge] = min(length, shortest.get(edge, np.inf))
    edges = sorted(shortest)
    indptr = np.searchsorted([i for i, _ in edges], np.arange(A.shape[0] + 1)).tolist()
    return indptr, [j for _, j in edges], [shortest[edge] for edge in edges]


def oracle(A, *, directed=True, number=None, sources=None, **options):
    """Scores by textbook Brandes, in exact rationals where A is small or `number` says so."""
    number = number or (Fraction if A.shape[0] <= 40 else float)
    sources = None if sources is None else [int(s) for s in sources]
    raw = reference.brandes(*csr(A, directed=directed), number=number, sources=sources, **options)
    return np.array([float(x) for x in raw]) / (1 if directed else 2)


def prepared(gpu, A, *, batch=256, directed=True, **options):
    """A method's state for a matrix."""
    graph = as_graph(A, directed=directed, weighted=True)
    return prepare(gpu.module, graph, SweepPlan(batch=batch, dtype=gpu.dtype, **options))


def sums(gpu, cupy, state, roots, n):
    """One batch through a state, and its levels."""
    levels = search(gpu.module, state, np.asarray(roots))
    added = dependency_of(cupy, gpu.module, len(roots), n)
    gpu.module.backward(state, levels, added)
    return added.dependency.sum(axis=0).get(), levels


# Agreement


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", SPECIAL)
def test_special_graphs(weighted_gpu, name, directed):
    """Among them graphs of 0, 1 and 2 vertices, isolated vertices, loops, duplicates and components."""
    A = SPECIAL[name].tocoo(copy=True)
    A.data = 1.0 + np.arange(A.nnz) % 3
    for endpoints in (False, True):
        options = {"directed": directed, "endpoints": endpoints}
        weighted_gpu.assert_close(weighted_gpu.bc(A, **options), oracle(A, **options))


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs(weighted_gpu, name):
    A, _ = GRAPHS[name]
    sources = np.arange(0, A.shape[0], 7)
    weighted_gpu.assert_close(weighted_gpu.bc(A, sources=sources), oracle(A, sources=sources))


@settings(max_examples=15)
@given(st.data())
def test_random_graphs(weighted_gpu, data):
    A = data.draw(graphs())
    A.data = np.array(data.draw(st.lists(st.sampled_from([0.5, 1.0, 1.0, 2.0, 3.0]), min_size=A.nnz, max_size=A.nnz)))
    options = draw_options(data, A.shape[0])
    weighted_gpu.assert_close(weighted_gpu.bc(A, **options), oracle(A, **options))


@settings(max_examples=15)
@given(st.data())
def test_ties_are_as_the_sums_fall(weighted_gpu, data):
    """0.1 + 0.2 is not 0.3; the oracle adds in float64, too."""
    A = data.draw(graphs(min_n=1))
    A.data = np.array(data.draw(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.6]), min_size=A.nnz, max_size=A.nnz)))
    weighted_gpu.assert_close(weighted_gpu.bc(A), oracle(A))


@pytest.mark.parametrize("name", ["scale-free, 0.1 to 1", "scale-free, 1 to 10", "grid, 1 to 10"])
def test_vertex_weights_and_endpoints(weighted_gpu, name):
    A, _ = GRAPHS[name]
    omega, times = np.random.default_rng(2).integers(0, 4, (2, A.shape[0])) / 2
    sources = np.arange(3, A.shape[0], 11)
    for options in ({"endpoints": True}, {"target_weights": omega}, {"source_weights": times, "target_weights": omega}):
        weighted_gpu.assert_close(weighted_gpu.bc(A, sources=sources, **options), oracle(A, sources=sources, **options))


@pytest.mark.parametrize("name", ["lesmis", "us-airports"])
def test_shipped_networks(weighted_gpu, example, name):
    network = example(name)
    A = network.matrix
    options = {"directed": network.directed, "sources": np.flatnonzero(np.diff(A.tocsr().indptr))[::12]}
    weighted_gpu.assert_close(weighted_gpu.bc(A, **options), oracle(A, **options))


@pytest.mark.parametrize("A", [scale_free(300, 1800, seed=7), grid(9, 31)], ids=["scale-free", "mesh"])
def test_unit_lengths_are_hops(weighted_gpu, A):
    A = with_lengths(A, np.ones)
    for length in (1.0, 3.0, 0.25):
        expected = lagbc.bc(A, method="batched", device="cuda", dtype=weighted_gpu.dtype)
        weighted_gpu.assert_close(weighted_gpu.bc(A * length), expected)


def test_extreme_lengths(weighted_gpu, cupy):
    """Paths nearly as long as float64 holds; lengths below the normal numbers add up exactly."""
    tiny = float(np.finfo(float).smallest_subnormal)
    for lengths in ([5e307, 5.5e307], [5e307, 5e307], [tiny, 3 * tiny], [1e-300, 1e300]):
        A = sp.csr_array((lengths, ([0, 1], [1, 2])), shape=(3, 3))
        ours, levels = sums(weighted_gpu, cupy, prepared(weighted_gpu, A, endpoints=True), [0], 3)
        assert not levels.overflowed.any()
        np.testing.assert_array_equal(ours, [2, 2, 1])


# Batches


@pytest.mark.parametrize("count", [1, 255, 257, 400])
@pytest.mark.parametrize("name", ["scale-free, 0.1 to 1", "scale-free, 1 to 10", "grid, reals"])
def test_ragged_batches(weighted_gpu, name, count):
    A, _ = GRAPHS[name]
    expected = oracle(A, sources=range(count))
    for batch in (256, 512):
        weighted_gpu.assert_close(weighted_gpu.bc(A, batch=batch, sources=range(count)), expected)


@pytest.mark.parametrize("name", ["scale-free, 0 to 1", "components", "grid, powers"])
def test_state_is_as_new_after_every_batch(weighted_gpu, cupy, name):
    A, _ = GRAPHS[name]
    n = A.shape[0]
    used = prepared(weighted_gpu, A)
    for roots in (np.arange(n // 2), np.arange(n - 30, n), np.arange(2), np.arange(n // 3, n // 3 + 40)):
        ours, _ = sums(weighted_gpu, cupy, used, roots, n)
        theirs, _ = sums(weighted_gpu, cupy, prepared(weighted_gpu, A), roots, n)
        weighted_gpu.assert_close(ours, theirs)


def test_backward_adds(weighted_gpu, cupy):
    A, _ = GRAPHS["grid, reals"]
    state = prepared(weighted_gpu, A)
    out = cupy.full((1, A.shape[0]), 10.0)
    weighted_gpu.module.backward(state, search(weighted_gpu.module, state, np.arange(30)), Sums(dependency=out))
    weighted_gpu.assert_close(out[0].get(), 10 + oracle(A, sources=range(30)))


def test_out_of_memory_halves_the_batch(weighted_gpu, cupy):
    """The pool is held to less than the batch takes."""
    pool = cupy.get_default_memory_pool()
    pool.free_all_blocks()
    limit = pool.get_limit()
    pool.set_limit(size=pool.total_bytes() + (48 << 20))
    try:
        with pytest.warns(lagbc.MemoryWarning, match="ran out of memory"):
            scores = weighted_gpu.bc(with_lengths(star(3000), np.ones), batch=5120, sources=range(3000))
    finally:
        pool.set_limit(size=limit)
    weighted_gpu.assert_close(scores, np.append(2999.0 * 2999, np.zeros(3000)))


# What a search cannot finish


LIMITS = {"float64": 1022, "float32": 126}


@pytest.mark.parametrize("above", [-1, 0, 1])
def test_overflow_is_detected(weighted_gpu, above):
    """Chains of two-way diamonds count powers of two, exactly."""
    limit = LIMITS[weighted_gpu.dtype]
    A = with_lengths(diamonds(limit + above, 2), lambda count: np.full(count, 3.0))
    overflowed = search(weighted_gpu.module, prepared(weighted_gpu, A), np.array([0, 3])).overflowed
    assert isinstance(overflowed, np.ndarray)
    assert overflowed.tolist() == [above > 0, False]


@pytest.mark.parametrize("kind", ["plain", "endpoints", "weights"])
def test_overflow_is_recomputed(weighted_gpu, kind):
    """3**90 is beyond float32; roots near the end do not overflow."""
    count = {"float64": 700, "float32": 90}[weighted_gpu.dtype]
    A = with_lengths(diamonds(count, 3), lambda edges: np.full(edges, 0.5))
    n = A.shape[0]
    options = {
        "plain": {},
        "endpoints": {"endpoints": True},
        "weights": {"target_weights": np.arange(n) % 3 / 2, "source_weights": np.arange(n) % 5 / 2},
    }[kind]
    options["sources"] = [0, 4, n - 50, n - 5]
    weighted_gpu.assert_close(weighted_gpu.bc(A, **options), oracle(A, number=Fraction, **options))


# From 0, vertex 2 is no farther than 1, but no path leads there on which each edge counts.
ABSORBED = sp.csr_array(([1e20, 1.0, 5.0], ([0, 1, 2], [1, 2, 3])), shape=(4, 4))


def test_an_absorbed_length_is_told(weighted_gpu, cupy):
    """The other roots of the batch are not the worse for it."""
    ours, levels = sums(weighted_gpu, cupy, prepared(weighted_gpu, ABSORBED), range(4), 4)
    assert levels.overflowed.tolist() == [True, False, False, False]
    weighted_gpu.assert_close(ours, oracle(ABSORBED, sources=[1, 2, 3]))


def test_an_absorbed_length_is_named(weighted_gpu):
    with pytest.raises(ValueError, match=r"length 1\.0 of the edge \(1, 2\) is lost to rounding beside .* vertex 0"):
        weighted_gpu.bc(ABSORBED)
    weighted_gpu.assert_close(weighted_gpu.bc(ABSORBED, sources=[1, 2]), oracle(ABSORBED, sources=[1, 2]))


def test_an_absorbed_length_that_no_path_needs(weighted_gpu):
    """From 0, the edges 1 -> 2 and 2 -> 1 lead on no shortest path."""
    A = sp.csr_array(([1e20, 1e20, 1.0, 1.0, 1e20], ([0, 0, 1, 2, 1], [1, 2, 2, 1, 3])), shape=(4, 4))
    np.testing.assert_array_equal(weighted_gpu.bc(A, sources=[0]), [0, 1, 0, 0])


# Interruption


@pytest.mark.parametrize("name", ["scale-free, 0.1 to 1", "scale-free, 0 to 1", "scale-free, 1 to 10", "grid, reals"])
def test_stop_flag(weighted_gpu, cupy, name):
    A, _ = GRAPHS[name]
    state = prepared(weighted_gpu, A)
    levels = search(weighted_gpu.module, state, np.arange(3))
    state.plan.stop.set()
    out = cupy.zeros((1, A.shape[0]))
    with pytest.raises(Interrupted):
        weighted_gpu.module.backward(state, levels, Sums(dependency=out))
    assert not out.any()
    with pytest.raises(Interrupted):
        search(weighted_gpu.module, state, np.arange(3))


def test_checkpoint(weighted_gpu, tmp_path):
    """A run that is interrupted after its first batch goes on where it was."""

    def interrupt(progress):
        raise KeyboardInterrupt

    A, file = GRAPHS["grid, 1 to 10"][0], tmp_path / "run.npz"
    expected = weighted_gpu.bc(A, batch=256)
    with pytest.raises(KeyboardInterrupt):
        weighted_gpu.bc(A, batch=256, checkpoint=file, progress=interrupt)
    weighted_gpu.assert_close(weighted_gpu.bc(A, batch=256, checkpoint=file), expected)


# Delta-stepping: its schedules


@pytest.fixture(scope="module")
def delta(cupy):
    """The method's module."""
    return next(row for row in lagbc.METHODS if row.name == "delta-stepping" and row.device == "cuda").load()


def run(delta, A, schedule, *, roots, dtype="float64", directed=True, **plan):
    """Raw sums by one schedule, with the state and the levels it leaves."""
    import cupy

    graph = as_graph(A, directed=directed, weighted=True)
    state = prepare(delta, graph, SweepPlan(batch=256 * -(-len(roots) // 256), dtype=dtype, **plan), schedule)
    levels = search(delta, state, np.asarray(roots))
    out = cupy.zeros((state.rows.groups, A.shape[0]))
    delta.backward(state, levels, Sums(dependency=out))
    return out.sum(axis=0).get(), state, levels


def within(ours, theirs, tolerance):
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", GRAPHS)
def test_the_schedule_that_is_taken(delta, name):
    A, schedule = GRAPHS[name]
    graph = as_graph(A, weighted=True)
    assert delta.choose_schedule(graph, SweepPlan(batch=256)) == schedule
    assert delta.choose_schedule(graph, SweepPlan(batch=256, at_once=True)) == "one launch"


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("schedule", ["window", "one launch"])
@pytest.mark.parametrize("name", GRAPHS)
def test_every_schedule_agrees_with_the_oracle(delta, name, schedule, dtype):
    A, _ = GRAPHS[name]
    roots = np.arange(0, A.shape[0], 9)
    ours, _, levels = run(delta, A, schedule, roots=roots, dtype=dtype)
    # Rounding may absorb lengths that are 2**60 times as short as others.
    assert name == "grid, powers" or not levels.overflowed.any()
    kept = roots[~levels.overflowed]
    assert len(kept)
    within(ours, oracle(A, sources=kept), 1e-12 if dtype == "float64" else 3e-5)


@pytest.mark.parametrize("dist", ["float64", "float32"])
@pytest.mark.parametrize("schedule", ["window", "one launch"])
def test_distances(delta, schedule, dist):
    """Least fixed points, in each column; float32 holds them where it is taken."""
    A, _ = GRAPHS["scale-free, 1 to 10"]
    if dist == "float64":
        A = A * 0.1
    roots = np.arange(20)
    _, state, _ = run(delta, A, schedule, roots=roots)
    assert state.lengths.dist == dist
    distances, order = state.arrays.distances.get()[0], state.rows.order.get()
    for column, root in enumerate(roots):
        expected = np.array(reference.count_lengths(*csr(A), int(root))[3])[order]
        if root in order:
            np.testing.assert_array_equal(distances[:, column], expected)


# Some roots reach 200 levels, the others few; in sweep order the first 256 vertices are all of the second kind.
UNLIKE = with_lengths(UNLIKE_HOPS, np.ones)


def test_the_window_gives_up_on_deeper_groups(delta, cupy):
    """Among batches that it takes."""
    graph = as_graph(UNLIKE, weighted=True)
    state = prepare(delta, graph, SweepPlan(batch=512), "window")
    for roots, taken in (
        (np.arange(200, 400), "window"),
        (np.arange(100), "one launch"),
        (np.arange(300, 800), "window"),
    ):
        levels, out = search(delta, state, roots), cupy.zeros((2, graph.n))
        delta.backward(state, levels, Sums(dependency=out))
        assert state.schedule == taken
        within(out.sum(axis=0).get(), oracle(UNLIKE, sources=roots), 1e-12)
    first, second = sweep(
        delta, state, np.concatenate([np.arange(100), np.arange(300, 456), np.arange(200, 300)]), Sums(dependency=out)
    )
    np.testing.assert_array_equal(first.places, np.arange(256, 356))
    np.testing.assert_array_equal(second.places, np.arange(256))


@pytest.mark.parametrize("name", ["scale-free, 1 to 5", "scale-free, 0.1 to 1", "scale-free, 0 to 1", "grid, reals"])
def test_footprint_bounds_a_batch(weighted_gpu, cupy, monkeypatch, name):
    """Besides what queues grow by, which the plan is asked for."""
    more = [0]
    monkeypatch.setattr(SweepPlan, "require_growth", lambda plan, size: more.append(size))
    graph, module = as_graph(GRAPHS[name][0], weighted=True), weighted_gpu.module
    plan = SweepPlan(batch=512, dtype=weighted_gpu.dtype, endpoints=True)
    sums = Sums(dependency=cupy.zeros((-(-512 // max(module.batching.block, 1)), graph.n)))
    with peak_of(cupy) as peak:
        sweep(module, prepare(module, graph, plan), np.resize(graph.order, 512), sums)
    assert peak.bytes <= bytes_of(module.arrays(graph, plan)) + max(more) + 2**20


def test_unlike_groups_come_apart(cupy):
    """And the batch changes no bit."""
    options = {"weighted": True, "method": "delta-stepping", "device": "cuda"}
    assert (as_graph(UNLIKE, weighted=True).order[:256] >= 200).all()
    results = [lagbc.bc(UNLIKE, batch=batch, **options) for batch in (256, 512, 1024)]
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
    within(results[0], oracle(UNLIKE), 1e-12)


@pytest.mark.parametrize("schedule", ["window", "one launch"])
def test_bits(delta, cupy, schedule):
    """Neither the batch nor the run changes a bit; no group has too many levels for a schedule."""
    A = with_lengths(grid(5, 7) if schedule == "one launch" else scale_free(600, 4000, seed=8), integers(3))
    A = disjoint(*[A] * (18 if schedule == "one launch" else 1))
    graph = as_graph(A, weighted=True)
    roots = graph.order[:520]
    results = []
    for batch in (256, 512, 768, 256):
        state = prepare(delta, graph, SweepPlan(batch=batch), schedule)
        total = cupy.zeros(graph.n)
        for first in range(0, len(roots), batch):
            out = cupy.zeros((state.rows.groups, graph.n))
            delta.backward(state, search(delta, state, roots[first : first + batch]), Sums(dependency=out))
            for block in out:
                total += block
        assert state.schedule == schedule
        results.append(total.get())
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
    within(results[0], oracle(A, sources=roots), 1e-12)


def test_rounds_take_what_they_need(delta):
    """A row of bits each, and one for the round that finds nothing near."""
    A = with_lengths(grid(3, 12), integers(4))
    ours, state, levels = run(delta, A, "window", roots=range(36))
    assert len(state.arrays.near) == levels.depth + 2 < tuning.MOST_ROUNDS
    assert levels.depth > 4
    within(ours, oracle(A), 1e-12)


def test_queue_grows(delta, monkeypatch):
    monkeypatch.setattr(tuning, "DELTA_FIRST_ENTRIES", 0)
    A, _ = GRAPHS["grid, 1 to 10"]
    ours, state, _ = run(delta, A, "one launch", roots=range(0, 440, 2))
    assert state.arrays.queue.shape[1] > 256
    within(ours, oracle(A, sources=range(0, 440, 2)), 1e-12)


def test_a_queue_grows_within_the_budget(delta, monkeypatch):
    monkeypatch.setattr(tuning, "DELTA_FIRST_ENTRIES", 0)
    graph = as_graph(GRAPHS["grid, 1 to 10"][0], weighted=True)
    state = prepare(delta, graph, SweepPlan(batch=256, growth=0), "one launch")
    with pytest.raises(MemoryError, match=r"arrays need .* bytes more than was counted, of which 0 may be taken"):
        search(delta, state, np.arange(0, 440, 2))


def test_a_hub_is_shared_by_a_block(delta):
    """A vertex with more neighbours than a block has threads, that many paths join at, in all schedules."""
    n = 2400
    edges = [(0, v) for v in range(1, n)] + [(v, (v % 40) + 1) for v in range(41, n)]
    A = with_lengths(both_ways(n, edges), integers(3))
    roots = [0, 1, 7, 900, 2399]
    expected = oracle(A, sources=roots)
    for schedule in delta.SCHEDULES:
        ours, state, _ = run(delta, A, schedule, roots=roots)
        assert state.rows.in_hubs
        within(ours, expected, 1e-12)


def test_absorbed_lengths_in_every_schedule(delta):
    for schedule in ("window", "one launch"):
        ours, _, levels = run(delta, ABSORBED, schedule, roots=range(4))
        assert levels.overflowed.tolist() == [True, False, False, False]
        within(ours, oracle(ABSORBED, sources=[1, 2, 3]), 1e-12)


@pytest.mark.parametrize("schedule", ["window", "one launch"])
def test_an_absorbed_length_off_all_paths_harms_no_schedule(delta, schedule):
    A = sp.csr_array(([1e20, 1e20, 1.0, 1.0, 1e20], ([0, 0, 1, 2, 1], [1, 2, 2, 1, 3])), shape=(4, 4))
    ours, _, levels = run(delta, A, schedule, roots=[0])
    assert not levels.overflowed.any()
    assert ours.tolist() == [0, 1, 0, 0]


# Delta-stepping: its options


@pytest.mark.parametrize("name", ["scale-free, 0 to 1", "grid, 1 to 10"])
def test_the_width_changes_no_score(cupy, name):
    A, _ = GRAPHS[name]
    options = {"weighted": True, "method": "delta-stepping", "device": "cuda", "sources": range(30)}
    expected = oracle(A, sources=range(30))
    for delta in (1e-300, 0.01, 0.3, 2, 1e300):
        within(lagbc.bc(A, bucket_width=delta, **options), expected, 1e-12)


def tolerant(A, rtol, sources):
    """Brandes on the edges that are tight to within rtol."""
    indptr, indices, lengths = csr(A)
    n = A.shape[0]
    scores = np.zeros(n)
    edges = [(u, indices[e], lengths[e]) for u in range(n) for e in range(indptr[u], indptr[u + 1])]
    for root in sources:
        dist = reference.count_lengths(indptr, indices, lengths, root)[3]
        order = sorted((v for v in range(n) if dist[v] < np.inf), key=lambda v: dist[v])
        tight = [
            (u, v) for u, v, w in edges if dist[u] < dist[v] < np.inf and abs(dist[u] + w - dist[v]) <= rtol * dist[v]
        ]
        into, out = ({v: [] for v in range(n)} for _ in range(2))
        for u, v in tight:
            into[v].append(u)
            out[u].append(v)
        sigma, c = np.zeros(n), np.zeros(n)
        sigma[root] = 1
        for v in order[1:]:
            sigma[v] = sum(sigma[u] for u in into[v])
        for v in reversed(order[1:]):
            total = sum(c[w] for w in out[v])
            scores[v] += sigma[v] * total
            c[v] = 1 / sigma[v] + total
    return scores


@pytest.mark.parametrize("rtol", [1e-12, 0.05, 0.4])
@pytest.mark.parametrize(
    "A",
    [
        with_lengths(scale_free(150, 900, seed=9), reals(0.2, 1)),
        with_lengths(scale_free(150, 900, seed=9), integers(5)),
        with_lengths(grid(4, 30), lambda count: np.resize([0.1, 0.2, 0.3, 0.6], count)),
        with_lengths(layered(6, 5), reals(0.9, 1.1)),
    ],
    ids=["scale-free, reals", "scale-free, integers", "grid", "layers"],
)
def test_tolerance(cupy, A, rtol):
    """Also with narrow windows, whose rounds are many."""
    sources = range(0, A.shape[0], 4)
    expected = tolerant(A, rtol, sources)
    options = {"weighted": True, "method": "delta-stepping", "device": "cuda", "sources": sources, "rtol": rtol}
    for delta in ("auto", 0.05):
        within(lagbc.bc(A, bucket_width=delta, **options), expected, 1e-11)


def test_a_tolerance_joins_what_rounding_parts(cupy):
    """0.1 + 0.2 is above 0.3 by rounding."""
    A = sp.csr_array(([0.1, 0.2, 0.15, 0.15, 1.0], ([0, 1, 0, 2, 3], [1, 3, 2, 3, 4])), shape=(5, 5))
    options = {"weighted": True, "method": "delta-stepping", "device": "cuda", "sources": [0]}
    assert lagbc.bc(A, **options).tolist() == [0, 0, 2, 1, 0]
    assert lagbc.bc(A, rtol=1e-12, **options).tolist() == [0, 1, 1, 1, 0]


def test_parallel_runs_of_ties(delta):
    """Complete bipartite layers with two lengths: ties within and across rounds, in every column."""
    A = layered(7, 6)
    rng = np.random.default_rng(3)
    A = sp.coo_array((rng.choice([1.0, 2.0], A.nnz), (A.row, A.col)), shape=A.shape)
    for schedule, directed in itertools.product(delta.SCHEDULES, (True, False)):
        ours, _, _ = run(delta, A, schedule, roots=range(42), directed=directed)
        within(ours / (1 if directed else 2), oracle(A, directed=directed), 1e-12)


def test_sums_of_too_few_rows_are_refused(weighted_gpu, cupy):
    """Before anything is added: kernels write where the rows should be."""
    graph = as_graph(UNLIKE, weighted=True)
    module = weighted_gpu.module
    state = prepare(module, graph, SweepPlan(batch=256, dtype=weighted_gpu.dtype))
    levels = search(module, state, np.resize(np.arange(30), 256))
    with pytest.raises(lagbc.Error, match=r"sums\.dependency has 0 rows"):
        module.backward(state, levels, Sums(dependency=cupy.zeros((0, graph.n))))
