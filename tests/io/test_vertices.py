"""Files of vertices: a number for each, groups of them, or a list."""

import gzip

import numpy as np
import pytest

from lagbc.errors import GraphFormatError
from lagbc.io.tables import Vertices, read_coordinates, read_groups, read_numbers, read_vertices, vertices_in

NAMED = Vertices(4, np.array(["a", "b", "x, y", "Zoë"], np.dtypes.StringDType()))
IDS = Vertices(3, np.array([10, 20, 30]))
NUMBERED = Vertices(3, None)


@pytest.mark.parametrize(
    ("text", "column", "numbers", "named"),
    [
        ("b 2\na 1.5\n", None, [1.5, 2, 0, 0], 2),
        ('# who\nname,state\n"x, y",3\nZoë,1e-3\n', None, [0, 0, 3, 1e-3], 2),
        ("a;1\nb;0\n\nZoë;2", None, [1, 0, 0, 2], 3),
        ("name,born,state\na,1990,0.5\n", "state", [0.5, 0, 0, 0], 1),
        ("a\t7\t2\nb\t8\t3\n", "3", [2, 3, 0, 0], 2),
        ("name state\n", None, [0, 0, 0, 0], 0),
    ],
)
def test_numbers(write, text, column, numbers, named):
    found, count = read_numbers(write(text), column, NAMED)
    assert (found.tolist(), count) == (numbers, named)


def test_vertices_are_called_as_the_graph_calls_them(write):
    assert read_numbers(write("20 2\n10 1\n"), None, IDS)[0].tolist() == [1, 2, 0]
    assert read_numbers(write("2 2\n0 1 # the first\n"), None, NUMBERED)[0].tolist() == [1, 0, 2]
    assert read_groups(write("10,30\n20\n"), IDS) == [[10, 30], [20]]
    assert read_groups(write("0 2\n1\n"), NUMBERED) == [[0, 2], [1]]
    assert read_groups(write('"x, y",a\nZoë\n'), NAMED) == [["x, y", "a"], ["Zoë"]]
    assert read_vertices(write("30\n10\n"), IDS) == [30, 10]
    assert vertices_in('"x, y",Zoë', NAMED) == ["x, y", "Zoë"]
    assert vertices_in("2, 0", NUMBERED) == [2, 0]


def test_compressed_and_array(write, tmp_path):
    assert read_numbers(write(gzip.compress(b"a,1\n"), "v.csv.gz"), None, NAMED)[0].tolist() == [1, 0, 0, 0]
    np.save(tmp_path / "v.npy", [3, 2, 1])
    numbers, named = read_numbers(tmp_path / "v.npy", None, IDS)
    assert (numbers.tolist(), named, numbers.dtype) == ([3, 2, 1], 3, np.float64)
    with pytest.raises(ValueError, match=r"shape \(3,\) and dtype int64; it is one number a vertex, shape \(4,\)"):
        read_numbers(tmp_path / "v.npy", None, NAMED)
    with pytest.raises(ValueError, match="an array has no column '2'"):
        read_numbers(tmp_path / "v.npy", "2", IDS)
    with pytest.raises(GraphFormatError, match="expected an array written by"):
        read_numbers(write("a 1\n", "text.npy"), None, NAMED)


# Coordinates


NAMES = np.array(["a", "b", "Zoë & co"], np.dtypes.StringDType())
XY = [[1, 2], [-3.5, 4e-3], [5, 6]]


@pytest.mark.parametrize(
    "text",
    [
        "vertex,x,y\na,1,2\nb,-3.5,4e-3\nZoë & co,5,6\n",
        "# a comment\n\nosmid;Y;X;street_count\nb;4e-3;-3.5;3\nelsewhere;;;\nZoë & co;6;5;1\n a ; 2 ; 1 ;2",
        "\ufeffx\ty\tname\n1\t2\ta\n-3.5\t0.004\tb\n5\t6\tZoë & co\n",
        'a 1 2\r\nb -3.5 .004\r\n"Zoë & co" 5. 6.0\r\n',
        "a  1   2\nb   -3.5 +4e-3\n'nobody' 0 0\n\"Zoë & co\"    5 6",
    ],
)
@pytest.mark.parametrize("compressed", [False, True])
def test_names(write, text, compressed):
    found = read_coordinates(write(gzip.compress(text.encode()) if compressed else text), 3, NAMES)
    np.testing.assert_array_equal(found.xy, XY)
    assert not found.degrees


@pytest.mark.parametrize("text", ["1 2\n-3.5 4e-3\n5 6\n", "x,y\n1,2\n-3.5,4e-3\n5,6\n", "2 5 6\n1 -3.5 4e-3\n0 1 2\n"])
def test_rows(write, text):
    np.testing.assert_array_equal(read_coordinates(write(text), 3, None).xy, XY)


def test_integer_names_and_degrees(write):
    found = read_coordinates(write("id,lat,lon\n70,2,1\n7,4e-3,-3.5\n700,6,5\n"), 3, np.array([70, 7, 700]))
    np.testing.assert_array_equal(found.xy, XY)
    assert found.degrees
