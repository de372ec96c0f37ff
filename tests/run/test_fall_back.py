"""What "auto" does where a run is over the budget of the GPU; it needs none, since nothing is run there."""

from types import SimpleNamespace

import numpy as np
import pytest
from strategies import scale_free, with_lengths

import lagbc
from lagbc.methods import tuning
from lagbc.methods.contract import Batching
from lagbc.run import memory

A = scale_free(500, 4000, seed=1)


# In the place of all modules of the GPU, which cannot be imported without one.
STUB = SimpleNamespace(
    batching=Batching(block=256, auto=4096),
    options=frozenset(),
    footprint=lambda graph, plan: 8 * graph.n * plan.batch,
)


@pytest.fixture(autouse=True)
def _gpu_without_memory(monkeypatch):
    load = lagbc.Method.load
    monkeypatch.setattr(lagbc.Method, "available", property(lambda row: True))
    monkeypatch.setattr(lagbc.Method, "load", lambda row: STUB if row.device == "cuda" else load(row))
    monkeypatch.setattr(tuning, "GPU_WORK", 0)
    monkeypatch.setattr(memory, "budget", lambda device: 10_000 if device == "cuda" else 10**9)


def test_the_cpu_takes_over():
    with pytest.warns(lagbc.MemoryWarning, match=r"on cuda .* needs up to .* the budget is 1e\+04; taking .* on cpu"):
        scores = lagbc.bc(A)
    np.testing.assert_array_equal(scores, lagbc.bc(A, device="cpu"))


def test_the_cpu_takes_over_a_method_that_it_has():
    with pytest.warns(lagbc.MemoryWarning, match="taking work-efficient on cpu"):
        by_name = lagbc.bc(A, method="work-efficient")
    np.testing.assert_array_equal(by_name, lagbc.bc(A, method="work-efficient", device="cpu"))


@pytest.mark.parametrize(
    ("given", "options", "name"),
    [
        (A, {"dtype": "float32"}, "work-efficient"),
        (A, {"dtype": "float32", "method": "batched"}, "batched"),
        (A, {"method": "active-edge"}, "active-edge"),
        (A, {"device": "cuda", "method": "batched"}, "batched"),
        (with_lengths(A, np.arange(1, 11)), {"weighted": True, "method": "delta-stepping"}, "delta-stepping"),
    ],
    ids=["float32", "float32 by name", "no row on the CPU", "the GPU asked for", "lengths"],
)
def test_nothing_on_the_cpu_does_it(given, options, name):
    with pytest.raises(MemoryError, match=rf"{name} on cuda with batch=\d+ needs up to .* budget is 1e\+04"):
        lagbc.bc(given, **options)
