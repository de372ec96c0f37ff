"""What betweenness is, whatever computes it: identities on random graphs."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from strategies import TENTHS, disjoint, distances, graphs, lengths_of, matrix, vertex_weights, weighted_graphs


def assert_close(left, right):
    np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-12)


@given(st.data(), st.booleans())
def test_names_of_vertices_do_not_matter(any_bc, data, directed):
    A = data.draw(weighted_graphs(min_n=1))
    order = np.array(data.draw(st.permutations(range(A.shape[0]))))
    renamed = A.tocsr()[order][:, order]
    assert_close(any_bc(renamed, directed=directed), any_bc(A, directed=directed)[order])


@given(weighted_graphs())
def test_transpose(any_bc, A):
    """With integer lengths, whose sums are the same from either end."""
    assert_close(any_bc(A.T), any_bc(A))


@given(st.data())
def test_transpose_swaps_the_weights(bc, data):
    A = data.draw(graphs())
    omega, times = data.draw(vertex_weights(A.shape[0])), data.draw(vertex_weights(A.shape[0]))
    there = bc(A, target_weights=omega, source_weights=times)
    assert_close(bc(A.T, target_weights=times, source_weights=omega), there)


@given(weighted_graphs(TENTHS, max_n=8), weighted_graphs(TENTHS, max_n=8), st.booleans())
def test_components_do_not_mix(any_bc, A, B, directed):
    if A.shape[0] and B.shape[0]:
        together = any_bc(disjoint(A, B), directed=directed)
        assert_close(together, np.concatenate([any_bc(part, directed=directed) for part in (A, B)]))


@given(graphs(min_n=1), st.data())
def test_sum_over_vertices(bc, A, data):
    """The inner vertices of a path number one less than its edges, and its ends are two."""
    root = data.draw(st.integers(0, A.shape[0] - 1))
    reached = distances(A)[root]
    reached = reached[reached > 0]
    assert_close(bc(A, sources=[root]).sum(), (reached - 1).sum())
    assert_close(bc(A, sources=[root], endpoints=True).sum(), (reached + 1).sum())


@given(weighted_graphs(min_n=1), st.data())
def test_an_end_reaches_all_its_targets(any_bc, A, data):
    """delta_s(s) is the number of reachable targets; with endpoints it is what s scores as a root."""
    root = data.draw(st.integers(0, A.shape[0] - 1))
    assert any_bc(A, sources=[root], endpoints=True)[root] == (distances(A)[root] > 0).sum()


@given(st.data())
def test_target_weights_are_linear(bc, data):
    A = data.draw(graphs())
    n = A.shape[0]
    omega, more = data.draw(vertex_weights(n)), data.draw(vertex_weights(n))
    parts = bc(A, target_weights=omega) + 2 * bc(A, target_weights=more)
    assert_close(bc(A, target_weights=omega + 2 * more), parts)
    assert_close(bc(A, target_weights=np.ones(n)), bc(A))


@given(st.data())
def test_a_source_weight_of_zero_leaves_the_root_out(bc, data):
    A = data.draw(graphs())
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=A.shape[0], max_size=A.shape[0])), dtype=bool)
    assert_close(bc(A, source_weights=chosen.astype(float)), bc(A, sources=np.flatnonzero(chosen)))


@given(st.data(), st.booleans(), st.booleans())
def test_parts_of_the_sources_add_up(bc, data, directed, endpoints):
    A = data.draw(graphs())
    order = np.array(data.draw(st.permutations(range(A.shape[0]))), dtype=np.int64)
    cut = data.draw(st.integers(0, A.shape[0]))
    options = {"directed": directed, "endpoints": endpoints}
    parts = bc(A, sources=order[:cut], **options) + bc(A, sources=order[cut:], **options)
    assert_close(parts, bc(A, **options))


@given(weighted_graphs(), st.booleans())
def test_undirected_is_half_of_both_ways(any_bc, A, endpoints):
    """Of two directions the shorter one counts."""
    both = lengths_of(A, directed=False)
    symmetric = matrix(A.shape[0], sorted(both))
    symmetric.data = np.array([both[edge] for edge in sorted(both)], dtype=float)
    ours = any_bc(A, directed=False, endpoints=endpoints)
    assert_close(ours, any_bc(symmetric, endpoints=endpoints) / 2)


@given(graphs())
def test_loops_and_duplicates_do_not_matter(bc, row, A):
    """Not to a bit, but for the traversals, which add as threads come."""
    n = A.shape[0]
    more = sp.coo_array((np.ones(2 * A.nnz + n), [np.r_[c, c, np.arange(n)] for c in A.coords]), shape=A.shape)
    np.testing.assert_allclose(bc(more), bc(A), rtol=1e-12 if row.formulation == "traversal" else 0, atol=0)


@given(graphs(), st.booleans())
def test_no_score_is_negative_or_more_than_all_pairs(bc, A, directed):
    n = A.shape[0]
    scores = bc(A, directed=directed)
    assert (scores >= 0).all()
    assert (scores <= max((n - 1) * (n - 2), 0) / (1 if directed else 2) + 1e-9).all()
    assert (bc(A, directed=directed, normalized=True) <= 1 + 1e-12).all()
