"""The graphs of the benchmark of large ones, made by NumPy; their closed form; the page."""

import numpy as np
import pytest
import scipy.sparse as sp

import lagbc
from benchmarks import large


def matrix(indptr, indices):
    return sp.csr_array((np.ones(len(indices), bool), indices, indptr), shape=(len(indptr) - 1,) * 2)


def test_rmat(monkeypatch):
    monkeypatch.setattr(large, "PIECE", 1000)
    indptr, indices = large.rmat(10, 16, 1, np)
    A = matrix(indptr, indices)
    assert (indptr.dtype, indices.dtype) == (np.int64, np.int32)
    assert A.has_canonical_format
    assert 0.6 * (16 << 10) < A.nnz < 16 << 10
    degrees = np.diff(lagbc.as_graph(A, directed=False).indptr)
    assert degrees.max() > 10 * degrees.mean()
    assert abs(degrees[:512].sum() / degrees.sum() - 0.5) < 0.1
    np.testing.assert_array_equal(large.rmat(10, 16, 1, np)[1], indices)


@pytest.mark.parametrize(("n", "degree"), [(14, 8), (20, 12), (21, 14), (41, 38)])
def test_circulant(monkeypatch, n, degree):
    monkeypatch.setattr(large, "PIECE", 3 * degree)
    A = matrix(*large.circulant(n, degree, np))
    along = np.abs(np.arange(n)[:, None] - np.arange(n))
    near = np.minimum(along, n - along)
    np.testing.assert_array_equal(A.toarray(), (near > 0) & (near <= degree // 2))
    roots = np.arange(0, n, 3)
    scores = lagbc.bc(A, sources=roots, device="cpu", reduce="none")
    assert large.difference(scores, large.of_circulant(n, degree, roots)) < 1e-14


def test_circulant_graphs_without_a_closed_form():
    with pytest.raises(ValueError, match="more than two edges away"):
        large.of_circulant(15, 8, np.arange(3))


def test_wrong_scores_differ():
    assert large.difference(np.array([1.0, np.nan]), np.array([1.0, 2.0])) > 1
    assert large.difference(np.array([1.0, 2.5]), np.array([1.0, 2.0])) == 0.25
