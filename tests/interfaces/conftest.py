"""Fixtures of the command line."""

import pytest


@pytest.fixture
def path_graph(tmp_path):
    """The path 20 -> 10 -> 30 -> 40 as an edge list."""
    path = tmp_path / "path.txt"
    path.write_text("20 10\n10 30\n30 40\n")
    return path
