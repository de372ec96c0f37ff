"""The ranks of an MPI program as an executor.

Rank 0 makes the call, and adds up. Its executor gives a task to the rank with the fewest, rank 0 too. The other ranks
do tasks until the call ends, and return the result of rank 0, or raise its error.

On each rank a thread sends and receives all messages. It polls, and sleeps between two looks. Python raises Ctrl-C in
the main thread alone, so that it neither splits a message nor waits for one. Rank 0 sends tasks, then None. The other
ranks send an answer to each task in order, an error if they leave by themselves, then None. So no message is left when
the communicator is freed: the next communicator of the same number would receive it.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import ExitStack, suppress
from contextvars import copy_context
from functools import partial
from itertools import chain
from queue import Empty, SimpleQueue
from threading import Event, Lock, Thread
from typing import Any, NamedTuple, TypeVar

from lagbc.calls import stopping_by, uninterrupted
from lagbc.errors import InvalidValueError, RunError
from lagbc.limits import usable_cores, usable_cores_by_number
from lagbc.native.pool import Pool
from lagbc.planning.devices import local_rank
from lagbc.run.tasks import forget, portable

Result = TypeVar("Result")

# Seconds between two looks at messages.
_LOOK_SECONDS = 0.001
# Seconds between two looks of an idle rank for Ctrl-C.
_IDLE_SECONDS = 0.1
# Tasks of a rank at a time: one runs, the next one is there.
_TASKS = 2


class _Answer(NamedTuple):
    """The value or the error of a task, or of the call."""

    value: Any = None
    error: BaseException | None = None


def on_ranks(comm: Any, key: Any, compute: Callable[[Executor | None], Result]) -> Result:
    """Make a call on all ranks: rank 0 calls `compute`, with an executor of the ranks, or None if it is alone.

    All ranks return the result, or raise the error of any rank; ValueError if `key`, which names the call, differs.
    """
    if comm.Get_size() == 1:
        return compute(None)
    from mpi4py import MPI

    if MPI.Query_thread() < MPI.THREAD_SERIALIZED:
        raise RunError("comm: MPI was begun without support of threads; let mpi4py begin it, as it does")
    _wait_for(comm.Ibarrier())
    with ExitStack() as put_off:
        put_off.enter_context(uninterrupted())  # until ranks can tell each other of Ctrl-C
        calls = comm.allgather(key)
        if any(call != calls[0] for call in calls):
            told = ", ".join(f"{call} on rank {rank}" for rank, call in enumerate(calls))
            raise InvalidValueError(f"all ranks of comm make the same call; they make others: {told}")
        with ExitStack() as freed:
            own = comm.Dup()  # messages of lagbc and of the program stay apart
            freed.callback(own.Free)  # MPI has only some thousands of communicators
            threads, number = _place_of_rank(own)
            before = local_rank.set(number)
            try:
                if own.Get_rank():
                    return _follow(own, put_off.close)  # type: ignore[no-any-return]
                return _lead(own, threads, compute, put_off.close)
            finally:
                local_rank.reset(before)


def _place_of_rank(comm: Any) -> tuple[int, int]:
    """Return the cores of each rank, an equal share on the fullest machine, and this rank's number on its machine."""
    from mpi4py import MPI

    here = comm.Split_type(MPI.COMM_TYPE_SHARED)
    try:
        cores = set[int]().union(*here.allgather(usable_cores_by_number()))
        share, number = max(1, usable_cores(cores) // here.Get_size()), here.Get_rank()
    finally:
        here.Free()
    least: int = comm.allreduce(share, MPI.MIN)
    return least, number


def _lead(comm: Any, threads: int, compute: Callable[[Executor | None], Result], heed: Callable[[], object]) -> Result:
    """Make the call, and tell the other ranks its result or error; `heed` lets Ctrl-C through from now on."""
    ranks, end = Ranks(comm, threads), _Answer(error=KeyboardInterrupt())
    try:
        try:
            heed()
            ranks.begin()
            result = compute(ranks)
        finally:
            ranks.end()
        ranks.raise_if_left()
        end = _Answer(result)
        return result
    except BaseException as error:
        end = _Answer(error=portable(error))
        raise
    finally:
        try:
            comm.bcast(end)
        except Exception as error:  # a result that cannot be pickled
            comm.bcast(_Answer(error=portable(error)))
            raise


def _follow(comm: Any, heed: Callable[[], object]) -> Any:
    """Do the tasks of rank 0; return the result of its call, or raise the error."""
    tasks, answers, is_over = SimpleQueue[Any](), SimpleQueue[Any](), Event()
    exchange, messages = partial(_exchange, comm, tasks, answers, is_over), None
    try:
        with stopping_by(is_over.is_set):  # so that a running task ends with a call that has failed
            messages = _begun(exchange)
            heed()
            while (task := _next(tasks)) is not None:
                answers.put(_answer(task))
    except BaseException as error:  # Ctrl-C, mostly
        answers.put(portable(error))
        raise
    finally:
        answers.put(None)
        forget()
        _end(messages, exchange)
        end = comm.bcast(None)  # after rank 0 has written its checkpoint: launchers end all ranks when one is gone
    if end.error is not None:
        raise end.error
    return end.value


def _next(tasks: SimpleQueue[Any]) -> Any:
    """Wait for a task, a little at a time: Ctrl-C that comes as a wait begins is raised at its end."""
    while True:
        with suppress(Empty):
            return tasks.get(timeout=_IDLE_SECONDS)


def _exchange(comm: Any, tasks: SimpleQueue[Any], answers: SimpleQueue[Any], is_over: Event) -> None:
    """Receive tasks from rank 0 until None, and send answers until None."""
    sent, more = list[Any](), True
    while more or not is_over.is_set():
        try:
            if not is_over.is_set() and comm.iprobe(source=0):
                task = comm.recv(source=0)
                if task is None:
                    is_over.set()
                tasks.put(task)
            elif not answers.empty():
                answer = answers.get()
                more = answer is not None
                sent = [*_under_way(sent), comm.isend(answer, 0)]
            else:
                time.sleep(_LOOK_SECONDS)
        except Exception as error:  # a message that cannot be pickled
            answers.put(portable(error))
    _wait_for(*sent)


def _answer(task: Callable[[], Any], errors: type[BaseException] = Exception) -> _Answer:
    try:
        return _Answer(task())
    except errors as error:
        return _Answer(error=portable(error))


def _begun(exchange: Callable[[], Any]) -> Thread:
    """Start the thread that has the messages of a rank."""
    thread = Thread(target=copy_context().run, args=(exchange,), daemon=True)
    thread.start()
    return thread


def _end(messages: Thread | None, exchange: Callable[[], Any]) -> None:
    """Wait for the end of the messages; the first Ctrl-C is raised after it, a second one at once.

    If their thread could not start, this one has them.
    """
    end = exchange if messages is None else messages.join
    try:
        end()
    finally:
        if messages is not None:
            messages.join()


def _wait_for(*requests: Any) -> None:
    """Wait until messages have arrived; Ctrl-C ends the wait."""
    while not all(request.Test() for request in requests):
        time.sleep(_LOOK_SECONDS)


def _under_way(requests: list[Any]) -> list[Any]:
    """Return the messages that are not sent yet; the memory of the others is freed."""
    return [request for request in requests if not request.Test()]


class Ranks(Executor):
    """An executor on rank 0: each call runs on the rank with the fewest, in so many `threads`."""

    def __init__(self, comm: Any, threads: int) -> None:
        self._comm, self.threads, self.size = comm, threads, comm.Get_size()
        self._waiting = deque[tuple[Future[Any], Callable[[], Any]]]()
        self._out = [deque[Future[Any]]() for _ in range(self.size)]  # by rank, in order
        self._own, self._running = Pool(1), deque[Future[_Answer]]()  # on this rank
        self._sent, self._present = list[Any](), set(range(1, self.size))
        self._lock, self._left, self._is_over = Lock(), list[BaseException](), Event()
        self._messages: Thread | None = None

    def begin(self) -> None:
        self._messages = _begun(self._exchange)

    def submit(self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any) -> Future[Result]:
        """Queue a call for the rank with the fewest; raise the error that ended the calls, or RunError after `end`."""
        future = Future[Result]()
        with self._lock:
            self.raise_if_left()
            if self._is_over.is_set():
                raise RunError("the call of the ranks has ended")
            self._waiting.append((future, partial(fn, *args, **kwargs)))
        return future

    def end(self) -> None:
        """Tell all ranks that no task follows, and wait for their last answers."""
        self._is_over.set()
        _end(self._messages, self._exchange)
        self._own.shutdown(wait=True, cancel_futures=True)

    def raise_if_left(self) -> None:
        for error in self._left:
            raise error

    def _exchange(self) -> None:
        """Send tasks and receive answers, until every rank has sent its last one."""
        told = False
        while self._present or not told:
            if self._is_over.is_set() and not told:
                told = True
                self._sent += [self._comm.isend(None, rank) for rank in range(1, self.size)]
            try:
                moved = self._give() | self._take()
            except Exception as error:  # a message that cannot be pickled
                moved = self._give_up(error)
            if not moved:
                time.sleep(_LOOK_SECONDS)
        _wait_for(*self._sent)

    def _give(self) -> bool:
        """Give a task to the rank with the fewest; return whether there was a task, and room for it."""
        rank = min(range(self.size), key=lambda rank: len(self._out[rank]))
        if not self._waiting or len(self._out[rank]) >= _TASKS or self._is_over.is_set():
            return False
        future, call = self._waiting.popleft()
        if future.set_running_or_notify_cancel():
            self._out[rank].append(future)
            if rank:
                self._sent.append(self._comm.isend(call, rank))
            else:
                self._running.append(self._own.submit(_answer, call, BaseException))
        return True

    def _take(self) -> bool:
        """Take messages of other ranks, and answers of this one; return whether there were some."""
        from mpi4py import MPI

        self._sent = _under_way(self._sent)
        took, status = False, MPI.Status()
        while self._comm.iprobe(status=status):
            took = self._settle(status.Get_source(), self._comm.recv(source=status.Get_source()))
        while self._running and self._running[0].done():
            took = self._settle(0, self._running.popleft().result())
        return took

    def _settle(self, rank: int, message: _Answer | BaseException | None) -> bool:
        """Take a message: an answer, the error of a rank that leaves, or None, the last one of a rank."""
        if message is None:
            self._present.discard(rank)
        elif isinstance(message, BaseException):
            self._give_up(message)
        elif not (future := self._out[rank].popleft()).done():  # else `_give_up` has ended it
            if message.error is None:
                future.set_result(message.value)
            else:
                future.set_exception(message.error)
        return True

    def _give_up(self, error: BaseException) -> bool:
        """End all calls with the error of a rank that leaves."""
        with self._lock:
            self._left.append(error)
        waiting = [future for future, _ in self._waiting if future.set_running_or_notify_cancel()]
        self._waiting.clear()
        for future in (*waiting, *chain.from_iterable(self._out)):
            if not future.done():
                future.set_exception(error)
        return True
