"""The method `graphblas`, called as the sweep calls it, against textbook Brandes and the method `batched`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from states import prepare
from strategies import diamonds

import lagbc
from lagbc import tuning
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import Interrupted, StopFlag, SweepPlan
from lagbc.methods.sums import Sums
from lagbc.reference import brandes

gb = pytest.importorskip("graphblas")
from graphblas.core.ss.context import threadlocal  # noqa: E402

from lagbc.methods.cpu.graphblas import hops as graphblas_hops  # noqa: E402


def raw_scores(graph: Graph, plan: SweepPlan, roots: np.ndarray) -> np.ndarray:
    """Scores of all batches by one state, without the roots that overflowed."""
    state = prepare(graphblas_hops, graph, plan)
    out = np.zeros((1, graph.n))
    for start in range(0, len(roots), plan.batch):
        (levels,) = graphblas_hops.forward(state, roots[start : start + plan.batch])
        graphblas_hops.backward(state, levels, Sums(dependency=out))
    return out[0]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    n = draw(st.integers(1, 14))
    edges = draw(st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=3 * n))
    rows, columns = np.array(edges, int).reshape(-1, 2).T
    A = sparse.coo_array((np.ones(len(edges)), (rows, columns)), shape=(n, n))
    return as_graph(A, directed=draw(st.booleans()))


@given(
    graph=graphs(),
    batch=st.integers(1, 15),
    weighted=st.booleans(),
    endpoints=st.booleans(),
    share=st.sampled_from([-1.0, 0.1, 1.0]),
    data=st.data(),
)
def test_scores_equal_textbook_brandes(graph, batch, weighted, endpoints, share, data):
    # share: -1 always pulls, 1 never does.
    omega = root_weights = None
    if weighted:
        numbers = st.lists(st.integers(0, 5), min_size=graph.n, max_size=graph.n)
        omega, root_weights = (np.array(data.draw(numbers), float) for _ in range(2))
    roots = np.array(data.draw(st.lists(st.integers(0, graph.n - 1), min_size=1, unique=True)))
    plan = SweepPlan(batch=batch, omega=omega, root_weights=root_weights, endpoints=endpoints)
    expected = brandes(
        graph.indptr,
        graph.indices,
        sources=roots.tolist(),
        target_weights=omega,
        source_weights=root_weights,
        endpoints=endpoints,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuning, "GRAPHBLAS_PULL_SHARE", share)
        np.testing.assert_allclose(raw_scores(graph, plan, roots), expected, rtol=1e-13, atol=1e-13)


def test_the_stop_flag_interrupts_both_sweeps():
    graph = as_graph(diamonds(3, 2))
    stop = StopFlag()
    state = prepare(graphblas_hops, graph, SweepPlan(batch=1, stop=stop))
    (levels,) = graphblas_hops.forward(state, np.array([0]))
    stop.set()
    with pytest.raises(Interrupted):
        graphblas_hops.backward(state, levels, Sums(dependency=np.zeros((1, graph.n))))
    with pytest.raises(Interrupted):
        next(graphblas_hops.forward(state, np.array([0])))


def test_a_state_is_as_good_as_new_after_an_interrupt():
    graph = as_graph(diamonds(5, 2))
    plan = SweepPlan(batch=2)
    roots, out = np.array([0, 3]), np.zeros((1, graph.n))
    state = prepare(graphblas_hops, graph, plan)
    stopped = replace(plan, stop=StopFlag())
    stopped.stop.set()
    (levels,) = graphblas_hops.forward(state, roots)
    state.plan = stopped
    with pytest.raises(Interrupted):
        graphblas_hops.backward(state, levels, Sums(dependency=out))
    assert not out.any()
    state.plan = plan
    graphblas_hops.backward(state, next(graphblas_hops.forward(state, roots)), Sums(dependency=out))
    assert np.array_equal(out[0], raw_scores(graph, plan, roots))


class Probe(StopFlag):
    """A stop flag that notes what threads GraphBLAS has when it is polled."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[int] = set()

    def check(self) -> None:
        self.seen.add(threadlocal.context["nthreads"])
        super().check()


@pytest.mark.parametrize("stopped", [False, True])
def test_threads_are_restored(stopped):
    graph = as_graph(diamonds(3, 2))
    engaged, threads = threadlocal.context, gb.ss.config["nthreads"]
    probe = Probe()
    state = prepare(graphblas_hops, graph, SweepPlan(batch=1, stop=probe))
    if stopped:
        probe.set()
        with pytest.raises(Interrupted):
            next(graphblas_hops.forward(state, np.array([0])))
    else:
        next(graphblas_hops.forward(state, np.array([0])))
    assert probe.seen == {1}
    assert threadlocal.context is engaged
    assert gb.ss.config["nthreads"] == threads


def test_the_caller_s_settings_of_graphblas_stay(tmp_path):
    A = sparse.coo_array(np.ones((4, 4)))
    gb.ss.config["burble"] = False
    before = dict(gb.ss.config)
    lagbc.bc(A, method="graphblas")
    assert dict(gb.ss.config) == before
