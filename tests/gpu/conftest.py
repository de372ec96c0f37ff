"""Fixtures of the GPU tests: a device, or a skip that says why there is none; every method on it in every dtype."""

import functools
from importlib.util import find_spec
from itertools import product

import pytest
from batches import EVERYTHING, TOLERANCES, OnDevice
from gpu_schedules import SCHEDULES, Schedule

import lagbc
from lagbc.graph.graph import Graph
from lagbc.methods.sums import DEPENDENCY

ROWS = [row for row in lagbc.METHODS if row.device == "cuda"]
# How small a level has to be for its rows alone to be visited: none is, or all are.
SMALL = {"launches over all rows": 2**40, "launches over few rows": 0}


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


HOPS, LENGTHS = ([row for row in ROWS if row.weighted == weighted] for weighted in (False, True))
OF_ALL_SUMS = [row for row in ROWS if set(row.sums) >= EVERYTHING]
BATCHED = [row for row in HOPS if row.name == "batched"]


def every(rows):
    """A fixture of rows of METHODS in every dtype, for betweenness."""
    params = [pytest.param(OnDevice(row, dtype), id=f"{row.name}-{dtype}") for row in rows for dtype in TOLERANCES]
    return pytest.fixture(scope="session", params=params)(lambda request, cupy: request.param)


gpu, hop_gpu, weighted_gpu = every(ROWS), every(HOPS), every(LENGTHS)
all_sums_gpu, batched_gpu = every(OF_ALL_SUMS), every(BATCHED)


def summing(rows):
    """A fixture of rows in every dtype, for betweenness; those that make all sums for all, too, by each schedule."""
    params = []
    for row, dtype in product(rows, TOLERANCES):
        of_all = row in OF_ALL_SUMS
        schedules = (None,) if not of_all else SCHEDULES[True] if row.weighted else (*SMALL, "one launch")
        for asked, schedule in product((DEPENDENCY, EVERYTHING)[: 1 + of_all], schedules):
            name = f"{row.name}-{dtype}{'-all sums' * (asked is EVERYTHING)}-{schedule}"
            params.append(pytest.param(OnDevice(row, dtype, asked, schedule), id=name))

    @pytest.fixture(params=params)
    def made(request, cupy, monkeypatch):
        gpu = request.param
        if gpu.schedule is not None and not gpu.row.weighted:
            monkeypatch.setattr(Graph, "has_high_diameter", property(lambda graph: gpu.schedule == "one launch"))
        if gpu.schedule in SMALL:
            monkeypatch.setattr("lagbc.tuning.SMALL_LEVEL", SMALL[gpu.schedule])
        return gpu

    return made


summing_gpu, weighted_summing_gpu = summing(ROWS), summing(LENGTHS)


@pytest.fixture(params=[(weighted, name) for weighted in SCHEDULES for name in SCHEDULES[weighted]], ids=str)
def schedule(request, cupy, monkeypatch):
    """Every schedule of the batched methods."""
    return Schedule(*request.param, monkeypatch)
