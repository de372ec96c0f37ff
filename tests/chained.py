"""Blocks of chains: random ones of several families, their sums over pairs, and those of junctions alone."""

from itertools import pairwise

import networkx as nx
import numpy as np
import scipy.sparse as sp
from pairs_oracle import lengths_of_graph, piece_sums

import lagbc
from lagbc.graph.validate import as_graph
from lagbc.limits import Room
from lagbc.planning.sweep import Sweep
from lagbc.reduce.chains import ADDED, Ways, contract, group_size
from lagbc.reduce.pieces import Chains
from lagbc.reduce.weighted import Weighted
from lagbc.request import Request
from lagbc.run.run import work_of
from lagbc.run.work import inline, sum_over, threaded

ROWS = {row.name: row for row in lagbc.METHODS if row.device == "cpu" and row.weighted}
BATCHED = ROWS["batched"]


def symmetric(n, edges, lengths):
    i, j = np.array(edges).T
    both = np.concatenate([i, j]), np.concatenate([j, i])
    return sp.coo_array((np.concatenate([lengths, lengths]).astype(float), both), shape=(n, n)).tocsr()


def subdivided(n, edges, counts):
    """Put so many vertices on each edge; of parallel edges without any, one is kept."""
    found = {}
    for (u, v), count in zip(edges, counts, strict=True):
        line = [u, *range(n, n + count), v]
        n += count
        found |= dict.fromkeys((min(edge), max(edge)) for edge in pairwise(line))
    return n, list(found)


def roads(side, inside):
    """A grid whose edges have so many vertices inside."""
    junctions = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side))
    n, edges = subdivided(len(junctions), list(junctions.edges), [inside] * junctions.number_of_edges())
    return symmetric(n, edges, np.ones(len(edges)))


def crossed_ring(junctions, across):
    """Junctions in a ring, each joined by a vertex between to the next and to that so far on."""
    edges = [(u, (u + step) % junctions) for step in (1, across) for u in range(junctions)]
    n, edges = subdivided(junctions, edges, [1] * len(edges))
    return symmetric(n, edges, np.ones(len(edges)))


def long_mesh():
    """A mesh of 280 junctions, whose lines have up to two vertices between their ends; no small block."""
    n, edges = 280, nx.convert_node_labels_to_integers(nx.grid_2d_graph(14, 20)).edges
    n, edges = subdivided(n, list(edges), [i % 3 for i in range(len(edges))])
    return symmetric(n, edges, np.ones(len(edges)))


def k4(rng):
    edges = list(nx.complete_graph(4).edges)
    return subdivided(4, edges, rng.integers(0, 4, len(edges)))


def theta(rng):
    """Two junctions joined by chains, many of them equally long."""
    edges = [(0, 1)] * rng.integers(3, 6)
    return subdivided(2, edges, [*rng.integers(1, 3, len(edges) - 1), rng.integers(0, 4)])


def doubled_ring(rng):
    """A ring of junctions, each joined to the next by up to three equal chains, of a length of its own."""
    ring = rng.integers(3, 5)
    edges, counts = [], []
    for v in range(ring):
        times = rng.integers(1, 4)
        edges += [(v, (v + 1) % ring)] * times
        counts += [rng.integers(1, 4)] * times
    return subdivided(ring, edges, counts)


def grid(rng):
    graph = nx.convert_node_labels_to_integers(nx.grid_2d_graph(2, rng.integers(2, 5)))
    edges = list(graph.edges)
    return subdivided(len(graph), edges, rng.integers(0, 3, len(edges)))


def cycle(rng):
    n = rng.integers(3, 14)
    return n, [(v, (v + 1) % n) for v in range(n)]


def ears(rng):
    """Any 2-connected graph: a cycle, and paths between two of its vertices one after the other."""
    n = rng.integers(3, 6)
    edges = {(min(v, (v + 1) % n), max(v, (v + 1) % n)) for v in range(n)}
    for _ in range(rng.integers(0, 5)):
        u, v = rng.choice(n, 2, replace=False)
        line = [u, *range(n, n + rng.integers(0, 4)), v]
        n += len(line) - 2
        edges |= {(min(edge), max(edge)) for edge in pairwise(line)}
    return n, [(int(u), int(v)) for u, v in edges]


FAMILIES = (k4, theta, doubled_ring, grid, cycle, ears)


def random_piece(rng, family, weighted, several=0.0):
    n, edges = family(rng)
    name = rng.permutation(n)
    lengths = rng.integers(1, 4, len(edges)) if weighted else np.ones(len(edges))
    A = symmetric(n, name[np.array(edges)], lengths)
    if rng.random() < 0.3:
        sources = targets = np.ones(n)
    else:
        sources, targets = rng.integers(0, 4, (2, n)).astype(float)
    members = rng.choice([1.0, 2.0, 3.0], n, p=[1 - 2 * several, several, several]) if several else None
    return Weighted(as_graph(A, directed=False, weighted=weighted), sources, targets, members)


def plain(piece):
    """F and the sums of edges, both directions halved, straight from their definitions."""
    scores, of_edges = piece_sums(piece)
    edges = dict(zip(lengths_of_graph(piece.graph), of_edges, strict=True))
    return scores, np.array([(edges[u, v] + edges[v, u]) / 2 for u, v in edges])


def junctions(piece, method=BATCHED, size=None, threads=1):
    """Return the piece that a block is contracted to, and its sweep."""
    contracted = contract(piece)
    size = group_size(contracted, method.device) if size is None else size
    roots, row = len(contracted.roots), (method.name, method.device, True)
    request = Request(ADDED, contracted.roots)
    return (
        Chains(contracted, request, method.device, piece),
        Sweep("chains", *row, roots=roots, batch=size, threads=threads, reason="", most=size),
    )


def sums_of(piece, method=BATCHED, size=None, threads=1, carry=threaded, **given):
    work = work_of(*junctions(piece, method, size, threads), Room())
    return work.finish(sum_over(work, carry, **given))


def summed(piece, method=BATCHED):
    return sums_of(piece, method, carry=inline)


def assert_agree(ours, expected):
    for found, theirs in zip((ours.dependency, ours.edges), expected, strict=True):
        np.testing.assert_allclose(found, theirs, rtol=0, atol=1e-12 * max(1, theirs.max()))
        assert found.min() >= 0


def hub(spokes):
    """A ring of junctions, each joined to a hub by a chain: more far ends than are swept at a time."""
    edges = [(v, (v + 1) % spokes) for v in range(spokes)] + [(v, spokes) for v in range(spokes)]
    return symmetric(*grown(spokes + 1, edges, [v % 3 + 1 for v in range(2 * spokes)]))


def ring_of_diamonds():
    """1030 diamonds in a row, of which there are 2**1030 paths; a chain that is longer joins their ends."""
    n, back = 3 * 1030, 2100
    i, chain = np.arange(0, n, 3), np.r_[np.arange(n, n + back), 0]
    rows = np.concatenate([i, i, i + 1, i + 2, chain[:-1]])
    columns = np.concatenate([i + 1, i + 2, i + 3, i + 3, chain[1:]])
    return sp.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n + back, n + back)).tocsr()


def grown(n, edges, counts):
    n, edges = subdivided(n, edges, counts)
    return n, edges, np.ones(len(edges))


def ones(A, *, weighted=False):
    return Weighted(as_graph(A, directed=False, weighted=weighted), np.ones(A.shape[0]), np.ones(A.shape[0]))


# Chains of a graph that has none.
NO_WAYS = Ways(
    np.zeros((2, 0), np.int64),
    np.zeros(0),
    np.zeros(1, np.int64),
    True,
    *(np.zeros((2, 0)) for _ in range(5)),
    np.zeros(0),
    np.zeros(0),
    np.zeros(0, np.int64),
    np.zeros(1, np.int64),
)
