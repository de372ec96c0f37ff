"""Roots that are drawn, and those that count."""

import numpy as np
from strategies import grid, matrix

import lagbc
from lagbc.comparison.roots import NEIGHBOURS, draw_roots
from lagbc.graph.validate import as_graph


def test_roots_are_drawn_with_edges_and_again_the_same():
    graph = as_graph(matrix(50, [(v, 0) for v in range(1, 30)]))
    drawn = [draw_roots(graph, 10, seed) for seed in (0, 0, 1)]
    assert len(set(drawn[0].tolist())) == 10
    assert set(drawn[0].tolist()) <= set(range(1, 30))
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    assert sorted(draw_roots(graph, 1000, 0)) == list(range(1, 30))


def test_roots_of_a_graph_of_high_diameter_are_neighbours_in_sweep_order():
    graph = as_graph(grid(40, 40))
    position = np.empty(graph.n, int)
    position[graph.order] = np.arange(graph.n)
    length = NEIGHBOURS
    run = position[draw_roots(graph, length, 3)]
    assert np.array_equal(np.diff(run), np.ones(length - 1))
    two = position[draw_roots(graph, length + 1, 3)]
    assert len(set(two.tolist())) == length + 1
    assert sorted(draw_roots(graph, graph.n, 0)) == list(range(graph.n))


def test_roots_without_edges_do_not_count():
    assert lagbc.compare(matrix(4, [(0, 1), (1, 2)]), [3, 0, 2], device="cpu").roots == 1
