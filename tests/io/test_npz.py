"""SciPy's npz, and every way in which one can be malformed."""

import io

import numpy as np
import pytest
import scipy.sparse as sp
from malformed import dense

from lagbc.errors import GraphFormatError
from lagbc.io.read import read_graph


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "dia", "bsr"])
@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("name", ["graph.npz", "graph"])
def test_npz(tmp_path, kind, container, name):
    A = container([[0, 2, 0], [0, 0, 3], [1, 0, 0]]).asformat(kind)
    sp.save_npz(tmp_path / "graph.npz", A)
    (tmp_path / "graph.npz").rename(tmp_path / name)
    file = read_graph(tmp_path / name)
    assert (file.format, file.directed, file.labels) == ("SciPy npz", True, None)
    assert isinstance(file.matrix, sp.csr_array)
    assert dense(file) == A.toarray().tolist()


def test_npz_takes_the_zeros_that_fill_blocks_for_no_edges(tmp_path):
    A = sp.bsr_array(np.array([[0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]), blocksize=(2, 2))
    assert A.nnz == 4
    sp.save_npz(tmp_path / "graph.npz", A)
    assert read_graph(tmp_path / "graph.npz").matrix.nnz == 2


def test_npz_keeps_stored_zeros(tmp_path):
    sp.save_npz(tmp_path / "graph.npz", sp.csr_array(([0.0, 1.0], ([0, 1], [1, 0])), shape=(2, 2)))
    assert read_graph(tmp_path / "graph.npz").matrix.nnz == 2


def npz_bytes(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"not a zip",
        npz_bytes(a=np.ones(3)),
        npz_bytes(a=np.ones(3))[:60],
        npz_bytes(format=b"csr", shape=(2, 2), data=np.ones(1), indices=np.array([5]), indptr=np.array([0, 1, 1])),
    ],
    ids=["text", "other arrays", "cut short", "index out of range"],
)
def test_malformed_npz(write, data):
    with pytest.raises(GraphFormatError, match=r"graph\.npz: .*expected a sparse matrix written by .*save_npz"):
        read_graph(write(data, "graph.npz"))


def test_npz_that_is_not_square(tmp_path):
    sp.save_npz(tmp_path / "graph.npz", sp.csr_array((2, 3)))
    with pytest.raises(GraphFormatError, match=r"graph\.npz: the matrix is 2 x 3; expected a square one"):
        read_graph(tmp_path / "graph.npz")
