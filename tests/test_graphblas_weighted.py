"""The weighted method `graphblas`: its buckets, its light and heavy edges, and what it hands on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from states import Counting, prepare
from strategies import examples, layered

import lagbc
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import Interrupted, SweepPlan
from lagbc.methods.cpu import extended
from lagbc.methods.sums import Sums

pytest.importorskip("graphblas")

from lagbc.methods.cpu.graphblas import lengths as graphblas_weighted

# No overflow and no undefined number may show, not even as a warning on the way.
pytestmark = pytest.mark.filterwarnings("error")

TINY, HUGE = 5e-324, 1e308
LENGTHS = {
    "unit": st.just(1.0),
    "integer": st.integers(1, 4).map(float),
    # Sums of these tie in exact arithmetic, and in float64 only sometimes.
    "tenths": st.integers(1, 9).map(lambda tenths: tenths / 10),
    "real": st.floats(0.01, 10),
}
# Some are lost to rounding beside others.
ANY_LENGTH = st.integers(-200, 200).map(lambda power: 2.0**power)


def weighted(n, edges):
    """Matrix of the entries (i, j, length)."""
    i, j, lengths = zip(*edges, strict=True) if edges else ((), (), ())
    return sparse.coo_array((np.array(lengths, float), (np.array(i, int), np.array(j, int))), shape=(n, n))


@st.composite
def graphs(draw: st.DrawFn, lengths=None) -> Graph:
    n = draw(st.integers(1, 12))
    vertex = st.integers(0, n - 1)
    length = LENGTHS[draw(st.sampled_from(sorted(LENGTHS)))] if lengths is None else lengths
    edges = draw(st.dictionaries(st.tuples(vertex, vertex), length, max_size=4 * n))
    return as_graph(weighted(n, [(*ij, w) for ij, w in edges.items()]), directed=draw(st.booleans()), weighted=True)


def bc(A, **options):
    return lagbc.bc(A, weighted=True, method="graphblas", **options)


def random_graph(n=60, edges=240, seed=0):
    rng = np.random.default_rng(seed)
    A = sparse.random_array((n, n), density=edges / n**2, rng=rng, data_sampler=lambda size: rng.integers(1, 9, size))
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
    np.testing.assert_allclose(bc(weighted(4, edges), sources=[0], bucket_width=width), expected)


def polls(A, roots, width=None):
    """How often a forward sweep polls the stop flag."""
    stop = Counting()
    state = prepare(
        graphblas_weighted, as_graph(A, weighted=True), SweepPlan(batch=len(roots), bucket_width=width, stop=stop)
    )
    next(graphblas_weighted.forward(state, np.array(roots)))
    return stop.polls


def line(steps, length):
    return weighted(steps + 1, [(v, v + 1, length) for v in range(steps)])


@pytest.mark.parametrize(("width", "phases"), [(0.5, 2 * 6), (1, 2 * 6), (2, 3 + 3 + 3), (HUGE, 6 + 1)])
def test_phases(width, phases):
    # Five steps of 1. A bucket of one vertex takes a phase of light edges and one of heavy edges; one of two vertices
    # takes one phase more; all six in one bucket take six, the last of which finds nothing, and one of heavy edges.
    # Then the tight edges of one root, and six levels.
    assert polls(line(5, 1.0), [0], width) == phases + 1 + 6


def test_buckets_are_per_root():
    # Next to each other, lines of very different lengths take no more phases than the longer one alone.
    short, long = line(6, 1.0), line(9, 1000.0)
    both = sparse.block_diag([short, long])
    assert polls(both, [0, 7], width=1) == polls(long, [0], width=1) + 1
    assert polls(short, [0], width=1) < polls(long, [0], width=1)


def test_auto_delta_scales_with_the_lengths():
    A = random_graph()
    roots = np.arange(20)
    assert polls(A, roots) == polls(A * 2.0**-30, roots) == polls(A * 2.0**30, roots)
    assert len({polls(A, roots), polls(A, roots, width=TINY), polls(A, roots, width=HUGE)}) == 3


def test_the_stop_flag_interrupts_any_phase():
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
    with pytest.raises(
        ValueError, match=r"the length 1e-20 of the edge \(1, 2\) is lost to rounding .* vertex 0 to vertex 1"
    ):
        bc(weighted(4, ABSORBED), sources=[0], bucket_width=width, directed=directed)


@pytest.mark.parametrize("width", ["auto", TINY, 1e-21, 1e-20, 0.5, 1, HUGE])
def test_an_absorbed_length_beside_a_shortest_path_is_no_part_of_one(width):
    A = weighted(4, [*ABSORBED, (0, 2, 1.0)])
    np.testing.assert_array_equal(bc(A, sources=[0], bucket_width=width), [0, 0, 1, 0])
    np.testing.assert_array_equal(bc(A, sources=[1], bucket_width=width), [0, 0, 1, 0])


@examples(30)
@given(graph=graphs(ANY_LENGTH), width=st.sampled_from([None, TINY, 1.0, HUGE]))
def test_roots_with_absorbed_lengths_are_marked(graph, width):
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
