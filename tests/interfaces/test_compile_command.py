"""The command `lagbc compile`: what is compiled beforehand is not compiled by a run."""

import pytest
from commands import fail, succeed

from lagbc.centrality.compiled import compile_for
from lagbc.methods.cpu.in_order import add_in_order
from lagbc.methods.table import METHODS

SEES_GPU = any(row.available for row in METHODS if row.device == "cuda")


def test_functions_of_the_cpu():
    (line,) = succeed("compile", "--device", "cpu").splitlines()
    assert line.startswith("cpu: the functions that numba compiles, in ")
    assert line.endswith(f"kept in {add_in_order.stats.cache_path}")
    assert add_in_order.signatures


@pytest.mark.skipif(SEES_GPU, reason="there is a GPU")
def test_a_device_that_is_not_there():
    assert "needs" in fail("compile", "--device", "cuda")
    cpu, cuda = succeed("compile").splitlines()
    assert cpu.startswith("cpu: the functions")
    assert cuda.startswith("cuda: nothing, ")


@pytest.mark.skipif(not SEES_GPU, reason="there is no GPU")
def test_kernels_of_the_device(monkeypatch):
    from lagbc.cuda import compiler

    done = compile_for("cuda")
    assert "kernel modules for sm_" in done.what
    assert done.folder
    monkeypatch.setattr(compiler, "_compile", lambda *_: pytest.fail("compiled again"))
    compile_for("cuda")
