"""Runs on the workers of an executor: the bits of a run without one, and what happens where a worker fails."""

import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest
import scipy.sparse as sp
from chained import hub
from every_call import CALLS, assert_same
from killed import Killed, done_in, stop
from launcher import TESTS
from strategies import grid, scale_free, with_lengths

import lagbc
from lagbc.methods.contract import Interrupted
from lagbc.methods.cpu import traversal
from lagbc.run import bicomponents, tasks
from lagbc.run.work import Span

pytestmark = pytest.mark.usefixtures("short_chunks")

A = scale_free(500, 3000, seed=1)
MESH = grid(15, 20)
LENGTHS = with_lengths(A, [1, 2, 3])
SWEPT = {"reduce": "none", "device": "cpu"}
EVERY = ["bc", "edge_bc", "stress", "closeness", "harmonic", "eccentricity"]


@pytest.fixture(autouse=True)
def folder(tmp_path_factory, monkeypatch):
    """Nothing is left in the temporary folder, however a run ends."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not list(folder.glob("lagbc-*"))


def new_pool(workers=2):
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lagbc.run.tasks", "lagbc.methods.cpu.batched"])
    return ProcessPoolExecutor(workers, mp_context=context)


def assert_bits(executor, matrix=A, **given):
    """Compare a run on an executor with one on none."""
    assert_same(lagbc.bc(matrix, executor=executor, **SWEPT, **given), lagbc.bc(matrix, **SWEPT))


@pytest.fixture(scope="module")
def pool():
    with new_pool() as pool:
        yield pool


@pytest.mark.parametrize("call", CALLS)
def test_bits(pool, call):
    """Of reduced graphs with blocks that are swept `test_score_hashes.py` has them, too."""
    graph, which, given = CALLS[call]
    assert_same(lagbc.centralities(graph, which, executor=pool, **given), lagbc.centralities(graph, which, **given))


def test_graphblas(pool):
    """It promises no bits."""
    given = {"method": "graphblas", "sources": np.arange(40), **SWEPT}
    np.testing.assert_allclose(lagbc.bc(A, executor=pool, **given), lagbc.bc(A, **given), rtol=1e-12)


def test_small_blocks(pool):
    """Slice after slice, as the other pieces are; each worker sums at the places of its own slice alone."""
    blocks = sp.block_diag([scale_free(300, 1500, seed=seed) for seed in range(6)])
    given, met = {"device": "cpu", "reduce": "all", "directed": False}, Inline()
    expected = lagbc.centralities(blocks, ["bc", "edge_bc"], **given)
    for executor in (pool, met):
        assert_same(lagbc.centralities(blocks, ["bc", "edge_bc"], executor=executor, **given), expected)
    assert len({task.digest for task in met.tasks}) == 1
    assert len(met.tasks) > 1


def test_chains_that_cannot_be_contracted_after_all(pool, monkeypatch):
    """A worker meets counts out of range; the block is swept as it is."""
    power = hub(300)
    expected = lagbc.bc(power, device="cpu", reduce="none", directed=False)

    monkeypatch.setattr(bicomponents, "_LARGEST_COUNT", 0.5)
    scores = lagbc.bc(power, device="cpu", reduce="all", directed=False, executor=Inline())
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


class Inline(Executor):
    """Makes calls as they are submitted, or has another executor make them, after a look at the task."""

    def __init__(self, look=lambda task: task, executor=None):
        self.look, self.executor, self.tasks = look, executor, []

    def submit(self, fn, task):
        future, task = Future(), self.look(task)
        self.tasks.append(task)
        if self.executor is not None:
            return self.executor.submit(fn, task)
        try:
            future.set_result(fn(task))
        except BaseException as error:
            future.set_exception(error)
        return future


class OverNetwork(Inline):
    """Tasks and results are read-only views of messages, aligned or not, as those of Dask."""

    def __init__(self, shift):
        def sent(this):
            buffers = []
            message = pickle.dumps(this, protocol=5, buffer_callback=buffers.append)
            arrays = [memoryview(bytes(shift) + bytes(buffer.raw()))[shift:] for buffer in buffers]
            return pickle.loads(message, buffers=arrays)

        super().__init__(sent)
        self.sent = sent

    def submit(self, fn, task):
        return super().submit(lambda task: self.sent(fn(task)), task)


@pytest.mark.parametrize("shift", [0, 1], ids=["aligned", "not aligned"])
@pytest.mark.parametrize("A", [hub(300), A, LENGTHS], ids=["chains", "twins", "lengths"])
def test_arrays_of_messages(A, shift):
    given = {"device": "cpu", "reduce": "all", "weighted": A is LENGTHS, "directed": False}
    for which in (["bc", "edge_bc"], EVERY):
        expected = lagbc.centralities(A, which, **given)
        assert_same(lagbc.centralities(A, which, executor=OverNetwork(shift), **given), expected)


def test_loky():
    loky = pytest.importorskip("loky")
    with loky.ProcessPoolExecutor(2) as pool:
        assert_bits(pool)


def test_threads_of_this_process_keep_nothing():
    with ThreadPoolExecutor(3) as pool:
        assert_bits(pool)
    assert not tasks._works._held


def test_files_are_read_where_one_that_is_mapped_cannot_be_removed(monkeypatch):
    monkeypatch.setattr(tasks, "_FILES_ARE_MAPPED", False)
    monkeypatch.delattr(tasks.mmap, "mmap")
    with ThreadPoolExecutor(1) as pool:
        assert_bits(pool)


# What is sent


def test_arrays_come_where_the_file_is_not_seen():
    """One copy for the worker that asks, and none once it has one."""
    with new_pool(1) as pool:
        remote, matrix = Inline(lambda task: replace(task, file="/nowhere"), pool), scale_free(500, 3000, seed=2)
        assert_bits(remote, matrix)
        assert sum(task.arrays is not None for task in remote.tasks) == 1
        first = len(remote.tasks)
        assert_bits(remote, matrix.copy())
    assert len({task.digest for task in remote.tasks}) == 1
    assert all(task.arrays is None for task in remote.tasks[first:])


@pytest.mark.parametrize(("taken", "copies"), [([0, 1], 2), ([0, 0, 1], 3), ([1, 1, 0], 3)])
def test_a_copy_that_another_worker_took_is_sent_again(taken, copies, monkeypatch):
    """An executor gives a task to any worker: `taken` are those that the copies go to, others go to each in turn."""
    works = [tasks.OpenWorks(), tasks.OpenWorks()]
    turns, takers = cycle([0, 1]), iter(taken)

    class Remote(Inline):
        def submit(self, fn, task):
            worker = next(turns) if task.arrays is None else next(takers)
            with monkeypatch.context() as there:
                there.setattr(tasks, "_works", works[worker])
                there.setattr(tasks, "here", lambda: f"worker {worker}")
                return super().submit(fn, replace(task, file="/nowhere"))

    remote = Remote()
    assert_bits(remote)
    assert sum(task.arrays is not None for task in remote.tasks) == copies
    assert all(len(held._held) == 1 for held in works)
    for held in works:
        held.drop(None)


def test_a_part_is_known_by_what_it_holds():
    met = Inline()
    for matrix, memory in ((A, "1GB"), (A.copy(), "2GB"), (MESH, "1GB")):
        lagbc.bc(matrix, executor=met, memory=memory, **SWEPT)
    first, second, third = dict.fromkeys(task.file for task in met.tasks)
    of = {task.file: task.digest for task in met.tasks}
    assert of[first] == of[second] != of[third]
    assert len({task.attempt for task in met.tasks if task.file == first}) > 1


def test_a_worker_keeps_as_many_parts_as_its_memory_holds():
    held = []

    def look(task):
        held.append(list(tasks._works._held))
        return replace(task, caller="another process")

    try:
        for memory in ("1GB", "1MB"):
            held.clear()
            for matrix in (A, MESH, A.T):
                lagbc.bc(matrix, executor=Inline(look), batch=64, memory=memory, **SWEPT)
            assert len(set(map(tuple, held))) > 1
            assert (max(map(len, held)) == 3) == (memory == "1GB")
            tasks.forget()
    finally:
        tasks.forget()


def test_as_many_tasks_wait_as_results_have_room():
    met = Inline()
    lagbc.bc(A, executor=met, memory="1GB", **SWEPT)
    assert len(met.tasks) == 4


def test_another_version(pool):
    look = Inline(lambda task: replace(task, version="0.0"))
    with pytest.raises(RuntimeError, match=r"has lagbc .*, the caller 0\.0"):
        lagbc.bc(A, executor=look, **SWEPT)


# What fails


class OddError(Exception):
    """Which cannot be pickled, not even where `distributed` has taught pickle to make errors without their __init__."""

    def __init__(self, one, two):
        super().__init__(one)
        self.two = lambda: two


@pytest.mark.parametrize("given", [(MemoryError,), (ValueError,), (OddError, 2)])
def test_errors_of_a_task_are_raised(monkeypatch, given):
    kind, *more = given

    def fail(*arguments):
        raise kind("of a worker", *more)

    monkeypatch.setattr(tasks, "Hands", fail)
    raised = RuntimeError if kind is OddError else kind  # it cannot be pickled
    with pytest.raises(raised, match=r"of a worker|smallest batch"), ThreadPoolExecutor(2) as pool:
        lagbc.bc(A, executor=pool, **SWEPT)


def test_two_tasks_of_a_worker_that_meet_less_memory_at_once(monkeypatch):
    """They go on with less, once for both."""
    both, swept, real = threading.Barrier(2), [], tasks.Hands

    def scarce(work):
        swept.append(work.hands)
        if work.hands == 3:
            both.wait()
            raise MemoryError
        return real(work)

    monkeypatch.setattr(tasks, "Hands", scarce)
    with ThreadPoolExecutor(2) as pool, pytest.warns(lagbc.MemoryWarning, match="threads=2"):
        assert_bits(pool, threads=3)
    assert set(swept) == {2, 3}


def test_hands_of_a_work_that_was_dropped_meanwhile(monkeypatch):
    """A run that has failed drops it while a task opens it."""
    real, opened = tasks.Hands, []

    def late(work):
        opened.append(real(work))
        tasks.forget()
        return opened[-1]

    monkeypatch.setattr(tasks, "Hands", late)
    with pytest.raises(Interrupted):
        lagbc.bc(A, executor=Inline(), **SWEPT)
    with pytest.raises(RuntimeError, match="shutdown"):
        list(opened[0].run(iter([Span(0, 64)]), np.arange(64)))


@pytest.mark.parametrize("name", ["prepare", "sum_within"])
def test_less_memory_in_a_worker_within_a_cutoff(monkeypatch, name):
    """On the CPU it gives up a thread at a time, also where what is prepared does not fit."""
    usual, swept = getattr(traversal, name), []

    def scarce(first, second, *arrays):
        swept.append(second.threads if name == "prepare" else first.plan.threads)
        if swept[-1] > 1:
            raise MemoryError("none is left")
        return usual(first, second, *arrays)

    options = {"directed": False, "device": "cpu", "cutoff": 3}
    expected = lagbc.bc(A, **options)
    monkeypatch.setattr(traversal, name, scarce)
    with ThreadPoolExecutor(1) as pool, pytest.warns(lagbc.MemoryWarning, match="it goes on with .*threads=1"):
        scores = lagbc.bc(A, executor=pool, threads=3, **options)
    np.testing.assert_array_equal(scores, expected)
    assert sorted(set(swept)) == [1, 2, 3]


def test_a_killed_worker_leaves_the_checkpoint(pool, tmp_path):
    file, told, sent = tmp_path / "run", [], []

    class Killing:
        def submit(self, fn, task):
            if len(sent) == 2:
                sent[0].result()
                os.kill(worker, signal.SIGKILL)
            sent.append(victims.submit(fn, task))
            return sent[-1]

    with new_pool(1) as victims:  # another one could finish before the pool notices
        worker = victims.submit(os.getpid).result()
        message = rf"Killing, gave up a task \(BrokenProcessPool.*; tasks of this part done: [0-3]; {file} holds"
        with pytest.raises(lagbc.ExecutorError, match=message):
            lagbc.bc(A, executor=Killing(), checkpoint=file, progress=told.append, **SWEPT)
    assert done_in(file) == told[-1].done
    assert done_in(file) in (128, 256)
    shutil.copy(file, tmp_path / "copy")
    assert_bits(pool, checkpoint=file)
    assert_bits(None, checkpoint=tmp_path / "copy")


# What is done by a worker, by this process, and so on in turn.
OF_LOOPS = {
    "roots": (A, SWEPT, [128, 192, 256, 320]),
    "chains": (hub(300), {"reduce": "all", "device": "cpu", "directed": False}, [64, 128, 192, 256]),
    "bounds": (MESH, {"cutoff": 5, "device": "cpu", "directed": False}, [16, 32, 48, 64]),
}


@pytest.mark.parametrize("loop", OF_LOOPS)
def test_runs_go_on_with_and_without_an_executor(pool, tmp_path, loop, monkeypatch):
    """Amid a chunk, too."""
    monkeypatch.setattr("lagbc.tuning.SMALL_VERTICES", 2)
    matrix, given, ends = OF_LOOPS[loop]
    file, expected, done = tmp_path / "run", lagbc.bc(matrix, **given), []
    for executor in (pool, None, pool, None):
        with pytest.raises(Killed):
            lagbc.bc(matrix, checkpoint=file, progress=stop, executor=executor, threads=1, **given)
        done.append(done_in(file))
    assert done == ends
    assert_same(lagbc.bc(matrix, checkpoint=file, executor=pool, **given), expected)


def test_an_executor_that_was_shut_down():
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(lagbc.ExecutorError, match="after shutdown"):
        lagbc.bc(A, executor=pool, **SWEPT)


def test_a_task_that_is_cancelled():
    class Cancelling(Inline):
        def submit(self, fn, task):
            future = Future()
            future.cancel()
            future.set_running_or_notify_cancel()
            return future

    with pytest.raises(lagbc.ExecutorError, match="was cancelled"):
        lagbc.bc(A, executor=Cancelling(), **SWEPT)


def test_an_executor_beside_ranks():
    """tests/test_error_texts.py has what is neither."""
    with pytest.raises(ValueError, match="executor and comm exclude each other"):
        lagbc.bc(A, executor=Inline(), comm=3)


def test_a_result_of_which_an_interrupted_run_was_not_told(tmp_path):
    class Interrupting(Inline):
        def submit(self, fn, task):
            if self.tasks:
                raise KeyboardInterrupt
            future = super().submit(fn, task)
            future.add_done_callback = lambda told: None
            return future

    with pytest.raises(KeyboardInterrupt):
        lagbc.bc(A, executor=Interrupting(), checkpoint=tmp_path / "run", **SWEPT)
    assert done_in(tmp_path / "run") == 128


INTERRUPTED = """
import multiprocessing, os, signal, sys, tempfile, threading, time
sys.path.insert(0, {tests!r})
from concurrent.futures import ProcessPoolExecutor
from strategies import grid
import lagbc
from lagbc import tuning

tempfile.tempdir = {folder!r}

# Where the main thread waits for a task: of a sum at hand Ctrl-C may come after it is kept and before it is told.
def interrupt():
    while sys._current_frames()[threading.main_thread().ident].f_code.co_name != "results":
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)

interrupting = threading.Thread(target=interrupt)

def report(progress):
    print(progress.done, progress.total, flush=True)
    if interrupting.ident is None:
        interrupting.start()

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tuning.CHUNK_ROOTS = {{"cpu": 256}}
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver")) as pool:
        try:
            lagbc.bc(grid(100, 100), executor=pool, progress=report, checkpoint={file!r}, reduce="none", device="cpu")
        except KeyboardInterrupt:
            print("interrupted", sum("lagbc" in name for name in os.listdir(tempfile.tempdir)), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c(tmp_path):
    """Of the caller alone: what waits is cancelled, what runs ends, and the checkpoint has it."""
    folder, file, script = tmp_path / "temporary", tmp_path / "run", tmp_path / "script.py"
    folder.mkdir()
    script.write_text(INTERRUPTED.format(tests=TESTS, folder=str(folder), file=str(file)))
    process = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=100)
    assert process.returncode == 0, process.stderr
    *_, at_last, interrupted = process.stdout.splitlines()
    assert interrupted == "interrupted 0", process.stderr
    done, total = map(int, at_last.split())
    assert done_in(file) == done < total
