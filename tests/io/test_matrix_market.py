"""Matrix Market files, and every way in which one can be malformed."""

from itertools import product

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from malformed import check_error, dense

from lagbc.errors import GraphFileWarning
from lagbc.io.read import read_graph

BANNER = "%%MatrixMarket matrix coordinate real general\n"
INTEGERS = BANNER.replace("real", "integer")
SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


@pytest.mark.parametrize("name", ["graph.mtx", "graph", "graph.txt"])
def test_matrix_market_is_told_by_its_banner(write, name):
    file = read_graph(write(BANNER + "3 3 2\n1 2 6\n3 1 0\n", name))
    assert (file.format, file.directed, file.labels) == ("Matrix Market", True, None)
    assert isinstance(file.matrix, sp.csr_array)
    assert dense(file) == [[0, 6, 0], [0, 0, 0], [0, 0, 0]]
    assert file.matrix.nnz == 2, "the stored zero is an edge"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (BANNER.lower() + "2 2 1\n1 2 5\n", [[0, 5], [0, 0]]),
        (BANNER.replace("real", "pattern") + "2 2 2\n1 2\n1 2\n", [[0, 1], [0, 0]]),
        (INTEGERS + f"2 2 2\n1 2 {2**63 - 1}\n2 1 {-(2**63)}\n", [[0, 2**63 - 1], [-(2**63), 0]]),
        ("%%MatrixMarket matrix array real general\n0 0\n", []),
    ],
    ids=["small letters", "an edge twice", "all digits", "no cells"],
)
def test_cells(write, text, expected):
    file = read_graph(write(text, "graph.txt"))
    assert (dense(file), file.notices) == (expected, ())


FORMS = [
    *product(("array", "coordinate"), ("integer", "real", "complex"), SYMMETRIES),
    *product(("coordinate",), ("pattern",), SYMMETRIES[:2]),
]


@pytest.mark.parametrize(("layout", "field", "symmetry"), FORMS)
def test_every_form_is_read_as_scipy_reads_it(write, layout, field, symmetry):
    values = {"integer": "{0}", "real": "0.{0}7", "complex": "{0} -1.5{0}", "pattern": ""}[field]
    below = [(i, j) for j in range(4) for i in range(4) if symmetry == "general" or i >= j + (symmetry[1] == "k")]
    ends = (f"{i + 1} {j + 1} " if layout == "coordinate" else "" for i, j in below)
    lines = [end + values.format(number) for number, end in enumerate(ends, 1)]
    size = f"4 4 {len(lines)}" if layout == "coordinate" else "4 4"
    path = write("\n".join([f"%%MatrixMarket matrix {layout} {field} {symmetry}", size, *lines, ""]), "graph.mtx")
    theirs = sp.csr_array(scipy.io.mmread(path, spmatrix=False))
    file = read_graph(path)
    assert file.directed == (symmetry == "general")
    assert file.matrix.dtype == theirs.dtype
    assert file.matrix.nnz == theirs.nnz
    assert np.array_equal(file.matrix.toarray(), theirs.toarray())


def test_malformed_matrix_market_far_down(write):
    entries = "1 2 1\n" * 200_000
    text = f"{BANNER}% c\n3 3 400001\n{entries}1 4 1\n{entries}"
    check_error(write(text, "graph.mtx"), 200_004, ["Column index out of bounds", "'1 4 1'"])


@pytest.mark.parametrize("end", ["", " ", "\t", "\r", " \r", "\r\n", "\n\n", "\n \n"])
@pytest.mark.parametrize("entry", ["1 2 5", "1 2 5e0", "1\t2  5"])
def test_a_file_may_end_in_any_blank(write, entry, end):
    assert dense(read_graph(write(f"{BANNER}2 2 1\n{entry}{end}", "graph.mtx"))) == [[0, 5], [0, 0]]


@pytest.mark.parametrize("kind", ["coordinate pattern general", "array real general"])
def test_sizes_beyond_the_budget(write, kind):
    size = "100000000 100000000" + " 0" * kind.startswith("coordinate")
    path = write(f"%%MatrixMarket matrix {kind}\n{size}\n", "graph.mtx")
    if kind.startswith("array"):
        check_error(path, 2, ["do not fit into"])
    else:
        with pytest.raises(MemoryError, match=rf"graph\.mtx: a matrix of size '{size}' needs .*dget is 10 MB"):
            read_graph(path, budget=10**7)


@pytest.mark.parametrize(("strengths", "kept", "word"), [(False, 2, "smallest"), (True, 7, "largest")])
def test_of_repeated_entries_one_value_is_kept(write, strengths, kept, word):
    symmetric = BANNER.replace("general", "symmetric")
    path = write(symmetric + "3 3 5\n2 1 7\n1 2 2\n2 1 3\n3 3 1\n3 3 1\n", "graph.mtx")
    with pytest.warns(GraphFileWarning, match=rf"graph\.mtx: 3 entries repeat an edge; of each edge the {word}"):
        file = read_graph(path, strengths=strengths)
    assert dense(file) == [[0, kept, 0], [kept, 0, 0], [0, 0, 1]]
    assert len(file.notices) == 1


def test_a_repeated_nan_is_not_left_out(write):
    path = write(BANNER + "2 2 2\n1 2 7\n1 2 nan\n", "graph.mtx")
    with pytest.warns(GraphFileWarning):
        assert np.isnan(read_graph(path).matrix.data).tolist() == [True]
