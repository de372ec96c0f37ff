"""`stop=` ends a run from another thread, whatever carries it out, and leaves the checkpoint."""

import sys
import threading
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np
import pytest
from killed import done_in
from strategies import grid, scale_free, with_lengths

import lagbc

pytestmark = pytest.mark.usefixtures("short_chunks")

A = scale_free(1500, 9000, seed=1)
SWEPT = {"device": "cpu", "method": "batched", "reduce": "none", "threads": 2}


def stopped(call, *given, **options):
    """Have a call stopped from another thread, once some roots are done; return how many roots it was at."""
    event, done = threading.Event(), [0]

    def told(progress):
        done.append(progress.done)
        if done[-1] and not event.is_set():
            thread = threading.Thread(target=event.set)
            thread.start()
            thread.join()

    with pytest.raises(lagbc.StoppedError, match="the run was stopped, as stop= asked for"):
        call(*given, stop=event, progress=told, **options)
    return done[-1]


@pytest.mark.parametrize("threads", [1, 2])
def test_from_another_thread(tmp_path, threads):
    path, seen = tmp_path / "run", []
    run = partial(lagbc.bc, A, batch=64, **SWEPT | {"threads": threads})
    done = stopped(run, checkpoint=path)
    assert 0 < done < A.shape[0]
    assert 0 < done_in(path) < A.shape[0]
    scores = run(checkpoint=path, stop=threading.Event(), progress=seen.append)
    assert seen[0].done > done / 2
    assert np.array_equal(scores, run())


def test_the_call_may_be_in_another_thread(tmp_path):
    """As in a server, whose own thread asks for the end."""
    begun, event = threading.Event(), threading.Event()
    told = {"progress": lambda _: begun.set() or event.wait(), "checkpoint": tmp_path / "run"}
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(lagbc.bc, A, batch=64, stop=event, **SWEPT, **told)
        begun.wait()
        event.set()
        error = future.exception()
    assert isinstance(error, lagbc.StoppedError)
    assert isinstance(error, (RuntimeError, lagbc.Error))
    assert str(error).endswith(f"{tmp_path / 'run'} holds what is summed so far")
    assert (tmp_path / "run").exists()


def test_a_callable():
    answers = iter([False] * 4)
    with pytest.raises(lagbc.StoppedError):
        lagbc.bc(A, batch=64, **SWEPT, stop=lambda: next(answers, True))
    assert np.array_equal(lagbc.bc(A, batch=64, **SWEPT, stop=lambda: False), lagbc.bc(A, batch=64, **SWEPT))


CALLS = {
    "bounds": partial(lagbc.bc, A, cutoff=3, device="cpu"),
    "lengths": partial(lagbc.bc, with_lengths(A, [1, 2]), batch=16, weighted=True, **SWEPT),
    "traversal": partial(lagbc.bc, A, batch=16, **SWEPT | {"method": "work-efficient"}),
    "edges": partial(lagbc.edge_bc, A, batch=64, **SWEPT),
    "several": partial(lagbc.centralities, A, batch=64, **SWEPT),
    "groups": partial(lagbc.group_bc, A, [[1], [2, 3]], threads=2),
    "reduced": partial(lagbc.bc, A, batch=64, directed=False, device="cpu", reduce="all"),
    "percolation": partial(lagbc.percolation, A, np.ones(1500), batch=64, **SWEPT),
}


@pytest.mark.parametrize("name", CALLS)
def test_every_way_to_sum(name):
    assert stopped(CALLS[name]) > 0


def test_one_that_is_asked_for_before_begins_nothing():
    event = threading.Event()
    event.set()
    for name, call in CALLS.items():
        with pytest.raises(lagbc.StoppedError):
            call(stop=event, progress=lambda _, name=name: pytest.fail(name))
    with pytest.raises(lagbc.StoppedError):
        lagbc.bc(np.ones((3, 3)), stop=event)
    with lagbc.config(stop=event), pytest.raises(lagbc.StoppedError):
        lagbc.closeness(A)


def test_standard_errors_are_stopped_too():
    done = threading.Event()

    def told(progress):
        if progress.share == 1:
            done.set()

    with pytest.raises(lagbc.StoppedError):
        lagbc.bc(A, k=500, rng=1, standard_error=True, progress=told, stop=done, **SWEPT)


def test_a_part_leaves_no_file(tmp_path):
    stopped(lagbc.save_part, tmp_path / "part", (1, 2), A, "bc", batch=64, **SWEPT)
    assert list(tmp_path.iterdir()) == []


class Delayed:
    """An executor that has not begun more than its first tasks when the run is stopped."""

    def __init__(self, executor):
        self._executor, self._left = executor, 4

    def submit(self, fn, task):
        self._left -= 1
        return self._executor.submit(fn, task) if self._left >= 0 else Future()


PROCESSES = partial(ProcessPoolExecutor, mp_context=get_context("forkserver" if sys.platform != "win32" else "spawn"))


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, PROCESSES], ids=["threads", "processes"])
def test_an_executor(kind, tmp_path):
    path, mesh = tmp_path / "run", grid(50, 50)
    run = partial(lagbc.bc, mesh, batch=64, **SWEPT | {"threads": 1})
    with kind(2) as pool:
        done = stopped(run, executor=Delayed(pool), checkpoint=path)
        assert 0 < done < mesh.shape[0]
        assert done_in(path) >= done
        assert np.array_equal(run(executor=pool, checkpoint=path), run())
