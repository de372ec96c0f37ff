"""The sweep of a rank over its block, in hops: products by the block, and messages between them.

A level is expanded along grid columns, multiplied by the block, folded along grid rows and masked by its owner, as in
`lagbc.methods.block`. The backward product takes the same steps, with the rows of tails in place of those of heads.

All ranks of a grid take the same steps. A rank that fails sends empty messages until all ranks agree on the end, after
the level: so no rank waits in vain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from lagbc.errors import OutOfMemoryError
from lagbc.grid.communicator import Grid, Steps, all_gather
from lagbc.grid.deal import Ints, slices
from lagbc.methods.block import NOTHING, Asked, BlockSweep, Chosen, Live
from lagbc.methods.contract import Interrupted
from lagbc.methods.sums import DISTANCE_SUMS, PATH_SUMS
from lagbc.native.pool import Interrupts

# The sums of vertices, in the order in which ranks send them.
SUMS = "dependency", "stress", "dependency_squares", *DISTANCE_SUMS
Context = AbstractContextManager[Any]
Made = TypeVar("Made")
# The rows that a rank has of a level once it has failed.
_NOBODY = Live(np.zeros(0, np.int32), np.zeros(0, np.uint64))


class Level(NamedTuple):
    """A level, as a rank has it."""

    own: Live  # rows of the piece that it owns
    of_block: Live  # rows of its block
    most: int  # no rank owns more rows of the level; some rank owns at least half as many

    @property
    def bytes(self) -> int:
        return sum(rows.nbytes for live in (self.own, self.of_block) for rows in live)


def told(asked: Asked) -> list[str]:
    """Return the names of the sums of vertices, in the order in which ranks send them."""
    return [name for name in SUMS if name in asked.sums]


class Ended(Interrupted):
    """A sweep has ended on all ranks of its grid, as one of them has an error."""


class Cell:
    """A rank's part of batches, which are swept one at a time."""

    def __init__(self, grid: Grid, rows: BlockSweep, length: int, asked: Asked, at: Callable[[], Context]) -> None:
        self._grid, self._rows, self._length, self._asked, self._at = grid, rows, length, asked, at
        self._has_stress, self._interrupts = "stress" in asked.sums, Interrupts()
        self.error: BaseException | None = None  # of this rank, in the last sweep

    def sweep(self, numbers: Ints, times: NDArray[np.float64]) -> Steps[NDArray[np.float64]]:
        """Sweep from roots by their numbers, -1 for an absent one; each counts as often as `times` says.

        Returns one array: the sums of `told` for the vertices that this rank owns, a row for each group of columns;
        then, for each column, the largest distance, the count of vertices reached, and whether path counts left the
        range, in which case there are no sums. After an error in the last step the array is empty.
        """
        steps = self._swept(numbers, times)
        while True:
            with self._at():  # not while it waits, when another sweep is in its own context
                try:
                    wait = next(steps)
                except StopIteration as end:
                    return end.value
            yield wait

    def _swept(self, numbers: Ints, times: NDArray[np.float64]) -> Steps[NDArray[np.float64]]:
        self.error = None
        levels, overflowed = yield from self._search(numbers)
        if not overflowed.any() and self._asked.counts:
            yield from self._sum_paths(levels, times)
        return self._own(np.zeros(0), self._sums, levels, overflowed)

    def _sums(self, levels: list[Level], overflowed: NDArray[np.uint64]) -> NDArray[np.float64]:
        rows, asked, columns = self._rows, self._asked, np.zeros((3, self._rows.columns))
        if overflowed.any():
            columns[2] = np.unpackbits(overflowed.view(np.uint8), bitorder="little")
            return columns.ravel()
        found: dict[str, Any] = rows.path_sums() if asked.counts else {}
        if asked.endpoints:
            columns[1] = sum(rows.count_columns(level.own) for level in levels[1:])
        if asked.sums - PATH_SUMS:
            found |= rows.distance_sums([level.own for level in levels], columns[0])
        sums: NDArray[np.float64]
        sums = np.concatenate([*(found[name].ravel() for name in told(asked)), columns.ravel()])
        return sums

    def _own(self, otherwise: Made, do: Callable[..., Made], *given: Any, **how: Any) -> Made:
        """Return the result of a step of this rank alone; `otherwise` if the step fails, or one before it has."""
        if self.error is None:
            try:
                return do(*given, **how)
            except BaseException as error:
                self.error = error
        return otherwise

    def _agreed(self, live: int = 0) -> tuple[int, NDArray[np.uint64]]:
        """Return a bound of the rows of a level that any rank owns, and the columns out of range, as bits in words.

        The bound is the bitwise or of all numbers. Raises Ended if a rank has an error.
        """
        try:
            self._interrupts.raise_if_interrupted()
        except BaseException as error:
            self.error = error
        own = np.concatenate([np.array([live, self.error is not None], np.uint64), self._rows.overflowed])
        of_all = self._grid.whole.combine(own, "or")
        if of_all[1]:
            raise Ended
        return int(of_all[0]), of_all[2:]

    def _search(self, numbers: Ints) -> Steps[tuple[list[Level], NDArray[np.uint64]]]:
        """Sweep forward: find all levels, and count paths; also return the columns out of range."""
        rows, length = self._rows, self._length
        present = np.flatnonzero(numbers >= 0)
        columns = present[numbers[present] // length == self._grid.piece]  # with roots of this rank
        columns = columns[np.argsort(numbers[columns])]
        own = self._own(_NOBODY, rows.begin, present, numbers[columns] % length, columns)
        most, levels, left = rows.columns, list[Level](), self._asked.room
        while True:
            levels.append(Level(own, (yield from self._shared(own)), most))
            self._own(None, rows.settle, levels[-1].of_block)
            frontier = yield from self._expanded(levels[-1], paths=False)
            chosen, found = self._own(None, rows.reached, frontier), list[Live]()
            for first, last in slices(length, rows.slice_rows):
                yield from self._multiplied(chosen, first, last, backward=False, paths=False)
                found.append(self._own(_NOBODY, rows.found, first, last))
            own = self._own(_NOBODY, rows.joined, found)
            self._own(None, rows.leave, frontier)
            left -= levels[-1].bytes
            if left < 0 and self.error is None:
                self.error = OutOfMemoryError("the levels of a search take more bytes than a rank of the grid has")
            most, overflowed = self._agreed(len(own.rows))
            if overflowed.any() or not most:
                return levels, overflowed

    def _sum_paths(self, levels: list[Level], times: NDArray[np.float64]) -> Steps[None]:
        """Sweep backward: turn path counts into dependencies, level by level, and add them to the sums."""
        rows, paths = self._rows, self._has_stress
        self._own(None, rows.clear_sums)
        self._own(None, rows.unwant)

        def finish(first: int, last: int) -> None:
            rows.finish(rows.between(level.own, first, last), first, times, depth)

        for depth in range(len(levels) - 1, 0, -1):
            level, is_last = levels[depth], depth == len(levels) - 1
            chosen = None if is_last else self._own(None, rows.want, level.of_block)
            frontier = [] if is_last else (yield from self._expanded(levels[depth + 1], paths=paths))
            for first, last in slices(self._length, rows.slice_rows):
                if not is_last:
                    yield from self._multiplied(chosen, first, last, backward=True, paths=paths)
                self._own(None, finish, first, last)
            if not is_last:
                self._own(None, rows.leave, frontier)
                self._own(None, rows.unwant, level.of_block)
            self._agreed()

    def _expanded(self, level: Level, *, paths: bool) -> Steps[Sequence[Any]]:
        """Expand: put the rows of a level, of all ranks of the grid column, on the frontier; return them."""
        rows, live = self._rows, list[Any]()
        for first in range(0, level.most, rows.slice_rows):
            part = rows.part(level.own, first, first + rows.slice_rows)
            own = self._own(NOTHING, rows.pack, part, paths=paths) if self._grid.rows > 1 else NOTHING
            for rank, message in enumerate((yield from all_gather(self._grid.along_column, own))):
                if rank == self._grid.row:
                    live.append(self._own(None, rows.enter, part))
                else:
                    live.append(self._own(None, rows.take, message, rank * self._length, paths=paths))
        return live

    def _shared(self, own: Live) -> Steps[Live]:
        """Return the rows of a level that are in the block, from all ranks of the grid row."""
        rows = self._rows
        of_all = yield from all_gather(self._grid.along_row, self._own(NOTHING, rows.pack_bits, own))
        starts = range(0, len(of_all) * self._length, self._length)
        return self._own(_NOBODY, lambda: rows.joined([*map(rows.take_bits, of_all, starts)]))

    def _multiplied(self, chosen: Chosen, first: int, last: int, *, backward: bool, paths: bool) -> Steps[None]:
        """Multiply and fold: add up the products of all ranks of the grid row for a slice of the owned piece."""
        rows, grid = self._rows, self._grid

        def multiply(rank: int) -> Any:
            base, own = rank * self._length, rank == grid.column
            return rows.multiply(chosen, first, last, base, backward=backward, paths=paths, own=own)

        messages = [self._own(NOTHING, multiply, rank) for rank in range(grid.columns)]
        for rank, message in enumerate((yield from grid.along_row.exchange(messages))):
            if rank != grid.column:
                self._own(None, rows.add, message, first, paths=paths)
