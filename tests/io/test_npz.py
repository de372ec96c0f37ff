"""SciPy's npz, and every way in which one can be malformed."""

import io

import numpy as np
import pytest
import scipy.sparse as sp
from malformed import dense

from lagbc.errors import GraphFileWarning, GraphFormatError
from lagbc.io.read import read_graph


def saved(folder, A):
    sp.save_npz(folder / "graph.npz", A)
    return folder / "graph.npz"


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "dia", "bsr"])
@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("name", ["graph.npz", "graph"])
def test_npz(tmp_path, kind, container, name):
    A = container([[0, 2, 0], [0, 0, 3], [1, 0, 0]]).asformat(kind)
    file = read_graph(saved(tmp_path, A).rename(tmp_path / name))
    assert (file.format, file.directed, file.labels) == ("SciPy npz", True, None)
    assert isinstance(file.matrix, sp.csr_array)
    assert dense(file) == A.toarray().tolist()


def test_zeros_that_fill_blocks_are_no_edges_and_stored_ones_are(tmp_path):
    A = sp.bsr_array(np.array([[0, 2, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]), blocksize=(2, 2))
    assert A.nnz == 4
    assert read_graph(saved(tmp_path, A)).matrix.nnz == 2
    assert read_graph(saved(tmp_path, sp.csr_array(([0.0, 1.0], ([0, 1], [1, 0])), shape=(2, 2)))).matrix.nnz == 2


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
    with pytest.raises(GraphFormatError, match=r"graph\.npz: the matrix is 2 x 3; expected a square one"):
        read_graph(saved(tmp_path, sp.csr_array((2, 3))))


@pytest.mark.parametrize(
    ("kind", "name", "array"),
    [
        *(("csc", "indices", [0, 4]), ("csr", "indices", [0, -1]), ("csr", "indices", [0.0, 1.5])),
        *(("csr", "indptr", [0, 2, 1, 2, 0]), ("coo", "row", [0, 2**40]), ("dia", "offsets", [2**62])),
        *(("csr", "data", ["a", "b"]), ("csr", "shape", [2**62, 2**62]), ("csr", "format", np.array(3))),
    ],
)
def test_arrays_that_conversion_would_read_past(tmp_path, kind, name, array):
    path = saved(tmp_path, sp.coo_array(([1.0, 2.0], ([0, 1], [1, 2])), shape=(4, 4)).asformat(kind))
    with np.load(path) as whole:
        arrays = dict(whole) | {name: np.array(array)}
    np.savez(path, **arrays)
    with pytest.raises((GraphFormatError, MemoryError), match=r"graph\.npz: .*(expected a sparse matrix|budget)"):
        read_graph(path, budget=10**7)


def test_blocks_out_of_range(write):
    blocks = {"data": np.ones((1, 2, 2)), "indices": np.array([7]), "indptr": np.array([0, 1, 1])}
    data = npz_bytes(format=b"bsr", shape=(4, 4), **blocks)
    with pytest.raises(GraphFormatError, match="index values must be < 2"):
        read_graph(write(data, "graph.npz"))


def test_an_archive_beyond_the_budget(tmp_path):
    path = saved(tmp_path, sp.coo_array((np.zeros(10**5), (np.zeros((2, 10**5), int))), shape=(4, 4)))
    with pytest.raises(MemoryError, match=r"graph\.npz: an archive of [\d.]+ MB needs .* budget is 1 MB"):
        read_graph(path, budget=10**6)


def test_of_repeated_entries_the_smallest_is_kept(tmp_path):
    with pytest.warns(GraphFileWarning, match="1 entry repeats an edge"):
        file = read_graph(saved(tmp_path, sp.coo_array(([3, 2, 1], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))))
    assert dense(file) == [[0, 2], [1, 0]]
