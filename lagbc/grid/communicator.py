"""Messages of ranks: along a line of ranks, and in a grid, whose rows and columns are lines.

The sweep knows lines alone. Ranks are processes in `lagbc.grid.mpi`, and threads of one process in tests.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lagbc.methods.block import NOTHING, Message


class Line(Protocol):
    """Some ranks in order, as one of them has it: all of them make the same calls."""

    size: int
    rank: int  # which of them this one is
    sent: int  # bytes that this one has sent to others

    def all_gather(self, message: Message) -> list[Message]:
        """Return the messages of all."""

    def exchange(self, messages: Sequence[Message]) -> list[Message]:
        """Give each rank its message; return those for this one."""

    def combine(self, numbers: NDArray[Any], operation: str) -> NDArray[Any]:
        """Combine arrays, entry by entry, by "sum", "or", "xor" or "least", to the same array on all."""

    def split(self, color: int | None) -> Line | None:
        """Return the line of the ranks with this color, in the same order; None without one."""

    def abort(self, error: BaseException) -> None:
        """End all ranks, as this one cannot go on."""

    def close(self) -> None:
        """Give back all that the line takes; all its ranks do."""


def of_all(line: Line, told: Any) -> list[Any]:
    """Tell all ranks an object; return the object of each."""
    said = line.all_gather(np.frombuffer(pickle.dumps(told), np.uint8))
    return [pickle.loads(one.tobytes()) for one in said]


def of_first(line: Line, told: Any = None) -> Any:
    """Return the object that the first rank tells."""
    said = line.all_gather(NOTHING if line.rank else np.frombuffer(pickle.dumps(told), np.uint8))
    return pickle.loads(said[0].tobytes()) if line.rank else told


@dataclass(slots=True, eq=False)
class Grid:
    """Ranks in rows and columns, as one of them has it."""

    rows: int
    columns: int
    # row, column: of this rank
    row: int
    column: int
    whole: Line  # all ranks of the grid; before them the rank that leads, where it is in another grid
    # along_column, along_row: the ranks of its grid column, and of its grid row
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

    def gather(self, message: Message) -> list[Message]:
        """Give a message to the rank that leads, which alone returns the messages of all."""
        return self.whole.exchange([message] + [NOTHING] * (self.whole.size - 1))

    @property
    def sent(self) -> int:
        """Bytes that this rank has sent to others, but to agree."""
        return self.along_column.sent + self.along_row.sent


class Turns:
    """Turns of the lanes of a grid at their GPUs: they come in one order on all ranks, that of the first one.

    An operation on GPUs ends when all its ranks have begun it, and until then may hold up another one of a rank: were
    two begun in either order, each might wait for the other one.
    """

    def __init__(self, line: Line) -> None:
        self._line, self._changed = line, Condition()
        self._lane, self._is_asked = -1, False  # whose turn it is, of some lane or none; whether a thread asks

    @contextmanager
    def of(self, lane: int) -> Iterator[None]:
        """Wait for the turn of a lane, and give it back."""
        with self._changed:
            while self._lane != lane:
                if self._lane >= 0 or self._is_asked:
                    self._changed.wait()
                    continue
                self._is_asked = True
                self._changed.release()  # the others may come meanwhile
                try:
                    told: int = of_first(self._line, lane)
                finally:
                    self._changed.acquire()
                    self._is_asked = False
                    self._changed.notify_all()
                self._lane = told
        try:
            yield
        finally:
            with self._changed:
                self._lane = -1
                self._changed.notify_all()
