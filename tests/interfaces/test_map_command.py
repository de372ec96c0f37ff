"""`--plot-map` and `--coordinates`."""

import networkx as nx
import pytest
from commands import succeed

from lagbc import plots


@pytest.fixture
def drawn(monkeypatch):
    """What a command draws."""
    figures, plot_map = [], plots.plot_map
    monkeypatch.setattr(plots, "plot_map", lambda *given, **how: figures.append(plot_map(*given, **how)))
    return figures


def test_several_cutoffs_are_side_by_side(tmp_path, drawn):
    path = tmp_path / "map.svg"
    printed = succeed("bc", "example:minnesota", "--cutoff", "2,3", "--decay", "0.5", "--plot-map", path)
    assert printed.endswith(f"map: {path}\n")
    assert path.read_text().startswith("<?xml")
    (figure,) = drawn
    assert [axes.get_title() for axes in figure.axes[:2]] == ["cutoff 2, decay 0.5", "cutoff 3, decay 0.5"]
    assert figure.axes[2].get_ylabel() == "betweenness (vertex pairs)"
    assert figure.axes[0].get_aspect() == pytest.approx(1.45, abs=0.01)
    assert figure.get_suptitle() == "minnesota: 2,642 vertices, 3,303 edges"


def test_edges_and_a_table_of_coordinates(write, tmp_path, drawn):
    edges = write("from,to,length\na,b,1\nb,c,2\n")
    table = write("vertex,x,y\nc,2,1\nb,2,0\na,0,0\n", "xy.csv")
    succeed("edge-bc", edges, "--coordinates", table, "--plot-map", tmp_path / "map.png")
    (figure,) = drawn
    (lines,) = figure.axes[0].collections
    assert sorted(ends.tolist() for ends in lines.get_segments()) == [[[0, 0], [2, 0]], [[2, 0], [2, 1]]]
    assert figure.axes[1].get_ylabel() == "edge betweenness (vertex pairs)"


def test_names_are_on_the_map(tmp_path, drawn):
    G = nx.path_graph(["a", "b", "c"])
    for i, v in enumerate(G):
        G.nodes[v].update(x=i, y=0)
    nx.write_graphml(G, tmp_path / "g.graphml")
    succeed("closeness", tmp_path / "g.graphml", "--plot-map", tmp_path / "map.png")
    assert "b" in [text.get_text() for text in drawn[0].axes[0].texts]
