"""Formats and centralities of other packages, found by their entry points."""

import json
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
from interfaces.commands import run, succeed

import lagbc
from lagbc.extensions import load_extensions
from lagbc.io.formats import FORMATS

FORMAT = """
import numpy as np
from lagbc.io.formats import reader
from lagbc.io.graph_file import GraphFile, compressed


@reader("ring", suffixes=(".ring",))
def read_ring(source, largest, named):
    n = int(source.whole())
    rows, _ = compressed(n, np.arange(n), np.roll(np.arange(n), -1), None, directed=True, largest=largest)
    return GraphFile(rows, True, "ring", None, has_values=False)
"""
CENTRALITY = """
import lagbc

lagbc.register_centrality(
    lagbc.Centrality(
        name="reached_by",
        sums=frozenset({"reached"}),
        finish=lambda result, arguments: result.sums.reached.copy(),
        takes=frozenset({"sources", "cutoff", "k", "rng"}),
        summary="how many vertices reach one",
    )
)
"""
ENTRIES = """[lagbc.formats]
ring = rings_for_lagbc.formats:read_ring
gone = rings_for_lagbc.gone

[lagbc.centralities]
reached_by = rings_for_lagbc.centralities
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that is installed in a folder of sys.path, and a file in its format."""
    folder = tmp_path / "installed"
    info = folder / "rings_for_lagbc-1.0.dist-info"
    (folder / "rings_for_lagbc").mkdir(parents=True)
    info.mkdir()
    (folder / "rings_for_lagbc/formats.py").write_text(FORMAT)
    (folder / "rings_for_lagbc/centralities.py").write_text(CENTRALITY)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: rings-for-lagbc\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRIES)
    path = tmp_path / "four.ring"
    path.write_text("4")
    monkeypatch.syspath_prepend(folder)
    load_extensions.cache_clear()
    yield path
    FORMATS.pop("ring", None)
    with suppress(ValueError):  # of tests that load none
        lagbc.unregister_centrality("reached_by")
    for module in [name for name in sys.modules if name.startswith("rings_for_lagbc")]:
        del sys.modules[module]
    load_extensions.cache_clear()


def test_a_format_is_found_by_an_unknown_suffix(package):
    with pytest.warns(
        RuntimeWarning, match=r"the entry point 'gone' of lagbc.formats, rings_for_lagbc.gone, fails: No"
    ):
        graph = lagbc.read_graph(package)
    assert (graph.format, graph.rows.nnz) == ("ring", 4)
    assert lagbc.bc(graph).tolist() == [3] * 4
    assert json.loads(succeed("bc", package, "--json"))["scores"]["bc"] == [3] * 4


def test_a_centrality_is_found_by_an_unknown_name(package):
    A = np.eye(3, k=1)
    assert lagbc.centralities(A, ("bc", "reached_by"))["reached_by"].tolist() == [0, 1, 2]


def test_a_centrality_is_a_command_with_help(package):
    assert "How many vertices reach one." in succeed("reached-by", "--help")


def test_a_centrality_is_a_command(package):
    told = json.loads(succeed("reached-by", "example:karate", "--json"))
    assert set(told["scores"]["reached_by"]) == {33}
    assert json.loads(succeed("centralities", "example:karate", "--which", "reached_by", "--json"))["scores"]


def test_a_listing_has_it(package):
    assert "reached-by" in succeed("--help")


def test_names_that_there_are_not(package):
    assert "reached-by is one" in run("reached-bye").output
    with pytest.raises(ValueError, match=r"there is no centrality 'nope'; there are: .*reached_by"):
        lagbc.centralities(np.eye(3), "nope")
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = lagbc.nope


def test_nothing_is_scanned_for_what_lagbc_has(package, tmp_path):
    """In a process of its own, in which the package is installed, too."""
    (tmp_path / "edges.csv").write_text("1,2\n2,3\n")
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path / "installed")!r})
import lagbc
graph = lagbc.read_graph({str(tmp_path / "edges.csv")!r})
lagbc.centralities(graph, ("bc", "stress"), directed=True)
from click.testing import CliRunner
from lagbc.interfaces.cli import main
assert CliRunner().invoke(main, ["bc", "--help"]).exit_code == 0
print(*[name for name in sys.modules if name.startswith("rings_for_lagbc")])
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


def test_a_file_that_no_format_takes_is_an_edge_list(package, tmp_path):
    path = tmp_path / "edges.unknown"
    path.write_text("1 2\n2 3\n")
    with pytest.warns(RuntimeWarning, match="gone"):
        assert lagbc.read_graph(path).format == "edge list"
