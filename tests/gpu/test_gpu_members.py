"""Vertices that stand for several members, in every schedule of the batched methods, against the CPU."""

import functools
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from batches import by_the_cpu, sweep, zeros_of
from gpu_schedules import NAMES, Schedule
from states import prepare
from strategies import UNLIKE, diamonds, disjoint, grid, matrix, path, scale_free, with_lengths
from swept import summed

import lagbc
from lagbc import tuning
from lagbc.graph.csr import as_numpy
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan, bytes_of
from lagbc.methods.sums import Sums

ASKED = frozenset({"dependency", "edges"})


def row_of(device, *, weighted):
    """The row of the batched method of a device."""
    name = "delta-stepping" if weighted and device == "cuda" else "batched"
    return next(row for row in lagbc.METHODS if row.key == (name, device, weighted))


def weights_of(n, seed=1):
    """Members, targets and how often each root counts; two in five of the last are zero."""
    rng = np.random.default_rng(seed)
    omega, root_weights = rng.integers(0, 5, (2, n)) / 2
    sizes, weights = rng.integers(1, 6, n) * 1.0, np.maximum(root_weights - 0.5, 0)
    return {"class_sizes": sizes, "omega": omega, "root_weights": weights}


def assert_near(ours, theirs):
    """Compare sums on the device, a row a group, with those of a run on the CPU."""
    for name, array in theirs:
        mine = as_numpy(getattr(ours, name))
        mine = mine.sum(axis=0) if mine.ndim == 2 else mine
        np.testing.assert_allclose(mine, array, rtol=1e-12, atol=1e-12 * max(1, array.max()), err_msg=name)


@pytest.mark.parametrize("name", NAMES)
def test_sums_are_those_of_the_cpu(schedule, cupy, name, directed):
    """Of several groups, and of a batch that finds the arrays used."""
    A = schedule.graphs[name]
    given = weights_of(A.shape[0])
    graph, state = schedule.prepared(A, directed=directed, sums=ASKED, **given)
    order = np.random.default_rng(3).permutation(graph.n)
    for roots in (order[:300], order[::-1][:90].copy()):
        sums = zeros_of(cupy, schedule.module, len(roots), graph, ASKED)
        found = sweep(schedule.module, state, roots, sums)
        assert not any(levels.overflowed.any() for levels in found)
        assert_near(sums, by_the_cpu(A, ASKED, weighted=schedule.weighted, directed=directed, roots=roots, **given))
        assert state.schedule == schedule.name


@pytest.mark.parametrize("name", NAMES)
def test_targets_by_column(schedule, cupy, name):
    A = schedule.graphs[name]
    given = weights_of(A.shape[0]) | {"omega": None}
    graph, state = schedule.prepared(A, sums=ASKED, **given)
    roots = np.r_[np.arange(280), -1]
    omega = np.random.default_rng(4).integers(0, 5, (graph.n, len(roots))) / 2
    ours = schedule.summed(cupy, graph, state, roots, omega)
    rows, shape = graph.order[: graph.active], (ASKED, graph.n, graph.nnz)
    module = row_of("cpu", weighted=schedule.weighted).load()
    on_host, theirs = prepare(module, graph, replace(state.plan, batch=64)), Sums.zeros_of_batch(np, *shape, 1, 64)
    for first in range(0, len(roots), 64):
        part = slice(first, first + 64)
        for levels in module.forward(on_host, roots[part]):
            module.backward(on_host, levels, theirs, omega[rows][:, part])
    assert_near(ours, Sums(**{sum_name: array[0] for sum_name, array in theirs}))


@pytest.mark.parametrize("name", NAMES)
def test_path_counts_are_those_to_all_members_and_one_to_the_root(schedule, name):
    A = schedule.graphs[name]
    members = weights_of(A.shape[0])["class_sizes"]
    graph, state = schedule.prepared(A, class_sizes=members, sums=ASKED)
    module = row_of("cpu", weighted=schedule.weighted).load()
    roots = np.arange(0, graph.n, 7)
    (levels,) = schedule.module.forward(state, roots)
    _, ours = schedule.module.paths(state, levels)
    on_host = prepare(module, graph, SweepPlan(batch=64, class_sizes=members))
    (found,) = module.forward(on_host, roots)
    np.testing.assert_array_equal(ours.get(), module.paths(on_host, found)[1][: graph.active])


def test_one_member_each_is_none_to_the_bit(schedule, cupy):
    found = []
    for members in (None, np.ones(400)):
        graph, state = schedule.prepared(schedule.graphs["scale-free"], class_sizes=members, sums=ASKED)
        found.append(schedule.summed(cupy, graph, state, np.arange(300)))
    for name, array in found[0]:
        np.testing.assert_array_equal(getattr(found[1], name).get(), array.get())


def test_groups_that_come_apart(cupy, weighted):
    A = with_lengths(UNLIKE, [1])
    given = weights_of(A.shape[0])
    graph = as_graph(A, weighted=weighted)
    plan = SweepPlan(batch=768, sums=ASKED, **given)
    ours = summed(graph, np.arange(graph.n), row_of("cuda", weighted=weighted), plan)
    assert_near(ours, by_the_cpu(A, ASKED, weighted=weighted, **given))


@pytest.mark.parametrize("members", [[1, 2**33, 3, 1], [1, 2**20, 2**20, 1], [1, 4, 2**70, 2**70], [1, 2, 2**63, 5]])
def test_counts_past_32_bits(cupy, monkeypatch, members):
    """At once, as a product, and where no integer holds the product."""
    schedule, A, members = Schedule(False, "launch per level", monkeypatch), path(4), np.array(members, float)
    graph, state = schedule.prepared(A, class_sizes=members, sums=ASKED)
    assert state.rows.counts_are_small
    sums = zeros_of(cupy, schedule.module, 4, graph, ASKED)
    (levels,) = schedule.module.forward(state, np.arange(4))
    assert not state.rows.counts_are_small
    schedule.module.backward(state, levels, sums)
    assert_near(sums, by_the_cpu(A, ASKED, weighted=False, class_sizes=members))


def test_overflow_is_of_the_paths_to_all_members(schedule):
    """2**1021 paths to each of 4 members of the last vertex are more than may be; to one of them they are not."""
    A = with_lengths(diamonds(1021, 2), [1])
    for count in (1.0, 4.0):
        members = np.ones(A.shape[0])
        members[-1] = count
        _, state = schedule.prepared(A, class_sizes=members, sums=ASKED)
        (levels,) = schedule.module.forward(state, np.array([0]))
        assert levels.overflowed.tolist() == [count > 1]


def test_a_neighbour_s_members_may_be_too_many(schedule):
    members = np.array([1, 1, 1.5 * 2.0**1022])
    _, state = schedule.prepared(with_lengths(path(3), [1]), class_sizes=members, sums=ASKED)
    (levels,) = schedule.module.forward(state, np.arange(3))
    assert levels.overflowed.tolist() == [True, True, False]


@pytest.mark.parametrize("symmetric", [False, True])
def test_counts_past_the_range_of_float64(cupy, weighted, symmetric):
    """4**600 paths, 3 of 4 across each diamond by the middle that stands for three; roots one by one on the CPU."""
    graph = as_graph(sp.csr_array(diamonds(600, 2)), directed=not symmetric, weighted=weighted)
    members = np.ones(graph.n)
    members[2::3] = 3
    roots, found = np.r_[0, 2, 900], []
    omega = 1.0 + np.arange(graph.n) % 3
    for device in ("cuda", "cpu"):
        row = row_of(device, weighted=weighted)
        plan = SweepPlan(batch=row.load().batching.round(1), sums=ASKED, class_sizes=members, omega=omega)
        found.append(summed(graph, roots, row, plan, ordered=roots))
    assert_near(*found)


def test_footprint_has_room_for_members(cupy, weighted):
    graph, module = as_graph(with_lengths(path(50), [1]), weighted=weighted), row_of("cuda", weighted=weighted).load()
    plans = (SweepPlan(batch=256, class_sizes=members) for members in (None, np.ones(graph.n)))
    without, needed = (bytes_of(module.arrays(graph, plan)) for plan in plans)
    assert needed == without + 8 * graph.n


# Reductions


def with_twins(weighted):
    """A scale-free graph and a mesh, of which some vertices have one to three twins, with lengths alike."""
    rng, parts = np.random.default_rng(5), []
    for A in (scale_free(120, 700, seed=1), grid(9, 11), matrix(3, [])):
        A = with_lengths(A, [1, 2, 3] if weighted else [1])
        of = np.repeat(np.arange(A.shape[0]), np.where(rng.random(A.shape[0]) < 0.4, rng.integers(2, 5, A.shape[0]), 1))
        parts.append(sp.csr_array(A)[of][:, of])
    return disjoint(*parts)


def test_twins_are_merged_for_the_gpu(cupy, monkeypatch, directed, weighted):
    monkeypatch.setattr(tuning, "SMALL_VERTICES", 2)
    A, method = with_twins(weighted), row_of("cuda", weighted=weighted).name
    of = {"directed": directed, "weighted": weighted}
    reason = lagbc.plan(A, device="cuda", reduce="all", **of).reason
    assert "classes of twins" in reason
    assert f"{method} on cuda" in reason
    expected = lagbc.bc(A, device="cpu", reduce="none", **of)
    for given in ({}, {"batch": 256}, {"method": method}):
        scores = lagbc.bc(A, device="cuda", reduce="all", **of, **given)
        np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12 * expected.max())


def test_what_options_ask_for_comes_first(cupy, monkeypatch):
    """No method takes both members and a variant."""
    monkeypatch.setattr(tuning, "SMALL_VERTICES", 2)
    A = with_twins(weighted=False)
    call = functools.partial(lagbc.bc, A, device="cuda", method="node-parallel:one-block")
    expected = call(reduce="none")
    np.testing.assert_allclose(call(reduce="all"), expected, rtol=1e-12, atol=1e-12 * expected.max())
    assert "twins" not in lagbc.plan(A, device="cuda", method="node-parallel:one-block", reduce="all").reason
