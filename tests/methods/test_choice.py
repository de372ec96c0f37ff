"""The reason that goes with a method is true of the machine."""

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import lagbc
from lagbc.methods import table


class CUDARuntimeError(RuntimeError):
    pass


def cupy_that_sees(count):
    def get_device_count():
        if count is None:
            raise CUDARuntimeError("no CUDA-capable device is detected")
        return count

    cupy = ModuleType("cupy")
    cupy.cuda = SimpleNamespace(
        runtime=SimpleNamespace(getDeviceCount=get_device_count, CUDARuntimeError=CUDARuntimeError)
    )
    return cupy


@pytest.mark.parametrize(
    ("installed", "cupy", "reason"),
    [
        (False, None, "CuPy is not installed"),
        (True, None, "CuPy is installed without the CUDA libraries that it needs"),
        (True, cupy_that_sees(None), "CuPy sees no GPU"),
        (True, cupy_that_sees(0), "CuPy sees no GPU"),
        (True, cupy_that_sees(1), ""),
    ],
)
def test_why_there_is_no_gpu(monkeypatch, installed, cupy, reason):
    monkeypatch.setattr(table, "find_spec", lambda name: installed or None)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    assert table._why_no_gpu.__wrapped__() == reason


def test_the_choice_says_it(monkeypatch):
    monkeypatch.setattr(table, "_why_no_gpu", lambda: "so it is")
    assert str(lagbc.select_method(np.ones((3, 3)))).startswith(
        "batched on cpu (so it is; the fastest there as a rule)"
    )
