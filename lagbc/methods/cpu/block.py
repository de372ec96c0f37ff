"""A rank's rows on the CPU, by the kernels of lagbc/native/kernels/batched/block.h."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lagbc import tuning
from lagbc.methods.block import NOTHING, BlockPlan, BlockSize, BlockSweep, Live
from lagbc.methods.cpu.batched import BatchRequest
from lagbc.methods.sums import DISTANCE_SUMS, Sums, bits_of
from lagbc.native import Csr, core, csr

# Options of `SweepPlan` that it reads.
options = ("linear",)
# Roots of a batch: the columns of a row.
COLUMNS = 64
_PATH_SUMS = "dependency", "stress", "dependency_squares"
# A row of a message without path counts.
_BITS = np.dtype([("mask", np.uint64), ("row", np.int32)])
BYTES_OF_BITS = _BITS.itemsize

Rows = NDArray[np.int32]


def slice_rows(length: int) -> int:
    """Return how many rows of a piece are worked on at a time."""
    return min(length, tuning.GRID_SLICE)


def arrays(size: BlockSize, sums: frozenset[str]) -> dict[str, Any]:
    """State the bytes of a rank's rows."""
    n, rows = size.down * size.length, size.across * size.length
    return {"sweep": core.BlockSweep.bytes(n, rows, slice_rows(size.length), bits_of(sums))}


def edges(indptr: NDArray[np.int64], indices: NDArray[np.int32], length: int) -> Csr:
    """Hand the edges of rows to the kernels; `length` matters on a GPU alone."""
    return csr(indptr, indices)


def block(plan: BlockPlan) -> BlockSweep:
    """Make a rank's rows."""
    return _HostRows(plan)


class _HostRows(BlockSweep):
    """A rank's rows; `masks` of a level has a word a row, a bit a column."""

    columns, xp = COLUMNS, np

    def __init__(self, plan: BlockPlan) -> None:
        asked, own = plan.asked, plan.own * plan.size.length
        self._own, self._sums = slice(own, own + plan.size.length), asked.sums
        self._edges, self._counts, self.slice_rows = plan.edges, asked.counts, slice_rows(plan.size.length)
        self._first = own
        self._sweep = core.BlockSweep(
            plan.edges.into,
            plan.edges.out,
            plan.edges.reach,
            self.slice_rows,
            own,
            bits_of(asked.sums),
            asked.omega,
            BatchRequest(asked.sigma_limit, asked.endpoints, asked.linear),
        )
        self._sweep.poll(plan.stop.value)
        self._bits, self._wanted = self._sweep.array("bits"), self._sweep.array("wanted")
        asked_of_paths = [name for name in _PATH_SUMS if name == "dependency" or name in asked.sums]
        self._sums_over_paths = {name: self._sweep.array(name) for name in asked_of_paths}

    @property
    def overflowed(self) -> NDArray[np.uint64]:
        return np.array([self._sweep.overflowed], np.uint64)

    def begin(self, present: NDArray[np.int64], places: NDArray[np.int64], columns: NDArray[np.int64]) -> Live:
        sweep, one = self._sweep, np.uint64(1)
        sweep.overflowed = 0
        self._wanted[:] = np.bitwise_or.reduce(one << present.astype(np.uint64), initial=np.uint64(0))
        if self._counts:
            sweep.array("values")[self._first + places, columns] = 1.0
        return Live(places.astype(np.int32), one << columns.astype(np.uint64))

    def between(self, level: Live, first: int, last: int) -> Live:
        return self.part(level, *np.searchsorted(level.rows, [first, last]))

    def pack(self, level: Live, *, paths: bool) -> NDArray[np.uint8]:
        return core.pack_rows(self._sweep, *level, self._counts, paths)

    def pack_bits(self, level: Live) -> NDArray[np.uint8]:
        return core.pack_rows(self._sweep, *level, False, False)

    def take_bits(self, message: NDArray[np.uint8], first: int) -> Live:
        found = message.view(_BITS)
        return Live(found["row"] + np.int32(first), np.ascontiguousarray(found["mask"]))

    def enter(self, level: Live) -> Rows:
        rows: Rows = level.rows + np.int32(self._first)
        self._bits[rows] = level.masks
        return rows

    def take(self, message: NDArray[np.uint8], first: int, *, paths: bool) -> Rows:
        return core.take_rows(self._sweep, message, first, self._counts, paths)

    def leave(self, live: Sequence[Rows]) -> None:
        for rows in live:
            self._bits[rows] = 0

    def settle(self, level: Live) -> None:
        self._wanted[level.rows] &= ~level.masks

    def want(self, level: Live) -> Rows:
        self._wanted[level.rows] = level.masks
        return level.rows

    def unwant(self, level: Live | None = None) -> None:
        self._wanted[slice(None) if level is None else level.rows] = 0

    def reached(self, live: Sequence[Rows]) -> Rows | None:
        rows, indptr = np.concatenate(live), self._edges.reach.indptr
        if (indptr[rows + 1] - indptr[rows]).sum() > tuning.BATCHED_PULL_SHARE * indptr[-1]:
            return None
        return np.sort(core.push_rows(self._sweep, rows))

    def multiply(
        self, chosen: Rows | None, first: int, last: int, base: int, *, backward: bool, paths: bool, own: bool
    ) -> NDArray[np.uint8]:
        ends, block = (base + first, base + last), self._edges.out if backward else self._edges.into
        some = None if chosen is None else chosen[slice(*np.searchsorted(chosen, ends))]
        message = core.multiply_rows(self._sweep, block, some, *ends, base, self._counts, paths)
        if not own:
            return message
        self.add(message, first, paths=paths)
        return NOTHING

    def add(self, message: NDArray[np.uint8], first: int, *, paths: bool) -> None:
        core.add_rows(self._sweep, message, first, self._counts, paths)

    def found(self, first: int, last: int) -> Live:
        return Live(*core.found_rows(self._sweep, first, last))

    def finish(self, level: Live, first: int, times: NDArray[np.float64], depth: int) -> None:
        core.finish_rows(self._sweep, *level, first, times, depth)

    def path_sums(self) -> dict[str, NDArray[np.float64]]:
        return {name: sums[None, self._own] for name, sums in self._sums_over_paths.items()}

    def distance_sums(self, levels: Sequence[Live], deepest: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        level, counts = self.joined(levels), [len(one.rows) for one in levels]
        starts, n = np.concatenate([[0], np.cumsum(counts)]), len(self._bits)
        sums = {name: np.zeros((1, n)) for name in DISTANCE_SUMS if name in self._sums}
        of_own = level.rows + np.int32(self._first)
        core.sum_row_distances(self._sweep, of_own, level.masks, starts, Sums(**sums, depth=deepest).row(0))
        return {name: found[:, self._own] for name, found in sums.items()}

    def count_columns(self, level: Live) -> NDArray[np.int64]:
        return core.count_columns(level.masks)
