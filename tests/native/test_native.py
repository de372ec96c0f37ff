"""The compiled module: levels, arguments that are refused, what kernels leave, the end of Python."""

import gc
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
from refused import refused
from strategies import path

from lagbc import native
from lagbc.graph.validate import as_graph
from lagbc.methods.cpu.batched import BatchRequest
from lagbc.native import core, csr, level, levels


def pattern(index=np.int32):
    """Return a path of three vertices."""
    return csr(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], index))


def python(*arguments, **variables):
    """Run Python, with further variables of the environment."""
    env = os.environ | variables
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=env)


def level_under(forced):
    return python("-c", "from lagbc.native import level; print(level())", LAGBC_LEVEL=forced)


def test_level_is_forced():
    assert level_under(level()).stdout.strip() == level()
    refused = level_under("v9")
    assert refused.returncode == 1
    assert "LAGBC_LEVEL=v9 is not among the levels" in refused.stderr
    running = refused.stderr.splitlines()[-1].split("runs: ")[1].split()
    assert level() in running
    assert [one for one in levels() if one in running] == running


def test_an_import_that_was_interrupted_begins_again():
    """Kernels of rows, which are in `core` then, are not added twice."""
    script = "import sys, lagbc.native as one; del sys.modules['lagbc.native']; import lagbc.native as other; "
    script += "print(other is not one and other.core is one.core)"
    process = python("-W", "error", "-c", script)
    assert (process.stdout, process.stderr) == ("True\n", "")


def test_index_types(index):
    graph = pattern(index)
    assert type(graph) is (core.Csr32 if index is np.int32 else core.Csr64)
    assert graph.indices.dtype == index
    assert [array.dtype for array in core.find_blocks(graph, np.zeros(1, np.uint8))] == [index, index]


def test_arrays_are_not_copied_and_live_as_long_as_what_views_them():
    """A graph keeps them, and a view that it gives keeps the graph."""

    class Kept(np.ndarray):
        pass

    indices = np.array([1, 0, 2, 1], np.int32).view(Kept)
    alive = weakref.ref(indices)
    view = csr(np.array([0, 1, 3, 4]), indices).indices
    assert np.shares_memory(view, indices)
    del indices
    gc.collect()
    assert alive() is not None
    assert view.tolist() == [1, 0, 2, 1]
    del view
    gc.collect()
    assert alive() is None


def test_read_only_arrays_are_taken_where_nothing_is_written():
    indices = np.array([1, 0, 2, 1], np.int32)
    indices.flags.writeable = False
    assert len(core.find_blocks(csr(np.array([0, 1, 3, 4]), indices), np.zeros(1, np.uint8))[1]) == 2


@pytest.mark.parametrize("of_c", [of_c for of_c in "lq" if np.dtype(of_c).itemsize == 8])
def test_types_of_c_of_one_size_are_one(of_c):
    indptr = np.array([0, 1, 3, 4]).astype(of_c)
    assert indptr.dtype.char == of_c
    assert np.shares_memory(csr(indptr, INDICES).indptr, indptr)


def test_an_array_of_another_order_is_read_where_the_order_is_no_matter():
    smallest, largest = np.full(3, np.inf), np.zeros(3)
    weights = np.arange(24.0).reshape(4, 6)[:, ::-2]
    core.find_extremes(weights, smallest, largest)
    np.testing.assert_array_equal(largest, weights.max(axis=0))
    core.find_extremes(np.asfortranarray(weights), smallest, largest)
    np.testing.assert_array_equal(smallest, np.where(weights > 0, weights, np.inf).min(axis=0))


INDPTR, INDICES = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)
GIVEN = {"indptr": INDPTR, "indices": INDICES, "lengths": None}
REFUSED = {
    "another type": ({"indices": INDICES.astype(np.int16)}, "indices", "of int64 .* not an array of int16"),
    "floats": ({"indices": INDICES.astype(float)}, "indices", "of int64 .* not an array of float64"),
    "another shape": ({"indices": INDICES.reshape(2, 2)}, "indices", r"one dimension, not .* shape \(2, 2\)"),
    "another order": ({"indptr": np.zeros(8, np.int64)[::2]}, "indptr", "that is not C-contiguous"),
    "another sign": ({"indptr": INDPTR.astype(np.uint64)}, "indptr", "of int64 .* not an array of uint64"),
    "durations": ({"indptr": INDPTR.astype("m8[s]")}, "indptr", "not an array of timedelta64"),
    "no alignment": ({"indptr": np.zeros(33, np.uint8)[1:].view(np.int64)}, "indptr", "that is not aligned"),
    "other bytes": ({"indptr": INDPTR.astype(">i8")}, "indptr", "not an array of >i8"),
    "no array": ({"lengths": 3}, "lengths", "or None, not of type int"),
    "a list": ({"indptr": [0, 1]}, "indptr", "not of type list"),
    "other objects": ({"indptr": INDPTR.astype(object)}, "indptr", "not an array of object"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_arrays_that_are_refused_are_named(case):
    wrong, name, reason = REFUSED[case]
    refused(TypeError, f"^{name} has to be .*{reason}", csr, **GIVEN | wrong)


def test_numbers_of_numpy_are_taken_by_each_version(index):
    rows = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], index)
    assert core.inspect(*rows, np.int64(0), np.int64(3)) == core.inspect(*rows, 0, 3) == 0
    told = r"indices has to be .* of int64 .*, not an array of float64"
    refused(TypeError, told, core.inspect, rows[0], np.ones(4), 0, 3)


def test_arrays_of_a_call_live_as_long_as_a_sweep():
    """And its flag; weights are copied."""
    graph = as_graph(path(40))
    graphs = [csr(*graph.reordered.csr), csr(*graph.reordered.transpose.csr)]
    kept, weights, flag = [*graphs, graph.order.copy(), graph.position.copy()], np.ones(40), np.zeros(1, np.uint8)
    request = BatchRequest(1e300, False, False, active=graph.active, pull_share=0.1)
    before = [sys.getrefcount(one) for one in (*kept, flag, weights)]
    sweep = core.LevelSweep32(*kept, 1, 400, -1, False, weights, None, request)
    sweep.poll(flag)
    after = [sys.getrefcount(one) for one in (*kept, flag, weights)]
    assert [now - then for now, then in zip(after, before, strict=True)] == [1, 1, 1, 1, 1, 0]
    del sweep
    gc.collect()
    assert [sys.getrefcount(one) for one in (*kept, flag, weights)] == before


def test_arrays_that_are_written_are_writable():
    total = np.zeros(3)
    total.setflags(write=False)
    told = r"has to be a writable .* of shape \(3,\) that is read-only"
    refused(TypeError, told, core.find_extremes, np.ones((2, 3)), total, np.zeros(3))


def test_what_is_no_array_or_of_another_class_is_refused():
    class Series:
        dtype, shape, flags = "int64", (3,), {}

    told = r"roots has to be .*, not an array of int64 of shape \(3,\)"
    refused(TypeError, told, core.probe_hops, pattern(), Series(), 1, np.zeros(1, np.uint8))
    told = r"^csr\(\): incompatible function arguments.*\n.*indices: ndarray\[dtype=int32"
    for wrong in ({"indices": None}, {"indice": INDICES}):
        refused(TypeError, told, csr, **GIVEN | wrong)
    for other in (5, csr(INDPTR, INDICES.astype(np.int64))):
        refused(TypeError, "incompatible function arguments", core.Csr32.indptr.fget, other)
    told = r"^find_blocks\(\): incompatible function arguments.*\n.*graph: .*Csr32"
    for wrong in (None, 3, (INDPTR, INDICES)):
        refused(TypeError, told, core.find_blocks, wrong, np.zeros(1, np.uint8))


def test_a_process_that_ends_with_objects_says_nothing():
    """As one that is interrupted does."""
    script = "import ctypes; import numpy as np; from lagbc.native import csr; "
    script += "ctypes.pythonapi.Py_IncRef(ctypes.py_object(csr(np.array([0, 1]), np.array([0]))))"
    process = python("-c", script)
    assert (process.returncode, process.stderr) == (0, "")


def test_kernels_of_daemon_threads_end_after_python():
    process = python(Path(__file__).with_name("ending.py"))
    assert (process.returncode, process.stdout, process.stderr) == (0, "", "")


# Cores


def test_results_are_in_order_of_the_parts(monkeypatch):
    monkeypatch.setattr(native, "cores", lambda: 4)
    assert native.share(lambda a, b: (a, b), [(k, -k) for k in range(100)]) == [(k, -k) for k in range(100)]
    assert native.share(lambda: 3, [()]) == [3]
    assert native.share(lambda: 3, []) == []


@pytest.mark.parametrize("most", [0, 1])
def test_threads_that_do_not_start_are_done_without(monkeypatch, start_at_most, most):
    monkeypatch.setattr(native, "cores", lambda: 4)
    start_at_most(most)
    assert native.share(lambda k: k, [(k,) for k in range(9)]) == list(range(9))


def test_an_error_of_any_thread_is_raised(monkeypatch):
    monkeypatch.setattr(native, "cores", lambda: 3)

    def fail(k):
        if k == 5:
            raise MemoryError("no more")

    with pytest.raises(MemoryError, match="no more"):
        native.share(fail, [(k,) for k in range(9)])
    assert threading.active_count() == 1 or not [t for t in threading.enumerate() if t.name.endswith("(take)")]


def test_more_threads_share_more_work(monkeypatch):
    monkeypatch.setattr(native, "cores", lambda: 32)
    entries = [0, native.SHARED_FROM - 1, native.SHARED_FROM, 4 * native.SHARED_FROM, 2**30]
    assert [native.threads_of(count) for count in entries] == [1, 1, 2, 4, 32]


@pytest.mark.parametrize("entries", [0, 5, 10**6])
def test_parts_of_rows_have_about_as_many_entries(monkeypatch, entries):
    monkeypatch.setattr(native, "cores", lambda: 4)
    lengths = np.random.default_rng(1).multinomial(entries, np.ones(300) / 300)
    indptr = np.append(0, np.cumsum(lengths))
    parts = native.parts_of_rows(indptr)
    assert [part[0] for part in parts] == [0, *(last for _, last in parts[:-1])]
    assert parts[-1][1] == 300
    assert len(parts) == (4 if entries > native.SHARED_FROM else 1)
    if len(parts) > 1:
        sizes = [indptr[last] - indptr[first] for first, last in parts]
        assert max(sizes) - min(sizes) <= 2 * lengths.max()
    assert native.parts_of_rows(np.zeros(1, np.int64)) == [(0, 0)]
