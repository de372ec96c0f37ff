"""A graph in blocks on GPUs has the scores of one process: ranks share GPUs, or each has its own, and NCCL."""

import sys
from pathlib import Path

import numpy as np
import pytest
from every_call import assert_same
from hypothesis import given, settings
from hypothesis import strategies as st
from launcher import LAUNCHER, TESTS, printed, programs
from strategies import diamonds, graphs, layered, oracle, scale_free

import lagbc
from lagbc import tuning

sys.path.insert(0, str(Path(__file__).parents[1] / "grid"))
import on_threads
from on_threads import ALL, ESTIMATES, GRAPHS, SHAPES, estimated, on_grid, require_close, scores


def on_gpus(shape, A, call, **given):
    return on_grid(shape, A, call, device="cuda", **given)


@pytest.fixture(autouse=True)
def device(cupy):
    """There is one."""


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("A", GRAPHS, ids=range(3))
def test_sums_of_one_process(A, directed, shape):
    on_threads.require_sums_of_one_process(shape, A, directed=directed, device="cuda")
    on_threads.require_sums_of_one_process(shape, A, ["closeness"], directed=directed, device="cuda")


@settings(max_examples=15, deadline=None)
@given(graphs(max_n=9), st.sampled_from(SHAPES), st.booleans())
def test_any_graph_on_any_grid(A, shape, directed):
    found = on_gpus(shape, A, lagbc.bc, directed=directed)
    np.testing.assert_allclose(found, oracle(A, directed=directed), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("arguments", on_threads.ARGUMENTS, ids="-".join)
def test_arguments(arguments, directed):
    on_threads.require_scores_of_one_process(arguments, directed=directed, device="cuda")


def test_the_same_bits(monkeypatch):
    """With more grids, batches in flight, and slices and small levels of any size."""
    A, call = scale_free(900, 6000, seed=2), scores(ALL)
    expected = on_gpus((2, 2), A, call)
    require_close(expected, lagbc.centralities(A, ALL, reduce="none", device="cpu"))
    for ranks in (4, 8):
        assert_same(on_gpus((2, 2), A, call, ranks=ranks, overlap=True), expected)
    groups, levels = ({"GRID_GROUPS": 1}, {"GRID_GROUPS": 2, "GRID_SLICE_ON_GPU": 64}), (0, 10**6)
    for set_to in (*groups, *({"SMALL_LEVEL": level} for level in levels)):
        for name, value in set_to.items():
            monkeypatch.setattr(tuning, name, value)
        assert_same(on_gpus((2, 2), A, call), expected)


@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (1, 3)])
@pytest.mark.parametrize("kind", ESTIMATES)
def test_estimates_of_one_process(kind, shape):
    """Of one GPU; rounds are those of a GPU."""
    on_threads.require_estimate_of_one_process(kind, shape, device="cuda")


def test_the_same_bits_of_estimates():
    expected = estimated("bc", (2, 2), device="cuda")
    for how in ({"spread": False}, {"overlap": True}, {"ranks": 8, "overlap": True}):
        np.testing.assert_array_equal(estimated("bc", (2, 2), device="cuda", **how).upper, expected.upper)


def test_the_device_of_a_plan():
    assert on_gpus((1, 2), GRAPHS[0], lambda graph: lagbc.plan(graph).device) == "cuda"


def test_trees_are_folded():
    A = scale_free(2000, 2500, seed=1)
    found = on_gpus((2, 2), A, lagbc.bc, directed=False, folds=True)
    expected = lagbc.bc(A, directed=False, reduce="none", device="cpu")
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-9)


def test_overflow_is_refused():
    A = diamonds(330, 10)
    with pytest.raises(OverflowError, match="more shortest paths than float64 holds"):
        on_gpus((1, 2), A, lambda graph: lagbc.bc(graph, sources=[0]))


def test_a_graph_larger_than_a_rank_may_hold():
    A, roots = layered(30, 60), {"sources": np.arange(64)}
    memory = 12_000_000
    with pytest.raises(MemoryError):
        on_gpus("auto", A, lambda graph: lagbc.bc(graph, **roots), ranks=1, memory=memory)
    assert on_gpus("auto", A, lambda graph: graph.deal.shape.size, ranks=4, memory=memory) > 1
    expected = lagbc.bc(A, device="cpu", reduce="none", **roots)
    for shape in ("auto", (2, 2)):
        found = on_gpus(shape, A, lambda graph: lagbc.bc(graph, **roots), ranks=4, memory=memory)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


PROGRAM = f"""
import sys
sys.path[:0] = [{TESTS!r}, {TESTS + "/grid"!r}]
from mpi4py import MPI
import cupy
import numpy as np
from on_threads import ALL, parts_of, require_close
from families import scale_free
import lagbc
from lagbc.grid import run
from lagbc.methods.gpu.batched import block

comm, sites = MPI.COMM_WORLD, []
size, rank, make = comm.Get_size(), comm.Get_rank(), run.Grids

def noted(line, graph, site, *given):
    sites.append(site)
    return make(line, graph, site, *given)

run.Grids = noted
A = scale_free(3000, 20_000, seed=2)
part, row = parts_of(A, size)[rank], {{"comm": comm, "grid": (1, size), "device": "cuda"}}
expected = lagbc.centralities(A, ALL, reduce="none", device="cpu")
for shape in [(1, size), (size, 1), *([(2, 2), (1, 2)] if size == 4 else [])]:
    for overlap in (False, True):
        require_close(lagbc.centralities(part, ALL, **row | {{"grid": shape}}, overlap=overlap), expected)
estimates = [lagbc.estimate(part, overlap=overlap, rng=1, max_roots=800, **row) for overlap in (False, True)]
assert (estimates[0].upper == estimates[1].upper).all()
exact = lagbc.bc(A, reduce="none", device="cpu", normalized=True)
assert ((estimates[0].lower <= exact + 1e-12) & (exact <= estimates[0].upper + 1e-12)).all()
add, calls = block._DeviceRows.add, []

def fail(*given, **how):
    calls.append(given)
    if rank == size - 1 and len(calls) == 5:
        raise ZeroDivisionError("of the last rank")
    return add(*given, **how)

for overlap in (False, True):
    calls.clear()
    block._DeviceRows.add = fail
    try:
        lagbc.bc(part, overlap=overlap, k=300, rng=1, **row)
        raise AssertionError("no error")
    except ZeroDivisionError as error:
        assert str(error) == "of the last rank"
    block._DeviceRows.add = add
    np.testing.assert_allclose(lagbc.bc(part, overlap=overlap, **row), expected["bc"], rtol=1e-12, atol=1e-12)
apart = cupy.cuda.runtime.getDeviceCount() >= size
assert {{site.by_nccl for site in sites}} == {{apart}}
if apart:
    assert comm.allgather(sites[0].gpu) == list(range(size))
if rank == 0:
    print("nccl" if apart else "host")
"""


@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_of_an_mpi_program(cupy, tmp_path, ranks):
    """With a GPU each they take NCCL; else they share GPUs, and messages go through the host.

    An error of one is raised on all, and the program goes on.
    """
    pytest.importorskip("mpi4py")
    if LAUNCHER is None:
        pytest.skip("there is no mpiexec")
    found = printed(ranks, programs(tmp_path, PROGRAM)(""))
    assert found.split() == ["nccl" if cupy.cuda.runtime.getDeviceCount() >= ranks else "host"]
