"""Chains contracted: scores against plain sums over pairs, on many small blocks; mutations that these catch."""

import sys
import threading
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from strategies import with_lengths

import lagbc
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.reduce import chains, streams, within
from lagbc.reduce.chains import contract
from lagbc.reduce.piece import NotContractible, Piece
from lagbc.run import chains as run
from lagbc.run.chains import sum_chains

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
    return Piece(as_graph(A, directed=False, weighted=weighted), sources, targets, members)


def plain(piece):
    """F and the sums of edges, both directions halved, straight from their definitions."""
    graph, n = piece.graph, piece.graph.n
    lengths = np.full((n, n), np.inf)
    lengths[graph.rows, graph.indices] = 1 if graph.weights is None else graph.weights
    dist = lengths.copy()
    np.fill_diagonal(dist, 0)
    for v in range(n):
        dist = np.minimum(dist, dist[:, [v]] + dist[[v], :])
    members = np.ones(n) if piece.members is None else piece.members
    paths = np.eye(n)  # from one member to all
    for s in range(n):
        for w in np.argsort(dist[s], kind="stable"):
            tight = dist[s] + lengths[:, w] == dist[s, w]
            if w != s:
                paths[s, w] = members[w] * paths[s, tight].sum()
    sigma = paths / members
    demand = np.outer(piece.sources, piece.targets) / sigma
    np.fill_diagonal(demand, 0)
    scores = np.zeros(n)
    for v in range(n):
        through = np.where(dist[:, [v]] + dist[[v], :] == dist, demand * np.outer(paths[:, v], sigma[v]), 0)
        through[v] = through[:, v] = 0
        scores[v] = through.sum()
    edges = {}
    for u, v in zip(graph.rows.tolist(), graph.indices.tolist(), strict=True):
        on = dist[:, [u]] + lengths[u, v] + dist[[v], :] == dist
        edges[u, v] = np.where(on, demand * np.outer(paths[:, u], sigma[v] * members[v]), 0).sum()
    return scores, np.array([(edges[u, v] + edges[v, u]) / 2 for u, v in edges])


def sums_of(piece, method=BATCHED, **given):
    return sum_chains(contract(piece), method, frozenset({"dependency", "edges"}), **given)


def summed(piece, method=BATCHED):
    return sums_of(piece, method, in_calling_thread=True)


def assert_agree(ours, expected):
    for found, theirs in zip((ours.dependency, ours.edges), expected, strict=True):
        np.testing.assert_allclose(found, theirs, rtol=0, atol=1e-12 * max(1, theirs.max()))
        assert found.min() >= 0


@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "lengths"])
@pytest.mark.parametrize("family", FAMILIES)
def test_small_blocks(family, weighted):
    rng = np.random.default_rng([FAMILIES.index(family), weighted])
    for _ in range(250):
        piece = random_piece(rng, family, weighted)
        assert_agree(summed(piece), plain(piece))


@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "lengths"])
def test_vertices_that_stand_for_several(weighted):
    """They are junctions, wherever they are."""
    rng = np.random.default_rng([5, weighted])
    for _ in range(50):
        for family in FAMILIES:
            piece = random_piece(rng, family, weighted, several=0.15)
            assert_agree(summed(piece), plain(piece))


def test_fractions_as_lengths():
    """Of a power of two, so that sums are exact; few tie."""
    rng = np.random.default_rng(2)
    for _ in range(100):
        n, edges = ears(rng)
        lengths = rng.integers(1, 2**20, len(edges)) / 2**20
        graph = as_graph(symmetric(n, edges, lengths), directed=False, weighted=True)
        piece = Piece(graph, *rng.random((2, n)))
        assert_agree(summed(piece), plain(piece))


def test_by_another_method():
    rng = np.random.default_rng(3)
    for weighted in (False, True):
        for _ in range(20):
            piece = random_piece(rng, ears, weighted)
            assert_agree(summed(piece, ROWS["dijkstra"]), plain(piece))


def interpreted(monkeypatch, module, old="", new=""):
    """Return the module with one place of its source changed, compiled by nothing."""
    source = Path(module.__file__).read_text(encoding="utf-8")
    assert not old or source.count(old) == 1
    source = source.replace("from lagbc.cpu.compile import njit", "def njit(function):\n    return function\n")
    changed = ModuleType(f"changed.{module.__name__}")
    monkeypatch.setitem(sys.modules, changed.__name__, changed)  # where dataclasses look for it
    exec(compile(source.replace(old, new), module.__file__, "exec"), vars(changed))
    return changed


MUTATIONS = {
    "none": (streams, "", ""),
    "a tie is strictly shorter": (streams, "return 2 * (low - first) + (", "return 2 * (low - first) + 2 * ("),
    "a tie in hops is strictly shorter": (streams, "far[v] - near[v] - 1.0, 0.0)", "far[v] - near[v], 0.0) // 2 * 2"),
    "entry at the exit counts twice": (streams, "junction[k] -= demand[k, a]", "pass"),
    "pairs of a chain from both ends": (streams, "if side == 0:", "if True:"),
    "equal parallel chains are one": (chains, "order[parallel & shortest]", "order[parallel & ~parallel]"),
    "a share without the other end's count": (streams, "by_near[v] / (by_near[v] + by_far[v])", "1.0"),
    "a share of an entry without it": (streams, "share = sigma[u] / (sigma[u] + sigma[v])", "share = 1.0"),
    "a share around without it": (within, "1.0 / (1.0 + sigma), sigma / (1.0 + sigma)", "1.0, sigma / (1.0 + sigma)"),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_mutations_are_caught(monkeypatch, name):
    module, old, new = MUTATIONS[name]
    changed = interpreted(monkeypatch, module, old, new)
    if module is chains:
        monkeypatch.setattr(sys.modules[__name__], "contract", changed.contract)
    else:
        made = changed if module is streams else interpreted(monkeypatch, streams)
        if module is within:
            made.sum_within = changed.sum_within
        monkeypatch.setattr(run, "leave", made.leave)
        monkeypatch.setattr(run, "enter", made.enter)
    rng = np.random.default_rng(4)
    wrong = 0
    for _ in range(8):
        for family in FAMILIES:
            for weighted in (False, True):
                piece = random_piece(rng, family, weighted)
                ours, theirs = summed(piece).dependency, plain(piece)[0]
                wrong += not np.allclose(ours, theirs, rtol=0, atol=1e-9)
    assert (wrong == 0) == (name == "none")


def hub(spokes):
    """A ring of junctions, each joined to a hub by a chain: more far ends than are swept at a time."""
    edges = [(v, (v + 1) % spokes) for v in range(spokes)] + [(v, spokes) for v in range(spokes)]
    return symmetric(*grown(spokes + 1, edges, [v % 3 + 1 for v in range(2 * spokes)]))


def grown(n, edges, counts):
    n, edges = subdivided(n, edges, counts)
    return n, edges, np.ones(len(edges))


def largest_block(A):
    vertices = sorted(max(nx.biconnected_components(nx.from_scipy_sparse_array(A)), key=len))
    return sp.csr_array(A)[vertices][:, vertices]


def ones(A):
    return Piece(as_graph(A, directed=False), np.ones(A.shape[0]), np.ones(A.shape[0]))


@pytest.fixture(scope="module")
def power():
    return largest_block(lagbc.read_graph(lagbc.example_path("power")).matrix)


def test_a_hub_of_many_chains():
    A = hub(150)
    contracted = contract(ones(A))
    assert len(contracted.far_ends(np.flatnonzero(contracted.vertices == 150))) == 150
    np.testing.assert_allclose(summed(ones(A)).dependency, 2 * lagbc.bc(A, directed=False, reduce="none"), rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True], ids=["hops", "lengths"])
def test_a_real_block_with_the_same_bits_by_any_threads(power, weighted):
    A = with_lengths(power, [1, 2, 3]).tocsr() if weighted else power
    graph = as_graph(A, directed=False, weighted=weighted)
    piece = Piece(graph, np.ones(graph.n), np.ones(graph.n))
    ours = summed(piece)
    theirs = lagbc.centralities(A, ["bc", "edge_bc"], directed=False, weighted=weighted, reduce="none")
    np.testing.assert_allclose(ours.dependency, 2 * theirs["bc"], rtol=1e-11, atol=1e-6)
    np.testing.assert_allclose(ours.edges, theirs["edge_bc"][graph.rows, graph.indices], rtol=1e-11, atol=1e-6)
    for threads in (1, 2, 3):
        again = sums_of(piece, threads=threads)
        np.testing.assert_array_equal(again.dependency, ours.dependency)
        np.testing.assert_array_equal(again.edges, ours.edges)


def test_work_is_known_before(power):
    contracted = contract(ones(power))
    size = run.group_size(contracted)
    work = contracted.work(size)
    seen = []
    sums_of(ones(power), tell=seen.append)
    assert seen[-1] == work.junctions
    assert seen[:-1] == list(range(size, work.junctions, size))
    degrees = ones(power).graph.out_degrees
    assert work.junctions == (degrees > 2).sum()
    assert work.edges >= degrees[degrees > 2].sum() // 2 - work.junctions
    assert 0 < work.far_columns < work.junctions
    assert work.evaluations > 0


def test_ctrl_c_between_groups(power):
    before = threading.active_count()

    def interrupt(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sums_of(ones(power), threads=2, tell=interrupt)
    assert threading.active_count() == before


def test_memory_that_ends(power, monkeypatch):
    """A second worker that does not fit is done without; the first one is not."""
    made = []

    class Scarce(run._Worker):
        def __init__(self, *arguments):
            made.append(self)
            if len(made) == 2:
                raise MemoryError
            super().__init__(*arguments)

    monkeypatch.setattr(run, "_Worker", Scarce)
    with pytest.warns(lagbc.MemoryWarning, match="threads=1"):
        ours = sums_of(ones(power), threads=2)
    np.testing.assert_array_equal(ours.dependency, summed(ones(power)).dependency)
    made[:] = [None]
    with pytest.raises(MemoryError):
        sums_of(ones(power))


def test_counts_out_of_range():
    ring = 2100
    edges = [(v, (v + 1) % ring) for v in range(ring)] * 2
    A = symmetric(*grown(ring, edges, [1] * len(edges)))
    with pytest.raises(NotContractible, match="path counts"):
        sums_of(ones(A))


@pytest.mark.parametrize("weight", [1e-70, 1e70])
def test_weights_out_of_range(weight):
    piece = ones(hub(5))
    with pytest.raises(NotContractible, match="weights"):
        contract(Piece(piece.graph, piece.sources, np.where(np.arange(piece.graph.n), 1, weight)))


def test_absorbed_lengths():
    n, edges = 4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
    graph = as_graph(symmetric(n, edges, [1e18, 1, 1, 1, 1]), directed=False, weighted=True)
    with pytest.raises(NotContractible, match="length"):
        contract(Piece(graph, np.ones(n), np.ones(n)))


@pytest.mark.parametrize(
    "edges",
    [
        [(0, 1), (1, 2)],
        [(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 0)],
        [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)],
    ],
    ids=["path", "cut vertex", "two cycles"],
)
def test_what_is_no_block(edges):
    n = max(max(edge) for edge in edges) + 1
    with pytest.raises(ValueError, match="2-connected"):
        contract(ones(symmetric(n, edges, np.ones(len(edges)))))


def test_directed_graphs_are_refused():
    graph = as_graph(hub(5))
    with pytest.raises(ValueError, match="undirected"):
        contract(Piece(Graph(*graph.csr[:2], directed=True), np.ones(graph.n), np.ones(graph.n)))
