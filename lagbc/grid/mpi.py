"""Lines of MPI ranks. No call waits inside MPI, so that an idle rank leaves its core to others."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from lagbc.grid.communicator import Line, Steps
from lagbc.methods.block import Message

_OPERATIONS = {"sum": MPI.SUM, "or": MPI.BOR, "xor": MPI.BXOR, "least": MPI.MIN}
# Messages of so many bytes are sent together with their length, in one round; most messages of sparse levels are.
_SHORT = 2048
_HEAD = 8 + _SHORT
# Looks at a request before a rank sleeps between two looks, and before it sleeps longer; seconds of both sleeps.
_LOOKS, _SLEEP, _MANY_LOOKS, _LONG_SLEEP = 200, 5e-5, 20_000, 1e-3


class _MpiLine:
    def __init__(self, comm: MPI.Comm) -> None:
        self.size, self.rank, self.sent, self._comm = comm.Get_size(), comm.Get_rank(), 0, comm

    def all_gather(self, message: Message) -> Steps[list[Message]]:
        """Send all messages in one round if all are short, else the lengths, and the messages in a second round."""
        if self.size == 1:
            return [message]
        self.sent += len(message) * (self.size - 1)
        heads = np.empty((self.size, _HEAD), np.uint8)
        yield _wait_for(self._comm.Iallgather(_head(message), heads))
        sizes = _sizes(heads)
        if sizes.max() <= _SHORT:
            yield _wait_for()  # for the second round, which long messages have
            return [head[8 : 8 + size] for head, size in zip(heads, sizes, strict=True)]
        found, starts = np.empty(sizes.sum(), np.uint8), np.concatenate([[0], sizes.cumsum()[:-1]])
        yield _wait_for(self._comm.Iallgatherv([message, MPI.BYTE], [found, sizes, starts, MPI.BYTE]))
        return np.split(found, starts[1:])

    def exchange(self, messages: Sequence[Message]) -> Steps[list[Message]]:
        """Send lengths and short messages in one round; long messages follow from rank to rank."""
        if self.size == 1:
            return [*messages]
        self.sent += sum(len(message) for message in messages) - len(messages[self.rank])
        heads = np.empty((self.size, _HEAD), np.uint8)
        yield _wait_for(self._comm.Ialltoall(np.stack([_head(message) for message in messages]), heads))
        found = [head[8 : 8 + size] for head, size in zip(heads, _sizes(heads), strict=True)]
        requests = list[Any]()
        for rank, (message, size) in enumerate(zip(messages, _sizes(heads), strict=True)):
            if rank == self.rank:
                found[rank] = message
                continue
            if size > _SHORT:
                found[rank] = np.empty(size, np.uint8)
                requests.append(self._comm.Irecv([found[rank], MPI.BYTE], rank))
            if len(message) > _SHORT:
                requests.append(self._comm.Isend([message, MPI.BYTE], rank))
        yield _wait_for(*requests)
        return found

    def combine(self, numbers: NDArray[Any], operation: str) -> NDArray[Any]:
        combined = np.empty_like(numbers)
        _wait_for(self._comm.Iallreduce(numbers, combined, _OPERATIONS[operation]))()
        return combined

    def split(self, color: int) -> _MpiLine:
        return _MpiLine(self._comm.Split(color, self.rank))

    def abort(self, error: BaseException) -> None:
        print(
            f"lagbc: rank {MPI.COMM_WORLD.Get_rank()}: {type(error).__name__}: {error}", file=sys.__stderr__, flush=True
        )
        self._comm.Abort(1)

    def close(self) -> None:
        self._comm.Free()


def line_of(comm: MPI.Comm) -> Line:
    """Return the ranks of a communicator as a line; its messages and the program's stay apart."""
    _wait_for(comm.Ibarrier())()
    return _MpiLine(comm.Dup())


def _head(message: Message) -> NDArray[np.uint8]:
    """Return the length of a message, and the message behind it if it is short."""
    head = np.zeros(_HEAD, np.uint8)
    head[:8] = np.array([len(message)], np.int64).view(np.uint8)
    if len(message) <= _SHORT:
        head[8 : 8 + len(message)] = message
    return head


def _sizes(heads: NDArray[np.uint8]) -> NDArray[np.int64]:
    return np.ascontiguousarray(heads[:, :8]).view(np.int64).ravel()


def _wait_for(*requests: Any) -> Callable[[], None]:
    """Return a function that waits for requests: by looks first, then with short sleeps, later with longer ones."""

    def wait() -> None:
        looks = 0
        for request in requests:
            while not request.Test():
                looks += 1
                time.sleep(0 if looks < _LOOKS else _SLEEP if looks < _MANY_LOOKS else _LONG_SLEEP)

    return wait
