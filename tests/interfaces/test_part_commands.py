"""`--part` of the commands, and `lagbc merge`."""

import numpy as np
import pytest
import scipy.sparse as sp
from commands import fail, succeed

import lagbc

pytestmark = pytest.mark.usefixtures("short_chunks")


@pytest.fixture
def friends(write):
    """A ring of 200 names with chords."""
    lines = [f"p{i},p{j % 200}\n" for i in range(200) for j in (i + 1, i * i + 3)]
    return write("".join(["from,to\n", *lines]), "friends.csv")


def parts(folder, of, *arguments):
    files = [folder / f"part{i}.npz" for i in range(1, of + 1)]
    for i, file in enumerate(files, 1):
        printed = succeed(*arguments, "--part", f"{i}/{of}", "--out", file)
        assert f"part {i} of {of}: " in printed
        assert f" roots: {file} (" in printed
    return files


@pytest.mark.parametrize(
    ("command", "suffix"),
    [
        (("bc", "--undirected", "--normalized"), "csv"),
        (("bc", "--k", "50", "--seed", "3", "--no-error"), "npy"),
        (("edge-bc", "--directed"), "csv"),
        (("closeness", "--directed"), "csv"),
        (("bc", "--cutoff", "2,3"), "csv"),
        (("edge-bc", "--cutoff", "2,3", "--decay", "0.5,1", "--directed"), "csv"),
        (("centralities", "--which", "reach,bc", "--cutoff", "2,3", "--decay", "0.5", "--undirected"), "csv"),
        (("centralities", "--which", "stress,bc", "--undirected"), "csv"),
        (("centralities", "--which", "stress,bc", "--undirected"), "npy"),
    ],
)
def test_merged_files_are_those_of_one_run(command, suffix, friends, tmp_path):
    name, *given = command
    whole, merged = tmp_path / f"whole.{suffix}", tmp_path / f"merged.{suffix}"
    printed = succeed(name, friends, *given, "--out", whole, "--top", 4)
    shown = succeed("merge", *parts(tmp_path, 3, name, friends, *given), "--out", merged, "--top", 4)
    assert merged.read_bytes() == whole.read_bytes()
    rows = [line for line in shown.splitlines()[1:] if line.split()[:1] in (["1"], ["2"], ["3"], ["4"])]
    assert len(rows) == 4
    ranked = [line.split()[:3] for line in printed.splitlines()]
    assert all(row.split()[:3] in ranked for row in rows)
    assert f"scores: {merged}" in shown


def test_a_network_that_comes_with_lagbc(tmp_path):
    files = parts(tmp_path, 2, "bc", "example:lesmis", "--weighted")
    out = tmp_path / "scores.npy"
    shown = succeed("merge", *files, "--out", out, "--top", 0)
    assert shown.startswith("2 parts: bc of 77 vertices\ntime: ")
    np.testing.assert_array_equal(np.load(out), lagbc.bc(lagbc.read_graph("example:lesmis"), weighted=True))


def test_trips_in_parts(scores_of, tmp_path):
    trips = sp.random_array((77, 77), density=0.1, rng=np.random.default_rng(0), format="csr")
    sp.save_npz(tmp_path / "trips.npz", trips)
    files = parts(tmp_path, 2, "bc", "example:lesmis", "--demand", tmp_path / "trips.npz")
    expected = lagbc.bc(lagbc.read_graph("example:lesmis"), demand=trips)
    np.testing.assert_array_equal(scores_of("merge", *files), expected)


def test_scores_of_edges_and_others(tmp_path):
    for i in (1, 2):
        lagbc.save_part(tmp_path / f"{i}.npz", (i, 2), lagbc.read_graph("example:lesmis"), ("bc", "edge_bc"))
    assert "lagbc.merge_parts returns both" in fail("merge", tmp_path / "1.npz", tmp_path / "2.npz")
