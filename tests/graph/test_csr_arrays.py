"""The arrays of a CSR matrix in place of the matrix, in the order in which SciPy's constructors take them."""

import numpy as np
import pytest
import scipy.sparse as sp
from strategies import scale_free

import lagbc


def matrix():
    A = scale_free(60, 240, seed=3).tocsr()
    A.sum_duplicates()
    A.data = np.random.default_rng(0).choice([1.0, 2.0, 4.0], A.nnz)
    return A


@pytest.mark.parametrize("directed", [None, False])
def test_arrays_are_the_matrix(directed):
    A = matrix()
    three, two = (A.data, A.indices, A.indptr), (A.indptr, A.indices)
    before = [array.copy() for array in three]
    for options in ({}, {"weighted": True}, {"strength": True}):
        expected = lagbc.bc(A, directed=directed, **options)
        np.testing.assert_array_equal(lagbc.bc(three, directed=directed, **options), expected)
        assert expected.any()
    np.testing.assert_array_equal(lagbc.bc(two, directed=directed), lagbc.bc(A, directed=directed))
    np.testing.assert_array_equal(lagbc.edge_bc(two).toarray(), lagbc.edge_bc(A).toarray())
    assert all(np.array_equal(now, then) for now, then in zip(three, before, strict=True))


def test_a_graph_of_arrays_does_not_follow_them():
    A = matrix()
    graph = lagbc.as_graph((A.data, A.indices, A.indptr), weighted=True)
    expected = lagbc.bc(graph)
    A.data[:], A.indices[:] = 7, 0
    np.testing.assert_array_equal(lagbc.bc(graph), expected)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint32, np.uint64, np.int64])
def test_all_integers_are_taken(dtype):
    indptr, indices = np.array([0, 1, 3, 4, 4], dtype), np.array([1, 2, 0, 3], dtype)
    np.testing.assert_array_equal(lagbc.bc((indptr, indices)), lagbc.bc(sp.csr_array((np.ones(4), indices, indptr))))
    np.testing.assert_array_equal(lagbc.bc((indptr.tolist(), indices.tolist())), [0, 2, 2, 0])


FORMS = {
    "int32": lambda array: array.astype(np.int32) if array.dtype == np.int64 else array,
    "int16": lambda array: array.astype(np.int16) if array.dtype.kind == "i" else array,
    "big-endian": lambda array: array.astype(array.dtype.newbyteorder(">")),
    "strided": lambda array: np.stack([array, array], axis=1)[:, 0],
}


@pytest.mark.parametrize("form", FORMS)
def test_arrays_of_any_form_are_the_matrix(form):
    A = matrix()
    three = tuple(map(FORMS[form], (A.data, A.indices, A.indptr.astype(np.int64))))
    for call in (
        lambda A: lagbc.edge_bc(A, weighted=True).toarray(),
        lambda A: lagbc.edge_bc(A, strength=True, directed=False).toarray(),
        lambda A: lagbc.estimate(A, "edge_bc", max_roots=20, rng=1, device="cpu").scores.toarray(),
    ):
        np.testing.assert_array_equal(call(three), call(A))


def test_no_vertices_and_no_edges():
    np.testing.assert_array_equal(lagbc.bc(([0], [])), np.zeros(0))
    np.testing.assert_array_equal(lagbc.bc(([0, 0, 0], [])), np.zeros(2))
    np.testing.assert_array_equal(lagbc.bc(([], [], [0, 0, 0]), weighted=True), np.zeros(2))
