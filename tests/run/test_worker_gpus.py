"""Which of several GPUs a worker of an executor, or a rank, takes; this needs none."""

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from types import SimpleNamespace

import pytest
from strategies import grid
from swept import work

import lagbc
from lagbc.graph.validate import as_graph
from lagbc.methods import table
from lagbc.methods.contract import SweepPlan
from lagbc.planning import devices
from lagbc.reduce.pieces import Whole
from lagbc.run import tasks
from lagbc.run.tasks import pack, unpack
from lagbc.run.work import Span

NAMES = (*devices._LOCAL_RANKS, "CUDA_VISIBLE_DEVICES")


@pytest.fixture(autouse=True)
def told_nothing(monkeypatch):
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def current(monkeypatch):
    """Three GPUs that are none, and the numbers of those that are current; the last counts."""
    numbers = [0]

    @contextmanager
    def device(number):
        numbers.append(number)
        yield
        numbers.pop()

    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=SimpleNamespace(Device=device)))
    monkeypatch.setattr(table, "count_gpus", lambda: 3)
    return numbers


NAMED = {"CUDA_VISIBLE_DEVICES": "2,0,1"}


@pytest.mark.parametrize(
    ("identity", "rank", "told", "number"),
    [
        ((), None, {}, None),
        *(((), None, {name: "2"}, 2) for name in devices._LOCAL_RANKS),
        *(((), None, {name: "none"}, None) for name in devices._LOCAL_RANKS),
        # Ranks know theirs where the launcher does not tell.
        ((), 3, {}, 3),
        ((), 3, {"SLURM_LOCALID": "1"}, 1),
        # Processes of a pool count on. A batch job has a local rank, 0, which its pool inherits.
        ((1,), None, {}, 0),
        ((2,), None, {}, 1),
        ((1, 4), None, {}, 3),
        ((1, 4), None, {"SLURM_LOCALID": "0"}, 3),
        # Whoever names the GPUs of a process begins with its own, as dask-cuda does; ranks see all of them.
        ((3,), None, NAMED, None),
        ((3,), None, NAMED | {"SLURM_LOCALID": "1"}, 1),
    ],
)
def test_the_number_of_a_worker(monkeypatch, identity, rank, told, number):
    monkeypatch.setattr(multiprocessing, "current_process", lambda: SimpleNamespace(_identity=identity))
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    before = devices.local_rank.set(rank)
    assert devices.number_of_worker() == number
    devices.local_rank.reset(before)


def test_pools():
    """Of one process each, started one after the other."""
    numbers = []
    for _ in range(2):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            numbers.append(pool.submit(devices.number_of_worker).result())
    assert numbers[1] == numbers[0] + 1


@pytest.mark.parametrize(("number", "gpu"), [(None, 0), (0, 0), (1, 1), (2, 2), (3, 0), (7, 1)])
def test_tasks_of_a_gpu_run_on_that_of_the_worker(monkeypatch, current, number, gpu):
    if number is not None:
        monkeypatch.setenv("MPI_LOCALRANKID", str(number))
    hands = SimpleNamespace(run=lambda spans, items, first: [current[-1]] * len(items))
    monkeypatch.setattr(tasks, "Hands", lambda work: hands)

    for device, expected in (("cuda", gpu), ("cpu", 0)):
        work = SimpleNamespace(batches=lambda *_: [], sent=lambda found, _: found)
        work.sweep, work.on = SimpleNamespace(device=device), lambda _, work=work: work
        assert tasks._Opened(work, 0).run(Span(0, 2), [1, 2]) == [expected, expected]
    assert current == [0]


def test_one_gpu_is_left_as_it_is(monkeypatch, current):
    monkeypatch.setenv("MPI_LOCALRANKID", "2")
    monkeypatch.setattr(table, "count_gpus", lambda: 1)
    with devices.gpu_of_worker():
        assert current == [0]


def test_a_work_is_not_placed_where_it_arrives(monkeypatch):
    """Its hands place it, once the GPU of the worker is current."""
    graph = as_graph(grid(4, 5), directed=False)
    (row,) = (row for row in lagbc.METHODS if row.key == ("batched", "cpu", False))
    packed = bytes(pack(work(graph, graph.order, row, SweepPlan(batch=64))))
    monkeypatch.setattr(Whole, "placed", lambda *_: pytest.fail("it was placed"))
    assert unpack(memoryview(bytearray(packed))).graph.n == graph.n
