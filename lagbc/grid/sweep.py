"""The sweep of a rank over its block, in hops: products of the block, with messages between them.

A level is expanded along grid columns, multiplied by the block, folded along grid rows and masked by its owner, as
`lagbc.methods.block` says. Both products are by rows, so that the backward one takes the same way: along the edges by
their tails in place of those by heads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.grid.communicator import Grid
from lagbc.grid.deal import Ints, slices
from lagbc.methods.block import NOTHING, Asked, BlockSweep, Chosen, Live, Message
from lagbc.methods.contract import Interrupted, StopFlag
from lagbc.methods.sums import DISTANCE_SUMS, PATH_SUMS

# Sums that a rank makes of its vertices, in the order in which it tells them.
SUMS = "dependency", "stress", "dependency_squares", *DISTANCE_SUMS
Context = AbstractContextManager[Any]
# Why a sweep ends before its time, as ranks tell each other: Ctrl-C or `stop=` of a rank, or levels that take more than
# there is; by 1 the run is over.
INTERRUPTED, STOPPED, OUT_OF_ROOM = 2, 4, 8


class Level(NamedTuple):
    """A level of a rank: the rows that it owns, and all rows of its block.

    No rank owns more than `most` rows of the level; some rank owns at least half as many.
    """

    own: Live
    of_block: Live
    most: int

    @property
    def bytes(self) -> int:
        """Bytes of all rows."""
        return sum(rows.nbytes for live in (self.own, self.of_block) for rows in live)


class State(NamedTuple):
    """How far a search is, as all ranks agree: rows of a level, why it ends, and columns out of range, as words.

    Of rows there are the bits that are set in the number of some rank: at least as many as any has.
    """

    live: int
    ends: int
    overflowed: NDArray[np.uint64]


def told(asked: Asked) -> list[str]:
    """Return the sums of vertices that ranks tell, in order."""
    return [name for name in SUMS if name in asked.sums]


class Ended(Interrupted):
    """A sweep has ended on all ranks, for one of these reasons."""

    def __init__(self, why: int) -> None:
        super().__init__(why)
        self.why = why


def agreed(grid: Any, live: int, overflowed: NDArray[np.uint64], ends: int) -> State:
    """Agree how far a search is; Ended if some rank has a reason."""
    of_all = grid.combine(np.concatenate([np.array([live, ends], np.uint64), overflowed]), "or")
    state = State(int(of_all[0]), int(of_all[1]), of_all[2:])
    if state.ends:
        raise Ended(state.ends)
    return state


class Cell:
    """A rank's part of all batches: its rows, which are worked on in the context of their device."""

    def __init__(
        self, grid: Grid, rows: BlockSweep, length: int, asked: Asked, stop: StopFlag, at: Callable[[], Context]
    ) -> None:
        self._grid, self._rows, self._length, self._asked, self._stop, self._at = grid, rows, length, asked, stop, at
        self._piece = grid.row * grid.columns + grid.column
        self._counts, self._has_stress = asked.counts, "stress" in asked.sums

    def sweep(self, numbers: Ints, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sweep from roots by their numbers, -1 for an absent one, which count so many times; all ranks do, or end.

        Returns the sums of the vertices that this rank owns, one after the other, each with a row a group of columns;
        then of each column the largest distance, how many vertices were reached, and whether path counts left the
        range: then there are no sums.
        """
        with self._at():
            return self._sums(numbers, times)

    def _sums(self, numbers: Ints, times: NDArray[np.float64]) -> NDArray[np.float64]:
        rows, asked = self._rows, self._asked
        levels, overflowed = self._search(numbers)
        columns = np.zeros((3, rows.columns))
        if overflowed.any():
            columns[2] = np.unpackbits(overflowed.view(np.uint8), bitorder="little")
            return columns.ravel()
        found: dict[str, Any] = {}
        if self._counts:
            self._sum_paths(levels, times)
            found |= rows.path_sums()
        if asked.endpoints:
            columns[1] = sum(rows.count_columns(level.own) for level in levels[1:])
        if asked.sums - PATH_SUMS:
            found |= rows.distance_sums([level.own for level in levels], columns[0])
        sums: NDArray[np.float64]
        sums = np.concatenate([*(found[name].ravel() for name in told(asked)), columns.ravel()])
        return sums

    def _search(self, numbers: Ints) -> tuple[list[Level], NDArray[np.uint64]]:
        """Find all levels, and count paths."""
        rows, length = self._rows, self._length
        present = np.flatnonzero(numbers >= 0)
        columns = present[numbers[present] // length == self._piece]
        columns = columns[np.argsort(numbers[columns])]
        own, most, levels = rows.begin(present, numbers[columns] % length, columns), rows.columns, list[Level]()
        left = self._asked.room
        while True:
            levels.append(Level(own, self._shared(own), most))
            rows.settle(levels[-1].of_block)
            live = self._expanded(levels[-1], paths=False)
            own = rows.joined(
                [rows.found(*ends) for ends in self._products(rows.reached(live), backward=False, paths=False)]
            )
            rows.leave(live)
            left -= levels[-1].bytes
            ends = self._stop.value[0] | (OUT_OF_ROOM if left < 0 else 0)
            state = agreed(self._grid.whole, len(own.rows), rows.overflowed, ends)
            if state.overflowed.any() or not state.live:
                return levels, state.overflowed
            most = state.live

    def _sum_paths(self, levels: list[Level], times: NDArray[np.float64]) -> None:
        """Turn path counts into dependencies, from the deepest level on, and add up."""
        rows, paths = self._rows, self._has_stress
        nothing = np.zeros_like(rows.overflowed)
        rows.clear_sums()
        rows.unwant()
        for depth in range(len(levels) - 1, 0, -1):
            level = levels[depth]
            if depth == len(levels) - 1:
                for first, last in slices(self._length, rows.slice_rows):
                    rows.finish(rows.between(level.own, first, last), first, times, depth)
            else:
                chosen = rows.want(level.of_block)
                live = self._expanded(levels[depth + 1], paths=paths)
                for first, last in self._products(chosen, backward=True, paths=paths):
                    rows.finish(rows.between(level.own, first, last), first, times, depth)
                rows.leave(live)
                rows.unwant(level.of_block)
            agreed(self._grid.whole, 0, nothing, self._stop.value[0])

    def _expanded(self, level: Level, *, paths: bool) -> Sequence[Any]:
        """Put a level on the frontier of its grid column; return all that is there."""
        rows, live = self._rows, list[Any]()
        for first in range(0, level.most, rows.slice_rows):
            part = rows.part(level.own, first, first + rows.slice_rows)
            own = rows.pack(part, paths=paths) if self._grid.rows > 1 else NOTHING
            for rank, message in enumerate(self._grid.expand(own)):
                if rank == self._grid.row:
                    live.append(rows.enter(part))
                else:
                    live.append(rows.take(message, rank * self._length, paths=paths))
        return live

    def _shared(self, own: Live) -> Live:
        """Return the rows of the block that are of a level."""
        of_all = enumerate(self._grid.share(self._rows.pack_bits(own)))
        return self._rows.joined([self._rows.take_bits(one, rank * self._length) for rank, one in of_all])

    def _products(self, chosen: Chosen, *, backward: bool, paths: bool) -> Iterator[tuple[int, int]]:
        """Multiply and fold, slice after slice of the piece that is owned."""
        rows, grid = self._rows, self._grid
        for first, last in slices(self._length, rows.slice_rows):
            messages = list[Message]()
            for rank in range(grid.columns):
                base, own = rank * self._length, rank == grid.column
                messages.append(rows.multiply(chosen, first, last, base, backward=backward, paths=paths, own=own))
            for rank, message in enumerate(grid.fold(messages)):
                if rank != grid.column:
                    rows.add(message, first, paths=paths)
            yield first, last
