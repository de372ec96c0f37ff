"""Chains contracted on the GPU: against sums over pairs, against the CPU, and in groups of several sizes."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from batches import peak_of
from chained import FAMILIES, assert_agree, grown, hub, junctions, ones, plain, random_piece, sums_of, symmetric
from killed import Killed, done_in, stop
from strategies import with_lengths
from swept import assert_same_sums

import lagbc
from lagbc import tuning
from lagbc.graph.validate import as_graph
from lagbc.limits import Room
from lagbc.planning.sweep import memory_of
from lagbc.reduce.weighted import NotContractible, Weighted
from lagbc.run.run import sum_piece
from lagbc.run.work import inline

(DELTA,) = (row for row in lagbc.METHODS if row.name == "delta-stepping")
(CPU,) = (row for row in lagbc.METHODS if row.key == ("batched", "cpu", True))


def assert_near(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12 * theirs.max())


def roads(side, weighted):
    """A grid with up to five vertices on each of its edges, and weights that are not summed exactly."""
    rng = np.random.default_rng(side)
    edges = list(nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side)).edges)
    n, edges, lengths = grown(side * side, edges, rng.integers(0, 6, len(edges)))
    lengths = rng.integers(1, 4, len(edges)) if weighted else lengths
    graph = as_graph(symmetric(n, edges, lengths), directed=False, weighted=weighted)
    return Weighted(graph, *rng.random((2, n)))


@pytest.mark.parametrize("several", [0.0, 0.15], ids=["", "members"])
def test_small_blocks(cupy, weighted, several):
    if several and "class_sizes" not in DELTA.options:
        pytest.skip("delta-stepping on the GPU takes no vertices that stand for several")
    rng = np.random.default_rng([8, weighted, several > 0])
    for _ in range(3):
        for family in FAMILIES:
            piece = random_piece(rng, family, weighted, several)
            assert_agree(sums_of(piece, DELTA), plain(piece))


def test_roads_in_groups_of_several_sizes(cupy, weighted):
    piece = roads(28, weighted)  # 784 junctions, some of which are inside
    whole = sums_of(piece, DELTA)
    for size in (256, 512):
        assert_same_sums(sums_of(piece, DELTA, size=size), whole)
    theirs = sums_of(piece, CPU)
    assert_near(whole.dependency, theirs.dependency)
    assert_near(whole.edges, theirs.edges)


def test_a_hub_of_many_chains(cupy):
    """Its far ends are searched in several batches."""
    piece = ones(hub(600))
    ours, theirs = sums_of(piece, DELTA, size=256), sums_of(piece, CPU)
    np.testing.assert_allclose(ours.dependency, theirs.dependency, rtol=1e-11)


@pytest.fixture
def power(monkeypatch):
    """With a price of chains by which its own are contracted, though that is slower."""
    cost = {"pair": 0.0, "pair_edge": 3.0, "evaluation": 0.2}
    for weighted in (False, True):
        monkeypatch.setitem(tuning.JUNCTION_COSTS, ("cuda", weighted), cost)
    monkeypatch.setitem(tuning.FEW_LEVELS, "cuda", 1.0)
    return lagbc.read_graph(lagbc.example_path("power")).matrix


GIVEN = {"directed": False, "device": "cuda", "reduce": "all"}


def test_calls(cupy, power, weighted):
    """Whole calls, of any batch, on either device's matrix, give what whole graphs do."""
    A = with_lengths(power, [1, 2, 3]).tocsr() if weighted else sp.csr_array(power)
    given = GIVEN | {"weighted": weighted}
    assert "junctions by delta-stepping on cuda" in lagbc.plan(A, **given).reason
    theirs = lagbc.bc(A, **given | {"reduce": "none"})
    ours = lagbc.bc(A, **given)
    assert_near(ours, theirs)
    for batch in (256, 1024):
        np.testing.assert_array_equal(lagbc.bc(A, batch=batch, **given), ours)
    assert_near(*(lagbc.edge_bc(A, **given | {"reduce": reduce}).toarray() for reduce in ("all", "none")))


def test_resume(cupy, power, tmp_path):
    """A killed run goes on to the same bits, in groups of another size."""
    expected, file = lagbc.bc(power, **GIVEN), tmp_path / "run"
    with pytest.raises(Killed):
        lagbc.bc(power, batch=256, checkpoint=file, progress=stop, **GIVEN)
    assert done_in(file) > 0
    np.testing.assert_array_equal(lagbc.bc(power, batch=512, checkpoint=file, **GIVEN), expected)


def test_counts_out_of_range(cupy):
    ring = 2100
    edges = [(v, (v + 1) % ring) for v in range(ring)] * 2
    with pytest.raises(NotContractible, match="path counts"):
        sums_of(ones(symmetric(*grown(ring, edges, [1] * len(edges)))), DELTA)


def test_memory_is_what_was_estimated(cupy):
    piece, whole = junctions(roads(40, False), DELTA)
    for size in (512, whole.batch):
        sweep = whole._replace(batch=size)
        needed = memory_of(piece, sweep)
        with peak_of(cupy) as peak:
            sum_piece(piece, sweep, Room(), carry=inline)
        assert peak.bytes <= needed.total
