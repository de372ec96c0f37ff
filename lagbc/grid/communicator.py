"""Messages among ranks: along a line of ranks, and in a grid of lines, its rows and columns.

A message of a sweep is a generator of steps: it yields where it waits, and another sweep goes on meanwhile. Ranks are
processes of MPI; in tests they are threads of one process. No call waits inside MPI, so that an idle rank leaves its
core to others.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from lagbc.methods.block import Message
from lagbc.run.tasks import portable

Made = TypeVar("Made")
# Begins messages, yields functions that wait for them, and returns what was received.
Steps = Generator[Callable[[], object], None, Made]

_OPERATIONS = {"sum": "SUM", "or": "BOR", "xor": "BXOR", "least": "MIN"}  # names of MPI
# Messages of so many bytes are sent together with their length, in one round; most messages of sparse levels are.
_SHORT = 2048
_HEAD = 8 + _SHORT
# Looks at a request before a rank sleeps between two looks, and before it sleeps longer; seconds of both sleeps.
_LOOKS, _SLEEP, _MANY_LOOKS, _LONG_SLEEP = 200, 5e-5, 20_000, 1e-3


class Line(Protocol):
    """Some ranks in order, as one of them has it. All ranks of a line make the same calls.

    A call yields as often for a long message as for a short one, so that sweeps side by side take the same turns on all
    ranks.
    """

    size: int
    rank: int  # of this one

    def exchange(self, messages: Sequence[Message]) -> Steps[list[Message]]:
        """All-to-all: send ``messages[i]`` to rank i; return the messages received, by rank."""

    def combine(self, numbers: NDArray[Any], operation: str) -> NDArray[Any]:
        """All-reduce: return the "sum", "or", "xor" or "least" of the arrays of all ranks, entry by entry."""

    def split(self, color: int) -> Line:
        """Return the line of the ranks that give this color, in the same order."""

    def abort(self, error: BaseException) -> None:
        """End all ranks: this one cannot go on, and others wait for it."""

    def close(self) -> None:
        """Free the resources of the line."""


class _MpiLine:
    def __init__(self, comm: Any) -> None:
        self.size, self.rank, self._comm = comm.Get_size(), comm.Get_rank(), comm

    def exchange(self, messages: Sequence[Message]) -> Steps[list[Message]]:
        """Send lengths and short messages in one round; long messages follow from rank to rank."""
        if self.size == 1:
            return [*messages]
        heads = np.empty((self.size, _HEAD), np.uint8)
        yield _wait_for(self._comm.Ialltoall(np.stack([_head(message) for message in messages]), heads))
        sizes = heads[:, :8].copy().view(np.int64).ravel().tolist()
        found = [head[8 : 8 + size] for head, size in zip(heads, sizes, strict=True)]
        found[self.rank], requests = messages[self.rank], list[Any]()
        for rank in {*range(self.size)} - {self.rank}:
            if sizes[rank] > _SHORT:
                found[rank] = np.empty(sizes[rank], np.uint8)
                requests.append(self._comm.Irecv(found[rank], rank))
            if len(messages[rank]) > _SHORT:
                requests.append(self._comm.Isend(messages[rank], rank))
        yield _wait_for(*requests)
        return found

    def combine(self, numbers: NDArray[Any], operation: str) -> NDArray[Any]:
        from mpi4py import MPI

        combined = np.empty_like(numbers)
        _wait_for(self._comm.Iallreduce(numbers, combined, getattr(MPI, _OPERATIONS[operation])))()
        return combined

    def split(self, color: int) -> _MpiLine:
        return _MpiLine(self._comm.Split(color, self.rank))

    def abort(self, error: BaseException) -> None:
        from mpi4py import MPI

        rank = MPI.COMM_WORLD.Get_rank()
        print(f"lagbc: rank {rank}: {type(error).__name__}: {error}", file=sys.__stderr__, flush=True)
        self._comm.Abort(1)

    def close(self) -> None:
        self._comm.Free()


def line_of(comm: Any) -> Line:
    """Return the ranks of a communicator as a line; its messages and the program's stay apart."""
    _wait_for(comm.Ibarrier())()
    return _MpiLine(comm.Dup())


def _head(message: Message) -> NDArray[np.uint8]:
    """Return the length of a message, and the message behind it if it is short."""
    head = np.zeros(_HEAD, np.uint8)
    head[:8].view(np.int64)[0] = len(message)
    if len(message) <= _SHORT:
        head[8 : 8 + len(message)] = message
    return head


def _wait_for(*requests: Any) -> Callable[[], None]:
    """Return a function that waits for requests: by looks first, then with short sleeps, later with longer ones."""

    def wait() -> None:
        looks = 0
        for request in requests:
            while not request.Test():
                looks += 1
                time.sleep(0 if looks < _LOOKS else _SLEEP if looks < _MANY_LOOKS else _LONG_SLEEP)

    return wait


def all_gather(line: Line, message: Message) -> Steps[list[Message]]:
    """Send a message to all ranks; return the messages of all, by rank."""
    return line.exchange([message] * line.size)


def now(steps: Steps[Made]) -> Made:
    """Go through the steps of one message, and wait at each."""
    (made,) = side_by_side([steps])
    return made


def side_by_side(sweeps: Sequence[Steps[Made]]) -> list[Made]:
    """Go through the steps of several sweeps in turns: while one waits, the next one goes on. Turns are by number.

    If one raises an error, the messages of the others are waited for: all ranks have begun the same ones.
    """
    found: list[Any] = [None] * len(sweeps)
    waiting = deque[tuple[int, Callable[[], object]]]()
    waiting.extend((number, lambda: None) for number in range(len(sweeps)))
    try:
        while waiting:
            number, wait = waiting.popleft()
            wait()
            try:
                waiting.append((number, next(sweeps[number])))
            except StopIteration as end:
                found[number] = end.value
    finally:
        for _, wait in waiting:
            wait()
    return found


def of_all(line: Line, told: Any) -> list[Any]:
    """Return the objects of all ranks, by rank."""
    return list(map(pickle.loads, _bytes_of_all(line, pickle.dumps(told))))


def of_first(line: Line, told: Any = None) -> Any:
    """Broadcast: return the object of the first rank."""
    return by_first(line, lambda: told)


def by_first(line: Line, make: Callable[[], Made]) -> Made:
    """Have the first rank make an object: all ranks return it, or raise its error."""
    made: Any = None
    error, told = None, b""
    if line.rank == 0:
        try:
            made = make()
            told = pickle.dumps((made, None))  # fails for some objects
        except BaseException as raised:
            error = raised
            told = pickle.dumps((None, portable(error)))
    said, *_ = _bytes_of_all(line, told)
    if line.rank:
        made, error = pickle.loads(said)
    if error is not None:
        raise error
    return made


def _bytes_of_all(line: Line, told: bytes) -> list[Any]:
    return now(all_gather(line, np.frombuffer(told, np.uint8)))


@contextmanager
def ending_all(line: Line, *, but: type[Exception] | tuple[()] = ()) -> Iterator[None]:
    """End all ranks if a block raises an error, as the others wait for this rank; `but` is raised on all of them."""
    try:
        yield
    except but:
        raise
    except BaseException as error:
        line.abort(error)
        raise


@dataclass(slots=True, eq=False)
class Grid:
    """Ranks in rows and columns, as one of them has it."""

    rows: int
    columns: int
    number: int  # of this grid among all grids
    # row, column: of this rank
    row: int
    column: int
    whole: Line
    along_column: Line  # the ranks of the same column
    along_row: Line  # the ranks of the same row

    @classmethod
    def of(cls, line: Line, rows: int, columns: int, on_site: Callable[[Line], Line]) -> Grid:
        """Cut a line into grids, and return this rank's; `on_site` returns the line that carries messages of sweeps."""
        number, place = divmod(line.rank, rows * columns)
        (row, column), whole = divmod(place, columns), line.split(number)
        along_column, along_row = on_site(whole.split(column)), on_site(whole.split(row))
        return cls(rows, columns, number, row, column, whole, along_column, along_row)

    @property
    def piece(self) -> int:
        """The number of the piece of vertices that this rank owns."""
        return self.row * self.columns + self.column

    def close(self) -> None:
        for line in (self.along_column, self.along_row, self.whole):
            line.close()
