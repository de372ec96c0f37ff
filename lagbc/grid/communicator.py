"""Messages of ranks: along a line of ranks, and in a grid, whose rows and columns are lines.

The sweep knows lines alone. Ranks are threads of one process here, and processes in `lagbc.grid.mpi`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from threading import Barrier
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lagbc.methods.block import NOTHING, Message

# Ways to combine the numbers of all ranks; each rank gets the same result.
OPERATIONS = {"sum": np.add, "or": np.bitwise_or, "xor": np.bitwise_xor, "least": np.minimum}


class Line(Protocol):
    """Some ranks in order, as one of them has it: all of them make the same calls.

    Attributes
    ----------
    size, rank : int
        How many ranks there are, and which of them this one is.
    sent : int
        Bytes that this one has sent to others.
    """

    size: int
    rank: int
    sent: int

    def all_gather(self, message: Message) -> list[Message]:
        """Return the messages of all."""

    def exchange(self, messages: Sequence[Message]) -> list[Message]:
        """Give each rank its message; return those for this one."""

    def combine(self, numbers: NDArray[Any], operation: str) -> NDArray[Any]:
        """Combine arrays, entry by entry, to the same array on all."""

    def split(self, color: int | None) -> Line | None:
        """Return the line of the ranks with this color, in the same order; None without one."""

    def abort(self, error: BaseException) -> None:
        """End all ranks, as this one cannot go on."""

    def close(self) -> None:
        """Give back all that the line takes; all its ranks do."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Ranks in rows and columns, as one of them has it.

    Attributes
    ----------
    rows, columns : int
    row, column : int
        Of this rank.
    whole : Line
        All ranks of the grid; before them the rank that leads, where it is in another grid.
    along_column, along_row : Line
        The ranks of its grid column, and of its grid row.
    """

    rows: int
    columns: int
    row: int
    column: int
    whole: Line
    along_column: Line
    along_row: Line

    def expand(self, message: Message) -> list[Message]:
        """Give rows to the ranks of the grid column; return the rows of all, in order."""
        return self.along_column.all_gather(message)

    def share(self, message: Message) -> list[Message]:
        """Give bits to the ranks of the grid row; return the bits of all, in order."""
        return self.along_row.all_gather(message)

    def fold(self, messages: Sequence[Message]) -> list[Message]:
        """Give each rank of the grid row the sums of its vertices; return those for this rank, in order."""
        return self.along_row.exchange(messages)

    def any(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Return the bits that some rank has set."""
        return self.whole.combine(words, "or")

    def gather(self, message: Message) -> list[Message]:
        """Give a message to the rank that leads, which alone returns the messages of all."""
        return self.whole.exchange([message] + [NOTHING] * (self.whole.size - 1))

    def close(self) -> None:
        """Give back all that its lines take."""
        for line in (self.along_column, self.along_row):
            line.close()

    @property
    def sent(self) -> int:
        """Bytes that this rank has sent to others, but to agree."""
        return self.along_column.sent + self.along_row.sent


class ThreadLine:
    """A line of threads of one process."""

    def __init__(self, rank: int, meeting: Meeting) -> None:
        self.size, self.rank, self.sent, self._meeting = meeting.size, rank, 0, meeting

    def all_gather(self, message: Message) -> list[Message]:
        """Return the messages of all."""
        self.sent += len(message) * (self.size - 1)
        return self._meeting.of_all(self.rank, message)

    def exchange(self, messages: Sequence[Message]) -> list[Message]:
        """Give each rank its message; return those for this one."""
        self.sent += sum(len(message) for to, message in enumerate(messages) if to != self.rank)
        return [given[self.rank] for given in self._meeting.of_all(self.rank, messages)]

    def combine(self, numbers: NDArray[Any], operation: str) -> NDArray[Any]:
        """Combine arrays, entry by entry, to the same array on all."""
        combined: NDArray[Any] = reduce(OPERATIONS[operation], self._meeting.of_all(self.rank, numbers.copy()))
        return combined

    def split(self, color: int | None) -> ThreadLine | None:
        """Return the line of the ranks with this color, in the same order; None without one."""
        colors = self._meeting.of_all(self.rank, color)
        mates = [rank for rank, other in enumerate(colors) if other == color]
        meeting = Meeting(len(mates), self._meeting) if self.rank == mates[0] else None
        meetings = self._meeting.of_all(self.rank, meeting)
        return None if color is None else ThreadLine(mates.index(self.rank), meetings[mates[0]])

    def abort(self, error: BaseException) -> None:
        """End all ranks, as this one cannot go on."""
        self._meeting.abort()

    def close(self) -> None:
        """Do nothing: threads share memory."""


class Meeting:
    """Where the threads of a line meet."""

    def __init__(self, size: int, beside: Meeting | None = None) -> None:
        self.size = size
        self._barrier, self._said = Barrier(size), list[Any]([None] * size)
        self._all: list[Meeting] = [] if beside is None else beside._all
        self._all.append(self)

    def of_all(self, rank: int, said: Any) -> list[Any]:
        """Tell an object to all; return the objects of all."""
        self._said[rank] = said
        self._barrier.wait()
        heard = [*self._said]
        self._barrier.wait()
        return heard

    def abort(self) -> None:
        """Have all who wait, here or in the lines beside, wait no longer."""
        for meeting in self._all:
            meeting._barrier.abort()


def line_of_threads(size: int) -> list[ThreadLine]:
    """Make a line of as many threads of this process, as each of them has it."""
    meeting = Meeting(size)
    return [ThreadLine(rank, meeting) for rank in range(size)]
