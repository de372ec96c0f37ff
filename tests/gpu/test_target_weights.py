"""Target weights by vertex and column, and the distances and path counts that a step may read before it gives them."""

import numpy as np
import pytest
from batches import sweep
from strategies import UNLIKE, adjacency, diamonds, disjoint, grid, layered, matrix, path, scale_free

import lagbc
from lagbc import reference
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import Sums

GRAPHS = {
    "scale-free": scale_free(400, 2500, seed=1),
    "mesh": grid(13, 24),
    "parts": disjoint(path(90), grid(6, 7), scale_free(120, 600, seed=4), matrix(3, []), layered(5, 9)),
}
WEIGHTED = frozenset({"dependency", "stress", "edges"})


@pytest.fixture(scope="module")
def hops(cupy):
    """The module of method "batched"."""
    return next(row for row in lagbc.METHODS if (row.name, row.device) == ("batched", "cuda")).load()


@pytest.fixture(params=["launch per level", "one launch"])
def way(request, monkeypatch):
    """Sweep every graph in one of the ways."""
    monkeypatch.setattr(Graph, "has_high_diameter", property(lambda graph: request.param == "one launch"))
    return request.param


def prepared(hops, A, *, batch=512, directed=True, dtype="float64", sums=WEIGHTED):
    graph = as_graph(A, directed=directed)
    return graph, hops.prepare(graph, SweepPlan(batch=batch, dtype=dtype, sums=sums))


def weighted_sums(hops, cupy, state, graph, roots, omega):
    """Add what the roots sum to where each has targets of its own, omega[v, i] for roots[i]."""
    sums = Sums.zeros_of_batch(cupy, state.plan.sums, graph.n, graph.nnz, -(-len(roots) // 256), len(roots))
    rows = state.rows.order.get()
    for levels in hops.forward(state, roots):
        hops.backward(state, levels, sums, cupy.asarray(omega[rows][:, levels.places]))
    return sums


def by_the_oracle(A, roots, omega, directed):
    """Raw sums, a root at a time, of the columns that have targets."""
    edges = adjacency(A, directed=directed)
    total = {"dependency": 0.0, "stress": 0.0, "edges": 0.0}
    functions = {"dependency": reference.brandes, "stress": reference.stress, "edges": reference.edge_scores}
    for column in np.flatnonzero(omega.any(axis=0)):
        for name, function in functions.items():
            part = function(*edges, sources=[int(roots[column])], target_weights=omega[:, column].tolist())
            total[name] = total[name] + np.array(part, float)
    return total


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", GRAPHS)
def test_targets_by_column(hops, cupy, way, name, directed, dtype):
    """Several groups, the last one ragged; some targets, and all of most columns, count nothing."""
    A = GRAPHS[name]
    names = WEIGHTED if dtype == "float64" else WEIGHTED - {"stress"}
    graph, state = prepared(hops, A, directed=directed, dtype=dtype, sums=names)
    roots = np.random.default_rng(1).permutation(graph.n)[:300]
    omega = np.zeros((graph.n, len(roots)))
    some = [0, 1, 100, 254, 255, 256, 257, 299]
    omega[:, some] = np.random.default_rng(2).integers(0, 5, (graph.n, len(some))) / 2
    ours = weighted_sums(hops, cupy, state, graph, roots, omega)
    theirs = by_the_oracle(A, roots, omega, directed)
    tolerance = 1e-12 if dtype == "float64" else 3e-5
    assert state.way == way
    for sum_name, array in ours:
        expected = theirs[sum_name]
        np.testing.assert_allclose(array.sum(axis=0).get(), expected, rtol=tolerance, atol=tolerance, err_msg=sum_name)


def test_columns_of_groups_that_come_apart(hops, cupy):
    graph, state = prepared(hops, UNLIKE, batch=768, sums=frozenset({"dependency"}))
    groups = np.split(graph.order[:768], 3)
    roots = np.concatenate([groups[2], groups[0]])
    omega = np.random.default_rng(2).integers(0, 5, (graph.n, len(roots))) / 2
    ours = weighted_sums(hops, cupy, state, graph, roots, omega).dependency
    for row, part in enumerate((slice(0, 256), slice(256, 512))):
        fresh = prepared(hops, UNLIKE, sums=frozenset({"dependency"}))[1]
        alone = weighted_sums(hops, cupy, fresh, graph, roots[part], omega[:, part]).dependency
        np.testing.assert_array_equal(ours[row].get(), alone[0].get())


def test_equal_targets_are_those_of_the_plan(hops, cupy, way):
    """To the bit."""
    A = GRAPHS["scale-free"]
    omega = np.random.default_rng(3).integers(0, 5, A.shape[0]) / 2
    graph, state = prepared(hops, A, sums=frozenset({"dependency"}))
    roots = np.arange(300)
    ours = weighted_sums(hops, cupy, state, graph, roots, np.repeat(omega[:, None], 300, axis=1)).dependency
    plan = SweepPlan(batch=512, omega=omega)
    theirs = Sums(dependency=cupy.zeros((2, graph.n)))
    sweep(hops, hops.prepare(graph, plan), roots, theirs)
    np.testing.assert_array_equal(ours.get(), theirs.dependency.get())


def test_targets_of_a_column_may_be_of_any_size(hops, cupy, way):
    """Up to 2**500 paths: a tiny weight over them is no normal number, and a huge one times them none at all."""
    A = diamonds(500, 2)
    graph, state = prepared(hops, A, sums=frozenset({"dependency"}))
    roots = np.array([0, 3, 6, 9, 12])
    weights = np.random.default_rng(1).integers(0, 5, (graph.n, len(roots))) * [1e-250, 1e-307, 1.0, 1e300, 0.0]
    for column in range(len(roots)):
        own = np.where(np.arange(len(roots)) == column, weights, 0.0)
        ours = weighted_sums(hops, cupy, state, graph, roots, own).dependency[0].get()
        theirs = by_the_oracle(A, roots, own, True)["dependency"]
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_targets_that_are_too_far_apart(hops, cupy):
    graph, state = prepared(hops, GRAPHS["mesh"], sums=frozenset({"dependency"}))
    (levels,) = hops.forward(state, np.arange(9))
    omega = cupy.ones((graph.n, 9))
    omega[:2, 1] = cupy.asarray([1e-300, 1e300])
    with pytest.raises(OverflowError, match=r"column 1 are from 1e-300 to 1e\+300"):
        hops.backward(state, levels, Sums(dependency=cupy.zeros((1, graph.n))), omega)


def test_shape_is_checked(hops, cupy):
    graph, state = prepared(hops, GRAPHS["mesh"], sums=frozenset({"dependency"}))
    (levels,) = hops.forward(state, np.arange(9))
    with pytest.raises(ValueError, match=rf"omega has shape \({graph.n}, 8\); .* \({graph.n}, 9\)"):
        hops.backward(state, levels, Sums(dependency=cupy.zeros((1, graph.n))), cupy.ones((graph.n, 8)))


def test_other_methods_take_none(cupy):
    for row in lagbc.METHODS:
        if row.device == "cuda" and row.name != "batched":
            with pytest.raises(NotImplementedError):
                row.load().backward(None, None, None, omega=cupy.ones((1, 1)))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", GRAPHS)
def test_paths(hops, way, name, dtype):
    """After a first batch and after one that finds the arrays used."""
    A = GRAPHS[name]
    _, state = prepared(hops, A, dtype=dtype, sums=frozenset({"dependency"}))
    order = state.rows.order.get()
    for roots in (np.arange(300)[::-1], np.arange(5, 40)):
        (levels,) = hops.forward(state, roots)
        dist, sigma = (part.get() for part in hops.paths(state, levels))
        assert dist.shape == sigma.shape == (len(order), len(roots))
        for column, root in enumerate(roots.tolist()):
            _, _, counts, depth = reference.count_hops(*adjacency(A), root)
            expected = np.where(np.array(depth) < 0, np.inf, depth)[order]
            np.testing.assert_array_equal(dist[:, column], expected if root in order else np.inf)
            expected = np.array(counts, float)[order] if root in order else 0
            np.testing.assert_allclose(sigma[:, column], expected, rtol=0 if dtype == "float64" else 1e-5)


def test_paths_of_groups_that_come_apart(hops):
    graph, state = prepared(hops, UNLIKE, batch=768)
    groups = np.split(graph.order[:768], 3)
    roots = np.concatenate([groups[2], groups[0]])
    order = state.rows.order.get()
    for levels in hops.forward(state, roots):
        dist, _ = hops.paths(state, levels)
        assert dist.shape == (len(order), 256)
        for column in (0, 100, 255):
            depth = np.array(reference.count_hops(*adjacency(UNLIKE), int(roots[levels.places[column]]))[3])
            np.testing.assert_array_equal(dist[:, column].get(), np.where(depth < 0, np.inf, depth)[order])


def test_paths_are_counted_for_sums_over_paths_alone(hops):
    _, state = prepared(hops, diamonds(4, 2), sums=frozenset({"reached"}))
    (levels,) = hops.forward(state, np.arange(3))
    with pytest.raises(ValueError, match="reached: no path is counted"):
        hops.paths(state, levels)
