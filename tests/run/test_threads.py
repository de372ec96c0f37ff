"""The threads of a run: what the system does not start, and Ctrl-C where the main thread runs it or another does."""

import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from killed import done_in
from launcher import TESTS
from strategies import scale_free

import lagbc
from lagbc.calls import stopping_by
from lagbc.errors import StoppedError
from lagbc.graph.host import distances_from
from lagbc.native.pool import Pool, polled

A = scale_free(500, 4000, seed=1)


def bc(threads):
    return lagbc.bc(A, method="batched", device="cpu", threads=threads)


@pytest.mark.parametrize("started", [1, 2])
def test_threads_that_the_system_does_not_start(start_at_most, started):
    expected = bc(threads=1)
    workers = start_at_most(started)
    np.testing.assert_array_equal(bc(threads=4), expected)
    assert len(workers) == started


def test_not_one_thread_is_started(start_at_most):
    start_at_most(0)
    with pytest.raises(MemoryError), pytest.warns(lagbc.MemoryWarning):
        bc(threads=2)


def test_the_flag_of_a_kernel_is_set_where_the_wait_ends():
    """As by a search of a large graph from a vertex."""
    asked, ended = iter([False, False, True]), threading.Event()

    def kernel(flag):
        while not flag[0]:
            pass
        ended.set()

    with pytest.raises(StoppedError), stopping_by(lambda: next(asked)):
        polled(kernel)
    assert ended.is_set()
    graph = lagbc.as_graph(scale_free(20000, 120000, seed=1), directed=False)
    asked = iter([False, True])
    with pytest.raises(StoppedError), stopping_by(lambda: next(asked)):
        distances_from(graph.csr, graph.csr, 0)


SCRIPT = """
import signal, sys, threading, time
sys.path.insert(0, {tests!r})
from concurrent.futures import ThreadPoolExecutor
from strategies import grid, with_lengths
import lagbc

def run(weighted=False):
    A, how = with_lengths(grid(150, 150), range(1, 11)), dict(method="batched", device="cpu", threads=2)
    lagbc.bc(A, weighted=weighted, progress=report, checkpoint={file!r}, **how)
    print("finished", flush=True)

def report(progress):
    print(progress.done, progress.total, flush=True)

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell starts with it ignored
{body}
"""
# The main thread runs it, or it ends and the process waits for the other, or it waits in a block of its own.
BODIES = {
    "main": "run()",
    "main, lengths": "run(weighted=True)",
    "ended": "threading.Thread(target=run).start()\ntime.sleep(100)",
    "pool": "with ThreadPoolExecutor() as pool:\n    pool.submit(run).result()",
}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("thread", BODIES)
def test_ctrl_c(tmp_path, thread):
    file = tmp_path / "run"
    code = SCRIPT.format(tests=TESTS, file=str(file), body=BODIES[thread])
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first = process.stdout.readline().split()
    process.send_signal(signal.SIGINT)
    rest, stderr = process.communicate(timeout=100)
    assert process.returncode != 0
    assert "finished" not in rest
    assert "RuntimeError" not in stderr
    assert not thread.startswith("main") or f"KeyboardInterrupt\n{file} holds what is summed so far" in stderr
    assert int(first[0]) <= done_in(file) < int(first[1])
    assert [entry.name for entry in tmp_path.iterdir()] == ["run"]


def test_another_thread_outlives_the_main_one():
    """The main thread ends of its own before the second batch is awaited."""
    code = """
import threading
import numpy as np
import lagbc

begun = threading.Event()

def report(progress):
    begun.set()
    threading.main_thread().join()

def run():
    lagbc.bc(np.ones((200, 200)), method="batched", device="cpu", threads=2, progress=report)
    print("finished", flush=True)

threading.Thread(target=run).start()
begun.wait()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "finished\n", done.stderr


def test_a_call_that_is_late():
    """Its own TimeoutError is not taken for that of the wait."""

    def late():
        raise TimeoutError("mine")

    with Pool(1) as threads, pytest.raises(TimeoutError, match="mine"):
        threads.wait_for(threads.submit(late))
