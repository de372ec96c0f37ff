"""Twins: the scores of a graph from those of the graph in which they are merged, against the definition."""

import numpy as np
import pytest
import scipy.sparse as sp
from glued import bipartite, clique, path, random_weights, star
from oracle_twins import classes_of, random_twins
from pairs_oracle import assert_close, lengths_of_graph, piece_sums
from strategies import times
from swept import summed

import lagbc
from lagbc.graph.validate import as_graph
from lagbc.io.source import example_path
from lagbc.methods.contract import SweepPlan
from lagbc.native import core
from lagbc.reduce.twins import merge
from lagbc.reduce.weighted import Weighted


def graph_of(n, lengths, *, directed=True, weighted=False):
    rows, columns = np.array(list(lengths), np.int64).reshape(-1, 2).T
    A = sp.coo_array((np.array(list(lengths.values()), float), (rows, columns)), shape=(n, n))
    return as_graph(A, directed=directed, weighted=weighted)


def piece_of(n, edges, *, length=None, sources=None, targets=None, members=None, **kind):
    """Take pairs as a piece of weights 1, edges of one length."""
    graph = graph_of(n, dict.fromkeys(edges, length or 1), weighted=length is not None, **kind)
    return Weighted(graph, *(np.ones(n) if x is None else np.array(x, float) for x in (sources, targets)), members)


def undirected(edges, **options):
    return piece_of(1 + max(map(max, edges)), edges, directed=False, **options)


def count(classes):
    """Classes of two vertices or more."""
    return 0 if classes is None else classes.merged


def put_back(classes, scores):
    return scores if classes is None else classes.scores(scores)


def assert_right(piece):
    """Merge, and put together what the oracle finds."""
    left, classes = merge(piece)
    assert_close(put_back(classes, piece_sums(left)[0]), piece_sums(piece)[0])
    return left, classes


def random_piece(rng, *, directed, weighted, most=9):
    n, lengths = random_twins(rng, most, directed=directed, weighted=weighted)
    graph = graph_of(n, lengths, directed=directed, weighted=weighted)
    sources = random_weights(rng, n)
    targets = sources if rng.random() < 0.3 else random_weights(rng, n)
    members = rng.integers(1, 3, n).astype(float) if rng.random() < 0.2 else None
    return Weighted(graph, sources, targets, members)


def test_scores_are_those_of_the_graph(directed, weighted):
    rng, merged = np.random.default_rng(1), 0
    for _ in range(times(200)):
        merged += count(assert_right(random_piece(rng, directed=directed, weighted=weighted))[1])
    assert merged > times(130)


def test_merging_again(directed, weighted):
    """Parts are classes already; each round puts together what the next one leaves."""
    rng, rounds = np.random.default_rng(2), 0
    for _ in range(times(50)):
        piece = random_piece(rng, directed=directed, weighted=weighted, most=10)
        left, done = piece, []
        while (found := merge(left))[1] is not None:
            left = found[0]
            done.append(found[1])
        rounds = max(rounds, len(done))
        scores = piece_sums(left)[0]
        for classes in reversed(done):
            scores = classes.scores(scores)
        assert_close(scores, piece_sums(piece)[0])
    assert rounds > 2


def test_classes_are_compared_whatever_their_keys(directed, weighted):
    rng = np.random.default_rng(5)
    for _ in range(50):
        n, lengths = random_twins(rng, 9, directed=directed, weighted=weighted)
        graph = graph_of(n, lengths, directed=directed, weighted=weighted)
        first = core.join_open(*graph.native, np.full(n, 2**64 - 1, np.uint64))
        found = {frozenset(np.flatnonzero(first == v).tolist()) for v in set(first.tolist())}
        theirs = {those for those, closed in classes_of(n, lengths_of_graph(graph)) if not closed}
        assert {those for those in found if len(those) > 1} == theirs


def test_edges_between_closed_twins_are_of_one_length():
    """Whatever the keys: they are those of the graph in which the edges are."""
    twins, others = (
        graph_of(3, {(0, 1): there, (1, 0): 1, (0, 2): 3, (1, 2): 3}, weighted=True).native for there in (1, 2)
    )
    for graph, expected in ((twins, True), (others, False)):
        keys, first, closed = np.zeros(3, np.uint64), np.arange(3, dtype=np.int32), np.zeros(3, np.bool_)
        core.sum_keys(*twins, 0, 3, keys)
        core.join_closed(*graph, keys, 0, 3, first, closed)
        assert closed.tolist() == [False, expected, False]
        assert first.tolist() == [0, 0 if expected else 1, 2]


@pytest.mark.parametrize(
    ("edges", "left", "stored"),
    [
        (star(7), 2, 2),
        (bipartite(3, 4), 2, 2),
        (clique(5), 1, 0),
        ([(u, v) for u, v in clique(6) if u // 2 != v // 2], 3, 6),  # complete tripartite
        ([*clique(4), (0, 4), (4, 5), (4, 6)], 4, 6),
    ],
    ids=["star", "bipartite", "clique", "tripartite", "clique and star"],
)
@pytest.mark.parametrize("length", [None, 2])
def test_families(edges, left, stored, length):
    piece, _ = assert_right(undirected(edges, length=length))
    assert (piece.graph.n, piece.graph.nnz) == (left, stored)


def test_isolated_vertices_are_twins():
    left, classes = assert_right(piece_of(6, [(1, 3), (3, 1), (3, 4), (4, 3)]))
    assert classes.merged == 2
    assert sorted(left.class_sizes.tolist()) == [1, 2, 3]


@pytest.mark.parametrize("n", [0, 1])
def test_next_to_nothing(n):
    assert assert_right(piece_of(n, []))[1] is None


def test_nothing_to_merge_leaves_the_same_piece():
    piece = undirected(path(6))
    left, classes = merge(piece)
    assert left is piece
    assert classes is None


@pytest.mark.parametrize(("inside", "expected"), [(1, 0.0), (2, 2 / 2), (3, 2 / 1)])
def test_pairs_of_a_closed_class_go_inside_or_by_the_nearest_neighbour(inside, expected):
    """A triangle x, y, z with x, y at length 1 from z; a neighbour at length 2 is not the nearest."""
    lengths = {(0, 1): inside, (0, 2): 1, (1, 2): 1, (0, 3): 2, (1, 3): 2}
    lengths |= {(v, u): length for (u, v), length in lengths.items()}
    piece = Weighted(graph_of(4, lengths, weighted=True), np.r_[1.0, 1, 0, 0], np.r_[1.0, 1, 0, 0])
    _, classes = assert_right(piece)
    assert classes.merged == 1
    np.testing.assert_allclose(classes.scores(np.zeros(3)), [0, 0, expected, 0])


def test_pairs_that_go_by_a_longer_cycle_are_left():
    """Of 1 and 2, from 0 and to 3; then 3 leads back to 0, or it does not, or no demand is between them."""
    there = [(0, 1), (0, 2), (1, 3), (2, 3)]
    assert count(assert_right(piece_of(4, [*there, (3, 0)]))[1]) == 0
    assert count(assert_right(piece_of(4, there))[1]) == 1
    one = [0, 1, 0, 0]
    assert count(assert_right(piece_of(4, [*there, (3, 0)], sources=one, targets=one))[1]) == 1
    assert count(assert_right(piece_of(4, [*there, (3, 0)], sources=one, targets=[1, 0, 1, 1]))[1]) == 0
    assert count(assert_right(piece_of(4, [*there, (1, 0), (2, 0)]))[1]) == 1


def test_demand_inside_does_not_cancel():
    big, small = 1e100, 1e-100
    piece = undirected(star(3), sources=[0, big, small], targets=[0, big, small])
    np.testing.assert_allclose(merge(piece)[1].scores(np.zeros(2)), [2, 0, 0], rtol=1e-15)


@pytest.mark.parametrize("weight", [1e-200, 1e200])
def test_weights_out_of_range(weight):
    with pytest.raises(OverflowError, match="targets of a piece are from"):
        merge(undirected(star(4), targets=[1, 1, weight, 1]))


@pytest.mark.parametrize(
    "row", [row for row in lagbc.METHODS if (row.device, row.requires) == ("cpu", "")], ids=lambda row: row.name
)
def test_swept_by_methods(row):
    A = lagbc.read_graph(example_path("lesmis"))
    graph = as_graph(A, directed=False, weighted=row.weighted)
    left, classes = merge(Weighted(graph, np.ones(graph.n), np.ones(graph.n)))
    plan = SweepPlan(batch=64, omega=left.targets, root_weights=left.sources, class_sizes=left.class_sizes)
    found = summed(left.graph, np.arange(left.graph.n), row, plan).dependency
    assert classes.merged > 0
    assert_close(classes.scores(found) / 2, lagbc.bc(A, directed=False, weighted=row.weighted, method=row.name))
