"""Files whose vertices have names: what is said of them, printed, written and drawn."""

import pytest
from commands import fail, run, succeed

TEXT = 'From,To,miles\n"Smith, J.",Boss,1\nBoss,Zoë,2.5\nZoë,"Smith, J.",4\n'


@pytest.fixture
def named(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_what_was_recognised_is_said_in_a_line(named):
    line = "edge list: names in columns 1 and 2, values in column 3, separated by commas, below a header line"
    for command in ("bc", "info", "centralities"):
        assert line in succeed(command, named)


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
    pytest.importorskip("matplotlib")
    succeed("bc", named, "--plot", tmp_path / "scores.svg")
    succeed("centralities", named, "--which", "bc", "--plot", tmp_path / "network.svg")
    for file in ("scores.svg", "network.svg"):
        assert "<!-- Boss -->" in (tmp_path / file).read_text(encoding="utf-8")


def test_columns_are_options(tmp_path):
    path = tmp_path / "calls.txt"
    path.write_text("1 7 8 3\n2 8 9 5\n")
    assert "--ends" in fail("bc", path)
    out = succeed("bc", path, "--ends", "2,3", "--length", "4", "--weighted", "--names")
    assert "edge list: names in columns 2 and 3, values in column 4, separated by blanks" in out
    assert "is not two columns" in run("bc", path, "--ends", "2").stderr
    path.write_text("a b\nb c\n")
    assert "below a header line 'a,b'" in succeed("info", path, "--header")


def test_a_first_line_in_doubt_is_said_with_its_options(tmp_path):
    path = tmp_path / "friends.csv"
    path.write_text("who,whom\nann,bob\nbob,carl\n")
    (line,) = run("bc", path, "--directed").stderr.splitlines()
    assert line.startswith(f"lagbc: warning: {path}: the first line is taken for an edge, 'who' to 'whom', although")
    assert line.endswith("; --header takes it for titles, --no-header for an edge without this warning")
    for option in ("--header", "--no-header"):
        assert run("bc", path, "--directed", option).stderr == ""


def test_a_length_that_is_none_is_named_by_its_line(named):
    named.write_text(TEXT.replace("2.5", "-2.5"), encoding="utf-8")
    message = "people.csv, line 3: the edge Boss -> Zoë has the {} -2.5; {}s are finite and > 0"
    assert message.format("length", "length") in fail("bc", named, "--weighted")
    assert message.format("strength", "strength") in fail("bc", named, "--strength")
