"""Vertices that stand for several members: the sums are those of the graph in which the members are vertices."""

import functools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from states import prepare
from strategies import both_ways, complete_bipartite, diamonds, grid, matrix, path, scale_free, times, with_lengths
from swept import summed

import lagbc
from lagbc import reference, tuning
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.cpu import extended
from lagbc.methods.sums import Sums

ASKED = frozenset({"dependency", "edges"})
ROWS = [row for row in lagbc.METHODS if row.device == "cpu" and not row.requires]


@pytest.fixture(params=ROWS, ids=lambda row: f"{row.name}-{'lengths' if row.weighted else 'hops'}")
def row(request):
    return request.param


def random_graph(rng, *, weighted):
    """Up to seven vertices, directed or not, with weights of them that are zero at times."""
    n, directed = int(rng.integers(1, 8)), bool(rng.integers(2))
    edges = rng.integers(0, n, (int(rng.integers(0, 3 * n)), 2))
    A = with_lengths(matrix(n, edges) if directed else both_ways(n, edges.tolist()), [1, 2, 3], int(rng.integers(99)))
    graph = as_graph(A, directed=directed, weighted=weighted)
    return graph, rng.integers(1, 4, n) * 1.0, *(rng.integers(0, 4, (2, n)) / 2)


def blow_up(graph, members):
    """Replace a vertex by its members: CSR lists, the vertex of each member, and the edge that each edge is of."""
    of_member = np.repeat(np.arange(graph.n), members.astype(int)).tolist()
    first = np.append(0, np.cumsum(members)).astype(int).tolist()
    indptr, indices, of_edge = [0], [], []
    for v in of_member:
        for e in range(graph.indptr[v], graph.indptr[v + 1]):
            w = graph.indices[e]
            indices += range(first[w], first[w + 1])
            of_edge += [e] * int(members[w])
        indptr.append(len(indices))
    weights = None if graph.weights is None else graph.weights[of_edge].tolist()
    return (indptr, indices, weights), of_member, of_edge, first[:-1]


def expected(graph, members, root_weights, omega, number=Fraction, roots=None):
    """Dependency and edges of the blow-up; `omega` has a row for each root. Pairs of members of a vertex are left out.

    All of a vertex's weight is at its first member, as a path starts and ends at one of them, whichever.
    """
    arrays, of_member, of_edge, first = blow_up(graph, members)
    vertices, edges = np.zeros(graph.n), np.zeros(graph.nnz)
    for root in range(graph.n) if roots is None else roots:
        weights = np.zeros(len(of_member))
        weights[first] = omega[root]
        weights[first[root]] = 0
        given = {"sources": [first[root]], "target_weights": weights.tolist(), "number": number}
        delta = np.array(reference.brandes(*arrays, **given), float)
        np.add.at(vertices, of_member, root_weights[root] * delta)
        np.add.at(edges, of_edge, root_weights[root] * np.array(reference.edge_scores(*arrays, **given), float))
    return vertices, edges


def plan_of(members, root_weights, omega, sums=ASKED):
    return SweepPlan(batch=64, omega=omega, root_weights=root_weights, class_sizes=members, sums=sums)


def assert_near(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12 * max(1, np.abs(theirs).max(initial=0)))


def test_sums_are_those_of_the_blow_up(row):
    rng = np.random.default_rng(1)
    for _ in range(times(80)):
        graph, members, root_weights, omega = random_graph(rng, weighted=row.weighted)
        vertices, edges = expected(graph, members, root_weights, np.tile(omega, (graph.n, 1)))
        ours = summed(graph, np.arange(graph.n), row, plan_of(members, root_weights, omega))
        assert_near(ours.dependency, vertices)
        assert_near(ours.edges, edges)


def test_single_roots_with_extended_exponents():
    rng = np.random.default_rng(2)
    for trial in range(times(80)):
        graph, members, root_weights, omega = random_graph(rng, weighted=trial % 2 == 1)
        vertices, edges = expected(graph, members, root_weights, np.tile(omega, (graph.n, 1)))
        sums = Sums.zeros_of_batch(np, ASKED, graph.n, graph.nnz, 1, graph.n)
        for root in range(graph.n):
            extended.add_root(graph, plan_of(members, root_weights, omega), root, sums, 0, root)
        assert_near(sums.dependency[0], vertices)
        assert_near(sums.edges[0], edges)


def test_target_weights_of_each_column(row):
    rng, module = np.random.default_rng(3), row.load()
    for _ in range(times(40)):
        graph, members, root_weights, _ = random_graph(rng, weighted=row.weighted)
        omega = rng.integers(0, 4, (graph.n, graph.n)) / 2  # by root
        plan = plan_of(members, root_weights, None)
        state, sums = prepare(module, graph, plan), Sums.zeros_of_batch(np, ASKED, graph.n, graph.nnz, 1, graph.n)
        for levels in module.forward(state, np.arange(graph.n)):
            module.backward(state, levels, sums, omega.T[graph.order])
        vertices, edges = expected(graph, members, root_weights, omega)
        assert_near(sums.dependency[0], vertices)
        assert_near(sums.edges[0], edges)


def test_path_counts_are_those_to_all_members_and_one_to_the_root(row):
    """Scores alone would not tell how many paths lead to the root: all counts are in proportion to that."""
    rng, module = np.random.default_rng(5), row.load()
    for _ in range(50):
        graph, members, _, _ = random_graph(rng, weighted=row.weighted)
        arrays, of_member, _, first = blow_up(graph, members)
        state = prepare(module, graph, SweepPlan(batch=64, class_sizes=members))
        (levels,) = module.forward(state, np.arange(graph.n))
        _, sigma = module.paths(state, levels)
        for root in range(graph.n):
            counts = np.bincount(of_member, reference._search(*arrays, first[root])[2], graph.n)
            counts[root] = 1
            np.testing.assert_array_equal(sigma[graph.position, root], counts)


def diamonds_with_members(count):
    """Chain of diamonds whose middles stand for 1 and for 3: four ways from joint to joint."""
    A = sp.csr_array(diamonds(count, 2))
    members = np.ones(A.shape[0])
    members[2::3] = 3
    return A, members


ROOTS_OF_DIAMONDS = np.r_[0, 2, 900]


@functools.cache
def expected_of_diamonds(symmetric):
    """Dependency and edges of 600 diamonds, in hops, which lengths of one are, too."""
    A, members = diamonds_with_members(600)
    graph = as_graph(A, directed=not symmetric)
    omega = 1.0 + np.arange(graph.n) % 3
    all_alike = np.full(graph.n, 0.5), np.broadcast_to(omega, (graph.n, graph.n))
    return expected(graph, members, *all_alike, roots=ROOTS_OF_DIAMONDS)


@pytest.mark.parametrize("symmetric", [False, True])
def test_counts_past_the_range_of_float64(row, symmetric):
    """4**600 paths, 3 of 4 across each diamond by the middle that stands for three."""
    A, members = diamonds_with_members(600)
    graph = as_graph(A, directed=not symmetric, weighted=row.weighted)
    root_weights = np.isin(np.arange(graph.n), ROOTS_OF_DIAMONDS) * 0.5
    plan = plan_of(members, root_weights, 1.0 + np.arange(graph.n) % 3)
    sums = summed(graph, ROOTS_OF_DIAMONDS, row, plan, ordered=ROOTS_OF_DIAMONDS)
    vertices, edges = expected_of_diamonds(symmetric)
    assert_near(sums.dependency, vertices)
    assert_near(sums.edges, edges)


def test_overflow_is_of_the_paths_to_all_members(row):
    """2**1021 paths to each of 4 members of the last vertex are more than may be; to one of them they are not."""
    A = sp.csr_array(diamonds(1021, 2))
    graph, module = as_graph(A, weighted=row.weighted), row.load()
    for count in (1.0, 4.0):
        members = np.ones(graph.n)
        members[-1] = count
        state = prepare(module, graph, SweepPlan(batch=64, class_sizes=members))
        (levels,) = module.forward(state, np.array([0]))
        assert levels.overflowed.tolist() == [count > 1]


def test_one_member_each_is_none_to_the_bit(row):
    A = with_lengths(scale_free(400, 3000, seed=4), [1, 2, 3])
    graph = as_graph(A, directed=False, weighted=row.weighted)
    plan = SweepPlan(batch=64, sums=ASKED)
    ours = summed(graph, np.arange(graph.n), row, replace(plan, class_sizes=np.ones(graph.n)))
    theirs = summed(graph, np.arange(graph.n), row, plan)
    for name, array in theirs:
        np.testing.assert_array_equal(getattr(ours, name), array)


def test_same_bits_whatever_threads_and_batch(row):
    graph = as_graph(with_lengths(grid(17, 23), [1, 2]), directed=False, weighted=row.weighted)
    plan = SweepPlan(batch=64, sums=ASKED, class_sizes=1.0 + np.arange(graph.n) % 3)
    expected, batch = summed(graph, np.arange(graph.n), row, plan), row.load().batching.round(192)
    for name, array in summed(graph, np.arange(graph.n), row, replace(plan, threads=3, batch=batch)):
        np.testing.assert_array_equal(array, getattr(expected, name))


@pytest.mark.parametrize("asked", [{"sums": ASKED | {"stress"}}, {"endpoints": True}, {"dtype": "float32"}])
def test_what_is_not_summed_with_members(asked):
    message = r"(stress|endpoints|float32): not made where vertices stand for several members"
    with pytest.raises(ValueError, match=message):
        SweepPlan(batch=64, class_sizes=np.ones(3), **asked)


def test_a_method_that_does_not_read_members_refuses_them():
    pytest.importorskip("graphblas")
    (row,) = (row for row in lagbc.METHODS if row.name == "graphblas" and not row.weighted)
    with pytest.raises(NotImplementedError, match="graphblas on cpu takes no vertices that stand for several"):
        summed(as_graph(path(5)), np.arange(5), row, SweepPlan(batch=64, class_sizes=np.ones(5)))


def test_a_checkpoint_belongs_to_members(row, tmp_path, monkeypatch):
    monkeypatch.setattr(tuning, "SMALL_VERTICES", 2)
    how = {"method": row.name, "device": "cpu", "weighted": row.weighted, "directed": False}
    A = complete_bipartite(3, 4)
    scores = lagbc.bc(A, reduce="all", checkpoint=tmp_path / "run", **how)
    with pytest.raises(lagbc.CheckpointError, match="belongs to "):
        lagbc.bc(A, reduce="none", checkpoint=tmp_path / "run", **how)
    np.testing.assert_array_equal(lagbc.bc(A, reduce="all", checkpoint=tmp_path / "run", **how), scores)
