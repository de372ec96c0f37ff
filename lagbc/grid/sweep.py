"""The sweep of a rank over its block, in hops: products of the block, with messages between them.

A level is expanded along grid columns, multiplied by the block, folded along grid rows and masked by its owner, as
lagbc/native/kernels/batched/block.h says. Each rank keeps the numbers of all vertices of its grid column. Both products
are by rows, so that the backward one takes the same way: along the edges by their tails in place of those by heads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lagbc.grid.communicator import Grid, Message
from lagbc.grid.deal import Block, Blocks, Ints, Shape, slices
from lagbc.methods import tuning
from lagbc.methods.arrays import BYTE, FLOAT, INTEGER, WORD, Array, allocate, bytes_of
from lagbc.methods.contract import Interrupted, StopFlag
from lagbc.methods.sums import DEPENDENCY, PATH_SUMS
from lagbc.native import core

# Roots of a batch: the columns of a row.
COLUMNS = 64
# A row of a message that has no numbers.
_BITS = np.dtype([("mask", np.uint64), ("row", np.int32)])
# Sums that a rank makes of its vertices, in the order in which it tells them.
SUMS = "dependency", "stress", "reached", "distance", "inverse"
# Why a sweep ends before its time, as ranks tell each other: Ctrl-C or `stop=` of a rank; by 1 the run is over.
INTERRUPTED, STOPPED = 2, 4


class Live(NamedTuple):
    """Rows of a level, ascending, and the columns in which they are live.

    `most` is as many as any rank owns of the level, and up to twice as many.
    """

    rows: NDArray[np.int32]
    masks: NDArray[np.uint64]
    most: int = 0


class State(NamedTuple):
    """How far a search is, as all ranks agree: rows of a level, columns out of range, and why it ends.

    Of rows there are the bits that are set in the number of some rank: at least as many as any has.
    """

    live: int
    overflowed: int
    ends: int


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of all ranks.

    Attributes
    ----------
    sums : frozenset of str
    endpoints, sigma_limit : as in `SweepPlan`
    omega : ndarray of float64, or None
        Target weights, at the numbers of vertices.
    """

    sums: frozenset[str]
    endpoints: bool
    sigma_limit: float
    omega: NDArray[np.float64] | None

    @property
    def told(self) -> list[str]:
        """The sums of vertices, in order."""
        return [name for name in SUMS if name in self.sums]


class Ended(Interrupted):
    """A sweep has ended on all ranks, for one of these reasons."""

    def __init__(self, why: int) -> None:
        super().__init__(why)
        self.why = why


def arrays_of_cell(shape: Shape, length: int, sums: frozenset[str]) -> dict[str, Any]:
    """State the arrays of a rank."""
    n, rows, part = shape.rows * length, shape.columns * length, min(length, tuning.GRID_SLICE)
    counts, stress = bool(sums & PATH_SUMS), "stress" in sums
    return {
        "order": Array((n,), INTEGER),
        "omega": Array((n,), FLOAT, 1),
        "values": Array((n, COLUMNS), FLOAT) if counts else None,
        "paths": Array((n, COLUMNS), FLOAT) if stress else None,
        "bits": Array((n,), WORD, 0),
        "wanted": Array((rows,), WORD, 0),
        "marks": Array((rows,), BYTE, 0),
        "totals": Array((part, COLUMNS), FLOAT),
        "path_totals": Array((part, COLUMNS), FLOAT) if stress else None,
        "met": Array((part,), WORD, 0),
        "dependency": Array((n,), FLOAT, 0),
        "stress": Array((n,), FLOAT, 0) if stress else None,
    }


def bytes_of_grid(shape: Shape, n: int, entries: int) -> int:
    """Bound the bytes of a rank for betweenness: its block, which is sorted by keys, rows of numbers and vertices."""
    length = -(-n // shape.size)
    block = entries // shape.size * 2 * (8 + 4 + 4)
    return bytes_of(arrays_of_cell(shape, length, DEPENDENCY)) + block + 40 * n


def agreed(grid: Any, live: int, overflowed: int, ends: int) -> State:
    """Agree how far a search is.

    Raises
    ------
    Ended
        Some rank has a reason.
    """
    state = State(*grid.combine(np.array([live, overflowed, ends], np.uint64), "or").tolist())
    if state.ends:
        raise Ended(state.ends)
    return state


class Cell:
    """What a rank keeps from batch to batch."""

    def __init__(self, grid: Grid, blocks: Blocks, length: int, asked: Asked, stop: StopFlag) -> None:
        shape = Shape(grid.rows, grid.columns)
        arrays = allocate(np, arrays_of_cell(shape, length, asked.sums))
        self._grid, self._blocks, self._length, self._asked, self._stop = grid, blocks, length, asked, stop
        self._piece = grid.row * grid.columns + grid.column
        own, arrays["order"][:] = grid.row * length, np.arange(len(arrays["order"]))
        if asked.omega is not None:
            arrays["omega"][own : own + length] = asked.omega[self._piece * length :][:length]
        self._into, self._out = blocks.into.native, blocks.out.native
        self._degrees = np.diff(blocks.reach.indptr)
        self._sweep = core.BlockSweep(
            **arrays,
            into=self._into,
            out=self._out,
            reach=blocks.reach.native,
            own=own,
            stop=stop.value,
            sigma_limit=asked.sigma_limit,
            endpoints=asked.endpoints,
        )
        self._counts, self._has_stress = bool(asked.sums & PATH_SUMS), "stress" in asked.sums

    @property
    def own(self) -> slice:
        """The places of vertices that this rank owns."""
        return slice(self._sweep.own, self._sweep.own + self._length)

    def sweep(self, numbers: Ints, times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sweep from roots, which count so many times; all ranks do.

        Parameters
        ----------
        numbers : ndarray of int64, shape (64,)
            -1 is an absent root.
        times : ndarray of float64, shape (64,)

        Returns
        -------
        sums : ndarray of float64
            Those of the vertices that this rank owns, one sum after the other; then of each column the largest
            distance, how many vertices were reached, and whether path counts left the range: then there are no sums.

        Raises
        ------
        Ended
        """
        levels, noted, overflowed = self._search(numbers)
        columns = np.zeros((3, COLUMNS))
        if overflowed:
            columns[2] = overflowed >> np.arange(COLUMNS, dtype=np.uint64) & np.uint64(1)
            return np.concatenate([np.zeros(len(self._asked.told) * self._length), columns.ravel()])
        found: dict[str, Any] = {}
        if self._counts:
            self._sum_paths(levels, noted, times)
            found |= {name: getattr(self._sweep, name) for name in ("dependency", "stress")}
        if self._asked.endpoints:
            columns[1] = core.count_columns(_joined(levels[1:]).masks)
        if self._asked.sums - PATH_SUMS:
            found |= self._sum_distances(levels, columns[0])
        sums: NDArray[np.float64]
        sums = np.concatenate([*(found[name][self.own] for name in self._asked.told), columns.ravel()])
        return sums

    def _search(self, numbers: Ints) -> tuple[list[Live], list[Live], int]:
        """Find all levels, and count paths: levels of what is owned, and of all rows of the block."""
        sweep, length = self._sweep, self._length
        present = np.flatnonzero(numbers >= 0)
        columns = present[numbers[present] // length == self._piece]
        columns = columns[np.argsort(numbers[columns])]
        rows, one = (numbers[columns] % length).astype(np.int32), np.uint64(1)
        sweep.overflowed = 0
        sweep.wanted[:] = np.bitwise_or.reduce(one << present.astype(np.uint64), initial=np.uint64(0))
        if sweep.values is not None:
            sweep.values[sweep.own + rows, columns] = 1.0
        level, levels, noted = Live(rows, one << columns.astype(np.uint64), COLUMNS), list[Live](), list[Live]()
        while True:
            levels.append(level)
            noted.append(self._noted(level))
            sweep.wanted[noted[-1].rows] &= ~noted[-1].masks
            live = self._expanded(level, paths=False)
            parts = [
                Live(*core.found_rows(sweep, first, last))
                for first, last in self._products(self._blocks.into, self._into, self._reached(live), paths=False)
            ]
            level = _joined(parts)
            sweep.bits[live] = 0
            state = agreed(self._grid.whole, len(level.rows), sweep.overflowed, self._stop.value[0])
            if state.overflowed or not state.live:
                return levels, noted, state.overflowed
            level = level._replace(most=state.live)

    def _sum_paths(self, levels: list[Live], noted: list[Live], times: NDArray[np.float64]) -> None:
        """Turn path counts into dependencies, from the deepest level on, and add up."""
        sweep = self._sweep
        for sums in (sweep.dependency, sweep.stress):
            if sums is not None:
                sums[self.own] = 0
        sweep.wanted[:] = 0
        for depth in range(len(levels) - 1, 0, -1):
            if depth == len(levels) - 1:
                for first, last in slices(self._length, len(sweep.met)):
                    self._finish(levels[depth], first, last, times)
            else:
                rows, masks, _ = noted[depth]
                sweep.wanted[rows] = masks
                live = self._expanded(levels[depth + 1], paths=self._has_stress)
                for first, last in self._products(self._blocks.out, self._out, rows, paths=self._has_stress):
                    self._finish(levels[depth], first, last, times)
                sweep.bits[live] = 0
                sweep.wanted[rows] = 0
            agreed(self._grid.whole, 0, 0, self._stop.value[0])

    def _finish(self, level: Live, first: int, last: int, times: NDArray[np.float64]) -> None:
        """Close the rows of a slice."""
        place = slice(*np.searchsorted(level.rows, [first, last]))
        core.finish_rows(self._sweep, level.rows[place], level.masks[place], first, times)

    def _expanded(self, level: Live, *, paths: bool) -> NDArray[np.int32]:
        """Put a level on the frontier of its grid column; return all that is there."""
        sweep, live = self._sweep, list[NDArray[np.int32]]()
        for first in range(0, level.most, len(sweep.met)):
            part = slice(first, first + len(sweep.met))
            rows, masks = level.rows[part], level.masks[part]
            message = core.pack_rows(sweep, rows, masks, self._counts, paths)
            for row, one in enumerate(self._grid.expand(message)):
                if row == self._grid.row:
                    live.append(rows + np.int32(sweep.own))
                    sweep.bits[live[-1]] = masks
                else:
                    live.append(core.take_rows(sweep, one, row * self._length, self._counts, paths))
        return np.concatenate(live)

    def _noted(self, level: Live) -> Live:
        """Return a level with all rows of the block."""
        bits = np.empty(len(level.rows), _BITS)
        bits["mask"], bits["row"] = level.masks, level.rows
        found = [one.view(_BITS) for one in self._grid.share(bits.view(np.uint8))]
        rows = [one["row"] + np.int32(column * self._length) for column, one in enumerate(found)]
        return Live(np.concatenate(rows), np.concatenate([one["mask"] for one in found]))

    def _reached(self, live: NDArray[np.int32]) -> NDArray[np.int32] | None:
        """Tell which rows a frontier leads to, where it is a small part of the block; None is any row."""
        if self._degrees[live].sum() > tuning.BATCHED_PULL_SHARE * self._blocks.into.nnz:
            return None
        return np.sort(core.push_rows(self._sweep, live))

    def _products(
        self, block: Block, native: Any, rows: NDArray[np.int32] | None, *, paths: bool
    ) -> Iterator[tuple[int, int]]:
        """Multiply and fold, slice after slice of the piece that is owned."""
        sweep, length = self._sweep, self._length
        for first, last in slices(length, len(sweep.met)):
            messages = list[Message]()
            for base in range(0, self._grid.columns * length, length):
                ends = base + first, base + last
                some = None if rows is None else rows[slice(*np.searchsorted(rows, ends))]
                messages.append(core.multiply_rows(sweep, native, some, *ends, base, self._counts, paths))
            for message in self._grid.fold(messages):
                core.add_rows(sweep, message, first, self._counts, paths)
            yield first, last

    def _sum_distances(self, levels: list[Live], deepest: NDArray[np.float64]) -> dict[str, Any]:
        """Sum up distances."""
        rows, masks, _ = _joined(levels)
        starts = np.concatenate([[0], np.cumsum([len(level.rows) for level in levels])])
        names = "reached", "distance", "inverse"
        sums = {name: np.zeros(len(self._sweep.order)) if name in self._asked.sums else None for name in names}
        of_own = rows + np.int32(self._sweep.own)
        reached, distance, inverse = sums.values()
        core.sum_row_distances(self._sweep, of_own, masks, starts, reached, distance, inverse, deepest)
        return sums


def _joined(parts: list[Live]) -> Live:
    """Put rows one after the other."""
    if not parts:
        return Live(np.zeros(0, np.int32), np.zeros(0, np.uint64))
    return Live(np.concatenate([part.rows for part in parts]), np.concatenate([part.masks for part in parts]))
