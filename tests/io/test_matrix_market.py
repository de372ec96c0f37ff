"""Matrix Market files, and every way in which one can be malformed."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from malformed import check_error, dense

from lagbc.io.read import read_graph

BANNER = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize("name", ["graph.mtx", "graph", "graph.txt"])
def test_matrix_market_is_told_by_its_banner(write, name):
    file = read_graph(write(BANNER + "3 3 2\n1 2 6\n3 1 0\n", name))
    assert (file.format, file.directed, file.labels) == ("Matrix Market", True, None)
    assert isinstance(file.matrix, sp.csr_array)
    assert dense(file) == [[0, 6, 0], [0, 0, 0], [0, 0, 0]]
    assert file.matrix.nnz == 2, "the stored zero is an edge"


@pytest.mark.parametrize(
    ("kind", "entry", "both"),
    [
        ("pattern symmetric", "2 1", [[0, 1], [1, 0]]),
        ("integer symmetric", "2 1 4", [[0, 4], [4, 0]]),
        ("real skew-symmetric", "2 1 4", [[0, -4], [4, 0]]),
        ("complex hermitian", "2 1 4 1", [[0, 4 - 1j], [4 + 1j, 0]]),
    ],
)
def test_symmetric_matrix_market_has_both_triangles(write, kind, entry, both):
    file = read_graph(write(f"%%MatrixMarket matrix coordinate {kind}\n2 2 1\n{entry}\n", "graph.mtx"))
    assert not file.directed
    assert dense(file) == both


def test_dense_matrix_market(write):
    file = read_graph(write("%%MatrixMarket matrix array real general\n2 2\n0\n3\n0\n4\n", "graph.mtx"))
    assert dense(file) == [[0, 0], [3, 4]]


@pytest.mark.parametrize("field", ["real", "integer", "complex", "pattern"])
def test_matrix_market_of_scipy(tmp_path, field):
    A = sp.random_array((30, 30), density=0.1, rng=0, format="csr")
    A.data[:] = np.arange(A.nnz)
    scipy.io.mmwrite(tmp_path / "graph.mtx", A, field=field, symmetry="general")
    B = read_graph(tmp_path / "graph.mtx").matrix
    assert np.array_equal(B.indptr, A.indptr)
    assert np.array_equal(B.indices, A.indices)
    assert np.array_equal(B.data, np.ones(A.nnz) if field == "pattern" else A.data)


@pytest.mark.parametrize(
    ("text", "line", "parts"),
    [
        ("1 2\n", 1, ["banner", "'1 2'", "%%MatrixMarket matrix coordinate real general"]),
        ("", 1, ["banner", "''"]),
        (BANNER.replace("coordinate", "coordinat"), 1, ["coordinat"]),
        (BANNER.replace("matrix", "vector") + "3 1\n", 1, ["Vector"]),
        (BANNER, 2, ["Premature EOF", "''", "expected 'rows columns entries'"]),
        (BANNER + "% c\n3 3 2\n", 4, ["Truncated file", "2 lines", "size line '3 3 2'"]),
        (BANNER + "% c\n\n3 3 x\n", 4, ["'3 3 x'", "expected 'rows columns entries'"]),
        (BANNER + "3 3\n1 2 1\n", 2, ["'3 3'", "expected 'rows columns entries'"]),
        (BANNER + "2 3 0\n", 2, ["the matrix is 2 x 3", "'2 3 0'", "expected a square one"]),
        (BANNER + "3 3 -1\n", 2, ["negative", "'3 3 -1'"]),
        (BANNER + "99999999999999999999 3 1\n", 2, ["out of range", "'99999999999999999999 3 1'"]),
        (BANNER + "3 3 2\n1 2 1\n4 1 1\n", 4, ["Row index out of bounds", "'4 1 1'", "size line '3 3 2'"]),
        (BANNER + "3 3 2\n1 0 1\n2 1 1\n", 3, ["Column index out of bounds", "'1 0 1'"]),
        (BANNER + "3 3 2\n1 2 1\n1 1 x\n", 4, ["not an entry of 'real'", "'1 1 x'"]),
        (BANNER + "3 3 4\n1 2 1\n1 1 1\n", 5, ["Truncated file", "2 lines", "''", "size line '3 3 4'"]),
        (BANNER + "3 3 1\n1 2 1\n1 1 1\n", 4, ["Too many lines", "'1 1 1'"]),
    ],
)
def test_malformed_matrix_market(write, text, line, parts):
    check_error(write(text, "graph.mtx"), line, parts)


def test_malformed_matrix_market_far_down(write):
    entries = "1 2 1\n" * 200_000
    text = f"{BANNER}% c\n3 3 400001\n{entries}1 4 1\n{entries}"
    check_error(write(text, "graph.mtx"), 200_004, ["Column index out of bounds", "'1 4 1'"])
