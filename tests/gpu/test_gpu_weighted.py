"""What GPU methods that take lengths have besides what every GPU method has: lengths of every kind, and schedules."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from batches import DISTANCES, EVERYTHING, OnDevice, by_the_oracle, search, sweep, zeros_of
from families import disjoint, grid, layered, matrix, path, scale_free, star, with_lengths
from strategies import UNLIKE, adjacency, lengths, oracle

import lagbc
from lagbc import reference, tuning
from lagbc.graph.validate import as_graph
from lagbc.methods.contract import SweepPlan
from lagbc.methods.sums import DEPENDENCY

REALS = np.random.default_rng(1).random(997)
# With the schedule that `choose_schedule` should take.
GRAPHS = {
    "scale-free, 1 to 10": (with_lengths(scale_free(400, 2500, seed=1), np.arange(1, 11)), "window"),
    "scale-free, 1 to 5": (with_lengths(scale_free(400, 2500, seed=1), np.arange(1, 6)), "window"),
    "scale-free, 0.1 to 1": (with_lengths(scale_free(400, 2500, seed=2), 0.1 + 0.9 * REALS), "window"),
    "scale-free, 0 to 1": (with_lengths(scale_free(400, 2500, seed=3), REALS), "window"),
    "scale-free, 1 to 1000": (with_lengths(scale_free(400, 2500, seed=4), np.arange(1, 1001)), "window"),
    "star": (with_lengths(star(1500), [1, 2, 3, 4]), "window"),
    "grid, 1 to 10": (with_lengths(grid(11, 40), np.arange(1, 11)), "one launch"),
    "grid, reals": (with_lengths(grid(11, 40), 0.1 + 0.9 * REALS), "one launch"),
    "grid, powers": (with_lengths(grid(11, 40), 2.0 ** np.arange(-20, 21)), "one launch"),
    "path": (with_lengths(path(150), 3 * REALS), "one launch"),
    "components": (
        with_lengths(disjoint(path(9), grid(5, 6), matrix(3, []), scale_free(60, 300, seed=5)), [1, 2, 3]),
        "window",
    ),
}
DELTA = next(row for row in lagbc.METHODS if row.key == ("delta-stepping", "cuda", True))
BY_DELTA = {"weighted": True, "method": "delta-stepping", "device": "cuda"}
# Some roots reach 200 levels, the others few; in sweep order the first 256 vertices are all of the second kind.
UNLIKE = with_lengths(UNLIKE, [1])


@pytest.fixture(params=["window", "one launch"])
def delta(request, cupy):
    """Delta-stepping by either schedule, for all sums in float64."""
    return OnDevice(DELTA, "float64", EVERYTHING, request.param)


@pytest.mark.parametrize("name", GRAPHS)
def test_lengths_of_every_kind(weighted_summing_gpu, name):
    gpu, (A, _) = weighted_summing_gpu, GRAPHS[name]
    roots = range(0, A.shape[0], 9)
    gpu.assert_close(gpu.summed(A, roots=roots), by_the_oracle(A, gpu.sums, weighted=True, roots=roots, number=float))


def test_ties_within_and_across_rounds(weighted_summing_gpu, directed):
    """Complete bipartite layers with two lengths, which differ by the direction."""
    gpu, A, options = weighted_summing_gpu, layered(7, 6), {"directed": directed}
    A = sp.coo_array((np.random.default_rng(3).choice([1.0, 2.0], A.nnz), A.coords), shape=A.shape)
    gpu.assert_close(gpu.summed(A, **options), by_the_oracle(A, gpu.sums, weighted=True, **options))


def test_extreme_lengths(weighted_gpu):
    """Paths nearly as long as float64 holds; lengths below the normal numbers add up exactly."""
    tiny = float(np.finfo(float).smallest_subnormal)
    for pair in ([5e307, 5.5e307], [5e307, 5e307], [tiny, 3 * tiny], [1e-300, 1e300]):
        A = sp.csr_array((pair, ([0, 1], [1, 2])), shape=(3, 3))
        ours, levels = weighted_gpu.batch(*weighted_gpu.prepared(A, endpoints=True), [0])
        assert not levels.overflowed.any()
        np.testing.assert_array_equal(ours.dependency[0].get(), [2, 2, 1])


# What a search cannot finish

# From 0, vertex 2 is no farther than 1, but no path leads there on which each edge counts.
ABSORBED = sp.csr_array(([1e20, 1.0, 5.0], ([0, 1, 2], [1, 2, 3])), shape=(4, 4))


def test_an_absorbed_length_is_told(weighted_summing_gpu):
    """The other roots of the batch are not the worse for it; distances are what they are."""
    gpu = weighted_summing_gpu
    ours, levels = gpu.batch(*gpu.prepared(ABSORBED), range(4))
    assert levels.overflowed.tolist() == [True, False, False, False]
    gpu.assert_batch_close(ours, by_the_oracle(ABSORBED, gpu.sums, weighted=True, roots=[1, 2, 3]), range(4))
    if gpu.asked == EVERYTHING:
        ours, levels = gpu.batch(*replace(gpu, asked=DISTANCES).prepared(ABSORBED), range(4))
        assert not levels.overflowed.any()
        gpu.assert_batch_close(ours, by_the_oracle(ABSORBED, DISTANCES, weighted=True, number=float), range(4))


def test_an_absorbed_length_is_named(weighted_gpu):
    with pytest.raises(ValueError, match=r"length 1\.0 of the edge \(1, 2\) is lost to rounding beside .* vertex 0"):
        weighted_gpu.bc(ABSORBED)
    options = {"sources": [1, 2]}
    weighted_gpu.assert_close(weighted_gpu.bc(ABSORBED, **options), oracle(ABSORBED, weighted=True, **options))


def test_an_absorbed_length_that_no_path_needs(weighted_summing_gpu):
    """From 0, the edges 1 -> 2 and 2 -> 1 lead on no shortest path; dijkstra hands its root on."""
    gpu = weighted_summing_gpu
    A = sp.csr_array(([1e20, 1e20, 1.0, 1.0, 1e20], ([0, 0, 1, 2, 1], [1, 2, 2, 1, 3])), shape=(4, 4))
    ours, levels = gpu.batch(*gpu.prepared(A), [0])
    assert levels.overflowed.tolist() == [gpu.row.name == "dijkstra"]
    assert gpu.row.name == "dijkstra" or ours.dependency[0].tolist() == [0, 1, 0, 0]
    np.testing.assert_array_equal(gpu.bc(A, sources=[0]), [0, 1, 0, 0])


def test_few_levels_of_many_paths(delta):
    """40**24 is beyond float32; the last layers are not."""
    gpu, A = replace(delta, dtype="float32"), with_lengths(layered(26, 40), [2.0])
    roots = np.array([0, 5, A.shape[0] - 100, A.shape[0] - 45])
    for asked, overflowed in ((EVERYTHING, [True, True, False, False]), (DISTANCES, [False] * 4)):
        gpu = replace(gpu, asked=asked)
        ours, levels = gpu.batch(*gpu.prepared(A), roots)
        assert levels.overflowed.tolist() == overflowed
        theirs = by_the_oracle(A, gpu.sums, weighted=True, roots=roots[~levels.overflowed], number=float)
        gpu.assert_batch_close(ours, theirs, roots)


# Delta-stepping: its schedules


@pytest.mark.parametrize("name", GRAPHS)
def test_the_schedule_that_is_taken(cupy, name):
    A, schedule = GRAPHS[name]
    graph, module = as_graph(A, weighted=True), DELTA.load()
    assert module.choose_schedule(graph, SweepPlan(batch=256)) == schedule
    assert module.choose_schedule(graph, SweepPlan(batch=256, at_once=True)) == "one launch"


@pytest.mark.parametrize("dist", ["float64", "float32"])
def test_distances(delta, dist):
    """Least fixed points, in each column; float32 holds them where it is taken."""
    A, _ = GRAPHS["scale-free, 1 to 10"]
    A = A * 0.1 if dist == "float64" else A
    _, state = delta.prepared(A)
    search(delta.module, state, np.arange(20))
    assert (state.lengths.dist, state.schedule) == (dist, delta.schedule)
    distances, order = state.arrays.distances.get()[0], state.rows.order.get()
    for root in range(20):
        expected = np.array(reference.count_lengths(*adjacency(A), lengths(A), root)[3])[order]
        if root in order:
            np.testing.assert_array_equal(distances[:, root], expected)


@pytest.mark.parametrize("asked", [DEPENDENCY, EVERYTHING, DISTANCES], ids=["bc", "everything", "distances"])
def test_deeper_groups(cupy, asked):
    """The window gives up on groups that have too many levels for it, among batches that it takes."""
    gpu = OnDevice(DELTA, "float64", asked, "window")
    graph, state = gpu.prepared(UNLIKE, batch=512)
    for roots, taken in ((range(200, 260), "window"), (range(40), "one launch"), (range(300, 340), "window")):
        ours, _ = gpu.batch(graph, state, roots)
        assert state.schedule == taken
        gpu.assert_batch_close(ours, by_the_oracle(UNLIKE, asked, weighted=True, roots=roots, number=float), roots)
    groups = np.concatenate([np.arange(100), np.arange(300, 456)]), np.arange(200, 300)
    roots = np.concatenate(groups)
    together = zeros_of(cupy, gpu.module, len(roots), graph, asked)
    shallow, deep = sweep(gpu.module, state, roots, together)
    np.testing.assert_array_equal(shallow.places, np.arange(256, 356))
    np.testing.assert_array_equal(deep.places, np.arange(256))
    gpu.assert_groups_alone(UNLIKE, graph, together, groups)


def test_rounds_take_what_they_need(cupy):
    """A row of bits each, and one for the round that finds nothing near."""
    gpu, A = OnDevice(DELTA, "float64", DEPENDENCY, "window"), with_lengths(grid(3, 12), [1, 2, 3, 4])
    graph, state = gpu.prepared(A)
    _, levels = gpu.batch(graph, state, range(36))
    assert len(state.arrays.near) == levels.depth + 2 < tuning.MOST_ROUNDS
    assert levels.depth > 4


def test_a_queue_grows_within_the_budget(cupy, monkeypatch):
    monkeypatch.setattr(tuning, "DELTA_FIRST_ENTRIES", 0)
    gpu, (A, _), roots = OnDevice(DELTA, "float64", DEPENDENCY, "one launch"), GRAPHS["grid, 1 to 10"], range(0, 440, 2)
    graph, state = gpu.prepared(A)
    ours, _ = gpu.batch(graph, state, roots)
    assert state.arrays.queue.shape[1] > 256
    gpu.assert_close(ours.dependency[0].get(), oracle(A, weighted=True, sources=roots))
    _, state = gpu.prepared(A, growth=0)
    with pytest.raises(MemoryError, match=r"arrays need .* bytes more than was counted, of which 0 may be taken"):
        search(gpu.module, state, np.array(roots))


# Delta-stepping: its options


@pytest.mark.parametrize("name", ["scale-free, 0 to 1", "grid, 1 to 10"])
def test_the_width_changes_no_score(cupy, name):
    A, _ = GRAPHS[name]
    expected = oracle(A, weighted=True, sources=range(30))
    for width in (1e-300, 0.01, 0.3, 2, 1e300):
        scores = lagbc.bc(A, bucket_width=width, sources=range(30), **BY_DELTA)
        np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)


NEARLY_TIED = {
    "scale-free, reals": with_lengths(scale_free(150, 900, seed=9), 0.2 + 0.8 * REALS),
    "scale-free, integers": with_lengths(scale_free(150, 900, seed=9), np.arange(1, 6)),
    "grid": with_lengths(grid(4, 30), [0.1, 0.2, 0.3, 0.6]),
    "layers": with_lengths(layered(6, 5), 0.9 + 0.2 * REALS),
}


@pytest.mark.parametrize("rtol", [1e-12, 0.05, 0.4])
@pytest.mark.parametrize("A", NEARLY_TIED.values(), ids=NEARLY_TIED)
def test_scores_with_a_tolerance(cupy, A, rtol):
    """Also with narrow windows, whose rounds are many."""
    options = {"weighted": True, "sources": range(0, A.shape[0], 4), "rtol": rtol}
    expected = lagbc.bc(A, method="batched", device="cpu", **options)
    for width in ("auto", 0.05):
        scores = lagbc.bc(A, bucket_width=width, **options | BY_DELTA)
        np.testing.assert_allclose(scores, expected, rtol=1e-11, atol=1e-11)


def test_sums_with_a_tolerance(delta):
    """0.1 + 0.2 is more than 0.3 by rounding alone; with rtol there are three shortest paths from 0 to 3."""
    A = sp.coo_array(([0.1, 0.2, 0.2, 0.1, 0.3], ([0, 1, 0, 2, 0], [1, 3, 2, 3, 3])), shape=(4, 4))
    exact, wide = (delta.summed(A, roots=[0], rtol=rtol) for rtol in (0.0, 1e-9))
    assert exact.stress.tolist() == [0, 0, 0, 0]
    assert wide.stress.tolist() == [0, 1, 1, 0]
    np.testing.assert_allclose(wide.edges, [4 / 3, 4 / 3, 1 / 3, 1 / 3, 1 / 3], rtol=1e-15)
    np.testing.assert_array_equal(wide.distance, exact.distance)
