"""The reason that goes with a method is true of the machine."""

import numpy as np
import pytest

import lagbc
from lagbc.methods import table


@pytest.mark.parametrize(("installed", "reason"), [(False, "CuPy is not installed"), (True, "CuPy sees no GPU")])
def test_why_there_is_no_gpu(monkeypatch, installed, reason):
    ordinary = table._is_installed
    monkeypatch.setattr(table, "_is_installed", lambda name: installed if name == "cupy" else ordinary(name))
    monkeypatch.setattr(table, "_sees_gpu", lambda: False)
    choice = str(lagbc.select_method(np.ones((3, 3))))
    assert choice.startswith(f"batched on cpu ({reason}; the fastest there as a rule)")
