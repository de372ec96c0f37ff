"""Tables of coordinates: with and without titles, by names and by rows, and malformed."""

import gzip

import numpy as np
import pytest

from lagbc.io.tables import read_coordinates

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
def test_names(tmp_path, text, compressed):
    path = tmp_path / "xy.csv"
    path.write_bytes(gzip.compress(text.encode()) if compressed else text.encode())
    found = read_coordinates(path, 3, NAMES)
    np.testing.assert_array_equal(found.xy, XY)
    assert not found.degrees


@pytest.mark.parametrize("text", ["1 2\n-3.5 4e-3\n5 6\n", "x,y\n1,2\n-3.5,4e-3\n5,6\n", "2 5 6\n1 -3.5 4e-3\n0 1 2\n"])
def test_rows(tmp_path, text):
    path = tmp_path / "xy.txt"
    path.write_text(text)
    np.testing.assert_array_equal(read_coordinates(path, 3, None).xy, XY)


def test_integer_names_and_degrees(tmp_path):
    path = tmp_path / "xy.csv"
    path.write_text("id,lat,lon\n70,2,1\n7,4e-3,-3.5\n700,6,5\n")
    found = read_coordinates(path, 3, np.array([70, 7, 700]))
    np.testing.assert_array_equal(found.xy, XY)
    assert found.degrees
