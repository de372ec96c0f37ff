"""Cutoffs and decays on the GPU: all sums and columns against the CPU, bits, growth, counts of any size, stops."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import SPECIAL, diamonds, disjoint, grid, layered, matrix, path, scale_free, star, weighted_graphs
from strategies import with_lengths as lengthened

import lagbc
from lagbc.graph.validate import as_graph
from lagbc.methods import table, tuning
from lagbc.methods.bounds import Bounds
from lagbc.methods.contract import Interrupted, SweepPlan
from lagbc.methods.sums import Sums

DISTANCES = ("closeness", "harmonic", "eccentricity", "eccentricity_centrality", "reach")
ALL = ("bc", "edge_bc", "stress", *DISTANCES)
ROWS = {row.weighted: row for row in table.METHODS if row.bounds and row.device == "cuda"}
CUTOFFS = st.lists(st.sampled_from([0, 0.5, 1, 2, 3, 5.5, 7, 12, np.inf]), min_size=1, max_size=3)
DECAYS = st.lists(st.sampled_from([0, 0.1, 0.7]), min_size=1, max_size=2)
GRAPHS = {
    "scale-free": lengthened(scale_free(400, 1600, seed=1), [1.0, 2.0, 3.5]),
    "grid": lengthened(grid(17, 23), [1.0, 2.0, 3.0]),
    "real lengths": lengthened(grid(14, 15), np.random.default_rng(2).uniform(1, 9, 64)),
    "hub": lengthened(star(300), [1.0, 2.0]),
    "parts": lengthened(disjoint(path(60), matrix(3, []), grid(5, 6), scale_free(80, 400, seed=3)), [1.0, 4.0]),
}


@pytest.fixture(autouse=True)
def on_the_gpu(cupy):
    """Nothing here runs without one."""


def dense(scores):
    """Scores as an array; of edges all matrices."""
    if sp.issparse(scores):
        return scores.toarray()
    return np.stack([matrix.toarray() for matrix in scores]) if isinstance(scores, list) else scores


def sums(A, names=ALL, device="cuda", **given):
    found = lagbc.centralities(A, names, device=device, **given)
    return {name: dense(scores) for name, scores in found.items()}


def assert_as_on_the_cpu(A, names=ALL, **given):
    options = {name: given.pop(name) for name in ("batch", "memory") if name in given}
    ours, theirs = sums(A, names, **options, **given), sums(A, names, device="cpu", **given)
    for name in names:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-12, atol=1e-13, err_msg=name)
    return ours


def assert_same_bits(ours, theirs):
    for name, scores in theirs.items():
        np.testing.assert_array_equal(ours[name], scores, err_msg=name)


def state_of(A, *, weighted, names=("dependency", "reached"), cutoffs=(3.0, 5.0), decays=(0.0,), batch=64, **plan):
    graph, module = as_graph(A, weighted=weighted), ROWS[weighted].load()
    bounds = Bounds(np.array(cutoffs), np.array(decays))
    name = ROWS[weighted].name
    return module, module.prepare(graph, SweepPlan(batch, sums=frozenset(names), bounds=bounds, method=name, **plan))


# Every sum, every column


@given(weighted_graphs(), st.booleans(), st.booleans(), CUTOFFS)
def test_every_centrality_with_cutoffs(A, directed, weighted, cutoffs):
    assert_as_on_the_cpu(A, directed=directed, weighted=weighted, cutoff=cutoffs)


@given(weighted_graphs(), st.booleans(), st.booleans(), CUTOFFS, DECAYS)
def test_decays_and_weights(A, directed, weighted, cutoffs, decays):
    weights = np.arange(A.shape[0]) % 3 + 0.5, np.arange(A.shape[0]) % 2 + 0.25
    how = {"directed": directed, "weighted": weighted, "cutoff": cutoffs, "decay": decays, "target_weights": weights[0]}
    assert_as_on_the_cpu(A, ("bc", "edge_bc"), source_weights=weights[1], **how)
    assert_as_on_the_cpu(A, ("reach", "gravity"), **how)


@settings(max_examples=30)
@given(weighted_graphs(min_n=2), st.booleans(), st.booleans(), st.data())
def test_other_arguments(A, directed, weighted, data):
    chosen = st.lists(st.integers(0, A.shape[0] - 1), unique=True, min_size=1)
    how = {"directed": directed, "weighted": weighted, "cutoff": data.draw(st.sampled_from([1, 2, 4, 9]))}
    sources, targets = data.draw(chosen), data.draw(chosen)
    assert_as_on_the_cpu(A, ("bc",), sources=sources, endpoints=True, **how)
    assert_as_on_the_cpu(A, ("bc", "edge_bc"), sources=sources, targets=targets, **how)
    assert_as_on_the_cpu(A, ("reach",), targets=targets, **how)
    assert_as_on_the_cpu(A, ("bc",), k=A.shape[0], rng=1, normalized=True, **how)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_larger_graphs(name, weighted, directed):
    how = {"weighted": weighted, "directed": directed}
    assert_as_on_the_cpu(GRAPHS[name], (*ALL, "gravity"), cutoff=[2, 6, 11], decay=[0, 0.2], **how)
    assert_as_on_the_cpu(GRAPHS[name], ALL, cutoff=np.inf, **how)


@pytest.mark.parametrize("name", SPECIAL)
@pytest.mark.parametrize("cutoff", [0, 1, np.inf])
def test_special_graphs(name, cutoff):
    assert_as_on_the_cpu(SPECIAL[name], cutoff=cutoff)
    assert_as_on_the_cpu(SPECIAL[name], ("bc",), cutoff=[cutoff, 2], endpoints=True, directed=False)


@pytest.mark.parametrize("name", [*ALL, "gravity"])
@pytest.mark.parametrize("weighted", [False, True])
def test_one_sum_alone(name, weighted):
    """A run leaves out what it is not asked for: of distances alone no path is counted."""
    how = {"weighted": weighted, "cutoff": [2, 5]} | ({"decay": [0.3, 0.1]} if name == "gravity" else {})
    assert_as_on_the_cpu(GRAPHS["scale-free"], (name,), **how)


def test_reach_is_a_whole_number():
    A = GRAPHS["scale-free"]
    found = lagbc.reach(A, directed=False, cutoff=[1, 2, np.inf], device="cuda")
    np.testing.assert_array_equal(found, np.round(found))


@pytest.mark.parametrize("weights", [[1e-300, 1e300], [1e-310, 1.0], [2e-3, 5e8]])
def test_weights_of_targets_may_be_far_apart(weights):
    A, omega = path(40), np.resize(weights, 40)
    for function in (lagbc.bc, lagbc.reach):
        ours, theirs = (function(A, cutoff=[3, 8], target_weights=omega, device=device) for device in ("cuda", "cpu"))
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=0)


def test_a_cupy_matrix_stays_where_it_is(cupy):
    from cupyx.scipy.sparse import csr_matrix

    A = GRAPHS["scale-free"]
    for weighted in (False, True):
        ours = lagbc.bc(csr_matrix(sp.csr_matrix(A)), weighted=weighted, cutoff=[2, 4])
        assert isinstance(ours, cupy.ndarray)
        np.testing.assert_allclose(ours.get(), lagbc.bc(A, weighted=weighted, cutoff=[2, 4], device="cpu"), rtol=1e-12)


def test_float32_is_float64_within_bounds():
    A = GRAPHS["grid"]
    np.testing.assert_array_equal(
        lagbc.bc(A, cutoff=5, device="cuda", dtype="float32"), lagbc.bc(A, cutoff=5, device="cuda")
    )


# The same bits


@pytest.mark.parametrize("name", ["scale-free", "real lengths", "parts"])
@pytest.mark.parametrize("weighted", [False, True])
def test_same_bits(name, weighted, monkeypatch):
    """Whatever the run, the batch, the threads, and the room there is for balls."""
    how = {"weighted": weighted, "cutoff": [2, 6], "decay": [0.1, 0.3], "directed": False}
    names = (*ALL, "gravity")
    expected = sums(GRAPHS[name], names, **how)
    assert_same_bits(sums(GRAPHS[name], names, **how), expected)
    assert_same_bits(sums(GRAPHS[name], names, batch=32, **how), expected)
    assert_same_bits(sums(GRAPHS[name], names, threads=1, **how), expected)
    monkeypatch.setattr(tuning, "WITHIN_ROWS", 1)
    assert_same_bits(sums(GRAPHS[name], names, batch=256, **how), expected)


def test_less_memory_means_fewer_rows(monkeypatch):
    monkeypatch.setattr(tuning, "WITHIN_ROWS", 2)
    A, how = lengthened(grid(50, 60), [1.0, 2.0]), {"weighted": True, "cutoff": 4, "directed": False}
    whole, less = (lagbc.estimate_memory(A, batch, device="cuda", **how) for batch in (1024, 512))
    assert less.workspace < whole.workspace
    scores = lagbc.bc(A, 512, device="cuda", **how)
    monkeypatch.undo()
    np.testing.assert_array_equal(scores, lagbc.bc(A, device="cuda", **how))


@pytest.mark.parametrize("elsewhere", [False, True])
def test_out_of_memory_goes_on_with_fewer_roots(monkeypatch, elsewhere):
    A, how = lengthened(scale_free(3000, 9000, seed=1), [1.0, 2.0]), {"weighted": True, "cutoff": 2, "device": "cuda"}
    expected, within = lagbc.bc(A, **how), ROWS[True].load().within
    launch, tried = within._launch, []

    def out_of_memory(state, *balls):
        tried.append(state.plan.batch)
        if state.plan.batch > 256:
            raise MemoryError("none is left")
        return launch(state, *balls)

    monkeypatch.setattr(within, "_launch", out_of_memory)
    with ThreadPoolExecutor(1) as pool:
        executor = pool if elsewhere else None
        with pytest.warns(lagbc.MemoryWarning, match="delta-stepping on cuda ran out of memory; it goes on with"):
            scores = lagbc.bc(A, 1024, executor=executor, **how)
    assert tried[-1] == 256
    np.testing.assert_array_equal(scores, expected)


def test_one_gpu_as_several():
    A = GRAPHS["scale-free"]
    for weighted in (False, True):
        how = {"weighted": weighted, "cutoff": [2, 4], "directed": False}
        names = ("bc", "edge_bc", "reach")
        expected = sums(A, names, **how)
        assert_same_bits(sums(A, names, device=[0, 0, 0], **how), expected)


class Killed(BaseException):
    pass


def test_a_checkpoint_goes_on_to_the_same_bits(tmp_path, monkeypatch):
    module = ROWS[True].load()
    blocks = lagbc.methods.contract.Blocks(most=8, least=8, enough=1, at_once=5)
    monkeypatch.setattr(module, "blocks", blocks)
    how = {"weighted": True, "cutoff": [3, 6], "device": "cuda"}
    A, file, seen = GRAPHS["scale-free"], tmp_path / "run", []
    whole = lagbc.bc(A, **how)

    def stop(progress):
        seen.append(progress.done)
        if len(seen) == 7:
            raise Killed

    with pytest.raises(Killed):
        lagbc.bc(A, progress=stop, checkpoint=file, **how)
    resumed = []
    again = lagbc.bc(A, progress=lambda progress: resumed.append(progress.done), checkpoint=file, **how)
    np.testing.assert_array_equal(again, whole)
    assert resumed[0] > seen[-1]


# The cost is that of what is reached


@pytest.mark.parametrize("weighted", [False, True])
def test_nothing_beyond_the_radius_is_kept(weighted):
    A = lengthened(grid(60, 60), [1.0, 2.0])
    module, state = state_of(A, weighted=weighted)
    cpu = next(row for row in table.METHODS if row.bounds and row.device == "cpu" and row.weighted == weighted).load()
    theirs = cpu.prepare(as_graph(A, weighted=weighted), state.plan)
    roots = np.array([0, 1, -1, 60])
    for _ in range(2):  # what a block leaves does not go into the next
        ((found, overflowed),) = module.sum_within(state, [roots])
        ((expected, _),) = cpu.sum_within(theirs, [roots])
        assert sorted(found.vertices) == sorted(expected.vertices)
        assert found.roots.tolist() == [0, 1, 60]
        assert not overflowed.any()


def test_growth_keeps_to_the_budget(monkeypatch):
    monkeypatch.setattr(tuning, "WITHIN_ROWS", 1)
    A = lengthened(grid(80, 80), [1.0, 2.0])
    module, state = state_of(A, weighted=True, cutoffs=(np.inf,), batch=256, growth=1000)
    with pytest.raises(MemoryError, match="more than was counted"):
        list(module.sum_within(state, [np.arange(5)]))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_the_footprint_bounds_balls(weighted, directed):
    """Of one row, of as many edges as in the mean."""
    A = lengthened(grid(70, 70), [1.0, 2.0])
    graph, row = as_graph(A, weighted=weighted, directed=directed), ROWS[weighted]
    bounds = Bounds(np.array([3.0, 4.0]), np.zeros(1))
    plan = SweepPlan(256, sums=frozenset({"dependency", "edges", "reached"}), bounds=bounds, method=row.name)
    state, within = row.load().prepare(graph, plan), row.load().within
    (piece,) = within._pieces(state, within._finder(state), [graph.order[1000:1256]])
    expected = within._row_bytes(graph, plan, within.WARPS)
    assert 0.9 * expected <= within._bytes_of(state, piece.balls) / len(piece.balls.vertices) <= expected


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("directed", [False, True])
def test_roots_of_a_ball_that_reach_different_parts(weighted, directed):
    """Large runs have many roots in a ball: what one does not reach is no target of it, however far it may look."""
    A = lengthened(disjoint(*(path(length) for length in range(2, 20)), grid(6, 7)), [1.0, 2.0])
    graph = as_graph(A, weighted=weighted, directed=directed)
    names = frozenset({"dependency", "stress", "reached", "depth", "targets", "gravity"})
    bounds = Bounds(np.array([2.0, np.inf]), np.array([0.0, 0.2]))
    found = []
    for device in ("cuda", "cpu"):
        row = next(row for row in table.METHODS if row.bounds and (row.device, row.weighted) == (device, weighted))
        plan = SweepPlan(256, sums=names, bounds=bounds, endpoints=True, method=row.name)
        state = row.load().prepare(graph, plan)
        total = Sums.zeros(np, names, graph.n, graph.nnz, bounds)
        parts = row.load().sum_within(state, [graph.order[:150], graph.order[150:]])
        found.append(total.plus_sparse(part for part, _ in parts))
    for name, expected in found[1]:
        np.testing.assert_allclose(getattr(found[0], name), expected, rtol=1e-12, atol=1e-13, err_msg=name)


# What float64 does not hold


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_that_float64_does_not_hold(weighted):
    A, sources = diamonds(700, 3), [0, 1, 30, 400]
    for cutoff, decay, weights in ((1320, 0.0, None), (1000, 0.2, None), (1380, 0.1, 1e-300)):
        omega = None if weights is None else np.full(A.shape[0], weights)
        how = {"sources": sources, "cutoff": [5, cutoff], "decay": decay, "target_weights": omega}
        ours, theirs = (sums(A, ("bc", "edge_bc"), at, weighted=weighted, **how) for at in ("cuda", "cpu"))
        for name, scores in theirs.items():
            np.testing.assert_allclose(ours[name], scores, rtol=1e-10, atol=1e-318)


def test_all_sums_of_a_root_that_overflows():
    names, how = (*ALL, "gravity"), {"log2": True, "cutoff": [4, 690], "decay": [0.0, 0.01]}
    assert_as_on_the_cpu(diamonds(350, 3), names, **how)


def test_the_state_is_as_new_after_an_overflow():
    deep = lengthened(diamonds(1030, 2), [1.0])
    lost = sp.coo_array(([1e20, 1.0], ([0, 1], [1, 2])), shape=(3, 3))
    A = disjoint(deep, lost, lengthened(grid(9, 9), [1.0, 2.0])).tocsr()
    first = deep.shape[0]
    module, used = state_of(A, weighted=True, cutoffs=(np.inf,))
    blocks = [np.array([0, first + 5]), np.array([first, first + 20, 3, first + 40]), np.arange(first + 3, A.shape[0])]
    _, fresh = state_of(A, weighted=True, cutoffs=(np.inf,))
    for block in blocks:
        ((ours, overflowed),) = module.sum_within(used, [block])
        ((theirs, _),) = module.sum_within(state_of(A, weighted=True, cutoffs=(np.inf,))[1], [block])
        assert overflowed.tolist() == [bool(root < first + 1) for root in block]
        there, expected = np.argsort(ours.vertices), np.argsort(theirs.vertices)
        np.testing.assert_array_equal(ours.vertices[there], theirs.vertices[expected])
        np.testing.assert_array_equal(ours.sums.dependency[there], theirs.sums.dependency[expected])
    together = list(module.sum_within(fresh, blocks))
    assert [flags.sum() for _, flags in together] == [1, 2, 0]


def test_a_length_that_rounding_absorbs_is_named():
    A = lengthened(path(4), [1.0])
    A.data[:] = [1e18 if {i, j} == {0, 1} else 1.0 for i, j in zip(A.row, A.col, strict=True)]
    with pytest.raises(ValueError, match="is lost to rounding"):
        lagbc.bc(A, weighted=True, cutoff=2e18, device="cuda")
    assert lagbc.bc(A, weighted=True, cutoff=5, device="cuda").tolist() == [0, 0, 2, 0]
    assert_as_on_the_cpu(A, DISTANCES, weighted=True, cutoff=[5, 2e18])


def test_counts_past_whole_numbers_have_the_same_bits():
    A = lengthened(layered(18, 12), [1.0])
    for weighted in (False, True):
        ours = [lagbc.bc(A, batch, weighted=weighted, cutoff=17, device="cuda") for batch in (32, "auto", "auto")]
        for scores in ours[1:]:
            np.testing.assert_array_equal(scores, ours[0])
        np.testing.assert_allclose(ours[0], lagbc.bc(A, weighted=weighted, device="cpu", cutoff=17), rtol=1e-12)


# Stops


@pytest.mark.parametrize("weighted", [False, True])
def test_stop_flag(weighted):
    module, state = state_of(GRAPHS["grid"], weighted=weighted)
    state.plan.stop.set()
    with pytest.raises(Interrupted):
        list(module.sum_within(state, [np.arange(4)]))


def test_stop_in_the_middle_of_a_launch():
    """From all vertices of a long path, each of which reaches all, that would take minutes."""
    A = lengthened(path(1 << 15), [1.0])
    module, state = state_of(A, weighted=True, cutoffs=(np.inf,), batch=256)
    blocks = [np.arange(first, first + 64) for first in range(0, 1 << 15, 64)]
    list(module.sum_within(state, [np.array([5])]))  # compiles
    timer = threading.Timer(0.5, state.plan.stop.set)
    timer.start()
    try:
        with pytest.raises(Interrupted):
            list(module.sum_within(state, blocks))
    finally:
        timer.cancel()


# What is chosen, and refused


def test_what_a_call_would_do(monkeypatch):
    A = GRAPHS["grid"]
    assert lagbc.select_method(A, cutoff=3, device="cuda").method.key == ("batched", "cuda", False)
    assert lagbc.select_method(A, weighted=True, decay=1, device="cuda").method.key == ("delta-stepping", "cuda", True)
    assert lagbc.select_method(A, which="reach", device="cuda").method.device == "cuda"
    monkeypatch.setattr(tuning, "GPU_WORK", 0)
    assert lagbc.select_method(A, cutoff=3).method.device == "cpu"
    assert lagbc.select_method(A, cutoff=3, method="batched").method.device == "cuda"
    one, three = (lagbc.estimate_memory(A, cutoff=cutoffs, device="cuda") for cutoffs in (3, [1, 2, 3]))
    assert three.workspace > one.workspace
    np.testing.assert_allclose(
        lagbc.bc(A, weighted=True, cutoff=5, rtol=1e-9), lagbc.bc(A, weighted=True, cutoff=5, device="cpu"), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"method": "work-efficient"}, "work-efficient on cuda takes no cutoff or decay.*batched on cuda"),
        ({"method": "hybrid"}, "hybrid on cuda takes no cutoff or decay"),
        ({"weighted": True, "bucket_width": 0.1}, "bucket_width=0.1 takes no cutoff or decay"),
    ],
)
def test_what_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        lagbc.bc(GRAPHS["grid"], cutoff=2, device="cuda", **given)


@pytest.mark.parametrize("weighted", [False, True])
def test_ties_within_a_tolerance(weighted):
    A = lengthened(grid(9, 9), [1.0, 1.0 + 1e-9])
    how = {"weighted": True, "cutoff": [2.5, 6], "rtol": 1e-6, "directed": weighted}
    assert_as_on_the_cpu(A, ("bc", "edge_bc"), **how)
