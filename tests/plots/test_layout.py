"""Places of vertices: near where few hops are between them, components apart, and all of it again the same."""

import sys
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

from lagbc.errors import MissingDependencyError
from lagbc.graph.validate import as_graph
from lagbc.plots import layout, plot_centralities
from lagbc.plots.layout import MOST_PAIRED, places_of


def undirected(n, tails=(), heads=()):
    return as_graph(sp.coo_array((np.ones(len(tails)), (tails, heads)), shape=(n, n)), directed=False)


def grid(side):
    vertices = np.arange(side * side).reshape(side, side)
    right, down = (vertices[:, :-1], vertices[:, 1:]), (vertices[:-1], vertices[1:])
    return undirected(side * side, *(np.concatenate([a.ravel(), b.ravel()]) for a, b in zip(right, down, strict=True)))


def box_of(places):
    return *places.min(axis=0), *places.max(axis=0)


@pytest.fixture
def by_landmarks(monkeypatch):
    """Lay out small graphs as large ones are."""
    monkeypatch.setattr(layout, "MOST_PAIRED", -1)


def test_distances_are_hops_in_one_unit():
    graph = grid(20)
    assert graph.n > MOST_PAIRED
    places = places_of(graph)
    hops = shortest_path(graph.pattern, unweighted=True)
    distances = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    assert np.corrcoef(hops.ravel(), distances.ravel())[0, 1] > 0.95
    edges = distances[graph.rows, graph.indices]
    assert edges.max() < 3 * edges.min()


def test_steps_never_raise_the_stress(monkeypatch):
    graph = grid(15)

    def stress(steps):
        monkeypatch.setattr(layout, "STEPS", steps)
        places = layout._by_landmarks(graph.pattern)
        difference, wanted = layout._pairs(graph.pattern, *layout._hops_from_landmarks(graph.pattern))
        return np.sum((np.hypot(*(difference @ places).T) / wanted - 1) ** 2)

    stresses = [stress(steps) for steps in range(0, 30, 3)]
    assert all(after < before for before, after in pairwise(stresses))


@pytest.mark.usefixtures("by_landmarks")
def test_leaves_of_a_hub_are_apart():
    places = places_of(undirected(40, np.zeros(39, int), np.arange(1, 40)))
    assert len(np.unique(places.round(6), axis=0)) == 40


@pytest.mark.parametrize("large", [False, True])
def test_components_are_apart(monkeypatch, large):
    if large:
        monkeypatch.setattr(layout, "MOST_PAIRED", -1)
    else:
        pytest.importorskip("networkx")
    # A ring of 12, a path of 6, a pair, and three vertices alone.
    ring, path = np.arange(12), np.arange(12, 17)
    tails, heads = np.concatenate([ring, path, [18]]), np.concatenate([np.roll(ring, 1), path + 1, [19]])
    graph = undirected(23, tails, heads)
    places = places_of(graph)
    assert np.isfinite(places).all()
    boxes = [box_of(places[graph.components == component]) for component in range(graph.components.max() + 1)]
    assert len(boxes) == 6
    for i, (left, low, right, high) in enumerate(boxes):
        for other_left, other_low, other_right, other_high in boxes[:i]:
            assert right < other_left or other_right < left or high < other_low or other_high < low


@pytest.mark.parametrize("n", [0, 1, 2, 3, 1000])
@pytest.mark.usefixtures("by_landmarks")
def test_vertices_without_edges(n):
    places = places_of(undirected(n))
    assert places.shape == (n, 2)
    assert len(np.unique(places, axis=0)) == n


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
@pytest.mark.usefixtures("by_landmarks")
def test_small_complete_graphs(n):
    tails, heads = np.triu_indices(n, 1)
    places = places_of(undirected(n, tails, heads))
    assert np.isfinite(places).all()
    assert len(np.unique(places.round(6), axis=0)) == n


def test_the_same_graph_is_placed_the_same():
    assert np.array_equal(places_of(grid(15)), places_of(grid(15)))


def test_work_grows_with_the_graph_alone(monkeypatch):
    """A landmark is one search; more of them are not taken from a larger graph, and no pairs of all vertices."""
    searches = []
    ordinary = layout.dijkstra
    monkeypatch.setattr(layout, "dijkstra", lambda *args, **options: searches.append(1) or ordinary(*args, **options))
    monkeypatch.setitem(sys.modules, "networkx", None)
    n = 3000
    graph = undirected(n, np.arange(n - 1), np.arange(1, n))
    assert np.isfinite(places_of(graph)).all()
    assert len(searches) == layout.LANDMARKS
    difference, _ = layout._pairs(graph.pattern, *layout._hops_from_landmarks(graph.pattern))
    assert difference.shape[0] <= layout.LANDMARKS * n + graph.nnz


def test_networkx_is_needed_for_small_graphs_alone(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingDependencyError, match="pip install networkx"):
        places_of(undirected(3, [0, 1], [1, 2]))


@pytest.mark.parametrize("n", [0, 1, 2, 300])
def test_a_figure_of_any_size(n):
    pytest.importorskip("matplotlib")
    pytest.importorskip("networkx")
    figure = plot_centralities(sp.csr_array((n, n)), {"bc": np.zeros(n)})
    figure.draw_without_rendering()
    assert ("hops from landmarks" in figure.get_supxlabel()) == (n > MOST_PAIRED)


def test_a_figure_of_nothing():
    with pytest.raises(ValueError, match="scores is empty"):
        plot_centralities(sp.csr_array((2, 2)), {})
