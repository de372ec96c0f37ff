"""Figures of runs: all of a record, their roots, and the time of all roots, which a clock of its own stands in for."""

import gc
import sys

import numpy as np
import pytest
from comparison_cases import CPU, GRAPH, READY, Fake, titles
from strategies import diamonds, disjoint, distances, grid, matrix, path

import lagbc
from lagbc import tuning
from lagbc.arguments import Arguments, Read
from lagbc.centrality.compute import plan_call
from lagbc.comparison import measure
from lagbc.comparison.measure import NEIGHBOURS, OF_THE_INTERPRETER, draw_roots
from lagbc.graph import host
from lagbc.graph.validate import as_graph
from lagbc.methods.table import METHODS


def test_every_method_that_can_run_is_measured():
    table = lagbc.compare(GRAPH, 20)
    assert set(titles(table.measured)) == {(row.name, row.device) for row in READY}
    apart = {(row.name, row.device) for row in METHODS} - set(titles(table.measured))
    assert set(titles(table.skipped)) == apart
    assert len(table.records) == len(set(titles(table.records)))


def test_figures():
    graph = as_graph(GRAPH)
    roots = np.flatnonzero(graph.out_degrees)[:9]
    table = lagbc.compare(GRAPH, roots, threads=1)
    assert (table.n, table.nnz, table.directed, table.weighted) == (60, graph.nnz, True, False)
    assert (table.roots, table.threads, table.depth) == (9, 1, graph.depth)
    farthest = distances(GRAPH)[roots].max()
    for record in table.measured:
        row = next(row for row in METHODS if (row.name, row.device) == (record.method, record.device))
        assert record.formulation == row.formulation
        assert record.levels == farthest
        assert record.gteps == pytest.approx(graph.nnz / record.seconds_per_root / 1e9)
        batching = row.load().batching
        assert (record.batch, record.workers) == (batching.round(min(9, batching.auto)), 1)
        assert record.prepare_seconds > 0
        assert record.order_seconds > 0
        assert record.recomputed == 0
        assert record.agreement < 1e-12
        assert record.agrees
        assert record.checked == "lagbc.reference, 9 roots"
        if record.peak_bytes is not None:
            assert record.bytes_per_state == record.peak_bytes / (60 * record.batch)


def test_an_undirected_edge_counts_once():
    record = lagbc.compare(GRAPH, 5, methods=CPU[0].name, device="cpu", directed=False).records[0]
    assert record.gteps == pytest.approx(as_graph(GRAPH, directed=False).nnz / 2 / record.seconds_per_root / 1e9)


def test_sums_of_few_vertices_are_measured_as_a_run_makes_them(monkeypatch):
    module, found = next(row for row in CPU if row.name == "work-efficient").load(), []
    touched = module.touched
    monkeypatch.setattr(module, "touched", lambda state, levels: found.append(touched(state, levels)) or found[-1])
    (record,) = lagbc.compare(disjoint(*[path(3)] * 300), 64, methods="work-efficient", device="cpu").measured
    assert record.agrees
    assert found
    assert None not in found


def test_a_module_that_serves_several_rows_is_told_which(fake):
    names = []
    row = fake(Fake(prepare=lambda plan: names.append(plan.method)))
    (record,) = lagbc.compare(path(20), 2).measured
    assert set(names) == {row.name}
    assert record.levels is None, "its levels tell no depth"


def test_a_graph_says_itself_whether_it_is_directed():
    networkx = pytest.importorskip("networkx")
    for G in (networkx.path_graph(5), networkx.path_graph(5, networkx.DiGraph)):
        table = lagbc.compare(G, 2, device="cpu")
        assert table.directed == G.is_directed()
        assert all(record.agrees for record in table.measured)


def test_preparing_is_not_in_the_time_per_root(fake, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(measure.time, "perf_counter", lambda: now[0])

    def wait(seconds):
        now[0] += seconds

    fake(Fake(prepare=lambda plan: wait(100), forward=lambda plan: wait(0.25)))
    record = lagbc.compare(path(20), 4, batch=2, time_limit=1e9).records[0]
    assert record.prepare_seconds == 100
    assert record.seconds_per_root == 2 * 0.25 / 4


def test_ordering_has_a_column_of_its_own(fake, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(tuning, "SURVEYED", -1)  # small graphs are ordered as they are read
    monkeypatch.setattr(measure.time, "perf_counter", lambda: now[0])
    ordinary = host.degree_order

    def order_slowly(indptr):
        now[0] += 7
        return ordinary(indptr)

    monkeypatch.setattr(host, "degree_order", order_slowly)
    fake(Fake())
    record = lagbc.compare(GRAPH, 2).records[0]
    assert (record.order_seconds, record.prepare_seconds) == (7, 0)


def test_the_first_call_is_not_measured(fake, monkeypatch):
    now, first = [0.0], iter([1000.0])
    monkeypatch.setattr(measure.time, "perf_counter", lambda: now[0])

    def compile_or_run(plan):
        now[0] += next(first, 1.0)

    fake(Fake(forward=compile_or_run))
    assert lagbc.compare(path(20), 8, time_limit=100).records[0].seconds_per_root == 1 / 8


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="resident memory is read on Linux")
def test_peak_memory_is_what_a_method_touches(fake):
    fake(Fake(prepare=lambda plan: np.ones(2**23).sum()))  # 64 MiB that are given back at once
    record = lagbc.compare(path(20), 2).records[0]
    assert record.peak_bytes == pytest.approx(64 * 2**20, abs=2**21)


def test_a_method_that_runs_out_of_memory_goes_on_with_less(fake):
    def fail(plan):
        if plan.batch > 2:
            raise MemoryError

    fake(Fake(forward=fail))
    with pytest.warns(lagbc.MemoryWarning):
        assert lagbc.compare(path(20), 8, batch=8).records[0].batch == 2


def test_overflowed_roots_are_counted():
    A, roots = diamonds(350, 9), [0, 1, 3499]
    for record in lagbc.compare(A, roots, device="cpu").measured:
        assert (record.recomputed, record.agrees) == (2, None if record.agreement is None else True)
    remarks = lagbc.compare(A, roots, methods="batched", device="cpu").remarks()
    assert "path counts of 2 roots left the range of float64" in " ".join(remarks)


def test_old_objects_are_apart_while_a_method_is_timed(fake):
    """Behind its first run, which loads what it needs; those that the caller has set apart stay so."""
    apart = []
    fake(Fake(forward=lambda plan: apart.append(gc.get_freeze_count() > OF_THE_INTERPRETER)))
    gc.unfreeze()
    lagbc.compare(GRAPH, 9, device="cpu")
    assert apart[0] is False
    assert len(apart) > 2
    assert all(apart[1:])
    assert gc.get_freeze_count() <= OF_THE_INTERPRETER
    gc.freeze()
    lagbc.compare(GRAPH, 9, device="cpu")
    assert gc.get_freeze_count() > OF_THE_INTERPRETER


def test_old_objects_are_with_the_others_again_whatever_ends_it(fake):
    def interrupt(plan):
        if gc.get_freeze_count() > OF_THE_INTERPRETER:
            raise KeyboardInterrupt

    fake(Fake(forward=interrupt))
    gc.unfreeze()
    with pytest.raises(KeyboardInterrupt):
        lagbc.compare(GRAPH, 9, device="cpu")
    assert gc.get_freeze_count() <= OF_THE_INTERPRETER
    gc.freeze()


def test_roots_are_drawn_with_edges_and_again_the_same():
    graph = as_graph(matrix(50, [(v, 0) for v in range(1, 30)]))
    drawn = [draw_roots(graph, 10, seed) for seed in (0, 0, 1)]
    assert len(set(drawn[0].tolist())) == 10
    assert set(drawn[0].tolist()) <= set(range(1, 30))
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    assert sorted(draw_roots(graph, 1000, 0)) == list(range(1, 30))


def test_roots_of_a_graph_of_high_diameter_are_neighbours_in_sweep_order():
    graph = as_graph(grid(40, 40))
    position = np.empty(graph.n, int)
    position[graph.order] = np.arange(graph.n)
    length = NEIGHBOURS
    run = position[draw_roots(graph, length, 3)]
    assert np.array_equal(np.diff(run), np.ones(length - 1))
    two = position[draw_roots(graph, length + 1, 3)]
    assert len(set(two.tolist())) == length + 1
    assert sorted(draw_roots(graph, graph.n, 0)) == list(range(graph.n))


def test_roots_without_edges_do_not_count():
    assert lagbc.compare(matrix(4, [(0, 1), (1, 2)]), [3, 0, 2], device="cpu").roots == 1


def predicted(graph, planning=0.0):
    return measure.predict(graph, plan_call(graph, "bc", "auto", Read(), {}, Arguments()), planning)


@pytest.fixture
def clock(monkeypatch):
    """Let a run take ``start + per_root * roots`` seconds, the first a minute more; return the sizes of the runs."""

    def install(start, per_root):
        now, sizes = [0.0], []

        def bc(graph, *, sources, **options):
            assert len(np.unique(sources)) == len(sources)
            assert (graph.out_degrees[sources] > 0).all()
            now[0] += start + per_root * len(sources) + 60 * (not sizes)
            sizes.append(len(sources))

        monkeypatch.setattr(measure, "bc", bc)
        monkeypatch.setattr(measure.time, "perf_counter", lambda: now[0])
        return sizes

    with lagbc.config(device="cpu", threads=2):
        yield install


@pytest.mark.parametrize(
    ("graph", "share"), [(as_graph(path(20_000)), 0), (as_graph(grid(200, 100)), 1)], ids=["path", "grid"]
)
def test_what_a_root_takes_is_told_from_two_runs(clock, graph, share):
    """All edges of a path are bridges, and a grid is one block."""
    sizes = clock(0.01, 1e-4)
    found = predicted(graph, planning=7.0)
    roots = np.count_nonzero(graph.out_degrees)
    assert (found.roots, found.idle) == (roots, graph.n - roots)
    assert found.share == share
    assert found.seconds == pytest.approx(7 + share * (0.01 + 1e-4 * roots))
    assert found.swept == sizes[-1] < roots
    assert not found.is_bound
    assert sizes[:2] == [1, 1]


def test_no_run_takes_long(clock):
    graph = as_graph(grid(200, 100))
    sizes = clock(0.0, 0.05)
    found = predicted(graph)
    assert sum(sizes[1:]) * 0.05 <= 20
    assert found.seconds == pytest.approx(0.05 * found.roots)
    sizes = clock(0.0, 0.5)
    found = predicted(graph)
    assert sizes == [1, 1, 64], "ten times as long is over the limit, but roots that are searched together are swept"
    assert found.is_bound
    sizes = clock(0.0, 0.5)
    with lagbc.config(device="cpu", method="work-efficient"):
        assert predicted(graph).swept == sizes[-1] == 1


def test_with_lengths():
    found = predicted(as_graph(path(40), weighted=True))
    assert found.swept == found.roots == 40
    assert found.seconds > 0
