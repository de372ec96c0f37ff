"""Graph files: every format, plain and compressed, and every way in which one can be malformed."""

import gzip
import io
import re

import networkx as nx
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from lagbc.errors import GraphFormatError
from lagbc.io.read import example_names, example_path, read_graph

BANNER = "%%MatrixMarket matrix coordinate real general\n"


@pytest.fixture
def write(tmp_path):
    def write(text, name="graph.txt"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def dense(file):
    return file.matrix.toarray().tolist()


# ---- edge lists


@pytest.mark.parametrize("suffix", ["txt", "edges", "edgelist", "el", "csv", "tsv", "unknown"])
@pytest.mark.parametrize(
    "text",
    [
        "7 -2\n30 7\n",
        "7\t-2\r\n30\t7\r\n",
        "7,-2\n30, 7\n",
        "# SNAP\n% KONECT\n\n  7 -2  # an edge\n\n30 7",
        "\ufeff7 -2\n30 7\n",
    ],
)
def test_edge_list(write, text, suffix):
    file = read_graph(write(text, f"graph.{suffix}"))
    assert (file.format, file.directed) == ("edge list", True)
    assert isinstance(file.matrix, sp.csr_array)
    assert file.labels.tolist() == [-2, 7, 30]
    assert dense(file) == [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


def test_edge_list_without_suffix(write):
    assert read_graph(write("1 2\n", "graph")).format == "edge list"


def test_edge_list_weights_and_sums_of_repeated_edges(write):
    file = read_graph(write("5,9,0.5\n9,5,3\n5,9,1e-1\n9,9,0\n"))
    assert dense(file) == [[0, 0.6], [3, 0]]
    assert file.matrix.nnz == 3, "the stored zero is an edge"


def test_edge_list_keeps_ids_that_float64_cannot(write):
    assert read_graph(write(f"{2**53} {2**53 + 1} 1.5\n")).labels.tolist() == [2**53, 2**53 + 1]


def test_edge_list_with_other_bytes_in_a_comment(write):
    assert read_graph(write(b"# caf\xe9 \xff\n1 2\n")).matrix.nnz == 1


edges_strategy = st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(-50, 50)), min_size=1, max_size=30)


@given(edges_strategy, st.sampled_from([" ", "\t", ",", ", "]), st.booleans())
def test_edge_list_gives_back_the_edges(tmp_path_factory, edges, separator, compressed):
    path = tmp_path_factory.mktemp("edges") / "graph"
    data = "".join(f"{u}{separator}{v}\n" for u, v in edges).encode()
    path.write_bytes(gzip.compress(data) if compressed else data)
    file = read_graph(path)
    assert file.labels.tolist() == sorted({vertex for edge in edges for vertex in edge})
    entries = file.matrix.tocoo()
    found = {
        (int(file.labels[i]), int(file.labels[j])): count
        for i, j, count in zip(entries.row, entries.col, entries.data, strict=True)
    }
    assert found == {edge: edges.count(edge) for edge in edges}


@given(st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_edge_list_of_networkx(tmp_path_factory, n, seed):
    G = nx.gnp_random_graph(n, 0.4, seed=seed, directed=True)
    G.add_edge(0, 0)
    for u, v in G.edges:
        G.edges[u, v]["weight"] = 1 / (u + v + 3)
    path = tmp_path_factory.mktemp("networkx") / "graph.edgelist"
    nx.write_weighted_edgelist(G, path)
    file = read_graph(path)
    assert np.array_equal(file.matrix.toarray(), nx.to_numpy_array(G, nodelist=file.labels.tolist()))


@pytest.mark.parametrize(
    ("text", "line", "parts"),
    [
        ("1 2\n# c\n3\n", 3, ["1 column where", "'3'", "source target"]),
        ("7\n", 1, ["1 column:", "'7'"]),
        ("1 2 3 4\n", 1, ["4 columns", "'1 2 3 4'"]),
        ("1 2\n1 2 0.5\n", 2, ["3 columns where the lines above have 2"]),
        ("1,2\n\n1;2\n", 3, ["1 column where", "'1;2'"]),
        ("source,target\n1,2\n", 1, ["'source' is not an integer id", "comment out a header line"]),
        ("1 2\n1.0 2\n", 2, ["'1.0' is not an integer id", "'1.0 2'"]),
        ("1 2\n2 b\n", 2, ["'b' is not an integer id"]),
        ("1 2\n2 99999999999999999999\n", 2, ["'99999999999999999999' is not an integer id"]),
        ("1 2 1\n2 3 heavy\n", 2, ["'heavy' is not a weight"]),
        ("% a\n# b\n1 2\n1 x # c\n", 4, ["'1 x'"]),
    ],
)
def test_malformed_edge_list(write, text, line, parts):
    check_error(write(text), line, parts)


def test_malformed_edge_list_far_down(write):
    check_error(write("1 2\n" * 70_000 + "1 2 3\n" + "1 2\n" * 10), 70_001, ["3 columns where"])


def test_long_text_is_shortened(write):
    with pytest.raises(GraphFormatError, match=r"'x{57}\.\.\.'"):
        read_graph(write("1 2\n" + "x" * 500 + "\n"))


@pytest.mark.parametrize("text", ["", "# only a comment\n\n"])
def test_edge_list_without_edges(write, text):
    with pytest.raises(GraphFormatError, match=r"graph\.txt: no edge in the file; expected lines 'source target'"):
        read_graph(write(text))


# ---- Matrix Market


@pytest.mark.parametrize("name", ["graph.mtx", "graph", "graph.txt"])
def test_matrix_market_is_told_by_its_banner(write, name):
    file = read_graph(write(BANNER + "3 3 3\n1 2 5\n3 1 0\n1 2 1\n", name))
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
        (BANNER + "3 3 -1\n", 2, ["negative", "'3 3 -1'"]),
        (BANNER + "99999999999999999999 3 1\n", 2, ["out of range", "'99999999999999999999 3 1'"]),
        (BANNER + "3 3 2\n1 2 1\n4 1 1\n", 4, ["Row index out of bounds", "'4 1 1'", "size line '3 3 2'"]),
        (BANNER + "3 3 2\n1 0 1\n2 1 1\n", 3, ["Column index out of bounds", "'1 0 1'"]),
        (BANNER + "3 3 2\n1 2 1\n1 1 x\n", 4, ["Invalid floating-point", "'1 1 x'"]),
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


# ---- SciPy npz


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


def test_matrix_that_is_not_square(tmp_path, write):
    sp.save_npz(tmp_path / "graph.npz", sp.csr_array((2, 3)))
    for path in (tmp_path / "graph.npz", write(BANNER + "2 3 0\n", "graph.mtx")):
        with pytest.raises(GraphFormatError, match=rf"{re.escape(str(path))}: the matrix is 2 x 3; expected a square"):
            read_graph(path)


# ---- METIS


@pytest.mark.parametrize("suffix", ["graph", "metis"])
def test_metis(write, suffix):
    file = read_graph(write("% a path and a lone vertex\n4 2\n2\n1 3\n% between\n2\n\n", f"net.{suffix}"))
    assert (file.format, file.directed, file.labels) == ("METIS", False, None)
    assert dense(file) == [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    "text",
    [
        "3 2 001\n2 5\n1 5 3 6\n2 6\n",
        "3 2 1\n2 5\n1 5 3 6\n2 6\n",
        "3 2 011\n9 2 5\n9 1 5 3 6\n9 2 6\n",
        "3 2 011 2\n9 8 2 5\n9 8 1 5 3 6\n9 8 2 6\n",
        "3 2 101\n7 2 5\n7 1 5 3 6\n7 2 6\n",
        "3 2 111 2\n7 9 8 2 5\n7 9 8 1 5 3 6\n7 9 8 2 6\n",
    ],
)
def test_metis_edge_weights_are_told_from_the_numbers_of_the_vertex(write, text):
    assert dense(read_graph(write(text, "net.graph"))) == [[0, 5, 0], [5, 0, 6], [0, 6, 0]]


@pytest.mark.parametrize(
    ("fmt", "before"),
    [("", ""), ("0", ""), ("000", ""), ("10", "9 "), ("010", "9 "), ("100", "9 "), ("110 3", "9 9 9 9 ")],
)
def test_metis_without_edge_weights(write, fmt, before):
    text = f"3 2 {fmt}\n{before}2\n{before}1 3\n{before}2\n"
    assert dense(read_graph(write(text, "net.graph"))) == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


def test_metis_without_edges(write):
    assert dense(read_graph(write("2 0\n\n\n\n", "net.graph"))) == [[0, 0], [0, 0]]


@given(st.integers(1, 12), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_metis_gives_back_the_graph(tmp_path_factory, n, p, seed):
    G = nx.gnp_random_graph(n, p, seed=seed)
    lists = "".join(" ".join(str(v + 1) for v in G[u]) + "\n" for u in range(n))
    path = tmp_path_factory.mktemp("metis") / "net.graph"
    path.write_text(f"{n} {G.number_of_edges()}\n{lists}")
    assert np.array_equal(read_graph(path).matrix.toarray(), nx.to_numpy_array(G))


@pytest.mark.parametrize(
    ("text", "line", "parts"),
    [
        ("", 1, ["not a METIS header", "vertices edges [fmt [ncon]]"]),
        ("% c\n3\n", 2, ["not a METIS header", "'3'"]),
        ("3 x\n", 1, ["not a METIS header", "'3 x'"]),
        ("3 2 002\n2\n1 3\n2\n", 1, ["not a METIS header", "'3 2 002'"]),
        ("3 2 0000\n", 1, ["not a METIS header"]),
        ("3 2 010 x\n", 1, ["not a METIS header"]),
        ("3 2\n2\n1 3\n", 3, ["ends after 2 of 3 vertex lines", "'1 3'"]),
        ("% c\n3 2\n2\n1 3\n2\n\n1\n", 7, ["more than the 3 vertex lines", "'1'"]),
        ("3 2\n2\n% c\n1 4\n2\n", 4, ["neighbour 4", "'1 4'", "neighbours from 1 to 3"]),
        ("3 2\n2\n0 3\n2\n", 3, ["neighbour 0", "neighbours from 1 to 3"]),
        ("3 2\n2\n1 x\n2\n", 3, ["not only integers", "'1 x'"]),
        ("3 2\n2\n1 3.0\n2\n", 3, ["not only integers", "'1 3.0'"]),
        ("3 2\n2\n1+3\n2\n", 3, ["not only integers", "'1+3'"]),
        ("2 1 001\n2 99999999999999999999\n1 99999999999999999999\n", 2, ["not only integers"]),
        ("3 3\n2\n1 3\n2\n", 1, ["3 edges in the header, but 4 neighbours", "twice as many"]),
        ("3 2\n2 3\n1\n2\n", 2, ["neighbour 3 of vertex 1 does not list 1", "both its ends"]),
        ("3 2\n2 2\n1\n\n", 2, ["neighbour 2 comes twice"]),
        ("3 2 001\n2 5\n1 5 3\n2 6\n", 3, ["3 numbers", "'neighbour weight' pairs"]),
        ("3 2 010 2\n1 1 2\n1 1 1 3\n1\n", 4, ["1 numbers", "2 for the vertex"]),
        ("2 1 001\n2 5\n1 6\n", 2, ["edge 1 - 2 weighs 5 here and 6 at its other end", "one weight"]),
    ],
)
def test_malformed_metis(write, text, line, parts):
    check_error(write(text, "net.graph"), line, parts)


def test_metis_line_numbers_count_comments_and_empty_lines(write):
    check_error(write("% c\n% c\n4 1\n\n% c\n\n4\n% c\n9\n", "net.graph"), 9, ["neighbour 9"])


# ---- what all formats share


@pytest.mark.parametrize(
    ("name", "text"),
    [("g.mtx", BANNER + "2 2 1\n1 2 1\n"), ("g.txt", "0 1\n"), ("g.graph", "2 1\n2\n1\n")],
)
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_gzip_is_told_by_content(write, name, text, suffix):
    plain, packed = read_graph(write(text, name)), read_graph(write(gzip.compress(text.encode()), name + suffix))
    assert (plain.format, plain.directed, dense(plain)) == (packed.format, packed.directed, dense(packed))


def test_gzip_npz(tmp_path, write):
    sp.save_npz(tmp_path / "g.npz", sp.csr_array([[0, 1], [0, 0]]))
    assert dense(read_graph(write(gzip.compress((tmp_path / "g.npz").read_bytes()), "h.gz"))) == [[0, 1], [0, 0]]


def test_line_numbers_of_a_compressed_file(write):
    check_error(write(gzip.compress(b"1 2\n\nx y\n"), "g.txt.gz"), 3, ["'x' is not an integer id"])


@pytest.mark.parametrize("cut", [slice(0, 20), slice(0, -4), slice(0, 2)])
def test_damaged_gzip(write, cut):
    data = gzip.compress(b"1 2\n" * 100)
    with pytest.raises(GraphFormatError, match=r"g\.gz: the gzip stream is damaged or cut short"):
        read_graph(write(data[cut], "g.gz"))


def test_gzip_with_a_wrong_checksum(write):
    data = bytearray(gzip.compress(b"1 2\n" * 100))
    data[-8] ^= 1
    with pytest.raises(GraphFormatError, match="damaged"):
        read_graph(write(bytes(data), "g.gz"))


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.mtx"):
        read_graph(tmp_path / "nothing.mtx")


# ---- shipped networks


@pytest.mark.parametrize(
    ("name", "n", "edges", "directed"),
    [
        ("ca-GrQc", 5242, 14484, False),
        ("karate", 34, 78, False),
        ("lesmis", 77, 254, False),
        ("minnesota", 2642, 3303, False),
        ("power", 4941, 6594, False),
        ("us-airports", 755, 8228, True),
    ],
)
def test_shipped_network(name, n, edges, directed):
    file = read_graph(example_path(name))
    A = file.matrix
    assert (A.shape, A.nnz, file.directed) == ((n, n), edges if directed else 2 * edges, directed)
    assert A.diagonal().sum() == 0
    symmetric = (A != A.T).nnz == 0
    assert symmetric != directed


def test_karate_is_the_graph_of_networkx():
    A = read_graph(example_path("karate")).matrix
    assert np.array_equal(A.toarray(), nx.to_numpy_array(nx.karate_club_graph(), weight=None))


def test_shipped_names():
    assert example_names() == ["ca-GrQc", "karate", "lesmis", "minnesota", "power", "us-airports"]
    assert (read_graph("example:karate").matrix != read_graph(example_path("karate")).matrix).nnz == 0
    with pytest.raises(ValueError, match=r"called 'nope'; there are: ca-GrQc"):
        read_graph("example:nope")
    with pytest.raises(ValueError, match=r"called 'nope'; there are: ca-GrQc, karate, .*us-airports"):
        example_path("nope")


def test_shipped_networks_are_described_and_small():
    folder = example_path("karate").parent
    description = (folder / "README.md").read_text()
    for name in example_names():
        assert description.count(f"| `{name}` |") == 2, f"{name} needs a row of each table"
    assert sum(file.stat().st_size for file in folder.iterdir()) < 1_000_000


def check_error(path, line, parts):
    with pytest.raises(GraphFormatError) as caught:
        read_graph(path)
    message = str(caught.value)
    assert message.startswith(f"{path}, line {line}: ")
    for part in (*parts, "; expected "):
        assert part in message
