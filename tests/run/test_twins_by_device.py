"""Where twins are merged: by what the methods of the device take. No GPU is needed, since nothing is run there."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from strategies import scale_free, with_lengths

import lagbc
from lagbc import limits, tuning
from lagbc.methods.contract import Batching

# Every vertex has a twin.
A = sp.kron(with_lengths(scale_free(60, 300, seed=1), [1.0]), np.ones((2, 2))).tocsr()


# In the place of all modules of the GPU, which cannot be imported without one.
STUB = SimpleNamespace(batching=Batching(256, 4096), arrays=lambda graph, plan: {})


@pytest.fixture(autouse=True)
def _gpu(monkeypatch):
    load = lagbc.Method.load
    monkeypatch.setattr(lagbc.Method, "available", property(lambda row: row.requires in ("", "cupy")))
    monkeypatch.setattr(lagbc.Method, "load", lambda row: STUB if row.device == "cuda" else load(row))
    monkeypatch.setattr(tuning, "SMALL_VERTICES", 2)
    monkeypatch.setattr(limits, "budget", lambda device, on_gpu=0: 10**9)


def reason(device="cuda", **options):
    return lagbc.plan(A, device=device, directed=False, reduce="all", **options).reason


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_twins_are_merged_on_either_device(device, weighted):
    said = reason(device, weighted=weighted)
    assert "57 classes of twins; 12 % of the work" in said
    assert f"{'delta-stepping' if weighted and device == 'cuda' else 'batched'} on {device}" in said


def test_what_is_asked_for_by_name_takes_them_or_not():
    """And no method is asked for members and an option that it does not read."""
    assert "twins" in reason(method="batched")
    assert "twins" not in reason(method="work-efficient")
    assert "twins" in reason(method="delta-stepping", weighted=True)
    assert "twins" not in reason(method="dijkstra", weighted=True)
    assert "twins" not in (said := reason(method="node-parallel:one-block"))
    assert "batched" not in said
    assert "twins" in reason(bucket_width=2.0, weighted=True)
