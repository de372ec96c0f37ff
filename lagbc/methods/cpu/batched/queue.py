"""The queue of (vertex, bit row) entries that both batched methods keep: entry i is live in the columns `masks[i]`.

The forward sweep fills it, so that every vertex stands after those that precede it on shortest paths; the first entries
are the roots. The backward sweep reads it from the end.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,misc"

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from lagbc.cpu.compile import njit
from lagbc.methods.cpu.batched.rows import COLUMNS, count_bits

Queue = NDArray[Any]
Masks = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class Levels:
    """What a forward sweep leaves in its state: how many entries, on how many levels or in how many phases.

    Attributes
    ----------
    roots : ndarray of int64, shape (columns,)
    entries : int
        In the queue, the roots' among them; 0 if nothing is queued.
    depth : int
    overflowed : ndarray of bool, shape (columns,)
        Which columns left the range of float64, or are to be recomputed for another reason.
    """

    roots: NDArray[np.int64]
    entries: int
    depth: int
    overflowed: NDArray[np.bool_]

    @property
    def places(self) -> NDArray[np.int64]:
        """All places of the batch."""
        return np.arange(len(self.roots))

    @property
    def searched(self) -> int:
        """How many roots are not absent."""
        return int(np.count_nonzero(self.roots >= 0))

    @property
    def kept(self) -> np.uint64:
        """The columns that are summed."""
        return word_of(~self.overflowed)


def allocate(rows: int, index_type: Any) -> tuple[Queue, Masks]:
    """Make a queue for `rows` vertices. What is never written takes no memory where the system gives pages on use."""
    room = most_entries(rows)
    return np.empty(room, index_type), np.empty(room, np.uint64)


def most_entries(rows: int) -> int:
    """Room of a queue: an entry a column of every vertex. Scale-free graphs use 1 to 4 a vertex, long paths all."""
    return rows * COLUMNS


def flags_of(word: np.uint64, roots: int) -> NDArray[np.bool_]:
    """Tell for each root whether its bit is set in a word of columns."""
    flags: NDArray[np.bool_] = (word >> np.arange(roots, dtype=np.uint64)) & np.uint64(1) != 0
    return flags


def word_of(flags: NDArray[np.bool_]) -> np.uint64:
    """Set the bits of the columns that are flagged; the inverse of `flags_of`."""
    return np.uint64(int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little"))


@njit
def enqueue_roots(positions, values, queue, masks):
    """Make an entry for each root, which has one path to itself; one at -1 is absent. Return how many there are."""
    count = 0
    for k in range(len(positions)):
        v = positions[k]
        if v >= 0:
            if values is not None:
                values[v, k] = 1.0
            queue[count], masks[count] = v, uint64(1) << uint64(k)
            count += 1
    return count


@njit
def add_ends(queue, masks, roots, end, keep, scores):
    """Add one to both ends of every (root, reached vertex) pair; the roots are the first entries of `end`."""
    for i in range(roots, end):
        scores[queue[i]] += count_bits(masks[i] & keep)
    for i in range(roots):
        root, column = queue[i], masks[i] & keep
        if column != uint64(0):
            reached = 0
            for j in range(roots, end):
                reached += count_bits(masks[j] & column)
            scores[root] += reached
