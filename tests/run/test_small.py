"""Runs of small graphs: no thread, no look at free memory, nothing left behind; short runs take no thread, either."""

import gc
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from states import uncollected
from strategies import oracle, scale_free, with_lengths
from swept import estimate

import lagbc
from lagbc import limits, tuning
from lagbc.methods import table
from lagbc.methods.cpu import batched
from lagbc.reduce.blocks import SmallBlocks

SMALL, LARGE = scale_free(70, 400, seed=1), scale_free(1500, 8000, seed=1)


@pytest.fixture
def refuse(monkeypatch):
    """Whoever starts a thread or looks up what memory is free is refused, by what it wanted."""

    def start(self):
        raise RuntimeError("a thread")

    def look(root):
        raise LookupError("free memory")

    monkeypatch.delenv("LAGBC_MEMORY", raising=False)
    monkeypatch.setattr(threading.Thread, "start", start)
    monkeypatch.setattr(limits, "_available", look)


def test_a_small_run_needs_nothing_of_the_machine(refuse, weighted):
    A = with_lengths(SMALL, [1, 2]) if weighted else SMALL
    given = {"weighted": weighted, "method": "batched", "device": "cpu", "threads": 2}
    np.testing.assert_allclose(lagbc.bc(A, **given), oracle(A, weighted=weighted), rtol=1e-12)
    assert set(lagbc.centralities(A, **given)) == {"bc", "closeness", "harmonic", "eccentricity", "stress"}
    assert estimate(A, **given).total <= limits.TINY_RUN


def test_a_run_of_few_bytes_looks_for_none(refuse):
    given = {"method": "batched", "device": "cpu", "threads": 1, "reduce": "none"}
    needed = estimate(LARGE, **given)
    assert limits.TINY_RUN < needed.total <= limits.SMALL_RUN["cpu"] == needed.budget
    assert needed.is_small
    np.testing.assert_allclose(lagbc.bc(LARGE, **given), oracle(LARGE), rtol=1e-12)
    with pytest.raises(LookupError, match="free memory"):
        limits.Room().for_need(limits.SMALL_RUN["cpu"] + 1, "cpu")


def test_neither_do_a_few_groups(refuse):
    assert lagbc.group_bc(SMALL, [[0], [1]], threads=2)[0] == pytest.approx(oracle(SMALL)[0])


def test_what_is_not_small_needs_to_know_what_is_free(refuse):
    with pytest.raises(LookupError, match="free memory"):
        lagbc.bc(scale_free(5000, 30000, seed=1), device="cpu")
    with pytest.raises(LookupError, match="free memory"):
        lagbc.group_bc(LARGE, [[0]] * 100, threads=2)


def test_many_small_bicomponents_take_threads(monkeypatch):
    """No step is left of the graph, and yet there is more to do than one thread would do unfelt."""
    A, threads = sp.block_diag([SMALL] * 20).tocsr(), set()
    monkeypatch.setattr(tuning, "SLICE_WORK", 2**18)
    add = SmallBlocks.add

    def noted(self, *given):
        threads.add(threading.get_ident())
        add(self, *given)

    monkeypatch.setattr(SmallBlocks, "add", noted)
    for most in (2**40, 2**16):
        monkeypatch.setattr(tuning, "THREAD_WORK", most)
        threads.clear()
        scores = lagbc.bc(A, directed=False, reduce="all", device="cpu")
        np.testing.assert_allclose(scores, np.tile(oracle(SMALL, directed=False), 20), rtol=1e-9)
        assert (threading.get_ident() in threads) == (most == 2**40)


def test_only_a_run_that_is_not_short_takes_threads(refuse, monkeypatch):
    given = {"method": "batched", "device": "cpu", "memory": "1GB"}
    assert estimate(LARGE, threads=1, **given).total > limits.TINY_RUN
    np.testing.assert_allclose(lagbc.bc(LARGE, threads=1, **given), oracle(LARGE), rtol=1e-12)
    with pytest.raises(MemoryError, match="out of memory with the smallest batch"), pytest.warns(lagbc.MemoryWarning):
        lagbc.bc(LARGE, threads=2, **given)
    monkeypatch.setattr(tuning, "THREAD_WORK", 1)
    with pytest.raises(MemoryError, match="out of memory with the smallest batch"):
        lagbc.bc(LARGE, threads=1, **given)


def test_an_error_of_a_small_run_is_raised_as_it_is(monkeypatch):
    def forward(state, roots):
        raise ZeroDivisionError("of the method")

    monkeypatch.setattr(batched, "forward", forward)
    with pytest.raises(ZeroDivisionError, match="of the method"):
        lagbc.bc(SMALL, method="batched", device="cpu")


@uncollected()
def test_small_graphs_leave_nothing_behind():
    """Objects of lagbc, threads and caches are as many after 300 graphs as after a few, and none waits in a cycle."""
    some(range(3))
    gc.collect()
    before = left()
    some(range(3, 303))
    assert left() == before


def some(seeds):
    for seed in seeds:
        A = scale_free(20 + seed % 40, 100, seed=seed)
        lagbc.bc(A, directed=bool(seed % 2), device="cpu", method="batched")
        if seed % 3 == 0:
            A = with_lengths(A, [1, 2])
            lagbc.centralities(A, ("bc", "edge_bc", "closeness"), weighted=True, device="cpu", method="batched")


def left():
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "lagbc"]
    caches = {one for module in modules for one in vars(module).values() if hasattr(one, "cache_info")}
    ours = [one for one in gc.get_objects() if str(type(one).__module__).partition(".")[0] == "lagbc"]
    return len(ours), threading.active_count(), sum(one.cache_info().currsize for one in caches), len(table.METHODS)
