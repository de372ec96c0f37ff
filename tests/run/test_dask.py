"""Runs on Dask: a cluster of two worker processes, one of which is killed."""

import os
import signal

import numpy as np
import pytest
from strategies import scale_free

import lagbc
from lagbc.methods import tuning

distributed = pytest.importorskip("distributed")
A = scale_free(2000, 12000, seed=1)
SWEPT = {"reduce": "none", "device": "cpu"}


@pytest.fixture(scope="module")
def client():
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        yield client


def test_a_worker_is_killed(client, monkeypatch):
    """Its chunks are given out again, and none is counted twice."""
    monkeypatch.setattr(tuning, "CHUNK_ROOTS", {"cpu": 64, "cuda": 256})
    expected, killed = lagbc.bc(A, **SWEPT), []

    def kill(progress):
        assert progress.done <= progress.total
        if not killed:
            killed.extend(client.run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    scores = lagbc.bc(A, executor=client.get_executor(), progress=kill, **SWEPT)
    np.testing.assert_array_equal(scores, expected)
    assert len(killed) == 2


def test_arrays_of_a_machine_without_the_file(client, monkeypatch):
    """Workers that do not see the temporary folder."""
    from dataclasses import replace

    executor = client.get_executor()

    class Remote:
        def submit(self, fn, task):
            return executor.submit(fn, replace(task, file="/nowhere"))

    monkeypatch.setattr(tuning, "CHUNK_ROOTS", {"cpu": 256, "cuda": 256})
    ours = lagbc.edge_bc(A, executor=Remote(), weighted=True, **SWEPT)
    np.testing.assert_array_equal(ours.tocoo().data, lagbc.edge_bc(A, weighted=True, **SWEPT).tocoo().data)
