"""METIS files, and every way in which one can be malformed."""

import pytest
from malformed import check_error, dense

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
        ("9" * 4400 + " 1\n", 1, ["not a METIS header"]),
        ("2 1 010 99999999999999999999\n2\n1\n", 1, ["not a METIS header"]),
        ("2 1\n" + "9" * 4400 + "\n1\n", 2, ["not only integers"]),
        ("2 1\n-9223372036854775809\n1\n", 2, ["not only integers"]),
    ],
)
def test_malformed_metis(write, text, line, parts):
    check_error(write(text, "net.graph"), line, parts)


def test_metis_line_numbers_count_comments_and_empty_lines(write):
    check_error(write("% c\n% c\n4 1\n\n% c\n\n4\n% c\n9\n", "net.graph"), 9, ["neighbour 9"])
