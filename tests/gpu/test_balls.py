"""Balls of blocks of roots, which the host finds: rows, edges, lanes; no device is needed."""

import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra
from strategies import disjoint, grid, path, scale_free
from strategies import with_lengths as lengthened

from lagbc.graph.validate import as_graph
from lagbc.methods.gpu.within.balls import LANES, WARPS, Finder, deal

A = lengthened(disjoint(scale_free(300, 900, seed=4), grid(9, 11), path(30)), [1.0, 2.0, 3.5])
BLOCKS = [np.array([3]), np.array([120, -1, 121, 5]), np.arange(289, 429), np.arange(7), np.array([-1])]


def graph_of(*, weighted, directed):
    return as_graph(A, weighted=weighted, directed=directed).reordered


def ball(found, number):
    """Vertices of a ball, its edges that leave and that enter as (tail, head, length), their places, and its roots."""
    begins = np.cumsum(np.vstack([np.zeros((1, 4), int), found.sizes]), axis=0)
    (row, leaving, entering, warp), (last, leaving_end, entering_end, warp_end) = begins[number : number + 2]
    vertices = found.vertices[row:last]

    def edges_of(edges, first, end):
        indptr = edges.indptr[row + number : last + number + 1]
        assert (indptr[0], indptr[-1]) == (0, end - first)
        lengths = edges.lengths[first:end] if len(edges.lengths) else np.ones(end - first)
        return np.repeat(vertices, np.diff(indptr)), vertices[edges.indices[first:end]], lengths

    roots = found.roots[warp:warp_end]
    out, into = edges_of(found.out, leaving, leaving_end), edges_of(found.into, entering, entering_end)
    places = found.places[leaving:leaving_end] if len(found.places) else None
    return vertices, out, into, places, np.where(roots < 0, -1, vertices[roots] if len(vertices) else -1)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("radius", [0.0, 2.5, 6.0, np.inf])
def test_balls(weighted, directed, radius):
    """What is within the radius of a root, each vertex once, and all edges in it; the same found by itself."""
    graph = graph_of(weighted=weighted, directed=directed)
    dist = dijkstra(graph.matrix)
    tails = np.repeat(np.arange(graph.n), np.diff(graph.indptr))
    finder, lanes = Finder(graph, radius, edges=True), deal(BLOCKS)
    together = finder.find(lanes)
    for number, block in enumerate(BLOCKS):
        vertices, out, into, places, roots = ball(together, number)
        here = block[block >= 0]
        near = np.flatnonzero(((dist[here] <= radius) & (dist[here] < np.inf)).any(axis=0))
        np.testing.assert_array_equal(np.sort(vertices), near)
        within = np.isin(tails, near) & np.isin(graph.indices, near)
        np.testing.assert_array_equal(np.sort(places), np.flatnonzero(within))
        np.testing.assert_array_equal(out[0], tails[places])
        np.testing.assert_array_equal(out[1], graph.indices[places])
        np.testing.assert_array_equal(out[2], graph.weights[places] if weighted else np.ones(len(places)))
        assert sorted(zip(into[1], into[0], into[2], strict=True)) == sorted(zip(*out, strict=True))
        assert roots.shape == (min(len(block), WARPS), LANES)
        np.testing.assert_array_equal(roots.reshape(-1)[lanes.places[number]], block)
        alone, *edges, its_places, its_roots = ball(finder.find(deal([block])), 0)
        for ours, theirs in zip((vertices, places, roots), (alone, its_places, its_roots), strict=True):
            np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal((out, into), edges)
