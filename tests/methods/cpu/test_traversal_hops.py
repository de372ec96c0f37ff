"""The traversals on the CPU: the same bits whatever carries them out, and what their modules do beyond the contract."""

from dataclasses import fields, replace
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from states import prepare, uncollected
from strategies import adjacency, diamonds, disjoint, grid, path, scale_free
from swept import summed, swept, work

import lagbc
from benchmarks.generators import with_lengths
from lagbc import reference
from lagbc.demand import weights_of_columns
from lagbc.errors import StoppedError
from lagbc.graph.validate import as_graph
from lagbc.limits import Room
from lagbc.methods import table
from lagbc.methods.contract import StopFlag, SweepPlan
from lagbc.methods.cpu import traversal
from lagbc.methods.sums import OF_BOUNDS, PATH_SUMS, Sums
from lagbc.native import core
from lagbc.planning.sweep import fit_memory, most_batch
from lagbc.run.work import Span

(ROW,) = (row for row in lagbc.METHODS if row.module == traversal.__name__ and not row.weighted)
EVERY = frozenset(field.name for field in fields(Sums)) - OF_BOUNDS
GRAPHS = {
    "mesh": grid(17, 23),
    "scale-free": scale_free(500, 5000, seed=1),
    "two parts": disjoint(path(70), grid(6, 9)),
    "overflowing": sp.block_diag([diamonds(1100, 3), grid(6, 7)], format="csr"),
}


def batch_sums(state, roots):
    """Sums of a batch of any number of blocks."""
    plan, graph = state.plan, state.graph
    rows = traversal.batching.rows(0, len(roots)).stop
    sums = Sums.zeros_of_batch(np, plan.sums, graph.n, graph.nnz, rows, len(roots))
    for levels in traversal.forward(state, roots):
        traversal.backward(state, levels, sums)
    return sums


@pytest.mark.parametrize("name", GRAPHS)
def test_same_bits(name):
    A, which = GRAPHS[name], ("bc", "edge_bc", "closeness", "harmonic")
    options = {"method": "work-efficient", "device": "cpu"}
    if name == "overflowing":  # few of its roots, which closeness does not take
        which, options["sources"] = ("bc", "edge_bc"), np.arange(A.shape[0])[::-3][:100]
    expected = lagbc.centralities(A, which, threads=1, **options)
    for threads, batch in ((1, 1), (2, 16), (3, 64), (4, 1000)):
        scores = lagbc.centralities(A, which, threads=threads, batch=batch, **options)
        for key in which:
            ours, theirs = (x[key].data if key == "edge_bc" else x[key] for x in (scores, expected))
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", GRAPHS)
def test_a_sum_has_the_same_bits_alone_and_beside_others(name):
    graph = as_graph(GRAPHS[name])
    roots, plan = np.arange(0, graph.n, 7)[:40], SweepPlan(batch=64, sums=EVERY)
    every = batch_sums(prepare(traversal, graph, plan), roots)
    # Where only distances are summed, no paths are counted, and no root overflows.
    for asked in PATH_SUMS if name == "overflowing" else EVERY:
        alone = batch_sums(prepare(traversal, graph, replace(plan, sums=frozenset({asked}))), roots)
        np.testing.assert_array_equal(getattr(alone, asked), getattr(every, asked), asked)


def test_no_paths_are_counted_where_only_distances_are_summed():
    graph = as_graph(GRAPHS["overflowing"])
    state = prepare(traversal, graph, SweepPlan(batch=16, sums=frozenset({"distance", "depth"})))
    (levels,) = traversal.forward(state, np.arange(3))
    assert not levels.overflowed.any()
    assert levels.depth == 2200


@pytest.mark.parametrize("outputs", [{"dependency"}, {"distance", "depth"}, {"stress"}, EVERY], ids=len)
@uncollected()
def test_kept_blocks_take_no_more_than_rows_of_their_sums(outputs):
    graph, plan = as_graph(ISLANDS), SweepPlan(batch=64, sums=frozenset(outputs))
    state = prepare(traversal, graph, plan)
    before, _ = core.held_memory()
    (levels,) = traversal.forward(state, np.arange(400, 464))
    assert levels.kept == 4
    of_found = levels.depths.base.nbytes + levels.overflowed.base.nbytes
    kept = core.held_memory()[0] - before - of_found
    rows = Sums.zeros_of_batch(np, plan.sums, graph.n, graph.nnz, 4, 64)
    assert 0 < kept <= sum(array.nbytes for _, array in rows)


def test_blocks_are_rows_of_their_own():
    graph, roots = as_graph(GRAPHS["mesh"]), np.arange(40)
    sums = batch_sums(prepare(traversal, graph, SweepPlan(batch=48)), roots)
    assert sums.dependency.shape[0] == 3
    for row, first in enumerate(range(0, 40, traversal.BLOCK)):
        theirs = reference.brandes(*adjacency(GRAPHS["mesh"]), sources=roots[first : first + traversal.BLOCK].tolist())
        np.testing.assert_allclose(sums.dependency[row], theirs, rtol=1e-12)


def without_kept_blocks(graph, plan):
    """Prepare a worker that keeps no block as entries."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traversal, "batching", traversal.batching._replace(auto=0))
        return prepare(traversal, graph, plan)


@pytest.mark.parametrize("name", ["parts", "mesh"])
def test_what_is_touched_is_listed_while_there_is_room_and_is_zero_once_it_is_taken(name):
    """Two roots of a small part reach one vertex in eight, all counted; those of a mesh more."""
    A = {"parts": disjoint(grid(30, 30), grid(6, 9)), "mesh": GRAPHS["mesh"]}[name]
    graph, roots = as_graph(A), np.r_[A.shape[0] - 1, A.shape[0] - 3]
    state = without_kept_blocks(graph, SweepPlan(batch=16, sums=EVERY))
    next(traversal.forward(state, np.arange(5)))  # and nobody takes it
    lists = [state.sweep.array(f"touched {kind}") for kind in ("vertices", "edges")]
    for one in lists:
        one.fill(-1)
    (levels,) = traversal.forward(state, roots)
    listed = [np.count_nonzero(one >= 0) for one in lists]
    if name == "parts":
        assert listed == [2 * 54, 2 * (5 * 9 + 6 * 8)]
    else:
        assert all(count < graph.n // 8 for count in listed), "there was no room for the second root, or for either"
    sums = Sums.zeros_of_batch(np, EVERY, graph.n, graph.nnz, 1, len(roots))
    traversal.backward(state, levels, sums)
    theirs = np.array(reference.brandes(*adjacency(A), sources=roots.tolist()))
    np.testing.assert_allclose(sums.dependency[0], theirs, rtol=1e-12)
    assert sums.edges[0].sum() == pytest.approx(sums.distance[0].sum())
    assert not any(state.sweep.array(total).any() for total in EVERY - {"depth"})


# Some roots reach much, and others next to nothing, of a few vertices or of none.
ISLANDS = sp.block_diag([grid(9, 11), *[path(4)] * 150, *[diamonds(3, 2)] * 40, sp.csr_array((60, 60))], format="csr")


@pytest.mark.parametrize(
    "asked",
    [{"dependency", "reached", "distance", "depth", "stress"}, {"edges"}, {"edges", "edges_squares", "distance"}],
    ids=len,
)
def test_blocks_that_touch_few_vertices_are_kept_apart(asked):
    """And few edges: four vertices in a row have three, each one way."""
    graph, asked = as_graph(ISLANDS), frozenset(asked)
    state, roots = prepare(traversal, graph, SweepPlan(batch=64, sums=asked)), np.arange(400, 440)
    (levels,) = traversal.forward(state, roots)
    blocks = traversal.touched(state, levels)
    assert [len(block.roots) for block in blocks] == [16, 16, 8]
    assert all(len(block.vertices) <= 16 * 4 and len(block.edges) <= 16 * 6 for block in blocks)
    assert all(len(block.vertices) == 0 for block in blocks) == (asked == {"edges"})
    rows = batch_sums(without_kept_blocks(graph, SweepPlan(batch=64, sums=asked)), roots)
    for row, block in enumerate(blocks):
        for name, array in block.sums:
            theirs = rows.depth[16 * row : 16 * row + 16] if name == "depth" else getattr(rows, name)[row]
            assert array.sum() == pytest.approx(theirs.sum())
            np.testing.assert_array_equal(array, theirs if name == "depth" else theirs[block.rows(name)])
    (levels,) = traversal.forward(state, np.arange(3))
    assert traversal.touched(state, levels) is None, "roots of the mesh reach one vertex in eight"


def test_trips_from_roots_that_reach_few_vertices_are_laid_out_at_these_alone():
    graph, roots = as_graph(ISLANDS), np.arange(400, 440)
    trips = sp.random_array(ISLANDS.shape, density=0.1, rng=1, format="csr")
    made = work(graph, roots, ROW, SweepPlan(batch=64, demand=trips))
    found = made.open(StopFlag())(Span(0, len(roots)), roots)
    assert [len(block.roots) for block in found] == [16, 16, 8]
    assert all(block.size < 16 * 4 + 16 for block in found), "as many rows as roots reach vertices"
    state, rows = prepare(traversal, graph, SweepPlan(batch=64)), made.zero_rows(np, len(roots))
    for levels in traversal.forward(state, roots):
        traversal.backward(state, levels, rows, weights_of_columns(trips, graph, roots[levels.places], np))
    assert rows.dependency.any()
    np.testing.assert_array_equal(made.as_rows(found, len(roots)).dependency, rows.dependency)


def test_kept_blocks_keep_roots_that_overflow_float32():
    """Their sums in float64 are added to rows of all vertices."""
    graph = as_graph(sp.block_diag([diamonds(140, 2), *[path(4)] * 2000], format="csr"))
    roots = np.arange(40)
    plan = SweepPlan(batch=64)
    in_float64, in_float32 = (summed(graph, roots, ROW, replace(plan, dtype=of)) for of in ("float64", "float32"))
    np.testing.assert_array_equal(in_float32.dependency, in_float64.dependency)


def test_kept_blocks_change_no_bit(weighted, monkeypatch, tmp_path):
    """In one call or in parts, whatever the batch and the threads; beside overflow, rows of roots, and demand."""
    A = with_lengths(ISLANDS) if weighted else ISLANDS
    method = "dijkstra" if weighted else "work-efficient"
    which = ("bc", "edge_bc", "stress", "closeness", "harmonic", "eccentricity")
    options = {"method": method, "device": "cpu", "weighted": weighted, "directed": True, "reduce": "none"}
    trips = sp.random_array((A.shape[0],) * 2, density=1e-3, rng=1, format="csr")

    def calls():
        for threads, batch in ((1, "auto"), (3, 16), (2, 1000)):
            yield lagbc.centralities(A, which, threads=threads, batch=batch, **options)
        for number in (1, 2, 3):
            lagbc.save_part(tmp_path / f"{number}", (number, 3), A, which, **options)
        yield lagbc.merge_parts([tmp_path / f"{number}" for number in (1, 2, 3)])
        stop = partial(next, iter([False] * 9), True)
        with pytest.raises(StoppedError):
            lagbc.centralities(A, which, checkpoint=tmp_path / "run", stop=stop, **options)
        yield lagbc.centralities(A, which, checkpoint=tmp_path / "run", **options)
        (tmp_path / "run").unlink(missing_ok=True)
        yield {"bc": lagbc.bc(A, demand=trips, **options), "edge_bc": lagbc.edge_bc(A, demand=trips, **options).data}

    with monkeypatch.context() as patched:
        patched.setattr(traversal, "touched", lambda state, levels: None)
        (expected, *others) = calls()
    first, *more = calls()
    for scores in (first, *others[:-1], *more[:-1]):
        for name in which:
            ours, theirs = (x.data if name == "edge_bc" else x for x in (scores[name], expected[name]))
            np.testing.assert_array_equal(ours, theirs)
    for name, scores in more[-1].items():
        np.testing.assert_array_equal(scores, others[-1][name])


def test_its_name_runs_without_a_gpu(monkeypatch):
    monkeypatch.setattr(table, "_count_visible", lambda: 0)
    planned = lagbc.plan(GRAPHS["mesh"], method="work-efficient")
    assert (planned.method, planned.device) == ("work-efficient", "cpu")
    assert lagbc.plan(GRAPHS["mesh"]).method == "batched"


@pytest.mark.parametrize(("roots", "threads", "batch", "workers"), [(256, 16, 16, 16), (256, 1, 64, 1), (40, 2, 32, 2)])
def test_few_roots_are_shared_out_among_all_threads(roots, threads, batch, workers):
    graph, batching = as_graph(GRAPHS["mesh"]), traversal.batching
    for given, share, most in ((None, -(-roots // threads), batch), (64, None, min(64, 16 * -(-roots // 16)))):
        taken = most_batch(ROW, batching, roots, share, given)
        plan = SweepPlan(batch=taken, threads=workers, roots=roots)
        assert fit_memory(*swept(graph, np.arange(roots), ROW, plan), Room(10**9, 10**9)).batch == most
    how = {"method": "work-efficient", "device": "cpu", "reduce": "none", "threads": threads, "memory": "1GB"}
    (sweep,) = lagbc.plan(GRAPHS["mesh"], sources=np.arange(roots), **how).sweeps
    assert (sweep.batch, sweep.threads) == (batch, workers)
