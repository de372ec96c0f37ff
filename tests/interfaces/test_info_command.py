"""The command `lagbc info`: what it says of a graph."""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace

import pytest
from commands import document, reason_in, reason_of, succeed

import lagbc
from lagbc import native
from lagbc.comparison import measure
from lagbc.interfaces.cli import methods
from lagbc.interfaces.cli.terminal import duration
from lagbc.limits import in_units, usable_cores
from lagbc.methods import table
from lagbc.methods.table import METHODS
from lagbc.native import level, levels
from lagbc.planning import choose


@pytest.mark.parametrize("command", ["info", "compare"])
def test_sentences_are_no_longer_than_a_terminal(command):
    """Rows of the table of measurements are."""
    lines = [line for line in succeed(command, "example:karate").splitlines() if not re.search(" c(pu|uda) ", line)]
    assert [line for line in lines if len(line) > 120 and not line.startswith("method ")] == []


def test_info_counts(write):
    path = write("%%MatrixMarket matrix coordinate pattern general\n7 7 5\n1 2\n2 1\n1 3\n3 3\n5 6\n", "graph.mtx")
    out = succeed("info", path)
    facts = dict(line.strip().split("  ", 1) for line in out.splitlines()[1:9])
    assert out.splitlines()[0] == "graph.mtx: 7 vertices, 4 directed edges"
    assert {name: value.strip() for name, value in facts.items()} == {
        "format": "Matrix Market",
        "weights": "none",
        "stored entries": "5",
        "self loops": "1 (ignored)",
        "isolated vertices": "2",
        "weak components": "4 (largest 3 vertices)",
        "out-degree": "min 0, mean 0.571, max 2",
        "in-degree": "min 0, mean 0.571, max 1",
    }
    undirected = succeed("info", path, "--undirected").splitlines()
    assert undirected[0] == "graph.mtx: 7 vertices, 3 undirected edges"
    assert undirected[7].split() == ["degree", "min", "0,", "mean", "0.857,", "max", "2"]


def test_one_is_in_the_singular(write):
    assert succeed("info", write("1 2\n")).splitlines()[0] == "graph.txt: 2 vertices, 1 directed edge"
    assert succeed("info", write("1 1\n"), "--undirected").startswith("graph.txt: 1 vertex, 0 undirected edges\n")


def test_info_tells_memory_and_method():
    out = succeed("info", "example:karate")
    graph = lagbc.as_graph(lagbc.read_graph("example:karate"))
    planned = lagbc.plan(graph)
    largest = planned.sweeps[planned.main]
    (line,) = [line for line in out.splitlines() if line.startswith("memory: ")]
    assert f"with batch {largest.batch}, threads {largest.threads}" in line
    assert f"method: {planned.method} on {planned.device}" in out
    assert reason_in(out) == reason_of(graph)


def test_info_lists_every_method():
    lines = succeed("info", "example:karate").splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:2] == ["method", "formulation"])
    shown = [line.split()[:4] for line in lines[start + 1 :][: len(METHODS)]]
    yes = {True: "yes", False: "no"}
    assert shown == [[row.name, row.formulation, row.device, yes[row.weighted]] for row in METHODS]


def test_info_says_what_methods_need_that_are_not_there(monkeypatch):
    one, two = (replace(METHODS[0], name=name, requires="no_such_library") for name in ("one", "two"))
    monkeypatch.setattr(table, "METHODS", (METHODS[0], one, two, replace(one, weighted=True)))
    *_, last = succeed("info", "example:karate").split("\n\n")
    assert last.startswith("one on cpu, two on cpu: needs no_such_library, which is not installed: pip install")
    monkeypatch.setattr(table, "METHODS", METHODS[:1])
    assert "needs" not in succeed("info", "example:karate")


def test_sizes_and_times_are_readable():
    sizes = {0: "0 B", 999: "999 B", 1500: "1.5 kB", 3 * 10**9: "3 GB", 10**15: "1000 TB"}
    assert {count: in_units(count) for count in sizes} == sizes
    times = {0.00123: "1.2 ms", 0.5: "0.5 s", 42: "42 s", 117: "120 s", 600: "10 min", 9e4: "25 h", 1e9: "12,000 days"}
    assert {seconds: duration(seconds) for seconds in times} == times


@pytest.mark.parametrize(
    ("found", "line"),
    [
        ((40.0, 1234, 0, 256, 0.5), "about 40 s for all 1,234 roots (from 256 roots swept in 0.5 s)"),
        (
            (400.0, 1234, 7, 1, 0.5, True),
            "at most about 6.7 min for all 1,234 roots (from 1 root swept in 0.5 s); "
            "vertices without out-edges, which add nothing: 7",
        ),
        ((0.5, 1234, 0, 1234, 0.5), "0.5 s for all 1,234 roots (all were swept)"),
        ((0.0, 0, 3), "none: no vertex has edges that leave it"),
    ],
)
def test_info_predicts_the_time(monkeypatch, found, line):
    monkeypatch.setattr(measure, "predict", lambda *given: measure.Prediction(*found))
    assert f"time: {line}" in succeed("info", "example:karate").splitlines()


def test_predictions_that_choose_a_method_are_told_from_the_time(monkeypatch):
    monkeypatch.setattr("lagbc.tuning.PROBE_WORK", 0)
    out = succeed("info", "example:karate")
    assert "predicted" in out
    assert "; the predictions above compare methods alone\n" in out


def test_a_large_graph_is_not_measured_unless_that_is_asked_for(monkeypatch):
    monkeypatch.setattr(methods, "_MEASURED", 155)
    monkeypatch.setattr(choose, "probe", lambda *given: pytest.fail("probed"))
    monkeypatch.setattr(measure, "predict", lambda *given: pytest.fail("swept"))
    out = succeed("info", "example:karate")
    assert "\ntime: not predicted; --measure does" in out
    assert reason_in(out) == reason_of(lagbc.as_graph(lagbc.read_graph("example:karate")), reduce="none")
    found = document("info", "example:karate")
    assert (found["time"], found["method"]["name"]) == (None, "batched")
    assert found["memory"]["total"] > 0
    monkeypatch.setattr(measure, "predict", lambda *given: measure.Prediction(0.5, 34, 0, 34, 0.5))
    assert "\ntime: 0.5 s for all 34 roots" in succeed("info", "example:karate", "--measure")
    monkeypatch.setattr(methods, "_MEASURED", 156)
    assert "\ntime: 0.5 s for all 34 roots" in succeed("info", "example:karate")
    assert "\ntime: not predicted" in succeed("info", "example:karate", "--no-measure")


def test_info_with_lengths():
    out = succeed("info", "example:lesmis", "--weighted")
    assert "taken as lengths" in out
    assert reason_in(out) == reason_of(lagbc.as_graph(lagbc.read_graph("example:lesmis"), weighted=True))
    assert "for all 77 roots" in out


@pytest.mark.parametrize(
    ("names", "said"),
    [([], "no GPU (CuPy sees no GPU)"), (["H200"], "1 GPU: 0 H200"), (["H200", "L4"], "2 GPUs: 0 H200, 1 L4")],
)
def test_info_says_which_devices_there_are(monkeypatch, names, said):
    monkeypatch.setattr(table, "gpu_names", lambda: names)
    monkeypatch.setattr(table, "why_no_gpu", lambda: "CuPy sees no GPU")
    assert f" CPU cores, {said}\n" in succeed("info", "example:karate").replace("CPU core,", "CPU cores,")
    devices = {"cores": usable_cores(), "level": level(), "levels": levels(), "gpus": names}
    assert document("info", "example:karate")["devices"] == devices


def test_info_names_the_levels_of_instructions(monkeypatch):
    assert f"\ninstructions: level {level()}; built are " in succeed("info", "example:karate")
    monkeypatch.setattr(native, "_level", "v3")
    monkeypatch.setattr(native, "_built", ["v4", "v3", "generic"])
    assert "\ninstructions: level v3; built are v4, v3, generic\n" in succeed("info", "example:karate")


def test_gpus_are_called_as_cupy_calls_them(monkeypatch):
    """Which need not be there, nor be left out of what has been imported."""
    names = ["H200", "L4"]
    runtime = SimpleNamespace(getDeviceProperties=lambda number: {"name": names[number].encode()})
    monkeypatch.setitem(sys.modules, "cupy.cuda", SimpleNamespace(runtime=runtime))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=sys.modules["cupy.cuda"]))
    monkeypatch.setattr(table, "count_gpus", lambda: len(names))
    assert table.gpu_names() == names


def test_ranks_are_counted():
    """As the command is started by ``mpiexec -n 3``."""
    ranks = ThreadPoolExecutor(1)
    ranks.size, ranks.threads = 3, 2
    with ranks, lagbc.config(executor=ranks):
        assert "\nworkers: 3 ranks, threads 2 each\n" in succeed("info", "example:karate")
        assert document("info", "example:karate")["workers"] == {"ranks": 3, "threads": 2}
    assert "workers" not in succeed("info", "example:karate")
