"""Edge lists: what is one, and every way in which one can be malformed."""

import gzip

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from malformed import check_error, dense

from lagbc.errors import GraphFileWarning, GraphFormatError
from lagbc.io.read import read_graph


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


def test_edge_list_weights(write):
    file = read_graph(write("5,9,0.5\n9,5,3\n9,9,0\n"))
    assert dense(file) == [[0, 0.5], [3, 0]]
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
    found = sorted((int(file.labels[i]), int(file.labels[j])) for i, j in zip(entries.row, entries.col, strict=True))
    assert found == sorted(set(edges))
    assert (entries.data == 1).all()


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


@pytest.mark.parametrize(("strengths", "kept"), [(False, 3), (True, 5)])
def test_of_repeated_edges_one_length_is_kept(write, strengths, kept):
    with pytest.warns(GraphFileWarning, match=r"graph\.txt: 2 entries repeat an edge"):
        file = read_graph(write("0 1 3\n0 1 5\n1 0 1\n0 1 3\n"), strengths=strengths)
    assert dense(file) == [[0, kept], [1, 0]]


def test_lines_of_blanks_and_indented_comments_between_commas(write):
    assert dense(read_graph(write("1,2\n  \n\t\n   # c\n2,1  % c\n"))) == [[0, 1], [1, 0]]


def test_names_need_more_than_a_header_to_be_commented_out(write):
    hint = ["ids being integers", "comment out a header line with #", "number them first", "numpy.unique(names"]
    check_error(write("source,target\nann,bob\n"), 1, hint)
    check_error(write("#source,target\nann,bob\n"), 2, hint)


@pytest.mark.parametrize(
    ("text", "line", "parts"),
    [
        ("# hi\r1 2\n", 1, ["a carriage return within a line"]),
        ("1 2\n3 4\r5 6\r\n", 2, ["a carriage return within a line", "3 4"]),
        ("1 2\n3\0 4\n", 2, ["a NUL byte"]),
        ("1 2\n1 " + "9" * 4400 + "\n", 2, ["is not an integer id"]),
        ("1 2\n1 -9223372036854775809\n", 2, ["is not an integer id"]),
        ("1,2\n1,,2\n", 2, ["3 columns where"]),
    ],
)
def test_what_parsers_take_for_something_else(write, text, line, parts):
    check_error(write(text), line, parts)
