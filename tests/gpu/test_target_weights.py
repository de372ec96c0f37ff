"""Target weights by vertex and column, and the distances and path counts that a step may read before it gives them."""

import numpy as np
import pytest
from batches import sweep
from strategies import (
    UNLIKE,
    adjacency,
    diamonds,
    disjoint,
    grid,
    layered,
    lengths,
    matrix,
    path,
    scale_free,
    with_lengths,
)

import lagbc
from lagbc import reference
from lagbc.graph.graph import Graph
from lagbc.graph.validate import as_graph
from lagbc.methods import tuning
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import Sums

NAMES = ["scale-free", "mesh", "parts"]
OTHERS = grid(6, 7), scale_free(120, 600, seed=4), matrix(3, []), layered(5, 9)
HOPS = dict(zip(NAMES, (scale_free(400, 2500, seed=1), grid(13, 24), disjoint(path(90), *OTHERS)), strict=True))
# On none of them a way gives up, which "dial" does at a distance of 61.
LENGTHS = {
    name: with_lengths(A, [1, 2], 7)
    for name, A in {**HOPS, "parts": disjoint(path(35), path(30), path(25), *OTHERS)}.items()
}
WEIGHTED = frozenset({"dependency", "stress", "edges"})
# Of the method in hops and of that with lengths.
WAYS = {
    False: ("launch per level", "one launch"),
    True: ("dial", "threshold", "window", "one launch"),
}


class Way:
    """A way of sweeping, of the method in hops or of that with lengths; None is the one that the method takes."""

    def __init__(self, weighted, name, monkeypatch):
        self.weighted, self.name = weighted, name
        key = ("delta-stepping" if weighted else "batched"), "cuda", weighted
        self.module = next(row for row in lagbc.METHODS if row.key == key).load()
        self.graphs = LENGTHS if weighted else HOPS
        if not weighted and name:
            monkeypatch.setattr(Graph, "has_high_diameter", property(lambda graph: name == "one launch"))

    def prepared(self, A, *, batch=512, directed=True, dtype="float64", sums=WEIGHTED, **options):
        graph = as_graph(A, directed=directed, weighted=self.weighted)
        way = {"way": self.name} if self.weighted else {}
        return graph, self.module.prepare(graph, SweepPlan(batch=batch, dtype=dtype, sums=sums, **options), **way)

    def search(self, A, root, *, directed=True):
        """Path counts and distances from a root, inf where it does not lead."""
        weights = lengths(A, directed=directed) if self.weighted else None
        _, _, counts, dist = reference._search(*adjacency(A, directed=directed), weights, int(root))
        dist = np.array(dist, float)
        return np.array(counts, float), np.where(dist < 0, np.inf, dist)

    def by_the_oracle(self, A, roots, omega, *, directed=True):
        """Raw sums, a root at a time, of the columns that have targets."""
        edges = *adjacency(A, directed=directed), lengths(A, directed=directed) if self.weighted else None
        total = {"dependency": 0.0, "stress": 0.0, "edges": 0.0}
        functions = {"dependency": reference.brandes, "stress": reference.stress, "edges": reference.edge_scores}
        for column in np.flatnonzero(omega.any(axis=0)):
            for name, function in functions.items():
                part = function(*edges, sources=[int(roots[column])], target_weights=omega[:, column].tolist())
                total[name] = total[name] + np.array(part, float)
        return total


@pytest.fixture(params=[(weighted, name) for weighted in WAYS for name in WAYS[weighted]], ids=str)
def way(request, cupy, monkeypatch):
    """Every way of both methods."""
    return Way(*request.param, monkeypatch)


def weighted_sums(module, cupy, state, graph, roots, omega):
    """Add what the roots sum to where each has targets of its own, omega[v, i] for roots[i]."""
    sums = Sums.zeros_of_batch(cupy, state.plan.sums, graph.n, graph.nnz, -(-len(roots) // 256), len(roots))
    rows = graph.order[: graph.active]
    for levels in module.forward(state, roots):
        module.backward(state, levels, sums, cupy.asarray(omega[rows][:, levels.places]))
    return sums


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_targets_by_column(way, cupy, name, directed, dtype):
    """Several groups, the last one ragged; some targets, and all of most columns, count nothing."""
    A = way.graphs[name]
    names = WEIGHTED if dtype == "float64" else WEIGHTED - {"stress"}
    graph, state = way.prepared(A, directed=directed, dtype=dtype, sums=names)
    roots = np.random.default_rng(1).permutation(graph.n)[:300]
    omega = np.zeros((graph.n, len(roots)))
    some = [0, 1, 100, 254, 255, 256, 257, 299]
    omega[:, some] = np.random.default_rng(2).integers(0, 5, (graph.n, len(some))) / 2
    ours = weighted_sums(way.module, cupy, state, graph, roots, omega)
    theirs = way.by_the_oracle(A, roots, omega, directed=directed)
    tolerance = 1e-12 if dtype == "float64" else 3e-5
    assert state.way == way.name
    for sum_name, array in ours:
        expected = theirs[sum_name]
        np.testing.assert_allclose(array.sum(axis=0).get(), expected, rtol=tolerance, atol=tolerance, err_msg=sum_name)


@pytest.mark.parametrize("weighted", [False, True])
def test_columns_of_groups_that_come_apart(cupy, monkeypatch, weighted):
    """Of one kind of lengths, too."""
    way, asked = Way(weighted, None, monkeypatch), frozenset({"dependency"})
    graph, state = way.prepared(UNLIKE, batch=768, sums=asked)
    groups = np.split(graph.order[:768], 3)
    roots = np.concatenate([groups[2], groups[0]])
    omega = np.random.default_rng(2).integers(0, 5, (graph.n, len(roots))) / 2
    ours = weighted_sums(way.module, cupy, state, graph, roots, omega).dependency
    for row, part in enumerate((slice(0, 256), slice(256, 512))):
        fresh = way.prepared(UNLIKE, sums=asked)[1]
        alone = weighted_sums(way.module, cupy, fresh, graph, roots[part], omega[:, part]).dependency
        np.testing.assert_array_equal(ours[row].get(), alone[0].get())


def test_equal_targets_are_those_of_the_plan(way, cupy):
    """To the bit."""
    A = way.graphs["scale-free"]
    omega = np.random.default_rng(3).integers(0, 5, A.shape[0]) / 2
    asked, roots = frozenset({"dependency"}), np.arange(300)
    graph, state = way.prepared(A, sums=asked)
    ours = weighted_sums(way.module, cupy, state, graph, roots, np.repeat(omega[:, None], 300, axis=1)).dependency
    theirs = Sums(dependency=cupy.zeros((2, graph.n)))
    sweep(way.module, way.prepared(A, sums=asked, omega=omega)[1], roots, theirs)
    np.testing.assert_array_equal(ours.get(), theirs.dependency.get())


@pytest.mark.parametrize(
    ("weighted", "name"), [(False, "one launch"), (False, "launch per level"), (True, "one launch")]
)
def test_targets_of_a_column_may_be_of_any_size(cupy, monkeypatch, weighted, name):
    """Up to 2**500 paths: a tiny weight over them is no normal number, and a huge one times them none at all."""
    A, way = with_lengths(diamonds(500, 2), [1]), Way(weighted, name, monkeypatch)
    graph, state = way.prepared(A, sums=frozenset({"dependency"}))
    roots = np.array([0, 3, 6, 9, 12])
    weights = np.random.default_rng(1).integers(0, 5, (graph.n, len(roots))) * [1e-250, 1e-307, 1.0, 1e300, 0.0]
    for column in range(len(roots)):
        own = np.where(np.arange(len(roots)) == column, weights, 0.0)
        ours = weighted_sums(way.module, cupy, state, graph, roots, own).dependency[0].get()
        theirs = way.by_the_oracle(A, roots, own)["dependency"]
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def test_targets_that_are_too_far_apart(way, cupy):
    graph, state = way.prepared(way.graphs["mesh"], sums=frozenset({"dependency"}))
    (levels,) = way.module.forward(state, np.arange(9))
    omega = cupy.ones((graph.n, 9))
    omega[:2, 1] = cupy.asarray([1e-300, 1e300])
    with pytest.raises(OverflowError, match=r"column 1 are from 1e-300 to 1e\+300"):
        way.module.backward(state, levels, Sums(dependency=cupy.zeros((1, graph.n))), omega)


def test_shape_is_checked(way, cupy):
    graph, state = way.prepared(way.graphs["mesh"], sums=frozenset({"dependency"}))
    (levels,) = way.module.forward(state, np.arange(9))
    with pytest.raises(ValueError, match=rf"omega has shape \({graph.n}, 8\); .* \({graph.n}, 9\)"):
        way.module.backward(state, levels, Sums(dependency=cupy.zeros((1, graph.n))), cupy.ones((graph.n, 8)))


def test_other_methods_take_none(cupy):
    for row in lagbc.METHODS:
        if row.device == "cuda" and not row.demand:
            with pytest.raises(NotImplementedError):
                row.load().backward(None, None, None, omega=cupy.ones((1, 1)))


def test_vertices_in_another_order_once_edges_are_left_out(cupy, monkeypatch):
    """Weights and counts are by the order of the graph, whatever that is of the edges that are swept."""
    monkeypatch.setattr(tuning, "PRUNING_LEAST_EDGES", 1)
    A = with_lengths(HOPS["scale-free"], np.arange(1, 100), seed=3)
    way = Way(True, "window", monkeypatch)
    graph, state = way.prepared(A)
    assert (state.places.get() != np.arange(graph.active)).any()
    roots = np.arange(40, 60)
    omega = np.random.default_rng(2).integers(0, 5, (graph.n, len(roots))) / 2
    ours, theirs = weighted_sums(way.module, cupy, state, graph, roots, omega), way.by_the_oracle(A, roots, omega)
    for sum_name, array in ours:
        np.testing.assert_allclose(array[0].get(), theirs[sum_name], rtol=1e-12, atol=1e-12, err_msg=sum_name)
    assert_paths(way, A, graph, state, roots, 0)


def assert_paths(way, A, graph, state, roots, tolerance):
    """Compare what is read between the sweeps with the textbook's."""
    order = graph.order[: graph.active]
    for levels in way.module.forward(state, roots):
        dist, sigma = (part.get() for part in way.module.paths(state, levels))
        assert dist.shape == sigma.shape == (len(order), len(levels.places))
        for column, root in enumerate(roots[levels.places].tolist()):
            counts, expected = way.search(A, root)
            has_edges = root in order
            np.testing.assert_array_equal(dist[:, column], expected[order] if has_edges else np.inf)
            np.testing.assert_allclose(sigma[:, column], counts[order] if has_edges else 0, rtol=tolerance)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", NAMES)
def test_paths(way, name, dtype):
    """After a first batch and after one that finds the arrays used."""
    A = way.graphs[name]
    graph, state = way.prepared(A, dtype=dtype, sums=frozenset({"dependency"}))
    for roots in (np.arange(min(graph.n, 300))[::-1], np.arange(5, 40)):
        assert_paths(way, A, graph, state, roots, 0 if dtype == "float64" else 1e-5)
        assert state.way == way.name


@pytest.mark.parametrize("weighted", [False, True])
def test_paths_of_groups_that_come_apart(cupy, monkeypatch, weighted):
    way = Way(weighted, None, monkeypatch)
    graph, state = way.prepared(UNLIKE, batch=768)
    groups = np.split(graph.order[:768], 3)
    roots = np.concatenate([groups[2], groups[0]])
    order = graph.order[: graph.active]
    found = 0
    for levels in way.module.forward(state, roots):
        dist, _ = way.module.paths(state, levels)
        found += 1
        assert dist.shape == (len(order), 256)
        for column in (0, 100, 255):
            _, expected = way.search(UNLIKE, roots[levels.places[column]])
            np.testing.assert_array_equal(dist[:, column].get(), expected[order])
    assert found == 2


def test_paths_are_counted_for_sums_over_paths_alone(way):
    _, state = way.prepared(way.graphs["mesh"], sums=frozenset({"reached"}))
    (levels,) = way.module.forward(state, np.arange(3))
    with pytest.raises(ValueError, match="reached: no path is counted"):
        way.module.paths(state, levels)
