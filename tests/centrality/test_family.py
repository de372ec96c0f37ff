"""Identities of distances, groups, straight ways, highest scores and communities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import disjoint, examples, graphs, weighted_graphs

import lagbc

# Any two of these places are less than 1 apart, which is the least length.
PLACES = np.random.default_rng(0).random((24, 2)) * 0.7
PATTERNS = graphs(min_n=6)
pytestmark = pytest.mark.filterwarnings("ignore:the edge:UserWarning")


def of_groups(A, groups, **how):
    """Return the scores of groups that other components do not change, a row each."""
    return np.stack(
        [
            lagbc.group_bc(A, groups, **how),
            lagbc.group_closeness(A, groups, wf_improved=False, **how),
            lagbc.group_harmonic(A, groups, **how),
            lagbc.group_degree(A, groups, **how),
        ]
    )


@examples(10)
@given(A=weighted_graphs(min_n=6), weighted=st.booleans(), data=st.data())
def test_other_numbers_of_the_vertices(directed, A, weighted, data):
    how, n = {"directed": directed, "weighted": weighted}, A.shape[0]
    order = np.array(data.draw(st.permutations(range(n))))
    place, moved = np.argsort(order), A.tocsr()[order][:, order]
    groups = [[0, 2], [1, 3, 4], [5]]
    found = of_groups(moved, [place[group] for group in groups], **how)
    np.testing.assert_allclose(found, of_groups(A, groups, **how), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(lagbc.distances(moved, **how), lagbc.distances(A, **how), rtol=1e-12)
    for score in (lagbc.closeness, lagbc.harmonic):
        highest, before = score(moved, top=4, **how), score(A, top=4, **how)
        np.testing.assert_allclose(highest.scores, before.scores, rtol=1e-12)
        np.testing.assert_allclose(score(A, **how)[order[highest.vertices]], before.scores, rtol=1e-12)


@examples(10)
@given(A=PATTERNS)
def test_lengths_of_one_are_hops(directed, A):
    A, groups = A.tocsr(), [[0, 2], [1, 3, 4], [5], []]
    A.data[:] = 1
    hops, lengths = ({"directed": directed, "weighted": weighted} for weighted in (False, True))
    np.testing.assert_allclose(of_groups(A, groups, **lengths), of_groups(A, groups, **hops), rtol=1e-13)
    np.testing.assert_allclose(lagbc.distances(A, **lengths), lagbc.distances(A, **hops), rtol=1e-13)
    places = PLACES[: A.shape[0]]
    straight, in_hops = (lagbc.straightness(A, places, **how) for how in (lengths, hops))
    np.testing.assert_allclose(straight, in_hops, rtol=1e-13)
    highest, of_hops = (lagbc.closeness(A, top=4, **how) for how in (lengths, hops))
    np.testing.assert_array_equal(highest.vertices, of_hops.vertices)
    split, by_hops = (lagbc.girvan_newman(A, **how) for how in (lengths, hops))
    np.testing.assert_array_equal(split.removed, by_hops.removed)
    np.testing.assert_array_equal(split.modularity, by_hops.modularity)


@examples(10)
@given(A=PATTERNS, B=graphs(min_n=1))
def test_graphs_side_by_side(directed, A, B):
    """Counts and sums of distances add up; groups of one part have the scores that they have in it."""
    both, groups = disjoint(A, B), [[0, 2], [1, 3, 4], [5]]
    alone = [lagbc.distances(one, directed=directed) for one in (A, B)]
    found = lagbc.distances(both, directed=directed)
    for name in ("n", "pairs", "wiener"):
        assert getattr(found, name) == sum(getattr(one, name) for one in alone)
    assert found.diameter == max(one.diameter for one in alone)
    inverse = [one.efficiency * one.n * (one.n - 1) for one in (found, *alone)]
    assert inverse[0] == pytest.approx(sum(inverse[1:]), rel=1e-12)
    in_it = of_groups(A, groups, directed=directed)
    np.testing.assert_allclose(of_groups(both, groups, directed=directed), in_it, rtol=1e-12)
    closest = lagbc.closeness(both, top=5, wf_improved=False, directed=directed).scores
    parts = [lagbc.closeness(one, wf_improved=False, directed=directed) for one in (A, B)]
    np.testing.assert_allclose(closest, np.sort(np.concatenate(parts))[::-1][:5], rtol=1e-13)
    split = lagbc.girvan_newman(both, directed=directed)
    assert len(split.removed) == sum(len(lagbc.girvan_newman(one, directed=directed).removed) for one in (A, B))
