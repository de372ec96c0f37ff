"""Places of vertices: near where few hops are between them, components apart, and all of it again the same."""

import random
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import shortest_path

from lagbc.errors import MissingDependencyError
from lagbc.graph.validate import as_graph
from lagbc.plots import networks, plot_centralities
from lagbc.plots.networks import places_of


def undirected(n, tails=(), heads=()):
    return as_graph(sp.coo_array((np.ones(len(tails)), (tails, heads)), shape=(n, n)), directed=False)


def grid(side):
    vertices = np.arange(side * side).reshape(side, side)
    right, down = (vertices[:, :-1], vertices[:, 1:]), (vertices[:-1], vertices[1:])
    return undirected(side * side, *(np.concatenate([a.ravel(), b.ravel()]) for a, b in zip(right, down, strict=True)))


def box_of(places):
    return *places.min(axis=0), *places.max(axis=0)


@pytest.mark.parametrize("side", [20, 40])
def test_distances_are_hops_in_one_unit(side):
    graph = grid(side)
    places = places_of(graph)
    hops = shortest_path(graph.pattern, unweighted=True)
    distances = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    assert np.corrcoef(hops.ravel(), distances.ravel())[0, 1] > 0.95
    edges = distances[graph.rows, graph.indices]
    assert edges.max() < 3 * edges.min()


def test_a_long_path_is_not_folded():
    places = places_of(undirected(1000, np.arange(999), np.arange(1, 1000)))
    from_an_end = np.hypot(*(places - places[0]).T)
    assert np.corrcoef(from_an_end, np.arange(1000))[0, 1] > 0.95


def test_components_are_apart():
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
def test_vertices_without_edges(n):
    places = places_of(undirected(n))
    assert places.shape == (n, 2)
    assert len(np.unique(places, axis=0)) == n


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_small_complete_graphs(n):
    tails, heads = np.triu_indices(n, 1)
    places = places_of(undirected(n, tails, heads))
    assert np.isfinite(places).all()
    assert len(np.unique(places.round(6), axis=0)) == n


def test_the_same_graph_is_placed_the_same():
    assert np.array_equal(places_of(grid(15)), places_of(grid(15)))


def test_work_grows_with_the_graph_alone(monkeypatch):
    """A landmark is one search; more of them are not taken from a larger graph."""
    searches = []
    ordinary = networks.dijkstra
    monkeypatch.setattr(networks, "dijkstra", lambda *args, **options: searches.append(1) or ordinary(*args, **options))
    n = 3000
    assert np.isfinite(places_of(undirected(n, np.arange(n - 1), np.arange(1, n)))).all()
    assert len(searches) == networks.LANDMARKS


def test_igraph_is_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(MissingDependencyError, match="pip install igraph"):
        places_of(undirected(3, [0, 1], [1, 2]))


def test_the_caller_draws_the_same_random_numbers_after_it():
    random.seed(3)
    expected = random.random()
    random.seed(3)
    places_of(grid(5))
    assert random.random() == expected


@pytest.mark.parametrize("n", [0, 1, 2, 300])
def test_a_figure_of_any_size(n):
    pytest.importorskip("matplotlib")
    figure = plot_centralities(sp.csr_array((n, n)), {"bc": np.zeros(n)})
    figure.draw_without_rendering()
