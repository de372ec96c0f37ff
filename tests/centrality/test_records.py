"""The registry of centralities: its records, what they take, and how one is added."""

import pickle
from dataclasses import fields, replace
from fractions import Fraction
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from strategies import adjacency, scale_free

import lagbc
from lagbc import reference
from lagbc.arguments import ARGUMENTS, Arguments
from lagbc.graph.validate import as_graph
from lagbc.methods.sums import Sums
from lagbc.request import Request
from lagbc.scores import finish
from lagbc.scores.finish import Result, of_all_roots
from lagbc.scores.records import BUILT_IN, Centrality, registered, unregister_centrality

A = scale_free(30, 90, seed=2)
MINE = Centrality("mine", frozenset({"reached"}), lambda result, arguments: result.sums.reached, frozenset(), "mine")


@pytest.mark.parametrize("record", BUILT_IN, ids=lambda record: record.name)
def test_a_record_names_sums_and_arguments_that_there_are(record):
    assert record.sums <= {field.name for field in fields(Sums)}
    assert record.takes <= {*ARGUMENTS}
    assert registered()[: len(BUILT_IN)] == BUILT_IN


def test_a_record_can_be_pickled():
    records = pickle.loads(pickle.dumps(BUILT_IN))
    assert [record.name for record in records] == [record.name for record in BUILT_IN]
    result = Result(Sums(inverse=np.ones(2)), as_graph(A[:2, :2]), Request(frozenset({"inverse"}), np.arange(2)), 1, ())
    np.testing.assert_array_equal(records[3].finish(result, Arguments()), [1, 1])


def test_a_centrality_is_added_and_taken_away():
    reached = replace(MINE, name="reached", takes=frozenset({"sources"}))
    lagbc.register_centrality(reached)
    try:
        scores = lagbc.centralities(A, ("reached", "closeness"), sources=[0, 5])
        expected = [len(into) for into in reference.distances_into(*adjacency(A), sources=[0, 5])]
        np.testing.assert_array_equal(scores["reached"], expected)
        with pytest.raises(ValueError, match="there is a centrality 'reached' already"):
            lagbc.register_centrality(reached)
    finally:
        unregister_centrality("reached")
    with pytest.raises(ValueError, match="there is no centrality 'reached'; did you mean 'reach'"):
        lagbc.centralities(A, "reached")


@pytest.mark.parametrize("name", ["harmonic", "stress", "edge_bc", "bc"])
def test_estimates_have_no_bias(name, directed, monkeypatch):
    """The mean over all samples of two roots is the exact score."""
    small = scale_free(7, 20, seed=1)
    exact = lagbc.centralities(small, name, directed=directed)[name]
    samples = list(combinations(range(7), 2))
    total = 0
    for sample in samples:
        monkeypatch.setattr("lagbc.request.parse_roots", lambda *given, s=sample: np.array(s))
        total = total + lagbc.centralities(small, name, directed=directed, k=2, rng=0)[name]
    as_array = (lambda x: x.toarray()) if name == "edge_bc" else np.asarray
    np.testing.assert_allclose(as_array(total) / len(samples), as_array(exact), rtol=1e-12, atol=1e-12)


def test_weights_of_vertices_and_edges():
    times, omega = 1 + np.arange(30) % 3 / 2, np.arange(30) % 5 / 4
    indptr, indices = adjacency(A)
    expected = np.zeros(len(indices))
    for root in range(30):
        expected += times[root] * np.array(reference.edge_scores(indptr, indices, sources=[root], target_weights=omega))
    scores = lagbc.edge_bc(A, source_weights=times, target_weights=omega).tocsr()
    ours = [scores[v, w] for v in range(30) for w in indices[indptr[v] : indptr[v + 1]]]
    np.testing.assert_allclose(ours, expected, rtol=1e-12)


@pytest.mark.parametrize("name", [*(record.name for record in registered()), "fame"])
def test_only_what_was_added_is_removed(name):
    before = registered()
    with pytest.raises(ValueError, match=f"there is no centrality '{name}' that was added"):
        lagbc.unregister_centrality(name)
    assert registered() == before


@pytest.mark.parametrize("changes", [{"sums": frozenset({"reach"})}, {"takes": frozenset({"root"})}, {"name": "bc"}])
def test_what_is_refused_leaves_the_records_as_they_were(changes):
    before = registered()
    with pytest.raises(ValueError, match=r"there is no reach|there is no root|there is a centrality 'bc' already"):
        lagbc.register_centrality(replace(MINE, **changes))
    assert registered() == before


@pytest.mark.parametrize(
    ("scores", "of_edges", "error", "message"),
    [
        (np.zeros(3), False, ValueError, r"'mine' returned an array of shape \(3,\); it is a number a vertex, shape"),
        (np.zeros(30), True, ValueError, r"returned an array of shape \(30,\); it is a number an edge, shape"),
        ([0.0] * 30, False, TypeError, "finish of centrality 'mine' returned a list; it returns an ndarray"),
    ],
)
def test_what_finish_returns_is_checked(scores, of_edges, error, message):
    lagbc.register_centrality(replace(MINE, finish=lambda result, arguments: scores, of_edges=of_edges))
    try:
        with pytest.raises(error, match=message):
            lagbc.centralities(A, "mine")
    finally:
        lagbc.unregister_centrality("mine")


# Scores of sums


# Of 41 vertices, most of which nothing reaches: sums below the normal numbers, and around where they are scaled.
REACHED = np.pad(np.array([1.0, 3, 5, 7, 2, 6, 4, 9]), (0, 33))
DISTANCE = np.pad(np.array([4e-309, 3e-307, 1e-272, np.nextafter(2.0**-900, 0), 2.0**-900, 1.0, 1e300, 7e307]), (0, 33))
ROOTS = np.array([0, 3, 17, 40])


def summed(reached, distance, roots=None):
    """A result that holds no more than `closeness` reads."""
    request = Request(frozenset({"reached", "distance"}), roots, is_sample=roots is not None)
    return Result(Sums(reached=reached, distance=distance), SimpleNamespace(weights=None), request, 1, ())


@pytest.mark.parametrize("roots", [None, ROOTS], ids=["all", "sample"])
@pytest.mark.parametrize("wf_improved", [True, False])
def test_closeness_is_rounded_as_its_formula(wf_improved, roots):
    """Once a factor, though the first may be more than float64 holds."""
    first = 0 if wf_improved else 1
    reached, distance = REACHED.copy(), DISTANCE.copy()
    reached[:first], distance[:first] = 0, 0
    shares = of_all_roots(reached, summed(reached, distance, roots)) / 40 if wf_improved else np.ones(41)
    expected = []
    for r, d, share in zip(reached.tolist(), distance.tolist(), shares.tolist(), strict=True):
        scale = 2**100 if d < 1 else 1
        quotient = scale * Fraction(float(Fraction(r) / Fraction(d) / scale)) if r else 0
        expected.append(float(quotient * Fraction(share)))
    before = reached.copy(), distance.copy()
    ours = finish.closeness(summed(reached, distance, roots), Arguments(wf_improved=wf_improved))
    np.testing.assert_array_equal(ours, expected)
    np.testing.assert_array_equal((reached, distance), before)


@pytest.mark.parametrize(("small", "scaled"), [(0, []), (2, [2, 2])])
def test_only_small_sums_are_scaled(monkeypatch, small, scaled):
    """Where all vertices were, that took as long as the sweep."""
    seen, ldexp = [], np.ldexp

    def noted(x, power):
        seen.append(np.broadcast(x, power).size)
        return ldexp(x, power)

    monkeypatch.setattr(np, "ldexp", noted)
    distance = np.full(1000, 3.0)
    distance[:small] = 1e-300
    finish.closeness(summed(np.ones(1000), distance), Arguments())
    assert seen == scaled


def test_a_sample_is_scaled_by_what_it_tells_of_each_vertex():
    raw = np.random.default_rng(1).random(41)
    others = np.array([len(ROOTS) - (v in ROOTS) for v in range(41)])
    np.testing.assert_array_equal(of_all_roots(raw, summed(raw, raw, ROOTS)), raw * (40 / others))
