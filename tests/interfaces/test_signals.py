"""SIGINT and SIGTERM on the command line."""

import signal
import subprocess
import sys
import threading
from contextlib import suppress

import numpy as np
import pytest
from commands import run

from lagbc.centrality import compute
from lagbc.interfaces.process import Terminated, signals_raise

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process without a signal")
of_both = pytest.mark.parametrize(
    ("number", "raised"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated)]
)


def test_message_status_and_handler(monkeypatch, tmp_path):
    """The signal is sent in the middle of a run with a checkpoint, and once more while it ends."""
    file = tmp_path / "run"

    def run_call(A, call):
        try:
            file.touch()
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(compute, "run_call", run_call)
    result = run("bc", "example:karate", "--checkpoint", file)
    told = f"lagbc: terminated: {file} keeps the roots that are done; the same command goes on from there\n"
    assert (result.exit_code, result.stderr) == (143, told)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


EARLY = """
import signal
from lagbc.__main__ import run
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
signal.setitimer(signal.ITIMER_REAL, {delay})
run()
"""


@pytest.mark.parametrize("delay", [0.001, 0.005, 0.02, 0.04, 0.06, 0.08, 0.1, 0.15])
def test_ctrl_c_while_the_command_is_loaded(delay):
    """The signal comes while modules are imported, or soon after; NumPy may print a line before ours."""
    line = [sys.executable, "-c", EARLY.format(delay=delay), "info", "example:us-airports"]
    process = subprocess.run(line, capture_output=True, text=True)
    assert process.returncode == 130
    assert process.stderr.splitlines()[-1] == "lagbc: interrupted"


def test_a_handler_of_another_is_left(monkeypatch):
    received = []
    before = signal.signal(signal.SIGTERM, lambda *signals: received.append(signals))
    try:
        with signals_raise():
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert len(received) == 1


@of_both
def test_a_signal_of_which_a_library_makes_another_error(number, raised):
    """The initialization of a compiled module does so."""

    def load():
        try:
            signal.raise_signal(number)
        except KeyboardInterrupt:
            raise ImportError("umath failed to import") from None

    with pytest.raises(raised), signals_raise():
        load()


@of_both
def test_a_signal_that_a_library_loses(number, raised):
    """Python ignores the exceptions of a weak reference's callback, as of one that frees the lock of an import."""
    with pytest.raises(raised), signals_raise(), suppress(KeyboardInterrupt):
        signal.raise_signal(number)


def test_another_thread():
    """Only the main thread can set a handler."""
    entered = []

    def enter():
        with signals_raise():
            entered.append(True)

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert entered


def test_checkpoint_of_a_terminated_run(tmp_path):
    graph, file = tmp_path / "graph.txt", tmp_path / "run"
    np.savetxt(graph, np.column_stack([np.arange(20_000), np.arange(1, 20_001)]), "%d")
    program = "from lagbc.interfaces.cli import main; main()"
    arguments = ["bc", graph, "--method", "batched", "--device", "cpu", "--reduce", "none"]
    arguments += ["--checkpoint", file, "--progress"]
    process = subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], stderr=subprocess.PIPE, text=True)
    said = ""
    while "GTEPS" not in said:  # the bar after the first batch
        said += process.stderr.read(1)
        assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=100)
    assert process.returncode == 143
    assert stderr.splitlines()[-1].startswith(f"lagbc: terminated: {file} keeps the roots that are done")
    assert np.load(file)["done"].sum() > 0
