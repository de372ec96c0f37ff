"""Which matrices are read on a GPU; this needs none."""

import families
import pytest

import lagbc
from lagbc import tuning
from lagbc.graph.graph import Graph
from lagbc.graph.validate import take_graph
from lagbc.methods import table
from lagbc.options import check_options
from lagbc.planning import devices

N = 2000


@pytest.fixture
def gpu(monkeypatch):
    """As on a machine with a GPU."""
    monkeypatch.setattr(table, "_is_installed", lambda library: True)
    monkeypatch.setattr(table, "_count_visible", lambda: 1)
    monkeypatch.setattr(devices, "budget", lambda device, on_gpu=0: 10**9)
    monkeypatch.setattr("lagbc.methods.gpu.kernels.begin_common", lambda weighted: pytest.fail("compiled"))


def cycle(n=N):
    return families.cycle(n).tocsr()


def is_read_there(A=None, roots=10**6, weighted=False, **options):
    settings = check_options("auto", options)
    return devices.is_read_on_device(cycle() if A is None else A, lambda: roots, settings, weighted)


def test_large_matrices_of_runs_that_go_to_the_gpu(gpu):
    by_delta = {"method": "delta-stepping"}
    for given in ({}, {"weighted": True}, {"device": "cuda", "roots": 1}, {"weighted": True, **by_delta}):
        assert is_read_there(**given), given
    for given in ({"roots": 2}, {"device": "cpu"}, {"method": "graphblas"}, by_delta, {"memory": "100kB"}):
        assert not is_read_there(**given), given
    assert not is_read_there(cycle().toarray())


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_small_matrices_are_not_asked_about(monkeypatch, form):
    monkeypatch.setattr(tuning, "HOST_EDGES", cycle().nnz)
    take_graph(cycle().asformat(form), uploads=lambda weighted: pytest.fail("no GPU is looked for"))
    asked = []
    take_graph(cycle(N + 1).asformat(form), uploads=asked.append)
    assert asked == [False]


def test_a_run_on_the_cpu_needs_no_device(monkeypatch):
    """However large the graph is."""
    monkeypatch.setattr(tuning, "HOST_EDGES", 10)
    monkeypatch.setattr(Graph, "on_device", property(lambda graph: pytest.fail("copied to a device")))
    lagbc.bc(cycle(100), sources=[0], device="cpu")
