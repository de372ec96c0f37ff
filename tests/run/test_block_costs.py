"""Whether a graph is taken apart before it is swept, and its blocks contracted: by what each is predicted to take."""

import numpy as np
import pytest
import scipy.sparse as sp
from chained import FAMILIES, random_piece, roads, subdivided, symmetric
from scipy.sparse import csgraph
from strategies import disjoint, grid, path, scale_free, star, with_lengths

import lagbc
from lagbc.graph.validate import as_graph
from lagbc.reduce import pieces
from lagbc.reduce.chains import JunctionWork, contract, count_evaluations, expect_work

AUTO = {"directed": False, "device": "cpu"}


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_expected_is_what_contracting_finds(family):
    rng = np.random.default_rng([FAMILIES.index(family), 3])
    for number in range(60):
        piece = random_piece(rng, family, weighted=number % 2 == 0, several=0.1 * (number % 3))
        contracted, expected = contract(piece), expect_work(piece)
        assert expected.junctions == len(contracted.roots)
        assert expected.edges == len(contracted.arcs), "parallel chains are edges of their own"
        assert expected.evaluations == count_evaluations(
            expected.junctions, expected.junctions, len(contracted.ways.lengths)
        )


class Contracted(Exception):  # noqa: N818 (a mark, not an error)
    pass


@pytest.fixture
def marked(monkeypatch):
    """A block that is contracted raises `Contracted`."""

    def contract(piece):
        raise Contracted

    monkeypatch.setattr(pieces, "contract", contract)


def shipped(name):
    return lagbc.read_graph(lagbc.example_path(name)).matrix


def with_bends(A, inside):
    """A graph whose edges have so many vertices inside."""
    edges = list(zip(*(ends.tolist() for ends in sp.triu(A).nonzero()), strict=True))
    n, edges = subdivided(A.shape[0], edges, [inside] * len(edges))
    return symmetric(n, edges, np.ones(len(edges)))


# The last two have as many junctions as other vertices: contracted they would take 1.2 to 2.1 times as long, as was
# measured.
SWEPT = (roads(30, 0), roads(30, 1), scale_free(3000, 6000, seed=1), shipped("minnesota"), shipped("power"))
CONTRACTED = roads(20, 6), with_bends(shipped("minnesota"), 4)


def test_a_block_is_contracted_only_where_that_pays(marked, weighted):
    def plan(A, **how):
        return lagbc.plan(with_lengths(A, [1.0, 2.0]) if weighted else A, weighted=weighted, **AUTO, **how)

    for A in SWEPT:
        assert (as_graph(A, directed=False).out_degrees == 2).any()
        assert "junctions" not in plan(A).reason
        with pytest.raises(Contracted):
            plan(A, reduce="all")
    for A in CONTRACTED:
        with pytest.raises(Contracted):
            plan(A)


def test_a_short_run_is_not_looked_at(monkeypatch):
    """Nothing of the graph is taken apart."""

    def split(*_, **__):
        raise AssertionError("this takes longer than it saves")

    monkeypatch.setattr(pieces, "split", split)
    lagbc.plan(scale_free(400, 3000, seed=1), **AUTO)
    lagbc.bc(scale_free(3000, 20000, seed=2), k=64, rng=1, **AUTO)
    for long in (scale_free(2000, 15000, seed=1), roads(12, 4)):  # as long by the many edges of the other
        with pytest.raises(AssertionError, match="takes longer"):
            lagbc.plan(long, **AUTO)


def test_a_gpu_counts_edges():
    graph, work = as_graph(roads(5, 2), directed=False), JunctionWork(100, 150, 20, 5000)
    assert pieces.predict_block(graph, 7, "cuda") == 7 * graph.nnz
    for weighted in (False, True):
        deep, shallow = (pieces.predict_junctions(work, "cuda", weighted=weighted, few_levels=f) for f in (False, True))
        assert deep == pytest.approx(4.5 * (2 * 100 + 20) * 150 + 0.2 * 5000)
        assert shallow == pytest.approx(12 * (2 * 100 + 20) * 150 + 0.2 * 5000)


# What a look promises


PROMISED = {
    "mesh": (grid(20, 20), 0.9, 1.0),
    "ends": (star(50), 0.0, 0.05),
    "chain": (path(100), 0.0, 0.1),
    "components": (disjoint(grid(9, 9), grid(9, 9), grid(9, 9)), 0.2, 0.4),
}


@pytest.mark.parametrize("name", PROMISED)
def test_what_degrees_and_components_promise(name):
    A, least, most = PROMISED[name]
    assert least <= pieces.promised_left(as_graph(A, directed=False), A.shape[0]) <= most


def test_roots_that_reach_little_are_not_worth_a_long_look():
    """A look takes time by all vertices and edges, and sweeps from some roots by those that are reached."""
    ends = np.random.default_rng(1).integers(0, 30_000, (2, 25_000))
    A = sp.coo_array((np.ones(25_000), ends), shape=(30_000, 30_000)).tocsr()
    graph, some = as_graph(A), np.arange(0, 30_000, 15)
    share = pieces.reached_share(graph, some)
    assert 0 < share < 1e-3
    reached = np.isfinite(csgraph.shortest_path(A, unweighted=True, indices=some[:: -(-len(some) // 64)]))
    assert share == pytest.approx(reached.mean())
    assert pieces.is_look_worth(graph, len(some), "cpu")
    assert not pieces.is_look_worth(graph, len(some), "cpu", lambda: share)
    assert pieces.is_look_worth(graph, 10**6, "cpu", lambda: share), "each root takes some time"


def test_roots_that_reach_much_are_as_many_as_all():
    graph = as_graph(scale_free(2000, 12000, seed=1), directed=False)
    assert pieces.reached_share(graph, np.arange(200)) == 1.0
