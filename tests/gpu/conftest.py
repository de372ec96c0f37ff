"""Fixtures of the GPU tests: a device, or a skip that says why there is none; every method on it in every dtype."""

import functools
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import pytest
from batches import EVERYTHING
from gpu_schedules import SCHEDULES, Schedule

import lagbc

# Relative errors that rounding may add up to.
TOLERANCES = {"float64": 1e-12, "float32": 3e-5}
ROWS = [row for row in lagbc.METHODS if row.device == "cuda" and not row.weighted]
WEIGHTED_ROWS = [row for row in lagbc.METHODS if row.device == "cuda" and row.weighted]


@dataclass(frozen=True)
class OnDevice:
    """A row of METHODS with a dtype."""

    row: lagbc.Method
    dtype: str

    @property
    def bc(self):
        return functools.partial(
            lagbc.bc, weighted=self.row.weighted, method=self.row.name, device="cuda", dtype=self.dtype
        )

    @property
    def module(self):
        return self.row.load()

    def assert_close(self, ours, theirs):
        assert ours.dtype == np.float64
        tolerance = TOLERANCES[self.dtype]
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@functools.cache
def why_there_is_no_device():
    """Return the reason, or nothing where CuPy sees a device."""
    if find_spec("cupy") is None:
        return "CuPy is not installed (the extras 'cuda12' and 'cuda13')"
    import cupy

    try:
        return "" if cupy.cuda.runtime.getDeviceCount() else "CuPy sees no device"
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"CuPy sees no device: {error}"


def pytest_collection_modifyitems(config, items):
    """Of each test that needs a device that is not there, keep one case, which is skipped and says why."""
    if not why_there_is_no_device():
        return
    kept, others, seen = [], [], set()
    for item in items:
        test = item.nodeid.partition("[")[0]
        (others if "cupy" in item.fixturenames and test in seen else kept).append(item)
        seen.add(test)
    items[:] = kept
    config.hook.pytest_deselected(items=others)


@pytest.fixture(scope="session")
def cupy():
    """CuPy, if it is installed and sees a device."""
    if reason := why_there_is_no_device():
        pytest.skip(reason)
    import cupy

    return cupy


def in_every_dtype(rows):
    """A fixture of rows of METHODS."""
    params = [pytest.param((row, dtype), id=f"{row.name}-{dtype}") for row in rows for dtype in TOLERANCES]
    return pytest.fixture(scope="session", params=params)


@in_every_dtype(ROWS)
def gpu(request, cupy):
    """Every unweighted method of device "cuda", in every dtype."""
    return OnDevice(*request.param)


@in_every_dtype(WEIGHTED_ROWS)
def weighted_gpu(request, cupy):
    """Every method of device "cuda" that takes lengths, in every dtype."""
    return OnDevice(*request.param)


@in_every_dtype([row for row in ROWS if set(row.sums) >= EVERYTHING])
def sums_gpu(request, cupy):
    """Every unweighted method of device "cuda" that offers all sums, in every dtype."""
    return OnDevice(*request.param)


@pytest.fixture(params=[(weighted, name) for weighted in SCHEDULES for name in SCHEDULES[weighted]], ids=str)
def schedule(request, cupy, monkeypatch):
    """Every schedule of the batched methods."""
    return Schedule(*request.param, monkeypatch)
