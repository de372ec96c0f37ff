"""Skipped methods, wrong arguments and wrong scores of a comparison, shown as Markdown, in pandas and as a figure."""

import gc
import itertools
import sys
from dataclasses import replace
from importlib.util import find_spec
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from comparison_cases import CPU, GRAPH, Fake, only, titles
from figures import assert_labels_apart
from strategies import diamonds, disjoint, distances, grid, matrix, path, with_lengths

import lagbc
from lagbc import tuning
from lagbc.arguments import Arguments, Read
from lagbc.centrality.compute import plan_call
from lagbc.comparison import compare, measure
from lagbc.comparison.measure import NEIGHBOURS, OF_THE_INTERPRETER, _relative_difference, draw_roots
from lagbc.graph import host
from lagbc.graph.validate import as_graph
from lagbc.methods import table as methods
from lagbc.methods.table import METHODS


def test_not_installed_but_asked_for_by_name(only_rows):
    missing = replace(METHODS[0], name="missing", requires="no_such_library")
    only_rows(METHODS[0], missing)
    with pytest.raises(lagbc.MissingDependencyError, match="'missing' on cpu needs no_such_library, which is not"):
        lagbc.compare(GRAPH, 2, methods=[METHODS[0].name, "missing"])


def test_a_name_on_two_devices_is_measured_where_it_runs(only_rows, monkeypatch):
    monkeypatch.setattr(methods, "_count_visible", lambda: 0)
    only_rows(METHODS[0], replace(METHODS[0], device="cuda", requires=""))
    table = lagbc.compare(GRAPH, 2, methods=METHODS[0].name)
    assert titles(table.measured) == [(METHODS[0].name, "cpu")]
    assert titles(table.skipped) == [(METHODS[0].name, "cuda")]
    assert table.skipped[0].skipped == "it needs an NVIDIA GPU, and CuPy sees none"


def test_over_the_memory_budget(monkeypatch, empty_process):
    monkeypatch.setenv("LAGBC_MEMORY", "10kB")
    table = lagbc.compare(GRAPH, 2, device="cpu")
    for record in (only(table, row) for row in CPU):
        assert record.skipped.startswith(f"{record.method} on cpu with batch=")
        assert "the budget is 10 kB" in record.skipped


def test_too_slow_by_an_estimate(fake, passed):
    fake(Fake(forward=lambda plan: passed(5), auto=1))
    (record,) = lagbc.compare(path(200), 100, time_limit=60).records
    assert record.skipped == (
        "too slow: 8 roots took 40 s, so that 64 would take up to 3.2e+02 s, and the time limit is 60 s"
    )
    assert not lagbc.compare(path(200), 100, time_limit=1000).skipped


def test_a_method_that_fails_is_recorded_and_the_others_go_on(monkeypatch):
    def fail(graph, plan):
        raise RuntimeError("no such luck")

    row = CPU[-1]
    monkeypatch.setattr(row.load(), "prepare", fail)
    table = lagbc.compare(GRAPH, 2, device="cpu")
    assert only(table, row).skipped == "failed: RuntimeError: no such luck"
    assert len(table.measured) == len(CPU) - 1


def test_hops_and_lengths_are_not_mixed(only_rows):
    hops, lengths = replace(METHODS[0], name="hops"), replace(METHODS[0], name="lengths", weighted=True)
    both = METHODS[0], replace(METHODS[0], weighted=True)
    only_rows(hops, lengths, *both)
    table = lagbc.compare(GRAPH, 2)
    assert only(table, lengths).skipped == "for lengths only, with weighted=True"
    assert sorted(titles(table.measured)) == sorted([("hops", "cpu"), (METHODS[0].name, "cpu")]), "as fast as the other"
    table = lagbc.compare(GRAPH, 2, weighted=True)
    assert only(table, hops).skipped == "for hops only, lengths are not read"
    assert "lengths" in table.headline
    assert len(table.records) == 3, "a name that does both is there once"


def test_ctrl_c_ends_it(monkeypatch):
    def interrupt(state, roots):
        raise KeyboardInterrupt

    monkeypatch.setattr(CPU[-1].load(), "forward", interrupt)
    with pytest.raises(KeyboardInterrupt):
        lagbc.compare(GRAPH, 2, device="cpu")


def test_ways_of_one_method_are_rows_of_their_own(monkeypatch):
    monkeypatch.setattr(lagbc.Method, "available", True)
    asked = ["hybrid:8", "hybrid", "hybrid:32"]
    rows = compare._choose_rows(asked, "cuda", weighted=False)
    assert [row.name for row in rows] == asked
    assert compare._choose_rows(["hybrid", "hybrid"], "cuda", weighted=False) == [rows[1]]
    for wrong in ("hybrid:3", "auto", 3):
        with pytest.raises(ValueError, match=f"there is no {wrong!r} on cuda for hops"):
            compare._choose_rows([*asked, wrong], "cuda", weighted=False)


def test_what_is_not_given_is_as_config_says():
    with lagbc.config(threads=1, bucket_width=2.0, memory="2GB"):
        table = lagbc.compare(GRAPH, 2, device="cpu")
        assert lagbc.compare(GRAPH, 2, methods="batched", device="cpu", threads=2).threads == 2
        with pytest.raises(ValueError, match=r"bucket_width=3\.0 means nothing to"):
            lagbc.compare(GRAPH, 2, device="cpu", bucket_width=3.0)
    assert table.threads == 1
    assert {record.method for record in table.measured} == {row.name for row in CPU}
    with lagbc.config(memory=1):
        (record,) = lagbc.compare(GRAPH, 2, methods="batched", device="cpu").records
    assert "the budget is 1" in record.skipped


def spoil(monkeypatch, row, change):
    """Let a method change what it adds."""
    module = row.load()
    backward = module.backward

    def wrong(state, levels, sums, omega=None):
        backward(state, levels, sums, omega)
        change(sums.dependency)

    monkeypatch.setattr(module, "backward", wrong)


def scale_all(delta):
    delta *= 1 + 1e-6


def shift_one(delta):
    delta[:, 7] += 1e-3


def lose_one(delta):
    delta[:, 7] = np.nan


@pytest.mark.parametrize("row", CPU, ids=lambda row: row.name)
@pytest.mark.parametrize("change", [scale_all, shift_one, lose_one])
def test_a_wrong_method_is_found(monkeypatch, row, change):
    spoil(monkeypatch, row, change)
    table = lagbc.compare(GRAPH, 30, device="cpu")
    wrong = only(table, row)
    assert (wrong.agrees, wrong.agreement > 1e-7) == (False, True)
    assert all(record.agrees for record in table.measured if record is not wrong)
    assert f"{row.name} on cpu is WRONG" in table.to_markdown()


@pytest.mark.skipif(len(CPU) < 2, reason="it takes two")
def test_on_a_large_graph_methods_are_checked_against_the_cpu(monkeypatch, no_reference):
    trusted, other = CPU[:2]
    table = lagbc.compare(GRAPH, 30, device="cpu")
    assert table.records[0] is only(table, trusted), "it is measured first"
    first = only(table, trusted)
    assert (first.agreement, first.agrees, first.checked) == (None, None, "")
    assert only(table, other).checked == f"{trusted.name} on cpu, 30 roots"
    assert only(table, other).agrees
    spoil(monkeypatch, other, scale_all)
    record = only(lagbc.compare(GRAPH, 30, device="cpu"), other)
    assert 0.999e-6 < record.agreement < 2.001e-6, "a batch may be of two blocks, and the first be changed twice"
    assert record.agrees is False


@pytest.mark.skipif(len(CPU) < 2, reason="it takes two")
def test_the_cpu_is_asked_even_if_it_is_not_measured(no_reference):
    trusted, other = CPU[:2]
    named = lagbc.compare(GRAPH, 30, methods=[other.name, trusted.name], device="cpu")
    assert [record.checked for record in named.records] == ["", f"{trusted.name} on cpu, 30 roots"]
    table = lagbc.compare(GRAPH, 30, methods=[other.name], device="cpu")
    assert titles(table.records) == [(other.name, "cpu")]
    assert table.records[0].checked == f"{trusted.name} on cpu, 30 roots"
    assert table.records[0].agrees


def test_between_small_and_large_both_are_asked(monkeypatch):
    visits = GRAPH.shape[0] + as_graph(GRAPH).nnz
    monkeypatch.setattr(measure, "_REFERENCE_VISITS", 9 * visits)
    table = lagbc.compare(GRAPH, 30, device="cpu")
    assert only(table, CPU[0]).checked == "lagbc.reference, 8 roots"
    for row in CPU[1:]:
        assert only(table, row).checked == f"lagbc.reference, 8 roots; {CPU[0].name} on cpu, 30 roots"
    spoil(monkeypatch, CPU[0], scale_all)
    assert not any(record.agrees for record in lagbc.compare(GRAPH, 30, device="cpu").measured)


def test_difference():
    assert _relative_difference(np.zeros(3), np.zeros(3)) == 0
    assert _relative_difference(np.zeros(0), np.zeros(0)) == 0
    assert _relative_difference(np.array([1.0, 3.0]), np.array([1.0, 4.0])) == 0.25
    assert _relative_difference(np.array([0.0, 0.0]), np.array([0.0, 1e-300])) == 1
    for bad in (np.nan, np.inf, -np.inf):
        assert _relative_difference(np.array([bad, 0.0]), np.array([1.0, 0.0])) == np.inf


def test_markdown():
    table = lagbc.compare(GRAPH, 5, device="cpu")
    headline, _, titles_, rule, *lines = table.to_markdown().splitlines()
    assert headline == f"**{table.headline}**"
    assert titles_.startswith("| method | formulation | device | ms per root | GTEPS |")
    columns = titles_.count("|")
    assert rule == "|" + "---|" * (columns - 1)
    rows = list(itertools.takewhile(lambda line: line.startswith("|"), lines))
    assert [row.count("|") for row in rows] == [columns] * len(table.measured)
    assert [row.split(" | ")[0] for row in rows] == [f"| {record.method}" for record in table.measured]
    assert table._repr_markdown_() == table.to_markdown()


def test_methods_skipped_for_the_same_reason_share_a_line(only_rows):
    gone = [replace(METHODS[0], name=name, requires="no_such_library") for name in ("one", "two")]
    only_rows(METHODS[0], *gone)
    (line,) = [line for line in lagbc.compare(GRAPH, 2).to_markdown().splitlines() if line.startswith("- ")]
    said = "- one on cpu, two on cpu not measured: it needs no_such_library, which is not installed: pip"
    assert line.startswith(said)


def test_pandas_has_to_be_installed(monkeypatch):
    table = lagbc.compare(GRAPH, 2, device="cpu")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(lagbc.MissingDependencyError, match="pip install pandas"):
        table.to_pandas()
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=list))
    rows = table.to_pandas()
    assert [row["method"] for row in rows] == [record.method for record in table.records]
    assert rows[0]["gteps"] == table.records[0].gteps


def test_progress_and_report(capsys):
    seen = []
    table = lagbc.compare(GRAPH, 2, device="cpu", progress=True, report=seen.append)
    assert tuple(seen) == table.records
    assert f"{CPU[0].name} on cpu" in capsys.readouterr().err


def test_plot(tmp_path, only_rows):
    only_rows(*CPU, replace(METHODS[0], name="missing", requires="no_such_library"))
    table = lagbc.compare(GRAPH, 5)
    figure = table.plot(tmp_path / "table.png", title="scale-free")
    assert (tmp_path / "table.png").stat().st_size > 0
    times, memories = figure.axes
    assert figure.get_suptitle() == f"scale-free: {table.headline}"
    assert times.get_xlabel() == "milliseconds per root"
    assert memories.get_xlabel() == "MiB at the peak"
    assert times.get_xscale() == "log"
    fastest_last = sorted(table.measured, key=lambda record: -record.seconds_per_root)
    assert [label.get_text() for label in times.get_yticklabels()] == [record.title for record in fastest_last]
    bars = sorted((bar for container in times.containers for bar in container), key=lambda bar: bar.get_y())
    widths = [bar.get_width() for bar in bars]
    assert widths == [pytest.approx(record.seconds_per_root * 1e3) for record in fastest_last]
    assert [text.get_text() for text in times.texts] == [f"{record.gteps:.3g} GTEPS" for record in fastest_last]
    assert "missing on cpu not measured: it needs no_such_library, which is not installed" in figure.get_supxlabel()
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {f"{row.formulation}, cpu" for row in CPU}


def test_plot_says_where_memory_was_not_measured(monkeypatch):
    monkeypatch.setattr(measure, "_trim", lambda: False)
    table = lagbc.compare(GRAPH, 2, device="cpu")
    assert all(record.peak_bytes is None and record.bytes_per_state is None for record in table.measured)
    memories = table.plot().axes[1]
    assert [text.get_text() for text in memories.texts] == ["not measured"] * len(table.measured)
    assert all(text.xy[0] >= memories.get_xlim()[0] for text in memories.texts)


@pytest.mark.parametrize(("fast", "slow"), [(3.7e-4, 3.7e-4), (1.0, 2.5), (2e-3, 9e-3)])
def test_labels_of_a_decade_are_several_and_apart(fast, slow):
    table = lagbc.compare(GRAPH, 1, device="cpu")
    one = table.measured[0]
    records = tuple(replace(one, seconds_per_root=value, peak_bytes=int(value * 2**30)) for value in (fast, slow))
    figure = replace(table, records=records).plot()
    figure.draw_without_rendering()
    for axes in figure.axes:
        assert_labels_apart(axes.xaxis, least=3)


def test_plot_of_nothing_measured():
    figure = lagbc.compare(GRAPH, 2, time_limit=1e-12).plot()
    assert "too slow" in figure.get_supxlabel()


# Measurements


def test_figures(weighted):
    """Every method that can run is measured, and those that can not are told."""
    A = with_lengths(GRAPH, np.arange(1, 6))
    graph = as_graph(A, weighted=weighted)
    roots = np.flatnonzero(graph.out_degrees)[:9]
    table = lagbc.compare(A, roots, threads=1, weighted=weighted)
    assert (table.n, table.nnz, table.directed, table.weighted) == (60, graph.nnz, True, weighted)
    assert (table.roots, table.threads, table.depth) == (9, 1, graph.depth)
    rows = {(row.name, row.device): row for row in METHODS if row.weighted == weighted}
    there = {key for key, row in rows.items() if row.available and find_spec(row.module) is not None}
    assert set(titles(table.measured)) == there
    assert set(titles(table.skipped)) == {(row.name, row.device) for row in METHODS} - there
    assert len(table.records) == len(set(titles(table.records)))
    farthest = distances(GRAPH)[roots].max()
    for record in table.measured:
        row = rows[record.method, record.device]
        assert record.formulation == row.formulation
        assert weighted or record.levels == farthest
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
    table = lagbc.compare(path(3), 5, device="cpu", directed=False, threads=1)
    assert table.headline == "3 vertices, 2 undirected edges; 3 roots; 1 CPU thread"
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
    for G in (nx.path_graph(5), nx.path_graph(5, nx.DiGraph)):
        table = lagbc.compare(G, 2, device="cpu")
        assert table.directed == G.is_directed()
        assert all(record.agrees for record in table.measured)


def test_preparing_is_not_in_the_time_per_root(fake, passed):
    fake(Fake(prepare=lambda plan: passed(100), forward=lambda plan: passed(0.25)))
    record = lagbc.compare(path(20), 4, batch=2, time_limit=1e9).records[0]
    assert record.prepare_seconds == 100
    assert record.seconds_per_root == 2 * 0.25 / 4


def test_ordering_has_a_column_of_its_own(fake, passed, monkeypatch):
    monkeypatch.setattr(tuning, "SURVEYED", -1)  # small graphs are ordered as they are read
    ordinary = host.degree_order
    monkeypatch.setattr(host, "degree_order", lambda indptr: passed(7) or ordinary(indptr))
    fake(Fake())
    record = lagbc.compare(GRAPH, 2).records[0]
    assert (record.order_seconds, record.prepare_seconds) == (7, 0)


def test_the_first_call_is_not_measured(fake, passed):
    first = iter([1000.0])
    fake(Fake(forward=lambda plan: passed(next(first, 1.0))))
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
def clock(monkeypatch, passed):
    """Let a run take ``start + per_root * roots`` seconds, the first a minute more; return the sizes of the runs."""

    def install(start, per_root):
        sizes = []

        def bc(graph, *, sources, **options):
            assert len(np.unique(sources)) == len(sources)
            assert (graph.out_degrees[sources] > 0).all()
            passed(start + per_root * len(sources) + 60 * (not sizes))
            sizes.append(len(sources))

        monkeypatch.setattr(measure, "bc", bc)
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
