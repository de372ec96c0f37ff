"""Steps that take long are shown on stderr, and taken off again."""

import gzip
import threading
import time

import numpy as np
import pytest
from commands import run

import lagbc
from lagbc import calls
from lagbc.interfaces.cli import terminal as module
from lagbc.interfaces.cli.terminal import Steps, shown_steps
from lagbc.io import read

pytestmark = pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(module, "_AFTER", 0.0)
    monkeypatch.setattr(module, "_EVERY", 0.001)


def drawn(capsys):
    return capsys.readouterr().err


def test_a_step_is_shown_after_two_seconds(capsys, monkeypatch):
    clock = 100.0
    monkeypatch.setattr(module, "monotonic", lambda: clock)
    steps = Steps()
    with steps.step("waiting"):
        clock = 101.9
        steps.draw()
        assert drawn(capsys) == ""
        clock = 103.0
        steps.draw()
        assert "lagbc: waiting: 00:03" in drawn(capsys)
        steps.draw()
        assert "lagbc: waiting: 00:03" in drawn(capsys)
    steps.draw()
    assert drawn(capsys).strip() == "", "the line is taken off"


def test_phases_of_a_call_are_one_step_until_it_sweeps(capsys, monkeypatch):
    clock = 100.0
    monkeypatch.setattr(module, "monotonic", lambda: clock)
    steps = Steps()

    def look(seconds, text):
        nonlocal clock
        clock += seconds
        steps.draw()
        assert text in drawn(capsys) if text else drawn(capsys).strip() == ""

    with calls.record(watch=steps.phase):
        look(5, "")
        with calls.phase("order"):
            look(1.5, "")
            with calls.phase("compile"):
                look(1.5, "lagbc: compiling: 00:03")
            look(1, "lagbc: putting the graph in order: 00:04")
        look(0.05, "")
        with calls.phase("prepare"):
            look(1, "lagbc: preparing the run: 00:05")
        with calls.phase("sweep"):
            look(9, "")  # it has a bar of its own
        with calls.phase("finish"):
            look(1.5, "")
            look(1.5, "lagbc: finishing the scores: 00:03")
    look(5, "")


def test_nothing_is_drawn_unless_it_is_wanted(capsys, at_once):
    with shown_steps(False) as steps, steps.step("waiting"):
        time.sleep(0.05)
    assert drawn(capsys) == ""
    with shown_steps(True) as steps, steps.step("waiting"):
        time.sleep(0.05)
    assert "lagbc: waiting" in drawn(capsys)


def test_an_error_leaves_no_line_and_no_thread(capsys, at_once):
    def fail():
        with shown_steps(True) as steps, steps.step("waiting"):
            time.sleep(0.05)
            raise ZeroDivisionError

    before = threading.active_count()
    with pytest.raises(ZeroDivisionError):
        fail()
    assert threading.active_count() == before
    assert drawn(capsys).rpartition("\r")[2].strip() == ""


def test_commands_show_their_steps(monkeypatch, at_once, path_graph, tmp_path):
    def slowly(function):
        def slow(*arguments, **options):
            time.sleep(0.05)
            return function(*arguments, **options)

        return slow

    monkeypatch.setattr(read, "_read", slowly(read._read))
    monkeypatch.setattr("lagbc.interfaces.cli.outputs.write_array", slowly(lambda *_: None))
    out = tmp_path / "scores.npy"
    shown = run("bc", path_graph, "--progress", "--out", out).stderr
    assert f"lagbc: reading {path_graph}" in shown
    assert f"lagbc: writing {out}" in shown
    for command in (["info"], ["compare", "--device", "cpu"], ["centralities"], ["group-bc", "--group", 10]):
        assert f"lagbc: reading {path_graph}" in run(*command, path_graph, "--progress").stderr
        assert f"lagbc: reading {path_graph}" not in run(*command, path_graph).stderr, "stderr is no terminal"


# ---- reading


@pytest.mark.parametrize("compressed", [False, True])
def test_reading_tells_how_far_it_is(write, compressed):
    text = "".join(f"{i} {i + 1}\n" for i in range(300_000)).encode()
    path, seen = write(gzip.compress(text, 1) if compressed else text), []
    graph = lagbc.read_graph(path, progress=lambda done, total: seen.append((done, total)))
    size = path.stat().st_size
    assert {total for _, total in seen} == {size}
    assert max(done for done, _ in seen) == size
    assert any(0 < done < size for done, _ in seen)
    np.testing.assert_array_equal(graph.matrix.indptr, lagbc.read_graph(path).matrix.indptr)


def test_reading_draws_a_bar(capsys):
    lagbc.read_graph("example:karate", progress=True)
    assert "lagbc: reading example:karate: 100%" in drawn(capsys)
    with pytest.raises(TypeError, match="progress='yes' is neither True nor False nor a function"):
        lagbc.read_graph("example:karate", progress="yes")


def test_reading_is_interrupted_by_what_it_tells(write):
    def interrupt(done, total):
        raise KeyboardInterrupt

    for path in ("example:karate", write("1 2\n")):
        with pytest.raises(KeyboardInterrupt):
            lagbc.read_graph(path, progress=interrupt)
