"""Messages among ranks: along a line of ranks, and in a grid of lines, its rows and columns.

A message of a sweep is a generator of steps: it yields where it waits, and another sweep goes on meanwhile. Ranks are
processes in `lagbc.grid.mpi`, and threads of one process in tests.
"""

from __future__ import annotations

import pickle
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


class Line(Protocol):
    """Some ranks in order, as one of them has it. All ranks of a line make the same calls.

    A call yields as often for a long message as for a short one, so that sweeps side by side take the same turns on all
    ranks.
    """

    size: int
    rank: int  # of this one
    sent: int  # bytes that this rank has sent to others

    def all_gather(self, message: Message) -> Steps[list[Message]]:
        """Send a message to all ranks; return the messages of all, by rank."""

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
    said = now(line.all_gather(np.frombuffer(pickle.dumps(told), np.uint8)))
    return [pickle.loads(one.tobytes()) for one in said]


def of_first(line: Line, told: Any = None) -> Any:
    """Broadcast: return the object of the first rank."""
    said = _bytes_of_first(line, b"" if line.rank else pickle.dumps(told))
    return pickle.loads(said) if line.rank else told


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
    said = _bytes_of_first(line, told)
    if line.rank:
        made, error = pickle.loads(said)
    if error is not None:
        raise error
    return made  # type: ignore[no-any-return]


def _bytes_of_first(line: Line, told: bytes) -> bytes:
    said: bytes = now(line.all_gather(np.frombuffer(told, np.uint8)))[0].tobytes()
    return said


@contextmanager
def ending_all(line: Line) -> Iterator[None]:
    """End all ranks if a block raises an error, as the others wait for this rank and cannot be told."""
    try:
        yield
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

    @property
    def sent(self) -> int:
        """Bytes that this rank has sent to others in sweeps."""
        return self.along_column.sent + self.along_row.sent

    def close(self) -> None:
        for line in (self.along_column, self.along_row, self.whole):
            line.close()
