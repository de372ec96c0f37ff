"""Maps: what is drawn where and in which colour, and what is refused."""

import re

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from strategies import grid, times

import lagbc
from lagbc.graph.coordinates import Coordinates, coordinates_of
from lagbc.plots import plot_map

Text = pytest.importorskip("matplotlib.text").Text

# A path a - b - c and a vertex apart, d.
PATH = sp.csr_array(([1.0, 1.0], ([0, 1], [1, 2])), shape=(4, 4))
XY = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [0.0, 1.0]])


GRAPH = lagbc.as_graph(PATH, directed=False)


def collections(figure, panel=0):
    return figure.axes[panel].collections


def texts_of(axes):
    return [text.get_text() for text in axes.texts]


def lines_of(figure):
    return [lines.tolist() for lines in collections(figure)[0].get_segments()]


def test_vertices_are_coloured_where_they_are_the_highest_on_top():
    scores = np.array([3.0, 5.0, 1.0, 2.0])
    figure = plot_map(GRAPH, scores, xy=XY, title="path", unit="vertex pairs")
    streets, points = collections(figure)
    np.testing.assert_array_equal(streets.get_segments(), [XY[:2], XY[1:3]])
    order = np.argsort(scores)
    np.testing.assert_array_equal(points.get_offsets(), XY[order])
    np.testing.assert_array_equal(points.get_array(), scores[order])
    assert (np.diff(points.get_sizes()) > 0).all()
    assert figure.get_suptitle() == "path: 4 vertices, 2 edges"
    panel, bar = figure.axes
    assert bar.get_ylabel() == "vertex pairs"
    assert panel.get_aspect() == 1
    assert figure.get_supxlabel() == ""


def test_edges_are_coloured_once_the_highest_on_top():
    scores = sp.csr_array(([1.0, 1.0, 4.0, 4.0, 9.0], ([0, 1, 1, 2, 3], [1, 0, 2, 1, 3])), shape=(4, 4))
    (lines,) = collections(plot_map(GRAPH, scores, xy=XY))
    np.testing.assert_array_equal(lines.get_array(), [1, 4])
    np.testing.assert_array_equal(lines.get_segments(), [XY[:2], XY[1:3]])
    assert (np.diff(lines.get_linewidths()) > 0).all()
    (below,) = collections(plot_map(GRAPH, sp.tril(scores), xy=XY))
    np.testing.assert_array_equal(below.get_array(), [1, 4])
    (arcs,) = collections(plot_map(PATH, lagbc.edge_bc(PATH), xy=XY))
    np.testing.assert_array_equal(arcs.get_array(), [2, 2])


def test_columns_are_side_by_side_with_one_scale():
    columns = np.array([[1.0, 5], [2, 6], [3, 7], [4, 8]])
    figure = plot_map(GRAPH, columns, xy=XY, titles=["near", "far"])
    assert [axes.get_title() for axes in figure.axes[:2]] == ["near", "far"]
    for panel in range(2):
        assert collections(figure, panel)[1].get_clim() == (1, 8)
    matrices = [lagbc.edge_bc(PATH, cutoff=1), 3 * lagbc.edge_bc(PATH, cutoff=1)]
    figure = plot_map(PATH, matrices, xy=XY)
    assert [collections(figure, panel)[0].get_clim() for panel in range(2)] == [(1, 3)] * 2
    assert len(plot_map(GRAPH, np.ones((4, 6)), xy=XY).axes) == 7


def test_scores_of_many_orders_are_on_a_logarithmic_scale_and_0_is_grey():
    scores = np.array([1e6, 0.0, 10.0, 2e3])
    figure = plot_map(GRAPH, scores, xy=XY)
    points = collections(figure)[1]
    figure.draw_without_rendering()
    assert points.norm(1e6) == 1
    assert points.norm(1e3) == 0
    grey, *colours = points.get_facecolors()
    np.testing.assert_allclose(grey, [0.82, 0.82, 0.82, 1])
    assert all(np.ptp(colour[:3]) > 0.1 for colour in colours)
    assert figure.get_supxlabel() == "vertices that score 0 are grey"
    assert figure.axes[-1].get_yscale() == "log"
    logarithms = plot_map(GRAPH, np.array([-np.inf, -3.0, 2.0, 5.0]), xy=XY)
    assert collections(logarithms)[1].get_clim() == (-3, 5)


@pytest.mark.parametrize("scores", [np.zeros(4), np.full(4, 2.0), np.full(4, -np.inf), sp.csr_array((4, 4))])
def test_scores_that_are_all_the_same(scores, recwarn):
    plot_map(GRAPH, scores, xy=XY).draw_without_rendering()
    assert not recwarn.list


def test_a_graph_without_vertices_or_edges(recwarn):
    for n in (0, 3):
        empty = lagbc.as_graph(sp.csr_array((n, n)), directed=False)
        plot_map(empty, np.zeros(n), xy=np.zeros((n, 2))).draw_without_rendering()
        plot_map(empty, sp.csr_array((n, n)), xy=np.zeros((n, 2))).draw_without_rendering()
    assert not recwarn.list


def test_degrees_are_as_long_in_both_directions():
    north = XY + np.array([10, 59.5])
    figure = plot_map(GRAPH, np.ones(4), xy=north, degrees=True)
    assert figure.axes[0].get_aspect() == pytest.approx(2)
    told = plot_map(GRAPH, np.ones(4), xy=Coordinates(north, degrees=True))
    assert told.axes[0].get_aspect() == pytest.approx(2)


def streets(**held):
    """A street network as osmnx has it."""
    G = nx.MultiDiGraph(**held)
    for name, (x, y) in zip("abcd", XY, strict=True):
        G.add_node(name, x=float(x), y=str(y))
    G.add_edge("a", "b")
    G.add_edge("a", "b")
    return G


def test_coordinates_of_a_graph():
    G = streets(crs="EPSG:4326")
    found = coordinates_of(G)
    np.testing.assert_array_equal(found.xy, XY)
    assert found.degrees
    assert not coordinates_of(streets(crs="EPSG:32632")).degrees
    points = collections(plot_map(G, np.arange(4.0)))[1]
    np.testing.assert_array_equal(points.get_offsets(), XY)
    assert coordinates_of(nx.path_graph(3)) is None
    assert coordinates_of(PATH) is None
    graph = pytest.importorskip("igraph").Graph([(0, 1)], n=4)
    assert coordinates_of(graph) is None
    graph.vs["x"], graph.vs["y"] = XY.T.tolist()
    np.testing.assert_array_equal(coordinates_of(graph).xy, XY)


class LineString:
    """A line as shapely has it."""

    geom_type = "LineString"

    def __init__(self, *points):
        self.coords = points


def test_edges_have_the_geometry_of_osmnx():
    G = streets(crs="EPSG:32632")
    bent, longer = [(0.0, 0.0), (1.0, 0.2), (2.0, 0.0)], [(0.0, 0.0), (1.0, 5.0), (2.0, 0.0)]
    G.remove_edges_from(list(G.edges))
    G.add_edge("a", "b", geometry=LineString(*longer))
    G.add_edge("a", "b", geometry=LineString(*bent))
    G.add_edge("b", "c")
    G.add_edge("c", "d", geometry="LINESTRING (2 1, 0 1)")
    straight = [XY[1:3].tolist(), XY[2:4].tolist()]
    expected = sorted([[list(point) for point in bent], *straight])
    assert sorted(lines_of(plot_map(G, lagbc.edge_bc(G)))) == expected
    mirrored = lagbc.as_graph(G, directed=False)
    assert sorted(lines_of(plot_map(G, lagbc.bc(mirrored)))) == expected, "below scores of vertices, too"
    assert all(len(line) == 2 for line in lines_of(plot_map(G, lagbc.edge_bc(G), xy=XY)))
    igraph = pytest.importorskip("igraph").Graph.from_networkx(nx.Graph(G))
    assert [list(point) for point in bent] in lines_of(plot_map(igraph, lagbc.edge_bc(igraph)))


def test_a_map_in_axes_of_the_caller():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    theirs, axes = pyplot.subplots(1, 2)
    pyplot.close(theirs)
    assert plot_map(GRAPH, np.ones((4, 2)), xy=XY, ax=axes, titles=["a", "b"], cmap="viridis") is theirs
    assert [one.get_title() for one in axes] == ["a", "b"]
    assert theirs.get_suptitle() == ""
    assert collections(theirs)[1].get_cmap().name == "viridis"
    with pytest.raises(ValueError, match="ax is 2 axes, but the figure has 1 panel"):
        plot_map(GRAPH, np.ones(4), xy=XY, ax=axes)


def test_coordinates_of_files(tmp_path):
    file = lagbc.read_graph("example:minnesota")
    assert file.coordinates.degrees
    assert file.coordinates.xy.shape == (2642, 2)
    np.testing.assert_array_equal(file.coordinates.xy[[0, -1]], [[-97.207, 49.001], [-93.493, 43.499]])
    ends = file.coordinates.xy[np.stack(file.matrix.tocoo().coords)]
    assert np.hypot(*(ends[0] - ends[1]).T).max() < 1, "no road is a degree long"
    assert lagbc.read_graph("example:power").coordinates is None
    nx.write_graphml(streets(crs="epsg:4326"), tmp_path / "g.graphml")
    found = lagbc.read_graph(tmp_path / "g.graphml").coordinates
    np.testing.assert_array_equal(found.xy, XY)
    assert found.degrees


def test_labels_do_not_lie_on_each_other():
    n = 60
    xy = np.column_stack([np.arange(n) / 100, np.zeros(n)])
    xy[-1] = 10, 10
    ring = lagbc.as_graph(sp.csr_array(np.roll(np.eye(n), 1, axis=0)), directed=False)
    figure = plot_map(ring, np.arange(1.0, n + 1), xy=xy, labels=[f"street {v}" for v in range(n)])
    texts = texts_of(figure.axes[0])
    assert texts[:2] == ["street 59", "street 58"]
    assert 2 < len(texts) < 10, "there is no room for all of them"
    assert_apart(figure.axes[0])


@pytest.mark.parametrize("seed", range(times(2)))
def test_names_of_a_crowd_do_not_lie_on_each_other(seed):
    n = 40
    xy = np.random.default_rng(seed).normal(size=(n, 2))
    graph = nx.relabel_nodes(nx.cycle_graph(n), "street {}".format)
    figure = plot_map(graph, np.column_stack([np.arange(n), np.arange(n)[::-1]]), xy=xy, cutoff=[400, 800.5])
    assert [axes.get_title() for axes in figure.axes[:2]] == ["cutoff 400", "cutoff 800.5"]
    for axes, highest in zip(figure.axes[:2], ("street 39", "street 0"), strict=True):
        assert axes.texts[0].get_text() == highest
        assert len(axes.texts) > 5
        assert_apart(axes)


def test_names_are_those_of_the_graph_or_the_labels():
    G, scores = streets(), np.array([4.0, 3.0, 2.0, 0.0])
    as_igraph = pytest.importorskip("igraph").Graph([(0, 1)], n=4, vertex_attrs={"name": [*"abcd"]})
    for graph, given, names in (
        *((G, {}, "abc"), (as_igraph, {"xy": XY}, "abc"), (lagbc.as_graph(G), {"xy": XY}, "abc")),
        *((G, {"labels": [*"xyzw"]}, "xyz"), (G, {"labels": []}, ""), (GRAPH, {"xy": XY}, "")),
    ):
        assert texts_of(plot_map(graph, scores, **given).axes[0]) == [*names]
    with pytest.raises(ValueError, match="the score of vertex 'b' is nan"):
        plot_map(G, np.array([1, np.nan, 2, 3]))


def assert_apart(axes):
    """No name lies over another or past the edge, nor over the place of another."""
    figure, texts = axes.figure, axes.texts
    figure.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in texts]
    places = [axes.transData.transform(text.xy) for text in texts]
    for i, box in enumerate(boxes):
        assert axes.get_window_extent().contains(*box.min)
        assert axes.get_window_extent().contains(*box.max)
        for j in {*range(len(boxes))} - {i}:
            assert not box.overlaps(boxes[j])
            assert not box.contains(*places[j])


def test_a_large_map_is_a_picture_in_a_small_file(tmp_path):
    k = 60
    A = grid(k, k).tocsr()
    xy = np.column_stack(np.divmod(np.arange(k * k), k)).astype(float)
    graph = lagbc.as_graph(A, directed=False)
    for scores in (A, np.arange(k * k)):
        plot_map(graph, scores, tmp_path / "large.svg", xy=xy)
        text = (tmp_path / "large.svg").read_text()
        assert "<image" in text
        assert len(text) < 500_000
    plot_map(GRAPH, np.ones(4), tmp_path / "small.svg", xy=XY)
    assert "<image" not in re.sub(r'<g id="axes_2">.*', "", (tmp_path / "small.svg").read_text(), flags=re.S)
