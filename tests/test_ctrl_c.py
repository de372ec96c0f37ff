"""Ctrl-C at any time of what runs in the main thread is a KeyboardInterrupt, and what is called next is right."""

import os
import subprocess
import sys

import pytest
from strategies import times

SCRIPT = """
import signal, sys, time
import numpy as np
sys.path.insert(0, {tests!r})
from strategies import both_ways
import lagbc

rng = np.random.default_rng(0)
tree = [(int(rng.integers(max(0, v - 5), v)), v) for v in range(1, {n})]
more = rng.integers(0, {n}, ({n} // 10, 2))
A = both_ways({n}, tree + [(i, j) for i, j in more.tolist() if i != j]).tocsr()

def call():
    return {call}

expected, again = call(), time.perf_counter()
assert np.array_equal(call(), expected)
lasts = time.perf_counter() - again

# Of this signal each comes once, after the time asked for, and nothing else is between it and the call.
signal.signal(signal.SIGALRM, signal.default_int_handler)
interrupted = 0
for delay in rng.uniform(1e-4, lasts, {tries}).tolist():
    try:
        signal.setitimer(signal.ITIMER_REAL, delay)
        call()
        interrupted -= 1
        time.sleep(delay + 0.1)
    except KeyboardInterrupt:
        interrupted += 1
assert np.array_equal(call(), expected)
print(interrupted)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timer that sends a signal")
@pytest.mark.parametrize(
    ("n", "call"),
    [
        (3000, "lagbc.shortest_path_counts(A, range(100))[1]"),
        (30000, "lagbc.plan(A, directed=False, method='batched', batch=64, memory='1GB').memory"),
        (300, "lagbc.group_bc(A, [[1, 2], [3]], directed=False, threads=1)"),
    ],
    ids=["counts", "reductions", "groups"],
)
def test_ctrl_c_at_any_time(n, call):
    code = SCRIPT.format(tests=os.path.dirname(__file__), n=n, call=call, tries=times(15))
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert process.returncode == 0, process.stderr


FIRST = """
import signal, sys
import numpy as np
import lagbc

def interrupt(frame, event, arg):
    name = getattr(arg, "__name__", "") if event.startswith("c_") else frame.f_code.co_name
    if {there}:
        sys.setprofile(None)
        signal.raise_signal(signal.SIGINT)

def call():
    return lagbc.bc((np.ones(4), np.array([1, 0, 2, 1]), np.array([0, 1, 3, 4]))).tolist()

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.setprofile(interrupt)
try:
    call()
except KeyboardInterrupt:
    print("interrupted", call())
"""


@pytest.mark.parametrize(
    "there",
    [
        "(event, name) == ('c_return', 'exec_dynamic') and 'lagbc.native.core' in str(frame.f_locals)",
        "(event, name) == ('return', '<module>') and frame.f_globals.get('__name__') == 'lagbc.scores.records'",
        "(event, name) == ('call', '__set_name__')",
    ],
    ids=["compiled", "records", "class"],
)
def test_ctrl_c_while_modules_are_loaded(there):
    """Of a compiled module, the records of centralities, a class whose attributes are told their names."""
    process = subprocess.run([sys.executable, "-c", FIRST.format(there=there)], capture_output=True, text=True)
    assert (process.stdout, process.stderr) == ("interrupted [0.0, 2.0, 0.0]\n", "")


TWICE = """
import os, signal, sys, threading, time
sys.path.insert(0, {tests!r})
from strategies import scale_free
import lagbc

A = scale_free(20000, 120000, seed=1)
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt(gap):
    time.sleep(0.15)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(gap)
    os.kill(os.getpid(), signal.SIGINT)

for number in range(12):
    try:
        try:
            threading.Thread(target=interrupt, args=(number % 6 * 5e-4,)).start()
            lagbc.bc(A, threads=2, reduce="none", device="cpu", method="batched")
            print("finished")
        except KeyboardInterrupt:
            time.sleep(0.05)
    except KeyboardInterrupt:
        pass
print("ended")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_ctrl_c_twice_in_a_row_ends_a_run_of_threads():
    code = TWICE.format(tests=os.path.dirname(__file__))
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200)
    assert process.returncode == 0, process.stderr
    assert process.stdout.split() == ["ended"]
