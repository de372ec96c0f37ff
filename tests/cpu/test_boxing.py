"""What compiled functions return is made without Python code, amid which a signal would strike."""

import os
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest

from lagbc.cpu.compile import njit


class Pair(NamedTuple):
    first: Any
    second: Any


@njit
def array(n):
    return np.arange(n)


@njit
def plain(n):
    return np.arange(n), n, (np.ones((2, n), np.float32), None)


@njit
def named(n):
    return Pair(np.arange(n), Pair(n, n))


@njit
def of_named(n):
    pair = named(n)
    return pair.first, pair.second.first


def as_lists(returned):
    return [as_lists(item) for item in returned] if isinstance(returned, tuple) else np.asarray(returned).tolist()


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (array, [0, 1, 2]),
        (plain, [[0, 1, 2], 3, [[[1.0] * 3] * 2, None]]),
        (named, [[0, 1, 2], [3, 3]]),
        (of_named, [[0, 1, 2], 3]),
    ],
)
def test_no_python_code_runs(function, expected):
    function(3)
    called = []

    def note(frame, event, _):
        if event == "call" and frame.f_code is not function.__code__:  # numba tells of the compiled function itself
            called.append(frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        returned = function(3)
    finally:
        sys.setprofile(before)
    assert not called
    assert as_lists(returned) == expected


def test_classes():
    assert type(array(3)) is np.ndarray
    assert type(named(3)) is type(named(3).second) is Pair
    assert named(3).second == Pair(first=3, second=3)
    assert plain(3)[2][0].dtype == np.float32


@pytest.mark.skipif(sys.implementation.name != "cpython", reason="references are counted by CPython")
def test_no_reference_is_lost_or_kept():
    counted = Pair, tuple.__new__, np.ndarray, np.dtype(np.int64)
    named(3)
    before = [sys.getrefcount(one) for one in counted]
    for _ in range(1000):
        named(3)
    after = [sys.getrefcount(one) for one in counted]
    assert np.abs(np.subtract(after, before)).max() < 100


@njit
def until(told):
    """Says that it runs in `told[0]`, and waits for `told[1]`."""
    told[0] = 1
    turns = np.zeros_like(told)
    while not told[1]:
        turns[0] += 1
    return Pair(turns, np.arange(3))


SCRIPT = """
import signal, threading, time
import numpy as np
from test_boxing import until

told = np.ones(2, np.int64)
until(told)  # compiles
told[:] = 0

def interrupt():
    while not told[0]:
        time.sleep(0.001)
    signal.raise_signal(signal.SIGINT)
    told[1] = 1

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell starts with it ignored
threading.Thread(target=interrupt).start()
try:
    until(told)
    print("returned")
    time.sleep(10)
except BaseException as error:
    print(repr(error))
"""


def test_ctrl_c_within():
    folders = os.pathsep.join(path for path in (os.path.dirname(__file__), *sys.path) if path)
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": folders}
    )
    assert process.stdout == "KeyboardInterrupt()\n", process.stderr
