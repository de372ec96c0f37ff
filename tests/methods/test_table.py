"""Rows of METHODS, and rows that are added to it."""

import pickle
import sys
import types
from dataclasses import replace

import numpy as np
import pytest
from strategies import oracle, scale_free

import lagbc
from lagbc.methods import table
from lagbc.methods.contract import Batching
from lagbc.methods.cpu import batched

A = scale_free(60, 400, seed=1)
MINE = lagbc.Method("mine", "semiring", "cpu", False, "my_method", options=("bucket_width",))


@pytest.fixture
def my_method(monkeypatch):
    """A module that is no part of lagbc: a root at a time, each in a state of `batched`."""
    parts = {name: getattr(batched, name) for name in ("arrays", "prepare", "forward", "backward")}
    module = types.SimpleNamespace(batching=Batching(block=1, auto=1), **parts)
    monkeypatch.setitem(sys.modules, "my_method", module)
    monkeypatch.setattr(table, "METHODS", table.METHODS)
    return module


def test_a_method_that_is_added_is_one_of_all(my_method):
    before = lagbc.METHODS
    lagbc.register_method(MINE)
    assert (*before, MINE) == lagbc.METHODS
    np.testing.assert_allclose(lagbc.bc(A, method="mine"), oracle(A), rtol=1e-12)
    assert lagbc.plan(A, device="cpu").method == "batched"
    assert "mine" in [record.method for record in lagbc.compare(A, 8).measured]
    assert lagbc.compare(A, 8, methods="mine").measured[0].agrees
    assert lagbc.plan(A, method="mine", threads=1).sweeps[0].batch == 1
    lagbc.bc(A, method="mine", bucket_width=2.0)
    message = r"bucket_width=2\.0 means nothing to batched on cpu.*; it goes with: .*mine on cpu"
    with pytest.raises(ValueError, match=message):
        lagbc.bc(A, method="batched", device="cpu", bucket_width=2.0)
    with pytest.raises(ValueError, match="mine on cpu does not sum stress; these do: batched on cpu"):
        lagbc.stress(A, method="mine")
    lagbc.unregister_method("mine")
    assert before == lagbc.METHODS
    with pytest.raises(ValueError, match="there is no method='mine'"):
        lagbc.bc(A, method="mine")


def test_rows_that_were_used_can_be_pickled():
    rows = [row for row in lagbc.METHODS if row.device == "cpu"]
    assert all(row.key and row.arrays and row.offers(frozenset(row.sums)) for row in rows)
    assert pickle.loads(pickle.dumps(rows)) == rows


def test_the_module_is_told_its_way(my_method, tmp_path):
    """And so is a file of sums: bits may depend on it."""
    lagbc.register_method(replace(MINE, ways=(("up", "down"), ("8", "16"))))
    plans = []

    def prepare(graph, plan):
        plans.append((plan.variant, plan.virtual_warp))
        return batched.prepare(graph, plan)

    my_method.prepare = prepare
    for method, way in (("mine", (None, None)), ("mine:16", (None, 16)), ("mine:8:up", ("up", 8))):
        (sweep,) = lagbc.plan(A, method=method).sweeps
        assert (sweep.variant, sweep.virtual_warp) == way
        lagbc.bc(A, method=method)
        assert plans.pop() == way
    for number, method in enumerate(("mine:8", "mine:16")):
        lagbc.save_part(tmp_path / f"{number}.npz", (number + 1, 2), A, method=method)
    with pytest.raises(ValueError, match="mine:16"):
        lagbc.merge_parts([tmp_path / "0.npz", tmp_path / "1.npz"])


def test_a_method_in_plain_python(monkeypatch):
    """The module to copy: every function that takes betweenness sums takes it, and its scores are those of others."""
    monkeypatch.setattr(table, "METHODS", table.METHODS)
    lagbc.register_method(lagbc.Method("textbook", "traversal", "cpu", False, "textbook"))
    times = np.arange(60) % 3
    for options in ({}, {"directed": False, "endpoints": True}, {"source_weights": times}, {"k": 9, "rng": 1}):
        ours = lagbc.bc(A, method="textbook", **options)
        np.testing.assert_allclose(ours, lagbc.bc(A, method="batched", device="cpu", **options), rtol=1e-12, atol=1e-12)
    weighted = {"target_weights": np.arange(60) % 4 / 2}
    np.testing.assert_allclose(lagbc.bc(A, method="textbook", **weighted), oracle(A, **weighted), rtol=1e-12)
    mine, theirs = lagbc.compare(A, 8, methods=["textbook", "batched"], device="cpu").measured
    assert mine.agrees
    assert mine.levels == theirs.levels


def test_what_is_refused_leaves_the_rows_as_they_were(my_method):
    """A row, of which `test_error_texts.py` has more, or a module that lacks something."""
    before = lagbc.METHODS
    del my_method.arrays, my_method.backward
    with pytest.raises(ValueError, match="there is a method 'batched' on cpu already"):
        lagbc.register_method(replace(MINE, name="batched"))
    with pytest.raises(TypeError, match="my_method lacks arrays, backward; lagbc/methods/contract"):
        lagbc.register_method(MINE)
    with pytest.raises(TypeError, match="lacks arrays, backward, blocks, sum_within; lagbc/methods/contract"):
        lagbc.register_method(replace(MINE, bounds=True))
    with pytest.raises(ImportError, match="no_such_module"):
        lagbc.register_method(replace(MINE, module="no_such_module"))
    assert lagbc.METHODS is before
    lagbc.register_method(replace(MINE, requires="no_such_library", module="no_such_module"))
    assert not lagbc.METHODS[-1].available
    assert not lagbc.METHODS[-1].reads("rtol")


def test_only_what_was_added_is_removed(my_method):
    for name in ("batched", "mine"):
        with pytest.raises(ValueError, match=f"there is no method '{name}' that was added"):
            lagbc.unregister_method(name)
    lagbc.register_method(MINE)
    lagbc.register_method(replace(MINE, weighted=True))
    lagbc.unregister_method("mine")
    assert len(lagbc.METHODS) == table._OF_LAGBC


def test_no_row_claims_a_sum_that_is_not_named():
    """A row names dependencies or all seven sums, and squares of some; a new one is no row's of itself."""
    assert {len(row.sums) for row in lagbc.METHODS} == {1, 2, 7, 11}
