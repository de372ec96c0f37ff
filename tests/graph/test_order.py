"""The vertex orders, and the depth that chooses between them."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from scipy.sparse.csgraph import connected_components
from strategies import SPECIAL, disjoint, distances, edges_of, graphs, grid, matrix, path, scale_free, star

from lagbc.graph.host import degree_order, hub_distances, hub_order, length_order, proximity_order, search_from_hub
from lagbc.graph.validate import as_graph
from lagbc.native import core
from lagbc.tuning import HUB_LEVELS, HUBS


def proximity(A, leaf=64):
    graph = as_graph(A, directed=False)
    return proximity_order(graph.indptr, graph.indices, graph.components, leaf)


def assert_permutation(order, n):
    np.testing.assert_array_equal(np.sort(order), np.arange(n))


@pytest.mark.parametrize("name", SPECIAL)
def test_orders_of_special_graphs(name):
    graph = as_graph(SPECIAL[name])
    assert_permutation(proximity(SPECIAL[name], leaf=2), graph.n)
    assert_permutation(graph.order, graph.n)


@given(graphs())
def test_orders_of_random_graphs(A):
    for leaf in (1, 3):
        assert_permutation(proximity(A, leaf), A.shape[0])
    graph = as_graph(A)
    assert_permutation(graph.order, graph.n)
    np.testing.assert_array_equal(graph.position[graph.order], np.arange(graph.n))
    degrees = graph.out_degrees + graph.in_degrees
    with_edges = degrees[graph.order] > 0
    assert not (np.diff(with_edges.astype(int)) > 0).any(), "vertices without edges come last"
    assert graph.active == np.count_nonzero(with_edges)
    tails, heads = graph.order[graph.reordered.rows], graph.order[graph.reordered.indices]
    assert set(zip(tails.tolist(), heads.tolist(), strict=True)) == edges_of(A)


def test_a_part_is_as_deep_as_the_graph():
    graph = as_graph(path(100))
    part, _ = graph.keep(np.arange(graph.nnz) < 20)
    assert (part.nnz, part.depth) == (20, graph.depth)
    assert part.indptr[-1] == 20


@pytest.mark.parametrize(("rows", "columns"), [(64, 64), (50, 81), (7, 600)])
def test_pieces_of_a_grid_are_compact(rows, columns):
    """64 vertices of a grid in a square are at most 14 apart. Nearly all pieces are connected and not strung out."""
    n = rows * columns
    pattern = as_graph(grid(rows, columns), directed=False).pattern
    order = proximity(grid(rows, columns))
    assert_permutation(order, n)
    i, j = np.divmod(order, columns)
    compact = connected = 0
    for first in range(0, n, 64):
        piece = slice(first, first + 64)
        apart = np.abs(i[piece, None] - i[piece]) + np.abs(j[piece, None] - j[piece])
        compact += apart.max() <= 40
        chosen = order[piece]
        connected += connected_components(pattern[chosen][:, chosen], directed=False)[0] == 1
    pieces = -(-n // 64)
    assert compact >= 0.9 * pieces
    assert connected >= 0.75 * pieces


def test_components_stay_together():
    A = disjoint(*[grid(8, 8)] * 10)
    shuffle = np.random.default_rng(1).permutation(640)
    shuffled = A.tocsr()[shuffle][:, shuffle]
    order = proximity(shuffled)
    component = connected_components(shuffled)[1][order]
    assert np.count_nonzero(np.diff(component)) < 40


def test_degree_order():
    np.testing.assert_array_equal(degree_order(np.cumsum([0, 2, 0, 5, 2, 0, 9])), [5, 2, 0, 3, 1, 4])


@given(graphs(min_n=1))
def test_search_from_the_hub_of_the_largest_component(A):
    graph = as_graph(A, directed=False)
    largest = graph.components == np.argmax(np.bincount(graph.components))
    degrees = np.where(largest, graph.out_degrees, -1)
    hops = distances(A, directed=False)[np.argmax(degrees)]
    expected = hops.max(), np.count_nonzero(largest), np.count_nonzero(degrees > 0)
    assert search_from_hub(graph.indptr, graph.indices, graph.components) == expected


@given(graphs())
def test_roots_are_lined_up_by_their_places(A):
    graph = as_graph(A)
    roots = np.arange(0, graph.n, 2)
    expected = np.sort(graph.position[roots[graph.out_degrees[roots] > 0]])
    found = np.empty_like(roots)
    count = core.line_up(graph.out_degrees, graph.position, roots, found)
    np.testing.assert_array_equal(found[:count], expected)


@given(graphs())
def test_depth_is_a_lower_bound_of_the_diameter(A):
    depth = as_graph(A).depth
    diameter = distances(A, directed=False).max(initial=0)
    assert depth <= max(diameter, 0)
    if depth == 0:
        assert not edges_of(A)


def test_what_has_a_high_diameter():
    for A in (grid(60, 60), path(100)):
        assert as_graph(A).has_high_diameter
    for A in (scale_free(1000, 8000, seed=1), star(100), SPECIAL["no vertices"]):
        assert not as_graph(A).has_high_diameter


@given(graphs())
def test_distances_to_hubs(A):
    graph = as_graph(A)
    expected = distances(A).reshape(graph.n, graph.n)[:, :HUBS].T
    np.testing.assert_array_equal(hub_distances(graph.indptr, graph.indices), np.maximum(expected, 0))


def test_distances_to_hubs_end():
    """Where edges have directions, a path to a hub may be longer than any of the graph's other measures."""
    A = matrix(HUB_LEVELS + 3, [(v + 1, v) for v in range(HUB_LEVELS + 2)])
    graph = as_graph(A)
    (first, *_) = hub_distances(graph.indptr, graph.indices)
    assert first.tolist() == [*range(HUB_LEVELS + 1), 0, 0]


def test_grouped_by_distances_to_hubs():
    """The first hub counts most, and vertices that none of them tells apart stay as they were."""
    graph = as_graph(scale_free(300, 1500, seed=2)).reordered
    vertices = np.arange(299, 49, -1)
    order = hub_order(graph.hub_distances, vertices)
    assert sorted(order) == sorted(vertices)
    seen = hub_distances(graph.indptr, graph.indices)
    keys = [(*seen[:, v].tolist(), -v) for v in order.tolist()]
    assert keys == sorted(keys)
    assert len({key[:-1] for key in keys}) < len(keys), "some are alike"


def test_grouped_by_length():
    """By the length of the way to the first vertex; those that have none come first, in their order."""
    edges = sp.coo_array(([4.0, 1.0, 2.0, 9.0], ([1, 3, 2, 4], [0, 2, 0, 1])), shape=(6, 6))
    graph = as_graph(edges, weighted=True)
    assert length_order(graph.csr, graph.transpose.csr, np.array([5, 4, 3, 2, 1, 0])).tolist() == [5, 0, 2, 3, 1, 4]


@pytest.mark.parametrize("A", [grid(9, 40), scale_free(200, 900, seed=1)], ids=["high diameter", "low diameter"])
def test_orders_are_numbered_in_64_bits(A):
    """Kernels read them so."""
    graph = as_graph(A)
    assert {graph.order.dtype, graph.position.dtype, graph.edge_order.dtype, graph.indptr.dtype} == {np.dtype(np.int64)}
