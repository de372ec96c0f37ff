"""Figures: what the two panels show, and that they can be read without the text around them."""

import itertools
import random
import sys
from functools import partial

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from figures import assert_labels_apart
from scipy.sparse.csgraph import shortest_path
from strategies import cycle, disjoint, grid, matrix, path

import lagbc
from lagbc.errors import MissingDependencyError
from lagbc.graph.validate import as_graph
from lagbc.plots import check_figure_path, networks, plot_centralities, plot_communities, plot_map, plot_scores
from lagbc.plots.networks import places_of

Text = pytest.importorskip("matplotlib.text").Text
Bbox = pytest.importorskip("matplotlib.transforms").Bbox

STAR = np.array([[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]])


@pytest.fixture
def graph():
    return nx.Graph([("a", "b"), ("b", "c"), ("c", "d"), ("b", "e")])


def texts_of(axes):
    return [text.get_text() for text in axes.texts]


def test_labels_title_and_note_stand_alone():
    figure = plot_scores(STAR, np.array([3.0, 0, 0, 0]), directed=False, title="star")
    distribution, against_degree = figure.axes
    assert figure.get_suptitle() == "star: 4 vertices, 3 undirected edges"
    assert figure.get_supxlabel() == "3 of 4 vertices score 0 and are not drawn"
    assert distribution.get_xlabel() == "betweenness b (vertex pairs)"
    assert distribution.get_ylabel() == "fraction of vertices with betweenness >= b"
    assert against_degree.get_xlabel() == "degree (neighbours)"
    assert against_degree.get_ylabel() == "betweenness (vertex pairs)"
    assert {axis.get_scale() for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)} == {"log"}


def test_the_ten_highest_are_named():
    labels = [rf"$\nothing_{i}$" for i in range(12)]
    scores = np.array([0, 5, 4, 3, 2, 1, 7, 8, 9, 10, 11, 12.0])
    ring = np.roll(np.eye(12), 1, axis=0)
    highest = [labels[v] for v in np.argsort(-scores)[:10]]
    for draw in (partial(plot_scores, ring, scores), partial(plot_centralities, ring, {"bc": scores})):
        figure = draw(labels=labels)
        assert texts_of(figure.axes[-1]) == highest
        figure.draw_without_rendering()  # a dollar sign begins no formula, which would be a wrong one
        with pytest.raises(ValueError, match="there are 3 labels; expected one a vertex, 12"):
            draw(labels=labels[:3])


def test_names_are_those_of_the_graph(tmp_path):
    G = nx.relabel_nodes(nx.star_graph(3), dict(enumerate("abcd")))
    path = tmp_path / "star.csv"
    path.write_text("from,to\na,b\na,c\na,d\n")
    igraph = pytest.importorskip("igraph").Graph.Star(4)
    igraph.vs["name"] = [*"abcd"]
    scores = np.array([3.0, 0, 0, 0])
    for graph in (G, igraph, lagbc.as_graph(G), lagbc.as_graph(lagbc.read_graph(path), directed=False)):
        figure = plot_scores(graph, scores)
        assert texts_of(figure.axes[1]) == ["a"]
        assert figure.get_suptitle() == "4 vertices, 3 undirected edges"
        (panel,) = plot_centralities(graph, {"bc": scores}).axes
        assert texts_of(panel) == ["a"]
    assert not texts_of(plot_scores(G, scores, labels=[]).axes[1])
    assert not texts_of(plot_scores(STAR, scores).axes[1])
    (panel,) = plot_centralities(STAR, {"bc": scores}).axes
    assert len(panel.texts) == 3
    assert panel.texts[0].get_text() == "0"


def test_distribution_is_the_fraction_that_scores_at_least_so_much():
    scores = np.array([4.0, 0.0, 1.0, 1.0])
    (line,) = plot_scores(STAR, scores, directed=False).axes[0].lines
    assert line.get_drawstyle() == "steps-pre"
    assert np.array_equal(line.get_xydata(), [[1, 3 / 4], [4, 1 / 4]])


@pytest.mark.parametrize(("directed", "degree"), [(True, [6, 2, 2]), (False, [3, 1, 1])])
def test_points_are_degree_and_score(directed, degree):
    figure = plot_scores(STAR, np.array([9.0, 1, 0, 2]), directed=directed, unit="pairs")
    (points,) = figure.axes[1].collections
    assert figure.axes[0].get_xlabel() == "betweenness b (pairs)"
    assert figure.axes[1].get_xlabel() == ("degree (edges out and in)" if directed else "degree (neighbours)")
    assert np.array_equal(points.get_offsets(), np.column_stack((degree, [9, 1, 2])))


def test_degrees_take_repeated_edges_once_and_no_loops():
    A = sp.coo_array((np.ones(6), ([0, 0, 1, 1, 2, 2], [1, 1, 0, 1, 1, 1])), shape=(3, 3))
    figure = plot_scores(A, np.array([1.0, 2, 3]), directed=True)
    assert figure.get_suptitle() == "3 vertices, 3 directed edges"
    assert figure.axes[1].collections[0].get_offsets()[:, 0].tolist() == [2, 3, 1]
    assert A.nnz == 6, "the caller's matrix is not changed"


def test_a_large_graph_is_drawn_in_cells_that_hold_every_vertex():
    n = 25_000
    vertices = np.arange(n)
    ring = sp.csr_array((np.ones(n), (vertices, np.roll(vertices, 1))), shape=(n, n))
    figure = plot_scores(ring, np.arange(1.0, n + 1), directed=False)
    cells = figure.axes[1].collections[0]
    assert cells.get_array().sum() == n
    assert figure.axes[2].get_ylabel() == "vertices in a cell"


def test_one_score_of_all_is_a_mark():
    distribution, _ = plot_scores(np.ones((4, 4)), np.full(4, 2.5)).axes
    (line,) = distribution.lines
    assert line.get_xydata().tolist() == [[2.5, 1]]
    assert line.get_marker() == "o"


def test_scores_that_are_all_zero(recwarn):
    figure = plot_scores(1 - np.eye(4), np.zeros(4), directed=False)
    figure.draw_without_rendering()
    assert figure.get_supxlabel().startswith("4 of 4 vertices score 0")
    assert not recwarn.list


@pytest.mark.parametrize(("suffix", "magic"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
@pytest.mark.parametrize("draw", [plot_scores, partial(plot_map, xy=np.eye(4, 2), titles=["400 m"])])
def test_written_figure(tmp_path, draw, suffix, magic):
    path = tmp_path / f"scores.{suffix}"
    draw(STAR, np.array([3.0, 1, 2, 0]), path)
    assert path.read_bytes().startswith(magic)
    assert path.stat().st_size > 3000


def test_pyplot_is_left_alone():
    plot_scores(STAR, np.zeros(4), directed=False)
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()


def test_figures_show_themselves_in_a_notebook():
    formatters = pytest.importorskip("IPython.core.formatters")
    for figure in (plot_scores(STAR, np.ones(4)), plot_centralities(STAR, {"bc": np.ones(4)})):
        shown, _ = formatters.DisplayFormatter().format(figure)
        assert shown["image/png"].startswith(b"\x89PNG")


def test_figures_are_shown_by_pyplot(monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, shown = plot_scores(STAR, np.ones(4)), []
    monkeypatch.setattr(pyplot, "show", lambda: shown.append([pyplot.figure(i) for i in pyplot.get_fignums()]))
    figure.show()
    assert shown == [[figure]]
    assert not pyplot.get_fignums()
    assert figure._repr_png_().startswith(b"\x89PNG"), "as before"


def test_axes_of_the_caller_are_drawn_in(tmp_path):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    theirs, axes = pyplot.subplots(1, 2)
    pyplot.close(theirs)
    scores = np.array([3.0, 1, 2, 0])
    assert plot_scores(STAR, scores, tmp_path / "a.png", ax=axes) is theirs
    assert [one.get_title() for one in axes] == ["Distribution", "Score against degree"]
    assert (theirs.get_suptitle(), theirs.get_supxlabel()) == ("", "")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    within = pyplot.Figure()
    panel = within.subfigures(1, 2)[1].subplots()
    assert plot_centralities(STAR, {"bc": scores}, title="star", ax=panel, labels="abcd") is within
    assert (panel.get_title(), within.get_suptitle(), panel.texts[0].get_text()) == ("bc", "star", "a")
    with pytest.raises(ValueError, match="ax is 1 axes, but the figure has 2 panels"):
        plot_scores(STAR, scores, ax=panel)
    with pytest.raises(TypeError, match="ax holds a Figure; it is axes of matplotlib"):
        plot_centralities(STAR, {"bc": scores}, ax=theirs)


def test_colours_are_those_of_the_map_that_is_named():
    figure = plot_centralities(STAR, {"bc": np.array([3.0, 1, 2, 0])}, cmap="magma")
    assert figure.axes[0].collections[1].get_cmap().name == "magma"
    with pytest.raises(ValueError, match="'magenta' is not a valid value for cmap"):
        plot_centralities(STAR, {"bc": np.ones(4)}, cmap="magenta")


@pytest.mark.parametrize(("low", "high"), [(3.4e-4, 3.5e-4), (0.002, 0.03), (40, 44), (123456, 370368), (0.0021, 0.55)])
def test_labels_of_few_decades_do_not_lie_on_each_other(low, high):
    figure = plot_scores(STAR, np.array([low, high, low, high]), directed=False)
    figure.draw_without_rendering()
    for axis in (axis for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)):
        assert_labels_apart(axis, least=2)


def test_names_cover_no_mark_of_the_highest():
    rng = np.random.default_rng(1)
    scores = np.sort(rng.random(60))[::-1]
    ring = nx.relabel_nodes(nx.cycle_graph(60), "street {}".format)
    figure = plot_centralities(ring, {"bc": scores})
    figure.draw_without_rendering()
    axes, (_, points) = figure.axes[0], figure.axes[0].collections
    assert len(axes.texts) > 5
    radii = np.sqrt(points.get_sizes()[:30]) / 2 * figure.dpi / 72
    for text in axes.texts:
        box = Text.get_window_extent(text)
        for (x, y), radius in zip(axes.transData.transform(points.get_offsets()[:30]), radii, strict=True):
            assert not box.overlaps(Bbox.from_extents(x - radius, y - radius, x + radius, y + radius))


def test_scores_may_go_by_vertex(graph):
    pandas = pytest.importorskip("pandas")
    by_vertex = nx.betweenness_centrality(graph, normalized=False)
    ranked = pandas.Series(by_vertex).sort_values()
    wanted = plot_scores(graph, lagbc.bc(graph)).axes[1].collections[0].get_offsets()
    for scores in (by_vertex, dict(ranked.items()), ranked):
        np.testing.assert_array_equal(plot_scores(graph, scores).axes[1].collections[0].get_offsets(), wanted)
    xy = np.arange(2 * len(graph)).reshape(-1, 2)
    for scores in (lagbc.bc(graph), ranked, lagbc.table(graph, lagbc.bc(graph)).sort_values("score")):
        drawn = plot_map(graph, scores, xy=xy).axes[0].collections[1]
        highest = max(by_vertex, key=by_vertex.get)
        np.testing.assert_array_equal(drawn.get_offsets()[-1], xy[list(graph).index(highest)])
    ranks = plot_centralities(graph, {"bc": lagbc.bc(graph)}).axes[0].collections[1].get_array()
    for scores in ({"bc": ranked}, pandas.DataFrame({"bc": ranked})):
        np.testing.assert_array_equal(plot_centralities(graph, scores).axes[0].collections[1].get_array(), ranks)


def test_suffix_that_matplotlib_does_not_write(tmp_path):
    path = tmp_path / "scores.xyz"
    for refuse in (check_figure_path, lambda path: plot_scores(STAR, np.zeros(4), path, directed=False)):
        with pytest.raises(ValueError, match=r"suffix '\.xyz'; there are: .*pdf, .*png"):
            refuse(path)
    assert not path.exists()


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "lagbc.plots.shown", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependencyError, match=r"lagbc\[plot\]"):
        plot_scores(STAR, np.zeros(4), directed=False)


def test_centralities_side_by_side():
    figure = plot_centralities(
        STAR, {"bc": np.array([3.0, 0, 0, 0]), "harmonic": np.array([3.0, 2, 2, 2])}, title="star"
    )
    assert figure.get_suptitle() == "star"
    assert [axes.get_title() for axes in figure.axes] == ["bc", "harmonic"]
    for axes in figure.axes:
        lines, points = axes.collections
        assert len(lines.get_segments()) == 3
        np.testing.assert_allclose(points.get_array(), [1, 1 / 3, 1 / 3, 1 / 3])
    left, right = (axes.collections[1].get_offsets() for axes in figure.axes)
    np.testing.assert_array_equal(left, right)


def test_an_estimate_is_drawn_with_its_intervals(tmp_path):
    found = lagbc.estimate(nx.grid_2d_graph(20, 20), max_roots=200, rng=1)
    figure = found.plot(tmp_path / "estimate.png")
    (axes,) = figure.axes
    (points,) = axes.lines
    np.testing.assert_array_equal(points.get_ydata(), np.sort(found.scores)[::-1])
    assert axes.get_title() == found.reason
    assert (tmp_path / "estimate.png").stat().st_size > 1000
    theirs = pytest.importorskip("matplotlib.figure").Figure()
    assert found.plot(ax=theirs.subplots()) is theirs
    assert theirs.axes[0].get_title() == found.reason


def test_splits_are_drawn_from_the_top_down(tmp_path):
    names = np.array([*"abcdefgh"])
    ends = [0, 0, 1, 2, 3, 3, 4, 6], [1, 2, 2, 3, 4, 5, 5, 7]
    found = lagbc.girvan_newman(lagbc.graph_from_edges(*(names[one] for one in ends), directed=False))
    levels, tree = plot_communities(found, tmp_path / "a.png", title="triangles").axes
    assert (tmp_path / "a.png").stat().st_size > 1000
    np.testing.assert_array_equal(levels.lines[0].get_data(), [found.counts, found.modularity])
    assert levels.get_legend().get_texts()[0].get_text().startswith("3 communities: 0.")
    segments = [line.tolist() for line in tree.collections[0].get_segments()]
    bars = [line for line in segments if line[0][1] == line[1][1]]
    assert bars[0] == [[1, 3], [4, 3]]  # a b c and d e f fall apart, which makes three communities with g h
    assert len(bars) == 6
    assert sorted(line[1][0] for line in segments if line[1][1] == 9) == [*range(8)]
    assert [text.get_text() for text in tree.get_xticklabels()] == [names[v] for v in found.order]
    bottom, top = tree.get_ylim()
    assert bottom > top
    assert plot_communities(lagbc.girvan_newman(np.eye(2))).axes[1].get_xlabel() == "vertices"


# Networks


def placed(A):
    return places_of(as_graph(A, directed=False))


@pytest.mark.parametrize("side", [20, 40])
def test_distances_are_hops_in_one_unit(side):
    graph = as_graph(grid(side, side), directed=False)
    places = places_of(graph)
    hops = shortest_path(graph.pattern, unweighted=True)
    distances = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    assert np.corrcoef(hops.ravel(), distances.ravel())[0, 1] > 0.95
    edges = distances[graph.rows, graph.indices]
    assert edges.max() < 3 * edges.min()


def test_a_long_path_is_not_folded():
    places = placed(path(1000))
    from_an_end = np.hypot(*(places - places[0]).T)
    assert np.corrcoef(from_an_end, np.arange(1000))[0, 1] > 0.95


def test_components_are_apart():
    graph = as_graph(disjoint(cycle(12), path(6), path(2), matrix(3, [])), directed=False)
    places = places_of(graph)
    assert np.isfinite(places).all()
    parts = [places[graph.components == component] for component in range(graph.components.max() + 1)]
    assert len(parts) == 6
    for one, other in itertools.combinations(parts, 2):
        assert (one.max(axis=0) < other.min(axis=0)).any() or (other.max(axis=0) < one.min(axis=0)).any()


@pytest.mark.parametrize("n", [0, 1, 2, 3, 1000])
def test_vertices_without_edges(n):
    places = placed(matrix(n, []))
    assert places.shape == (n, 2)
    assert len(np.unique(places, axis=0)) == n


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_small_complete_graphs(n):
    places = placed(1 - np.eye(n))
    assert np.isfinite(places).all()
    assert len(np.unique(places.round(6), axis=0)) == n


def test_the_same_graph_is_placed_the_same():
    assert np.array_equal(placed(grid(15, 15)), placed(grid(15, 15)))


def test_work_grows_with_the_graph_alone(monkeypatch):
    """A landmark is one search; more of them are not taken from a larger graph."""
    searches = []
    ordinary = networks.dijkstra
    monkeypatch.setattr(networks, "dijkstra", lambda *args, **options: searches.append(1) or ordinary(*args, **options))
    assert np.isfinite(placed(path(3000))).all()
    assert len(searches) == networks.LANDMARKS


def test_igraph_is_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(MissingDependencyError, match="pip install igraph"):
        placed(path(3))


def test_the_caller_draws_the_same_random_numbers_after_it():
    random.seed(3)
    expected = random.random()
    random.seed(3)
    placed(grid(5, 5))
    assert random.random() == expected


@pytest.mark.parametrize("n", [0, 1, 2, 300])
def test_a_figure_of_any_size(n):
    plot_centralities(sp.csr_array((n, n)), {"bc": np.zeros(n)}).draw_without_rendering()
