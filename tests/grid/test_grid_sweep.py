"""A graph in blocks has the scores of one that is whole, by ranks that are threads of this process."""

from functools import partial
from threading import Barrier
from types import SimpleNamespace

import numpy as np
import on_threads
import pytest
from every_call import assert_same
from hypothesis import given
from hypothesis import strategies as st
from killed import done_in
from on_threads import ALL, GRAPHS, HERE, SHAPES, each_on_grid, on_grid, parts_of, require_close, scores
from strategies import diamonds, disjoint, graphs, grid, layered, matrix, oracle, path, scale_free, star, vertex_weights

import lagbc
from lagbc import tuning
from lagbc.graph.graph import Graph
from lagbc.grid import sweep
from lagbc.methods import table
from lagbc.methods.contract import bytes_of
from lagbc.methods.cpu import block
from lagbc.methods.sums import DEPENDENCY
from lagbc.planning.population import arrays_of_sequence
from lagbc.scores.records import DISTANCES


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("A", GRAPHS, ids=range(3))
def test_sums_of_one_process(A, directed, shape):
    on_threads.require_sums_of_one_process(shape, A, directed=directed)


@pytest.mark.parametrize("sample", [{}, {"k": 50, "rng": 2, "standard_error": True}], ids=["all roots", "sample"])
def test_distances_of_one_process(sample):
    A, call = scale_free(200, 700, seed=3), partial(lagbc.distances, **sample)
    found = on_grid((2, 2), A, call, directed=False, sums=DISTANCES.sums)
    np.testing.assert_allclose(found, call(A, directed=False), rtol=1e-12)
    directed = np.array(on_grid((2, 2), A, call, directed=True, sums=DISTANCES.sums))
    np.testing.assert_allclose(directed[..., :-1], np.array(call(A, directed=True))[..., :-1], rtol=1e-12)
    assert np.isnan(directed[..., -1]).all()  # the radius: no rank has all edges


@given(graphs(max_n=9), st.sampled_from(SHAPES), st.booleans(), st.booleans())
def test_any_graph_on_any_grid(A, shape, directed, spread):
    """Of fewer vertices than ranks, without edges, with loops and duplicates; against the textbook."""
    found = on_grid(shape, A, lagbc.bc, directed=directed, spread=spread)
    np.testing.assert_allclose(found, oracle(A, directed=directed), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("arguments", on_threads.ARGUMENTS, ids="-".join)
def test_arguments(arguments, directed):
    on_threads.require_scores_of_one_process(arguments, directed=directed)


@given(graphs(max_n=14), st.sampled_from(SHAPES), st.data())
def test_trees_are_folded(A, shape, data):
    """Of forests and graphs with trees, from some roots and to some targets; against the textbook."""
    n = A.shape[0]
    given = {
        "sources": data.draw(st.none() | st.permutations(range(n)).map(lambda order: order[: n // 2])),
        "target_weights": data.draw(st.none() | vertex_weights(n)),
        "source_weights": data.draw(st.none() | vertex_weights(n)),
    }
    found = on_grid(shape, A, lambda graph: lagbc.bc(graph, **given), directed=False, folds=True)
    expected = lagbc.bc(A, directed=False, reduce="none", device="cpu", **given)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("A", [path(150), star(70), disjoint(path(9), grid(5, 6), star(5)), scale_free(200, 300, 1)])
def test_larger_trees_are_folded(A):
    expected = lagbc.bc(A, directed=False, reduce="none", device="cpu")
    for spread in (True, False):
        found = on_grid((2, 2), A, lagbc.bc, directed=False, folds=True, spread=spread)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-9)
    sampled = on_grid((1, 2), A, lambda graph: lagbc.bc(graph, k=20, rng=1), directed=False, folds=True)
    expected = lagbc.bc(A, k=20, rng=1, directed=False, reduce="none", device="cpu")
    np.testing.assert_allclose(sampled, expected, rtol=1e-12, atol=1e-9)


def test_weights_of_folded_trees_do_not_cancel():
    """Of a tree two deep the pairs through its inner vertices are few, beside all pairs."""
    inner = 20_000
    A = matrix(1 + 2 * inner, [(0, v) for v in range(1, inner + 1)] + [(v, v + inner) for v in range(1, inner + 1)])
    random = np.random.default_rng(1)
    weights = {name: random.uniform(0.5, 1.5, A.shape[0]) for name in ("source_weights", "target_weights")}
    found = on_grid((1, 2), A, lambda graph: lagbc.bc(graph, **weights), directed=False, folds=True)
    s, t = weights.values()
    leaves = slice(inner + 1, None)
    others = (s.sum() - s[1 : inner + 1] - s[leaves]), (t.sum() - t[1 : inner + 1] - t[leaves])
    expected = s[leaves] * others[1] + others[0] * t[leaves]
    np.testing.assert_allclose(found[1 : inner + 1], expected / 2, rtol=1e-12)


def test_folded_graphs_give_betweenness_alone():
    with pytest.raises(ValueError, match="betweenness alone"):
        on_grid((1, 2), path(9), lagbc.closeness, directed=False, folds=True)


def test_functions_that_deal_no_graph():
    """A communicator is read only by functions that share out their work."""
    with pytest.raises(ValueError, match="takes no graph that is dealt"):
        lagbc.plan(grid(4, 5), comm=SimpleNamespace(Get_rank=lambda: 0), grid=(1, 2))
    with pytest.raises(ValueError, match="pass comm=, too"):
        lagbc.bc(grid(4, 5), grid=(1, 2))
    with pytest.raises(ValueError, match="pass grid=, too"):
        lagbc.bc(grid(4, 5), overlap=True)


@pytest.mark.parametrize("shape", [(2, 2), (1, 2)])
def test_the_same_bits(monkeypatch, shape):
    """Whoever passes the entries, with more grids, batches in flight, and slices of any length."""
    A, call = scale_free(200, 1300, seed=2), scores(ALL)
    expected, ranks = on_grid(shape, A, call), 2 * shape[0] * shape[1]
    for how in ({"spread": False}, {"overlap": True}, {"ranks": ranks, "overlap": True}):
        assert_same(on_grid(shape, A, call, **how), expected)
    monkeypatch.setattr(tuning, "GRID_SLICE", 7)
    for share in (0.0, 2.0):
        monkeypatch.setattr(tuning, "BATCHED_PULL_SHARE", share)
        assert_same(on_grid(shape, A, call), expected)


def test_standard_errors():
    """By smaller calls with the same grids, one after the other."""
    A, given = GRAPHS[0], {"k": 60, "rng": 3, "standard_error": True}
    found = on_grid((2, 2), A, lambda graph: lagbc.bc(graph, **given), overlap=True)
    np.testing.assert_allclose(found, lagbc.bc(A, reduce="none", device="cpu", **given), rtol=1e-12, atol=1e-12)


def test_overflow_is_refused():
    """Path counts past the range are named, never wrong; sums of distances need none."""
    A = diamonds(370, 8)
    with pytest.raises(OverflowError, match="more shortest paths than float64 holds"):
        on_grid((1, 2), A, lambda graph: lagbc.bc(graph, sources=[0]))
    expected = lagbc.closeness(A, sources=[0], device="cpu")
    found = on_grid((1, 2), A, lambda graph: lagbc.closeness(graph, sources=[0]))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        *(({"which": "edge_bc"}, "sums of edges"), ({"cutoff": 2}, "cutoff"), ({"batch": 8}, "batch=8")),
        *(({"method": "graphblas"}, "graphblas"), ({"threads": 7}, "threads=7"), ({"reduce": "all"}, "reduce='all'")),
        *(({"demand": np.ones((20, 20))}, "demand"), ({"bucket_width": 8}, "bucket_width")),
    ],
)
def test_sums_that_are_not_made(given, words):
    with pytest.raises(ValueError, match=f"{words}.*not available for a graph that is dealt over a grid"):
        on_grid((1, 2), grid(4, 5), lambda graph: lagbc.centralities(graph, **{"which": "bc"} | given))


def test_gpus_that_are_not_there(monkeypatch):
    """Asked for by name they are an error of all ranks; else the CPU sweeps."""
    monkeypatch.setattr(table, "count_gpus", lambda: 0)
    A = grid(4, 5)
    with pytest.raises(ValueError, match="device='cuda': rank 0 sees no GPU"):
        on_grid((1, 2), A, lagbc.bc, device="cuda")
    np.testing.assert_array_equal(on_grid((1, 2), A, lagbc.bc, device="auto"), on_grid((1, 2), A, lagbc.bc))


def test_weights_too_far_apart_are_refused():
    weights = np.array([2.0**-1000, 2.0**1000] * 10)
    with pytest.raises(OverflowError, match="too far apart"):
        on_grid((1, 2), grid(4, 5), lambda graph: lagbc.bc(graph, target_weights=weights))


@pytest.mark.parametrize(
    ("shape", "parts", "words"),
    [
        ((2, 2), parts_of(grid(3, 3), 3), "grid=2x2 takes 4 ranks or a multiple; there are 3"),
        ((1, 2), [grid(3, 3), grid(2, 2)], "9 on rank 0, 4 on rank 1"),
        ((1, 2), [None, None], "no rank passes a matrix"),
    ],
)
def test_parts_that_do_not_fit_together(shape, parts, words):
    assert all(words in str(error) for error in each_on_grid(shape, parts, lagbc.bc))


def test_an_error_of_one_rank_that_counts_edges(monkeypatch):
    def on_host(graph):
        if graph.nnz == 1:
            raise ZeroDivisionError("of rank 1")
        return graph

    monkeypatch.setattr(Graph, "on_host", property(on_host))
    monkeypatch.setattr(on_threads, "Barrier", partial(Barrier, timeout=30))
    found = each_on_grid((1, 2), [grid(3, 3), matrix(9, [(0, 1)])], lagbc.bc)
    assert [str(error) for error in found] == ["of rank 1"] * 2


LARGE = scale_free(3000, 20_000, seed=1)


def shape_of(graph):
    return tuple(graph.deal.shape)


def test_the_smallest_grid_that_fits():
    """With much memory a grid of one rank each, with less all ranks, and then an error."""
    assert on_grid("auto", LARGE, shape_of, ranks=4) == (1, 1)
    assert on_grid("auto", LARGE, shape_of, ranks=4, memory=4_200_000) == (2, 2)
    with pytest.raises(MemoryError, match="start more ranks"):
        on_grid("auto", LARGE, shape_of, ranks=4, memory=1000)


@pytest.mark.parametrize("asked", ["auto", (2, 2)])
def test_a_grid_without_room_is_refused_before_dealing(monkeypatch, asked):
    monkeypatch.setattr("lagbc.grid.deal.deal_graph", None)
    with pytest.raises(MemoryError, match=r"a rank of a 2x2 grid needs .* start more ranks"):
        on_grid(asked, LARGE, lagbc.bc, ranks=4, memory=1_000_000)


def test_the_smallest_grid_that_fits_an_estimate():
    """It has room for the confidence sequence, too."""
    sums, room = DEPENDENCY | {"dependency_squares"}, 8_300_000
    assert on_grid("auto", LARGE, shape_of, ranks=1, memory=room) == (1, 1)
    with pytest.raises(MemoryError, match="start more ranks"):
        on_grid("auto", LARGE, lagbc.bc, ranks=1, memory=room, sums=sums)
    room += bytes_of(arrays_of_sequence(3000))
    assert on_grid("auto", LARGE, shape_of, ranks=1, memory=room, sums=sums) == (1, 1)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2)])
@pytest.mark.parametrize("A", [grid(60, 60), LARGE], ids=["mesh", "scale-free"])
def test_rows_of_levels_are_counted(monkeypatch, A, shape):
    """On a mesh each root of a batch may find a vertex in a level of its own."""
    found, search = [], sweep.Cell._search

    def noted(cell, numbers):
        levels, overflowed = yield from search(cell, numbers)
        found.append(sum(level.bytes for level in levels))
        return levels, overflowed

    def call(graph):
        stated = graph.grids.site.arrays(graph.deal.size, DEPENDENCY)["passing"]["levels"]
        lagbc.bc(graph, k=64, rng=1)
        return bytes_of({"levels": stated})

    monkeypatch.setattr(sweep.Cell, "_search", noted)
    stated = on_grid(shape, A, call, directed=False)
    assert max(found) <= stated < 4 * max(found)


def test_a_graph_larger_than_a_rank_may_hold():
    """On four ranks it runs; in one process with the same memory it does not."""
    A, memory = layered(30, 60), 3_000_000
    roots = {"sources": np.arange(64)}
    with pytest.raises(MemoryError):
        lagbc.bc(A, device="cpu", reduce="none", memory=memory, **roots)
    found = on_grid((2, 2), A, lambda graph: lagbc.bc(graph, memory=memory, **roots))
    np.testing.assert_allclose(found, lagbc.bc(A, device="cpu", reduce="none", **roots), rtol=1e-12)


def test_progress():
    """Each batch is told."""
    A, seen = grid(20, 20), []

    def call(graph):
        return lagbc.bc(graph, progress=lambda progress: seen.append(progress.done))

    on_grid((1, 2), A, call)
    assert seen[-1] == 400
    assert len(seen) >= 6


def test_checkpoint_is_gone_on_with(tmp_path):
    A, path = grid(20, 20), tmp_path / "run.npz"

    def interrupted(progress):
        if progress.done >= 128:
            raise ZeroDivisionError

    def call(graph):
        return lagbc.bc(graph, checkpoint=path, progress=interrupted)

    with pytest.raises(ZeroDivisionError):
        on_grid((2, 2), A, call)
    assert 128 <= done_in(path) < 400
    expected = on_grid((2, 2), A, lagbc.bc)
    np.testing.assert_array_equal(on_grid((2, 2), A, lambda graph: lagbc.bc(graph, checkpoint=path)), expected)
    with pytest.raises(lagbc.CheckpointError):
        on_grid((1, 2), A, lambda graph: lagbc.bc(graph, checkpoint=path))


OF_LEVELS = "pack pack_bits take take_bits enter leave reached multiply add found finish settle"
# Steps of a rank's rows in a sweep, and which call of each fails.
STEPS = dict.fromkeys(OF_LEVELS.split(), 7) | {"want": 2}
STEPS |= dict.fromkeys(("begin", "unwant", "clear_sums", "path_sums", "distance_sums"), 1)


@pytest.fixture
def failing(monkeypatch):
    """Have a step of a rank's rows fail, in one call."""

    def fail(name, rank, at, error):
        step, calls = getattr(block._HostRows, name), []

        def noted(*given, **how):
            if HERE.rank == rank:
                calls.append(name)
                if len(calls) == at:
                    raise error
            return step(*given, **how)

        monkeypatch.setattr(block._HostRows, name, noted)

    return fail


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("step", STEPS)
def test_an_error_in_a_sweep_is_one_of_all_and_grids_go_on(failing, step, overlap):
    """Of a rank that leads no other one; the next call sweeps with the same grids."""
    A, names = grid(9, 9), ["bc", "closeness", "stress"]
    failing(step, 3, STEPS[step], ZeroDivisionError("of rank 3"))

    def call(graph):
        with pytest.raises(ZeroDivisionError, match="of rank 3"):
            lagbc.centralities(graph, names)
        return lagbc.centralities(graph, names)

    found = on_grid((2, 2), A, call, overlap=overlap)
    require_close(found, lagbc.centralities(A, names, reduce="none", device="cpu"))


def in_words(call, ranks=2):
    """Make a call on grids of two ranks that fails; return the error of each."""
    return [repr(error) for error in each_on_grid((1, 2), parts_of(grid(9, 9), ranks), call)]


@pytest.mark.parametrize("ranks", [2, 4])
def test_an_error_that_ends_a_call_is_one_of_all(failing, ranks):
    """Of another grid, too."""
    failing("finish", ranks - 1, 7, ZeroDivisionError("of the last rank"))
    assert in_words(lagbc.bc, ranks) == ["ZeroDivisionError('of the last rank')"] * ranks


def test_ctrl_c_comes_before_other_errors(failing):
    failing("settle", 0, 2, ZeroDivisionError())
    failing("settle", 1, 2, KeyboardInterrupt())
    assert in_words(lagbc.bc) == ["KeyboardInterrupt()"] * 2


def test_rows_without_memory_are_an_error_of_all(failing):
    failing("__init__", 1, 1, MemoryError())
    found = each_on_grid((1, 2), parts_of(grid(9, 9), 2), lagbc.bc)
    assert all(isinstance(error, MemoryError) for error in found)
    assert "too little memory for its part" in str(found[0].__cause__)


class Untold:
    """A result that cannot be pickled."""

    def __reduce__(self):
        raise ZeroDivisionError("not told")


def report(progress):
    raise ZeroDivisionError("not told")


@pytest.mark.parametrize(
    "call",
    [lambda graph: lagbc.bc(graph, progress=report), lambda graph: Untold()],
    ids=["of the rank that adds", "of a result that cannot be told"],
)
def test_an_error_of_the_first_rank_is_one_of_all(call):
    assert in_words(call) == ["ZeroDivisionError('not told')"] * 2


def test_a_fault_of_the_way_of_messages_ends_all(monkeypatch):
    """No rank can tell the others."""

    def fail(*given):
        if HERE.rank == 3:
            raise ZeroDivisionError("of rank 3")
        return settle(*given)

    settle = sweep.Cell._shared
    monkeypatch.setattr(sweep.Cell, "_shared", fail)
    found = each_on_grid((2, 2), parts_of(grid(9, 9), 4), lagbc.bc)
    assert all(isinstance(error, BaseException) for error in found)
    assert "of rank 3" in str(found[3])
