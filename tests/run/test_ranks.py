"""Programs whose processes are MPI ranks: the bits of a run of one process on each, and errors and Ctrl-C of all."""

import numpy as np
import pytest
from launcher import LAUNCHER, TESTS, printed, programs, run

import lagbc

pytest.importorskip("mpi4py")
if LAUNCHER is None:
    pytest.skip("there is no mpiexec", allow_module_level=True)

BEGIN = f"""
import sys
sys.path.insert(0, {TESTS!r})
from mpi4py import MPI
import numpy as np
from families import grid, scale_free
import lagbc
from lagbc import tuning

comm = MPI.COMM_WORLD
tuning.CHUNK_ROOTS = {{"cpu": 128, "cuda": 512}}
tuning.SMALL_VERTICES = 2
A, MESH = scale_free(500, 3000, seed=1), grid(15, 20)
SWEPT = {{"reduce": "none", "device": "cpu"}}
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # a killed process leaves its folder
    return programs(tmp_path, BEGIN)


def test_bits_on_every_rank(program):
    """Of communicators of 3 and 4 ranks, and of 1, which computes at the same time as that of 3."""
    body = """
from every_call import CALLS, LENGTHS, assert_same
reduced = {"reduce": "all", "weighted": True, "directed": False}
calls = [*CALLS.values(), (LENGTHS, ["bc", "edge_bc"], reduced)]
by_one = [lagbc.centralities(matrix, names, **{"device": "cpu", **given}) for matrix, names, given in calls]
for size in (3, 4):
    some = comm.Split(comm.Get_rank() < size)
    for (matrix, names, given), expected in zip(calls, by_one):
        assert_same(lagbc.centralities(matrix, names, comm=some, **{"device": "cpu", **given}), expected)
    drawn = some.allgather(lagbc.bc(A, k=300, comm=some))
    assert all((drawn[0] == one).all() for one in drawn)
    highest = lagbc.closeness(None if some.Get_rank() else A, top=5, comm=some)
    assert (highest.scores == lagbc.closeness(A, top=5).scores).all() and highest.names == [*highest.vertices]
    given = {"device": "cpu", "directed": False, "max_roots": 300}
    np.testing.assert_array_equal(
        lagbc.estimate(A, rng=1, comm=some, **given).upper, lagbc.estimate(A, rng=1, **given).upper
    )
    drawn = some.allgather(lagbc.estimate(A, comm=some, **given))
    assert all((drawn[0].scores == one.scores).all() for one in drawn)
if comm.gather(size):
    print("same")
"""
    assert printed(4, program(body)).split()[0] == "same"


MESSAGES = [
    *("TypeError directed=3 is neither True nor False", "ZeroDivisionError of rank 0", "no thread on rank 0"),
    "they make others: ['closeness'] on rank 0, ['bc'] on rank 1, ['bc'] on rank 2",
    *("targets means nothing to eccentricity", "no thread on rank 1", "OverflowError of rank 1", "6 of 6 freed"),
]


def test_an_error_of_one_is_that_of_all(program):
    """Of the arguments, a function that rank 0 calls, a thread, a worker; and the program goes on or ends."""
    body = """
import threading
from lagbc.run import tasks

said, begun = [], threading.Thread.start

class Counted(MPI.Intracomm):
    made = freed = 0

    def Dup(self):
        Counted.made += 1
        return super().Dup()

    def Free(self):
        Counted.freed += 1
        super().Free()

comm = Counted(comm)

def attempt(function=lagbc.bc, **given):
    try:
        function(A, comm=comm, **SWEPT, **given)
    except Exception as error:
        said.append(f"{type(error).__name__} {error}")

def report(progress):
    raise ZeroDivisionError("of rank 0")

def fail(*arguments):
    raise OverflowError("of rank 1")

def start(thread):
    if comm.Get_rank() == failing:
        raise RuntimeError(f"no thread on rank {failing}")
    begun(thread)

attempt(directed=3)
attempt(progress=report)
attempt(lagbc.bc if comm.Get_rank() else lagbc.closeness)
attempt(lagbc.centralities, which="eccentricity", targets=None if comm.Get_rank() else [1])
for failing in (0, 1):
    threading.Thread.start = start
    attempt(threads=1)
    threading.Thread.start = begun
if comm.Get_rank() == 1:
    tasks.Hands = fail
attempt()
for messages in comm.gather([*said, f"{Counted.freed} of {Counted.made} freed"]) or []:
    print(*messages, sep="\\n", flush=True)
lagbc.bc(A, comm=comm, **SWEPT)
print("finished")
"""
    status, stdout, stderr = run(3, program(body))
    assert [stdout.count(message) for message in MESSAGES] == [3] * len(MESSAGES), stdout + stderr
    assert status != 0
    assert "OverflowError: of rank 1" in stderr
    assert "finished" not in stdout


def test_ranks_are_an_executor(program):
    """Of calls with keywords; what cannot be sent ends the call on all; all ranks say that MPI lacks threads."""
    body = """
import threading
from lagbc.run.ranks import on_ranks

def lead(ranks):
    return [ranks.submit(int, text, base=2).result() for text in ("1", "10", "11")]

def locked(ranks):
    return [given.result() for given in [ranks.submit(threading.Lock) for _ in range(4)]]

assert on_ranks(comm, "numbers", lead) == [1, 2, 3]
for lock in (locked, lambda ranks: threading.Lock()):
    try:
        on_ranks(comm, "locks", lock)
    except TypeError as error:
        print(error, flush=True)
assert on_ranks(comm, "numbers", lead) == [1, 2, 3]
MPI.Query_thread = lambda: MPI.THREAD_FUNNELED
try:
    lagbc.bc(A, comm=comm)
except RuntimeError as error:
    print(error, flush=True)
"""
    stdout = printed(2, program(body))
    assert stdout.count("pickle '_thread.lock' object") == 4
    assert stdout.count("MPI was begun without support of threads") == 2


def test_stop_ends_all_ranks(program, tmp_path):
    """The event of rank 0, set by another thread of it; the checkpoint is gone on with."""
    body = """
import threading, time
event, seen = threading.Event(), []

def report(progress):
    seen.append(progress.done)
    thread = threading.Thread(target=event.set)
    thread.start()
    thread.join()

options = {"batch": 64, "method": "batched", **SWEPT}
try:
    lagbc.bc(A, comm=comm, stop=event, progress=report, checkpoint=sys.argv[1], **options)
    told = "finished"
except lagbc.StoppedError as error:
    told = str(error)
for one in comm.gather(told) or []:
    print(one, flush=True)
scores = lagbc.bc(A, comm=comm, checkpoint=sys.argv[1], **options)
assert (scores == lagbc.bc(A, **options)).all()
if comm.Get_rank() == 0:
    assert 0 < seen[-1] < A.shape[0], seen
    print("gone on")
"""
    stdout = printed(3, program(body), tmp_path / "checkpoint")
    assert stdout.count("the run was stopped, as stop= asked for") == 3
    assert stdout.split()[-2:] == ["gone", "on"]


def test_a_rank_that_is_killed_ends_all(program):
    body = """
import os, signal
from lagbc.run import tasks

def die(*arguments):
    os.kill(os.getpid(), signal.SIGKILL)

if comm.Get_rank() == 1:
    tasks.Hands = die
lagbc.bc(A, comm=comm, **SWEPT)
print("finished")
"""
    status, stdout, _ = run(2, program(body))
    assert status != 0
    assert "finished" not in stdout


def test_ctrl_c_ends_all(program, tmp_path):
    """A communicator of fewer ranks goes on from the checkpoint."""
    body = """
import os, signal, time
from lagbc.run.partial import Checkpoint

signal.signal(signal.SIGINT, signal.default_int_handler)
save = Checkpoint.save
Checkpoint.save = lambda file: [time.sleep(0.5), save(file)]  # a slow disk
ranks = comm.allgather(os.getpid())

def report(progress):
    if progress.done == 128:
        for rank in ranks[::-1]:
            os.kill(rank, signal.SIGINT)

try:
    lagbc.bc(grid(60, 60), comm=comm, progress=report, checkpoint=sys.argv[1], **SWEPT)
except KeyboardInterrupt:
    done = int(np.load(sys.argv[1])["done"].sum())
told = comm.gather(done)
if told:
    print(*told, flush=True)
comm.Barrier()
pair = comm.Split(comm.Get_rank() < 2)
if comm.Get_rank() < 2:
    scores = lagbc.bc(grid(60, 60), comm=pair, checkpoint=sys.argv[1], **SWEPT)
    np.testing.assert_array_equal(scores, lagbc.bc(grid(60, 60), **SWEPT))
    pair.Barrier()
if told:
    print("resumed", flush=True)
"""
    *done, resumed = printed(3, program(body), tmp_path / "run").split()[:4]
    assert len(done) == 3
    assert len(set(done)) == 1, "a rank was gone before the checkpoint was written"
    assert 128 <= int(done[0]) < 3600
    assert resumed == "resumed"


def test_ctrl_c_of_an_idle_rank(program):
    """It ends the call on all ranks, and leaves no message for the next call."""
    body = """
import os, signal, time
from lagbc.run.ranks import on_ranks

signal.signal(signal.SIGINT, signal.default_int_handler)
ranks = comm.allgather(os.getpid())

def unseen(executor):
    os.kill(ranks[1], signal.SIGINT)

def seen(executor):
    unseen(executor)
    while True:
        executor.submit(time.sleep, 0.01).result()

for lead in (unseen, seen, unseen):
    try:
        on_ranks(comm, "idle", lead)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    np.testing.assert_array_equal(lagbc.bc(MESH, comm=comm), lagbc.bc(MESH))
"""
    assert printed(3, program(body)).count("interrupted") == 9


def test_the_command(tmp_path):
    """Rank 0 reads, prints and writes."""
    out = tmp_path / "scores.npy"
    bc = ("-m", "lagbc", "bc", "example:lesmis", "--reduce", "none", "--top", 1)
    stdout = printed(2, *bc, "--out", out)
    assert stdout.count("lesmis: ") == stdout.count("scores: ") == 1
    np.testing.assert_array_equal(np.load(out), lagbc.bc(lagbc.read_graph("example:lesmis"), reduce="none"))
    status, stdout, stderr = run(2, "-m", "lagbc", "bc", tmp_path / "nothing")
    assert status == 2
    assert stderr.count("lagbc: error: there is no file") == 1


def test_ranks_of_a_machine_are_numbered(program):
    """By the launcher, or where it does not tell: this says which GPU is whose."""
    body = """
import os
from lagbc.planning import devices
from lagbc.run import tasks

Hands, numbers = tasks.Hands, set()

def noted(*arguments):
    numbers.add(devices.number_of_worker())
    return Hands(*arguments)

tasks.Hands = noted
lagbc.bc(A, comm=comm, **SWEPT)
for name in devices._LOCAL_RANKS:
    os.environ.pop(name, None)
lagbc.bc(MESH, comm=comm, **SWEPT)
told = comm.gather(sorted(numbers, key=str))
if told:
    print(told[1:])
"""
    assert printed(3, program(body)).split("\n")[0] == "[[1], [2]]"
