"""The method `graphblas`, its two modules called as the sweep calls them: all sums against single roots; buckets."""

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from families import diamonds, grid, in_a_row, layered, scale_free, with_lengths
from hypothesis import given
from hypothesis import strategies as st
from states import Counting, prepare, zeros
from strategies import ALL_SUMS, DENSE, TENTHS, adjacency, examples, graphs, vertex_weights, weighted_graphs

import lagbc
from lagbc import reference, tuning
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import Interrupted, SweepPlan
from lagbc.methods.cpu import extended
from lagbc.methods.sums import PATH_SUMS, Sums

gb = pytest.importorskip("graphblas")
from graphblas.core.ss.context import threadlocal  # noqa: E402

from lagbc.methods.cpu.graphblas import hops as graphblas_hops  # noqa: E402
from lagbc.methods.cpu.graphblas import lengths as graphblas_weighted  # noqa: E402

# No overflow and no undefined number may show, not even as a warning on the way.
pytestmark = pytest.mark.filterwarnings("error")

EVERY = frozenset(ALL_SUMS)


@pytest.fixture(scope="module", params=[graphblas_hops, graphblas_weighted], ids=["hops", "lengths"])
def module(request):
    return request.param


def read(module, A, directed=True):
    """The graph as a module takes it, with the stored values as lengths or without."""
    return as_graph(A, directed=directed, weighted=module is graphblas_weighted)


def summed(module, graph, plan, roots):
    """Sums of one batch, and which of its roots they leave out."""
    state, sums = prepare(module, graph, plan), zeros(module, graph, plan, roots)
    (levels,) = module.forward(state, np.array(roots, np.int64))
    module.backward(state, levels, sums)
    return sums, levels.overflowed


def by_single_roots(graph, plan, roots):
    sums = zeros(graphblas_hops, graph, plan, roots)
    for place, root in enumerate(roots):
        extended.add_root(graph, plan, int(root), sums, 0, place)
    return sums


def assert_equal(ours, theirs):
    for name, array in theirs:
        np.testing.assert_allclose(getattr(ours, name), array, rtol=1e-13, atol=1e-13, err_msg=name)


@given(data=st.data(), share=st.sampled_from([-1.0, 0.1, 1.0]))
def test_sums_equal_those_of_single_roots(module, data, share):
    # share: -1 always pulls, 1 never does.
    weighted = module is graphblas_weighted
    A = data.draw(DENSE | (weighted_graphs(TENTHS, min_n=1) if weighted else graphs(min_n=1)))
    graph = read(module, A, data.draw(st.booleans()))
    roots = data.draw(st.lists(st.integers(0, graph.n - 1), min_size=1, unique=True))
    plan = SweepPlan(
        batch=len(roots),
        sums=data.draw(st.just(EVERY) | st.frozensets(st.sampled_from(ALL_SUMS), min_size=1)),
        endpoints=data.draw(st.booleans()),
        omega=data.draw(st.none() | vertex_weights(graph.n)),
        root_weights=data.draw(st.none() | vertex_weights(graph.n)),
        rtol=data.draw(st.sampled_from([0.0, 1e-9, 0.3, 0.99])) if weighted else 0.0,
        bucket_width=data.draw(st.sampled_from([None, 5e-324, 0.1, 1.0, 2.5, 1e308])) if weighted else None,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "GRAPHBLAS_PULL_SHARE", share)
        ours, overflowed = summed(module, graph, plan, roots)
    assert not overflowed.any()
    assert_equal(ours, by_single_roots(graph, plan, roots))


@pytest.mark.parametrize(
    "A", [scale_free(200, 900, seed=1), grid(9, 17), layered(6, 5)], ids=["free", "grid", "layers"]
)
def test_sums_of_larger_graphs(module, A):
    graph = read(module, with_lengths(A, [1, 2, 3]), directed=False)
    rng, roots = np.random.default_rng(1), np.arange(0, graph.n, 3)
    omega, times = rng.integers(0, 4, graph.n) / 2, rng.integers(0, 4, graph.n) / 2
    for plan in (SweepPlan(batch=64, sums=EVERY), SweepPlan(batch=64, sums=EVERY, omega=omega, root_weights=times)):
        assert_equal(summed(module, graph, plan, roots)[0], by_single_roots(graph, plan, roots))


def test_roots_that_overflow_add_nothing(module):
    A = diamonds(350, 9)
    graph, plan = read(module, A), SweepPlan(batch=2, sums=EVERY)
    first, late = 0, graph.n - 41
    both, overflowed = summed(module, graph, plan, [first, late])
    assert overflowed.tolist() == [True, False]
    alone, _ = summed(module, graph, plan, [late])
    assert both.depth.tolist() == [0, *alone.depth]
    for name, array in alone:
        assert array.any(), name
        if name != "depth":
            np.testing.assert_array_equal(getattr(both, name), array, err_msg=name)


def test_distances_alone_need_no_counts(module):
    A = diamonds(370, 8)
    graph, roots = read(module, A), [0, 5]
    plan = SweepPlan(batch=2, sums=EVERY - PATH_SUMS, omega=np.full(graph.n, 1e-309))
    sums, overflowed = summed(module, graph, plan, roots)
    assert not overflowed.any()
    into = reference.distances_into(*adjacency(A), sources=roots)
    np.testing.assert_array_equal(sums.reached[0], [len(d) for d in into])
    np.testing.assert_array_equal(sums.distance[0], [sum(d) for d in into])
    np.testing.assert_allclose(sums.inverse[0], [sum(1 / x for x in d) for d in into], rtol=1e-13)
    np.testing.assert_array_equal(sums.depth, [740, 739])


def test_edges_in_range_whatever_the_root_weights(module):
    """sigma is up to 2**1021 and c down to 2**-1021: neither may be multiplied alone by how often a root counts."""
    graph = read(module, in_a_row(diamonds(170, 64), diamonds(1, 2)))
    plan = SweepPlan(batch=1, sums=frozenset({"edges"}))
    once, overflowed = summed(module, graph, plan, [0])
    assert not overflowed.any()
    assert (once.edges > 0).all()
    for power in (-60, 60):
        times, _ = summed(module, graph, replace(plan, root_weights=np.full(graph.n, 2.0**power)), [0])
        np.testing.assert_array_equal(times.edges, once.edges * 2.0**power)


def test_stress_out_of_range_is_infinite(module):
    """9**322 is in range, and 32 times as many paths as that are not: each vertex stands for 32 targets."""
    A = diamonds(322, 9)
    graph = read(module, A)
    omega = np.full(graph.n, 32.0)
    ours, overflowed = summed(module, graph, SweepPlan(batch=1, sums=EVERY, omega=omega), [0])
    assert not overflowed.any()
    exact = reference.stress(*adjacency(A), sources=[0], target_weights=[32] * graph.n)
    expected = np.array([float(x) if x < 2**1024 else np.inf for x in exact])
    assert 0 < np.isinf(expected).sum() < graph.n - 1
    np.testing.assert_allclose(ours.stress[0], expected, rtol=1e-12)
    assert all(np.isfinite(array).all() for name, array in ours if name != "stress")


def test_the_stop_flag_interrupts_any_phase(module):
    graph, roots = read(module, with_lengths(grid(3, 4), [1, 2])), np.array([0, 5])
    plan = SweepPlan(batch=2, sums=EVERY)
    state = prepare(module, graph, plan)

    def polls(limit):
        levels, state.plan = next(module.forward(state, roots)), replace(plan, stop=Counting(limit))
        depth, stop = levels.depth, state.plan.stop
        try:
            module.backward(state, levels, zeros(module, graph, plan, roots))
        finally:
            state.plan = plan
            assert stop.polls == min(total, limit + 1)
        return depth

    # Hops: distances, shares, edges and stress, a level each time; lengths: shares and stress, and each root's edges.
    depth = next(module.forward(state, roots)).depth
    total = 4 * depth if module is graphblas_hops else 2 * depth + 2
    polls(np.inf)
    for limit in range(total):
        with pytest.raises(Interrupted):
            polls(limit)


def test_a_state_is_as_good_as_new_after_an_interrupt(module):
    graph, plan, roots = read(module, diamonds(5, 2)), SweepPlan(batch=2, sums=EVERY), np.array([0, 3])
    state, sums = prepare(module, graph, plan), zeros(module, graph, plan, roots)
    (levels,) = module.forward(state, roots)
    state.plan = replace(plan, stop=Counting(0))
    with pytest.raises(Interrupted):
        module.backward(state, levels, sums)
    state.plan, sums = plan, zeros(module, graph, plan, roots)
    module.backward(state, next(module.forward(state, roots)), sums)
    assert_equal(sums, summed(module, graph, plan, roots)[0])


@pytest.mark.parametrize("limit", [0, np.inf], ids=["stopped", "to its end"])
def test_one_thread_while_it_runs_and_the_caller_s_after(module, limit):
    seen = set()

    class Probe(Counting):
        def check(self):
            seen.add(threadlocal.context["nthreads"])
            super().check()

    engaged, threads = threadlocal.context, gb.ss.config["nthreads"]
    state = prepare(module, read(module, diamonds(3, 2)), SweepPlan(batch=1, stop=Probe(limit)))
    with nullcontext() if limit else pytest.raises(Interrupted):
        next(module.forward(state, np.array([0])))
    assert seen == {1}
    assert threadlocal.context is engaged
    assert gb.ss.config["nthreads"] == threads


def test_the_caller_s_settings_of_graphblas_stay(module):
    gb.ss.config["burble"] = False
    before = dict(gb.ss.config)
    lagbc.bc(np.ones((4, 4)), weighted=module is graphblas_weighted, method="graphblas")
    assert dict(gb.ss.config) == before


def test_out_of_memory_is_a_memory_error(module, monkeypatch):
    def fail(*arguments):
        raise gb.exceptions.OutOfMemory

    state = prepare(module, read(module, grid(2, 2)), SweepPlan(batch=1))
    monkeypatch.setattr(module, "_pull" if module is graphblas_hops else "_count", fail)
    with pytest.raises(MemoryError):
        next(module.forward(state, np.array([0])))


def test_memory_is_given_back(module):
    graph, plan, roots = read(module, grid(4, 5)), SweepPlan(batch=3, sums=EVERY), np.array([0, 1, 2])
    state = prepare(module, graph, plan)
    (levels,) = module.forward(state, roots)
    held = [levels.P, *levels.patterns, *([levels.G] if module is graphblas_weighted else [])]
    assert all(X.nvals for X in held)
    module.backward(state, levels, zeros(module, graph, plan, roots))
    assert not any(X.nvals for X in held)


# With lengths: buckets, light and heavy edges, and what is handed on

TINY, HUGE = 5e-324, 1e308
# Some are lost to rounding beside others.
ANY_LENGTH = [2.0**power for power in range(-200, 201)]


def with_edges(n, edges):
    """Matrix of the entries (i, j, length)."""
    i, j, lengths = zip(*edges, strict=True)
    return sp.coo_array((np.array(lengths, float), (i, j)), shape=(n, n))


def bc(A, **options):
    return lagbc.bc(A, weighted=True, method="graphblas", **options)


def random_graph(n=60, edges=240, seed=0):
    rng = np.random.default_rng(seed)
    A = sp.random_array((n, n), density=edges / n**2, rng=rng, data_sampler=lambda size: rng.integers(1, 9, size))
    return A.tocsr().astype(float)


def test_delta_changes_no_bit(directed):
    A = random_graph()
    scores = [bc(A, directed=directed, bucket_width=width) for width in ("auto", TINY, 0.5, 1, 3, 8, 9, 100, HUGE)]
    assert scores[0].any()
    for other in scores[1:]:
        assert np.array_equal(other, scores[0])


# 0 -> 1 -> 2 -> 3 in three steps of 1, or in one of 3.
TIED = [(0, 1, 1), (1, 2, 1), (2, 3, 1), (0, 3, 3)]
# Vertex 1 is first found at 5, and passes that on, before it is found at 2.
LATE = [(0, 1, 5), (0, 2, 1), (2, 1, 1), (1, 3, 1), (0, 3, 4)]


@pytest.mark.parametrize("width", [TINY, 0.5, 1, np.nextafter(1, 2), 2, 3, np.nextafter(3, 4), 6, HUGE])
@pytest.mark.parametrize(
    ("edges", "expected"),
    [(TIED, [0, 1 + 1 / 2, 1 / 2, 0]), (LATE, [0, 1, 2, 0])],
    ids=["light and heavy edges tie", "found again in the same bucket"],
)
def test_light_and_heavy_edges(edges, expected, width):
    np.testing.assert_allclose(bc(with_edges(4, edges), sources=[0], bucket_width=width), expected)


def polls(A, roots, width=None):
    """How often a forward sweep polls the stop flag."""
    plan = SweepPlan(batch=len(roots), bucket_width=width, stop=Counting())
    state = prepare(graphblas_weighted, as_graph(A, weighted=True), plan)
    next(graphblas_weighted.forward(state, np.array(roots)))
    return plan.stop.polls


def line(steps, length):
    return with_edges(steps + 1, [(v, v + 1, length) for v in range(steps)])


@pytest.mark.parametrize(("width", "phases"), [(0.5, 2 * 6), (1, 2 * 6), (2, 3 + 3 + 3), (HUGE, 6 + 1)])
def test_phases(width, phases):
    # Five steps of 1. A bucket of one vertex takes a phase of light edges and one of heavy edges; one of two vertices
    # takes one phase more; all six in one bucket take six, the last of which finds nothing, and one of heavy edges.
    # Then the tight edges of one root, and six levels.
    assert polls(line(5, 1.0), [0], width) == phases + 1 + 6


def test_buckets_are_per_root():
    # Next to each other, lines of very different lengths take no more phases than the longer one alone.
    short, long = line(6, 1.0), line(9, 1000.0)
    both = sp.block_diag([short, long])
    assert polls(both, [0, 7], width=1) == polls(long, [0], width=1) + 1
    assert polls(short, [0], width=1) < polls(long, [0], width=1)


def test_auto_delta_scales_with_the_lengths():
    A = random_graph()
    roots = np.arange(20)
    assert polls(A, roots) == polls(A * 2.0**-30, roots) == polls(A * 2.0**30, roots)
    assert len({polls(A, roots), polls(A, roots, width=TINY), polls(A, roots, width=HUGE)}) == 3


def test_the_stop_flag_interrupts_any_phase_of_a_search():
    graph, roots = as_graph(random_graph(), weighted=True), np.array([0, 1, 2])
    total = polls(random_graph(), roots, width=2)
    for limit in range(total):
        state = prepare(graphblas_weighted, graph, SweepPlan(batch=3, bucket_width=2, stop=Counting(limit)))
        with pytest.raises(Interrupted):
            next(graphblas_weighted.forward(state, roots))
        assert state.plan.stop.polls == limit + 1


# After a length of 1, one of 1e-20 is lost; the last edge finds what is beyond it.
ABSORBED = [(0, 1, 1.0), (1, 2, 1e-20), (2, 3, 1.0)]


@pytest.mark.parametrize("width", ["auto", TINY, 1e-21, 1e-20, 0.5, 1, HUGE])
def test_an_absorbed_length_is_refused_by_name(width, directed):
    message = r"the length 1e-20 of the edge \(1, 2\) is lost to rounding .* vertex 0 to vertex 1"
    with pytest.raises(ValueError, match=message):
        bc(with_edges(4, ABSORBED), sources=[0], bucket_width=width, directed=directed)


@pytest.mark.parametrize("width", ["auto", TINY, 1e-21, 1e-20, 0.5, 1, HUGE])
def test_an_absorbed_length_beside_a_shortest_path_is_no_part_of_one(width):
    A = with_edges(4, [*ABSORBED, (0, 2, 1.0)])
    np.testing.assert_array_equal(bc(A, sources=[0], bucket_width=width), [0, 0, 1, 0])
    np.testing.assert_array_equal(bc(A, sources=[1], bucket_width=width), [0, 0, 1, 0])


@examples(30)
@given(weighted_graphs(ANY_LENGTH, min_n=1), st.booleans(), st.sampled_from([None, TINY, 1.0, HUGE]))
def test_roots_with_absorbed_lengths_are_marked(A, directed, width):
    graph = as_graph(A, directed=directed, weighted=True)
    plan = SweepPlan(batch=graph.n, bucket_width=width)
    expected, absorbed = np.zeros((1, graph.n)), []
    for root in range(graph.n):
        try:
            extended.add_root(graph, plan, root, Sums(dependency=expected), 0, 0)
        except ValueError:
            absorbed.append(root)
    state, out = prepare(graphblas_weighted, graph, plan), np.zeros((1, graph.n))
    (levels,) = graphblas_weighted.forward(state, np.arange(graph.n))
    assert np.flatnonzero(levels.overflowed).tolist() == absorbed
    graphblas_weighted.backward(state, levels, Sums(dependency=out))
    np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-13)


def test_the_estimate_covers_the_tight_edges():
    # All edges are tight for the first root, so the bound is reached.
    A = layered(5, 20)
    batch = 4
    estimate = lagbc.plan(A, batch=batch, weighted=True, method="graphblas", threads=1).memory
    more = lagbc.plan(A, batch=2 * batch, weighted=True, method="graphblas", threads=1).memory
    state = prepare(graphblas_weighted, as_graph(A, weighted=True), SweepPlan(batch=batch))
    (levels,) = graphblas_weighted.forward(state, np.arange(batch))
    assert levels.G.nvals > A.nnz
    held = [levels.G, levels.P, *levels.patterns, state.light, state.heavy]
    assert sum(X.ss.nbytes for X in held) < estimate.workspace
    assert more.workspace - estimate.workspace > batch * 8 * A.nnz
