"""Passes over matrices of a row a vertex and a column a root, against NumPy."""

import numpy as np
import pytest

from lagbc.native.core import clear_unreached, find_extremes, turn, turn_back

SHAPES = [(1, 1), (15, 64), (128, 3), (129, 64), (1024, 16), (1025, 17), (2500, 64)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_transposes(shape):
    """All is written, within a larger array as by itself."""
    rows = np.random.default_rng(shape).random(shape)
    columns = np.full((shape[1] + 2, shape[0]), -1.0)
    turn_back(rows, columns[1:-1])
    np.testing.assert_array_equal(columns[1:-1], rows.T)
    assert (columns[[0, -1]] == -1).all()
    again = np.full(shape, -1.0)
    turn(columns[1:-1], again)
    np.testing.assert_array_equal(again, rows)


def test_extremes_of_columns():
    weights = np.random.default_rng(1).random((300, 7)) * 10.0 ** np.arange(-150, 200, 50)
    weights[::3] = 0
    weights[:, 2] = 0
    smallest, largest = np.full(7, np.inf), np.zeros(7)
    find_extremes(weights, smallest, largest)
    np.testing.assert_array_equal(largest, weights.max(axis=0))
    np.testing.assert_array_equal(smallest, np.where(weights > 0, weights, np.inf).min(axis=0))


def test_what_is_not_reached_has_no_paths():
    dist = np.array([[0.0, np.inf, 2.0], [np.inf, 1.0, np.inf]])
    sigma = np.arange(1.0, 9.0).reshape(2, 4)[:, :3]
    clear_unreached(dist, sigma)
    np.testing.assert_array_equal(sigma, [[1, 0, 3], [0, 6, 0]])
