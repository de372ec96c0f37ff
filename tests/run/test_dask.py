"""Runs on Dask: a cluster of two worker processes, one of which is killed."""

import os
import signal
import time
from dataclasses import replace

import numpy as np
import pytest
from chained import hub
from every_call import assert_same
from strategies import scale_free

import lagbc
from lagbc import tuning

distributed = pytest.importorskip("distributed")
A = scale_free(2000, 12000, seed=1)
SWEPT = {"reduce": "none", "device": "cpu"}


@pytest.fixture(scope="module")
def client():
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        yield client


class Gated:
    """An executor whose tasks, but for the first, wait in their workers for a file: no result is on its way."""

    def __init__(self, executor, gate):
        self._executor, self._gate, self._given = executor, gate, 0

    def submit(self, fn, task):
        self._given += 1
        gate = str(self._gate)

        def once_open(task):
            import time
            from pathlib import Path

            while not Path(gate).exists():
                time.sleep(0.01)
            return fn(task)

        return self._executor.submit(fn if self._given == 1 else once_open, task)


def test_a_worker_is_killed(client, monkeypatch, tmp_path):
    """Its chunks are given out again, and none is counted twice."""
    monkeypatch.setattr(tuning, "CHUNK_ROOTS", {"cpu": 64, "cuda": 256})
    expected, workers, gate = lagbc.bc(A, **SWEPT), {}, tmp_path / "gate"

    def kill(progress):
        assert progress.done <= progress.total
        if not workers:
            workers.update(client.run(os.getpid))
            address, process = next(iter(workers.items()))
            os.kill(process, signal.SIGKILL)
            while address in client.scheduler_info()["workers"]:
                time.sleep(0.01)
            gate.touch()

    scores = lagbc.bc(A, executor=Gated(client.get_executor(), gate), progress=kill, **SWEPT)
    np.testing.assert_array_equal(scores, expected)
    assert len(workers) == 2


def test_contracted_chains(client):
    """Kernels read arrays of Dask's messages, which are read-only and begin at any byte."""
    given = {"device": "cpu", "reduce": "all", "directed": False}
    assert_same(lagbc.edge_bc(hub(300), executor=client.get_executor(), **given), lagbc.edge_bc(hub(300), **given))


def test_arrays_of_a_machine_without_the_file(client, monkeypatch):
    """Workers that do not see the temporary folder."""
    executor = client.get_executor()

    class Remote:
        def submit(self, fn, task):
            return executor.submit(fn, replace(task, file="/nowhere"))

    monkeypatch.setattr(tuning, "CHUNK_ROOTS", {"cpu": 256, "cuda": 256})
    assert_same(lagbc.edge_bc(A, executor=Remote(), weighted=True, **SWEPT), lagbc.edge_bc(A, weighted=True, **SWEPT))
