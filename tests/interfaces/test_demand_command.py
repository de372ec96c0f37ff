"""Commands that take trips: a matrix, or a table. `test_error_texts.py` has what is said of lines that are none."""

import gzip

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from commands import rows_of, run, succeed

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
    expected, command = lagbc.bc(graph, **given), ("example:lesmis", *options, "--demand", path)
    printed = succeed("bc", *command, "--out", out)
    np.testing.assert_array_equal(np.load(out), expected)
    assert f"{expected.max():.8g}" in printed
    assert "all vertices are roots" not in printed
    assert f"{lagbc.edge_bc(graph, **given).max():.8g}" in succeed("edge-bc", *command)
    printed = succeed("centralities", *command)
    assert "rank  vertex" in printed
    assert "closeness" not in printed
    assert f"{expected.max():.8g}" in printed


# A path a - b - c - d, or of vertices 4, 5, 6 and 8: 2 + 3 trips from its second vertex to its last, 1.5 from last to
# first.
_TABLES = {
    "plain": "{b} {d} 2\n{d} {a} 1.5\n{b} {d} 3\n",
    "titles": "origin,destination,trips\n{b},{d},2\n{d},{a},1.5\n{b},{d},3\n",
    "any order": "Trips;To;From\n2;{d};{b}\n1.5;{a};{d}\n3;{d};{b}\n",
    "other ends": "demand\tzone 1\tzone 2\n2\t{b}\t{d}\n1.5\t{d}\t{a}\n3\t{b}\t{d}\n",
    "more columns": "hour,from,km,to,demand\n8,{b},0.5,{d},2\n8,{d},0.7,{a},1.5\n9,{b},0.5,{d},3\n",
}
_LOADS = {"a": 0.0, "b": 1.5, "c": 6.5, "d": 0.0}


@pytest.mark.parametrize("names", ["abcd", "4568"], ids=["names", "integers"])
@pytest.mark.parametrize("table", _TABLES)
def test_a_table_of_trips_adds_up_those_of_a_pair(write, tmp_path, table, names):
    called, out = dict(zip("abcd", names, strict=True)), tmp_path / "loads.csv"
    graph = write("{b},{a}\n{b},{c}\n{d},{c}\n".format(**called), "path.csv")
    trips = write(gzip.compress(_TABLES[table].format(**called).encode()), "trips.txt.gz")
    succeed("bc", graph, "--undirected", "--demand", trips, "--out", out)
    loads = {row["vertex"]: float(row["score"]) for row in rows_of(out)}
    assert loads == {called[v]: load for v, load in _LOADS.items()}


def test_a_table_calls_the_rows_of_a_matrix_by_number(write, scores_of):
    entries = TRIPS.tocoo()
    rows = zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True)
    path = write("origin,destination,trips\n" + "".join(f"{s},{t},{trips!r}\n" for s, t, trips in rows))
    expected = lagbc.bc(lagbc.read_graph("example:lesmis"), demand=TRIPS)
    np.testing.assert_array_equal(scores_of("bc", "example:lesmis", "--demand", path), expected)


def test_trips_that_no_path_takes_are_told(write):
    graph = write("a,b\nb,c\nc,d\n")

    def told(trips, *options):
        result = run("bc", graph, "--demand", write(f"from,to,trips\n{trips}", "trips.csv"), *options)
        assert result.exit_code == 0
        return result.stderr

    trips = "a,c,2\nd,a,1.5\na,a,7\n"
    assert "1.5 of 3.5 trips are not assigned: no path leads to their ends" in told(trips, "--directed")
    within = "3.5, 1.5 of 3.5 trips are not assigned: no path within the cutoff 1, 2 leads to their ends"
    assert within in told(trips, "--directed", "--cutoff", "1,2")
    assert "not assigned" not in told(trips, "--undirected")
    assert "not assigned" not in told("a,c,0.1\na,d,0.2\n", "--directed")


def test_loads_are_drawn(tmp_path):
    sp.save_npz(tmp_path / "trips.npz", TRIPS)
    succeed("bc", "example:lesmis", "--demand", tmp_path / "trips.npz", "--plot", tmp_path / "loads.png")
