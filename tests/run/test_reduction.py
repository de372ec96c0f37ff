"""Reduced runs: every argument keeps its meaning, and what a run promises holds for one of several parts."""

import functools

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from chained import hub, ring_of_diamonds, roads, subdivided, symmetric
from killed import Killed, done_in, kill_after
from strategies import scale_free, times
from swept import estimate

import lagbc
from lagbc import tuning
from lagbc.arguments import Arguments, Read
from lagbc.call import sum_call
from lagbc.centrality import compute
from lagbc.reduce.pieces import Chains
from lagbc.reduce.weighted import NotContractible
from lagbc.run.bicomponents import Junctions
from lagbc.run.partial import Checkpoint, PartialFile


@pytest.fixture(params=["at once", "swept"])
def blocks(request, monkeypatch):
    """Blocks are computed at once, as small ones are, or are pieces of a plan, as large ones are."""
    if request.param == "swept":
        monkeypatch.setattr(tuning, "SMALL_VERTICES", 2)
    return request.param


def cactus(rng, blocks=6, largest=7):
    """Cycles, cliques, twins, subdivided and random blocks glued at vertices, with trees, in a random order."""
    edges, n = [], 1
    for _ in range(blocks):
        size = int(rng.integers(2, largest))
        here = np.concatenate([[rng.integers(n)], np.arange(n, n + size - 1)])
        n += size - 1
        pairs = [(i, j) for i in range(size) for j in range(i)]
        kind = rng.integers(5)
        if kind == 0:
            chosen = [(i, (i + 1) % size) for i in range(size)]
        elif kind == 1:
            chosen = pairs
        elif kind == 2:
            chosen = [(i, j) for i, j in pairs if j < 2 <= i]
        elif kind == 3:
            chosen = [(i, int(rng.integers(i))) for i in range(1, size)]
        else:
            chosen = [pair for pair in pairs if rng.random() < 0.6]
        edges += [(here[i], here[j]) for i, j in chosen if i != j]
    n += int(rng.integers(3))
    order = rng.permutation(n)
    rows, columns = order[np.array(edges).T] if edges else np.zeros((2, 0), int)
    return sp.coo_array((rng.integers(1, 4, len(rows)).astype(float), (rows, columns)), shape=(n, n)).tocsr()


def test_chains_stay_where_fewer_roots_than_junctions_are_asked_for(monkeypatch):
    """All junctions would be swept, of which a grid with a chain in the place of each edge has 12 * 12."""
    monkeypatch.setattr(tuning, "SMALL_VERTICES", 2)
    A = roads(12, 1)
    for roots, contracted in ((3, False), (300, True)):
        sources, calls = np.arange(roots), []
        monkeypatch.setattr(compute, "sum_call", lambda call, calls=calls: calls.append(call) or sum_call(call))
        found = lagbc.bc(A, directed=False, sources=sources, reduce="all", device="cpu")
        np.testing.assert_allclose(found, lagbc.bc(A, directed=False, sources=sources, reduce="none"), rtol=1e-12)
        assert any(isinstance(piece, Chains) for piece in calls[0].reduced.pieces) == contracted


def arguments_of(rng, n):
    """Each argument, and pairs of those that go together."""
    some = rng.permutation(n)[: n // 2 + 1]
    weights = rng.random(n) * (rng.random(n) < 0.7)
    return [
        *({}, {"sources": some}, {"targets": some}, {"sources": some, "targets": some[::2]}, {"normalized": True}),
        *({"endpoints": True}, {"endpoints": True, "sources": some}, {"k": n // 2 + 2, "rng": 1}),
        {"endpoints": True, "normalized": True, "k": n // 2 + 2, "rng": 1},
        *({"source_weights": weights}, {"target_weights": rng.random(n), "source_weights": weights}),
        {"sources": some, "target_weights": weights},
    ]


@pytest.mark.parametrize("seed", range(times(4)))
def test_arguments_keep_their_meaning(blocks, seed, directed, weighted):
    rng = np.random.default_rng(seed)
    A = cactus(rng, blocks=3 + 2 * seed, largest=8)
    for given in arguments_of(rng, A.shape[0]):
        for call in (lagbc.bc, lagbc.edge_bc)[: 1 + ("endpoints" not in given)]:
            of = functools.partial(call, A, directed=directed, weighted=weighted, device="cpu", **given)
            reduced, plain = array(of(reduce="all")), array(of(reduce="none"))
            np.testing.assert_allclose(reduced, plain, rtol=1e-12, atol=1e-12 * plain.max(initial=0))


def array(scores):
    return scores.toarray() if sp.issparse(scores) else scores


def winding_roads(side):
    """A grid, each of whose edges has up to four vertices inside, with a leaf at some vertices; in a random order."""
    rng = np.random.default_rng(1)
    edges = list(nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side)).edges)
    n, edges = subdivided(side * side, edges, rng.integers(5, size=len(edges)))
    leaves = range(n, n + side)
    edges += zip(rng.integers(n, size=side), leaves, strict=True)
    return symmetric(n + side, rng.permutation(n + side)[edges], np.ones(len(edges)))


ROADS = winding_roads(12)
REDUCED = {"directed": False, "device": "cpu", "reduce": "all"}


def test_chains_and_small_blocks_are_said():
    reason = lagbc.plan(ROADS, **REDUCED).reason
    assert f"{ROADS.shape[0]:,} vertices -> 1 large block" in reason
    assert "% of the work" in reason
    assert "junctions by batched on cpu" in reason
    assert "%" not in lagbc.plan(ROADS, **REDUCED | {"reduce": "none"}).reason
    with pytest.raises(ValueError, match="method='dijkstra' takes lengths: pass weighted=True"):
        lagbc.bc(ROADS, method="dijkstra", **REDUCED)  # junctions have lengths, the graph has none


def test_bits_depend_neither_on_threads_nor_on_the_batch(monkeypatch):
    monkeypatch.setattr(tuning, "SMALL_VERTICES", 2)
    for A in (ROADS, cactus(np.random.default_rng(3), blocks=40, largest=20)):
        for directed in (False, True):
            given = REDUCED | {"directed": directed}
            expected = lagbc.bc(A, threads=1, **given)
            for batch, threads in ((64, 2), (128, 1), (1, 3)):
                np.testing.assert_array_equal(lagbc.bc(A, batch=batch, threads=threads, **given), expected)


@pytest.mark.parametrize("function", [lagbc.bc, lagbc.edge_bc])
def test_resume(monkeypatch, tmp_path, function):
    """Runs of several parts, one of them of junctions, go on to the same bits wherever they were killed."""
    monkeypatch.setattr(tuning, "SMALL_VERTICES", 30)
    monkeypatch.setattr("lagbc.reduce.chains.GROUP", 64)
    clique = sp.coo_array(np.triu(np.ones((90, 90)), 1) * (np.random.default_rng(0).random((90, 90)) < 0.3))
    A = sp.block_diag([clique, ROADS, clique]).tocsr()
    given = REDUCED | {"threads": 1}
    expected, file = array(function(A, **given)), tmp_path / "run"
    done = [0]
    for calls in (1, 2, 1, 2):
        with pytest.raises(Killed):
            function(A, checkpoint=file, progress=kill_after(calls), **given)
        done.append(done_in(file))
        assert done[-1] > done[-2]
    np.testing.assert_array_equal(array(function(A, checkpoint=file, **given)), expected)
    told = []
    np.testing.assert_array_equal(array(function(A, checkpoint=file, progress=told.append, **given)), expected)
    assert not told
    with pytest.raises(lagbc.CheckpointError, match="belongs to"):
        function(A, checkpoint=file, **given | {"reduce": "none"})


@pytest.mark.parametrize("function", [lagbc.bc, lagbc.edge_bc])
def test_small_blocks_go_on(monkeypatch, tmp_path, function):
    """They are a work of their own, whose slices count as done, and end with the same bits."""
    monkeypatch.setattr(tuning, "SLICE_WORK", 2**16)
    A, file = sp.block_diag([scale_free(70, 400, seed=seed) for seed in range(9)]), tmp_path / "run"
    done, labels = [], []
    expected = function(A, **REDUCED)
    for calls in (1, 2, 1):
        with pytest.raises(Killed):
            function(A, checkpoint=file, progress=kill_after(calls), threads=2, **REDUCED)
        with PartialFile(file) as held:
            labels.append(held.head["labels"])
            done.append(held.array("done", dtype=np.int64).tolist())
    assert labels == [["small work-efficient cpu"]] * 3
    assert done == [[1], [3], [4]]
    with monkeypatch.context() as patch:
        patch.setattr(tuning, "SLICE_WORK", 2**17)
        with pytest.raises(lagbc.CheckpointError, match="belongs to another version's order of the roots"):
            function(A, checkpoint=file, **REDUCED)
    assert not (function(A, checkpoint=file, threads=2, **REDUCED) != expected).sum()


def test_chains_that_cannot_be_contracted_drop_their_own_sums(monkeypatch, tmp_path):
    """Of two blocks with chains the second meets counts out of range: what the first one sums to is kept."""
    monkeypatch.setattr(tuning, "SMALL_VERTICES", 2)
    A = sp.block_diag([hub(300), hub(200)]).tocsr()
    given = {"device": "cpu", "reduce": "all", "threads": 1}
    expected = lagbc.bc(A, directed=False, reduce="none", device="cpu")
    call = compute.plan_call(A, "bc", "auto", Read(directed=False), given, Arguments())
    assert call.plan.labels == ["chains batched cpu"] * 2
    opened, kept = Junctions.open, []

    def fail_on_the_second(self, stop):
        if self.graph.n == call.reduced.pieces[1].graph.n:
            raise NotContractible("counts")
        return opened(self, stop)

    def begin(self, works, totals, begin=Checkpoint.begin):
        totals = begin(self, works, totals)
        kept.append([total.done for total in totals])
        return totals

    monkeypatch.setattr(Junctions, "open", fail_on_the_second)
    monkeypatch.setattr(Checkpoint, "begin", begin)
    file, progress = tmp_path / "run", []
    scores = lagbc.bc(A, directed=False, checkpoint=file, progress=progress.append, **given)
    np.testing.assert_allclose(scores, expected, rtol=1e-9)
    assert kept == [[0, 0], [len(call.reduced.pieces[0].contracted.roots), 0]]
    assert all(at.done <= at.total and at.share <= 1 for at in progress)
    assert progress[-1].done == progress[-1].total
    assert progress[-1].share == pytest.approx(1)
    with PartialFile(file) as held:
        assert held.head["labels"] == ["chains batched cpu", "roots batched cpu"]
    np.testing.assert_array_equal(lagbc.bc(A, directed=False, checkpoint=file, **given), scores)


def test_a_checkpoint_of_chains_is_refused_by_what_only_their_insides_tell(tmp_path):
    """The graph of junctions is the same whatever vertices inside chains weigh, and wherever they lie on them."""
    A, file = ROADS.copy(), tmp_path / "run"
    n = A.shape[0]
    given = REDUCED | {"weighted": True, "checkpoint": file}
    A.data[:] = 2.0
    lagbc.bc(A, **given)
    weights = np.ones(n)
    weights[: n // 3] = 0
    for other in ({"targets": [1, 2, 3]}, {"target_weights": weights}, {"source_weights": weights}):
        with pytest.raises(lagbc.CheckpointError, match="belongs to other options"):
            lagbc.bc(A, **given, **other)
    inner = np.flatnonzero(np.diff(A.indptr) == 2)[0]
    one, two = A.indices[A.indptr[inner] : A.indptr[inner + 1]]
    for neighbour, length in ((one, 1.0), (two, 3.0)):
        A[inner, neighbour] = A[neighbour, inner] = length
    with pytest.raises(lagbc.CheckpointError, match="belongs to another graph"):
        lagbc.bc(A, **given)


def test_progress_is_in_shares_of_the_work():
    told = []
    lagbc.bc(ROADS, progress=told.append, **REDUCED)
    shares = [progress.share for progress in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert told[-1].done == told[-1].total < ROADS.shape[0]


TREE = sp.csr_array((np.ones(400), (np.arange(1, 401), np.arange(400) // 3)), shape=(401, 401))


def test_nothing_is_left_of_a_tree(tmp_path):
    expected = lagbc.bc(TREE, directed=False, reduce="none")
    given = {"directed": False, "reduce": "all", "checkpoint": tmp_path / "run", "progress": True}
    np.testing.assert_allclose(lagbc.bc(TREE, **given), expected, rtol=1e-12)
    assert "no large block" in lagbc.plan(TREE, directed=False, reduce="all").reason


def test_counts_too_large_for_chains(tmp_path):
    """The block is swept as it is, with an extended exponent."""
    ring = ring_of_diamonds()
    some = {"sources": np.arange(0, 3090, 971)}
    assert "junctions" in lagbc.plan(ring, which="edge_bc", **REDUCED).reason
    plain = lagbc.bc(ring, directed=False, device="cpu", reduce="none", **some)
    np.testing.assert_allclose(lagbc.bc(ring, **REDUCED, **some), plain, rtol=1e-12)
    plain = lagbc.edge_bc(ring, directed=False, device="cpu", reduce="none", **some).toarray()
    link, file = tmp_path / "link", tmp_path / "file"
    link.symlink_to(file)
    for _ in ("from the start", "from the file"):
        np.testing.assert_allclose(lagbc.edge_bc(ring, checkpoint=link, **REDUCED, **some).toarray(), plain, rtol=1e-12)
        assert link.is_symlink()
        assert done_in(file) > 0


@pytest.mark.parametrize("which", ["closeness", "harmonic", "stress", "eccentricity", ["bc", "closeness"]], ids=str)
def test_other_sums_are_swept(which):
    """Several take what all of them allow."""
    swept, plain = (lagbc.centralities(ROADS, which, **REDUCED | {"reduce": how}) for how in ("all", "none"))
    for name, scores in plain.items():
        np.testing.assert_array_equal(swept[name], scores)


def test_scores_beside_those_of_edges():
    both = lagbc.centralities(ROADS, ["bc", "edge_bc"], **REDUCED)
    np.testing.assert_allclose(both["bc"], lagbc.bc(ROADS, **REDUCED | {"reduce": "none"}), rtol=1e-12, atol=1e-9)


def test_auto_leaves_small_runs_and_what_has_no_structure():
    assert "% of the work" not in lagbc.plan(ROADS, directed=False, k=100, device="cpu").reason
    assert "% of the work" in lagbc.plan(ROADS, directed=False, device="cpu").reason
    mesh = sp.random_array((400, 400), density=0.05, rng=np.random.default_rng(1))
    assert "% of the work" not in lagbc.plan(mesh, directed=False, device="cpu").reason


def test_memory_of_a_reduced_run():
    needed = estimate(ROADS, **REDUCED)
    assert needed.workspace > 0
    assert needed.graph > 0
    with pytest.raises(MemoryError, match="the budget is"):
        lagbc.bc(ROADS, memory=needed.graph, **REDUCED)
    lagbc.bc(ROADS, memory=needed.total, **REDUCED)


def test_what_is_too_large_to_take_apart(monkeypatch):
    """It is swept as it is, if that fits into the memory that is stated; with "all" it is an error."""
    options = {"directed": False, "device": "cpu", "threads": 1}
    assert "% of the work" in lagbc.plan(ROADS, **options).reason
    monkeypatch.setattr("lagbc.reduce.blocks._DECOMPOSED_BYTES", 10**6)
    needed = estimate(ROADS, reduce="none", **options).total
    assert "% of the work" in lagbc.plan(ROADS, **options).reason
    assert "% of the work" not in lagbc.plan(ROADS, memory=needed, **options).reason
    assert estimate(ROADS, reduce="all", **options).total > 10**6 * ROADS.shape[0]
    with pytest.raises(MemoryError, match=r"reduce='all' needs up to .* but the budget is .* memory= .* reduce='none'"):
        lagbc.bc(ROADS, memory=needed, reduce="all", **options)


def test_what_takes_too_long_to_take_apart_is_swept(monkeypatch):
    """A directed graph whose cut vertices each reach much that is their own."""
    tails, heads = np.sort(np.random.default_rng(2).integers(300, size=(2, 1500)), axis=0)
    hung = np.arange(300)
    A = sp.coo_array((np.ones(1800), (np.r_[tails, hung], np.r_[heads, hung + 300])), shape=(600, 600)).tocsr()
    given = {"device": "cpu", "reduce": "all"}
    expected = lagbc.bc(A, device="cpu", reduce="none")
    np.testing.assert_allclose(lagbc.bc(A, **given), expected, rtol=1e-12)
    assert "% of the work" in lagbc.plan(A, **given).reason
    monkeypatch.setattr(tuning, "MOST_STEPS", 0)
    monkeypatch.setattr(tuning, "FEW_STEPS", 0)
    assert "% of the work" not in lagbc.plan(A, **given).reason
    np.testing.assert_array_equal(lagbc.bc(A, **given), expected)


def test_options_that_mean_nothing_are_refused_whatever_is_left():
    for A in (TREE, ROADS):
        for reduce in ("none", "all"):
            with pytest.raises(ValueError, match="means nothing to batched on cpu"):
                lagbc.bc(A, method="batched", **REDUCED | {"reduce": reduce}, bucket_width=2.0)
