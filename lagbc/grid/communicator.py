"""Messages of ranks: along a line of ranks, and in a grid, whose rows and columns are lines.

Messages of a sweep are steps, which yield where they wait, so that another sweep goes on meanwhile. The sweep knows
lines alone. Ranks are processes in `lagbc.grid.mpi`, and threads of one process in tests.
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
# Yields functions that wait for what it has begun, and returns.
Steps = Generator[Callable[[], object], None, Made]


class Line(Protocol):
    """Some ranks in order, as one of them has it: all of them make the same calls.

    However long a message is, it yields as often: else sweeps side by side would take turns otherwise on other ranks.
    """

    size: int
    rank: int  # which of them this one is
    sent: int  # bytes that this one has sent to others

    def all_gather(self, message: Message) -> Steps[list[Message]]:
        """Return the messages of all."""

    def exchange(self, messages: Sequence[Message]) -> Steps[list[Message]]:
        """Send ``messages[i]`` to rank i; return the messages received, by rank."""

    def combine(self, numbers: NDArray[Any], operation: str) -> NDArray[Any]:
        """Combine arrays, entry by entry, by "sum", "or", "xor" or "least", to the same array on all."""

    def split(self, color: int) -> Line:
        """Return the line of the ranks with this color, in the same order."""

    def abort(self, error: BaseException) -> None:
        """End all ranks, as this one cannot go on."""

    def close(self) -> None:
        """Give back all that the line takes; all its ranks do."""


def now(steps: Steps[Made]) -> Made:
    """Go through steps at once."""
    (made,) = side_by_side([steps])
    return made


def side_by_side(sweeps: Sequence[Steps[Made]]) -> list[Made]:
    """Go through the steps of several: while one waits, the next goes on. The order is the same on all ranks.

    Where one raises an error, all ranks have begun the same messages of the others, which are waited for.
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
    """Tell all ranks an object; return the object of each."""
    said = now(line.all_gather(np.frombuffer(pickle.dumps(told), np.uint8)))
    return [pickle.loads(one.tobytes()) for one in said]


def of_first(line: Line, told: Any = None) -> Any:
    """Return the object that the first rank tells."""
    said = _said_by_first(line, b"" if line.rank else pickle.dumps(told))
    return pickle.loads(said) if line.rank else told


def by_first(line: Line, make: Callable[[], Made]) -> Made:
    """Have the first rank make an object; all return it, or raise the error, also that it cannot be pickled."""
    made: Any = None
    error, told = None, b""
    if line.rank == 0:
        try:
            made = make()
            told = pickle.dumps((made, None))
        except BaseException as raised:
            error = raised
            told = pickle.dumps((None, portable(error)))
    said = _said_by_first(line, told)
    if line.rank:
        made, error = pickle.loads(said)
    if error is not None:
        raise error
    return made  # type: ignore[no-any-return]


def _said_by_first(line: Line, told: bytes) -> bytes:
    said: bytes = now(line.all_gather(np.frombuffer(told, np.uint8)))[0].tobytes()
    return said


@contextmanager
def ending_all(line: Line) -> Iterator[None]:
    """End all ranks where a block raises an error: the others wait for this rank, and cannot be told."""
    try:
        yield
    except BaseException as error:
        line.abort(error)
        raise


@dataclass(slots=True, eq=False)
class Grid:
    """Ranks in rows and columns, as one of them has it; it is one of several, by its number."""

    rows: int
    columns: int
    number: int
    # row, column: of this rank
    row: int
    column: int
    whole: Line
    # along_column, along_row: the ranks of its grid column, and of its grid row
    along_column: Line
    along_row: Line

    @classmethod
    def of(cls, line: Line, rows: int, columns: int, on_site: Callable[[Line], Line]) -> Grid:
        """Make the grids that the ranks of a line make up; their messages go as `on_site` has them go."""
        number, place = divmod(line.rank, rows * columns)
        (row, column), whole = divmod(place, columns), line.split(number)
        along_column, along_row = on_site(whole.split(column)), on_site(whole.split(row))
        return cls(rows, columns, number, row, column, whole, along_column, along_row)

    @property
    def piece(self) -> int:
        """Which piece of the vertices the rank owns."""
        return self.row * self.columns + self.column

    @property
    def sent(self) -> int:
        """Bytes that this rank has sent to others, but to agree."""
        return self.along_column.sent + self.along_row.sent

    def close(self) -> None:
        """Give back all lines; all ranks do."""
        for line in (self.along_column, self.along_row, self.whole):
            line.close()
