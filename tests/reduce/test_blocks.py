"""Blocks: the scores of a graph from those of its blocks, against the definition over all pairs."""

import numpy as np
import pytest
import scipy.sparse as sp
from glued import barbell, bipartite, clique, cycle, path, random_edges, random_weights, star, theta
from pairs_oracle import assert_close, piece_sums
from strategies import times

from lagbc import tuning
from lagbc.graph.validate import as_graph
from lagbc.options import check_options
from lagbc.planning.plan import sweep_of_small
from lagbc.reduce.blocks import split
from lagbc.reduce.pieces import Small
from lagbc.reduce.weighted import Weighted
from lagbc.run.run import sum_piece, work_of
from lagbc.run.work import inline, sum_over, threaded


def graph_of(n, edges, *, directed=False, lengths=None):
    """Take pairs as a graph; of duplicates the first counts."""
    pairs = {}
    for place, (u, v) in enumerate(edges):
        pair = (u, v) if directed else (min(u, v), max(u, v))
        pairs.setdefault(pair, 1.0 if lengths is None else float(lengths[place]))
    rows, columns = np.array(list(pairs), np.int64).reshape(-1, 2).T
    A = sp.coo_array((np.array(list(pairs.values())), (rows, columns)), shape=(n, n))
    return as_graph(A, directed=directed, weighted=lengths is not None)


def unit(n, edges, **options):
    graph = graph_of(n, edges, **options)
    return Weighted(graph, np.ones(graph.n), np.ones(graph.n))


def small_work(found, *, edges=True, threads=1):
    """The piece of small blocks and its sweep."""
    piece = Small(found.small, edges)
    return piece, sweep_of_small(piece, check_options("auto", {"threads": threads}))


def scores_by_tree(found, large, *, edges=False):
    """Scores of vertices, or of edges, by those of large blocks, and sums over the small ones."""
    small = sum_piece(*small_work(found, edges=edges), None, carry=inline)
    return found.tree.edge_scores(large, small.edges) if edges else found.tree.scores(large, small.dependency)


def assert_right(piece, *, edges=True):
    """Split and put together; large blocks are swept by the oracle."""
    found = split(piece, edges=edges)
    for part, (copies, entries) in zip(found.large, found.tree.large, strict=True):
        assert_is_part(part, piece, found.tree.copies[copies], found.tree.places[entries] if edges else None)
    of_parts, (scores, of_edges) = [piece_sums(part) for part in found.large], piece_sums(piece)
    assert_close(scores_by_tree(found, [of_vertices for of_vertices, _ in of_parts]), scores)
    if edges:
        assert_close(scores_by_tree(found, [theirs for _, theirs in of_parts], edges=True), of_edges)
    else:
        assert found.tree.places is None


def assert_is_part(part, piece, vertices, edges):
    """Vertices and edges are those of the graph, in canonical rows, lengths and all."""
    graph, whole = part.graph, piece.graph
    assert graph.directed == whole.directed
    assert graph.indptr.dtype == np.int64
    assert graph.indices.dtype == whole.indices.dtype
    assert np.all(np.diff(vertices) > 0)
    for v in range(graph.n):
        assert np.all(np.diff(graph.indices[graph.indptr[v] : graph.indptr[v + 1]]) > 0)
    if edges is not None:
        assert np.array_equal(vertices[graph.rows], whole.rows[edges])
        assert np.array_equal(vertices[graph.indices], whole.indices[edges])
        if whole.weighted:
            assert np.array_equal(graph.weights, whole.weights[edges])


def random_piece(rng, *, directed, weighted, size=None):
    n, edges = random_edges(rng, int(rng.integers(2, 15)) if size is None else size)
    if directed:  # some edges one way, some both
        both = rng.integers(3, size=len(edges))
        edges = [e for (u, v), way in zip(edges, both, strict=True) for e in [(u, v), (v, u)][way // 2 : 1 + (way > 0)]]
    lengths = rng.integers(1, 4, len(edges)) if weighted else None
    graph = graph_of(n, edges, directed=directed, lengths=lengths)
    sources = random_weights(rng, n)
    targets = sources if rng.random() < 0.3 else random_weights(rng, n)
    return Weighted(graph, sources, targets)


@pytest.mark.parametrize("small", [0, 4, 600])
def test_random_graphs(directed, weighted, small, monkeypatch):
    monkeypatch.setattr(tuning, "SMALL_VERTICES", small)
    rng = np.random.default_rng(small)
    for _ in range(times(40)):
        assert_right(random_piece(rng, directed=directed, weighted=weighted), edges=bool(rng.integers(2)))


NAMED = {
    "nothing": (0, []),
    "one vertex": (1, []),
    "no edges": (4, []),
    "edge": (2, [(0, 1)]),
    "path": (7, path(7)),
    "star": (7, star(7)),
    "cycle": (8, cycle(8)),
    "clique": (6, clique(6)),
    "theta": (8, theta(1, 2, 3)),
    "grid": (6, bipartite(2, 4)),
    "barbell": barbell(4, 3),
    "two cycles at a vertex": (7, [*cycle(4), (0, 4), (4, 5), (5, 6), (6, 0)]),
    "cactus": (9, [*cycle(3), (2, 3), (3, 4), (4, 2), (4, 5), (5, 6), (6, 4), (6, 7), (6, 8)]),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_graphs(name):
    assert_right(unit(*NAMED[name]))


@pytest.mark.parametrize("name", ["edge", "path", "star", "clique", "barbell"])
def test_trees_and_cliques_leave_nothing(name):
    found = split(unit(*NAMED[name]))
    assert not found.large
    assert not len(found.small.numbers)


def test_lengths_of_a_clique_are_swept():
    edges = clique(4)
    assert_right(unit(4, edges, lengths=[9, 1, 1, 1, 1, 1]))


def test_whole_numbers_are_exact():
    """Weights near 2**26, whose products need all bits: S, T and cut are what Python's integers say."""
    rng = np.random.default_rng(3)
    sources, targets = (rng.integers(2**21, 2**22, 6).astype(float) for _ in range(2))
    cut = split(Weighted(graph_of(6, star(6)), sources, targets)).tree.cut
    s, t = ([int(x) for x in side[1:]] for side in (sources, targets))
    assert cut[0] == sum(s) * sum(t) - sum(a * b for a, b in zip(s, t, strict=True))


def test_nothing_cancels():
    """A branch of tiny weight beside a huge one: what is between tiny ones is right to the last bits."""
    weights = np.array([0.0, 1e16, 1e-16, 3e-16, 0.0])
    targets = np.array([0.0, 0.0, 1e-16, 3e-16, 0.0])
    cut = split(Weighted(graph_of(5, star(5)), weights * [1, 0, 1, 1, 1], targets)).tree.cut
    assert cut[0] == pytest.approx(2 * 1e-16 * 3e-16, rel=1e-15)
    sources = np.array([0, 1e-16, 0, 0, 1e16])
    found = split(Weighted(graph_of(5, [*cycle(4), (0, 4)]), sources, np.ones(5)))
    # Each counts in its own block, and for vertex 0 in the other.
    assert sorted(found.small.rows.sources) == [0, 0, 1e-16, 1e-16, 1e16, 1e16]


def test_members_and_range():
    graph = graph_of(3, path(3))
    one = np.ones(3)
    with pytest.raises(ValueError, match="members"):
        split(Weighted(graph, one, one, class_sizes=one))
    for weight in (1e-200, 1e200, 1.7e308):
        with pytest.raises(OverflowError, match="targets of a piece"):
            split(Weighted(graph, one, np.array([1.0, weight, weight])))


def test_deep_path_and_wide_star():
    n = 200_000
    rng = np.random.default_rng(0)
    label = rng.permutation(n)
    v = np.arange(n, dtype=float)
    scores = split(unit(n, label[np.array(path(n))].tolist())).tree.scores([], None)
    assert np.array_equal(scores[label], 2 * v * (n - 1 - v))
    scores = split(unit(n, star(n))).tree.scores([], None)
    assert scores[0] == (n - 1) * (n - 2)
    assert not scores[1:].any()


def test_slices_stop_and_go_on(monkeypatch):
    """Small blocks are computed in slices, by one thread or two, to the same bits; one can leave off between."""
    monkeypatch.setattr(tuning, "SLICE_WORK", 200)
    monkeypatch.setattr(tuning, "BLOCK_WORK", 1)
    piece = random_piece(np.random.default_rng(5), directed=False, weighted=True, size=300)
    found = split(piece, edges=True)
    one, two = (work_of(*small_work(found, threads=threads), None) for threads in (1, 2))
    assert len(one.items) > 5
    whole = sum_over(one, inline)
    part = sum_over(two, threaded, last=3)
    assert (whole.done, part.done) == (len(one.items), 3)
    for name, array in one.finish(whole):
        assert not np.array_equal(getattr(two.finish(part), name), array), "of three slices alone"
    rest = two.finish(sum_over(two, threaded, part))
    for name, array in one.finish(whole):
        assert np.array_equal(getattr(rest, name), array)


def test_many_cut_vertices_of_a_directed_block():
    """More strong components with cut vertices than bits in a word."""
    rng = np.random.default_rng(7)
    for k in range(4):
        n = 120
        edges = [tuple(sorted(rng.integers(n, size=2).tolist())) for _ in range(300)]
        edges += [(v, u) for u, v in edges[: 4 * k]]
        for v in range(100):
            edges.append((v, n + v) if v % 2 else (n + v, v))
        graph = graph_of(n + 100, edges, directed=True)
        assert_right(Weighted(graph, *rng.integers(1, 4, (2, n + 100)).astype(float)))


def test_lengths_that_rounding_may_absorb_are_left_to_a_method():
    edges = [*cycle(4), (0, 4)]
    assert not split(unit(5, edges, lengths=[1, 1, 1, 1, 1e18])).large
    assert len(split(unit(5, edges, lengths=[1e18, 1, 1, 1, 1])).large) == 1


def test_a_graph_of_one_block_is_its_own_piece(monkeypatch):
    monkeypatch.setattr(tuning, "SMALL_VERTICES", 2)
    piece = unit(6, cycle(6))
    assert split(piece).large[0].graph is piece.graph
