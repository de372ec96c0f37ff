"""The ranks of an MPI program as the workers of a run: rank 0 gives tasks out and adds up, all of them compute.

Rank 0 makes the call, with an executor whose tasks go to any free rank, itself among them. The others do its tasks
until it ends, and then have the same result or the same error. Nothing waits inside MPI for long, so that Ctrl-C is
heeded and idle ranks leave their cores to others.
"""

from __future__ import annotations

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from itertools import count
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, NamedTuple, TypeVar

from lagbc.errors import InvalidValueError, RunError
from lagbc.limits import usable_cores, usable_cores_by_number
from lagbc.native.pool import Pool
from lagbc.planning.devices import local_rank
from lagbc.run.tasks import forget, portable

Result = TypeVar("Result")

# Seconds between two looks at messages, and of the wait for ranks after a failed call.
_LOOK_SECONDS, _PATIENCE = 0.001, 5.0
# Tasks that a rank has at a time: the running one, and the next.
_TASKS = 2


class _Call(NamedTuple):
    """A task on its way to a rank."""

    number: int
    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class _Answer(NamedTuple):
    """The result or error of a task; without a number, the farewell of a rank."""

    number: int | None
    value: Any = None
    error: BaseException | None = None


class _End(NamedTuple):
    """The end of rank 0's tasks; with its error, if it has one. A result follows by itself."""

    error: BaseException | None


def on_ranks(comm: Any, what: Any, compute: Callable[[Executor | None], Result]) -> Result:
    """Make a call on all ranks: rank 0 calls `compute`, with an executor of the ranks, or None for one rank.

    Rank 0's result is returned, and the error of any rank raised, on every rank. The key of the call, `what`, is the
    same on all ranks, else ValueError.
    """
    if comm.Get_size() == 1:
        return compute(None)
    _require_threads()
    _wait_for(comm.Ibarrier())
    calls = comm.allgather(what)
    if any(call != calls[0] for call in calls):
        told = ", ".join(f"{call} on rank {rank}" for rank, call in enumerate(calls))
        raise InvalidValueError(f"all ranks of comm make the same call; they make others: {told}")
    with _freed(comm.Dup()) as own:  # no message of the program is taken for one of lagbc, nor the other way round
        threads, number = _place_of_rank(own)
        before = local_rank.set(number)
        try:
            result: Result = _lead(own, threads, compute) if own.Get_rank() == 0 else _serve(own)
            return result
        finally:
            local_rank.reset(before)


def _require_threads() -> None:
    from mpi4py import MPI

    if MPI.Query_thread() < MPI.THREAD_SERIALIZED:
        raise RunError("comm: MPI was begun without support of threads; let mpi4py begin it, as it does")


@contextmanager
def _freed(comm: Any) -> Iterator[Any]:
    """Free a communicator at the end, of which MPI has some thousands."""
    try:
        yield comm
    finally:
        comm.Free()


def _lead(comm: Any, threads: int, compute: Callable[[Executor | None], Result]) -> Result:
    ranks = Ranks(comm, threads)
    try:
        result = compute(ranks)
    except BaseException as error:
        ranks.end(error)
        raise
    ranks.end()
    comm.bcast(result)
    return result


def _serve(comm: Any) -> Any:
    """Do the tasks of rank 0, until its end."""
    pool, waiting = Pool(1), deque[_Call]()
    running: tuple[int, Future[Any]] | None = None
    sent: list[Any] = []
    message: _End | None = None
    try:
        while message is None:
            looked = comm.iprobe(source=0)
            if looked:
                taken = comm.recv(source=0)
                if isinstance(taken, _End):
                    message = taken
                else:
                    waiting.append(taken)
            if running is not None and running[1].done():
                sent.append(comm.isend(_answer(*running), 0))
                running = None
            if running is None and waiting:
                call = waiting.popleft()
                running = call.number, pool.submit(call.function, *call.arguments)
            sent = [request for request in sent if not request.Test()]
            if not looked:
                time.sleep(_LOOK_SECONDS)
    except BaseException as error:
        sent.append(comm.isend(_Answer(None, error=portable(error)), 0))
        _wait_for_end(comm)
        raise
    finally:
        forget()
        pool.shutdown(wait=True, cancel_futures=True)
        if message is None or message.error is not None:
            _wait_for(*sent, comm.isend(_Answer(None), 0), seconds=_PATIENCE)  # rank 0 takes the messages under way
    if message.error is not None:
        raise message.error
    return comm.bcast(None)


def _wait_for_end(comm: Any) -> None:
    """Wait until rank 0 has written its checkpoint: launchers end all ranks when one is gone."""
    deadline = time.monotonic() + 2 * _PATIENCE
    while time.monotonic() < deadline:
        if not comm.iprobe(source=0):
            time.sleep(_LOOK_SECONDS)
        elif isinstance(comm.recv(source=0), _End):
            return


def _answer(number: int, future: Future[Any]) -> _Answer:
    error = future.exception()
    return _Answer(number, future.result()) if error is None else _Answer(number, error=portable(error))


def _wait_for(*requests: Any, seconds: float = math.inf) -> None:
    """Wait for messages under way, heeding Ctrl-C."""
    deadline = time.monotonic() + seconds
    for request in requests:
        while not request.Test() and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)


def _place_of_rank(comm: Any) -> tuple[int, int]:
    """Share the cores of each machine among its ranks, bound to cores or not, and number these ranks.

    Return the cores of each rank, the same everywhere, and the number of this one on its machine.
    """
    from mpi4py import MPI

    with _freed(comm.Split_type(MPI.COMM_TYPE_SHARED)) as here:
        cores = set[int]().union(*here.allgather(usable_cores_by_number()))
        share, number = max(1, usable_cores(cores) // here.Get_size()), here.Get_rank()
    least: int = comm.allreduce(share, MPI.MIN)
    return least, number


class Ranks(Executor):
    """An executor on rank 0 whose calls run on any free rank.

    Each has as many `threads` as an equal share of its machine's cores.
    """

    def __init__(self, comm: Any, threads: int) -> None:
        self._comm, self.threads = comm, threads
        self._numbers = count()
        self._waiting = deque[tuple[_Call, Future[Any]]]()
        self._out: dict[int, tuple[int, Future[Any]]] = {}  # by number: the rank that has it
        self._sent: list[Any] = []
        self._ended, self._lock = False, Lock()
        self._present = set(range(1, comm.Get_size()))
        self._done_here = SimpleQueue[_Answer]()
        self._own = Pool(1)
        self._thread = Thread(target=copy_context().run, args=(self._run,), daemon=True)
        self._thread.start()

    @property
    def size(self) -> int:
        """The count of ranks."""
        size: int = self._comm.Get_size()
        return size

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Have a free rank make a call."""
        future = Future[Result]()
        with self._lock:
            if self._ended:
                raise RunError("a rank has left, or the call has ended")
            self._waiting.append((_Call(next(self._numbers), partial(fn, **kwargs), args), future))
        return future

    def end(self, error: BaseException | None = None) -> None:
        """End all ranks, with an error if there is one; then slow ranks are not waited for."""
        self._ended = True
        self._thread.join()
        self._own.shutdown(wait=True, cancel_futures=True)
        end = _End(None if error is None else portable(error))
        requests = [self._comm.isend(end, rank) for rank in self._present]
        if error is None:
            _wait_for(*requests)
            return
        deadline = time.monotonic() + _PATIENCE
        while self._present and time.monotonic() < deadline:
            if not self._take():
                time.sleep(_LOOK_SECONDS)

    def _run(self) -> None:
        try:
            while not self._ended:
                gave, took = self._give(), self._take()
                if not gave and not took:
                    time.sleep(_LOOK_SECONDS)
        except BaseException as error:  # of MPI
            self._give_up(error)

    def _give(self) -> bool:
        """Give tasks to ranks with few."""
        gave = False
        while self._waiting and (rank := self._free_rank()) is not None:
            call, future = self._waiting.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            gave = True
            self._out[call.number] = rank, future
            if rank:
                self._sent.append(self._comm.isend(call, rank))
            else:
                own = self._own.submit(call.function, *call.arguments)
                own.add_done_callback(partial(self._put, call.number))
        return gave

    def _put(self, number: int, done: Future[Any]) -> None:
        if not done.cancelled():
            self._done_here.put(_answer(number, done))

    def _free_rank(self) -> int | None:
        """Return the rank with fewest tasks, if it has room for one more."""
        tasks = Counter(rank for rank, _ in self._out.values())
        rank = min((0, *self._present), key=lambda rank: tasks[rank])
        return rank if tasks[rank] < _TASKS else None

    def _take(self) -> bool:
        """Take answers, of other ranks and of this one."""
        from mpi4py import MPI

        self._sent = [request for request in self._sent if not request.Test()]
        took, status = False, MPI.Status()
        while self._comm.iprobe():
            self._settle(self._comm.recv(status=status), status.Get_source())
            took = True
        while not self._done_here.empty():
            self._settle(self._done_here.get(), 0)
            took = True
        return took

    def _settle(self, answer: _Answer, rank: int) -> None:
        if answer.number is None and answer.error is not None:
            self._give_up(answer.error)
            return
        if answer.number is None:
            self._present.discard(rank)
            return
        _, future = self._out.pop(answer.number, (0, Future[Any]()))
        if answer.error is None:
            future.set_result(answer.value)
        else:
            future.set_exception(answer.error)

    def _give_up(self, error: BaseException) -> None:
        """End all calls with an error, as a rank has left by itself."""
        with self._lock:
            self._ended = True
        for _, future in self._out.values():
            future.set_exception(error)
        self._out.clear()
        while self._waiting:
            _, future = self._waiting.popleft()
            if future.set_running_or_notify_cancel():
                future.set_exception(error)
