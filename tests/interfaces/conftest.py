"""Fixtures of the command line."""

import numpy as np
import pytest
from commands import succeed


@pytest.fixture
def path_graph(write):
    """The path 20 -> 10 -> 30 -> 40 as an edge list."""
    return write("20 10\n10 30\n30 40\n", "path.txt")


@pytest.fixture
def scores_of(tmp_path):
    """Run a command, and return the array of scores that it writes."""

    def scores_of(*arguments):
        succeed(*arguments, "--out", tmp_path / "scores.npy")
        return np.load(tmp_path / "scores.npy")

    return scores_of
