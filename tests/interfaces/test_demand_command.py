"""Commands that take a matrix of trips."""

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from commands import fail, run, succeed

import lagbc

TRIPS = sp.random_array((77, 77), density=0.1, rng=np.random.default_rng(1))


@pytest.mark.parametrize("options", [[], ["--weighted"]], ids=["hops", "lengths"])
@pytest.mark.parametrize("suffix", [".npz", ".mtx"])
def test_loads_are_those_of_the_function(tmp_path, suffix, options):
    path, out = tmp_path / f"trips{suffix}", tmp_path / "scores.npy"
    if suffix == ".npz":
        sp.save_npz(path, TRIPS)
    else:
        scipy.io.mmwrite(path, TRIPS, precision=17)
    graph, given = lagbc.read_graph("example:lesmis"), {"demand": TRIPS, "weighted": bool(options)}
    printed = succeed("bc", "example:lesmis", *options, "--demand", path, "--out", out)
    expected = lagbc.bc(graph, **given)
    np.testing.assert_array_equal(np.load(out), expected)
    assert f"{expected.max():.8g}" in printed
    assert "all vertices are roots" not in printed
    printed = succeed("edge-bc", "example:lesmis", *options, "--demand", path)
    assert f"{lagbc.edge_bc(graph, **given).max():.8g}" in printed
    printed = succeed("centralities", "example:lesmis", *options, "--demand", path)
    assert "rank  vertex" in printed
    assert "closeness" not in printed
    assert f"{expected.max():.8g}" in printed


def test_loads_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    sp.save_npz(tmp_path / "trips.npz", TRIPS)
    succeed("bc", "example:lesmis", "--demand", tmp_path / "trips.npz", "--plot", tmp_path / "loads.png")


def test_files_that_are_no_demand(tmp_path):
    def refused(*options):
        return fail("bc", "example:lesmis", "--demand", *options)

    path = tmp_path / "trips.txt"
    path.write_text("0 1 2.5\n")
    assert "trips.txt: demand is a matrix, .npz or .mtx" in refused(path)
    assert "there is no file" in refused(tmp_path / "nothing.npz").lower()
    path = tmp_path / "trips.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n77 77 1\n1 2 -1\n")
    negative = refused(path)
    assert "demand holds 1 values that are not finite and >= 0, the first from vertex 0 to vertex 1: -1.0" in negative
    assert "--demand says how often each pair of vertices counts; leave out --k" in refused(path, "--k", "3")
    path.write_text("%%MatrixMarket matrix coordinate real general\n3 3 1\n1 2 1\n")
    assert "demand has shape (3, 3)" in refused(path)


@pytest.mark.filterwarnings("ignore")
def test_trips_that_are_listed_twice(tmp_path):
    path = tmp_path / "trips.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n77 77 2\n1 2 1\n1 2 2\n")
    result = run("bc", "example:lesmis", "--demand", path)
    assert result.exit_code == 2
    assert "the trips of a pair of vertices are listed more than once" in result.stderr
