"""Chains contracted: scores against plain sums over pairs, on many small blocks."""

import threading

import chained
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from chained import FAMILIES, assert_agree, ears, hub, ones, plain, random_piece, summed, sums_of, symmetric
from strategies import cycle, disjoint, in_a_row, path, times, with_lengths

import lagbc
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.reduce.chains import contract
from lagbc.reduce.weighted import NotContractible, Weighted
from lagbc.run import bicomponents


def assert_sums(piece, *method):
    assert_agree(summed(piece, *method), plain(piece))


@pytest.mark.parametrize("family", FAMILIES)
def test_small_blocks(family, weighted):
    rng = np.random.default_rng([FAMILIES.index(family), weighted])
    for _ in range(times(25)):
        assert_sums(random_piece(rng, family, weighted))


def test_vertices_that_stand_for_several(weighted):
    """They are junctions, wherever they are."""
    rng = np.random.default_rng([5, weighted])
    for _ in range(times(12)):
        for family in FAMILIES:
            assert_sums(random_piece(rng, family, weighted, several=0.15))


def test_fractions_as_lengths():
    """Of a power of two, so that sums are exact; few tie."""
    rng = np.random.default_rng(2)
    for _ in range(times(30)):
        n, edges = ears(rng)
        lengths = rng.integers(1, 2**20, len(edges)) / 2**20
        graph = as_graph(symmetric(n, edges, lengths), directed=False, weighted=True)
        assert_sums(Weighted(graph, *rng.random((2, n))))


def test_by_another_method(weighted):
    rng = np.random.default_rng([3, weighted])
    for _ in range(times(8)):
        assert_sums(random_piece(rng, ears, weighted), chained.ROWS["dijkstra"])


def largest_block(A):
    vertices = sorted(max(nx.biconnected_components(nx.from_scipy_sparse_array(A)), key=len))
    return sp.csr_array(A)[vertices][:, vertices]


@pytest.fixture(scope="module")
def power():
    return largest_block(lagbc.read_graph(lagbc.example_path("power")).matrix)


def test_a_real_block_with_the_same_bits_by_any_threads(power, weighted):
    A = with_lengths(power, [1, 2, 3]).tocsr() if weighted else power
    piece = ones(A, weighted=weighted)
    graph, ours = piece.graph, summed(piece)
    theirs = lagbc.centralities(A, ["bc", "edge_bc"], directed=False, weighted=weighted, reduce="none")
    np.testing.assert_allclose(ours.dependency, 2 * theirs["bc"], rtol=1e-11, atol=1e-6)
    np.testing.assert_allclose(ours.edges, theirs["edge_bc"][graph.rows, graph.indices], rtol=1e-11, atol=1e-6)
    for threads in (1, 2, 3):
        again = sums_of(piece, threads=threads)
        np.testing.assert_array_equal(again.dependency, ours.dependency)
        np.testing.assert_array_equal(again.edges, ours.edges)


def test_ctrl_c_between_groups(power):
    before = threading.active_count()

    def interrupt(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sums_of(ones(power), threads=2, keeps=[interrupt])
    assert threading.active_count() == before


def test_memory_that_ends(power, monkeypatch):
    """A second worker that does not fit is done without; the first one is not."""
    made = []

    class Scarce(bicomponents._Groups):
        def __init__(self, *arguments):
            made.append(self)
            if len(made) == 2:
                raise MemoryError
            super().__init__(*arguments)

    monkeypatch.setattr(bicomponents, "_Groups", Scarce)
    with pytest.warns(lagbc.MemoryWarning, match="threads=1"):
        ours = sums_of(ones(power), threads=2)
    np.testing.assert_array_equal(ours.dependency, summed(ones(power)).dependency)
    made[:] = [None]
    with pytest.raises(MemoryError):
        sums_of(ones(power))


def test_counts_out_of_range():
    ring = 2100
    edges = [(v, (v + 1) % ring) for v in range(ring)] * 2
    A = symmetric(*chained.grown(ring, edges, [1] * len(edges)))
    with pytest.raises(NotContractible, match="path counts"):
        sums_of(ones(A))


@pytest.mark.parametrize("weight", [1e-70, 1e70])
def test_weights_out_of_range(weight):
    piece = ones(hub(5))
    with pytest.raises(NotContractible, match="weights"):
        contract(Weighted(piece.graph, piece.sources, np.where(np.arange(piece.graph.n), 1, weight)))


def test_absorbed_lengths():
    A = symmetric(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], [1e18, 1, 1, 1, 1])
    with pytest.raises(NotContractible, match="length"):
        contract(ones(A, weighted=True))


NO_BLOCKS = {"path": path(3), "cut vertex": in_a_row(cycle(3), cycle(3)), "two cycles": disjoint(cycle(3), cycle(3))}


@pytest.mark.parametrize("name", NO_BLOCKS)
def test_what_is_no_block(name):
    with pytest.raises(ValueError, match="2-connected"):
        contract(ones(NO_BLOCKS[name]))


def test_directed_graphs_are_refused():
    graph = as_graph(hub(5))
    with pytest.raises(ValueError, match="undirected"):
        contract(Weighted(Graph(*graph.csr[:2], directed=True), np.ones(graph.n), np.ones(graph.n)))


def test_equal_parallel_chains_of_whole_lengths_stay_whole():
    """The midpoint of an odd length is not half way: short distances are whole numbers."""
    piece = ones(symmetric(*chained.grown(2, [(0, 1)] * 4, [2, 2, 2, 5])))
    assert sorted(contract(piece).graph.weights.tolist()) == [1, 1, 1, 1, 2, 2, 2, 2, 3, 3]
    assert_sums(piece)
