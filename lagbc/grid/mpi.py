"""Lines of MPI ranks. Nothing waits inside MPI, so that ranks that are idle leave their cores to others."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray

from lagbc.errors import RunError
from lagbc.grid.communicator import Message

_OPERATIONS = {"sum": MPI.SUM, "or": MPI.BOR, "xor": MPI.BXOR, "least": MPI.MIN}
# Looks at what is under way before a rank sleeps between two, and for how long it does at most.
_LOOKS, _LONGEST_SLEEP = 100, 1e-3


class MpiLine:
    """A line of MPI ranks."""

    def __init__(self, comm: MPI.Comm) -> None:
        self.size, self.place, self.sent, self._comm = comm.Get_size(), comm.Get_rank(), 0, comm

    def all_gather(self, message: Message) -> list[Message]:
        """Return the messages of all."""
        if self.size == 1:
            return [message]
        self.sent += len(message) * (self.size - 1)
        sizes = np.empty(self.size, np.int64)
        _wait_for(self._comm.Iallgather(np.array([len(message)], np.int64), sizes))
        found, starts = np.empty(sizes.sum(), np.uint8), _starts(sizes)
        _wait_for(self._comm.Iallgatherv([message, MPI.BYTE], [found, sizes, starts, MPI.BYTE]))
        return np.split(found, starts[1:])

    def exchange(self, messages: Sequence[Message]) -> list[Message]:
        """Give each rank its message; return those for this one."""
        if self.size == 1:
            return [*messages]
        sizes, theirs = np.array([len(message) for message in messages], np.int64), np.empty(self.size, np.int64)
        self.sent += int(sizes.sum() - sizes[self.place])
        _wait_for(self._comm.Ialltoall(sizes, theirs))
        given, found = np.concatenate(messages), np.empty(theirs.sum(), np.uint8)
        starts = _starts(theirs)
        to, by = [given, sizes, _starts(sizes), MPI.BYTE], [found, theirs, starts, MPI.BYTE]
        _wait_for(self._comm.Ialltoallv(to, by))
        return np.split(found, starts[1:])

    def combine(self, numbers: NDArray[Any], operation: str) -> NDArray[Any]:
        """Combine arrays, entry by entry, to the same array on all."""
        combined = np.empty_like(numbers)
        _wait_for(self._comm.Iallreduce(numbers, combined, _OPERATIONS[operation]))
        return combined

    def split(self, color: int | None) -> MpiLine | None:
        """Return the line of the ranks with this color, in the same order; None without one."""
        comm = self._comm.Split(MPI.UNDEFINED if color is None else color, self.place)
        return None if color is None else MpiLine(comm)

    def abort(self, error: BaseException) -> None:
        """End all ranks, as this one cannot go on."""
        print(f"lagbc: rank {MPI.COMM_WORLD.Get_rank()}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
        self._comm.Abort(1)


def line_of(comm: MPI.Comm) -> MpiLine:
    """Return all ranks of a communicator as a line, whose messages are none of the program's.

    Raises
    ------
    RunError
        MPI takes calls of one thread alone.
    """
    if MPI.Query_thread() < MPI.THREAD_MULTIPLE:
        raise RunError("comm: MPI was begun without support of threads; let mpi4py begin it, as it does")
    _wait_for(comm.Ibarrier())
    return MpiLine(comm.Dup())


def _starts(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], sizes.cumsum()[:-1]])


def _wait_for(request: Any) -> None:
    """Wait for what is under way: first by looks alone, then with sleeps that grow longer."""
    looks = 0
    while not request.Test():
        looks += 1
        if looks > _LOOKS:
            time.sleep(min(_LONGEST_SLEEP, 1e-6 * (looks - _LOOKS)))
        else:
            time.sleep(0)
