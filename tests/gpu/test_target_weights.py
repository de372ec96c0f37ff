"""Target weights by vertex and column, and the distances and path counts that a step may read before it gives them."""

import numpy as np
import pytest
from gpu_schedules import HOPS, NAMES, Schedule
from strategies import UNLIKE, diamonds, with_lengths

import lagbc
from lagbc import tuning
from lagbc.methods.sums import DEPENDENCY, PATH_SUMS, SQUARES, Sums

DEEP = with_lengths(UNLIKE, [1])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", NAMES)
def test_targets_by_column(schedule, cupy, name, directed, dtype):
    """Several groups, the last one ragged; some targets, and all of most columns, count nothing."""
    A = schedule.graphs[name]
    names = PATH_SUMS - SQUARES - (set() if dtype == "float64" else {"stress"})
    graph, state = schedule.prepared(A, directed=directed, dtype=dtype, sums=names)
    roots = np.random.default_rng(1).permutation(graph.n)[:300]
    omega = np.zeros((graph.n, len(roots)))
    some = [0, 1, 100, 254, 255, 256, 257, 299]
    omega[:, some] = np.random.default_rng(2).integers(0, 5, (graph.n, len(some))) / 2
    ours = schedule.summed(cupy, graph, state, roots, omega)
    theirs = schedule.by_the_oracle(A, roots, omega, directed=directed)
    tolerance = 1e-12 if dtype == "float64" else 3e-5
    assert state.schedule == schedule.name
    for sum_name, array in ours:
        expected = theirs[sum_name]
        np.testing.assert_allclose(array.sum(axis=0).get(), expected, rtol=tolerance, atol=tolerance, err_msg=sum_name)


def test_columns_of_groups_that_come_apart(cupy, monkeypatch, weighted):
    """Of one kind of lengths, too."""
    schedule = Schedule(weighted, None, monkeypatch)
    graph, state = schedule.prepared(DEEP, batch=768, sums=DEPENDENCY)
    roots = of_two_groups(graph)
    omega = np.random.default_rng(2).integers(0, 5, (graph.n, len(roots))) / 2
    ours = schedule.summed(cupy, graph, state, roots, omega).dependency
    for row, part in enumerate((slice(0, 256), slice(256, 512))):
        fresh = schedule.prepared(DEEP, sums=DEPENDENCY)[1]
        alone = schedule.summed(cupy, graph, fresh, roots[part], omega[:, part]).dependency
        np.testing.assert_array_equal(ours[row].get(), alone[0].get())


def of_two_groups(graph):
    """Return 512 roots, one half of which is deeper than the other."""
    groups = np.split(graph.order[:768], 3)
    return np.concatenate([groups[2], groups[0]])


def test_equal_targets_are_those_of_the_plan(schedule, cupy):
    """To the last bit but one: the kernels are compiled apart, with sums and products fused otherwise."""
    A = schedule.graphs["scale-free"]
    omega, roots = np.random.default_rng(3).integers(0, 5, A.shape[0]) / 2, np.arange(300)
    graph, state = schedule.prepared(A, sums=DEPENDENCY)
    ours = schedule.summed(cupy, graph, state, roots, np.repeat(omega[:, None], 300, axis=1))
    theirs = schedule.summed(cupy, *schedule.prepared(A, sums=DEPENDENCY, omega=omega), roots)
    np.testing.assert_allclose(ours.dependency.get(), theirs.dependency.get(), rtol=1e-14, atol=0)


@pytest.mark.parametrize(
    ("weighted", "name"), [(False, "one launch"), (False, "launch per level"), (True, "one launch")]
)
def test_targets_of_a_column_may_be_of_any_size(cupy, monkeypatch, weighted, name):
    """Up to 2**500 paths: a tiny weight over them is no normal number, and a huge one times them none at all."""
    A, schedule = with_lengths(diamonds(500, 2), [1]), Schedule(weighted, name, monkeypatch)
    graph, state = schedule.prepared(A, sums=DEPENDENCY)
    roots = np.array([0, 3, 6, 9, 12])
    weights = np.random.default_rng(1).integers(0, 5, (graph.n, len(roots))) * [1e-250, 1e-307, 1.0, 1e300, 0.0]
    for column in range(len(roots)):
        own = np.where(np.arange(len(roots)) == column, weights, 0.0)
        ours = schedule.summed(cupy, graph, state, roots, own).dependency[0].get()
        np.testing.assert_allclose(ours, schedule.by_the_oracle(A, roots, own)["dependency"], rtol=1e-12)


def test_targets_that_are_refused(schedule, cupy):
    """Those that are too far apart, and those of another shape."""
    graph, state = schedule.prepared(schedule.graphs["mesh"], sums=DEPENDENCY)
    (levels,) = schedule.module.forward(state, np.arange(9))
    sums, omega = Sums(dependency=cupy.zeros((1, graph.n))), cupy.ones((graph.n, 9))
    with pytest.raises(ValueError, match=rf"omega has shape \({graph.n}, 8\); .* \({graph.n}, 9\)"):
        schedule.module.backward(state, levels, sums, cupy.ones((graph.n, 8)))
    omega[:2, 1] = cupy.asarray([1e-300, 1e300])
    with pytest.raises(OverflowError, match=r"column 1 are from 1e-300 to 1e\+300"):
        schedule.module.backward(state, levels, sums, omega)


def test_other_methods_take_none(cupy):
    for row in lagbc.METHODS:
        if row.device == "cuda" and not row.demand:
            with pytest.raises(NotImplementedError):
                row.load().backward(None, None, None, omega=cupy.ones((1, 1)))


def test_vertices_in_another_order_once_edges_are_left_out(cupy, monkeypatch):
    """Weights and counts are by the order of the graph, whatever that is of the edges that are swept."""
    monkeypatch.setattr(tuning, "PRUNING_LEAST_EDGES", 1)
    A = with_lengths(HOPS["scale-free"], np.arange(1, 100), seed=3)
    schedule = Schedule(True, "window", monkeypatch)
    graph, state = schedule.prepared(A)
    assert (state.places.get() != np.arange(graph.active)).any()
    roots = np.arange(40, 60)
    omega = np.random.default_rng(2).integers(0, 5, (graph.n, len(roots))) / 2
    ours, theirs = schedule.summed(cupy, graph, state, roots, omega), schedule.by_the_oracle(A, roots, omega)
    for sum_name, array in ours:
        np.testing.assert_allclose(array[0].get(), theirs[sum_name], rtol=1e-12, atol=1e-12, err_msg=sum_name)
    assert_paths(schedule, A, graph, state, roots, 0)


def assert_paths(schedule, A, graph, state, roots, tolerance):
    """Compare what is read between the sweeps with the textbook's."""
    order = graph.order[: graph.active]
    for levels in schedule.module.forward(state, roots):
        dist, sigma = (part.get() for part in schedule.module.paths(state, levels))
        assert dist.shape == sigma.shape == (len(order), len(levels.places))
        for column, root in enumerate(roots[levels.places].tolist()):
            counts, expected = schedule.search(A, root)
            has_edges = root in order
            np.testing.assert_array_equal(dist[:, column], expected[order] if has_edges else np.inf)
            np.testing.assert_allclose(sigma[:, column], counts[order] if has_edges else 0, rtol=tolerance)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", NAMES)
def test_paths(schedule, name, dtype):
    """After a first batch and after one that finds the arrays used."""
    A = schedule.graphs[name]
    graph, state = schedule.prepared(A, dtype=dtype, sums=DEPENDENCY)
    for roots in (np.arange(min(graph.n, 300))[::-1], np.arange(5, 40)):
        assert_paths(schedule, A, graph, state, roots, 0 if dtype == "float64" else 1e-5)
        assert state.schedule == schedule.name


def test_paths_of_groups_that_come_apart(cupy, monkeypatch, weighted):
    schedule = Schedule(weighted, None, monkeypatch)
    graph, state = schedule.prepared(DEEP, batch=768)
    roots, order, found = of_two_groups(graph), graph.order[: graph.active], 0
    for levels in schedule.module.forward(state, roots):
        dist, _ = schedule.module.paths(state, levels)
        found += 1
        assert dist.shape == (len(order), 256)
        for column in (0, 100, 255):
            _, expected = schedule.search(DEEP, roots[levels.places[column]])
            np.testing.assert_array_equal(dist[:, column].get(), expected[order])
    assert found == 2


def test_paths_are_counted_for_sums_over_paths_alone(schedule):
    _, state = schedule.prepared(schedule.graphs["mesh"], sums=frozenset({"reached"}))
    (levels,) = schedule.module.forward(state, np.arange(3))
    with pytest.raises(ValueError, match="reached: no path is counted"):
        schedule.module.paths(state, levels)
