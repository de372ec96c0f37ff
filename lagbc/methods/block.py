"""Hops on a block of a matrix that is dealt over ranks in a grid: a rank's work between two messages of a level.

A level has four steps; the first and the third are messages:

    expand     pack, take: numbers of the frontier go to the ranks whose blocks have these columns
    multiply   reached, multiply: each rank gathers along the edges of its block
    fold       add: the owner of a row adds the sums of all blocks that have the row, its own first
    mask       found, finish: the owner closes the row

Rows of a block are the vertices of a grid row; its columns are the vertices of a grid column, whose numbers the rank
keeps. `lagbc.methods.cpu.block` and `lagbc.methods.gpu.batched.block` do this work on either device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lagbc.methods.contract import BYTE, FLOAT, Array, StopFlag
from lagbc.methods.sums import PATH_SUMS

# Bytes of a message, in an array of uint8 on the block's device.
Message = Any
# Rows that are to be multiplied, as a block notes them; None is all rows.
Chosen = Any
# Whether edges are swept along their direction, against it, or both ways.
Way = Literal["along", "against", "either"]

NOTHING: NDArray[np.uint8] = np.zeros(0, np.uint8)


class Live(NamedTuple):
    """Rows of a level, ascending, and the columns in which they are live; arrays on the block's device."""

    rows: Any
    masks: Any


class BlockSize(NamedTuple):
    """The sizes of a rank's block."""

    length: int  # places of a piece
    down: int  # pieces of a grid column
    across: int  # pieces of a grid row
    groups: int = 1  # groups of columns of a batch, on a GPU


class Asked(NamedTuple):
    """The request to all ranks."""

    sums: frozenset[str]  # sums, endpoints, linear, sigma_limit: as in `SweepPlan`
    endpoints: bool
    linear: bool
    sigma_limit: float
    omega: NDArray[np.float64] | None  # target weights of the rank's vertices, by their numbers
    way: Way  # paths are not counted both ways
    room: int  # bytes that the rows of levels may take

    @property
    def counts(self) -> bool:
        """Whether paths are counted."""
        return bool(self.sums & PATH_SUMS)


def passing(size: BlockSize, sums: frozenset[str], module: Any, levels: int) -> dict[str, Array]:
    """State what a rank holds for a time at most: the rows of so many levels, and messages of full rows.

    These are messages of a grid column, or to and from all of a grid row, written in arrays that grow.
    """
    rows, parts = (1 + size.across) * size.length, max(1 + size.down, 3 * size.across - 2)
    kinds = bool(sums & PATH_SUMS) + ("stress" in sums)
    a_row = module.BYTES_OF_BITS + module.COLUMNS * FLOAT.itemsize * kinds
    return {
        "levels": Array((levels, size.groups * rows, module.BYTES_OF_BITS), BYTE),
        "messages": Array((parts, size.groups * module.slice_rows(size.length), a_row), BYTE),
    }


class BlockEdges(NamedTuple):
    """The edges of a block as its sweep takes them."""

    into: Any  # by heads
    out: Any  # by tails
    reach: Any  # by heads, with columns for rows


class BlockPlan(NamedTuple):
    """A rank's part of a sweep."""

    edges: BlockEdges  # not changed: batches in flight share them
    size: BlockSize
    own: int  # which piece of the grid column the rank owns
    asked: Asked
    stop: StopFlag


class BlockSweep(Protocol):
    """A rank's rows. A place is one of the piece that the rank owns, unless another piece is named."""

    columns: int  # roots of a batch
    slice_rows: int  # rows of a piece that are multiplied, folded and closed at a time, at most
    xp: Any  # the module of its arrays: numpy or cupy
    _sums_over_paths: dict[str, Any]  # by name

    @property
    def overflowed(self) -> NDArray[np.uint64]:
        """The columns in which a path count left the range, as bits."""

    def begin(self, present: NDArray[np.int64], places: NDArray[np.int64], columns: NDArray[np.int64]) -> Live:
        """Want all rows in the present columns; return level 0, the rank's own roots, by ascending places."""

    def part(self, level: Live, first: int, last: int) -> Live:
        """Return the rows of a level numbered first to last."""
        return Live(level.rows[first:last], level.masks[first:last])

    def between(self, level: Live, first: int, last: int) -> Live:
        """Return the rows of a level with places first to last."""

    def joined(self, parts: Sequence[Live]) -> Live:
        """Put rows one after the other."""
        if len(parts) == 1:
            return parts[0]
        return Live(*(self.xp.concatenate(of_parts) for of_parts in zip(*parts, strict=True)))

    def pack(self, level: Live, *, paths: bool) -> Message:
        """Write rows with their numbers."""

    def pack_bits(self, level: Live) -> Message:
        """Write rows without numbers."""

    def take_bits(self, message: Message, first: int) -> Live:
        """Read a message of `pack_bits`, of the piece whose first row is `first`."""

    def enter(self, level: Live) -> Any:
        """Put the rank's own rows on the frontier; return their places in the grid column."""

    def take(self, message: Message, first: int, *, paths: bool) -> Any:
        """Put rows of the piece whose first row is `first` on the frontier; return their places in the grid column."""

    def leave(self, live: Sequence[Any]) -> None:
        """Take rows off the frontier."""

    def settle(self, level: Live) -> None:
        """Want rows no more in the columns in which they are live."""

    def want(self, level: Live) -> Chosen:
        """Want these rows in the columns in which they are live; return them to be multiplied."""

    def unwant(self, level: Live | None = None) -> None:
        """Want these rows no more, without a level none."""

    def reached(self, live: Sequence[Any]) -> Chosen:
        """Find the rows that a frontier leads to; None where it is a large part of the block."""

    def multiply(
        self, chosen: Chosen, first: int, last: int, base: int, *, backward: bool, paths: bool, own: bool
    ) -> Message:
        """Gather along edges to the rows with places first to last of the piece whose first row is `base`.

        The rank's own piece begins its sums with them, and the message is empty; others are the message.
        """

    def add(self, message: Message, first: int, *, paths: bool) -> None:
        """Add the sums of another rank to the slice that begins at place `first`."""

    def found(self, first: int, last: int) -> Live:
        """Close the rows that are found with places first to last; return them."""

    def finish(self, level: Live, first: int, times: NDArray[np.float64], depth: int) -> None:
        """Close, in the backward sweep, the rows of level `depth` in the slice that begins at place `first`."""

    def clear_sums(self) -> None:
        """Set the sums over paths to 0."""
        for sums in self._sums_over_paths.values():
            sums.fill(0)

    def path_sums(self) -> dict[str, NDArray[np.float64]]:
        """Return the sums over paths of the rank's own vertices, a row a group."""

    def distance_sums(self, levels: Sequence[Live], deepest: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        """Return sums over distances of the rank's own vertices, a row a group; write the depth of each column."""

    def count_columns(self, level: Live) -> NDArray[np.int64]:
        """Count the rows that are live in each column."""
