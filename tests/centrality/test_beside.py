"""Numbers told beside scores: errors of estimates are those of all estimates there are; trips that no path takes."""

import logging
import threading

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from strategies import scale_free

import lagbc
from lagbc import tuning
from lagbc.centrality import compute
from lagbc.centrality.beside import FEWEST, roots_of_group, standard_errors, unassigned_trips
from lagbc.graph.validate import as_graph
from lagbc.options import check_options

ALL = ("bc", "edge_bc", "closeness", "harmonic", "stress")


@pytest.fixture(scope="module")
def graph():
    return as_graph(scale_free(120, 600, seed=3), directed=False)


def errors_of(graph, k, seed, **options):
    return lagbc.bc(graph, k=k, rng=seed, standard_error=True, **options)[1]


def dense(scores):
    return scores.toarray() if sp.issparse(scores) else scores


def test_it_is_the_spread_of_estimates(graph):
    """Its mean square over seeds is the variance of the mean of k of n dependencies, drawn without repeats."""
    k, n = 60, graph.n
    of_roots = np.array([lagbc.bc(graph, sources=[s]) for s in range(n)]) * n
    top = np.argsort(-of_roots.sum(axis=0))[:10]
    variance = of_roots.var(axis=0, ddof=1)[top] * (1 / k - 1 / n)
    squares = np.mean([errors_of(graph, k, seed)[top] ** 2 for seed in range(20)], axis=0)
    assert np.mean(squares / variance) == pytest.approx(1, abs=0.2)
    assert squares / variance == pytest.approx(np.ones(10), abs=0.5)


def test_it_is_in_the_unit_of_the_scores(graph):
    plain = errors_of(graph, 40, 1)
    pairs = (graph.n - 1) * (graph.n - 2) / 2
    np.testing.assert_allclose(errors_of(graph, 40, 1, normalized=True), plain / pairs, rtol=1e-12)


def test_more_roots_less_error(graph):
    few, many = (np.nansum(errors_of(graph, k, 1)) for k in (20, 110))
    assert many < few / 3


@pytest.mark.parametrize(("k", "roots"), [(2, 2), (25, 2), (100, 10), (640, 64), (10**6, 64)])
def test_time_does_not_grow_with_k(k, roots):
    assert roots_of_group(k) == roots


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("rng", [5, np.random.default_rng])
def test_scores_are_those_without_errors_and_errors_have_their_form(graph, name, rng):
    given = {"k": 40, "rng": rng if rng == 5 else rng(5)}
    wanted = lagbc.centralities(graph, name, **given | {"rng": 5})[name]
    scores, errors = getattr(lagbc, name)(graph, **given, standard_error=True)
    assert np.array_equal(dense(scores), dense(wanted))
    assert type(errors) is type(scores)
    assert errors.shape == scores.shape
    assert np.nanmax(dense(errors)) > 0
    if name == "edge_bc":
        assert np.array_equal(errors.indices, scores.indices)


def test_each_cutoff_has_the_errors_that_it_has_alone(graph):
    for name in ("bc", "edge_bc", "harmonic"):
        call = getattr(lagbc, name)
        both = call(graph, k=40, rng=1, cutoff=[2, 3], standard_error=True)
        for column, cutoff in enumerate((2, 3)):
            alone = call(graph, k=40, rng=1, cutoff=cutoff, standard_error=True)
            for several, one in zip(both, alone, strict=True):
                got = several[column] if name == "edge_bc" else several[:, column]
                np.testing.assert_allclose(dense(got), dense(one), rtol=1e-9)


def test_several_centralities_have_the_errors_of_each(graph):
    scores, errors = lagbc.centralities(graph, ("bc", "closeness"), k=40, rng=1, standard_error=True)
    for name in ("bc", "closeness"):
        alone = getattr(lagbc, name)(graph, k=40, rng=1, standard_error=True)
        np.testing.assert_allclose(scores[name], alone[0], rtol=1e-12)
        np.testing.assert_allclose(errors[name], alone[1], rtol=1e-9)


def test_errors_are_a_phase_of_the_progress_and_are_kept(graph, tmp_path, monkeypatch):
    """Those of scores of another unit, or from other roots, are not taken from the file."""
    seen, given = [], {"k": 40, "rng": 1, "standard_error": True, "checkpoint": tmp_path / "run"}
    first = lagbc.bc(graph, progress=seen.append, **given)
    assert [(p.done, p.total) for p in seen if p.phase == "standard errors"] == [(4 * i, 40) for i in range(1, 11)]
    monkeypatch.setattr(compute, "standard_errors", lambda *_: 1 / 0)
    for again, before in zip(lagbc.bc(graph, **given), first, strict=True):
        np.testing.assert_array_equal(again, before)
    for other in ({"normalized": True}, {"rng": None}):
        with pytest.raises(ZeroDivisionError):
            lagbc.bc(graph, **given | other)


def test_names_stay_with_their_vertices(graph):
    G = nx.relabel_nodes(nx.path_graph(60), str)
    scores, errors = lagbc.bc(G, k=30, rng=1, targets=["0", "59"], standard_error=True)
    assert len(scores) == len(errors) == 60


def test_it_is_unknown_where_too_few_roots_score_a_vertex():
    """Of ten estimates so many are other than 0: fewer than three tell nothing, three something."""
    scored = np.array([0, FEWEST - 1, FEWEST, 10])
    numbers = iter(range(10))

    def draw(roots, rng):
        return (next(numbers) < scored) * rng.uniform(1, 2, 4)

    errors = standard_errors(draw, lambda drawn: {"bc": drawn}, 100, 20, 1)
    assert np.isnan(errors["bc"]).tolist() == [True, True, False, False]


@pytest.mark.parametrize("fits", [True, False])
def test_estimates_run_side_by_side_on_the_threads_of_the_call(monkeypatch, fits):
    """One has the roots of a batch, no work for two threads. Errors are those of one thread, and memory is kept."""
    A, meeting, ordinary = scale_free(2000, 16_000, seed=1), threading.Barrier(2), compute.sum_call
    monkeypatch.setattr(tuning, "THREAD_WORK", 1e5)
    asked = {"directed": False, "method": "batched", "reduce": "none"}
    given = {"k": 640, "rng": 1, "standard_error": True, **asked}
    one = lagbc.bc(A, threads=1, **given)
    memory = int((2.5 if fits else 1.5) * lagbc.plan(A, k=64, threads=1, **asked).memory.total)

    def together(call):
        if len(call.request.roots) == 64:
            assert (threading.current_thread() is threading.main_thread()) != fits
            if fits:
                meeting.wait(timeout=60)
        return ordinary(call)

    monkeypatch.setattr(compute, "sum_call", together)
    for found, wanted in zip(lagbc.bc(A, threads=2, memory=memory, **given), one, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_vertex_that_no_root_scores_has_no_error_of_zero():
    """The two ends of a path score 0 whatever the roots, of which the estimates cannot know."""
    path = sp.diags_array([1.0] * 99, offsets=1, shape=(100, 100))
    scores, errors = lagbc.bc(path, directed=False, k=50, rng=1, standard_error=True)
    assert scores[[0, 99]].tolist() == [0, 0]
    assert np.isnan(errors[[0, 99]]).all()
    assert (errors[20:80] > 0).all()


def test_all_vertices_as_roots_leave_no_error(graph):
    scores, errors = lagbc.bc(graph, k=graph.n, standard_error=True)
    np.testing.assert_allclose(scores, lagbc.bc(graph), rtol=1e-12)
    assert errors.tolist() == [0] * graph.n


def test_the_checkpoint_and_the_bar_are_those_of_the_scores(graph, tmp_path):
    told = []
    path = tmp_path / "checkpoint"
    lagbc.bc(graph, k=40, rng=1, standard_error=True, checkpoint=path, progress=told.append)
    assert path.exists()
    assert told[-1].share == 1
    assert min(one.total for one in told) > roots_of_group(40)
    assert np.array_equal(lagbc.bc(graph, k=40, rng=1, checkpoint=path), lagbc.bc(graph, k=40, rng=1))


@pytest.mark.parametrize("cutoff", [None, 2.0, [1.0, 3.0]], ids=str)
def test_unassigned_trips_are_those_between_vertices_too_far_apart(directed, weighted, cutoff):
    rng = np.random.default_rng(7)
    dense = np.where(rng.random((60, 60)) < 0.03, rng.integers(1, 4, (60, 60)) / 2, 0)
    dense = dense if directed else np.maximum(dense, dense.T)
    trips = np.where(rng.random((60, 60)) < 0.2, 2.0 ** rng.integers(-300, 30, (60, 1)), 0)
    np.fill_diagonal(trips, 0)
    graph = lagbc.as_graph(sp.csr_array(dense), directed=directed, weighted=weighted)
    found = unassigned_trips(graph, trips, cutoff, check_options("auto", {}))
    distance = sp.csgraph.shortest_path(dense, unweighted=not weighted)
    radii = [np.finfo(float).max] if cutoff is None else np.atleast_1d(cutoff)
    np.testing.assert_allclose(found.sums, [trips[distance > radius].sum() for radius in radii], rtol=1e-12)
    np.testing.assert_allclose(found.of, trips.sum(), rtol=1e-12)
    assert found.sums.all()


def test_calls_log_trips_that_are_not_assigned(caplog):
    path = sp.diags_array([1.0, 1.0], offsets=1, shape=(3, 3))
    with caplog.at_level(logging.INFO, "lagbc"):
        lagbc.bc(path, directed=True, demand={0: {2: 2.0}, 2: {0: 1.5}})
    assert "bc: 1.5 of 3.5 trips are not assigned: no path leads to their ends" in caplog.messages
