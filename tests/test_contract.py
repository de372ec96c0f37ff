"""What a module of a method on the CPU has to hold: `lagbc.methods.contract`, member by member."""

import gc
from dataclasses import fields

import numpy as np
import pytest
import scipy.sparse as sp
from families import diamonds, disjoint, grid, matrix, path, scale_free, with_lengths
from hypothesis import given
from hypothesis import strategies as st
from states import add, by_levels, bytes_of_sums, prepare, summed, when_ready, zeros
from strategies import adjacency, arrays, examples, graphs

import lagbc
from lagbc import reference
from lagbc.call import sum_request
from lagbc.errors import InvalidValueError
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import CountedLevels, Interrupted, StopFlag, SweepPlan, bytes_of
from lagbc.methods.cpu import batched, extended, searches, traversal
from lagbc.methods.sums import OF_BOUNDS, SQUARES, Sums
from lagbc.native import core
from lagbc.options import check_options
from lagbc.request import Request

TEXTBOOK = lagbc.Method("textbook", "traversal", "cpu", False, "textbook")
ROWS = [*(row for row in lagbc.METHODS if row.device == "cpu" and row.available), TEXTBOOK]
EVERY = frozenset(field.name for field in fields(Sums)) - OF_BOUNDS
WITHOUT_SQUARES = EVERY - SQUARES
GRAPHS = {
    "scale-free": with_lengths(scale_free(300, 2000, seed=1), [1, 2, 3]),
    "mesh": with_lengths(grid(12, 17), [1, 2]),
    "two parts": disjoint(path(30), grid(4, 5)),
}


def kind_of(row):
    return f"{row.name}-{'lengths' if row.weighted else 'hops'}"


@pytest.fixture(params=ROWS, ids=kind_of)
def row(request):
    return request.param


def read(row, A):
    return as_graph(A, directed=False, weighted=row.weighted)


# The modules of all rows, and both schedules of the batched one, with whether they take lengths.
WORKERS = {kind_of(row): (row.load, row.weighted) for row in ROWS} | {
    "levels": (lambda: by_levels, False),
    "waiting": (lambda: when_ready, False),
}


@pytest.fixture(params=WORKERS.items(), ids=WORKERS)
def worker(request):
    """The name of a module, the module, and whether it takes lengths."""
    name, (load, weighted) = request.param
    return name, load(), weighted


def star_with_a_tail():
    """Many short edges, and a path of 30 long ones that is longer than uint16 holds."""
    leaves, tail = np.arange(31, 2031), np.arange(31)
    i, j = np.concatenate([tail[:-1], leaves]), np.concatenate([tail[1:], 0 * leaves])
    A = sp.coo_array((np.r_[np.full(30, 3000.0), np.ones(2000)], (i, j)), shape=(2031, 2031))
    return sp.csr_array(A + A.T)


ABSORBED = sp.coo_array(([1e18, 1.0, 1.0], ([0, 1, 2], [1, 2, 3])), shape=(4, 4))
MIXED = {
    "overflow": disjoint(diamonds(350, 9), with_lengths(grid(6, 7), np.arange(1, 11)), path(40), ABSORBED),
    "short distances at first": disjoint(grid(6, 20), with_lengths(path(30), [3000.0]), star_with_a_tail()),
}


@pytest.mark.parametrize("name", MIXED)
def test_a_state_is_as_new_after_every_batch(worker, name):
    """Batches of different size, depth and overflow through one state equal those of fresh states."""
    of, module, weighted = worker
    if of.startswith(("graphblas", "textbook")):
        pytest.skip("it keeps nothing from batch to batch, and takes long")
    graph = as_graph(MIXED[name], weighted=weighted)
    n, plan = graph.n, SweepPlan(batch=64, sums=WITHOUT_SQUARES)
    used = prepare(module, graph, plan)
    for roots in (range(64), range(n - 64, n), [-1, 1, -1], range(n - 3, n), range(100, 150)):
        ours, theirs = zeros(module, graph, plan, roots), zeros(module, graph, plan, roots)
        add(module, used, roots, ours)
        add(module, prepare(module, graph, plan), roots, theirs)
        for one, array in ours:
            np.testing.assert_array_equal(array, getattr(theirs, one), err_msg=one)


def test_sums_are_added(worker):
    of, module, weighted = worker
    graph = as_graph(with_lengths(grid(4, 5), [1, 2]), weighted=weighted)
    plan = SweepPlan(batch=64, sums=frozenset({"dependency"}) if of.startswith("textbook") else WITHOUT_SQUARES)
    alone, more = zeros(module, graph, plan, range(20)), zeros(module, graph, plan, range(20))
    for _, array in more:
        array += 1
    for sums in (alone, more):
        add(module, prepare(module, graph, plan), range(20), sums)
    assert alone.dependency.any()
    for name, array in alone:
        np.testing.assert_allclose(getattr(more, name), array + 1, rtol=1e-12, err_msg=name)


def test_a_stop_flag_interrupts_both_sweeps(worker):
    of, module, weighted = worker
    graph = as_graph(path(50), weighted=weighted)
    plan, roots = SweepPlan(batch=64), np.arange(3)
    state, sums = prepare(module, graph, plan), zeros(module, graph, plan, roots)
    found = next(iter(module.forward(state, roots)))
    plan.stop.set()
    if not of.startswith("textbook"):
        with pytest.raises(Interrupted):
            module.backward(state, found, sums)
        assert not sums.dependency.any()
    with pytest.raises(Interrupted):
        next(iter(module.forward(state, roots)))


def test_members(row):
    module = row.load()
    for name in ("arrays", "prepare", "forward", "backward"):
        assert callable(getattr(module, name))
    batching = module.batching
    assert batching.auto % batching.block == 0
    assert batching.round(1) == batching.block
    assert batching.round(batching.block + 1) in (2 * batching.block, batching.widest)
    assert set(row.options) <= {field.name for field in fields(SweepPlan)}


def test_a_mirror_of_the_stop_flag_is_set_with_it_and_after_it():
    """A worker may be prepared when the run has been stopped already."""
    stop, before, after = StopFlag(), np.zeros(1, np.uint8), np.zeros(1, np.uint8)
    stop.mirror(before)
    assert not before[0]
    stop.set()
    stop.mirror(after)
    assert before[0]
    assert after[0]


@pytest.mark.parametrize("name", GRAPHS)
def test_every_place_is_yielded_once(row, name):
    graph, module = read(row, GRAPHS[name]), row.load()
    roots = np.arange(0, graph.n, 3)[:64]
    found = list(module.forward(prepare(module, graph, SweepPlan(batch=64)), roots))
    places = np.concatenate([levels.places for levels in found])
    assert sorted(places.tolist()) == list(range(len(roots)))
    assert [levels.overflowed.shape for levels in found] == [levels.places.shape for levels in found]
    assert all(isinstance(levels, CountedLevels) and levels.depth > 0 for levels in found)


@pytest.mark.parametrize("endpoints", [False, True])
@pytest.mark.parametrize("name", GRAPHS)
def test_absent_roots_keep_their_place_and_add_nothing(row, name, endpoints):
    """The last vertex, which -1 might be taken for, is a root, too."""
    graph, module = read(row, GRAPHS[name]), row.load()
    roots = np.r_[-1, 5, -1, graph.n - 1, 0, -1]
    here = roots >= 0
    asked = frozenset(row.sums) - (SQUARES if endpoints else frozenset())
    plan = SweepPlan(batch=64, sums=asked, endpoints=endpoints, root_weights=np.arange(graph.n) % 3 + 1.0)
    ours, theirs = (summed(module, graph, plan, some) for some in (roots, roots[here]))
    assert ours.depth is None or not ours.depth[~here].any()
    for name, array in ours:
        array = array[here] if name == "depth" else array
        np.testing.assert_allclose(array, getattr(theirs, name), rtol=1e-13, err_msg=name)
    assert not any(array.any() for _, array in summed(module, graph, plan, [-1, -1]))


# Memory


def arrays_of(*records):
    """Bytes of the arrays in some records, each array once, without the graph's."""
    found = {}
    for record in records:
        for field in fields(record):
            value = getattr(record, field.name)
            if isinstance(value, np.ndarray):
                found[id(value)] = value.nbytes
    return sum(found.values())


def taken_by(make):
    """Return the state that is made, and the bytes that C++ takes for it."""
    make()  # the graph is reordered once
    gc.collect()
    before, _ = core.held_memory()
    state = make()
    return state, core.held_memory()[0] - before


@pytest.mark.parametrize("asked", [{"dependency"}, {"distance"}, {"stress", "depth"}, EVERY], ids=len)
@pytest.mark.parametrize("name", GRAPHS)
def test_footprint_of_batched_is_what_it_allocates(weighted, name, asked):
    graph = as_graph(GRAPHS[name], directed=False, weighted=weighted)
    plan = SweepPlan(batch=64, sums=frozenset(asked))
    stated = bytes_of(batched.arrays(graph, plan))
    state, taken = taken_by(lambda: prepare(batched, graph, plan))
    assert stated == taken + bytes_of_sums(graph, plan.sums)
    sums, (before, _) = Sums.zeros_of_batch(np, plan.sums, graph.n, graph.nnz, 1, 2), core.held_memory()
    batched.backward(state, next(batched.forward(state, np.arange(2))), sums)
    most = core.held_memory()[1] - before
    assert most <= bytes_of_sums(graph, plan.sums) + 8 * 5  # sums that are not asked for hold a number each


def test_footprint_of_groups_is_what_they_allocate(weighted):
    graph = as_graph(GRAPHS["mesh"], directed=False, weighted=weighted)
    plan, in_group = searches.plan_of_groups(0.0, StopFlag()), np.ones((graph.n, 3), np.bool_)
    _, taken = taken_by(lambda: searches.prepare_groups(graph, plan, in_group, endpoints=True))
    assert bytes_of(searches.arrays_of_groups(graph, 3)) == taken + bytes_of_sums(graph, plan.sums)


def test_footprint_of_graphblas_bounds_what_it_holds():
    pytest.importorskip("graphblas")
    for row in (row for row in ROWS if row.name == "graphblas"):
        module, graph = row.load(), read(row, GRAPHS["scale-free"])
        for batch in (8, 64):
            plan = SweepPlan(batch=batch, sums=WITHOUT_SQUARES)
            state = prepare(module, graph, plan)
            (levels,) = module.forward(state, np.arange(batch))
            matrices = [state.light, state.heavy, levels.G] if row.weighted else [state.A]
            held = sum(X.ss.nbytes for X in (*matrices, levels.P, *levels.patterns)) + arrays_of(state)
            assert held < bytes_of(module.arrays(graph, plan)) < 12 * held


# Target weights of single columns, and what the search found

# Methods that take them, each with whether it takes lengths.
BY_COLUMN = {
    "batched-hops": (batched, False),
    "waiting": (when_ready, False),
    "batched-lengths": (batched, True),
    "work-efficient": (traversal, False),
    "dijkstra": (traversal, True),
}
by_column = pytest.mark.parametrize(("module", "weighted"), BY_COLUMN.values(), ids=BY_COLUMN)


@by_column
@examples(10)
@given(graphs(min_n=1), st.data())
def test_target_weights_of_each_column(module, weighted, A, data):
    """They stand in for those of the plan."""
    graph = as_graph(A, weighted=weighted)
    roots = np.array(data.draw(st.lists(st.integers(0, graph.n - 1), min_size=1, unique=True)))
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    omega = rng.integers(0, 5, (graph.n, len(roots))) / 2
    asked = EVERY - {"reached", "distance", "inverse", "depth"}
    plan = SweepPlan(batch=64, sums=asked, omega=rng.integers(0, 5, graph.n) / 2)
    sums = summed(module, graph, plan, roots, omega[graph.order])
    functions = {"dependency": reference.brandes, "stress": reference.stress, "edges": reference.edge_scores}
    for name, function in functions.items():
        theirs = sum(
            np.array(function(*arrays(A, weighted=weighted), sources=[root], target_weights=weights), float)
            for root, weights in zip(roots.tolist(), omega.T.tolist(), strict=True)
        )
        ours = getattr(sums, name).sum(axis=0)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12, err_msg=name)


@by_column
def test_target_weights_of_a_column_may_be_of_any_size(module, weighted):
    """Up to 2**500 paths: a tiny weight over them is no normal number, and a huge one times them none at all."""
    A = diamonds(500, 2)
    graph, roots = as_graph(A, weighted=weighted), np.array([0, 3, 6, 9, 12])
    omega = np.random.default_rng(1).integers(0, 5, (graph.n, len(roots))) * [1e-250, 1e-307, 1.0, 1e300, 0.0]
    plan = SweepPlan(batch=64, root_weights=np.full(graph.n, 0.25))
    state = prepare(module, graph, plan)
    for column, (root, weights) in enumerate(zip(roots, omega.T.tolist(), strict=True)):
        sums = zeros(module, graph, plan, roots)
        add(module, state, np.where(np.arange(len(roots)) == column, roots, -1), sums, omega[graph.order])
        theirs = reference.brandes(*adjacency(A), sources=[root], target_weights=weights)
        np.testing.assert_allclose(sums.dependency[0], np.array(theirs, float) / 4, rtol=1e-12)


@by_column
def test_target_weights_of_a_column_that_are_too_far_apart(module, weighted):
    graph = as_graph(GRAPHS["mesh"], directed=False, weighted=weighted)
    omega = np.ones((graph.n, 3))
    omega[:2, 1] = 1e-300, 1e300
    state, sums = prepare(module, graph, SweepPlan(batch=64)), Sums(dependency=np.zeros((1, graph.n)))
    with pytest.raises(OverflowError, match=r"column 1 are from 1e-300 to 1e\+300"):
        add(module, state, range(3), sums, omega)
    assert not sums.dependency.any()


@pytest.mark.parametrize("row", [row for row in ROWS if row.name == "graphblas"], ids=lambda row: str(row.weighted))
def test_a_method_without_target_weights_of_each_column_says_so(row):
    graph = read(row, GRAPHS["mesh"])
    with pytest.raises(NotImplementedError, match="graphblas takes no target weights per root"):
        summed(row.load(), graph, SweepPlan(batch=2), [0, 1], np.ones((graph.n, 2)))


@pytest.mark.parametrize("asked", [{"dependency"}, {"dependency", "distance"}], ids=len)
@pytest.mark.parametrize("name", GRAPHS)
@by_column
def test_paths_that_the_search_found(module, weighted, name, asked):
    A = GRAPHS[name]
    graph = as_graph(A, directed=False, weighted=weighted)
    roots = np.r_[0, -1, graph.n - 1, 7]
    state = prepare(module, graph, SweepPlan(batch=64, sums=frozenset(asked)))
    (levels,) = module.forward(state, roots)
    dist, sigma = module.paths(state, levels)
    assert dist.shape == sigma.shape == (graph.n, 4)
    assert np.isinf(dist[:, 1]).all()
    assert not sigma[:, 1].any()
    of_oracle = arrays(A, directed=False, weighted=weighted)
    for k in (0, 2, 3):
        *_, counts, far = reference._search(*of_oracle, int(roots[k]))
        far = np.array([np.inf if x < 0 else x for x in far], float)
        np.testing.assert_array_equal(dist[:, k], far[graph.order])
        np.testing.assert_array_equal(sigma[:, k], np.array(counts, float)[graph.order])
    out = np.zeros((1, graph.n))
    sums = Sums(dependency=out, distance=np.zeros((1, graph.n)) if len(asked) > 1 else None)
    module.backward(state, levels, sums)
    theirs = reference.brandes(*of_oracle, sources=[0, graph.n - 1, 7])
    np.testing.assert_allclose(out[0], theirs, rtol=1e-12, err_msg="reading changes nothing")


def test_no_paths_where_none_are_counted(weighted):
    graph = as_graph(matrix(3, [(0, 1), (1, 2)]), weighted=weighted)
    state = prepare(batched, graph, SweepPlan(batch=64, sums=frozenset({"distance"})))
    (levels,) = batched.forward(state, np.arange(3))
    with pytest.raises(ValueError, match="sigma is not there"):
        batched.paths(state, levels)


def test_absent_roots_beside_those_that_overflow(row):
    A = sp.csr_array(diamonds(350, 9))
    graph, module = as_graph(A, weighted=row.weighted), row.load()
    roots = np.r_[-1, 0, -1, graph.n - 41]
    found = list(module.forward(prepare(module, graph, SweepPlan(batch=64)), roots))
    assert np.concatenate([levels.overflowed for levels in found]).tolist() == [False, True, False, False]


def test_sums_of_too_few_rows_are_refused():
    """By every method of the GPU, whose kernels add without looking, before a launch."""
    sums = Sums(dependency=np.zeros((2, 5)), depth=np.zeros(100))
    sums.require_rows(2, 100)
    with pytest.raises(ValueError, match=r"sums\.dependency has 2 rows; the batch adds to those of 3 blocks"):
        sums.require_rows(3, 100)
    with pytest.raises(ValueError, match=r"sums\.depth has 100 rows; .* 101 roots"):
        sums.require_rows(2, 101)


# Sums of squares of what single roots add, and sums that count linearly, against one root after the other

SQUARING = [row for row in ROWS if set(row.sums) >= SQUARES]
LINEAR = frozenset({"dependency", "dependency_squares"})
squaring = pytest.mark.parametrize("row", SQUARING, ids=kind_of)


@pytest.fixture(params=["scale-free", "mesh"])
def graph(request, row):
    return read(row, GRAPHS[request.param])


def added(row, graph, roots, sums, **given):
    """Sums of one batch over all of its blocks, by their names."""
    found = summed(row.load(), graph, SweepPlan(batch=64, sums=sums, **given), roots)
    return {name: array if name == "depth" else array.sum(axis=0) for name, array in found}


def test_methods_that_auto_takes_make_squares():
    assert {row.name for row in SQUARING} == {"batched", "work-efficient", "dijkstra"}
    assert not SQUARES & set(TEXTBOOK.sums)


@squaring
def test_squares_are_those_of_single_roots(row, graph):
    asked, roots, times = frozenset(row.sums), np.arange(0, graph.n, 5)[:40], np.arange(graph.n) % 3 + 1.0
    found = added(row, graph, roots, asked, root_weights=times)
    alone = [added(row, graph, [root], asked) for root in roots]
    for name in ("dependency", "edges", "distance", "inverse"):
        often = times[roots] if name in ("dependency", "edges") else np.ones(len(roots))
        expected = sum(count * one[name] ** 2 for count, one in zip(often, alone, strict=True))
        np.testing.assert_allclose(found[f"{name}_squares"], expected, rtol=1e-12, atol=1e-12, err_msg=name)


@squaring
def test_squares_move_no_bit_of_the_sums(row, graph):
    roots, sums = np.arange(0, graph.n, 5)[:40], frozenset(row.sums)
    beside, alone = added(row, graph, roots, sums), added(row, graph, roots, sums - SQUARES)
    for name, array in alone.items():
        assert array.tobytes() == beside[name].tobytes(), name


@squaring
def test_linear_sums_over_all_roots_are_those_of_the_plain_ones(row, graph):
    if "linear" not in row.options:
        pytest.skip("takes no linear sums")
    every = np.array_split(np.arange(graph.n), 6)
    linear = sum(added(row, graph, roots, LINEAR, linear=True)["dependency"] for roots in every)
    plain = sum(added(row, graph, roots, LINEAR)["dependency"] for roots in every)
    np.testing.assert_allclose(linear, plain, rtol=1e-12, atol=1e-12)
    roots, times = every[1], np.arange(graph.n) % 3 + 1.0
    found = added(row, graph, roots, LINEAR, linear=True, root_weights=times)["dependency_squares"]
    expected = sum(times[root] * added(row, graph, [root], LINEAR, linear=True)["dependency"] ** 2 for root in roots)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@squaring
@pytest.mark.parametrize("linear", [False, True])
def test_squares_of_roots_by_numbers_of_any_size(row, graph, linear):
    """Of a root that overflows."""
    if linear and "linear" not in row.options:
        pytest.skip("takes no linear sums")
    sums = LINEAR if linear else LINEAR | {"edges", "edges_squares", "distance_squares", "inverse_squares"}
    times = np.arange(graph.n) % 3 + 1.0
    plan = SweepPlan(batch=64, sums=sums, root_weights=times, linear=linear)
    found = Sums.zeros_of_batch(np, sums, graph.n, graph.nnz, 1, 1)
    extended.add_root(graph, plan, 17, found, 0, 0)
    expected = added(row, graph, [17], sums, root_weights=times, linear=linear)
    for name, array in found:
        np.testing.assert_allclose(array[0], expected[name], rtol=1e-12, atol=1e-12, err_msg=name)


def test_squares_of_a_run_with_roots_that_overflow():
    """1100 diamonds have more shortest paths than float64 counts."""
    graph = as_graph(diamonds(1100, 2), directed=False)
    roots = np.array([0, graph.n // 2])
    settings = check_options("auto", {"device": "cpu", "reduce": "none"})
    sums = sum_request(graph, Request(sums=LINEAR, roots=roots), settings).sums
    alone = [lagbc.bc(diamonds(1100, 2), directed=False, sources=[root], reduce="none") for root in roots]
    np.testing.assert_allclose(sums.dependency, 2 * sum(alone), rtol=1e-12)
    np.testing.assert_allclose(sums.dependency_squares, 4 * sum(one**2 for one in alone), rtol=1e-12)


def test_squares_go_with_neither_endpoints_nor_bounds_and_linear_with_dependency_alone():
    with pytest.raises(InvalidValueError, match="squares"):
        SweepPlan(batch=64, sums=LINEAR, endpoints=True)
    with pytest.raises(InvalidValueError, match="linear"):
        SweepPlan(batch=64, sums=LINEAR | {"edges"}, linear=True)
