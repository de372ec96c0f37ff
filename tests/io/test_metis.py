"""METIS files, and every way in which one can be malformed."""

import pytest
from malformed import dense

from lagbc.io.read import read_graph


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
