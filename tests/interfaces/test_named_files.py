"""Files whose vertices have names: what is said of them, printed, written and drawn."""

import pytest
from commands import fail, succeed


@pytest.fixture
def named(write):
    return write('From,To,miles\n"Smith, J.",Boss,1\nBoss,Zoë,2.5\nZoë,"Smith, J.",4\n', "people.csv")


def test_names_are_printed_and_written(named, tmp_path):
    out = succeed("bc", named, "--out", tmp_path / "scores.csv")
    assert [line.split()[1] for line in out.splitlines() if line.strip().startswith(("1 ", "2 ", "3 "))][2] == "Zoë"
    assert (tmp_path / "scores.csv").read_text(encoding="utf-8") == 'vertex,score\n"Smith, J.",1.0\nBoss,1.0\nZoë,1.0\n'
    succeed("edge-bc", named, "--out", tmp_path / "edges.csv")
    assert '"Smith, J.",Boss,3.0' in (tmp_path / "edges.csv").read_text(encoding="utf-8").splitlines()
    succeed("bc", named, "--out", tmp_path / "scores.npy")
    assert "an array holds no names; write the edges to a .csv or .parquet file" in fail(
        "edge-bc", named, "--out", tmp_path / "edges.npy"
    )


def test_names_are_drawn(named, tmp_path):
    succeed("bc", named, "--plot", tmp_path / "scores.svg")
    succeed("centralities", named, "--which", "bc", "--plot", tmp_path / "network.svg")
    for file in ("scores.svg", "network.svg"):
        assert "<!-- Boss -->" in (tmp_path / file).read_text(encoding="utf-8")
