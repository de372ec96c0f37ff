"""What "auto" takes of a block: told by sizes, and before it is contracted."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from chained import FAMILIES, random_piece, subdivided
from strategies import scale_free, with_lengths

import lagbc
from lagbc.graph.validate import as_graph
from lagbc.reduce import choice, pieces
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


def roads(side, inside):
    """A grid whose edges have so many vertices inside."""
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side))
    n, edges = subdivided(len(grid), list(grid.edges), [inside] * grid.number_of_edges())
    return sp.coo_array((np.ones(len(edges)), np.array(edges).T), shape=(n, n)).tocsr()


class Contracted(Exception):  # noqa: N818 (a mark, not an error)
    pass


@pytest.fixture
def marked(monkeypatch):
    """A block that is contracted raises `Contracted`."""

    def contract(piece):
        raise Contracted

    monkeypatch.setattr(pieces, "contract", contract)


@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "lengths"])
def test_a_block_is_contracted_only_where_that_pays(marked, weighted):
    for A in (roads(30, 0), roads(30, 1), scale_free(3000, 6000, seed=1)):
        B = with_lengths(A, [1.0, 2.0]) if weighted else A
        assert (as_graph(A, directed=False).out_degrees == 2).any()
        assert "junctions" not in lagbc.plan(B, weighted=weighted, **AUTO).reason
        with pytest.raises(Contracted):
            lagbc.plan(B, weighted=weighted, reduce="all", **AUTO)
    with pytest.raises(Contracted):
        lagbc.plan(roads(20, 6), weighted=weighted, **AUTO)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["minnesota", "power"])
def test_networks_with_as_many_junctions_as_other_vertices(name, weighted):
    """As was measured: contracted they would take 1.2 to 2.1 times as long."""
    A = lagbc.read_graph(lagbc.example_path(name)).matrix
    A = with_lengths(A, [1.0, 2.0, 3.0]) if weighted else A
    assert "junctions" not in lagbc.plan(A, weighted=weighted, **AUTO).reason


@pytest.mark.parametrize("weighted", [False, True])
def test_roads_with_bends_are_contracted(marked, weighted):
    A = lagbc.read_graph(lagbc.example_path("minnesota")).matrix
    edges = list(zip(*(ends.tolist() for ends in sp.triu(A).nonzero()), strict=True))
    n, edges = subdivided(A.shape[0], edges, [4] * len(edges))
    B = sp.coo_array((np.ones(len(edges)), np.array(edges).T), shape=(n, n)).tocsr()
    with pytest.raises(Contracted):
        lagbc.plan(with_lengths(B, [1.0, 2.0, 3.0]) if weighted else B, weighted=weighted, **AUTO)


def test_a_short_run_is_not_looked_at(monkeypatch):
    def split(*_, **__):
        raise AssertionError("this takes longer than it saves")

    monkeypatch.setattr(pieces, "split", split)
    lagbc.plan(scale_free(400, 3000, seed=1), **AUTO)
    with pytest.raises(AssertionError, match="takes longer"):
        lagbc.plan(scale_free(2000, 15000, seed=1), **AUTO)
    with pytest.raises(AssertionError, match="takes longer"):  # as long as the many edges of the other
        lagbc.plan(roads(12, 4), **AUTO)


def test_a_gpu_counts_edges():
    graph, work = as_graph(roads(5, 2), directed=False), JunctionWork(100, 150, 20, 5000)
    assert choice.predict_block(graph, 7, "cuda") == 7 * graph.nnz
    for weighted in (False, True):
        deep, shallow = (choice.predict_junctions(work, "cuda", weighted=weighted, few_levels=f) for f in (False, True))
        assert deep == pytest.approx(4.5 * (2 * 100 + 20) * 150 + 0.2 * 5000)
        assert shallow == pytest.approx(12 * (2 * 100 + 20) * 150 + 0.2 * 5000)
