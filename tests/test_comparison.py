"""`lagbc.compare`: what the table holds, that it finds wrong scores, why methods are skipped, and how it is shown."""

import itertools
import sys
from dataclasses import FrozenInstanceError, replace
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner
from strategies import diamonds, distances, grid, matrix, path, scale_free

import lagbc
from lagbc.comparison import compare as comparison
from lagbc.graph.validate import as_graph
from lagbc.interfaces.cli import main
from lagbc.methods import table as methods
from lagbc.methods.contract import Batching
from lagbc.methods.table import METHODS

READY = [row for row in METHODS if row.available and not row.weighted and find_spec(row.module) is not None]
CPU = [row for row in READY if row.device == "cpu"]
GRAPH = scale_free(60, 400, seed=1)


def titles(records):
    return [(record.method, record.device) for record in records]


def only(table, row):
    (record,) = (record for record in table.records if (record.method, record.device) == (row.name, row.device))
    return record


@pytest.fixture
def no_reference(monkeypatch):
    """As for a graph that is too large for the reference."""
    monkeypatch.setattr(comparison, "_REFERENCE_VISITS", 0)


@pytest.fixture
def only_rows(monkeypatch):
    """Let METHODS be these rows."""

    def install(*rows):
        for module in (comparison, methods):
            monkeypatch.setattr(module, "METHODS", rows)

    return install


class Fake:
    """A method in one line: each root adds 1 to every vertex; what happens on its way is up to the test."""

    options = frozenset()

    def __init__(self, prepare=lambda plan: None, forward=lambda plan: None, auto=64):
        self.on_prepare, self.on_forward = prepare, forward
        self.batching = Batching(block=1, auto=auto)

    def footprint(self, graph, plan):
        return graph.n * plan.batch

    def prepare(self, graph, plan):
        return plan, self.on_prepare(plan)

    def forward(self, state, roots):
        self.on_forward(state[0])
        yield SimpleNamespace(places=np.arange(len(roots)), roots=roots, overflowed=np.zeros(len(roots), bool))

    def backward(self, state, levels, sums, omega=None):
        sums.dependency[0] += len(levels.roots)


@pytest.fixture
def fake(monkeypatch, only_rows):
    """Put a `Fake` in the place of all methods; return its row."""

    def install(module, **changes):
        monkeypatch.setitem(sys.modules, "fake_method", module)
        row = replace(METHODS[0], name="fake", module="fake_method", block=1, widest=None, concurrent=False, **changes)
        only_rows(row)
        return row

    return install


# ---- what the table holds


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
        assert (record.batch, record.workers) == (row.round_batch(9), 1)
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


def test_a_module_that_serves_several_rows_is_told_which(fake):
    names = []
    row = fake(Fake(prepare=lambda plan: names.append(plan.method)))
    assert lagbc.compare(path(20), 2).measured
    assert set(names) == {row.name}


def test_a_graph_says_itself_whether_it_is_directed():
    networkx = pytest.importorskip("networkx")
    for G in (networkx.path_graph(5), networkx.path_graph(5, networkx.DiGraph)):
        table = lagbc.compare(G, 2, device="cpu")
        assert table.directed == G.is_directed()
        assert all(record.agrees for record in table.measured)


def test_nothing_can_be_changed():
    table = lagbc.compare(GRAPH, 2, device="cpu")
    with pytest.raises(FrozenInstanceError):
        table.n = 0
    with pytest.raises(FrozenInstanceError):
        table.records[0].gteps = 1.0
    assert isinstance(table.records, tuple)


def test_preparing_is_not_in_the_time_per_root(fake, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(comparison.time, "perf_counter", lambda: now[0])

    def wait(seconds):
        now[0] += seconds

    fake(Fake(prepare=lambda plan: wait(100), forward=lambda plan: wait(0.25)))
    record = lagbc.compare(path(20), 4, batch=2, time_limit=1e9).records[0]
    assert record.prepare_seconds == 100
    assert record.seconds_per_root == 2 * 0.25 / 4


def test_ordering_has_a_column_of_its_own(fake, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(comparison.time, "perf_counter", lambda: now[0])
    ordinary = lagbc.graph.graph.degree_order

    def order_slowly(degrees):
        now[0] += 7
        return ordinary(degrees)

    monkeypatch.setattr(lagbc.graph.graph, "degree_order", order_slowly)
    fake(Fake())
    record = lagbc.compare(GRAPH, 2).records[0]
    assert (record.order_seconds, record.prepare_seconds) == (7, 0)


def test_the_first_call_is_not_measured(fake, monkeypatch):
    now, first = [0.0], iter([1000.0])
    monkeypatch.setattr(comparison.time, "perf_counter", lambda: now[0])

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
    for record in lagbc.compare(diamonds(700, 3), [0, 1, 2799], device="cpu").measured:
        assert (record.recomputed, record.agrees) == (2, None if record.agreement is None else True)
        assert "path counts of 2 roots left the range of float64" in " ".join(
            lagbc.compare(diamonds(700, 3), [0, 1, 2799], methods=record.method, device="cpu").remarks()
        )


# ---- roots


def test_roots_are_drawn_with_edges_and_again_the_same():
    graph = as_graph(matrix(50, [(v, 0) for v in range(1, 30)]))
    drawn = [comparison._draw(graph, 10, seed) for seed in (0, 0, 1)]
    assert len(set(drawn[0].tolist())) == 10
    assert set(drawn[0].tolist()) <= set(range(1, 30))
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    assert sorted(comparison._draw(graph, 1000, 0)) == list(range(1, 30))


def test_roots_of_a_deep_graph_are_neighbours_in_sweep_order():
    graph = as_graph(grid(40, 40))
    position = np.empty(graph.n, int)
    position[graph.order] = np.arange(graph.n)
    length = max(row.block for row in METHODS)
    run = position[comparison._draw(graph, length, 3)]
    assert np.array_equal(np.diff(run), np.ones(length - 1))
    two = position[comparison._draw(graph, length + 1, 3)]
    assert len(set(two.tolist())) == length + 1
    assert sorted(comparison._draw(graph, graph.n, 0)) == list(range(graph.n))


def test_roots_without_edges_do_not_count():
    assert lagbc.compare(matrix(4, [(0, 1), (1, 2)]), [3, 0, 2], device="cpu").roots == 1


# ---- agreement


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
    assert only(table, row).agrees is False
    assert only(table, row).agreement > 1e-7
    assert all(record.agrees for record in table.measured if record is not only(table, row))
    assert f"{row.name} on cpu is WRONG" in table.to_markdown()


@pytest.mark.skipif(len(CPU) < 2, reason="it takes two")
def test_on_a_large_graph_methods_are_checked_against_the_cpu(monkeypatch, no_reference):
    trusted, other = CPU[:2]
    table = lagbc.compare(GRAPH, 30, device="cpu")
    assert table.records[0] is only(table, trusted), "it is measured first"
    assert (only(table, trusted).agreement, only(table, trusted).agrees, only(table, trusted).checked) == (
        None,
        None,
        "",
    )
    assert only(table, other).checked == f"{trusted.name} on cpu, 30 roots"
    assert only(table, other).agrees
    spoil(monkeypatch, other, scale_all)
    record = only(lagbc.compare(GRAPH, 30, device="cpu"), other)
    assert record.agreement == pytest.approx(1e-6, rel=1e-3)
    assert record.agrees is False


@pytest.mark.skipif(len(CPU) < 2, reason="it takes two")
def test_the_cpu_is_asked_even_if_it_is_not_measured(no_reference):
    trusted, other = CPU[:2]
    table = lagbc.compare(GRAPH, 30, methods=[other.name], device="cpu")
    assert titles(table.records) == [(other.name, "cpu")]
    assert table.records[0].checked == f"{trusted.name} on cpu, 30 roots"
    assert table.records[0].agrees


def test_between_small_and_large_both_are_asked(monkeypatch):
    visits = GRAPH.shape[0] + as_graph(GRAPH).nnz
    monkeypatch.setattr(comparison, "_REFERENCE_VISITS", 9 * visits)
    table = lagbc.compare(GRAPH, 30, device="cpu")
    assert only(table, CPU[0]).checked == "lagbc.reference, 8 roots"
    for row in CPU[1:]:
        assert only(table, row).checked == f"lagbc.reference, 8 roots; {CPU[0].name} on cpu, 30 roots"
    spoil(monkeypatch, CPU[0], scale_all)
    assert not any(record.agrees for record in lagbc.compare(GRAPH, 30, device="cpu").measured)


def test_difference():
    assert comparison._difference(np.zeros(3), np.zeros(3)) == 0
    assert comparison._difference(np.zeros(0), np.zeros(0)) == 0
    assert comparison._difference(np.array([1.0, 3.0]), np.array([1.0, 4.0])) == 0.25
    assert comparison._difference(np.array([0.0, 0.0]), np.array([0.0, 1e-300])) == 1
    for bad in (np.nan, np.inf, -np.inf):
        assert comparison._difference(np.array([bad, 0.0]), np.array([1.0, 0.0])) == np.inf


# ---- reasons to skip


def test_not_installed(only_rows):
    missing = replace(METHODS[0], name="missing", requires="no_such_library", extra="nothing")
    only_rows(METHODS[0], missing)
    reason = only(lagbc.compare(GRAPH, 2), missing).skipped
    assert reason == "no_such_library is not installed; pip install 'lagbc[nothing]'"


def test_no_gpu(only_rows, monkeypatch):
    monkeypatch.setattr(methods, "_sees_gpu", lambda: False)
    gpu = replace(METHODS[0], name="gpu", device="cuda")
    only_rows(METHODS[0], gpu)
    assert only(lagbc.compare(GRAPH, 2), gpu).skipped == "there is no NVIDIA GPU that CuPy sees"


def test_over_the_memory_budget(monkeypatch):
    monkeypatch.setenv("LAGBC_MEMORY", "10kB")
    table = lagbc.compare(GRAPH, 2, device="cpu")
    for record in (only(table, row) for row in CPU):
        assert record.skipped.startswith(f"{record.method} on cpu with batch=")
        assert "the budget is 1e+04" in record.skipped


def test_too_slow_by_an_estimate(fake, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(comparison.time, "perf_counter", lambda: now[0])

    def wait(plan):
        now[0] += 5

    fake(Fake(forward=wait), auto_batch=1)
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
    assert titles(table.measured) == [("hops", "cpu"), (METHODS[0].name, "cpu")]
    table = lagbc.compare(GRAPH, 2, weighted=True)
    assert only(table, hops).skipped == "for hops only, lengths are not read"
    assert "lengths" in table.headline
    assert len(table.records) == 3, "a name that does both is there once"


def test_weighted_methods_agree_with_the_reference():
    A = scale_free(60, 400, seed=2).tocsr()
    A.data = np.random.default_rng(3).integers(1, 6, A.nnz).astype(float)
    table = lagbc.compare(A, 20, weighted=True, device="cpu")
    assert table.weighted
    for record in table.measured:
        assert record.agrees
        assert record.checked == "lagbc.reference, 20 roots"
    assert {(row.name, row.device) for row in METHODS if row.weighted and row.available and row.device == "cpu"} == set(
        titles(table.measured)
    )


def test_ctrl_c_ends_it(monkeypatch):
    def interrupt(state, roots):
        raise KeyboardInterrupt

    monkeypatch.setattr(CPU[-1].load(), "forward", interrupt)
    with pytest.raises(KeyboardInterrupt):
        lagbc.compare(GRAPH, 2, device="cpu")


@pytest.mark.parametrize(
    ("error", "message", "arguments"),
    [
        (ValueError, "there is no 'fast'; there are 'all' and", {"methods": ["fast"]}),
        (ValueError, "device='tpu' is not", {"device": "tpu"}),
        (ValueError, "none of nothing is there for device='cpu'|there is no 'nothing'", {"methods": "nothing"}),
        (ValueError, "roots=0: it is a count", {"roots": 0}),
        (ValueError, "sources holds 60, which is not a vertex", {"roots": [60]}),
        (TypeError, "roots='all' is not an integer", {"roots": "all"}),
        (ValueError, "dtype='float16' is not one of float64, float32", {"dtype": "float16"}),
        (ValueError, "time_limit=0", {"time_limit": 0}),
        (TypeError, "time_limit='1'", {"time_limit": "1"}),
        (ValueError, "bucket_width=2.0 means nothing to", {"bucket_width": 2.0}),
        (TypeError, "batch='wide'", {"batch": "wide"}),
        (ValueError, "threads=0", {"threads": 0}),
    ],
)
def test_wrong_arguments(error, message, arguments):
    with pytest.raises(error, match=message):
        lagbc.compare(GRAPH, **arguments)


def test_graphs_with_nothing_to_compare():
    with pytest.raises(ValueError, match="A has no edge between two vertices"):
        lagbc.compare(matrix(3, [(1, 1)]))
    with pytest.raises(ValueError, match="no edge leaves any of the roots"):
        lagbc.compare(matrix(3, [(0, 1)]), [1, 2])


# ---- how it is shown


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


def test_markdown_names_what_was_skipped(only_rows):
    only_rows(METHODS[0], replace(METHODS[0], name="missing", requires="no_such_library", extra=""))
    text = lagbc.compare(GRAPH, 2).to_markdown()
    assert "\n\n- missing on cpu not measured: no_such_library is not installed; pip install no_such_library\n" in text


def test_methods_skipped_for_the_same_reason_share_a_line(only_rows):
    gone = [replace(METHODS[0], name=name, requires="no_such_library", extra="") for name in ("one", "two")]
    only_rows(METHODS[0], *gone)
    (line,) = lagbc.compare(GRAPH, 2).reasons()
    assert line == "one on cpu, two on cpu not measured: no_such_library is not installed; pip install no_such_library"


def test_headline():
    table = lagbc.compare(path(3), 5, device="cpu", directed=False, threads=1)
    assert table.headline == "3 vertices, 2 undirected edges; 3 roots; 1 CPU thread"


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
    pytest.importorskip("matplotlib")
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
    widths = [bar.get_width() for container in times.containers for bar in container]
    assert widths == [pytest.approx(record.seconds_per_root * 1e3) for record in fastest_last]
    assert [text.get_text() for text in times.texts] == [f"{record.gteps:.3g} GTEPS" for record in fastest_last]
    assert "missing on cpu not measured: no_such_library is not installed" in figure.get_supxlabel()
    assert {text.get_text() for text in figure.legends[0].get_texts()} == {"semiring, cpu"}


def test_plot_says_where_memory_was_not_measured(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(comparison, "_trim", lambda: False)
    table = lagbc.compare(GRAPH, 2, device="cpu")
    assert all(record.peak_bytes is None and record.bytes_per_state is None for record in table.measured)
    memories = table.plot().axes[1]
    assert [text.get_text() for text in memories.texts] == ["not measured"] * len(table.measured)
    assert all(text.xy[0] >= memories.get_xlim()[0] for text in memories.texts)


def test_plot_of_nothing_measured(only_rows):
    pytest.importorskip("matplotlib")
    only_rows(replace(METHODS[0], requires="no_such_library"))
    figure = lagbc.compare(GRAPH, 2).plot()
    assert "no_such_library is not installed" in figure.get_supxlabel()


# ---- lagbc compare


def run(*arguments):
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


def test_command(tmp_path):
    pytest.importorskip("matplotlib")
    result = run("example:karate", "--roots", 10, "--device", "cpu", "--plot", tmp_path / "karate.svg")
    assert result.exit_code == 0, result.output
    titles_, *rows = result.stdout.split("\n\n")[0].splitlines()
    assert titles_.split()[:3] == ["method", "formulation", "device"]
    assert [row.split()[:3] for row in rows] == [
        [row.name, row.formulation, "cpu"] for row in METHODS if row.device == "cpu" and not row.weighted
    ]
    assert "karate: 34 vertices, 78 undirected edges; 10 roots" in result.stdout
    assert (tmp_path / "karate.svg").stat().st_size > 0


def test_command_says_why_it_skips(only_rows):
    only_rows(METHODS[0], replace(METHODS[0], name="missing", requires="no_such_library", extra=""))
    result = run("example:karate", "--roots", 2)
    assert result.exit_code == 0
    assert "skipped: no_such_library is not installed" in result.stdout


def test_command_fails_if_scores_are_wrong(monkeypatch):
    spoil(monkeypatch, CPU[0], scale_all)
    result = run("example:karate", "--roots", 5, "--methods", CPU[0].name, "--device", "cpu")
    assert result.exit_code == 1
    assert f"{CPU[0].name} on cpu is WRONG: it differs from lagbc.reference, 5 roots" in result.stdout


def test_command_takes_strengths_and_lengths():
    for option in ("--weighted", "--strength"):
        result = run("example:lesmis", "--roots", 5, "--device", "cpu", option)
        assert result.exit_code == 0, result.output
        assert "with lengths" in result.stdout


def test_command_ends_with_one_line_if_an_argument_is_wrong():
    result = run("example:karate", "--methods", "slow,fast")
    assert result.exit_code == 2
    assert result.stderr.startswith("lagbc: error: methods: there is no 'slow'")
