"""The command `lagbc compile`: what is compiled beforehand is not compiled by a run."""

import pytest
from commands import fail

from lagbc.centrality.compiled import compile_kernels
from lagbc.methods.table import METHODS

SEES_GPU = any(row.available for row in METHODS if row.device == "cuda")


@pytest.mark.skipif(SEES_GPU, reason="there is a GPU")
def test_a_device_that_is_not_there():
    assert "needs" in fail("compile", status=1)


@pytest.mark.skipif(not SEES_GPU, reason="there is no GPU")
def test_kernels_of_the_device(monkeypatch):
    from lagbc.cuda import compiler

    done = compile_kernels()
    assert "kernel modules for sm_" in done.what
    assert done.folder
    monkeypatch.setattr(compiler, "_compile", lambda *_: pytest.fail("compiled again"))
    compile_kernels()
