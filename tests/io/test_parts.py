"""Parts of a file, put together, are the file; what is not read in parts is refused."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

import lagbc
from lagbc.errors import GraphFormatError

PATTERN = sp.coo_array(np.random.default_rng(3).random((23, 23)) < 0.2)


def whole(parts):
    return sum(part.matrix.astype(int) for part in parts).toarray()


def parts_of(path, of):
    return [lagbc.read_graph(path, part=(number, of)) for number in range(of)]


@pytest.mark.parametrize("of", [1, 3, 50])
@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
@pytest.mark.parametrize("suffix", [".mtx", ".mtx.gz"])
def test_matrix_market(tmp_path, monkeypatch, suffix, symmetry, of):
    monkeypatch.setattr("lagbc.io.source._PIECE", 40)
    matrix = (PATTERN + PATTERN.T if symmetry == "symmetric" else PATTERN).astype(float)
    path = tmp_path / "graph.mtx"
    mmwrite(path, matrix, comment="of a test", symmetry=symmetry)
    if suffix.endswith("gz"):
        text, path = path.read_bytes(), tmp_path / f"graph{suffix}"
        path.write_bytes(gzip.compress(text))
    parts = parts_of(path, of)
    np.testing.assert_array_equal(whole(parts), matrix.toarray() != 0)
    assert {part.directed for part in parts} == {symmetry == "general"}
    read, stated = sum(part.counted[0] for part in parts), parts[0].counted[1]
    assert read == stated


@pytest.mark.parametrize("of", [1, 3, 40])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("compressed", [True, False])
def test_npz(tmp_path, form, compressed, of):
    path = tmp_path / "graph.npz"
    sp.save_npz(path, PATTERN.asformat(form), compressed=compressed)
    np.testing.assert_array_equal(whole(parts_of(path, of)), PATTERN.toarray())


def test_what_is_refused(tmp_path):
    edges = tmp_path / "edges.csv"
    edges.write_text("1,2\n2,3\n")
    with pytest.raises(ValueError, match="edge list is not read in parts"):
        lagbc.read_graph(edges, part=(0, 2))
    with pytest.raises(ValueError, match="counted from 0"):
        lagbc.read_graph("example:karate", part=(2, 2))
    sp.save_npz(tmp_path / "dia.npz", sp.dia_array(np.eye(3)))
    with pytest.raises(GraphFormatError, match="dia is not read in parts"):
        lagbc.read_graph(tmp_path / "dia.npz", part=(0, 2))
    wrong = tmp_path / "wrong.mtx"
    wrong.write_text("%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n1 9\n")
    with pytest.raises(GraphFormatError, match="out of bounds"):
        lagbc.read_graph(wrong, part=(1, 2))
