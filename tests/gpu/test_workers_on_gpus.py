"""Workers of an executor and MPI ranks that share GPUs: the bits of a run of one process on one GPU."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest
from chained import hub
from every_call import assert_same
from launcher import LAUNCHER, TESTS, printed
from strategies import grid, scale_free, with_lengths

import lagbc
from lagbc import tuning

CHUNK_ROOTS = {"cpu": 128, "cuda": 512}  # short chunks, so that small graphs have some for every worker
CALLS = [
    (scale_free(4000, 30000, seed=1), ("bc", "edge_bc", "stress", "closeness"), {"reduce": "none"}),
    (scale_free(4000, 30000, seed=2), ("bc",), {"reduce": "none", "directed": False, "endpoints": True}),
    (with_lengths(grid(60, 70), [1, 2, 3]), ("bc", "edge_bc"), {"weighted": True, "reduce": "none"}),
    (hub(300), ("bc", "edge_bc"), {"reduce": "all", "directed": False}),
    (grid(60, 70), ("bc",), {"k": 3000, "rng": 1}),
]


def assert_same_bits(**how):
    for A, names, given in CALLS:
        expected = lagbc.centralities(A, names, device="cuda", **given)
        assert_same(lagbc.centralities(A, names, device="cuda", **given, **how), expected)


@pytest.mark.parametrize("workers", [1, 3])
def test_processes_of_a_pool(cupy, monkeypatch, workers):
    monkeypatch.setattr(tuning, "CHUNK_ROOTS", CHUNK_ROOTS)
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("forkserver")) as pool:
        assert_same_bits(executor=pool)


PROGRAM = f"""
import sys
sys.path[:0] = [{TESTS!r}, {str(Path(__file__).parent)!r}]
from mpi4py import MPI
from test_workers_on_gpus import CHUNK_ROOTS, assert_same_bits
from lagbc import tuning

tuning.CHUNK_ROOTS = CHUNK_ROOTS
assert_same_bits(comm=MPI.COMM_WORLD)
told = MPI.COMM_WORLD.gather("same")
if told:
    print(*told)
"""


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_ranks(cupy, tmp_path, ranks):
    if LAUNCHER is None or not find_spec("mpi4py"):
        pytest.skip("there is no mpiexec, or no mpi4py")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    assert printed(ranks, program).split() == ["same"] * ranks
